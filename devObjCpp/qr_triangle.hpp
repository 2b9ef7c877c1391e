// T of a block reflector I - V T V^H of any width: larft's kernel makes T up to 256 columns, products join such triangles.
#pragma once

#include "devobj/blas.hpp"
#include "devobj/view.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/kernels.hpp"
#include "shapes.hpp"

namespace devobj {

/// The columns of the first of two triangles that a wider one is joined from.
inline std::int64_t first_triangle(std::int64_t columns, std::int64_t widest) {
  return (columns / 2 + widest - 1) / widest * widest;
}

/// Joins T1 and T2, the first `half` columns of Tri and the others, with G21 = V2^H V1 (Schreiber & Van Loan, 1989):
///
///       | T1   -T1 G12 T2 |    for (I - V1 T1 V1^H) (I - V2 T2 V2^H)
///   T = |                 |
///       |          T2     |
template <class T>
void join_triangles(View<T> G21, View<T> Tri, std::int64_t half, Queue& q) {
  const Range first{0, half}, second{half, Tri.rows};
  // below the diagonal (G12 T2)^H, for a while
  gemm(adjoint<T>, Op::NoTrans, T(1), Tri(second, second), G21, T(0), Tri(second, first), q);
  gemm(Op::NoTrans, adjoint<T>, T(-1), Tri(first, first), Tri(second, first), T(0), Tri(first, second), q);
  laset(Uplo::General, T(0), T(0), Tri(second, first), q);
}

/// T from G = V^H V, LAPACK's larft, forward and columnwise, with zeros below its diagonal.
template <class T>
void triangle_of_products(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  if (Tri.rows <= larft_max) return larft(G, tau, Tri, q);
  const std::int64_t half = first_triangle(Tri.rows, larft_max);
  for (const Range K : {Range{0, half}, Range{half, Tri.rows}})
    triangle_of_products(G(K, K), part(tau, K), Tri(K, K), q);
  join_triangles(G({half, G.rows}, {0, half}), Tri, half, q);
}

/// T from V, m x k with its ones and zeros written out. G is k x k workspace. The sums of V^H V are taken in so many parts: where V's
/// columns are nearly parallel what they lose in rounding is what Q lacks to be unitary, k times.
template <class T>
void triangle_of_vectors(View<T> V, View<T> tau, View<T> G, View<T> Tri, Queue& q, std::int64_t parts_of_sums = 1) {
  // what V^H V has above its diagonal is not computed: of long vectors in smaller parts, where products take longer than calls
  constexpr std::int64_t long_vectors = 12000, narrow = larft_max / 2;
  const std::int64_t widest = V.rows >= long_vectors ? narrow : larft_max;
  const auto multiply = [&](View<T> A, View<T> B, View<T> to) {  // to = A^H B
    for (std::int64_t i = 0; i < parts_of_sums; ++i) {
      const Range rows{A.rows * i / parts_of_sums, A.rows * (i + 1) / parts_of_sums};
      gemm(adjoint<T>, Op::NoTrans, T(1), A(rows, {0, A.cols}), B(rows, {0, B.cols}), T(i > 0), to, q);
    }
  };
  if (Tri.rows <= widest) {
    multiply(V, V, G);
    return larft(G, tau, Tri, q);
  }
  const std::int64_t half = first_triangle(Tri.rows, widest);
  const Range first{0, half}, second{half, Tri.rows}, under{half, V.rows};
  for (const Range K : {first, second})
    triangle_of_vectors(V({K.begin, V.rows}, K), part(tau, K), G(K, K), Tri(K, K), q, parts_of_sums);
  const View<T> G21 = G(second, first);
  multiply(V(under, second), V(under, first), G21);
  join_triangles(G21, Tri, half, q);
}

}  // namespace devobj
