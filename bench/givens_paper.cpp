#include "givens_paper.hpp"

#include <algorithm>
#include <cmath>

namespace bench::paper004 {
namespace {

/// Section 3.1.2: c and s without overflow, c a + s b = r, c b - s a = 0.
void rotation(double a, double b, double& c, double& s) {
  if (b == 0) {
    c = 1;
    s = 0;
  } else if (std::abs(b) >= std::abs(a)) {
    const double t = a / b;
    s = std::copysign(1 / std::sqrt(1 + t * t), b);
    c = s * t;
  } else {
    const double t = b / a;
    c = std::copysign(1 / std::sqrt(1 + t * t), a);
    s = c * t;
  }
}

Factors start(std::int64_t m, std::int64_t n, const double* A, bool q_by_columns) {
  Factors f{m, n, std::vector<double>(static_cast<std::size_t>(m * m)), std::vector<double>(A, A + m * n),
            q_by_columns};
  for (std::int64_t i = 0; i < m; ++i) f.Q[static_cast<std::size_t>(i * m + i)] = 1;
  return f;
}

/// x = c x + s y, y = c y - s x
void turn(double* x, double* y, std::int64_t count, std::int64_t stride, double c, double s) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double a = x[k * stride], b = y[k * stride];
    x[k * stride] = c * a + s * b;
    y[k * stride] = c * b - s * a;
  }
}

/// Annihilates R(i, j) against row i - 1.
void eliminate(Factors& f, std::int64_t i, std::int64_t j) {
  double *upper = f.R.data() + (i - 1) * f.n, *lower = upper + f.n, c, s;
  rotation(upper[j], lower[j], c, s);
  turn(upper + j, lower + j, f.n - j, 1, c, s);
  lower[j] = 0;
  if (f.q_by_columns)
    turn(f.Q.data() + (i - 1) * f.m, f.Q.data() + i * f.m, f.m, 1, c, s);
  else
    turn(f.Q.data() + i - 1, f.Q.data() + i, f.m, f.m, c, s);
}

/// C = A B, all by rows; A is m x k, B k x n.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* A, const double* B, double* C) {
  std::fill(C, C + m * n, 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

}  // namespace

Factors base(std::int64_t m, std::int64_t n, const double* A) {
  Factors f = start(m, n, A, false);
  std::vector<double> G(f.Q), Gt(f.Q), R(f.R), Q(f.Q);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = m - 1; i > j; --i) {
      double c, s;
      rotation(f.R[static_cast<std::size_t>((i - 1) * n + j)], f.R[static_cast<std::size_t>(i * n + j)], c, s);
      auto set = [&](std::vector<double>& M, double diagonal, double upper, double lower) {
        M[static_cast<std::size_t>((i - 1) * m + i - 1)] = M[static_cast<std::size_t>(i * m + i)] = diagonal;
        M[static_cast<std::size_t>((i - 1) * m + i)] = upper;
        M[static_cast<std::size_t>(i * m + i - 1)] = lower;
      };
      set(G, c, s, -s);
      set(Gt, c, -s, s);
      multiply(m, n, m, G.data(), f.R.data(), R.data());
      multiply(m, m, m, f.Q.data(), Gt.data(), Q.data());
      f.R.swap(R);
      f.Q.swap(Q);
      f.R[static_cast<std::size_t>(i * n + j)] = 0;
      set(G, 1, 0, 0);
      set(Gt, 1, 0, 0);
    }
  return f;
}

Factors serial(std::int64_t m, std::int64_t n, const double* A, bool q_by_columns) {
  Factors f = start(m, n, A, q_by_columns);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = m - 1; i > j; --i) eliminate(f, i, j);
  return f;
}

// Step t annihilates the elements with m - 1 - i + 2 j = t, which share no row.
Factors parallel(std::int64_t m, std::int64_t n, const double* A, [[maybe_unused]] int threads) {
  Factors f = start(m, n, A, true);
  const std::int64_t columns = std::min(n, m - 1), steps = columns == 0 ? 0 : m - 1 + columns - 1;
#pragma omp parallel num_threads(threads)
  for (std::int64_t t = 0; t < steps; ++t) {
    // i > j, i <= m - 1
    const std::int64_t last = std::min(columns - 1, t / 2);
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j <= last; ++j)
      if (const std::int64_t i = m - 1 - t + 2 * j; i > j && i < m) eliminate(f, i, j);
  }
  return f;
}

double residual(const Factors& f, const double* A) {
  double difference = 0, size = 0;
  for (std::int64_t i = 0; i < f.m; ++i)
    for (std::int64_t j = 0; j < f.n; ++j) {
      double sum = A[i * f.n + j];
      size += sum * sum;
      for (std::int64_t p = 0; p <= std::min(j, f.m - 1); ++p)
        sum -= f.q(i, p) * f.R[static_cast<std::size_t>(p * f.n + j)];
      difference += sum * sum;
    }
  return std::sqrt(difference / size) / (static_cast<double>(std::max(f.m, f.n)) * 0x1p-52);
}

}  // namespace bench::paper004
