// The vectors of random_fill.inl: of 64, 32 or 16 bytes, by the instruction set that the file is compiled for.
//
// A batch of 16 or 32 quads is held as vectors in the order of memory, or as four arrays, word k of every quad in
// array k. Quads are in such an order in these that going from memory to arrays, and back, takes shuffles within
// 16 bytes only. For 32 bytes, H = 2:
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

constexpr int batch = vector_bytes == 64 ? 32 : 16;  // quads
constexpr int words_in = vector_bytes / 4;           // a vector
constexpr int parts = vector_bytes / 16;             // of 16 bytes in a vector
constexpr int vectors = 4 * batch / words_in;

using Words4 __attribute__((vector_size(vector_bytes))) = std::uint32_t;

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
/// The end of a loop: others may be told of what went past the cache, and the caller, whose instructions are older ones,
/// finds the upper halves of the registers empty (GCC 12 leaves that out behind calls of functions of the same file).
template <bool past_the_cache>
DEVOBJ_INLINE void vectors_done() {
#if defined(__x86_64__)
  if constexpr (past_the_cache) _mm_sfence();
#if defined(__AVX2__)
  _mm256_zeroupper();
#endif
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
/// Within every 16 bytes: the words in even (odd) places of a, then those of b.
DEVOBJ_INLINE Words4 even_words(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_shuffle_ps(0xffff, (__m512)a, (__m512)b, 0x88);
#elif defined(__AVX2__)
  return (Words4)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
#else
  return __builtin_shufflevector(a, b, 0, 2, 4, 6);
#endif
}
DEVOBJ_INLINE Words4 odd_words(Words4 a, Words4 b) {
#if defined(__AVX512F__)
  return (Words4)_mm512_maskz_shuffle_ps(0xffff, (__m512)a, (__m512)b, 0xdd);
#elif defined(__AVX2__)
  return (Words4)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
#else
  return __builtin_shufflevector(a, b, 1, 3, 5, 7);
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

/// The arrays of words to the order of the quads.
DEVOBJ_INLINE void in_order(const std::uint32_t (&w)[4][batch], Words4 (&v)[vectors]) {
  DEVOBJ_WRITTEN_OUT
  for (int j = 0; j < batch; j += words_in) {
    Words4 t[4];
    for (int k = 0; k < 4; ++k) t[k] = load<Words4>(w[k] + j);
    transpose(t);
    for (int k = 0; k < 4; ++k) v[4 * j / words_in + k] = t[k];
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
#pragma GCC unroll 32
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
