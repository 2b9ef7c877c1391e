// Block sizes and methods of a machine that the library has no table for: a file in the form of those in tuning/, as
// `devobj-bench tune` writes it.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "tuning.hpp"

namespace devobj {

/// The lines of a table that is not compiled in; they count as if they stood behind those of one that is.
struct TuningLines {
  std::string file;
  std::vector<BlockLine> blocks;
  std::vector<MethodLine> methods;
};

/// A line is METHOD(routine, types, from, method) or BLOCK(routine, method, types, from, block, inner_block); `//` begins a comment.
/// Error: invalid_argument naming the file, the line and what it should be.
TuningLines read_tuning(std::istream& in, const std::string& file);
/// The same of a file. Error: also if it cannot be read.
TuningLines read_tuning(const std::string& file);

}  // namespace devobj
