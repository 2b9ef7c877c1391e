// batched: many small LU and QR factorizations, solves and least squares at once, beside cuBLAS's batched routines or a
// loop over LAPACK. m x n is a matrix, `method` their number. getrs and gesv have one right-hand side for each matrix,
// gels m = 2 n.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "devobj/batched.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "flops.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "raw_batched.hpp"
#include "report.hpp"
#include "residual.hpp"
#include "timing.hpp"

namespace bench {

using namespace devobj;

namespace {

double flops_of(const std::string& routine, std::int64_t m, std::int64_t n, char type) {
  const double solve = complex_factor(type) * 2 * static_cast<double>(n) * static_cast<double>(n);
  if (routine == "getrf") return lu_flops(m, n, type);
  if (routine == "getrs") return solve;
  if (routine == "gesv") return lu_flops(m, n, type) + solve;
  const double reflect = complex_factor(type) * 4 * static_cast<double>(m) * static_cast<double>(n);
  return qr_flops(m, n, type) + (routine == "gels" ? reflect + solve / 2 : 0);
}

template <class T>
struct Batches {
  Batches(std::int64_t m_, std::int64_t n_, std::int64_t batch_, std::uint64_t seed, Queue& queue)
      : m(m_),
        n(n_),
        batch(batch_),
        q(queue),
        A0(m, n * batch, q),
        A(m, n * batch, q),
        B0(m, batch, q),
        B(m, batch, q),
        tau(n, batch, q),
        ipiv(n, batch, q),
        info(batch, 1, q) {
    const HostMatrix<T> a = uniform<T>(m, n * batch, seed), b = uniform<T>(m, batch, seed + 1);
    to_device<T>(HostArray<const T>(a.data.get(), m, n * batch, m), A0, q);
    to_device<T>(HostArray<const T>(b.data.get(), m, batch, m), B0, q);
  }
  void ours(const std::string& routine) {
    if (routine == "getrf") getrf_batched<T>(batch, A, ipiv, info, q);
    if (routine == "getrs") getrs_batched<T>(Op::NoTrans, batch, A, ipiv, B, q);
    if (routine == "gesv") gesv_batched<T>(batch, A, ipiv, B, info, q);
    if (routine == "geqrf") geqrf_batched<T>(batch, A, tau, q);
    if (routine == "gels") gels_batched<T>(Op::NoTrans, batch, A, B, info, q);
  }
  /// What a call starts from; getrs from factors.
  void restore(const std::string& routine) {
    copy<T>(A0, A, q);
    copy<T>(B0, B, q);
    if (routine == "getrs") getrf_batched<T>(batch, A, ipiv, info, q);
  }
  /// Of the last matrix: LAPACK's measure of the factors or of the solution.
  double residual(const std::string& routine) {
    const Range rows{0, m}, cols{(batch - 1) * n, batch * n}, last{batch - 1, batch}, top{0, n};
    const View<T> a = A0(rows, cols), f = A(rows, cols);
    if (routine == "getrf") return lu_residual<T>(a, f, ipiv(top, last), q).scaled;
    if (routine == "geqrf") return qr_residual<T>(a, f, tau(top, last), q).scaled;
    return solution_residual<T>(a, B(top, last), B0(rows, last), q);
  }

  std::int64_t m, n, batch;
  Queue& q;
  Matrix<T> A0, A, B0, B, tau;
  Matrix<std::int32_t> ipiv, info;
};

template <class T>
void measure(const std::string& routine, char type, std::int64_t n, const Options& o, Queue& q, Report& report) {
  const std::int64_t m = routine == "gels" ? 2 * n : n, elements = q.on_cuda() ? 1 << 25 : 1 << 20;
  const std::int64_t batch = o.batch > 0 ? o.batch : std::clamp<std::int64_t>(elements / (m * n), 16, 200000);
  report.progress(routine + " " + type + " " + std::to_string(n));
  Batches<T> b(m, n, batch, o.seed, q);
  const std::function<void()> raw = raw_batched<T>({routine, batch, b.A, b.B, b.tau, b.ipiv, b.info}, q);
  Row row = report.row();
  row.routine = routine + "_batched";
  row.type = type;
  row.m = m;
  row.n = n;
  row.method = std::to_string(batch);
  row.peer = q.on_cuda() ? "cublas" : "lapack";
  const auto prepare = [&] { b.restore(routine); };
  const auto wait = [&] { q.wait(); };
  row.ms = median_ms(
      o.repeat, prepare, [&] { b.ours(routine); }, wait);
  row.residual = b.residual(routine);
  row.peer_ms = median_ms(o.repeat, prepare, raw, wait);
  row.peer_residual = b.residual(routine);
  row.gflops = flops_of(routine, m, n, type) * static_cast<double>(batch) / (*row.ms * 1e6);
  report.add(row);
}

}  // namespace

int run_batched(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty())
    sizes = parse_sizes(q.on_cuda() ? "4,8,16,24,32,48,64,96,128,192,256,384,512" : "4,8,16,32,64,128,256");
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * o.routines.size()));
  for (const std::string& routine : o.routines)
    for (const char type : o.types)
      for (const std::int64_t n : sizes) try {
          with_type(type, [&]<class T>() { measure<T>(routine, type, n, o, q, report); });
        } catch (const std::exception& e) {
          report.failure(routine + " " + type + " " + std::to_string(n) + ": " + e.what());
        }
  return report.exit_code();
}

}  // namespace bench
