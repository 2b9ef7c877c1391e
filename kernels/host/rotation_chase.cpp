#include "kernels/host/rotation_chase.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/host/chain_simd.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

constexpr std::int64_t chunk = 32;           // rotations of a chain that are applied before the next chain's
constexpr std::int64_t carry_bytes = 16384;  // rows of Q that go through the chains together: half of a first cache

/// r = c f + s g, 0 = c g - s f; as LAPACK's lartg safe from overflow and underflow.
template <class R>
void make_rotation(R f, R g, R& c, R& s, R& r) {
  if (g == 0) {
    c = 1, s = 0, r = f;
  } else if (f == 0) {
    c = 0, s = 1, r = g;
  } else {
    r = std::copysign(std::hypot(f, g), f);
    c = f / r, s = g / r;
  }
}

/// p chains of `length` rotations: rotation u of chain t acts on neighbours at(t) + u and the next. Ascending chains
/// begin at p - 1, p - 2, ... (chase_down), descending ones end at 0, 1, ... (chase_up).
///
/// The first `chunk` rotations of all chains come before the others of any: rotations of different chains that change
/// places by this have no neighbour in common.
template <class R>
class Chains {
 public:
  Chains(bool ascending, std::int64_t p, std::int64_t length)
      : ascending_(ascending), p_(p), length_(length), c_(size(), R(1)), s_(size(), R(0)), count_(p, length) {}
  std::int64_t at(std::int64_t t) const { return ascending_ ? p_ - 1 - t : t; }
  R& c(std::int64_t t, std::int64_t u) { return c_[static_cast<std::size_t>(t * length_ + u)]; }
  R& s(std::int64_t t, std::int64_t u) { return s_[static_cast<std::size_t>(t * length_ + u)]; }
  void set_count(std::int64_t t, std::int64_t count) {
    count_[static_cast<std::size_t>(t)] = std::max<std::int64_t>(0, count);
  }
  std::int64_t length() const { return length_; }

  /// Rotations begin <= u < end of all chains on a strip. `limit`: no neighbour from there on.
  void apply(R* x, std::int64_t begin, std::int64_t end, std::int64_t limit) const {
    constexpr std::int64_t step = chain_lanes<R>;
    const ChainKernels<R>& kernels = chain_kernels<R>();
    const std::int64_t chunks = (end - begin + chunk - 1) / chunk;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t u0 = ascending_ ? begin + i * chunk : std::max(begin, end - (i + 1) * chunk);
      const std::int64_t u1 = ascending_ ? std::min(end, u0 + chunk) : end - i * chunk;
      for (std::int64_t t = 0; t < p_; ++t) {
        const std::int64_t last = std::min({u1, count_[static_cast<std::size_t>(t)], limit - 1 - at(t)});
        const R *c = c_.data() + t * length_, *s = s_.data() + t * length_;
        (ascending_ ? kernels.ascend : kernels.descend)(x + at(t) * step, step, c, s, u0, last);
      }
    }
  }

  /// All rotations, from columns of `from` to those of `to`, which may be the same. A column goes through all chains at
  /// once: `carry` holds the neighbour that the next one of each chain meets.
  ///
  ///   ascending        +--- chain 0 ---+  z  +--- chain 1 ---+  z          p = 2: column 2 + u comes, column u is
  ///   from(2 + u)  ->  | carry: 1 + u  | ->  | carry: u      | ->  to(u)   done; the carries are 2 + u and 1 + u
  void through(View<R> from, View<R> to, R* carry) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    const std::int64_t rows = to.rows;
    auto column = [&](View<R> A, std::int64_t j) { return A.data + j * A.ld; };
    typename ChainKernels<R>::Columns x{column(from, ascending_ ? p_ : 0),
                                        from.ld,
                                        column(to, ascending_ ? 0 : p_),
                                        to.ld,
                                        carry,
                                        rows,
                                        c_.data(),
                                        s_.data(),
                                        length_};
    for (std::int64_t t = 0; t < p_; ++t)
      std::copy_n(column(from, ascending_ ? p_ - 1 - t : length_ + t), rows, carry + t * rows);
    if (!ascending_) {
      kernels.descend_columns(x, 0, p_, 0, length_);
      for (std::int64_t t = 0; t < p_; ++t) std::copy_n(carry + t * rows, rows, column(to, t));
    } else {
      kernels.ascend_columns(x, 0, p_, 0, count_[0]);
      // where columns end, so do the chains one after the other, and their last neighbour goes to the next chain
      std::int64_t first = 0;
      for (std::int64_t u = count_[0]; u < length_; ++u) {
        x.from = carry + first++ * rows, x.ld_from = 0;
        kernels.ascend_columns(x, first, p_, u, u + 1);
      }
      for (std::int64_t t = first; t < p_; ++t) std::copy_n(carry + t * rows, rows, column(to, length_ + p_ - 1 - t));
    }
    if (from.data == to.data) return;
    for (std::int64_t j = length_ + p_; j < to.cols; ++j) std::copy_n(column(from, j), rows, column(to, j));
  }
  std::int64_t chains() const { return p_; }

 private:
  std::size_t size() const { return static_cast<std::size_t>(p_ * length_); }
  bool ascending_;
  std::int64_t p_, length_;
  std::vector<R> c_, s_;
  std::vector<std::int64_t> count_;
};

template <class R>
std::vector<R>& strip_memory(std::int64_t rows) {
  thread_local std::vector<R> memory;
  memory.resize(static_cast<std::size_t>(rows * chain_lanes<R>));
  return memory;
}

