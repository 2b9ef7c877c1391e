// The kernels of givens_simd.hpp, once for every instruction set: included by givens_simd_*.cpp with
// DEVOBJ_SIMD_NAMESPACE and DEVOBJ_SIMD_BYTES set. Nothing here may use an inline function of the standard library.
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/host/givens_simd.hpp"
#include "kernels/rotation.hpp"

#define DEVOBJ_INLINE inline __attribute__((always_inline))

namespace devobj::host::DEVOBJ_SIMD_NAMESPACE {
namespace {

using Index = std::int64_t;

template <class R>
using Vec __attribute__((vector_size(DEVOBJ_SIMD_BYTES))) = R;
template <class R>
constexpr Index VL = DEVOBJ_SIMD_BYTES / sizeof(R);

template <class R>
DEVOBJ_INLINE Vec<R> get(const R* p) {
  return *reinterpret_cast<const Vec<R>*>(p);
}
template <class R>
DEVOBJ_INLINE void put(R* p, Vec<R> v) {
  *reinterpret_cast<Vec<R>*>(p) = v;
}
template <class R>
DEVOBJ_INLINE Vec<R> all(R x) {
  return x - Vec<R>{};
}

/// M vectors of every plane of a line.
template <class R, int P, int M>
struct Part {
  Vec<R> v[P][M];

  DEVOBJ_INLINE void load(const R* p) {
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < M; ++j) v[i][j] = get<R>(p + i * (line<R> / P) + j * VL<R>);
  }
  DEVOBJ_INLINE void store(R* p) const {
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < M; ++j) put<R>(p + i * (line<R> / P) + j * VL<R>, v[i][j]);
  }
};

/// (x, y) = (c x + s y, c y - conj(s) x). The first product of each sum is rounded, the last is fused: what the
/// previous rotation has just made (x on the way up, y on the way down) then waits for one operation instead of two.
template <class R, int P, int M, bool down>
DEVOBJ_INLINE void rotate_parts(Part<R, P, M>& x, Part<R, P, M>& y, R cosine, const R* sine) {
  const Vec<R> c = all<R>(cosine), s = all<R>(sine[0]);
  if constexpr (P == 1) {
    for (int j = 0; j < M; ++j) {
      const Vec<R> a = x.v[0][j], b = y.v[0][j];
      if constexpr (down) {
        const Vec<R> ca = c * a, sa = s * a;
        x.v[0][j] = ca + s * b;
        y.v[0][j] = c * b - sa;
      } else {
        const Vec<R> sb = s * b, cb = c * b;
        x.v[0][j] = c * a + sb;
        y.v[0][j] = cb - s * a;
      }
    }
  } else {
    const Vec<R> t = all<R>(sine[1]);
    for (int j = 0; j < M; ++j) {
      const Vec<R> a = x.v[0][j], b = x.v[1][j], e = y.v[0][j], f = y.v[1][j];
      x.v[0][j] = c * a + s * e - t * f;
      x.v[1][j] = c * b + s * f + t * e;
      y.v[0][j] = c * e - s * a - t * b;
      y.v[1][j] = c * f - s * b + t * a;
    }
  }
}

/// One step: a line comes in, `width` rotations, a line goes out. The window's row q is in w[(q + turn) mod (width +
/// 1)].
template <class R, int P, int M, int width, bool down, int turn>
DEVOBJ_INLINE void step(Part<R, P, M>* w, R* rows, Index u, R sign, const R* coefficients) {
  constexpr int places = width + 1;
  const R* k = coefficients + u * wave_numbers<P>(width);
  R* top = rows + u * line<R>;
  w[((down ? width : 0) + turn) % places].load(top + (down ? width : 0) * line<R>);
#pragma GCC unroll 8
  for (int i = 0; i < width; ++i) {
    const int q = down ? width - 1 - i : i;
    const R* wave = k + (width - 1 - q) * wave_numbers<P>(width) + q;
    const R s[2] = {sign * wave[width], P == 2 ? sign * wave[P * width] : R(0)};
    rotate_parts<R, P, M, down>(w[(q + turn) % places], w[(q + 1 + turn) % places], wave[0], s);
  }
  w[((down ? 0 : width) + turn) % places].store(top + (down ? 0 : width) * line<R>);
}

/// `width` + 1 steps, after which the window's rows are in their old places.
template <class R, int P, int M, int width, bool down, int... turns>
DEVOBJ_INLINE void cycle(Part<R, P, M>* w, R* rows, Index u, R sign, const R* k, std::integer_sequence<int, turns...>) {
  constexpr int places = width + 1;
  (step < R, P, M, width, down,
   down ? turns : (places - turns) % places > (w, rows, down ? u + turns : u - turns, sign, k), ...);
}

