// Handles: null, foreign, freed, twice freed, moved and used-up ones are recognised, and a view keeps its parent's
// memory alive.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "devObjCpp/registry.hpp"
#include "opened.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

Object object_with(std::int64_t rows) {
  Object o;
  o.rows = rows;
  return o;
}

TEST(Registry, GivesAnObjectBackOnce) {
  Registry registry;
  const devobj_handle a = registry.add(object_with(3)), b = registry.add(object_with(4));
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  ASSERT_NE(registry.find(a), nullptr);
  EXPECT_EQ(registry.find(a)->rows, 3);
  EXPECT_EQ(registry.find(b)->rows, 4);
  EXPECT_EQ(registry.live(), 2);
  Object removed;
  EXPECT_TRUE(registry.remove(a, removed));
  EXPECT_EQ(removed.rows, 3);
  EXPECT_FALSE(registry.remove(a, removed));
  EXPECT_EQ(registry.find(a), nullptr);
  EXPECT_EQ(registry.live(), 1);
}

TEST(Registry, AReusedSlotHasAnotherHandle) {
  Registry registry;
  std::set<devobj_handle> seen;
  for (int i = 0; i < 1000; ++i) {
    const devobj_handle a = registry.add(object_with(i));
    EXPECT_TRUE(seen.insert(a).second) << "handle " << a << " was given out twice";
    Object removed;
    EXPECT_TRUE(registry.remove(a, removed));
  }
  for (devobj_handle old : seen) EXPECT_EQ(registry.find(old), nullptr);
}

TEST(Registry, NoHandleIsGivenOutTwiceWhenTheGenerationsEnd) {
  Registry registry(0xfffffffdu);
  std::set<devobj_handle> seen;
  std::vector<devobj_handle> live;
  for (int i = 0; i < 20; ++i) {
    const devobj_handle a = registry.add(object_with(i));
    EXPECT_TRUE(seen.insert(a).second) << "added: " << a;
    const devobj_handle moved = registry.renew(a);
    EXPECT_TRUE(seen.insert(moved).second) << "moved: " << moved;
    EXPECT_EQ(registry.find(a), nullptr);
    ASSERT_NE(registry.find(moved), nullptr);
    EXPECT_EQ(registry.find(moved)->rows, i);
    if (i % 4 == 0) {
      live.push_back(moved);
      continue;
    }
    Object removed;
    EXPECT_TRUE(registry.remove(moved, removed));
    EXPECT_EQ(removed.rows, i);
  }
  EXPECT_EQ(registry.live(), static_cast<std::int64_t>(live.size()));
  for (std::size_t i = 0; i < live.size(); ++i) EXPECT_EQ(registry.find(live[i])->rows, static_cast<std::int64_t>(4 * i));
  std::map<std::uint32_t, int> generations;
  for (devobj_handle h : seen) ++generations[static_cast<std::uint32_t>(h)];
  for (auto [slot, count] : generations) EXPECT_LE(count, 3) << "slot " << slot << " has only three generations to give";
  EXPECT_EQ(registry.clear().size(), live.size());
  for (devobj_handle old : seen) EXPECT_EQ(registry.find(old), nullptr);
}

TEST(Registry, PointersStayWhileOthersComeAndGo) {
  Registry registry;
  const devobj_handle a = registry.add(object_with(17));
  Object* object = registry.find(a);
  for (int i = 0; i < 10000; ++i) registry.add(object_with(1));
  EXPECT_EQ(registry.find(a), object);
  EXPECT_EQ(object->rows, 17);
}

class Handles : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(Handles);

TEST_P(Handles, NullForeignFreedAndTwiceFreed) {
  EXPECT_STATUS(devobj_free(0), DEVOBJ_INVALID_HANDLE, "free: A is a null handle (not allocated)");
  for (devobj_handle foreign : {1ull, 2ull, 0xffffffffull, 0xdeadbeefull << 32, 0xdeadbeef00000001ull, ~0ull}) {
    EXPECT_EQ(devobj_is_valid(foreign), 0) << foreign;
    EXPECT_STATUS(devobj_free(foreign), DEVOBJ_INVALID_HANDLE, "free: A is no live object");
  }
  const devobj_handle A = allocate(DEVOBJ_REAL, 3, 3);
  EXPECT_EQ(devobj_is_valid(A), 1);
  EXPECT_EQ(devobj_live_objects(), 1);
  EXPECT_OK(devobj_free(A));
  EXPECT_EQ(devobj_live_objects(), 0);
  EXPECT_EQ(devobj_is_valid(A), 0);
  EXPECT_STATUS(devobj_free(A), DEVOBJ_INVALID_HANDLE, "free: A is no live object");
  const devobj_handle B = allocate(DEVOBJ_REAL, 3, 3);  // likely in the same slot
  EXPECT_STATUS(devobj_free(A), DEVOBJ_INVALID_HANDLE, "free: A is no live object");
  EXPECT_EQ(devobj_is_valid(B), 1);
  EXPECT_OK(devobj_free(B));
}

