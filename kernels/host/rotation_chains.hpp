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
    pass(columns(from.data, from.ld, to.data, to.ld, carry, to.rows), first_absent);
    if (from.data == to.data) return;
    const std::int64_t ahead = first_absent ? (ascending_ ? p_ : -p_) : 0;  // column j of from is j + ahead of to
    for (std::int64_t j = length_ + p_; j < to.cols + (ascending_ ? 0 : -ahead); ++j) {
      const std::int64_t source = ascending_ ? j - ahead : j, target = ascending_ ? j : j + ahead;
      std::copy_n(from.data + source * from.ld, to.rows, to.data + target * to.ld);
    }
  }
  void through(const Columns& x) const { pass(x, false); }

  // In parts: `begin` puts the first neighbours on their chains and returns x for the others; then the steps, in the
  // chains' order; then what they carry goes to its place.

  Columns begin_ascent(Columns x, bool first_absent = false) const {
    if (first_absent) {
      std::fill_n(x.carry, p_ * x.ld_carry, R(0));
      return x;
    }
    take(x, 0, p_, p_ - 1, -1);
    x.from += p_ * x.ld_from;
    return x;
  }
  /// Steps begin ... end - 1. The last neighbour of a chain that ends goes to the next.
  void ascend(const Columns& x, std::int64_t begin, std::int64_t end) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    kernels.ascend(x, 0, p_, begin, std::min(end, full_));
    Columns y = x;
    for (std::int64_t u = std::max(begin, full_); u < end; ++u) {
      y.from = x.carry + (first(u) - 1) * x.ld_carry, y.ld_from = 0;
      kernels.ascend(y, first(u), p_, u, u + 1);
    }
  }
  /// After the steps before `end`.
  void end_ascent(const Columns& x, std::int64_t end) const {
    leave(x, x.to, end > 0 ? first(end - 1) : 0, end + p_ - 1, -1);
  }

  /// For the steps before `end`.
  Columns begin_descent(Columns x, std::int64_t end, bool first_absent = false) const {
    if (end > 0) take(x, 0, last(end - 1), end, 1);
    if (!first_absent) x.to += p_ * x.ld_to;
    return x;
  }
  /// Steps end - 1 ... begin. A chain begins with what the chain before has done first.
  void descend(const Columns& x, std::int64_t begin, std::int64_t end) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    Columns y = x;
    for (std::int64_t u = end - 1; u >= std::max(begin, full_); --u) {
      y.to = x.carry + last(u) * x.ld_carry, y.ld_to = 0;
      kernels.descend(y, 0, last(u), u, u + 1);
    }
    kernels.descend(x, 0, p_, begin, std::min(end, full_));
  }
  void end_descent(const Columns& x) const { leave(x, x.to - p_ * x.ld_to, 0, 0, 1); }

 private:
  void pass(Columns x, bool first_absent) const {
    if (ascending_) {
      x = begin_ascent(x, first_absent);
      ascend(x, 0, length_);
      end_ascent(x, length_);
    } else {
      x = begin_descent(x, length_, first_absent);
      descend(x, 0, length_);
      if (!first_absent) end_descent(x);
    }
  }
  // carry_t = neighbour j + t next, t = begin ... end - 1, and the inverse
  void take(const Columns& x, std::int64_t begin, std::int64_t end, std::int64_t j, std::int64_t next) const {
    for (std::int64_t t = begin; t < end; ++t)
      std::copy_n(x.from + (j + t * next) * x.ld_from, x.rows, x.carry + t * x.ld_carry);
  }
  void leave(const Columns& x, R* to, std::int64_t begin, std::int64_t j, std::int64_t next) const {
    for (std::int64_t t = begin; t < p_; ++t)
      std::copy_n(x.carry + t * x.ld_carry, x.rows, to + (j + t * next) * x.ld_to);
  }

  bool ascending_;
  std::int64_t p_, length_, full_;
  std::vector<Shears<R>> g_;
};

}  // namespace devobj::host
