// Solves with triangles on a GPU: few right-hand sides by trsm_few, more by halves, many in single precision by products by parts. On
// the host by BLAS.
#include "triangles.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "devobj/blas.hpp"
#include "kernels/kernels.hpp"
#include "kernels/native.hpp"

namespace devobj {
namespace {

/// Rows of a triangle from which trsm_few is faster with one right-hand side, and with up to 4, 8, 12, ... of them, trsm_few_max at a
/// time: in single precision, and in the other types.
template <class T>
constexpr std::int64_t few_least[] = {128, 640, 2000, 8000};
template <>
constexpr std::int64_t few_least<double>[] = {128, 1000, 8000};
template <>
constexpr std::int64_t few_least<std::complex<float>>[] = {128, 384, 1400, 4000};
template <>
constexpr std::int64_t few_least<std::complex<double>>[] = {128, 640, 8000};
template <class T>
bool few_pay(std::int64_t n, std::int64_t right_hand_sides) {
  const std::int64_t kernels = (right_hand_sides + cuda::trsm_few_max - 1) / cuda::trsm_few_max;
  const std::size_t i = right_hand_sides == 1 ? 0 : static_cast<std::size_t>(kernels);
  return i < std::size(few_least<T>) && n >= few_least<T>[i];
}

/// Of so many rows, a multiple of trsm_block_rows but for a triangle's last.
template <class T>
std::int64_t stream_bytes(std::int64_t n) {
  if constexpr (cuda_built)
    return cuda::solve_stream_bytes<T>(n, cuda::trsm_block_rows, true);
  else
    return 0;
}
/// Right-hand sides up to which triangles of trsm_block_rows rows are solved by trsm_block: real ones always, and those of single
/// precision only where the GPU has units enough for it.
template <class T>
constexpr std::int64_t streamed_most = std::numeric_limits<std::int64_t>::max();
template <>
constexpr std::int64_t streamed_most<std::complex<float>> = 4000;
template <>
constexpr std::int64_t streamed_most<std::complex<double>> = 6000;
/// Of complex<double> with more: rows of a triangle that BLAS's trsm solves as a whole.
constexpr std::int64_t complex_least = 1024;
/// And right-hand sides, and rows of a part of the solution and of what it changes, from which the product of both is faster by
/// gemm_residues; up to streamed_most of them from so many rows on. (Not of real numbers.)
constexpr std::int64_t residues_columns = 2048, residues_rows = 768, residues_least = 8000;

/// Rows of the half of a triangle that is solved first: whole triangles of so many rows, which are not halved.
std::int64_t first_half(std::int64_t n, std::int64_t rows) {
  return (n / 2 + rows - 1) / rows * rows;
}
template <class T>
bool streams_pay(std::int64_t right_hand_sides, const Queue& q) {
  return right_hand_sides <= streamed_most<T> &&
         (std::is_same_v<real_t<T>, double> || cuda::solves_single_in_double(q.device()));
}
template <class T>
bool residues_pay(Math math, std::int64_t n, std::int64_t right_hand_sides, const Queue& q) {
  return cuda_built && std::is_same_v<T, std::complex<double>> &&
         (n < residues_least ? right_hand_sides > streamed_most<T> : right_hand_sides >= residues_columns) &&
         n - first_half(n, complex_least) >= residues_rows && residues_usable(math, q);
}
/// The bytes of gemm_residues's workspace for the product of the halves of n rows, and of halves of halves.
template <class T>
std::size_t residues_bytes(std::int64_t n, std::int64_t right_hand_sides) {
  std::size_t bytes = 0;
  if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>) {
    if (n <= complex_least) return 0;
    const std::int64_t half = first_half(n, complex_least), rest = n - half;
    if (rest >= residues_rows) bytes = cuda::gemm_residues_workspace<T>(rest, right_hand_sides, half);
    for (const std::int64_t part : {half, rest}) bytes = std::max(bytes, residues_bytes<T>(part, right_hand_sides));
  }
  return bytes;
}

}  // namespace

template <class T>
TriangleSolver<T>::TriangleSolver(Math math, std::int64_t n, std::int64_t right_hand_sides, Queue& q) {
  if (n == 0 || right_hand_sides == 0) return;
  if constexpr (cuda_built)
    if (q.on_cuda() && few_pay<T>(n, right_hand_sides)) {
      few_ = q.workspace(cuda::trsm_few_workspace<T>(n));
      return;
    }
  if (residues_pay<T>(math, n, right_hand_sides, q)) try {
      residues_ = q.workspace(residues_bytes<T>(n, right_hand_sides));
      return;
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;  // plain products will do
    }
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      const bool streamed = streams_pay<T>(right_hand_sides, q);
      const std::int64_t bytes = streamed ? stream_bytes<T>(n) : 0;
      void* beside = nullptr;
      parts_ = ProductsByParts::for_triangles<T>(math, n, right_hand_sides, q, bytes, &beside);
      if (streamed) streams_ = parts_ ? beside : q.workspace(static_cast<std::size_t>(bytes));
    }
}

