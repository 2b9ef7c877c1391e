// Native QR: see qr_native.cpp.
#pragma once

#include "devobj/qr.hpp"

namespace devobj {

/// geqrf wholly on the GPU; the queue is one of CUDA. Does not wait. Error: out_of_memory, A is then unchanged.
template <class T>
void geqrf_native(View<T> A, View<T> tau, Queue& q, QrOptions options);

}  // namespace devobj
