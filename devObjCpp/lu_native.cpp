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
// Where the products decide, a third queue takes the columns of the panel after the next out of `rest`, so that the next
// step's panel does not wait for the product of the rest.
//
// A block wider than a panel is split in two: left half, update of the right half, right half. The table of block sizes is
// read anew for each block, with the order of what is left: narrow blocks where the panels decide, wide ones where the
// products do.
//
// A large square matrix is row-major meanwhile, that is, transposed in its place: the exchange of rows, which would touch
// one element here and there, then moves contiguous memory. Its panels are factored in a column-major copy, from which
// `next` takes L, so that the way back is not in the way.
#include "lu_native.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "devobj/blas.hpp"
#include "kernels/device.hpp"
#include "kernels/native.hpp"
#include "products_by_parts.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

// Order from which a square matrix is row-major meanwhile.
constexpr std::int64_t by_rows_least = 6000;
// Rows and columns from which, and the depth up to which the update of the rest in double precision is by gemm_overlapped,
// and the multiprocessors that it leaves to the panels: as many as a cluster has blocks.
constexpr std::int64_t overlapped_least = 1024, overlapped_most_depth = 256;
constexpr int panel_multiprocessors = 16;

/// The factorization of one matrix; what its steps share.
template <class T>
class NativeLu {
 public:
  NativeLu(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options)
      : A_(A), ipiv_(ipiv), info_(info), q_(q), m_(A.rows), n_(A.cols), k_(std::min(A.rows, A.cols)) {
    by_rows_ = m_ == n_ && n_ >= by_rows_least;
    solve_rows_ = cuda::exchange_solve_rows<T>(q);
    const TuningTable& table = tuning_of(q);
    const std::int64_t most =
        by_rows_ ? std::min(cuda::lu_panel_max, cuda::exchange_columns_max<T>) : cuda::lu_panel_max;
    // the table is of matrices whose products go at their full rate
    bool slow_products = false;
    if constexpr (single) {
      const View<float> real(reinterpret_cast<float*>(A.data), A.rows, A.cols, A.ld * std::int64_t(sizeof(T) / 4));
      slow_products = !strict_math(options.math) && !cuda::gemm_by_parts_at_full_rate(real, q);
    }
    for (std::int64_t j = 0; j < k_; j = blocks_.back().columns.end) {
      BlockSizes sizes{options.block, options.inner_block};
      if (options.block <= 0) {
        sizes = table.blocks(Tuned::lu, Method::native, type_letter<T>(), k_ - j);
        if (sizes.inner_block == 0) sizes.inner_block = sizes.block;
        if (slow_products && k_ - j >= least) sizes.block = std::min(2 * sizes.block, cuda::gemm_by_parts_max_depth);
        if (options.inner_block > 0) sizes.inner_block = options.inner_block;
      }
      std::int64_t width = std::min(sizes.block, k_ - j);
      // Nothing runs beside the first block's panels, and beside the next one's what the first block's depth gives.
      if (options.block <= 0 && sizes.inner_block < sizes.block)
        width = std::min(width, blocks_.empty() ? 2 * sizes.inner_block : 2 * blocks_.back().columns.size());
      const std::int64_t inner = std::min({sizes.inner_block > 0 ? sizes.inner_block : width, width, most});
      blocks_.push_back({{j, j + width}, inner, static_cast<int>(blocks_.size() % 2)});
      nb_ = std::max(nb_, width);
      inner_ = std::max(inner_, inner);
    }
    const std::int64_t rest = k_ - blocks_[0].columns.size();  // at most
    by_parts_ = by_parts_pays(rest, options.math);
    const std::size_t lists = (2 * k_ * sizeof(std::int32_t) + 255) / 256 * 256;
    const std::size_t panel = (cuda::lu_panel_workspace<T>(inner_) + 255) / 256 * 256;
    const std::size_t products = by_parts_ ? product_workspace(m_ - k_ + rest, n_ - k_ + rest, nb_) : 0;
    const std::size_t copy = by_rows_ ? (2 * m_ * inner_ * sizeof(T) + 255) / 256 * 256 : 0;
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
  /// Columns that are factored before what is right of them is updated, in panels of `inner` columns.
  struct Block {
    Range columns;
    std::int64_t inner;
    int turn;  // which of two copies its panels have, if A is row-major
  };

  void factor() {
    SideQueue panel_queue(q_, true);
    std::optional<SideQueue> soon_queue;
    if (looks_further && by_rows_ && blocks_.size() > 2) soon_queue.emplace(q_, true);
    Queue& panels = panel_queue;

    panel(blocks_[0], panels);
    Event soon_updated, left_exchanged;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block K = blocks_[i];
      Range rest{K.columns.end, n_};
      q_.wait_for(panels.record());
      if (is_copied(K)) copy_back(K, q_);
      if (i + 1 < blocks_.size()) {
        const Block next = blocks_[i + 1];
        rest.begin = next.columns.end;
        panels.wait_for(soon_updated);
        update(K, next.columns, panels, false, is_copied(K));
        panel(next, panels, &start_);
        if (rest.size() > 0) cuda::stream_wait_event(q_.stream(), start_.event());
      }
      if (soon_queue && i + 2 < blocks_.size()) {
        Queue& soon = *soon_queue;
        const Range columns = blocks_[i + 2].columns;
        soon.wait_for(q_.record());  // the rest of the last step, K's way back, the panel's start
        update(K, columns, soon);
        soon_updated = soon.record();
        exchange(K, {0, K.columns.begin}, soon);
        left_exchanged = soon.record();
        rest.begin = columns.end;
        update(K, rest, q_, by_parts_);
        q_.wait_for(soon_updated);
      } else {
        update(K, rest, q_, by_parts_);
        soon_updated = q_.record();
        q_.wait_for(left_exchanged);
        exchange(K, {0, K.columns.begin}, q_);
      }
    }
  }

