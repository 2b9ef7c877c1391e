// A slab's block by one thread, eight columns (a group) after the other: rotations in lanes, their reflectors, and these
// applied to the columns to the right. Triangles of eight columns are merged in an eighth of the operations of sixteen.
// Part of givens_simd.inl.
//
//      columns 0 .. 7   8 .. 15        group at c0, rows from c0 on: down     A = Q1 R, by lanes
//           +---------+---------+                                   back     Q1
//           |    R    |    R    |                                   V        from Q1's LU, as reflectors_top
//           +---------+---------+                                   S        = V^H (V before, V, C): the sums for T,
//           |         |    R    |                                              and what C to the right needs
//           |    V    +---------+                                   C       -= V T^H (V^H C)
//           |         |    V    |
//           +---------+---------+      T of the whole slab in the end, from the S of all groups.

/// A group's columns of a slab's rows, by columns and back.
template <class R, int P>
void unpack_group(const R* rows, Index count, R* W, Index ld) {
  constexpr Index L = line<R>, plane = L / P, G = widest_staircase, few = 4;
  Index i = 0;
  for (; i + few <= count; i += few)
    for (int p = 0; p < P; ++p)
      for (Index c = 0; c < G; c += few)
        transpose_tile<R>(rows + i * L + p * plane + c, L, W + (p * G + c) * ld + i, ld);
  for (; i < count; ++i)
    for (int p = 0; p < P; ++p)
      for (Index c = 0; c < G; ++c) W[(p * G + c) * ld + i] = rows[i * L + p * plane + c];
}
template <class R, int P>
void pack_group(const R* W, Index ld, Index count, R* rows) {
  constexpr Index L = line<R>, plane = L / P, G = widest_staircase, few = 4;
  Index i = 0;
  for (; i + few <= count; i += few)
    for (int p = 0; p < P; ++p)
      for (Index c = 0; c < G; c += few)
        transpose_tile<R>(W + (p * G + c) * ld + i, ld, rows + i * L + p * plane + c, L);
  for (; i < count; ++i)
    for (int p = 0; p < P; ++p)
      for (Index c = 0; c < G; ++c) rows[i * L + p * plane + c] = W[(p * G + c) * ld + i];
}

/// W = -W M for the upper triangle M of eight lines, W by columns.
template <class R, int P>
void times_minus_triangle(R* W, Index ld, Index rows, const R* M) {
  constexpr Index L = line<R>, plane = L / P;
  constexpr int G = widest_staircase;
  for (Index i = 0; i < rows; i += VL<R>) {
    Vec<R> x[P][G];
    for (int p = 0; p < P; ++p)
#pragma GCC unroll 8
      for (int c = 0; c < G; ++c) x[p][c] = get<R>(W + (p * G + c) * ld + i);
#pragma GCC unroll 8
    for (int c = G - 1; c >= 0; --c) {
      Vec<R> sum[P] = {};
#pragma GCC unroll 8
      for (int k = 0; k <= c; ++k) {
        const Vec<R> re = all<R>(M[k * L + c]);
        for (int p = 0; p < P; ++p) sum[p] -= x[p][k] * re;
        if constexpr (P == 2) {
          const Vec<R> im = all<R>(M[k * L + plane + c]);
          sum[0] += x[1][k] * im;
          sum[1] -= x[0][k] * im;
        }
      }
      for (int p = 0; p < P; ++p) put<R>(W + (p * G + c) * ld + i, sum[p]);
    }
  }
}

/// One group: its first column, and how many of its columns are annihilated.
template <class R, int P, int N>
class GroupOfBlock {
  static constexpr Index K = slab_columns<R, P>, L = line<R>, plane = L / P;
  static constexpr int G = widest_staircase;

 public:
  GroupOfBlock(R* slab, Index rows, int first, int columns, const Reflectors<R>& out)
      : top_(slab + first * L), rows_(rows - first), first_(first), columns_(columns), out_(out) {}

