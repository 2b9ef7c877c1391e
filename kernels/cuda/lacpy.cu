// B = A, whole or a triangle. LAPACK's lacpy.
#include "kernels/cuda/generate.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

template <class E>
struct ElementOf {
  Block<E> A;
  __device__ E operator()(std::int64_t i, std::int64_t j) const { return A(i, j); }
};

// Whether both matrices can be seen as matrices of `width`-byte words: every column starts and ends at a word's edge.
template <class T>
bool has_words(View<T> A, View<T> B, std::size_t width) {
  const auto fits = [width](std::uintptr_t bytes) { return bytes % width == 0; };
  return fits(reinterpret_cast<std::uintptr_t>(A.data)) && fits(reinterpret_cast<std::uintptr_t>(B.data)) &&
         fits(A.rows * sizeof(T)) && (A.cols == 1 || (fits(A.ld * sizeof(T)) && fits(B.ld * sizeof(T))));
}

template <class Word, class T>
Block<Word> words_of(View<T> A) {
  const std::int64_t bytes = sizeof(T), width = sizeof(Word);
  return {reinterpret_cast<Word*>(A.data), A.rows * bytes / width, A.cols, A.ld * bytes / width};
}

}  // namespace

template <class T>
void lacpy(Uplo uplo, View<T> A, View<T> B, Queue& q) {
  if (A.empty()) return;
  if (uplo == Uplo::General && has_words(A, B, sizeof(int4))) {
    generate<int4>("lacpy", uplo, words_of<int4>(B), ElementOf<int4>{words_of<int4>(A)}, q);
    return;
  }
  generate<device_t<T>>("lacpy", uplo, block_of(B), ElementOf<device_t<T>>{block_of(A)}, q);
}

#define INSTANTIATE(T) template void lacpy(Uplo, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
