// The kernels of chain_simd.hpp, in the namespace DEVOBJ_SIMD_SPACE. Nothing here may use an inline function of the
// standard library.
#include <utility>

#include "kernels/host/chain_simd.hpp"
#include "kernels/rotation.hpp"

#define DEVOBJ_INLINE inline __attribute__((always_inline))

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

using Index = std::int64_t;

#include "kernels/host/simd_transpose.inl"

// A group is what goes through the chains at once: several vectors, since one alone would wait for its own last result,
// and as many columns (`together`) as there are registers left for.
#if defined(__AVX512F__)
constexpr int vector_bytes = 64, vectors = 2, together = 4;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32, vectors = 4, together = 2;
#else
constexpr int vector_bytes = 16, vectors = 4, together = 2;
#endif

template <class R>
struct Vectors;
template <>
struct Vectors<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef float Anywhere __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
};
template <>
struct Vectors<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef double Anywhere __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
};

/// `count` vectors.
template <class R, int count>
struct Group {
  using Vector = typename Vectors<R>::Vector;
  using Anywhere = typename Vectors<R>::Anywhere;
  static constexpr Index width = vector_bytes / sizeof(R), size = count * width;
  Vector v[count];

  DEVOBJ_INLINE void load(const R* x) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) v[k] = reinterpret_cast<const Anywhere*>(x)[k];
  }
  DEVOBJ_INLINE void store(R* x) const {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) reinterpret_cast<Anywhere*>(x)[k] = v[k];
  }
  /// The first `rows` numbers of a single vector; the others are zero.
  DEVOBJ_INLINE void load(const R* x, Index rows) {
    static_assert(count == 1);
    Vector y{};
    for (Index k = 0; k < rows; ++k) y[k] = x[k];
    v[0] = y;
  }
  DEVOBJ_INLINE void store(R* x, Index rows) const {
    static_assert(count == 1);
    for (Index k = 0; k < rows; ++k) x[k] = v[0][k];
  }
  /// += a y
  DEVOBJ_INLINE void add(R a, const Group& y) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) v[k] += a * y.v[k];
  }
  DEVOBJ_INLINE void subtract(R a, const Group& y) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) v[k] -= a * y.v[k];
  }
};

/// Rows r, r + 1, ... of `cols` columns from column i on in the chains' direction: a group, or the `rows` of its first
/// rows that there are. The columns stay in registers from chain to chain. A rotation leaves what goes on to the next
/// chain where the carry was, and the carry in the column's place: after `cols` + 1 chains all are in their places again.
template <bool ascending, int cols, bool whole, class Part, class R>
struct Passage {
  using Columns = typename ChainKernels<R>::Columns;
  static constexpr Index next = ascending ? 1 : -1;
  static constexpr int places = cols + 1;
  const Columns& x;
  const Index last, i, r, rows;
  Index t;
  const Shears<R>* g;
  R* carried;
  Part w[places];

  DEVOBJ_INLINE Passage(const Columns& x_, Index first, Index last_, Index i_, Index r_, Index rows_)
      : x(x_),
        last(last_),
        i(i_),
        r(r_),
        rows(rows_),
        t(first),
        g(x.g + i * x.step + first),
        carried(x.carry + first * x.ld_carry + r) {}
  static constexpr int place(int j, int turn) { return (j + places - turn) % places; }

  /// The same rows of the columns after these, from where they come and where they go: the processor's own prefetching
  /// begins again with each column. With one chain it gained nothing.
  DEVOBJ_INLINE void prefetch() const {
    constexpr Index line = 64 / sizeof(R);
#pragma GCC unroll 8
    for (int j = cols; j < 2 * cols; ++j)
      for (Index k = 0; k < Part::size; k += line) {
        __builtin_prefetch(x.from + r + k + (i + j * next) * x.ld_from);
        __builtin_prefetch(x.to + r + k + (i + j * next) * x.ld_to, 1);
      }
  }
  DEVOBJ_INLINE void load() {
#pragma GCC unroll 8
    for (int j = 0; j < cols; ++j) {
      const R* column = x.from + r + (i + j * next) * x.ld_from;
      if constexpr (whole)
        w[j].load(column);
      else
        w[j].load(column, rows);
    }
  }
  template <int turn>
  DEVOBJ_INLINE void store() const {
#pragma GCC unroll 8
    for (int j = 0; j < cols; ++j) {
      R* column = x.to + r + (i + j * next) * x.ld_to;
      if constexpr (whole)
        w[place(j, turn)].store(column);
      else
        w[place(j, turn)].store(column, rows);
    }
  }
  template <int turn>
  DEVOBJ_INLINE void chain() {
    w[place(cols, turn)].load(carried);
#pragma GCC unroll 8
    for (int j = 0; j < cols; ++j) {
      const Shears<R>& h = g[j * next * x.step];
      Part &z = w[place(j, turn)], &carry = w[place(j + cols, turn)];
      Part &top = ascending ? carry : z, &bottom = ascending ? z : carry;
      top.add(h.t, bottom);
      bottom.subtract(h.s, top);
      top.add(h.t, bottom);
    }
    w[place(cols - 1, turn)].store(carried);
    ++t, ++g, carried += x.ld_carry;
  }
  template <int... turns>
  DEVOBJ_INLINE void round(std::integer_sequence<int, turns...>) {
    (chain<turns>(), ...);
  }
  template <int turn>
  DEVOBJ_INLINE void rest() {
    if constexpr (turn < cols) {
      if (t < last) {
        chain<turn>();
        return rest<turn + 1>();
      }
    }
    store<turn>();
  }
  DEVOBJ_INLINE void run() {
    if (x.ld_from > chain_lanes<R> && last - t > 1) prefetch();
    load();
    while (last - t >= places) round(std::make_integer_sequence<int, places>());
    rest<0>();
  }
};

