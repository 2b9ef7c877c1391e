// Native LU: see lu_native.cpp. GPU only.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

/// True if the GPU has a panel kernel for matrices of m rows.
template <class T> bool lu_native_possible(std::int64_t m, const Queue& q);

/// Does not wait. info: one element in the queue's memory.
template <class T>
void getrf_native(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options);

}  // namespace devobj
