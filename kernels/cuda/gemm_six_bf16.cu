// gemm_six_bf16: C += alpha op(A) op(B) in single precision by one product of bfloat16 matrices of six-fold depth.
//
// A number is the sum of three of eight bits each, exactly: x = x1 + x2 + x3. Of the nine products those with an index
// sum up to 4 are kept, the small ones first, since the tensor cores truncate when they accumulate:
//
//                                            | B1 |
//                                            | B3 |      A and B lie in the workspace in this form. An infinite or NaN
//   op(A) op(B) = | A3 A1 A2 A2 A1 A1 |  x   | B2 |      element is put into the last part alone, so that it meets
//                                            | B1 |      every element of the other matrix once, as in a plain product.
//                                            | B2 |      A transposed matrix is split as it lies, and transposed by
//                                            | B1 |      cuBLAS: the parts of A^T lie below each other.
//
// bfloat16 has no more exponents than single precision: of numbers below 2^-109 the last part gets lost. Columns of
// op(B), or rows of op(A), with nothing larger are left out of the product, and are done by a plain one.
#include <cuda_bf16.h>

#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int parts = 6;
constexpr int threads = 256;
constexpr float tiny = 0x1p-100f;

using Bits = std::uint16_t;  // of a bfloat16

/// x1, x2, x3. A non-finite x is x1, the others are zero.
struct Split {
  Bits part[3];
};
__device__ Split split(float x) {
  Split s{};
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t bits = __float_as_uint(x) & 0xffff0000u;
    s.part[i] = static_cast<Bits>(bits >> 16);
    x -= __uint_as_float(bits);  // exact
  }
  return s;
}
__device__ bool finite(float x) {
  return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u;
}
/// The quiet NaN or the infinity as a bfloat16.
__device__ Bits non_finite(float x) {
  return static_cast<Bits>(x != x ? 0x7fc0u : __float_as_uint(x) >> 16);
}

/// The part of a number that stands in this place, of the left or of the right matrix.
template <bool left>
__device__ constexpr int part_in(int place) {
  constexpr int of_A[parts] = {2, 0, 1, 1, 0, 0}, of_B[parts] = {0, 2, 1, 0, 1, 0};
  return left ? of_A[place] : of_B[place];
}

template <bool left>
__device__ Bits in_place(float x, const Split& s, int place) {
  if (finite(x)) return s.part[part_in<left>(place)];
  return place == parts - 1 ? non_finite(x) : Bits(0);
}

/// Whether a column or row of numbers is to be left to the plain product: it has a number, but none that is not tiny.
struct Largest {
  bool large = false, nonzero = false;
  __device__ void see(float x) {
    large = large || !(fabsf(x) < tiny);
    nonzero = nonzero || x != 0;
  }
};

/// plain[i] = 1 for a row of X left to the plain product. A warp of threads beside each other for 32 rows.
__global__ void __launch_bounds__(threads) plain_rows_kernel(Block<float> X, unsigned char* plain) {
  __shared__ unsigned char large[threads / warp_size][warp_size], nonzero[threads / warp_size][warp_size];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t i = blockIdx.x * std::int64_t(warp_size) + lane;
  Largest largest;
  if (i < X.rows)
    for (std::int64_t k = warp; k < X.cols; k += threads / warp_size) largest.see(X(i, k));
  large[warp][lane] = largest.large;
  nonzero[warp][lane] = largest.nonzero;
  __syncthreads();
  if (warp > 0 || i >= X.rows) return;
  for (int other = 0; other < threads / warp_size; ++other) {
    largest.large = largest.large || large[other][lane];
    largest.nonzero = largest.nonzero || nonzero[other][lane];
  }
  plain[i] = largest.nonzero && !largest.large;
}

/// Columns k of X become columns k, K + k, 2 K + k ... of `wide`; rows with plain[i], where that is given, become zero.
/// Threads go along the rows.
template <bool left>
__global__ void __launch_bounds__(threads)
    split_beside_kernel(Block<float> X, Block<Bits> wide, const unsigned char* plain) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= X.rows) return;
  const bool left_out = plain != nullptr && plain[i];
  for (std::int64_t k = blockIdx.y; k < X.cols; k += gridDim.y) {
    const float x = left_out ? 0.0f : X(i, k);
    const Split s = split(x);
#pragma unroll
    for (int place = 0; place < parts; ++place) wide(i, place * X.cols + k) = in_place<left>(x, s, place);
  }
}

