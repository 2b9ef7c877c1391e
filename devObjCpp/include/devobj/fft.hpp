// Fourier transforms: plans for 1, 2 and 3 dimensions, batched, complex or between real and complex, by cuFFT on the GPU
// and FFTW on the host.
#pragma once

#include <memory>
#include <vector>

#include "devobj/matrix.hpp"

namespace devobj {

/// What the results are multiplied by; N is the number of points of one transform.
enum class FftScaling : int {
  none = 0,     ///< nothing: a transform there and back gives N times the input
  inverse = 1,  ///< 1 / N, after the inverse transform
  unitary = 2   ///< 1 / sqrt(N), after both
};

struct FftOptions {
  std::int64_t batch = 1;  ///< transforms of a call, side by side in the arrays
  FftScaling scaling = FftScaling::none;
  /// An inverse transform to real may use its input as workspace. Without it the input is kept, by a copy.
  bool overwrite_input = false;
  /// Host: time several algorithms when a layout is planned (FFTW_MEASURE: a second or more for large transforms) instead
  /// of taking an estimate. The GPU ignores it.
  bool measure = false;
};

/// An array as a transform sees it: a View without its type.
struct FftOperand {
  template <class T> FftOperand(View<T> A) : type(type_traits<T>::type), data(A.data), rows(A.rows), cols(A.cols), ld(A.ld) {}
  FftOperand(Type type_, void* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t ld_)
      : type(type_), data(data_), rows(rows_), cols(cols_), ld(ld_) {}
  Type type;
  void* data;
  std::int64_t rows, cols, ld;
};

/// A plan of transforms of n[0] x n[1] x n[2] points (1 to 3 sizes, each at least 1):
///
///   forward   y(k) = sum over j of x(j) exp(-2 pi i (j1 k1 / n1 + j2 k2 / n2 + j3 k3 / n3))
///   inverse   the same with +2 pi i
///
/// `type` is that of the array before the forward transform. complex, double_complex: both arrays are n1 x (n2 n3 batch).
/// real, double_precision: x is real, n1 x (n2 n3 batch), and of y, in which y(n - k) = conj(y(k)), the first half is
/// stored: n1 / 2 + 1 rows; the inverse takes y's other half, and imaginary parts that must be zero, for granted. Column
/// j2 + n2 (j3 + n3 b), all from 0, of an array is the line (:, j2, j3) of transform b. Leading dimensions may be
/// larger than the rows.
///
/// In place: out is in, and for transforms between real and complex the real array starts where the complex one does
/// and has twice its leading dimension. Other overlap is an error.
///
/// A plan is made for contiguous arrays; for other leading dimensions, and in place on the host, the first call plans
/// once more and keeps that. One thread at a time may use a plan; work of one plan must not run on two queues at a
/// time. Move-only; its end waits for its last work.
class FftPlan {
 public:
  /// Errors: invalid_argument (type, sizes, batch), not_supported (the host backend without FFTW), out_of_memory.
  FftPlan(Type type, std::vector<std::int64_t> n, Queue& q, FftOptions options = {});
  FftPlan(FftPlan&&) noexcept;
  FftPlan& operator=(FftPlan&&) noexcept;
  ~FftPlan();

  Type type() const noexcept;
  const std::vector<std::int64_t>& sizes() const noexcept;
  const FftOptions& options() const noexcept;
  /// Type and shape of the arrays: before the forward transform, and after it.
  Type type_of(bool transformed) const noexcept;
  std::int64_t rows(bool transformed) const noexcept;
  std::int64_t cols() const noexcept;

  /// out = the transform of in. Errors: invalid_argument for types and shapes that are not the plan's, for overlap, and
  /// for a queue of another backend or GPU.
  void forward(FftOperand in, FftOperand out, Queue& q);
  void inverse(FftOperand in, FftOperand out, Queue& q);
  template <class T, class U> void forward(View<T> in, View<U> out, Queue& q) {
    forward(FftOperand(in), FftOperand(out), q);
  }
  template <class T, class U> void inverse(View<T> in, View<U> out, Queue& q) {
    inverse(FftOperand(in), FftOperand(out), q);
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace devobj
