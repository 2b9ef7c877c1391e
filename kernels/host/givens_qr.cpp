// QR by Givens rotations on the CPU: rotations of adjacent rows in wavefront order (paper 004), eight columns' waves
// fused so that a window of rows stays in registers, slabs of columns as tasks for the team.
//
//          0   1   p       t                Slab t, by one thread:
//        +---+---+---+---+---+               apply       the rotations of the slabs p < t, as soon as each is there
//        | R | R | R | R | x |               eliminate   the rotations of its own columns, for all slabs right of it
//        +---+---+---+---+---+
//        | 0 | 0 | 0 | x | x |             Q is formed from the unit matrix by the inverse rotations, the last first,
//        again a
//        +---+---+---+---+---+             slab by one thread; slab t is not touched by the rotations of the slabs p >
//        t.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/givens.hpp"
#include "kernels/host/slabs.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

/// The staircases of all slabs: groups of eight columns.
template <class R, int P>
struct Staircases {
  static constexpr std::int64_t groups = slab_columns<R, P> / widest_staircase;  // of a slab
  struct Group {
    std::int64_t row0, steps, bottom, offset;
  };
  std::vector<Group> group;
  std::int64_t numbers = 0;  // in all

  /// For k columns, of which column j has no nonzero from row reach[j] on; reach does not fall.
  Staircases(std::int64_t k, const std::vector<std::int64_t>& reach) {
    for (std::int64_t j = 0; j < k; j += widest_staircase) {
      const std::int64_t bottom = reach[std::min<std::int64_t>(j + widest_staircase, std::ssize(reach)) - 1];
      const std::int64_t steps = std::max<std::int64_t>(0, bottom - 1 - j);
      group.push_back({j, steps, bottom, numbers});
      numbers += steps * step_numbers<P>(widest_staircase);
    }
  }
  std::int64_t slabs() const { return (std::ssize(group) + groups - 1) / groups; }
  std::int64_t begin(std::int64_t p) const { return p * groups; }
  std::int64_t end(std::int64_t p) const { return std::min<std::int64_t>((p + 1) * groups, std::ssize(group)); }
};

/// Where A's nonzeros end: row reach[j] for the columns up to j, column right[i] for the rows up to i.
struct Envelope {
  std::vector<std::int64_t> reach, right;
};
template <class T>
Envelope envelope(View<T> A) {
  Envelope e{std::vector<std::int64_t>(A.cols), std::vector<std::int64_t>(A.rows, 0)};
  std::int64_t below = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const T* a = A.data + j * A.ld;
    std::int64_t last = A.rows;
    while (last > below && a[last - 1] == T(0)) --last;
    e.reach[j] = below = std::max({below, last, std::min(j + 1, A.rows)});
    // the first row that reaches column j counts for all below it
    std::int64_t first = 0;
    while (first < last && a[first] == T(0)) ++first;
    if (first < last) e.right[first] = std::max(e.right[first], j + 1);
  }
  for (std::int64_t i = 1; i < A.rows; ++i) e.right[i] = std::max(e.right[i], e.right[i - 1]);
  return e;
}

template <class T>
class GivensQr {
  using R = real_t<T>;
  static constexpr int P = Slabs<T>::P;

 public:
  GivensQr(View<T> A, View<T> Q, View<T> Rm, const Envelope& shape, Queue& q)
      : A_(A),
        Q_(Q),
        R_(Rm),
        shape_(shape),
        stairs_(std::min({A.rows - 1, A.cols}), shape.reach),
        a_memory_(Slabs<T>::memory(A.rows, A.cols, q)),
        q_memory_(Slabs<T>::memory(Q.rows, Q.cols, q)),
        a_(A.rows, A.cols, a_memory_),
        q_(Q.rows, Q.cols, q_memory_),
        numbers_(stairs_.numbers, 1, q),
        next_of_Q_(q_.count()) {}

