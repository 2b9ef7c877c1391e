// cuRAND's generators: they make words in a buffer, the kernels here make the elements of them. The distributions,
// their ranges, views and odd counts are thus the same for all generators.
#include <curand.h>

#include "kernels/cuda/random.cuh"
#include "kernels/curand.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

void check(curandStatus_t status, const char* what) {
  if (status == CURAND_STATUS_SUCCESS) return;
  cudaGetLastError();
  fail(status == CURAND_STATUS_ALLOCATION_FAILED ? Status::out_of_memory : Status::device_error, what,
       ": cuRAND error ", static_cast<int>(status));
}

curandRngType_t type_of(Generator kind) {
  switch (kind) {
    case Generator::curand_philox:
      return CURAND_RNG_PSEUDO_PHILOX4_32_10;
    case Generator::xorwow:
      return CURAND_RNG_PSEUDO_XORWOW;
    case Generator::mrg32k3a:
      return CURAND_RNG_PSEUDO_MRG32K3A;
    case Generator::mtgp32:
      return CURAND_RNG_PSEUDO_MTGP32;
    case Generator::mt19937:
      return CURAND_RNG_PSEUDO_MT19937;
    case Generator::sobol32:
      return CURAND_RNG_QUASI_SOBOL32;
    case Generator::scrambled_sobol32:
      return CURAND_RNG_QUASI_SCRAMBLED_SOBOL32;
    case Generator::sobol64:
      return CURAND_RNG_QUASI_SOBOL64;
    case Generator::scrambled_sobol64:
      return CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    case Generator::philox:
    case Generator::state:
      break;
  }
  fail(Status::internal_error, "curand: generator ", static_cast<int>(kind), " is not cuRAND's");
}

curandGenerator_t as_generator(void* handle) {
  return static_cast<curandGenerator_t>(handle);
}

// A thread has one quad.
template <bool in_line, class D>
__global__ void __launch_bounds__(threads)
    random_words_kernel(const std::uint32_t* words, std::int64_t begin, std::int64_t end, random::Philox own,
                        std::uint64_t block, Draw<D> draw) {
  random::load_table(draw.d);
  const std::int64_t b = begin + std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (b >= end) return;
  const uint4 w = reinterpret_cast<const uint4*>(words)[b - begin];
  const random::Quad quad = {{w.x, w.y, w.z, w.w}};
  if (in_line && draw.holds(b, b + 1))
    draw.put_whole(quad, own, block + b, b);
  else
    draw.put(quad, own, block + b, b);
}

// ---- quasirandom: one number in, one out ----
template <class T>
__device__ T inverse(random::UnitUniform<T>, double u) {
  return T(u);
}
template <class T>
__device__ T inverse(random::Uniform<T> d, double u) {
  return random::within(T(fma(u, double(d.width), double(d.a))), d.least, d.most);
}
template <class T>
__device__ T inverse(random::Normal<T> d, double u) {
  return T(fma(normcdfinv(u), double(d.sigma), double(d.mean)));
}
template <class T>
__device__ T inverse(random::LogNormal<T> d, double u) {
  return T(exp(fma(normcdfinv(u), double(d.sigma), double(d.mean))));
}
template <class T>
__device__ T inverse(random::Exponential<T> d, double u) {
  return T(-2 * double(d.half_mean) * log(u));
}

template <class D, class Number>
__device__ typename D::value of_quasi(D d, Number number) {
  using T = typename D::value;
  constexpr int bits = 8 * sizeof(Number);
  if constexpr (std::is_same_v<D, random::Words>) {
    return static_cast<std::int32_t>(number >> (bits - 32));
  } else {
    // The middle of an interval of 2^-32 or 2^-52.
    const double u =
        bits == 32 ? fma(double(number), 0x1p-32, 0x1p-33) : fma(double(number >> (bits - 52)), 0x1p-52, 0x1p-53);
    const T x = inverse(d, u);
    if constexpr (std::is_same_v<D, random::UnitUniform<float>>)
      return fminf(x, 1.0f - 0x1p-24f);
    else
      return x;
  }
}

