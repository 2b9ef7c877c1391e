// The rotations of a slab's columns as reflectors, I - V T V^H, and their application to a slab: two products per
// reflector instead of the four of a rotation, with more of them in registers. Part of givens_simd.inl.
//
// Source: Ballard, Demmel, Grigori, Jacquelin, Nguyen, Solomonik, "Reconstructing Householder vectors from tall-skinny
// QR", 2014.

/// Vectors of a plane that a tile has, and the widest tiles' rows (or columns of V).
template <int P>
constexpr int tile_vectors = 2 / P;
constexpr int tile_rows = DEVOBJ_SIMD_BYTES == 64 ? 12 : DEVOBJ_SIMD_BYTES == 32 ? 6 : 4;
constexpr int tile_columns = DEVOBJ_SIMD_BYTES == 64 ? 8 : DEVOBJ_SIMD_BYTES == 32 ? 6 : 4;

/// G lines of W += (G columns of V)^H C.
template <class R, int P, int G>
DEVOBJ_INLINE void tile_products(const R* V, const R* C, Index rows, R* W) {
  constexpr int N = tile_vectors<P>;
  constexpr Index plane = line<R> / P;
  Part<R, P, N> sum[G];
  for (int k = 0; k < G; ++k) sum[k].load(W + k * line<R>);
  for (Index i = 0; i < rows; ++i, V += line<R>, C += line<R>) {
    Part<R, P, N> c;
    c.load(C);
#pragma GCC unroll 16
    for (int k = 0; k < G; ++k) {
      const Vec<R> re = all<R>(V[k]);
      if constexpr (P == 1) {
        for (int j = 0; j < N; ++j) sum[k].v[0][j] += re * c.v[0][j];
      } else {
        const Vec<R> im = all<R>(V[plane + k]);
        for (int j = 0; j < N; ++j) {
          sum[k].v[0][j] += re * c.v[0][j];
          sum[k].v[1][j] += re * c.v[1][j];
          sum[k].v[0][j] += im * c.v[1][j];
          sum[k].v[1][j] -= im * c.v[0][j];
        }
      }
    }
  }
  for (int k = 0; k < G; ++k) sum[k].store(W + k * line<R>);
}

/// W = V^H C, slabs of `rows` rows; in strips that stay in the first cache.
template <class R, int P>
void slab_products(const R* V, const R* C, Index rows, R* W) {
  constexpr int K = static_cast<int>(slab_columns<R, P>), few = 4;
  constexpr Index plane = line<R> / P, strip = 64;
  static_assert(K % few == 0);
  for (Index e = 0; e < K * line<R>; ++e) W[e] = 0;
  for (; rows > 0; rows -= strip, V += strip * line<R>, C += strip * line<R>) {
    const Index here = rows < strip ? rows : strip;
    for (Index j = 0; j < plane; j += tile_vectors<P> * VL<R>) {
      int k = 0;
      while (k < K && !((K - k) % few == 0 && K - k <= 2 * few && tile_columns % few != 0)) {
        tile_products<R, P, tile_columns>(V + k, C + j, here, W + k * line<R> + j);
        k += tile_columns;
      }
      for (; k < K; k += few) tile_products<R, P, few>(V + k, C + j, here, W + k * line<R> + j);
    }
  }
}

/// G rows of C -= (G rows of V) W, N vectors of each, with K columns of V.
template <class R, int P, int G, int N = tile_vectors<P>, int K = static_cast<int>(slab_columns<R, P>)>
DEVOBJ_INLINE void tile_subtract(R* C, const R* V, const R* W) {
  constexpr Index plane = line<R> / P;
  Part<R, P, N> sum[G];
  for (int i = 0; i < G; ++i) sum[i].load(C + i * line<R>);
  for (int k = 0; k < K; ++k) {
    Part<R, P, N> w;
    w.load(W + k * line<R>);
#pragma GCC unroll 16
    for (int i = 0; i < G; ++i) {
      const Vec<R> re = all<R>(V[i * line<R> + k]);
      if constexpr (P == 1) {
        for (int j = 0; j < N; ++j) sum[i].v[0][j] -= re * w.v[0][j];
      } else {
        const Vec<R> im = all<R>(V[i * line<R> + plane + k]);
        for (int j = 0; j < N; ++j) {
          sum[i].v[0][j] -= re * w.v[0][j];
          sum[i].v[1][j] -= re * w.v[1][j];
          sum[i].v[0][j] += im * w.v[1][j];
          sum[i].v[1][j] -= im * w.v[0][j];
        }
      }
    }
  }
  for (int i = 0; i < G; ++i) sum[i].store(C + i * line<R>);
}

/// C -= V W, slabs of `rows` rows.
template <class R, int P>
void slab_subtract(R* C, const R* V, const R* W, Index rows) {
  constexpr Index plane = line<R> / P;
  for (; rows >= tile_rows; rows -= tile_rows, C += tile_rows * line<R>, V += tile_rows * line<R>)
    for (Index j = 0; j < plane; j += tile_vectors<P> * VL<R>) tile_subtract<R, P, tile_rows>(C + j, V, W + j);
  for (; rows > 0; --rows, C += line<R>, V += line<R>)
    for (Index j = 0; j < plane; j += tile_vectors<P> * VL<R>) tile_subtract<R, P, 1>(C + j, V, W + j);
}

