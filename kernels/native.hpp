// Primitives of the native factorizations: GPU only, there is no host form. Arguments have been checked by the caller;
// work goes to the queue in order, nothing waits, nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/kernels.hpp"

namespace devobj::cuda {

/// How lu_panel spreads a panel over the GPU: `blocks` thread blocks, in which so many `threads` have up to `rows` rows of `width` columns
/// in registers each, and others update the columns to the right. In a cluster the blocks talk through shared memory, otherwise
/// through global memory.
struct LuPanelShape {
  int width = 0, rows = 0, blocks = 0;
  bool cluster = false;
  int threads = 0;
  // where that is faster, and possible:
  bool keeps_L = true;  // columns of L in shared memory
  // columns to the right are copied to shared memory and back by the copy engine; products with these are three of shorter numbers on
  // the tensor cores in single precision
  bool boxes = true;
  bool stacks = true;  // in a cluster four boxes below each other are one copy, of complex numbers in double precision
  bool early =
      false;  // it follows exchange_solve_subtract or gemm_three_tf32 in its queue, and may begin as soon as that is at its end
  // L's numbers, of single precision, are of two parts (two_parts.cuh), since what is to the right will be updated by products of parts.
  bool two_parts = false;
  // Below the panel's last row its columns go on up to a multiple of 16 bytes with what may be overwritten. Else boxes need such a number
  // of rows.
  bool padded = false;
};

/// All shapes for a panel of m rows and n columns, and the one to take, alone or beside products that leave the multiprocessors of one
/// panel to the next; blocks == 0 if there is none (m too large for the GPU).
template <class T>
std::vector<LuPanelShape> lu_panel_shapes(std::int64_t m, std::int64_t n);
template <class T>
LuPanelShape lu_panel_shape(std::int64_t m, std::int64_t n, bool beside_products = false);

/// What a factored panel does to the rows of the other columns, for its first `rows` rows ("top", at most
/// lu_panel_max of one panel): top row t becomes the old row source[t]; if displaced_to[t] >= 0, the old top row t goes there.
struct RowExchange {
  std::int32_t* source;
  std::int32_t* displaced_to;
  std::int64_t rows;
};

/// The moment when all blocks of a kernel have begun. Other work that waits for it cannot take the processors that the
/// kernel, which needs many at once, is waiting for.
class Start {
 public:
  Start() : event_(untimed_event_create()) {}
  ~Start() { event_destroy(event_); }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  void* event() const noexcept { return event_; }