/// The same for the rows of X, below each other, a block of threads per column; finds the plain columns itself if
/// `plain` is given.
template <bool left>
__global__ void __launch_bounds__(threads) split_below_kernel(Block<float> X, Block<Bits> high, unsigned char* plain) {
  for (std::int64_t j = blockIdx.x; j < X.cols; j += gridDim.x) {
    bool left_out = false;
    if (plain != nullptr) {
      Largest largest;
      for (std::int64_t k = threadIdx.x; k < X.rows; k += threads) largest.see(X(k, j));
      const bool large = __syncthreads_or(largest.large), nonzero = __syncthreads_or(largest.nonzero);
      left_out = nonzero && !large;
      if (threadIdx.x == 0) plain[j] = left_out;
    }
    for (std::int64_t k = threadIdx.x; k < X.rows; k += threads) {
      const float x = left_out ? 0.0f : X(k, j);
      const Split s = split(x);
#pragma unroll
      for (int place = 0; place < parts; ++place) high(place * X.rows + k, j) = in_place<left>(x, s, place);
    }
  }
}

/// op(X): X, or its transpose.
struct Operand {
  Block<float> X;
  bool transposed;
  __device__ float operator()(std::int64_t i, std::int64_t j) const { return transposed ? X(j, i) : X(i, j); }
};

/// c + alpha A(i, :) B(:, j), alpha is 1 or -1.
__device__ float plus_dot(float c, float alpha, Operand A, std::int64_t i, Operand B, std::int64_t j,
                          std::int64_t depth) {
  for (std::int64_t k = 0; k < depth; ++k) c = fmaf(alpha * A(i, k), B(k, j), c);
  return c;
}

/// C += alpha A B for the columns, or rows, that were left out.
__global__ void __launch_bounds__(threads)
    plain_product_kernel(float alpha, Operand A, Operand B, std::int64_t depth, Block<float> C, bool columns,
                         const unsigned char* plain) {
  if (columns) {
    for (std::int64_t j = blockIdx.x; j < C.cols; j += gridDim.x)
      if (plain[j])
        for (std::int64_t i = threadIdx.x; i < C.rows; i += threads)
          C(i, j) = plus_dot(C(i, j), alpha, A, i, B, j, depth);
  } else {
    for (std::int64_t i = blockIdx.x; i < C.rows; i += gridDim.x)
      if (plain[i])
        for (std::int64_t j = threadIdx.x; j < C.cols; j += threads)
          C(i, j) = plus_dot(C(i, j), alpha, A, i, B, j, depth);
  }
}

constexpr std::int64_t aligned_rows(std::int64_t rows) {
  return (rows + 63) / 64 * 64;
}
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Bytes of a split matrix, in either form, with room for some vectors more.
std::size_t split_bytes(std::int64_t vectors, std::int64_t depth) {
  const std::int64_t all = aligned_rows(vectors);
  return aligned(std::max(all * parts * depth, aligned_rows(parts * depth) * all) * sizeof(Bits));
}

// cuBLAS multiplies at a quarter of the rate where C's columns do not all begin at 16 bytes, or have not a multiple of 8
// rows. Such a product, with a few rows more, goes to the workspace, some columns at a time, so that it stays in the cache
// until it is added.
constexpr std::int64_t columns_aside = 1024;
constexpr std::int64_t row_unit = 8;

std::size_t aside_bytes(std::int64_t rows, std::int64_t cols) {
  return aligned(aligned_rows(rows) * std::min(cols, columns_aside) * sizeof(float));
}
/// C += P
__global__ void __launch_bounds__(threads) add_kernel(Block<float> P, Block<float> C) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i < C.rows) C(i, blockIdx.y) += P(i, blockIdx.y);
}

int narrow(std::int64_t n) {
  require(n <= INT32_MAX, "gemm_six_bf16: ", n, " is too large for cuBLAS");
  return static_cast<int>(n);
}

/// A split matrix as cuBLAS takes it.
struct SplitMatrix {
  Block<Bits> block;
  cublasOperation_t op;
};

