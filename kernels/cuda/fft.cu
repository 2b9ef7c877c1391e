// Fourier transforms by cuFFT.
//
// A dimension of one point is left out of the plan, since it does nothing; where the dimension of which a real transform
// keeps half is of one point, the transform is a complex one with a conversion before or after it.
#include <cufft.h>

#include <memory>

#include "devobj/matrix.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/fft.hpp"

namespace devobj::cuda {
namespace {

void check_fft(cufftResult status, const char* routine) {
  if (status == CUFFT_SUCCESS) return;
  fail(status == CUFFT_ALLOC_FAILED ? Status::out_of_memory : Status::device_error, routine, ": cuFFT error ",
       static_cast<int>(status));
}

// y = (x, 0), the columns' first elements; x may lie in y.
template <class R, class E>
__global__ void __launch_bounds__(threads_per_block)
    widen_kernel(const R* x, std::int64_t ldx, E* y, std::int64_t ldy, std::int64_t n) {
  for (std::int64_t j = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x; j < n;
       j += std::int64_t(gridDim.x) * threads_per_block)
    y[j * ldy] = E{x[j * ldx], R(0)};
}

// x = Re y, the columns' first elements; x may lie in y.
template <class R, class E>
__global__ void __launch_bounds__(threads_per_block)
    narrow_kernel(const E* y, std::int64_t ldy, R* x, std::int64_t ldx, std::int64_t n) {
  for (std::int64_t j = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x; j < n;
       j += std::int64_t(gridDim.x) * threads_per_block)
    x[j * ldx] = y[j * ldy].x;
}

// The first dimension of a real transform has one point: complex transforms of the rest.
bool by_conversion(const FftLayout& l) { return l.real() && l.n[0] == 1; }

struct Planned {
  Context context;
  cufftHandle handle = 0;
  bool planned = false;  // there is something to transform
  void* stream = nullptr;
  Storage work;

  Planned(const FftLayout& l, Queue& q) {
    DeviceScope scope(q.device());
    context = context_of(q.device());
    // Strides of the dimensions of more than one point, slowest first, as cuFFT wants them: each a multiple of the next.
    const bool convert = by_conversion(l);
    const std::int64_t ld_in = convert ? (l.forward ? l.ld_out : l.ld_in) : l.ld_in, ld_out = convert ? ld_in : l.ld_out;
    const std::int64_t in[3] = {1, ld_in, ld_in * l.n[1]}, out[3] = {1, ld_out, ld_out * l.n[1]};
    long long n[3], in_embed[3], out_embed[3];
    int rank = 0, slower = -1;
    long long in_stride = 1, out_stride = 1;
    for (int d = 2; d >= 0; --d) {
      if (l.n[d] == 1) continue;
      if (slower >= 0) {
        in_embed[rank] = in[slower] / in[d];
        out_embed[rank] = out[slower] / out[d];
      }
      n[rank++] = l.n[d];
      in_stride = in[d];
      out_stride = out[d];
      slower = d;
    }
    if (rank == 0) return;
    in_embed[0] = n[0];  // not looked at
    out_embed[0] = n[0];
    std::size_t bytes = 0;
    cufftHandle made = 0;
    check_fft(cufftCreate(&made), "fft_plan");
    handle = made;
    planned = true;
    try {
      check_fft(cufftSetAutoAllocation(handle, 0), "fft_plan");
      const bool complex = !l.real() || convert;
      const cufftType type = l.single() ? (complex ? CUFFT_C2C : l.forward ? CUFFT_R2C : CUFFT_C2R)
                                        : (complex ? CUFFT_Z2Z : l.forward ? CUFFT_D2Z : CUFFT_Z2D);
      check_fft(cufftMakePlanMany64(handle, rank, n, in_embed, in_stride, in[2] * l.n[2], out_embed, out_stride,
                                out[2] * l.n[2], type, l.batch, &bytes),
            "fft_plan");
      if (bytes > 0) {
        work = Storage(bytes, q);
        check_fft(cufftSetWorkArea(handle, work.data()), "fft_plan");
      }
    } catch (...) {
      destroy();
      throw;
    }
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() { destroy(); }

  void destroy() noexcept {
    if (planned && alive(context)) cufftDestroy(handle);
    planned = false;
  }

  template <class R> void execute(const FftLayout& l, void* in, void* out, Queue& q) {
    using E = device_t<std::complex<R>>;
    const std::int64_t cols = l.n[1] * l.n[2] * l.batch;
    const bool convert = by_conversion(l);
    const int sign = l.forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    if (planned && stream != q.stream()) {
      check_fft(cufftSetStream(handle, stream_of(q)), "fft");
      stream = q.stream();
    }
    if (convert && l.forward) {
      widen_kernel<<<blocks_for(cols), threads_per_block, 0, stream_of(q)>>>(static_cast<const R*>(in), l.ld_in,
                                                                             static_cast<E*>(out), l.ld_out, cols);
      q.launched("fft");
      in = out;
    }
    if (convert) {
      if (planned) complex_transform(static_cast<E*>(in), static_cast<E*>(in), sign);
    } else if (!planned) {  // single points
      check(cudaMemcpy2DAsync(out, l.ld_out * sizeof(E), in, l.ld_in * sizeof(E), sizeof(E), cols,
                              cudaMemcpyDeviceToDevice, stream_of(q)),
            "fft");
    } else if (!l.real()) {
      complex_transform(static_cast<E*>(in), static_cast<E*>(out), sign);
    } else if constexpr (std::is_same_v<R, float>) {
      check_fft(l.forward ? cufftExecR2C(handle, static_cast<float*>(in), static_cast<cuComplex*>(out))
                      : cufftExecC2R(handle, static_cast<cuComplex*>(in), static_cast<float*>(out)),
            "fft");
    } else {
      check_fft(l.forward ? cufftExecD2Z(handle, static_cast<double*>(in), static_cast<cuDoubleComplex*>(out))
                      : cufftExecZ2D(handle, static_cast<cuDoubleComplex*>(in), static_cast<double*>(out)),
            "fft");
    }
    if (convert && !l.forward)
      narrow_kernel<<<blocks_for(cols), threads_per_block, 0, stream_of(q)>>>(static_cast<const E*>(in), l.ld_in,
                                                                              static_cast<R*>(out), l.ld_out, cols);
    q.launched("fft");
  }

  void complex_transform(cuComplex* in, cuComplex* out, int sign) const {
    check_fft(cufftExecC2C(handle, in, out, sign), "fft");
  }
  void complex_transform(cuDoubleComplex* in, cuDoubleComplex* out, int sign) const {
    check_fft(cufftExecZ2Z(handle, in, out, sign), "fft");
  }
};

}  // namespace

FftLayout fft_layout(FftLayout l, const void*, const void*) {
  l.aligned = true;
  l.measure = false;
  l.in_place = false;
  if (!l.real()) l.forward = true;  // one plan for both
  return l;
}

std::shared_ptr<void> fft_plan(const FftLayout& l, Queue& q) { return std::make_shared<Planned>(l, q); }

void fft_execute(const std::shared_ptr<void>& plan, const FftLayout& l, void* in, void* out, Queue& q) {
  DeviceScope scope(q.device());
  Planned& planned = *static_cast<Planned*>(plan.get());
  if (l.single()) planned.execute<float>(l, in, out, q);
  else planned.execute<double>(l, in, out, q);
}

}  // namespace devobj::cuda
