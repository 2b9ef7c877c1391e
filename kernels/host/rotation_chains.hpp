// Chains of rotations, each of which meets the neighbour that the one before has left: on strips of rows, and on whole
// columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "devobj/view.hpp"
#include "kernels/host/chain_simd.hpp"

namespace devobj::host {

/// p chains of `length` rotations: rotation u of chain t acts on neighbours at(t) + u and the next. Ascending chains
/// begin at p - 1, p - 2, ... (chase_down), descending ones end at 0, 1, ... (chase_up). The first `full` steps u have a
/// rotation of each chain. Where the matrix ends, so do the chains, one with each step: of ascending ones chain 0 first,
/// of descending ones the last.
///
/// A neighbour goes through all chains at once: `carry` holds what the next one of each chain meets.
///
///   ascending       +--- chain 0 ---+  z  +--- chain 1 ---+  z        p = 2: neighbour 2 + u comes, neighbour u is
///   2 + u   ->      | carry: 1 + u  | ->  | carry: u      | ->  u     done; the carries are 2 + u and 1 + u
template <class R>
class Chains {
 public:
  using Columns = typename ChainKernels<R>::Columns;

  Chains(bool ascending, std::int64_t p, std::int64_t length, std::int64_t full)
      : ascending_(ascending), p_(p), length_(length), full_(full), g_(static_cast<std::size_t>(p * length)) {}

  std::int64_t chains() const { return p_; }
  std::int64_t length() const { return length_; }
  /// Rotation u of chain t; that of chain t + 1 is beside it.
  Shears<R>* g(std::int64_t t, std::int64_t u) { return g_.data() + u * p_ + t; }
  /// Ascending: the first chain with a rotation u.
  std::int64_t first(std::int64_t u) const { return std::max<std::int64_t>(0, u - full_ + 1); }
  /// Descending: the chains with a rotation u are those before this one.
  std::int64_t last(std::int64_t u) const { return std::min(p_, full_ + p_ - 1 - u); }

  /// `rows` numbers of each neighbour, the first one at `from`, from where they come, and at `to`, where they go.
  Columns columns(const R* from, std::int64_t ld_from, R* to, std::int64_t ld_to, R* carry, std::int64_t rows) const {
    constexpr std::int64_t lanes = chain_lanes<R>;
    return {from, ld_from, to, ld_to, carry, (rows + lanes - 1) / lanes * lanes, rows, g_.data(), p_};
  }
  Columns strip(R* x, R* carry) const { return columns(x, chain_lanes<R>, x, chain_lanes<R>, carry, chain_lanes<R>); }

  /// All rotations, from columns of `from` to those of `to`, which may be the same.
  /// first_absent: the first p columns come in as zeros (ascending) or go (descending), and the other matrix has p
  /// columns fewer.
  void through(View<R> from, View<R> to, bool first_absent, R* carry) const {
    const Columns x = columns(from.data, from.ld, to.data, to.ld, carry, to.rows);
    if (ascending_)
      end_ascent(ascend(begin_ascent(x, first_absent), 0, length_), length_);
    else
      descend(x, length_, first_absent);
    if (from.data == to.data) return;
    const std::int64_t ahead = first_absent ? (ascending_ ? p_ : -p_) : 0;  // column j of from is j + ahead of to
    for (std::int64_t j = length_ + p_; j < to.cols + (ascending_ ? 0 : -ahead); ++j) {
      const std::int64_t source = ascending_ ? j - ahead : j, target = ascending_ ? j : j + ahead;
      std::copy_n(from.data + source * from.ld, to.rows, to.data + target * to.ld);
    }
  }
  /// All rotations of a strip in place. Descending: only those before `end`.
  void through(R* x, std::int64_t end, R* carry) const {
    if (ascending_)
      end_ascent(ascend(begin_ascent(strip(x, carry), false), 0, end), end);
    else
      descend(strip(x, carry), end, false);
  }

  /// The first neighbours are on their chains, and x is for the others.
  Columns begin_ascent(Columns x, bool first_absent) const {
    if (first_absent) {
      std::fill_n(x.carry, p_ * x.ld_carry, R(0));
      return x;
    }
    for (std::int64_t t = 0; t < p_; ++t)
      std::copy_n(x.from + (p_ - 1 - t) * x.ld_from, x.rows, x.carry + t * x.ld_carry);
    x.from += p_ * x.ld_from;
    return x;
  }
  /// Steps begin ... end - 1. The last neighbour of a chain that ends goes to the next.
  Columns ascend(const Columns& x, std::int64_t begin, std::int64_t end) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    kernels.ascend(x, 0, p_, begin, std::min(end, full_));
    Columns y = x;
    for (std::int64_t u = std::max(begin, full_); u < end; ++u) {
      y.from = x.carry + (first(u) - 1) * x.ld_carry, y.ld_from = 0;
      kernels.ascend(y, first(u), p_, u, u + 1);
    }
    return x;
  }
  /// What the chains carry after steps before `end` goes to its place.
  void end_ascent(const Columns& x, std::int64_t end) const {
    for (std::int64_t t = end > 0 ? first(end - 1) : 0; t < p_; ++t)
      std::copy_n(x.carry + t * x.ld_carry, x.rows, x.to + (end + p_ - 1 - t) * x.ld_to);
  }

 private:
  // Chains begin with what the chain before has done first.
  void descend(Columns x, std::int64_t end, bool first_absent) const {
    if (end <= 0) return;
    const ChainKernels<R>& kernels = chain_kernels<R>();
    std::int64_t ready = last(end - 1);
    for (std::int64_t t = 0; t < ready; ++t)
      std::copy_n(x.from + (end + t) * x.ld_from, x.rows, x.carry + t * x.ld_carry);
    R* const to = x.to;
    if (!first_absent) x.to += p_ * x.ld_to;
    for (Columns y = x; ready < p_; ++ready, --end) {
      y.to = x.carry + ready * x.ld_carry, y.ld_to = 0;
      kernels.descend(y, 0, ready, end - 1, end);
    }
    kernels.descend(x, 0, p_, 0, end);
    for (std::int64_t t = 0; t < p_ && !first_absent; ++t)
      std::copy_n(x.carry + t * x.ld_carry, x.rows, to + t * x.ld_to);
  }

  bool ascending_;
  std::int64_t p_, length_, full_;
  std::vector<Shears<R>> g_;
};

}  // namespace devobj::host
