// The peers of a solve: the same system in the same run, by factors of the peer's own, which are not timed.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "timing.hpp"

namespace bench {

/// X = A^-1 B by the linked LAPACK's ?getrs. Host queues only.
template <class T>
double lapack_solve_ms(devobj::View<T> A, devobj::View<T> B, devobj::View<T> X, const Repeat& repeat, devobj::Queue& q);

/// The same by cusolverDnXgetrs, with factors of cusolverDnXgetrf. Builds with CUDA and CUDA queues only.
template <class T>
double cusolver_solve_ms(devobj::View<T> A, devobj::View<T> B, devobj::View<T> X, const Repeat& repeat,
                         devobj::Queue& q);

}  // namespace bench
