// Hybrid QR: see qr_hybrid.cpp.
#pragma once

#include "devobj/qr.hpp"

namespace devobj {

template <class T> void geqrf_hybrid(View<T> A, View<T> tau, Queue& q, QrOptions options);

}  // namespace devobj
