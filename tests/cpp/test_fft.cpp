// FftPlan: the definition, Parseval, there and back, layouts, in place, scaling, what is left alone, errors.
#include <cmath>
#include <numbers>
#include <numeric>

#include "devobj/fft.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

/// The host backend of a build without FFTW has no FFT: that is an error with its reason, and nothing else to test.
class Fft : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    try {
      FftPlan(Type::complex, {2}, q());
    } catch (const Error& e) {
      ASSERT_EQ(e.status(), Status::not_supported) << e.what();
      ASSERT_NE(std::string(e.what()).find("built without FFTW"), std::string::npos) << e.what();
      GTEST_SKIP() << "skipped: " << e.what();
    }
  }
};
DEVOBJ_EVERYWHERE(Fft);

using Sizes = std::vector<std::int64_t>;

template <class T>
using complex_t = std::complex<real_t<T>>;
using WideComplex = std::complex<Wide>;

std::int64_t points(const Sizes& n) {
  return std::accumulate(n.begin(), n.end(), std::int64_t{1}, std::multiplies<>());
}
std::string text(const Sizes& n, std::int64_t batch) {
  std::string s;
  for (std::int64_t size : n) s += std::to_string(size) + " x ";
  return s + "batch " + std::to_string(batch);
}

/// One dimension of the definition: lines of `n` points `stride` apart.
void transform_lines(std::vector<WideComplex>& x, std::int64_t n, std::int64_t stride, int sign) {
  std::vector<WideComplex> root(static_cast<std::size_t>(n)), line(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const Wide angle = sign * 2 * std::numbers::pi_v<Wide> * k / n;
    root[k] = {std::cos(angle), std::sin(angle)};
  }
  for (std::int64_t start = 0; start < static_cast<std::int64_t>(x.size()); ++start) {
    if (start / stride % n != 0) continue;
    for (std::int64_t k = 0; k < n; ++k) {
      WideComplex sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += x[start + j * stride] * root[j * k % n];
      line[k] = sum;
    }
    for (std::int64_t k = 0; k < n; ++k) x[start + k * stride] = line[k];
  }
}

/// The definition, in wide arithmetic, of `batch` transforms side by side.
std::vector<WideComplex> definition(const Sizes& n, std::vector<WideComplex> x, int sign) {
  std::int64_t stride = 1;
  for (std::int64_t size : n) {
    transform_lines(x, size, stride, sign);
    stride *= size;
  }
  return x;
}

template <class T>
std::vector<WideComplex> elements(const Dense<T>& A) {
  std::vector<WideComplex> x(static_cast<std::size_t>(A.size()));
  for (std::int64_t e = 0; e < A.size(); ++e) x[e] = WideComplex(wide(A[e]));
  return x;
}

Wide norm(const std::vector<WideComplex>& x) {
  Wide sum = 0;
  for (WideComplex e : x) sum += std::norm(e);
  return std::sqrt(sum);
}

/// The rows of a transform that a plan of type T stores.
template <class T>
std::int64_t stored_rows(const Sizes& n) {
  return is_complex<T> ? n[0] : n[0] / 2 + 1;
}

/// ||actual - factor expected|| <= bound eps ||factor expected||, over the rows that actual has.
template <class T>
void expect_transform(const Dense<T>& actual, const std::vector<WideComplex>& expected, std::int64_t expected_rows,
                      Wide factor, double bound, const std::string& what) {
  Wide error = 0, size = 0;
  for (std::int64_t j = 0; j < actual.cols(); ++j)
    for (std::int64_t i = 0; i < actual.rows(); ++i) {
      const WideComplex e = factor * expected[i + j * expected_rows];
      error += std::norm(WideComplex(wide(actual(i, j))) - e);
      size += std::norm(e);
    }
  EXPECT_LE(std::sqrt(error), bound * eps<T> * std::sqrt(size)) << what;
}

