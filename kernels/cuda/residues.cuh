// Integers by their remainders: the moduli of gemm_residues, and the vectors of its operands, rounded to integers and reduced
// modulo each of them. gemm_residues.cu says what for.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/vectors.cuh"

namespace devobj::cuda {
namespace residues {

// ---- the moduli: no two have a common factor, and remainders nearest to zero are eight-bit integers. Of such sets with a large
// product it is one whose shares of a fraction (Modulus) are nearly whole numbers of 2^-64, found by trying a million ----
constexpr int count = 15;
constexpr int moduli[count] = {253, 251, 249, 247, 245, 241, 239, 236, 233, 229, 227, 223, 211, 193, 181};

/// Their product, some 2^117.64. A sum of less than half of it in size is known by its remainders.
constexpr unsigned __int128 product() {
  unsigned __int128 all = 1;
  for (const int p : moduli) all *= static_cast<unsigned>(p);
  return all;
}
/// Vectors become integers of a euclidean norm up to norm_fraction 2^norm_bits, so that (Cauchy and Schwarz) no sum of products of two such
/// vectors reaches half the product of the moduli; rounding adds sqrt(depth) / 2 at most.
constexpr int norm_bits = 59;
constexpr double norm_fraction = 0.62;  // of 2^norm_bits: 2^58.310
static_assert(norm_fraction * norm_fraction * 1.001 * 0x1p118 < static_cast<double>(product()) / 2);

/// What is done with a sum whose remainder modulo p counts.
struct Modulus {
  float reciprocal;         // of p
  std::int32_t minus;       // -p
  std::uint32_t low, high;  // the share of remainder 1 in the fraction sum / product(), in units of 2^-64
};
/// The bits of a float that is as large as 1.5 2^23, where units are ones.
constexpr std::uint32_t ones_bits = 0x4b400000;
constexpr float ones = 0x1.8p23f;

/// Of each x: x less the multiple of p that is nearest to it, up to 2^22 times p, and less ones_bits p, modulo 2^32. The low byte is the
/// remainder's, since ones_bits p is a multiple of 256.
template <int n>
__device__ __forceinline__ void less_multiples(const int* x, const Modulus& modulus, std::uint32_t (&less)[n]) {
  float multiple[n];
#pragma unroll
  for (int i = 0; i < n; ++i) multiple[i] = __int2float_rn(x[i]);
#pragma unroll
  for (int i = 0; i < n; ++i) multiple[i] = fmaf(multiple[i], modulus.reciprocal, ones);
#pragma unroll
  for (int i = 0; i < n; ++i) less[i] = static_cast<std::uint32_t>(__float_as_int(multiple[i]) * modulus.minus + x[i]);
}

struct Moduli {
  Modulus of[count] = {};
  std::uint64_t begin = 0;  // of the fraction
};
constexpr Moduli make_moduli() {
  Moduli all;
  for (int i = 0; i < count; ++i) {
    const auto p = static_cast<unsigned>(moduli[i]);
    unsigned others = 1, inverse = 1;
    for (int j = 0; j < count; ++j)
      if (j != i) others = others * (static_cast<unsigned>(moduli[j]) % p) % p;
    while (others * inverse % p != 1) ++inverse;
    const auto share = static_cast<std::uint64_t>(((static_cast<unsigned __int128>(inverse) << 64) + p / 2) / p);
    all.of[i] = {1.0f / static_cast<float>(p), -static_cast<std::int32_t>(p), static_cast<std::uint32_t>(share),
                 static_cast<std::uint32_t>(share >> 32)};
    // less_multiples leaves a remainder plus this
    const std::uint32_t more = 0u - ones_bits * p;
    all.begin -= more * share;
  }
  return all;
}

// ---- operands ----
constexpr int depth_bytes = 128;  // of a piece along the depth: elements, a byte each
constexpr int lane_depth = 16;    // of them a lane's
constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Vectors reduced: for every tile of vectors, plane, and piece of the depth the vectors below each other as a warp group's product
/// wants them (multiply_64x128), those of A in another order (place_of_row). Plane 0 has the elements' sizes, rounded down to
/// multiples of a 127th of the vector's largest, the others the remainders. `scale`: the integers are the elements times
/// 2^norm_bits / scale. `size`: the vector's norm in the units of plane 0; infinity if the largest element is beyond 2^most_exponent
/// or below 2^-most_exponent, or infinite; NaN if there is one.
struct Reduced {
  unsigned char* planes;
  double* scale;
  float* size;
};
constexpr int planes = 1 + count;
constexpr int most_pieces = 10;  // along the depth
constexpr int most_exponent = 400;

constexpr int reduce_vectors = 4;  // of a block, which has a warp for each piece of the depth

/// Where a tile has row r of A. A lane of a warp group's product gets numbers 2 t, 2 t + 1 (t = lane % 4) of every eight places:
/// these are rows 4 t ... 4 t + 3 of every sixteen, so that a warp's accesses to them in shared memory meet no bank twice.
__host__ __device__ constexpr int place_of_row(int r) {
  return r / 16 * 16 + r % 4 / 2 * 8 + r % 16 / 4 * 2 + r % 2;
}

/// 2^e, -1022 <= e <= 1023
__device__ inline double power_of_two(int e) {
  return __hiloint2double((e + 1023) << 20, 0);
}

// ---- the kernel ----

/// For integers of four digits in base 2^15, at most 2^14 in size: what the upper three count modulo p.
struct Digits {
  int powers[count][3] = {};
};
constexpr int digit_bits = 15;
constexpr Digits make_digits() {
  Digits all;
  for (int i = 0; i < count; ++i) {
    const int p = moduli[i];
    int power = 1;
    for (int& digit : all.powers[i]) {
      power = (power << digit_bits) % p;
      digit = 2 * power > p ? power - p : power;  // nearest to zero
    }
  }
  return all;
}
static_assert(3 * digit_bits + digit_bits - 1 >= norm_bits);

__constant__ constexpr Moduli table = make_moduli();
__constant__ constexpr Digits digits = make_digits();

/// reduce_vectors vectors of op(A) or op(B), a block each. Blocks from first_of_B on are B's.
__global__ void __launch_bounds__(most_pieces* warp_size)
    reduce_kernel(Vectors<double> A, Reduced of_A, int tile_A, Vectors<double> B, Reduced of_B, int tile_B, int depth,
                  int first_of_B) {
  __shared__ double largest_of[most_pieces][reduce_vectors], squares_of[most_pieces][reduce_vectors];
  __shared__ bool nan_of[most_pieces][reduce_vectors];
  const bool left = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors<double> X = left ? A : B;
  const Reduced to = left ? of_A : of_B;
  const int vectors_of_tile = left ? tile_A : tile_B;
  const int lane = threadIdx.x % warp_size, piece = threadIdx.x / warp_size, pieces = blockDim.x / warp_size;
  const int v = lane % reduce_vectors, part = lane / reduce_vectors;  // this lane's vector, and its part of the piece
  const std::int64_t vector = (blockIdx.x - (left ? 0 : first_of_B)) * std::int64_t(reduce_vectors) + v;
  const int k0 = piece * depth_bytes + part * lane_depth;

  double x[lane_depth];
  const double* const from = X.data + vector * X.next_vector + k0 * X.next_element;
#pragma unroll
  for (int i = 0; i < lane_depth; ++i) x[i] = vector < X.count && k0 + i < depth ? from[i * X.next_element] : 0;

  double largest = 0;
  bool nan = false;
#pragma unroll
  for (int i = 0; i < lane_depth; ++i) {
    largest = fmax(largest, fabs(x[i]));
    nan = nan || x[i] != x[i];
  }
#pragma unroll
  for (int apart = reduce_vectors; apart < warp_size; apart *= 2) {
    largest = fmax(largest, __shfl_xor_sync(~0u, largest, apart));
    nan = __shfl_xor_sync(~0u, nan, apart) || nan;
  }
  if (part == 0) {
    largest_of[piece][v] = largest;
    nan_of[piece][v] = nan;
  }
  __syncthreads();
  for (int w = 0; w < pieces; ++w) {
    largest = fmax(largest, largest_of[w][v]);
    nan = nan || nan_of[w][v];
  }
  // the power of two below the largest
  const int below = (__double2hiint(largest) >> 20) - 1023;
  const bool regular = abs(below) <= most_exponent && !nan, zero = largest == 0 && !nan;
  const double down = regular ? power_of_two(-below) : 0;

  double squares = 0;
#pragma unroll
  for (int i = 0; i < lane_depth; ++i) {
    x[i] = regular ? x[i] * down : 0;
    squares += x[i] * x[i];
  }
#pragma unroll
  for (int apart = reduce_vectors; apart < warp_size; apart *= 2) squares += __shfl_xor_sync(~0u, squares, apart);
  if (part == 0) squares_of[piece][v] = squares;
  __syncthreads();
  squares = 0;
  for (int w = 0; w < pieces; ++w) squares += squares_of[w][v];
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
            place_in_tile = left ? place_of_row(in_tile) : in_tile;
  const std::int64_t piece_bytes = vectors_of_tile * depth_bytes;
  unsigned char* place = to.planes + (vector / vectors_of_tile * (planes * pieces) + piece) * piece_bytes +
                         place_in_tile * depth_bytes + (part ^ place_in_tile % 8) * lane_depth;
  std::uint32_t bytes[lane_depth / 4];
  auto store_bytes = [&](auto&& byte) {
#pragma unroll
    for (int i = 0; i < lane_depth; i += 4)
      bytes[i / 4] =
          __byte_perm(__byte_perm(byte(i), byte(i + 1), 0x0040), __byte_perm(byte(i + 2), byte(i + 3), 0x0040), 0x5410);
    *reinterpret_cast<uint4*>(place) = make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]);
    place += pieces * piece_bytes;
  };
  const float units = regular ? __double2float_rd(size_units / largest) : 0;
  store_bytes([&](int i) { return static_cast<std::uint32_t>(__double2float_rd(fabs(x[i])) * units); });

  const double up = power_of_two(norm_bits - exponent);
  int d[lane_depth][4];
#pragma unroll
  for (int i = 0; i < lane_depth; ++i) {
    long long rest = __double2ll_rn(x[i] * up);
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      constexpr int half = 1 << (digit_bits - 1);
      rest += half;
      d[i][j] = (static_cast<int>(rest) & (2 * half - 1)) - half;
      rest >>= digit_bits;
    }
    d[i][3] = static_cast<int>(rest);
  }
#pragma unroll 1
  for (int m = 0; m < count; ++m) {
    const Modulus modulus = table.of[m];
    const int p1 = digits.powers[m][0], p2 = digits.powers[m][1], p3 = digits.powers[m][2];
    store_bytes([&](int i) {
      const int x[1] = {d[i][0] + d[i][1] * p1 + d[i][2] * p2 + d[i][3] * p3};
      std::uint32_t less[1];
      less_multiples(x, modulus, less);
      return less[0];
    });
  }
}

}  // namespace residues
}  // namespace devobj::cuda
