// Native QR with look-ahead: panels in one cluster of the GPU's multiprocessors, beside the update on all the others.
//
//            K  next  rest                   One step:
//          +---+-----+------+                  next   A(below, next) = Q^H A(below, next)                (high
//          priority) | R |  R  |  R   |  done rows       panel  A(under, next) = Q R, Q = I - V T V^H, the next (high
//          priority)
//          +---+-----+------+                         step's reflector
//   below  |R11|     |      |                  rest   A(below, rest) = Q^H A(below, rest)                 (queue,
//   beside
//          | V | A22 | A22  |                                                                              the panel)
//          +---+-----+------+
// A panel is factored in strips as wide as the cluster's registers hold, or, if it is too tall for many columns, by
// Cholesky-QR; each strip's reflector is applied to the columns of the panel to its right.
#include "qr_native.hpp"

#include <algorithm>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/qr_panel_native.hpp"
#include "qr_reflect.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

/// The panels' factors and workspace: V and T of two panels in turn, since a panel is made while the last is applied.
template <class T>
class Panels {
 public:
  Panels(View<T> A, View<T> tau, std::int64_t nb, Queue& q)
      : A_(A), tau_(tau), gram_(nb, nb, q), W_(nb, nb, q), TW_(nb, nb, q) {
    for (int i = 0; i < 2; ++i) {
      V_[i] = Matrix<T>(A.rows, nb, q);
      Tri_[i] = Matrix<T>(nb, nb, q);
    }
  }
  /// Zeros below the diagonals of T, once: nothing is written there.
  void clear(Queue& q) {
    for (auto& tri : Tri_) laset(Uplo::General, T(0), T(0), tri.view(), q);
  }
  View<T> V(int turn, std::int64_t j, std::int64_t w) const { return {V_[turn].data, A_.rows - j, w}; }
  View<T> Tri(int turn, std::int64_t w) const { return Tri_[turn]({0, w}, {0, w}); }

  /// Columns of a strip that starts in row j: as many as a cluster's registers hold, but if those are too few, as the
  /// products for tall panels take.
  std::int64_t strip_width(std::int64_t j, const Queue& q) const {
    constexpr std::int64_t too_few = 8;
    if constexpr (cuda_built) {
      const std::int64_t width = cuda::qr_panel_width<T>(A_.rows - j, q);
      return width > too_few ? width : cuda::qr_panel_tall_width<T>;
    }
    return 1;
  }
  /// Factors columns [K.begin + done, ...) of panel K: one strip if `first`, else all the others. Returns the columns
  /// done.
  void strip(int turn, Range K, std::int64_t done, std::int64_t width, Queue& q) {
    const Range S{K.begin + done, K.begin + done + width}, below{S.begin, A_.rows}, right{S.end, K.end};
    const View<T> panel_V = V(turn, K.begin, K.size()), strip_V = panel_V({0, panel_V.rows}, {done, done + width});
    const View<T> T_here = Tri(turn, K.size())({done, done + width}, {done, done + width});
    if constexpr (cuda_built) {
      if (width <= cuda::qr_panel_width<T>(below.size(), q))
        cuda::qr_panel_native(A_(below, S), part(tau_, S), strip_V, T_here, q);
      else
        cuda::qr_panel_tall(A_(below, S), part(tau_, S), strip_V, T_here, q);
    }
    if (right.size() > 0)
      reflect_left(adjoint<T>, strip_V({done, strip_V.rows}, {0, width}), T_here, A_(below, right),
                   View<T>(W_.data, width, right.size()), View<T>(TW_.data, width, right.size()), q);
  }
  /// Fills the columns S of T above its block T(S, S), where S are the columns of a strip other than the panel's first:
  ///   T(before, S) = -T(before, before) (V(:, before)^H V(:, S)) T(S, S)
  void join(int turn, Range K, Range S, Queue& q) {
    const Range before{0, S.begin}, rows{S.begin, A_.rows - K.begin};
    const View<T> v = V(turn, K.begin, K.size()), tri = Tri(turn, K.size());
    const View<T> G(gram_.data, S.begin, S.size()), GT(TW_.data, S.begin, S.size());
    gemm(adjoint<T>, Op::NoTrans, T(1), v(rows, before), v(rows, S), T(0), G, q);
    gemm(Op::NoTrans, Op::NoTrans, T(1), G, tri(S, S), T(0), GT, q);
    gemm(Op::NoTrans, Op::NoTrans, T(-1), tri(before, before), GT, T(0), tri(before, S), q);
  }
  /// A(below, columns) = Q^H A(below, columns) for a few columns
  void apply_next(int turn, Range K, Range columns, Queue& q) {
    reflect_left(adjoint<T>, V(turn, K.begin, K.size()), Tri(turn, K.size()), A_({K.begin, A_.rows}, columns),
                 View<T>(W_.data, K.size(), columns.size()), View<T>(TW_.data, K.size(), columns.size()), q);
  }