/// op(X) of the left (vectors x depth) or right (depth x vectors) side, split into `memory`. `plain`, if given, gets
/// what vectors are left to the plain product.
template <bool left>
SplitMatrix split_matrix(Op op, View<float> X, void* memory, unsigned char* plain, Queue& q) {
  const auto bits = static_cast<Bits*>(memory);
  if (left == (op == Op::NoTrans)) {  // the vectors are X's rows
    const Block<Bits> wide{bits, X.rows, parts * X.cols, aligned_rows(X.rows)};
    if (plain != nullptr)
      plain_rows_kernel<<<static_cast<unsigned>(ceil_div(X.rows, warp_size)), threads, 0, stream_of(q)>>>(block_of(X),
                                                                                                          plain);
    const dim3 grid(static_cast<unsigned>(ceil_div(X.rows, threads)),
                    static_cast<unsigned>(std::min<std::int64_t>(X.cols, max_grid_y)));
    split_beside_kernel<left><<<grid, threads, 0, stream_of(q)>>>(block_of(X), wide, plain);
    return {wide, left ? CUBLAS_OP_N : CUBLAS_OP_T};
  }
  const Block<Bits> high{bits, parts * X.rows, X.cols, aligned_rows(parts * X.rows)};
  const auto columns = static_cast<unsigned>(std::min<std::int64_t>(X.cols, 1 << 20));
  split_below_kernel<left><<<columns, threads, 0, stream_of(q)>>>(block_of(X), high, plain);
  return {high, left ? CUBLAS_OP_T : CUBLAS_OP_N};
}

}  // namespace

bool gemm_six_bf16_aligned(View<float> C) {
  return C.ld * sizeof(float) % 16 == 0 && reinterpret_cast<std::uintptr_t>(C.data) % 16 == 0;
}

std::size_t gemm_six_bf16_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return split_bytes(rows, depth) + split_bytes(cols, depth) + aligned(std::max(rows, cols)) + aside_bytes(rows, cols);
}

void gemm_six_bf16(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, Side guarded,
                   void* workspace, Queue& q) {
  const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
  if (C.empty() || depth == 0) return;
  DeviceScope scope(q.device());
  auto* memory = static_cast<unsigned char*>(workspace);
  auto* memory_of_B = memory + split_bytes(C.rows, depth);
  unsigned char* plain = memory_of_B + split_bytes(C.cols, depth);
  auto* aside = reinterpret_cast<float*>(plain + aligned(std::max(C.rows, C.cols)));
  const bool by_rows = guarded == Side::Left;

  const SplitMatrix left = split_matrix<true>(opA, A, memory, by_rows ? plain : nullptr, q);
  const SplitMatrix right = split_matrix<false>(opB, B, memory_of_B, by_rows ? nullptr : plain, q);
  q.launched("gemm_six_bf16");
  const auto multiply = [&](Range rows, Range columns, float beta, float* result, std::int64_t ld) {
    const Bits* const A_first = left.block.data + rows.begin * (left.op == CUBLAS_OP_N ? 1 : left.block.ld);
    const Bits* const B_first = right.block.data + columns.begin * (right.op == CUBLAS_OP_N ? right.block.ld : 1);
    check(cublasGemmEx(static_cast<cublasHandle_t>(q.blas()), left.op, right.op, narrow(rows.size()),
                       narrow(columns.size()), narrow(parts * depth), &alpha, A_first, CUDA_R_16BF,
                       narrow(left.block.ld), B_first, CUDA_R_16BF, narrow(right.block.ld), &beta, result, CUDA_R_32F,
                       narrow(ld), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "gemm_six_bf16");
  };
  const Range direct{0, gemm_six_bf16_aligned(C) ? C.rows / row_unit * row_unit : 0}, others{direct.end, C.rows};
  if (direct.size() > 0) multiply(direct, {0, C.cols}, 1, C.data, C.ld);
  if (others.size() > 0) {
    const std::int64_t rows = ceil_div(others.size(), row_unit) * row_unit;
    for (std::int64_t j = 0; j < C.cols; j += columns_aside) {
      const Range columns{j, std::min(j + columns_aside, C.cols)};
      multiply({others.begin, others.begin + rows}, columns, 0, aside, rows);
      const dim3 grid(static_cast<unsigned>(ceil_div(others.size(), threads)), static_cast<unsigned>(columns.size()));
      add_kernel<<<grid, threads, 0, stream_of(q)>>>(Block<float>{aside, others.size(), columns.size(), rows},
                                                     block_of(C(others, columns)));
    }
  }
  plain_product_kernel<<<1024, threads, 0, stream_of(q)>>>(alpha, Operand{block_of(A), opA != Op::NoTrans},
                                                           Operand{block_of(B), opB != Op::NoTrans}, depth, block_of(C),
                                                           !by_rows, plain);
  q.launched("gemm_six_bf16");
}

}  // namespace devobj::cuda