TEST_P(Handles, UseAfterFreeIsAnErrorInEveryFunctionOfTheRuntime) {
  const devobj_handle dead = allocate(DEVOBJ_REAL, 2, 2), live = allocate(DEVOBJ_REAL, 2, 2);
  ASSERT_OK(devobj_free(dead));
  devobj_handle out = 77;
  void* pointer = &out;
  float host[4] = {1, 2, 3, 4};
  std::int64_t rows = -5;
  EXPECT_STATUS(devobj_view(dead, 1, 1, 1, 1, &out), DEVOBJ_INVALID_HANDLE, "view: A is no live object");
  EXPECT_STATUS(devobj_move(dead, &out), DEVOBJ_INVALID_HANDLE, "move: A is no live object");
  EXPECT_STATUS(devobj_shape(dead, nullptr, &rows, nullptr, nullptr), DEVOBJ_INVALID_HANDLE, "shape: A is no live");
  EXPECT_STATUS(devobj_pointer(dead, &pointer), DEVOBJ_INVALID_HANDLE, "pointer: A is no live object");
  EXPECT_STATUS(devobj_to_device(DEVOBJ_REAL, columns(host, 2, 2), dead), DEVOBJ_INVALID_HANDLE, "transfer to device: A is no");
  EXPECT_STATUS(devobj_to_host(dead, DEVOBJ_REAL, columns(host, 2, 2)), DEVOBJ_INVALID_HANDLE, "transfer to host: A is no");
  EXPECT_STATUS(devobj_copy(dead, live), DEVOBJ_INVALID_HANDLE, "copy: src is no live object");
  EXPECT_STATUS(devobj_copy(live, dead), DEVOBJ_INVALID_HANDLE, "copy: dst is no live object");
  EXPECT_EQ(out, 77u);
  EXPECT_EQ(pointer, static_cast<void*>(&out));
  EXPECT_EQ(rows, -5);
  EXPECT_EQ(host[3], 4);
  EXPECT_OK(devobj_free(live));
}

TEST_P(Handles, AMovedObjectHasANewHandleOnly) {
  const devobj_handle A = object_of<float>(DEVOBJ_REAL, 2, 1, {5, 6});
  devobj_handle B = 0, C = 0;
  ASSERT_OK(devobj_move(A, &B));
  EXPECT_NE(B, A);
  EXPECT_EQ(devobj_live_objects(), 1);
  EXPECT_STATUS(devobj_free(A), DEVOBJ_INVALID_HANDLE, "no live object");
  ASSERT_OK(devobj_move(B, &B));  // in place
  EXPECT_EQ(values_of<float>(B), (std::vector<float>{5, 6}));
  EXPECT_STATUS(devobj_move(B, nullptr), DEVOBJ_INVALID_ARGUMENT, "move: moved is a null pointer");
  EXPECT_STATUS(devobj_move(A, &C), DEVOBJ_INVALID_HANDLE, "move: A");
  EXPECT_EQ(values_of<float>(B), (std::vector<float>{5, 6}));
  EXPECT_OK(devobj_free(B));
}

