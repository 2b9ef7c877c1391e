// The kernels of chain_simd.hpp, in the namespace DEVOBJ_SIMD_SPACE.
#include <cstring>

#include "kernels/host/chain_simd.hpp"

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class R>
struct Vectors;
template <>
struct Vectors<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef float Anywhere __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
};
template <>
struct Vectors<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef double Anywhere __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
};

#define DEVOBJ_INLINE inline __attribute__((always_inline))

/// chain_lanes numbers in vectors that the instruction set has: several, since one alone would wait for its own last
/// result.
template <class R>
struct Lanes {
  static constexpr int count = 128 / vector_bytes;
  using Anywhere = typename Vectors<R>::Anywhere;
  typename Vectors<R>::Vector v[count];

  DEVOBJ_INLINE void load(const R* x) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) v[k] = reinterpret_cast<const Anywhere*>(x)[k];
  }
  DEVOBJ_INLINE void store(R* x) const {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) reinterpret_cast<Anywhere*>(x)[k] = v[k];
  }
};

template <class R>
void ascend(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  Lanes<R> y, z, top;
  y.load(x + first * step);
  for (std::int64_t i = first; i < last; ++i) {
    const R ci = c[i], si = s[i];
    z.load(x + (i + 1) * step);
#pragma GCC unroll 8
    for (int k = 0; k < y.count; ++k) {
      const auto cz = ci * z.v[k], sz = si * z.v[k];
      top.v[k] = ci * y.v[k] + sz;
      y.v[k] = cz - si * y.v[k];
    }
    top.store(x + i * step);
  }
  y.store(x + last * step);
}

template <class R>
void descend(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  Lanes<R> y, z, bottom;
  z.load(x + last * step);
  for (std::int64_t i = last - 1; i >= first; --i) {
    const R ci = c[i], si = s[i];
    y.load(x + i * step);
#pragma GCC unroll 8
    for (int k = 0; k < y.count; ++k) {
      const auto cy = ci * y.v[k], sy = si * y.v[k];
      bottom.v[k] = ci * z.v[k] - sy;
      z.v[k] = cy + si * z.v[k];
    }
    bottom.store(x + (i + 1) * step);
  }
  z.store(x + first * step);
}

/// One vector, and one number like it.
template <class R>
struct Vector {
  using Element = R;
  static constexpr std::int64_t count = vector_bytes / sizeof(R);
  typename Vectors<R>::Vector v;
  DEVOBJ_INLINE void load(const R* x) { v = *reinterpret_cast<const typename Vectors<R>::Anywhere*>(x); }
  DEVOBJ_INLINE void store(R* x) const { *reinterpret_cast<typename Vectors<R>::Anywhere*>(x) = v; }
};
template <class R>
struct Number {
  using Element = R;
  static constexpr std::int64_t count = 1;
  R v;
  DEVOBJ_INLINE void load(const R* x) { v = *x; }
  DEVOBJ_INLINE void store(R* x) const { *x = v; }
};

constexpr int together = 4;  // columns that meet a chain's carry while it is in a register

/// `cols` columns from column i on in the chains' direction, and as many of their elements from r on as
/// Part holds. The columns stay in registers from chain to chain.
template <bool ascending, int cols, class Part, class R = typename Part::Element>
DEVOBJ_INLINE void rotate_part(const typename ChainKernels<R>::Columns& x, std::int64_t first, std::int64_t last,
                               std::int64_t i, std::int64_t r) {
  constexpr std::int64_t next = ascending ? 1 : -1;
  Part z[cols], carry;
#pragma GCC unroll 8
  for (int j = 0; j < cols; ++j) z[j].load(x.from + r + (i + j * next) * x.ld_from);
  for (std::int64_t t = first; t < last; ++t) {
    const R *c = x.c + t * x.step + i, *s = x.s + t * x.step + i;
    carry.load(x.carry + t * x.rows + r);
#pragma GCC unroll 8
    for (int j = 0; j < cols; ++j) {
      const R cj = c[j * next], sj = s[j * next];
      const auto cz = cj * z[j].v, sz = sj * z[j].v;
      z[j].v = ascending ? cj * carry.v + sz : cj * carry.v - sz;
      carry.v = ascending ? cz - sj * carry.v : cz + sj * carry.v;
    }
    carry.store(x.carry + t * x.rows + r);
  }
#pragma GCC unroll 8
  for (int j = 0; j < cols; ++j) z[j].store(x.to + r + (i + j * next) * x.ld_to);
}

template <bool ascending, int cols, class R>
DEVOBJ_INLINE void rotate_whole(const typename ChainKernels<R>::Columns& x, std::int64_t first, std::int64_t last,
                                std::int64_t i) {
  constexpr std::int64_t n = Vector<R>::count;
  std::int64_t r = 0;
  for (; r + n <= x.rows; r += n) rotate_part<ascending, cols, Vector<R>>(x, first, last, i, r);
  for (; r < x.rows; ++r) rotate_part<ascending, cols, Number<R>>(x, first, last, i, r);
}

template <class R>
void ascend_columns(const typename ChainKernels<R>::Columns& x, std::int64_t first, std::int64_t last,
                    std::int64_t begin, std::int64_t end) {
  std::int64_t i = begin;
  for (; i + together <= end; i += together) rotate_whole<true, together, R>(x, first, last, i);
  for (; i < end; ++i) rotate_whole<true, 1, R>(x, first, last, i);
}
template <class R>
void descend_columns(const typename ChainKernels<R>::Columns& x, std::int64_t first, std::int64_t last,
                     std::int64_t begin, std::int64_t end) {
  std::int64_t i = end - 1;
  for (; i - together + 1 >= begin; i -= together) rotate_whole<false, together, R>(x, first, last, i);
  for (; i >= begin; --i) rotate_whole<false, 1, R>(x, first, last, i);
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
  static constexpr ChainKernels<R> all{ascend<R>,          descend<R>, ascend_columns<R>,
                                       descend_columns<R>, pack<R>,    unpack<R>};
  return all;
}
template const ChainKernels<float>& chains<float>() noexcept;
template const ChainKernels<double>& chains<double>() noexcept;

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
