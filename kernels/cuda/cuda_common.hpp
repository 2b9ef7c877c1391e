// What the CUDA primitives have in common: checked calls, element types as CUDA has them, grid sizes.
#pragma once

#include <cuComplex.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "devobj/error.hpp"
#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "kernels/by_type.hpp"
#include "kernels/device.hpp"
#include "kernels/kernels.hpp"

namespace devobj::cuda {

// ---- errors ----
inline void check(cudaError_t status, const char* routine) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  fail(status == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::device_error, routine, ": CUDA error ",
       static_cast<int>(status), ", ", cudaGetErrorString(status));
}

// ---- element types: std::complex<R> is R's cuComplex in kernels and for cuBLAS ----
template <class T> struct device_type {
  using type = T;
};
template <> struct device_type<std::complex<float>> {
  using type = cuComplex;
};
template <> struct device_type<std::complex<double>> {
  using type = cuDoubleComplex;
};
template <class T> using device_t = typename device_type<T>::type;

template <class T> device_t<T>* raw(T* pointer) { return reinterpret_cast<device_t<T>*>(pointer); }
template <class T> const device_t<T>* raw(const T* pointer) { return reinterpret_cast<const device_t<T>*>(pointer); }
template <class T> device_t<T> raw_value(T value) {
  if constexpr (is_complex<T>) return {value.real(), value.imag()};
  else return value;
}

template <class E> inline constexpr bool is_device_complex = false;
template <> inline constexpr bool is_device_complex<cuComplex> = true;
template <> inline constexpr bool is_device_complex<cuDoubleComplex> = true;

/// a b as Fortran multiplies: four products, no repair of infinities.
__host__ __device__ inline float product(float a, float b) { return a * b; }
__host__ __device__ inline double product(double a, double b) { return a * b; }
__host__ __device__ inline cuComplex product(cuComplex a, cuComplex b) { return cuCmulf(a, b); }
__host__ __device__ inline cuDoubleComplex product(cuDoubleComplex a, cuDoubleComplex b) { return cuCmul(a, b); }

/// |re| + |im|
__host__ __device__ inline float magnitude(float a) { return fabsf(a); }
__host__ __device__ inline double magnitude(double a) { return fabs(a); }
__host__ __device__ inline float magnitude(cuComplex a) { return fabsf(a.x) + fabsf(a.y); }
__host__ __device__ inline double magnitude(cuDoubleComplex a) { return fabs(a.x) + fabs(a.y); }

// ---- launches ----
inline cudaStream_t stream_of(const Queue& q) { return static_cast<cudaStream_t>(q.stream()); }

inline constexpr int threads_per_block = 256;
/// Blocks of threads_per_block for a loop over n elements whose step is the grid; enough to fill any GPU.
inline int blocks_for(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>((n + threads_per_block - 1) / threads_per_block, 1, 4096));
}

}  // namespace devobj::cuda
