// The loops behind RandomFill, in the namespace DEVOBJ_SIMD_SPACE: sixteen quads at a time in arrays that the compiler
// turns into vectors.
#include "kernels/host/random_fill.hpp"

namespace devobj::host::DEVOBJ_SIMD_SPACE {

constexpr int batch = 16;

/// Words of sixteen quads -> elements.
template <class D>
inline __attribute__((always_inline)) void transform(const std::uint32_t (&w)[4][batch], const D& d, random::Philox own,
                                                     std::uint64_t block, typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  alignas(64) typename D::value columns[per_quad][batch];
  for (int j = 0; j < batch; ++j) {
    const random::Quad quad = {{w[0][j], w[1][j], w[2][j], w[3][j]}};
    typename D::value v[per_quad];
    d(quad, own, block + static_cast<std::uint64_t>(j), v);
    for (int k = 0; k < per_quad; ++k) columns[k][j] = v[k];
  }
  for (int j = 0; j < batch; ++j)
    for (int k = 0; k < per_quad; ++k) out[j * per_quad + k] = columns[k][j];
}

template <class D>
void philox(random::Philox g, const D& distribution, std::uint64_t block, std::int64_t count,
            typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  const D d = distribution;
  std::int64_t b = 0;
  for (; b + batch <= count; b += batch) {
    alignas(64) std::uint32_t w[4][batch];
    const std::uint64_t first = block + static_cast<std::uint64_t>(b);
    for (int j = 0; j < batch; ++j) {
      const random::Quad quad = g.quad(first + static_cast<std::uint64_t>(j));
      for (int k = 0; k < 4; ++k) w[k][j] = quad.w[k];
    }
    transform(w, d, g, first, out + b * per_quad);
  }
  for (; b < count; ++b) {
    typename D::value v[per_quad];
    d(g.quad(block + static_cast<std::uint64_t>(b)), g, block + static_cast<std::uint64_t>(b), v);
    for (int k = 0; k < per_quad; ++k) out[b * per_quad + k] = v[k];
  }
}

template <class D>
void state(random::Xoshiro* __restrict lanes, random::Philox own, const D& distribution, std::uint64_t block,
           std::int64_t count, typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  const D d = distribution;
  std::int64_t b = 0;
  for (; b + batch <= count; b += batch) {
    alignas(64) std::uint32_t w[4][batch], s[4][batch];
    for (int j = 0; j < batch; ++j)
      for (int k = 0; k < 4; ++k) s[k][j] = lanes[b + j].s[k];
    for (int j = 0; j < batch; ++j) {
      random::Xoshiro lane = {{s[0][j], s[1][j], s[2][j], s[3][j]}};
      for (int k = 0; k < 4; ++k) w[k][j] = lane.next();
      for (int k = 0; k < 4; ++k) s[k][j] = lane.s[k];
    }
    for (int j = 0; j < batch; ++j)
      for (int k = 0; k < 4; ++k) lanes[b + j].s[k] = s[k][j];
    transform(w, d, own, block + static_cast<std::uint64_t>(b), out + b * per_quad);
  }
  for (; b < count; ++b) {
    random::Quad quad;
    for (int k = 0; k < 4; ++k) quad.w[k] = lanes[b].next();
    typename D::value v[per_quad];
    d(quad, own, block + static_cast<std::uint64_t>(b), v);
    for (int k = 0; k < per_quad; ++k) out[b * per_quad + k] = v[k];
  }
}

template <class D>
const RandomFill<D>& fill() noexcept {
  static constexpr RandomFill<D> functions = {philox<D>, state<D>};
  return functions;
}

#define INSTANTIATE(D) template const RandomFill<D>& fill<D>() noexcept;
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
