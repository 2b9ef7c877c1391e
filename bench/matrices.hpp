// The matrices of the sweeps, on the host.
#pragma once

#include <cstdint>
#include <memory>

#include "devobj/types.hpp"

namespace bench {

/// A column-major m x n host array, ld = m, not initialised. Move-only.
template <class T>
struct HostMatrix {
  HostMatrix() = default;
  HostMatrix(std::int64_t m_, std::int64_t n_) : m(m_), n(n_), data(new T[static_cast<std::size_t>(m_ * n_)]) {}
  std::int64_t m = 0, n = 0;
  std::unique_ptr<T[]> data;
  std::int64_t size() const { return m * n; }
};

/// Fills `count` elements with uniform(-1, 1), both parts of a complex one. Element i is a function of seed and i
/// alone (Steele, Lea and Flood's SplitMix64), so the numbers do not depend on the number of threads.
template <class T>
void fill_uniform(T* data, std::int64_t count, std::uint64_t seed);

/// to = from, as fast as the threads can.
template <class T>
void copy_host(const T* from, T* to, std::int64_t count);

template <class T>
HostMatrix<T> uniform(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  HostMatrix<T> A(m, n);
  fill_uniform(A.data.get(), A.size(), seed);
  return A;
}

/// f<T>() for LAPACK's letter of T.
template <class F>
decltype(auto) with_type(char letter, F&& f) {
  switch (letter) {
    case 's':
      return f.template operator()<float>();
    case 'd':
      return f.template operator()<double>();
    case 'c':
      return f.template operator()<std::complex<float>>();
    default:
      return f.template operator()<std::complex<double>>();
  }
}

}  // namespace bench
