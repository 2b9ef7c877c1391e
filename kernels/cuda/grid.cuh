// What the kernels on matrices share: a block of a matrix as device code sees it, and the arithmetic of its elements.
#pragma once

#include <cstdint>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

inline constexpr int warp_size = 32;
/// The largest gridDim.y; kernels that use it go on in steps of gridDim.y.
inline constexpr std::int64_t max_grid_y = 65535;

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

__device__ inline float conjugate(float x) {
  return x;
}
__device__ inline double conjugate(double x) {
  return x;
}
__device__ inline cuComplex conjugate(cuComplex x) {
  return cuConjf(x);
}
__device__ inline cuDoubleComplex conjugate(cuDoubleComplex x) {
  return cuConj(x);
}

__device__ inline float sum(float a, float b) {
  return a + b;
}
__device__ inline double sum(double a, double b) {
  return a + b;
}
__device__ inline cuComplex sum(cuComplex a, cuComplex b) {
  return cuCaddf(a, b);
}
__device__ inline cuDoubleComplex sum(cuDoubleComplex a, cuDoubleComplex b) {
  return cuCadd(a, b);
}

__device__ inline float negative(float a) {
  return -a;
}
__device__ inline double negative(double a) {
  return -a;
}
__device__ inline cuComplex negative(cuComplex a) {
  return {-a.x, -a.y};
}
__device__ inline cuDoubleComplex negative(cuDoubleComplex a) {
  return {-a.x, -a.y};
}

/// Zero in both parts; a NaN is not.
template <class E>
__device__ bool is_zero(E a) {
  return magnitude(a) == 0;
}

/// A view in a kernel: A(i, j) is the element, counted from 0.
template <class E>
struct Block {
  E* data;
  std::int64_t rows, cols, ld;
  __device__ E& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
};
template <class T>
Block<device_t<T>> block_of(View<T> A) {
  return {raw(A.data), A.rows, A.cols, A.ld};
}

/// A vector in a kernel, from a view with one column or one row.
template <class E>
struct Strided {
  E* data;
  std::int64_t n, inc;
  __device__ E& operator[](std::int64_t i) const { return data[i * inc]; }
};
template <class T>
Strided<device_t<T>> vector_of(View<T> x) {
  return {raw(x.data), x.size(), x.cols > 1 ? x.ld : 1};
}

}  // namespace devobj::cuda
