// Collects a HybridReport: host clock for the CPU's part, events for the GPU's. Does nothing without a report.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "devobj/queue.hpp"
#include "devobj/report.hpp"

namespace devobj {

class HybridTimer {
 public:
  HybridTimer(HybridReport* report, std::int64_t block) : report_(report) {
    if (report_ == nullptr) return;
    *report_ = HybridReport{};
    report_->block = block;
    start_ = clock::now();
  }

  /// Runs f on the CPU and adds its time to one of the report's members.
  template <class F> auto on_cpu(double HybridReport::*member, F&& f) {
    struct Adder {
      HybridReport* report;
      double HybridReport::*member;
      clock::time_point begin;
      ~Adder() {
        if (report != nullptr) report->*member += milliseconds(begin);
      }
    } adder{report_, member, clock::now()};
    return f();
  }

  /// Runs f, which gives work to q, and adds that work's time.
  template <class F> void on_queue(double HybridReport::*member, Queue& q, F&& f) {
    if (report_ == nullptr || !q.on_cuda()) return f();
    Span span{member, q.record(), {}};
    f();
    span.end = q.record();
    spans_.push_back(std::move(span));
  }

  void count_panel() {
    if (report_ != nullptr) ++report_->panels;
  }

  /// Call when all queues have been waited for.
  void finish() {
    if (report_ == nullptr) return;
    for (auto& s : spans_) report_->*s.member += s.end.milliseconds_since(s.begin);
    report_->total = milliseconds(start_);
  }

 private:
  using clock = std::chrono::steady_clock;
  struct Span {
    double HybridReport::*member;
    Event begin, end;
  };
  static double milliseconds(clock::time_point since) {
    return std::chrono::duration<double, std::milli>(clock::now() - since).count();
  }
  HybridReport* report_;
  clock::time_point start_{};
  std::vector<Span> spans_;
};

}  // namespace devobj
