// One update of a QR factorization as the bench measures it: the factors on the device, the update with the
// least-squares solution after it, and the same with the transfers that paper 003 counts.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "devobj/qr_update.hpp"
#include "matrices.hpp"
#include "timing.hpp"

namespace bench {

/// What is updated: A m x n, p columns or rows at k (from 0).
struct UpdateCase {
  devobj::QrUpdate what;
  devobj::QrForm form;
  std::int64_t m, n, p, k;
  std::int64_t rows1() const {
    return m + (what == devobj::QrUpdate::add_rows ? p : what == devobj::QrUpdate::remove_rows ? -p : 0);
  }
  std::int64_t cols1() const {
    return n + (what == devobj::QrUpdate::add_cols ? p : what == devobj::QrUpdate::remove_cols ? -p : 0);
  }
};

/// A host array's view as the device sees it, and back.
template <class T>
devobj::HostArray<const T> source(const HostMatrix<T>& a, std::int64_t rows, std::int64_t cols) {
  return {a.data.get(), rows, cols, rows};
}

/// A = Q R of one shape, d = Q^H b, in the queue's memory and on the host; kept from case to case.
template <class T>
class Factors {
 public:
  Factors(std::int64_t m, std::int64_t n, devobj::QrForm form, std::uint64_t seed, devobj::Queue& q)
      : m_(m), n_(n), form_(form), A(m, n, q), b(m, 1, q) {
    using namespace devobj;
    const bool full = form == QrForm::full;
    const std::int64_t inner = full ? m : n;
    const HostMatrix<T> host = uniform<T>(m, n, seed), rhs = uniform<T>(m, 1, seed + 1);
    to_device<T>(source(host, m, n), A, q);
    to_device<T>(source(rhs, m, 1), b, q);
    Q = Matrix<T>(m, inner, q);
    R = Matrix<T>(inner, n, q);
    d = Matrix<T>(inner, 1, q);
    qr<T>(A, Q, R, q);
    gemv<T>(adjoint<T>, T(1), Q, b, T(0), d, q);
  }
  bool is(std::int64_t m, std::int64_t n, devobj::QrForm form) const { return m == m_ && n == n_ && form == form_; }

 private:
  std::int64_t m_, n_;
  devobj::QrForm form_;

 public:
  devobj::Matrix<T> A, b, Q, R, d;
};

/// An update with all its objects.
template <class T>
class UpdateRun {
 public:
  UpdateRun(const UpdateCase& c, Factors<T>& f, std::uint64_t seed, devobj::Queue& queue) : c_(c), f_(f), q(queue) {
    using namespace devobj;
    const bool cols = c.what == QrUpdate::add_cols, rows = c.what == QrUpdate::add_rows;
    const bool has_q = c.form != QrForm::without_q, full = c.form == QrForm::full;
    const bool rank = c.what == QrUpdate::rank_update;
    const std::int64_t inner1 = full ? c.rows1() : c.cols1();
    if (cols || rows || rank) {
      U = Matrix<T>(rows ? c.p : c.m, rows ? c.n : c.p, q);
      host_U = uniform<T>(U.rows, U.cols, seed + 2);
      to_device<T>(source(host_U, U.rows, U.cols), U, q);
    }
    if (rank) {
      V = Matrix<T>(c.n, c.p, q);
      const HostMatrix<T> v = uniform<T>(c.n, c.p, seed + 4);
      to_device<T>(source(v, c.n, c.p), V, q);
    }
    if (c.what == QrUpdate::remove_rows && !has_q) {
      U = Matrix<T>(c.p, c.n, q);
      devobj::copy<T>(f.A({c.k, c.k + c.p}, {0, c.n}), U, q);
    }
    if (rows) {
      e = Matrix<T>(c.p, 1, q);
      const HostMatrix<T> host_e = uniform<T>(c.p, 1, seed + 3);
      to_device<T>(source(host_e, c.p, 1), e, q);
    }
    if (has_q) Q1 = Matrix<T>(c.rows1(), full ? c.rows1() : c.cols1(), q);
    R1 = Matrix<T>(inner1, c.cols1(), q);
    d1 = Matrix<T>(inner1, 1, q);
  }

