// The three variants of paper 004 (P. N. von Bachmann 2022), kept as its algorithms are: Givens QR in double precision
// with full Q, one rotation after the other. Row-major A, R and Q, except Q of the last two, which is by columns.
#pragma once

#include <cstdint>
#include <vector>

namespace bench::paper004 {

struct Factors {
  std::int64_t m = 0, n = 0;
  std::vector<double> Q, R;  ///< R m x n by rows, Q m x m as the variant has it
  bool q_by_columns = false;
  double q(std::int64_t i, std::int64_t j) const {
    return Q[static_cast<std::size_t>(q_by_columns ? j * m + i : i * m + j)];
  }
};

/// Algorithm 2: every rotation is a full m x m matrix, R = G R and Q = Q G^T are products of matrices.
Factors base(std::int64_t m, std::int64_t n, const double* A);
/// Algorithm 3, section 3.3: two rows of R at a time; Q by rows or, as section 3.3.2 recommends, by columns.
Factors serial(std::int64_t m, std::int64_t n, const double* A, bool q_by_columns);
/// Algorithm 4: all rotations of a step of scheme (7) in parallel, by OpenMP on `threads` threads.
Factors parallel(std::int64_t m, std::int64_t n, const double* A, int threads);

/// ||A - Q R||_F / (||A||_F max(m, n) eps)
double residual(const Factors& f, const double* A);

}  // namespace bench::paper004
