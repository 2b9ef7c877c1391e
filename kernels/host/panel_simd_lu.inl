// LU's column step. Part of panel_simd.inl.

/// Per lane the largest value so far and the row of its vector's first lane; four of them, since one alone would be a
/// chain of dependent instructions.
template <class R>
struct Best {
  Vec<R> value;
  Int<R> vector;
};

/// U vectors of rows from i on, of which those before s keep what they have (Masked only).
template <class R, int P, int U, bool Masked>
inline void lu_rows(R* const block, Index ld, Index i, Index s, int j, const R* u, const R* scale, Best<R>* best) {
  Vec<R> x[P][U];
  R* const column = block + j * P * ld + i;
  Int<R> active[U];
  for (int r = 0; r < U; ++r) {
    if constexpr (Masked) active[r] = rows_from<R>(i + r * VL<R>) >= row_number<R>(s);
    for (int p = 0; p < P; ++p) x[p][r] = aligned(column + p * ld + r * VL<R>);
  }
  if (j > 0) {
    // x -= L(:, k) u(k); the last of L's columns is still to be scaled
    for (int k = 0; k < j - 1; ++k) {
      const R* l = block + k * P * ld + i;
      for (int r = 0; r < U; ++r) {
        const Vec<R> re = aligned(l + r * VL<R>);
        if constexpr (P == 1) {
          x[0][r] -= re * u[k];
        } else {
          const Vec<R> im = aligned(l + ld + r * VL<R>);
          x[0][r] -= re * u[2 * k];
          x[0][r] += im * u[2 * k + 1];
          x[1][r] -= re * u[2 * k + 1];
          x[1][r] -= im * u[2 * k];
        }
      }
    }
    R* const last = column - P * ld;
    const R* ul = u + (j - 1) * P;
    for (int r = 0; r < U; ++r) {
      Vec<R> l[P], old[P];
      for (int p = 0; p < P; ++p) l[p] = old[p] = aligned(last + p * ld + r * VL<R>);
      multiply<R, P>(l, scale);
      for (int p = 0; p < P; ++p) put<R>(last + p * ld + r * VL<R>, Masked ? (active[r] ? l[p] : old[p]) : l[p]);
      if constexpr (P == 1) {
        x[0][r] -= l[0] * ul[0];
      } else {
        x[0][r] -= l[0] * ul[0];
        x[0][r] += l[1] * ul[1];
        x[1][r] -= l[0] * ul[1];
        x[1][r] -= l[1] * ul[0];
      }
      for (int p = 0; p < P; ++p) {
        R* to = column + p * ld + r * VL<R>;
        put<R>(to, Masked ? (active[r] ? x[p][r] : aligned(to)) : x[p][r]);
      }
    }
  }
  for (int r = 0; r < U; ++r) {
    Vec<R> size = magnitude<R>(x[0][r]);
    if constexpr (P == 2) size += magnitude<R>(x[1][r]);
    if constexpr (Masked) size = active[r] ? size : all<R>(-1);
    const Int<R> larger = size > best[r].value;
    best[r].value = larger ? size : best[r].value;
    best[r].vector = larger ? all_rows<R>(i + r * VL<R>) : best[r].vector;
  }
}

/// The rows from s on in three parts: a masked vector around s, groups of four vectors, single vectors.
template <class R, int P>
Candidate<R> lu_column(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c0, int j, const R* u,
                       const R* scale) {
  constexpr int U = 4;
  if (s >= rows) return {R(-1), -1};
  R* const block = B + c0 * P * ld;
  Best<R> best[U];
  for (int r = 0; r < U; ++r) best[r] = {all<R>(-1), Int<R>{}};
  const Index end = up(rows, VL<R>);
  Index i = down(s, VL<R>);
  if (i < s) {
    lu_rows<R, P, 1, true>(block, ld, i, s, j, u, scale, best);
    i += VL<R>;
  }
  for (; i + U * VL<R> <= end; i += U * VL<R>) lu_rows<R, P, U, false>(block, ld, i, s, j, u, scale, best);
  for (; i < end; i += VL<R>) lu_rows<R, P, 1, false>(block, ld, i, s, j, u, scale, best);

  // the four into one, then its lanes; of equals the lowest row
  for (int r = 1; r < U; ++r) {
    const Int<R> better =
        (best[r].value > best[0].value) | ((best[r].value == best[0].value) & (best[r].vector < best[0].vector));
    best[0].value = better ? best[r].value : best[0].value;
    best[0].vector = better ? best[r].vector : best[0].vector;
  }
  R value[VL<R>];
  typename Lanes<R>::Integer vector[VL<R>];
  __builtin_memcpy(value, &best[0].value, sizeof value);
  __builtin_memcpy(vector, &best[0].vector, sizeof vector);
  Candidate<R> found{R(-1), -1};
  for (int l = 0; l < VL<R>; ++l) {
    const Index row = vector[l] + l;
    const bool better = value[l] > found.value || (value[l] == found.value && row < found.row);
    if (better && value[l] >= R(0) && row < rows) found = {value[l], row};
  }
  return found;
}
