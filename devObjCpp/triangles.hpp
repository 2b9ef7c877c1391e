// A triangle and right-hand sides: what trsm, getrs and gels solve with.
#pragma once

#include <cstdint>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "products_by_parts.hpp"

namespace devobj {

/// Solves with triangles of up to so many rows, and so many right-hand sides, by what is fastest for these. The memory is reserved at
/// once, so that nothing has changed when there is none; it is the queue's workspace, and others may use it between two solves.
template <class T>
class TriangleSolver {
 public:
  TriangleSolver(Math math, std::int64_t n, std::int64_t right_hand_sides, Queue& q);
  /// B = op(A)^-1 B, A triangular (letters in trsm's order). Does not wait.
  void solve(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Queue& q) const;

 private:
  void solve_plainly(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Queue& q, const unsigned char* streams) const;
  void subtract(Op op, View<T> A, View<T> B, View<T> C, Queue& q) const;

  ProductsByParts parts_;
  void* few_ = nullptr;       // trsm_few's memory, if it is taken
  void* streams_ = nullptr;   // of the triangles on the diagonal, if trsm_block takes these
  void* residues_ = nullptr;  // gemm_residues's, if products are by it
};

}  // namespace devobj