/// C -= op(A) B
template <class T>
void TriangleSolver<T>::subtract(Op op, View<T> A, View<T> B, View<T> C, Queue& q) const {
  if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
    if (residues_ != nullptr && std::min(B.rows, C.rows) >= residues_rows &&
        reinterpret_cast<std::uintptr_t>(C.data) % sizeof(T) == 0)
      return cuda::gemm_residues<T>(op, Op::NoTrans, -1, A, B, C, residues_, q);
  gemm(op, Op::NoTrans, T(-1), A, B, T(1), C, q);
}

/// B = op(A)^-1 B, A triangular (letters in trsm's order). On a GPU by halves, whose products are of great depth, down to the triangles
/// that trsm_block takes with their `streams`; so complex<double> with many right-hand sides; else by BLAS's trsm.
template <class T>
void TriangleSolver<T>::solve_plainly(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Queue& q,
                                      const unsigned char* streams) const {
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      const bool streamed = streams != nullptr;
      const bool by_halves = streamed || std::is_same_v<T, std::complex<double>>;
      const std::int64_t n = A.rows, rows = streamed ? cuda::trsm_block_rows : complex_least,
                         half = first_half(n, rows);
      if (by_halves && n > rows) {
        const bool downwards = (uplo == Uplo::Lower) == (op == Op::NoTrans);
        const Range first = downwards ? Range{0, half} : Range{n - half, n},
                    rest = downwards ? Range{half, n} : Range{0, n - half}, columns{0, B.cols};
        solve_plainly(uplo, op, diag, A(first, first), B(first, columns), q, streams);
        if (streamed) streams += stream_bytes<T>(half);
        subtract(op, op == Op::NoTrans ? A(rest, first) : A(first, rest), B(first, columns), B(rest, columns), q);
        return solve_plainly(uplo, op, diag, A(rest, rest), B(rest, columns), q, streams);
      }
      if (streamed)  // (the first triangle is behind the kernel that makes the streams)
        return cuda::trsm_block(uplo, op, diag, streams, B, q, streams != streams_);
      return cuda::trsm(Side::Left, uplo, op, diag, T(1), A, B, q);
    }
  host::trsm(Side::Left, uplo, op, diag, T(1), A, B, q);
}

/// The same. With products by parts by blocks, as long as the part of B
/// that a block of the solution still changes is large:
///
///     | L11      | | X1 |   | B1 |     X1 = L11^-1 B1
///     | L21  L22 | | X2 | = | B2 |     B2 -= L21 X1
template <class T>
void TriangleSolver<T>::solve(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, Queue& q) const {
  if (B.empty()) return;
  if constexpr (cuda_built)
    if (few_ != nullptr) {
      for (std::int64_t j = 0; j < B.cols; j += cuda::trsm_few_max)
        cuda::trsm_few(uplo, op, diag, A, B({0, B.rows}, {j, std::min(j + cuda::trsm_few_max, B.cols)}), few_, q);
      return;
    }
  const auto* streams = static_cast<const unsigned char*>(streams_);
  if constexpr (cuda_built)
    if (streams != nullptr) cuda::solve_stream_of(uplo, op, diag, A, cuda::trsm_block_rows, true, streams_, q);
  const bool downwards = (uplo == Uplo::Lower) == (op == Op::NoTrans);
  const Range columns{0, B.cols};
  Range left{0, A.rows};  // rows that are not solved yet
  while (parts_ && left.size() - by_parts_triangle >= by_parts_least) {
    Range K = left, rest = left;
    if (downwards)
      K.end = rest.begin = left.begin + by_parts_triangle;
    else
      K.begin = rest.end = left.end - by_parts_triangle;
    solve_plainly(uplo, op, diag, A(K, K), B(K, columns), q, streams);
    if (streams != nullptr) streams += stream_bytes<T>(by_parts_triangle);
    // B(rest) -= op(A)(rest, K) B(K)
    const bool plain = op == Op::NoTrans;
    parts_.add(op, Op::NoTrans, -1, plain ? A(rest, K) : A(K, rest), B(K, columns), B(rest, columns), Side::Right, q);
    left = rest;
  }
  solve_plainly(uplo, op, diag, A(left, left), B(left, columns), q, streams);
}

#define INSTANTIATE(T) template class TriangleSolver<T>;
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
