// The peer of a solve on a GPU.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "timing.hpp"

namespace bench {

/// X = A^-1 B by cusolverDnXgetrs with factors of cusolverDnXgetrf, which are not timed. Builds with CUDA and CUDA queues only.
template <class T>
double cusolver_solve_ms(devobj::View<T> A, devobj::View<T> B, devobj::View<T> X, const Repeat& repeat,
                         devobj::Queue& q);

}  // namespace bench
