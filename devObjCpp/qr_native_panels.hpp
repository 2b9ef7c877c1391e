// The panels of a QR wholly on the GPU, with their block reflectors.
//
// A panel is factored in strips as wide as the cluster's registers hold, or, if it is too tall for many columns, by
// Cholesky-QR. Up to 256 columns are a group; each strip's reflector is applied to the columns of its group to its right, and the
// reflectors of a wide panel's groups, joined, to those of the next groups: of three groups
//
//     the first to the second,  both to the third.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/qr_panel_native.hpp"
#include "qr_reflect.hpp"
#include "qr_triangle.hpp"

namespace devobj {

/// The panels' factors and workspace: V and T of two panels in turn, since a panel is made while the last is applied, and `with_VTri` V T.
template <class T>
class NativePanels {
 public:
  NativePanels(View<T> A, View<T> tau, std::int64_t nb, Math math, Queue& q, bool with_VTri = false)
      : A_(A),
        tau_(tau),
        gram_(nb, nb, q),
        W_(nb, nb, q),
        TW_(nb, nb, q),
        parts_(ProductsByParts::for_small_products<T>(math, A.rows, q)) {
    for (int i = 0; i < 2; ++i) {
      V_[i] = Matrix<T>(cuda::aligned_ld(A.rows), nb, q);
      Tri_[i] = Matrix<T>(nb, nb, q);
      if (with_VTri) VTri_[i] = Matrix<T>(cuda::aligned_ld(A.rows), nb, q);
      strips_[i] = Matrix<T>(nb, nb, q);
    }
  }
  /// Readies `q`, the queue that factors: its memory.
  void warm(Queue& q) {
    q.blas();
    if constexpr (cuda_built) q.scratch(cuda::qr_panel_scratch_bytes);
  }
  View<T> V(int turn, std::int64_t j, std::int64_t w) const { return of_panel(V_[turn], j, w); }
  View<T> Tri(int turn, std::int64_t w) const { return Tri_[turn]({0, w}, {0, w}); }

  /// Factors the first strip of panel K. Returns its columns.
  std::int64_t begin(int turn, Range K, Queue& q) {
    const std::int64_t width = strip_width(K, 0, q);
    strip(turn, K, {0, width}, q);
    return width;
  }
  /// The panel's strips after the first `done` columns. Beside each of them, when it has been launched, `beside(S, ready)` is called,
  /// if it is not null, with the columns of the strip before it and an event after that.
  template <class Beside = std::nullptr_t>
  void end(int turn, Range K, std::int64_t done, Queue& q, Beside beside = nullptr) {
    Range S{0, done};
    while (S.end < K.size()) {
      const Range before = S;
      Event ready;
      if constexpr (!std::is_same_v<Beside, std::nullptr_t>) ready = q.record(false);
      S = {before.end, before.end + strip_width(K, before.end, q)};
      strip(turn, K, S, q);
      end_group(turn, K, S.end, q);
      if constexpr (!std::is_same_v<Beside, std::nullptr_t>) beside(before, ready);
    }
  }
  /// Whether panel K's kernels need no more than so many multiprocessors at once.
  bool fits_beside(Range K, int multiprocessors, const Queue& q) const {
    const std::int64_t rows = A_.rows - K.begin;
    if constexpr (cuda_built) return !is_tall(rows, q) || rows <= multiprocessors * cuda::qr_panel_tall_rows_beside;
    return false;
  }
  /// Whether the panel is a single strip, whose T is the panel's.
  bool is_one_strip(Range K, const Queue& q) const { return strip_width(K, 0, q) == K.size(); }
  /// T of the whole panel from V^H V, once for all strips: their products with each other, taken one by one, are many short
  /// kernels.
  void make_triangle(int turn, Range K, Queue& q) {
    if (is_one_strip(K, q)) return;
    const View<T> v = V(turn, K.begin, K.size()), tri = Tri(turn, K.size());
    const View<T> G(gram_.data, K.size(), K.size());
    triangle_of_vectors(v, part(tau_, K), G, tri, q);
  }
  /// V T of the whole panel, whose T has been made.
  View<T> make_VTri(int turn, Range K, Queue& q) {
    const View<T> VTri = of_panel(VTri_[turn], K.begin, K.size());
    times_triangle(T(1), V(turn, K.begin, K.size()), Op::NoTrans, Tri(turn, K.size()), T(0), VTri, q, parts_);
    return VTri;
  }
  /// Whether apply_panel takes the strips' reflectors one after the other, so that it does not need T of the whole panel.
  bool applies_strips(Range K, std::int64_t columns, const Queue& q) const {
    return columns <= cuda::qr_reflect_strip_columns<T> && strips_fit(K, q);
  }
  /// Whether each of the panel's strips can be applied by one kernel.
  bool strips_fit(Range K, const Queue& q) const {
    if constexpr (cuda_built)
      for (std::int64_t done = 0, width = 0; done < K.size(); done += width) {
        width = strip_width(K, done, q);
        if (!cuda::qr_reflect_strip_fits<T>(A_.rows - K.begin - done, width, q)) return false;
      }
    return cuda_built;
  }
  /// A(below, columns) = Q^H A(below, columns); `by_strips`: a kernel for each strip, where strips_fit, and the strips of the first `done`
  /// columns have been applied
  void apply_panel(int turn, Range K, Range columns, bool by_strips, std::int64_t done, Queue& q) {
    if (!by_strips) return reflect(V(turn, K.begin, K.size()), Tri(turn, K.size()), A_({K.begin, A_.rows}, columns), q);
    while (done < K.size()) {
      const Range S{done, done + strip_width(K, done, q)};
      apply_strip(turn, K, S, columns, q);
      done = S.end;
    }
  }
  /// The same with the reflector of the panel's columns S alone, one strip, by one kernel.
  void apply_strip(int turn, Range K, Range S, Range columns, Queue& q) {
    if constexpr (cuda_built)
      cuda::qr_reflect_strip(strip_V(turn, K, S), strip_T(turn, K, S), A_({K.begin + S.begin, A_.rows}, columns), q);
  }

