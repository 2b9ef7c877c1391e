// Two triangles become one, in as many steps as they have columns. Part of givens_simd.inl.
//
//      A  a a a a    step t: rotations of the rows A(i + t) and B(i) for all i, which have no row in common and make
//           a a a            B(i, i + t) zero
//             a a
//               a    step 0: B's diagonal, step 1: the one above it, ...
//      B  0 1 2 3
//           0 1 2
//             0 1
//               0

/// The rotation of the lines x and y in the columns from `first` on.
template <class R, int P, bool inverse>
DEVOBJ_INLINE void turn_lines(R* x, R* y, Index first, R c, const R* s) {
  for (Index j = first / VL<R> * VL<R>; j < line<R> / P; j += VL<R>) {
    Part<R, P, 1> a, b;
    a.load(x + j);
    b.load(y + j);
    rotate_parts<R, P, 1, inverse>(a, b, c, s);
    a.store(x + j);
    b.store(y + j);
  }
}

/// The numbers of one step of a merge: K cosines, K sines' real and, if complex, imaginary parts.
template <class R, int P>
constexpr Index merge_step = (1 + P) * slab_columns<R, P>;

/// The rotations of `count` pairs, one on each diagonal, if none needs care.
template <class R, int K>
DEVOBJ_INLINE bool fast_pairs(const R* upper, const R* lower, int count, Wave<R, 1, K>& wave) {
  Lanes<R> good = ~Lanes<R>{};
  for (int j = 0; j < count; j += VL<R>) {
    Vec<R> f = all<R>(1), g = all<R>(1);
    for (int l = 0; l < VL<R> && j + l < count; ++l) {
      f[l] = upper[(j + l) * (line<R> + 1)];
      g[l] = lower[(j + l) * (line<R> + 1)];
    }
    good &= fast_rotations<R>(f, g, wave.c + j, wave.s[0] + j);
  }
  return all_set<R>(good);
}

template <class R, int P>
void merge(R* A, R* B, Index columns, R* numbers) {
  constexpr int K = static_cast<int>(slab_columns<R, P>);
  constexpr Index L = line<R>, plane = L / P;
  const int k = static_cast<int>(columns);
  Wave<R, P, K> wave;
  for (int t = 0; t < k; ++t, numbers += merge_step<R, P>) {
    const int count = k - t;
    bool fast = false;
    if constexpr (P == 1 && K % VL<R> == 0) fast = fast_pairs<R, K>(A + t * L + t, B + t, count, wave);
    for (int i = 0; i < count; ++i) {
      R *x = A + (i + t) * L, *y = B + i * L, s[P];
      if (!fast) {
        R f[P], g[P], r[P];
        for (int p = 0; p < P; ++p) {
          f[p] = x[p * plane + i + t];
          g[p] = y[p * plane + i + t];
        }
        make_rotation<R, P>(f, g, wave.c[i], s, r);
        for (int p = 0; p < P; ++p) wave.s[p][i] = s[p];
      }
      numbers[i] = wave.c[i];
      for (int p = 0; p < P; ++p) numbers[(1 + p) * K + i] = s[p] = wave.s[p][i];
      turn_lines<R, P, false>(x, y, i + t, wave.c[i], s);
    }
  }
}

template <class R, int P>
void merge_back(R* A, R* B, Index columns, const R* numbers) {
  constexpr Index K = slab_columns<R, P>, L = line<R>;
  for (Index t = columns - 1; t >= 0; --t) {
    const R* step = numbers + t * merge_step<R, P>;
    for (Index i = 0; i < columns - t; ++i) {
      R s[P];
      for (int p = 0; p < P; ++p) s[p] = -step[(1 + p) * K + i];
      turn_lines<R, P, true>(A + (i + t) * L, B + i * L, i, step[i], s);
    }
  }
}
