// Argument checks of the BLAS and the matrix utilities, besides those of shapes.hpp: letters, vectors, overlap.
#pragma once

#include "kernels/kernels.hpp"
#include "shapes.hpp"

namespace devobj {

// ---- option letters: an enum may hold any number, and not every value fits every routine ----
inline void require_op(const char* routine, const char* argument, Op op) {
  require(op == Op::NoTrans || op == Op::Trans || op == Op::ConjTrans, routine, ": ", argument, " is '",
          static_cast<char>(op), "', must be one of N, T, C");
}
inline void require_uplo(const char* routine, Uplo uplo) {
  require(uplo == Uplo::Upper || uplo == Uplo::Lower, routine, ": uplo is '", static_cast<char>(uplo),
          "', must be one of U, L");
}
inline void require_part(const char* routine, Uplo uplo) {
  require(uplo == Uplo::Upper || uplo == Uplo::Lower || uplo == Uplo::General, routine, ": uplo is '",
          static_cast<char>(uplo), "', must be one of U, L, G");
}
inline void require_diag(const char* routine, Diag diag) {
  require(diag == Diag::NonUnit || diag == Diag::Unit, routine, ": diag is '", static_cast<char>(diag),
          "', must be one of N, U");
}
inline void require_side(const char* routine, Side side) {
  require(side == Side::Left || side == Side::Right, routine, ": side is '", static_cast<char>(side),
          "', must be one of L, R");
}

// ---- vectors ----
/// A view of one column or one row, or a matrix without gaps between its columns, as a vector.
template <class T> Vector<T> as_vector(View<T> x) {
  return x.contiguous() ? Vector<T>{x.data, x.size(), 1} : Vector<T>{x.data, x.size(), x.ld};
}
/// The same, for an argument that must be a vector of n elements.
template <class T> Vector<T> checked_vector(const char* routine, const char* argument, View<T> x, std::int64_t n) {
  require_vector(routine, argument, x, n);
  return as_vector(x);
}

// ---- overlap ----
/// Whether two views share memory. Blocks side by side in one matrix do not, nor do those whose rows interleave.
bool overlap(const void* a, std::int64_t a_rows, std::int64_t a_cols, std::int64_t a_ld, std::int64_t a_element_bytes,
             const void* b, std::int64_t b_rows, std::int64_t b_cols, std::int64_t b_ld, std::int64_t b_element_bytes);
template <class T, class U> bool overlap(View<T> A, View<U> B) {
  return overlap(A.data, A.rows, A.cols, A.ld, sizeof(T), B.data, B.rows, B.cols, B.ld, sizeof(U));
}
template <class T, class U>
void require_distinct(const char* routine, const char* name_A, View<T> A, const char* name_B, View<U> B) {
  require(!overlap(A, B), routine, ": ", name_A, " and ", name_B, " overlap in memory");
}

}  // namespace devobj
