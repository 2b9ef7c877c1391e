// Matrix: an owner of device memory that is a View, and the transfers between host arrays and views.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// Bytes in a queue's memory: on the GPU from a cached pool, on the host 64-byte aligned. Allocation and release
/// are in order with the queue's work and do not wait. Fresh memory holds NaN under DEVOBJ_CHECK=1. Move-only.
class Storage {
 public:
  Storage() = default;
  /// Errors: out_of_memory; nothing is lost by it.
  Storage(std::size_t bytes, Queue& q);
  ~Storage();
  Storage(Storage&& other) noexcept { swap(other); }
  Storage& operator=(Storage&& other) noexcept {
    swap(other);
    return *this;
  }
  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(Storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    owner_.swap(other.owner_);
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<Queue::Impl> owner_;
};

/// rows * cols * element_bytes, or out_of_memory if that does not fit into an int64. Negative sizes: invalid_argument.
std::size_t checked_bytes(std::int64_t rows, std::int64_t cols, std::size_t element_bytes);

/// A rows x cols matrix with ld = max(1, rows). It is a View, so it goes wherever a view goes. Move-only.
/// The elements are not initialised. Errors: invalid_argument for negative sizes, out_of_memory.
template <class T> class Matrix : public View<T> {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t cols, Queue& q) : storage_(checked_bytes(rows, cols, sizeof(T)), q) {
    static_cast<View<T>&>(*this) = View<T>(static_cast<T*>(storage_.data()), rows, cols);
  }
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;
  View<T> view() const noexcept { return *this; }

 private:
  Storage storage_;
};

/// A host array of rows x cols elements: element (i, j) is at data[i * row_stride + j * col_stride]. Strides count
/// elements and may be negative or zero, so that any section of a Fortran or C array can be described.
template <class T> struct HostArray {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0, row_stride = 1, col_stride = 0;

  HostArray() = default;
  HostArray(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t row_stride_, std::int64_t col_stride_)
      : data(data_), rows(rows_), cols(cols_), row_stride(row_stride_), col_stride(col_stride_) {}
  /// Column-major with leading dimension ld, as LAPACK has it.
  HostArray(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t ld)
      : HostArray(data_, rows_, cols_, 1, ld) {}
};

/// dst = src, from a host array to the queue's memory. The array may be changed or freed as soon as this returns.
/// Pageable memory goes through pinned staging buffers; pinned memory is copied directly. Shapes must agree.
template <class T> void to_device(HostArray<const scalar<T>> src, View<T> dst, Queue& q);

/// dst = src, from the queue's memory to a host array. Waits: the array is complete when this returns.
template <class T> void to_host(View<T> src, HostArray<scalar<T>> dst, Queue& q);

/// dst = src within the queue's memory; equal shapes, no overlap.
template <class T> void copy(View<T> src, View<T> dst, Queue& q);

}  // namespace devobj
