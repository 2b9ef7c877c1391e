// gemm_as_real: C += alpha op(A) B for complex matrices by a product of real ones.
//
// A complex m x n matrix X as it lies is a real 2m x n matrix X_r, re and im of an element one above the other. In
//
//            | re  -im |
//   E(A)  =  | im   re |   for every element of A: its column, and beside it its column times i,
//
// C_r += alpha E(A) B_r is the complex product with the very same sums, so that infinities and NaN reach what they reach
// there. E(A)^T is E(A^H). In single precision the real product is gemm_by_parts, in pieces of a depth
// that stays accurate.
#include <functional>

#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

/// E(A), or E(conj(A)), as a complex matrix of twice A's columns. Threads go along the rows.
template <class E>
__global__ void __launch_bounds__(threads) real_form_kernel(Block<E> A, bool conjugated, Block<E> form) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  for (std::int64_t k = blockIdx.y; k < A.cols; k += gridDim.y) {
    const E a = conjugated ? conjugate(A(i, k)) : A(i, k);
    form(i, 2 * k) = a;
    form(i, 2 * k + 1) = E{-a.y, a.x};
  }
}

/// X_r
template <class T>
View<real_t<T>> as_real(View<T> X) {
  return {reinterpret_cast<real_t<T>*>(X.data), 2 * X.rows, X.cols, 2 * X.ld};
}

constexpr std::int64_t aligned_rows(std::int64_t rows) {
  return (rows + 31) / 32 * 32;
}

/// Bytes of E(A) for an A of rows x depth or depth x rows.
template <class T>
std::size_t form_bytes(std::int64_t rows, std::int64_t depth) {
  return sizeof(T) * 2 * std::max(aligned_rows(rows) * depth, aligned_rows(depth) * rows);
}

}  // namespace

template <class T>
std::size_t gemm_as_real_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  std::size_t bytes = form_bytes<T>(rows, depth);
  if constexpr (std::is_same_v<real_t<T>, float>)
    bytes += gemm_by_parts_workspace(2 * rows, cols, std::min(2 * depth, gemm_by_parts_max_depth));
  return bytes;
}

template <class T>
void gemm_as_real(Op opA, real_t<T> alpha, View<T> A, View<T> B, View<T> C, Side guarded, void* workspace, Queue& q,
                  Spared spared, bool low_low, const FirstPart& first) {
  if (C.empty() || A.empty()) return;
  require(!first.then || (std::is_same_v<real_t<T>, float> && 2 * B.rows <= gemm_by_parts_max_depth),
          "gemm_as_real: a first part of a product of depth ", B.rows, ", in elements of ", sizeof(T), " bytes");
  DeviceScope scope(q.device());
  const View<T> form(static_cast<T*>(workspace), A.rows, 2 * A.cols, aligned_rows(A.rows));
  const dim3 grid(static_cast<unsigned>(ceil_div(A.rows, threads)),
                  static_cast<unsigned>(std::min(A.cols, max_grid_y)));
  // op(A) = A^T is conj(A)^H
  real_form_kernel<<<grid, threads, 0, stream_of(q)>>>(block_of(A), opA == Op::Trans, block_of(form));
  q.launched("gemm_as_real");

  const Op op = opA == Op::NoTrans ? Op::NoTrans : Op::Trans;
  const View<real_t<T>> E = as_real(form), Br = as_real(B), Cr = as_real(C);
  if constexpr (std::is_same_v<real_t<T>, float>) {
    void* rest = static_cast<unsigned char*>(workspace) + form_bytes<T>(C.rows, B.rows);
    FirstPart of_real{first.side, first.side == Side::Left ? 2 * first.vectors : first.vectors, {}};
    if (first.then) of_real.then = std::cref(first.then);
    for (std::int64_t k = 0; k < Br.rows; k += gemm_by_parts_max_depth) {
      const Range K{k, std::min(k + gemm_by_parts_max_depth, Br.rows)};
      gemm_by_parts(op, Op::NoTrans, alpha, op == Op::NoTrans ? E({0, E.rows}, K) : E(K, {0, E.cols}),
                    Br(K, {0, Br.cols}), Cr, guarded, rest, q, spared, {}, low_low, of_real);
    }
  } else {
    gemm(op, Op::NoTrans, alpha, E, Br, real_t<T>(1), Cr, q);
  }
}

#define INSTANTIATE(T)                                                                                       \
  template std::size_t gemm_as_real_workspace<T>(std::int64_t, std::int64_t, std::int64_t);                  \
  template void gemm_as_real<T>(Op, real_t<T>, View<T>, View<T>, View<T>, Side, void*, Queue&, Spared, bool, \
                                const FirstPart&);
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace devobj::cuda