/// 1-D of lengths 1, 2, odd, prime, powers of 2 and composite; 2-D; 3-D; with batches.
const std::vector<std::pair<Sizes, std::int64_t>>& shapes() {
  static const std::vector<std::pair<Sizes, std::int64_t>> all = {
      {{1}, 1},       {{1}, 5},       {{2}, 3},       {{3}, 1},         {{7}, 4},       {{64}, 3},      {{97}, 2},
      {{100}, 1},     {{243}, 2},     {{256}, 1},     {{1024}, 1},      {{1009}, 1},    {{8, 8}, 1},    {{15, 7}, 2},
      {{1, 6}, 2},    {{6, 1}, 2},    {{1, 1}, 3},    {{32, 27}, 1},    {{4, 6, 8}, 1}, {{5, 3, 7}, 2}, {{1, 4, 5}, 2},
      {{4, 1, 5}, 2}, {{4, 5, 1}, 1}, {{1, 1, 6}, 1}, {{12, 10, 9}, 1}, {{2, 2, 2}, 3}};
  return all;
}
/// The error of a fast transform grows with log N; at primes the algorithms convolve.
double bound_for(const Sizes& n) {
  return 4 + 2 * std::log2(double(points(n)) + 1);
}

TEST_P(Fft, IsTheDefinition) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const auto& [n, batch] : shapes()) {
      const std::string what = text(n, batch);
      SCOPED_TRACE(what);
      const std::int64_t cols = points(n) / n[0] * batch;
      const Dense<T> x = random<T>(n[0], cols, 1);
      const std::vector<WideComplex> expected = definition(n, elements(x), -1);
      // contiguous
      FftPlan plan(type_traits<T>::type, n, q(), {.batch = batch});
      Matrix<T> X = upload(x, q());
      Matrix<C> Y(stored_rows<T>(n), cols, q());
      plan.forward(X.view(), Y.view(), q());
      expect_transform(download<C>(Y, q()), expected, n[0], 1, bound_for(n), what);
      expect_same(download<T>(X, q()), x, what + ", input");
      // leading dimensions larger than the rows, and the first element anywhere
      Padded<T> PX(x, q());
      Padded<C> PY(Dense<C>(stored_rows<T>(n), cols), q());
      plan.forward(PX.view(), PY.view(), q());
      expect_transform(PY.read("y"), expected, n[0], 1, bound_for(n), what + ", ld > rows");
      expect_same(PX.read("x"), x, what + ", input, ld > rows");
    }
  });
}

TEST_P(Fft, InverseIsTheDefinition) {
  with_type([&]<class T>(T) {
    if constexpr (is_complex<T>)
      for (const auto& [n, batch] : shapes()) {
        const std::string what = text(n, batch);
        const std::int64_t cols = points(n) / n[0] * batch;
        const Dense<T> y = random<T>(n[0], cols, 2);
        FftPlan plan(type_traits<T>::type, n, q(), {.batch = batch});
        Padded<T> Y(y, q()), X(Dense<T>(n[0], cols), q());
        plan.inverse(Y.view(), X.view(), q());
        expect_transform(X.read("x"), definition(n, elements(y), 1), n[0], 1, bound_for(n), what);
      }
  });
}

/// There and back, out of place and in place, for each scaling; what an inverse transform is given is kept.
TEST_P(Fft, ThereAndBack) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const auto& [n, batch] : shapes())
      for (const FftScaling scaling : {FftScaling::none, FftScaling::inverse, FftScaling::unitary}) {
        const std::string what = text(n, batch) + ", scaling " + std::to_string(int(scaling));
        SCOPED_TRACE(what);
        const std::int64_t cols = points(n) / n[0] * batch, rows = stored_rows<T>(n);
        const Wide N = points(n);
        const Dense<T> x = random<T>(n[0], cols, 3);
        FftPlan plan(type_traits<T>::type, n, q(), {.batch = batch, .scaling = scaling});
        Padded<T> X(x, q()), Z(Dense<T>(n[0], cols), q());
        Padded<C> Y(Dense<C>(rows, cols), q());
        plan.forward(X.view(), Y.view(), q());
        const Dense<C> y = Y.read("y");
        if (scaling != FftScaling::unitary)
          expect_transform(y, definition(n, elements(x), -1), n[0], 1, bound_for(n), what + ", forward");
        else
          expect_transform(y, definition(n, elements(x), -1), n[0], 1 / std::sqrt(N), bound_for(n), what + ", forward");
        plan.inverse(Y.view(), Z.view(), q());
        const Wide factor = scaling == FftScaling::none ? N : 1;
        expect_transform(Z.read("z"), elements(x), n[0], factor, 2 * bound_for(n), what);
        expect_same(Y.read("y"), y, what + ": the inverse has changed its input");
      }
  });
}

