// Updating a QR factorization A = Q R when columns or rows of A come or go, or A changes by a matrix of low rank.
//
// A is m x n. Three forms, told from the shapes; a view that is absent is View<T>{}:
//   full       Q m x m, R m x n (upper trapezoidal), d = Q^H b with m rows
//   economic   Q m x n, R n x n (upper triangular),  d = Q^H b with n rows; m >= n before and after
//   without Q  Q absent, R n x n,                    d = Q^H b with n rows
// Q1, R1 and d1 are the same for the updated matrix A1 and its right-hand side b1, in the same form; the caller
// allocates them, and they overlap nothing else, except that Q1 may be Q itself where columns come or go in full form (Q is
// then updated in place). Elements of R1 below the diagonal are exactly zero; the signs of its
// diagonal are any. For least squares the solution is R1^-1 d1 (the first rows of full ones): one trsm.
// In all routines: k and p count columns or rows, k from 0. They may wait.
// Errors: invalid_argument, before anything is written; out_of_memory, after which what is written to is undefined.
// Sources: paper 003; Hammarling and Lucas, Updating the QR factorization and the least squares problem, 2008.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// Whether a factorization is updated or made anew (from Q R, or from R where there is no Q).
enum class UpdateMethod : int {
  automatic = 0,  ///< what qr_update_cost says is faster
  update = 1,
  refactor = 2    ///< not for removing rows without Q
};

struct QrUpdateOptions {
  UpdateMethod method = UpdateMethod::automatic;
  std::int64_t block = 0;  ///< rows of a block of the chase; 0: chosen by the library
};

/// Right-hand sides that are carried along: d = Q^H b becomes d1 = Q1^H b1. Both absent: none.
template <class T> struct RightSides {
  View<T> d, d1;
  /// What else of b is needed, with a row per row of A:
  ///   adding rows: the p new rows of b1;  removing rows without Q: the p rows of b that go;
  ///   adding columns, removing rows and rank_update in economic form: b itself (m rows), of which d knows a part only.
  /// Otherwise absent.
  View<T> b;
};

/// A1 = [A(:, 0:k) U A(:, k:n)], U m x p, 0 <= k <= n. Q is needed. In economic form m >= n + p.
template <class T>
void qr_add_cols(std::int64_t k, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1, Queue& q,
                 RightSides<T> rhs = {}, QrUpdateOptions options = {});

/// A1 = A without columns k ... k+p-1, 0 <= k, k + p <= n.
template <class T>
void qr_remove_cols(std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> Q1, View<T> R1, Queue& q,
                    RightSides<T> rhs = {}, QrUpdateOptions options = {});

/// A1 = A with the p rows of U (p x n) before its row k, 0 <= k <= m (without Q k says nothing and is not looked at).
template <class T>
void qr_add_rows(std::int64_t k, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1, Queue& q,
                 RightSides<T> rhs = {}, QrUpdateOptions options = {});

/// A1 = A without rows k ... k+p-1, 0 <= k, k + p <= m; in economic form m - p >= n. Without Q the rows themselves are
/// needed, U (p x n), and k is not looked at; with Q, U is absent. Returns info: 0, or i > 0 if, without Q, R has no more
/// than a rounding error left of A1 in some direction, so that A1 has no Cholesky factor (i is the order of the first
/// leading minor of I - A2 A2^H, A2 = U R^-1, that is not positive; or n + i: R(i, i) is zero). R1 and d1 are then
/// unchanged. This downdate is LINPACK's dchdd, by blocks: as good as R^H R - U^H U allows; with Q the removal is
/// backward stable whatever A1 is. Waits.
template <class T>
std::int64_t qr_remove_rows(std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1,
                            Queue& q, RightSides<T> rhs = {}, QrUpdateOptions options = {});

/// A1 = A + U V^H, U m x p, V n x p: Q, R and d are overwritten by Q1, R1 and d1 (rhs.d1 is absent). Q is needed. In
/// economic form m >= n + p.
template <class T>
void qr_rank_update(View<T> U, View<T> V, View<T> Q, View<T> R, Queue& q, RightSides<T> rhs = {},
                    QrUpdateOptions options = {});

enum class QrUpdate : int { add_cols = 1, remove_cols = 2, add_rows = 3, remove_rows = 4, rank_update = 5 };
enum class QrForm : int { full = 1, economic = 2, without_q = 3 };

/// Milliseconds that updating and making anew are expected to take on the queue's backend, from a model fitted to
/// measurements (docs/qr-update.md); good for the choice between both rather than as a forecast.
struct QrUpdateCost {
  double update = 0;
  double refactor = 0;
};

/// For A m x n (before the update) and p columns or rows at k. Errors: invalid_argument for what the update itself would
/// not accept.
template <class T>
QrUpdateCost qr_update_cost(QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k,
                            const Queue& q);

}  // namespace devobj
