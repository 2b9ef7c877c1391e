// devObject for C++: matrices that live on the GPU, or on the host where there is none, and dense linear algebra on them.
//
//   devobj::Queue q;                                     // GPU if there is one
//   devobj::Matrix<double> A(n, n, q), B(n, 1, q);
//   devobj::Matrix<std::int32_t> ipiv(n, 1, q);
//   devobj::to_device<double>({a, n, n, n}, A, q);
//   devobj::to_device<double>({b, n, 1, n}, B, q);
//   if (devobj::gesv<double>(A, ipiv, B, q) == 0) devobj::to_host<double>(B, {b, n, 1, n}, q);
//
// Matrices are column-major; sizes are counted in elements. Errors are thrown as devobj::Error.
#pragma once

#include "devobj/batched.hpp"
#include "devobj/blas.hpp"
#include "devobj/error.hpp"
#include "devobj/fft.hpp"
#include "devobj/givens.hpp"
#include "devobj/lu.hpp"
#include "devobj/math.hpp"
#include "devobj/matrix.hpp"
#include "devobj/mixed.hpp"
#include "devobj/prims.hpp"
#include "devobj/qr.hpp"
#include "devobj/qr_update.hpp"
#include "devobj/queue.hpp"
#include "devobj/rng.hpp"
#include "devobj/types.hpp"
#include "devobj/view.hpp"
