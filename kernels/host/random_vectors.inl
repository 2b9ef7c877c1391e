// The vectors of random_fill.inl: of 64, 32 or 16 bytes, by the instruction set that the file is compiled for.
//
// A batch of 16 quads is held as four arrays of 16 words, word k of every quad in array k. Quads are in such an order
// that going from quads in memory to arrays, and back, takes shuffles within 16 bytes only. For 32 bytes, H = 2:
//
//   memory   [q0 w0 w1 w2 w3 | q1 w0 w1 w2 w3] [q2 ... | q3 ...] [q4 ... | q5 ...] [q6 ... | q7 ...]
//   array k  [q0 q2 q4 q6 | q1 q3 q5 q7]
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

#define DEVOBJ_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

constexpr int batch = 16;                   // quads
constexpr int words_in = vector_bytes / 4;  // a vector
constexpr int parts = vector_bytes / 16;    // of 16 bytes in a vector

using Words4 __attribute__((vector_size(vector_bytes))) = std::uint32_t;
using Wide __attribute__((vector_size(vector_bytes))) = std::uint64_t;

/// The quad, from the batch's first, in place j of the arrays.
constexpr int quad_at(int j) {
  return j / words_in * words_in + parts * (j % 4) + j % words_in / 4;
}

template <class V>
DEVOBJ_INLINE V load(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
/// `past_the_cache`: at an address that is a multiple of vector_bytes.
template <bool past_the_cache = false, class V>
DEVOBJ_INLINE void store(void* p, V v) {
#if defined(__x86_64__)
  if constexpr (past_the_cache) {
#if defined(__AVX512F__)
    _mm512_stream_si512(static_cast<__m512i*>(p), (__m512i)v);
#elif defined(__AVX2__)
    _mm256_stream_si256(static_cast<__m256i*>(p), (__m256i)v);
#else
    _mm_stream_si128(static_cast<__m128i*>(p), (__m128i)v);
#endif
    return;
  }
#endif
  __builtin_memcpy(p, &v, sizeof v);
}
/// Before others are told of what went past the cache.
DEVOBJ_INLINE void stores_done() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Within every 16 bytes: the lower (upper) halves of a and b, words (pairs of words) alternating.
DEVOBJ_INLINE Words4 low_words(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_unpacklo_epi32(0xffff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words4)_mm256_unpacklo_epi32((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}
DEVOBJ_INLINE Words4 high_words(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_unpackhi_epi32(0xffff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words4)_mm256_unpackhi_epi32((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}
DEVOBJ_INLINE Words4 low_pairs(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_unpacklo_epi64(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words4)_mm256_unpacklo_epi64((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 0, 1, 4, 5);
#endif
}
DEVOBJ_INLINE Words4 high_pairs(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_unpackhi_epi64(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Words4)_mm256_unpackhi_epi64((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 2, 3, 6, 7);
#endif
}
/// Rows to columns within every 16 bytes; its own inverse.
DEVOBJ_INLINE void transpose(Words4 (&v)[4]) {
  const Words4 a = low_words(v[0], v[1]), b = low_words(v[2], v[3]);
  const Words4 c = high_words(v[0], v[1]), d = high_words(v[2], v[3]);
  v[0] = low_pairs(a, b);
  v[1] = high_pairs(a, b);
  v[2] = low_pairs(c, d);
  v[3] = high_pairs(c, d);
}

/// The products of the lower halves.
DEVOBJ_INLINE Wide multiply_low(Wide a, Wide b) {
#if defined(__AVX512F__)
  return (Wide)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Wide)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}
DEVOBJ_INLINE Wide all_wide(std::uint64_t x) {
  return x - Wide{};
}

/// The ten rounds of Philox. A word is the lower half of 64 bits, so that a product is one instruction and its lower
/// half need not be cut out; the upper halves are rubbish.
DEVOBJ_INLINE void philox_wide(Wide (&c)[4], const random::PhiloxKeys& keys) {
  const Wide m0 = all_wide(0xD2511F53u), m1 = all_wide(0xCD9E8D57u);
#pragma GCC unroll 10
  for (int r = 0; r < 10; ++r) {
    const Wide p0 = multiply_low(m0, c[0]), p1 = multiply_low(m1, c[2]);
    c[0] = (p1 >> 32) ^ c[1] ^ all_wide(keys.k0[r]);
    c[2] = (p0 >> 32) ^ c[3] ^ all_wide(keys.k1[r]);
    c[1] = p1;
    c[3] = p0;
  }
}

/// The quads block ... block + batch - 1 of g in arrays.
DEVOBJ_INLINE void philox_batch(const random::Philox& g, const random::PhiloxKeys& keys, std::uint64_t block,
                                std::uint32_t (&w)[4][batch]) {
  constexpr int half = words_in / 2;
  const random::Quad fixed = g.counter(0, 0);
  const Wide low = all_wide(0xffffffffu);
  // the quads in the even and the odd places of an array
  Wide even = {}, odd = {};
  for (int l = 0; l < half; ++l) {
    even[l] = static_cast<std::uint64_t>(quad_at(2 * l));
    odd[l] = static_cast<std::uint64_t>(quad_at(2 * l + 1));
  }
  for (int j = 0; j < batch; j += words_in) {
    Wide c[2][4];
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const Wide b = all_wide(block + static_cast<std::uint64_t>(j)) + (i == 0 ? even : odd), upper = b >> 16;
      c[i][0] = upper;
      c[i][1] = upper >> 32;
      c[i][2] = (b & all_wide(0xffffu)) | all_wide(fixed.w[2]);
      c[i][3] = all_wide(fixed.w[3]);
      philox_wide(c[i], keys);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) store(w[k] + j, (Words4)((c[0][k] & low) | c[1][k] << 32));
  }
}

DEVOBJ_INLINE Words4 turned(Words4 x, int k) {
  return x << k | x >> (32 - k);
}

/// The next quads of the lanes 0 ... batch - 1 in arrays.
DEVOBJ_INLINE void xoshiro_batch(random::Xoshiro* lanes, std::uint32_t (&w)[4][batch]) {
  for (int j = 0; j < batch; j += words_in) {
    auto* memory = reinterpret_cast<unsigned char*>(lanes + j);
    Words4 s[4];
    for (int k = 0; k < 4; ++k) s[k] = load<Words4>(memory + k * vector_bytes);
    transpose(s);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      store(w[k] + j, turned(s[0] + s[3], 7) + s[0]);
      const Words4 t = s[1] << 9;
      s[2] ^= s[0];
      s[3] ^= s[1];
      s[1] ^= s[2];
      s[0] ^= s[3];
      s[2] ^= t;
      s[3] = turned(s[3], 11);
    }
    transpose(s);
    for (int k = 0; k < 4; ++k) store(memory + k * vector_bytes, s[k]);
  }
}

using Pair __attribute__((vector_size(16))) = std::uint64_t;
/// Where low_pairs and high_pairs leave the pair of a quad, if they are stored one after the other.
struct PairOf {
  int quad[batch] = {};
  constexpr PairOf() {
    for (int p = 0; p < batch; ++p) {
      const int in = p % (2 * parts), place = p - in + 2 * (in % parts) + in / parts;
      quad[quad_at(place)] = p;
    }
  }
};
constexpr PairOf pair_of;

/// Arrays of elements to elements in the order of the quads.
template <bool past_the_cache, class T, int per_quad>
DEVOBJ_INLINE void write(const T (&columns)[per_quad][batch], T* out) {
  if constexpr (per_quad == 4 && sizeof(T) == 4) {
    for (int j = 0; j < batch; j += words_in) {
      Words4 v[4];
      for (int k = 0; k < 4; ++k) v[k] = load<Words4>(columns[k] + j);
      transpose(v);
      for (int k = 0; k < 4; ++k) store<past_the_cache>(out + 4 * j + k * words_in, v[k]);
    }
  } else if constexpr (per_quad == 2 && sizeof(T) == 8) {
    // two arrays of 64-bit numbers are, in each vector, some pairs of neighbours' elements: first side by side
    alignas(64) T pairs[2 * batch];
    for (int j = 0; j < batch; j += words_in / 2) {
      const Words4 x = load<Words4>(columns[0] + j), y = load<Words4>(columns[1] + j);
      store(pairs + 2 * j, low_pairs(x, y));
      store(pairs + 2 * j + words_in / 2, high_pairs(x, y));
    }
#pragma GCC unroll 16
    for (int b = 0; b < batch; ++b) {
      const Pair pair = load<Pair>(pairs + 2 * pair_of.quad[b]);
#if defined(__x86_64__)
      if constexpr (past_the_cache) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(out + 2 * b), (__m128i)pair);
        continue;
      }
#endif
      store(out + 2 * b, pair);
    }
  } else {
    for (int j = 0; j < batch; ++j)
      for (int k = 0; k < per_quad; ++k) out[quad_at(j) * per_quad + k] = columns[k][j];
  }
}

}  // namespace
}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
