// Columns of a matrix to a slab and back, in tiles of 4 x 4. Part of givens_simd.inl.

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
