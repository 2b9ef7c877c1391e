// The inner loops of Givens rotations on the CPU, compiled for several instruction sets and chosen at run time.
//
// Slabs. A matrix is held in slabs of slab_columns columns, row after row: a row of a slab is one line of 128 bytes,
// real parts first, then imaginary ones. A rotation of two rows is a few vector operations on two lines.
//
// Staircases. Rotations are grouped so that a window of rows stays in registers while several pass over it:
//
//    step u, rotation q: rows row0 + u + q and row0 + u + q + 1,   u = 0 ... steps - 1, q = 0 ... width - 1
//
//       row0  | q=0                        down: u = 0, 1, ..., within a step q = width - 1, ..., 0
//         |   | q=1 q=0                    up:   u = steps - 1, ..., 0, within a step q = 0, 1, ..., width - 1
//         v   | q=2 q=1 q=0                One is the other backwards. A step reads one line and writes one.
//             |     q=2 q=1 q=0
//               u=0 u=1 u=2
//
// Column by column and bottom-up is `up` with a wave q per column; a band matrix with `width` subdiagonals is `down`
// with a step per column. Rotation q of step u and rotation q + 1 of step u + 1 have no row in common: a wave of as
// many as there are columns is made at a time, and these are kept together: `width` cosines, then as many sines' real
// and, if complex, imaginary parts.
#pragma once

#include <cstdint>

#include "kernels/host/panel_simd.hpp"

