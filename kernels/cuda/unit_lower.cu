// V = the unit lower trapezoid of A, with its ones and zeros written out.
#include "kernels/cuda/generate.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

template <class E>
struct UnitLower {
  Block<E> A;
  E zero, one;
  __device__ E operator()(std::int64_t i, std::int64_t j) const { return i > j ? A(i, j) : i == j ? one : zero; }
};

}  // namespace

template <class T>
void unit_lower(View<T> A, View<T> V, Queue& q) {
  using E = device_t<T>;
  generate<E>("unit_lower", Uplo::General, block_of(V), UnitLower<E>{block_of(A), raw_value(T(0)), raw_value(T(1))}, q);
}

#define INSTANTIATE(T) template void unit_lower(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