 private:
  void* event_;
};

inline constexpr std::int64_t lu_panel_max = 256;  // columns

/// Bytes of workspace that lu_panel needs for a panel of `cols` columns.
template <class T>
std::size_t lu_panel_workspace(std::int64_t cols);

/// The multiprocessors on which the last panel with this workspace that was a cluster ran, lu_panel_places numbers in device
/// memory.
inline constexpr int lu_panel_places = 16;
inline constexpr std::size_t lu_panel_places_at = 128;  // bytes
inline const std::int32_t* lu_panel_places_in(const void* workspace) {
  return reinterpret_cast<const std::int32_t*>(static_cast<const unsigned char*>(workspace) + lu_panel_places_at);
}

/// A number in device memory that rises with the steps of a factorization that one queue has done, for kernels of another that
/// wait for it themselves: a queue that waits for an event starts no kernel early behind it. The panel's workspace has one,
/// which a panel with offset 0 sets to 0.
struct Progress {
  std::int32_t* steps = nullptr;  // null: there is nothing to wait for
  std::int32_t step = 0;          // to be waited for, or done
};
inline constexpr std::size_t lu_panel_progress_at = lu_panel_places_at + lu_panel_places * sizeof(std::int32_t);
inline std::int32_t* lu_panel_progress_in(void* workspace) {
  return reinterpret_cast<std::int32_t*>(static_cast<unsigned char*>(workspace) + lu_panel_progress_at);
}
/// When the queue's work so far is done, the step is.
void reach(Progress progress, Queue& q);

/// P A = L U for a panel A (rows >= cols, cols <= lu_panel_max) with LAPACK's pivots. ipiv(i) = offset + pivot row,
/// from 1; `exchange` gets the row exchange; `start`, if given, becomes the start of the kernel (of an early one it would be the
/// end). *info becomes offset + the first column with a zero pivot, unless it is positive already; a panel with offset 0, the first,
/// sets it to 0 before. Returns the shape with what was possible. (lu_panel)
template <class T>
LuPanelShape lu_panel(View<T> A, View<std::int32_t> ipiv, std::int64_t offset, std::int32_t* info, RowExchange exchange,
                      void* workspace, LuPanelShape shape, const Start* start, Queue& q);
/// Loads the kernel of panels of this shape and so many columns. Else its first launch does, which waits until what is under way on the
/// GPU has ended. (lu_panel)
template <class T>
void lu_panel_load(const LuPanelShape& shape, std::int64_t cols, Queue& q);

/// The row exchanges of panels whose lists follow each other, of part_rows <= lu_panel_max rows each but the last, one after the other
/// on A, whose first row is that of the first panel. If there are `firsts`, A's columns are the panels' own: column j gets the
/// exchanges from the first of these numbers, rows at which panels begin, in rising order, that is larger than j. `beside`, not
/// for such columns: slower, so that panels beside it are not. (exchange_rows)
inline constexpr std::size_t exchange_rows_firsts = 32;  // at most
template <class T>
void exchange_rows(View<T> A, RowExchange exchange, std::int64_t part_rows, Queue& q,
                   const std::vector<std::int64_t>& firsts = {}, bool beside = false);
/// Of a product's C: rows that are in another place. Row i of C is there if from[i] is first + i, else it is row from[i] of `rows`,
/// which are row-major: given by their transpose.
template <class T>
struct DisplacedRows {
  const std::int32_t* from = nullptr;  // null: all rows are there
  std::int64_t first = 0;
  View<T> rows;
  /// Those of a part of C.
  DisplacedRows operator()(Range r, Range c) const {
    if (from == nullptr) return {};
    return {from + r.begin, first + r.begin, rows(c, {0, rows.cols})};
  }
};
/// As exchange_rows, for at most exchange_top_rows_max rows, but what is displaced from these top rows is only copied to the
/// workspace, in which it stays: the result is of A's rows below them. In a column-major matrix each element of a row below
/// would be a memory transaction, where a product that updates these rows has it in hand. (exchange_top_rows)
inline constexpr std::int64_t exchange_top_rows_max = 1024;
template <class T>
DisplacedRows<T> exchange_top_rows(View<T> A, RowExchange exchange, std::int64_t part_rows, void* workspace, Queue& q);
/// Its bytes, which do not fall with any of the three sizes: A's, and rows of the exchange.
template <class T>
std::size_t exchange_top_rows_workspace(std::int64_t rows, std::int64_t cols, std::int64_t top);
/// The same on a row-major matrix, given by its transpose, for parts of at most exchange_columns_max rows. (exchange_rows)
template <class T>
inline constexpr std::int64_t exchange_columns_max = sizeof(T) == 16 ? 128 : 256;
template <class T>
void exchange_columns(View<T> At, RowExchange exchange, std::int64_t part_rows, Queue& q);

/// A = A^T in place, beside kernels whose data are to stay in the L2 cache. (transpose)
template <class T>
void transpose_in_place_passing(View<T> A, Queue& q);
/// The same where that has been done for the leading `done` rows and columns, a multiple of transposed_square or all of them. (transpose)
inline constexpr std::int64_t transposed_square = 64;
template <class T>
void transpose_in_place_from(std::int64_t done, View<T> A, Queue& q);

/// The row exchanges of a factorization's later blocks on the columns of its earlier ones, all at once: ends[b] is the column
/// after block b's last, ipiv LAPACK's for all of A (rows from 1); the columns of block b get the exchanges of the pivots
/// from ends[b] on. `workspace` holds exchange_left_workspace bytes. Possible for up to exchange_left_blocks blocks where a
/// column finds room in shared memory. (exchange_left)
inline constexpr std::int64_t exchange_left_blocks = 256;
template <class T>
bool exchange_left_possible(std::int64_t rows, std::int64_t blocks, const Queue& q);
std::size_t exchange_left_workspace(std::int64_t rows, std::int64_t blocks);
template <class T>
void exchange_left(View<T> A, View<std::int32_t> ipiv, const std::vector<std::int64_t>& ends, void* workspace,
                   Queue& q);

/// The row exchanges on A, part after part, and L^-1 times the first rows of A, with L the unit lower triangle of a w x w
/// block, w <= exchange_solve_rows, by inverses of its diagonal tiles of 32 x 32. `exchange` may have none or more rows
/// than L; they are those of several panels, whose lists follow each other, of part_rows <= exchange_solve_max rows each
/// but the last. L_by_rows, A_by_rows: row-major, given by its transpose. `stream`: L's, not refined, if there is one; many
/// columns are solved sooner with it. `beside`: multiprocessors that are free, if others have work that stays, or 0. `two_parts`: the
/// solution's numbers, of single precision, are to be of two parts, as in LuPanelShape, but for those that L^-1 does not change; of at most
/// exchange_solve_few columns none need be. (exchange_solve)
inline constexpr std::int64_t exchange_solve_max = 128;
/// Columns up to which several parts are exchanged as fast as by exchange_rows or exchange_columns before, and above which
/// they are solved by a stream.
inline constexpr std::int64_t exchange_solve_few = 1024;
template <class T>
void exchange_solve(View<T> L, bool L_by_rows, View<T> A, bool A_by_rows, RowExchange exchange, std::int64_t part_rows,
                    const void* stream, Queue& q, int beside = 0, bool two_parts = false);
/// exchange_solve_max, or half of it where the GPU has less shared memory.
template <class T>
std::int64_t exchange_solve_rows(const Queue& q);

/// exchange_solve and the product after it in one kernel, for a factored m x w panel L and n <= w columns A (m x n, column-major):
/// A = P A, its first w rows = L11^-1 times them, those below -= L21 times these. `exchange` has w rows. False, with nothing
/// done, where that is not possible or not faster. The kernel waits for `updated` before it reads A; what brings that about must have been
/// put in its queue already. (exchange_solve_subtract)
template <class T>
bool exchange_solve_subtract(View<T> L, View<T> A, RowExchange exchange, Progress updated, Queue& q);
/// Whether its kernel may wait, one of all that are on the GPU at once: whether there is one, and the others have enough multiprocessors
/// left for what it waits for. Not if the GPU is shared with other processes (MPS).
template <class T>
bool exchange_solve_subtract_may_wait(const Queue& q);

/// Bytes of q.workspace that laswp takes for so many swaps of so many rows.
std::size_t laswp_workspace(std::int64_t rows, std::int64_t swaps);

/// B = alpha B
template <class T>
void scale(T alpha, View<T> B, Queue& q);

/// B = op(A)^-1 B for a triangle A (letters in trsm's order) and at most trsm_few_max columns of B; `workspace` holds
/// trsm_few_workspace bytes. (trsm_few)
inline constexpr std::int64_t trsm_few_max = 4;
template <class T>
void trsm_few(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, void* workspace, Queue& q);
template <class T>
std::size_t trsm_few_workspace(std::int64_t rows);

/// The triangles of `rows` rows, a multiple of 32, and of what is left, on the diagonal of a triangle of order n, as solves
/// multiply by them: the tiles of 32 x 32 in the order in which they are needed, diagonal ones as inverses, for refined
/// solves both. solve_stream_bytes of device memory, of which a triangle of `rows` rows has
/// solve_stream_bytes(rows, rows, refined). Its numbers are of double precision. (solve_stream)
template <class T>
void solve_stream_of(Uplo uplo, Op op, Diag diag, View<T> A, std::int64_t rows, bool refined, void* stream, Queue& q);
template <class T>
std::int64_t solve_stream_bytes(std::int64_t n, std::int64_t rows, bool refined);

/// B = L^-1 B for a unit lower triangle L of at most solve_streamed_rows rows in double precision, real or complex, given by its stream, which
/// is not refined. B_by_rows: row-major, given by its transpose. Above solve_streamed_turn real columns blocks have more of them where L has
/// at most 256 rows, and of more rows there are two turns. (solve_streamed; solve_streamed_few: complex ones, and few)
template <class T>
inline constexpr std::int64_t solve_streamed_rows = is_complex<T> ? 512 : 384;
inline constexpr std::int64_t solve_streamed_turn = 7424;
template <class T>
void solve_streamed(const void* stream, View<T> B, bool B_by_rows, Queue& q);

/// B = op(A)^-1 B for a triangle A (letters in trsm's order) of at most trsm_block_rows rows, given by its refined stream, with the
/// residual of a substitution. What cuBLAS's trsm takes for so few rows is many times longer. `early`: the stream was complete
/// before the kernel before in the queue began, and blocks may be placed as that ends. (trsm_block; trsm_block_few: few columns,
/// and all types but double)
inline constexpr std::int64_t trsm_block_rows = 256;
template <class T>
void trsm_block(Uplo uplo, Op op, Diag diag, const void* stream, View<T> B, Queue& q, bool early = false);
/// Whether the GPU has so many units for double precision as to solve single precision by them. (trsm_block)
bool solves_single_in_double(int device);

/// Multiprocessors that a product leaves to kernels on other queues: as many as `count`, but a quarter of all at most; those whose
/// numbers are in `places`, lu_panel_places of them in device memory, first, so that a panel that was there can be there again.
/// `counts`: with places, spared_counts numbers in device memory, zero before and after, of one product at a time. A product that
/// has fewer tiles than there are multiprocessors for does not look at the places.
struct Spared {
  int count = 0;
  const std::int32_t* places = nullptr;
  std::int32_t* counts = nullptr;
};
inline constexpr int spared_counts = 3;
/// So many of a product's first rows (Left) or columns (Right) of C are there first, and then() is called before the others are launched.
struct FirstPart {
  Side side = Side::Left;
  std::int64_t vectors = 0;
  std::function<void()> then;
};
/// The numbers of the multiprocessors that a cluster of `count` blocks, at most 16, finds, to `places` in device memory: left free, they let a
/// panel's cluster begin. False, with nothing done, where there are no such clusters. (cluster_places)
bool cluster_places(std::int32_t* places, int count, Queue& q);

/// C += alpha op(A) op(B) in single precision by products of parts of the numbers on the tensor cores, alpha 1 or -1, as
/// accurate as a plain product up to a depth (columns of op(A)) of gemm_by_parts_max_depth, in infinities and NaN too. Small
/// numbers keep their accuracy relative to their column of op(B) (guarded == Right) or row of op(A) (Left). `workspace`
/// holds gemm_by_parts_workspace bytes, which do not fall with any of the three sizes. gemm_fp16_parts leaves
/// `spared` to others, brings `displaced` rows to C first, or has a `first` part, of whole tiles. `low_low`: whether it multiplies
/// low parts by each other where that takes time, beyond a depth of 128 (of depths above 256 in every second 64): for sums that cancel,
/// unless the operands' numbers are of two parts (LuPanelShape). (gemm_by_parts: gemm_fp16_parts where it can be used, else gemm_six_bf16)
void gemm_by_parts(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, Side guarded,
                   void* workspace, Queue& q, Spared spared = {}, const DisplacedRows<float>& displaced = {},
                   bool low_low = true, const FirstPart& first = {});
std::size_t gemm_by_parts_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);
inline constexpr std::int64_t gemm_by_parts_max_depth = 512;
/// Whether this is as fast for a C in this place, and for its parts from rows on that are multiples of 4, as for any.
bool gemm_by_parts_at_full_rate(View<float> C, const Queue& q);
/// Whether it can leave multiprocessors to others, takes displaced rows, and has first parts.
bool gemm_by_parts_spares(const Queue& q);

