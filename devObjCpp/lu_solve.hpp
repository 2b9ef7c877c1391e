// The triangles of factorizations, as getrs and gels solve with them.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

/// B = U^-1 L^-1 B with the triangles of getrf in LU. Does not wait.
template <class T>
void solve_triangles(View<T> LU, View<T> B, Math math, Queue& q);

/// B = op(A)^-1 B, A triangular (letters in trsm's order): by trsm, or what is faster for so many columns. Does not wait.
template <class T>
void solve_triangle(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Math math, Queue& q);
/// Its memory, for A of order n and so many columns: so that nothing has changed when there is none.
template <class T>
void reserve_for_triangle(Math math, std::int64_t n, std::int64_t columns, Queue& q);

}  // namespace devobj
