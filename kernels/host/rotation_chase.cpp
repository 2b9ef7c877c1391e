#include "kernels/host/rotation_chase.hpp"

#include <algorithm>
#include <vector>

#include "kernels/host/rotation_chains.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

constexpr std::int64_t carry_bytes = 16384;  // rows of Q that go through the chains together: half of a first cache

/// Memory of this thread for `rows` rows of chain_lanes, each in cache lines of its own, until its next call.
template <class R>
R* strip_memory(std::int64_t rows) {
  struct alignas(64) Row {
    R numbers[chain_lanes<R>];
  };
  thread_local std::vector<Row> memory;
  memory.resize(std::max(memory.size(), static_cast<std::size_t>(rows)));
  return memory.data()->numbers;
}

/// Q = Q G, or from G if `from` is there, which is read as it is needed, and not copied before: for one chain the memory
/// traffic is the time. The team shares the rows of Q.
template <class R>
void rotate_columns(const Chains<R>& chains, View<R> from, View<R> Q, bool first_absent = false) {
  if (Q.empty()) return;
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::size_t bytes = static_cast<std::size_t>(Q.size()) * sizeof(R);
  Team& team = Team::shared();
  const int threads = threads_for(bytes, std::size_t{1} << 19, team.size());
  const std::int64_t most = carry_bytes / (chains.chains() * static_cast<std::int64_t>(sizeof(R)));
  const std::int64_t pieces = std::max<std::int64_t>(threads, (Q.rows + most - 1) / most);
  const std::int64_t unit = ((Q.rows + pieces - 1) / pieces + lanes - 1) / lanes * lanes;
  const View<R> source = from.empty() ? Q : from;
  team.run(threads, [&](Team::Member& me) {
    R* carry = strip_memory<R>(chains.chains() * unit / lanes);
    for (std::int64_t row = me.rank() * unit; row < Q.rows; row += me.size() * unit) {
      const Range part{row, std::min(Q.rows, row + unit)};
      chains.through(source(part, {0, source.cols}), Q(part, {0, Q.cols}), first_absent, carry);
    }
  });
}

/// Columns j ... j + cols - 1 of A as a strip of `height` rows, with zeros below A's p-th subdiagonal, whatever is there.
template <class R>
void load_strip(View<R> A, std::int64_t j, std::int64_t cols, std::int64_t p, std::int64_t height, R* strip) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  chain_kernels<R>().pack(A.data + j * A.ld, A.ld, std::min(height, j + cols + p), cols, strip);
  for (std::int64_t i = j + p + 1; i < height; ++i) std::fill_n(strip + i * lanes, std::min(lanes, i - j - p), R(0));
}
/// The strip's rows from `first` on as columns j ... of A, with zeros below.
template <class R>
void store_strip(const R* strip, std::int64_t first, std::int64_t height, std::int64_t j, std::int64_t cols,
                 View<R> A) {
  chain_kernels<R>().unpack(strip + first * chain_lanes<R>, height - first, cols, A.data + j * A.ld, A.ld);
  for (std::int64_t l = j; l < j + cols; ++l)
    std::fill(A.data + l * A.ld + height - first, A.data + l * A.ld + A.rows, R(0));
}

/// D = G^H D.
template <class R>
void rotate_rows(const Chains<R>& chains, View<R> D) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  const ChainKernels<R>& kernels = chain_kernels<R>();
  for (std::int64_t j = 0; j < D.cols && D.rows > 0; j += lanes) {
    const std::int64_t cols = std::min(lanes, D.cols - j);
    R* strip = strip_memory<R>(D.rows + chains.chains());
    kernels.pack(D.data + j * D.ld, D.ld, D.rows, cols, strip);
    chains.through(chains.strip(strip, strip + D.rows * lanes));
    kernels.unpack(strip, D.rows, cols, D.data + j * D.ld, D.ld);
  }
}

