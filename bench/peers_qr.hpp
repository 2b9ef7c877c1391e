// Peers with explicit factors. Builds with CUDA and CUDA queues only: use behind `if constexpr (cuda_built)`.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "timing.hpp"

namespace bench {

/// cuSOLVER's Xgeqrf and orgqr (ungqr): Q (m x n, n <= m) with explicit columns, R (n x n). The median milliseconds.
template <class T>
double cusolver_qr_ms(devobj::View<T> A, devobj::View<T> Q, devobj::View<T> R, const Repeat& repeat, devobj::Queue& q);

/// Paper 001's algorithm 1 on one GPU: a kernel per column, a thread per column of R and Q, which walks up the rows.
/// R and Q are n x n and kept by rows, as in the paper: as column-major views R gets its transpose, Q the orthogonal
/// factor. The median milliseconds.
template <class T>
double paper001_ms(devobj::View<T> A, devobj::View<T> Q, devobj::View<T> R, const Repeat& repeat, devobj::Queue& q);

}  // namespace bench