 private:
  static View<T> part(View<T> v, Range K) { return v.cols == 1 ? v(K, {0, 1}) : v({0, 1}, K); }
  View<T> A_, tau_;
  Matrix<T> V_[2], Tri_[2], gram_, W_, TW_;
};

}  // namespace

template <class T>
void geqrf_native(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  // for the columns that are left: narrow panels where the panels decide, wide ones where the products do
  const TuningTable& table = tuning_of(q);
  auto block_at = [&](std::int64_t j) {
    return options.block > 0 ? options.block : table.blocks(Tuned::qr, Method::native, type_letter<T>(), n - j).block;
  };
  const std::int64_t nb = std::min(block_at(0), k);  // the workspace's; a table may have wider panels further on
  auto panel_at = [&](std::int64_t j) { return Range{j, std::min(j + std::min(block_at(j), nb), k)}; };

  // All memory first: when there is none, A is as it was.
  Panels<T> panels(A, tau, nb, q);
  Matrix<T> W(nb, n, q), TW(nb, n, q);
  const auto six = SixBf16::for_reflectors<T>(options.math, m, n - nb, nb, q);
  SideQueue side(q, true);
  Queue& first = side;
  q.blas();
  first.blas();
  first.scratch(cuda::qr_panel_scratch_bytes);
  panels.clear(first);

  int turn = 0;
  // The first strip of panel K, and then the others with T of the whole
  auto begin_panel = [&](Range K) {
    const std::int64_t width = std::min(panels.strip_width(K.begin, q), K.size());
    panels.strip(turn, K, 0, width, first);
    return width;
  };
  auto end_panel = [&](Range K, std::int64_t done) {
    while (done < K.size()) {
      const std::int64_t width = std::min(panels.strip_width(K.begin + done, q), K.size() - done);
      panels.strip(turn, K, done, width, first);
      panels.join(turn, K, {done, done + width}, first);
      done += width;
    }
  };

  Range K = panel_at(0);
  end_panel(K, begin_panel(K));
  Event rest_done;
  while (K.end < n) {
    const Range next = K.end < k ? panel_at(K.end) : Range{K.end, K.end}, rest{next.end, n}, below{K.begin, m};
    const View<T> V = panels.V(turn, K.begin, K.size()), Tri = panels.Tri(turn, K.size());
    // next
    first.wait_for(rest_done);
    if (next.size() > 0) panels.apply_next(turn, K, next, first);
    const Event ready = first.record();
    // panel
    std::int64_t done = 0;
    turn = 1 - turn;
    if (next.size() > 0) done = begin_panel(next);
    // rest
    q.wait_for(ready);
    if (rest.size() > 0)
      reflect_left(adjoint<T>, V, Tri, A(below, rest), View<T>(W.data, K.size(), rest.size()),
                   View<T>(TW.data, K.size(), rest.size()), q, six);
    rest_done = q.record();
    if (next.size() > 0) end_panel(next, done);
    if (next.size() == 0) break;
    K = next;
  }
}

#define INSTANTIATE(T) template void geqrf_native<T>(View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