/// Q = Q G, or from G if `from` is there, which is read as it is needed, and not copied before: for one chain the memory
/// traffic is the time. The team shares the rows of Q.
template <class R>
void rotate_columns(const Chains<R>& chains, View<R> from, View<R> Q) {
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
    std::vector<R>& carry = strip_memory<R>(chains.chains() * unit / lanes);
    for (std::int64_t row = me.rank() * unit; row < Q.rows; row += me.size() * unit) {
      const Range part{row, std::min(Q.rows, row + unit)};
      chains.through(source(part, {0, Q.cols}), Q(part, {0, Q.cols}), carry.data());
    }
  });
}

/// A = G^H A for columns of any height: strips of columns, of which `height(last column)` rows are not zero.
template <class R, class Height>
void rotate_rows(const Chains<R>& chains, View<R> A, const Height& height) {
  if (A.empty()) return;
  constexpr std::int64_t lanes = chain_lanes<R>;
  const ChainKernels<R>& kernels = chain_kernels<R>();
  const std::size_t bytes = static_cast<std::size_t>(A.size()) * sizeof(R);
  Team& team = Team::shared();
  team.run(threads_for(bytes, std::size_t{1} << 19, team.size()), [&](Team::Member& me) {
    const std::int64_t pieces = (A.cols + lanes - 1) / lanes;
    for (std::int64_t piece = me.rank(); piece < pieces; piece += me.size()) {
      const std::int64_t j = piece * lanes, cols = std::min(lanes, A.cols - j), rows = height(j + cols - 1);
      std::vector<R>& strip = strip_memory<R>(rows);
      kernels.pack(A.data + j * A.ld, A.ld, rows, cols, strip.data());
      chains.apply(strip.data(), 0, std::min(chains.length(), rows), rows);
      kernels.unpack(strip.data(), rows, cols, A.data + j * A.ld, A.ld);
    }
  });
}

}  // namespace

// Chain t takes the lowest subdiagonal but t away: rotation u makes H(p - t + u, u) zero. A strip of columns first gets
// all rotations of the columns before; then each of its columns makes its own, for itself and the columns after.
template <class R>
void rotate_down(View<R> H, std::int64_t p, View<R> from, View<R> Q, View<R> D) {
  constexpr std::int64_t lanes = chain_lanes<R>;
  const std::int64_t rows = H.rows, cols = std::min(H.cols, rows - 1);
  if (cols <= 0) return;
  Chains<R> chains(true, p, cols);
  for (std::int64_t t = 0; t < p; ++t) chains.set_count(t, std::min(cols, rows - p + t));
  const ChainKernels<R>& kernels = chain_kernels<R>();
  for (std::int64_t j = 0; j < H.cols; j += lanes) {
    const std::int64_t width = std::min(lanes, H.cols - j), height = std::min(rows, j + width + p);
    std::vector<R>& strip = strip_memory<R>(height);
    kernels.pack(H.data + j * H.ld, H.ld, height, width, strip.data());
    chains.apply(strip.data(), 0, std::min(j, cols), height);
    for (std::int64_t u = j; u < std::min(j + width, cols); ++u)
      for (std::int64_t t = 0; t < p; ++t) {
        const std::int64_t i = p - 1 - t + u;
        if (i + 1 >= rows) continue;
        R *top = strip.data() + i * lanes, *bottom = top + lanes, r;
        R &c = chains.c(t, u), &s = chains.s(t, u);
        make_rotation(top[u - j], bottom[u - j], c, s, r);
        kernels.ascend(top, lanes, &c, &s, 0, 1);
        top[u - j] = r;
        bottom[u - j] = 0;
      }
    kernels.unpack(strip.data(), height, width, H.data + j * H.ld, H.ld);
  }
  rotate_columns(chains, from, Q);
  rotate_rows(chains, D, [&](std::int64_t) { return D.rows; });
}

// Chain t makes W(start + t, t), ..., W(t + 1, t) zero, from below.
template <class R>
void rotate_up(View<R> W, View<R> A, View<R> from, View<R> Q, View<R> D, std::int64_t start) {
  const std::int64_t p = W.cols, rows = W.rows;
  if (start <= 0 || p == 0) return;
  Chains<R> chains(false, p, start);
  for (std::int64_t t = 0; t < p; ++t) {
    R* w = W.data + t * W.ld;
    for (std::int64_t u = start - 1; u >= 0; --u) {
      const std::int64_t i = u + t;
      R &c = chains.c(t, u), &s = chains.s(t, u), r;
      make_rotation(w[i], w[i + 1], c, s, r);
      w[i] = r, w[i + 1] = 0;
    }
    for (std::int64_t j = t + 1; j < p; ++j) {
      R* x = W.data + j * W.ld;
      for (std::int64_t u = start - 1; u >= 0; --u) {
        const std::int64_t i = u + t;
        const R c = chains.c(t, u), s = chains.s(t, u), y = x[i], z = x[i + 1];
        x[i] = c * y + s * z;
        x[i + 1] = c * z - s * y;
      }
    }
  }
  rotate_rows(chains, A, [&](std::int64_t j) { return std::min(rows, j + 1 + p); });
  rotate_columns(chains, from, Q);
  rotate_rows(chains, D, [&](std::int64_t) { return rows; });
}

#define INSTANTIATE(R)                                                            \
  template void rotate_down<R>(View<R>, std::int64_t, View<R>, View<R>, View<R>); \
  template void rotate_up<R>(View<R>, View<R>, View<R>, View<R>, View<R>, std::int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace devobj::host