  /// V in the group's place. inverse_ is -U^-1 of V = Q1 U^-1.
  void make(const Staircase<R>& stair, R* numbers, R* W, FetchAhead<R>& ahead) {
    const Staircase<R> mine{stair.steps, stair.bottom - first_, numbers};
    const LanePart<R, P, N, G> part{W, rows_, columns_, lane_rows(rows_), &mine, &ahead};
    unpack_group<R, P>(top_ + first_, rows_, W, part.ld);
    for (Index e = 0; e < P * G; ++e)
      for (Index i = rows_; i % N != 0; ++i) W[e * part.ld + i] = 0;
    part.down(numbers);
    for (int p = 0; p < P; ++p)
      for (Index i = 0; i < G; ++i)
        for (Index c = i; c < G; ++c)
          out_.triangle[(first_ + i) * L + p * plane + first_ + c] = W[(p * G + c) * part.ld + i * N];
    for (Index e = 0; e < P * G * part.ld; ++e) W[e] = 0;
    for (Index j = 0; j < columns_; ++j) W[j * part.ld + j * N] = 1;
    part.back(part.end(numbers));

    alignas(64) R Q1[G * L] = {}, V[G * L];
    for (int p = 0; p < P; ++p)
      for (Index i = 0; i < columns_; ++i)
        for (Index c = 0; c < columns_; ++c) Q1[i * L + p * plane + c] = W[(p * G + c) * part.ld + i];
    reflectors_top<R, P>(Q1, columns_, V, inverse_, out_.signs + first_);
    times_minus_triangle<R, P>(W, part.ld, rows_, inverse_);
    pack_group<R, P>(W, part.ld, rows_, top_ + first_);
    for (int p = 0; p < P; ++p) {
      for (Index i = 0; i < columns_; ++i)
        for (Index c = 0; c < G; ++c)
          top_[i * L + p * plane + first_ + c] = c < columns_ ? V[i * L + p * plane + c] : R(0);
      for (Index i = -first_; i < 0; ++i)
        for (Index c = 0; c < G; ++c) top_[i * L + p * plane + first_ + c] = 0;
    }
  }
  /// sums = the group's lines of V^H (all of the slab's columns).
  void sums(R* sums) const {
    constexpr int few = DEVOBJ_SIMD_BYTES == 64 ? G : 4;
    for (Index e = 0; e < G * L; ++e) sums[e] = 0;
    for (Index j = 0; j < plane; j += tile_vectors<P> * VL<R>)
      for (int k = 0; k < G; k += few) tile_products<R, P, few>(top_ + first_ + k, top_ + j, rows_, sums + k * L + j);
  }
  /// The columns to the right; `sums` as these were. R's rows of the group are there then.
  void apply(const R* sums) const {
    constexpr int inner = G;
    alignas(64) R minus_T[K * L], minus_TH[K * L], X[G * L] = {};
    reflectors_T<R, P>(sums + first_, inverse_, columns_, out_.signs + first_, minus_T, minus_TH);
    const Index right = first_ + G, from = right / VL<R> * VL<R>;
    for (Index j = from; j < plane; j += VL<R>) tile_subtract<R, P, G, 1, inner>(X + j, minus_TH, sums + j);
    for (int p = 0; p < P; ++p)
      for (Index k = 0; k < G; ++k)
        for (Index c = from; c < right; ++c) X[k * L + p * plane + c] = 0;
    for (Index j = from; j < plane; j += VL<R>) {
      Index i = 0;
      for (; i + tile_rows <= rows_; i += tile_rows)
        tile_subtract<R, P, tile_rows, 1, inner>(top_ + i * L + j, top_ + i * L + first_, X + j);
      for (; i < rows_; ++i) tile_subtract<R, P, 1, 1, inner>(top_ + i * L + j, top_ + i * L + first_, X + j);
    }
    for (Index i = 0; i < G; ++i)
      for (int p = 0; p < P; ++p)
        for (Index e = (first_ + i) * L + p * plane + right, c = right; c < plane; ++c, ++e)
          out_.triangle[e] = out_.signs[first_ + i] * top_[i * L + p * plane + c];
  }
  Number<R, P> inverse_at(int j) const { return Number<R, P>::at(inverse_ + j * L + j); }

 private:
  R* const top_;
  const Index rows_;
  const int first_, columns_;
  const Reflectors<R>& out_;
  alignas(64) R inverse_[K * L];
};

template <class R, int P, int N>
void block_in_lanes(R* slab, Index rows, int columns, const Staircase<R>* stairs, R* work, const Reflectors<R>& out,
                    const LinesAhead<R>& lines) {
  constexpr Index K = slab_columns<R, P>, L = line<R>, plane = L / P;
  constexpr int G = widest_staircase;
  alignas(64) R sums[K * L], diagonal[K * L];
  FetchAhead<R> ahead(lines);
  for (Index e = 0; e < K * L; ++e) out.triangle[e] = 0;
  for (int c0 = 0; c0 < columns; c0 += G) {
    const int here = columns - c0 < G ? columns - c0 : G;
    GroupOfBlock<R, P, N> group(slab, rows, c0, here, out);
    group.make(stairs[c0 / G], stairs[0].numbers, work, ahead);
    group.sums(sums + c0 * L);
    if (c0 + G < columns) group.apply(sums + c0 * L);
    for (int j = 0; j < here; ++j) group.inverse_at(j).put(diagonal + (c0 + j) * (L + 1));
  }
  // above the groups' own squares V^H V is the adjoint of what is below
  for (int j = G; j < columns; ++j)
    for (int l = 0; l < j / G * G; ++l)
      for (int p = 0; p < P; ++p) sums[l * L + p * plane + j] = p == 0 ? sums[j * L + l] : -sums[j * L + plane + l];
  reflectors_T<R, P>(sums, diagonal, columns, out.signs, out.minus_T, out.minus_TH);
}

/// For the number of lanes that is given, from least_lanes to VL.
template <class R, int P, int N = static_cast<int>(VL<R>)>
void block_by_groups(R* slab, Index rows, Index columns, int lanes, const Staircase<R>* stairs, R* work,
                     const Reflectors<R>& out, const LinesAhead<R>& ahead) {
  if constexpr (N >= least_lanes<R> && slab_columns < R, P >> widest_staircase) {
    if (lanes < N) return block_by_groups<R, P, N / 2>(slab, rows, columns, lanes, stairs, work, out, ahead);
    block_in_lanes<R, P, N>(slab, rows, static_cast<int>(columns), stairs, work, out, ahead);
  }
}

template <class R>
void fetch(const R* lines, Index count) {
  for (Index i = 0; i < count; ++i, lines += line<R>)
    for (Index byte = 0; byte < line_bytes; byte += 64) fetch_line(reinterpret_cast<const char*>(lines) + byte);
}
