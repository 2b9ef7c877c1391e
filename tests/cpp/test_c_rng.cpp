// The C interface of the random numbers: generators are a second kind of handle. Runs on both backends (EVERYWHERE).
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "opened.hpp"

using namespace devobj::test;

namespace {

class CRng : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(CRng);

devobj_handle create(const char* name, std::int64_t seed = 1, std::int64_t stream = 0) {
  devobj_handle rng = 0;
  EXPECT_OK(devobj_rng_create(name, seed, stream, &rng));
  return rng;
}

TEST_P(CRng, AGeneratorsLife) {
  const std::int64_t before = devobj_live_objects();
  devobj_handle rng = create("State", -7, 3), clone = 0;
  EXPECT_EQ(devobj_live_objects(), before + 1);
  EXPECT_EQ(devobj_rng_is_valid(rng), 1);
  EXPECT_EQ(devobj_is_valid(rng), 1);
  const devobj_handle A = allocate(DEVOBJ_DOUBLE, 5, 4), B = allocate(DEVOBJ_DOUBLE, 5, 4);
  EXPECT_OK(devobj_rng_normal(rng, 0, 1, A));
  EXPECT_OK(devobj_rng_clone(rng, &clone));
  const char* name = nullptr;
  std::int64_t seed = 0, stream = 0, position = 0;
  EXPECT_OK(devobj_rng_info(clone, &name, &seed, &stream, &position));
  EXPECT_STREQ(name, "state");
  EXPECT_EQ(seed, -7);
  EXPECT_EQ(stream, 3);
  EXPECT_EQ(position, 40);
  EXPECT_OK(devobj_rng_normal(rng, 0, 1, A));
  EXPECT_OK(devobj_rng_normal(clone, 0, 1, B));
  EXPECT_EQ(bytes_of(A), bytes_of(B));
  for (const devobj_handle h : {rng, clone}) EXPECT_OK(devobj_rng_free(h));
  EXPECT_STATUS(devobj_rng_free(rng), DEVOBJ_INVALID_HANDLE, "rng_free: rng is no live object");
  EXPECT_EQ(devobj_rng_is_valid(rng), 0);
  for (const devobj_handle h : {A, B}) EXPECT_OK(devobj_free(h));
  EXPECT_EQ(devobj_live_objects(), before);
}

TEST_P(CRng, WrongKindsOfHandle) {
  const devobj_handle rng = create("philox"), A = allocate(DEVOBJ_REAL, 2, 2);
  double norm = 0;
  EXPECT_STATUS(devobj_nrm2(rng, &norm), DEVOBJ_INVALID_HANDLE, "nrm2: x is a generator of random numbers");
  EXPECT_STATUS(devobj_rng_free(A), DEVOBJ_INVALID_HANDLE, "rng_free: rng is an array, must be a generator");
  EXPECT_STATUS(devobj_rng_uniform(A, 0, 1, A), DEVOBJ_INVALID_HANDLE, "rng_uniform: rng is an array");
  EXPECT_STATUS(devobj_rng_uniform(rng, 0, 1, rng), DEVOBJ_INVALID_HANDLE, "rng_uniform: A is a generator");
  EXPECT_STATUS(devobj_rng_uniform(0, 0, 1, A), DEVOBJ_INVALID_HANDLE, "rng_uniform: rng is a null handle");
  EXPECT_OK(devobj_rng_uniform(rng, 0, 1, A));
  EXPECT_OK(devobj_free(rng));  // as any handle
  EXPECT_OK(devobj_free(A));
}

TEST_P(CRng, EveryDraw) {
  const devobj_handle rng = create("philox", 3);
  for (const devobj_type type : {DEVOBJ_REAL, DEVOBJ_DOUBLE, DEVOBJ_COMPLEX, DEVOBJ_DOUBLE_COMPLEX, DEVOBJ_INTEGER}) {
    const bool real = type == DEVOBJ_REAL || type == DEVOBJ_DOUBLE, integer = type == DEVOBJ_INTEGER;
    const devobj_handle A = allocate(type, 40, 3);
    const auto expect = [&](devobj_status status, bool has, const char* what) {
      EXPECT_EQ(status, has ? DEVOBJ_SUCCESS : DEVOBJ_INVALID_ARGUMENT)
          << what << ", type " << type << ": " << devobj_last_error();
    };
    const double s[3] = {3, 2, 1};
    expect(devobj_rng_uniform(rng, -1, 1, A), !integer, "uniform");
    expect(devobj_rng_normal(rng, 0, 1, A), !integer, "normal");
    expect(devobj_rng_lognormal(rng, 0, 1, A), real, "lognormal");
    expect(devobj_rng_exponential(rng, 1, A), real, "exponential");
    expect(devobj_rng_integers(rng, 1, 6, A), integer, "integers");
    expect(devobj_rng_poisson(rng, 4, A), integer, "poisson");
    expect(devobj_rng_poisson(rng, 4000, A), integer, "poisson");
    expect(devobj_rng_words(rng, A), integer, "words");
    expect(devobj_rng_bernoulli(rng, 0.5, A), real || integer, "bernoulli");
    expect(devobj_rng_orthogonal(rng, A), !integer, "orthogonal");
    expect(devobj_rng_singular_values(rng, s, 3, A), !integer, "singular_values");
    expect(devobj_rng_condition(rng, 10, A), !integer, "condition");
    EXPECT_OK(devobj_free(A));
  }
  EXPECT_OK(devobj_rng_free(rng));
}

/// One number by each function is what an object of one element gets.
TEST_P(CRng, SingleNumbers) {
  for (const char* kind : {"philox", "state"}) {
    const devobj_handle rng = create(kind, 9), other = create(kind, 9);
    const devobj_handle F = allocate(DEVOBJ_REAL, 1, 1), D = allocate(DEVOBJ_DOUBLE, 1, 1),
                        I = allocate(DEVOBJ_INTEGER, 1, 1);
    for (int round = 0; round < 80; ++round) {
      float f = 0;
      double d = 0;
      std::int32_t i = 0;
      const auto real = [&](auto one, auto draw, const char* what) {
        EXPECT_OK(one(DEVOBJ_REAL, &f));
        EXPECT_OK(draw(F));
        EXPECT_EQ(f, values_of<float>(F)[0]) << what;
        EXPECT_OK(one(DEVOBJ_DOUBLE, &d));
        EXPECT_OK(draw(D));
        EXPECT_EQ(d, values_of<double>(D)[0]) << what;
      };
      const auto integer = [&](devobj_status one, devobj_status draw, const char* what) {
        EXPECT_OK(one);
        EXPECT_OK(draw);
        EXPECT_EQ(i, values_of<std::int32_t>(I)[0]) << what;
      };
      real([&](devobj_type type, void* x) { return devobj_rng_uniform_number(rng, -1, 2, type, x); },
           [&](devobj_handle A) { return devobj_rng_uniform(other, -1, 2, A); }, "uniform");
      real([&](devobj_type type, void* x) { return devobj_rng_normal_number(rng, 0, 1, type, x); },
           [&](devobj_handle A) { return devobj_rng_normal(other, 0, 1, A); }, "normal");
      real([&](devobj_type type, void* x) { return devobj_rng_lognormal_number(rng, 0, 1, type, x); },
           [&](devobj_handle A) { return devobj_rng_lognormal(other, 0, 1, A); }, "lognormal");
      real([&](devobj_type type, void* x) { return devobj_rng_exponential_number(rng, 2, type, x); },
           [&](devobj_handle A) { return devobj_rng_exponential(other, 2, A); }, "exponential");
      integer(devobj_rng_integer(rng, 1, 6, &i), devobj_rng_integers(other, 1, 6, I), "integers");
      integer(devobj_rng_poisson_number(rng, 4, &i), devobj_rng_poisson(other, 4, I), "poisson");
      integer(devobj_rng_bernoulli_number(rng, 0.5, &i), devobj_rng_bernoulli(other, 0.5, I), "bernoulli");
      integer(devobj_rng_word(rng, &i), devobj_rng_words(other, I), "words");
    }
    for (const devobj_handle h : {F, D, I}) EXPECT_OK(devobj_free(h));
    for (const devobj_handle h : {rng, other}) EXPECT_OK(devobj_rng_free(h));
  }
}

TEST_P(CRng, ErrorsOfSingleNumbers) {
  const devobj_handle rng = create("philox"), A = allocate(DEVOBJ_REAL, 1, 1), freed = create("state");
  EXPECT_OK(devobj_rng_free(freed));
  double d = 7;
  std::int32_t i = 7;
  EXPECT_STATUS(devobj_rng_normal_number(freed, 0, 1, DEVOBJ_DOUBLE, &d), DEVOBJ_INVALID_HANDLE,
                "rng_normal: rng is no live object");
  EXPECT_STATUS(devobj_rng_normal_number(A, 0, 1, DEVOBJ_DOUBLE, &d), DEVOBJ_INVALID_HANDLE,
                "rng_normal: rng is an array");
  EXPECT_STATUS(devobj_rng_uniform_number(rng, 0, 1, DEVOBJ_INTEGER, &d), DEVOBJ_INVALID_ARGUMENT,
                "rng_uniform: type is 5, must be 1 (real) or 2 (double)");
  EXPECT_STATUS(devobj_rng_uniform_number(rng, 0, 1, DEVOBJ_REAL, nullptr), DEVOBJ_INVALID_ARGUMENT,
                "rng_uniform: x is a null pointer");
  EXPECT_STATUS(devobj_rng_uniform_number(rng, 0, 1e300, DEVOBJ_REAL, &d), DEVOBJ_INVALID_ARGUMENT,
                "a and b are 0 and inf, must be finite");
  EXPECT_STATUS(devobj_rng_exponential_number(rng, 0, DEVOBJ_DOUBLE, &d), DEVOBJ_INVALID_ARGUMENT, "mean is 0");
  EXPECT_STATUS(devobj_rng_lognormal_number(rng, 0, -1, DEVOBJ_DOUBLE, &d), DEVOBJ_INVALID_ARGUMENT, "sigma is -1");
  EXPECT_STATUS(devobj_rng_integer(rng, 0, 2147483648, &i), DEVOBJ_INVALID_ARGUMENT, "highest is 2147483648");
  EXPECT_STATUS(devobj_rng_integer(rng, 3, 2, &i), DEVOBJ_INVALID_ARGUMENT, "lowest is 3");
  EXPECT_STATUS(devobj_rng_integer(rng, 1, 6, nullptr), DEVOBJ_INVALID_ARGUMENT, "rng_integers: x is a null pointer");
  EXPECT_STATUS(devobj_rng_poisson_number(rng, -1, &i), DEVOBJ_INVALID_ARGUMENT, "mean is -1");
  EXPECT_STATUS(devobj_rng_bernoulli_number(rng, 2, &i), DEVOBJ_INVALID_ARGUMENT, "p is 2");
  EXPECT_STATUS(devobj_rng_word(0, &i), DEVOBJ_INVALID_HANDLE, "rng_words: rng is a null handle");
  EXPECT_EQ(d, 7);
  EXPECT_EQ(i, 7);
  std::int64_t position = -1;
  EXPECT_OK(devobj_rng_info(rng, nullptr, nullptr, nullptr, &position));
  EXPECT_EQ(position, 0);
  EXPECT_OK(devobj_rng_free(rng));
  EXPECT_OK(devobj_free(A));
}

TEST_P(CRng, ErrorsNameRoutineArgumentAndValues) {
  devobj_handle rng = 77;
  EXPECT_STATUS(devobj_rng_create(nullptr, 0, 0, &rng), DEVOBJ_INVALID_ARGUMENT,
                "rng_create: generator is a null pointer");
  EXPECT_STATUS(devobj_rng_create("", 0, 0, &rng), DEVOBJ_INVALID_ARGUMENT, "generator is '', must be one of");
  EXPECT_STATUS(devobj_rng_create("philox", 0, -1, &rng), DEVOBJ_INVALID_ARGUMENT, "rng_create: stream is -1");
  EXPECT_STATUS(devobj_rng_create("philox", 0, 0, nullptr), DEVOBJ_INVALID_ARGUMENT,
                "rng_create: rng is a null pointer");
  EXPECT_EQ(rng, 77u);
  rng = create("philox");
  const devobj_handle I = allocate(DEVOBJ_INTEGER, 2, 1), F = allocate(DEVOBJ_REAL, 2, 1);
  EXPECT_STATUS(devobj_rng_seed(rng, 0, -1), DEVOBJ_INVALID_ARGUMENT, "rng_seed: stream is -1");
  EXPECT_STATUS(devobj_rng_skip(rng, -1), DEVOBJ_INVALID_ARGUMENT, "rng_skip: words is -1, must not be negative");
  EXPECT_STATUS(devobj_rng_integers(rng, -2147483649, 0, I), DEVOBJ_INVALID_ARGUMENT,
                "lowest is -2147483649, must be within");
  EXPECT_STATUS(devobj_rng_integers(rng, 0, 1, F), DEVOBJ_INVALID_ARGUMENT, "A is of type 'real', must be 'integer'");
  // beyond the object's precision
  EXPECT_STATUS(devobj_rng_uniform(rng, 0, 1e300, F), DEVOBJ_INVALID_ARGUMENT, "a and b are 0 and inf, must be finite");
  EXPECT_STATUS(devobj_rng_uniform(rng, 1, 1 + 1e-10, F), DEVOBJ_INVALID_ARGUMENT,
                "a is 1, must be less than b, which is 1");
  EXPECT_STATUS(devobj_rng_singular_values(rng, nullptr, 1, F), DEVOBJ_INVALID_ARGUMENT, "s is a null pointer");
  EXPECT_STATUS(devobj_rng_singular_values(rng, nullptr, -1, F), DEVOBJ_INVALID_ARGUMENT, "count is -1");
  EXPECT_STATUS(devobj_rng_save(rng, nullptr), DEVOBJ_INVALID_ARGUMENT, "rng_save: state is a null pointer");
  EXPECT_STATUS(devobj_rng_restore(rng, nullptr), DEVOBJ_INVALID_ARGUMENT, "rng_restore: state is a null pointer");
  EXPECT_STATUS(devobj_rng_save_file(rng, nullptr), DEVOBJ_INVALID_ARGUMENT, "rng_save: file is a null pointer");
  for (const devobj_handle h : {I, F}) EXPECT_OK(devobj_free(h));
  EXPECT_OK(devobj_rng_free(rng));
}

TEST_P(CRng, StateInMemoryAndInAFile) {
  devobj_handle rng = create("state", 5), other = create("philox");
  const devobj_handle A = allocate(DEVOBJ_REAL, 333, 1), B = allocate(DEVOBJ_REAL, 333, 1);
  EXPECT_OK(devobj_rng_uniform(rng, 0, 1, A));
  EXPECT_OK(devobj_rng_skip(rng, 11));
  std::int64_t state[DEVOBJ_RNG_STATE];
  const std::string file = testing::TempDir() + "devobj_c_rng_" + (GetParam() == DEVOBJ_CUDA ? "cuda" : "host");
  EXPECT_OK(devobj_rng_save(rng, state));
  EXPECT_OK(devobj_rng_save_file(rng, file.c_str()));
  EXPECT_OK(devobj_rng_uniform(rng, 0, 1, A));
  EXPECT_OK(devobj_rng_restore(other, state));
  EXPECT_OK(devobj_rng_uniform(other, 0, 1, B));
  EXPECT_EQ(bytes_of(A), bytes_of(B));
  EXPECT_OK(devobj_rng_restore_file(other, file.c_str()));
  EXPECT_OK(devobj_rng_uniform(other, 0, 1, B));
  EXPECT_EQ(bytes_of(A), bytes_of(B));
  std::remove(file.c_str());
  for (const devobj_handle h : {A, B}) EXPECT_OK(devobj_free(h));
  for (const devobj_handle h : {rng, other}) EXPECT_OK(devobj_rng_free(h));
}

TEST_P(CRng, ThreadsWithTheirOwnGenerators) {
  constexpr int threads = 8;
  std::vector<std::vector<double>> together(threads), alone(threads);
  const auto work = [](int t) {
    const devobj_handle rng = create(t % 2 ? "philox" : "state", 9, t), A = allocate(DEVOBJ_DOUBLE, 1001, 1);
    for (int i = 0; i < 3; ++i) EXPECT_OK(devobj_rng_normal(rng, 0, 1, A));
    auto x = values_of<double>(A);
    EXPECT_OK(devobj_free(A));
    EXPECT_OK(devobj_rng_free(rng));
    return x;
  };
  for (int t = 0; t < threads; ++t) alone[static_cast<std::size_t>(t)] = work(t);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back([&, t] { together[static_cast<std::size_t>(t)] = work(t); });
  for (std::thread& t : running) t.join();
  EXPECT_EQ(together, alone);
}

TEST_P(CRng, FreedByAnotherThread) {
  const devobj_handle rng = create("state"), A = allocate(DEVOBJ_REAL, 100000, 1);
  EXPECT_OK(devobj_rng_uniform(rng, 0, 1, A));
  std::thread([&] { EXPECT_OK(devobj_rng_free(rng)); }).join();
  for (const float x : values_of<float>(A)) ASSERT_TRUE(x > 0 && x < 1);
  EXPECT_OK(devobj_free(A));
}

TEST_P(CRng, LeftGeneratorsAreFreedAtTheEnd) {
  create("state");
}

}  // namespace
