// The expected times of updating and of making anew: a latency for each step that waits for the one before, and products at
// a rate. The constants are fitted to measurements (devobj-bench update --fit, bench/fit_update_cost.py).
#include "qr_update_cost.hpp"

#include <algorithm>
#include <cmath>

#include "qr_update_chains.hpp"
#include "qr_update_checks.hpp"

namespace devobj {
namespace {

using Work = UpdateWork;
using Constants = std::array<double, Work::kinds>;

/// Milliseconds per unit of work, in the order of UpdateWork.
struct Fit {
  Constants update, refactor;
};

double milliseconds(const Work& w, const Constants& c) {
  double sum = 0;
  const Constants parts = w.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) sum += c[i] * parts[i];
  return sum;
}

#include "qr_update_cost_constants.inc"

template <class T> const Fit& fit(bool on_cuda) {
  const int type = (sizeof(real_t<T>) == 4 ? 0 : 1) + (is_complex<T> ? 2 : 0);
  return on_cuda ? cuda_fit[type] : host_fit[type];
}

double up(double n, double unit) { return std::ceil(n / unit); }

/// How a chase is done.
struct Way {
  double block = 0;   ///< columns of a block; 0: by rotations
  double chains = 0;  ///< by chains on a GPU: so many at a time
};

/// Chains of rotations through `steps` rows of R with `cols` columns and as many columns of Q with q_rows rows, in so many
/// walks, one after the other.
void add_chains(Work& w, double steps, double p, double chains, double walks, double cols, double q_rows) {
  const double passes = up(p, chains), wide = rotation_chains_for(std::int64_t(up(p, passes)));
  w.calls += 0.05 * passes;
  w.steps += passes * walks * steps;
  w.rotations += passes * walks * steps * wide;
  w.products += passes * 1e-8 * wide * steps * (cols + q_rows);
}
/// chase_down of H (rows x cols, p subdiagonals) with Q of q_rows rows. The walk that makes the chains takes twice as long.
void add_chase_down(Work& w, double cols, double p, double q_rows, Way way) {
  if (cols <= 0 || p <= 0) return;
  if (way.chains > 0) return add_chains(w, cols, p, way.chains, q_rows > 0 ? 3 : 2, cols / 2, q_rows);
  const double block = way.block;
  if (block == 0) {
    w.products += 6e-9 * p * cols * (cols / 2 + q_rows);
    return;
  }
  const double sweeps = up(p, 512), piece = p / sweeps, deep = block + piece;
  w.blocks += sweeps * up(cols, block);
  w.columns += sweeps * cols;
  w.heights += sweeps * cols * deep / 256;
  w.products += sweeps * 4e-9 * deep * cols * (cols / 2 + q_rows);
}
/// chase_up of W (start + p rows) with R of n columns and Q of q_rows rows. R and Q are walked through at the same time.
void add_chase_up(Work& w, double start, double p, double n, double q_rows, Way way) {
  if (start <= 0 || p <= 0) return;
  if (way.chains > 0) return add_chains(w, start, p, way.chains, 1, std::max(0.0, n - start / 2), q_rows);
  const double panel = way.block;
  if (panel == 0) {
    w.products += 6e-9 * p * start * (std::max(0.0, n - start / 2) + q_rows);
    return;
  }
  const double sweeps = up(p, 288), piece = p / sweeps, rows = std::min(std::max(64.0, piece), 576 - piece);
  const double steps = start / rows, size = rows + piece;
  w.blocks += sweeps * steps * (up(rows, panel) + up(piece, panel));
  w.columns += sweeps * steps * size;
  w.heights += sweeps * steps * size * size / 256;
  w.products += sweeps * steps * 2e-9 * size * size * (size + std::max(0.0, n - start / 2) + q_rows);
}
/// geqrf of rows x cols, and its Q applied to `others` columns or rows.
void add_factorization(Work& w, double rows, double cols, double others) {
  const double k = std::min(rows, cols);
  if (k <= 0 || rows <= 1) return;
  w.panels += k * (1 + rows / 16384);
  w.products += 4e-9 * k * (rows * cols - k * (rows + cols) / 2 + k * k / 3);
  w.products += 4e-9 * k * (rows - k / 2) * others;
}

}  // namespace