TEST_P(Fft, InPlace) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const auto& [n, batch] : shapes()) {
      const std::string what = text(n, batch);
      SCOPED_TRACE(what);
      const std::int64_t cols = points(n) / n[0] * batch, rows = stored_rows<T>(n);
      const Dense<T> x = random<T>(n[0], cols, 4);
      const std::vector<WideComplex> expected = definition(n, elements(x), -1);
      FftPlan plan(type_traits<T>::type, n, q(), {.batch = batch, .scaling = FftScaling::inverse});
      Padded<C> Y(Dense<C>(rows, cols), q());
      View<T> X;
      if constexpr (is_complex<T>)
        X = Y.view();
      else
        X = View<T>(reinterpret_cast<T*>(Y.view().data), n[0], cols, 2 * Y.view().ld);
      to_device<T>({x.data(), n[0], cols, n[0]}, X, q());
      plan.forward(X, Y.view(), q());
      expect_transform(Y.read("y"), expected, n[0], 1, bound_for(n), what);
      plan.inverse(Y.view(), X, q());
      expect_transform(download<T>(X, q()), elements(x), n[0], 1, 2 * bound_for(n), what + ", back");
      Y.read("y after the inverse");
    }
  });
}

/// sum |x|^2 = sum |y|^2 / N at lengths where the definition takes too long; a delta's transform is constant.
TEST_P(Fft, ParsevalAndDeltaAtLargeSizes) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const Sizes& n :
         {Sizes{1 << 17}, Sizes{65537}, Sizes{3 * 5 * 7 * 11 * 13}, Sizes{512, 300}, Sizes{64, 50, 36}}) {
      const std::string what = text(n, 1);
      const std::int64_t cols = points(n) / n[0], rows = stored_rows<T>(n);
      const Dense<T> x = random<T>(n[0], cols, 5);
      FftPlan plan(type_traits<T>::type, n, q());
      Matrix<T> X = upload(x, q());
      Matrix<C> Y(rows, cols, q());
      plan.forward(X.view(), Y.view(), q());
      const Dense<C> y = download<C>(Y, q());
      Wide sum = 0;
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t i = 0; i < rows; ++i)  // a row of the second half counts with its mirror image
          sum += (is_complex<T> || i == 0 || 2 * i == n[0] ? 1 : 2) * std::norm(WideComplex(wide(y(i, j))));
      const Wide before = norm(elements(x)), after = std::sqrt(sum / points(n));
      EXPECT_LE(std::abs(before - after), bound_for(n) * eps<T> * before) << what;

      Dense<T> delta(n[0], cols);
      delta[1] = T(1);  // y(k) = exp(-2 pi i k1 / n1)
      X = upload(delta, q());
      plan.forward(X.view(), Y.view(), q());
      const Dense<C> wave = download<C>(Y, q());
      for (std::int64_t i = 0; i < rows; i += 1 + rows / 50) {
        const Wide angle = -2 * std::numbers::pi_v<Wide> * i / n[0];
        EXPECT_LE(std::abs(WideComplex(wide(wave(i, cols - 1))) - WideComplex(std::cos(angle), std::sin(angle))),
                  bound_for(n) * eps<T>)
            << what << ", frequency " << i;
      }
    }
  });
}

