// Form and shapes of a QR update: what all its routines check before anything is written.
#pragma once

#include <string>

#include "blas_checks.hpp"
#include "devobj/qr_update.hpp"

namespace devobj {

template <class T> bool absent(View<T> A) { return A.rows == 0 && A.cols == 0; }

constexpr const char* form_name(QrForm form) {
  return form == QrForm::full ? "full" : form == QrForm::economic ? "economic" : "without Q";
}
constexpr const char* update_method_name(UpdateMethod method) {
  return method == UpdateMethod::automatic ? "auto" : method == UpdateMethod::update ? "update" : "refactor";
}

/// A factorization before and after an update: m x n becomes m1 x n1. Without Q, m and m1 are R's and R1's rows.
struct UpdateShape {
  const char* routine;
  QrForm form;
  std::int64_t m, n, m1, n1;
  bool full() const { return form == QrForm::full; }
  bool economic() const { return form == QrForm::economic; }
  bool without_q() const { return form == QrForm::without_q; }
  std::int64_t rows() const { return full() ? m : n; }     ///< of R
  std::int64_t rows1() const { return full() ? m1 : n1; }  ///< of R1
};

/// The form from the shapes of Q and R; where they fit two (m = n), the one that Q1 fits. Error: neither.
template <class T>
UpdateShape shape_of_update(const char* routine, View<T> Q, View<T> R, View<T> Q1, std::int64_t more_rows,
                            std::int64_t more_cols) {
  const std::int64_t m = Q.rows, n = R.cols, m1 = m + more_rows, n1 = n + more_cols;
  if (absent(Q) && R.rows == n) {
    require(absent(Q1), routine, ": Q is absent, but Q1 is ", Q1.rows, " x ", Q1.cols);
    return {routine, QrForm::without_q, n, n, n1, n1};
  }
  const bool full = Q.cols == m && R.rows == m, economic = Q.cols == n && R.rows == n && m >= n;
  require(full || economic, routine, ": Q is ", Q.rows, " x ", Q.cols, " and R is ", R.rows, " x ", R.cols,
          ", must be m x m and m x n (full), m x n and n x n with m >= n (economic), or absent and n x n");
  const bool either = full && economic && !(Q1.rows == m1 && Q1.cols == m1) && Q1.cols == n1;
  return {routine, full && !either ? QrForm::full : QrForm::economic, m, n, m1, n1};
}

/// Error unless rhs.b has `rows` rows, or is absent and not needed.
template <class T>
void require_b(const char* routine, const RightSides<T>& rhs, std::int64_t rows, bool needed) {
  if (absent(rhs.d)) return require_shape(routine, "b", rhs.b, 0, 0);
  if (absent(rhs.b) && !(needed && rows > 0)) return;
  require_shape(routine, "b", rhs.b, rows, rhs.d.cols);
}

/// Error unless Q1, R1, d and d1 have the shapes that belong to `s`.
template <class T>
void require_updated(const UpdateShape& s, View<T> Q1, View<T> R1, const RightSides<T>& rhs) {
  if (!s.without_q()) require_shape(s.routine, "Q1", Q1, s.m1, s.full() ? s.m1 : s.n1);
  require_shape(s.routine, "R1", R1, s.rows1(), s.n1);
  require(absent(rhs.d) == absent(rhs.d1), s.routine, ": d is ", rhs.d.rows, " x ", rhs.d.cols, " and d1 is ",
          rhs.d1.rows, " x ", rhs.d1.cols, ", must both be given or both be absent");
  require_shape(s.routine, "d", rhs.d, absent(rhs.d) ? 0 : s.rows(), rhs.d.cols);
  require_shape(s.routine, "d1", rhs.d1, absent(rhs.d) ? 0 : s.rows1(), rhs.d.cols);
}

inline void require_economic(const UpdateShape& s, std::int64_t rows, std::int64_t cols) {
  require(!s.economic() || rows >= cols, s.routine, ": the factorization is economic, with ", rows, " rows for ", cols,
          " columns, must have no fewer rows than columns (use the full form)");
}
inline void require_update_options(const char* routine, const QrUpdateOptions& options) {
  require(options.method == UpdateMethod::automatic || options.method == UpdateMethod::update ||
              options.method == UpdateMethod::refactor,
          routine, ": method is ", static_cast<int>(options.method), ", must be 0 (auto), 1 (update) or 2 (refactor)");
  require(options.block >= 0 && options.block <= 256, routine, ": block is ", options.block,
          ", must be 0 (chosen by the library) to 256");
}

struct NamedArea {
  const char* name;
  const void* data;
  std::int64_t rows, cols, ld;
};
template <class T> NamedArea named(const char* name, View<T> A) { return {name, A.data, A.rows, A.cols, A.ld}; }

/// Whether an update of columns works in place: Q1 is Q, which has the same shape in full form.
template <class T> bool same_view(View<T> A, View<T> B) {
  return A.data == B.data && A.rows == B.rows && A.cols == B.cols && A.ld == B.ld;
}

/// Error if one of `outputs` overlaps another of them or one of `inputs`.
inline void require_apart(const char* routine, std::size_t element_bytes, std::initializer_list<NamedArea> outputs,
                          std::initializer_list<NamedArea> inputs) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  auto check = [&](const NamedArea& a, const NamedArea& b) {
    require(!overlap(a.data, a.rows, a.cols, a.ld, bytes, b.data, b.rows, b.cols, b.ld, bytes), routine, ": ", a.name,
            " and ", b.name, " overlap in memory");
  };
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = a + 1; b != outputs.end(); ++b) check(*a, *b);
    for (const NamedArea& b : inputs) check(*a, b);
  }
}

/// Whether to refactor: as asked for, or as the cost model says.
template <class T>
bool refactors(QrUpdate what, const UpdateShape& s, std::int64_t p, std::int64_t k, const Queue& q,
               const QrUpdateOptions& options) {
  if (options.method != UpdateMethod::automatic) return options.method == UpdateMethod::refactor;
  if (what == QrUpdate::remove_rows && s.without_q()) return false;
  const QrUpdateCost cost = qr_update_cost<T>(what, s.form, s.m, s.n, p, k, q);
  return cost.refactor < cost.update;
}

}  // namespace devobj