/// Products of float16 parts, on the current device if it has Hopper's warp group products and the library was compiled
/// for them. Small numbers keep their accuracy relative to their row of op(A) and their column of op(B). Source: Ootomo &
/// Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
/// performance", 2022. (gemm_fp16_parts)
bool gemm_fp16_parts_usable();
void gemm_fp16_parts(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, void* workspace,
                     Queue& q, Spared spared = {}, const DisplacedRows<float>& displaced = {}, bool low_low = true,
                     const FirstPart& first = {});
std::size_t gemm_fp16_parts_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);

/// C -= A B by three products of TF32 numbers, which the kernel makes of the operands itself: for few columns. What cannot be split is
/// multiplied plainly. False, with nothing done, where the GPU is not Hopper, the depth is more than gemm_three_tf32_max_depth or not
/// a multiple of 4, a matrix' columns do not begin at 16 bytes, or C is too large. `early`: it may begin before the kernel before it in
/// the queue has ended; A is complete before that kernel lets it begin. Source as above. (gemm_three_tf32)
bool gemm_three_tf32(View<float> A, View<float> B, View<float> C, Queue& q, bool early = false);
inline constexpr std::int64_t gemm_three_tf32_max_depth = 512;

/// Six products of bfloat16, by cuBLAS. Source: Henry, Tang & Heinecke, "Leveraging the bfloat16 artificial intelligence
/// datatype for higher-precision computations", 2019. (gemm_six_bf16)
void gemm_six_bf16(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, Side guarded,
                   void* workspace, Queue& q);
