// Annihilation of a slab's own columns in lanes: lane l of N holds the rows l, l + N, l + 2 N, ... and makes a triangle
// of them, all lanes at once, a rotation's numbers being vectors. The triangles are merged by halves. Part of
// givens_simd.inl.
//
//     rows      N = 4, columns 0 1 2       then 2 lanes, the upper half with the lower one
//     0 .. 3      r r r    pivots          0 1 | 2 3     row j of the lower half with the rows 0 ... j of the upper
//     4 .. 7      0 r r    of columns      4 5 | 6 7     one, for each column j
//     8 .. 11     0 0 r    0, 1, 2         8 9 | 10 11
//    12 .. 15     0 0 0                    at the end two triangles by rows: givens_simd_wave_merge.inl
//
// The part's rows are held by columns, column c of plane p at (p K + c) ld.

/// N numbers side by side, one per lane.
template <class R, int N>
struct LanesOf {
  typedef R Type __attribute__((vector_size(N * sizeof(R)), aligned(N * sizeof(R)), may_alias));
  typedef decltype(Type{} < Type{}) Mask;
};
template <class R, int N>
using LaneVec = typename LanesOf<R, N>::Type;
template <class R, int N>
using LaneMask = typename LanesOf<R, N>::Mask;

template <class R, int N>
DEVOBJ_INLINE LaneVec<R, N> lane_square_roots(LaneVec<R, N> x) {
  using V = LaneVec<R, N>;
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 16 && sizeof(R) == 8) return (V)_mm_sqrt_pd((__m128d)x);
  if constexpr (sizeof(V) == 16 && sizeof(R) == 4) return (V)_mm_sqrt_ps((__m128)x);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32 && sizeof(R) == 8) return (V)_mm256_sqrt_pd((__m256d)x);
  if constexpr (sizeof(V) == 32 && sizeof(R) == 4) return (V)_mm256_sqrt_ps((__m256)x);
#endif
  for (int l = 0; l < N; ++l) x[l] = rotation_root(x[l]);
  return x;
}
template <class R, int N>
DEVOBJ_INLINE bool all_lanes(LaneMask<R, N> set) {
#if defined(__AVX512F__)
  if constexpr (sizeof(set) == 64) return _mm512_test_epi32_mask((__m512i)set, (__m512i)set) == 0xffff;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(set) == 32) return _mm256_movemask_epi8((__m256i)set) == -1;
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(set) == 16) return _mm_movemask_epi8((__m128i)set) == 0xffff;
#endif
  bool all = true;
  for (int l = 0; l < N; ++l) all = all && set[l] != 0;
  return all;
}

#if defined(__AVX512F__)
/// 1 / sqrt(x) to 14 bits.
template <class R, int N>
DEVOBJ_INLINE LaneVec<R, N> lane_inverse_roots(LaneVec<R, N> x) {
  using V = LaneVec<R, N>;
  if constexpr (sizeof(V) == 64 && sizeof(R) == 8) return (V)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)x);
  if constexpr (sizeof(V) == 64 && sizeof(R) == 4) return (V)_mm512_maskz_rsqrt14_ps(0xffff, (__m512)x);
  if constexpr (sizeof(V) == 32 && sizeof(R) == 8) return (V)_mm256_maskz_rsqrt14_pd(0xff, (__m256d)x);
  if constexpr (sizeof(V) == 32 && sizeof(R) == 4) return (V)_mm256_maskz_rsqrt14_ps(0xff, (__m256)x);
  if constexpr (sizeof(V) == 16 && sizeof(R) == 8) return (V)_mm_maskz_rsqrt14_pd(0xff, (__m128d)x);
  if constexpr (sizeof(V) == 16 && sizeof(R) == 4) return (V)_mm_maskz_rsqrt14_ps(0xff, (__m128)x);
  typedef R Few __attribute__((vector_size(16)));
  Few few = {};
  for (int l = 0; l < N; ++l) few[l] = x[l];
  if constexpr (sizeof(R) == 8)
    few = (Few)_mm_maskz_rsqrt14_pd(0xff, (__m128d)few);
  else
    few = (Few)_mm_maskz_rsqrt14_ps(0xff, (__m128)few);
  for (int l = 0; l < N; ++l) x[l] = few[l];
  return x;
}
#endif

/// root = sqrt(x), inverse = 1 / sqrt(x), to some units in the last place, for x in RotationRange.
template <class R, int N>
DEVOBJ_INLINE void lane_roots(LaneVec<R, N> x, LaneVec<R, N>& root, LaneVec<R, N>& inverse) {
#if defined(__AVX512F__)
  // Newton's y += y (1 - x y^2) / 2 from 14 bits
  inverse = lane_inverse_roots<R, N>(x);
  for (int bits = 14; bits < (sizeof(R) == 8 ? 53 : 24); bits *= 2)
    inverse += (R(0.5) * inverse) * (R(1) - (x * inverse) * inverse);
  root = x * inverse;
#else
  root = lane_square_roots<R, N>(x);
  inverse = R(1) / root;
#endif
}

