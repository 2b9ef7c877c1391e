// Transfers between host arrays and device objects: every kind, section and size gives the same bits, and not one byte
// beside them changes.
#include <sys/mman.h>

#include <chrono>
#include <thread>

#include "devObjCpp/memory.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

/// testing.hpp's places with the four types and integer.
class Transfer : public Everywhere {
 public:
  template <class F> void with_any_type(F&& test) {
    if (type() == Type::integer) test(std::int32_t{});
    else with_type(test);
  }
};
class TransferOnTheHost : public Transfer {};  // what needs host memory that is mapped without being there
class TransferOnTheGpu : public Transfer {};
std::vector<Type> with_integer() {
  std::vector<Type> types = scalar_types;
#if !defined(DEVOBJ_TEST_TSAN)
  types.push_back(Type::integer);
#endif
  return types;
}
const auto all_types = testing::ValuesIn(with_integer());
INSTANTIATE_TEST_SUITE_P(On, Transfer, testing::Combine(testing::ValuesIn(places()), all_types), instance_name);
INSTANTIATE_TEST_SUITE_P(On, TransferOnTheHost, testing::Combine(testing::Values(places()[0], places()[1]), all_types),
                         instance_name);
INSTANTIATE_TEST_SUITE_P(On, TransferOnTheGpu, testing::Combine(testing::Values(places()[2]), all_types), instance_name);

/// Any bits: NaNs with payloads, subnormals and infinities are among them.
template <class T> T bits(std::int64_t i, std::int64_t j, std::uint64_t seed) {
  std::uint64_t words[2];
  for (std::uint64_t& w : words) {
    w = seed + std::uint64_t(i) * 0x9e3779b97f4a7c15u + std::uint64_t(j) * 0xc2b2ae3d27d4eb4fu + (&w - words);
    w = (w ^ (w >> 30)) * 0xbf58476d1ce4e5b9u;
    w = (w ^ (w >> 27)) * 0x94d049bb133111ebu;
    w ^= w >> 31;
  }
  T value;
  std::memcpy(static_cast<void*>(&value), words, sizeof(T));
  return value;
}
template <class T> Dense<T> pattern(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Dense<T> A(rows, cols);
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const T value = bits<T>(i, j, seed);
      std::memcpy(static_cast<void*>(&A(i, j)), &value, sizeof(T));
    }
  return A;
}

/// A section of a host array in the middle of memory filled with canaries, `shift` bytes off a 64-byte boundary.
template <class T> class Section {
 public:
  Section(std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride, std::size_t shift = 0)
      : rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {
    const std::int64_t down = (rows - 1) * row_stride, across = (cols - 1) * col_stride;
    const std::int64_t lowest = rows * cols == 0 ? 0 : std::min<std::int64_t>(0, down) + std::min<std::int64_t>(0, across);
    const std::int64_t highest = rows * cols == 0 ? 0 : std::max<std::int64_t>(0, down) + std::max<std::int64_t>(0, across);
    bytes_.assign(static_cast<std::size_t>(highest - lowest + 1 + 2 * guard) * sizeof(T) + 128, canary);
    auto address = (reinterpret_cast<std::uintptr_t>(bytes_.data()) + 63) / 64 * 64 + shift;
    data_ = reinterpret_cast<T*>(address) + (guard - lowest);
  }
  HostArray<T> array() const { return {data_, rows_, cols_, row_stride_, col_stride_}; }
  HostArray<const T> source() const { return {data_, rows_, cols_, row_stride_, col_stride_}; }
  void* at(std::int64_t i, std::int64_t j) const { return data_ + i * row_stride_ + j * col_stride_; }
  void write(const Dense<T>& A) {
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) std::memcpy(at(i, j), &A(i, j), sizeof(T));
  }
  /// The elements; the test fails if a byte that belongs to none of them has changed.
  Dense<T> read() {
    Dense<T> A(rows_, cols_);
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) {
        std::memcpy(static_cast<void*>(&A(i, j)), at(i, j), sizeof(T));
        std::memset(at(i, j), canary, sizeof(T));
      }
    std::int64_t changed = 0;
    for (unsigned char byte : bytes_) changed += byte != canary;
    EXPECT_EQ(changed, 0) << "bytes beside the section were overwritten";
    return A;
  }

 private:
  static constexpr unsigned char canary = 0x6b;
  static constexpr std::int64_t guard = 8;
  std::int64_t rows_, cols_, row_stride_, col_stride_;
  std::vector<unsigned char> bytes_;
  T* data_;
};

