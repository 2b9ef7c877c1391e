#include "report.hpp"

#include <unistd.h>

#include <cstdio>

#include "machine.hpp"
#include "residual.hpp"

namespace bench {
namespace {

/// A number for the table: four digits, "-" without one.
std::string cell(std::optional<double> value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", *value);
  return text;
}

}  // namespace

Report::Report(const Options& o, const devobj::Queue& q, int steps)
    : csv_(o.csv), steps_(steps), terminal_(isatty(STDERR_FILENO) != 0) {
  blank_.date = today();
  blank_.commit = o.commit.empty() ? commit() : o.commit;
  blank_.machine = o.machine.empty() ? machine_name(q) : o.machine;
  blank_.backend = q.on_cuda() ? "cuda" : "host";
}

Report::~Report() {
  clear_progress();
}

void Report::progress(const std::string& what) {
  ++step_;
  if (!terminal_) return;
  clear_progress();
  std::fprintf(stderr, "[%d/%d] %s ...", step_, steps_, what.c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Report::clear_progress() {
  if (progress_shown_) std::fprintf(stderr, "\r\033[K");
  progress_shown_ = false;
}

void Report::add(const Row& r, const std::string& rate) {
  if (!csv_.empty()) csv_append(csv_, csv_header, csv_line(r));
  rows_.push_back(r);
  char text[512];
  if (!header_shown_) {
    std::snprintf(text, sizeof text, "%-10s %-4s %8s %8s %-13s %10s %18s  %-23s %10s %7s %9s %9s", "routine", "type",
                  "m", "n", "method", "ms", rate.empty() ? "Gflop/s" : "rate", "peer", "peer ms", "ratio", "residual",
                  "peer's");
    line(text);
    header_shown_ = true;
  }
  std::snprintf(text, sizeof text, "%-10s %-4s %8lld %8lld %-13s %10s %18s  %-23s %10s %7s %9s %9s", r.routine.c_str(),
                r.type.c_str(), static_cast<long long>(r.m), static_cast<long long>(r.n), r.method.c_str(),
                cell(r.ms).c_str(), rate.empty() ? cell(r.gflops).c_str() : rate.c_str(),
                r.peer.empty() ? "-" : r.peer.c_str(), cell(r.peer_ms).c_str(), cell(r.ratio()).c_str(),
                cell(r.residual).c_str(), cell(r.peer_residual).c_str());
  line(text);
  // written so that NaN fails
  if (r.residual && !(*r.residual <= residual_bound))
    failure(r.routine + " " + r.type + " " + std::to_string(r.m) + " x " + std::to_string(r.n) + ": the residual is " +
            cell(r.residual) + ", beyond " + cell(residual_bound));
  if (r.peer_residual && !(*r.peer_residual <= residual_bound))
    note(r.peer + ": its residual is " + cell(r.peer_residual) + ", beyond " + cell(residual_bound));
}

void Report::line(const std::string& text) {
  clear_progress();
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Report::failure(const std::string& text) {
  ++failures_;
  note("FAILED: " + text);
}

void Report::note(const std::string& text) {
  clear_progress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace bench
