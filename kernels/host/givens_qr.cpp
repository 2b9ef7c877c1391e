// QR by Givens rotations on the CPU: rotations of adjacent rows in wavefront order (paper 004), slabs of columns as
// tasks for the team. A slab's columns are annihilated by rotations; its neighbours get them as a block of reflectors.
//
//          0   1   p       t                Slab t, by one thread:
//        +---+---+---+---+---+               reflect     by the blocks of the slabs p < t, as soon as each is there
//        | R | R | R | R | x |               eliminate   its own columns
//        +---+---+---+---+---+               rotate      the unit matrix's columns: slab t of this step's Q
//        | 0 | 0 | 0 | x | x |               make        the reflectors from these
//        +---+---+---+---+---+
//                                          Slab t of Q is that, reflected by the blocks of the slabs t - 1, ..., 0. It
//                                          can begin with the block t, and fills the time in which threads would wait.
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

/// Where A's nonzeros end: row reach[j] for the columns up to j, column right[i] for the rows up to i. first[j] is the
/// first row of R's column j that may hold anything but a zero.
struct Envelope {
  std::vector<std::int64_t> reach, right, first;
};
template <class T>
Envelope envelope(View<T> A) {
  Envelope e{std::vector<std::int64_t>(A.cols), std::vector<std::int64_t>(A.rows, 0),
             std::vector<std::int64_t>(A.cols)};
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
  // row i of R comes from A's rows i ... reach[i] - 1
  for (std::int64_t i = 0, j = 0; j < A.cols; ++j) {
    while (i < std::min(A.rows, A.cols) && e.right[e.reach[i] - 1] <= j) ++i;
    e.first[j] = i;
  }
  return e;
}

template <class T>
class GivensQr {
  using R = real_t<T>;
  static constexpr int P = Slabs<T>::P;
  static constexpr std::int64_t K = Slabs<T>::width;

 public:
  GivensQr(View<T> A, View<T> Q, View<T> Rm, const Envelope& shape, int threads, Queue& q)
      : A_(A),
        Q_(Q),
        R_(Rm),
        shape_(shape),
        columns_(std::min(A.rows - 1, A.cols)),
        stairs_(columns_, shape.reach),
        a_memory_(Slabs<T>::memory(A.rows, A.cols, q)),
        q_memory_(Slabs<T>::memory(Q.rows, 2 * threads * K, q)),
        a_(A.rows, A.cols, a_memory_),
        q_(Q.rows, Q.cols, q_memory_),
        numbers_(stairs_.numbers, 1, q),
        small_(2 * K * line<R> + line<R>, stairs_.slabs(), q),
        taken_(static_cast<std::size_t>((Q.cols + K - 1) / K)) {}

  /// A thread's share: slabs of A in their order, and whenever it has to wait, and at the end, slabs of Q.
  void run(int rank) {
    PartOfQ mine{q_.slab(2 * rank)};
    R* const scratch = q_.slab(2 * rank + 1);
    for (std::int64_t t; (t = next_++) < a_.count();) {
      a_.load(A_, t);
      for (std::int64_t p = 0; p < std::min(t, slabs()); ++p) {
        // what all others wait for is not held up
        while (!is_made(p))
          if (p + 2 >= t || !advance(mine, false)) rest();
        if (t * K < right_of(p)) reflect_A(p, t);
      }
      if (t < slabs()) {
        eliminate(t);
        store(t);
        start_Q(t, scratch);
        made_.store(t + 1, std::memory_order_release);
      } else {
        store(t);
      }
    }
    while (advance(mine, true)) {
    }
  }

 private:
  /// A slab of Q that a thread has in hand, and the next block for it.
  struct PartOfQ {
    R* memory;
    std::int64_t slab = -1, block = -1;
  };

  std::int64_t slabs() const { return stairs_.slabs(); }
  std::int64_t row0(std::int64_t p) const { return p * K; }
  std::int64_t bottom(std::int64_t p) const { return stairs_.group[stairs_.end(p) - 1].bottom; }
  /// Columns of block p.
  std::int64_t columns(std::int64_t p) const { return std::min(K, std::min(A_.rows, A_.cols) - row0(p)); }
  R* minus_T(std::int64_t p) const { return small_.data + p * small_.ld; }
  R* minus_TH(std::int64_t p) const { return minus_T(p) + K * line<R>; }
  R* signs(std::int64_t p) const { return minus_TH(p) + K * line<R>; }
  /// Rows from row0 on that block p changes.
  std::int64_t rows(std::int64_t p) const { return std::max(bottom(p) - row0(p), columns(p)); }
  static R* row(const Slabs<T>& slabs, std::int64_t t, std::int64_t i) { return slabs.slab(t) + i * line<R>; }

  bool is_made(std::int64_t p) const { return made_.load(std::memory_order_acquire) > p; }
  /// Slabs are taken in order, so whoever makes the one that is waited for is at work.
  static void rest() {
    thread_local int spins = 0;
    if (++spins % 64 == 0) std::this_thread::yield();
  }
  /// The columns that slab p's rotations can reach.
  std::int64_t right_of(std::int64_t p) const { return bottom(p) > 0 ? shape_.right[bottom(p) - 1] : 0; }