template <class R, int P>
void reflect(const R* V, const R* minus_T, R* C, Index rows) {
  constexpr Index K = slab_columns<R, P>;
  alignas(64) R W[K * line<R>], TW[K * line<R>] = {};
  slab_products<R, P>(V, C, rows, W);
  slab_subtract<R, P>(TW, minus_T, W, K);
  slab_subtract<R, P>(C, V, TW, rows);
}

/// A number of P parts within lines.
template <class R, int P>
struct Number {
  R re = 0, im = 0;
  DEVOBJ_INLINE static Number at(const R* x) { return {x[0], P == 2 ? x[P == 2 ? line<R> / P : 0] : R(0)}; }
  DEVOBJ_INLINE void put(R* x) const {
    x[0] = re;
    if constexpr (P == 2) x[line<R> / P] = im;
  }
  DEVOBJ_INLINE Number operator*(Number b) const {
    if constexpr (P == 1) return {re * b.re, 0};
    return {re * b.re - im * b.im, re * b.im + im * b.re};
  }
  DEVOBJ_INLINE Number reciprocal() const {
    if constexpr (P == 1) return {1 / re, 0};
    const R size = re * re + im * im;
    return {re / size, -im / size};
  }
};

/// Line x -= a times line y.
template <class R, int P>
DEVOBJ_INLINE void subtract_line(R* x, Number<R, P> a, const R* y) {
  constexpr int M = static_cast<int>(line<R> / P / VL<R>);
  Part<R, P, M> to, from;
  to.load(x);
  from.load(y);
  const Vec<R> re = all<R>(a.re), im = all<R>(a.im);
  for (int j = 0; j < M; ++j) {
    to.v[0][j] -= re * from.v[0][j];
    if constexpr (P == 2) {
      to.v[0][j] += im * from.v[1][j];
      to.v[1][j] -= re * from.v[1][j];
      to.v[1][j] -= im * from.v[0][j];
    }
  }
  to.store(x);
}

// Q1 - [D; 0] = V U with V unit lower trapezoidal and T(j, j) = -U(j, j) D(j). |U(j, j)| >= 1, since D has the other
// sign of what it is subtracted from. T follows from V, so that I - V T V^H is orthogonal to rounding: T^-1 + T^-H =
// V^H V; V leaves open only the imaginary part of the diagonal.
template <class R, int P>
void reflectors_top(const R* Q1, int k, R* V, R* minus_inverse, R* signs) {
  using N = Number<R, P>;
  constexpr Index K = slab_columns<R, P>, L = line<R>;
  alignas(64) R U[K * L];
  for (Index e = 0; e < k * L; ++e) {
    U[e] = Q1[e];
    V[e] = 0;
  }
  for (Index e = 0; e < K * L; ++e) minus_inverse[e] = 0;
  for (int j = 0; j < k; ++j) {
    signs[j] = U[j * L + j] >= 0 ? R(-1) : R(1);
    U[j * L + j] -= signs[j];
    V[j * L + j] = 1;
    const N pivot = N::at(U + j * L + j).reciprocal();
    for (int i = j + 1; i < k; ++i) {
      const N l = N::at(U + i * L + j) * pivot;
      l.put(V + i * L + j);
      subtract_line<R, P>(U + i * L, l, U + j * L);
    }
  }
  // -U^-1, the last row first: row i = -(e_i + U(i, later) (-U^-1)(later, :)) / U(i, i)
  for (int i = k - 1; i >= 0; --i) {
    alignas(64) R x[L] = {};
    x[i] = -1;
    for (int l = i + 1; l < k; ++l) subtract_line<R, P>(x, N::at(U + i * L + l), minus_inverse + l * L);
    const N r = N::at(U + i * L + i).reciprocal();
    subtract_line<R, P>(minus_inverse + i * L, {-r.re, -r.im}, x);
  }
}

// Column j of T: tau below -T G(:, j) tau.
template <class R, int P>
void reflectors_T(const R* G, const R* minus_inverse, int k, const R* signs, R* minus_T, R* minus_TH) {
  using N = Number<R, P>;
  constexpr Index K = slab_columns<R, P>, L = line<R>, plane = L / P;
  for (Index e = 0; e < K * L; ++e) minus_T[e] = minus_TH[e] = 0;
  for (int j = 0; j < k; ++j) {
    const N given = N::at(minus_inverse + j * L + j);
    const N tau = N{G[j * L + j] / 2, signs[j] * given.im}.reciprocal();
    alignas(64) R column[L] = {};
    for (int l = 0; l < j; ++l) subtract_line<R, P>(column, N::at(G + l * L + j), minus_TH + l * L);
    for (int i = 0; i <= j; ++i) {
      N t = N::at(column + i);
      t = i == j ? N{-tau.re, -tau.im} : tau * t;  // -T(i, j)
      t.put(minus_T + i * L + j);
      t.put(minus_TH + j * L + i);  // -T's columns as lines meanwhile
    }
  }
  if constexpr (P == 2)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j <= i; ++j) minus_TH[i * L + plane + j] = -minus_TH[i * L + plane + j];
}
