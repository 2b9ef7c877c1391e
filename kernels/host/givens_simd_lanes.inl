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
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(R) == 8) return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
  if constexpr (sizeof(V) == 64 && sizeof(R) == 4) return (V)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
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

/// root = sqrt(x), inverse = 1 / sqrt(x), to some units in the last place, for x in RotationRange.
template <class R, int N>
DEVOBJ_INLINE void lane_roots(LaneVec<R, N> x, LaneVec<R, N>& root, LaneVec<R, N>& inverse) {
#if defined(__AVX512F__)
  using V = LaneVec<R, N>;
  if constexpr (sizeof(V) == 64) {
    // Newton's y += y (1 - x y^2) / 2 from 14 bits
    V y;
    if constexpr (sizeof(R) == 8)
      y = (V)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)x);
    else
      y = (V)_mm512_maskz_rsqrt14_ps(0xffff, (__m512)x);
    for (int bits = 14; bits < (sizeof(R) == 8 ? 53 : 24); bits *= 2) y += (R(0.5) * y) * (R(1) - (x * y) * y);
    root = x * y;
    inverse = y;
    return;
  }
#endif
  root = lane_square_roots<R, N>(x);
  inverse = R(1) / root;
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

/// A pivot row and the rows that are rotated with it one after the other, `count` of them, `stride` numbers apart; x and
/// y point to column 0, and columns are `ld` apart.
template <class R>
struct LaneRows {
  R *x, *y;
  Index count, stride, ld;
};

/// The rotations that annihilate column j of these rows.
template <class R, int P, int N>
void make_lanes(const LaneRows<R>& rows, Index j, R* numbers) {
  using V = LaneVec<R, N>;
  constexpr Index K = slab_columns<R, P>;
  V f[P], g[P], c = {}, s[P] = {};
  for (int p = 0; p < P; ++p) f[p] = *reinterpret_cast<V*>(rows.x + (p * K + j) * rows.ld);
  LanePivot<R, P, N> pivot;
  pivot.set(f);
  for (Index i = 0; i < rows.count; ++i) {
    for (int p = 0; p < P; ++p) g[p] = *reinterpret_cast<V*>(rows.y + i * rows.stride + (p * K + j) * rows.ld);
    pivot.turn(g, c, s);
    V* const number = reinterpret_cast<V*>(numbers + i * (1 + P) * N);
    number[0] = c;
    for (int p = 0; p < P; ++p) number[1 + p] = s[p];
  }
  pivot.get(f);
  for (int p = 0; p < P; ++p) *reinterpret_cast<V*>(rows.x + (p * K + j) * rows.ld) = f[p];
}

/// These rotations, or their inverse, in the columns c0 ... c0 + C - 1.
template <class R, int P, int N, int C, bool inverse>
DEVOBJ_INLINE void turn_columns(const LaneRows<R>& rows, Index c0, const R* numbers) {
  using V = LaneVec<R, N>;
  constexpr Index K = slab_columns<R, P>;
  V x[C][P];
  const auto at = [&](R* row, int c, int p) { return reinterpret_cast<V*>(row + (p * K + c0 + c) * rows.ld); };
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c)
    for (int p = 0; p < P; ++p) x[c][p] = *at(rows.x, c, p);
  for (Index i = 0; i < rows.count; ++i) {
    const Index here = inverse ? rows.count - 1 - i : i;
    R* const row = rows.y + here * rows.stride;
    const V* const number = reinterpret_cast<const V*>(numbers + here * (1 + P) * N);
    const V cosine = number[0];
    V s[P];
    for (int p = 0; p < P; ++p) s[p] = inverse ? -number[1 + p] : number[1 + p];
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      V y[P];
      for (int p = 0; p < P; ++p) y[p] = *at(row, c, p);
      turn_lanes<R, P, N>(x[c], y, cosine, s);
      for (int p = 0; p < P; ++p) *at(row, c, p) = y[p];
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c)
    for (int p = 0; p < P; ++p) *at(rows.x, c, p) = x[c][p];
}

/// The rotations that annihilate column j of `rows`, or their inverse, in the columns from j on, or, the inverse, some
/// before it; returns the end of their numbers.
template <class R, int P, int N, bool inverse>
R* lane_column(const LaneRows<R>& rows, Index j, R* numbers) {
  constexpr int many = DEVOBJ_SIMD_BYTES == 64 ? 8 / P : 4;
  constexpr Index K = slab_columns<R, P>;
  if (rows.count <= 0) return numbers;
  if constexpr (!inverse) make_lanes<R, P, N>(rows, j, numbers);
  Index c = inverse ? j : j + 1;
  for (; c % 2 != 0; ++c) turn_columns<R, P, N, 1, inverse>(rows, c, numbers);
  for (; c % many != 0; c += 2) turn_columns<R, P, N, 2, inverse>(rows, c, numbers);
  for (; c < K; c += many) turn_columns<R, P, N, many, inverse>(rows, c, numbers);
  return numbers + rows.count * (1 + P) * N;
}

