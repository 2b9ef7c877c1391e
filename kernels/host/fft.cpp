// Fourier transforms by FFTW 3. FFTW's threads are the library's team; without FFTW planning is an error.
#include "kernels/fft.hpp"

#ifdef DEVOBJ_HAVE_FFTW

#include <fftw3.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "devobj/matrix.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

// FFTW's functions, by precision.
template <class R>
struct Fftw;
#define DEVOBJ_FFTW(R, prefix)                                                \
  template <>                                                                 \
  struct Fftw<R> {                                                            \
    using Plan = prefix##_plan;                                               \
    using Complex = prefix##_complex;                                         \
    using Dim = prefix##_iodim64;                                             \
    static constexpr auto complex_plan = prefix##_plan_guru64_dft;            \
    static constexpr auto forward_plan = prefix##_plan_guru64_dft_r2c;        \
    static constexpr auto inverse_plan = prefix##_plan_guru64_dft_c2r;        \
    static constexpr auto execute_complex = prefix##_execute_dft;             \
    static constexpr auto execute_forward = prefix##_execute_dft_r2c;         \
    static constexpr auto execute_inverse = prefix##_execute_dft_c2r;         \
    static constexpr auto destroy = prefix##_destroy_plan;                    \
    [[maybe_unused]] static constexpr auto alignment = prefix##_alignment_of; \
    DEVOBJ_FFTW_WITH_THREADS(prefix)                                          \
  };
#ifdef DEVOBJ_FFTW_THREADS
#define DEVOBJ_FFTW_WITH_THREADS(prefix)                         \
  static constexpr auto init_threads = prefix##_init_threads;    \
  static constexpr auto plan_with = prefix##_plan_with_nthreads; \
  static constexpr auto set_loop = prefix##_threads_set_callback;
#else
#define DEVOBJ_FFTW_WITH_THREADS(prefix)
#endif
DEVOBJ_FFTW(float, fftwf)
DEVOBJ_FFTW(double, fftw)
#undef DEVOBJ_FFTW_WITH_THREADS
#undef DEVOBJ_FFTW

// FFTW's planner may be used by one thread at a time.
std::mutex planner;

#ifdef DEVOBJ_FFTW_THREADS
// FFTW's parallel loop on the team: work(jobs + i size) for all i.
void loop_on_team(void* (*work)(char*), char* jobs, std::size_t size, int count, void*) {
  Team::shared().run(count, [&](Team::Member& me) {
    for (int i = me.rank(); i < count; i += me.size()) work(jobs + size * static_cast<std::size_t>(i));
  });
}
#endif

// The threads of the plans that are made next. Needs the planner.
template <class R>
void plan_with_threads_for([[maybe_unused]] std::int64_t points) {
#ifdef DEVOBJ_FFTW_THREADS
  static const bool ready = [] {
    const bool started = Fftw<R>::init_threads() != 0;
    if (started) Fftw<R>::set_loop(loop_on_team, nullptr);
    return started;
  }();
  constexpr std::size_t grain = std::size_t{1} << 17;
  if (ready)
    Fftw<R>::plan_with(
        threads_for(static_cast<std::size_t>(points) * sizeof(std::complex<R>), grain, Team::shared().size()));
#endif
}

/// The largest prime factor of n >= 1.
std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t d = 2; d <= n / d; ++d)
    for (; n % d == 0; n /= d) largest = d;
  return std::max(largest, n);
}

/// Error out_of_memory if a large plan cannot be had: FFTW ends the process where it gets no memory. It takes tables of a
/// dimension's size, and for a prime factor that it has no code for transforms of several times the size.
void require_memory_for_plan(const FftLayout& l) {
  const auto require_bytes = [&](std::int64_t numbers) {
    std::int64_t bytes = 0;
    void* const trial = __builtin_mul_overflow(numbers, std::int64_t{16}, &bytes)
                            ? nullptr
                            : std::malloc(static_cast<std::size_t>(bytes));
    if (trial == nullptr)
      fail(Status::out_of_memory, "fft_plan: no memory for a plan of ", l.n[0], " x ", l.n[1], " x ", l.n[2],
           " points");
    std::free(trial);
  };
  const std::int64_t points = l.n[0] * l.n[1] * l.n[2];
  if (points < std::int64_t{1} << 24) return;
  require_bytes(points);  // what is smaller than memory is soon factored
  std::int64_t numbers = points;
  for (const std::int64_t n : l.n) {
    const std::int64_t factor = largest_prime_factor(n);
    numbers += 2 * n + (factor > 100 ? 16 * factor : 0);
  }
  require_bytes(numbers);
}

template <class R>
struct Planned {
  using Api = Fftw<R>;
  typename Api::Plan plan = nullptr;