 private:
  /// Strips of more rows are qr_panel_tall's: the registers of a cluster hold few columns of so many rows.
  static constexpr std::int64_t cluster_rows = std::is_same_v<T, std::complex<double>> ? 4096 : 8192;

  /// Columns of a group.
  static constexpr std::int64_t group = larft_max;
  /// Where the group of that column ends, counted as it is from the panel's first one.
  static std::int64_t group_end(Range K, std::int64_t column) {
    return std::min((column / group + 1) * group, K.size());
  }

  View<T> of_panel(const Matrix<T>& vectors, std::int64_t j, std::int64_t w) const {
    return {vectors.data, A_.rows - j, w, cuda::aligned_ld(A_.rows - j)};
  }
  /// Whether a strip of `rows` rows is qr_panel_tall's; also where a cluster's registers hold too few columns.
  static bool is_tall(std::int64_t rows, const Queue& q) {
    constexpr std::int64_t too_few = 8;
    return rows > cluster_rows || cuda::qr_panel_width<T>(rows, q) <= too_few;
  }
  /// Columns of panel K's strip after `done` columns.
  std::int64_t strip_width(Range K, std::int64_t done, const Queue& q) const {
    const std::int64_t rows = A_.rows - K.begin - done;
    std::int64_t width = 1;
    if constexpr (cuda_built) {
      width = is_tall(rows, q) ? cuda::qr_panel_tall_width<T> : cuda::qr_panel_width<T>(rows, q);
    }
    return std::min(width, group_end(K, done) - done);
  }
  /// V of the panel's columns S, from its own first row on.
  View<T> strip_V(int turn, Range K, Range S) const {
    const View<T> panel = V(turn, K.begin, K.size());
    return panel({S.begin, panel.rows}, S);
  }
  /// Their T: the panel's, or on the diagonal of a matrix of its own, since make_triangle may be at work while it is read.
  View<T> strip_T(int turn, Range K, Range S) const {
    return S.size() == K.size() ? Tri(turn, K.size()) : strips_[turn](S, S);
  }
  /// Factors the panel's columns S and applies them to those of their group to their right.
  void strip(int turn, Range K, Range S, Queue& q) {
    const Range columns{K.begin + S.begin, K.begin + S.end}, below{columns.begin, A_.rows},
        right{columns.end, K.begin + group_end(K, S.begin)};
    const View<T> panel_V = V(turn, K.begin, K.size()), T_here = strip_T(turn, K, S);
    if constexpr (cuda_built) {
      const View<T> V_here = panel_V({0, panel_V.rows}, S);
      if (!is_tall(below.size(), q))
        cuda::qr_panel_native(A_(below, columns), part(tau_, columns), V_here, T_here, q);
      else
        cuda::qr_panel_tall(A_(below, columns), part(tau_, columns), V_here, T_here, q);
    }
    reflect(strip_V(turn, K, S), T_here, A_(below, right), q);
  }
  /// Where the panel's first `done` columns are whole groups, with columns to their right: applies the last of them, as many groups as
  /// the largest power of two that divides their number, to as many columns to their right.
  void end_group(int turn, Range K, std::int64_t done, Queue& q) {
    if (done % group != 0 || done == K.size()) return;
    std::int64_t width = group;
    while (done % (2 * width) == 0) width *= 2;
    const Range G{done - width, done}, columns{K.begin + G.begin, K.begin + G.end},
        right{columns.end, std::min(columns.end + width, K.end)}, below{columns.begin, A_.rows};
    const View<T> panel_V = V(turn, K.begin, K.size()), V_here = panel_V({G.begin, panel_V.rows}, G),
                  T_here = Tri(turn, K.size())(G, G);
    triangle_of_vectors(V_here, part(tau_, columns), View<T>(gram_.data, width, width), T_here, q);
    reflect(V_here, T_here, A_(below, right), q);
  }
  /// Whether the reflector of m x w V is best applied to so many columns by one kernel.
  static bool in_one_kernel(std::int64_t m, std::int64_t w, std::int64_t columns, const Queue& q) {
    if constexpr (cuda_built)
      return columns <= cuda::qr_reflect_strip_columns<T> && cuda::qr_reflect_strip_fits<T>(m, w, q);
    return false;
  }
  /// C = Q^H C
  void reflect(View<T> V, View<T> Tri, View<T> C, Queue& q) {
    if (C.cols == 0) return;
    if constexpr (cuda_built)
      if (in_one_kernel(V.rows, V.cols, C.cols, q)) return cuda::qr_reflect_strip(V, Tri, C, q);
    reflect_left(adjoint<T>, V, Tri, C, View<T>(W_.data, V.cols, C.cols), View<T>(TW_.data, V.cols, C.cols), q, parts_);
  }
  View<T> A_, tau_;
  Matrix<T> V_[2], VTri_[2], Tri_[2], strips_[2], gram_, W_, TW_;
  ProductsByParts parts_;
};

}  // namespace devobj
