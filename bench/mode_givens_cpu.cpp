// givens-cpu: the tables of paper 004 with its variants on this machine, and ours beside them. Full Q, double
// precision.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "devobj/devobj.hpp"
#include "explicit_residual.hpp"
#include "flops.hpp"
#include "givens_paper.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "report.hpp"
#include "residual.hpp"

namespace bench {

using namespace devobj;

namespace {

/// One matrix, by rows for the paper's variants and on the host queue for ours.
class Case {
 public:
  Case(std::int64_t m, std::int64_t n, const Options& o, Queue& q, Report& report)
      : m_(m),
        n_(n),
        o_(o),
        q_(q),
        report_(report),
        rows_(static_cast<std::size_t>(m * n)),
        A_(m, n, q),
        Q_(m, m, q),
        R_(m, n, q) {
    const HostMatrix<double> A = uniform<double>(m, n, o.seed);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) rows_[static_cast<std::size_t>(i * n + j)] = A.data[i + j * m];
    to_device<double>(HostArray<const double>(A.data.get(), m, n, m), A_, q);
  }
  /// Seconds of a variant of the paper's; its residual is checked.
  template <class Variant>
  double paper(const char* name, Variant&& variant) {
    paper004::Factors f;
    const double ms = median_ms(
        o_.repeat, [] {}, [&] { f = variant(rows_.data()); }, [] {});
    if (const double r = paper004::residual(f, rows_.data()); !(r <= residual_bound))
      report_.failure(std::string(name) + ": residual " + csv_number(r));
    return ms / 1000;
  }
  /// Seconds of qr with Method::givens; a row of the report beside a variant's time.
  double ours(const std::string& peer, double peer_seconds) {
    // OpenMP's threads spin for some milliseconds after their last work: they would be on ours' cores
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double ms = median_ms(
        o_.repeat, [] {}, [&] { qr<double>(A_, Q_, R_, q_, {Method::givens}); }, [&] { q_.wait(); });
    const ExplicitResidual r = explicit_residual<double>(A_, Q_, R_, q_);
    if (!(r.orthogonality <= residual_bound)) report_.failure("ours: orthogonality " + csv_number(r.orthogonality));
    Row row = report_.row();
    row.routine = "qr";
    row.type = "d";
    row.m = m_;
    row.n = n_;
    row.method = "givens";
    row.ms = ms;
    row.peer = peer;
    row.peer_ms = 1000 * peer_seconds;
    row.residual = r.residual;
    rows.push_back(row);
    return ms / 1000;
  }
  std::vector<Row> rows;

 private:
  std::int64_t m_, n_;
  const Options& o_;
  Queue& q_;
  Report& report_;
  std::vector<double> rows_;
  Matrix<double> A_, Q_, R_;
};

/// A cell: the paper's seconds, ours of its variant, ours.
struct Cell {
  std::int64_t m, n;
  double paper;
};

template <class Variant>
void table(const char* title, const char* peer, const std::vector<Cell>& cells, const Options& o, Queue& q,
           Report& report, std::vector<Row>& rows, Variant&& variant) {
  report.line("");
  report.line(title);
  report.line("    m     n   paper (M1), s   variant here, s   ours, s      ratio");
  for (const Cell& cell : cells) {
    report.progress(std::string(peer) + " " + std::to_string(cell.m) + " x " + std::to_string(cell.n));
    Case c(cell.m, cell.n, o, q, report);
    const double here = c.paper(peer, [&](const double* A) { return variant(cell.m, cell.n, A); });
    const double ours = c.ours(peer, here);
    char text[120];
    std::snprintf(text, sizeof text, "%5lld %5lld   %13s   %15.6f   %9.6f   %7.1f", static_cast<long long>(cell.m),
                  static_cast<long long>(cell.n), cell.paper > 0 ? csv_number(cell.paper).c_str() : "", here, ours,
                  here / ours);
    report.line(text);
    rows.insert(rows.end(), c.rows.begin(), c.rows.end());
  }
}

}  // namespace

int run_givens_cpu(const Options& o, Queue&) {
  Queue q(Backend::host);
  Report report(o, q, 40);
  std::vector<Row> rows;
  // the library's team has as many threads as there are cores, at most DEVOBJ_NUM_THREADS
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (const char* most = std::getenv("DEVOBJ_NUM_THREADS")) threads = std::clamp(std::atoi(most), 1, threads);
  using namespace paper004;
  table("Section 5.4: base, rotations as products of matrices", "paper004-base",
        {{10, 10, 0.0005},
         {10, 25, 0.0008},
         {10, 50, 0.001},
         {10, 100, 0.0018},
         {25, 10, 0.018},
         {25, 25, 0.034},
         {25, 50, 0.049},
         {25, 100, 0.082},
         {50, 10, 0.235},
         {50, 25, 0.611},
         {50, 50, 1.076},
         {50, 100, 1.602},
         {100, 10, 3.623},
         {100, 25, 9.512},
         {100, 50, 19.525},
         {100, 100, 34.626}},
        o, q, report, rows, [](auto m, auto n, const double* A) { return base(m, n, A); });
  table("Section 5.5: two rows at a time", "paper004-rows",
        {{50, 10, 0.0003}, {50, 25, 0.0007}, {50, 50, 0.0011}, {500, 10, 0.019}, {500, 25, 0.040}, {500, 50, 0.079}}, o,
        q, report, rows, [](auto m, auto n, const double* A) { return serial(m, n, A, false); });
  const std::vector<Cell>
      by_rows = {{100, 1000, 0.0061}, {500, 1000, 0.147}, {1000, 1000, 0.999}, {1000, 100, 0.135}, {1000, 500, 0.612}},
      by_columns = {
          {100, 1000, 0.0047}, {500, 1000, 0.115}, {1000, 1000, 0.590}, {1000, 100, 0.067}, {1000, 500, 0.339}};
  table("Section 5.7: Q by rows", "paper004-serial-rows", by_rows, o, q, report, rows,
        [](auto m, auto n, const double* A) { return serial(m, n, A, false); });
  table("Section 5.7: Q by columns", "paper004-serial", by_columns, o, q, report, rows,
        [](auto m, auto n, const double* A) { return serial(m, n, A, true); });
  for (int t = 1; t <= threads; t *= 2)
    table(("Section 5.8: parallel, " + std::to_string(t) + " threads (ours: all)").c_str(), "paper004-parallel",
          {{1000, 1000, t == 1 ? 1.137 : 0}}, o, q, report, rows,
          [t](auto m, auto n, const double* A) { return parallel(m, n, A, t); });
  table(("Section 5.8: parallel, all " + std::to_string(threads) + " threads").c_str(), "paper004-parallel",
        {{100, 1000, 0}, {300, 300, 0}, {300, 1000, 0}, {500, 500, 0}, {1000, 100, 0}, {1000, 300, 0}, {1000, 1000, 0}},
        o, q, report, rows, [threads](auto m, auto n, const double* A) { return parallel(m, n, A, threads); });
  report.line("");
  for (const Row& row : rows) report.add(row);
  return report.exit_code();
}

}  // namespace bench
