// A slab's columns annihilated by rotations, and these made a block of reflectors: what all other slabs wait for, made by
// several threads. One owns the slab; who waits takes parts of its rows.
//
//   part    owner, and each thread with its parts                 owner alone, when all parts are there
//   +---+
//   |   |   products   W = V^H C, for the block before             their sum
//   | 0 |   eliminate  C -= V T^H W; to a triangle by rotations    the triangles' rotations, one above the other; these
//   +---+                                                          of the unit matrix: the top of each part's Q1
//   | 1 |   back       Q1 = the part's rotations of that           V's top and U^-1 from Q1's (with part 0 alone)
//   +---+   reflect    V = Q1 U^-1, G = V^H V                      T from the sum of G
//   | 2 |
//   +---+
//
// Parts and the order of sums follow from the shape; who does them does not matter. A block of fewer rows is made by its
// owner alone, eight columns after the other (givens_simd_groups.inl).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/host/cached_matrix.hpp"
#include "kernels/host/givens_blocks.hpp"
#include "kernels/host/givens_shape.hpp"
#include "kernels/host/slabs.hpp"
#include "kernels/host/spin.hpp"

namespace devobj::host {

template <class T>
class GivensPanels {
  using R = real_t<T>;
  static constexpr int P = Slabs<T>::P;
  static constexpr std::int64_t K = Slabs<T>::width, L = line<R>, lines = K * L;
  using Shapes = PanelShapes<R, P>;
  using Part = typename Shapes::Part;

 public:
  /// For the slabs of A; where there are no reflectors Q1 is left in those of Q. `threads` threads make and help.
  GivensPanels(const Shapes& shapes, const Slabs<T>& a, const Slabs<T>& q, const GivensBlocks<T>& blocks,
               std::int64_t rows, int threads, long patience, Queue& queue)
      : shapes_(shapes),
        a_(a),
        q_(q),
        blocks_(blocks),
        patience_(patience),
        scratch_((rows + widest_staircase * Shapes::most_parts) * L, threads, queue),
        numbers_(shapes.numbers + lane_rows(shapes.most_rows) * L, threads, queue),
        shared_(lines + Shapes::most_parts * (2 * lines + merge_numbers<R, P>), 1, queue),
        panels_(shapes.slab.size()) {}

  /// Slab t has got the blocks before t - 1: its parts can be had as soon as block t - 1 is made. With `follows` that has
  /// nonzeros to change in it. Without `reflectors` Q1 and R's triangle are all that is wanted.
  void open(std::int64_t t, bool follows, bool reflectors) {
    Panel& panel = panel_of(t);
    panel.follows = follows;
    panel.reflectors = reflectors;
    std::atomic_ref(panel.open).store(true, std::memory_order_release);
  }
  bool reflectors(std::int64_t t) const { return panels_[static_cast<std::size_t>(t)].reflectors; }
  /// Makes block t, which is open, after block t - 1.
  void make(std::int64_t t, int rank) {
    Panel& panel = panel_of(t);
    blocks_.fetch(t);
    if (shape(t).lanes > 0 && panel.reflectors) return make_alone(t, rank);
    const auto all = static_cast<int>(parts(t));
    if (panel.follows) {
      products(t, 0);
      arrive(panel.products, 1 + other_products(t));
    }
    Mine mine{{0}, 1};
    eliminate(t, mine, 1, rank);
    wait([&] { return panel.eliminated.load(std::memory_order_acquire) == all; });
    merge(t);
    panel.stage.store(merged, std::memory_order_release);
    back_and_reflect(t, mine, rank);
    wait([&] { return panel.reflected.load(std::memory_order_acquire) == all; });
    if (!panel.reflectors) return;
    alignas(64) R G[lines];
    sum(all, G);
    kernels_.reflectors_T(G, minus_inverse(), columns(t), blocks_.signs(t), blocks_.minus_T(t), blocks_.minus_TH(t));
  }