template <class T>
UpdateWorks qr_update_work(QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k,
                           bool on_cuda) {
  const char* me = "qr_update_cost";
  const bool full = form == QrForm::full, without = form == QrForm::without_q;
  const bool cols = what == QrUpdate::add_cols || what == QrUpdate::remove_cols;
  constexpr std::int64_t limit = INT64_MAX / 4;  // sums of two do not overflow
  require(0 <= m && m <= limit, me, ": m is ", m, ", must be 0 to ", limit);
  require(0 <= n && n <= limit, me, ": n is ", n, ", must be 0 to ", limit);
  const std::int64_t most = what == QrUpdate::remove_cols ? n : what == QrUpdate::remove_rows && !without ? m : limit;
  require(0 <= p && p <= most, me, ": p is ", p, ", must be 0 to ", most);
  const std::int64_t last = what == QrUpdate::add_cols ? n : what == QrUpdate::remove_cols ? n - p
                            : what == QrUpdate::add_rows ? m : what == QrUpdate::remove_rows ? m - p : 0;
  require(without ? k >= 0 || !cols : 0 <= k && k <= last, me, ": k is ", k, ", must be 0 to ", last);
  require(!without || (what != QrUpdate::add_cols && what != QrUpdate::rank_update), me, ": columns cannot be added without Q");
  const std::int64_t m1 = m + (what == QrUpdate::add_rows ? p : what == QrUpdate::remove_rows ? -p : 0);
  const std::int64_t n1 = n + (what == QrUpdate::add_cols ? p : what == QrUpdate::remove_cols ? -p : 0);
  const std::int64_t wide = what == QrUpdate::rank_update ? n + p : std::max(n, n1);
  require(form != QrForm::economic || std::min(m, m1) >= wide, me, ": the factorization is economic, with ",
          std::min(m, m1), " rows for ", wide, " columns, must have no fewer rows than columns (use the full form)");

  const double M = double(m), N = double(n), P = double(p), K = double(k), M1 = double(m1), N1 = double(n1);
  const double block = on_cuda ? (sizeof(T) == 4 ? 64 : 32) : !is_complex<T> && p <= 16 ? 0 : 64, inner = full ? M : N;
  const double chains = on_cuda ? rotation_chains_max<T> : 0;
  const Way down{block, p <= most_chained_down<T> ? chains : 0}, upwards{block, p <= most_chained_up<T> ? chains : 0};
  const double Q_size = without ? 0 : M * inner;
  Work update, anew;
  update.traffic = 1e-9 * (Q_size + inner * N) * 2;
  const double tail = full ? std::max(0.0, M - N) : 0;
  auto extend = [&] {  // Q continued by p columns, two or three passes of Gram-Schmidt
    if (full) return;
    update.products += 3 * 4e-9 * M * N * P;
    for (int pass = 0; pass < 2; ++pass) add_factorization(update, M, P, P);
    update.calls += 6;
  };
  // chase_up from row k on, of rows that are not upper trapezoidal in W in full form
  auto chase_up = [&](std::int64_t from) {
    const std::int64_t rows = full ? m - from : n - from + p, start = std::max<std::int64_t>(0, std::min(n - from, rows - p));
    double steps = double(start);
    if (full && m > 1 && p > 0) {
      if (start > 0 && p <= upwards.chains && chains_take_tail(rows, start, p)) {
        steps = double(rows);
      } else {
        add_factorization(update, std::max(tail, std::min(P, M)), P, M);
        update.calls += 3;
      }
    }
    add_chase_up(update, steps, P, N - double(from), without ? 0 : M, upwards);
  };
  switch (what) {
    case QrUpdate::add_cols:
      extend();
      update.products += 2e-9 * M * inner * P;
      chase_up(k);
      break;
    case QrUpdate::remove_cols:
      add_chase_down(update, N - P - K, P, without ? 0 : M, down);
      break;
    case QrUpdate::add_rows:
      add_chase_down(update, N, P, without ? 0 : M1, down);
      break;
    case QrUpdate::remove_rows:
      if (!without) extend();
      chase_up(0);
      break;
    case QrUpdate::rank_update:
      extend();
      update.products += 2e-9 * M * inner * P;
      chase_up(0);
      add_chase_down(update, N, P, M, down);
  }
  // from Q R: the product, its factorization, and Q1
  const double rows = without ? N + (what == QrUpdate::add_rows ? P : 0) : M1;
  if (!without) anew.products += 2e-9 * M * N * std::min(M, N);
  add_factorization(anew, rows, N1, 0);
  if (!without) anew.blocks += up(std::min(rows, N1), 256);
  if (!without) anew.products += 4e-9 * std::min(M1, N1) * (M1 - std::min(M1, N1) / 2) * (full ? M1 : N1) * (full ? 0.75 : 0.5);
  anew.traffic = 1e-9 * (2 * rows * N1 + Q_size);
  if (what == QrUpdate::remove_rows && without) anew.calls = 1e9;  // there is no such way
  return {update, anew};
}

template <class T>
QrUpdateCost qr_update_cost(QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k,
                            const Queue& q) {
  const UpdateWorks work = qr_update_work<T>(what, form, m, n, p, k, q.on_cuda());
  const Fit& f = fit<T>(q.on_cuda());
  return {milliseconds(work.update, f.update), milliseconds(work.refactor, f.refactor)};
}

#define INSTANTIATE(T)                                                                                              \
  template UpdateWorks qr_update_work<T>(QrUpdate, QrForm, std::int64_t, std::int64_t, std::int64_t, std::int64_t,  \
                                         bool);                                                                                              \
  template QrUpdateCost qr_update_cost<T>(QrUpdate, QrForm, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                          const Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
