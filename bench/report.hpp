// What a run tells: a table on stdout, the CSV, progress on a terminal, and the count of what went wrong.
#pragma once

#include <string>
#include <vector>

#include "csv.hpp"
#include "devobj/queue.hpp"
#include "options.hpp"

namespace bench {

class Report {
 public:
  /// `steps` is the number of measurements to come, for the progress line.
  Report(const Options& options, const devobj::Queue& q, int steps);
  ~Report();

  /// Begins the next measurement; shown on stderr if that is a terminal.
  void progress(const std::string& what);
  /// A row with date, commit, machine and backend filled in.
  Row row() const { return blank_; }
  /// Prints the row and appends it to the CSV file. A residual that is NaN or beyond the bound is a failure.
  /// `rate` is printed in place of Gflop/s if it is not "".
  void add(const Row& row, const std::string& rate = "");
  /// One line on stdout, under the same rules as the table.
  void line(const std::string& text);
  /// Something that went wrong, on stderr; the program will end with exit code 1.
  void failure(const std::string& text);
  /// A remark on stderr.
  void note(const std::string& text);

  const std::vector<Row>& rows() const { return rows_; }
  int exit_code() const { return failures_ == 0 ? 0 : 1; }

 private:
  void clear_progress();
  Row blank_;
  std::string csv_;
  std::vector<Row> rows_;
  int step_ = 0, steps_ = 0, failures_ = 0;
  bool terminal_ = false, progress_shown_ = false, header_shown_ = false;
};

}  // namespace bench
