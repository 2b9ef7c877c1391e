// The kernel of gemm_three_tf32, whose file has a picture of it.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/cuda/tensor_single.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda::three_tf32 {

constexpr int tile_rows = 128;  // of C
constexpr int piece = 32;       // of the depth
constexpr int groups = 2, group_threads = 128, threads = groups * group_threads;
constexpr int box_rows = 32, column_bytes = 128, boxes = tile_rows / box_rows;
constexpr int warp_rows = tile_rows / (threads / warp_size), rows_of_thread = 2;
static_assert(warp_rows == 8 * rows_of_thread && box_rows % warp_rows == 0);
constexpr int eights = piece / 8;

/// A block's shared memory, from a multiple of 1024 bytes on; its tile of C has `cols` columns.
template <int cols>
struct Memory {
  static constexpr bool narrow = cols == 64;      // a tile
  static constexpr int stages = narrow ? 4 : 3;   // pieces that are copied ahead
  static constexpr int at_once = narrow ? 2 : 1;  // pieces that are split and multiplied between two barriers
  static constexpr int box_bytes = cols * column_bytes;  // of B and C
  unsigned char A[stages][boxes][piece * column_bytes];
  unsigned char B[stages][box_bytes];
  unsigned char C[boxes][box_bytes];
  unsigned char large[2 * at_once][box_bytes], small[2 * at_once][box_bytes];  // pieces of B, split
  std::uint64_t A_filled[stages], B_filled[stages], C_filled;
  std::uint32_t largest[2];  // sizes in A, B: their bits
  std::uint32_t too_small;   // whether a part of a row or column is too small to be split
};
constexpr int multiple = 1024;
template <int cols>
constexpr int bytes = sizeof(Memory<cols>) + multiple;
static_assert(bytes<128> <= 227 * 1024 && bytes<64> <= 227 * 1024);

struct Product {
  Block<float> A, B, C;
  int row_tiles = 0;
};

/// Where row r of a column is in a box.
__device__ inline int place(int r, int column) {
  return column * column_bytes + (r / 4 ^ column % 8) * 16 + r % 4 * 4;
}
/// How a warp group's product finds columns of 32 numbers below each other from an address that is a multiple of 1024; two further on
/// are the next eight of the numbers.
__device__ inline std::uint64_t columns_descriptor(std::uint32_t address) {
  constexpr std::uint64_t eight_columns = 8 * column_bytes, swizzled_128_bytes = 1;
  return (address & 0x3ffff) >> 4 | std::uint64_t(1) << 16 | (eight_columns >> 4) << 32 | swizzled_128_bytes << 62;
}
/// sum = A B of a warp group, or sum += A B where `add` is not 0: A 64 x 8, of which a warp has sixteen rows, spread over its lanes as
/// in multiply_16x8x8, as sum is, by eight columns; B 8 x 64.
#define FOUR(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
__device__ __forceinline__ void multiply(float (&sum)[32], const std::uint32_t (&A)[4], std::uint64_t B, int add) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "setp.ne.b32 p, %37, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1;\n\t}"
      : SIXTEEN(0), SIXTEEN(16)
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(add));
#endif
}
/// The same of 128 columns.
__device__ __forceinline__ void multiply(float (&sum)[64], const std::uint32_t (&A)[4], std::uint64_t B, int add) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "setp.ne.b32 p, %69, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1;\n\t}"
      : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(add));
#endif
}
#undef SIXTEEN
#undef FOUR

