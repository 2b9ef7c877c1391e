// Draws into objects of one element, and single numbers, in states that they have to see: other distributions in between,
// other shapes, a queue with a thread, a generator that has moved, a draw that failed. EVERYWHERE: as test_rng_few.
#include <atomic>
#include <functional>
#include <thread>

#include "devObjCpp/injected.hpp"
#include "rng_few.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngOne : public InEachPlace {};
DEVOBJ_IN_EACH_PLACE(RngOne);

/// Draws into objects of one element, of all kinds, with single numbers and other lengths in between.
TEST_P(RngOne, ObjectsOfOneElementInTurn) {
  for (const Generator kind : own_generators()) {
    Checked checked(q(), kind);
    std::vector<std::function<void()>> draws;
    for_each_single([&](const std::string& name, std::uint64_t, auto one, auto many) {
      using T = ValueOf<decltype(one)>;
      draws.push_back([&checked, many, name, this] {
        checked.expect_the_same((name + ", an object").c_str(), [&](Rng& r) { return drawn_one<T>(many, r, q()); });
      });
      draws.push_back([&checked, one, name] { checked.expect_the_same(name.c_str(), one); });
      draws.push_back([&checked, many, name, this] {
        checked.expect_the_same((name + ", the second of two").c_str(),
                                [&](Rng& r) { return drawn<T>(2, q(), [&](View<T> A) { many(r, A, q()); })[1]; });
      });
    });
    std::uint32_t choice = 11;
    const int steps = kind == Generator::philox ? 4000 : size_or(300, 100);  // the lanes of `state` take long to make
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      choice = choice * 1664525u + 1013904223u;
      draws[(step % 200 < 150 ? step / 70 : choice >> 24) % draws.size()]();
      if (step % 97 == 96) checked.rng().skip(choice >> 28);
    }
  }
}

/// A draw is of one number if its view has one element, whatever matrix that lies in; one of no elements uses up nothing.
TEST_P(RngOne, ViewsOfOneElementAndOfNone) {
  constexpr std::int32_t canary = 77;
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 3);
    const auto expected = long_draw<std::int32_t>([](Rng& r, View<std::int32_t> A, Queue& queue) { r.words(A, queue); },
                                                  kind, 0, 400, q());
    rng.seed(31, 2);
    std::vector<std::int32_t> host(5 * 4, canary), wanted(5 * 4, canary);
    Matrix<std::int32_t> M(5, 4, q());
    to_device<std::int32_t>({host.data(), 5, 4, 5}, M, q());
    std::size_t next = 0;
    const View<std::int32_t> all = M.view();
    for (int round = 0; round < 20; ++round) {
      for (const std::int64_t i : {2, 0, 4})
        for (const std::int64_t j : {1, 3}) {
          rng.words(all({i, i + 1}, {j, j + 1}), q());
          wanted[static_cast<std::size_t>(i + 5 * j)] = expected[next++];
        }
      rng.words(all({0, 0}, {0, 1}), q());
      rng.words(all({0, 1}, {2, 2}), q());
      rng.words({}, q());
      rng.words(all({1, 2}, {1, 4}), q());  // a row: elements five apart
      for (std::size_t j = 1; j < 4; ++j) wanted[1 + 5 * j] = expected[next++];
      EXPECT_EQ(rng.position(), next);
    }
    to_host<std::int32_t>(M, {host.data(), 5, 4, 5}, q());
    EXPECT_EQ(host, wanted) << name_of(kind);
  }
}

/// Numbers made ahead are taken only where the queue's turn is the caller's: work that is waiting stays first.
TEST_P(RngOne, ADrawOnAQueueWithAThreadWaitsItsTurn) {
  if (q().on_cuda()) GTEST_SKIP() << "skipped: a matter of the host";
  Queue worker(Backend::host, {HostMode::worker}), other(Backend::host, {HostMode::synchronous});
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 8), twin(q(), kind, 8);
    const auto expected = words_of(twin, 70, q());
    Matrix<std::int32_t> A(1, 1, worker);
    std::vector<std::int32_t> words;
    const auto on = [&](Queue& queue) {
      rng.words(A, queue);
      queue.wait();
      words.push_back(*A.data);
    };
    for (int i = 0; i < 20; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    for (int i = 0; i < 10; ++i) on(i % 2 == 0 ? q() : other);
    on(worker);  // has the lanes of `state` there
    *A.data = 0;
    std::atomic<bool> go = false;
    worker.submit("hold", [&] {
      while (!go) std::this_thread::yield();
    });
    rng.words(A, worker);
    EXPECT_EQ(rng.position(), 32u);
    EXPECT_EQ(*A.data, 0) << "drawn before the queue's earlier work, " << name_of(kind);
    go = true;
    worker.wait();
    words.push_back(*A.data);
    for (int i = 0; i < 30; ++i) on(i % 3 == 0 ? worker : i % 3 == 1 ? q() : other);
    for (int i = 0; i < 8; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    expect_same_bits(words, expected, name_of(kind));
  }
}

/// Numbers made ahead go with a generator that is moved, to another thread too.
TEST_P(RngOne, MovedGeneratorsGoOn) {
  for (const Generator kind : own_generators()) {
    Rng twin(q(), kind, 8), first(q(), kind, 8), second(q());
    const auto expected = words_of(twin, 300, q());
    std::vector<std::int32_t> words;
    const auto draw = [&](Rng& rng, int count) {
      for (int i = 0; i < count; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    };
    draw(first, 50);
    for (int i = 0; i < 50; ++i) second.word();
    second = std::move(first);
    draw(second, 50);
    Rng third = std::move(second);
    draw(third, 1);
    std::thread([&] { draw(third, 150); }).join();
    draw(third, 49);
    expect_same_bits(words, expected, name_of(kind));
  }
}

/// A draw that fails when it has made some of its numbers leaves the position before those: the next draw is not one of
/// them. (Lanes of `state` are made row by row, so that a draw over the end of one makes its numbers in two steps.)
TEST_P(RngOne, AfterADrawThatFailsHalfway) {
  if (q().on_cuda() || GetParam().host_mode != HostMode::synchronous)
    GTEST_SKIP() << "skipped: a matter of draws in the calling thread";
  for (const Generator kind : own_generators()) {
    Rng whole(q(), kind, 6);
    const std::uint64_t start = std::uint64_t{4} * random::lanes - 32;
    whole.skip(start);
    const auto expected = words_of(whole, 100, q());
    Matrix<std::int32_t> A(60, 1, q());
    int failures = 0;
    for (bool failed = true; failed; failures += failed) {
      Rng rng(q(), kind, 6);
      rng.skip(start);
      std::vector<std::int32_t> words;
      for (int i = 0; i < 2; ++i) words.push_back(words_of(rng, 1, q())[0]);
      injected::fail_work(failures + 1);
      try {
        rng.words(A, q());
        failed = false;
      } catch (const Error& e) {
        EXPECT_EQ(e.status(), Status::device_error);
        EXPECT_EQ(rng.position(), start + 2);
      }
      injected::fail_work(0);
      if (!failed) words.insert(words.end(), A.data, A.data + 60);
      while (words.size() < 100)
        words.push_back(words.size() % 2 == 0 ? words_of(rng, 1, q())[0] : static_cast<std::int32_t>(rng.word()));
      expect_same_bits(words, expected, std::string(name_of(kind)) + ", failures: " + std::to_string(failures));
    }
    EXPECT_GE(failures, kind == Generator::state ? 2 : 1);
  }
}

}  // namespace
