// The vectors of gemm_residues's operands, rounded to integers and reduced modulo each of its moduli. gemm_residues.cu says what for.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/residue_moduli.cuh"
#include "kernels/cuda/vectors.cuh"

namespace devobj::cuda {
namespace residues {

// ---- operands ----
constexpr int depth_bytes = 128;  // of a piece along the depth: elements, a byte each
constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Vectors reduced: for every tile of vectors, plane, and piece of the depth the vectors below each other as a warp group's product
/// wants them (multiply_group), those of A in another order (place_of_row). Plane 0 has the sizes of every fourth element, rounded down
/// to multiples of a 127th of the vector's largest, the others the remainders; the size of a complex number is that of its larger part.
/// `scale`: the integers are the elements times 2^norm_bits / scale. `size`: the vector's norm in the units of plane 0; infinity if the
/// largest size is beyond 2^most_exponent or below 2^-most_exponent, or infinite; NaN if there is one.
struct Reduced {
  unsigned char* planes;
  double* scale;
  float* size;
};
constexpr int size_step = 4;
constexpr int most_pieces = 16;  // along the depth
constexpr int most_exponent = 400;

/// Pieces that are copied, and multiplied, together; of each plane there are whole stages.
template <class E>
constexpr int stage_pieces = is_device_complex<E> ? 2 : 1;
template <class E>
__host__ __device__ constexpr int pieces_of(std::int64_t depth) {
  constexpr int stage_depth = depth_bytes * stage_pieces<E>;
  return static_cast<int>((depth + stage_depth - 1) / stage_depth) * stage_pieces<E>;
}
template <class E>
__host__ __device__ constexpr int size_pieces(int pieces) {
  return pieces_of<E>(std::int64_t(pieces) * depth_bytes / size_step);
}
/// Of a tile.
template <class E>
__host__ __device__ constexpr int all_pieces(int pieces) {
  return size_pieces<E>(pieces) + pieces * ModuliOf<E>::count * ModuliOf<E>::products;
}

/// Warps of a block of reduce_kernel: one for each piece, if there are not more than this; else as few turns as that takes. And blocks
/// for which a multiprocessor's registers are to do.
template <class E>
constexpr int most_reduce_warps = is_device_complex<E> ? 8 : 10;
template <class E>
constexpr int least_reduce_blocks = is_device_complex<E> ? 2 : 1;
template <class E>
int reduce_warps(int pieces) {
  const int turns = (pieces + most_reduce_warps<E> - 1) / most_reduce_warps<E>;
  return (pieces + turns - 1) / turns;
}
/// Its vectors, and a lane's elements of a piece, in registers.
template <class E>
constexpr int reduce_vectors = 4 / ModuliOf<E>::products;
template <class E>
constexpr int lane_depth = 16 / ModuliOf<E>::products;
static_assert(warp_size / reduce_vectors<double> * lane_depth<double> == depth_bytes &&
              warp_size / reduce_vectors<cuDoubleComplex> * lane_depth<cuDoubleComplex> == depth_bytes);

/// Where a tile has row r of A. A lane of a warp group's product gets numbers 2 t, 2 t + 1 (t = lane % 4) of every eight places:
/// of real matrices these are rows 4 t ... 4 t + 3 of every sixteen, so that a warp's accesses to them in shared memory, 16 bytes each,
/// meet no bank twice.
template <class E>
__host__ __device__ constexpr int place_of_row(int r) {
  return is_device_complex<E> ? r : r / 16 * 16 + r % 4 / 2 * 8 + r % 16 / 4 * 2 + r % 2;
}

/// 2^e, -1022 <= e <= 1023
__device__ inline double power_of_two(int e) {
  return __hiloint2double((e + 1023) << 20, 0);
}

// ---- the kernel ----

template <class E>
__constant__ constexpr Moduli<E> table = make_moduli<E>();
template <class E>
__constant__ constexpr Powers<E> powers[2] = {make_powers<E>(true), make_powers<E>(false)};  // for A, B

/// reduce_vectors vectors of op(A) or op(B), a block each. Blocks from first_of_B on are B's.
template <class E>
__global__ void __launch_bounds__(most_reduce_warps<E>* warp_size, least_reduce_blocks<E>)
    reduce_kernel(Vectors<E> A, Reduced of_A, int tile_A, Vectors<E> B, Reduced of_B, int tile_B, int depth, int pieces,
                  int first_of_B) {
  constexpr int parts = ModuliOf<E>::products;  // of an element
  constexpr int reduce_vectors = residues::reduce_vectors<E>, lane_depth = residues::lane_depth<E>;
  __shared__ double largest_of[most_reduce_warps<E>][reduce_vectors], squares_of[most_reduce_warps<E>][reduce_vectors];
  __shared__ bool nan_of[most_reduce_warps<E>][reduce_vectors];
  const bool left = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors<E> X = left ? A : B;
  const Reduced to = left ? of_A : of_B;
  const int vectors_of_tile = left ? tile_A : tile_B;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int v = lane % reduce_vectors, part = lane / reduce_vectors;  // this lane's vector, and its part of a piece
  const std::int64_t vector = (blockIdx.x - (left ? 0 : first_of_B)) * std::int64_t(reduce_vectors) + v;

  double x[lane_depth][parts];
  const auto read = [&](int k0) {
    const E* const from = X.data + vector * X.next_vector + k0 * X.next_element;
#pragma unroll
    for (int i = 0; i < lane_depth; ++i) {
      const E element = vector < X.count && k0 + i < depth ? from[i * X.next_element] : E{};
      if constexpr (is_device_complex<E>) {
        x[i][0] = element.x;
        x[i][1] = X.conjugated ? -element.y : element.y;
      } else {
        x[i][0] = element;
      }
    }
  };
  // step(k) for the lane's elements from k on, one piece after the other
  bool first_step = true;
  const auto for_pieces = [&](auto&& step) {
#pragma unroll 1
    for (int piece = warp; piece < pieces; piece += warps) {
      const int k0 = piece * depth_bytes + part * lane_depth;
      if (first_step || pieces > warps) read(k0);
      step(k0);
    }
    first_step = false;
  };
  const auto size_of = [&x](int i) {
    if constexpr (is_device_complex<E>)
      return fmax(fabs(x[i][0]), fabs(x[i][1]));
    else
      return fabs(x[i][0]);
  };

  double largest = 0;
  bool nan = false;
  for_pieces([&](int) {
#pragma unroll
    for (int i = 0; i < lane_depth; ++i) {
      largest = fmax(largest, size_of(i));
#pragma unroll
      for (int c = 0; c < parts; ++c) nan = nan || x[i][c] != x[i][c];
    }
  });
#pragma unroll
  for (int apart = reduce_vectors; apart < warp_size; apart *= 2) {
    largest = fmax(largest, __shfl_xor_sync(~0u, largest, apart));
    nan = __shfl_xor_sync(~0u, nan, apart) || nan;
  }
  if (part == 0) {
    largest_of[warp][v] = largest;
    nan_of[warp][v] = nan;
  }
  __syncthreads();
  for (int w = 0; w < warps; ++w) {
    largest = fmax(largest, largest_of[w][v]);
    nan = nan || nan_of[w][v];
  }
  // the power of two below the largest
  const int below = (__double2hiint(largest) >> 20) - 1023;
  const bool regular = abs(below) <= most_exponent && !nan, zero = largest == 0 && !nan;
  const double down = regular ? power_of_two(-below) : 0;

  double squares = 0;
  const auto scaled = [&](double element) { return regular ? element * down : 0; };
  for_pieces([&](int) {
#pragma unroll
    for (int i = 0; i < lane_depth; ++i)
#pragma unroll
      for (int c = 0; c < parts; ++c) squares += scaled(x[i][c]) * scaled(x[i][c]);
  });
#pragma unroll
  for (int apart = reduce_vectors; apart < warp_size; apart *= 2) squares += __shfl_xor_sync(~0u, squares, apart);
  if (part == 0) squares_of[warp][v] = squares;
  __syncthreads();
  squares = 0;
  for (int w = 0; w < warps; ++w) squares += squares_of[w][v];
  const double norm = sqrt(squares);
  int exponent = (__double2hiint(norm) >> 20) - 1022;  // norm < 2^exponent
  if (norm * power_of_two(regular ? -exponent : 0) > norm_fraction) ++exponent;
  if (!regular) exponent = 0;
  largest *= down;  // 1 to 2
  constexpr double size_units = 127;
  if (threadIdx.x < reduce_vectors) {
    to.scale[vector] = regular ? power_of_two(exponent + below) : 1;
    to.size[vector] = regular ? __double2float_ru(size_units * norm / largest)
                      : zero  ? 0
                      : nan   ? not_a_number
                              : infinity;
  }

  const int in_tile = static_cast<int>(vector % vectors_of_tile),
            place_in_tile = left ? place_of_row<E>(in_tile) : in_tile;
  const std::int64_t piece_bytes = vectors_of_tile * depth_bytes;
  unsigned char* const tile =
      to.planes + vector / vectors_of_tile * (all_pieces<E>(pieces) * piece_bytes) + place_in_tile * depth_bytes;
  // where element k of a plane is
  const auto at = [&](int k) {
    const int byte = k % depth_bytes;
    return tile + k / depth_bytes * piece_bytes + (byte / 16 ^ place_in_tile % 8) * 16 + byte % 16;
  };
  const auto word = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
  };

