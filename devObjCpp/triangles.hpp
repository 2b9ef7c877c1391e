// A triangle and right-hand sides: what trsm, getrs and gels solve with.
#pragma once

#include <cstdint>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// B = op(A)^-1 B, A triangular (letters in trsm's order), by what is fastest for so many columns. Does not wait.
template <class T>
void solve_triangle(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Math math, Queue& q);
/// Its memory, for A of order n and so many columns: so that nothing has changed when there is none.
template <class T>
void reserve_for_triangle(Math math, std::int64_t n, std::int64_t columns, Queue& q);

}  // namespace devobj