TEST_P(Handles, AViewKeepsItsParentsMemory) {
  std::vector<double> numbers(12);
  for (int i = 0; i < 12; ++i) numbers[i] = i + 1;
  const devobj_handle A = object_of(DEVOBJ_DOUBLE, 3, 4, numbers);
  devobj_handle block = 0, inner = 0;
  ASSERT_OK(devobj_view(A, 2, 3, 2, 4, &block));
  ASSERT_OK(devobj_view(block, 2, 2, 1, 3, &inner));
  std::int64_t rows = 0, cols = 0, ld = 0;
  ASSERT_OK(devobj_shape(inner, nullptr, &rows, &cols, &ld));
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(cols, 3);
  EXPECT_EQ(ld, 3);
  ASSERT_OK(devobj_free(A));
  EXPECT_EQ(devobj_live_objects(), 2);
  // New objects of the same size must not get the memory.
  std::vector<devobj_handle> others;
  for (int i = 0; i < 20; ++i) others.push_back(object_of<double>(DEVOBJ_DOUBLE, 3, 4, std::vector<double>(12, -1)));
  EXPECT_EQ(values_of<double>(block), (std::vector<double>{5, 6, 8, 9, 11, 12}));
  ASSERT_OK(devobj_free(block));
  for (int i = 0; i < 20; ++i) others.push_back(object_of<double>(DEVOBJ_DOUBLE, 3, 4, std::vector<double>(12, -2)));
  EXPECT_EQ(values_of<double>(inner), (std::vector<double>{6, 9, 12}));
  ASSERT_OK(devobj_free(inner));
  for (devobj_handle other : others) EXPECT_OK(devobj_free(other));
}

TEST_P(Handles, WritingToAViewWritesToItsParent) {
  const devobj_handle A = object_of<float>(DEVOBJ_REAL, 2, 3, {1, 2, 3, 4, 5, 6});
  devobj_handle middle = 0;
  ASSERT_OK(devobj_view(A, 1, 2, 2, 2, &middle));
  float column[2] = {30, 40};
  ASSERT_OK(devobj_to_device(DEVOBJ_REAL, columns(column, 2, 1), middle));
  EXPECT_EQ(values_of<float>(A), (std::vector<float>{1, 2, 30, 40, 5, 6}));
  EXPECT_OK(devobj_free(middle));
  EXPECT_OK(devobj_free(A));
}

TEST_P(Handles, RangesOfViewsAreChecked) {
  const devobj_handle A = allocate(DEVOBJ_REAL, 3, 4);
  devobj_handle block = 99;
  const std::int64_t least = INT64_MIN, most = INT64_MAX;
  struct Range {
    std::int64_t i1, i2, j1, j2;
    const char* text;
  };
  for (const Range& r : {Range{0, 1, 1, 1, "view: rows 0 to 1 are not within 1 to 3"},
                         {1, 4, 1, 1, "view: rows 1 to 4 are not within 1 to 3"},
                         {3, 1, 1, 1, "view: rows 3 to 1"},
                         {5, 4, 1, 1, "view: rows 5 to 4"},
                         {1, 1, 0, 1, "view: columns 0 to 1 are not within 1 to 4"},
                         {1, 1, 1, 5, "view: columns 1 to 5"},
                         {1, 1, 4, 2, "view: columns 4 to 2"},
                         {least, most, 1, 1, "view: rows"},
                         {1, 1, least, most, "view: columns"},
                         {most, least, 1, 1, "view: rows"},
                         {1, most, 1, 1, "view: rows"}}) {
    EXPECT_STATUS(devobj_view(A, r.i1, r.i2, r.j1, r.j2, &block), DEVOBJ_INVALID_ARGUMENT, r.text);
    EXPECT_EQ(block, 99u);
  }
  EXPECT_STATUS(devobj_view(A, 1, 1, 1, 1, nullptr), DEVOBJ_INVALID_ARGUMENT, "view: block is a null pointer");
  EXPECT_EQ(devobj_live_objects(), 1);
  for (auto [i1, i2, j1, j2] : {std::array<std::int64_t, 4>{4, 3, 1, 4}, {1, 0, 1, 4}, {1, 3, 5, 4}, {2, 1, 3, 2}}) {
    ASSERT_OK(devobj_view(A, i1, i2, j1, j2, &block));
    void* pointer = &block;
    ASSERT_OK(devobj_pointer(block, &pointer));
    EXPECT_EQ(pointer, nullptr) << "an empty object has no pointer";
    EXPECT_OK(devobj_free(block));
  }
  EXPECT_OK(devobj_free(A));
}

TEST_P(Handles, TenThousandCyclesLeaveNoObject) {
  for (int i = 0; i < 10000; ++i) {
    devobj_handle A = 0, block = 0;
    ASSERT_OK(devobj_allocate(DEVOBJ_DOUBLE, 10, 10, &A));
    ASSERT_OK(devobj_view(A, 2, 5, 2, 5, &block));
    ASSERT_OK(devobj_move(block, &block));
    ASSERT_OK(devobj_free(A));
    ASSERT_OK(devobj_free(block));
  }
  EXPECT_EQ(devobj_live_objects(), 0);
}

}  // namespace
