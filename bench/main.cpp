// devobj-bench: times of the library's routines, each beside a peer's in the same run.
#include <cstdio>

#include "cuda_side.hpp"
#include "machine.hpp"
#include "modes.hpp"
#include "openblas.hpp"
#include "options.hpp"

namespace {

/// What runs where, on stdout before the results.
void print_setting(const bench::Options& o, const devobj::Queue& q) {
  std::printf("machine  %s\n", (o.machine.empty() ? bench::machine_name(q) : o.machine).c_str());
  std::printf("backend  %s: %s\n", q.on_cuda() ? "cuda" : "host", devobj::choose_backend(o.backend).reason.c_str());
  const std::string core = bench::openblas_core();
  if (core.empty())
    std::printf("LAPACK   not OpenBLAS\n");
  else
    std::printf("LAPACK   OpenBLAS, %s kernels, %d threads\n", core.c_str(), bench::openblas_threads());
  std::printf("commit   %s\n\n", (o.commit.empty() ? bench::commit() : o.commit).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string warning = bench::mend_openblas(argv);
  bench::Options options;
  int exit_code = 0;
  if (!bench::parse_options(argc, argv, options, exit_code)) return exit_code;
  if (!warning.empty()) std::fprintf(stderr, "%s\n", warning.c_str());
  try {
    devobj::Queue q(options.backend);
    if (q.on_cuda() && !bench::cuda_built)
      devobj::fail(devobj::Status::not_supported, "built without cuBLAS and cuSOLVER as peers; --backend host works");
    print_setting(options, q);
    switch (options.mode) {
      case bench::Mode::lu:
      case bench::Mode::qr:
        return bench::run_factorization(options, q);
      case bench::Mode::blas:
        return bench::run_blas(options, q);
      case bench::Mode::transfer:
        return bench::run_transfer(options, q);
      case bench::Mode::rng:
        return bench::run_rng(options, q);
      case bench::Mode::table1:
        return bench::run_table1(options, q);
      case bench::Mode::update:
        return bench::run_update(options, q);
      case bench::Mode::fft:
        return bench::run_fft(options, q);
      case bench::Mode::prims:
        return bench::run_prims(options, q);
      case bench::Mode::batched:
        return bench::run_batched(options, q);
      case bench::Mode::wy:
        return bench::run_wy(options, q);
      case bench::Mode::tune:
        return bench::run_tune(options, q);
      case bench::Mode::mixed:
        return bench::run_mixed(options, q);
      case bench::Mode::solve:
        return bench::run_solve(options, q);
      case bench::Mode::givens_cpu:
        return bench::run_givens_cpu(options, q);
      case bench::Mode::givens_gpu:
        return bench::run_givens_gpu(options, q);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "devobj-bench: %s\n", e.what());
  }
  return 1;
}