  /// What the kernel's panel at K did to the rows.
  cuda::RowExchange exchange_of(Range K) const { return {source_ + K.begin, displaced_to_ + K.begin, K.size()}; }

  /// P A(below, K) = L U. A block of one panel of a row-major matrix is left in its copy.
  void panel(Block block, Queue& q, const cuda::Start* start = nullptr) {
    const auto [K, inner, turn] = block;
    if (K.size() <= inner) {
      const View<T> columns = by_rows_ ? copy_of(block) : A_({K.begin, m_}, K);
      if (by_rows_) cuda::transpose(Op::Trans, A_(K, {K.begin, m_}), columns, q);
      cuda::lu_panel(columns, ipiv(K), K.begin, info_.data, exchange_of(K), panel_workspace_,
                     cuda::lu_panel_shape<T>(columns.rows), start, q);
      return;
    }
    const std::int64_t middle = K.begin + (K.size() / 2 + inner - 1) / inner * inner;
    const Block left{{K.begin, middle}, inner, turn}, right{{middle, K.end}, inner, turn};
    panel(left, q, start);
    if (is_copied(left)) copy_back(left, q);
    update(left, right.columns, q);
    panel(right, q);
    if (is_copied(right)) copy_back(right, q);
    exchange(right, left.columns, q);
  }
  bool is_copied(const Block& block) const { return by_rows_ && block.columns.size() <= block.inner; }
  /// The columns from their diagonal on.
  View<T> copy_of(const Block& block) const {
    const std::int64_t rows = m_ - block.columns.begin;
    return {panel_copy_ + block.turn * m_ * inner_, rows, block.columns.size(), rows};
  }
  void copy_back(const Block& block, Queue& q) {
    cuda::transpose(Op::Trans, copy_of(block), A_(block.columns, {block.columns.begin, m_}), q);
  }

  /// The rows of `columns` as the panels within the block exchanged them.
  void exchange(Block block, Range columns, Queue& q) {
    if (columns.size() <= 0) return;
    const auto [K, inner, turn] = block;
    for (std::int64_t i = K.begin; i < K.end; i += inner) {
      const Range part{i, std::min(i + inner, K.end)};
      if (by_rows_)
        cuda::exchange_columns(A_(columns, {i, m_}), exchange_of(part), q);
      else
        cuda::exchange_rows(A_({i, m_}, columns), exchange_of(part), q);
    }
  }

