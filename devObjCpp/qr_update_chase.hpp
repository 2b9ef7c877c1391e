// The two chases that every QR update is made of. Arguments have been checked.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// H (rows x cols, zero below its p-th subdiagonal) becomes upper trapezoidal, H = G^H H; Q = Q G, D = G^H D with the
/// same unitary G. Q has H.rows columns and D H.rows rows; either may be absent. With `from`, of Q's shape and apart
/// from it, Q = from G. With H_from, of H's shape and apart from it, H = G^H H_from without what is below H_from's p-th
/// subdiagonal.
template <class T>
void chase_down(View<T> H, std::int64_t p, View<T> Q, View<T> D, Queue& q, std::int64_t block = 0, View<T> from = {},
                View<T> H_from = {});

/// W (rows x p) becomes upper trapezoidal, W = G^H W, such that R (rows x n, upper trapezoidal, zeros written below its
/// diagonal) gets no more than p subdiagonals, R = G^H R; Q and D as above. With R_from, of R's shape and apart from it,
/// R = G^H R_from without what is below R_from's diagonal. `tail_done`: W's rows from
/// max(0, min(n, rows - p)) on are upper trapezoidal already.
template <class T>
void chase_up(View<T> W, View<T> R, View<T> Q, View<T> D, bool tail_done, Queue& q, std::int64_t block = 0,
              View<T> from = {}, View<T> R_from = {});

/// chase_down of [U; R] into R1 with [0 Q; I 0] into Q1, the rows of I from row k on: true if it is done by rotations,
/// which need no copies before, and false if nothing was done. What is below R's diagonal is not looked at.
template <class T>
bool chase_rows_in(View<T> U, View<T> R, View<T> R1, View<T> Q, std::int64_t k, View<T> Q1, View<T> D, Queue& q,
                   std::int64_t block);
/// chase_up of W with R, of which R1 gets all but the first p rows, and Q, of which Q1 gets all but the first p columns
/// and rows k ... k + p - 1, likewise. What is below R's diagonal is not looked at.
template <class T>
bool chase_rows_out(View<T> W, View<T> R, View<T> R1, View<T> Q, std::int64_t k, View<T> Q1, View<T> D, Queue& q,
                    std::int64_t block);

}  // namespace devobj