template <bool ascending, int cols, class R>
DEVOBJ_INLINE void rotate_columns(const typename ChainKernels<R>::Columns& x, Index first, Index last, Index i) {
  using Several = Group<R, vectors>;
  using One = Group<R, 1>;
  Index r = 0;
  for (; r + Several::size <= x.rows; r += Several::size)
    Passage<ascending, cols, true, Several, R>(x, first, last, i, r, 0).run();
  for (; r + One::size <= x.rows; r += One::size) Passage<ascending, cols, true, One, R>(x, first, last, i, r, 0).run();
  if (r < x.rows) Passage<ascending, cols, false, One, R>(x, first, last, i, r, x.rows - r).run();
}

template <class R>
void ascend(const typename ChainKernels<R>::Columns& x, Index first, Index last, Index begin, Index end) {
  Index i = begin;
  for (; i + together <= end; i += together) rotate_columns<true, together, R>(x, first, last, i);
  for (; i < end; ++i) rotate_columns<true, 1, R>(x, first, last, i);
}
template <class R>
void descend(const typename ChainKernels<R>::Columns& x, Index first, Index last, Index begin, Index end) {
  Index i = end - 1;
  for (; i - together + 1 >= begin; i -= together) rotate_columns<false, together, R>(x, first, last, i);
  for (; i >= begin; --i) rotate_columns<false, 1, R>(x, first, last, i);
}

template <class R>
void plain_rotation(R f, R& r, R g, Shears<R>& h) {
  R c, s;
  make_rotation<R, 1>(&f, &g, c, &s, &r);
  h = {s / (1 + c), s};
}

DEVOBJ_INLINE float with_sign(float x, float sign) {
  return __builtin_copysignf(x, sign);
}
DEVOBJ_INLINE double with_sign(double x, double sign) {
  return __builtin_copysign(x, sign);
}

// Within the range where squares are safe all r are known from sums of squares, before any rotation.
template <class R>
void gather(const R* f, Index count, Shears<R>* g, Index step, R* r) {
  using Range = RotationRange<R, 1>;
  constexpr Index most = 64;
  R sum[most], t[most], s[most];
  for (Index k = 0; k < count;) {
    Index many = count - k < most ? count - k : most;
    R so_far = r[k] * r[k];
    if (so_far + f[k] * f[k] > Range::low)
      for (Index i = 0; i < many; ++i) sum[i] = so_far += f[k + i] * f[k + i];
    else
      so_far = Range::high, many = 1;
    if (!(so_far < Range::high)) {
      for (const Index end = k + many; k < end; ++k) plain_rotation(f[k], r[k + 1], r[k], g[k * step]);
      continue;
    }
    R* next = r + k + 1;
    for (Index i = 0; i < many; ++i) next[i] = with_sign(rotation_root(sum[i]), f[k + i]);
    for (Index i = 0; i < many; ++i) {
      t[i] = next[i - 1] / (next[i] + f[k + i]);
      s[i] = next[i - 1] / next[i];
    }
    for (Index i = 0; i < many; ++i) g[(k + i) * step] = {t[i], s[i]};
    k += many;
  }
}

/// tile(i, l) for the 4 x 4 tiles of rows x cols, then element(i, l) for what is left. A column's tiles come in runs as
/// long as cache lines: those of all columns need not stay in the first cache, where columns often are in each other's way.
template <class Tile, class Element>
DEVOBJ_INLINE void by_tiles(Index rows, Index cols, const Tile& tile, const Element& element) {
  constexpr Index few = 4, run = 16;
  const Index tall = rows / few * few, wide = cols / few * few;
  for (Index i0 = 0; i0 < tall; i0 += run)
    for (Index l = 0; l < wide; l += few)
      for (Index i = i0; i < i0 + run && i < tall; i += few) tile(i, l);
  for (Index i = tall; i < rows; ++i)
    for (Index l = 0; l < wide; ++l) element(i, l);
  for (Index l = wide; l < cols; ++l)
    for (Index i = 0; i < rows; ++i) element(i, l);
}

template <class R>
void pack(const R* A, Index lda, Index rows, Index cols, R* strip) {
  constexpr Index lanes = chain_lanes<R>;
  by_tiles(
      rows, cols, [=](Index i, Index l) { transpose_tile<R>(A + i + l * lda, lda, strip + i * lanes + l, lanes); },
      [=](Index i, Index l) { strip[i * lanes + l] = A[i + l * lda]; });
  for (Index i = 0; i < rows; ++i)
    for (Index l = cols; l < lanes; ++l) strip[i * lanes + l] = 0;
}
template <class R>
void unpack(const R* strip, Index rows, Index cols, R* A, Index lda) {
  constexpr Index lanes = chain_lanes<R>;
  by_tiles(
      rows, cols, [=](Index i, Index l) { transpose_tile<R>(strip + i * lanes + l, lanes, A + i + l * lda, lda); },
      [=](Index i, Index l) { A[i + l * lda] = strip[i * lanes + l]; });
}

}  // namespace

template <class R>
const ChainKernels<R>& chains() noexcept {
  static constexpr ChainKernels<R> all{ascend<R>, descend<R>, gather<R>, pack<R>, unpack<R>};
  return all;
}
template const ChainKernels<float>& chains<float>() noexcept;
template const ChainKernels<double>& chains<double>() noexcept;

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE

#undef DEVOBJ_INLINE