  /// The update of Q, R and d. False if it broke down.
  bool update(devobj::QrUpdateOptions o = {}) {
    using namespace devobj;
    const View<T> Q = c_.form == QrForm::without_q ? View<T>{} : f_.Q.view(), none{};
    const View<T> b = c_.what == QrUpdate::add_rows ? e.view()
                      : c_.what == QrUpdate::remove_rows && c_.form == QrForm::without_q
                          ? f_.b({c_.k, c_.k + c_.p}, {0, 1})
                      : c_.form == QrForm::economic && c_.what != QrUpdate::remove_cols ? f_.b.view()
                                                                                        : none;
    const RightSides<T> rhs{f_.d.view(), d1.view(), b};
    switch (c_.what) {
      case QrUpdate::add_cols:
        qr_add_cols<T>(c_.k, Q, f_.R, U, Q1, R1, q, rhs, o);
        return true;
      case QrUpdate::remove_cols:
        qr_remove_cols<T>(c_.k, c_.p, Q, f_.R, Q1, R1, q, rhs, o);
        return true;
      case QrUpdate::add_rows:
        qr_add_rows<T>(c_.k, Q, f_.R, U, Q1, R1, q, rhs, o);
        return true;
      case QrUpdate::remove_rows:
        return qr_remove_rows<T>(c_.k, c_.p, Q, f_.R, c_.form == QrForm::without_q ? U.view() : none, Q1, R1, q, rhs,
                                 o) == 0;
      case QrUpdate::rank_update:
        break;
    }
    qr_rank_update<T>(U, V, Q1, R1, q, {d1.view(), {}, b}, o);
    return true;
  }
  /// rank_update works in place.
  void restore() {
    if (c_.what != devobj::QrUpdate::rank_update) return;
    devobj::copy<T>(f_.Q, Q1, q);
    devobj::copy<T>(f_.R, R1, q);
    devobj::copy<T>(f_.d, d1, q);
  }
  /// x = R1^-1 d1, in d1's first rows.
  devobj::View<T> solve() {
    using namespace devobj;
    const std::int64_t n1 = std::min(c_.cols1(), R1.rows);  // the leading block of a wide one
    trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), R1({0, n1}, {0, n1}), d1({0, n1}, {0, 1}), q);
    return d1({0, n1}, {0, 1});
  }
  double resident_ms(const Repeat& repeat, devobj::QrUpdateOptions o = {}) {
    return median_ms(
        repeat, [&] { restore(); },
        [&] {
          update(o);
          solve();
        },
        [&] { q.wait(); });
  }
  /// With Q (if the update needs it), R, d and U from the host and x back, as the paper counts.
  double with_transfers_ms(const Repeat& repeat, devobj::QrUpdateOptions o = {}) {
    using namespace devobj;
    const bool has_q = c_.form != QrForm::without_q;
    HostMatrix<T> Q(has_q ? f_.Q.rows : 0, f_.Q.cols), R(f_.R.rows, f_.R.cols), d(f_.d.rows, 1),
        x(std::min(c_.cols1(), R1.rows), 1);
    auto back = [&](View<T> A, HostMatrix<T>& a) {
      if (a.size() > 0) to_host<T>(A, HostArray<T>(a.data.get(), A.rows, A.cols, A.rows), q);
    };
    back(f_.Q, Q), back(f_.R, R), back(f_.d, d);
    return median_ms(
        repeat, [] {},
        [&] {
          if (has_q) to_device<T>(source(Q, f_.Q.rows, f_.Q.cols), f_.Q, q);
          to_device<T>(source(R, f_.R.rows, f_.R.cols), f_.R, q);
          to_device<T>(source(d, f_.d.rows, 1), f_.d, q);
          if (host_U.size() > 0) to_device<T>(source(host_U, U.rows, U.cols), U, q);
          update(o);
          back(solve(), x);
        },
        [&] { q.wait(); });
  }

  /// The updated matrix itself, A1.
  devobj::Matrix<T> updated_matrix() {
    using namespace devobj;
    const std::int64_t m1 = c_.rows1(), n1 = c_.cols1(), after = c_.k + c_.p;
    Matrix<T> A1(m1, n1, q);
    const View<T> A = f_.A;
    if (c_.what == QrUpdate::add_cols || c_.what == QrUpdate::remove_cols) {
      const Range all{0, c_.m};
      const bool adds = c_.what == QrUpdate::add_cols;
      devobj::copy<T>(A(all, {0, c_.k}), A1(all, {0, c_.k}), q);
      if (adds) devobj::copy<T>(U, A1(all, {c_.k, after}), q);
      devobj::copy<T>(A(all, {adds ? c_.k : after, c_.n}), A1(all, {adds ? after : c_.k, n1}), q);
    } else {
      const Range all{0, c_.n};
      const bool adds = c_.what == QrUpdate::add_rows;
      devobj::copy<T>(A({0, c_.k}, all), A1({0, c_.k}, all), q);
      if (adds) devobj::copy<T>(U, A1({c_.k, after}, all), q);
      devobj::copy<T>(A({adds ? c_.k : after, c_.m}, all), A1({adds ? after : c_.k, m1}, all), q);
    }
    return A1;
  }
  devobj::Matrix<T> updated_right_side() {
    using namespace devobj;
    const std::int64_t after = c_.k + c_.p;
    Matrix<T> b1(c_.rows1(), 1, q);
    const Range one{0, 1};
    const View<T> b = f_.b;
    const bool adds = c_.what == QrUpdate::add_rows, removes = c_.what == QrUpdate::remove_rows;
    if (!adds && !removes) {
      devobj::copy<T>(b, b1, q);
      return b1;
    }
    devobj::copy<T>(b({0, c_.k}, one), b1({0, c_.k}, one), q);
    if (adds) devobj::copy<T>(e, b1({c_.k, after}, one), q);
    devobj::copy<T>(b({adds ? c_.k : after, c_.m}, one), b1({adds ? after : c_.k, c_.rows1()}, one), q);
    return b1;
  }

 private:
  const UpdateCase c_;
  Factors<T>& f_;
  devobj::Queue& q;
  HostMatrix<T> host_U;

 public:
  devobj::Matrix<T> U, V, e, Q1, R1, d1;
};

/// Full QR and least squares of an m x n matrix: ours (gels), and cuSOLVER's where there is one; resident and with the
/// matrix and the right-hand side from the host and x back.
struct FullTimes {
  double ours = 0, ours_transfers = 0;
  std::optional<double> peer;
};
template <class T>
FullTimes full_times(std::int64_t m, std::int64_t n, const Repeat& repeat, std::uint64_t seed, devobj::Queue& q);

/// geqrf, ormqr and trsm of cuSOLVER and cuBLAS. Builds with CUDA and CUDA queues only.
template <class T>
double cusolver_least_squares_ms(devobj::View<T> A, devobj::View<T> b, const Repeat& repeat, devobj::Queue& q);

}  // namespace bench
