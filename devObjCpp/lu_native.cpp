// Native LU with look-ahead: panels, row exchanges and updates on the GPU, no wait on the host.
//
//            K  next  rest                  One step, on a queue of high priority:
//          +---+-----+------+                 next   exchange of rows, U12 = L11^-1 A12, A22 -= L21 U12 for the columns of
//          | U |  U  |  U   |                        the next panel
//          +---+-----+------+                 panel  P A22(:, next) = L U
//          | L | A22 | A22  |               and beside it on the caller's:
//          |   |     |      |                 rest   the same as `next` for all other columns, and the exchange of rows
//          +---+-----+------+                        for the columns left of K
//
// A panel wider than its kernel takes is split in two: left half, update of the right half, right half.
//
// A large square matrix is row-major meanwhile, that is, transposed in its place: the exchange of rows, which would touch
// one element here and there, then moves contiguous memory. Its panels are factored in a column-major copy.
#include "lu_native.hpp"

#include <algorithm>
#include <type_traits>

#include "devobj/blas.hpp"
#include "kernels/device.hpp"
#include "kernels/native.hpp"
#include "six_bf16.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

// Order from which a square matrix is row-major meanwhile.
constexpr std::int64_t by_rows_least = 6000;

/// The factorization of one matrix; what its steps share.
template <class T>
class NativeLu {
 public:
  NativeLu(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options)
      : A_(A), ipiv_(ipiv), info_(info), q_(q), m_(A.rows), n_(A.cols), k_(std::min(A.rows, A.cols)) {
    const BlockSizes best = tuned_blocks<T>(Tuned::lu, Method::native, k_, q);
    nb_ = std::min(options.block > 0 ? options.block : best.block, k_);
    // the table's inner block belongs to its block
    inner_ = options.inner_block > 0 ? options.inner_block : options.block > 0 ? 0 : best.inner_block;
    inner_ = std::min({inner_ > 0 ? inner_ : nb_, nb_, cuda::lu_panel_max});
    by_parts_ = by_parts_pays(options.math);
    by_rows_ = m_ == n_ && n_ >= by_rows_least;
    if (by_rows_) inner_ = std::min(inner_, cuda::exchange_columns_max<T>);
    const std::size_t lists = (2 * k_ * sizeof(std::int32_t) + 255) / 256 * 256;
    const std::size_t panel = (cuda::lu_panel_workspace<T>(inner_) + 255) / 256 * 256;
    const std::size_t products = by_parts_ ? product_workspace(m_ - nb_, n_ - nb_, nb_) : 0;
    const std::size_t copy = by_rows_ ? (m_ * inner_ * sizeof(T) + 255) / 256 * 256 : 0;
    auto* memory = static_cast<unsigned char*>(q.workspace(lists + panel + copy + products));
    source_ = reinterpret_cast<std::int32_t*>(memory);
    displaced_to_ = source_ + k_;
    panel_workspace_ = memory + lists;
    panel_copy_ = reinterpret_cast<T*>(memory + lists + panel);
    product_workspace_ = memory + lists + panel + copy;
  }

  void run() {
    cuda::fill_bytes(info_.data, 0, sizeof(std::int32_t), q_.stream());
    q_.blas();
    if (by_rows_) cuda::transpose_in_place(Op::Trans, A_, q_);
    factor();
    if (by_rows_) cuda::transpose_in_place(Op::Trans, A_, q_);
  }

 private:
  void factor() {
    SideQueue side(q_, true);
    Queue& panels = side;

    panel({0, nb_}, panels);
    Event rest_updated;
    for (std::int64_t j = 0; j < k_; j += nb_) {
      const Range K{j, std::min(j + nb_, k_)};
      const Range next{K.end, std::min(K.end + nb_, k_)}, rest{next.end, n_};
      q_.wait_for(panels.record());
      if (next.size() > 0) {
        panels.wait_for(rest_updated);
        update(K, next, panels);
        panel(next, panels, &start_);
        if (rest.size() > 0) cuda::stream_wait_event(q_.stream(), start_.event());
      }
      update(K, rest, q_, by_parts_);
      rest_updated = q_.record();
      exchange(K, {0, K.begin}, q_);
    }
  }

  /// What the kernel's panel at K did to the rows.
  cuda::RowExchange exchange_of(Range K) const { return {source_ + K.begin, displaced_to_ + K.begin, K.size()}; }

  /// P A(below, K) = L U
  void panel(Range K, Queue& q, const cuda::Start* start = nullptr) {
    if (K.size() <= inner_) {
      const std::int64_t rows = m_ - K.begin;
      const View<T> block = by_rows_ ? View<T>(panel_copy_, rows, K.size(), rows) : A_({K.begin, m_}, K);
      if (by_rows_) cuda::transpose(Op::Trans, A_(K, {K.begin, m_}), block, q);
      cuda::lu_panel(block, ipiv(K), K.begin, info_.data, exchange_of(K), panel_workspace_,
                     cuda::lu_panel_shape<T>(rows), start, q);
      if (by_rows_) cuda::transpose(Op::Trans, block, A_(K, {K.begin, m_}), q);
      return;
    }
    const std::int64_t middle = K.begin + (K.size() / 2 + inner_ - 1) / inner_ * inner_;
    const Range left{K.begin, middle}, right{middle, K.end};
    panel(left, q, start);
    update(left, right, q);
    panel(right, q);
    exchange(right, left, q);
  }

