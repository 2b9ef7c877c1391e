// The batched routines by cuBLAS or a loop over LAPACK, as the yardstick of the library's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace bench {

/// A batch with all that one of the routines getrf, getrs, gesv, geqrf, gels takes; matrices side by side.
template <class T>
struct BatchedProblem {
  std::string routine;
  std::int64_t batch;
  devobj::View<T> A, B, tau;  ///< B has one right-hand side for each matrix
  devobj::View<std::int32_t> ipiv, info;
};

/// A call that does the routine in place. Errors are thrown by it.
template <class T>
std::function<void()> raw_batched(const BatchedProblem<T>& p, devobj::Queue& q);

namespace cuda {
template <class T>
std::function<void()> raw_batched(const BatchedProblem<T>& p, void* stream);
}

}  // namespace bench