  void eliminate(std::int64_t p) const {
    Staircase<R> stairs[Staircases<R, P>::groups];
    for (std::int64_t g = stairs_.begin(p); g < stairs_.end(p); ++g) {
      const auto& s = stairs_.group[g];
      stairs[g - stairs_.begin(p)] = {s.steps, s.bottom - row0(p), numbers_.data + s.offset};
    }
    kernels_.eliminate(row(a_, p, row0(p)), std::min(K, columns_ - row0(p)), stairs);
  }
  /// R's columns of slab t: above the diagonal and within the staircase.
  void store(std::int64_t t) const {
    a_.store(
        t, R_, [this](std::int64_t j) { return shape_.first[j]; }, [](std::int64_t j) { return j + 1; });
  }
  /// Slab p of Q = the first columns of slab p's rotations, made in `memory`; the reflectors from them, in A's place.
  void start_Q(std::int64_t p, R* memory) const {
    const std::int64_t k = columns(p);
    q_.load_unit(p, k, memory);
    for (std::int64_t g = stairs_.end(p) - 1; g >= stairs_.begin(p); --g) {
      const auto& s = stairs_.group[g];
      kernels_.rotate(memory, s.row0, s.steps, widest_staircase, true, true, numbers_.data + s.offset);
    }
    if (p + 1 < std::max(a_.count(), std::ssize(taken_)) || beside(p))
      kernels_.make_reflectors(memory + row0(p) * line<R>, rows(p), static_cast<int>(k), row(a_, p, row0(p)),
                               minus_T(p), minus_TH(p), signs(p));
    if (beside(p)) {
      q_.load_unit(p, K, memory);
      reflect_Q(p, memory);
      scale(memory + row0(p) * line<R>, rows(p), k, signs(p));
    }
    store_Q(p, memory);
  }
  void store_Q(std::int64_t t, const R* memory) const {
    const auto end = [this](std::int64_t j) { return j < A_.cols ? shape_.reach[j] : Q_.rows; };
    q_.store(
        t, memory, Q_, [](std::int64_t) { return std::int64_t{0}; }, end);
  }
  /// Whether slab p of Q has columns beside those of block p.
  bool beside(std::int64_t p) const { return columns(p) < std::min(K, Q_.cols - row0(p)); }
  void reflect_Q(std::int64_t p, R* slab) const {
    kernels_.reflect(row(a_, p, row0(p)), minus_T(p), slab + row0(p) * line<R>, rows(p));
  }
  /// Slab t of A = (its product with the rotations of slab p).
  void reflect_A(std::int64_t p, std::int64_t t) const {
    R* top = row(a_, t, row0(p));
    kernels_.reflect(row(a_, p, row0(p)), minus_TH(p), top, rows(p));
    for (std::int64_t i = 0; i < columns(p); ++i)
      if (signs(p)[i] < 0)
        for (std::int64_t c = 0; c < line<R>; ++c) top[i * line<R> + c] = -top[i * line<R> + c];
  }
  /// The first k columns of a slab times their signs.
  static void scale(R* slab, std::int64_t rows, std::int64_t k, const R* signs) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (int p = 0; p < P; ++p)
        for (std::int64_t j = 0; j < k; ++j) slab[i * line<R> + p * K + j] *= signs[j];
  }

  /// One block more for the slab of Q in hand; takes another slab if there is none. False if there is nothing to do
  /// now; with `wait`, if there is nothing left.
  bool advance(PartOfQ& mine, bool wait) {
    while (mine.slab < 0)
      if (!take(mine)) {
        if (!wait || none_left()) return false;
        rest();
      }
    if (mine.block >= 0) reflect_Q(mine.block--, mine.memory);
    if (mine.block < 0) {
      store_Q(mine.slab, mine.memory);
      mine.slab = -1;
    }
    return true;
  }
  /// The last slab of Q whose block is made and that nobody has.
  bool take(PartOfQ& mine) {
    const std::int64_t made = made_.load(std::memory_order_acquire);
    for (std::int64_t t = std::min(made < slabs() ? made : std::ssize(taken_), std::ssize(taken_)) - 1; t >= 0; --t) {
      auto& taken = taken_[static_cast<std::size_t>(t)];
      if (taken.load(std::memory_order_relaxed) || taken.exchange(true)) continue;
      if (t < slabs())
        q_.load(Q_, t, mine.memory);
      else
        q_.load_unit(t, K, mine.memory);
      mine.slab = t;
      mine.block = std::min(t, slabs()) - 1;
      return true;
    }
    return false;
  }
  bool none_left() const {
    return std::all_of(taken_.begin(), taken_.end(), [](const auto& t) { return t.load(std::memory_order_relaxed); });
  }

  const View<T> A_, Q_, R_;
  const Envelope& shape_;
  const std::int64_t columns_;
  const Staircases<R, P> stairs_;
  const Matrix<R> a_memory_, q_memory_;
  const Slabs<T> a_, q_;
  const Matrix<R> numbers_, small_;
  std::vector<std::atomic<bool>> taken_;         // of Q
  std::atomic<std::int64_t> next_{0}, made_{0};  // slabs of A taken, and slabs whose rotations are made
  const GivensKernels<R>& kernels_ = givens_kernels<R, P>();
};

}  // namespace

template <class T>
void givens_qr(View<T> A, View<T> Q, View<T> R, Queue& q) {
  if (A.rows == 0) return;
  q.wait();  // the rotations' number and place follow from the zeros of A
  const Envelope shape = envelope(A);
  // a rotated pair of elements takes about 0.1 ns, waking a thread some microseconds
  constexpr std::size_t grain = 2 << 20;
  const auto pairs = static_cast<std::size_t>(A.rows) * std::min(A.rows, A.cols) * (A.cols + Q.cols);
  const int threads = threads_for(pairs, grain, Team::shared().size());
  GivensQr<T> work(A, Q, R, shape, threads, q);
  q.submit("givens_qr", [&] {
    Team& team = Team::shared();
    std::optional<Team::Session> awake;
    if (threads > 1) awake.emplace(team);
    team.run(threads, [&](Team::Member& me) { work.run(me.rank()); });
  });
  q.wait();
}

#define INSTANTIATE(T) template void givens_qr<T>(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