std::size_t gemm_six_bf16_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);
/// Whether the columns of C and of its parts from rows on that are multiples of 4 are where cuBLAS multiplies at the full
/// rate. gemm_six_bf16 writes products for other places aside first.
bool gemm_six_bf16_aligned(View<float> C);

/// C += alpha A B, alpha 1 or -1, in double precision by a kernel whose way to C and back is beside its products: faster than
/// cuBLAS's up to a depth of 128, and as fast at 256. Usable where the GPU
/// has what it needs (Hopper). `workspace` holds gemm_overlapped_workspace bytes, which do not fall with any of the three
/// sizes, unless the matrices are aligned: all of their columns begin at multiples of 16 bytes. (gemm_overlapped)
bool gemm_overlapped_usable(int device);
bool gemm_overlapped_aligned(View<double> A, View<double> B, View<double> C);
std::size_t gemm_overlapped_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);
/// `displaced`: rows of C that are brought there first, if the matrices are aligned.
void gemm_overlapped(int alpha, View<double> A, View<double> B, View<double> C, void* workspace, Queue& q,
                     Spared spared = {}, const DisplacedRows<double>& displaced = {});
/// C += alpha A B for complex matrices that begin at multiples of 16 bytes, alpha 1 or -1, by four real products in a kernel like
/// gemm_overlapped's: the sums of a plain product, without workspace. (gemm_complex_overlapped)
bool gemm_complex_overlapped_possible(View<std::complex<double>> A, View<std::complex<double>> B,
                                      View<std::complex<double>> C, const Queue& q);