  /// Does parts of block t, all before it being made, if it is open and there is one left; true if so.
  bool help(std::int64_t t, int rank) {
    if (t >= std::ssize(panels_)) return false;
    Panel& panel = panel_of(t);
    if (panel.count.load(std::memory_order_relaxed) >= parts(t) ||
        !std::atomic_ref(panel.open).load(std::memory_order_acquire))
      return false;
    int hint = 1;
    if (panel.follows)
      if (const int done = other_products(t, &hint)) arrive(panel.products, done);
    Mine mine;
    if (!claim(t, hint, mine)) return false;
    eliminate(t, mine, hint, rank);
    wait([&] { return panel.stage.load(std::memory_order_acquire) >= merged; });
    back_and_reflect(t, mine, rank);
    return true;
  }

 private:
  enum Stage : int { begun, merged, inverted };
  /// What threads tell each other about a block that is being made: parts taken and parts done. Part 0 is the owner's.
  struct Panel {
    alignas(64) bool open = false;  // atomic
    bool follows = false, reflectors = false;
    alignas(64) std::atomic<int> next_product{1};
    alignas(64) std::atomic<int> count{1};  // of parts taken for elimination, and which
    std::atomic<bool> taken[Shapes::most_parts]{};
    alignas(64) std::atomic<int> products{0};
    alignas(64) std::atomic<int> eliminated{0};
    alignas(64) std::atomic<int> reflected{0};
    alignas(64) std::atomic<int> stage{begun};
  };
  /// The parts of a block that a thread has taken.
  struct Mine {
    int part[Shapes::most_parts] = {}, count = 0;
  };
  Panel& panel_of(std::int64_t t) { return panels_[static_cast<std::size_t>(t)]; }
  static void arrive(std::atomic<int>& counter, int count) { counter.fetch_add(count, std::memory_order_acq_rel); }
  template <class Condition>
  void wait(Condition&& there) const {
    for (Spin spin(patience_); !there();) spin.turn();
  }

  std::int64_t parts(std::int64_t t) const { return std::ssize(shape(t).part); }
  const typename Shapes::Slab& shape(std::int64_t t) const { return shapes_.slab[static_cast<std::size_t>(t)]; }
  const Part& part(std::int64_t t, int s) const { return shape(t).part[static_cast<std::size_t>(s)]; }
  /// Columns of block t.
  int columns(std::int64_t t) const { return static_cast<int>(shape(t).width); }
  /// Slab t of A from the first row of slab p on.
  R* top(std::int64_t p, std::int64_t t) const { return a_.slab(t) + shape(p).row0 * L; }
  R* partial(int s) const { return shared_.data + s * lines; }
  R* stack() const { return partial(Shapes::most_parts); }
  R* merge_numbers_of(std::int64_t s) const { return stack() + Shapes::most_parts * lines + s * merge_numbers<R, P>; }
  /// -U^-1 of V = Q1 U^-1.
  R* minus_inverse() const { return merge_numbers_of(Shapes::most_parts); }
  R* numbers(int rank) const { return numbers_.data + rank * numbers_.ld; }
  R* lanes(int rank) const { return numbers(rank) + shapes_.numbers; }
  /// Part s of Q1 in a thread's own memory, where staircases may run out below it.
  R* part_of_Q1(std::int64_t t, int s, int rank) const {
    return scratch_.data + rank * scratch_.ld + (part(t, s).first + s * widest_staircase) * L;
  }
  /// The sum of what the parts have left.
  void sum(int all, R* total) const {
    std::copy_n(partial(0), lines, total);
    for (int s = 1; s < all; ++s)
      for (std::int64_t e = 0; e < lines; ++e) total[e] += partial(s)[e];
  }

