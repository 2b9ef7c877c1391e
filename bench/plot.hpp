// Curves drawn by gnuplot.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Series {
  std::string title;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;

  /// The curve of this title, added at the end if there is none.
  Series& curve(const std::string& curve_title) {
    for (Series& s : series)
      if (s.title == curve_title) return s;
    return series.emplace_back(Series{curve_title, {}});
  }
};

/// Writes the points (FILE.dat) and a script that stands on its own (FILE.gp) beside `file`, an .svg or .png, and draws
/// it if gnuplot is there. Returns "" or, if nothing was drawn, why and what to do. Points that are not numbers are
/// left out of the curve, as a gap. Error: a file that cannot be written.
std::string draw(const Plot& plot, const std::string& file);

}  // namespace bench
