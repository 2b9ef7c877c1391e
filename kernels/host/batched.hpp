// for_each_matrix: the matrices of a batch shared out over the team, and plain arithmetic for small ones.
#pragma once

#include <complex>
#include <cstddef>

#include "kernels/batched.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {

/// Up to so many elements a matrix is one thread's, whose code calls no BLAS; larger ones come one after the other,
/// with the threads of the BLAS.
inline constexpr std::int64_t elements_of_one_thread = 512 * 512;

/// work(k) for k = 0 ... count - 1, each of about `operations` operations.
template <class Work>
void for_each_matrix(std::int64_t count, double operations, const Work& work) {
  constexpr double grain = 100000;
  const double most = static_cast<double>(Team::max_threads) * grain;
  const auto total = static_cast<std::size_t>(std::min(most, static_cast<double>(count) * operations));
  const int threads = threads_for(total, static_cast<std::size_t>(grain), Team::shared().size());
  Team::shared().run(threads, [&](Team::Member& me) {
    const std::int64_t first = count * me.rank() / me.size(), last = count * (me.rank() + 1) / me.size();
    for (std::int64_t k = first; k < last; ++k) work(k);
  });
}

/// x - a b, four products for complex numbers.
template <class R>
R minus_product(R x, R a, R b) {
  return x - a * b;
}
template <class R>
std::complex<R> minus_product(std::complex<R> x, std::complex<R> a, std::complex<R> b) {
  return {x.real() - a.real() * b.real() + a.imag() * b.imag(), x.imag() - a.real() * b.imag() - a.imag() * b.real()};
}
/// a b, likewise.
template <class R>
R product(R a, R b) {
  return a * b;
}
template <class R>
std::complex<R> product(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// conj(a)
template <class R>
R conjugate(R a) {
  return a;
}
template <class R>
std::complex<R> conjugate(std::complex<R> a) {
  return std::conj(a);
}
/// |re| + |im|
template <class R>
R size_of(R a) {
  return std::abs(a);
}
template <class R>
R size_of(std::complex<R> a) {
  return std::abs(a.real()) + std::abs(a.imag());
}

}  // namespace devobj::host
