// QR with panels and updates on the queue's backend: see qr_blocked.cpp.
#pragma once

#include <optional>

#include "devobj/qr.hpp"
#include "kernels/givens.hpp"

namespace devobj {

/// geqrf by Method::block_householder, or by Method::givens on the GPU: the panel's rotations then come out as
/// reflectors, with tau real. `band`, if given, says that A has no more diagonals than that: zeros are then left alone.
/// Arguments have been checked. Does not wait.
template <class T>
void geqrf_blocked(View<T> A, View<T> tau, Queue& q, QrOptions options, std::optional<Bandwidths> band = {});

/// orgqr for the reflectors of a matrix with `band`: no vector reaches further than its column's band. Does not wait.
template <class T>
void orgqr_banded(View<T> A, View<T> tau, Bandwidths band, Queue& q);

}  // namespace devobj
