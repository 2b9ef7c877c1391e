// QR of a tall panel on the CPU's cores: the part of the hybrid factorization that the GPU is bad at.
#pragma once

#include <cstdint>

namespace devobj::host {

/// A = Q R by Householder reflectors, LAPACK's geqr2, of an m x n column-major panel A with leading dimension lda; n is
/// small (up to 128 or so), m anything, also m < n. A is overwritten by R and the reflectors' vectors, tau gets
/// min(m, n) elements. Signs are LAPACK's, R's diagonal is real. Right from the smallest to the largest numbers,
/// column by column; NaN and Inf propagate as in LAPACK. The same bits for the same number of threads.
/// `threads` of the shared Team take part; 0: as many as pay off. The padding below row m is untouched.
/// Errors: bad_alloc, A is then unchanged.
/// T: float, double, complex<float>, complex<double>. Source: LAPACK geqr2, larfg; paper 002.
template <class T>
void qr_panel(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, T* tau, int threads = 0);

}  // namespace devobj::host
