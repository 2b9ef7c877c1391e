/// A pivot row and the rows that are rotated with it one after the other, `count` of them, `stride` numbers apart; x and
/// y point to column 0, and columns are `ld` apart.
template <class R>
struct LaneRows {
  R *x, *y;
  Index count, stride, ld;
};

/// The rotations of `count` rows, `stride` apart from `row` on, with the pivot; false, and numbers of no use, if one needs
/// care. Sums of squares grow: the first and the last of them tell.
template <class R, int N>
DEVOBJ_INLINE bool make_lanes_fast(LanePivot<R, 1, N>& pivot, const R* row, Index count, Index stride, R* numbers) {
  using V = LaneVec<R, N>;
  if (!all_lanes<R, N>(pivot.whole)) return false;
  V sum = pivot.sum, root = pivot.root;
  for (Index i = 0; i < count; ++i, row += stride, numbers += 2 * N) {
    const V g = *reinterpret_cast<const V*>(row);
    V next, inverse;
    sum += g * g;
    lane_roots<R, N>(sum, next, inverse);
    V* const number = reinterpret_cast<V*>(numbers);
    number[0] = g == V{} ? R(1) - V{} : root * inverse;
    number[1] = pivot.phase[0] * (g * inverse);
    root = next;
  }
  pivot.sum = sum;
  pivot.root = root;
  return all_lanes<R, N>(sum < RotationRange<R, 1>::high + V{});
}