struct Strides {
  const char* name;
  std::int64_t row, col;
};
std::vector<Strides> sections(std::int64_t m, std::int64_t n) {
  return {{"contiguous", 1, m},          {"ld > m", 1, m + 3},       {"every second row", 2, 2 * m + 1},
          {"rows reversed", -1, m},      {"columns reversed", 1, -m}, {"all reversed", -3, -(3 * m + 2)},
          {"transposed", n, 1},          {"transposed, reversed", -(n + 1), -1}};
}

template <class T> void there_and_back(std::int64_t m, std::int64_t n, Strides s, std::size_t shift, Queue& q) {
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", " + s.name + ", shift " + std::to_string(shift));
  const Dense<T> expected = pattern<T>(m, n, 7 * m + n);
  Section<T> from(m, n, s.row, s.col, shift), to(m, n, s.row, s.col, shift);
  from.write(expected);
  Padded<T> block(Dense<T>(m, n), q);  // ld > m on the device
  to_device<T>(from.source(), block, q);
  from.write(pattern<T>(m, n, 1));  // the array may be changed at once
  expect_same(block.read("the object"), expected, "on the device");
  to_host<T>(block, to.array(), q);
  expect_same(to.read(), expected, "back on the host");

  Matrix<T> whole(m, n, q);  // contiguous on the device
  from.write(expected);
  to_device<T>(from.source(), whole, q);
  to_host<T>(whole, to.array(), q);
  expect_same(to.read(), expected, "by way of a contiguous object");
}

TEST_P(Transfer, EverySectionOfSmallShapes) {
  with_any_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 9}, {9, 1}, {2, 2}, {7, 5}, {33, 17}, {64, 64}})
      for (const Strides& s : sections(m, n)) there_and_back<T>(m, n, s, 0, q());
  });
}

TEST_P(Transfer, EveryAlignmentOfTheHostArray) {
  with_any_type([&]<class T>(T) {
    for (std::size_t shift = 0; shift < 64; shift += sizeof(real_t<T>))
      for (const Strides& s : sections(37, 3)) there_and_back<T>(37, 3, s, shift, q());
  });
}

// 64 KiB: up to here the GPU's driver stages pageable memory. 512 KiB: the shortest staging piece, 4 MiB: one of full length. On the
// host several threads copy from 256 KiB on.
TEST_P(Transfer, SizesAroundTheDirectLimitAndTheStagingPieces) {
  with_any_type([&]<class T>(T) {
    const std::int64_t direct = (64 << 10) / sizeof(T), shortest = (512 << 10) / sizeof(T);
    const std::int64_t piece = (q().on_cuda() ? 8 : 2) * shortest;
    for (std::int64_t size : {direct - 1, direct, direct + 1, shortest + 1, 2 * shortest, 2 * shortest + 1, piece - 1, piece,
                              piece + 1})
      there_and_back<T>(size, 1, {"a column", 1, size}, 0, q());
    there_and_back<T>(1, piece + 1, {"a row, reversed", 1, -1}, 0, q());
    const std::int64_t third = piece / 3 + 5;  // three columns are a little more than a piece
    there_and_back<T>(third, 3, {"contiguous", 1, third}, sizeof(real_t<T>), q());
    there_and_back<T>(third, 3, {"every second row", 2, 2 * third + 1}, 0, q());
    there_and_back<T>(third, 3, {"transposed", 3, 1}, 0, q());
    there_and_back<T>(piece + 77, 2, {"ld > m", 1, piece + 80}, 0, q());
    there_and_back<T>(3, 2 * piece / 3 + 11, {"contiguous", 1, 3}, 0, q());
  });
}

