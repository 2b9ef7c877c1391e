// Transfers between host arrays and views, and copies on the device.
#include "devobj/matrix.hpp"

#include <algorithm>
#include <cstring>

#include "blas_checks.hpp"
#include "kernels/device.hpp"
#include "kernels/host/team.hpp"
#include "kernels/kernels.hpp"
#include "staged_transfer.hpp"

namespace devobj {
namespace {

template <class T> void check_shapes(const char* routine, HostArray<T> host, std::int64_t rows, std::int64_t cols) {
  require(host.rows == rows && host.cols == cols, routine, ": the host array is ", host.rows, " x ", host.cols,
          ", but the device object is ", rows, " x ", cols);
  require(host.data != nullptr || rows == 0 || cols == 0, routine, ": the host array is null, but has ", rows, " x ",
          cols, " elements");
}

// The bytes from the lowest to the highest element lie in one block that cudaMemcpy2D can describe.
template <class T> bool plain_columns(HostArray<T> host) {
  return host.row_stride == 1 && (host.cols <= 1 || host.col_stride >= host.rows);
}

// (a template, since a debug build has functions that nothing calls, and without CUDA there is no pointer_kind)
template <class T>
cuda::PointerKind kind_of(const char* routine, const T* host) {
  cuda::PointerKind kind = cuda::pointer_kind(host);
  require(kind != cuda::PointerKind::device, routine, ": the host array's address ", static_cast<const void*>(host),
          " is device memory");
  return kind;
}

template <class T> void cuda_copy(T* dst, std::int64_t ldd, const T* src, std::int64_t lds, std::int64_t rows, std::int64_t cols, Queue& q) {
  cuda::DeviceScope scope(q.device());
  cuda::copy_2d(dst, ldd * sizeof(T), src, lds * sizeof(T), rows * sizeof(T), cols, q.stream());
}

}  // namespace

template <class T> void to_device(HostArray<const scalar<T>> src, View<T> dst, Queue& q) {
  check_shapes("transfer to device", src, dst.rows, dst.cols);
  if (dst.empty()) return;
  if constexpr (cuda_built) {
    if (q.on_cuda()) {
      cuda::PointerKind kind = kind_of("transfer to device", src.data);
      if (plain_columns(src) && (kind != cuda::PointerKind::pageable ||
                                 (dst.size() * std::int64_t(sizeof(T)) <= 64 * 1024))) {
        cuda_copy<T>(dst.data, dst.ld, src.data, std::max(src.rows, src.col_stride), src.rows, src.cols, q);
        return q.wait();
      }
      return stage_to_device<T>(src, dst, q);
    }
  }
  q.submit("transfer to device", [=] {
    host::pack(src.data, sizeof(T), src.rows, src.cols, src.row_stride, src.col_stride, dst.data, dst.ld);
  });
  q.wait();
}

template <class T> void to_host(View<T> src, HostArray<scalar<T>> dst, Queue& q) {
  check_shapes("transfer to host", dst, src.rows, src.cols);
  if (src.empty()) return;
  if constexpr (cuda_built) {
    if (q.on_cuda()) {
      cuda::PointerKind kind = kind_of("transfer to host", dst.data);
      if (plain_columns(dst) && (kind != cuda::PointerKind::pageable ||
                                 (src.size() * std::int64_t(sizeof(T)) <= 64 * 1024))) {
        cuda_copy<T>(dst.data, std::max(dst.rows, dst.col_stride), src.data, src.ld, src.rows, src.cols, q);
        return q.wait();
      }
      return stage_to_host<T>(src, dst, q);
    }
  }
  q.submit("transfer to host", [=] {
    host::unpack(src.data, src.ld, sizeof(T), src.rows, src.cols, dst.data, dst.row_stride, dst.col_stride);
  });
  q.wait();
}

template <class T> void copy(View<T> src, View<T> dst, Queue& q) {
  require(src.rows == dst.rows && src.cols == dst.cols, "copy: src is ", src.rows, " x ", src.cols, ", but dst is ",
          dst.rows, " x ", dst.cols);
  if (src.empty()) return;
  require_distinct("copy", "src", src, "dst", dst);
  if constexpr (cuda_built) {
    if (q.on_cuda()) {
      cuda_copy<T>(dst.data, dst.ld, src.data, src.ld, src.rows, src.cols, q);
      return q.launched("copy");
    }
  }
  q.submit("copy", [=] {
    for (std::int64_t j = 0; j < src.cols; ++j)
      std::memcpy(static_cast<void*>(dst.data + j * dst.ld), src.data + j * src.ld, src.rows * sizeof(T));
  });
}

#define INSTANTIATE(T)                                                   \
  template void to_device<T>(HostArray<const T>, View<T>, Queue&);       \
  template void to_host<T>(View<T>, HostArray<T>, Queue&);               \
  template void copy<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace devobj
