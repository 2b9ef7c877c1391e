// BLAS level 1 on the host. swap and axpy are the vendor's; the others are loops of our own, because the vendors'
// differ on NaN (scal with 0, iamax), on very large and small numbers (nrm2), in the calling convention of complex
// results (dot), and in the order of a sum with the number of threads.
#include <algorithm>
#include <cmath>

#include "kernels/host/arithmetic.hpp"
#include "kernels/host/blas_fortran.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::host {
namespace {

/// f(i, count) for pieces of a vector pair that a 32-bit BLAS can index: count * inc < 2^30.
template <class F>
void for_pieces(std::int64_t n, std::int64_t inc, F&& f) {
  const std::int64_t piece = std::max<std::int64_t>(1, (std::int64_t{1} << 30) / inc);
  for (std::int64_t i = 0; i < n; i += piece) f(i, std::min(piece, n - i));
}

/// The sum of term(0) ... term(n - 1) in eight interleaved partial sums: one order whatever the machine, and fast.
template <class Sum, class Term>
Sum sum_of(std::int64_t n, Term term) {
  constexpr int lanes = 8;
  Sum partial[lanes] = {};
  const std::int64_t whole = n - n % lanes;
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
  for (std::int64_t i = whole; i < n; ++i) partial[i - whole] += term(i);
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

/// The same over the elements of x; the compiler sees the stride 1.
template <class Sum, class T, class Term>
Sum sum_over(Vector<T> x, Term term) {
  if (x.inc == 1) return sum_of<Sum>(x.n, [=](std::int64_t i) { return term(x.data[i]); });
  return sum_of<Sum>(x.n, [=](std::int64_t i) { return term(x.data[i * x.inc]); });
}
template <class Sum, class T, class Term>
Sum sum_over(Vector<T> x, Vector<T> y, Term term) {
  if (x.inc == 1 && y.inc == 1) return sum_of<Sum>(x.n, [=](std::int64_t i) { return term(x.data[i], y.data[i]); });
  return sum_of<Sum>(x.n, [=](std::int64_t i) { return term(x.data[i * x.inc], y.data[i * y.inc]); });
}

template <class T>
real_t<T> norm_of(Vector<T> x) {
  // The plain sum of squares, where it is finite and too large for an underflow to matter: always so for float, whose
  // squares are summed in double.
  const double squares = sum_over<double>(x, [](T a) {
    if constexpr (is_complex<T>) {
      const double re = a.real(), im = a.imag();
      return re * re + im * im;
    } else {
      return double(a) * double(a);
    }
  });
  if (std::isnan(squares) || (squares > 0x1p-960 && squares <= std::numeric_limits<double>::max()))
    return real_t<T>(std::sqrt(squares));
  ScaledSquares sum;
  for (std::int64_t i = 0; i < x.n; ++i) {
    const T a = x.data[i * x.inc];
    if constexpr (is_complex<T>) {
      sum.add(a.real());
      sum.add(a.imag());
    } else {
      sum.add(a);
    }
  }
  return real_t<T>(sum.root());
}

template <class T>
std::int64_t position_of_largest(Vector<T> x) {
  real_t<T> largest = -1;
  std::int64_t position = 0;
  for (std::int64_t i = 0; i < x.n; ++i) {
    const real_t<T> a = magnitude(x.data[i * x.inc]);
    if (a > largest) {
      largest = a;
      position = i + 1;
    } else if (std::isnan(a)) {
      return i + 1;
    }
  }
  return position;
}

/// The value of work(), computed in order with the queue's work. Waits.
template <class Result, class Work>
Result result_of(const char* name, Queue& q, Work work) {
  Result result{};
  q.submit(name, [&] { result = work(); });
  q.wait();
  return result;
}

}  // namespace

template <class T>
void swap(Vector<T> x, Vector<T> y, Queue& q) {
  const fortran::BlasInt incx(x.inc, "swap", "the stride of x"), incy(y.inc, "swap", "the stride of y");
  q.submit("swap", [=] {
    for_pieces(x.n, std::max(x.inc, y.inc), [&](std::int64_t i, std::int64_t count) {
      fortran::swap({count, "swap", "n"}, x.data + i * x.inc, incx, y.data + i * y.inc, incy);
    });
  });
}

template <class T>
void scal(T alpha, Vector<T> x, Queue& q) {
  q.submit("scal", [=] {
    if (x.inc == 1)
      for (std::int64_t i = 0; i < x.n; ++i) x.data[i] = product(alpha, x.data[i]);
    else
      for (std::int64_t i = 0; i < x.n; ++i) x.data[i * x.inc] = product(alpha, x.data[i * x.inc]);
  });
}

template <class T>
void axpy(T alpha, Vector<T> x, Vector<T> y, Queue& q) {
  const fortran::BlasInt incx(x.inc, "axpy", "the stride of x"), incy(y.inc, "axpy", "the stride of y");
  q.submit("axpy", [=] {
    for_pieces(x.n, std::max(x.inc, y.inc), [&](std::int64_t i, std::int64_t count) {
      fortran::axpy({count, "axpy", "n"}, alpha, x.data + i * x.inc, incx, y.data + i * y.inc, incy);
    });
  });
}

template <class T>
T dotu(Vector<T> x, Vector<T> y, Queue& q) {
  return result_of<T>("dotu", q, [=] { return sum_over<T>(x, y, [](T a, T b) { return product(a, b); }); });
}

template <class T>
T dotc(Vector<T> x, Vector<T> y, Queue& q) {
  return result_of<T>("dotc", q, [=] { return sum_over<T>(x, y, [](T a, T b) { return product(conjugate(a), b); }); });
}

template <class T>
real_t<T> nrm2(Vector<T> x, Queue& q) {
  return result_of<real_t<T>>("nrm2", q, [=] { return norm_of(x); });
}

template <class T>
real_t<T> asum(Vector<T> x, Queue& q) {
  return result_of<real_t<T>>("asum", q, [=] { return sum_over<real_t<T>>(x, [](T a) { return magnitude(a); }); });
}

template <class T>
std::int64_t iamax(Vector<T> x, Queue& q) {
  return result_of<std::int64_t>("iamax", q, [=] { return position_of_largest(x); });
}

#define INSTANTIATE(T)                                    \
  template void swap<T>(Vector<T>, Vector<T>, Queue&);    \
  template void scal<T>(T, Vector<T>, Queue&);            \
  template void axpy<T>(T, Vector<T>, Vector<T>, Queue&); \
  template T dotu<T>(Vector<T>, Vector<T>, Queue&);       \
  template T dotc<T>(Vector<T>, Vector<T>, Queue&);       \
  template real_t<T> nrm2<T>(Vector<T>, Queue&);          \
  template real_t<T> asum<T>(Vector<T>, Queue&);          \
  template std::int64_t iamax<T>(Vector<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
