// What a Rng holds.
#pragma once

#include "devobj/rng.hpp"
#include "kernels/random/distributions.hpp"
#include "kernels/random/xoshiro.hpp"
#include "queue_impl.hpp"

namespace devobj {

struct Rng::Impl {
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
  /// The lanes of `state` before the quad `block`, on q.
  random::Xoshiro* lanes_before(std::uint64_t block, Queue& q);
  /// cuRAND's generator at `start`.
  void* curand_at(std::uint64_t start, Queue& q);
  /// Poisson's distribution with this mean, at most most_by_table, as a table on q.
  const random::Discrete& poisson_table(double mean, Queue& q);
  static constexpr double most_by_table = 1000;
  /// At least `bytes` for cuRAND's numbers.
  void* buffer(std::size_t bytes, Queue& q);

  Generator generator;
  std::uint64_t seed, stream, position;
  std::shared_ptr<Queue::Impl> made_on;  ///< tells backend, device, and whether the CUDA context still lives
  Storage lanes;                         ///< random::lanes states and one quad that is thrown away
  bool lanes_ready = false;
  std::uint64_t lanes_block = 0;  ///< the quad that the lanes stand before
  void* curand = nullptr;
  std::uint64_t curand_position = 0;  ///< of its next number
  Storage numbers;
  Storage discrete;  ///< the table of the last Poisson numbers
  double discrete_mean = -1;
  random::Discrete discrete_of = {};
};

}  // namespace devobj
