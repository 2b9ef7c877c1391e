// Tables behind the logarithms: a few coefficients for each short piece of the argument's range take the place of a
// long polynomial (tools/random_tables.py makes them). On a GPU a block of threads copies them into its shared memory.
#pragma once

#include "kernels/random/bits.hpp"

namespace devobj::random {

/// What a distribution looks up.
enum class Table { none, radius, logs, discrete };

/// Four coefficients of a cubic in x: sqrt(-2 ln u) for u = |s| 2^-32 (s > 0) and u = 1 - |s| 2^-32 (s < 0), s a 32-bit
/// integer, over pieces of an eighth of an octave of |s|, in which x goes from 1 to 9/8. Interpolation at Chebyshev's points.
struct alignas(16) Cubic {
  float c[4];
};
inline constexpr int radius_pieces = 256;  // of each sign: 32 octaves (the one from 1 on is the last) of 8

/// 1 / c and 2 ln(1 / c) for c in the middle of one of 64 pieces of [0.664, 1.328); exactly 1 and 0 for the two
/// beside 1.
struct alignas(16) LogPiece {
  double inverse, two_log;
};
inline constexpr int log_pieces = 64;

#ifdef __CUDACC__
#define DEVOBJ_TABLE static __device__ const
#else
#define DEVOBJ_TABLE alignas(64) static const
#endif
DEVOBJ_TABLE Cubic radius_table[2 * radius_pieces] = {
#include "kernels/random/radius_table.inl"
};
DEVOBJ_TABLE LogPiece log_table[log_pieces] = {
#include "kernels/random/log_table.inl"
};
#undef DEVOBJ_TABLE

#ifdef __CUDACC__
// Where the pieces are in shared memory: a float's bits 20 to 31 give the place of its piece without further
// arithmetic, with those of negative numbers from byte 2^15 on.
inline constexpr int radius_bytes = 0x9000;
extern __shared__ double2 shared_tables[];

/// Bytes of shared memory that a block needs.
template <class D>
int table_bytes(const D& d) {
  if constexpr (D::table == Table::radius)
    return radius_bytes;
  else if constexpr (D::table == Table::logs)
    return int(sizeof(LogPiece)) * log_pieces;
  else if constexpr (D::table == Table::discrete)
    return 4 * d.fast_count();
  else
    return 0;
}

/// Copies the table into shared memory; all threads of the block.
template <class D>
__device__ void load_table(const D& d) {
  constexpr Table table = D::table;
  if constexpr (table == Table::discrete) {
    for (int i = threadIdx.x; i < d.fast_count(); i += blockDim.x)
      reinterpret_cast<std::uint32_t*>(shared_tables)[i] = d.entries[i];
    __syncthreads();
  } else if constexpr (table == Table::radius) {
    auto* to = reinterpret_cast<float4*>(shared_tables);
    const auto* from = reinterpret_cast<const float4*>(radius_table);
    for (int i = threadIdx.x; i < radius_pieces; i += blockDim.x) {
      to[i] = from[i];
      to[0x8000 / 16 + i] = from[radius_pieces + i];
    }
    __syncthreads();
  } else if constexpr (table == Table::logs) {
    for (int i = threadIdx.x; i < log_pieces; i += blockDim.x)
      shared_tables[i] = reinterpret_cast<const double2*>(log_table)[i];
    __syncthreads();
  }
}
#endif

/// The entries of a discrete distribution where they are fastest.
DEVOBJ_RANDOM const std::uint32_t* fast_entries([[maybe_unused]] const std::uint32_t* entries) {
#ifdef __CUDA_ARCH__
  return reinterpret_cast<const std::uint32_t*>(shared_tables);
#else
  return entries;
#endif
}

/// The piece of a float with these bits, whose magnitude is 1 to 2^31.
DEVOBJ_RANDOM Cubic radius_piece(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  const float4 c =
      *reinterpret_cast<const float4*>(reinterpret_cast<const char*>(shared_tables) + (bits >> 16 & 0x8ff0u));
  return {{c.x, c.y, c.z, c.w}};
#else
  const std::uint32_t i = (bits >> 20 & 0xffu) | (bits >> 31) << 8;
  return {{radius_table[i].c[0], radius_table[i].c[1], radius_table[i].c[2], radius_table[i].c[3]}};
#endif
}
DEVOBJ_RANDOM LogPiece log_piece(std::uint32_t i) {
#ifdef __CUDA_ARCH__
  const double2 p = shared_tables[i];
  return {p.x, p.y};
#else
  return {log_table[i].inverse, log_table[i].two_log};
#endif
}

}  // namespace devobj::random
