// Columns of a matrix to a slab and back, in tiles of 4 x 4 that are transposed in registers. Part of givens_simd.inl.

template <class R>
using Four __attribute__((vector_size(4 * sizeof(R)))) = R;

/// Transposed in place.
template <class R>
DEVOBJ_INLINE void transpose(Four<R>& a, Four<R>& b, Four<R>& c, Four<R>& d) {
  const Four<R> ac0 = __builtin_shufflevector(a, c, 0, 4, 1, 5), ac1 = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const Four<R> bd0 = __builtin_shufflevector(b, d, 0, 4, 1, 5), bd1 = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ac0, bd0, 0, 4, 1, 5);
  b = __builtin_shufflevector(ac0, bd0, 2, 6, 3, 7);
  c = __builtin_shufflevector(ac1, bd1, 0, 4, 1, 5);
  d = __builtin_shufflevector(ac1, bd1, 2, 6, 3, 7);
}

/// A 4 x 4 tile of distance `from` between its columns (rows) to one of distance `to` between its rows (columns).
template <class R>
DEVOBJ_INLINE void transpose_tile(const R* x, Index from, R* y, Index to) {
  Four<R> v[4];
  for (int k = 0; k < 4; ++k) __builtin_memcpy(&v[k], x + k * from, sizeof v[k]);
  transpose<R>(v[0], v[1], v[2], v[3]);
  for (int k = 0; k < 4; ++k) __builtin_memcpy(y + k * to, &v[k], sizeof v[k]);
}

/// slab = A (rows x slab_columns).
template <class R>
void pack(const R* A, Index lda, Index rows, R* slab) {
  constexpr Index K = line<R>, few = 4;
  Index i = 0;
  for (; i + few <= rows; i += few)
    for (Index c = 0; c < K; c += few) transpose_tile<R>(A + i + c * lda, lda, slab + i * K + c, K);
  for (; i < rows; ++i)
    for (Index c = 0; c < K; ++c) slab[i * K + c] = A[i + c * lda];
}

/// A (rows x slab_columns) = slab.
template <class R>
void unpack(const R* slab, Index rows, R* A, Index lda) {
  constexpr Index K = line<R>, few = 4;
  Index i = 0;
  for (; i + few <= rows; i += few)
    for (Index c = 0; c < K; c += few) transpose_tile<R>(slab + i * K + c, K, A + i + c * lda, lda);
  for (; i < rows; ++i)
    for (Index c = 0; c < K; ++c) A[i + c * lda] = slab[i * K + c];
}
