// The thread team: who runs, barriers and letters, nesting, several users, exceptions, sessions, fork, and copies.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "devobj/error.hpp"
#include "kernels/host/team.hpp"
#include "scalars.hpp"

namespace devobj::host {
namespace {

/// Every member takes part once and meets the others at barriers; returns the number of members.
int census(int threads) {
  std::vector<int> seen(Team::max_threads, 0), again(Team::max_threads, 0);  // plain: barriers must order them
  int size = 0;
  Team::shared().run(threads, [&](Team::Member& me) {
    seen[me.rank()] += 1;
    if (me.rank() == 0) size = me.size();
    me.barrier();
    int sum = 0;
    for (int r = 0; r < me.size(); ++r) sum += seen[r];
    again[me.rank()] = sum;
    me.barrier();
    seen[me.rank()] = again[(me.rank() + 1) % me.size()];
  });
  for (int r = 0; r < Team::max_threads; ++r) EXPECT_EQ(seen[r], r < size ? size : 0);
  return size;
}

TEST(Team, RunsTheThreadsAskedFor) {
  for (int threads : {1, 2, 3, 8, 5, 16, 2}) EXPECT_EQ(census(threads), threads);
  EXPECT_EQ(census(0), Team::shared().size());
  EXPECT_GE(Team::shared().size(), 1);
}

TEST(Team, LettersArriveRoundAfterRound) {
  for (int threads : {1, 2, 4, 8}) {
    std::atomic<int> wrong{0};
    Team::shared().run(threads, [&](Team::Member& me) {
      for (int round = 0; round < 500; ++round) {
        auto* mine = static_cast<int*>(me.mailbox());
        for (int i = 0; i < 250; ++i) mine[i] = round * 1000 + me.rank() + i;
        me.exchange();
        for (int r = 0; r < me.size(); ++r) {
          auto* letter = static_cast<const int*>(me.letter(r));
          for (int i = 0; i < 250; i += 83) wrong += letter[i] != round * 1000 + r + i;
        }
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Team, NestedRunsAreAlone) {
  std::vector<int> inner(4, 0);
  Team::shared().run(4, [&](Team::Member& me) {
    me.barrier();
    Team::shared().run(4, [&](Team::Member& nested) {
      inner[me.rank()] = nested.size();
      *static_cast<int*>(nested.mailbox()) = 7;
      nested.exchange();
      inner[me.rank()] += *static_cast<const int*>(nested.letter(0));
    });
    me.barrier();
  });
  EXPECT_EQ(inner, std::vector<int>(4, 8));
}

TEST(Team, SeveralUsersAtOnce) {
  std::vector<std::thread> users;
  std::atomic<long> done{0}, expected{0};
  for (int u = 0; u < 4; ++u)
    users.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        long size = 0;
        std::atomic<long> members{0};
        Team::shared().run(3, [&](Team::Member& me) {
          me.barrier();
          members += 1;
          me.barrier();
          if (me.rank() == 0) size = me.size();
        });
        done += members;
        expected += size;
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(done, expected);
  EXPECT_GE(done, 800);
}

TEST(Team, ExceptionsReachTheCaller) {
  for (int thrower : {0, 1, 3}) {
    std::string caught;
    try {
      Team::shared().run(4, [&](Team::Member& me) {
        me.barrier();
        if (me.rank() == thrower) throw std::runtime_error("member " + std::to_string(thrower));
        for (int i = 0; i < 3; ++i) me.barrier();  // never complete: the members must be released
      });
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, "member " + std::to_string(thrower));
    EXPECT_EQ(census(4), 4) << "the team works afterwards";
  }
  // of several the lowest rank's
  try {
    Team::shared().run(4, [&](Team::Member& me) {
      if (me.rank() >= 1) throw Error(Status::device_error, std::to_string(me.rank()));
    });
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "1");
  }
}

/// All parts are done once, by whoever comes; nobody is at work after the return.
TEST(Team, Turns) {
  Team& team = Team::shared();
  for (int threads : {1, 2, 5, 40})
    for (int round = 0; round < 200; ++round) {
      constexpr int parts = 60;
      std::atomic<int> next{0}, inside{0}, wrong{0};
      std::vector<int> done(parts, 0);
      team.run_turns(threads, [&](Team::Member& me) {
        ++inside;
        wrong += me.rank() >= threads;
        const int i = next++;
        if (i < parts) done[i] += 1;
        --inside;
        return i < parts       ? i % 7 == 0 ? Team::Turn::nothing : Team::Turn::something
               : i < 2 * parts ? Team::Turn::nothing
                               : Team::Turn::finished;
      });
      ASSERT_EQ(inside, 0);
      ASSERT_EQ(wrong, 0);
      ASSERT_EQ(done, std::vector<int>(parts, 1));
      if (round % 50 == 0) {
        EXPECT_EQ(census(4), 4) << "all threads come to the next job";
      }
    }
}

/// The caller waits for a turn that another thread has, not for a thread between two turns.
TEST(Team, TurnsInHandAreWaitedFor) {
  std::atomic<bool> begun{false}, ended{false};
  Team::shared().run_turns(2, [&](Team::Member& me) {
    if (me.rank() == 0) return begun ? Team::Turn::finished : Team::Turn::nothing;
    if (begun.exchange(true)) return Team::Turn::nothing;  // for ever, if the caller let it
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
    return Team::Turn::something;
  });
  EXPECT_TRUE(ended);
}

TEST(Team, ExceptionsOfTurnsReachTheCaller) {
  for (int thrower : {0, 1}) {
    std::atomic<bool> thrown{false};
    const auto turn = [&](Team::Member& me) {
      if (me.rank() == thrower && !thrown.exchange(true)) throw std::runtime_error("turn");
      return thrown ? Team::Turn::finished : Team::Turn::nothing;
    };
    EXPECT_THROW(Team::shared().run_turns(2, turn), std::runtime_error) << thrower;
    EXPECT_EQ(census(4), 4) << "the team works afterwards";
  }
}

TEST(Team, SessionsKeepThreadsAwake) {
  {
    Team::Session outer(Team::shared());
    Team::Session inner;
    for (int i = 0; i < 300; ++i) EXPECT_EQ(census(2), 2);
    Team::Session few(Team::shared(), 2);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(census(i % 5 + 1), i % 5 + 1) << "with more threads than the session's";
  }
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Team::Session again;
    EXPECT_EQ(census(3), 3);
  }
}

/// Threads may move to other cores, within the mask that they have had.
TEST(Team, ThreadsKeepTheirAffinity) {
  cpu_set_t callers;
  ASSERT_EQ(sched_getaffinity(0, sizeof callers, &callers), 0);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> other{0};
    Team::shared().run(3, [&](Team::Member&) {
      cpu_set_t mine;
      if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &callers)) ++other;
    });
    EXPECT_EQ(other, 0);
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // asleep, then woken
  }
}

/// Without a session, an idle team uses no processor time.
TEST(Team, SleepsWithoutASession) {
  census(4);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

#ifndef DEVOBJ_TEST_TSAN  // its runtime does not allow threads in the child of a process with threads
TEST(Team, ForkedChildHasATeamOfItsOwn) {
  EXPECT_EQ(census(3), 3);
  Team& parents = Team::shared();
  Team::Session awake;
  const pid_t child = fork();
  if (child == 0) {
    int members = 0;
    parents.run(3, [&](Team::Member& me) { members = me.size(); });  // its threads stayed in the parent
    const bool right = members == 1 && &Team::shared() != &parents && census(3) == 3 && census(2) == 2;
    _exit(right && !::testing::Test::HasFailure() ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(census(3), 3);
}

/// The variable is read when the team is made, so in a fresh process.
TEST(TeamEnvironment, NumThreads) {
  auto size_with = [](const char* value) {  // the exit status of a child: the size, or 200 for the right error
    const pid_t child = fork();
    if (child == 0) {
      setenv("DEVOBJ_NUM_THREADS", value, 1);
      try {
        _exit(Team::shared().size());
      } catch (const Error& e) {
        const std::string text = e.what();
        const bool named =
            text.find("DEVOBJ_NUM_THREADS") != std::string::npos && text.find(value) != std::string::npos;
        _exit(e.status() == Status::invalid_argument && named ? 200 : 201);
      } catch (...) {
        _exit(202);
      }
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const int all = size_with("");
  EXPECT_GE(all, 1);
  EXPECT_EQ(size_with("1"), 1);
  EXPECT_EQ(size_with("2"), std::min(2, all));
  EXPECT_EQ(size_with("100000"), all);
  for (const char* bad : {"0", "-1", "two", "3x", "1.5", "99999999999999999999", " 2"})
    EXPECT_EQ(size_with(bad), 200) << bad;
}
#endif

// ---- pack and unpack ----

struct Element16 {
  std::int64_t a, b;
  friend bool operator==(const Element16&, const Element16&) = default;
};
struct Element3 {
  unsigned char a, b, c;
  friend bool operator==(const Element3&, const Element3&) = default;
};
template <class E>
E element(std::int64_t n) {
  if constexpr (std::is_same_v<E, Element16>)
    return {n, ~n};
  else if constexpr (std::is_same_v<E, Element3>)
    return {static_cast<unsigned char>(n), static_cast<unsigned char>(n >> 8), static_cast<unsigned char>(n >> 16)};
  else
    return static_cast<E>(n * 2654435761u);
}

template <class E>
void round_trip(std::int64_t rows, std::int64_t cols, std::int64_t rs, std::int64_t cs, std::int64_t ldd, Leave leave) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " strides " << rs << ", " << cs << ", ld " << ldd
                                    << ", left " << static_cast<int>(leave));
  const std::int64_t lowest = std::min<std::int64_t>(0, rs * (rows - 1)) + std::min<std::int64_t>(0, cs * (cols - 1));
  const std::int64_t highest = std::max<std::int64_t>(0, rs * (rows - 1)) + std::max<std::int64_t>(0, cs * (cols - 1));
  std::vector<E> array(highest - lowest + 1), packed(ldd * cols, element<E>(-5)), back(array.size(), element<E>(-9));
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = element<E>(static_cast<std::int64_t>(i));
  const E* src = array.data() - lowest;
  pack(src, sizeof(E), rows, cols, rs, cs, packed.data(), ldd, leave);
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < ldd; ++i)
      wrong += !(packed[i + j * ldd] == (i < rows ? src[i * rs + j * cs] : element<E>(-5)));
  EXPECT_EQ(wrong, 0);
  if (rs == 0 || cs == 0) return;
  unpack(packed.data(), ldd, sizeof(E), rows, cols, back.data() - lowest, rs, cs, leave);
  std::vector<E> expected(array.size(), element<E>(-9));
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) expected[i * rs + j * cs - lowest] = src[i * rs + j * cs];
  EXPECT_TRUE(back == expected);

  for (const std::int64_t parts : {std::int64_t(1), std::int64_t(7), std::min<std::int64_t>(rows * cols + 3, 100)}) {
    std::vector<E> packed_by_parts(packed.size(), element<E>(-5)), back_by_parts(array.size(), element<E>(-9));
    for (std::int64_t p = parts; p-- > 0;)  // in any order
      pack_part({p, parts}, src, sizeof(E), rows, cols, rs, cs, packed_by_parts.data(), ldd, leave);
    EXPECT_TRUE(packed_by_parts == packed) << parts << " parts";
    for (std::int64_t p = parts; p-- > 0;)
      unpack_part({p, parts}, packed.data(), ldd, sizeof(E), rows, cols, back_by_parts.data() - lowest, rs, cs, leave);
    EXPECT_TRUE(back_by_parts == expected) << parts << " parts";
  }
}

template <class E>
void round_trip(std::int64_t rows, std::int64_t cols, std::int64_t rs, std::int64_t cs, std::int64_t ldd) {
  for (const Leave leave : {Leave::in_own_cache, Leave::in_memory, Leave::in_shared_cache})
    round_trip<E>(rows, cols, rs, cs, ldd, leave);
}

template <class E>
void round_trips() {
  round_trip<E>(1, 1, 1, 1, 1);
  round_trip<E>(7, 5, 1, 7, 7);
  round_trip<E>(7, 5, 1, 9, 8);          // ld on both sides
  round_trip<E>(700, 500, 1, 700, 700);  // one run
  round_trip<E>(701, 503, 1, 777, 703);
  round_trip<E>(5003, 61, 1, 5011, 5009);  // runs that are written past the caches
  round_trip<E>(701, 503, 503, 1, 701);    // row-major
  round_trip<E>(333, 401, -1, 333, 333);   // reversed
  round_trip<E>(333, 401, -3, -1200, 340);
  round_trip<E>(333, 401, 2, 667, 333);
  round_trip<E>(500, 500, 0, 1, 500);  // a row repeated
  round_trip<E>(500, 500, 1, 0, 500);  // a column repeated
}

TEST(TeamCopy, PackAndUnpack) {
#ifdef DEVOBJ_TEST_TSAN
  constexpr bool all_elements = false;  // which thread copies what depends on the bytes only
#else
  constexpr bool all_elements = true;
#endif
  round_trips<double>();
  if (all_elements) {
    round_trips<unsigned char>();
    round_trips<std::uint16_t>();
    round_trips<float>();
    round_trips<Element16>();
    round_trips<Element3>();
  }
  pack(nullptr, 8, 0, 5, 1, 1, nullptr, 1);
  unpack(nullptr, 1, 8, 5, 0, nullptr, 1, 1);
  pack_part({0, 1}, nullptr, 8, 0, 5, 1, 1, nullptr, 1, Leave::in_own_cache);
  unpack_part({0, 1}, nullptr, 1, 8, 5, 0, nullptr, 1, 1, Leave::in_own_cache);
}

TEST(TeamCopy, ThreadsFor) {
  EXPECT_EQ(threads_for(0, 100, 8), 1);
  EXPECT_EQ(threads_for(199, 100, 8), 1);
  EXPECT_EQ(threads_for(500, 100, 8), 5);
  EXPECT_EQ(threads_for(5000, 100, 8), 8);
  EXPECT_EQ(threads_for(5000, 0, 0), 1);
}

}  // namespace
}  // namespace devobj::host
