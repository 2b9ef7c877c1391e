// qr by Givens rotations.
#pragma once

#include "devobj/qr.hpp"
#include "kernels/givens.hpp"

namespace devobj {

/// Explicit factors by rotations alone: of band matrices, which cost their band, and on the host of all. False, and
/// nothing is done but `band` found, for other matrices on the GPU: geqrf_blocked does them. Arguments have been checked. Waits.
template <class T>
bool qr_by_rotations(View<T> A, View<T> Q, View<T> R, Bandwidths& band, Queue& q);

}  // namespace devobj
