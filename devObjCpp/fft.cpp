// FftPlan: what is checked, which layout is planned when, and what is done besides the transform: scaling, and keeping
// the input of an inverse transform to real.
#include "devobj/fft.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "blas_checks.hpp"
#include "kernels/fft.hpp"
#include "queue_impl.hpp"
#include "type_name.hpp"

namespace devobj {
namespace {

FftLayout layout_of(const FftLayout& layout, const void* in, const void* out, const Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::fft_layout(layout, in, out);
  return host::fft_layout(layout, in, out);
}
std::shared_ptr<void> make_plan(const FftLayout& layout, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::fft_plan(layout, q);
  return host::fft_plan(layout, q);
}
void execute(const std::shared_ptr<void>& plan, const FftLayout& layout, void* in, void* out, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::fft_execute(plan, layout, in, out, q);
  host::fft_execute(plan, layout, in, out, q);
}
template <class R>
void copy_scaled(R factor, View<R> A, View<R> B, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::fft_copy(factor, A, B, q);
  host::fft_copy(factor, A, B, q);
}

bool is_complex_type(Type type) {
  return type == Type::complex || type == Type::double_complex;
}

/// The array as real numbers, a complex one as pairs.
template <class R>
View<R> numbers(const FftOperand& A) {
  const std::int64_t parts = is_complex_type(A.type) ? 2 : 1;
  View<R> v;
  v.data = static_cast<R*>(A.data);
  v.rows = parts * A.rows;
  v.cols = A.cols;
  v.ld = parts * A.ld;
  return v;
}

/// B = factor A
void copy_scaled(double factor, const FftOperand& A, const FftOperand& B, Queue& q) {
  if (A.type == Type::real || A.type == Type::complex)
    copy_scaled(static_cast<float>(factor), numbers<float>(A), numbers<float>(B), q);
  else
    copy_scaled(factor, numbers<double>(A), numbers<double>(B), q);
}

}  // namespace

struct FftPlan::Impl {
  Type type;
  std::vector<std::int64_t> sizes;
  FftOptions options;
  FftLayout shape;
  std::int64_t cols = 0;
  std::map<FftLayout, std::shared_ptr<void>> plans;
  Storage kept;                              // the copy of an input, or a real array that cuFFT can take
  std::shared_ptr<Queue::Impl> first, last;  // the queues it was made for and last used with

  ~Impl() {
    if (last == nullptr) return;
    if (last->worker) last->worker->wait();
    if constexpr (cuda_built)
      if (last->backend == Backend::cuda && last->alive()) {
        try {
          cuda::stream_wait(last->stream, "~FftPlan");
        } catch (...) {  // the error is for the caller's next wait
        }
      }
  }

  Type type_of(bool transformed) const {
    if (!transformed) return type;
    return shape.single() ? Type::complex : Type::double_complex;
  }
  std::int64_t rows(bool transformed) const { return shape.real() && transformed ? sizes[0] / 2 + 1 : sizes[0]; }
  /// How many points one transform has, and the factor after a transform.
  double factor(bool forward) const {
    const double points = double(shape.n[0]) * double(shape.n[1]) * double(shape.n[2]);
    switch (options.scaling) {
      case FftScaling::inverse:
        return forward ? 1 : 1 / points;
      case FftScaling::unitary:
        return 1 / std::sqrt(points);
      default:
        return 1;
    }
  }

  const std::shared_ptr<void>& plan(const FftLayout& layout, Queue& q) {
    auto found = plans.find(layout);
    if (found == plans.end()) found = plans.emplace(layout, make_plan(layout, q)).first;
    return found->second;
  }

  void check_operand(const char* routine, const char* name, const FftOperand& A, bool transformed) const {
    const Type wanted = type_of(transformed);
    require(A.type == wanted, routine, ": ", name, " is of type '", type_name(A.type), "', must be '",
            type_name(wanted), "'");
    require(A.rows == rows(transformed) && A.cols == cols, routine, ": ", name, " is ", A.rows, " x ", A.cols,
            ", must be ", rows(transformed), " x ", cols);
  }

  /// True if out is in; error if they overlap otherwise.
  bool in_place(const char* routine, const FftOperand& in, const FftOperand& out) const {
    const std::int64_t in_parts = is_complex_type(in.type) ? 2 : 1, out_parts = is_complex_type(out.type) ? 2 : 1;
    if (in.data == out.data && (cols == 1 || in_parts * in.ld == out_parts * out.ld)) return true;
    require(!overlap(in.data, in.rows, in.cols, in.ld, bytes_of(in.type), out.data, out.rows, out.cols, out.ld,
                     bytes_of(out.type)),
            routine,
            ": in and out overlap in memory, but are not the same (in place the real array's leading dimension "
            "is twice the complex one's; they are ",
            in.ld, " and ", out.ld, ")");
    return false;
  }

  /// Contiguous memory of the plan's own in the shape of A.
  FftOperand copy_of(const FftOperand& A, Queue& q) {
    const std::size_t bytes = checked_bytes(A.rows, A.cols, static_cast<std::size_t>(bytes_of(A.type)));
    if (kept.bytes() < bytes) kept = Storage(bytes, q);
    return {A.type, kept.data(), A.rows, A.cols, A.rows};
  }

