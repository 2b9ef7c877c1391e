// Queue, Event and SideQueue: order, joins and errors, on every kind of queue that there is.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "devobj/devobj.hpp"

using namespace devobj;

namespace {

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

class HostQueues : public testing::TestWithParam<HostMode> {
 protected:
  Queue q{Backend::host, {GetParam()}};
};

TEST_P(HostQueues, WorkRunsInOrder) {
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) q.submit("step", [&seen, i] { seen.push_back(i); });
  q.wait();
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[i], i);
}

TEST_P(HostQueues, AnEventHoldsAnotherQueueBack) {
  Queue other(Backend::host, {GetParam()});
  int value = 0, seen = -1;
  q.submit("write", [&] {
    nap();
    value = 42;
  });
  other.wait_for(q.record());
  other.submit("read", [&] { seen = value; });
  other.wait();
  EXPECT_EQ(seen, 42);
  q.wait();
}

TEST_P(HostQueues, AnEventIsReadyAfterItsWork) {
  bool done = false;
  q.submit("work", [&] {
    nap();
    done = true;
  });
  Event e = q.record();
  e.wait();
  EXPECT_TRUE(done);
  EXPECT_TRUE(e.ready());
}

TEST_P(HostQueues, ASideQueueForksAndJoins) {
  int a = 0, b = 0, c = 0;
  q.submit("before", [&] {
    nap();
    a = 1;
  });
  {
    SideQueue side(q);
    side.queue().submit("beside", [&] {
      nap();
      b = a + 1;
    });
  }
  q.submit("after", [&] { c = b + 1; });
  q.wait();
  EXPECT_EQ(c, 3);
}

TEST_P(HostQueues, ASideQueueJoinsWhenAnExceptionLeavesItsScope) {
  int b = 0, c = 0;
  try {
    SideQueue side(q);
    side.queue().submit("beside", [&] {
      nap();
      b = 1;
    });
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }
  q.submit("after", [&] { c = b + 1; });
  q.wait();
  EXPECT_EQ(c, 2);
}

TEST_P(HostQueues, SideQueuesAreReused) {
  Queue* first = nullptr;
  {
    SideQueue side(q);
    first = &side.queue();
  }
  SideQueue again(q);
  EXPECT_EQ(&again.queue(), first);
}

TEST(HostWorkerQueue, AnErrorAppearsAtTheNextWaitWithItsOrigin) {
  Queue q(Backend::host, {HostMode::worker});
  bool later = false;
  q.submit("potrf", [] { fail(Status::device_error, "the cause"); });
  q.submit("after", [&] { later = true; });
  try {
    q.wait();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::device_error);
    EXPECT_STREQ(e.what(), "potrf: the cause");
  }
  EXPECT_FALSE(later) << "work after a failed one ran";
  q.submit("again", [&] { later = true; });
  q.wait();  // the error has been taken
  EXPECT_TRUE(later);
}

TEST(HostWorkerQueue, EventsComeAfterAnErrorToo) {
  Queue q(Backend::host, {HostMode::worker});
  q.submit("bad", [] { throw std::runtime_error("x"); });
  q.record().wait();  // would hang if the event were left out with the rest
  EXPECT_THROW(q.wait(), Error);
}

TEST(HostWorkerQueue, AnErrorOfASideQueueBecomesTheParents) {
  Queue q(Backend::host, {HostMode::worker});
  {
    SideQueue side(q);
    side.queue().submit("beside", [] { fail(Status::device_error, "lost"); });
  }
  try {
    q.wait();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("beside: lost"), std::string::npos) << e.what();
  }
}

TEST(HostWorkerQueue, AnEventCarriesAnErrorOn) {
  Queue first(Backend::host, {HostMode::worker}), second(Backend::host, {HostMode::worker}),
      synchronous(Backend::host, {HostMode::synchronous});
  first.submit("potrf", [] {
    nap();
    fail(Status::device_error, "the cause");
  });
  const Event failed = first.record();
  bool ran = false;
  second.wait_for(failed);
  second.submit("needs it", [&] { ran = true; });
  for (Queue* q : {&second, &first}) {
    try {
      q->wait();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "potrf: the cause");
    }
  }
  EXPECT_FALSE(ran) << "work without what it waited for";
  EXPECT_THROW(synchronous.wait_for(failed), Error);
  second.wait_for(first.record());  // an event of a queue that is in order again
  second.submit("again", [&] { ran = true; });
  second.wait();
  EXPECT_TRUE(ran);
}

// The parent meets it at an event of the side queue and throws it inside the scope.
TEST(HostWorkerQueue, AnErrorOfASideQueueIsReportedOnce) {
  Queue q(Backend::host, {HostMode::worker});
  {
    SideQueue side(q);
    side.queue().submit("beside", [] { fail(Status::device_error, "lost"); });
    q.wait_for(side.queue().record());
    EXPECT_THROW(q.wait(), Error);
  }
  EXPECT_NO_THROW(q.wait());
}