  /// The rows of the columns as the panels within K exchanged them.
  void exchange(Range K, Range columns, Queue& q) {
    if (columns.size() <= 0) return;
    for (std::int64_t i = K.begin; i < K.end; i += inner_) {
      const Range part{i, std::min(i + inner_, K.end)};
      if (by_rows_)
        cuda::exchange_columns(A_(columns, {i, m_}), exchange_of(part), q);
      else
        cuda::exchange_rows(A_({i, m_}, columns), exchange_of(part), q);
    }
  }

  /// A12 = L11^-1 P A12,  A22 -= L21 A12  for some columns right of K
  void update(Range K, Range columns, Queue& q, bool by_parts = false) {
    if (columns.size() <= 0) return;
    cuda::RowExchange rows = exchange_of(K);
    if (inner_ > cuda::exchange_solve_max) {
      exchange(K, columns, q);
      rows.rows = 0;
    }
    for (std::int64_t i = K.begin; i < K.end; i += cuda::exchange_solve_max) {
      const Range part{i, std::min(i + cuda::exchange_solve_max, K.end)}, below{i, m_};
      cuda::exchange_solve(A_(part, part), by_rows_ ? A_(columns, below) : A_(below, columns), rows, inner_, by_rows_,
                           q);
      rows.rows = 0;  // all parts at once
      subtract(part, {part.end, K.end}, columns, q);
    }
    subtract(K, {K.end, m_}, columns, q, by_parts);
  }

  /// A(rows, columns) -= A(rows, K) A(K, columns)
  void subtract(Range K, Range rows, Range columns, Queue& q, bool by_parts = false) {
    if (rows.size() <= 0) return;
    // row-major: the product of the transposes
    const View<T> left = by_rows_ ? A_(columns, K) : A_(rows, K), right = by_rows_ ? A_(K, rows) : A_(K, columns),
                  result = by_rows_ ? A_(columns, rows) : A_(rows, columns);
    const Side guarded = by_rows_ ? Side::Left : Side::Right;  // U may have small columns
    if (by_parts && std::min(rows.size(), columns.size()) >= least) {
      if constexpr (std::is_same_v<T, float>)
        return cuda::gemm_six_bf16(Op::NoTrans, Op::NoTrans, -1, left, right, result, guarded, product_workspace_, q);
      else if constexpr (is_complex<T>)
        return cuda::gemm_as_real<T>(Op::NoTrans, -1, left, right, result, guarded, product_workspace_, q);
    }
    cuda::gemm(Op::NoTrans, Op::NoTrans, T(-1), left, right, T(1), result, q);
  }

  static constexpr bool single = std::is_same_v<real_t<T>, float>;
  static constexpr std::int64_t least = single ? six_bf16_least : as_real_least;

  /// Single precision by six bfloat16 products unless math is strict, complex matrices of both precisions as real ones.
  /// For the updates of the rest, on one queue: the workspace serves one product at a time.
  bool by_parts_pays(Math math) const {
    if (std::min(m_, n_) - nb_ < least) return false;
    if (is_complex<T>) return !single || !strict_math(math);
    return single && nb_ <= cuda::gemm_six_bf16_max_depth && !strict_math(math);
  }
  static std::size_t product_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
    if constexpr (is_complex<T>)
      return cuda::gemm_as_real_workspace<T>(rows, cols, depth);
    else
      return cuda::gemm_six_bf16_workspace(rows, cols, depth);
  }

  View<std::int32_t> ipiv(Range K) const { return ipiv_.cols == 1 ? ipiv_(K, {0, 1}) : ipiv_({0, 1}, K); }

  View<T> A_;
  View<std::int32_t> ipiv_, info_;
  Queue& q_;
  std::int64_t m_, n_, k_, nb_ = 0, inner_ = 0;
  std::int32_t *source_ = nullptr, *displaced_to_ = nullptr;
  void *panel_workspace_ = nullptr, *product_workspace_ = nullptr;
  T* panel_copy_ = nullptr;
  bool by_parts_ = false, by_rows_ = false;
  cuda::Start start_;  // of the panel's kernel beside the update of the rest
};

}  // namespace

template <class T>
bool lu_native_possible(std::int64_t m, const Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      cuda::DeviceScope scope(q.device());
      return cuda::lu_panel_shape<T>(m).blocks > 0;
    }
  return false;
}

template <class T>
void getrf_native(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options) {
  if constexpr (cuda_built) {
    cuda::DeviceScope scope(q.device());
    NativeLu<T>(A, ipiv, info, q, options).run();
  }
}

#define INSTANTIATE(T)                                             \
  template bool lu_native_possible<T>(std::int64_t, const Queue&); \
  template void getrf_native<T>(View<T>, View<std::int32_t>, View<std::int32_t>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
