// The panel kernels, once for every instruction set: included by panel_simd_*.cpp with DEVOBJ_SIMD_NAMESPACE and
// DEVOBJ_SIMD_BYTES set. Vectors are the compiler's own (vector_size). Nothing here may use an inline function of the
// standard library, whose code would carry this file's instruction set into the whole program.
#include "kernels/host/panel_simd.hpp"

namespace devobj::host::DEVOBJ_SIMD_NAMESPACE {
namespace {

using Index = std::int64_t;

template <class R>
struct Lanes;
template <>
struct Lanes<float> {
  using Integer = std::int32_t;
  static constexpr std::uint32_t magnitude = 0x7fffffffu;
};
template <>
struct Lanes<double> {
  using Integer = std::int64_t;
  static constexpr std::uint64_t magnitude = 0x7fffffffffffffffu;
};

/// VL elements of R in a register, and as many integers of the same width: row numbers and masks.
template <class R>
using Vec __attribute__((vector_size(DEVOBJ_SIMD_BYTES))) = R;
template <class R>
using Int __attribute__((vector_size(DEVOBJ_SIMD_BYTES))) = typename Lanes<R>::Integer;
template <class R>
constexpr Index VL = DEVOBJ_SIMD_BYTES / sizeof(R);
constexpr bool wide = DEVOBJ_SIMD_BYTES == 64;  // 32 registers instead of 16

template <class R>
inline Vec<R> get(const R* p) {
  Vec<R> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class R>
inline Vec<R> aligned(const R* p) {
  return *reinterpret_cast<const Vec<R>*>(p);
}
template <class R>
inline void put(R* p, Vec<R> v) {
  *reinterpret_cast<Vec<R>*>(p) = v;
}
template <class R>
inline Vec<R> all(R x) {
  return x - Vec<R>{};
}
template <class R>
inline Vec<R> magnitude(Vec<R> v) {
  return (Vec<R>)((Int<R>)v & static_cast<typename Lanes<R>::Integer>(Lanes<R>::magnitude));
}
template <class R>
inline auto row_number(Index i) {
  return static_cast<typename Lanes<R>::Integer>(i);
}
template <class R>
inline Int<R> all_rows(Index i) {
  return row_number<R>(i) - Int<R>{};
}
template <class R>
struct Iota {
  alignas(DEVOBJ_SIMD_BYTES) typename Lanes<R>::Integer lane[VL<R>] = {};
  constexpr Iota() {
    for (int l = 0; l < VL<R>; ++l) lane[l] = l;
  }
};
/// i, i + 1, ...
template <class R>
inline Int<R> rows_from(Index i) {
  static constexpr Iota<R> iota;
  return *reinterpret_cast<const Int<R>*>(iota.lane) + row_number<R>(i);
}
/// The sum of a vector's elements, by halves.
template <class R, int bytes = DEVOBJ_SIMD_BYTES, class V>
inline R sum(V v) {
  if constexpr (bytes > 16) {
    using Half __attribute__((vector_size(bytes / 2))) = R;
    Half half[2];
    __builtin_memcpy(half, &v, bytes);
    return sum<R, bytes / 2>(half[0] + half[1]);
  } else if constexpr (bytes == 16 && sizeof(R) == 4) {
    return (v[0] + v[2]) + (v[1] + v[3]);
  } else {
    return v[0] + v[1];
  }
}
/// sum += x^H a
template <class R, int P>
inline void add_product(const Vec<R> (&x)[P], const Vec<R> (&a)[P], Vec<R> (&sum)[P]) {
  sum[0] += x[0] * a[0];
  if constexpr (P == 2) {
    sum[0] += x[1] * a[1];
    sum[1] += x[0] * a[1];
    sum[1] -= x[1] * a[0];
  }
}

constexpr Index down(Index i, Index to) {
  return i - i % to;
}
constexpr Index up(Index i, Index to) {
  return (i + to - 1) / to * to;
}

#include "kernels/host/panel_simd_copy.inl"
#include "kernels/host/panel_simd_lu.inl"
#include "kernels/host/panel_simd_product.inl"
#include "kernels/host/panel_simd_qr.inl"

}  // namespace

template <class R, int P>
const PanelKernels<R>& kernels() noexcept {
  static constexpr PanelKernels<R> table{load<R, P>,    store<R, P>,     lu_column<R, P>,    scale_column<R, P>,
                                         largest<R, P>, qr_column<R, P>, combine_rows<R, P>, subtract_product<R, P>,
                                         products<R, P>};
  return table;
}

template const PanelKernels<float>& kernels<float, 1>() noexcept;
template const PanelKernels<float>& kernels<float, 2>() noexcept;
template const PanelKernels<double>& kernels<double, 1>() noexcept;
template const PanelKernels<double>& kernels<double, 2>() noexcept;

}  // namespace devobj::host::DEVOBJ_SIMD_NAMESPACE
