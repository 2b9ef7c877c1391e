// A = offdiag beside and diag on the diagonal, whole or a triangle. LAPACK's laset.
#include "kernels/cuda/generate.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

template <class E>
struct Constant {
  E offdiag, diag;
  __device__ E operator()(std::int64_t i, std::int64_t j) const { return i == j ? diag : offdiag; }
};

}  // namespace

template <class T>
void laset(Uplo uplo, T offdiag, T diag, View<T> A, Queue& q) {
  using E = device_t<T>;
  generate<E>("laset", uplo, block_of(A), Constant<E>{raw_value(offdiag), raw_value(diag)}, q);
}

#define INSTANTIATE(T) template void laset(Uplo, T, T, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
