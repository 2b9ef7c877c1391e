// Annihilation of a slab's own columns, a wave of rotations without a common row at a time. Part of givens_simd.inl.
//
//            columns 0 1 2 3
//   row T     [ 0 ]              wave T: rotation q acts on the rows T + 2 q and T + 2 q + 1 and makes (T + 2 q + 1, q)
//   row T + 1 [ 0 ]              zero; T falls. Rotation q belongs to step T + q.
//   row T + 2     [ 1 ]
//   row T + 3     [ 1 ]
//   row T + 4         [ 2 ]
//   row T + 5         [ 2 ]

/// Square roots.
template <class R>
DEVOBJ_INLINE Vec<R> roots(Vec<R> x) {
#if defined(__AVX512F__) && DEVOBJ_SIMD_BYTES == 64
  if constexpr (sizeof(R) == 8) return (Vec<R>)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
  if constexpr (sizeof(R) == 4) return (Vec<R>)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
#elif defined(__AVX2__) && DEVOBJ_SIMD_BYTES == 32
  if constexpr (sizeof(R) == 8) return (Vec<R>)_mm256_sqrt_pd((__m256d)x);
  if constexpr (sizeof(R) == 4) return (Vec<R>)_mm256_sqrt_ps((__m256)x);
#else
  for (int l = 0; l < VL<R>; ++l) x[l] = rotation_root(x[l]);
  return x;
#endif
}

/// The numbers of a wave's rotations, K columns.
template <class R, int P, int K>
struct Wave {
  alignas(64) R c[K];
  alignas(64) R s[P][K];
};

/// One by one, with LAPACK's care: f(q) and g(q) in columns q0 ... q1 - 1 of a slab whose wave starts at `top`.
template <class R, int P, int K>
void careful_wave(const R* top, int q0, int q1, Wave<R, P, K>& wave) {
  constexpr Index plane = line<R> / P;
  for (int q = q0; q < q1; ++q) {
    R f[P], g[P], r[P], s[P];
    for (int p = 0; p < P; ++p) {
      f[p] = top[2 * q * line<R> + p * plane + q];
      g[p] = top[(2 * q + 1) * line<R> + p * plane + q];
    }
    make_rotation<R, P>(f, g, wave.c[q], s, r);
    for (int p = 0; p < P; ++p) wave.s[p][q] = s[p];
  }
}

/// A vector of lanes that are all bits or none.
template <class R>
using Lanes = decltype(Vec<R>{} < Vec<R>{});

/// c and s of pairs f, g; lanes are not set where a sum of squares is near over- or underflow, or g zero.
template <class R>
DEVOBJ_INLINE Lanes<R> fast_rotations(Vec<R> f, Vec<R> g, R* c, R* s) {
  using Range = RotationRange<R, 1>;
  const Vec<R> h = f * f + g * g, inverse = all<R>(1) / roots<R>(h);
  const Lanes<R> flip = (Lanes<R>)f & (Lanes<R>)all<R>(R(-0.0));
  put<R>(c, (Vec<R>)((Lanes<R>)(f * inverse) ^ flip));
  put<R>(s, (Vec<R>)((Lanes<R>)(g * inverse) ^ flip));
  return (h > all<R>(Range::low)) & (h < all<R>(Range::high)) & (g != all<R>(0));
}
template <class R>
DEVOBJ_INLINE bool all_set(Lanes<R> lanes) {
  bool set = true;
  for (int l = 0; l < VL<R>; ++l) set = set && lanes[l] != 0;
  return set;
}

/// Rotations j, ..., j + VL - 1 of the wave that starts at `top`.
template <class R, int K>
DEVOBJ_INLINE Lanes<R> fast_part(const R* top, int j, Wave<R, 1, K>& wave) {
  Vec<R> f = {}, g = {};
#pragma GCC unroll 16
  for (int l = 0; l < VL<R>; ++l) {
    f[l] = top[2 * (j + l) * line<R> + j + l];
    g[l] = top[(2 * (j + l) + 1) * line<R> + j + l];
  }
  return fast_rotations<R>(f, g, wave.c + j, wave.s[0] + j);
}

/// Rows x and y in the columns from q on; what is left of (y, q) nobody reads.
template <class R, int P, int K>
DEVOBJ_INLINE void turn_rows(R* x, int q, const Wave<R, P, K>& wave) {
  constexpr Index plane = line<R> / P;
  R s[P], *y = x + line<R>;
  for (int p = 0; p < P; ++p) s[p] = wave.s[p][q];
  for (Index j = q / VL<R> * VL<R>; j < plane; j += VL<R>) {
    Part<R, P, 1> a, b;
    a.load(x + j);
    b.load(y + j);
    rotate_parts<R, P, 1, false>(a, b, wave.c[q], s);
    a.store(x + j);
    b.store(y + j);
  }
}