  /// A thread's share: slabs of A in their order, then those of Q, the longest work first.
  void run() {
    const std::int64_t slabs = stairs_.slabs();
    for (std::int64_t t; (t = next_++) < a_.count();) {
      a_.load(A_, t);
      for (std::int64_t p = 0; p < std::min(t, slabs); ++p) {
        wait_for(p);
        if (t * Slabs<T>::width < right_of(p)) apply(p, t);
      }
      if (t < slabs) {
        eliminate(t);
        made_.store(t + 1, std::memory_order_release);
      }
      a_.store(t, R_, [](std::int64_t j) { return j + 1; });
    }
    for (std::int64_t t; (t = --next_of_Q_) >= 0;) {
      q_.load_unit(t);
      for (std::int64_t p = std::min(t, slabs - 1); p >= 0; --p) {
        wait_for(p);
        apply_inverse(p, t);
      }
      q_.store(t, Q_, [this](std::int64_t) { return Q_.rows; });
    }
  }

 private:
  R* coefficients(std::int64_t g) const { return numbers_.data + stairs_.group[g].offset; }

  /// Waits until slab p's rotations are made. Slabs are taken in order, so whoever makes them is at work.
  void wait_for(std::int64_t p) const {
    for (int spins = 0; made_.load(std::memory_order_acquire) <= p; ++spins)
      if (spins > 2000) std::this_thread::yield();
  }
  /// The columns that slab p's rotations can reach.
  std::int64_t right_of(std::int64_t p) const {
    const std::int64_t bottom = stairs_.group[stairs_.end(p) - 1].bottom;
    return bottom > 0 ? shape_.right[bottom - 1] : 0;
  }
  void eliminate(std::int64_t p) const {
    for (std::int64_t g = stairs_.begin(p); g < stairs_.end(p); ++g) {
      const auto& s = stairs_.group[g];
      kernels_.eliminate(a_.slab(p), s.row0, s.steps, s.bottom, s.row0 - p * Slabs<T>::width, coefficients(g));
    }
  }
  void apply(std::int64_t p, std::int64_t t) const {
    for (std::int64_t g = stairs_.begin(p); g < stairs_.end(p); ++g) {
      const auto& s = stairs_.group[g];
      kernels_.rotate(a_.slab(t), s.row0, s.steps, widest_staircase, false, false, coefficients(g));
    }
  }
  void apply_inverse(std::int64_t p, std::int64_t t) const {
    for (std::int64_t g = stairs_.end(p) - 1; g >= stairs_.begin(p); --g) {
      const auto& s = stairs_.group[g];
      kernels_.rotate(q_.slab(t), s.row0, s.steps, widest_staircase, true, true, coefficients(g));
    }
  }

  const View<T> A_, Q_, R_;
  const Envelope& shape_;
  const Staircases<R, P> stairs_;
  const Matrix<R> a_memory_, q_memory_;
  const Slabs<T> a_, q_;
  const Matrix<R> numbers_;
  std::atomic<std::int64_t> next_{0}, next_of_Q_, made_{0};  // slabs taken, and slabs whose rotations are made
  const GivensKernels<R>& kernels_ = givens_kernels<R, P>();
};

}  // namespace

template <class T>
void givens_qr(View<T> A, View<T> Q, View<T> R, Queue& q) {
  if (A.rows == 0) return;
  q.wait();  // the rotations' number and place follow from the zeros of A
  const Envelope shape = envelope(A);
  GivensQr<T> work(A, Q, R, shape, q);
  q.submit("givens_qr", [&] {
    Team& team = Team::shared();
    // a rotated pair of elements takes about 0.2 ns, waking a thread some microseconds
    constexpr std::size_t grain = 2 << 20;
    const auto pairs = static_cast<std::size_t>(A.rows) * std::min(A.rows, A.cols) * (A.cols + Q.cols);
    const int threads = threads_for(pairs, grain, team.size());
    std::optional<Team::Session> awake;
    if (threads > 1) awake.emplace(team);
    team.run(threads, [&](Team::Member&) { work.run(); });
  });
  q.wait();
}

#define INSTANTIATE(T) template void givens_qr<T>(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
