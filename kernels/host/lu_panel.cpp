#include "kernels/host/lu_panel.hpp"

#include <cmath>
#include <limits>

#include "devobj/error.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/panel_rows.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

// Every thread holds its rows of all columns. Columns are taken in blocks of w = 16:
//
//     c0      c0+w          n     column by column: scale, update by the block's columns, find the largest (lu_column)
//   +---+----+--------------+     one exchange: each thread's candidate with its row of the block; everybody
//   | U | U  |     U12      |     then knows the pivot's row, and the two owners swap
//   +---+----+--------------+     after the block: one exchange of the rows that moved, for the other columns;
//   | L | L  |  A22 -=      |     U12 = L11^-1 A12 by every thread for itself (combine_rows) |   |    |     L21 U12  |
//   A22 -= L21 U12, each thread its rows                                  (subtract_product)
//   +---+----+--------------+

constexpr int w = inner_block, half = w / 2;

/// What a thread publishes for one column: its candidate with the candidate's row in the block's columns; and
/// that of the row to be displaced, if it is the thread's own. All look at the first two, which fill up the cache line
/// that holds the letter's flag; they are written last, so that the line moves once.
template <class R>
struct Letter {
  R value;
  std::int64_t row;
  std::int64_t unused[4];
  R candidate[2 * w];
  R displaced[2 * w];
};
static_assert(sizeof(Letter<double>) <= Team::mailbox_bytes);

/// For column scaling: 1 / pivot as `scale`, to be applied after `before`, a power of two that keeps 1 / pivot away
/// from overflow and underflow where it is not 1.
template <class T>
struct Reciprocal {
  using R = real_t<T>;
  R before[2] = {1, 0};
  R scale[2] = {1, 0};

  explicit Reciprocal(const R* pivot) {
    constexpr int P = devobj::is_complex<T> ? 2 : 1;
    constexpr int far = std::numeric_limits<R>::max_exponent / 2 - 4;  // squares are safe within 2^+-far
    const R size = P == 1 ? std::abs(pivot[0]) : std::max(std::abs(pivot[0]), std::abs(pivot[1]));
    if (size == 0) return;
    if (std::isfinite(size)) {
      const int exponent = std::ilogb(size);
      // a number of that size times the power is within [1, 2), and the power itself is representable
      if (std::abs(exponent) > far)
        before[0] = std::ldexp(R(1), std::min(-exponent, std::numeric_limits<R>::max_exponent - 1));
    }
    const R re = pivot[0] * before[0];
    if constexpr (P == 1) {
      scale[0] = 1 / re;
    } else {
      const R im = pivot[1] * before[0], square = re * re + im * im;
      scale[0] = re / square;
      scale[1] = -im / square;
    }
  }
  bool plain() const noexcept { return before[0] == 1; }
};

/// The pivots of one block as a permutation of rows: `row[i]` gets what was in `row[from[i]]`. The block's own rows
/// come first.
struct Moves {
  std::int64_t row[2 * w];
  int from[2 * w];
  int count = 0;

  Moves(std::int64_t c0, int kb, const std::int64_t* pivot) {
    for (; count < kb; ++count) {
      row[count] = c0 + count;
      from[count] = count;
    }
    for (int j = 0; j < kb; ++j) {
      int i = static_cast<int>(pivot[j] - c0);
      if (pivot[j] >= c0 + kb) {
        for (i = kb; i < count && row[i] != pivot[j];) ++i;
        if (i == count) {
          row[count] = pivot[j];
          from[count] = count;
          ++count;
        }
      }
      std::swap(from[j], from[i]);
    }
  }
};

/// Memory that all threads see: the rows that move, 2 w rows of n columns.
template <class R>
struct Shared {
  R* moving;
  std::int32_t* ipiv;
  std::int64_t info = 0;
};

thread_local KeptMemory rows_memory, shared_memory, u_memory;

template <class T>
class LuWorker {
  using R = real_t<T>;
  static constexpr int P = PanelRows<T>::P;

 public:
  LuWorker(Team::Member& me, const RowParts& parts, std::int64_t n, Shared<R>& shared)
      : me_(me),
        parts_(parts),
        n_(n),
        k_(std::min(parts.m, n)),
        shared_(shared),
        mine_(parts, me.rank(), n, rows_memory),
        ldu_(round_up(n, panel_padding<R>)),
        U_(u_memory.get<R>(w * P * ldu_)) {}

