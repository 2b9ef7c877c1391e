// overlap() against the sets of addresses themselves, for all small views of one array.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "devObjCpp/blas_checks.hpp"

namespace devobj {
namespace {

using Bytes = std::set<const char*>;
template <class T>
Bytes bytes_of_view(View<T> A) {
  Bytes bytes;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::size_t b = 0; b < sizeof(T); ++b)
        bytes.insert(reinterpret_cast<const char*>(A.data + i + j * A.ld) + b);
  return bytes;
}
bool share(const Bytes& a, const Bytes& b) {
  for (const char* p : a)
    if (b.count(p) != 0) return true;
  return false;
}

/// All views of at most 3 x 3 elements, ld <= 5, within `array`.
template <class T>
std::vector<View<T>> views_of(std::vector<T>& array, std::int64_t offsets) {
  std::vector<View<T>> views;
  for (std::int64_t offset = 0; offset < offsets; ++offset)
    for (std::int64_t rows = 0; rows <= 3; ++rows)
      for (std::int64_t cols = 0; cols <= 3; ++cols)
        for (std::int64_t ld = std::max<std::int64_t>(1, rows); ld <= 5; ++ld)
          if (rows == 0 || cols == 0 || offset + (cols - 1) * ld + rows <= std::int64_t(array.size()))
            views.push_back(View<T>(array.data() + offset, rows, cols, ld));
  return views;
}

template <class T, class U>
void compare(const std::vector<View<T>>& As, const std::vector<View<U>>& Bs) {
  std::vector<Bytes> sets;
  for (View<U> B : Bs) sets.push_back(bytes_of_view(B));
  std::int64_t overlapping = 0, distinct = 0, wrong = 0;
  for (View<T> A : As) {
    const Bytes a = bytes_of_view(A);
    for (std::size_t b = 0; b < Bs.size(); ++b) {
      const bool expected = share(a, sets[b]);
      ++(expected ? overlapping : distinct);
      if (overlap(A, Bs[b]) != expected && ++wrong == 1)
        ADD_FAILURE() << A.rows << " x " << A.cols << ", ld " << A.ld << " and " << Bs[b].rows << " x " << Bs[b].cols
                      << ", ld " << Bs[b].ld << " at a distance of "
                      << reinterpret_cast<const char*>(Bs[b].data) - reinterpret_cast<const char*>(A.data)
                      << " bytes: should be " << expected;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(overlapping, 1000);
  EXPECT_GT(distinct, 1000);
}

TEST(Overlap, OfOneType) {
  std::vector<float> array(28);
  const auto views = views_of(array, 12);
  compare(views, views);
}

TEST(Overlap, OfTwoTypes) {
  std::vector<double> array(20);
  std::vector<View<std::int32_t>> integers;
  auto* words = reinterpret_cast<std::int32_t*>(array.data());
  for (std::int64_t offset = 0; offset < 30; ++offset)
    for (std::int64_t n : {0, 1, 2, 5})
      for (std::int64_t ld : {1, 3}) integers.push_back(View<std::int32_t>(words + offset, 1, n, ld));
  compare(views_of(array, 5), integers);
}

TEST(Overlap, OfDifferentArrays) {
  std::vector<double> a(100), b(100);
  EXPECT_FALSE(overlap(View<double>(a.data(), 10, 10), View<double>(b.data(), 10, 10)));
}

}  // namespace
}  // namespace devobj
