// BLAS level 1 on views: checks, views to vectors, dispatch.
#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/kernels.hpp"

namespace devobj {
namespace {

/// Two vectors of one length, or two matrices of one shape.
template <class T>
void check_pair(const char* routine, View<T> x, View<T> y) {
  const bool vectors = (x.rows <= 1 || x.cols <= 1) && (y.rows <= 1 || y.cols <= 1);
  require((vectors && x.size() == y.size()) || (x.rows == y.rows && x.cols == y.cols), routine, ": x is ", x.rows,
          " x ", x.cols, ", but y is ", y.rows, " x ", y.cols);
}

/// Whether the elements of x in column order are one vector.
template <class T>
bool one_vector(View<T> x) {
  return x.rows <= 1 || x.contiguous();
}

/// Slice s of the columns or the rows of x, whichever are fewer: the order does not matter to element-wise work.
template <class T>
std::int64_t slices(View<T> x) {
  return std::min(x.rows, x.cols);
}
template <class T>
Vector<T> slice(View<T> x, std::int64_t s) {
  if (x.cols <= x.rows) return {x.data + s * x.ld, x.rows, 1};
  return {x.data + s, x.cols, x.ld};
}

/// f(x as vectors)
template <class T, class F>
void for_vectors(View<T> x, F&& f) {
  if (x.empty()) return;
  if (one_vector(x)) return f(as_vector(x));
  for (std::int64_t s = 0; s < slices(x); ++s) f(slice(x, s));
}
template <class T, class F>
void for_vectors(View<T> x, View<T> y, F&& f) {
  if (x.empty()) return;
  if (one_vector(x) && one_vector(y)) return f(as_vector(x), as_vector(y));
  for (std::int64_t s = 0; s < slices(x); ++s) f(slice(x, s), slice(y, s));
}

/// x as one vector for a reduction; a block with gaps between its columns is packed first.
template <class T>
class Packed {
 public:
  Packed(View<T> x, Queue& q) {
    if (one_vector(x)) {
      vector_ = as_vector(x);
      return;
    }
    copy_ = Matrix<T>(x.rows, x.cols, q);
    copy<T>(x, copy_.view(), q);
    vector_ = as_vector(copy_.view());
  }
  Vector<T> vector() const { return vector_; }

 private:
  Matrix<T> copy_;
  Vector<T> vector_;
};

}  // namespace

template <class T>
void swap(View<T> x, View<T> y, Queue& q) {
  check_pair("swap", x, y);
  require_distinct("swap", "x", x, "y", y);
  for_vectors(x, y, [&](Vector<T> x_part, Vector<T> y_part) {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cuda::swap(x_part, y_part, q);
    host::swap(x_part, y_part, q);
  });
}

template <class T>
void scal(scalar<T> alpha, View<T> x, Queue& q) {
  for_vectors(x, [&](Vector<T> part) {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cuda::scal(alpha, part, q);
    host::scal(alpha, part, q);
  });
}

template <class T>
void axpy(scalar<T> alpha, View<T> x, View<T> y, Queue& q) {
  check_pair("axpy", x, y);
  require_distinct("axpy", "x", x, "y", y);
  for_vectors(x, y, [&](Vector<T> x_part, Vector<T> y_part) {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cuda::axpy(alpha, x_part, y_part, q);
    host::axpy(alpha, x_part, y_part, q);
  });
}

template <class T>
T dotu(View<T> x, View<T> y, Queue& q) {
  check_pair("dotu", x, y);
  const Packed<T> x_packed(x, q), y_packed(y, q);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::dotu(x_packed.vector(), y_packed.vector(), q);
  return host::dotu(x_packed.vector(), y_packed.vector(), q);
}

template <class T>
T dotc(View<T> x, View<T> y, Queue& q) {
  check_pair("dotc", x, y);
  const Packed<T> x_packed(x, q), y_packed(y, q);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::dotc(x_packed.vector(), y_packed.vector(), q);
  return host::dotc(x_packed.vector(), y_packed.vector(), q);
}

template <class T>
real_t<T> nrm2(View<T> x, Queue& q) {
  const Packed<T> packed(x, q);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::nrm2(packed.vector(), q);
  return host::nrm2(packed.vector(), q);
}

template <class T>
real_t<T> asum(View<T> x, Queue& q) {
  const Packed<T> packed(x, q);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::asum(packed.vector(), q);
  return host::asum(packed.vector(), q);
}

template <class T>
std::int64_t iamax(View<T> x, Queue& q) {
  const Packed<T> packed(x, q);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::iamax(packed.vector(), q);
  return host::iamax(packed.vector(), q);
}

#define INSTANTIATE(T)                                        \
  template void swap<T>(View<T>, View<T>, Queue&);            \
  template void scal<T>(scalar<T>, View<T>, Queue&);          \
  template void axpy<T>(scalar<T>, View<T>, View<T>, Queue&); \
  template T dotu<T>(View<T>, View<T>, Queue&);               \
  template T dotc<T>(View<T>, View<T>, Queue&);               \
  template real_t<T> nrm2<T>(View<T>, Queue&);                \
  template real_t<T> asum<T>(View<T>, Queue&);                \
  template std::int64_t iamax<T>(View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
