// The inner loops of the CPU panels, compiled for several instruction sets and chosen at run time.
//
// A thread's rows of a panel lie in a buffer of its own, column-major, real and imaginary parts in separate planes, so
// that complex arithmetic is real arithmetic on two arrays:
//
//     column c, plane p (0 real, 1 imaginary; P planes) at B + (c P + p) ld,   rows 0 ... rows - 1, then zeros to ld
//
// Small matrices that all threads know (U, coefficients) are row-major with the same planes: row k, plane p at
// U + (k P + p) ldu. ld and ldu are multiples of panel_padding<R>, so that no loop has a remainder.
#pragma once

#include <cstdint>

namespace devobj::host {

/// Columns of an inner block: what is factored column by column before a matrix product brings the rest up to date.
inline constexpr int inner_block = 16;
/// Buffers are 64-byte aligned and their leading dimensions multiples of this many elements: four of the widest
/// vectors.
template <class R>
inline constexpr std::int64_t panel_padding = 256 / sizeof(R);

/// A pivot's candidate: the largest |re| + |im| and its row in the buffer; row is -1 and value -1 if there is none.
template <class R>
struct Candidate {
  R value;
  std::int64_t row;
};

template <class R>
struct PanelKernels {
  /// B = A (interleaved complex to planes), zeros from row `rows` to ld.
  void (*load)(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* B, std::int64_t ld);
  /// A = B.
  void (*store)(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda);

  /// LU: column j of the block of columns c0, c0 + 1, ... on the rows from s on.
  /// For j > 0 first L(:, j-1) = column j-1 times `scale` (P numbers), then column j -= L(:, 0:j-1) u(0:j-1), u being
  /// j times P numbers. Returns the candidate in column j.
  Candidate<R> (*lu_column)(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c0, int j,
                            const R* u, const R* scale);
  /// Column c *= scale (P numbers) on the rows from s on.
  void (*scale_column)(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c, const R* scale);
  /// The largest |part| of column c on the rows from s on; NaN if there is a NaN or an Inf.
  R (*largest)(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t c);

  /// QR: the reflector of column j of the block c0 ... c0 + w - 1 on the rows from s on, and the products for the next.
  ///   v = column j times scale;  column k -= v coefficient(k), k = j+1 ... w-1
  ///   products(k) = x^H column k, k = j+1 ... w-1, with x = column j+1 on the rows from sp on
  /// `coefficient` and `products` hold P numbers per column from k = j+1 on. With j = -1 there is no reflector,
  /// only products with x = column 0.
  void (*qr_column)(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t sp, std::int64_t c0, int j,
                    int w, const R* scale, const R* coefficient, R* products);

  /// x = d (x - l U): a row x of n columns, l with K and d with one number of P planes (d null: 1), U with K rows.
  void (*combine_rows)(R* x, std::int64_t ldu, std::int64_t n, int K, const R* l, const R* U, const R* d);

  /// Columns c0 ... c1-1 -= columns k0 ... k0+K-1 times U on the rows from s on (a multiple of 16); U's first column
  /// belongs to c0.
  void (*subtract_product)(R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t k0, int K,
                           std::int64_t c0, std::int64_t c1, const R* U, std::int64_t ldu);
  /// W = (columns k0 ... k0+K-1)^H (columns c0 ... c1-1) on the rows from s on (a multiple of 16), W row-major like U.
  void (*products)(const R* B, std::int64_t ld, std::int64_t rows, std::int64_t s, std::int64_t k0, int K,
                   std::int64_t c0, std::int64_t c1, R* W, std::int64_t ldw);
};

/// The kernels for P planes of R on the best instruction set of this CPU, or on the one asked for by use_simd.
template <class R, int P>
const PanelKernels<R>& panel_kernels() noexcept;

}  // namespace devobj::host