/// A plan is used again and again, with other layouts between, moved, and destroyed with work under way; the results
/// are the same bits.
TEST_P(Fft, PlansAreReused) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    const Sizes n = {60, 14};
    const Dense<T> x = random<T>(n[0], n[1], 6);
    Matrix<T> X = upload(x, q());
    Matrix<C> Y(stored_rows<T>(n), n[1], q());
    Padded<C> PY(Dense<C>(stored_rows<T>(n), n[1]), q());
    Dense<C> first;
    {
      FftPlan plan(type_traits<T>::type, n, q());
      plan.forward(X.view(), Y.view(), q());
      first = download<C>(Y, q());
      plan.forward(X.view(), PY.view(), q());
      FftPlan moved = std::move(plan);
      moved.forward(X.view(), Y.view(), q());
      expect_same(download<C>(Y, q()), first, "the second time");
      plan = FftPlan(type_traits<T>::type, {8}, q());
      plan = std::move(moved);
      plan.forward(X.view(), Y.view(), q());
    }
    expect_same(download<C>(Y, q()), first, "from a plan that is gone");
  });
}

TEST_P(Fft, OtherQueueOfTheSamePlace) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    const Dense<T> x = random<T>(48, 3, 7);
    FftPlan plan(type_traits<T>::type, {48}, q(), {.batch = 3});
    Queue other(place().backend, QueueOptions{place().host_mode});
    Matrix<T> X = upload(x, other);
    Matrix<C> Y(stored_rows<T>({48}), 3, other);
    plan.forward(X.view(), Y.view(), other);
    expect_transform(download<C>(Y, other), definition({48}, elements(x), -1), 48, 1, bound_for({48}), "other queue");
  });
}

/// With overwrite_input and with measured plans the results are right as well.
TEST_P(Fft, Options) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const Sizes& n : {Sizes{36}, Sizes{12, 9}}) {
      const std::int64_t cols = points(n) / n[0];
      const Dense<T> x = random<T>(n[0], cols, 8);
      FftPlan plan(type_traits<T>::type, n, q(),
                   {.scaling = FftScaling::inverse, .overwrite_input = true, .measure = true});
      Padded<T> X(x, q());
      Padded<C> Y(Dense<C>(stored_rows<T>(n), cols), q());
      plan.forward(X.view(), Y.view(), q());
      expect_transform(Y.read("y"), definition(n, elements(x), -1), n[0], 1, bound_for(n), "measured");
      plan.inverse(Y.view(), X.view(), q());
      expect_transform(X.read("x"), elements(x), n[0], 1, 2 * bound_for(n), "overwriting");
      Y.read("y");  // what is around it
    }
  });
}

TEST_P(Fft, NaNAndInfinityStay) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    for (const real_t<T> bad : {test::nan<T>, test::infinity<T>}) {
      Dense<T> x = random<T>(30, 2, 9);
      x(17, 0) = T(bad);
      FftPlan plan(type_traits<T>::type, {30}, q(), {.batch = 2});
      Matrix<T> X = upload(x, q());
      Matrix<C> Y(stored_rows<T>({30}), 2, q());
      plan.forward(X.view(), Y.view(), q());
      const Dense<C> y = download<C>(Y, q());
      for (std::int64_t i = 0; i < y.rows(); ++i) {
        EXPECT_FALSE(std::isfinite(y(i, 0).real()) && std::isfinite(y(i, 0).imag())) << i;
        EXPECT_TRUE(std::isfinite(y(i, 1).real()) && std::isfinite(y(i, 1).imag())) << i;
      }
    }
  });
}

TEST_P(Fft, NoBatchIsNothing) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    FftPlan plan(type_traits<T>::type, {6, 5}, q(), {.batch = 0});
    plan.forward(View<T>(nullptr, 6, 0), View<C>(nullptr, stored_rows<T>({6}), 0), q());
    plan.inverse(View<C>(nullptr, stored_rows<T>({6}), 0), View<T>(nullptr, 6, 0), q());
  });
}

