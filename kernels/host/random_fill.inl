// The loops behind RandomFill, in the namespace DEVOBJ_SIMD_SPACE: sixteen quads at a time in arrays that the compiler
// turns into vectors.
#include "kernels/host/random_fill.hpp"
#include "kernels/host/random_vectors.inl"

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

/// Words of sixteen quads -> elements.
template <bool past_the_cache, class D>
DEVOBJ_INLINE void transform(const std::uint32_t (&w)[4][batch], const D& d, random::Philox own, std::uint64_t block,
                             typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  alignas(64) typename D::value columns[per_quad][batch];
  for (int j = 0; j < batch; ++j) {
    const random::Quad quad = {{w[0][j], w[1][j], w[2][j], w[3][j]}};
    typename D::value v[per_quad];
    d(quad, own, block + static_cast<std::uint64_t>(quad_at(j)), v);
    for (int k = 0; k < per_quad; ++k) columns[k][j] = v[k];
  }
  write<past_the_cache>(columns, out);
}

/// Whole batches by words(first quad of the batch, arrays), then what is left by one(quad).
template <bool past_the_cache, class D, class Words, class One>
DEVOBJ_INLINE void fill_batches(const D& d, random::Philox own, std::uint64_t block, std::int64_t count,
                                typename D::value* __restrict out, Words&& words, One&& one) {
  constexpr int per_quad = 4 / D::words;
  std::int64_t b = 0;
  for (; b + batch <= count; b += batch) {
    alignas(64) std::uint32_t w[4][batch];
    words(b, w);
    transform<past_the_cache>(w, d, own, block + static_cast<std::uint64_t>(b), out + b * per_quad);
  }
  for (; b < count; ++b) {
    typename D::value v[per_quad];
    d(one(b), own, block + static_cast<std::uint64_t>(b), v);
    for (int k = 0; k < per_quad; ++k) out[b * per_quad + k] = v[k];
  }
  if constexpr (past_the_cache) stores_done();
}

template <class D>
bool can_stream(const typename D::value* out) {
  return reinterpret_cast<std::uintptr_t>(out) % vector_bytes == 0;
}

template <class D>
void philox(random::Philox g, const D& distribution, std::uint64_t block, std::int64_t count, bool past_the_cache,
            typename D::value* __restrict out) {
  const D d = distribution;
  const random::PhiloxKeys keys(g.seed);
  const auto words = [&](std::int64_t b, std::uint32_t(&w)[4][batch]) {
    philox_batch(g, keys, block + static_cast<std::uint64_t>(b), w);
  };
  const auto one = [&](std::int64_t b) { return g.quad(block + static_cast<std::uint64_t>(b), keys); };
  if (past_the_cache && can_stream<D>(out))
    fill_batches<true>(d, g, block, count, out, words, one);
  else
    fill_batches<false>(d, g, block, count, out, words, one);
}

template <class D>
void state(random::Xoshiro* __restrict lanes, random::Philox own, const D& distribution, std::uint64_t block,
           std::int64_t count, bool past_the_cache, typename D::value* __restrict out) {
  const D d = distribution;
  const auto words = [&](std::int64_t b, std::uint32_t(&w)[4][batch]) { xoshiro_batch(lanes + b, w); };
  const auto one = [&](std::int64_t b) {
    random::Quad quad;
    for (int k = 0; k < 4; ++k) quad.w[k] = lanes[b].next();
    return quad;
  };
  if (past_the_cache && can_stream<D>(out))
    fill_batches<true>(d, own, block, count, out, words, one);
  else
    fill_batches<false>(d, own, block, count, out, words, one);
}

}  // namespace

template <class D>
const RandomFill<D>& fill() noexcept {
  static constexpr RandomFill<D> functions = {philox<D>, state<D>};
  return functions;
}

#define INSTANTIATE(D) template const RandomFill<D>& fill<D>() noexcept;
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
