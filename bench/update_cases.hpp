// What mode `update` measures: the curves of paper 003's figures 6 to 14.
#pragma once

#include <string>
#include <vector>

#include "update_problem.hpp"

namespace bench {

struct UpdateCurve {
  std::string title;
  std::vector<UpdateCase> cases;
};
struct UpdateFigure {
  std::string name, title, x_label, paper;  ///< paper: what it says of its own curves
  std::int64_t UpdateCase::*x;
  std::vector<UpdateCurve> curves;
};

/// Figures 6 to 14. Single precision in the paper; k counted from 0.
std::vector<UpdateFigure> update_figures();
/// Shapes for the fit of the cost model.
std::vector<UpdateCase> fit_cases(bool on_cuda);

std::string name_of(devobj::QrUpdate what);
std::string name_of(devobj::QrForm form);

}  // namespace bench
