// LU factorization with pivots from a window of rows: for the randomized solve, whose matrices have been mixed.
#pragma once

#include "devobj/matrix.hpp"
#include "devobj/types.hpp"
#include "kernels/randomized.hpp"

namespace devobj {

/// P A = L U in the place of A (n x n): as getrf, but the pivot of a column is the largest element among the next
/// window_rows rows alone. Row i of P A is row order(i) (n elements, from 0) of A. `info` (one element in the queue's
/// memory) is 0, or the first i with U(i, i) = 0: A is not to be used then. S is float or complex<float>. Does not wait.
/// Workspace: O(n), a few panels. Panels per block: 1 to window_most_panels.
template <class S>
void getrf_window(View<S> A, View<std::int32_t> order, View<std::int32_t> info, Math math, Queue& q,
                  std::int64_t panels_per_block = window_most_panels);

}  // namespace devobj
