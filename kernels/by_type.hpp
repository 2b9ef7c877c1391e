// by_type: one of four vendor functions, by element type. One wrapper then serves the four types.
#pragma once

#include <complex>
#include <type_traits>

namespace devobj {

/// The argument that belongs to T: s for float, d for double, c for complex<float>, z for complex<double>.
/// E.g. by_type<T>(sgemm_, dgemm_, cgemm_, zgemm_)(...).
template <class T, class S, class D, class C, class Z> constexpr auto by_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) return s;
  else if constexpr (std::is_same_v<T, double>) return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return c;
  else {
    static_assert(std::is_same_v<T, std::complex<double>>, "by_type: T is one of LAPACK's four element types");
    return z;
  }
}

}  // namespace devobj
