// The method of an LU factorization.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

/// What getrf takes for a matrix of rows x cols and these options. Errors: invalid_argument for options that are not for the
/// matrix or the queue's backend, in the name of `routine`.
template <class T>
Method lu_method(const char* routine, std::int64_t rows, std::int64_t cols, const Queue& q, const LuOptions& options);

}  // namespace devobj