  void transform(const FftOperand& in, const FftOperand& out, bool forward, bool same, Queue& q) {
    FftLayout layout = shape;
    layout.forward = forward;
    layout.ld_in = in.ld;
    layout.ld_out = out.ld;
    layout.in_place = same;
    execute(plan(layout_of(layout, in.data, out.data, q), q), layout, in.data, out.data, q);
  }

  void run(const char* routine, bool forward, const FftOperand& in, const FftOperand& out, Queue& q) {
    require(q.backend() == first->backend && q.device() == first->device, routine,
            ": the plan belongs to another backend or device than the queue");
    check_operand(routine, "in", in, !forward);
    check_operand(routine, "out", out, forward);
    if (cols == 0) return;
    const bool same = in_place(routine, in, out);
    const double scale = factor(forward);
    last = q.impl();
    const auto fits = [&](const FftOperand& A) {  // cuFFT wants real arrays to start like complex ones
      return !q.on_cuda() || reinterpret_cast<std::uintptr_t>(A.data) % (2 * bytes_of(A.type)) == 0;
    };
    if (!shape.real() || same || (forward && fits(in)) || (!forward && options.overwrite_input && fits(out))) {
      transform(in, out, forward, same, q);
      if (scale != 1) copy_scaled(scale, out, out, q);
    } else if (forward) {
      const FftOperand copied = copy_of(in, q);
      copy_scaled(scale, in, copied, q);
      transform(copied, out, forward, false, q);
    } else if (fits(out)) {
      const FftOperand copied = copy_of(in, q);
      copy_scaled(scale, in, copied, q);
      transform(copied, out, forward, false, q);
    } else {
      // in place in the copy, as a real array of twice the leading dimension
      const FftOperand copied = copy_of(in, q);
      const FftOperand result(out.type, copied.data, out.rows, out.cols, 2 * copied.ld);
      copy_scaled(scale, in, copied, q);
      transform(copied, result, forward, true, q);
      copy_scaled(1, result, out, q);
    }
  }
};

FftPlan::FftPlan(Type type, std::vector<std::int64_t> n, Queue& q, FftOptions options) {
  require(type == Type::real || type == Type::double_precision || is_complex_type(type), "fft_plan: type is '",
          type_name(type), "', must be real, double, complex or double complex");
  require(n.size() >= 1 && n.size() <= 3, "fft_plan: there are ", n.size(), " sizes, must be 1 to 3");
  for (std::size_t d = 0; d < n.size(); ++d)
    require(n[d] >= 1, "fft_plan: n", d + 1, " is ", n[d], ", must be at least 1");
  require(options.batch >= 0, "fft_plan: batch is ", options.batch, ", must not be negative");
  require(options.scaling == FftScaling::none || options.scaling == FftScaling::inverse ||
              options.scaling == FftScaling::unitary,
          "fft_plan: scaling is ", static_cast<int>(options.scaling), ", must be 0 (none), 1 (inverse) or 2 (unitary)");
  auto impl = std::make_unique<Impl>();
  impl->type = type;
  impl->options = options;
  impl->shape.type = type;
  impl->shape.batch = options.batch;
  impl->shape.measure = options.measure;
  impl->cols = options.batch;
  for (std::size_t d = 0; d < n.size(); ++d) {
    impl->shape.n[d] = n[d];
    if (d > 0) impl->cols = static_cast<std::int64_t>(checked_bytes(n[d], impl->cols, 1));
  }
  checked_bytes(n[0] / 2 + 1, impl->cols, 32);
  impl->sizes = std::move(n);
  impl->first = q.impl();
  if (impl->cols > 0)
    for (const bool forward : {true, false}) {
      FftLayout layout = impl->shape;
      layout.forward = forward;
      layout.ld_in = impl->rows(!forward);
      layout.ld_out = impl->rows(forward);
      impl->plan(layout_of(layout, nullptr, nullptr, q), q);
    }
  impl_ = std::move(impl);
}

FftPlan::FftPlan(FftPlan&&) noexcept = default;
FftPlan& FftPlan::operator=(FftPlan&&) noexcept = default;
FftPlan::~FftPlan() = default;

Type FftPlan::type() const noexcept {
  return impl_->type;
}
const std::vector<std::int64_t>& FftPlan::sizes() const noexcept {
  return impl_->sizes;
}
const FftOptions& FftPlan::options() const noexcept {
  return impl_->options;
}
Type FftPlan::type_of(bool transformed) const noexcept {
  return impl_->type_of(transformed);
}
std::int64_t FftPlan::rows(bool transformed) const noexcept {
  return impl_->rows(transformed);
}
std::int64_t FftPlan::cols() const noexcept {
  return impl_->cols;
}

void FftPlan::forward(FftOperand in, FftOperand out, Queue& q) {
  impl_->run("fft_forward", true, in, out, q);
}
void FftPlan::inverse(FftOperand in, FftOperand out, Queue& q) {
  impl_->run("fft_inverse", false, in, out, q);
}

}  // namespace devobj