/// What is common to the ways down and back of a part.
template <class R, int P, int N>
struct LanePart {
  static constexpr Index K = slab_columns<R, P>, L = line<R>;
  R* W;
  Index rows, columns, ld;
  const Staircase<R>* stairs;

  /// The pivot row j and the rows below it in its lanes.
  DEVOBJ_INLINE LaneRows<R> below(Index j) const {
    const Index bottom = stairs[j / widest_staircase].bottom, end = bottom < rows ? bottom : rows;
    return {W + j * N, W + (j + 1) * N, (end + N - 1) / N - 1 - j, N, ld};
  }
  /// Row j of the first H lanes' triangles and the rows 0 ... j of the next H lanes'.
  DEVOBJ_INLINE LaneRows<R> beside(Index j, int H) const { return {W + j * N, W + H, j + 1, N, ld}; }

  template <int H>
  R* merge_halves(R* numbers) const {
    if constexpr (H > 1) {
      for (Index j = 0; j < columns; ++j) numbers = lane_column<R, P, H, false>(beside(j, H), j, numbers);
      return merge_halves<H / 2>(numbers);
    }
    return numbers;
  }
  /// `numbers` end where the last rotation's do.
  template <int H>
  R* part_halves(R* numbers) const {
    if constexpr (H < N) {
      for (Index j = columns - 1; j >= 0; --j) {
        numbers -= (j + 1) * (1 + P) * H;
        lane_column<R, P, H, true>(beside(j, H), j, numbers);
      }
      return part_halves<2 * H>(numbers);
    }
    return numbers;
  }
  /// A lane's triangle by rows, and back.
  void get(int lane, R* triangle) const {
    for (Index i = 0; i < K; ++i)
      for (Index e = 0; e < L; ++e) triangle[i * L + e] = e % K < i ? R(0) : W[e * ld + i * N + lane];
  }
  void put(int lane, const R* triangle) const {
    for (Index i = 0; i < columns; ++i)
      for (Index e = 0; e < L; ++e) W[e * ld + i * N + lane] = triangle[i * L + e];
  }
};

template <class R, int P, int N>
void lanes_down(const R* slab, const LanePart<R, P, N>& part, R* numbers, R* triangle) {
  constexpr Index L = line<R>;
  unpack<R>(slab, part.rows, part.W, part.ld);
  for (Index e = 0; e < L; ++e)
    for (Index i = part.rows; i % N != 0; ++i) part.W[e * part.ld + i] = 0;
  for (Index j = 0; j < part.columns; ++j) {
    const LaneRows<R> rows = part.below(j);
    numbers = lane_column<R, P, N, false>(rows, j, numbers);
  }
  numbers = part.template merge_halves<N / 2>(numbers);
  alignas(64) R other[part.K * L];
  part.get(0, triangle);
  part.get(1, other);
  merge<R, P>(triangle, other, part.columns, numbers);
}

template <class R, int P, int N>
void lanes_back(const R* triangle, const LanePart<R, P, N>& part, R* numbers, R* slab) {
  constexpr Index L = line<R>;
  for (Index e = 0; e < L * part.ld; ++e) part.W[e] = 0;
  // where the numbers of the last rotations are
  for (Index j = 0; j < part.columns; ++j) {
    const Index count = part.below(j).count;
    numbers += (count > 0 ? count : 0) * (1 + P) * N;
  }
  numbers += (N - 2) * (1 + P) * (part.columns * (part.columns + 1) / 2);
  alignas(64) R first[part.K * L], other[part.K * L] = {};
  for (Index e = 0; e < part.K * L; ++e) first[e] = triangle[e];
  merge_back<R, P>(first, other, part.columns, numbers);
  part.put(0, first);
  part.put(1, other);
  numbers = part.template part_halves<2>(numbers);
  for (Index j = part.columns - 1; j >= 0; --j) {
    const LaneRows<R> rows = part.below(j);
    if (rows.count > 0) numbers -= rows.count * (1 + P) * N;
    lane_column<R, P, N, true>(rows, j, numbers);
  }
  pack<R>(part.W, part.ld, part.rows, slab);
}

/// For the number of lanes that is given: all that a vector has, or a half, a quarter, ... of them, two at least.
template <class R, int P, int N = static_cast<int>(VL<R>)>
void eliminate_lanes(const R* slab, Index rows, Index columns, int lanes, const Staircase<R>* stairs, R* work,
                     R* triangle) {
  if constexpr (N >= 2) {
    if (lanes < N) return eliminate_lanes<R, P, N / 2>(slab, rows, columns, lanes, stairs, work, triangle);
    lanes_down<R, P, N>(slab, {work, rows, columns, lane_rows(rows), stairs}, stairs[0].numbers, triangle);
  }
}
template <class R, int P, int N = static_cast<int>(VL<R>)>
void back_lanes(const R* triangle, Index rows, Index columns, int lanes, const Staircase<R>* stairs, R* work,
                R* slab) {
  if constexpr (N >= 2) {
    if (lanes < N) return back_lanes<R, P, N / 2>(triangle, rows, columns, lanes, stairs, work, slab);
    lanes_back<R, P, N>(triangle, {work, rows, columns, lane_rows(rows), stairs}, stairs[0].numbers, slab);
  }
}
