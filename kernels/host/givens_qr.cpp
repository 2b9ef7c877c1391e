// QR by Givens rotations on the CPU: rotations of adjacent rows in wavefront order (paper 004), slabs of columns as
// tasks for the team. A slab's columns are annihilated by rotations; its neighbours get them as a block of reflectors.
//
//          0   1   p       t                Slab t:
//        +---+---+---+---+---+               reflect   by the blocks of the slabs p < t - 1, as soon as each is there
//        | R | R | R | R | x |               make      its own block (givens_panel.hpp), after that of slab t - 1, with
//        +---+---+---+---+---+                         the help of those who wait for it
//        | 0 | 0 | 0 | x | x |
//        +---+---+---+---+---+             The blocks are a chain. Who has made block t - 1 goes on with slab t, if that
//                                          has got the others; else who brings it these does. So a block and the next
//                                          slab's part of it stay in one core's caches.
//
//                                          Slab t of Q is signed columns of the unit matrix, reflected by the blocks
//                                          t, ..., 0. It fills the time in which threads would wait.
#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "kernels/givens.hpp"
#include "kernels/host/cached_matrix.hpp"
#include "kernels/host/givens_panel.hpp"
#include "kernels/host/givens_shape.hpp"
#include "kernels/host/slabs.hpp"
#include "kernels/host/spin.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

template <class T>
class GivensQr {
  using R = real_t<T>;
  static constexpr int P = Slabs<T>::P;
  static constexpr std::int64_t K = Slabs<T>::width, L = line<R>;
  using Shapes = PanelShapes<R, P>;

 public:
  GivensQr(View<T> A, View<T> Q, View<T> Rm, const Envelope& envelope, int threads, Queue& q)
      : A_(A),
        Q_(Q),
        R_(Rm),
        envelope_(envelope),
        patience_(threads > Team::shared().size() ? 0 : patience),
        shapes_(A.rows, A.cols, envelope.reach),
        a_memory_(Slabs<T>::memory_rows(A.rows), Slabs<T>::count(A.cols), q),
        q_memory_(Slabs<T>::memory_rows(Q.rows), Slabs<T>::count(Q.cols), q),
        a_(A.rows, A.cols, a_memory_),
        q_(Q.rows, Q.cols, q_memory_),
        blocks_(slabs(), q),
        panels_(shapes_, a_, q_, blocks_, A.rows, threads, patience_, q),
        met_(static_cast<std::size_t>(slabs() + 1)),
        taken_(static_cast<std::size_t>(q_.count())) {}

  /// A thread's turn: slabs of A in their order, as long as there are any; whenever it has to wait, and at the end, parts
  /// of the block that all wait for and slabs of Q.
  Team::Turn turn(int rank) {
    SlabOfQ mine;
    bool something = false;
    for (std::int64_t t; next_.load(std::memory_order_relaxed) < a_.count() && (t = next_++) < a_.count();) {
      something = true;
      a_.load(A_, t);
      for (std::int64_t p = 0; p < (t < slabs() ? t - 1 : slabs()); ++p) {
        std::int64_t now;
        for (Spin spin(patience_); (now = made()) <= p;)
          if (!panels_.help(now, rank) && (t - p <= helpers || !advance(mine))) spin.turn();
        if (t - now > helpers) panels_.help(now, rank);
        reflect_A(p, t);
      }
      if (t >= slabs()) {
        store_R(t);
        continue;
      }
      panels_.open(t, t > 0 && reaches(t - 1, t), beside(t) || t + 1 < std::max(a_.count(), q_.count()));
      if (t == 0 || second(t)) make_blocks(t, rank);
    }
    do {
      something |= panels_.help(made(), rank) || advance(mine);
    } while (mine.slab >= 0);
    return something ? Team::Turn::something : none_left() ? Team::Turn::finished : Team::Turn::nothing;
  }

