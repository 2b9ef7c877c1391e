// gels on NIST's linear regression sets: the certified digits, and that normal equations do not reach them.
#include "factor_checks.hpp"
#include "nist_data.hpp"

namespace devobj::test {
namespace {

struct Regression {
  Dense<double> X, y;
};
Regression regression(const NistSet& set) {
  const std::int64_t width = set.predictors + 1, m = std::int64_t(set.data.size()) / width,
                     n = std::int64_t(set.coefficients.size());
  auto value = [&](std::int64_t i, std::int64_t j) { return set.data[std::size_t(i * width + j)]; };
  return {Dense<double>::from(m, n,
                              [&](auto i, auto j) {
                                if (set.last_power < 0) return j == 0 ? 1.0 : value(i, j);
                                return std::pow(value(i, 1), double(j + set.first_power));
                              }),
          Dense<double>::from(m, 1, [&](auto i, auto) { return value(i, 0); })};
}

/// Right digits of the worst coefficient: -log10 of the relative error, at most 15.
double digits(const NistSet& set, const Dense<double>& b) {
  double least = 15;
  for (std::size_t j = 0; j < set.coefficients.size(); ++j) {
    const double certified = set.coefficients[j],
                 error = std::abs(b(std::int64_t(j), 0) - certified) / std::abs(certified);
    if (!std::isfinite(error)) return 0;
    if (error > 0) least = std::min(least, -std::log10(error));
  }
  return std::max(0.0, least);
}

class Nist : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    try {
      queue_ = std::make_unique<Queue>(GetParam().backend, QueueOptions{GetParam().host_mode});
    } catch (const Error& e) {
      if (e.status() != Status::no_device || GetParam().backend != Backend::cuda) throw;
      const char* needed = std::getenv("DEVOBJ_TEST_NEED_GPU");
      if (needed != nullptr && std::string(needed) == "1") FAIL() << "a GPU is needed: " << e.what();
      GTEST_SKIP() << "skipped: no GPU (" << e.what() << ")";
    }
  }
  std::unique_ptr<Queue> queue_;
};

TEST_P(Nist, LeastSquaresReachTheCertifiedDigits) {
  ASSERT_EQ(nist_sets().size(), 11u);
  for (const NistSet& set : nist_sets()) {
    const auto [X, y] = regression(set);
    for (const Way& way : qr_ways(*queue_, {0, 1, 2, 3, 16})) {
      Padded<double> A(X, *queue_), B(y, *queue_);
      EXPECT_EQ(gels<double>(Op::NoTrans, A, B, *queue_, way.qr()), 0) << set.name << ", " << way.name;
      EXPECT_GE(digits(set, B.read()), set.digits) << set.name << ", " << way.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Nist, testing::ValuesIn(places()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// The bounds tell QR from the normal equations X^T X b = X^T y, which must miss them where the condition is large.
TEST(NistNormalEquations, DoNotPass) {
  int missed = 0;
  for (const NistSet& set : nist_sets()) {
    const auto [X, y] = regression(set);
    Dense<double> gram = product(Op::Trans, X, Op::NoTrans, X), b = product(Op::Trans, X, Op::NoTrans, y);
    Dense<std::int32_t> pivots(gram.cols(), 1);
    gesv<double>(host_view(gram), host_view(pivots), host_view(b), host_queue());
    if (digits(set, b) < set.digits) ++missed;
    const std::string name = set.name;
    if (name == "Filip" || name == "Longley" || name == "Wampler1" || name == "Wampler2" || name == "Wampler4") {
      EXPECT_LT(digits(set, b), set.digits) << set.name;
    }
  }
  EXPECT_GE(missed, 6);
}

TEST(NistDigits, CountsThem) {
  const NistSet& norris = nist_sets().front();
  Dense<double> b(2, 1);
  for (std::int64_t j = 0; j < 2; ++j) b(j, 0) = norris.coefficients[std::size_t(j)];
  EXPECT_EQ(digits(norris, b), 15);
  b(1, 0) *= 1 + 1e-9;
  EXPECT_NEAR(digits(norris, b), 9, 0.01);
  b(0, 0) = nan<double>;
  EXPECT_EQ(digits(norris, b), 0);
  // the sets' sizes
  EXPECT_EQ(regression(norris).X.rows(), 36);
  EXPECT_EQ(regression(nist_sets()[4]).X.rows(), 82);
  EXPECT_EQ(regression(nist_sets()[4]).X.cols(), 11);
}

}  // namespace
}  // namespace devobj::test
