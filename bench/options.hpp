// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devobj/types.hpp"
#include "sizes.hpp"
#include "timing.hpp"

namespace bench {

enum class Mode { lu, qr, blas, transfer, table1 };

struct Options {
  Mode mode = Mode::lu;
  std::vector<char> types = {'s', 'd'};
  std::vector<std::int64_t> sizes;  ///< empty: the mode's default for the backend
  std::string shape = "square";
  devobj::Method method = devobj::Method::automatic;
  std::string method_name = "auto";
  std::int64_t block = 0;
  devobj::Backend backend = devobj::Backend::automatic;
  std::vector<std::string> peers = {"default"};
  Repeat repeat;
  std::int64_t residual_max = 20000;  ///< no residual for matrices with more rows or columns
  std::uint64_t seed = 1;
  std::vector<std::int64_t> bytes;    ///< transfer's sizes
  std::vector<std::string> routines;  ///< blas's routines
  std::string csv, plot;
  std::string out = "bench/out";  ///< table1's folder
  std::string machine, commit;    ///< "": found out
};

/// Reads the command line. Returns false, with `exit_code` set, if the program is to end: help, or a bad argument
/// whose message was printed.
bool parse_options(int argc, char** argv, Options& options, int& exit_code);

}  // namespace bench
