// Solutions in double precision from factors in single precision and iterative refinement: T is double or
// complex<double>.
#pragma once

#include "devobj/lu.hpp"
#include "devobj/qr.hpp"

namespace devobj {

/// What a mixed-precision solve did.
struct MixedResult {
  /// gesv's or gels' info. 0 if the solution was refined.
  std::int64_t info = 0;
  /// 0 to 30: the solution was refined so many times. Negative: the matrix was factored in double precision, because
  ///  -2: an element of A, B or a residual is beyond single precision's range, infinite or NaN;
  ///  -3: the single precision factors are singular (gels: rank-deficient to that precision);
  /// -31: 30 refinements were not enough, or did not help: A is too ill-conditioned; or there was no memory for those that
  ///      ill-conditioned matrices need.
  std::int64_t iterations = 0;
};

/// A X = B: the LU factorization of a copy of A in single precision, then refinement in double precision until
///   max|B - A X| <= max|X| ||A||_inf eps/2 sqrt(n)  for each right-hand side, eps/2 = 2^-53,
/// which is about gesv's own backward error. If that is not reached, gesv is called instead.
/// B (n x nrhs) is overwritten by X; it is unchanged if info > 0. Refined (iterations >= 0): A is unchanged and ipiv
/// has the pivots of the single precision factors. Otherwise A and ipiv hold gesv's factors and pivots. The options are
/// those of both factorizations.
///
/// Up to four right-hand sides: where a refinement leaves more than an eighth of the residual, those after it take the best
/// combination of corrections, which makes the residual as small as it can be (GCR), and solve with the same factors in double
/// precision. That does for condition numbers far beyond single precision's, 1e10, if few singular values are small; it ends,
/// and gesv takes over, where six of them do not halve a residual.
///
/// Method `randomized` (of this routine alone): the copy's rows and columns are brought to sizes near 1 by powers of two, and
/// mixed by random butterflies, always the same ones, after which the largest element of a window of 256 rows does for a
/// pivot, and no step of the factorization waits for a whole column. ipiv is then 1, 2, ..., n. Of more than four right-hand
/// sides refinement ends, and gesv takes over, where a step does not halve a residual; mixtures that are singular give way to
/// the pivots of whole columns, and so does the method itself on GPUs without thread-block clusters. On others 'automatic'
/// takes it for double from n = 1000 on.
///
/// Waits: for norm and copy of A, for its factors, and once per iteration; twice where the residual is minimized, and twice
/// more at the end of that. Workspace: a copy of A in single precision, 2.5 of B, and getrf's; where the residual is minimized
/// also one of A and up to 61 of B in double precision (gesv is called if there is no memory for these). Errors:
/// invalid_argument, out_of_memory (A and B are then unchanged). Source: LAPACK dsgesv, zcgesv;
/// Langou et al., "Exploiting the performance of 32 bit floating point arithmetic in obtaining 64 bit accuracy", SC 2006;
/// Baboulin et al., "Accelerating linear system solutions using randomization techniques", ACM TOMS 39 (2013);
/// Carson & Higham, "Accelerating the solution of linear systems by iterative refinement in three precisions", SIAM J. Sci.
/// Comput. 40 (2018).
template <class T>
MixedResult gesv_mixed(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options = {});

/// gels from the QR factorization of a copy of A in single precision, refined in double precision. With F = A or A^H,
/// whichever is tall, a solution and its residual are refined together, as the solution of
///   | I   F | | R |   | B |  least squares        | I   F | | R |   | 0 |  least norm
///   | F^H 0 | | X | = | 0 |  (solution X)         | F^H 0 | |-Y | = | B |  (solution R)
/// so that it converges for right-hand sides of any residual. Accepted, for each right-hand side, when both equations
/// hold to the rounding errors of their terms, column by column: with the norms of F's columns in the diagonal matrix D
///   ||B - R - F X|| <= (sqrt(n) ||D X|| + ||R||) eps sqrt(n)  and  ||D^-1 F^H R|| <= sqrt(n) ||R|| eps sqrt(m),
/// the second unless R itself is a rounding error (F is m x n, norms are 2-norms). Otherwise gels is called.
/// op, shapes, X in B, and the squares below X: as gels. Refined (iterations >= 0): A is unchanged; otherwise it holds
/// gels' factors. info > 0: gels' (B is unchanged). Waits: for the copy of A, for its factors and their rank, and once
/// per iteration. Workspace: a copy of A in single precision (two if A is wide), 6 of B, and geqrf's. Errors:
/// invalid_argument, out_of_memory (A and B are then unchanged). Source: A. Bjorck, "Iterative refinement of linear
/// least squares solutions I", BIT 7 (1967).
template <class T>
MixedResult gels_mixed(Op op, View<T> A, View<T> B, Queue& q, QrOptions options = {});

}  // namespace devobj
