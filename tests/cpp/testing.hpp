// What the C++ tests share: the places and types a test runs in, random matrices, transfers with canaries around the
// block, plain products in a wider precision, and comparisons in units of rounding errors.
//
//   class Gemm : public devobj::test::Everywhere {};
//   TEST_P(Gemm, Product) {
//     with_type([&]<class T>(T) {
//       Dense<T> a = random<T>(m, n);
//       Padded<T> A(a, q());
//       ...
//       expect_close(A.read(), expected, bound, "C");
//     });
//   }
//   DEVOBJ_EVERYWHERE(Gemm);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "devobj/devobj.hpp"
#include "scalars.hpp"

namespace devobj::test {

// ---- where a test runs, and with which types ----
/// Those of Scalars.
#if defined(DEVOBJ_TEST_TSAN)
inline const std::vector<Type> scalar_types = {Type::double_precision};
#else
inline const std::vector<Type> scalar_types = {Type::real, Type::double_precision, Type::complex, Type::double_complex};
#endif


/// A backend and, on the host, the kind of queue.
struct Place {
  std::string name;
  Backend backend;
  HostMode host_mode;
};
inline void PrintTo(const Place& place, std::ostream* out) { *out << place.name; }
inline const std::vector<Place>& places() {
  static const std::vector<Place> all = {{"host", Backend::host, HostMode::synchronous},
                                         {"host-worker", Backend::host, HostMode::worker},
                                         {"cuda", Backend::cuda, HostMode::synchronous}};
  return all;
}
inline std::string name_of(Type type) {
  switch (type) {
    case Type::real: return "real";
    case Type::double_precision: return "double";
    case Type::complex: return "complex";
    case Type::double_complex: return "double_complex";
    case Type::integer: break;
  }
  return "integer";
}

/// A fixture with a queue, for each place and each of the types. On a machine without a GPU the tests of place
/// "cuda" are skipped with the reason; DEVOBJ_TEST_NEED_GPU=1 makes them fail instead.
class Everywhere : public ::testing::TestWithParam<std::tuple<Place, Type>> {
 public:
  const Place& place() const { return std::get<0>(GetParam()); }
  Type type() const { return std::get<1>(GetParam()); }
  Queue& q() { return *queue_; }

  /// test(T{}) for this instance's type.
  template <class F> void with_type(F&& test) {
    if (type() == Type::double_precision) return test(double{});
#if !defined(DEVOBJ_TEST_TSAN)
    if (type() == Type::real) return test(float{});
    if (type() == Type::complex) return test(std::complex<float>{});
    if (type() == Type::double_complex) return test(std::complex<double>{});
#endif
    FAIL() << "no such type";
  }
  /// The same where it is in double precision, real or complex: the other types are not compiled.
  template <class F>
  void with_double(F&& test) {
    if (type() == Type::double_precision) return test(double{});
    if (type() == Type::double_complex) return test(std::complex<double>{});
    FAIL() << "no such type";
  }

 protected:
  void SetUp() override {
    try {
      queue_ = std::make_unique<Queue>(place().backend, QueueOptions{place().host_mode});
    } catch (const Error& e) {
      if (e.status() != Status::no_device || place().backend != Backend::cuda) throw;
      const char* needed = std::getenv("DEVOBJ_TEST_NEED_GPU");
      if (needed != nullptr && std::string(needed) == "1") FAIL() << "a GPU is needed: " << e.what();
      GTEST_SKIP() << "skipped: no GPU (" << e.what() << ")";
    }
  }
  void TearDown() override {
    if (queue_) queue_->wait();
  }