// A thread has one element.
template <class D, class Number>
__global__ void __launch_bounds__(threads)
    random_quasi_kernel(const Number* numbers, std::int64_t begin, std::int64_t end, D d, Block<typename D::value> A) {
  const std::int64_t e = begin + std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (e < end) A(e % A.rows, e / A.rows) = of_quasi(d, numbers[e - begin]);
}

}  // namespace

void* curand_create(Generator kind, std::uint64_t seed, int device) {
  DeviceScope scope(device);
  curandGenerator_t generator = nullptr;
  check(curandCreateGenerator(&generator, type_of(kind)), "curandCreateGenerator");
  try {
    if (is_quasi(kind)) {
      check(curandSetQuasiRandomGeneratorDimensions(generator, 1), "curandSetQuasiRandomGeneratorDimensions");
    } else {
      check(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY), "curandSetGeneratorOrdering");
      check(curandSetPseudoRandomGeneratorSeed(generator, seed), "curandSetPseudoRandomGeneratorSeed");
    }
  } catch (...) {
    curandDestroyGenerator(generator);
    throw;
  }
  return generator;
}
void curand_destroy(void* handle) noexcept {
  curandDestroyGenerator(as_generator(handle));
  cudaGetLastError();
}
bool curand_can_skip(Generator kind) noexcept {
  return kind != Generator::mtgp32 && kind != Generator::mt19937;
}
void curand_skip_to(void* handle, std::uint64_t position, Queue& q) {
  DeviceScope scope(q.device());
  check(curandSetGeneratorOffset(as_generator(handle), position), "curandSetGeneratorOffset");
}
void curand_generate(void* handle, Generator kind, void* numbers, std::int64_t count, Queue& q) {
  DeviceScope scope(q.device());
  check(curandSetStream(as_generator(handle), stream_of(q)), "curandSetStream");
  const auto n = static_cast<std::size_t>(count);
  if (is_wide(kind))
    check(curandGenerateLongLong(as_generator(handle), static_cast<unsigned long long*>(numbers), n),
          "curandGenerateLongLong");
  else
    check(curandGenerate(as_generator(handle), static_cast<unsigned int*>(numbers), n), "curandGenerate");
  q.launched("curand_generate");
}

template <class D>
void random_words(const std::uint32_t* words, std::int64_t begin, std::int64_t end, random::Philox own,
                  std::uint64_t position, D d, View<typename D::value> A, Queue& q) {
  if (begin == end) return;
  DeviceScope scope(q.device());
  const Draw<D> draw(d, 0, A);
  const auto kernel = draw.aligned ? random_words_kernel<true, D> : random_words_kernel<false, D>;
  kernel<<<static_cast<unsigned>(ceil_div(end - begin, threads)), threads, random::table_bytes(d), stream_of(q)>>>(
      words, begin, end, own, position / 4, draw);
  q.launched("random_words");
}

template <class D>
void random_quasi(const void* numbers, bool wide, std::int64_t begin, std::int64_t end, D d, View<typename D::value> A,
                  Queue& q) {
  if (begin == end) return;
  DeviceScope scope(q.device());
  const auto grid = static_cast<unsigned>(ceil_div(end - begin, threads));
  if (wide)
    random_quasi_kernel<<<grid, threads, 0, stream_of(q)>>>(static_cast<const unsigned long long*>(numbers), begin, end,
                                                            d, block_of(A));
  else
    random_quasi_kernel<<<grid, threads, 0, stream_of(q)>>>(static_cast<const unsigned int*>(numbers), begin, end, d,
                                                            block_of(A));
  q.launched("random_quasi");
}

#define INSTANTIATE(D)                                                                                           \
  template void random_words(const std::uint32_t*, std::int64_t, std::int64_t, random::Philox, std::uint64_t, D, \
                             View<D::value>, Queue&);
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(D) \
  template void random_quasi(const void*, bool, std::int64_t, std::int64_t, D, View<D::value>, Queue&);
DEVOBJ_FOR_EACH_QUASI_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
