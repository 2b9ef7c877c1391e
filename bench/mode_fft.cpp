// fft: what a transform by FftPlan costs beside the same one by cuFFT or FFTW, called directly with a plan made before.
// The residual of a row is the distance of both results, max|y - y'| / (max|y'| eps).
#include <cmath>
#include <limits>

#include "devobj/blas.hpp"
#include "devobj/fft.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "raw_fft.hpp"
#include "repeated.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

struct Kind {
  const char* name;
  std::vector<std::int64_t> n;
  std::int64_t batch;
};

/// Transforms of `points` points altogether, a power of two.
std::vector<Kind> kinds(std::int64_t points) {
  std::int64_t side = 1;
  while (4 * side * side <= points) side *= 2;
  std::vector<Kind> all = {{"fft_1d", {points}, 1}, {"fft_2d", {points / side, side}, 1}};
  std::int64_t edge = 1;
  while (8 * edge * edge * edge <= points) edge *= 2;
  all.push_back({"fft_3d", {points / edge / edge, edge, edge}, 1});
  if (points >= 1024) all.push_back({"fft_batch", {1024}, points / 1024});
  return all;
}

template <class T>
void measure(const Kind& kind, char type, bool forward, const Options& o, Queue& q, Report& report) {
  using C = std::complex<real_t<T>>;
  const std::int64_t cols = [&] {
    std::int64_t c = kind.batch;
    for (std::size_t d = 1; d < kind.n.size(); ++d) c *= kind.n[d];
    return c;
  }();
  FftPlan plan(type_traits<T>::type, kind.n, q, {.batch = kind.batch, .overwrite_input = true});
  const HostMatrix<T> numbers = uniform<T>(plan.rows(false), cols, o.seed);
  Matrix<T> X(plan.rows(false), cols, q);
  Matrix<C> Y(plan.rows(true), cols, q), expected(plan.rows(true), cols, q);
  Row row = report.row();
  row.routine = kind.name;
  row.type = type;
  row.m = kind.n[0];
  row.n = cols;
  row.method = forward ? "forward" : "inverse";
  row.peer = q.on_cuda() ? "cufft" : "fftw";
  report.progress(row.routine + " " + row.type + " " + std::to_string(row.m) + " x " + std::to_string(cols));

  const auto upload = [&] { to_device<T>(HostArray<const T>(numbers.data.get(), X.rows, cols, X.rows), X, q); };
  const auto ours = [&] { forward ? plan.forward(X.view(), Y.view(), q) : plan.inverse(Y.view(), X.view(), q); };
  std::function<void()> raw = forward ? raw_fft({type, true, kind.n, kind.batch}, X.data, Y.data, q)
                                      : raw_fft({type, false, kind.n, kind.batch}, Y.data, X.data, q);
  const bool has_peer = static_cast<bool>(raw);
  if (!has_peer) raw = ours;

  // the same transform by both
  upload();
  plan.forward(X.view(), Y.view(), q);
  if (forward) {
    copy<C>(Y, expected, q);
    raw();
    axpy<C>(C(-1), expected, Y, q);
    row.residual =
        lange<C>(Norm::Max, Y, q) / (lange<C>(Norm::Max, expected, q) * std::numeric_limits<real_t<T>>::epsilon());
  } else {
    Matrix<T> once(X.rows, cols, q);
    copy<C>(Y, expected, q);
    plan.inverse(Y.view(), X.view(), q);
    copy<T>(X, once, q);
    copy<C>(expected, Y, q);
    raw();
    axpy<T>(T(-1), once, X, q);
    row.residual =
        lange<T>(Norm::Max, X, q) / (lange<T>(Norm::Max, once, q) * std::numeric_limits<real_t<T>>::epsilon());
  }
  // An inverse transform to real is repeated on what it has left of its input: zeros stay zeros, other numbers would
  // grow.
  if (!forward && !is_complex<T>) laset<C>(Uplo::General, 0, 0, Y, q);
  if (forward) upload();
  const auto [ms, raw_ms] = turns_ms(o.repeat, ours, raw, [&] { q.wait(); });
  row.ms = ms;
  if (has_peer)
    row.peer_ms = raw_ms;
  else
    row.peer.clear();
  const double points = static_cast<double>(row.m) * static_cast<double>(cols);
  row.gflops = (is_complex<T> ? 5 : 2.5) * points * std::log2(points / static_cast<double>(kind.batch)) / (ms * 1e6);
  char rate[48];
  std::snprintf(rate, sizeof rate, "%.4g Gflop/s %+.1f%%", *row.gflops, 100 * (ms / raw_ms - 1));
  report.add(row, rate);
}

}  // namespace

int run_fft(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty())
    sizes = parse_sizes(q.on_cuda() ? "65536,1048576,4194304,16777216,67108864" : "65536,1048576,4194304");
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * 8));
  for (const char type : o.types)
    for (const std::int64_t points : sizes)
      for (const Kind& kind : kinds(points)) try {
          with_type(type, [&]<class T>() {
            measure<T>(kind, type, true, o, q, report);
            measure<T>(kind, type, false, o, q, report);
          });
        } catch (const std::exception& e) {
          report.failure(std::string(kind.name) + " " + type + " " + std::to_string(points) + ": " + e.what());
        }
  return report.exit_code();
}

}  // namespace bench
