// The subcommands. Each returns the program's exit code: 0, or 1 if a measurement failed or a result is wrong.
#pragma once

#include "devobj/queue.hpp"
#include "options.hpp"

namespace bench {

int run_factorization(const Options& options, devobj::Queue& q);  ///< lu and qr
int run_blas(const Options& options, devobj::Queue& q);
int run_transfer(const Options& options, devobj::Queue& q);
int run_rng(const Options& options, devobj::Queue& q);
int run_table1(const Options& options, devobj::Queue& q);
int run_update(const Options& options, devobj::Queue& q);
int run_fft(const Options& options, devobj::Queue& q);
int run_prims(const Options& options, devobj::Queue& q);
int run_batched(const Options& options, devobj::Queue& q);
int run_mixed(const Options& options, devobj::Queue& q);
int run_solve(const Options& options, devobj::Queue& q);
int run_tune(const Options& options, devobj::Queue& q);
int run_wy(const Options& options, devobj::Queue& q);
int run_givens_cpu(const Options& options, devobj::Queue& q);
int run_givens_gpu(const Options& options, devobj::Queue& q);

}  // namespace bench
