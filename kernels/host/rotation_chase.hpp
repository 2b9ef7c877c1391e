// The chases of the QR updates by rotations, for few columns or rows: where the products of blocks would do many more
// operations. Host, float and double; p is at most chain_lanes (chain_simd.hpp).
#pragma once

#include "devobj/view.hpp"

namespace devobj::host {

/// chase_down of qr_update_chase.hpp, p >= 1; H_from and `from` may be absent.
template <class R>
void rotate_down(View<R> H_from, View<R> H, std::int64_t p, View<R> from, View<R> Q, View<R> D);

/// chase_up of qr_update_chase.hpp for W (rows x p), A_from and `from` may be absent. tail_done: W's rows from `start` on are upper trapezoidal, rows >=
/// start + p; otherwise start = rows - p.
template <class R>
void rotate_up(View<R> W, View<R> A_from, View<R> A, View<R> from, View<R> Q, View<R> D, std::int64_t start,
               bool tail_done);

/// rotate_down of [U; A], A upper trapezoidal whatever is below, into H, and of [0 Q; I 0] with the rows of I from row k
/// on, into Q1, which has U.rows rows and columns more than Q.
template <class R>
void rotate_rows_in(View<R> U, View<R> A, View<R> H, View<R> Q, std::int64_t k, View<R> Q1, View<R> D);

/// rotate_up to the end of W (rows x p, rows > p), of A with at least rows - p columns, upper trapezoidal whatever is
/// below, and Q. A1 is G^H A without its first p rows; Q1 is Q G without its first p columns and without rows k ... k +
/// p - 1.
template <class R>
void rotate_rows_out(View<R> W, View<R> A, View<R> A1, View<R> Q, std::int64_t k, View<R> Q1, View<R> D);

}  // namespace devobj::host