/// The sizes of what a thread has of the operands; members live in registers.
class Sizes {
 public:
  __device__ void of_A(int row, float x) { rows_[row] = max(rows_[row], size(x)); }
  /// Of a part of a column.
  template <int count>
  __device__ void of_B(const float (&x)[count]) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) largest = max(largest, size(x[i]));
    B_ = max(B_, largest);
    too_small_ = too_small_ || too_small_to_split(__uint_as_float(largest));
  }
  /// What is seen by one thread is seen by the block: the largest numbers of A and B, and whether a part of a row or column is so
  /// small that bits of it are lost.
  __device__ void gather(std::uint32_t (&largest)[2], std::uint32_t& too_small) const {
    const std::uint32_t A = __reduce_max_sync(all_lanes, max(rows_[0], rows_[1])), B = __reduce_max_sync(all_lanes, B_);
    const bool some_too_small = __any_sync(all_lanes, too_small_ || too_small_to_split(__uint_as_float(rows_[0])) ||
                                                          too_small_to_split(__uint_as_float(rows_[1])));
    if (threadIdx.x % warp_size == 0) {
      atomicMax(&largest[0], A);
      atomicMax(&largest[1], B);
      if (some_too_small) too_small = 1;
    }
  }
  /// Whether all sums of products are finite, and so are the parts of the numbers.
  __device__ static bool finite(const std::uint32_t (&largest)[2]) {
    const float A = __uint_as_float(largest[0]), B = __uint_as_float(largest[1]);
    return A < 0x1p126F && B < 0x1p126F && A * B < split_below / gemm_three_tf32_max_depth;
  }

 private:
  /// Bits that are ordered as sizes are; a NaN is the largest.
  __device__ static std::uint32_t size(float x) {
    return __float_as_uint(x) & 0x7fffffff;
  }
  std::uint32_t rows_[rows_of_thread] = {}, B_ = 0;
  bool too_small_ = false;
};

/// Splits a thread's part of a column of B's piece. In each eight numbers the even ones come first: so split_A has them.
template <int cols>
__device__ __forceinline__ void split_B(const unsigned char* piece_of_B, unsigned char* large, unsigned char* small,
                                        Sizes& sizes) {
  constexpr int count = cols * piece / threads, pieces = count / 4;  // of 16 bytes
  const int column = threadIdx.x % cols, first = threadIdx.x / cols * count;
  float x[count];
#pragma unroll
  for (int p = 0; p < pieces; ++p) {
    const float4 y = *reinterpret_cast<const float4*>(piece_of_B + place(first + 4 * p, column));
    x[4 * p] = y.x, x[4 * p + 1] = y.y, x[4 * p + 2] = y.z, x[4 * p + 3] = y.w;
  }
  sizes.of_B(x);
#pragma unroll
  for (int p = 0; p < pieces; ++p) {
    SplitFloat s[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) s[j] = split_finite(x[p / 2 * 8 + 2 * j + p % 2]);
    const int to = place(first + 4 * p, column);
    *reinterpret_cast<uint4*>(large + to) = make_uint4(s[0].large, s[1].large, s[2].large, s[3].large);
    *reinterpret_cast<uint4*>(small + to) = make_uint4(s[0].small, s[1].small, s[2].small, s[3].small);
  }
}

/// A thread's part of A's piece: two rows, of each eight numbers of the depth two.
struct SplitA {
  std::uint32_t large[eights][4], small[eights][4];
  /// `box`: the first row of the warp in it is `row`; so many of the thread's rows count.
  __device__ __forceinline__ void load(const unsigned char* box, int row, int rows, Sizes& sizes) {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int s = 0; s < eights; ++s)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float2 x = *reinterpret_cast<const float2*>(box + place(row + lane / 4 * 2, 8 * s + lane % 4 * 2 + h));
        const float of_rows[] = {rows > 0 ? x.x : 0, rows > 1 ? x.y : 0};
#pragma unroll
        for (int r = 0; r < rows_of_thread; ++r) {
          sizes.of_A(r, of_rows[r]);
          const SplitFloat y = split_finite(of_rows[r]);
          large[s][2 * h + r] = y.large;
          small[s][2 * h + r] = y.small;
        }
      }
  }
};