/// The rotations of step u, which make lane `lane` of what the chains carry zero, and its end `r`.
template <class R>
R make_step(Chains<R>& chains, const typename Chains<R>::Columns& x, std::int64_t u, std::int64_t lane) {
  const std::int64_t p = chains.chains(), first = chains.first(u), count = p - first;
  constexpr std::int64_t most = chain_lanes<R>;
  R f[most], r[most + 1];
  r[0] = first > 0 ? x.carry[(first - 1) * x.ld_carry + lane] : x.from[u * x.ld_from + lane];
  for (std::int64_t k = 0; k < count; ++k) f[k] = x.carry[(first + k) * x.ld_carry + lane];
  chain_kernels<R>().gather(f, count, chains.g(first, u), 1, r);
  return r[count];
}

// Chain t takes the lowest subdiagonal but t away: rotation u makes H(p - t + u, u) zero. A strip of columns first gets
// all rotations of the columns before; then each of its columns makes its own, for itself and the columns after.
// load(j, width, height, strip) is H's source.
template <class R, class Load>
Chains<R> chains_down(View<R> H, std::int64_t p, const Load& load) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::int64_t rows = H.rows, cols = std::min(H.cols, rows - 1);
  Chains<R> chains(true, p, cols, std::min(cols, rows - p));
  for (std::int64_t j = 0; j < H.cols; j += lanes) {
    const std::int64_t width = std::min(lanes, H.cols - j), height = std::min(rows, j + width + p);
    const std::int64_t before = std::min(j, cols), end = std::min(j + width, cols);
    R *strip = strip_memory<R>(height + p), *carry = strip + height * lanes;
    load(j, width, height, strip);
    const auto x = chains.begin_ascent(chains.strip(strip, carry));
    chains.ascend(x, 0, before);
    for (std::int64_t u = before; u < end; ++u) {
      const std::int64_t lane = u - j;
      const R r = make_step(chains, x, u, lane);
      chains.ascend(x, u, u + 1);
      strip[u * lanes + lane] = r;
      for (std::int64_t t = chains.first(u); t < p; ++t) carry[t * lanes + lane] = 0;
    }
    chains.end_ascent(x, end);
    store_strip(strip, 0, height, j, width, H);
  }
  return chains;
}

// Chain t makes W(from below, t), ..., W(t + 1, t) zero: from row start + t on, where those below are zero, or from the
// last row on.
template <class R>
Chains<R> chains_up(View<R> W, std::int64_t start, bool tail_done) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::int64_t p = W.cols, rows = W.rows, length = tail_done ? start : rows - 1;
  const ChainKernels<R>& kernels = chain_kernels<R>();
  Chains<R> chains(false, p, length, tail_done ? start : rows - p);
  std::vector<R> numbers(static_cast<std::size_t>(2 * rows));
  R *strip = strip_memory<R>(rows + p), *f = numbers.data(), *r = f + length;
  kernels.pack(W.data, W.ld, rows, p, strip);
  for (std::int64_t t = 0; t < p; ++t) {
    const std::int64_t count = tail_done ? start : rows - 1 - t;
    R* w = strip + t * lanes;  // what the chain meets first
    for (std::int64_t k = 0; k < count; ++k) f[k] = w[(count - 1 - k) * lanes + t];
    r[0] = w[count * lanes + t];
    kernels.gather(f, count, chains.g(t, count - 1), -p, r);
    typename Chains<R>::Columns x = chains.strip(w, strip + rows * lanes);
    std::copy_n(w + count * lanes, lanes, x.carry + t * lanes);
    x.to += lanes;
    kernels.descend(x, t, t + 1, 0, count);
    std::copy_n(x.carry + t * lanes, lanes, w);
    w[t] = r[count];
  }
  kernels.unpack(strip, rows, p, W.data, W.ld);
  for (std::int64_t t = 0; t < p; ++t) std::fill(W.data + t * W.ld + t + 1, W.data + t * W.ld + rows, R(0));
  return chains;
}

