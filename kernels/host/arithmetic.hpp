// Arithmetic of matrix elements of any type, as LAPACK's Fortran has it.
#pragma once

#include <cmath>
#include <complex>

#include "devobj/types.hpp"

namespace devobj::host {

/// a b by four products; the compiler's own adds a repair of infinities that costs more than the product.
template <class T>
T product(T a, T b) {
  if constexpr (is_complex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}
/// x - a b, likewise.
template <class R>
R minus_product(R x, R a, R b) {
  return x - a * b;
}
template <class R>
std::complex<R> minus_product(std::complex<R> x, std::complex<R> a, std::complex<R> b) {
  return {x.real() - a.real() * b.real() + a.imag() * b.imag(), x.imag() - a.real() * b.imag() - a.imag() * b.real()};
}
/// conj(a)
template <class T>
T conjugate(T a) {
  if constexpr (is_complex<T>)
    return std::conj(a);
  else
    return a;
}
/// |re| + |im|
template <class T>
real_t<T> magnitude(T a) {
  if constexpr (is_complex<T>)
    return std::abs(a.real()) + std::abs(a.imag());
  else
    return std::abs(a);
}

}  // namespace devobj::host