  void run(T* A, std::int64_t lda) {
    R* a = reinterpret_cast<R*>(A + mine_.begin);
    kernels_.load(a, lda, mine_.rows, n_, mine_.B, mine_.ld);
    for (std::int64_t c0 = 0; c0 < k_; c0 += w) {
      const int kb = static_cast<int>(std::min<std::int64_t>(w, k_ - c0));
      factor_block(c0, kb);
      if (kb < n_) update_others(c0, kb);
    }
    kernels_.store(mine_.B, mine_.ld, mine_.rows, n_, a, lda);
  }

 private:
  /// Column by column within halves of the block; between the halves a small product.
  void factor_block(std::int64_t c0, int kb) {
    R u[w * P] = {};
    R scale[2] = {1, 0};
    for (int j = 0, j0 = 0; j < kb; ++j) {
      const std::int64_t top = c0 + j;
      if (j == half) {
        kernels_.scale_column(mine_.B, mine_.ld, mine_.rows, mine_.local(top), top - 1, scale);
        update_second_half(c0, kb);
        j0 = j;
      }
      for (int i = j0; i < j; ++i)
        for (int p = 0; p < P; ++p) u[(i - j0) * P + p] = U_block_[i][j * P + p];
      const auto found = kernels_.lu_column(mine_.B, mine_.ld, mine_.rows, mine_.local(top), c0 + j0, j - j0, u, scale);
      exchange_candidates(c0, kb, j, found);
      const R* pivot = U_block_[j] + j * P;
      const bool zero = pivot[0] == 0 && (P == 1 || pivot[1] == 0);
      if (zero && me_.rank() == 0 && shared_.info == 0) shared_.info = top + 1;
      const Reciprocal<T> reciprocal(pivot);
      if (!reciprocal.plain())
        kernels_.scale_column(mine_.B, mine_.ld, mine_.rows, mine_.local(top + 1), top, reciprocal.before);
      for (int p = 0; p < P; ++p) scale[p] = reciprocal.scale[p];
    }
    kernels_.scale_column(mine_.B, mine_.ld, mine_.rows, mine_.local(c0 + kb), c0 + kb - 1, scale);
  }

  /// A(:, half:kb) -= L(:, 0:half) U(0:half, half:kb) below the block's first rows, which keep their U.
  void update_second_half(std::int64_t c0, int kb) {
    alignas(64) R u[half * P * panel_padding<R>] = {};
    for (int i = 0; i < half; ++i)
      for (int c = half; c < kb; ++c)
        for (int p = 0; p < P; ++p) u[(i * P + p) * panel_padding<R> + c - half] = U_block_[i][c * P + p];
    kernels_.subtract_product(mine_.B, mine_.ld, mine_.rows, mine_.local(c0), c0, half, c0 + half, c0 + kb, u,
                              panel_padding<R>);
    for (int i = 0; i < half; ++i)
      if (mine_.has(c0 + i)) mine_.write_row(c0 + i, c0 + half, c0 + kb, U_block_[i] + half * P);
  }

  /// Agrees on the pivot of column j, swaps its row with row c0 + j within the block and completes row j of U.
  void exchange_candidates(std::int64_t c0, int kb, int j, const Candidate<R>& found) {
    const std::int64_t top = c0 + j;
    auto* letter = static_cast<Letter<R>*>(me_.mailbox());
    if (found.row >= 0) mine_.read_row(found.row + mine_.begin, c0, c0 + kb, letter->candidate);
    if (mine_.has(top)) mine_.read_row(top, c0, c0 + kb, letter->displaced);
    letter->value = found.value;
    letter->row = found.row + mine_.begin;
    me_.exchange();

    const R* displaced = letter_of(parts_.owner(top)).displaced;
    const R* row = displaced;
    R best = -1;
    pivot_[j] = top;
    const bool nan_first = displaced[j * P] != displaced[j * P] || displaced[j * P + P - 1] != displaced[j * P + P - 1];
    for (int r = parts_.owner(top); r < me_.size() && !nan_first; ++r) {
      const Letter<R>& other = letter_of(r);
      if (other.value > best) {
        best = other.value;
        pivot_[j] = other.row;
        row = other.candidate;
      }
    }
    // row j: L(j, 0:j-1), and U(j, j:) -= L(j, 0:j-1) U(0:j-1, j:), of which the second half has got the first's part
    R* const final_row = U_block_[j];
    for (int i = 0; i < kb * P; ++i) final_row[i] = row[i];
    for (int i = j < half ? 0 : half; i < j; ++i)
      for (int c = j + 1; c < kb; ++c) subtract(final_row + c * P, final_row + i * P, U_block_[i] + c * P);
    if (pivot_[j] != top && mine_.has(pivot_[j])) mine_.write_row(pivot_[j], c0, c0 + kb, displaced);
    if (mine_.has(top)) mine_.write_row(top, c0, c0 + kb, final_row);
    if (me_.rank() == 0) shared_.ipiv[top] = static_cast<std::int32_t>(pivot_[j] + 1);
  }

