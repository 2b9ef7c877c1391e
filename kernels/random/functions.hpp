// log, exp, sine and cosine by fixed sequences of IEEE operations: the same bits on every machine. The polynomials are
// minimax fits in the relative error (Remez); the bounds named are those of the polynomials, to which a few roundings
// are added.
#pragma once

#include "kernels/random/tables.hpp"

namespace devobj::random {

// Numbers in double precision are read from constant memory on a GPU, since an instruction there cannot hold one. (Not
// const: the compiler would put them together from halves again.)
#ifdef __CUDACC__
#define DEVOBJ_COEFFICIENTS static __constant__ double
#else
#define DEVOBJ_COEFFICIENTS static constexpr double
#endif
DEVOBJ_COEFFICIENTS log_coefficients[] = {-0x1.1dba2d053c306p-2, 0x1.555065973fed3p-2,  -0x1.9999c47e6f2c6p-2,
                                          0x1.00000018f4ebbp-1,  -0x1.5555555530011p-1, 0x1.ffffffffffe25p-1};
DEVOBJ_COEFFICIENTS sine_coefficients[] = {0x1.e3eed660a99e2p-25, -0x1.e30063a5b96c5p-19, 0x1.50782fca44486p-13,
                                           -0x1.32d2cce2d548fp-8, 0x1.466bc67758701p-4,   -0x1.4abbce625be41p-1,
                                           0x1.921fb54442d18p+0};
DEVOBJ_COEFFICIENTS cosine_coefficients[] = {0x1.f3c9460d762fbp-22, -0x1.a6c98a152787bp-16, 0x1.e1f4fae2bfac6p-11,
                                             -0x1.55d3c7db7ace1p-6, 0x1.03c1f081affd9p-2,   -0x1.3bd3cc9be4581p+0};
DEVOBJ_COEFFICIENTS exp_coefficients[] = {
    0x1.ad66213681261p-26, 0x1.28b311c6085dbp-22, 0x1.71df451ffc707p-19, 0x1.a01992d11b360p-16, 0x1.a01a0110560b6p-13,
    0x1.6c16c18780f6dp-10, 0x1.1111111130de0p-7,  0x1.555555554f371p-5,  0x1.55555555554a2p-3,  0x1.0000000000010p-1};
/// For open_unit; for the exponent e from bits of 2^52 + 1023 + e; -2 ln 2.
DEVOBJ_COEFFICIENTS unit_shift[] = {1.0 - 0x1p-53};
DEVOBJ_COEFFICIENTS exponent_shift[] = {0x1p52 + 1023};
DEVOBJ_COEFFICIENTS minus_two_ln2[] = {-0x1.62e42fefa39efp+0};
#undef DEVOBJ_COEFFICIENTS

/// -2 ln((k + 1/2) 2^-31), nearly, where k is the upper 31 bits of `word`; in (0, 44.4), relative error 2^-22.
DEVOBJ_RANDOM float minus_two_log(std::uint32_t word) {
  // u = m 2^e with m in [2/3, 4/3)
  constexpr std::uint32_t two_thirds = 0x3f2aaaabu, scale = 31u << 23;
  const std::uint32_t bits = bits_of(static_cast<float>(static_cast<std::int32_t>((word | 2u) >> 1)));
  const std::uint32_t exponent = (bits - (two_thirds + scale)) & 0xff800000u;
  const float e = static_cast<float>(static_cast<std::int32_t>(exponent));  // 2^23 e
  const float m = as_float(bits - exponent - scale) - 1.0f;
  float p = 0x1.3aab16p-2f;
  p = fused(p, m, -0x1.5e7988p-2f);
  p = fused(p, m, 0x1.504a04p-2f);
  p = fused(p, m, -0x1.95656ap-2f);
  p = fused(p, m, 0x1.0013ecp-1f);
  p = fused(p, m, -0x1.556192p-1f);
  p = fused(p, m, 0x1.ffffd6p-1f);
  p = fused(p, m, -0x1.fffffap+0f);
  // The summand 2^-60 keeps the result above 0 for u = 1.
  return fused(p, m, fused(e, -0x1.62e430p-23f, 0x1p-60f));
}

/// -2 ln u for a normal number u > 0; the polynomial's relative error is 2^-54.
DEVOBJ_RANDOM double minus_two_log(double u) {
  constexpr std::uint64_t two_thirds = std::uint64_t{0x3fe55555u} << 32, bias = std::uint64_t{1023} << 52;
  const std::uint64_t bits = bits_of(u), biased = bits - two_thirds + bias;  // its upper 12 bits: e + 1023
  const double e = as_double(std::uint64_t{0x43300000u} << 32 | biased >> 52) - (0x1p52 + 1023);
  const double m = as_double(bits - ((biased & std::uint64_t{0xfff00000u} << 32) - bias)) - 1.0, z = m * m;
  double odd = 0x1.63ee172a20b06p-3, even = -0x1.6c7b8abfb20c1p-3;
  odd = fused(odd, z, 0x1.73b7b37d2477ep-4);
  even = fused(even, z, -0x1.94629aebc7400p-4);
  odd = fused(odd, z, 0x1.061e33a89b515p-3);
  even = fused(even, z, -0x1.16626ade6b645p-3);
  odd = fused(odd, z, 0x1.24083a99e6157p-3);
  even = fused(even, z, -0x1.3aa4ebba0f9bdp-3);
  odd = fused(odd, z, 0x1.555cefe711f15p-3);
  even = fused(even, z, -0x1.74629ddc8c4a9p-3);
  odd = fused(odd, z, 0x1.999956d518cfep-3);
  even = fused(even, z, -0x1.c71c470d21ba6p-3);
  odd = fused(odd, z, 0x1.000000af69cb2p-2);
  even = fused(even, z, -0x1.24924983216cdp-2);
  odd = fused(odd, z, 0x1.555555535c8a6p-2);
  even = fused(even, z, -0x1.99999998c585fp-2);
  odd = fused(odd, z, 0x1.00000000014bfp-1);
  even = fused(even, z, -0x1.5555555555b17p-1);
  odd = fused(odd, z, 0x1.ffffffffffff8p-1);
  even = fused(even, z, -2.0);
  const double p = fused(odd, m, even);
  return fused(p, m, e * -0x1.62e42fefa39efp+0);
}
/// The same by table, for 2^-60 < u < 1; relative error 2^-53.
DEVOBJ_RANDOM double minus_two_log_by_table(double u) {
  constexpr std::uint64_t start = std::uint64_t{0x3fe54000u} << 32, bias = std::uint64_t{1023} << 52;
  const std::uint64_t bits = bits_of(u), biased = bits - start + bias;
  const double e = as_double(std::uint64_t{0x43300000u} << 32 | biased >> 52) - exponent_shift[0];
  const double m = as_double(bits - ((biased & std::uint64_t{0xfff00000u} << 32) - bias));
  const LogPiece piece = log_piece(static_cast<std::uint32_t>(biased >> 46) & 63u);
  const double f = fused(m, piece.inverse, -1.0);
  double p = log_coefficients[0];
  p = fused(p, f, log_coefficients[1]);
  p = fused(p, f, log_coefficients[2]);
  p = fused(p, f, log_coefficients[3]);
  p = fused(p, f, log_coefficients[4]);
  p = fused(p, f, log_coefficients[5]);
  p = fused(p, f, -2.0);
  return fused(p, f, fused(e, minus_two_ln2[0], piece.two_log));
}
/// sqrt(-2 ln u) for u = s 2^-32 where s is `word` as a signed number, modulo 1; 0 counts as 2. Relative error 2^-22.2.
/// In (0, 6.67).
DEVOBJ_RANDOM float radius(std::uint32_t word) {
  const std::uint32_t bits = bits_of(static_cast<float>(static_cast<std::int32_t>(word)));
  const Cubic p = radius_piece(bits);
  const float x = from_one(bits, 0xfffffu);  // of 0 as of 2: the lowest piece is that of 2
  return fused(fused(fused(p.c[3], x, p.c[2]), x, p.c[1]), x, p.c[0]);
}
DEVOBJ_RANDOM double log_of(double u) {
  return -0.5 * minus_two_log(u);
}

/// sine and cosine of (pi/2) t for |t| <= 1/2; relative errors 2^-28 and 2^-25, 2^-58 and 2^-54.
DEVOBJ_RANDOM void quarter_turn(float t, float& sine, float& cosine) {
  const float z = t * t;
  float s = -0x1.2d9304p-8f, c = -0x1.4e361ap-6f;
  s = fused(s, z, 0x1.465e92p-4f);
  c = fused(c, z, 0x1.03ae68p-2f);
  s = fused(s, z, -0x1.4abbbap-1f);
  c = fused(c, z, -0x1.3bd38cp+0f);
  s = fused(s, z, 0x1.921fb6p+0f);
  c = fused(c, z, 0x1.fffffep-1f);
  sine = s * t;
  cosine = c;
}
DEVOBJ_RANDOM void quarter_turn(double t, double& sine, double& cosine) {
  const double z = t * t;
  double s = sine_coefficients[0], c = cosine_coefficients[0];
  DEVOBJ_WRITTEN_OUT
  for (int i = 1; i < 6; ++i) {
    s = fused(s, z, sine_coefficients[i]);
    c = fused(c, z, cosine_coefficients[i]);
  }
  sine = fused(s, z, sine_coefficients[6]) * t;
  cosine = fused(c, z, 1.0);
}

/// e^x, infinite or 0 beyond the range; relative error 2^-23 and 2^-52.
DEVOBJ_RANDOM float exp_of(float x) {
  x = within(x, -150.0f, 150.0f);
  constexpr float shift = 12582912.0f;  // 1.5 2^23: the sum's last bits are the nearest integer
  const float shifted = fused(x, 0x1.715476p+0f, shift), n = shifted - shift;
  const std::int32_t k = static_cast<std::int32_t>(bits_of(shifted) - 0x4b400000u), half = k >> 1;
  const float r = fused(n, 0x1.05c610p-29f, fused(n, -0x1.62e430p-1f, x));
  float p = 0x1.6ab978p-10f;
  p = fused(p, r, 0x1.126d0cp-7f);
  p = fused(p, r, 0x1.55589ap-5f);
  p = fused(p, r, 0x1.55540ap-3f);
  p = fused(p, r, 0x1.fffffap-2f);
  p = fused(p, r, 1.0f);
  p = fused(p, r, 1.0f);
  return p * as_float(static_cast<std::uint32_t>(half + 127) << 23) *
         as_float(static_cast<std::uint32_t>(k - half + 127) << 23);
}
DEVOBJ_RANDOM double exp_of(double x) {
  x = within(x, -1000.0, 1000.0);
  constexpr double shift = 0x1.8p52;
  const double shifted = fused(x, 0x1.71547652b82fep+0, shift), n = shifted - shift;
  const std::int32_t k = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits_of(shifted))), half = k >> 1;
  const double r = fused(n, -0x1.abc9e3b39803fp-56, fused(n, -0x1.62e42fefa39efp-1, x));
  double p = exp_coefficients[0];
  DEVOBJ_WRITTEN_OUT
  for (int i = 1; i < 10; ++i) p = fused(p, r, exp_coefficients[i]);
  p = fused(p, r, 1.0);
  p = fused(p, r, 1.0);
  return p * as_double(static_cast<std::uint64_t>(half + 1023) << 52) *
         as_double(static_cast<std::uint64_t>(k - half + 1023) << 52);
}

}  // namespace devobj::random
