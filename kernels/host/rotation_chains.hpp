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
/// begin at p - 1, p - 2, ... (chase_down), descending ones end at 0, 1, ... (chase_up). Chains are of one length, or
/// those in the middle of the matrix, chain 0 of ascending and the last of descending ones, the shortest by one each.
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

  static constexpr std::int64_t chunk = 32;  // rotations of a chain that are applied before the next chain's

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
  ///
  /// first_absent: the first p columns come in as zeros (ascending) or go (descending), and the other matrix has p
  /// columns fewer.
  void through(View<R> from, View<R> to, bool first_absent, R* carry) const {
    const std::int64_t rows = to.rows;
    auto take = [&](std::int64_t t, std::int64_t j) { std::copy_n(column(from, j), rows, carry + t * rows); };
    auto leave = [&](std::int64_t t, std::int64_t j) { std::copy_n(carry + t * rows, rows, column(to, j)); };
    Columns x{from.data, from.ld, to.data, to.ld, carry, rows, c_.data(), s_.data(), length_};
    if (ascending_) {
      if (first_absent) std::fill_n(carry, p_ * rows, R(0));
      for (std::int64_t t = 0; t < p_ && !first_absent; ++t) take(t, p_ - 1 - t);
      if (!first_absent) x.from += p_ * from.ld;
      const std::int64_t first = ascend(x);
      for (std::int64_t t = first; t < p_; ++t) leave(t, length_ + p_ - 1 - t);
    } else {
      const std::int64_t ready = count_.back() < length_ ? 1 : p_;
      for (std::int64_t t = 0; t < ready; ++t) take(t, length_ + t);
      if (!first_absent) x.to += p_ * to.ld;
      descend(x, ready);
      for (std::int64_t t = 0; t < p_ && !first_absent; ++t) leave(t, t);
    }
    if (from.data == to.data) return;
    const std::int64_t ahead = first_absent ? (ascending_ ? p_ : -p_) : 0;  // column j of from is j + ahead of to
    for (std::int64_t j = length_ + p_; j < to.cols + (ascending_ ? 0 : -ahead); ++j) {
      const std::int64_t source = ascending_ ? j - ahead : j, target = ascending_ ? j : j + ahead;
      std::copy_n(column(from, source), rows, column(to, target));
    }
  }
  std::int64_t chains() const { return p_; }

 private:
  using Columns = typename ChainKernels<R>::Columns;
  static R* column(View<R> A, std::int64_t j) { return A.data + j * A.ld; }

  // Where columns end, so do the chains one after the other, and the last neighbour of one goes to the next. Returns the
  // first chain with a neighbour left.
  std::int64_t ascend(Columns x) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    kernels.ascend_columns(x, 0, p_, 0, count_[0]);
    std::int64_t first = 0;
    for (std::int64_t u = count_[0]; u < length_; ++u) {
      x.from = x.carry + first++ * x.rows, x.ld_from = 0;
      kernels.ascend_columns(x, first, p_, u, u + 1);
    }
    return first;
  }
  // Chains from `ready` on begin, one after the other, with what the chain before has done first.
  void descend(Columns x, std::int64_t ready) const {
    const ChainKernels<R>& kernels = chain_kernels<R>();
    std::int64_t u = length_;
    for (Columns y = x; ready < p_; ++ready, --u) {
      y.to = x.carry + ready * x.rows, y.ld_to = 0;
      kernels.descend_columns(y, 0, ready, u - 1, u);
    }
    kernels.descend_columns(x, 0, p_, 0, u);
  }

  std::size_t size() const { return static_cast<std::size_t>(p_ * length_); }
  bool ascending_;
  std::int64_t p_, length_;
  std::vector<R> c_, s_;
  std::vector<std::int64_t> count_;
};

}  // namespace devobj::host
