// libqrupdate, the CPU's library for these updates, beside ours. It is loaded at run time if it is installed.
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "update_cases.hpp"
#include "update_tables.hpp"

namespace bench {

using namespace devobj;

namespace {

using D = double;
using AddCol = void (*)(const int* m, const int* n, const int* k, D* Q, const int* ldq, D* R, const int* ldr,
                        const int* j, const D* x, D* w);
using RemoveCol = void (*)(const int* m, const int* n, const int* k, D* Q, const int* ldq, D* R, const int* ldr,
                           const int* j, D* w);
using AddRow = void (*)(const int* m, const int* n, D* Q, const int* ldq, D* R, const int* ldr, const int* j, D* x,
                        D* w);
using RemoveRow = void (*)(const int* m, const int* n, D* Q, const int* ldq, D* R, const int* ldr, const int* j, D* w);

/// p updates in a row by qrupdate, all at the front; it works in place, on copies that `prepare` makes.
class Theirs {
 public:
  Theirs(void* library, const UpdateCase& c, Factors<D>& f, Queue& q)
      : library_(library),
        c_(c),
        ld_(static_cast<int>(c.m + c.p)),
        Q0_(ld_, ld_),
        R0_(ld_, c.n + c.p),
        Q_(ld_, ld_),
        R_(ld_, c.n + c.p),
        work_(4 * (ld_ + c.n), 1) {
    x0_ = uniform<D>(c.m + c.n, c.p, 7);
    x_ = uniform<D>(c.m + c.n, c.p, 7);
    std::fill_n(Q0_.data.get(), Q0_.size(), 0.0);
    std::fill_n(R0_.data.get(), R0_.size(), 0.0);
    to_host<D>(f.Q, HostArray<D>(Q0_.data.get(), f.Q.rows, f.Q.cols, ld_), q);
    to_host<D>(f.R, HostArray<D>(R0_.data.get(), f.R.rows, f.R.cols, ld_), q);
  }
  void prepare() {
    copy_host(Q0_.data.get(), Q_.data.get(), Q_.size());
    copy_host(R0_.data.get(), R_.data.get(), R_.size());
    copy_host(x0_.data.get(), x_.data.get(), x_.size());
  }
  void run() {
    const int one = 1;
    int m = static_cast<int>(c_.m), n = static_cast<int>(c_.n);
    D *Q = Q_.data.get(), *R = R_.data.get(), *w = work_.data.get();
    for (std::int64_t i = 0; i < c_.p; ++i) {
      D* u = x_.data.get() + i * (c_.m + c_.n);
      switch (c_.what) {
        case QrUpdate::add_cols:
          reinterpret_cast<AddCol>(symbol("dqrinc_"))(&m, &n, &m, Q, &ld_, R, &ld_, &one, u, w);
          ++n;
          break;
        case QrUpdate::remove_cols:
          reinterpret_cast<RemoveCol>(symbol("dqrdec_"))(&m, &n, &m, Q, &ld_, R, &ld_, &one, w);
          --n;
          break;
        case QrUpdate::add_rows:
          reinterpret_cast<AddRow>(symbol("dqrinr_"))(&m, &n, Q, &ld_, R, &ld_, &one, u, w);
          ++m;
          break;
        default:
          reinterpret_cast<RemoveRow>(symbol("dqrder_"))(&m, &n, Q, &ld_, R, &ld_, &one, w);
          --m;
      }
    }
  }

 private:
  void* symbol(const char* name) const {
    void* address = dlsym(library_, name);
    if (address == nullptr) fail(Status::not_supported, "libqrupdate has no ", name);
    return address;
  }

  void* library_;
  UpdateCase c_;
  int ld_;
  HostMatrix<D> Q0_, R0_, Q_, R_, work_, x0_, x_;
};

struct BothTimes {
  std::vector<double> ours, theirs;
};
double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// Both in turn, after one warm-up each, so that what disturbs the machine disturbs both. Each comes after something that
/// has its operands in the caches as far as they fit: the copies, or a run that is not timed.
BothTimes in_turn(UpdateRun<D>& ours, Theirs& theirs, const Repeat& repeat, Queue& q) {
  BothTimes times;
  double spent = 0;
  for (int i = 0; i <= std::max(1, repeat.reps) && (i < 2 || spent < 1000 * repeat.seconds); ++i) {
    theirs.prepare();
    const double their_ms = once_ms([&] { theirs.run(); }, [] {});
    const auto update = [&] { ours.update({UpdateMethod::update, 0}); };
    once_ms(update, [&] { q.wait(); });
    const double our_ms = once_ms(update, [&] { q.wait(); });
    spent += our_ms + their_ms;
    if (i == 0) continue;
    times.ours.push_back(our_ms);
    times.theirs.push_back(their_ms);
  }
  return times;
}

}  // namespace

void update_qrupdate(const Options& o, Queue& q, Report& report) {
  if (q.on_cuda()) return report.note("qrupdate is left out: it works on the host.");
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libqrupdate.so.1", RTLD_NOW), dlclose);
  if (!library) return report.note("qrupdate is left out: libqrupdate.so.1 is not installed (Debian: libqrupdate1).");
  report.line("\nAgainst qrupdate, fp64, full, m = n, at the front; ms, medians and least times");
  char text[200];
  std::snprintf(text, sizeof text, "%-12s %6s %4s %10s %10s %8s %10s %10s %8s", "update", "m = n", "p", "ours",
                "qrupdate", "ratio", "ours", "qrupdate", "ratio");
  report.line(text);
  for (const std::int64_t n : o.sizes.empty() ? std::vector<std::int64_t>{500, 1000, 2000} : o.sizes) {
    Factors<D> f(n, n, QrForm::full, o.seed, q);
    for (const QrUpdate what : {QrUpdate::add_cols, QrUpdate::remove_cols, QrUpdate::add_rows, QrUpdate::remove_rows})
      for (const std::int64_t p : {1, 8, 64}) {
        report.progress("qrupdate " + name_of(what) + " " + std::to_string(n));
        const UpdateCase c{what, QrForm::full, n, n, p, 0};
        UpdateRun<D> run(c, f, o.seed, q);
        Theirs theirs(library.get(), c, f, q);
        const BothTimes t = in_turn(run, theirs, o.repeat, q);
        const double ours = median(t.ours), qrupdate = median(t.theirs);
        std::snprintf(text, sizeof text, "%-12s %6lld %4lld %10.3f %10.3f %8.2f %10.3f %10.3f %8.2f",
                      name_of(what).c_str(), static_cast<long long>(n), static_cast<long long>(p), ours, qrupdate,
                      qrupdate / ours, least(t.ours), least(t.theirs), least(t.theirs) / least(t.ours));
        report.line(text);
      }
  }
}

}  // namespace bench
