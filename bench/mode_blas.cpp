// blas: what a BLAS call of devobj costs beside the same call to the vendor's library. The residual of a row is the
// distance of both results, ||C - C'||_max / (||C'||_max n eps), so that both are known to have done the same.
#include <cmath>
#include <functional>
#include <limits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "flops.hpp"
#include "machine.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "plot.hpp"
#include "raw_blas.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

/// One routine on n x n matrices (vectors of n elements in gemv, of n^2 in axpy and nrm2), or in trsm n x n and n x columns.
template <class T>
struct Call {
  std::function<void()> prepare, ours, raw;
  View<T> result;                        ///< what both compute; one element for nrm2
  double flops = 0;                      ///< real multiplications and additions, a complex pair as four
  double bytes = 0;                      ///< memory traffic of a routine bound by it; 0 for the others
  std::function<void()> finish = [] {};  ///< puts a result on the host into `result`; not timed
};

/// A, B, C and what is done with them.
template <class T>
struct Operands {
  Operands(std::int64_t n, std::uint64_t seed, Queue& queue)
      : q(queue), blas(queue), A(n, n, q), B(n, n, q), C(n, n, q), norm(1, 1, q), size(n) {
    const HostMatrix<T> numbers = uniform<T>(n, n, seed);
    to_device<T>(HostArray<const T>(numbers.data.get(), n, n, n), A, q);
    transpose<T>(Op::Trans, A, B, q);
    // a diagonal of n keeps triangular solves well conditioned
    for (std::int64_t i = 0; i < n; ++i)
      numbers.data[static_cast<std::size_t>(i * n + i)] = T(static_cast<real_t<T>>(n));
    L = Matrix<T>(n, n, q);
    to_device<T>(HostArray<const T>(numbers.data.get(), n, n, n), L, q);
  }

  Call<T> call(const std::string& name, std::int64_t columns) {
    const double n = static_cast<double>(size), n2 = n * n, s = sizeof(T), x = is_complex<T> ? 4 : 1;
    require(columns <= size, "--columns: ", columns, " is more than n = ", size);
    const View<T> X = C.view()({0, size}, {0, columns});
    const auto clear = [this] { laset<T>(Uplo::General, T(0), T(0), C, q); };
    const auto restore = [this] { devobj::copy<T>(B, C, q); };
    constexpr Op N = Op::NoTrans;
    if (name == "gemm")
      return {clear,
              [this] { gemm<T>(N, N, T(1), A, B, T(0), C, q); },
              [this] { blas.gemm<T>(A, B, C); },
              C,
              x * 2 * n * n2,
              0};
    if (name == "syrk")
      return {clear,
              [this] { syrk<T>(Uplo::Lower, N, T(1), A, T(0), C, q); },
              [this] { blas.syrk<T>(A, C); },
              C,
              x * n * n * (n + 1),
              0};
    if (name == "trsm")
      return {restore,
              [this, X] { trsm<T>(Side::Left, Uplo::Lower, N, Diag::NonUnit, T(1), L, X, q); },
              [this, X] { blas.trsm<T>(Uplo::Lower, L, X); },
              X,
              x * n2 * static_cast<double>(columns),
              0};
    if (name == "gemv")
      return {clear,
              [this] { gemv<T>(N, T(1), A, B.col(0), T(0), C.col(0), q); },
              [this] { blas.gemv<T>(A, B.col(0), C.col(0)); },
              C,
              x * 2 * n2,
              s * n2};
    if (name == "axpy")
      return {restore, [this] { axpy<T>(T(1), A, C, q); }, [this] { blas.axpy<T>(A, C); }, C, x * 2 * n2, 3 * s * n2};
    return {[] {},
            [this] { value = nrm2<T>(A, q); },
            [this] { value = blas.nrm2<T>(A); },
            norm,
            x * 2 * n2,
            s * n2,
            [this] { laset<T>(Uplo::General, T(value), T(value), norm, q); }};
  }

  Queue& q;
  RawBlas blas;
  Matrix<T> A, B, C, L, norm;
  std::int64_t size;
  real_t<T> value = 0;
};

template <class T>
void measure(const std::string& name, char type, std::int64_t n, std::int64_t columns, const Options& o,
             Operands<T>& operands, Report& report) {
  Queue& q = operands.q;
  const Call<T> call = operands.call(name, columns);
  Row row = report.row();
  row.routine = name;
  row.type = type;
  row.m = n;
  row.n = columns;
  row.method = "blas";
  row.peer = operands.blas.name();
  const auto wait = [&] { q.wait(); };
  report.progress(name + " " + row.type + " " + std::to_string(n) +
                  (columns == n ? "" : ", " + std::to_string(columns)));

  Matrix<T> expected(call.result.rows, call.result.cols, q);
  row.peer_ms = median_ms(o.repeat, call.prepare, call.raw, wait);
  call.finish();
  devobj::copy<T>(call.result, expected, q);
  row.ms = median_ms(o.repeat, call.prepare, call.ours, wait);
  call.finish();
  row.gflops = call.flops / (*row.ms * 1e6);

  const double eps = std::numeric_limits<real_t<T>>::epsilon();
  const double size = lange<T>(Norm::Max, expected, q);
  axpy<T>(T(-1), call.result, expected, q);
  row.residual = lange<T>(Norm::Max, expected, q) / (size * static_cast<double>(n) * eps);
  char rate[32];
  std::snprintf(rate, sizeof rate, call.bytes > 0 ? "%.4g GB/s" : "%.4g Gflop/s",
                (call.bytes > 0 ? call.bytes : call.flops) / (*row.ms * 1e6));
  report.add(row, rate);
}

void plot_rates(const Options& o, Report& report) {
  if (report.rows().empty()) return;
  Plot plot{"BLAS on " + report.rows().front().machine, "rows and columns", "Gflop/s", {}, false};
  for (const Row& r : report.rows())
    for (const std::string& who : {std::string("devObject"), r.peer}) {
      const double rate = who == r.peer ? *r.gflops / *r.ratio() : *r.gflops;
      plot.curve(who + " " + r.type + r.routine).points.emplace_back(static_cast<double>(r.n), rate);
    }
  if (const std::string problem = draw(plot, o.plot); !problem.empty()) report.note(problem);
}

}  // namespace

int run_blas(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty()) sizes = parse_sizes(q.on_cuda() ? "64,256,1000,4000,10000" : "64,256,1000");
  // of the right-hand sides of a routine on n x n matrices
  const auto columns_of = [&o](const std::string& name, std::int64_t n) {
    return name == "trsm" && !o.columns.empty() ? o.columns : std::vector<std::int64_t>{n};
  };
  std::size_t rows = 0;
  for (const std::string& name : o.routines) rows += columns_of(name, 0).size();
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * rows));
  for (const char type : o.types)
    for (const std::int64_t n : sizes) try {
        with_type(type, [&]<class T>() {
          Operands<T> operands(n, o.seed, q);
          for (const std::string& name : o.routines)
            for (const std::int64_t columns : columns_of(name, n))
              measure<T>(name, type, n, columns, o, operands, report);
        });
      } catch (const std::exception& e) {
        report.failure(std::string("blas ") + type + " " + std::to_string(n) + ": " + e.what());
      }
  if (!o.plot.empty()) plot_rates(o, report);
  return report.exit_code();
}

}  // namespace bench
