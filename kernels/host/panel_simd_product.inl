// Matrix products with a block of at most inner_block columns. Part of panel_simd.inl.

template <class R, int P>
void combine_rows(R* x, std::int64_t ldu, std::int64_t n, int K, const R* l, const R* U, const R* d) {
  for (Index c = 0; c < n; c += VL<R>) {
    Vec<R> v[P];
    for (int p = 0; p < P; ++p) v[p] = aligned(x + p * ldu + c);
    for (int k = 0; k < K; ++k) {
      const Vec<R> re = aligned(U + k * P * ldu + c);
      if constexpr (P == 1) {
        v[0] -= re * l[k];
      } else {
        const Vec<R> im = aligned(U + (k * P + 1) * ldu + c);
        v[0] -= re * l[2 * k];
        v[0] += im * l[2 * k + 1];
        v[1] -= re * l[2 * k + 1];
        v[1] -= im * l[2 * k];
      }
    }
    if (d != nullptr) multiply<R, P>(v, d);
    for (int p = 0; p < P; ++p) put<R>(x + p * ldu + c, v[p]);
  }
}

/// A tile of M vectors of rows and N columns: C -= L U.
template <class R, int P, int M, int N>
inline void tile_product(R* __restrict C, Index ld, const R* __restrict L, int K, const R* __restrict U, Index ldu) {
  Vec<R> t[N][P][M];
  for (int c = 0; c < N; ++c)
    for (int p = 0; p < P; ++p)
      for (int r = 0; r < M; ++r) t[c][p][r] = aligned(C + (c * P + p) * ld + r * VL<R>);
  for (int k = 0; k < K; ++k) {
    Vec<R> l[P][M];
    for (int p = 0; p < P; ++p)
      for (int r = 0; r < M; ++r) l[p][r] = aligned(L + (k * P + p) * ld + r * VL<R>);
    for (int c = 0; c < N; ++c) {
      const Vec<R> re = all<R>(U[k * P * ldu + c]);
      if constexpr (P == 1) {
        for (int r = 0; r < M; ++r) t[c][0][r] -= l[0][r] * re;
      } else {
        const Vec<R> im = all<R>(U[(k * P + 1) * ldu + c]);
        for (int r = 0; r < M; ++r) {
          t[c][0][r] -= l[0][r] * re;
          t[c][0][r] += l[1][r] * im;
          t[c][1][r] -= l[0][r] * im;
          t[c][1][r] -= l[1][r] * re;
        }
      }
    }
  }
  for (int c = 0; c < N; ++c)
    for (int p = 0; p < P; ++p)
      for (int r = 0; r < M; ++r) put<R>(C + (c * P + p) * ld + r * VL<R>, t[c][p][r]);
}

/// Rows in strips that keep their part of L in the first cache, columns in groups of N within a strip.
template <class R, int P>
void subtract_product(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t k0, int K, std::int64_t c0,
                      std::int64_t c1, const R* U, std::int64_t ldu) {
  constexpr int M = (wide ? 4 : 2) / P, N = wide ? 6 : 4;
  constexpr Index strip = 1024 / sizeof(R) / P;
  static_assert(strip % (M * VL<R>) == 0);
  if (s >= rows) return;
  const Index end = up(rows, VL<R>);
  for (Index i0 = s; i0 < end; i0 += strip) {
    const Index i1 = i0 + strip < end ? i0 + strip : end;
    const R* L = B + k0 * P * ld;
    for (Index c = c0; c < c1;) {
      R* const C = B + c * P * ld;
      const R* u = U + (c - c0);
      Index i = i0;
      if (c + N <= c1) {
        for (; i + M * VL<R> <= i1; i += M * VL<R>) tile_product<R, P, M, N>(C + i, ld, L + i, K, u, ldu);
        for (; i < i1; i += VL<R>) tile_product<R, P, 1, N>(C + i, ld, L + i, K, u, ldu);
        c += N;
      } else {
        for (; i + M * VL<R> <= i1; i += M * VL<R>) tile_product<R, P, M, 1>(C + i, ld, L + i, K, u, ldu);
        for (; i < i1; i += VL<R>) tile_product<R, P, 1, 1>(C + i, ld, L + i, K, u, ldu);
        c += 1;
      }
    }
  }
}

/// M x N numbers of W from rows i ... end - 1: W = V^H C.
template <class R, int P, int M, int N>
inline void tile_dots(const R* __restrict V, const R* __restrict C, Index ld, Index i, Index end, R* W, Index ldw) {
  Vec<R> t[M][N][P] = {};
  for (; i < end; i += VL<R>) {
    Vec<R> v[M][P];
    for (int m = 0; m < M; ++m)
      for (int p = 0; p < P; ++p) v[m][p] = aligned(V + (m * P + p) * ld + i);
    for (int c = 0; c < N; ++c) {
      Vec<R> a[P];
      for (int p = 0; p < P; ++p) a[p] = aligned(C + (c * P + p) * ld + i);
      for (int m = 0; m < M; ++m) add_product<R, P>(v[m], a, t[m][c]);
    }
  }
  for (int m = 0; m < M; ++m)
    for (int c = 0; c < N; ++c)
      for (int p = 0; p < P; ++p) W[(m * P + p) * ldw + c] += sum<R>(t[m][c][p]);
}

template <class R, int P, int M>
void strip_dots(const R* V, const R* C, Index ld, Index i, Index end, Index columns, R* W, Index ldw) {
  constexpr int N = (wide ? 6 : 3) / (P == 1 || !wide ? 1 : 2);
  Index c = 0;
  for (; c + N <= columns; c += N) tile_dots<R, P, M, N>(V, C + c * P * ld, ld, i, end, W + c, ldw);
  for (; c < columns; ++c) tile_dots<R, P, M, 1>(V, C + c * P * ld, ld, i, end, W + c, ldw);
}

/// Rows in strips: V's part of one stays in the first cache while the columns pass.
template <class R, int P>
void products(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t k0, int K, std::int64_t c0,
              std::int64_t c1, R* W, std::int64_t ldw) {
  constexpr int M = wide ? 4 : (P == 1 ? 3 : 1);
  constexpr Index strip = 8192 / sizeof(R) / P;
  for (Index k = 0; k < K * P; ++k)
    for (Index c = 0; c < c1 - c0; ++c) W[k * ldw + c] = R(0);
  if (s >= rows) return;
  const Index end = up(rows, VL<R>);
  for (Index i0 = s; i0 < end; i0 += strip) {
    const Index i1 = i0 + strip < end ? i0 + strip : end;
    int k = 0;
    for (; k + M <= K; k += M)
      strip_dots<R, P, M>(B + (k0 + k) * P * ld, B + c0 * P * ld, ld, i0, i1, c1 - c0, W + k * P * ldw, ldw);
    for (; k < K; ++k)
      strip_dots<R, P, 1>(B + (k0 + k) * P * ld, B + c0 * P * ld, ld, i0, i1, c1 - c0, W + k * P * ldw, ldw);
  }
}
