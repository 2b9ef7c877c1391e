// LU of a tall panel on the CPU's cores: the part of the hybrid factorization that the GPU is bad at.
#pragma once

#include <cstdint>

namespace devobj::host {

/// P A = L U, LAPACK's getrf, of an m x n column-major panel A with leading dimension lda; n is small (up to 128 or
/// so), m anything, also m < n. A is overwritten by L (unit lower) and U, ipiv gets min(m, n) pivots from 1.
/// Returns info: 0, or the first j (from 1) with U(j, j) exactly zero; the factorization is complete in both cases.
/// Pivot: the largest |re| + |im|, the lowest row of equals; a NaN is never larger than anything. The same bits for
/// the same number of threads. `threads` of the shared Team take part; 0: as many as pay off. The padding below row m
/// is untouched. Errors: bad_alloc and invalid_argument (m beyond 32 bits), A is then unchanged.
/// T: float, double, complex<float>, complex<double>. Source: LAPACK getrf; paper 002.
template <class T>
std::int64_t lu_panel(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int32_t* ipiv, int threads = 0);

}  // namespace devobj::host