void gemm_complex_overlapped(int alpha, View<std::complex<double>> A, View<std::complex<double>> B,
                             View<std::complex<double>> C, Queue& q, Spared spared = {},
                             const DisplacedRows<std::complex<double>>& displaced = {});
/// The least leading dimension with which a matrix of so many rows is aligned if its first column is.
constexpr std::int64_t aligned_ld(std::int64_t rows) {
  return (rows + 1) / 2 * 2;
}
/// W = V^T C in double precision by cuBLAS, which has its full rate for aligned matrices only: C, of any ld, as gemm_overlapped
/// takes it. `workspace` holds gemm_overlapped_workspace(V.rows, 0, V.cols) bytes. (gemm_overlapped)
void project_unaligned(View<double> V, View<double> C, View<double> W, void* workspace, Queue& q);

/// C += alpha op(A) op(B), alpha 1 or -1, in double precision, real or complex, by products of eight-bit integers, faster than plain
/// products from a depth of some 768 on, for complex matrices 256. Errors are at most some 2^-45 |A| |B|, as a rule smaller than a plain
/// product's: where rounding to integers would cost more, which is found out as it multiplies, it is a plain product, at half of
/// the speed or less, and so it is where elements are infinite. Usable where the GPU has Hopper's warp group products. `workspace`, which begins at 16 bytes, holds
/// gemm_residues_workspace bytes, which do not fall with any of the three sizes. Source: Ozaki, Uchino & Imamura, "Ozaki Scheme II",
/// 2025. (gemm_residues)
bool gemm_residues_usable(int device);
template <class T>
std::size_t gemm_residues_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);
/// `first`: a multiple of gemm_residues_first, and the depth is gemm_residues_first_most_depth at most. `displaced`: rows of C that are brought
/// there first, with a depth of that at most, if C is aligned and of real numbers has an even number of rows.
inline constexpr std::int64_t gemm_residues_first = 256, gemm_residues_first_most_depth = 2048;
template <class T>
void gemm_residues(Op opA, Op opB, int alpha, View<T> A, View<T> B, View<T> C, void* workspace, Queue& q,
                   Spared spared = {}, const FirstPart& first = {}, const DisplacedRows<T>& displaced = {});

