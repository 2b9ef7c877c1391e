#include "raw_fft.hpp"

#include "cuda_side.hpp"
#include "devobj/error.hpp"

#ifdef DEVOBJ_BENCH_FFTW
#include <fftw3.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace bench {
namespace {

#define BENCH_FFTW(NAME, prefix, real)                                                                                 \
  std::function<void()> NAME(const RawFft& w, void* in, void* out) {                                                   \
    std::vector<int> n(w.n.rbegin(), w.n.rend());                                                                      \
    const int rank = static_cast<int>(n.size()), batch = static_cast<int>(w.batch);                                    \
    std::int64_t cols = 1;                                                                                             \
    for (std::size_t d = 1; d < w.n.size(); ++d) cols *= w.n[d];                                                       \
    const bool from_real = w.type == 's' || w.type == 'd';                                                             \
    const std::int64_t half = (w.n[0] / 2 + 1) * cols, full = w.n[0] * cols;                                           \
    static const bool threads = prefix##_init_threads() != 0;                                                          \
    if (threads)                                                                                                       \
      prefix##_plan_with_nthreads(full* w.batch < 65536 ? 1 : static_cast<int>(std::thread::hardware_concurrency()));  \
    auto c = [](void* p) { return static_cast<prefix##_complex*>(p); };                                                \
    auto r = [](void* p) { return static_cast<real*>(p); };                                                            \
    prefix##_plan plan =                                                                                               \
        !from_real  ? prefix##_plan_many_dft(rank, n.data(), batch, c(in), nullptr, 1, static_cast<int>(full), c(out), \
                                             nullptr, 1, static_cast<int>(full),                                       \
                                            w.forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE)                  \
        : w.forward ? prefix##_plan_many_dft_r2c(rank, n.data(), batch, r(in), nullptr, 1, static_cast<int>(full),     \
                                                 c(out), nullptr, 1, static_cast<int>(half), FFTW_ESTIMATE)            \
                    : prefix##_plan_many_dft_c2r(rank, n.data(), batch, c(in), nullptr, 1, static_cast<int>(half),     \
                                                 r(out), nullptr, 1, static_cast<int>(full), FFTW_ESTIMATE);           \
    std::shared_ptr<std::remove_pointer_t<prefix##_plan>> owner(plan,                                                  \
                                                                [](prefix##_plan p) { prefix##_destroy_plan(p); });    \
    return [owner] { prefix##_execute(owner.get()); };                                                                 \
  }
BENCH_FFTW(single, fftwf, float)
BENCH_FFTW(twice, fftw, double)
#undef BENCH_FFTW

}  // namespace
}  // namespace bench
#endif

namespace bench {

std::function<void()> raw_fft(const RawFft& what, void* in, void* out, devobj::Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::raw_fft(what, in, out, q.stream());
#ifdef DEVOBJ_BENCH_FFTW
  return what.type == 's' || what.type == 'c' ? single(what, in, out) : twice(what, in, out);
#else
  return {};
#endif
}

}  // namespace bench
