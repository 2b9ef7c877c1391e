// gpu_?getrf and gpu_?geqrf with LAPACK's argument lists, with and without the underscore: results, infos, queries,
// padding.
#include <unistd.h>

#include <cstdio>

#include "devobj/devobj.h"
#include "factor_checks.hpp"

// Fortran 77's names for them
extern "C" {
#define DEVOBJ_TEST_NAMES(p, T)                                                                 \
  void gpu_##p##getrf_(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info); \
  void gpu_##p##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
DEVOBJ_TEST_NAMES(s, float)
DEVOBJ_TEST_NAMES(d, double)
DEVOBJ_TEST_NAMES(c, void)
DEVOBJ_TEST_NAMES(z, void)
#undef DEVOBJ_TEST_NAMES
}

namespace devobj::test {
namespace {

template <class T>
struct Names {
  using Getrf = std::function<void(const int*, const int*, T*, const int*, int*, int*)>;
  using Geqrf = std::function<void(const int*, const int*, T*, const int*, T*, T*, const int*, int*)>;
  static std::vector<std::pair<std::string, Getrf>> getrf() {
    return {{"plain", by_type<T>(gpu_sgetrf, gpu_dgetrf, gpu_cgetrf, gpu_zgetrf)},
            {"underscore", by_type<T>(gpu_sgetrf_, gpu_dgetrf_, gpu_cgetrf_, gpu_zgetrf_)}};
  }
  static std::vector<std::pair<std::string, Geqrf>> geqrf() {
    return {{"plain", by_type<T>(gpu_sgeqrf, gpu_dgeqrf, gpu_cgeqrf, gpu_zgeqrf)},
            {"underscore", by_type<T>(gpu_sgeqrf_, gpu_dgeqrf_, gpu_cgeqrf_, gpu_zgeqrf_)}};
  }
};

/// Host arrays as a legacy program has them: lda > m with canaries, a guard behind every array. `inside` tells the part
/// that may change.
template <class T>
class HostMatrix {
 public:
  HostMatrix(const Dense<T>& A, int padding) : A_(A.rows() + padding, A.cols() + 1), rows_(A.rows()), cols_(A.cols()) {
    std::memset(static_cast<void*>(A_.data()), 0x5a, std::size_t(A_.size()) * sizeof(T));
    before_ = A_;
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) A_(i, j) = before_(i, j) = A(i, j);
  }
  T* data() { return A_.data(); }
  int ld() const { return int(A_.rows()); }
  Dense<T> read(const std::string& what) const {
    for (std::int64_t j = 0; j < A_.cols(); ++j)
      for (std::int64_t i = 0; i < A_.rows(); ++i)
        if (i >= rows_ || j >= cols_) {
          EXPECT_EQ(std::memcmp(&A_(i, j), &before_(i, j), sizeof(T)), 0) << what << ": padding at " << i << ", " << j;
        }
    return block_of(A_, {0, rows_}, {0, cols_});
  }
  void expect_unchanged(const std::string& what) const { expect_same(A_, before_, what); }

 private:
  Dense<T> A_, before_;
  std::int64_t rows_, cols_;
};

/// Opens the library on the place's backend for the test: the names work on what is open.
class LapackNames : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(devobj_open(place().backend == Backend::cuda ? DEVOBJ_CUDA : DEVOBJ_HOST, -1), DEVOBJ_SUCCESS)
        << devobj_last_error();
    opened_ = true;
  }
  void TearDown() override {
    if (opened_) {
      EXPECT_EQ(devobj_close(), DEVOBJ_SUCCESS) << devobj_last_error();
    }
    Everywhere::TearDown();
  }
  bool opened_ = false;
};

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{1, 1},   {5, 3},    {3, 5},
                                                                   {40, 40}, {130, 65}, {65, 130}};

TEST_P(LapackNames, GetrfIsLapacks) {
  with_type([&]<class T>(T) {
    for (const auto& [name, getrf_name] : Names<T>::getrf())
      for (auto [m, n] : shapes)
        for (int padding : {0, 3}) {
          const std::string what = name + " " + shape_name(m, n) + " + " + std::to_string(padding);
          const Dense<T> A = random<T>(m, n, std::uint32_t(m + n));
          HostMatrix<T> a(A, padding);
          HostMatrix<std::int32_t> pivots(Dense<std::int32_t>(std::min(m, n), 1), 2);
          const int M = int(m), N = int(n), ld = a.ld();
          int info = 99;
          getrf_name(&M, &N, a.data(), &ld, pivots.data(), &info);
          EXPECT_EQ(info, 0) << what << ": " << devobj_last_error();
          const LuFactors<T> f{a.read(what), pivots.read(what), info}, lapack = lapack_lu(A);
          expect_same(f.pivots, lapack.pivots, what);
          EXPECT_LE(lu_residual(A, f), residual_bound) << what;
          EXPECT_LE(lu_residual(A, f), 2 * lu_residual(A, lapack) + residual_floor) << what;
        }
  });
}

