// BLAS level 1 on the GPU: cuBLAS, but scal, nrm2 and iamax are kernels of our own, whose results on NaN, infinities
// and very large and small numbers are those of the host backend.
#include "devobj/matrix.hpp"
#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/scaled_squares.hpp"

namespace devobj::cuda {
namespace {

constexpr int max_partials = 1024;  // blocks of the first stage of a reduction

// ---- device helpers ----

/// The largest |re| + |im| so far and its position from 0. The magnitude is kept as its bits, which are ordered like
/// the non-negative numbers they stand for; NaN is all ones, above infinity.
template <class Bits>
struct Largest {
  Bits bits = 0;
  std::int64_t position = INT64_MAX;
  __device__ void add(const Largest& other) {
    if (other.bits > bits || (other.bits == bits && other.position < position)) *this = other;
  }
};
__device__ std::uint32_t ordered_bits(float a) {
  return isnan(a) ? ~std::uint32_t{0} : __float_as_uint(a);
}
__device__ std::uint64_t ordered_bits(double a) {
  return isnan(a) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(__double_as_longlong(a));
}

template <class T>
struct LargestOfVector {
  using Value = Largest<decltype(ordered_bits(magnitude(T{})))>;
  Strided<T> x;
  __device__ Value operator()(std::int64_t i) const { return {ordered_bits(magnitude(x[i])), i}; }
};

template <class T>
struct SquaresOfVector {
  using Value = ScaledSquares;
  Strided<T> x;
  __device__ Value operator()(std::int64_t i) const {
    Value sum;
    const T a = x[i];
    if constexpr (is_device_complex<T>) {
      sum.add(a.x);
      sum.add(a.y);
    } else {
      sum.add(a);
    }
    return sum;
  }
};

template <class V>
struct Partials {
  using Value = V;
  const V* partials;
  __device__ Value operator()(std::int64_t i) const { return partials[i]; }
};

/// result[block] = the elements of `source` that the block's threads meet, strided by the grid, put together by a tree
/// in shared memory: one order for each n, so the result is the same from run to run.
template <class Source>
__global__ void reduce_kernel(std::int64_t n, Source source, typename Source::Value* result) {
  using Value = typename Source::Value;
  Value mine;
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) mine.add(source(i));
  __shared__ alignas(16) unsigned char shared[threads_per_block * sizeof(Value)];
  Value* values = reinterpret_cast<Value*>(shared);
  values[threadIdx.x] = mine;
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x].add(values[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) result[blockIdx.x] = values[0];
}

/// x *= alpha, one thread per element, strided by the grid.
template <class E>
__global__ void scal_kernel(E alpha, Strided<E> x) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < x.n; i += step)
    x[i] = product(alpha, x[i]);
}

// ---- launchers ----

template <class T>
Strided<device_t<T>> elements(Vector<T> x) {
  return {raw(x.data), x.n, x.inc};
}

/// The sum (by Value::add) of source(0) ... source(n - 1), n > 0, in two launches. Waits.
template <class Source>
typename Source::Value reduce(const char* routine, std::int64_t n, Source source, Queue& q) {
  using Value = typename Source::Value;
  DeviceScope scope(q.device());
  const int blocks = std::min(blocks_for(n), max_partials);
  Value* partials = static_cast<Value*>(q.scratch((blocks + 1) * sizeof(Value)));
  Value* total = partials + blocks;
  reduce_kernel<<<blocks, threads_per_block, 0, stream_of(q)>>>(n, source, partials);
  q.launched(routine);
  reduce_kernel<<<1, threads_per_block, 0, stream_of(q)>>>(blocks, Partials<Value>{partials}, total);
  q.launched(routine);
  Value result;
  check(cudaMemcpyAsync(&result, total, sizeof(Value), cudaMemcpyDeviceToHost, stream_of(q)), routine);
  q.wait();
  return result;
}

}  // namespace

template <class T>
void swap(Vector<T> x, Vector<T> y, Queue& q) {
  call_cublas("swap", q, by_type<T>(cublasSswap_64, cublasDswap_64, cublasCswap_64, cublasZswap_64), x.n, raw(x.data),
              x.inc, raw(y.data), y.inc);
}

template <class T>
void scal(T alpha, Vector<T> x, Queue& q) {
  if (x.n == 0) return;
  DeviceScope scope(q.device());
  scal_kernel<<<blocks_for(x.n), threads_per_block, 0, stream_of(q)>>>(raw_value(alpha), elements(x));
  q.launched("scal");
}

template <class T>
void axpy(T alpha, Vector<T> x, Vector<T> y, Queue& q) {
  if (alpha == T(0)) return;
  call_cublas("axpy", q, by_type<T>(cublasSaxpy_64, cublasDaxpy_64, cublasCaxpy_64, cublasZaxpy_64), x.n, raw(&alpha),
              raw(x.data), x.inc, raw(y.data), y.inc);
}

template <class T>
T dotu(Vector<T> x, Vector<T> y, Queue& q) {
  T result(0);
  if (x.n == 0) return result;
  call_cublas("dotu", q, by_type<T>(cublasSdot_64, cublasDdot_64, cublasCdotu_64, cublasZdotu_64), x.n, raw(x.data),
              x.inc, raw(y.data), y.inc, raw(&result));
  q.wait();
  return result;
}

template <class T>
T dotc(Vector<T> x, Vector<T> y, Queue& q) {
  T result(0);
  if (x.n == 0) return result;
  call_cublas("dotc", q, by_type<T>(cublasSdot_64, cublasDdot_64, cublasCdotc_64, cublasZdotc_64), x.n, raw(x.data),
              x.inc, raw(y.data), y.inc, raw(&result));
  q.wait();
  return result;
}

template <class T>
real_t<T> nrm2(Vector<T> x, Queue& q) {
  if (x.n == 0) return 0;
  return static_cast<real_t<T>>(reduce("nrm2", x.n, SquaresOfVector<device_t<T>>{elements(x)}, q).root());
}

template <class T>
real_t<T> asum(Vector<T> x, Queue& q) {
  real_t<T> result = 0;
  if (x.n == 0) return result;
  call_cublas("asum", q, by_type<T>(cublasSasum_64, cublasDasum_64, cublasScasum_64, cublasDzasum_64), x.n, raw(x.data),
              x.inc, &result);
  q.wait();
  return result;
}

template <class T>
std::int64_t iamax(Vector<T> x, Queue& q) {
  if (x.n == 0) return 0;
  return reduce("iamax", x.n, LargestOfVector<device_t<T>>{elements(x)}, q).position + 1;
}

#define INSTANTIATE(T)                                    \
  template void swap<T>(Vector<T>, Vector<T>, Queue&);    \
  template void scal<T>(T, Vector<T>, Queue&);            \
  template void axpy<T>(T, Vector<T>, Vector<T>, Queue&); \
  template T dotu<T>(Vector<T>, Vector<T>, Queue&);       \
  template T dotc<T>(Vector<T>, Vector<T>, Queue&);       \
  template real_t<T> nrm2<T>(Vector<T>, Queue&);          \
  template real_t<T> asum<T>(Vector<T>, Queue&);          \
  template std::int64_t iamax<T>(Vector<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
