// What the tests of the batched routines share: matrices side by side, and calls on blocks surrounded by canaries.
#pragma once

#include <vector>

#include "factor_checks.hpp"

namespace devobj::test {

/// The matrices, of one shape, side by side.
template <class T>
Dense<T> side_by_side(const std::vector<Dense<T>>& matrices) {
  if (matrices.empty()) return {};
  const std::int64_t m = matrices[0].rows(), n = matrices[0].cols();
  return Dense<T>::from(m, n * std::ssize(matrices),
                        [&](auto i, auto j) { return matrices[static_cast<std::size_t>(j / n)](i, j % n); });
}
/// Matrix k of `all`, n columns wide.
template <class T>
Dense<T> part(const Dense<T>& all, std::int64_t k, std::int64_t n) {
  return block_of(all, {0, all.rows()}, {k * n, (k + 1) * n});
}
/// `count` random matrices, each with a seed of its own.
template <class T>
std::vector<Dense<T>> random_batch(std::int64_t count, std::int64_t m, std::int64_t n, std::uint32_t seed) {
  std::vector<Dense<T>> all;
  for (std::int64_t k = 0; k < count; ++k) all.push_back(random<T>(m, n, seed + 1000 * std::uint32_t(k)));
  return all;
}

/// getrf_batched; info lies in a row of a larger object.
template <class T>
std::vector<LuFactors<T>> factor_lu_batched(const std::vector<Dense<T>>& A, Queue& q) {
  const std::int64_t batch = std::ssize(A), n = A[0].cols(), k = std::min(A[0].rows(), n);
  Padded<T> a(side_by_side(A), q);
  Padded<std::int32_t> ipiv(Dense<std::int32_t>(k, batch, -7), q), info(Dense<std::int32_t>(1, batch, -7), q);
  getrf_batched<T>(batch, a, ipiv.view(), info.view(), q);
  const Dense<T> lu = a.read("A");
  const Dense<std::int32_t> pivots = ipiv.read("ipiv"), infos = info.read("info");
  std::vector<LuFactors<T>> factors;
  for (std::int64_t i = 0; i < batch; ++i) factors.push_back({part(lu, i, n), part(pivots, i, 1), infos[i]});
  return factors;
}
/// geqrf_batched.
template <class T>
std::vector<QrFactors<T>> factor_qr_batched(const std::vector<Dense<T>>& A, Queue& q) {
  const std::int64_t batch = std::ssize(A), n = A[0].cols(), k = std::min(A[0].rows(), n);
  Padded<T> a(side_by_side(A), q), tau(Dense<T>(k, batch, T(7)), q);
  geqrf_batched<T>(batch, a, tau, q);
  const Dense<T> qr = a.read("A"), taus = tau.read("tau");
  std::vector<QrFactors<T>> factors;
  for (std::int64_t i = 0; i < batch; ++i) factors.push_back({part(qr, i, n), part(taus, i, 1)});
  return factors;
}

/// The largest |re| + |im| below the diagonal: at most 1, or 2 for complex numbers, where pivots are the largest.
template <class T>
double largest_multiplier(const Dense<T>& LU) {
  double most = 0;
  for (std::int64_t j = 0; j < std::min(LU.rows(), LU.cols()); ++j)
    for (std::int64_t i = j + 1; i < LU.rows(); ++i)
      most = larger(most, std::abs(double(std::real(LU(i, j)))) + std::abs(double(std::imag(LU(i, j)))));
  return most;
}

/// Around the widths of the kernels' windows, tiles and panels, to what fits no shared memory, and two that only the
/// routines for one matrix take. Batches of few are enough: a matrix does not know of the others.
struct BatchShape {
  std::int64_t m, n, batch;
};
inline std::vector<BatchShape> batch_shapes() {
  std::vector<BatchShape> all = {{0, 0, 3},     {0, 5, 2},     {5, 0, 2},    {1, 1, 1},    {1, 1, 40},    {1, 7, 3},
                                 {7, 1, 3},     {2, 2, 5},     {3, 3, 20},   {4, 5, 9},    {8, 8, 17},    {9, 8, 3},
                                 {8, 9, 3},     {15, 16, 5},   {16, 16, 9},  {17, 17, 3},  {24, 24, 3},   {25, 25, 3},
                                 {31, 32, 3},   {32, 32, 5},   {33, 33, 4},  {40, 7, 3},   {7, 40, 3},    {63, 65, 2},
                                 {64, 64, 3},   {97, 97, 2},   {130, 30, 2}, {30, 130, 2}, {128, 128, 2}, {129, 100, 2},
                                 {257, 20, 2},  {600, 40, 1},  {1000, 9, 1}, {20, 300, 2}, {200, 200, 1}, {260, 230, 2},
                                 {150, 310, 1}, {1030, 12, 2}, {530, 510, 1}};
  for (std::int64_t n : {5, 6, 11, 13, 19, 23, 29, 37, 47, 55}) all.push_back({n, n, 2});
  return all;
}
inline std::string shape_name(const BatchShape& s) {
  return std::to_string(s.batch) + " of " + shape_name(s.m, s.n);
}

}  // namespace devobj::test
