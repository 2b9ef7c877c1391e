// gemm_six_bf16: C -= A B in single precision by one product of bfloat16 matrices of six-fold depth.
//
// A number is the sum of three of eight bits each, exactly: x = x1 + x2 + x3. Of the nine products those with an index
// sum up to 4 are kept, the small ones first, since the tensor cores truncate when they accumulate:
//
//                                            | B1 |
//                                            | B3 |      A and B lie in the workspace in this form. An infinite or NaN
//   C -= | A3  A1  A2  A2  A1  A1 |    x     | B2 |      element is put into the last part alone, so that it meets
//                                            | B1 |      every element of the other matrix once, as in a plain product.
//                                            | B2 |
//                                            | B1 |
//
// bfloat16 has no more exponents than single precision: of numbers below 2^-109 the last part gets lost. Columns of B,
// or rows of A, with nothing larger are left out of the product, and are done by a plain one.
#include <cuda_bf16.h>

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

__constant__ const int part_of_A[parts] = {2, 0, 1, 1, 0, 0};
__constant__ const int part_of_B[parts] = {0, 2, 1, 0, 1, 0};

__device__ Bits in_place(float x, const Split& s, int place, const int* part) {
  if (finite(x)) return s.part[part[place]];
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

/// plain[i] = 1 for a row of A left to the plain product. A warp of threads beside each other for 32 rows.
__global__ void __launch_bounds__(threads) plain_rows_kernel(Block<float> A, unsigned char* plain) {
  __shared__ unsigned char large[threads / warp_size][warp_size], nonzero[threads / warp_size][warp_size];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t i = blockIdx.x * std::int64_t(warp_size) + lane;
  Largest largest;
  if (i < A.rows)
    for (std::int64_t k = warp; k < A.cols; k += threads / warp_size) largest.see(A(i, k));
  large[warp][lane] = largest.large;
  nonzero[warp][lane] = largest.nonzero;
  __syncthreads();
  if (warp > 0 || i >= A.rows) return;
  for (int other = 0; other < threads / warp_size; ++other) {
    largest.large = largest.large || large[other][lane];
    largest.nonzero = largest.nonzero || nonzero[other][lane];
  }
  plain[i] = largest.nonzero && !largest.large;
}

/// Columns k of A become columns k, K + k, 2 K + k ... of `wide`; rows with plain[i], where that is given, become zero.
/// Threads go along the rows.
__global__ void __launch_bounds__(threads)
    split_left_kernel(Block<float> A, Block<Bits> wide, const unsigned char* plain) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  const bool left_out = plain != nullptr && plain[i];
  for (std::int64_t k = blockIdx.y; k < A.cols; k += gridDim.y) {
    const float x = left_out ? 0.0f : A(i, k);
    const Split s = split(x);
#pragma unroll
    for (int place = 0; place < parts; ++place) wide(i, place * A.cols + k) = in_place(x, s, place, part_of_A);
  }
}

/// The same for the rows of B, a block of threads per column; finds the plain columns itself if `plain` is given.
__global__ void __launch_bounds__(threads) split_right_kernel(Block<float> B, Block<Bits> high, unsigned char* plain) {
  for (std::int64_t j = blockIdx.x; j < B.cols; j += gridDim.x) {
    bool left_out = false;
    if (plain != nullptr) {
      Largest largest;
      for (std::int64_t k = threadIdx.x; k < B.rows; k += threads) largest.see(B(k, j));
      const bool large = __syncthreads_or(largest.large), nonzero = __syncthreads_or(largest.nonzero);
      left_out = nonzero && !large;
      if (threadIdx.x == 0) plain[j] = left_out;
    }
    for (std::int64_t k = threadIdx.x; k < B.rows; k += threads) {
      const float x = left_out ? 0.0f : B(k, j);
      const Split s = split(x);
#pragma unroll
      for (int place = 0; place < parts; ++place) high(place * B.rows + k, j) = in_place(x, s, place, part_of_B);
    }
  }
}

