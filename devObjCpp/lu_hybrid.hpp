// Hybrid LU: see lu_hybrid.cpp.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

template <class T>
std::int64_t getrf_hybrid(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options);

/// Columns of a panel where the caller does not say: from measurements (docs/design-notes.md).
template <class T> std::int64_t lu_block_size(std::int64_t m, std::int64_t n, bool on_cuda);
template <class T> std::int64_t lu_native_block_size(std::int64_t m, std::int64_t n);

}  // namespace devobj
