#include "kernels/host/team.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "devobj/error.hpp"
#include "kernels/host/spin.hpp"

namespace devobj::host {
namespace {

// Between the jobs of a session there is the GPU's work, up to milliseconds of it.
constexpr long idle_patience = 25000;
// After the last session or job: some 50 us, of 16 turns of a spin each.
constexpr int linger = 80;

}  // namespace

/// A mailbox with its flag: `epoch` is the number of the exchange that the letter belongs to.
struct alignas(64) Team::Member::Box {
  std::atomic<std::uint64_t> epoch{0};
  std::uint64_t unused = 0;
  unsigned char letter[Team::mailbox_bytes];
};

/// The state of a team. `busy` is held during a run and while threads are started; what has no atomic type is
/// written by its holder alone, before `job` announces it or after the members have reported `done`.
struct Team::Impl {
  using Box = Member::Box;
  struct alignas(64) Done {
    std::atomic<std::uint64_t> job{0};   // the last job that this thread has finished
    std::atomic<std::uint64_t> gate{0};  // the job whose turn it has (inside), or that is over for it
    std::atomic<int> cpu{-1};            // where it was last seen
    std::atomic<int> signal{0};          // changes with every job and session: what the thread waits for when asleep
    std::uint64_t epoch = 0;             // its last exchange
    std::exception_ptr error;
  };

  // A job's number and size in one word, so that a thread which takes no part never reads the job's other fields.
  static constexpr std::uint64_t size_mask = 0xffff;
  static constexpr std::uint64_t stop = ~std::uint64_t(0);

  alignas(64) std::atomic<std::uint64_t> job{0};
  alignas(64) std::atomic<int> sessions{0};
  std::atomic<int> awake{0};  // threads that spin during the sessions
  std::atomic<bool> busy{false};
  alignas(64) std::atomic<bool> failed{false};  // a member of the running job has thrown

  Turn (*call)(void*, Member&) = nullptr;
  void* work = nullptr;
  std::uint64_t epoch = 2;
  std::vector<std::thread> threads;
  std::unique_ptr<Box[]> boxes = std::make_unique<Box[]>(2 * max_threads);
  std::unique_ptr<Done[]> done = std::make_unique<Done[]>(max_threads);
  Team* team = nullptr;

