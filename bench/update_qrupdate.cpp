// libqrupdate, the CPU's library for these updates, beside ours. It is loaded at run time if it is installed.
#include <dlfcn.h>

#include <memory>

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

/// The milliseconds of p updates in a row by qrupdate, all at the front; it works in place.
double qrupdate_ms(void* library, const UpdateCase& c, Factors<D>& f, const Repeat& repeat, Queue& q) {
  const int ld = static_cast<int>(c.m + c.p), one = 1;
  HostMatrix<D> Q0(ld, ld), R0(ld, c.n + c.p), Q(ld, ld), R(ld, c.n + c.p), w(4 * (ld + c.n), 1), x0, x;
  x0 = uniform<D>(c.m + c.n, c.p, 7);
  x = uniform<D>(c.m + c.n, c.p, 7);
  std::fill_n(Q0.data.get(), Q0.size(), 0.0);
  std::fill_n(R0.data.get(), R0.size(), 0.0);
  to_host<D>(f.Q, HostArray<D>(Q0.data.get(), f.Q.rows, f.Q.cols, ld), q);
  to_host<D>(f.R, HostArray<D>(R0.data.get(), f.R.rows, f.R.cols, ld), q);
  auto symbol = [&](const char* name) {
    void* address = dlsym(library, name);
    if (address == nullptr) fail(Status::not_supported, "libqrupdate has no ", name);
    return address;
  };
  return median_ms(
      repeat,
      [&] {
        copy_host(Q0.data.get(), Q.data.get(), Q.size());
        copy_host(R0.data.get(), R.data.get(), R.size());
        copy_host(x0.data.get(), x.data.get(), x.size());
      },
      [&] {
        int m = static_cast<int>(c.m), n = static_cast<int>(c.n);
        for (std::int64_t i = 0; i < c.p; ++i) {
          D* u = x.data.get() + i * (c.m + c.n);
          switch (c.what) {
            case QrUpdate::add_cols:
              reinterpret_cast<AddCol>(symbol("dqrinc_"))(&m, &n, &m, Q.data.get(), &ld, R.data.get(), &ld, &one, u,
                                                          w.data.get());
              ++n;
              break;
            case QrUpdate::remove_cols:
              reinterpret_cast<RemoveCol>(symbol("dqrdec_"))(&m, &n, &m, Q.data.get(), &ld, R.data.get(), &ld, &one,
                                                             w.data.get());
              --n;
              break;
            case QrUpdate::add_rows:
              reinterpret_cast<AddRow>(symbol("dqrinr_"))(&m, &n, Q.data.get(), &ld, R.data.get(), &ld, &one, u,
                                                          w.data.get());
              ++m;
              break;
            default:
              reinterpret_cast<RemoveRow>(symbol("dqrder_"))(&m, &n, Q.data.get(), &ld, R.data.get(), &ld, &one,
                                                             w.data.get());
              --m;
          }
        }
      },
      [] {});
}

}  // namespace

void update_qrupdate(const Options& o, Queue& q, Report& report) {
  if (q.on_cuda()) return report.note("qrupdate is left out: it works on the host.");
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libqrupdate.so.1", RTLD_NOW), dlclose);
  if (!library) return report.note("qrupdate is left out: libqrupdate.so.1 is not installed (Debian: libqrupdate1).");
  report.line("\nAgainst qrupdate, fp64, full, m = n, at the front; ms");
  char text[200];
  std::snprintf(text, sizeof text, "%-12s %6s %4s %10s %10s %8s", "update", "m = n", "p", "ours", "qrupdate", "ratio");
  report.line(text);
  for (const std::int64_t n : o.sizes.empty() ? std::vector<std::int64_t>{500, 1000, 2000} : o.sizes) {
    Factors<D> f(n, n, QrForm::full, o.seed, q);
    for (const QrUpdate what : {QrUpdate::add_cols, QrUpdate::remove_cols, QrUpdate::add_rows, QrUpdate::remove_rows})
      for (const std::int64_t p : {1, 8, 64}) {
        report.progress("qrupdate " + name_of(what) + " " + std::to_string(n));
        const UpdateCase c{what, QrForm::full, n, n, p, 0};
        UpdateRun<D> run(c, f, o.seed, q);
        const double ours = median_ms(
            o.repeat, [] {},
            [&] {
              run.update({UpdateMethod::update, 0});
            },
            [&] { q.wait(); });
        const double theirs = qrupdate_ms(library.get(), c, f, o.repeat, q);
        std::snprintf(text, sizeof text, "%-12s %6lld %4lld %10.3f %10.3f %8.2f", name_of(what).c_str(),
                      static_cast<long long>(n), static_cast<long long>(p), ours, theirs, theirs / ours);
        report.line(text);
      }
  }
}

}  // namespace bench
