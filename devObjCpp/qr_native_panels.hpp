// The panels of a QR wholly on the GPU, with their block reflectors.
//
// A panel is factored in strips as wide as the cluster's registers hold, or, if it is too tall for many columns, by
// Cholesky-QR; each strip's reflector is applied to the columns of the panel to its right.
#pragma once

#include <algorithm>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/qr_panel_native.hpp"
#include "qr_reflect.hpp"

namespace devobj {

/// The panels' factors and workspace: V and T of two panels in turn, since a panel is made while the last is applied.
template <class T>
class NativePanels {
 public:
  NativePanels(View<T> A, View<T> tau, std::int64_t nb, Queue& q)
      : A_(A), tau_(tau), gram_(nb, nb, q), W_(nb, nb, q), TW_(nb, nb, q) {
    for (int i = 0; i < 2; ++i) {
      V_[i] = Matrix<T>(A.rows, nb, q);
      Tri_[i] = Matrix<T>(nb, nb, q);
    }
  }
  /// Readies `q`, the queue that factors: its memory.
  void warm(Queue& q) {
    q.blas();
    if constexpr (cuda_built) q.scratch(cuda::qr_panel_scratch_bytes);
  }
  View<T> V(int turn, std::int64_t j, std::int64_t w) const { return {V_[turn].data, A_.rows - j, w}; }
  View<T> Tri(int turn, std::int64_t w) const { return Tri_[turn]({0, w}, {0, w}); }

  /// Factors the first strip of panel K. Returns its columns.
  std::int64_t begin(int turn, Range K, Queue& q) {
    const std::int64_t width = std::min(strip_width(K.begin, q), K.size());
    strip(turn, K, 0, width, q);
    return width;
  }
  /// The panel's strips after the first `done` columns, with T of the whole.
  void end(int turn, Range K, std::int64_t done, Queue& q) {
    if (done == K.size()) return;
    while (done < K.size()) {
      const std::int64_t width = std::min(strip_width(K.begin + done, q), K.size() - done);
      strip(turn, K, done, width, q);
      done += width;
    }
    make_triangle(turn, K, q);
  }
  /// A(below, columns) = Q^H A(below, columns) for a few columns
  void apply_next(int turn, Range K, Range columns, Queue& q) {
    reflect_left(adjoint<T>, V(turn, K.begin, K.size()), Tri(turn, K.size()), A_({K.begin, A_.rows}, columns),
                 View<T>(W_.data, K.size(), columns.size()), View<T>(TW_.data, K.size(), columns.size()), q);
  }

 private:
  /// Panels of more rows are factored by products: their columns cost less then than in a cluster, whose registers hold
  /// few columns of so many rows.
  static constexpr std::int64_t cluster_rows = 8192;

  /// Whether a strip of `rows` rows is factored by products; also where a cluster's registers hold too few columns.
  static bool is_tall(std::int64_t rows, const Queue& q) {
    constexpr std::int64_t too_few = 8;
    return rows > cluster_rows || cuda::qr_panel_width<T>(rows, q) <= too_few;
  }
  /// Columns of a strip that starts in row j.
  std::int64_t strip_width(std::int64_t j, const Queue& q) const {
    const std::int64_t rows = A_.rows - j;
    if constexpr (cuda_built) return is_tall(rows, q) ? cuda::qr_panel_tall_width<T> : cuda::qr_panel_width<T>(rows, q);
    return 1;
  }
  /// Factors `width` columns of panel K from K.begin + done on and applies them to the panel's others to their right.
  void strip(int turn, Range K, std::int64_t done, std::int64_t width, Queue& q) {
    const Range S{K.begin + done, K.begin + done + width}, below{S.begin, A_.rows}, right{S.end, K.end};
    const View<T> panel_V = V(turn, K.begin, K.size()), strip_V = panel_V({0, panel_V.rows}, {done, done + width});
    const View<T> T_here = Tri(turn, K.size())({done, done + width}, {done, done + width});
    if constexpr (cuda_built) {
      if (!is_tall(below.size(), q))
        cuda::qr_panel_native(A_(below, S), part(tau_, S), strip_V, T_here, q);
      else
        cuda::qr_panel_tall(A_(below, S), part(tau_, S), strip_V, T_here, q);
    }
    if (right.size() > 0)
      reflect_left(adjoint<T>, strip_V({done, strip_V.rows}, {0, width}), T_here, A_(below, right),
                   View<T>(W_.data, width, right.size()), View<T>(TW_.data, width, right.size()), q);
  }
  /// T of the panel from V^H V, once for all strips: their products with each other, taken one by one, are many short
  /// kernels.
  void make_triangle(int turn, Range K, Queue& q) {
    const View<T> v = V(turn, K.begin, K.size()), tri = Tri(turn, K.size());
    const View<T> G(gram_.data, K.size(), K.size());
    gemm(adjoint<T>, Op::NoTrans, T(1), v, v, T(0), G, q);
    larft(G, part(tau_, K), tri, q);
  }
  static View<T> part(View<T> v, Range K) { return v.cols == 1 ? v(K, {0, 1}) : v({0, 1}, K); }
  View<T> A_, tau_;
  Matrix<T> V_[2], Tri_[2], gram_, W_, TW_;
};

}  // namespace devobj
