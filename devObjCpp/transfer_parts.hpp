// The CPU's work on the pieces of a staged transfer, in parts that the team's threads take in order, each when it is free.
//
//   pieces   |  0  |   1   |    2    |      3      |      4      |      5      | ...
//   parts    ####################=====..............
//                  done         taken  open           not open yet: no buffer is free, or nothing has arrived
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/host/team.hpp"
#include "transfer_pieces.hpp"

namespace devobj {

/// One thread, the caller, opens pieces in order and looks which are done; all take parts. Threads do not wait for each
/// other: who comes late or is held up by others of the machine takes fewer.
class TransferParts {
 public:
  explicit TransferParts(const TransferPieces& pieces)
      : first_(static_cast<std::size_t>(pieces.count()) + 1), worked_(static_cast<std::size_t>(pieces.count())) {
    for (std::int64_t p = 0; p < pieces.count(); ++p)
      first_[p + 1] = first_[p] + std::clamp<std::int64_t>(pieces.bytes(p).size() / part_bytes, 1, most_parts);
  }

  /// The parts of the pieces before `end` may be taken.
  void open(std::int64_t end) { open_.store(first_[end], std::memory_order_release); }

  /// Calls work(piece, part) for the next part; false if there is none to be taken now.
  template <class Work>
  bool take(Work&& work) {
    std::int64_t at = next_.load(std::memory_order_relaxed);
    do {
      if (at >= open_.load(std::memory_order_acquire)) return false;
    } while (!next_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
    const std::int64_t p = std::upper_bound(first_.begin(), first_.end(), at) - first_.begin() - 1;
    work(p, host::Part{at - first_[p], first_[p + 1] - first_[p]});
    worked_[p].fetch_add(1, std::memory_order_release);
    return true;
  }

  /// All parts of piece p have been worked on; the caller sees what that wrote.
  bool done(std::int64_t p) const { return worked_[p].load(std::memory_order_acquire) == first_[p + 1] - first_[p]; }
  /// No part of the pieces up to p is left to be taken.
  bool taken(std::int64_t p) const { return next_.load(std::memory_order_relaxed) >= first_[p + 1]; }
  bool all_taken() const { return next_.load(std::memory_order_relaxed) == first_.back(); }

 private:
  static constexpr std::int64_t part_bytes = 32 << 10, most_parts = 64;
  std::vector<std::int64_t> first_;                // the number of each piece's first part
  std::vector<std::atomic<std::int64_t>> worked_;  // parts of each piece
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<std::int64_t> open_{0};
};

}  // namespace devobj