  /// Part s's rows of slab t and of block t - 1, which begins K rows above.
  struct Rows {
    std::int64_t first, count;  // from the first row of slab t - 1 on
  };
  Rows rows_before(std::int64_t t, int s) const {
    const Part& here = part(t, s);
    const std::int64_t first = s == 0 ? 0 : K + here.first;
    return {first, std::max<std::int64_t>(0, std::min(K + here.first + here.rows, shape(t - 1).rows) - first)};
  }
  /// Products of parts that nobody has taken; their number, and the last one.
  int other_products(std::int64_t t, int* last = nullptr) {
    const auto all = static_cast<int>(parts(t));
    int done = 0;
    if (all > 1)
      for (int s; (s = panel_of(t).next_product.fetch_add(1, std::memory_order_relaxed)) < all; ++done) {
        products(t, s);
        if (last) *last = s;
      }
    return done;
  }
  void products(std::int64_t t, int s) const {
    const Rows r = rows_before(t, s);
    kernels_.products(top(t - 1, t - 1) + r.first * L, top(t - 1, t) + r.first * L, r.count, partial(s));
  }
  /// -T^H W of block t - 1, made when it is wanted first.
  class Change {
   public:
    Change(const GivensPanels& panels, std::int64_t t) : panels_(panels), t_(t) {}
    const R* get() {
      if (made_) return numbers_;
      made_ = true;
      alignas(64) R W[lines];
      const auto all = static_cast<int>(panels_.parts(t_));
      const auto& done = panels_.panels_[static_cast<std::size_t>(t_)].products;
      panels_.wait([&] { return done.load(std::memory_order_acquire) == all; });
      panels_.sum(all, W);
      std::fill_n(numbers_, lines, R(0));
      panels_.kernels_.subtract(numbers_, panels_.blocks_.minus_TH(t_ - 1), W, K);
      return numbers_;
    }

   private:
    const GivensPanels& panels_;
    const std::int64_t t_;
    bool made_ = false;
    alignas(64) R numbers_[lines];
  };

