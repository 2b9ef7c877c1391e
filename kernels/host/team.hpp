// Team: the process's own threads for work on the CPU that lasts microseconds: panels and staging copies.
//
//   Team& team = Team::shared();
//   Team::Session awake(team);                          // threads spin for work until the end of the scope
//   team.run(8, [&](Team::Member& me) {
//     part(me.rank(), me.size());
//     me.barrier();
//   });
//
// std::threads and atomics only, so that the caller's OpenMP and BLAS threads are left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace devobj::host {

class Team {
 public:
  /// One thread of a running team, as the work sees it.
  class Member {
   public:
    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    /// What this member hands to the others at the next exchange: mailbox_bytes of memory, 16-byte aligned, this
    /// member's until it calls exchange(). What was written there before is lost.
    void* mailbox() noexcept;
    /// A barrier that also publishes the mailboxes: afterwards letter(r) is what member r wrote, until this member's
    /// next exchange. One hop between the cores: each member's flag is in the first cache line of its letter.
    /// Leaves by an exception of its own if another member has failed; let it pass.
    void exchange();
    const void* letter(int rank) const noexcept;
    /// All members have come here before any goes on. What they wrote before is visible after.
    void barrier() { exchange(); }

   private:
    friend class Team;
    struct Box;
    struct Released {};
    Member(Team* team, Box* boxes, int rank, int size, std::uint64_t epoch) noexcept
        : team_(team), boxes_(boxes), rank_(rank), size_(size), epoch_(epoch) {}
    Team* team_;
    Box* boxes_;
    int rank_, size_;
    std::uint64_t epoch_;  // number of the last exchange; the parity of the next chooses between two mailboxes
  };

  /// The process's team. Errors: invalid_argument for a bad DEVOBJ_NUM_THREADS.
  static Team& shared();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The cores that this process may use (its affinity mask), at most DEVOBJ_NUM_THREADS if that is set.
  int size() const noexcept { return size_; }
  /// Threads for work with many barriers: from 8 cores on an eighth of them is left to others, since one late thread
  /// holds up all.
  int size_in_step() const noexcept { return size_ - size_ / 8; }

  /// Calls work(member) on `threads` threads (0: size()), the caller being rank 0, and waits for all. With more than
  /// size() the threads share cores. If the team is busy (a call from inside `work`, another user's thread) or no
  /// thread can be started, the caller does all alone with member.size() == 1. The exception of the lowest rank that
  /// threw is thrown here; the others are released from their barriers.
  template <class Work>
  void run(int threads, Work&& work) {
    run(
        threads,
        [](void* w, Member& m) {
          (*static_cast<std::remove_reference_t<Work>*>(w))(m);
          return Turn::finished;
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))), false);
  }

  /// What a member's turn has brought: nothing left to begin, nothing to do for now, or something done.
  enum class Turn { finished, nothing, something };
  /// For work that needs nobody in particular, without barriers: turn(member) is called again and again on up to
  /// `threads` threads, on each until it says `finished`. Between two turns a thread has nothing in hand: when the caller
  /// has finished, only those are waited for that are within a turn; who comes later takes no part.
  template <class Work>
  void run_turns(int threads, Work&& turn) {
    run(
        threads, [](void* w, Member& m) -> Turn { return (*static_cast<std::remove_reference_t<Work>*>(w))(m); },
        const_cast<void*>(static_cast<const void*>(std::addressof(turn))), true);
  }

  /// While one is alive, the team's threads, or the first `threads` of them, spin for work instead of sleeping, so that
  /// run() starts within about a microsecond. They go on for some 50 us after it, since the next call is often near.
  class Session {
   public:
    explicit Session(Team& team, int threads = 0);
    Session() : Session(shared()) {}
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

   private:
    Team& team_;
  };

  static constexpr int max_threads = 256;
  static constexpr std::size_t mailbox_bytes = 1008;

 private:
  struct Impl;
  explicit Team(int size);
  friend struct TeamOwner;
  void run(int threads, Turn (*call)(void*, Member&), void* work, bool turns);
  int size_;
  Impl* impl_;  // never freed: threads may outlive static objects
};

/// The number of threads of `team` for `bytes` of work of which each thread should have at least `grain`.
int threads_for(std::size_t bytes, std::size_t grain, int size) noexcept;

/// Where a copy leaves what it has written. A GPU reads and writes lines that lie in a core's own caches at half the rate.
enum class Leave {
  in_own_cache,     ///< plain stores
  in_memory,        ///< contiguous runs by stores past all caches
  in_shared_cache,  ///< plain stores, and lines are handed on to the cache of all cores (x86's cldemote; slow)
};

/// dst(i, j) = src(i, j) for rows x cols elements of element_bytes: element (i, j) of src is at src + (i row_stride +
/// j col_stride) element_bytes, strides in elements and of any sign; dst is column-major with leading dimension ldd.
/// The team shares the work if it is large.
void pack(const void* src, std::size_t element_bytes, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
          std::int64_t col_stride, void* dst, std::int64_t ldd, Leave leave = Leave::in_own_cache);
/// The inverse: column-major src with leading dimension lds into the strided array dst, whose elements are distinct.
void unpack(const void* src, std::int64_t lds, std::size_t element_bytes, std::int64_t rows, std::int64_t cols,
            void* dst, std::int64_t row_stride, std::int64_t col_stride, Leave leave = Leave::in_memory);

/// One of `count` parts of about the same size.
struct Part {
  std::int64_t number = 0, count = 1;
};
/// A part of pack(), by the calling thread alone; all parts together are pack().
void pack_part(Part part, const void* src, std::size_t element_bytes, std::int64_t rows, std::int64_t cols,
               std::int64_t row_stride, std::int64_t col_stride, void* dst, std::int64_t ldd, Leave leave);
void unpack_part(Part part, const void* src, std::int64_t lds, std::size_t element_bytes, std::int64_t rows,
                 std::int64_t cols, void* dst, std::int64_t row_stride, std::int64_t col_stride, Leave leave);

}  // namespace devobj::host