  const Letter<R>& letter_of(int rank) const noexcept { return *static_cast<const Letter<R>*>(me_.letter(rank)); }

  /// x -= a b
  static void subtract(R* x, const R* a, const R* b) noexcept {
    if constexpr (P == 1) {
      x[0] -= a[0] * b[0];
    } else {
      x[0] -= a[0] * b[0] - a[1] * b[1];
      x[1] -= a[0] * b[1] + a[1] * b[0];
    }
  }

  /// The columns left and right of the block: row swaps, U12 and A22.
  void update_others(std::int64_t c0, int kb) {
    const Moves moves(c0, kb, pivot_);
    const std::int64_t c1 = c0 + kb;
    auto moving = [&](int i) { return shared_.moving + i * n_ * P; };
    for (int i = 0; i < moves.count; ++i)
      if ((i < kb || moves.from[i] != i) && mine_.has(moves.row[i])) {
        mine_.read_row(moves.row[i], 0, c0, moving(i));
        mine_.read_row(moves.row[i], c1, n_, moving(i) + c1 * P);
      }
    me_.exchange();
    for (int i = 0; i < moves.count; ++i)
      if (moves.from[i] != i && mine_.has(moves.row[i])) {
        mine_.write_row(moves.row[i], 0, c0, moving(moves.from[i]));
        if (i >= kb) mine_.write_row(moves.row[i], c1, n_, moving(moves.from[i]) + c1 * P);
      }
    if (c1 == n_) return;
    // U12 = L11^-1 A12
    const std::int64_t right = n_ - c1, padded = round_up(right, panel_padding<R>);
    for (int i = 0; i < kb; ++i) {
      const R* from = moving(moves.from[i]) + c1 * P;
      R* row = U_ + i * P * ldu_;
      for (int p = 0; p < P; ++p) {
        for (std::int64_t c = 0; c < right; ++c) row[p * ldu_ + c] = from[c * P + p];
        for (std::int64_t c = right; c < padded; ++c) row[p * ldu_ + c] = 0;
      }
      kernels_.combine_rows(row, ldu_, padded, i, U_block_[i], U_, nullptr);
      if (mine_.has(c0 + i))
        for (std::int64_t c = 0; c < right; ++c)
          for (int p = 0; p < P; ++p) mine_.at(c0 + i, c1 + c, p) = row[p * ldu_ + c];
    }
    // A22 -= L21 U12
    kernels_.subtract_product(mine_.B, mine_.ld, mine_.rows, mine_.local(c1), c0, kb, c1, n_, U_, ldu_);
  }

  Team::Member& me_;
  const RowParts parts_;
  const std::int64_t n_, k_;
  Shared<R>& shared_;
  PanelRows<T> mine_;
  const std::int64_t ldu_;
  R* const U_;             // U12, w rows
  R U_block_[w][w * P];    // rows of L11 \ U11
  std::int64_t pivot_[w];  // of the block's columns, rows from 0
  const PanelKernels<R>& kernels_ = panel_kernels<R, P>();
};

/// As many threads as have at least `grain` bytes of the panel each.
template <class T>
int choose_threads(std::int64_t m, std::int64_t n, int threads) {
  constexpr std::size_t grain = 32 << 10;
  if (threads <= 0) threads = threads_for(static_cast<std::size_t>(m) * n * sizeof(T), grain,
                                          Team::shared().size_in_step());
  return static_cast<int>(std::min<std::int64_t>(threads, (m + w - 1) / w));
}

}  // namespace

template <class T>
std::int64_t lu_panel(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int32_t* ipiv, int threads) {
  using R = real_t<T>;
  if (m <= 0 || n <= 0) return 0;
  require(m <= std::numeric_limits<std::int32_t>::max(), "lu_panel: m is ", m, ", but pivots are 32-bit integers");
  threads = choose_threads<T>(m, n, threads);
  Shared<R> shared{shared_memory.get<R>(2 * w * n * PanelRows<T>::P), ipiv};
  Team::shared().run(threads, [&](Team::Member& me) {
    LuWorker<T> worker(me, RowParts(m, me.size()), n, shared);
    me.barrier();  // all have their memory: from here on nothing fails
    worker.run(A, lda);
  });
  return shared.info;
}

#define DEVOBJ_INSTANTIATE(T) \
  template std::int64_t lu_panel<T>(std::int64_t, std::int64_t, T*, std::int64_t, std::int32_t*, int);
DEVOBJ_FOR_EACH_SCALAR(DEVOBJ_INSTANTIATE)
#undef DEVOBJ_INSTANTIATE

}  // namespace devobj::host
