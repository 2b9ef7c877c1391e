// The kernels of chain_simd.hpp, in the namespace DEVOBJ_SIMD_SPACE.
#include <cstring>

#include "kernels/host/chain_simd.hpp"

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

/// chain_lanes numbers, two vectors' worth: one alone would wait for its own last result.
template <class R>
struct Lanes {
  typedef R Vector __attribute__((vector_size(64)));
  Vector a, b;
  static Lanes load(const R* x) {
    Lanes v;
    std::memcpy(&v.a, x, 64);
    std::memcpy(&v.b, x + 64 / sizeof(R), 64);
    return v;
  }
  void store(R* x) const {
    std::memcpy(x, &a, 64);
    std::memcpy(x + 64 / sizeof(R), &b, 64);
  }
};

template <class R>
void ascend(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  Lanes<R> y = Lanes<R>::load(x + first * step);
  for (std::int64_t i = first; i < last; ++i) {
    const R ci = c[i], si = s[i];
    const Lanes<R> z = Lanes<R>::load(x + (i + 1) * step);
    const Lanes<R> top{ci * y.a + si * z.a, ci * y.b + si * z.b};
    top.store(x + i * step);
    y = {ci * z.a - si * y.a, ci * z.b - si * y.b};
  }
  y.store(x + last * step);
}

template <class R>
void descend(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  Lanes<R> z = Lanes<R>::load(x + last * step);
  for (std::int64_t i = last - 1; i >= first; --i) {
    const R ci = c[i], si = s[i];
    const Lanes<R> y = Lanes<R>::load(x + i * step);
    const Lanes<R> bottom{ci * z.a - si * y.a, ci * z.b - si * y.b};
    bottom.store(x + (i + 1) * step);
    z = {ci * y.a + si * z.a, ci * y.b + si * z.b};
  }
  z.store(x + first * step);
}

template <class R>
void pack(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* strip) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  if (cols < lanes) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) strip[i * lanes + l] = l < cols ? A[i + l * lda] : R(0);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t l = 0; l < lanes; ++l) strip[i * lanes + l] = A[i + l * lda];
}

template <class R>
void unpack(const R* strip, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda) {
  constexpr std::int64_t lanes = chain_lanes<R>, block = 16;
  for (std::int64_t i0 = 0; i0 < rows; i0 += block) {
    const std::int64_t count = rows - i0 < block ? rows - i0 : block;
    for (std::int64_t l = 0; l < cols; ++l)
      for (std::int64_t i = 0; i < count; ++i) A[i0 + i + l * lda] = strip[(i0 + i) * lanes + l];
  }
}

}  // namespace

template <class R>
const ChainKernels<R>& chains() noexcept {
  static constexpr ChainKernels<R> all{ascend<R>, descend<R>, pack<R>, unpack<R>};
  return all;
}
template const ChainKernels<float>& chains<float>() noexcept;
template const ChainKernels<double>& chains<double>() noexcept;

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
