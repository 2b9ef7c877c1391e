// wy: paper 000's experiment. QR with explicit economic Q of m = 2 n uniform matrices by block_householder and
// householder, beside cuSOLVER's geqrf + orgqr on a GPU, and the CPU's blocked and non-blocked QR. The paper's checks
// decide what is right.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "cuda_side.hpp"
#include "devobj/devobj.hpp"
#include "explicit_residual.hpp"
#include "flops.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "peers_qr.hpp"
#include "plot.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

template <class T>
struct Factors {
  Factors(std::int64_t m, std::int64_t n, Queue& queue) : q(queue), A(m, n, q), Q(m, n, q), R(n, n, q) {}
  double ms(Method method, std::int64_t block, const Repeat& repeat) {
    return median_ms(
        repeat, [] {},
        [&] {
          qr<T>(A, Q, R, q, {method, block});
        },
        [&] { q.wait(); });
  }
  Queue& q;
  Matrix<T> A, Q, R;
};

template <class T>
void measure(char type, std::int64_t n, const Options& o, Queue& q, Report& report, Plot& plot) {
  const std::int64_t m = 2 * n;
  const HostMatrix<T> host = uniform<T>(m, n, o.seed);
  Factors<T> f(m, n, q);
  to_device<T>(HostArray<const T>(host.data.get(), m, n, m), f.A, q);
  auto row_of = [&](const char* method, double ms) {
    report.progress(std::string("wy ") + method + " " + type + " " + std::to_string(n));
    Row row = report.row();
    row.routine = "qr";
    row.type = type;
    row.m = m;
    row.n = n;
    row.method = method;
    row.ms = ms;
    const ExplicitResidual r = explicit_residual<T>(f.A, f.Q, f.R, q);
    row.residual = r.residual;
    // paper 000: ||Q R - A|| <= m u ||A||, ||Q^T Q - I|| <= m u
    if (!(r.residual <= 1) || !(r.orthogonality <= 1))
      report.failure(std::string(method) + " " + std::to_string(n) +
                     ": the paper's checks fail: " + csv_number(r.residual) + ", " + csv_number(r.orthogonality));
    plot.curve(std::string(method) + " " + type).points.emplace_back(static_cast<double>(n), ms);
    return row;
  };
  std::optional<double> solver;
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      solver = cusolver_qr_ms<T>(f.A, f.Q, f.R, o.repeat, q);
      plot.curve(std::string("cuSOLVER ") + type).points.emplace_back(static_cast<double>(n), *solver);
    }
  Row blocked = row_of("block_householder", f.ms(Method::block_householder, o.block, o.repeat));
  Row columns = row_of("householder", f.ms(Method::householder, 0, o.repeat));
  // what the non-blocked form moves: every column right of a reflector in and out, for Q as for R once more
  const double dm = static_cast<double>(m), dn = static_cast<double>(n);
  Matrix<T> W(m, n, q), tau(n, 1, q);
  const double geqr2 = median_ms(
      o.repeat, [&] { devobj::copy<T>(f.A, W, q); }, [&] { geqrf<T>(W, tau, q, {Method::householder}); },
      [&] { q.wait(); });
  const double bytes = 2 * sizeof(T) * (dm * dn * dn / 2 - dn * dn * dn / 6);
  char rate[60];
  std::snprintf(rate, sizeof rate, "R alone %.4g ms, %.3g TB/s", geqr2, bytes / geqr2 / 1e9);
  if (solver) {
    blocked.peer = columns.peer = "cusolver";
    blocked.peer_ms = columns.peer_ms = solver;
  }
  report.add(blocked);
  report.add(columns, rate);
  if (n > o.cpu_max) return;
  // the CPU, from the host backend
  Queue cpu(Backend::host);
  Factors<T> h(m, n, cpu);
  to_device<T>(HostArray<const T>(host.data.get(), m, n, m), h.A, cpu);
  const double lapack = h.ms(Method::lapack, 0, o.repeat), ours = h.ms(Method::block_householder, o.block, o.repeat);
  const double plain = h.ms(Method::householder, 0, o.repeat);
  plot.curve(std::string("CPU, LAPACK ") + type).points.emplace_back(dn, lapack);
  plot.curve(std::string("CPU, non-blocked ") + type).points.emplace_back(dn, plain);
  blocked.peer = "cpu-lapack";
  blocked.peer_ms = lapack;
  report.add(blocked);
  blocked.peer = "cpu-block_householder";
  blocked.peer_ms = ours;
  report.add(blocked);
  columns.peer = "cpu-householder";
  columns.peer_ms = plain;
  report.add(columns, rate);
}

}  // namespace

int run_wy(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty()) sizes = parse_sizes(q.on_cuda() ? "1000,2000,4000,8000" : "500,1000");
  Report report(o, q, static_cast<int>(2 * sizes.size() * o.types.size()));
  Plot plot{"QR with explicit Q, m = 2 n: " + report.row().machine, "columns", "milliseconds", {}, true};
  for (const char type : o.types)
    for (const std::int64_t n : sizes) try {
        with_type(type, [&]<class T>() { measure<T>(type, n, o, q, report, plot); });
      } catch (const std::exception& e) {
        report.failure("wy " + std::to_string(n) + ": " + e.what());
      }
  if (!o.plot.empty())
    if (const std::string problem = draw(plot, o.plot); !problem.empty()) report.note(problem);
  return report.exit_code();
}

}  // namespace bench