/// C = alpha op(A) op(B) + beta C for complex matrices by three real products instead of four. A result that would be infinite may be NaN.
/// (gemm_3m)
template <class T>
void gemm_3m(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q);

/// C += alpha A B for complex matrices, alpha 1 or -1, by three real products in a kernel like gemm_overlapped's, if C begins
/// at 16 bytes. `workspace` holds gemm_3m_overlapped_workspace bytes, which do not fall with any of the three sizes. A result
/// that would be infinite may be NaN. (gemm_3m_overlapped)
bool gemm_3m_overlapped_possible(View<std::complex<double>> C, const Queue& q);
std::size_t gemm_3m_overlapped_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);
void gemm_3m_overlapped(int alpha, View<std::complex<double>> A, View<std::complex<double>> B,
                        View<std::complex<double>> C, void* workspace, Queue& q, Spared spared = {},
                        const DisplacedRows<std::complex<double>>& displaced = {});

/// W = V^H C for complex matrices by three real products in a kernel of that kind, where gemm_3m_overlapped is possible for C and W:
/// for long sums, in which C is read as it lies. `workspace` holds project_3m_workspace bytes for V's rows and columns and C's columns,
/// which do not fall with any of the three. Its last bits depend on the multiprocessors; a result that would be infinite may be NaN.
/// (project_3m)
std::size_t project_3m_workspace(std::int64_t rows, std::int64_t columns, std::int64_t cols);
void project_3m(View<std::complex<double>> V, View<std::complex<double>> C, View<std::complex<double>> W, void* workspace,
                Queue& q, Spared spared = {});

/// C += alpha op(A) B for complex matrices, alpha 1 or -1, by a real product, whose sums are the same as those of a plain
/// one, in infinities and NaN too: gemm in double precision, gemm_by_parts in pieces of its largest depth, with its
/// `guarded`, in single. A is the thin one: it is written out twice as large. `workspace` holds gemm_as_real_workspace
/// bytes, which do not fall with any of the three sizes. `spared`, `low_low`, `first`: in single precision only, `first` up to a depth of
/// half of gemm_by_parts_max_depth. (gemm_as_real)
template <class T>
void gemm_as_real(Op opA, real_t<T> alpha, View<T> A, View<T> B, View<T> C, Side guarded, void* workspace, Queue& q,
                  Spared spared = {}, bool low_low = true, const FirstPart& first = {});
template <class T>
std::size_t gemm_as_real_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth);

}  // namespace devobj::cuda