TEST_P(LapackNames, GeqrfIsLapacks) {
  with_type([&]<class T>(T) {
    for (const auto& [name, geqrf_name] : Names<T>::geqrf())
      for (auto [m, n] : shapes)
        for (int padding : {0, 3}) {
          const std::string what = name + " " + shape_name(m, n) + " + " + std::to_string(padding);
          const Dense<T> A = random<T>(m, n, std::uint32_t(m + n));
          HostMatrix<T> a(A, padding), tau(Dense<T>(std::min(m, n), 1), 2);
          const int M = int(m), N = int(n), ld = a.ld(), query = -1;
          int info = 99;
          T size{};
          geqrf_name(&M, &N, a.data(), &ld, tau.data(), &size, &query, &info);
          EXPECT_EQ(info, 0) << what;
          a.expect_unchanged(what + ": a query");
          tau.expect_unchanged(what + ": a query");
          const int lwork = int(std::real(size));
          ASSERT_GE(lwork, N) << what;
          HostMatrix<T> work(Dense<T>(lwork, 1), 2);
          info = 99;
          geqrf_name(&M, &N, a.data(), &ld, tau.data(), work.data(), &lwork, &info);
          EXPECT_EQ(info, 0) << what << ": " << devobj_last_error();
          work.read(what + ": work");
          const QrFactors<T> f{a.read(what), tau.read(what)}, lapack = lapack_qr(A);
          const QrMeasures measures = qr_measures(A, f), of_lapack = qr_measures(A, lapack);
          EXPECT_LE(measures.residual, residual_bound) << what;
          EXPECT_LE(measures.orthogonality, residual_bound) << what;
          EXPECT_LE(measures.residual, 2 * of_lapack.residual + residual_floor) << what;
          EXPECT_LE(measures.orthogonality, 2 * of_lapack.orthogonality + residual_floor) << what;
          for (std::int64_t i = 0; i < std::min(m, n); ++i)
            EXPECT_EQ(std::signbit(std::real(f.QR(i, i))), std::signbit(std::real(lapack.QR(i, i)))) << what;
        }
  });
}

TEST_P(LapackNames, SingularMatricesHaveLapacksInfo) {
  with_type([&]<class T>(T) {
    for (const auto& [name, getrf_name] : Names<T>::getrf())
      for (std::int64_t zero : {0, 7, 29}) {
        Dense<T> A = random<T>(30, 30, 5);
        for (std::int64_t i = 0; i < 30; ++i) A(i, zero) = T(0);
        HostMatrix<T> a(A, 2);
        HostMatrix<std::int32_t> pivots(Dense<std::int32_t>(30, 1), 1);
        const int n = 30, ld = a.ld();
        int info = 99;
        getrf_name(&n, &n, a.data(), &ld, pivots.data(), &info);
        EXPECT_EQ(info, zero + 1);
        EXPECT_LE(lu_residual(A, {a.read("A"), pivots.read("ipiv"), info}), residual_bound);
      }
  });
}

TEST_P(LapackNames, WrongArgumentsOfGetrf) {
  with_type([&]<class T>(T) {
    for (const auto& entry : Names<T>::getrf()) {
      const auto& name = entry.first;
      const auto& call = entry.second;
      HostMatrix<T> a(random<T>(4, 3, 1), 2);
      HostMatrix<std::int32_t> pivots(Dense<std::int32_t>(3, 1), 1);
      auto expect_info = [&](int m, int n, T* A, int lda, int* ipiv, int expected, const char* text) {
        int info = 99;
        call(&m, &n, A, &lda, ipiv, &info);
        EXPECT_EQ(info, expected) << name << ": " << text;
        if (expected < 0) {
          EXPECT_NE(std::string(devobj_last_error()).find(text), std::string::npos) << devobj_last_error();
        }
        a.expect_unchanged(name + ": A");
        pivots.expect_unchanged(name + ": ipiv");
      };
      expect_info(-1, 3, a.data(), 6, pivots.data(), -1, "m is -1");
      expect_info(4, -2, a.data(), 6, pivots.data(), -2, "n is -2");
      expect_info(4, 3, nullptr, 6, pivots.data(), -3, "a is a null pointer");
      expect_info(4, 3, a.data(), 3, pivots.data(), -4, "lda is 3, must be at least max(1, m) = 4");
      expect_info(0, 3, a.data(), 0, pivots.data(), -4, "lda is 0, must be at least max(1, m) = 1");
      expect_info(4, 3, a.data(), 6, nullptr, -5, "ipiv is a null pointer");
      // the first wrong one counts
      expect_info(-1, -1, nullptr, 0, nullptr, -1, "m is -1");
      // nothing to do: nothing is touched, null pointers or not
      expect_info(0, 3, a.data(), 1, pivots.data(), 0, "");
      expect_info(3, 0, a.data(), 6, pivots.data(), 0, "");
      expect_info(0, 0, nullptr, 1, nullptr, 0, "");
      expect_info(0, 3, nullptr, 1, nullptr, 0, "");
      expect_info(5, 0, nullptr, 5, nullptr, 0, "");
    }
  });
}