namespace devobj::host {

inline constexpr std::int64_t line_bytes = 128;
template <class R>
inline constexpr std::int64_t line = line_bytes / sizeof(R);  ///< numbers of a line
/// Columns of a slab of P planes.
template <class R, int P>
inline constexpr std::int64_t slab_columns = line<R> / P;
/// The widest staircase; the others are those of staircase_width.
inline constexpr int widest_staircase = 8;
/// The narrowest staircase there is for `rotations` in a step (at most widest_staircase).
constexpr int staircase_width(int rotations) {
  return rotations <= 4 ? rotations : widest_staircase;
}
template <int P>
constexpr std::int64_t wave_numbers(int width) {
  return (1 + P) * width;
}
template <int P>
constexpr std::int64_t staircase_numbers(std::int64_t steps, int width) {
  return (steps + width - 1) * wave_numbers<P>(width);
}
/// Where the cosine of rotation q of step u is among a staircase's numbers; the sines are `width` numbers further.
template <int P>
constexpr std::int64_t number_of(std::int64_t u, int q, int width) {
  return (u + width - 1 - q) * wave_numbers<P>(width) + q;
}

/// Numbers of all rotations that merge two triangles.
template <class R, int P>
constexpr std::int64_t merge_numbers = (1 + P) * slab_columns<R, P>* slab_columns<R, P>;

/// The numbers of all rotations that make one triangle of rows in `lanes` lanes (givens_simd_lanes.inl), at most.
template <class R, int P>
constexpr std::int64_t lane_numbers(std::int64_t rows, std::int64_t lanes) {
  constexpr std::int64_t K = slab_columns<R, P>;
  return (1 + P) * K * (rows + lanes + (lanes - 2) * (K + 1) / 2) + merge_numbers<R, P>;
}
/// The distance of their columns; the memory that they need is that of a line's numbers times as much.
constexpr std::int64_t lane_rows(std::int64_t rows) {
  const std::int64_t whole = (rows + 15) / 16 * 16;
  return whole % 64 == 0 ? whole + 16 : whole;  // apart in the cache
}

/// A staircase of width 8 on eight columns: its steps, the row that it ends above (both from the slab's first row that
/// is given), and its numbers.
template <class R>
struct Staircase {
  std::int64_t steps, bottom;
  R* numbers;
};

/// What a slab's rotations are for the others, slab_columns lines of each and as many signs; and R's rows of the slab.
template <class R>
struct Reflectors {
  R *minus_T, *minus_TH, *triangle, *signs;
};

/// Lines that the thread is going to change after its block: they are fetched from another core's caches meanwhile, from
/// the moment when that has set `ready` (with release).
template <class R>
struct LinesAhead {
  const R* first = nullptr;
  std::int64_t count = 0;
  const bool* ready = nullptr;
};

template <class R>
struct GivensKernels {
  /// Applies a staircase to the columns from `column` on, or some before it, of one slab; inverse: with the rotations'
  /// inverses. Rows row0 ... row0 + steps + width - 1 are read and written.
  void (*rotate)(R* slab, std::int64_t row0, std::int64_t steps, int width, bool down, bool inverse,
                 const R* coefficients, std::int64_t column);
  /// Makes the staircases (width 8, up) that annihilate the columns 0 ... columns - 1 of a slab below its first rows:
  /// column j below row j. stairs[g] is for the columns 8 g ... 8 g + 7. The rotations are applied to the slab. Zeros
  /// that are there are not rotated.
  void (*eliminate)(R* slab, std::int64_t columns, const Staircase<R>* stairs);
  /// Two upper triangles of slab_columns lines, one above the other, of which `columns` columns are annihilated: A = R,
  /// what is left below its diagonal and in B nobody reads. `numbers` are merge_numbers.
  void (*merge)(R* A, R* B, std::int64_t columns, R* numbers);
  /// The inverse of these rotations on two upper triangles, that is, on the rows of an orthogonal matrix's columns.
  void (*merge_back)(R* A, R* B, std::int64_t columns, const R* numbers);
  /// The first k columns Q1 of an orthogonal matrix (a slab, zeros beside) are (I - V T V^H) D in the columns
  /// 0 ... k - 1, with D = diag(signs, I). reflectors_top makes the first k rows of V from those of Q1, and -U^-1 with
  /// V = Q1 U^-1 for the rows below; reflectors_T makes T from G = V^H V. minus_T and minus_TH hold -T and -T^H, these,
  /// G and -U^-1 being slab_columns lines.
  void (*reflectors_top)(const R* Q1, int k, R* V, R* minus_inverse, R* signs);
  void (*reflectors_T)(const R* G, const R* minus_inverse, int k, const R* signs, R* minus_T, R* minus_TH);
  /// C -= V T V^H C for slabs of `rows` rows, where minus_T holds -T (or -T^H, for the adjoint).
  void (*reflect)(const R* V, const R* minus_T, R* C, std::int64_t rows);
  /// W = V^H C for slabs of `rows` rows; W is slab_columns lines.
  void (*products)(const R* V, const R* C, std::int64_t rows, R* W);
  /// C -= V W.
  void (*subtract)(R* C, const R* V, const R* W, std::int64_t rows);
  /// slab = A, rows x slab_columns real numbers, and back.
  void (*pack)(const R* A, std::int64_t lda, std::int64_t rows, R* slab);
  void (*unpack)(const R* slab, std::int64_t rows, R* A, std::int64_t lda);
  /// A slab's rows can be eliminated in this many lanes (a vector's numbers), or a half, ... of them down to the least,
  /// if each lane has slab_columns rows.
  std::int64_t most_lanes, least_lanes;
  /// The triangle (slab_columns lines, zeros below) that rotations make of a slab's rows; of the staircases the bottoms
  /// count, and the numbers (lane_numbers) are where stairs[0] has them. `work` has lane_rows(rows) lines.
  void (*eliminate_lanes)(const R* slab, std::int64_t rows, std::int64_t columns, int lanes, const Staircase<R>* stairs,
                          R* work, R* triangle);
  /// slab = the inverse of these rotations times the upper triangle, zeros below it.
  void (*back_lanes)(const R* triangle, std::int64_t rows, std::int64_t columns, int lanes, const Staircase<R>* stairs,
                     R* work, R* slab);
  /// A slab's rotations and its reflectors, eight columns after the other (givens_simd_groups.inl): the slab becomes V.
  /// Each eight have `lanes` times eight rows; of the staircases the bottoms count and the first one's numbers
  /// (lane_numbers). `work` has lane_rows(rows) lines.
  void (*block_by_groups)(R* slab, std::int64_t rows, std::int64_t columns, int lanes, const Staircase<R>* stairs,
                          R* work, const Reflectors<R>& out, const LinesAhead<R>& ahead);
  /// These lines are going to be written.
  void (*fetch)(const R* lines, std::int64_t count);
};

/// The kernels for P planes of R on the instruction set that simd.hpp chooses.
template <class R, int P>
const GivensKernels<R>& givens_kernels() noexcept;

}  // namespace devobj::host