 private:
  /// A slab of Q that a thread has in hand, and the next block for it.
  struct SlabOfQ {
    std::int64_t slab = -1, block = -1;
  };
  /// Slabs after the block that is made whose threads take no other work: the chain soon needs them.
  static constexpr std::int64_t helpers = 2;
  /// Turns of waiting before the core is given to others: a block takes 30 to 100 us.
  static constexpr long patience = 8 * long_patience;

  std::int64_t slabs() const { return std::ssize(shapes_.slab); }
  const typename Shapes::Slab& shape(std::int64_t p) const { return shapes_.slab[static_cast<std::size_t>(p)]; }
  /// Slab t of A or Q from the first row of slab p on.
  R* top(const Slabs<T>& slabs, std::int64_t p, std::int64_t t) const { return slabs.slab(t) + shape(p).row0 * L; }

  /// The blocks that are made.
  std::int64_t made() const { return made_.load(std::memory_order_acquire); }
  /// Whether slab t of A has nonzeros in the rows of slab p's rotations.
  bool reaches(std::int64_t p, std::int64_t t) const {
    const std::int64_t bottom = std::min(A_.rows, shape(p).row0 + shape(p).rows);
    return t * K < envelope_.right[static_cast<std::size_t>(bottom - 1)];
  }
  /// Slab t of A = (its product with block p).
  void reflect_A(std::int64_t p, std::int64_t t) const {
    if (!reaches(p, t)) return;
    kernels_.reflect(top(a_, p, p), blocks_.minus_TH(p), top(a_, p, t), shape(p).rows);
    GivensPanels<T>::scale_rows(top(a_, p, t), blocks_.signs(p), shape(p).width);
  }
  void reflect_Q(std::int64_t p, std::int64_t t) const {
    kernels_.reflect(top(a_, p, p), blocks_.minus_T(p), top(q_, p, t), shape(p).rows);
  }

  /// Whether slab t of Q has columns beside those of the block.
  bool beside(std::int64_t t) const { return shape(t).width < std::min(K, Q_.cols - shape(t).row0); }
  /// Of two threads, the one that has made block t - 1 and the one that has brought slab t the blocks before it, whether
  /// this one is the later.
  bool second(std::int64_t t) { return met_[static_cast<std::size_t>(t)].exchange(true, std::memory_order_acq_rel); }
  /// Block t and, as long as this thread is the later, those after it.
  void make_blocks(std::int64_t t, int rank) {
    do {
      panels_.make(t, rank);
      made_.store(++t, std::memory_order_release);
    } while (t < slabs() && second(t));
  }
  /// Slab t of Q: the columns of the unit matrix, with the signs of block t and reflected by it, or Q1 as it is.
  void begin_Q(std::int64_t t) const {
    R* const memory = q_.slab(t);
    if (t < slabs() && !panels_.reflectors(t)) {
      std::fill(memory, memory + shape(t).row0 * L, R(0));
      std::fill(memory + (shape(t).row0 + shape(t).rows) * L, memory + Q_.rows * L, R(0));
      return;
    }
    q_.load_unit(t, K, memory);
    if (t >= slabs()) return;
    R *const V = top(a_, t, t), *const C = top(q_, t, t);
    for (std::int64_t j = 0; j < shape(t).width; ++j) C[j * L + j] = blocks_.signs(t)[j];
    // C -= V T V^H C, where C's first rows alone are not zero
    alignas(64) R W[K * L], TW[K * L] = {};
    kernels_.products(V, C, std::min(K, shape(t).rows), W);
    kernels_.subtract(TW, blocks_.minus_T(t), W, K);
    kernels_.subtract(C, V, TW, shape(t).rows);
  }

