// Norms of a general matrix, LAPACK's lange. All sums are in double, in one order.
#include <algorithm>
#include <limits>

#include "kernels/kernels.hpp"
#include "kernels/modulus.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::host {
namespace {

/// term(0) + ... + term(n - 1) in eight interleaved sums.
template <class Term>
double sum_of(std::int64_t n, Term term) {
  constexpr int lanes = 8;
  double partial[lanes] = {};
  const std::int64_t whole = n - n % lanes;
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
  for (std::int64_t i = whole; i < n; ++i) partial[i - whole] += term(i);
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

template <class T>
double largest_element(View<T> A) {
  double largest = 0;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) largest = larger(largest, modulus(A.data[i + j * A.ld]));
  return largest;
}

template <class T>
double largest_column_sum(View<T> A) {
  double largest = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const T* a = A.data + j * A.ld;
    largest = larger(largest, sum_of(A.rows, [a](std::int64_t i) { return modulus(a[i]); }));
  }
  return largest;
}

// The sums of a strip of rows at a time, along its columns.
template <class T>
double largest_row_sum(View<T> A) {
  constexpr std::int64_t strip = 512;
  double largest = 0;
  for (std::int64_t first = 0; first < A.rows; first += strip) {
    const std::int64_t n = std::min(strip, A.rows - first);
    double sums[strip] = {};
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = 0; i < n; ++i) sums[i] += modulus(A.data[first + i + j * A.ld]);
    for (std::int64_t i = 0; i < n; ++i) largest = larger(largest, sums[i]);
  }
  return largest;
}

template <class T>
double frobenius(View<T> A) {
  // The plain sum, if it is finite and so large that no square's underflow matters: always so for float.
  double squares = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const T* a = A.data + j * A.ld;
    squares += sum_of(A.rows, [a](std::int64_t i) {
      if constexpr (is_complex<T>) {
        const double re = a[i].real(), im = a[i].imag();
        return re * re + im * im;
      } else {
        return double(a[i]) * double(a[i]);
      }
    });
  }
  if (squares != squares || (squares > 0x1p-900 && squares <= std::numeric_limits<double>::max()))
    return std::sqrt(squares);
  ScaledSquares sum;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      const T a = A.data[i + j * A.ld];
      if constexpr (is_complex<T>) {
        sum.add(a.real());
        sum.add(a.imag());
      } else {
        sum.add(a);
      }
    }
  return sum.root();
}

template <class T>
double norm_of(Norm norm, View<T> A) {
  switch (norm) {
    case Norm::One:
      return largest_column_sum(A);
    case Norm::Inf:
      return largest_row_sum(A);
    case Norm::Fro:
      return frobenius(A);
    default:
      return largest_element(A);
  }
}

}  // namespace

template <class T>
real_t<T> lange(Norm norm, View<T> A, Queue& q) {
  double result = 0;
  q.submit("lange", [=, &result] { result = norm_of(norm, A); });
  q.wait();
  return static_cast<real_t<T>>(result);
}

#define INSTANTIATE(T) template real_t<T> lange(Norm, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