TEST_P(Transfer, AStrideOfZeroRepeatsAnElement) {
  with_any_type([&]<class T>(T) {
    const Dense<T> a = pattern<T>(5, 4, 3);
    Matrix<T> A(5, 4, q());
    to_device<T>({a.data(), 5, 4, 1, 0}, A, q());
    Dense<T> expected(5, 4);
    for (int j = 0; j < 4; ++j) std::memcpy(static_cast<void*>(&expected(0, j)), &a(0, 0), 5 * sizeof(T));
    expect_same(download<T>(A, q()), expected, "the first column, four times");
  });
}

TEST_P(Transfer, EmptyObjectsNeedNoArray) {
  with_any_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 5}, {5, 0}}) {
      Matrix<T> A(m, n, q()), B(m, n, q());
      EXPECT_EQ(A.data, nullptr);
      to_device<T>({nullptr, m, n, 1}, A, q());
      copy<T>(A, B, q());
      to_host<T>(B, {nullptr, m, n, 1}, q());
    }
  });
}

TEST_P(Transfer, WaitsForTheWorkBefore) {
  with_any_type([&]<class T>(T) {
    const Dense<T> a = pattern<T>(300, 200, 5);
    Matrix<T> A = upload(a, q()), B(300, 200, q()), C(300, 200, q());
    if (!q().on_cuda()) q().submit("nap", [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
    copy<T>(A, B, q());
    copy<T>(B, C, q());
    expect_same(download<T>(C, q()), a, "a copy of a copy");
  });
}

TEST_P(Transfer, CopiesBetweenBlocks) {
  with_any_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {1, 40}, {200, 70}}) {
      const Dense<T> a = pattern<T>(m, n, 9);
      Padded<T> A(a, q()), B(Dense<T>(m, n), q());
      copy<T>(A, B, q());
      expect_same(B.read("the copy"), a, "the copy");
      expect_same(A.read("the source"), a, "the source");
    }
  });
}

TEST_P(Transfer, WrongArgumentsAreErrorsAndNothingIsWritten) {
  with_any_type([&]<class T>(T) {
    const Dense<T> a = pattern<T>(4, 3, 2);
    Matrix<T> A = upload(a, q()), B(3, 4, q());
    Section<T> host(4, 3, 1, 4);
    EXPECT_INVALID(to_device<T>({a.data(), 3, 4, 3}, A, q()), "transfer to device: the host array is 3 x 4, but the device object is 4 x 3");
    EXPECT_INVALID(to_host<T>(A, {host.array().data, 3, 4, 3}, q()), "transfer to host: the host array is 3 x 4, but the device object is 4 x 3");
    EXPECT_INVALID(to_device<T>({nullptr, 4, 3, 4}, A, q()), "transfer to device: the host array is null");
    EXPECT_INVALID(to_host<T>(A, {nullptr, 4, 3, 4}, q()), "transfer to host: the host array is null");
    EXPECT_INVALID(copy<T>(A, B, q()), "copy: src is 4 x 3, but dst is 3 x 4");
    EXPECT_INVALID(copy<T>(A({0, 3}, {0, 3}), A({1, 4}, {0, 3}), q()), "overlap");
    EXPECT_INVALID(Matrix<T>(-1, 3, q()), "rows and cols must not be negative, but are -1 and 3");
    expect_same(download<T>(A, q()), a, "the object after the errors");
    to_host<T>(A, host.array(), q());
    expect_same(host.read(), a, "the array after the errors");
  });
}

