// Double precision for the tests' measures: products on the GPU where there is one and they are large, on a host queue
// otherwise, and the orthogonal factor from its reflectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/host/lapack_fortran.hpp"
#include "testing.hpp"

namespace devobj::test {

template <class T>
using precise_t = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
Dense<precise_t<T>> precise(const Dense<T>& A) {
  return Dense<precise_t<T>>::from(A.rows(), A.cols(), [&](auto i, auto j) { return precise_t<T>(A(i, j)); });
}
template <class D>
Dense<D> block_of(const Dense<D>& A, Range rows, Range cols) {
  return Dense<D>::from(rows.size(), cols.size(), [&](auto i, auto j) { return A(rows.begin + i, cols.begin + j); });
}
/// The triangle of A's first rows and columns, as triangle of testing.hpp.
template <class D>
Dense<D> leading_triangle(Uplo uplo, Diag diag, const Dense<D>& A, std::int64_t rows, std::int64_t cols) {
  return Dense<D>::from(rows, cols, [&](auto i, auto j) {
    if (i == j && diag == Diag::Unit) return D(1);
    return (uplo == Uplo::Upper ? i <= j : i >= j) ? A(i, j) : D(0);
  });
}

// ---- where ----

inline Queue& host_queue() {
  static Queue q(Backend::host, QueueOptions{HostMode::synchronous});
  return q;
}
/// The GPU's, or null if there is none.
inline Queue* gpu_queue() {
  static const std::unique_ptr<Queue> q = []() -> std::unique_ptr<Queue> {
    try {
      return std::make_unique<Queue>(Backend::cuda, QueueOptions{});
    } catch (const Error& e) {
      if (e.status() != Status::no_device) throw;
      return nullptr;
    }
  }();
  return q.get();
}
/// Real multiplications from which work is large, and worth the transfers to a GPU.
inline constexpr double large_product = 1 << 28;

template <class D>
bool is_large(std::int64_t m, std::int64_t n, std::int64_t k) {
  return double(m) * double(n) * double(k) * (is_complex<D> ? 4 : 1) >= large_product;
}
template <class D>
Queue& queue_for(std::int64_t m, std::int64_t n, std::int64_t k) {
  return is_large<D>(m, n, k) && gpu_queue() != nullptr ? *gpu_queue() : host_queue();
}
/// The elements as a view for the host queue.
template <class T>
View<T> host_view(Dense<T>& A) {
  return {A.data(), A.rows(), A.cols(), std::max<std::int64_t>(1, A.rows())};
}

// ---- products ----

/// C = alpha op(A) op(B) + beta C
template <class D>
void multiply_into(Dense<D>& C, double alpha, Op opA, const Dense<D>& A, Op opB, const Dense<D>& B, double beta,
                   Queue& q) {
  if (q.on_cuda()) {
    const Matrix<D> a = upload(A, q), b = upload(B, q), c = upload(C, q);
    gemm<D>(opA, opB, D(alpha), a.view(), b.view(), D(beta), c.view(), q);
    C = download<D>(c.view(), q);
  } else {  // which reads A and B only
    gemm<D>(opA, opB, D(alpha), host_view(const_cast<Dense<D>&>(A)), host_view(const_cast<Dense<D>&>(B)), D(beta),
            host_view(C), q);
    q.wait();
  }
}
/// C - op(A) op(B)
template <class D>
Dense<D> residual(Dense<D> C, Op opA, const Dense<D>& A, Op opB, const Dense<D>& B) {
  multiply_into(C, -1, opA, A, opB, B, 1, queue_for<D>(C.rows(), C.cols(), opA == Op::NoTrans ? A.cols() : A.rows()));
  return C;
}
template <class D>
Dense<D> product(Op opA, const Dense<D>& A, Op opB, const Dense<D>& B) {
  Dense<D> C(opA == Op::NoTrans ? A.rows() : A.cols(), opB == Op::NoTrans ? B.cols() : B.rows());
  multiply_into(C, 1, opA, A, opB, B, 0, queue_for<D>(C.rows(), C.cols(), opA == Op::NoTrans ? A.cols() : A.rows()));
  return C;
}
/// Every element rounded to a multiple of 2^-bits times the power of two above the largest one. Near overflow they stay.
template <class D>
Dense<D> leading_bits(const Dense<D>& A, int bits) {
  double largest = 0;
  for (std::int64_t e = 0; e < A.size(); ++e)
    largest = std::max({largest, std::abs(std::real(A[e])), std::abs(std::imag(A[e]))});
  if (largest == 0 || !std::isfinite(largest)) return A;
  const int digits = std::numeric_limits<double>::digits, unit = std::ilogb(largest) + 1 - bits;
  if (unit + digits - 1 >= std::numeric_limits<double>::max_exponent) return A;
  const double shift = std::ldexp(1.5, unit + digits - 1);  // whose last bit is the unit
  auto rounded = [&](double a) { return (a + shift) - shift; };
  return Dense<D>::from(A.rows(), A.cols(), [&](auto i, auto j) {
    if constexpr (is_complex<D>)
      return D(rounded(A(i, j).real()), rounded(A(i, j).imag()));
    else
      return rounded(A(i, j));
  });
}
template <class D>
Dense<D> minus(Dense<D> A, const Dense<D>& B) {
  for (std::int64_t e = 0; e < A.size(); ++e) A[e] -= B[e];
  return A;
}
/// C - A B beyond double precision, for a small difference. gemm would repeat the roundings of a factorization by the same
/// gemm, and hide half of its residual. So the leading bits of A and B, few enough that their product has no rounding, go
/// first; what the rest adds is small, and so are its roundings.
template <class D>
Dense<D> exact_residual(Dense<D> C, const Dense<D>& A, const Dense<D>& B) {
  const int sums = std::ilogb(static_cast<double>(std::max<std::int64_t>(1, A.cols()))) + 1 + is_complex<D>;
  const int bits = (std::numeric_limits<double>::digits - sums) / 2;
  const Dense<D> a = leading_bits(A, bits), b = leading_bits(B, bits);
  Dense<D> R = minus(std::move(C), product(Op::NoTrans, a, Op::NoTrans, b));
  R = residual(std::move(R), Op::NoTrans, a, Op::NoTrans, minus(B, b));
  return residual(std::move(R), Op::NoTrans, minus(A, a), Op::NoTrans, B);
}

// ---- the orthogonal factor ----

/// The first `cols` columns of Q = H(1) ... H(k) from the reflectors in V's lower triangle, in blocks: I - V T V^H with T
/// by LAPACK, applied to the unit matrix by products on this queue, the last block first. Blocks are as wide as orgqr's in
/// LAPACK, since wider ones have more rounding errors of their own.
template <class D>
Dense<D> q_by_blocks(Dense<D> V, const Dense<D>& tau, std::int64_t cols, Queue& q, std::int64_t block = 32) {
  const std::int64_t m = V.rows(), k = tau.size();
  auto size = [](std::int64_t i) { return fortran::BlasInt(i, "q_by_blocks", "a size"); };
  std::vector<Matrix<D>> triangles;
  for (std::int64_t from = 0; from < k; from += block) {
    const std::int64_t width = std::min(block, k - from);
    Dense<D> triangular(width, width);
    fortran::larft<D>(size(m - from), size(width), &V(from, from), size(m), tau.data() + from, triangular.data(),
                      size(width));
    triangles.push_back(upload(triangular, q));
  }
  V = leading_triangle(Uplo::Lower, Diag::Unit, V, m, k);
  const Matrix<D> v = upload(V, q), w(block, cols, q), tw(block, cols, q), Q(m, cols, q);
  laset<D>(Uplo::General, D(0), D(1), Q.view(), q);
  for (std::int64_t t = std::int64_t(triangles.size()) - 1; t >= 0; --t) {
    const Range K{t * block, std::min(k, (t + 1) * block)}, below{K.begin, m}, right{K.begin, cols};
    const View<D> W = w({0, K.size()}, {0, right.size()}), TW = tw({0, K.size()}, {0, right.size()});
    const View<D> T = triangles[std::size_t(t)].view();
    // Q -= V T V^H Q
    gemm<D>(adjoint<D>, Op::NoTrans, D(1), v(below, K), Q(below, right), D(0), W, q);
    gemm<D>(Op::NoTrans, Op::NoTrans, D(1), T, W, D(0), TW, q);
    gemm<D>(Op::NoTrans, Op::NoTrans, D(-1), v(below, K), TW, D(1), Q(below, right), q);
  }
  return download<D>(Q.view(), q);
}
/// The first `cols` columns of Q from the reflectors, by LAPACK.
template <class D>
Dense<D> q_by_lapack(const Dense<D>& V, const Dense<D>& tau, std::int64_t cols) {
  const std::int64_t m = V.rows(), k = tau.size();
  Dense<D> Q = Dense<D>::from(m, cols, [&](auto i, auto j) { return j < k ? V(i, j) : D(0); });
  auto size = [](std::int64_t i) { return fortran::BlasInt(i, "q_by_lapack", "a size"); };
  if (Q.size() > 0) fortran::orgqr<D>(size(m), size(cols), size(k), Q.data(), size(m), tau.data());
  return Q;
}

}  // namespace devobj::test
