// Argument checks that the LU and QR routines share.
#pragma once

#include "devobj/error.hpp"
#include "devobj/view.hpp"

namespace devobj {

constexpr const char* method_name(Method method) {
  switch (method) {
    case Method::automatic: return "auto";
    case Method::lapack: return "lapack";
    case Method::hybrid: return "hybrid";
    case Method::native: return "native";
    case Method::householder: return "householder";
    case Method::block_householder: return "block_householder";
    case Method::givens: return "givens";
    case Method::randomized: return "randomized";
  }
  return "unknown";
}

/// Elements K of a vector that is a row or a column.
template <class T> View<T> part(View<T> vector, Range K) {
  return vector.cols == 1 ? vector(K, {0, 1}) : vector({0, 1}, K);
}

/// A vector (one row or one column) of exactly n elements.
template <class T> void require_vector(const char* routine, const char* argument, View<T> v, std::int64_t n) {
  require(v.size() == n && (n == 0 || v.is_vector()), routine, ": ", argument, " is ", v.rows, " x ", v.cols,
          ", must be a vector of ", n, " elements");
}
inline void require_pivots(const char* routine, const char* argument, View<std::int32_t> ipiv, std::int64_t n) {
  require_vector(routine, argument, ipiv, n);
}

template <class T> void require_square(const char* routine, const char* argument, View<T> A) {
  require(A.rows == A.cols, routine, ": ", argument, " is ", A.rows, " x ", A.cols, ", must be square");
}

/// Error unless A has exactly this shape.
template <class T>
void require_shape(const char* routine, const char* argument, View<T> A, std::int64_t rows, std::int64_t cols) {
  require(A.rows == rows && A.cols == cols, routine, ": ", argument, " is ", A.rows, " x ", A.cols, ", must be ", rows,
          " x ", cols);
}

}  // namespace devobj