TEST_P(Transfer, PinnedArraysAreCopiedDirectly) {
  with_any_type([&]<class T>(T) {
    const std::int64_t m = 600, n = 500;
    PinnedBuffer there(m * n * sizeof(T), q().on_cuda()), back(m * n * sizeof(T), q().on_cuda());
    const Dense<T> a = pattern<T>(m, n, 11);
    std::memcpy(there.as<void>(), a.data(), m * n * sizeof(T));
    Padded<T> A(Dense<T>(m, n), q());
    to_device<T>({there.as<const T>(), m, n, m}, A, q());
    std::memset(there.as<void>(), 0, m * n * sizeof(T));
    to_host<T>(A, {back.as<T>(), m, n, m}, q());
    Dense<T> result(m, n);
    std::memcpy(static_cast<void*>(result.data()), back.as<void>(), m * n * sizeof(T));
    expect_same(result, a, "by way of pinned memory");
    to_host<T>(A, {back.as<T>() + (m * n - 1), m, n, -1, -m}, q());  // pinned, but strided
    for (std::int64_t e = 0; e < m * n; ++e)
      ASSERT_EQ(std::memcmp(back.as<T>() + (m * n - 1 - e), &a[e], sizeof(T)), 0) << "reversed, element " << e;
  });
}

TEST_P(TransferOnTheGpu, ADevicePointerIsNoHostArray) {
  with_any_type([&]<class T>(T) {
    const Dense<T> a = pattern<T>(4, 4, 1);
    Matrix<T> A = upload(a, q()), B = upload(a, q());
    EXPECT_INVALID(to_device<T>({B.data, 4, 4, 4}, A, q()), "is device memory");
    EXPECT_INVALID(to_host<T>(A, {B.data, 4, 4, 4}, q()), "is device memory");
    expect_same(download<T>(A, q()), a, "the object after the errors");
  });
}

// More pieces than buffers, all ways of packing, and columns longer than a piece.
TEST_P(TransferOnTheGpu, ManyPieces) {
  with_any_type([&]<class T>(T) {
    const std::int64_t size = (58 << 20) / sizeof(T) + 3, rows = 1543, cols = size / rows, high = (9 << 20) / sizeof(T) + 1;
    there_and_back<T>(size, 1, {"a column", 1, size}, sizeof(real_t<T>), q());
    there_and_back<T>(rows, cols, {"ld > m", 1, rows + 5}, 0, q());
    there_and_back<T>(rows, cols / 2, {"every second row", 2, 2 * rows + 1}, 0, q());
    there_and_back<T>(high, 2, {"contiguous", 1, high}, 0, q());
  });
}

// Columns 2^30 elements apart: offsets beyond 2^31 elements and 2^32 bytes. The pages between are never touched.
TEST_P(TransferOnTheHost, ALeadingDimensionOfTwoToTheThirty) {
  with_any_type([&]<class T>(T) {
    const std::int64_t m = 6, n = 4, ld = std::int64_t(1) << 30;
    const std::size_t bytes = static_cast<std::size_t>(ld * (n - 1) + m) * sizeof(T);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    View<T> wide(static_cast<T*>(memory), m, n, ld);
    const Dense<T> a = pattern<T>(m, n, 4);
    Matrix<T> A = upload(a, q()), B(m, n, q());
    copy<T>(A, wide, q());
    expect_same(download<T>(wide, q()), a, "a view with ld 2^30");
    to_host<T>(A({0, m}, {0, n}), {wide.data, m, n, ld}, q());
    to_device<T>({wide.data, m, n, ld}, B, q());
    expect_same(download<T>(B, q()), a, "by way of a host array with ld 2^30");
    if constexpr (!std::is_same_v<T, std::int32_t>) {
      const Dense<T> x = random<T>(m, n, 1), y = random<T>(n, n, 2);
      Matrix<T> X = upload(x, q()), Y = upload(y, q()), Z(m, n, q());
      copy<T>(X, wide, q());
      gemm<T>(Op::NoTrans, Op::NoTrans, 1, wide, Y, 0, Z, q());
      const Dense<wide_t<T>> expected = multiply(widen(x), widen(y));
      const Dense<Wide> bound = times(8 * n * eps<T>, multiply(absolute(widen(x)), absolute(widen(y))));
      expect_close(download<T>(Z, q()), expected, bound, "gemm with ld 2^30");
    }
    q().wait();
    munmap(memory, bytes);
  });
}

}  // namespace