/// The rotations that annihilate column j of these rows, of K columns.
template <class R, int P, int N, Index K>
void make_lanes(const LaneRows<R>& rows, Index j, R* numbers) {
  using V = LaneVec<R, N>;
  V f[P], g[P], c = {}, s[P] = {};
  for (int p = 0; p < P; ++p) f[p] = *reinterpret_cast<V*>(rows.x + (p * K + j) * rows.ld);
  LanePivot<R, P, N> pivot;
  pivot.set(f);
  bool fast = false;
  if constexpr (P == 1) {
    fast = make_lanes_fast<R, N>(pivot, rows.y + j * rows.ld, rows.count, rows.stride, numbers);
    if (!fast) pivot.set(f);
  }
  for (Index i = 0; !fast && i < rows.count; ++i) {
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
template <class R, int P, int N, Index K, int C, bool inverse>
DEVOBJ_INLINE void turn_columns(const LaneRows<R>& rows, Index c0, const R* numbers) {
  using V = LaneVec<R, N>;
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

/// The last `count` of eight columns at once.
template <class R, int P, int N, bool inverse, int C = widest_staircase>
DEVOBJ_INLINE void turn_last_columns(const LaneRows<R>& rows, Index count, const R* numbers) {
  constexpr int G = widest_staircase;
  if (count == C) return turn_columns<R, P, N, G, C, inverse>(rows, G - C, numbers);
  if constexpr (C > 1) turn_last_columns<R, P, N, inverse, C - 1>(rows, count, numbers);
}
/// The rotations that annihilate column j of `rows`, or their inverse, in the columns from j on, or, the inverse, some
/// before it; returns the end of their numbers.
template <class R, int P, int N, Index K, bool inverse>
R* lane_column(const LaneRows<R>& rows, Index j, R* numbers) {
  if (rows.count <= 0) return numbers;
  if constexpr (!inverse) make_lanes<R, P, N, K>(rows, j, numbers);
  Index c = inverse ? j : j + 1;
  if constexpr (K == widest_staircase && DEVOBJ_SIMD_BYTES == 64 && P == 1) {
    turn_last_columns<R, P, N, inverse>(rows, K - c, numbers);
  } else {
    constexpr int many = DEVOBJ_SIMD_BYTES == 64 && K > widest_staircase ? 8 / P : 4;
    for (; c % 2 != 0; ++c) turn_columns<R, P, N, K, 1, inverse>(rows, c, numbers);
    for (; c % many != 0; c += 2) turn_columns<R, P, N, K, 2, inverse>(rows, c, numbers);
    for (; c < K; c += many) turn_columns<R, P, N, K, many, inverse>(rows, c, numbers);
  }
  return numbers + rows.count * (1 + P) * N;
}

/// The cache line at p to this core, to be written.
DEVOBJ_INLINE void fetch_line(const void* p) {
#if defined(__AVX512F__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
#endif
}
/// LinesAhead, a few of them at a time, since a core waits for a dozen at most.
template <class R>
class FetchAhead {
 public:
  explicit FetchAhead(const LinesAhead<R>& lines)
      : at_(lines.first), end_(lines.first + lines.count * line<R>), ready_(lines.ready) {}
  DEVOBJ_INLINE void some() {
    if (at_ == end_ || !__atomic_load_n(ready_, __ATOMIC_ACQUIRE)) return;
    for (int i = 0; i < 3 && at_ < end_; ++i, at_ += line<R>)
      for (Index byte = 0; byte < line_bytes; byte += 64) fetch_line(reinterpret_cast<const char*>(at_) + byte);
  }

 private:
  const R *at_, *end_;
  const bool* ready_;
};

/// What is common to the ways down and back of a part, of K columns.
template <class R, int P, int N, Index K = slab_columns<R, P>>
struct LanePart {
  static constexpr Index L = line<R>;
  static constexpr int fewest = K == slab_columns<R, P> ? 2 : 1;  // lanes: two are merged by rows
  R* W;
  Index rows, columns, ld;
  const Staircase<R>* stairs;
  FetchAhead<R>* ahead = nullptr;

  /// The pivot row j and the rows below it in its lanes.
  DEVOBJ_INLINE LaneRows<R> below(Index j) const {
    const Index bottom = stairs[j / widest_staircase].bottom, end = bottom < rows ? bottom : rows;
    return {W + j * N, W + (j + 1) * N, (end + N - 1) / N - 1 - j, N, ld};
  }
  /// Row j of the first H lanes' triangles and the rows 0 ... j of the next H lanes'.
  DEVOBJ_INLINE LaneRows<R> beside(Index j, int H) const { return {W + j * N, W + H, j + 1, N, ld}; }

  template <int H>
  R* merge_halves(R* numbers) const {
    if constexpr (H >= fewest) {
      for (Index j = 0; j < columns; ++j) {
        numbers = lane_column<R, P, H, K, false>(beside(j, H), j, numbers);
        if (ahead) ahead->some();
      }
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
        lane_column<R, P, H, K, true>(beside(j, H), j, numbers);
        if (ahead) ahead->some();
      }
      return part_halves<2 * H>(numbers);
    }
    return numbers;
  }
  /// All rotations of the lanes themselves, then of their halves; the end of their numbers.
  R* down(R* numbers) const {
    for (Index j = 0; j < columns; ++j) {
      numbers = lane_column<R, P, N, K, false>(below(j), j, numbers);
      if (ahead) ahead->some();
    }
    return merge_halves<N / 2>(numbers);
  }
  /// Where the numbers of these rotations end.
  R* end(R* numbers) const {
    for (Index j = 0; j < columns; ++j) {
      const Index count = below(j).count;
      numbers += (count > 0 ? count : 0) * (1 + P) * N;
    }
    return numbers + (N - fewest) * (1 + P) * (columns * (columns + 1) / 2);
  }
  /// Their inverse; `numbers` end there.
  void back(R* numbers) const {
    numbers = part_halves<fewest>(numbers);
    for (Index j = columns - 1; j >= 0; --j) {
      const LaneRows<R> rows = below(j);
      if (rows.count > 0) numbers -= rows.count * (1 + P) * N;
      lane_column<R, P, N, K, true>(rows, j, numbers);
      if (ahead) ahead->some();
    }
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
  constexpr Index K = slab_columns<R, P>, L = line<R>;
  unpack<R>(slab, part.rows, part.W, part.ld);
  for (Index e = 0; e < L; ++e)
    for (Index i = part.rows; i % N != 0; ++i) part.W[e * part.ld + i] = 0;
  numbers = part.down(numbers);
  alignas(64) R other[K * L];
  part.get(0, triangle);
  part.get(1, other);
  merge<R, P>(triangle, other, part.columns, numbers);
}

template <class R, int P, int N>
void lanes_back(const R* triangle, const LanePart<R, P, N>& part, R* numbers, R* slab) {
  constexpr Index K = slab_columns<R, P>, L = line<R>;
  for (Index e = 0; e < L * part.ld; ++e) part.W[e] = 0;
  numbers = part.end(numbers);  // those of the last rotations are before
  alignas(64) R first[K * L], other[K * L] = {};
  for (Index e = 0; e < K * L; ++e) first[e] = triangle[e];
  merge_back<R, P>(first, other, part.columns, numbers);
  part.put(0, first);
  part.put(1, other);
  part.back(numbers);
  pack<R>(part.W, part.ld, part.rows, slab);
}

/// Fewer are slower than waves.
template <class R>
constexpr Index least_lanes = VL<R> > 2 && DEVOBJ_SIMD_BYTES == 64 ? VL<R> / 2 : VL<R>;

/// For the number of lanes that is given, from least_lanes to VL.
template <class R, int P, int N = static_cast<int>(VL<R>)>
void eliminate_lanes(const R* slab, Index rows, Index columns, int lanes, const Staircase<R>* stairs, R* work,
                     R* triangle) {
  if constexpr (N >= least_lanes<R>) {
    if (lanes < N) return eliminate_lanes<R, P, N / 2>(slab, rows, columns, lanes, stairs, work, triangle);
    lanes_down<R, P, N>(slab, {work, rows, columns, lane_rows(rows), stairs}, stairs[0].numbers, triangle);
  }
}
template <class R, int P, int N = static_cast<int>(VL<R>)>
void back_lanes(const R* triangle, Index rows, Index columns, int lanes, const Staircase<R>* stairs, R* work, R* slab) {
  if constexpr (N >= least_lanes<R>) {
    if (lanes < N) return back_lanes<R, P, N / 2>(triangle, rows, columns, lanes, stairs, work, slab);
    lanes_back<R, P, N>(triangle, {work, rows, columns, lane_rows(rows), stairs}, stairs[0].numbers, slab);
  }
}