TEST_P(LapackNames, WrongArgumentsOfGeqrf) {
  with_type([&]<class T>(T) {
    for (const auto& entry : Names<T>::geqrf()) {
      const auto& name = entry.first;
      const auto& call = entry.second;
      HostMatrix<T> a(random<T>(4, 3, 1), 2), tau(Dense<T>(3, 1), 1), work(Dense<T>(8, 1), 1);
      auto expect_info = [&](int m, int n, T* A, int lda, T* t, int lwork, int expected, const char* text) {
        int info = 99;
        call(&m, &n, A, &lda, t, work.data(), &lwork, &info);
        EXPECT_EQ(info, expected) << name << ": " << text;
        if (expected < 0) {
          EXPECT_NE(std::string(devobj_last_error()).find(text), std::string::npos) << devobj_last_error();
        }
        a.expect_unchanged(name + ": A");
        tau.expect_unchanged(name + ": tau");
        work.read(name + ": work");
      };
      expect_info(-1, 3, a.data(), 6, tau.data(), 8, -1, "m is -1");
      expect_info(4, -2, a.data(), 6, tau.data(), 8, -2, "n is -2");
      expect_info(4, 3, nullptr, 6, tau.data(), 8, -3, "a is a null pointer");
      expect_info(4, 3, a.data(), 3, tau.data(), 8, -4, "lda is 3, must be at least max(1, m) = 4");
      expect_info(4, 3, a.data(), 6, nullptr, 8, -5, "tau is a null pointer");
      expect_info(4, 3, a.data(), 6, tau.data(), 2, -7, "lwork is 2, must be at least max(1, n) = 3");
      expect_info(4, 3, a.data(), 6, tau.data(), 0, -7, "lwork is 0");
      expect_info(4, 3, a.data(), 6, tau.data(), -2, -7, "lwork is -2");
      expect_info(0, 0, nullptr, 1, nullptr, 1, 0, "");
      expect_info(0, 3, nullptr, 1, nullptr, 3, 0, "");
      expect_info(5, 0, nullptr, 5, nullptr, 1, 0, "");
      expect_info(4, 3, nullptr, 6, nullptr, -1, 0, "");
    }
  });
}

/// A query's answer is at least n also where T's real type cannot hold n.
TEST_P(LapackNames, QueriesAreNotRoundedDown) {
  with_type([&]<class T>(T) {
    for (const auto& [name, call] : Names<T>::geqrf())
      for (int n : {1, 16777217, 2147483647}) {
        const int m = 1, lda = 1, query = -1;
        int info = 99;
        T size{};
        call(&m, &n, nullptr, &lda, nullptr, &size, &query, &info);
        EXPECT_EQ(info, 0) << name;
        EXPECT_GE(double(std::real(size)), double(n)) << name;
        EXPECT_LE(double(std::real(size)), n * (1 + 2 * eps<T>)) << name;
      }
  });
}

/// Neither results nor errors print anything.
TEST_P(LapackNames, NothingIsPrinted) {
  std::fflush(nullptr);
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const int out = dup(1), err = dup(2);
  dup2(fileno(file), 1);
  dup2(fileno(file), 2);
  with_type([&]<class T>(T) {
    Dense<T> A = random<T>(20, 20, 1), tau(20, 1), work(20, 1);
    Dense<std::int32_t> pivots(20, 1);
    for (int m : {20, -1}) {
      const int n = 20, lwork = 20;
      int info = 0;
      for (const auto& [name, call] : Names<T>::getrf()) call(&m, &n, A.data(), &n, pivots.data(), &info);
      for (const auto& [name, call] : Names<T>::geqrf())
        call(&m, &n, A.data(), &n, tau.data(), work.data(), &lwork, &info);
    }
  });
  std::fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  std::fseek(file, 0, SEEK_END);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

DEVOBJ_EVERYWHERE(LapackNames);

/// Without devobj_open they open the library by themselves.
TEST(LapackNamesAlone, OpenTheLibrary) {
  ASSERT_EQ(devobj_backend_in_use(), DEVOBJ_AUTO) << "nothing is open";
  Dense<double> A = random<double>(30, 30, 1);
  const Dense<double> before = A;
  Dense<std::int32_t> pivots(30, 1);
  const int n = 30;
  int info = 99;
  gpu_dgetrf(&n, &n, A.data(), &n, pivots.data(), &info);
  EXPECT_EQ(info, 0) << devobj_last_error();
  EXPECT_LE(lu_residual(before, {A, pivots, info}), residual_bound);
  EXPECT_NE(devobj_backend_in_use(), DEVOBJ_AUTO);
  EXPECT_EQ(devobj_close(), DEVOBJ_SUCCESS);
}

}  // namespace
}  // namespace devobj::test