  bool try_lock() noexcept {
    return !busy.load(std::memory_order_relaxed) && !busy.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { busy.store(false, std::memory_order_release); }

  /// To the threads 1 ... count - 1.
  void announce(int count) noexcept {
    for (int rank = 1; rank < count; ++rank) {
      done[rank].signal.fetch_add(1);
      done[rank].signal.notify_one();
    }
  }

  /// Starts threads until `wanted` (the caller counted) can run; returns how many can. Needs the lock.
  int grow(int wanted) noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the caller's threads
    try {
      threads.reserve(max_threads);
      while (static_cast<int>(threads.size()) + 1 < wanted)
        threads.emplace_back(
            [this, rank = static_cast<int>(threads.size()) + 1, seen = job.load()] { serve(rank, seen); });
    } catch (const std::exception&) {  // no more threads to be had: go on with those there are
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::min(wanted, static_cast<int>(threads.size()) + 1);
  }

  /// The life of thread `rank`: take part in every job that is large enough, until told to stop.
  void serve(int rank, std::uint64_t seen) noexcept {
    std::fesetenv(FE_DFL_ENV);
    for (;;) {
      const std::uint64_t now = job.load(std::memory_order_acquire);
      if (now == stop) return;
      if (now == seen) {
        idle(rank, seen);
        continue;
      }
      seen = now;
      if (rank >= static_cast<int>(now & size_mask)) continue;
      step_aside(rank);
      take_part(rank, now);
    }
  }

  /// Spins during a session and, yielding, a little longer, then sleeps; returns when there may be a job.
  void idle(int rank, std::uint64_t seen) noexcept {
    std::atomic<int>& signal = done[rank].signal;
    const int before = signal.load();
    bool session = true;
    int left = linger;
    Spin patient(idle_patience), polite(1);
    while (job.load(std::memory_order_acquire) == seen) {
      if (!(session ? patient : polite).turn()) continue;
      session = sessions.load() > 0 && rank < awake.load();
      if (session) {
        left = linger;
      } else if (--left == 0) {
        if (job.load() == seen) signal.wait(before);
        return step_aside(rank);
      }
    }
  }

  /// Linux likes to wake a thread on its waker's core, where it would stay beside the caller while other cores have
  /// nothing to do: there it moves to a core on which no other thread of the team was seen.
  void step_aside(int rank) noexcept {
    const int here = sched_getcpu();
    done[rank].cpu.store(here, std::memory_order_relaxed);
    cpu_set_t mine;
    if (here != done[0].cpu.load(std::memory_order_relaxed) || sched_getaffinity(0, sizeof mine, &mine) != 0) return;
    cpu_set_t free = mine;
    for (int other = 0; other < team->size_; ++other)
      if (const int cpu = done[other].cpu.load(std::memory_order_relaxed); cpu >= 0) CPU_CLR(cpu, &free);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &free)) continue;
      cpu_set_t there;
      CPU_ZERO(&there);
      CPU_SET(cpu, &there);
      if (sched_setaffinity(0, sizeof there, &there) != 0) return;
      sched_setaffinity(0, sizeof mine, &mine);
      done[rank].cpu.store(cpu, std::memory_order_relaxed);
      return;
    }
  }

  // A thread's gate during job `now`: now - 1 within a turn, now when the job is over for it, less before and between
  // turns. (Numbers of jobs differ by more than their size, which is 2 or more.)
  bool enter(int rank, std::uint64_t now) noexcept {
    std::uint64_t gate = done[rank].gate.load(std::memory_order_relaxed);
    while (gate < now - 1)
      if (done[rank].gate.compare_exchange_weak(gate, now - 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  void leave(int rank, std::uint64_t now) noexcept { done[rank].gate.store(now - 2, std::memory_order_release); }
  /// Waits for the end of the thread's turn, if it has one, and lets it have no other.
  void close(int rank, std::uint64_t now) noexcept {
    std::uint64_t gate = done[rank].gate.load(std::memory_order_acquire);
    for (Spin spin(patience(now)); gate != now;) {
      if (gate == now - 1) {
        spin.turn();
        gate = done[rank].gate.load(std::memory_order_acquire);
      } else if (done[rank].gate.compare_exchange_weak(gate, now, std::memory_order_acq_rel)) {
        return;
      }
    }
  }
  long patience(std::uint64_t now) const noexcept {
    return static_cast<int>(now & size_mask) > team->size_ ? 0 : long_patience;
  }

  void take_part(int rank, std::uint64_t now) noexcept {
    for (Spin spin(patience(now)); enter(rank, now);) {
      const Turn turn = take_turn(rank, now);
      leave(rank, now);
      if (turn == Turn::finished) return;
      if (turn == Turn::nothing)
        spin.turn();
      else
        spin = Spin(patience(now));
    }
  }
  Turn take_turn(int rank, std::uint64_t now) noexcept {
    Member me(team, boxes.get(), rank, static_cast<int>(now & size_mask), epoch);
    Done& mine = done[rank];
    mine.error = nullptr;
    Turn turn = Turn::finished;
    try {
      turn = call(work, me);
    } catch (const Member::Released&) {
    } catch (...) {
      mine.error = std::current_exception();
      failed.store(true);
    }
    mine.epoch = me.epoch_;
    mine.job.store(now, std::memory_order_release);
    return turn;
  }

  /// Runs the job on `size` > 1 threads; by turns, on those that come. Needs the lock.
  void run(int size, Turn (*call_)(void*, Member&), void* work_, bool turns) {
    call = call_;
    work = work_;
    failed.store(false, std::memory_order_relaxed);
    const std::uint64_t now = (job.load(std::memory_order_relaxed) & ~size_mask) + size_mask + 1 + size;
    done[0].cpu.store(sched_getcpu(), std::memory_order_relaxed);
    job.store(now);
    announce(size);
    take_part(0, now);
    std::exception_ptr error = done[0].error;
    done[0].error = nullptr;
    std::uint64_t last = done[0].epoch;
    for (int rank = 1; rank < size; ++rank) {
      if (turns)
        close(rank, now);
      else
        for (Spin spin(patience(now)); done[rank].job.load(std::memory_order_acquire) != now;) spin.turn();
      last = std::max(last, done[rank].epoch);
      if (!error) error = done[rank].error;
      done[rank].error = nullptr;
    }
    epoch = last;  // only now: a thread may have been late to start, and begins its count with it
    if (error) std::rethrow_exception(error);
  }
};

void* Team::Member::mailbox() noexcept {
  return boxes_[2 * rank_ + ((epoch_ + 1) & 1)].letter;
}

const void* Team::Member::letter(int rank) const noexcept {
  return boxes_[2 * rank + (epoch_ & 1)].letter;
}

// A fast member can be one exchange ahead of a slow one, never two: to publish the second it must have seen the slow
// one's first, which the slow one publishes after it has read all letters before. Hence two mailboxes each.
void Team::Member::exchange() {
  ++epoch_;
  const int parity = epoch_ & 1;
  boxes_[2 * rank_ + parity].epoch.store(epoch_, std::memory_order_release);
  for (int i = 1; i < size_; ++i) {
    const int other = rank_ + i < size_ ? rank_ + i : rank_ + i - size_;
    Spin spin(size_ > team_->size_ ? 0 : long_patience);
    while (boxes_[2 * other + parity].epoch.load(std::memory_order_acquire) != epoch_)
      if (spin.turn() && team_->impl_->failed.load(std::memory_order_relaxed)) throw Released();
  }
}

void Team::run(int threads, Turn (*call)(void*, Member&), void* work, bool turns) {
  threads = std::min(threads <= 0 ? size_ : threads, max_threads);
  struct Lock {
    Impl* impl;
    ~Lock() {
      if (impl) impl->unlock();
    }
  } lock{nullptr};
  if (threads > 1 && impl_->try_lock()) {
    lock.impl = impl_;
    threads = impl_->grow(threads);
    if (threads > 1) return impl_->run(threads, call, work, turns);
  }
  Member::Box boxes[2];
  Member alone(this, boxes, 0, 1, 0);
  while (call(work, alone) != Turn::finished) {
  }
}

Team::Session::Session(Team& team, int threads) : team_(team) {
  threads = threads <= 0 ? team.size_ : std::min(threads, max_threads);
  if (team.impl_->try_lock()) {
    team.impl_->grow(threads);
    team.impl_->unlock();
  }
  // another session at the same time that wants fewer only lets some threads sleep
  team.impl_->done[0].cpu.store(sched_getcpu(), std::memory_order_relaxed);
  team.impl_->awake.store(threads);
  team.impl_->sessions.fetch_add(1);
  team.impl_->announce(threads);
}

Team::Session::~Session() {
  team_.impl_->sessions.fetch_sub(1);
}

Team::Team(int size) : size_(size), impl_(new Impl) {
  impl_->team = this;
}

namespace {

/// The cores of the affinity mask, at most DEVOBJ_NUM_THREADS.
int team_size() {
  int cores = 0;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    cores = CPU_COUNT(&mask);
  else
    cores = static_cast<int>(std::thread::hardware_concurrency());  // more cores than the mask has room for
  cores = std::clamp(cores, 1, Team::max_threads);
  if (const char* value = std::getenv("DEVOBJ_NUM_THREADS"); value != nullptr && *value != '\0') {
    const std::string_view text(value);
    int wanted = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
    require(error == std::errc() && end == text.data() + text.size() && wanted >= 1,
            "environment variable DEVOBJ_NUM_THREADS is '", text, "', must be a number of threads from 1");
    cores = std::min(cores, wanted);
  }
  return cores;
}

std::mutex creation;
std::atomic<Team*> instance{nullptr};

}  // namespace

/// Creates the team, stops its threads at exit, and forgets it in a forked child, which has no threads but the one that
/// forked and starts a new team when it needs one. An old team in a child does everything alone: it stays busy.
struct TeamOwner {
  TeamOwner() {
    pthread_atfork([] { creation.lock(); }, [] { creation.unlock(); },
                   [] {
                     if (Team* old = instance.exchange(nullptr)) old->impl_->busy.store(true);
                     creation.unlock();
                   });
  }
  ~TeamOwner() {
    Team* team = instance.load();
    if (team == nullptr) return;
    Team::Impl& state = *team->impl_;
    for (int tries = 0; !state.try_lock(); ++tries) {
      if (tries == 1000) return;  // some thread still uses it: the process ends it with the others
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    state.job.store(Team::Impl::stop);
    state.announce(Team::max_threads);
    for (std::thread& thread : state.threads) thread.join();
    state.threads.clear();  // the lock is kept: a later run does its work alone
  }
  static Team& create() {
    std::lock_guard lock(creation);
    static TeamOwner owner;
    Team* team = instance.load();
    if (team == nullptr) instance.store(team = new Team(team_size()));
    return *team;
  }
};

Team& Team::shared() {
  Team* team = instance.load(std::memory_order_acquire);
  return team != nullptr ? *team : TeamOwner::create();
}

int threads_for(std::size_t bytes, std::size_t grain, int size) noexcept {
  return static_cast<int>(std::clamp<std::size_t>(bytes / std::max<std::size_t>(1, grain), 1, std::max(1, size)));
}

}  // namespace devobj::host
