// Tiles of 4 x 4 that are transposed in registers. Part of givens_simd.inl and chain_simd.inl.

template <class R>
using Four __attribute__((vector_size(4 * sizeof(R)))) = R;
/// The same at any address.
template <class R>
struct Anywhere {
  typedef R Four __attribute__((vector_size(4 * sizeof(R)), aligned(sizeof(R)), may_alias));
};

/// Transposed in place; within halves first for doubles, whose vectors have two of them.
template <class R>
DEVOBJ_INLINE void transpose(Four<R>& a, Four<R>& b, Four<R>& c, Four<R>& d) {
  if constexpr (sizeof(R) == 8) {
    const Four<R> ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Four<R> cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    d = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
  } else {
    const Four<R> ac0 = __builtin_shufflevector(a, c, 0, 4, 1, 5), ac1 = __builtin_shufflevector(a, c, 2, 6, 3, 7);
    const Four<R> bd0 = __builtin_shufflevector(b, d, 0, 4, 1, 5), bd1 = __builtin_shufflevector(b, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ac0, bd0, 0, 4, 1, 5);
    b = __builtin_shufflevector(ac0, bd0, 2, 6, 3, 7);
    c = __builtin_shufflevector(ac1, bd1, 0, 4, 1, 5);
    d = __builtin_shufflevector(ac1, bd1, 2, 6, 3, 7);
  }
}

/// A 4 x 4 tile of distance `from` between its columns (rows) to one of distance `to` between its rows (columns).
template <class R>
DEVOBJ_INLINE void transpose_tile(const R* x, Index from, R* y, Index to) {
  const auto in = [=](Index k) { return reinterpret_cast<const typename Anywhere<R>::Four*>(x + k * from); };
  const auto out = [=](Index k) { return reinterpret_cast<typename Anywhere<R>::Four*>(y + k * to); };
  Four<R> a = *in(0), b = *in(1), c = *in(2), d = *in(3);
  transpose<R>(a, b, c, d);
  *out(0) = a;
  *out(1) = b;
  *out(2) = c;
  *out(3) = d;
}