  Planned(const FftLayout& l, Queue& q) {
    using Dim = typename Api::Dim;
    require_memory_for_plan(l);
    // Slowest first: the last dimension is the one of which a real transform keeps half.
    Dim dims[3];
    int rank = 0;
    const std::int64_t in[3] = {1, l.ld_in, l.ld_in * l.n[1]}, out[3] = {1, l.ld_out, l.ld_out * l.n[1]};
    for (int d = 2; d >= 0; --d)
      if (l.n[d] > 1 || d == 0) dims[rank++] = {l.n[d], in[d], out[d]};
    const Dim batch = {l.batch, in[2] * l.n[2], out[2] * l.n[2]};

    // Memory to plan with: FFTW_MEASURE writes to it, FFTW_ESTIMATE looks at the addresses alone.
    const std::int64_t cols = l.n[1] * l.n[2] * l.batch;
    const std::int64_t in_bytes = l.ld_in * cols * std::int64_t(l.real() && l.forward ? sizeof(R) : 2 * sizeof(R));
    const std::int64_t out_bytes = l.ld_out * cols * std::int64_t(l.real() && !l.forward ? sizeof(R) : 2 * sizeof(R));
    Storage in_memory, out_memory;
    auto from = reinterpret_cast<unsigned char*>(std::uintptr_t{1} << 20), to = from + (std::uintptr_t{1} << 20);
    if (l.measure) {
      in_memory = Storage(static_cast<std::size_t>(in_bytes) + 64, q);
      from = static_cast<unsigned char*>(in_memory.data());
      if (!l.in_place) out_memory = Storage(static_cast<std::size_t>(out_bytes) + 64, q);
      to = static_cast<unsigned char*>(out_memory.data());
    }
    if (l.in_place) to = from;

    const unsigned flags = (l.measure ? FFTW_MEASURE : FFTW_ESTIMATE) | (l.aligned ? 0 : FFTW_UNALIGNED) |
                           (l.real() && !l.forward ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT);
    std::lock_guard lock(planner);
    plan_with_threads_for<R>(l.n[0] * cols);
    if (!l.real())
      plan = Api::complex_plan(rank, dims, 1, &batch, as_complex(from), as_complex(to),
                               l.forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    else if (l.forward)
      plan = Api::forward_plan(rank, dims, 1, &batch, as_real(from), as_complex(to), flags);
    else
      plan = Api::inverse_plan(rank, dims, 1, &batch, as_complex(from), as_real(to), flags);
    if (plan == nullptr) fail(Status::internal_error, "fft_plan: FFTW has no plan for this transform");
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() {
    if (plan == nullptr) return;
    std::lock_guard lock(planner);
    Api::destroy(plan);
  }

  static R* as_real(void* p) { return static_cast<R*>(p); }
  static typename Api::Complex* as_complex(void* p) { return static_cast<typename Api::Complex*>(p); }

  void execute(const FftLayout& l, void* in, void* out) const {
    if (!l.real())
      Api::execute_complex(plan, as_complex(in), as_complex(out));
    else if (l.forward)
      Api::execute_forward(plan, as_real(in), as_complex(out));
    else
      Api::execute_inverse(plan, as_complex(in), as_real(out));
  }
};

}  // namespace

FftLayout fft_layout(FftLayout l, const void* in, const void* out) {
  const auto aligned = [](const void* p) {
    return Fftw<double>::alignment(static_cast<double*>(const_cast<void*>(p))) == 0;
  };
  l.aligned = aligned(in) && aligned(out);
  return l;
}

std::shared_ptr<void> fft_plan(const FftLayout& l, Queue& q) {
  if (l.single()) return std::make_shared<Planned<float>>(l, q);
  return std::make_shared<Planned<double>>(l, q);
}

void fft_execute(const std::shared_ptr<void>& plan, const FftLayout& l, void* in, void* out, Queue& q) {
  q.submit("fft", [=] {
    if (l.single())
      static_cast<const Planned<float>*>(plan.get())->execute(l, in, out);
    else
      static_cast<const Planned<double>*>(plan.get())->execute(l, in, out);
  });
}

}  // namespace devobj::host

#else

namespace devobj::host {
namespace {
[[noreturn]] void no_fftw() {
  fail(Status::not_supported,
       "fft_plan: this library was built without FFTW 3, so that the host backend has no FFT (build it with "
       "-DDEVOBJ_FFTW=ON; Debian: libfftw3-dev)");
}
}  // namespace

FftLayout fft_layout(FftLayout layout, const void*, const void*) {
  return layout;
}
std::shared_ptr<void> fft_plan(const FftLayout&, Queue&) {
  no_fftw();
}
void fft_execute(const std::shared_ptr<void>&, const FftLayout&, void*, void*, Queue&) {
  no_fftw();
}

}  // namespace devobj::host

#endif
