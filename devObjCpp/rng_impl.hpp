// What a Rng holds.
#pragma once

#include "devobj/rng.hpp"
#include "kernels/random/distributions.hpp"
#include "kernels/random/xoshiro.hpp"
#include "queue_impl.hpp"
#include "rng_lanes.hpp"

namespace devobj {

struct Rng::Impl : Rng::Front {
  Impl(std::shared_ptr<Queue::Impl> made_on, Generator generator, std::uint64_t seed, std::uint64_t stream,
       std::uint64_t position);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Error unless q is of the generator's backend and device.
  void check_queue(const char* routine, const Queue& q) const {
    if (q.on_cuda() || made_on->backend != Backend::host) check_device(routine, q);
  }
  void check_device(const char* routine, const Queue& q) const;
  /// Whether the work of q is done in the calling thread.
  static bool at_once(const Queue& q) { return !q.on_cuda() && q.impl()->worker == nullptr; }
  /// The lanes of `state` before the quad `block`, on q.
  random::Xoshiro* lanes_before(std::uint64_t block, Queue& q);
  /// cuRAND's generator at `start`.
  void* curand_at(std::uint64_t start, Queue& q);
  /// Poisson's distribution with this mean, at most most_by_table, as a table in the host's memory, or in q's.
  const random::Discrete& poisson_table(double mean);
  const random::Discrete& poisson_table(double mean, Queue& q);
  static constexpr double most_by_table = 1000;
  /// At least `bytes` for cuRAND's numbers.
  void* buffer(std::size_t bytes, Queue& q);

  // Numbers made ahead (rng_ahead.hpp).
  static constexpr std::int64_t most_ahead = random::LaneWalk::most;  ///< quads
  static constexpr std::int64_t most_few = 64;  ///< numbers of a draw that are taken from those made ahead
  /// Whether a draw takes them: a short one that the calling thread makes.
  template <class T>
  bool taken_by_caller(const View<T>& A, const Queue* q) const {
    return (q == nullptr || at_once(*q)) && A.size() <= most_few && A.contiguous() && !is_curand(generator);
  }
  Ahead& ahead_of(Kind kind, const Parameters& of) noexcept;
  template <class D>
  std::uint64_t take_few(Ahead& numbers, const D& d, std::uint64_t at, std::int64_t n, typename D::value* out,
                         Queue* q);
  template <class D>
  void make_ahead(Ahead& numbers, const D& d, std::uint64_t at, std::int64_t n, Queue* q);
  /// Copies of the lanes before the quads block ... block + quads - 1, to be stepped over them; quads may become less.
  random::Xoshiro* lanes_for(std::uint64_t block, std::int64_t& quads, Queue* q);
  static void forget(Ahead& numbers) noexcept {
    numbers.count = numbers.stop = 0;
    numbers.end = nowhere;
  }
  /// No number that was made is one of this sequence.
  void forget_ahead() noexcept {
    for (; made_ahead != 0; made_ahead &= made_ahead - 1) {
      const int kind = std::countr_zero(made_ahead);
      forget(ahead[kind]);
      forget(ahead_before[kind]);
    }
  }

  Generator generator;
  std::uint64_t seed, stream;
  std::shared_ptr<Queue::Impl> made_on;  ///< tells backend, device, and whether the CUDA context still lives
  Storage lanes;                         ///< random::lanes states and quads that are thrown away
  bool lanes_ready = false;
  std::uint64_t lanes_block = 0;  ///< the quad that the lanes stand before
  bool lanes_in_use = false;      ///< by work that may not have ended
  /// The lanes of the last numbers made ahead, after their quads: stepped_quads of them (0: none are kept) from
  /// stepped_block on. If all are used up before the lanes are needed, these are the lanes, and need not step again.
  random::Xoshiro stepped[most_ahead];
  std::uint64_t stepped_block = 0, stepped_quads = 0;
  bool lanes_without_queue = false;        ///< they were made for a draw that has none
  std::unique_ptr<Queue> own_queue;        ///< for lanes of draws that have no queue
  std::unique_ptr<random::LaneWalk> walk;  ///< for those that have not got the lanes
  void* curand = nullptr;
  std::uint64_t curand_position = 0;  ///< of its next number
  Storage numbers;
  /// The tables of the last Poisson numbers.
  std::vector<std::int32_t> discrete_here;
  Storage discrete;
  double discrete_mean = -1, discrete_here_mean = -1;
  random::Discrete discrete_of = {}, discrete_here_of = {};
  /// Those of the parameters before the last ones, by kinds.
  Ahead ahead_before[kinds];
  std::uint32_t made_ahead = 0;  ///< bit k: numbers of kind k may have been
};

inline Rng::Impl& Rng::impl() const noexcept {
  return static_cast<Impl&>(*front_);
}

}  // namespace devobj
