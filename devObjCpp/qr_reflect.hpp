// The block reflector's products, in one place: what the trailing updates of QR, orgqr and ormqr are made of.
#pragma once

#include <algorithm>
#include <type_traits>

#include "devobj/blas.hpp"
#include "devobj/view.hpp"
#include "products_by_parts.hpp"

namespace devobj {

// V's columns have norm 1 to sqrt(2); the columns of C (its rows, where V is on the right) may have any, and are what
// products by parts guard. Complex ones take V on the left only: the left operand is written out twice as large, and the
// right one has to lie as it is multiplied.

/// W = V^H C
template <class T>
void project_left(View<T> V, View<T> C, View<T> W, Queue& q, const ProductsByParts& parts = {}) {
  if (parts.projects_whole(C)) return parts.project(V, C, W, q);
  if (!parts.projects(V, C)) return parts.multiply(adjoint<T>, Op::NoTrans, T(1), V, C, T(0), W, q);
  laset(Uplo::General, T(0), T(0), W, q);
  parts.add(adjoint<T>, Op::NoTrans, 1, V, C, W, Side::Right, q);
}

/// C -= V op(W); op is NoTrans where parts update a complex matrix.
template <class T>
void subtract_left(View<T> V, View<T> W, View<T> C, Queue& q, const ProductsByParts& parts = {}, Op op = Op::NoTrans) {
  if (op == Op::NoTrans && parts.updates_by_residues(V, C)) {
    // V's triangle by itself: there is little in its first rows, for which gemm_residues is slow
    const Range k{0, V.cols}, below{V.cols, V.rows}, columns{0, C.cols};
    parts.multiply(Op::NoTrans, Op::NoTrans, T(-1), V(k, k), W, T(1), C(k, columns), q);
    return parts.subtract_by_residues(V(below, k), W, C(below, columns), q);
  }
  if (!parts.updates(C)) return parts.multiply(Op::NoTrans, op, T(-1), V, W, T(1), C, q);
  parts.add(Op::NoTrans, op, -1, V, W, C, Side::Right, q);
}

/// W = C V
template <class T>
void project_right(View<T> C, View<T> V, View<T> W, Queue& q, const ProductsByParts& parts = {}) {
  if (is_complex<T> || !parts.projects(V, C)) return parts.multiply(Op::NoTrans, Op::NoTrans, T(1), C, V, T(0), W, q);
  laset(Uplo::General, T(0), T(0), W, q);
  parts.add(Op::NoTrans, Op::NoTrans, 1, C, V, W, Side::Left, q);
}

/// C -= W V^H
template <class T>
void subtract_right(View<T> W, View<T> V, View<T> C, Queue& q, const ProductsByParts& parts = {}) {
  if (is_complex<T> || !parts.updates(C)) return parts.multiply(Op::NoTrans, adjoint<T>, T(-1), W, V, T(1), C, q);
  parts.add(Op::NoTrans, Op::Trans, -1, W, V, C, Side::Left, q);
}

/// Whether C^H V takes less time than V^H C, whose few rows have tiles of another shape: by parts, and by cuBLAS in double precision, for
/// V of some columns and a large C.
template <class T>
bool adjoint_pays(View<T> V, View<T> C, const Queue& q, const ProductsByParts& parts) {
  constexpr std::int64_t least = is_complex<T> ? 3000 : 6000, least_columns = 128;
  if (!is_complex<T> && parts.projects(V, C)) return true;
  return std::is_same_v<real_t<T>, double> && q.on_cuda() && V.cols >= least_columns &&
         std::min(C.rows, C.cols) >= least && !parts.projects_whole(C);
}
/// Wt = C^H V, where that pays.
template <class T>
void project_adjoint(View<T> V, View<T> C, View<T> Wt, Queue& q, const ProductsByParts& parts) {
  if (is_complex<T> || !parts.projects(V, C)) return parts.multiply(adjoint<T>, Op::NoTrans, T(1), C, V, T(0), Wt, q);
  laset(Uplo::General, T(0), T(0), Wt, q);
  parts.add(Op::Trans, Op::NoTrans, 1, C, V, Wt, Side::Left, q);
}

/// TW = op(Tri) opW(W), Tri upper triangular: of wide ones by halves, which leaves out a quarter, zeros below the diagonal.
template <class T>
void multiply_triangle(Op op, View<T> Tri, Op opW, View<T> W, View<T> TW, Queue& q, const ProductsByParts& parts = {}) {
  constexpr std::int64_t least = 512;
  const std::int64_t k = Tri.rows, half = k / 2;
  if (k < least || !q.on_cuda()) return parts.multiply(op, opW, T(1), Tri, W, T(0), TW, q);
  const Range all{0, k}, first{0, half}, second{half, k}, columns{0, TW.cols};
  const bool upper = op == Op::NoTrans;
  const Range part = upper ? second : first,
              whole = upper ? first : second;  // of TW's rows: from as many of W's, and from all
  const auto of_W = [&](Range rows) { return opW == Op::NoTrans ? W(rows, columns) : W(columns, rows); };
  parts.multiply(op, opW, T(1), upper ? Tri(whole, all) : Tri(all, whole), W, T(0), TW(whole, columns), q);
  parts.multiply(op, opW, T(1), Tri(part, part), of_W(part), T(0), TW(part, columns), q);
}

/// TW = op(Tri) V^H C. V is m x k with its ones and zeros written out, Tri k x k, C m x n; W is k x n workspace.
template <class T>
void times_projection_left(Op op, View<T> V, View<T> Tri, View<T> C, View<T> W, View<T> TW, Queue& q,
                           const ProductsByParts& parts = {}) {
  if (W.ld == W.rows && adjoint_pays(V, C, q, parts)) {
    const View<T> Wt(W.data, C.cols, V.cols);  // in W's memory
    project_adjoint(V, C, Wt, q, parts);
    return multiply_triangle(op, Tri, adjoint<T>, Wt, TW, q, parts);
  }
  project_left(V, C, W, q, parts);
  multiply_triangle(op, Tri, Op::NoTrans, W, TW, q, parts);
}

/// C -= V op(Tri) (V^H C), that is C = op(I - V Tri V^H) C, in three products; shapes as above, TW is workspace too. Does not
/// wait.
template <class T>
void reflect_left(Op op, View<T> V, View<T> Tri, View<T> C, View<T> W, View<T> TW, Queue& q,
                  const ProductsByParts& parts = {}) {
  times_projection_left(op, V, Tri, C, W, TW, q, parts);
  subtract_left(V, TW, C, q, parts);
}

/// C -= (C V) op(Tri) V^H, C is n x m; W and TW are n x k workspace.
template <class T>
void reflect_right(Op op, View<T> V, View<T> Tri, View<T> C, View<T> W, View<T> TW, Queue& q,
                   const ProductsByParts& parts = {}) {
  project_right(C, V, W, q, parts);
  parts.multiply(Op::NoTrans, op, T(1), W, Tri, T(0), TW, q);
  subtract_right(TW, V, C, q, parts);
}

// ---- with V times the triangle ----
// VTri = V op(Tri) instead of op(Tri): one product less for each C, and more accurate. Where V's columns are nearly parallel V^H C has nearly
// equal rows, whose differences Tri takes; all that their long sums have lost in rounding is left then, and in a wide block from
// many rows. The differences of V's columns have no long sums.

/// C = alpha V op(Tri) + beta C, Tri upper triangular: of wide ones by halves, as in multiply_triangle.
template <class T>
void times_triangle(T alpha, View<T> V, Op op, View<T> Tri, T beta, View<T> C, Queue& q,
                    const ProductsByParts& parts = {}) {
  constexpr std::int64_t least = 512;
  const std::int64_t k = Tri.rows, half = k / 2;
  if (k < least || !q.on_cuda()) return parts.multiply(Op::NoTrans, op, alpha, V, Tri, beta, C, q);
  const Range all{0, k}, first{0, half}, second{half, k}, rows{0, V.rows};
  const bool upper = op == Op::NoTrans;
  const Range part = upper ? first : second,
              whole = upper ? second : first;  // of C's columns: from as many of V's, and from all
  parts.multiply(Op::NoTrans, op, alpha, V, upper ? Tri(all, whole) : Tri(whole, all), beta, C(rows, whole), q);
  parts.multiply(Op::NoTrans, op, alpha, V(rows, part), Tri(part, part), beta, C(rows, part), q);
}

/// C = (I - V VTri^H) C. X is workspace of V.cols x C.cols elements without gaps. Does not wait.
template <class T>
void reflect_left(View<T> V, View<T> VTri, View<T> C, View<T> X, Queue& q, const ProductsByParts& parts = {}) {
  if (adjoint_pays(VTri, C, q, parts) && !(is_complex<T> && parts.updates(C))) {
    const View<T> Xt(X.data, C.cols, V.cols);
    project_adjoint(VTri, C, Xt, q, parts);
    return subtract_left(V, Xt, C, q, parts, adjoint<T>);
  }
  project_left(VTri, C, X, q, parts);
  subtract_left(V, X, C, q, parts);
}

/// The same where the first k columns of C are those of the unit matrix, so that VTri^H times them is known, and the first k rows of its
/// others are zero.
template <class T>
void reflect_unit_left(View<T> V, View<T> VTri, View<T> C, View<T> X, Queue& q, const ProductsByParts& parts = {}) {
  const Range k{0, V.cols}, right{V.cols, C.cols}, below{V.cols, V.rows};
  const View<T> VTri_below = VTri(below, k), others = C(below, right);
  if (adjoint_pays(VTri_below, others, q, parts) && !(is_complex<T> && parts.updates(C))) {
    const View<T> Xt(X.data, C.cols, V.cols);
    copy(VTri(k, k), Xt(k, k), q);
    project_adjoint(VTri_below, others, Xt(right, k), q, parts);
    return subtract_left(V, Xt, C, q, parts, adjoint<T>);
  }
  transpose(adjoint<T>, VTri(k, k), X(k, k), q);
  if (!others.empty()) project_left(VTri_below, others, X(k, right), q, parts);
  if (!parts.updates_by_residues(V, others)) return subtract_left(V, X, C, q, parts);
  // The unit columns by themselves: they are multiplied by a triangle, for which gemm_residues is slow.
  times_triangle(T(-1), V, Op::NoTrans, X(k, k), T(1), C({0, C.rows}, k), q, parts);
  subtract_left(V, X(k, right), C({0, C.rows}, right), q, parts);
}

/// C = C (I - VTri V^H), C is n x m; X is n x k workspace.
template <class T>
void reflect_right(View<T> V, View<T> VTri, View<T> C, View<T> X, Queue& q, const ProductsByParts& parts = {}) {
  project_right(C, VTri, X, q, parts);
  subtract_right(X, V, C, q, parts);
}

}  // namespace devobj
