// Hybrid QR: see qr_hybrid.cpp.
#pragma once

#include "devobj/qr.hpp"

namespace devobj {

template <class T> void geqrf_hybrid(View<T> A, View<T> tau, Queue& q, QrOptions options);

/// Columns of a panel where the caller does not say: from measurements (docs/design-notes.md).
template <class T> std::int64_t qr_block_size(std::int64_t m, std::int64_t n, bool on_cuda);

}  // namespace devobj
