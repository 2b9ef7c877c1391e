// The parts of mode `update` besides the figures. Each prints its lines through the report.
#pragma once

#include "options.hpp"
#include "report.hpp"

namespace bench {

/// Tables 1 (block sizes), 2 (stages), 3 to 5 (accuracy) of paper 003; `name` is "table1" to "table5".
void update_table(const std::string& name, const Options& o, devobj::Queue& q, Report& report);
/// p = 1, 8 and 64 against libqrupdate, in turn, which is loaded if it is installed. Host backend.
void update_qrupdate(const Options& o, devobj::Queue& q, Report& report);

}  // namespace bench
