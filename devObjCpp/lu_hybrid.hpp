// Hybrid LU: see lu_hybrid.cpp.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

template <class T>
std::int64_t getrf_hybrid(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options);

}  // namespace devobj