  /// Staircases of a part for eliminate.
  void stairs(const Part& part, int rank, Staircase<R>* to) const {
    for (const auto& g : part.group) *to++ = {g.steps, g.bottom, numbers(rank) + g.offset};
  }
  /// Takes a part that nobody has for elimination, part `first` if it can be had.
  bool claim(std::int64_t t, int first, Mine& mine) {
    Panel& panel = panel_of(t);
    const auto all = static_cast<int>(parts(t));
    for (int i = 0; i < all - 1; ++i) {
      const int s = 1 + (first - 1 + i) % (all - 1);
      if (panel.taken[s].load(std::memory_order_relaxed) || panel.taken[s].exchange(true, std::memory_order_relaxed))
        continue;
      panel.count.fetch_add(1, std::memory_order_relaxed);
      mine.part[mine.count++] = s;
      return true;
    }
    return false;
  }
  /// The parts that the thread has, and those that nobody has.
  void eliminate(std::int64_t t, Mine& mine, int first, int rank) {
    Change change(*this, t);
    for (int i = 0; i < mine.count; ++i) {
      eliminate(t, mine.part[i], change, rank);
      claim(t, first, mine);
    }
    arrive(panel_of(t).eliminated, mine.count);
  }
  void eliminate(std::int64_t t, int s, Change& change, int rank) const {
    if (panels_[static_cast<std::size_t>(t)].follows) {
      const Rows r = rows_before(t, s);
      R* const C = top(t - 1, t) + r.first * L;
      kernels_.subtract(C, top(t - 1, t - 1) + r.first * L, change.get(), r.count);
      if (s == 0) scale_rows(C, blocks_.signs(t - 1), K);
    }
    Staircase<R> to[Shapes::groups];
    stairs(part(t, s), rank, to);
    const Part& here = part(t, s);
    R *const rows = top(t, t) + here.first * L, *const triangle = stack() + s * lines;
    if (here.lanes > 0)
      return kernels_.eliminate_lanes(rows, here.rows, shape(t).columns, here.lanes, to, lanes(rank), triangle);
    kernels_.eliminate(rows, shape(t).columns, to);
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t e = 0; e < L; ++e) triangle[i * L + e] = i >= here.rows || e % K < i ? R(0) : rows[i * L + e];
  }
  /// Block t by groups, its slab changed by the block before it.
  void make_alone(std::int64_t t, int rank) const {
    if (panels_[static_cast<std::size_t>(t)].follows) {
      const R* const V = top(t - 1, t - 1);
      R* const C = top(t - 1, t);
      kernels_.reflect(V, blocks_.minus_TH(t - 1), C, shape(t - 1).rows);
      scale_rows(C, blocks_.signs(t - 1), K);
    }
    Staircase<R> to[Shapes::groups];
    stairs(part(t, 0), rank, to);
    LinesAhead<R> ahead;
    if (t + 1 < std::ssize(panels_))
      ahead = {top(t, t + 1), shape(t).rows, &panels_[static_cast<std::size_t>(t + 1)].open};
    kernels_.block_by_groups(top(t, t), shape(t).rows, shape(t).columns, shape(t).lanes, to, lanes(rank),
                             {blocks_.minus_T(t), blocks_.minus_TH(t), blocks_.triangle(t), blocks_.signs(t)}, ahead);
  }
  /// R's triangle of slab t, and the tops of its parts' Q1 in the stack.
  void merge(std::int64_t t) const {
    const std::int64_t all = parts(t);
    R* const X = stack();
    for (std::int64_t s = 1; s < all; ++s) kernels_.merge(X, X + s * lines, shape(t).columns, merge_numbers_of(s));
    std::copy_n(X, lines, blocks_.triangle(t));
    std::fill_n(X, lines * all, R(0));
    for (int j = 0; j < columns(t); ++j) X[j * L + j] = 1;
    for (std::int64_t s = all - 1; s > 0; --s)
      kernels_.merge_back(X, X + s * lines, shape(t).columns, merge_numbers_of(s));
  }
  /// The inverse of a part's rotations on an upper triangle: the last staircases meet its last columns only.
  void rotate_back(const Part& part, R* rows, int rank) const {
    for (auto g = part.group.rbegin(); g != part.group.rend(); ++g)
      kernels_.rotate(rows, g->row0, g->steps, widest_staircase, true, true, numbers(rank) + g->offset, g->row0);
  }
  void back(std::int64_t t, int s, int rank) const {
    const Part& here = part(t, s);
    R* const Q1 = part_of_Q1(t, s, rank);
    if (here.lanes > 0) {
      Staircase<R> to[Shapes::groups];
      stairs(here, rank, to);
      return kernels_.back_lanes(stack() + s * lines, here.rows, shape(t).columns, here.lanes, to, lanes(rank), Q1);
    }
    const std::int64_t given = std::min(K, here.rows) * L;
    std::copy_n(stack() + s * lines, given, Q1);
    std::fill(Q1 + given, Q1 + (here.rows + widest_staircase) * L, R(0));
    rotate_back(here, Q1, rank);
  }
  /// The rest for these parts; part 0 brings U^-1.
  void back_and_reflect(std::int64_t t, const Mine& mine, int rank) {
    Panel& panel = panel_of(t);
    for (int i = 0; i < mine.count; ++i) {
      back(t, mine.part[i], rank);
      if (mine.part[i] > 0 || !panel.reflectors) continue;
      kernels_.reflectors_top(part_of_Q1(t, 0, rank), columns(t), top(t, t), minus_inverse(), blocks_.signs(t));
      panel.stage.store(inverted, std::memory_order_release);
    }
    if (panel.reflectors) wait([&] { return panel.stage.load(std::memory_order_acquire) >= inverted; });
    for (int i = 0; i < mine.count; ++i) reflect(t, mine.part[i], rank);
    arrive(panel.reflected, mine.count);
  }
  /// Part s of V and of V^H V, or of Q1.
  void reflect(std::int64_t t, int s, int rank) const {
    const Part& here = part(t, s);
    const R* const Q1 = part_of_Q1(t, s, rank);
    if (!reflectors(t)) {
      std::copy_n(Q1, here.rows * L, q_.slab(t) + (shape(t).row0 + here.first) * L);
      return;
    }
    R* const V = top(t, t) + here.first * L;
    const std::int64_t there = s == 0 ? columns(t) : 0;
    std::fill(V + there * L, V + here.rows * L, R(0));
    kernels_.subtract(V + there * L, Q1 + there * L, minus_inverse(), here.rows - there);
    kernels_.products(V, V, here.rows, partial(s));
  }

 public:
  /// Lines times signs.
  static void scale_rows(R* rows, const R* signs, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      if (signs[i] < 0)
        for (std::int64_t e = 0; e < L; ++e) rows[i * L + e] = -rows[i * L + e];
  }

 private:
  const Shapes& shapes_;
  const Slabs<T>&a_, &q_;
  const GivensBlocks<T>& blocks_;
  const long patience_;
  const CachedMatrix<R> scratch_, numbers_, shared_;
  std::vector<Panel> panels_;
  const GivensKernels<R>& kernels_ = givens_kernels<R, P>();
};

}  // namespace devobj::host