template <class R, int P, int M, int width, bool down>
void staircase(R* rows, Index steps, R sign, const R* k) {
  constexpr int places = width + 1;
  Part<R, P, M> w[places];
  // the window without the row that the first step reads
  R* first = rows + (down ? 0 : steps) * line<R>;
  for (int q = 0; q < width; ++q) w[down ? q : q + 1].load(first + q * line<R>);
  Index done = 0;
  auto at = [&] { return down ? done : steps - 1 - done; };
  for (; done < steps % places; ++done) {
    step<R, P, M, width, down, 0>(w, rows, at(), sign, k);
    if constexpr (down)
      for (int q = 0; q < width; ++q) w[q] = w[q + 1];
    else
      for (int q = width; q > 0; --q) w[q] = w[q - 1];
  }
  for (; done < steps; done += places)
    cycle<R, P, M, width, down>(w, rows, at(), sign, k, std::make_integer_sequence<int, places>());
  R* last = rows + (down ? steps : 0) * line<R>;
  for (int q = 0; q < width; ++q) w[down ? q : q + 1].store(last + q * line<R>);
}

template <class R, int P, int width, int M>
DEVOBJ_INLINE void one_way(R* rows, Index steps, bool down, R sign, const R* k) {
  down ? staircase<R, P, M, width, true>(rows, steps, sign, k) : staircase<R, P, M, width, false>(rows, steps, sign, k);
}

template <class R, int P, int width>
void both_ways(R* rows, Index steps, bool down, R sign, const R* k, Index column) {
  constexpr Index vectors = line<R> / P / VL<R>;
  constexpr int M = DEVOBJ_SIMD_BYTES == 64 ? static_cast<int>(vectors) : 1;
  Index part = column / VL<R>;
  if constexpr (M > 1)
    for (; part % M != 0; ++part) one_way<R, P, width, 1>(rows + part * VL<R>, steps, down, sign, k);
  for (; part < vectors; part += M) one_way<R, P, width, M>(rows + part * VL<R>, steps, down, sign, k);
}

template <class R, int P>
void rotate(R* slab, Index row0, Index steps, int width, bool down, bool inverse, const R* k, Index column) {
  if (steps <= 0) return;
  R* rows = slab + row0 * line<R>;
  const R sign = inverse ? R(-1) : R(1);
  switch (width) {
    case 1:
      return both_ways<R, P, 1>(rows, steps, down, sign, k, column);
    case 2:
      return both_ways<R, P, 2>(rows, steps, down, sign, k, column);
    case 3:
      return both_ways<R, P, 3>(rows, steps, down, sign, k, column);
    case 4:
      return both_ways<R, P, 4>(rows, steps, down, sign, k, column);
    default:
      return both_ways<R, P, widest_staircase>(rows, steps, down, sign, k, column);
  }
}

#include "kernels/host/simd_transpose.inl"

// by means of tiles
#include "kernels/host/givens_simd_copy.inl"
#include "kernels/host/givens_simd_reflectors.inl"
#include "kernels/host/givens_simd_wave.inl"
#include "kernels/host/givens_simd_wave_merge.inl"

// by means of these
#include "kernels/host/givens_simd_lanes.inl"
#include "kernels/host/givens_simd_lanes_part.inl"

// and of lanes
#include "kernels/host/givens_simd_groups.inl"

}  // namespace

template <class R, int P>
const GivensKernels<R>& givens() noexcept {
  static constexpr GivensKernels<R> table{rotate<R, P>,
                                          eliminate<R, P>,
                                          merge<R, P>,
                                          merge_back<R, P>,
                                          reflectors_top<R, P>,
                                          reflectors_T<R, P>,
                                          reflect<R, P>,
                                          slab_products<R, P>,
                                          slab_subtract<R, P>,
                                          pack<R>,
                                          unpack<R>,
                                          VL<R>,
                                          least_lanes<R>,
                                          eliminate_lanes<R, P>,
                                          back_lanes<R, P>,
                                          block_by_groups<R, P>,
                                          fetch<R>};
  return table;
}

template const GivensKernels<float>& givens<float, 1>() noexcept;
template const GivensKernels<float>& givens<float, 2>() noexcept;
template const GivensKernels<double>& givens<double, 1>() noexcept;
template const GivensKernels<double>& givens<double, 2>() noexcept;

}  // namespace devobj::host::DEVOBJ_SIMD_NAMESPACE