/// C - A B for two rows of one column, plainly.
__device__ inline float2 plain(const Product& g, std::int64_t row, int rows, std::int64_t col) {
  float2 c = {};
  if (col >= g.C.cols || rows == 0) return c;
  c.x = g.C(row, col);
  if (rows > 1) c.y = g.C(row + 1, col);
  for (std::int64_t k = 0; k < g.A.cols; ++k) {
    const float b = g.B(k, col);
    c.x = fmaf(-g.A(row, k), b, c.x);
    if (rows > 1) c.y = fmaf(-g.A(row + 1, k), b, c.y);
  }
  return c;
}

template <int cols>
__global__ void __launch_bounds__(threads, 1)
    product_kernel(const Product g, const __grid_constant__ CUtensorMap map_A,
                   const __grid_constant__ CUtensorMap map_B, const __grid_constant__ CUtensorMap map_C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Memory = three_tf32::Memory<cols>;
  constexpr int stages = Memory::stages;
  extern __shared__ unsigned char dynamic[];
  const std::uint32_t start = shared_address(dynamic), aligned = (start + multiple - 1) / multiple * multiple;
  auto& memory = *reinterpret_cast<Memory*>(dynamic + (aligned - start));
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int row = static_cast<int>(blockIdx.x) % g.row_tiles * tile_rows,
            col = static_cast<int>(blockIdx.x) / g.row_tiles * cols;
  constexpr int at_once = Memory::at_once, ahead = 2 * at_once;
  const int pieces = static_cast<int>(ceil_div(g.A.cols, piece * at_once)) * at_once;  // the last one may be of zeros
  const std::uint64_t policy = cache_policy(false);
  const auto A_filled = [&](int p) { return shared_address(&memory.A_filled[p % stages]); };
  const auto B_filled = [&](int p) { return shared_address(&memory.B_filled[p % stages]); };
  const auto fetch_A = [&](int p) {
    barrier_expect(A_filled(p), sizeof(memory.A[0]));
    for (int b = 0; b < boxes; ++b)
      box_copy(shared_address(memory.A[p % stages][b]), map_A, row + b * box_rows, p * piece, A_filled(p), policy);
  };
  const auto fetch_B = [&](int p) {
    barrier_expect(B_filled(p), sizeof(memory.B[0]));
    box_copy(shared_address(memory.B[p % stages]), map_B, p * piece, col, B_filled(p), policy);
  };
  const std::uint32_t C_filled = shared_address(&memory.C_filled);
  if (warp == 0 && elected()) {
    for (int s = 0; s < stages; ++s) {
      barrier_init(A_filled(s), 1);
      barrier_init(B_filled(s), 1);
    }
    barrier_init(C_filled, 1);
    barriers_ready();
    memory.largest[0] = memory.largest[1] = memory.too_small = 0;
    for (int p = 0; p < min(stages, pieces); ++p) fetch_A(p);
  }
  __syncthreads();
  if (warp == 0 && elected()) {
    wait_for_previous();  // which makes B, but not A
    for (int p = 0; p < min(stages, pieces); ++p) fetch_B(p);
    barrier_expect(C_filled, sizeof(memory.C));
    for (int b = 0; b < boxes; ++b)
      box_copy(shared_address(memory.C[b]), map_C, row + b * box_rows, col, C_filled, policy);
  }

  const int box = warp * warp_rows / box_rows, row_in_box = warp * warp_rows % box_rows;
  // the thread's rows, of which those below C do not count
  const std::int64_t first_row = row + warp * warp_rows + lane / 4 * rows_of_thread;
  const int rows = static_cast<int>(min(max(g.C.rows - first_row, std::int64_t(0)), std::int64_t(rows_of_thread)));
  float total[cols / 2] = {}, sum[cols / 2] = {};
  Sizes sizes;
  // Pieces are split while those before are multiplied, the first ones of A before B is there.
  static_assert(ahead <= stages);
  SplitA A[ahead];
  const auto take_A = [&](int p, SplitA& of_piece) {
    barrier_wait(A_filled(p), p / stages % 2);
    of_piece.load(memory.A[p % stages][box], row_in_box, rows, sizes);
  };
#pragma unroll
  for (int p = 0; p < ahead; ++p)
    if (p < pieces) take_A(p, A[p]);
  // change(c, e, j): the thread's numbers of C in column j of its two in the e-th eight
  const auto change_C = [&](auto change) {
    barrier_wait(C_filled, 0);
#pragma unroll
    for (int e = 0; e < cols / 8; ++e)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float2* const c =
            reinterpret_cast<float2*>(memory.C[box] + place(row_in_box + lane / 4 * 2, 8 * e + lane % 4 * 2 + j));
        *c = change(*c, e, j);
      }
  };
  // 0, but not known to the compiler, which would copy sums that are being made
  const int none = min(pieces, 0);
  const auto add_sum = [&] {
    products_wait<0>();
    stay(sum);
#pragma unroll
    for (int i = 0; i < cols / 2; ++i) total[i] += sum[i];
    stay(total);
  };
  for (int p0 = 0; p0 < pieces; p0 += ahead) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = p0 + half * at_once;
      if (first >= pieces) break;
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int p = first + u, buffer = half * at_once + u;
        if (p >= ahead) take_A(p, A[buffer]);
        barrier_wait(B_filled(p), p / stages % 2);
        split_B<cols>(memory.B[p % stages], memory.large[buffer], memory.small[buffer], sizes);
      }
      if (first + at_once >= pieces) sizes.gather(memory.largest, memory.too_small);
      add_sum();
      shared_before_copies();  // what was read, and what was written
      __syncthreads();
      if (warp == 0 && elected())
        for (int p = first + stages; p < min(first + at_once + stages, pieces); ++p) {
          fetch_A(p);
          fetch_B(p);
        }
      const auto B_of = [&](const unsigned char* part) { return columns_descriptor(shared_address(part)); };
      products_begin();
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int buffer = half * at_once + u;
#pragma unroll
        for (int s = 0; s < eights; ++s) {
          multiply(sum, A[buffer].small[s], B_of(memory.large[buffer]) + 2 * s, u == 0 && s == 0 ? none : 1);
          multiply(sum, A[buffer].large[s], B_of(memory.small[buffer]) + 2 * s, 1);
        }
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u)
#pragma unroll
        for (int s = 0; s < eights; ++s)
          multiply(sum, A[half * at_once + u].large[s], B_of(memory.large[half * at_once + u]) + 2 * s, 1);
      products_end();
    }
  }
  add_sum();

  const bool possible = memory.too_small == 0 && Sizes::finite(memory.largest);
  if (possible)
    change_C([&](float2 c, int e, int j) { return make_float2(c.x - total[4 * e + j], c.y - total[4 * e + j + 2]); });
  else
    change_C([&](float2, int e, int j) { return plain(g, first_row, rows, col + 8 * e + lane % 4 * 2 + j); });
  shared_before_copies();
  // a box's warps
  constexpr int warps_of_box = box_rows / warp_rows;
  asm volatile("bar.sync %0, %1;" ::"r"(1 + box), "n"(warps_of_box * warp_size) : "memory");
  const int first_of_box = row + box * box_rows;
  const std::int64_t left = g.C.rows - first_of_box;
  if (left >= box_rows || left % copied_numbers<float> == 0) {
    if (warp % warps_of_box == 0 && left > 0 && elected()) {
      box_store(shared_address(memory.C[box]), map_C, first_of_box, col, policy);
      stores_end();
      stores_read<0>();
    }
  } else if (lane < left) {  // a copy would overwrite what is below C
    for (int c = warp % warps_of_box; c < cols && col + c < g.C.cols; c += warps_of_box)
      g.C(first_of_box + lane, col + c) = *reinterpret_cast<const float*>(memory.C[box] + place(lane, c));
  }
#endif
}

}  // namespace devobj::cuda::three_tf32
