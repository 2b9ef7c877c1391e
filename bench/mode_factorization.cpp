// lu and qr: devobj::getrf and devobj::geqrf with the data on the backend, beside their peers.
#include <algorithm>
#include <map>

#include "cuda_side.hpp"
#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "flops.hpp"
#include "machine.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "peers.hpp"
#include "plot.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

const char* const magma_label = "magma-hybrid (recorded)";

/// A shape of one type: ours, then every peer; one row each. `gpu` is the GPU's name.
template <class T>
void measure(char type, Shape shape, const Options& o, const std::vector<std::string>& peers, const std::string& gpu,
             Queue& q, Report& report) {
  const Routine routine = o.mode == Mode::lu ? Routine::getrf : Routine::geqrf;
  const auto [m, n] = shape;
  Row row = report.row();
  row.routine = routine == Routine::getrf ? "getrf" : "geqrf";
  row.type = type;
  row.m = m;
  row.n = n;
  row.method = o.method_name;
  const std::string what = row.routine + " " + row.type + " " + std::to_string(m) + " x " + std::to_string(n);
  report.progress(what + " " + o.method_name);

  HostMatrix<T> host = uniform<T>(m, n, o.seed);
  Matrix<T> A(m, n, q), W(m, n, q), tau(std::min(m, n), 1, q);
  Matrix<std::int32_t> ipiv(std::min(m, n), 1, q);
  to_device<T>(HostArray<const T>(host.data.get(), m, n, m), A, q);
  if (std::find(peers.begin(), peers.end(), "lapack") == peers.end()) host = {};
  const bool residual = std::max(m, n) <= o.residual_max;
  const Problem<T> problem{routine, A, W, tau, ipiv, host, o.repeat, residual, q};

  std::int64_t info = 0;
  row.ms = median_ms(
      o.repeat, [&] { devobj::copy<T>(A, W, q); },
      [&] {
        if (routine == Routine::getrf)
          info = getrf<T>(W, ipiv, q, LuOptions{o.method, o.block, nullptr, o.inner_block, o.math});
        else
          geqrf<T>(W, tau, q, QrOptions{o.method, o.block, nullptr, o.math});
      },
      [&] { q.wait(); });
  if (info != 0) report.failure(what + ": info is " + std::to_string(info));
  const double flops = routine == Routine::getrf ? lu_flops(m, n, type) : qr_flops(m, n, type);
  row.gflops = flops / (*row.ms * 1e6);
  if (residual) row.residual = problem_residual(problem).scaled;

  bool alone = true;
  for (const std::string& peer : peers) {
    report.progress(what + " " + peer);
    Row beside = row;
    beside.peer = peer == "magma" ? magma_label : peer;
    try {
      PeerResult result;
      if (peer == "magma") {
        const auto ms = recorded_magma_ms(routine, type, m, n, gpu);
        if (!ms) continue;
        result.ms = *ms;
      } else if (peer == "lapack") {
        result = lapack_peer(problem);
      } else if constexpr (cuda_built) {
        result = cusolver_peer(problem);
      }
      beside.peer_ms = result.ms;
      if (result.residual) beside.peer_residual = result.residual->scaled;
    } catch (const std::exception& e) {
      report.note(what + ": the peer " + peer + " failed: " + e.what());
    }
    report.add(beside);
    alone = false;
  }
  if (alone) report.add(row);
}

/// The peers that this build, backend and GPU have; says which are left out.
std::vector<std::string> present_peers(const Options& o, const Queue& q, const std::string& gpu, Report& report) {
  std::vector<std::string> present;
  for (const std::string& peer : o.peers) {
    if (peer == "none") continue;
    if (peer == "default")
      present.push_back(q.on_cuda() && cuda_built ? "cusolver" : "lapack");
    else if (peer == "cusolver" && !(q.on_cuda() && cuda_built))
      report.note("The peer cusolver is left out: this is the host backend, or a build without cuSOLVER.");
    else if (peer == "magma" && gpu.find("H200") == std::string::npos)
      report.note("The peer magma is left out: its times were recorded on an H200, and this is none.");
    else
      present.push_back(peer);
  }
  return present;
}

std::string precision(const std::string& type) {
  return std::map<std::string, std::string>{
      {"s", "fp32"}, {"d", "fp64"}, {"c", "complex fp32"}, {"z", "complex fp64"}}[type];
}

/// Gflop/s of ours and of each peer, a curve per type. The abscissa is n, or m if a matrix is not square.
void plot_rates(const Options& o, Report& report) {
  if (report.rows().empty()) return;
  Plot plot;
  bool square = true;
  for (const Row& r : report.rows()) square = square && r.m == r.n;
  const auto add = [&](const std::string& title, const Row& r, double rate) {
    const std::pair point(static_cast<double>(r.m), rate);
    Series& s = plot.curve(title);
    // ours comes again in the row of every further peer
    if (s.points.empty() || s.points.back() != point) s.points.push_back(point);
  };
  for (const Row& r : report.rows()) {
    if (!r.gflops) continue;
    add("devObject " + r.method + ", " + precision(r.type), r, *r.gflops);
    if (r.ratio()) add(r.peer + ", " + precision(r.type), r, *r.gflops / *r.ratio());
  }
  const Row& first = report.rows().front();
  plot.title = first.routine + " on " + first.machine;
  plot.x_label = square ? "rows and columns" : "rows (shape " + o.shape + ")";
  plot.y_label = "Gflop/s";
  if (const std::string problem = draw(plot, o.plot); !problem.empty()) report.note(problem);
}

}  // namespace

int run_factorization(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty()) sizes = parse_sizes(q.on_cuda() ? "1000:11000:1000" : "500,1000,2000");
  const std::vector<Shape> shapes = parse_shapes(o.shape, sizes);
  const std::string gpu = gpu_name(q);
  Report setup(o, q, 0);
  const std::vector<std::string> peers = present_peers(o, q, gpu, setup);
  Report report(o, q, static_cast<int>(o.types.size() * shapes.size() * (1 + peers.size())));
  for (const char type : o.types)
    for (const Shape shape : shapes) try {
        with_type(type, [&]<class T>() { measure<T>(type, shape, o, peers, gpu, q, report); });
      } catch (const std::exception& e) {
        report.failure(std::string(o.mode == Mode::lu ? "getrf " : "geqrf ") + type + " " + std::to_string(shape.m) +
                       " x " + std::to_string(shape.n) + ": " + e.what());
      }
  if (!o.plot.empty()) plot_rates(o, report);
  return report.exit_code();
}

}  // namespace bench