  /// Slab t of R: above the diagonal and within the staircase; for a slab with a block in two pieces.
  void store_R(std::int64_t t) const {
    const std::int64_t row0 = t < slabs() ? shape(t).row0 : R_.rows;
    const auto store = [&](const R* from, Range rows) {
      a_.store(
          t, from, R_(rows, {0, R_.cols}),
          [&](std::int64_t j) {
            return std::max<std::int64_t>(0, envelope_.first[static_cast<std::size_t>(j)] - rows.begin);
          },
          [&](std::int64_t j) { return std::max<std::int64_t>(0, j + 1 - rows.begin); });
    };
    if (row0 > 0) store(a_.slab(t), {0, row0});
    if (row0 < R_.rows) store(blocks_.triangle(t), {row0, R_.rows});
  }
  void store_Q(std::int64_t t) const {
    const auto end = [this](std::int64_t j) {
      return j < A_.cols ? envelope_.reach[static_cast<std::size_t>(j)] : Q_.rows;
    };
    q_.store(
        t, Q_, [](std::int64_t) { return std::int64_t{0}; }, end);
  }

  /// One block more for the slab of Q in hand; takes another slab if there is none. False if there is nothing to do
  /// now.
  bool advance(SlabOfQ& mine) {
    if (mine.slab < 0 && !take(mine)) return false;
    if (mine.block >= 0) reflect_Q(mine.block--, mine.slab);
    if (mine.block < 0) {
      store_Q(mine.slab);
      mine.slab = -1;
    }
    return true;
  }
  /// The last slab of Q whose block is made and that nobody has; that of R is stored.
  bool take(SlabOfQ& mine) {
    const std::int64_t there = made() < slabs() ? made() : q_.count();
    for (std::int64_t t = std::min(there, q_.count()) - 1; t >= 0; --t) {
      auto& taken = taken_[static_cast<std::size_t>(t)];
      if (taken.load(std::memory_order_relaxed) || taken.exchange(true, std::memory_order_relaxed)) continue;
      if (t < slabs()) store_R(t);
      begin_Q(t);
      mine = {t, std::min(t - 1, slabs() - 1)};
      return true;
    }
    return false;
  }
  bool none_left() const {
    return std::all_of(taken_.begin(), taken_.end(), [](const auto& t) { return t.load(std::memory_order_relaxed); });
  }

  const View<T> A_, Q_, R_;
  const Envelope& envelope_;
  const long patience_;
  const Shapes shapes_;
  const CachedMatrix<R> a_memory_, q_memory_;
  const Slabs<T> a_, q_;
  const GivensBlocks<T> blocks_;
  GivensPanels<T> panels_;
  std::vector<std::atomic<bool>> met_;             // of A: one of the two threads of second() was there
  std::vector<std::atomic<bool>> taken_;           // of Q
  alignas(64) std::atomic<std::int64_t> next_{0};  // slab of A
  alignas(64) std::atomic<std::int64_t> made_{0};  // blocks
  const GivensKernels<R>& kernels_ = givens_kernels<R, P>();
};

}  // namespace

template <class T>
void givens_qr(View<T> A, View<T> Q, View<T> R, Queue& q) {
  if (A.rows == 0) return;
  // a rotated pair of elements takes about 0.1 ns, waking a thread some microseconds; and a thread has four slabs, since
  // they follow one another
  constexpr std::size_t grain = 1 << 19;
  const auto pairs = static_cast<std::size_t>(A.rows) * std::min(A.rows, A.cols) * (A.cols + Q.cols);
  const auto slabs = static_cast<std::size_t>(Slabs<T>::count(A.cols) + Slabs<T>::count(Q.cols));
  Team& team = Team::shared();
  const int threads = std::min(threads_for(pairs, grain, team.size()), threads_for(slabs, 4, team.size()));
  q.wait();  // the rotations' number and place follow from the zeros of A
  std::optional<Team::Session> awake;
  if (threads > 1) awake.emplace(team, threads);
  const Envelope shape = envelope(A);
  GivensQr<T> work(A, Q, R, shape, threads, q);
  q.submit("givens_qr", [&] {
    awake.reset();  // who has nothing more to do gives way
    team.run_turns(threads, [&](Team::Member& me) { return work.turn(me.rank()); });
  });
  q.wait();
}

#define INSTANTIATE(T) template void givens_qr<T>(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