__device__ float minus_dot(float c, Block<float> A, std::int64_t i, Block<float> B, std::int64_t j) {
  for (std::int64_t k = 0; k < A.cols; ++k) c = fmaf(-A(i, k), B(k, j), c);
  return c;
}

/// C -= A B for the columns, or rows, that were left out.
__global__ void __launch_bounds__(threads)
    plain_product_kernel(Block<float> A, Block<float> B, Block<float> C, bool columns, const unsigned char* plain) {
  if (columns) {
    for (std::int64_t j = blockIdx.x; j < C.cols; j += gridDim.x)
      if (plain[j])
        for (std::int64_t i = threadIdx.x; i < C.rows; i += threads) C(i, j) = minus_dot(C(i, j), A, i, B, j);
  } else {
    for (std::int64_t i = blockIdx.x; i < C.rows; i += gridDim.x)
      if (plain[i])
        for (std::int64_t j = threadIdx.x; j < C.cols; j += threads) C(i, j) = minus_dot(C(i, j), A, i, B, j);
  }
}

constexpr std::int64_t aligned_rows(std::int64_t rows) {
  return (rows + 63) / 64 * 64;
}
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

std::size_t gemm_six_bf16_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return aligned(aligned_rows(rows) * parts * depth * sizeof(Bits)) +
         aligned(aligned_rows(parts * depth) * cols * sizeof(Bits)) + aligned(std::max(rows, cols));
}

void gemm_six_bf16(View<float> A, View<float> B, View<float> C, Side guarded, void* workspace, Queue& q) {
  const std::int64_t depth = A.cols;
  if (C.empty() || depth == 0) return;
  DeviceScope scope(q.device());
  auto* memory = static_cast<unsigned char*>(workspace);
  const Block<Bits> wide{reinterpret_cast<Bits*>(memory), A.rows, parts * depth, aligned_rows(A.rows)};
  memory += aligned(wide.ld * wide.cols * sizeof(Bits));
  const Block<Bits> high{reinterpret_cast<Bits*>(memory), parts * depth, B.cols, aligned_rows(parts * depth)};
  memory += aligned(high.ld * high.cols * sizeof(Bits));
  unsigned char* plain = memory;

  const dim3 left(static_cast<unsigned>(ceil_div(A.rows, threads)),
                  static_cast<unsigned>(std::min<std::int64_t>(depth, max_grid_y)));
  const bool by_rows = guarded == Side::Left;
  if (by_rows)
    plain_rows_kernel<<<static_cast<unsigned>(ceil_div(A.rows, warp_size)), threads, 0, stream_of(q)>>>(block_of(A),
                                                                                                        plain);
  split_left_kernel<<<left, threads, 0, stream_of(q)>>>(block_of(A), wide, by_rows ? plain : nullptr);
  const auto columns = static_cast<unsigned>(std::min<std::int64_t>(B.cols, 1 << 20));
  split_right_kernel<<<columns, threads, 0, stream_of(q)>>>(block_of(B), high, by_rows ? nullptr : plain);
  q.launched("gemm_six_bf16");
  const float minus_one = -1, one = 1;
  const auto narrow = [](std::int64_t n) {
    require(n <= INT32_MAX, "gemm_six_bf16: ", n, " is too large for cuBLAS");
    return static_cast<int>(n);
  };
  check(cublasGemmEx(static_cast<cublasHandle_t>(q.blas()), CUBLAS_OP_N, CUBLAS_OP_N, narrow(C.rows), narrow(C.cols),
                     narrow(parts * depth), &minus_one, wide.data, CUDA_R_16BF, narrow(wide.ld), high.data, CUDA_R_16BF,
                     narrow(high.ld), &one, C.data, CUDA_R_32F, narrow(C.ld), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "gemm_six_bf16");
  plain_product_kernel<<<1024, threads, 0, stream_of(q)>>>(block_of(A), block_of(B), block_of(C), !by_rows, plain);
  q.launched("gemm_six_bf16");
}

}  // namespace devobj::cuda