/// A1 = G^H A without the first rows, as many as A1 has fewer, for an upper trapezoidal A, which gets p subdiagonals.
template <class R>
void rotate_trapezoid(const Chains<R>& chains, View<R> A, View<R> A1) {
  if (A.empty()) return;
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::size_t bytes = static_cast<std::size_t>(A.size()) * sizeof(R);
  const std::int64_t gone = A.rows - A1.rows, p = chains.chains();
  Team& team = Team::shared();
  team.run(threads_for(bytes, std::size_t{1} << 19, team.size()), [&](Team::Member& me) {
    for (std::int64_t j = me.rank() * lanes; j < A.cols; j += me.size() * lanes) {
      const std::int64_t cols = std::min(lanes, A.cols - j), rows = std::min(A.rows, j + cols + p);
      const std::int64_t steps = std::min(chains.length(), j + cols);
      R* strip = strip_memory<R>(rows + p);
      load_strip(A, j, cols, 0, rows, strip);
      const auto x = chains.begin_descent(chains.strip(strip, strip + rows * lanes), steps);
      chains.descend(x, 0, steps);
      chains.end_descent(x);
      store_strip(strip, gone, rows, j, cols, A1);
    }
  });
}
}  // namespace

template <class R>
void rotate_down(View<R> H_from, View<R> H, std::int64_t p, View<R> from, View<R> Q, View<R> D) {
  if (std::min(H.cols, H.rows - 1) <= 0) return;
  const View<R> source = H_from.empty() ? H : H_from;
  const Chains<R> chains = chains_down(H, p, [&](std::int64_t j, std::int64_t width, std::int64_t height, R* strip) {
    load_strip(source, j, width, p, height, strip);
  });
  rotate_columns(chains, from, Q);
  rotate_rows(chains, D);
}

template <class R>
void rotate_up(View<R> W, View<R> A_from, View<R> A, View<R> from, View<R> Q, View<R> D, std::int64_t start,
               bool tail_done) {
  if (start <= 0 || W.cols == 0) return;
  const Chains<R> chains = chains_up(W, start, tail_done);
  rotate_trapezoid(chains, A_from.empty() ? A : A_from, A);
  rotate_columns(chains, from, Q);
  rotate_rows(chains, D);
}

template <class R>
void rotate_rows_in(View<R> U, View<R> A, View<R> H, View<R> Q, std::int64_t k, View<R> Q1, View<R> D) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::int64_t p = U.rows;
  const Chains<R> chains = chains_down(H, p, [&](std::int64_t j, std::int64_t width, std::int64_t height, R* strip) {
    load_strip(U, j, width, p, p, strip);
    load_strip(A, j, width, 0, height - p, strip + p * lanes);
  });
  const Range before{0, k}, in{k, k + p}, behind{k + p, Q1.rows}, all{0, Q.cols}, all1{0, Q1.cols};
  rotate_columns(chains, Q(before, all), Q1(before, all1), true);
  rotate_columns(chains, Q({k, Q.rows}, all), Q1(behind, all1), true);
  const View<R> fresh = Q1(in, all1);
  for (std::int64_t j = 0; j < fresh.cols; ++j)
    for (std::int64_t i = 0; i < p; ++i) fresh.data[i + j * fresh.ld] = R(i == j);
  rotate_columns(chains, View<R>{}, fresh);
  rotate_rows(chains, D);
}

template <class R>
void rotate_rows_out(View<R> W, View<R> A, View<R> A1, View<R> Q, std::int64_t k, View<R> Q1, View<R> D) {
  const std::int64_t p = W.cols;
  const Chains<R> chains = chains_up(W, W.rows - p, false);
  rotate_trapezoid(chains, A, A1);
  const Range all{0, Q.cols}, all1{0, Q1.cols};
  rotate_columns(chains, Q({0, k}, all), Q1({0, k}, all1), true);
  rotate_columns(chains, Q({k + p, Q.rows}, all), Q1({k, Q1.rows}, all1), true);
  rotate_rows(chains, D);
}

#define INSTANTIATE(R)                                                                                  \
  template void rotate_down<R>(View<R>, View<R>, std::int64_t, View<R>, View<R>, View<R>);              \
  template void rotate_up<R>(View<R>, View<R>, View<R>, View<R>, View<R>, View<R>, std::int64_t, bool); \
  template void rotate_rows_in<R>(View<R>, View<R>, View<R>, View<R>, std::int64_t, View<R>, View<R>);  \
  template void rotate_rows_out<R>(View<R>, View<R>, View<R>, View<R>, std::int64_t, View<R>, View<R>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace devobj::host
