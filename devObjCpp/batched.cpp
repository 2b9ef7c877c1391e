// The batched routines: what is checked, the choice of the backend, and matrices too tall for the GPU's kernels on
// batches.
#include "devobj/batched.hpp"

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/batched.hpp"
#include "lu_native.hpp"
#include "qr_native.hpp"

namespace devobj {
namespace {

using Integers = View<std::int32_t>;

/// The matrices in A. Error unless its columns are those of `batch` matrices.
template <class T>
Batch<T> batch_in(const char* routine, const char* argument, View<T> A, std::int64_t batch) {
  require(batch >= 0, routine, ": batch is ", batch, ", must not be negative");
  require(batch == 0 ? A.cols == 0 : A.cols % batch == 0, routine, ": ", argument, " has ", A.cols,
          " columns, which are not those of ", batch, " matrices of one shape");
  return {A, batch};
}
template <class T>
void require_square_batch(const char* routine, const char* argument, Batch<T> A) {
  require(A.count == 0 || A.rows == A.cols, routine, ": the matrices in ", argument, " are ", A.rows, " x ", A.cols,
          ", must be square");
}
/// Error unless x has a column of `rows` elements for each matrix.
template <class T>
void require_columns(const char* routine, const char* argument, View<T> x, std::int64_t rows, std::int64_t batch) {
  require(x.cols == batch && (x.rows == rows || batch == 0), routine, ": ", argument, " is ", x.rows, " x ", x.cols,
          ", must be ", rows, " x ", batch);
}
/// info as a vector of an element for each matrix.
Vector<std::int32_t> checked_info(const char* routine, Integers info, std::int64_t batch) {
  return checked_vector(routine, "info", info, batch);
}
template <class T>
std::int64_t diagonal_of(Batch<T> A) {
  return std::min(A.rows, A.cols);
}

/// Whether the matrices are worked on one after the other.
template <class T>
bool too_tall(Batch<T> A, const Queue& q) {
  return cuda_built && q.on_cuda() && A.rows > batched_rows_max;
}
/// Column or element k.
template <class T>
View<T> column(View<T> x, std::int64_t k) {
  return x({0, x.rows}, {k, k + 1});
}
Integers element(Integers info, std::int64_t k) {
  return info.cols > 1 ? info({0, 1}, {k, k + 1}) : info({k, k + 1}, {0, 1});
}
void set_element(Integers info, std::int64_t k, std::int64_t value, Queue& q) {
  const auto number = static_cast<std::int32_t>(value);
  to_device<std::int32_t>({&number, 1, 1, 1}, element(info, k), q);
}

template <class T>
void factor(Batch<T> A, Integers ipiv, Integers info, Vector<std::int32_t> infos, Queue& q) {
  if (too_tall(A, q) && !A.empty()) {
    const bool native = lu_native_possible<T>(A.rows, q);
    for (std::int64_t k = 0; k < A.count; ++k) {
      if (native)
        getrf_native(A[k], column(ipiv, k), element(info, k), q, {});
      else
        set_element(info, k, getrf(A[k], column(ipiv, k), q), q);
    }
    return;
  }
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::lu_batched(A, ipiv, infos, q);
  host::lu_batched(A, ipiv, infos, q);
}

/// `infos` may be empty.
template <class T>
void solve(Op op, Batch<T> LU, Integers ipiv, Vector<std::int32_t> infos, Batch<T> B, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::lu_solve_batched(op, LU, ipiv, infos, B, q);
  host::lu_solve_batched(op, LU, ipiv, infos, B, q);
}
template <class T>
bool solve_possible(Batch<T> LU, const Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::solve_batched_possible<T>(LU.cols, q);
  return true;
}

}  // namespace

template <class T>
void getrf_batched(std::int64_t batch, View<T> A, Integers ipiv, Integers info, Queue& q) {
  constexpr const char* name = "getrf_batched";
  const Batch<T> all = batch_in(name, "A", A, batch);
  require_columns(name, "ipiv", ipiv, diagonal_of(all), batch);
  const Vector<std::int32_t> infos = checked_info(name, info, batch);
  require_distinct(name, "ipiv", ipiv, "A", A);
  require_distinct(name, "info", info, "A", A);
  require_distinct(name, "info", info, "ipiv", ipiv);
  if (batch == 0) return;
  factor(all, ipiv, info, infos, q);
}

template <class T>
void getrs_batched(Op op, std::int64_t batch, View<T> LU, Integers ipiv, View<T> B, Queue& q) {
  constexpr const char* name = "getrs_batched";
  require_op(name, "op", op);
  const Batch<T> all = batch_in(name, "LU", LU, batch), right = batch_in(name, "B", B, batch);
  require_square_batch(name, "LU", all);
  require_columns(name, "ipiv", ipiv, all.cols, batch);
  require(batch == 0 || B.rows == all.rows, name, ": B has ", B.rows, " rows, but the matrices in LU are ", all.rows,
          " x ", all.cols);
  require_distinct(name, "B", B, "LU", LU);
  require_distinct(name, "B", B, "ipiv", ipiv);
  if (B.empty()) return;
  if (solve_possible(all, q)) return solve(op, all, ipiv, {}, right, q);
  for (std::int64_t k = 0; k < batch; ++k) getrs(op, all[k], column(ipiv, k), right[k], q);
}

template <class T>
void gesv_batched(std::int64_t batch, View<T> A, Integers ipiv, View<T> B, Integers info, Queue& q) {
  constexpr const char* name = "gesv_batched";
  const Batch<T> all = batch_in(name, "A", A, batch), right = batch_in(name, "B", B, batch);
  require_square_batch(name, "A", all);
  require_columns(name, "ipiv", ipiv, all.cols, batch);
  require(batch == 0 || B.rows == all.rows, name, ": B has ", B.rows, " rows, but the matrices in A are ", all.rows,
          " x ", all.cols);
  const Vector<std::int32_t> infos = checked_info(name, info, batch);
  require_distinct(name, "B", B, "A", A);
  require_distinct(name, "ipiv", ipiv, "A", A);
  require_distinct(name, "ipiv", ipiv, "B", B);
  require_distinct(name, "info", info, "A", A);
  require_distinct(name, "info", info, "B", B);
  require_distinct(name, "info", info, "ipiv", ipiv);
  if (batch == 0) return;
  if (solve_possible(all, q)) {
    factor(all, ipiv, info, infos, q);
    if (!B.empty()) solve(Op::NoTrans, all, ipiv, infos, right, q);
    return;
  }
  for (std::int64_t k = 0; k < batch; ++k) set_element(info, k, gesv(all[k], column(ipiv, k), right[k], q), q);
}

template <class T>
void geqrf_batched(std::int64_t batch, View<T> A, View<T> tau, Queue& q) {
  constexpr const char* name = "geqrf_batched";
  const Batch<T> all = batch_in(name, "A", A, batch);
  require_columns(name, "tau", tau, diagonal_of(all), batch);
  require_distinct(name, "tau", tau, "A", A);
  if (all.empty()) return;
  if (too_tall(all, q)) {
    for (std::int64_t k = 0; k < batch; ++k) geqrf_native(all[k], column(tau, k), q, {});
    return;
  }
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::qr_batched(all, tau, q);
  host::qr_batched(all, tau, q);
}

template <class T>
void gels_batched(Op op, std::int64_t batch, View<T> A, View<T> B, Integers info, Queue& q) {
  constexpr const char* name = "gels_batched";
  require(op == Op::NoTrans || op == adjoint<T>, name, ": op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  const Batch<T> all = batch_in(name, "A", A, batch), right = batch_in(name, "B", B, batch);
  const std::int64_t m = all.rows, n = all.cols;
  require(batch == 0 || B.rows == std::max(m, n), name, ": B has ", B.rows, " rows, but the matrices in A are ", m,
          " x ", n, " and B must have the larger of both");
  const Vector<std::int32_t> infos = checked_info(name, info, batch);
  require_distinct(name, "B", B, "A", A);
  require_distinct(name, "info", info, "A", A);
  require_distinct(name, "info", info, "B", B);
  if (op != Op::NoTrans)
    fail(Status::not_supported, name, ": op is '", static_cast<char>(op),
         "', but solutions of minimum norm are not there for batches: use gels for each matrix");
  if (m < n)
    fail(Status::not_supported, name, ": the matrices in A are ", m, " x ", n,
         ", but solutions of minimum norm (m < n) are not there for batches: use gels for each matrix");
  if (batch == 0) return;
  if (too_tall(all, q) && n > 0) {
    for (std::int64_t k = 0; k < batch; ++k) set_element(info, k, gels(op, all[k], right[k], q), q);
    return;
  }
  if constexpr (cuda_built)
    if (q.on_cuda() && cuda::least_squares_batched_possible(all, right))
      return cuda::least_squares_batched(all, infos, right, q);
  Matrix<T> own;
  View<T> tau;
  if (q.on_cuda()) {
    auto* const kept = static_cast<T*>(q.workspace(checked_bytes(std::max<std::int64_t>(1, n), batch, sizeof(T))));
    tau = View<T>(kept, n, batch);
  } else {
    own = Matrix<T>(n, batch, q);
    tau = own.view();
  }
  const Range top{0, n};
  const Batch<T> R = all(top, top), X = right(top, {0, right.cols});
  if constexpr (cuda_built) {
    if (q.on_cuda()) {
      cuda::qr_batched(all, tau, q);
      cuda::zero_diagonal_batched(all, infos, q);
      cuda::reflect_batched(all, tau, right, q);
      return cuda::upper_solve_batched(R, infos, X, q);
    }
  }
  host::qr_batched(all, tau, q);
  host::zero_diagonal_batched(all, infos, q);
  host::reflect_batched(all, tau, right, q);
  host::upper_solve_batched(R, infos, X, q);
}

#define INSTANTIATE(T)                                                                       \
  template void getrf_batched<T>(std::int64_t, View<T>, Integers, Integers, Queue&);         \
  template void getrs_batched<T>(Op, std::int64_t, View<T>, Integers, View<T>, Queue&);      \
  template void gesv_batched<T>(std::int64_t, View<T>, Integers, View<T>, Integers, Queue&); \
  template void geqrf_batched<T>(std::int64_t, View<T>, View<T>, Queue&);                    \
  template void gels_batched<T>(Op, std::int64_t, View<T>, View<T>, Integers, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