 private:
  std::unique_ptr<Queue> queue_;
};

inline std::string instance_name(const ::testing::TestParamInfo<std::tuple<Place, Type>>& info) {
  std::string name = std::get<0>(info.param).name + "_" + name_of(std::get<1>(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

#define DEVOBJ_EVERYWHERE(fixture)                                                                          \
  INSTANTIATE_TEST_SUITE_P(On, fixture,                                                                     \
                           ::testing::Combine(::testing::ValuesIn(::devobj::test::places()),                \
                                              ::testing::ValuesIn(::devobj::test::scalar_types)),           \
                           ::devobj::test::instance_name)

/// The statement throws Error of this status, whose text contains `part`.
#define EXPECT_DEVOBJ_ERROR(statement, expected_status, part)                                             \
  do {                                                                                                    \
    try {                                                                                                 \
      statement;                                                                                          \
      ADD_FAILURE() << "no error from " #statement;                                                       \
    } catch (const ::devobj::Error& error) {                                                              \
      EXPECT_EQ(error.status(), expected_status) << error.what();                                         \
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)                                  \
          << "the text is \"" << error.what() << "\" and should contain \"" << part << "\"";              \
    }                                                                                                     \
  } while (false)
#define EXPECT_INVALID(statement, part) EXPECT_DEVOBJ_ERROR(statement, ::devobj::Status::invalid_argument, part)

// ---- numbers ----

/// The distance from 1 to the next number of T's real type.
template <class T> inline constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();
template <class T> inline const real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();
template <class T> inline const real_t<T> infinity = std::numeric_limits<real_t<T>>::infinity();

/// References are computed in long double, which is wider than any of the four types.
using Wide = long double;
template <class T> using wide_t = std::conditional_t<is_complex<T>, std::complex<Wide>, Wide>;
template <class T> wide_t<T> wide(T a) {
  if constexpr (is_complex<T>) return {a.real(), a.imag()};
  else return a;
}
inline Wide conjugate(Wide a) { return a; }
inline std::complex<Wide> conjugate(std::complex<Wide> a) { return std::conj(a); }
inline bool is_nan(double a) { return std::isnan(a); }
inline bool is_nan(std::complex<double> a) { return std::isnan(a.real()) || std::isnan(a.imag()); }

/// T from a real and, where there is one, an imaginary part.
template <class T> T make(double re, double im = 0) {
  if constexpr (is_complex<T>) return {real_t<T>(re), real_t<T>(im)};
  else return T(re);
}

/// Options as text, for messages: "LUTN".
template <class... Options> std::string letters(Options... options) { return {static_cast<char>(options)...}; }

// ---- matrices on the host ----

/// A column-major matrix on the host.
template <class T> class Dense {
 public:
  Dense() = default;
  Dense(std::int64_t rows, std::int64_t cols, T value = T{})
      : rows_(rows), cols_(cols), elements_(static_cast<std::size_t>(rows * cols), value) {}
  template <class F> static Dense from(std::int64_t rows, std::int64_t cols, F&& element) {
    Dense A(rows, cols);
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i) A(i, j) = element(i, j);
    return A;
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t size() const { return rows_ * cols_; }
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }
  T& operator()(std::int64_t i, std::int64_t j) { return elements_[static_cast<std::size_t>(i + j * rows_)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return elements_[static_cast<std::size_t>(i + j * rows_)];
  }
  /// Element e in column order.
  T& operator[](std::int64_t e) { return elements_[static_cast<std::size_t>(e)]; }
  const T& operator[](std::int64_t e) const { return elements_[static_cast<std::size_t>(e)]; }

 private:
  std::int64_t rows_ = 0, cols_ = 0;
  std::vector<T> elements_;
};

/// Uniform on (-1, 1), in both parts; the same for the same seed.
template <class T> Dense<T> random(std::int64_t rows, std::int64_t cols, std::uint32_t seed) {
  std::mt19937 generator(seed);
  auto number = [&] { return 2 * (generator() + 0.5) / 4294967296.0 - 1; };
  return Dense<T>::from(rows, cols, [&](auto, auto) {
    const double re = number();
    return is_complex<T> ? make<T>(re, number()) : make<T>(re);
  });
}
template <class T> Dense<wide_t<T>> widen(const Dense<T>& A) {
  return Dense<wide_t<T>>::from(A.rows(), A.cols(), [&](auto i, auto j) { return wide(A(i, j)); });
}
template <class W> Dense<Wide> absolute(const Dense<W>& A) {
  return Dense<Wide>::from(A.rows(), A.cols(), [&](auto i, auto j) { return std::abs(A(i, j)); });
}
/// Puts a NaN in the middle.
template <class T> void poison(Dense<T>& A) {
  if (A.size() > 0) A[A.size() / 2] = make<T>(nan<T>);
}
/// op(A)
template <class W> Dense<W> op_of(Op op, const Dense<W>& A) {
  if (op == Op::NoTrans) return A;
  return Dense<W>::from(A.cols(), A.rows(), [&](auto i, auto j) {
    return op == Op::ConjTrans ? W(conjugate(A(j, i))) : A(j, i);
  });
}
/// The triangle as a full matrix, with zeros elsewhere and ones on the diagonal if it is unit.
template <class W> Dense<W> triangle(Uplo uplo, Diag diag, const Dense<W>& A) {
  return Dense<W>::from(A.rows(), A.cols(), [&](auto i, auto j) {
    if (i == j && diag == Diag::Unit) return W(1);
    return (uplo == Uplo::Upper ? i <= j : i >= j) ? A(i, j) : W(0);
  });
}
/// A B. Several columns at a time: a sum waits for its last addition.
template <class W> Dense<W> multiply(const Dense<W>& A, const Dense<W>& B) {
  Dense<W> C(A.rows(), B.cols());
  std::vector<W> row(static_cast<std::size_t>(A.cols()));
  const std::int64_t count = A.cols(), ld = B.rows(), several = 4;
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    for (std::int64_t p = 0; p < count; ++p) row[static_cast<std::size_t>(p)] = A(i, p);
    const W *a = row.data(), *b = B.data();
    std::int64_t j = 0;
    for (; j + several <= C.cols(); j += several, b += several * ld) {
      W s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (std::int64_t p = 0; p < count; ++p) {
        s0 += a[p] * b[p];
        s1 += a[p] * b[p + ld];
        s2 += a[p] * b[p + 2 * ld];
        s3 += a[p] * b[p + 3 * ld];
      }
      C(i, j) = s0, C(i, j + 1) = s1, C(i, j + 2) = s2, C(i, j + 3) = s3;
    }
    for (; j < C.cols(); ++j, b += ld) {
      W sum = 0;
      for (std::int64_t p = 0; p < count; ++p) sum += a[p] * b[p];
      C(i, j) = sum;
    }
  }
  return C;
}
/// alpha A + beta B, where a matrix is not looked at if its factor is 0
template <class W> Dense<W> combine(W alpha, const Dense<W>& A, W beta, const Dense<W>& B) {
  return Dense<W>::from(A.rows(), A.cols(), [&](auto i, auto j) {
    W sum = 0;
    if (alpha != W(0)) sum += alpha * A(i, j);
    if (beta != W(0)) sum += beta * B(i, j);
    return sum;
  });
}

/// factor A
inline Dense<Wide> times(Wide factor, Dense<Wide> A) {
  for (std::int64_t e = 0; e < A.size(); ++e) A[e] *= factor;
  return A;
}

// ---- matrices on the device ----

template <class T> Matrix<T> upload(const Dense<T>& a, Queue& q) {
  Matrix<T> A(a.rows(), a.cols(), q);
  to_device<T>({a.data(), a.rows(), a.cols(), std::max<std::int64_t>(1, a.rows())}, A, q);
  return A;
}
template <class T> Dense<T> download(View<T> A, Queue& q) {
  Dense<T> a(A.rows, A.cols);
  to_host<T>(A, {a.data(), a.rows(), a.cols(), std::max<std::int64_t>(1, a.rows())}, q);
  return a;
}

/// A block inside a larger device matrix filled with canaries, so that ld > rows; read() fails the test if an element
/// outside the block has changed in any bit.
template <class T> class Padded {
 public:
  static constexpr std::int64_t above = 2, below = 3, left = 1, right = 2;

  Padded(const Dense<T>& a, Queue& q);
  View<T> view() const { return parent_({above, above + rows_}, {left, left + cols_}); }
  operator View<T>() const { return view(); }

  Dense<T> read(const char* name = "the matrix") const;

 private:
  Queue& q_;
  std::int64_t rows_, cols_;
  Matrix<T> parent_;
};

template <class T>
Padded<T>::Padded(const Dense<T>& a, Queue& q) : q_(q), rows_(a.rows()), cols_(a.cols()) {
  Dense<T> whole(above + rows_ + below, left + cols_ + right);
  std::memset(static_cast<void*>(whole.data()), 0x5a, static_cast<std::size_t>(whole.size()) * sizeof(T));
  for (std::int64_t j = 0; j < cols_; ++j)
    for (std::int64_t i = 0; i < rows_; ++i) whole(above + i, left + j) = a(i, j);
  parent_ = upload(whole, q);
}
template <class T>
Dense<T> Padded<T>::read(const char* name) const {
  const Dense<T> whole = download<T>(parent_, q_);
  unsigned char canary[sizeof(T)];
  std::memset(canary, 0x5a, sizeof(T));
  Dense<T> block(rows_, cols_);
  std::int64_t overwritten = 0;
  for (std::int64_t j = 0; j < whole.cols(); ++j)
    for (std::int64_t i = 0; i < whole.rows(); ++i) {
      const std::int64_t r = i - above, c = j - left;
      if (0 <= r && r < rows_ && 0 <= c && c < cols_)
        block(r, c) = whole(i, j);
      else if (std::memcmp(&whole(i, j), canary, sizeof(T)) != 0)
        ++overwritten;
    }
  EXPECT_EQ(overwritten, 0) << "elements around " << name << " were overwritten";
  return block;
}

// ---- comparisons ----

/// |actual - expected| <= bound for every element; a NaN on either side fails. The first failure is reported.
template <class T>
void expect_close(const Dense<T>& actual, const Dense<wide_t<T>>& expected, const Dense<Wide>& bound,
                  const std::string& what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  for (std::int64_t j = 0; j < actual.cols(); ++j)
    for (std::int64_t i = 0; i < actual.rows(); ++i) {
      const Wide error = std::abs(wide(actual(i, j)) - expected(i, j));
      if (error <= bound(i, j)) continue;
      ADD_FAILURE() << what << ": element (" << i << ", " << j << ") of " << actual.rows() << " x " << actual.cols()
                    << " is " << actual(i, j) << ", expected " << expected(i, j) << "; the error " << error
                    << " is above " << bound(i, j);
      return;
    }
}
/// Whether both are of one size and have the same bits.
template <class T>
bool same_bits(const Dense<T>& A, const Dense<T>& B) {
  return A.rows() == B.rows() && A.cols() == B.cols() &&
         (A.size() == 0 || std::memcmp(A.data(), B.data(), static_cast<std::size_t>(A.size()) * sizeof(T)) == 0);
}
/// The same bits.
template <class T> void expect_same(const Dense<T>& actual, const Dense<T>& expected, const std::string& what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  for (std::int64_t j = 0; j < actual.cols(); ++j)
    for (std::int64_t i = 0; i < actual.rows(); ++i) {
      if (std::memcmp(&actual(i, j), &expected(i, j), sizeof(T)) == 0) continue;
      ADD_FAILURE() << what << ": element (" << i << ", " << j << ") is " << actual(i, j) << ", expected "
                    << expected(i, j) << " exactly";
      return;
    }
}

// ---- what testing.cpp has for all test programs ----
#define DEVOBJ_TESTING_OF_ANY(EACH, T)                            \
  EACH template Dense<T>::Dense(std::int64_t, std::int64_t, T);   \
  EACH template Matrix<T> upload(const Dense<T>&, Queue&);        \
  EACH template Dense<T> download(View<T>, Queue&);               \
  EACH template Padded<T>::Padded(const Dense<T>&, Queue&);       \
  EACH template Dense<T> Padded<T>::read(const char*) const;      \
  EACH template bool same_bits(const Dense<T>&, const Dense<T>&); \
  EACH template void expect_same(const Dense<T>&, const Dense<T>&, const std::string&);
#define DEVOBJ_TESTING_OF_SCALAR(EACH, T)                                   \
  DEVOBJ_TESTING_OF_ANY(EACH, T)                                            \
  EACH template Dense<T> random(std::int64_t, std::int64_t, std::uint32_t); \
  EACH template Dense<wide_t<T>> widen(const Dense<T>&);                    \
  EACH template void expect_close(const Dense<T>&, const Dense<wide_t<T>>&, const Dense<Wide>&, const std::string&);
#define DEVOBJ_TESTING_OF_WIDE(EACH, W)                              \
  EACH template Dense<Wide> absolute(const Dense<W>&);               \
  EACH template Dense<W> op_of(Op, const Dense<W>&);                 \
  EACH template Dense<W> triangle(Uplo, Diag, const Dense<W>&);      \
  EACH template Dense<W> multiply(const Dense<W>&, const Dense<W>&); \
  EACH template Dense<W> combine(W, const Dense<W>&, W, const Dense<W>&);
#define DEVOBJ_TESTING(EACH)                           \
  DEVOBJ_TESTING_OF_ANY(EACH, std::int32_t)            \
  DEVOBJ_TESTING_OF_SCALAR(EACH, float)                \
  DEVOBJ_TESTING_OF_SCALAR(EACH, double)               \
  DEVOBJ_TESTING_OF_SCALAR(EACH, std::complex<float>)  \
  DEVOBJ_TESTING_OF_SCALAR(EACH, std::complex<double>) \
  DEVOBJ_TESTING_OF_WIDE(EACH, Wide)                   \
  DEVOBJ_TESTING_OF_WIDE(EACH, std::complex<Wide>)
DEVOBJ_TESTING(extern)

}  // namespace devobj::test