TEST(HostWorkerQueue, OfTwoErrorsTheParentsCountsAndTheSideQueueIsGoodAgain) {
  Queue q(Backend::host, {HostMode::worker});
  {
    SideQueue side(q);
    q.submit("first", [] { fail(Status::device_error, "the parent's"); });
    side.queue().submit("beside", [] { fail(Status::device_error, "the side queue's"); });
  }
  EXPECT_THROW(q.wait(), Error);
  bool ran = false;
  {
    SideQueue side(q);
    side.queue().submit("good", [&] { ran = true; });
  }
  q.wait();  // no error of the past
  EXPECT_TRUE(ran);
}

TEST(HostWorkerQueue, WorkThatIsLeftOutReleasesWhatItHolds) {
  Queue q(Backend::host, {HostMode::worker});
  auto A = std::make_shared<Matrix<double>>(10, 10, q);
  const std::weak_ptr<Matrix<double>> watch = A;
  q.submit("bad", [] {
    nap();
    fail(Status::device_error, "x");
  });
  q.submit("left out", [A] { A->data[0] = 1; });
  A.reset();
  EXPECT_THROW(q.wait(), Error);
  EXPECT_TRUE(watch.expired());
}

TEST(HostWorkerQueue, AnyExceptionBecomesAnErrorWithTheNameOfTheWork) {
  Queue q(Backend::host, {HostMode::worker});
  auto error_of = [&](auto work) {
    q.submit("work", work);
    try {
      q.wait();
    } catch (const Error& e) {
      return std::to_string(static_cast<int>(e.status())).append(" ").append(e.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error_of([] { throw std::bad_alloc(); }), "4 work: out of host memory");
  EXPECT_EQ(error_of([] { throw std::runtime_error("strange"); }), "8 work: strange");
  EXPECT_EQ(error_of([] { throw 17; }), "8 work: unknown exception");
  EXPECT_EQ(error_of([] { fail(Status::not_supported, "no"); }), "7 work: no");
  EXPECT_EQ(error_of([] {}), "none");
}

TEST(HostSynchronousQueue, AnErrorIsThrownAtOnce) {
  Queue q(Backend::host, {HostMode::synchronous});
  EXPECT_THROW(q.submit("bad", [] { fail(Status::device_error, "now"); }), Error);
  q.wait();
}

TEST_P(HostQueues, MatricesMayBeReleasedWithWorkPending) {
  double sum = 0;
  {
    Matrix<double> A(1000, 1, q);
    View<double> a = A;
    q.submit("fill", [a] {
      nap();
      for (std::int64_t i = 0; i < a.rows; ++i) a.data[i] = 1;
    });
    q.submit("sum", [a, &sum] {
      for (std::int64_t i = 0; i < a.rows; ++i) sum += a.data[i];
    });
  }
  q.wait();
  EXPECT_EQ(sum, 1000);
}

TEST_P(HostQueues, AMatrixMayOutliveItsQueue) {
  auto queue = std::make_unique<Queue>(Backend::host, QueueOptions{GetParam()});
  Matrix<float> A(10, 10, *queue);
  queue.reset();
  A = Matrix<float>();
}

INSTANTIATE_TEST_SUITE_P(Modes, HostQueues, testing::Values(HostMode::synchronous, HostMode::worker),
                         [](const auto& info) { return info.param == HostMode::worker ? "worker" : "synchronous"; });

TEST(BackendChoice, HostCanAlwaysBeHad) {
  BackendChoice choice = choose_backend(Backend::host);
  EXPECT_EQ(choice.backend, Backend::host);
  EXPECT_FALSE(choice.reason.empty());
}

TEST(BackendChoice, CudaIsThereOrAnErrorWithAReason) {
  BackendChoice automatic = choose_backend(Backend::automatic);
  try {
    Queue q(Backend::cuda);
    EXPECT_TRUE(q.on_cuda());
    EXPECT_NE(q.stream(), nullptr);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::no_device);
    EXPECT_EQ(automatic.backend, Backend::host) << "automatic must fall back where cuda cannot be had";
    EXPECT_NE(std::string(e.what()).find("the cuda backend was asked for, but"), std::string::npos) << e.what();
  }
}

TEST(Views, BlocksAreChecked) {
  double a[12];
  View<double> A(a, 3, 4);
  View<double> B = A({1, 3}, {2, 4});
  EXPECT_EQ(B.data, a + 1 + 2 * 3);
  EXPECT_EQ(B.rows, 2);
  EXPECT_EQ(B.cols, 2);
  EXPECT_EQ(B.ld, 3);
  EXPECT_EQ(A({3, 3}, {0, 4}).rows, 0);
  EXPECT_THROW(A({2, 4}, {0, 1}), Error);
  EXPECT_THROW(A({0, 1}, {3, 5}), Error);
  EXPECT_THROW(A({2, 1}, {0, 1}), Error);
  EXPECT_THROW(View<double>(a, -1, 2), Error);
  EXPECT_THROW(View<double>(a, 3, 2, 2), Error);
  EXPECT_THROW(View<double>(nullptr, 3, 2), Error);
}

}  // namespace