/// A pivot of N lanes that is rotated with one row after the other: f = phase sqrt(sum), or as it was given while it is
/// zero or near over- or underflow. The roots wait for the sums alone, not for each other.
template <class R, int P, int N>
struct LanePivot {
  using V = LaneVec<R, N>;
  using Range = RotationRange<R, P>;
  V given[P], phase[P], sum, root;
  LaneMask<R, N> whole, good;  // f = phase sqrt(sum); or f = 0

  DEVOBJ_INLINE void set(const V* f) {
    V inverse;
    sum = f[0] * f[0];
    if constexpr (P == 2) sum += f[1] * f[1];
    lane_roots<R, N>(sum, root, inverse);
    whole = (sum > Range::low + V{}) & (sum < Range::high + V{});
    good = whole | ((f[0] == V{}) & (f[P - 1] == V{}));
    if constexpr (P == 1) {
      const V one = R(1) - V{};
      phase[0] = (V)((LaneMask<R, N>)one | ((LaneMask<R, N>)f[0] & (LaneMask<R, N>)(R(-0.0) - V{})));
    } else {
      for (int p = 0; p < P; ++p) phase[p] = whole ? f[p] * inverse : (p == 0 ? R(1) : R(0)) - V{};
    }
    for (int p = 0; p < P; ++p) given[p] = f[p];
    sum = whole ? sum : V{};
    root = whole ? root : V{};
  }
  DEVOBJ_INLINE void get(V* f) const {
    for (int p = 0; p < P; ++p) f[p] = whole ? phase[p] * root : given[p];
  }
  /// The rotations with g: c is one vector, s has P of them.
  DEVOBJ_INLINE void turn(const V* g, V& c, V* s) {
    V size = g[0] * g[0], next, inverse;
    LaneMask<R, N> none = g[0] == V{};
    if constexpr (P == 2) {
      size += g[1] * g[1];
      none &= g[1] == V{};
    }
    const V h = sum + size;
    lane_roots<R, N>(h, next, inverse);
    const LaneMask<R, N> fast = (good & (h > Range::low + V{}) & (h < Range::high + V{})) | none;
    if (!all_lanes<R, N>(fast)) return turn_carefully(g, c, s);
    c = none ? R(1) - V{} : root * inverse;
    if constexpr (P == 1) {
      s[0] = none ? V{} : phase[0] * (g[0] * inverse);
    } else {
      s[0] = none ? V{} : (phase[0] * g[0] + phase[1] * g[1]) * inverse;
      s[1] = none ? V{} : (phase[1] * g[0] - phase[0] * g[1]) * inverse;
    }
    sum = h;
    root = none ? root : next;
    whole |= ~none;
  }

 private:
  void turn_carefully(const V* g, V& c, V* s);
};
/// (x, y) = (c x + s y, c y - conj(s) x), the first products rounded: what the rotation before has made is x.
template <class R, int P, int N>
DEVOBJ_INLINE void turn_lanes(LaneVec<R, N>* x, LaneVec<R, N>* y, LaneVec<R, N> c, const LaneVec<R, N>* s) {
  using V = LaneVec<R, N>;
  if constexpr (P == 1) {
    const V a = x[0], b = y[0], sb = s[0] * b, cb = c * b;
    x[0] = c * a + sb;
    y[0] = cb - s[0] * a;
  } else {
    const V a = x[0], b = x[1], e = y[0], f = y[1];
    x[0] = c * a + (s[0] * e - s[1] * f);
    x[1] = c * b + (s[0] * f + s[1] * e);
    y[0] = c * e - s[0] * a - s[1] * b;
    y[1] = c * f - s[0] * b + s[1] * a;
  }
}

template <class R, int P, int N>
void LanePivot<R, P, N>::turn_carefully(const V* g, V& c, V* s) {
  V f[P];
  get(f);
  for (int l = 0; l < N; ++l) {
    R a[P], b[P], cosine, sine[P], left[P];
    for (int p = 0; p < P; ++p) {
      a[p] = f[p][l];
      b[p] = g[p][l];
    }
    make_rotation<R, P>(a, b, cosine, sine, left);
    c[l] = cosine;
    for (int p = 0; p < P; ++p) {
      s[p][l] = sine[p];
      f[p][l] = left[p];
    }
  }
  set(f);
}
