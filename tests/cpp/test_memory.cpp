// Allocation: sizes that overflow, memory that ends, the k-th allocation failing for every k, and nothing leaked.
#include <unistd.h>

#include <fstream>

#include "devObjCpp/memory.hpp"
#include "sanitizers.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Lets the 1st, 2nd, ... allocation of `work` fail until all succeed; each failure must be out_of_memory. `check` runs
/// after each. Returns the number of failures.
template <class Work, class Check> int fail_each_allocation(Work&& work, Check&& check) {
  for (int k = 1; k < 1000; ++k) {
    const std::int64_t before = memory::allocation_count();
    bool failed = false;
    memory::fail_allocation(k);
    try {
      work();
    } catch (const Error& e) {
      failed = true;
      EXPECT_EQ(e.status(), Status::out_of_memory) << e.what();
    }
    memory::fail_allocation(0);
    const bool reached = memory::allocation_count() - before >= k;
    EXPECT_EQ(failed, reached) << "allocation " << k << " failed and nobody noticed, or the reverse";
    check();
    if (!reached || testing::Test::HasFailure()) return k - 1;
  }
  ADD_FAILURE() << "no end of allocations";
  return 0;
}

class Memory : public Everywhere {};
DEVOBJ_EVERYWHERE(Memory);
class MemoryOnTheGpu : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, MemoryOnTheGpu,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::real, Type::double_complex)),
                         instance_name);

TEST(CheckedBytes, OverflowIsOutOfMemory) {
  EXPECT_EQ(checked_bytes(3, 4, 8), 96u);
  EXPECT_EQ(checked_bytes(0, huge, 16), 0u);
  EXPECT_EQ(checked_bytes(huge, 0, 16), 0u);
  EXPECT_EQ(checked_bytes(huge / 8, 1, 8), static_cast<std::size_t>(huge / 8 * 8));
  for (auto [m, n, bytes] : {std::tuple<std::int64_t, std::int64_t, std::size_t>{huge, 1, 2},
                             {huge, huge, 4},
                             {std::int64_t(1) << 32, std::int64_t(1) << 32, 4},
                             {(std::int64_t(1) << 31) + 1, std::int64_t(1) << 31, 4}})
    EXPECT_DEVOBJ_ERROR(checked_bytes(m, n, bytes), Status::out_of_memory,
                        "allocate: " + std::to_string(m) + " x " + std::to_string(n) + " elements");
  EXPECT_INVALID(checked_bytes(-1, 3, 8), "rows and cols must not be negative, but are -1 and 3");
  EXPECT_INVALID(checked_bytes(3, -huge - 1, 8), "but are 3 and -9223372036854775808");
}

TEST_P(Memory, OutOfMemoryIsNotSticky) {
  with_type([&]<class T>(T) {
    const Dense<T> a = random<T>(50, 40, 1);
    Matrix<T> A = upload(a, q());
    // more than there are addresses, so that a system that lends what it does not have refuses too
    for (std::int64_t rows : {std::int64_t(1) << 46, std::int64_t(1) << 56})
      EXPECT_DEVOBJ_ERROR(Matrix<T>(rows, 4, q()), Status::out_of_memory, "allocate: no memory for");
    EXPECT_DEVOBJ_ERROR(PinnedBuffer(std::size_t(1) << 62, q().on_cuda()), Status::out_of_memory, "no pinned memory for");
    EXPECT_DEVOBJ_ERROR(PinnedBuffer(~std::size_t(0), q().on_cuda()), Status::out_of_memory, "no pinned memory for");
    Matrix<T> B(50, 40, q());
    copy<T>(A, B, q());
    q().wait();
    expect_same(download<T>(B, q()), a, "after it");
  });
}

TEST_P(Memory, StorageIsAlignedAndMoves) {
  for (std::size_t bytes : {1, 63, 64, 65, 100000}) {
    Storage storage(bytes, q());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(storage.data()) % 64, 0u);
    EXPECT_EQ(storage.bytes(), bytes);
    void* data = storage.data();
    Storage moved = std::move(storage);
    EXPECT_EQ(moved.data(), data);
    EXPECT_EQ(storage.data(), nullptr);
  }
  EXPECT_EQ(Storage(0, q()).data(), nullptr);
}

