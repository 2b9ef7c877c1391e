// The moduli of gemm_residues: what an integer's digits count modulo each, and the share of a sum of remainders' products in a fraction,
// from which a sum is found. gemm_residues.cu says what for. All of it but less_multiples is computed by the compiler.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {
namespace residues {

// ---- the moduli: no two have a common factor, and remainders nearest to zero are eight-bit integers ----

/// Those for elements of type E; `products` are needed modulo each. A complex number x + i y is the two integers x + j y, x - j y modulo p, j^2
/// = -1: products of complex numbers are products of the ones and products of the others. There is a j if all of p's prime factors are
/// one more than multiples of four.
template <class E>
struct ModuliOf;
template <>
struct ModuliOf<double> {
  static constexpr int count = 15, products = 1;
  static constexpr int of[count] = {253, 251, 249, 247, 245, 241, 239, 236, 233, 229, 227, 223, 211, 193, 181};
};
template <>
struct ModuliOf<cuDoubleComplex> {
  static constexpr int count = 16, products = 2;
  static constexpr int of[count] = {241, 233, 229, 13 * 17, 5 * 41, 197, 193, 181,
                                    173, 157, 149, 137,     113,    109, 101, 97};
};
/// Vectors become integers of a euclidean norm up to norm_fraction 2^norm_bits.
constexpr int norm_bits = 59;
constexpr double norm_fraction = 0.62;

/// The moduli's product. A sum of less than half of it in size is known by its remainders.
template <class E>
constexpr unsigned __int128 product() {
  unsigned __int128 all = 1;
  for (const int p : ModuliOf<E>::of) all *= static_cast<unsigned>(p);
  return all;
}
/// So no sum of products of two vectors reaches it (Cauchy and Schwarz); rounding adds sqrt(2 depth) / 2 to a norm at most.
template <class E>
constexpr bool norms_fit = norm_fraction* norm_fraction * 1.001 * 0x1p118 < static_cast<double>(product<E>()) / 2;
static_assert(norms_fit<double> && norms_fit<cuDoubleComplex>);

/// What an integer is divided by.
struct Modulus {
  float reciprocal;     // of p
  std::uint32_t minus;  // -p
};
/// The share of a sum of 1 modulo p in the fraction sum / product(), in units of 2^-64: 2^32 high + low + rest, where the rest's size is
/// less than half a unit.
struct alignas(16) Share {
  std::int32_t low, high;
  float rest;
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

/// How the fraction sum / product() modulo 1 is found of numbers x that equal the sum modulo p: it is the sum over the moduli p of
///   x ((product() / p)^-1 modulo p) / p.
/// In units of 2^-64, x = 1 has the share 2^64 v / p, which is an integer and a rest. So that the rests of large x are small, B's
/// remainders are multiplied by a unit u modulo p for which 2^64 v is nearly a multiple of p. Sums and differences of the complex numbers'
/// two products are 2 x and 2 j y; they have one u for two v.
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
  Modulus of[ModuliOf<E>::count] = {};
  Share shares[ModuliOf<E>::count][ModuliOf<E>::products] = {};
};
template <class E>
constexpr Moduli<E> make_moduli() {
  Moduli<E> all;
  for (int m = 0; m < ModuliOf<E>::count; ++m) {
    const int p = ModuliOf<E>::of[m];
    all.of[m] = {1.0f / static_cast<float>(p), 0u - static_cast<unsigned>(p)};
    for (int i = 0; i < ModuliOf<E>::products; ++i) {
      const int v = all_shares<E>[m].numerators[i],
                rest = nearest_to_zero(modulo(std::int64_t(power_of_two_modulo(64, p)) * v, p), p);
      const auto whole = static_cast<std::uint64_t>(((__int128(v) << 64) - rest) / p);
      const auto low = static_cast<std::int32_t>(whole);
      all.shares[m][i] = {low,
                          static_cast<std::int32_t>((whole - static_cast<std::uint64_t>(std::int64_t(low))) >> 32),
                          static_cast<float>(rest) / static_cast<float>(p)};
    }
  }
  return all;
}

// ---- the digits of integers ----
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

}  // namespace residues
}  // namespace devobj::cuda