/// The waves T, T - 1, ... that have all their rotations, down to `last` or to the first that needs care, which is
/// returned. While a wave turns its rows, the rotations of the next one are made, as soon as their rows are there.
template <class R, int K>
Index fast_waves(R* slab, const Staircase<R>* stairs, Index T, Index last) {
  constexpr int width = widest_staircase;
  Wave<R, 1, K> waves[2];
  const auto begin = [&](Wave<R, 1, K>& wave) {
    Lanes<R> good = fast_part<R, K>(slab + T * line<R>, 0, wave);
    for (int j = VL<R>; j < K; j += VL<R>) good &= fast_part<R, K>(slab + T * line<R>, j, wave);
    return all_set<R>(good);
  };
  if (T < last || !begin(waves[T & 1])) return T;
  for (;; --T) {
    const Wave<R, 1, K>& wave = waves[T & 1];
    R* top = slab + T * line<R>;
    const bool more = T > last;
    for (int q = 0; q < K; q += width) {
      R* numbers = stairs[q / width].numbers + (T + q + width - 1) * wave_numbers<1>(width);
      __builtin_memcpy(numbers, wave.c + q, width * sizeof(R));
      __builtin_memcpy(numbers + width, wave.s[0] + q, width * sizeof(R));
    }
    Lanes<R> good = ~Lanes<R>{};
    for (int j = 0; j < K; j += VL<R>) {
#pragma GCC unroll 4
      for (int q = j; q < j + VL<R>; ++q) {
        turn_rows<R, 1, K>(top + 2 * q * line<R>, q, wave);
      }
      // rotation q of the next wave: the lower row of rotation q - 1 and the upper one of rotation q
      if (more) good &= fast_part<R, K>(top - line<R>, j, waves[(T - 1) & 1]);
    }
    if (!more || !all_set<R>(good)) return T - 1;
  }
}

template <class R, int P>
void eliminate(R* slab, Index columns, const Staircase<R>* stairs) {
  constexpr int width = widest_staircase, K = static_cast<int>(slab_columns<R, P>);
  static_assert(K % width == 0);
  const int k = static_cast<int>(columns);
  Index last = 0, full = k == K ? stairs[0].bottom : -1;  // waves: there are some below `last`, complete ones to `full`
  for (int g = 0; g * width < k; ++g) {
    last = stairs[g].steps - g * width > last ? stairs[g].steps - g * width : last;
    const Index here = stairs[g].bottom - 2 * width * (g + 1);
    full = here < full ? here : full;
  }
  // the last staircase's columns that are not there
  for (Index u = 0; k % width != 0 && u < stairs[k / width].steps; ++u)
    for (int q = k % width; q < width; ++q) {
      R* number = stairs[k / width].numbers + (u + width - 1 - q) * wave_numbers<P>(width) + q;
      number[0] = 1;
      for (int p = 0; p < P; ++p) number[(1 + p) * width] = 0;
    }
  Wave<R, P, K> wave;
  for (Index T = last - 1; T > -k; --T) {
    if constexpr (P == 1 && K % VL<R> == 0)
      if (T >= 0 && T <= full) {
        T = fast_waves<R, K>(slab, stairs, T, 0);
        if (T <= -k) break;
      }
    R* top = slab + T * line<R>;
    const int q0 = T < 0 ? static_cast<int>(-T) : 0;
    for (int g = q0 / width; g * width < k; ++g) {
      const Staircase<R>& stair = stairs[g];
      const int from = q0 > g * width ? q0 : g * width, to = k < (g + 1) * width ? k : (g + 1) * width;
      // rotations of this staircase, and those of them that have a lower row
      const Index steps = stair.steps - T, rows = (stair.bottom - T) / 2;
      const int there = static_cast<int>(steps < to ? steps : to),
                inside = static_cast<int>(rows < there ? rows : there);
      if (from < inside) careful_wave<R, P, K>(top, from, inside, wave);
      for (int q = from; q < there; ++q) {
        R* number = stair.numbers + (T + g * width + width - 1) * wave_numbers<P>(width) + (q - g * width);
        const bool turns = q < inside && !(top[(2 * q + 1) * line<R> + q] == 0 &&
                                           top[(2 * q + 1) * line<R> + (P - 1) * (line<R> / P) + q] == 0);
        number[0] = turns ? wave.c[q] : R(1);
        for (int p = 0; p < P; ++p) number[(1 + p) * width] = turns ? wave.s[p][q] : R(0);
        if (turns) turn_rows<R, P, K>(top + 2 * q * line<R>, q, wave);
      }
    }
  }
}
