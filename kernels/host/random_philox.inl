// Philox in vectors, for random_fill.inl. A word is the lower half of 64 bits, so that a product is one instruction and
// neither of its halves needs to be cut out; the upper halves are rubbish. Some groups of quads go through the rounds
// side by side, since a round waits for the products of the one before. Quads of a group, H = 2:
//
//   word k   [q0 . | q2 . | q1 . | q3 .]        after the last round, two words side by side:
//   pairs 0  [q0 w0 w1 | q2 w0 w1 | q1 w0 w1 | q3 w0 w1],  pairs 1  [q0 w2 w3 | q2 w2 w3 | ...]
#include "kernels/host/random_vectors.inl"

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

using Wide __attribute__((vector_size(vector_bytes))) = std::uint64_t;

constexpr int in_group = words_in / 2;                                        // quads
constexpr int groups = batch / in_group, together = groups < 4 ? groups : 4;  // side by side

constexpr std::uint32_t factor0 = 0xD2511F53u, factor1 = 0xCD9E8D57u;

DEVOBJ_INLINE Wide all_wide(std::uint64_t x) {
  return x - Wide{};
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
/// The halves of p exchanged, and a ^ b added (modulo 2) to the lower one.
DEVOBJ_INLINE Words4 exchanged(Wide p, Wide a, Wide b) {
#if defined(__AVX512F__)
  const __m512i turned = _mm512_maskz_shuffle_epi32(0xffff, (__m512i)p, (_MM_PERM_ENUM)0xb1);
  return (Words4)_mm512_mask_ternarylogic_epi32(turned, 0x5555, (__m512i)a, (__m512i)b, 0x96);
#elif defined(__AVX2__)
  const __m256i sum = _mm256_blend_epi32(_mm256_setzero_si256(), (__m256i)(a ^ b), 0x55);
  return (Words4)_mm256_shuffle_epi32((__m256i)p, 0xb1) ^ (Words4)sum;
#else
  const Words4 turned = __builtin_shufflevector((Words4)p, (Words4)p, 1, 0, 3, 2);
  return turned ^ (Words4)((a ^ b) & 0xffffffffu);
#endif
}

/// factor1 times the quad's place in the batch.
struct PlaceProducts {
  alignas(64) std::uint64_t of[groups][in_group] = {};
  constexpr PlaceProducts() {
    for (int g = 0; g < groups; ++g)
      for (int l = 0; l < in_group; ++l)
        of[g][l] = std::uint64_t{factor1} * static_cast<std::uint64_t>(g * in_group + l % 2 * parts + l / 2);
  }
};
constexpr PlaceProducts place_products;

/// random::PhiloxRow in vectors.
class PhiloxRowVectors {
 public:
  DEVOBJ_INLINE PhiloxRowVectors(const random::Philox& g, std::uint64_t block, const random::PhiloxKeys& keys) {
    const random::Quad c = g.counter(block >> 16, 0);
    std::uint32_t high0, low0, high1, low1;
    random::multiply_wide(factor0, c.w[0], high0, low0);
    random::multiply_wide(factor1, high0 ^ c.w[3] ^ keys.k1[0], high1, low1);
    stream_ = c.w[2];
    // what words 0 and 2 are added to in the first rounds: constants of the row and keys
    sums_[0][0] = all_wide(c.w[1] ^ keys.k0[0]);
    sums_[0][1] = all_wide(high1 ^ keys.k0[1]);
    sums_[1][1] = all_wide(low0 ^ keys.k1[1]);
    sums_[0][2] = all_wide(low1 ^ keys.k0[2]);
    sums_[1][2] = all_wide(keys.k1[2]);
    for (int r = 3; r < 10; ++r) {
      sums_[0][r] = all_wide(keys.k0[r]);
      sums_[1][r] = all_wide(keys.k1[r]);
    }
  }

  /// The batch of quads from number `place` of the row on; it must end within the row.
  DEVOBJ_INLINE void batch_pairs(std::uint32_t place, Words4 (&pairs)[groups][2]) const {
    const Wide m0 = all_wide(factor0), m1 = all_wide(factor1);
    const Wide start = all_wide(std::uint64_t{factor1} * (stream_ | place));
    for (int from = 0; from < groups; from += together) {
      Wide c[together][4];
      // rounds 0 and 1, of which the row has half
      DEVOBJ_WRITTEN_OUT
      for (int g = 0; g < together; ++g) {
        c[g][1] = start + load<Wide>(place_products.of[from + g]);
        c[g][0] = (c[g][1] >> 32) ^ sums_[0][0];
      }
      DEVOBJ_WRITTEN_OUT
      for (int g = 0; g < together; ++g) {
        c[g][3] = multiply_low(m0, c[g][0]);
        c[g][0] = c[g][1] ^ sums_[0][1];
        c[g][2] = (c[g][3] >> 32) ^ sums_[1][1];
        c[g][1] = Wide{};
      }
      DEVOBJ_WRITTEN_OUT
      for (int r = 2; r < 9; ++r) DEVOBJ_WRITTEN_OUT
      for (int g = 0; g < together; ++g) {
        const Wide p0 = multiply_low(m0, c[g][0]), p1 = multiply_low(m1, c[g][2]);
        c[g][0] = (p1 >> 32) ^ c[g][1] ^ sums_[0][r];
        c[g][2] = (p0 >> 32) ^ c[g][3] ^ sums_[1][r];
        c[g][1] = p1;
        c[g][3] = p0;
      }
      DEVOBJ_WRITTEN_OUT
      for (int g = 0; g < together; ++g) {
        const Wide p0 = multiply_low(m0, c[g][0]), p1 = multiply_low(m1, c[g][2]);
        pairs[from + g][0] = exchanged(p1, c[g][1], sums_[0][9]);
        pairs[from + g][1] = exchanged(p0, c[g][3], sums_[1][9]);
      }
    }
  }

 private:
  std::uint32_t stream_;
  Wide sums_[2][10];
};

/// The words in the order of the quads.
DEVOBJ_INLINE void in_order(const Words4 (&pairs)[groups][2], Words4 (&v)[vectors]) {
  DEVOBJ_WRITTEN_OUT
  for (int g = 0; g < groups; ++g) {
    v[2 * g] = low_pairs(pairs[g][0], pairs[g][1]);
    v[2 * g + 1] = high_pairs(pairs[g][0], pairs[g][1]);
  }
}
/// Word k of every quad in array k.
DEVOBJ_INLINE void in_arrays(const Words4 (&pairs)[groups][2], std::uint32_t (&w)[4][batch]) {
  DEVOBJ_WRITTEN_OUT
  for (int g = 0; g < groups; g += 2) DEVOBJ_WRITTEN_OUT
  for (int k = 0; k < 2; ++k) {
    store(w[2 * k] + g * in_group, even_words(pairs[g][k], pairs[g + 1][k]));
    store(w[2 * k + 1] + g * in_group, odd_words(pairs[g][k], pairs[g + 1][k]));
  }
}

}  // namespace
}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
