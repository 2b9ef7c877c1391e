// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devobj/types.hpp"
#include "sizes.hpp"
#include "timing.hpp"

namespace bench {

enum class Mode {
  lu,
  qr,
  blas,
  transfer,
  table1,
  update,
  fft,
  prims,
  wy,
  givens_cpu,
  givens_gpu,
  rng,
  batched,
  mixed,
  solve,
  tune
};

struct Options {
  Mode mode = Mode::lu;
  std::vector<char> types = {'s', 'd'};
  std::vector<std::int64_t> sizes;  ///< empty: the mode's default for the backend
  std::string shape = "square";
  devobj::Method method = devobj::Method::automatic;
  std::string method_name = "auto";
  std::int64_t block = 0, inner_block = 0;
  devobj::Math math = devobj::Math::automatic;
  devobj::Backend backend = devobj::Backend::automatic;
  std::vector<std::string> peers = {"default"};
  Repeat repeat;
  std::int64_t residual_max = 20000;  ///< no residual for matrices with more rows or columns
  std::uint64_t seed = 1;
  std::vector<std::int64_t> bytes;    ///< transfer's sizes
  std::vector<std::string> primitives;  ///< prims's
  std::int64_t nrhs = 1;             ///< mixed: right-hand sides
  std::vector<std::int64_t> right_hand_sides = {1, 4, 16, 100, 1000};  ///< solve
  std::int64_t cpu_max = 4000;        ///< wy: no time of the CPU for more columns
  std::int64_t baseline_max = 10000;  ///< givens-gpu: no time of the paper's algorithm for larger matrices
  std::vector<std::int64_t> columns;  ///< blas: of trsm's B, at most n; empty: n
  std::vector<std::string> routines;  ///< those of blas, rng and batched
  std::int64_t batch = 0;             ///< batched: matrices; 0: so many that they fill the memory of a large one
  std::vector<std::string> generators = {"philox", "state"};  ///< of rng
  std::string csv, plot;
  std::string out = "bench/out";  ///< the folder of table1, update and tune
  std::vector<std::string> parts;  ///< update's figures and tables
  bool fit = false;                ///< update: times for the cost model
  std::string machine, commit;    ///< "": found out
};

/// Reads the command line. Returns false, with `exit_code` set, if the program is to end: help, or a bad argument
/// whose message was printed.
bool parse_options(int argc, char** argv, Options& options, int& exit_code);

}  // namespace bench