TEST_P(Fft, WrongArguments) {
  with_type([&]<class T>(T) {
    using C = complex_t<T>;
    constexpr Type type = type_traits<T>::type;
    EXPECT_INVALID(FftPlan(Type::integer, {4}, q()), "fft_plan: type is 'integer'");
    EXPECT_INVALID(FftPlan(type, {}, q()), "fft_plan: there are 0 sizes, must be 1 to 3");
    EXPECT_INVALID(FftPlan(type, {2, 2, 2, 2}, q()), "fft_plan: there are 4 sizes, must be 1 to 3");
    EXPECT_INVALID(FftPlan(type, {4, 0}, q()), "fft_plan: n2 is 0, must be at least 1");
    EXPECT_INVALID(FftPlan(type, {-3}, q()), "fft_plan: n1 is -3, must be at least 1");
    EXPECT_DEVOBJ_ERROR(FftPlan(type, {INT64_MAX - 1}, q()), Status::out_of_memory, "");
    if (!q().on_cuda())  // more than any memory, of sizes that can be counted
      for (const std::int64_t n : {(std::int64_t{1} << 58) - 1, std::int64_t{1} << 56})
        EXPECT_DEVOBJ_ERROR(FftPlan(type, {n}, q()), Status::out_of_memory, "fft_plan: no memory");
    EXPECT_INVALID(FftPlan(type, {4}, q(), {.batch = -1}), "fft_plan: batch is -1, must not be negative");
    EXPECT_INVALID(FftPlan(type, {4}, q(), {.scaling = FftScaling(7)}), "fft_plan: scaling is 7");
    EXPECT_DEVOBJ_ERROR(FftPlan(type, {1 << 30, 1 << 30, 1 << 10}, q()), Status::out_of_memory, "do not fit");

    FftPlan plan(type, {6}, q(), {.batch = 2});
    const std::int64_t rows = stored_rows<T>({6});
    const Dense<T> x = random<T>(6, 2, 10);
    const Dense<C> y = random<C>(rows, 2, 11);
    Padded<T> X(x, q());
    Padded<C> Y(y, q());
    Matrix<std::int32_t> I(6, 2, q());
    const std::string shape = std::to_string(rows) + " x 2";
    EXPECT_INVALID(plan.forward(X.view()({0, 5}, {0, 2}), Y.view(), q()), "fft_forward: in is 5 x 2, must be 6 x 2");
    EXPECT_INVALID(plan.forward(X.view(), Y.view()({0, rows}, {0, 1}), q()),
                   "fft_forward: out is " + std::to_string(rows) + " x 1, must be " + shape);
    EXPECT_INVALID(plan.inverse(Y.view()({0, 1}, {0, 2}), X.view(), q()), "fft_inverse: in is 1 x 2, must be " + shape);
    EXPECT_INVALID(plan.forward(I.view(), Y.view(), q()), "fft_forward: in is of type 'integer', must be '");
    EXPECT_INVALID(plan.inverse(Y.view(), I.view(), q()), "fft_inverse: out is of type 'integer', must be '");
    if constexpr (!is_complex<T>) EXPECT_INVALID(plan.forward(Y.view(), Y.view(), q()), "fft_forward: in is of type '");
    // overlapping, but not in place
    Matrix<C> big(3 * rows + 10, 4, q());
    const View<C> out = big.view()({1, 1 + rows}, {0, 2});
    const View<T> in(reinterpret_cast<T*>(big.data), 6, 2, 6);
    EXPECT_INVALID(plan.forward(in, out, q()), "fft_forward: in and out overlap in memory");
    EXPECT_INVALID(plan.inverse(out, in, q()), "fft_inverse: in and out overlap in memory");
    expect_same(X.read("x"), x, "x");
    expect_same(Y.read("y"), y, "y");
  });
}

TEST(FftPlaces, AQueueOfAnotherBackendIsAnError) {
  Queue host(Backend::host);
  std::unique_ptr<Queue> gpu;
  try {
    gpu = std::make_unique<Queue>(Backend::cuda);
  } catch (const Error&) {
    GTEST_SKIP() << "no GPU";
  }
  FftPlan plan(Type::complex, {4}, host);
  Matrix<std::complex<float>> X(4, 1, *gpu);
  EXPECT_INVALID(plan.forward(X.view(), X.view(), *gpu), "fft_forward: the plan belongs to another backend");
}

}  // namespace