  /// A12 = L11^-1 P A12,  A22 -= L21 A12  for some columns right of the block; `copied`: with L in the block's copy.
  void update(Block block, Range columns, Queue& q, bool by_parts = false, bool copied = false) {
    if (columns.size() <= 0) return;
    const auto [K, inner, turn] = block;
    cuda::RowExchange rows = exchange_of(K);
    const bool many = columns.size() > cuda::exchange_solve_few && K.size() > inner;
    if (inner > solve_rows_ || many) {
      exchange(block, columns, q);
      rows.rows = 0;
    }
    for (std::int64_t i = K.begin; i < K.end; i += solve_rows_) {
      const Range part{i, std::min(i + solve_rows_, K.end)}, below{i, m_};
      const Range here{i - K.begin, part.end - K.begin};
      cuda::exchange_solve(copied ? copy_of(block)(here, here) : A_(part, part), by_rows_ && !copied,
                           by_rows_ ? A_(columns, below) : A_(below, columns), by_rows_, rows, inner, q);
      rows.rows = 0;  // all parts at once
      subtract(block, part, {part.end, K.end}, columns, q, false, copied);
    }
    subtract(block, K, {K.end, m_}, columns, q, by_parts, copied);
  }

  /// A(rows, columns) -= A(rows, K) A(K, columns), K being columns of the block.
  void subtract(const Block& block, Range K, Range rows, Range columns, Queue& q, bool by_parts, bool copied) {
    if (rows.size() <= 0) return;
    // row-major: the product of the transposes
    const View<T> left = by_rows_ ? A_(columns, K) : A_(rows, K), right = by_rows_ ? A_(K, rows) : A_(K, columns),
                  result = by_rows_ ? A_(columns, rows) : A_(rows, columns);
    if (copied) {
      const std::int64_t first = block.columns.begin;
      const View<T> L = copy_of(block)({rows.begin - first, rows.end - first}, {K.begin - first, K.end - first});
      return cuda::gemm(Op::NoTrans, Op::Trans, T(-1), left, L, T(1), result, q);
    }
    const Side guarded = by_rows_ ? Side::Left : Side::Right;  // U may have small columns
    if (by_parts && std::min(rows.size(), columns.size()) >= least) {
      if constexpr (std::is_same_v<T, float>)
        return cuda::gemm_by_parts(Op::NoTrans, Op::NoTrans, -1, left, right, result, guarded, product_workspace_, q);
      else if constexpr (is_complex<T>)
        return cuda::gemm_as_real<T>(Op::NoTrans, -1, left, right, result, guarded, product_workspace_, q);
    }
    if constexpr (std::is_same_v<T, double>)
      if (K.size() <= overlapped_most_depth && std::min(rows.size(), columns.size()) >= overlapped_least &&
          cuda::gemm_overlapped_possible(left, right, result, q))
        return cuda::gemm_overlapped(-1, left, right, result, q, {panel_multiprocessors});
    cuda::gemm(Op::NoTrans, Op::NoTrans, T(-1), left, right, T(1), result, q);
  }

  static constexpr bool single = std::is_same_v<real_t<T>, float>;
  // Whether the columns of the panel after the next have a queue: in double precision, where the products decide.
  static constexpr bool looks_further = !single;
  static constexpr std::int64_t least = single ? by_parts_least : as_real_least;

  /// Single precision by parts unless math is strict, complex matrices of both precisions as real ones.
  /// For the updates of the rest, on one queue: the workspace serves one product at a time.
  bool by_parts_pays(std::int64_t rest, Math math) const {
    if (rest < least) return false;
    if (is_complex<T>) return !single || !strict_math(math);
    return single && nb_ <= cuda::gemm_by_parts_max_depth && !strict_math(math);
  }
  static std::size_t product_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
    if constexpr (is_complex<T>)
      return cuda::gemm_as_real_workspace<T>(rows, cols, depth);
    else
      return cuda::gemm_by_parts_workspace(rows, cols, depth);
  }

  View<std::int32_t> ipiv(Range K) const { return ipiv_.cols == 1 ? ipiv_(K, {0, 1}) : ipiv_({0, 1}, K); }

  View<T> A_;
  View<std::int32_t> ipiv_, info_;
  Queue& q_;
  std::int64_t m_, n_, k_, nb_ = 0, inner_ = 0;  // the widest block and panel
  std::int64_t solve_rows_ = 0;                  // of L11 at once
  std::vector<Block> blocks_;
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