  const float units = regular ? __double2float_rd(size_units / largest) : 0;
  const auto units_of = [&](int i) { return static_cast<std::uint32_t>(__double2float_rd(size_of(i)) * units); };
  const int sizes = size_pieces<E>(pieces) * depth_bytes;
  static_assert(lane_depth / size_step * size_step == lane_depth && size_step == 4);
  const double up = power_of_two(norm_bits - exponent);
  for_pieces([&](int k0) {
#pragma unroll
    for (int i = 0; i < lane_depth; ++i)
#pragma unroll
      for (int c = 0; c < parts; ++c) x[i][c] = scaled(x[i][c]);
    if constexpr (lane_depth == 16)
      *reinterpret_cast<std::uint32_t*>(at(k0 / size_step)) =
          word(units_of(0), units_of(size_step), units_of(2 * size_step), units_of(3 * size_step));
    else
      *reinterpret_cast<std::uint16_t*>(at(k0 / size_step)) =
          static_cast<std::uint16_t>(word(units_of(0), units_of(size_step), 0, 0));
    // nothing behind the last piece
    for (int k = (pieces * depth_bytes + k0) / size_step; k < sizes; k += pieces * depth_bytes / size_step)
      for (int i = 0; i < lane_depth / size_step; ++i) at(k)[i] = 0;

    unsigned char* place = at(sizes + k0);
    auto store_bytes = [&](auto&& byte) {
      if constexpr (lane_depth == 16)
        *reinterpret_cast<uint4*>(place) =
            make_uint4(word(byte(0), byte(1), byte(2), byte(3)), word(byte(4), byte(5), byte(6), byte(7)),
                       word(byte(8), byte(9), byte(10), byte(11)), word(byte(12), byte(13), byte(14), byte(15)));
      else
        *reinterpret_cast<uint2*>(place) =
            make_uint2(word(byte(0), byte(1), byte(2), byte(3)), word(byte(4), byte(5), byte(6), byte(7)));
      place += pieces * piece_bytes;
    };

    int pairs[lane_depth][parts][digits / 2];  // of digits
#pragma unroll
    for (int i = 0; i < lane_depth; ++i)
#pragma unroll
      for (int c = 0; c < parts; ++c) {
        long long rest = __double2ll_rn(x[i][c] * up);
        int digit[digits];
#pragma unroll
        for (int d = 0; d < digits - 1; ++d) {
          constexpr int half = 1 << (digit_bits - 1);
          rest += half;
          digit[d] = (static_cast<int>(rest) & (2 * half - 1)) - half;
          rest >>= digit_bits;
        }
        digit[digits - 1] = static_cast<int>(rest);
#pragma unroll
        for (int d = 0; d < digits; d += 2) pairs[i][c][d / 2] = __byte_perm(digit[d], digit[d + 1], 0x5410);
      }
#pragma unroll 1
    for (int m = 0; m < ModuliOf<E>::count; ++m) {
      const Modulus modulus = table<E>.of[m];
      int power[parts];
#pragma unroll
      for (int c = 0; c < parts; ++c) power[c] = static_cast<int>(powers<E>[left ? 0 : 1].of[m][c]);
      const auto counts = [&](int i, int c) {
        return __dp2a_hi(pairs[i][c][1], power[c], __dp2a_lo(pairs[i][c][0], power[c], 0));
      };
      const auto remainder = [&](int sum) {
        const int x[1] = {sum};
        std::uint32_t less[1];
        less_multiples(x, modulus, less);
        return less[0];
      };
      if constexpr (is_device_complex<E>) {
        int difference[lane_depth];
        store_bytes([&](int i) {
          const int real = counts(i, 0), imaginary = counts(i, 1);
          difference[i] = real - imaginary;
          return remainder(real + imaginary);
        });
        store_bytes([&](int i) { return remainder(difference[i]); });
      } else {
        store_bytes([&](int i) { return remainder(counts(i, 0)); });
      }
    }
  });
}

}  // namespace residues
}  // namespace devobj::cuda
