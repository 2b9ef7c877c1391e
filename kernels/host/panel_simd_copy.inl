// Between the caller's panel and a thread's planes. Part of panel_simd.inl.

/// Splits n interleaved complex numbers into two planes.
template <class R>
inline void split(const R* __restrict a, Index n, R* __restrict re, R* __restrict im) {
  for (Index i = 0; i < n; ++i) {
    re[i] = a[2 * i];
    im[i] = a[2 * i + 1];
  }
}
template <class R>
inline void join(const R* __restrict re, const R* __restrict im, Index n, R* __restrict a) {
  for (Index i = 0; i < n; ++i) {
    a[2 * i] = re[i];
    a[2 * i + 1] = im[i];
  }
}

template <class R, int P>
void load(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* B, std::int64_t ld) {
  for (Index c = 0; c < cols; ++c) {
    const R* a = A + c * lda * P;
    R* b = B + c * P * ld;
    if constexpr (P == 1)
      __builtin_memcpy(b, a, rows * sizeof(R));
    else
      split(a, rows, b, b + ld);
    for (int p = 0; p < P; ++p)
      for (Index i = rows; i < ld; ++i) b[p * ld + i] = R(0);
  }
}

template <class R, int P>
void store(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda) {
  for (Index c = 0; c < cols; ++c) {
    R* a = A + c * lda * P;
    const R* b = B + c * P * ld;
    if constexpr (P == 1)
      __builtin_memcpy(a, b, rows * sizeof(R));
    else
      join(b, b + ld, rows, a);
  }
}

/// v times (scale[0] + i scale[1]), or times scale[0] for real numbers.
template <class R, int P>
inline void multiply(Vec<R> (&v)[P], const R* scale) {
  if constexpr (P == 1) {
    v[0] *= scale[0];
  } else {
    const Vec<R> re = v[0] * scale[0] - v[1] * scale[1];
    v[1] = v[0] * scale[1] + v[1] * scale[0];
    v[0] = re;
  }
}

template <class R, int P>
void scale_column(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c, const R* scale) {
  R* b = B + c * P * ld;
  for (Index i = down(s, VL<R>); i < rows; i += VL<R>) {
    const Int<R> active = rows_from<R>(i) >= row_number<R>(s);
    Vec<R> old[P], v[P];
    for (int p = 0; p < P; ++p) v[p] = old[p] = aligned(b + p * ld + i);
    multiply<R, P>(v, scale);
    for (int p = 0; p < P; ++p) put<R>(b + p * ld + i, active ? v[p] : old[p]);
  }
}

/// As integers, magnitudes are in the order of the numbers, Inf and NaN above all.
template <class R, int P>
R largest(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c) {
  constexpr int U = 4;
  Int<R> best[U] = {};
  const Index end = up(rows, VL<R>);
  for (int p = 0; p < P && s < rows; ++p) {
    const R* b = B + (c * P + p) * ld;
    Index i = down(s, VL<R>);
    auto take = [&](int r, Int<R> mask) {
      const Int<R> x = (Int<R>)magnitude<R>(aligned(b + i + r * VL<R>)) & mask;
      best[r] = x > best[r] ? x : best[r];
    };
    take(0, rows_from<R>(i) >= row_number<R>(s));
    for (i += VL<R>; i + U * VL<R> <= end; i += U * VL<R>)
      for (int r = 0; r < U; ++r) take(r, all_rows<R>(-1));
    for (; i < end; i += VL<R>) take(0, all_rows<R>(-1));
  }
  for (int r = 1; r < U; ++r) best[0] = best[r] > best[0] ? best[r] : best[0];
  R value[VL<R>], most = 0;
  __builtin_memcpy(value, &best[0], sizeof value);
  for (R v : value) {
    if (v * R(0) != R(0)) return v * R(0);
    most = v > most ? v : most;
  }
  return most;
}
