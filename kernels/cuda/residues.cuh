// Integers by their remainders: the moduli of gemm_residues, and the vectors of its operands, rounded to integers and reduced
// modulo each of them. gemm_residues.cu says what for.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/vectors.cuh"

namespace devobj::cuda {
namespace residues {

// ---- the moduli: no two have a common factor, and remainders nearest to zero are eight-bit integers ----

/// Those for elements of type E; `products` are needed modulo each. A complex number x + i y is the two integers x + j y, x - j y modulo p, j^2
/// = -1: products of complex numbers are products of the ones and products of the others. There is a j if all of p's prime factors are
/// one more than multiples of four. Vectors become integers of a euclidean norm up to norm_fraction 2^norm_bits.
template <class E>
struct ModuliOf;
template <>
struct ModuliOf<double> {
  static constexpr int count = 15, products = 1;
  static constexpr int of[count] = {253, 251, 249, 247, 245, 241, 239, 236, 233, 229, 227, 223, 211, 193, 181};
  static constexpr double norm_fraction = 0.62;
};
template <>
struct ModuliOf<cuDoubleComplex> {
  static constexpr int count = 16, products = 2;
  static constexpr int of[count] = {241, 233, 229, 13 * 17, 5 * 41, 197, 193, 181,
                                    173, 157, 149, 137,     113,    109, 101, 97};
  static constexpr double norm_fraction = 0.62;
};
constexpr int norm_bits = 59;

/// The moduli's product. A sum of less than half of it in size is known by its remainders.
template <class E>
constexpr unsigned __int128 product() {
  unsigned __int128 all = 1;
  for (const int p : ModuliOf<E>::of) all *= static_cast<unsigned>(p);
  return all;
}
/// So no sum of products of two vectors reaches it (Cauchy and Schwarz); rounding adds sqrt(2 depth) / 2 to a norm at most.
template <class E>
constexpr bool norms_fit = ModuliOf<E>::norm_fraction* ModuliOf<E>::norm_fraction * 1.001 * 0x1p118 <
                           static_cast<double>(product<E>()) / 2;
static_assert(norms_fit<double> && norms_fit<cuDoubleComplex>);

/// What is done with a sum whose remainder modulo p counts.
struct Modulus {
  float reciprocal;         // of p
  std::uint32_t minus;      // -p
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
  for (int i = 0; i < n; ++i) less[i] = __float_as_uint(multiple[i]) * modulus.minus + static_cast<std::uint32_t>(x[i]);
}

// ---- numbers modulo p, 0 <= x < p ----
constexpr int modulo(std::int64_t x, int p) {
  return static_cast<int>((x % p + p) % p);
}
constexpr int nearest_to_zero(int x, int p) {
  return 2 * x > p ? x - p : x;
}
/// 0 if there is none; by Euclid's algorithm, in which a = x u, b = x v.
constexpr int inverse(int x, int p) {
  int a = x, b = p, u = 1, v = 0;
  while (a != 0) {
    const int next_b = a, next_v = u;
    u = v - b / a * u;
    a = b % a;
    b = next_b;
    v = next_v;
  }
  return b == 1 ? modulo(v, p) : 0;
}
constexpr int root_of_minus_one(int p) {
  for (int j = 1; j < p; ++j)
    if (modulo(std::int64_t(j) * j + 1, p) == 0) return j;
  return 0;
}
constexpr int power_of_two_modulo(int e, int p) {
  int power = 1;
  for (int i = 0; i < e; ++i) power = modulo(2 * power, p);
  return power;
}

/// How the fraction sum / product() modulo 1 is found of the sum's remainders r: it is the sum over the moduli p of
///   r ((product() / p)^-1 modulo p) / p.
/// In units of 2^-64, r = 1 has the share 2^64 v / p, rounded. So that little is lost, B's remainders are multiplied by a unit u modulo p
/// for which 2^64 v is nearly a multiple of p. Sums and differences of the complex numbers' two products are 2 x and 2 j y; they have one
/// u for two v.
template <class E>
struct Shares {
  int unit = 0;                                // u
  int numerators[ModuliOf<E>::products] = {};  // v
};
template <class E>
constexpr Shares<E> shares_of(int m) {
  constexpr bool is_complex = is_device_complex<E>;
  const int p = ModuliOf<E>::of[m], over_j = is_complex ? inverse(root_of_minus_one(p), p) : 0;
  const auto times = [p](int x, int y) { return modulo(std::int64_t(x) * y, p); };
  int others = 1;
  for (int i = 0; i < ModuliOf<E>::count; ++i)
    if (i != m) others = times(others, ModuliOf<E>::of[i] % p);
  const int weight = inverse(others, p), scale = power_of_two_modulo(64, p);
  Shares<E> best{};
  int least = INT32_MAX;
  for (int v = 1; v < p; ++v) {
    const int second = times(v, over_j), error = nearest_to_zero(times(scale, v), p),
              second_error = nearest_to_zero(times(scale, second), p),
              squares = error * error + second_error * second_error;
    if (squares >= least || inverse(v, p) == 0) continue;
    least = squares;
    best.unit = times(weight, inverse(is_complex ? times(2, v) : v, p));
    best.numerators[0] = v;
    if constexpr (is_complex) best.numerators[1] = second;
  }
  return best;
}
template <class E>
constexpr auto all_shares = [] {
  std::array<Shares<E>, ModuliOf<E>::count> all{};
  for (int m = 0; m < ModuliOf<E>::count; ++m) all[m] = shares_of<E>(m);
  return all;
}();

template <class E>
struct Moduli {
  Modulus of[ModuliOf<E>::count][ModuliOf<E>::products] = {};
  std::uint64_t begin[ModuliOf<E>::products] = {};  // of the fractions
};
template <class E>
constexpr Moduli<E> make_moduli() {
  Moduli<E> all;
  for (int m = 0; m < ModuliOf<E>::count; ++m) {
    const auto p = static_cast<unsigned>(ModuliOf<E>::of[m]);
    for (int i = 0; i < ModuliOf<E>::products; ++i) {
      const auto v = static_cast<unsigned>(all_shares<E>[m].numerators[i]);
      const auto share = static_cast<std::uint64_t>(((static_cast<unsigned __int128>(v) << 64) + p / 2) / p);
      all.of[m][i] = {1.0f / static_cast<float>(p), 0u - p, static_cast<std::uint32_t>(share),
                      static_cast<std::uint32_t>(share >> 32)};
      // less_multiples leaves a remainder plus this
      const std::uint32_t more = 0u - ones_bits * p;
      all.begin[i] -= more * share;
    }
  }
  return all;
}

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
constexpr int most_pieces = 10;  // along the depth
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

/// Vectors of a block of reduce_kernel, which has a warp for each piece, and elements of a lane, in registers.
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

/// Integers have four digits in base 2^15, at most 2^14 in size, two to a register. What the digits count modulo p, those of the parts of
/// a complex number too, a byte each, for B times the shares' unit.
constexpr int digit_bits = 15, digits = 4;
static_assert(digits * digit_bits - 1 >= norm_bits);
template <class E>
struct Powers {
  std::uint32_t of[ModuliOf<E>::count][ModuliOf<E>::products] = {};
};
template <class E>
constexpr Powers<E> make_powers(bool of_A) {
  Powers<E> all;
  for (int m = 0; m < ModuliOf<E>::count; ++m) {
    const int p = ModuliOf<E>::of[m];
    for (int part = 0; part < ModuliOf<E>::products; ++part)
      for (int d = 0; d < digits; ++d) {
        std::int64_t power = power_of_two_modulo(d * digit_bits, p);
        if (part == 1) power = power * root_of_minus_one(p) % p;
        if (!of_A) power = power * all_shares<E>[m].unit % p;
        const auto byte = static_cast<std::uint8_t>(nearest_to_zero(static_cast<int>(power), p));
        all.of[m][part] |= static_cast<std::uint32_t>(byte) << (8 * d);
      }
  }
  return all;
}

template <class E>
__constant__ constexpr Moduli<E> table = make_moduli<E>();
template <class E>
__constant__ constexpr Powers<E> powers[2] = {make_powers<E>(true), make_powers<E>(false)};  // for A, B

/// reduce_vectors vectors of op(A) or op(B), a block each. Blocks from first_of_B on are B's.
template <class E>
__global__ void __launch_bounds__(most_pieces* warp_size)
    reduce_kernel(Vectors<E> A, Reduced of_A, int tile_A, Vectors<E> B, Reduced of_B, int tile_B, int depth,
                  int first_of_B) {
  constexpr int parts = ModuliOf<E>::products;  // of an element
  constexpr int reduce_vectors = residues::reduce_vectors<E>, lane_depth = residues::lane_depth<E>;
  __shared__ double largest_of[most_pieces][reduce_vectors], squares_of[most_pieces][reduce_vectors];
  __shared__ bool nan_of[most_pieces][reduce_vectors];
  const bool left = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors<E> X = left ? A : B;
  const Reduced to = left ? of_A : of_B;
  const int vectors_of_tile = left ? tile_A : tile_B;
  const int lane = threadIdx.x % warp_size, piece = threadIdx.x / warp_size, pieces = blockDim.x / warp_size;
  const int v = lane % reduce_vectors, part = lane / reduce_vectors;  // this lane's vector, and its part of the piece
  const std::int64_t vector = (blockIdx.x - (left ? 0 : first_of_B)) * std::int64_t(reduce_vectors) + v;
  const int k0 = piece * depth_bytes + part * lane_depth;

  double x[lane_depth][parts];
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
  const auto size_of = [&x](int i) {
    if constexpr (is_device_complex<E>)
      return fmax(fabs(x[i][0]), fabs(x[i][1]));
    else
      return fabs(x[i][0]);
  };

  double largest = 0;
  bool nan = false;
#pragma unroll
  for (int i = 0; i < lane_depth; ++i) {
    largest = fmax(largest, size_of(i));
#pragma unroll
    for (int c = 0; c < parts; ++c) nan = nan || x[i][c] != x[i][c];
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
  for (int i = 0; i < lane_depth; ++i)
#pragma unroll
    for (int c = 0; c < parts; ++c) {
      x[i][c] = regular ? x[i][c] * down : 0;
      squares += x[i][c] * x[i][c];
    }
#pragma unroll
  for (int apart = reduce_vectors; apart < warp_size; apart *= 2) squares += __shfl_xor_sync(~0u, squares, apart);
  if (part == 0) squares_of[piece][v] = squares;
  __syncthreads();
  squares = 0;
  for (int w = 0; w < pieces; ++w) squares += squares_of[w][v];
  const double norm = sqrt(squares);
  int exponent = (__double2hiint(norm) >> 20) - 1022;  // norm < 2^exponent
  if (norm * power_of_two(regular ? -exponent : 0) > ModuliOf<E>::norm_fraction) ++exponent;
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
  if constexpr (lane_depth == 16)
    *reinterpret_cast<std::uint32_t*>(at(k0 / size_step)) =
        word(units_of(0), units_of(size_step), units_of(2 * size_step), units_of(3 * size_step));
  else
    *reinterpret_cast<std::uint16_t*>(at(k0 / size_step)) =
        static_cast<std::uint16_t>(word(units_of(0), units_of(size_step), 0, 0));
  static_assert(lane_depth / size_step * size_step == lane_depth && size_step == 4);
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

  const double up = power_of_two(norm_bits - exponent);
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
    const Modulus modulus = table<E>.of[m][0];
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
}

}  // namespace residues
}  // namespace devobj::cuda