TEST_P(Memory, EveryAllocationOfATransferMayFail) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 1100, n = 1000;  // several staging pieces
    const Dense<T> a = random<T>(m, n, 1), b = random<T>(m, n, 2);
    Dense<T> host = b;
    Matrix<T> A = upload(a, q());
    auto unchanged = [&] {
      expect_same(download<T>(A, q()), a, "the object");
      PinnedBuffer::release_cache();  // so that the next attempt has to allocate again
    };
    const int made = fail_each_allocation([&] { Matrix<T> B(m, n, q()); }, unchanged);
    EXPECT_EQ(made, 1);
    int staged = fail_each_allocation([&] { to_host<T>(A, {host.data(), m, n, m}, q()); }, unchanged);
    expect_same(host, a, "the array in the end");
    Matrix<T> C = upload(b, q());
    staged += fail_each_allocation([&] { to_device<T>({a.data(), m, n, m}, C, q()); }, [] {});
    expect_same(download<T>(C, q()), a, "the object in the end");
    if (q().on_cuda()) {
      EXPECT_GE(staged, 2);
    }
  });
}

// On the host a transfer allocates nothing.
TEST_P(MemoryOnTheGpu, AFailedTransferWritesNothing) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 1100, n = 1000;
    const Dense<T> a = random<T>(m, n, 1), b = random<T>(m, n, 2);
    Dense<T> host = b;
    Matrix<T> A = upload(a, q());
    memory::fail_allocation(1);
    EXPECT_DEVOBJ_ERROR(to_host<T>(A, {host.data(), m, n, m}, q()), Status::out_of_memory, "no pinned memory");
    expect_same(host, b, "the array");
    memory::fail_allocation(1);
    EXPECT_DEVOBJ_ERROR(to_device<T>({b.data(), m, n, m}, A, q()), Status::out_of_memory, "no pinned memory");
    expect_same(download<T>(A, q()), a, "the object");
  });
}

TEST_P(Memory, TenThousandCyclesLeaveNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> a = random<T>(30, 20, 1);
    auto cycle = [&] {
      Matrix<T> A = upload(a, q()), B(30, 20, q());
      copy<T>(A, B, q());
      q().wait();
    };
    for (int i = 0; i < 500; ++i) cycle();
    const std::int64_t before = resident_bytes();
    const int cycles = type() == Type::double_precision ? 10000 : 1000;
    for (int i = 0; i < cycles; ++i) cycle();
    if (!sanitized) {
      EXPECT_LT(resident_bytes() - before, 4 << 20);
    }
  });
}

TEST(PinnedBuffers, AreReusedAndMove) {
  PinnedBuffer::release_cache();
  void* first = PinnedBuffer(5000, false).as<void>();
  PinnedBuffer again(4500, false);
  EXPECT_EQ(again.as<void>(), first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
  PinnedBuffer moved = std::move(again);
  EXPECT_EQ(moved.as<void>(), first);
  EXPECT_EQ(again.as<void>(), nullptr);
  EXPECT_EQ(PinnedBuffer(0, false).as<void>(), nullptr);
}

TEST(PinnedBuffers, GivenBackFirstAreTakenFirst) {
  PinnedBuffer::release_cache();
  PinnedBuffer a(5000, false), b(5000, false), c(5000, false);
  void* const order[] = {b.as<void>(), a.as<void>(), c.as<void>()};
  b = PinnedBuffer();
  a = PinnedBuffer();
  c = PinnedBuffer();
  PinnedBuffer again[3];
  for (int i = 0; i < 3; ++i) {
    again[i] = PinnedBuffer(5000, false);
    EXPECT_EQ(again[i].as<void>(), order[i]) << i;
  }
}

TEST(PinnedBuffers, OfGrowingSizesShareFewBlocks) {
  PinnedBuffer::release_cache();
  std::vector<void*> seen;
  for (std::size_t bytes = 1000; bytes <= 1000000; bytes += 1000) {
    void* data = PinnedBuffer(bytes, false).as<void>();
    if (seen.empty() || seen.back() != data) seen.push_back(data);
  }
  EXPECT_LE(seen.size(), 12u) << "the cache would grow with the square of the sizes";
  PinnedBuffer::release_cache();
}

}  // namespace
