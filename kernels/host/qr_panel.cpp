#include "kernels/host/qr_panel.hpp"

#include <cmath>
#include <limits>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/panel_rows.hpp"
#include "kernels/host/reflector.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

// Every thread holds its rows of all columns. Columns are taken in blocks of w = 16:
//
//     c0      c0+w          n     column j: every thread adds up its part of x^H a_k, x = a_j below the diagonal, for
//   +---+----+--------------+     all columns k >= j of the block; one exchange; everybody knows beta, tau and v;
//   | R | R  |      R       |     one pass applies the reflector and adds up the products for column j + 1 (qr_column)
//   +---+----+--------------+     after the block: W = V^H [V A] in parts                              (products)
//   | V | V  |     A -=     |     two exchanges to add them up; then, with T^-1 the triangle of V^H V
//   |   |    |   V T^H V^H A|     and 1 / tau on its diagonal, W = T^H W by substitution               (combine_rows)
//   +---+----+--------------+     A -= V W (subtract_product)
//
// Sums of squares are formed without scaling. So that they are safe, columns whose largest number is far from 1 are
// multiplied by a power of two before (their R is multiplied back at the end; the reflectors are the same), and a
// column that has become small below the diagonal is scaled for its own reflector (see `careful`).

constexpr int w = inner_block;

/// What a thread publishes for one column: its part of the products, and row j of the block if it is its own.
template <class R>
struct Letter {
  R products[2 * w];
  R row[2 * w];
};
static_assert(sizeof(Letter<double>) <= Team::mailbox_bytes);

/// Memory that all threads see: parts of W of every thread, their sum, and every thread's largest numbers by column.
template <class R>
struct Shared {
  R* parts;
  R* sum;
  R* largest;
  bool finite = true;
};

thread_local KeptMemory rows_memory, shared_memory, w_memory;

template <class T>
class QrWorker {
  using R = real_t<T>;
  static constexpr int P = PanelRows<T>::P;

 public:
  QrWorker(Team::Member& me, const RowParts& parts, std::int64_t n, Shared<R>& shared)
      : me_(me),
        parts_(parts),
        n_(n),
        k_(std::min(parts.m, n)),
        shared_(shared),
        mine_(parts, me.rank(), n, rows_memory),
        ldw_(round_up(n, panel_padding<R>)),
        W_(w_memory.get<R>(w * P * ldw_ + n)),
        exponent_(W_ + w * P * ldw_) {}

  /// False, with A as it was, if A has a NaN or an Inf.
  bool run(T* A, std::int64_t lda, T* tau) {
    R* a = reinterpret_cast<R*>(A + mine_.begin);
    kernels_.load(a, lda, mine_.rows, n_, mine_.B, mine_.ld);
    if (!scale_columns()) return false;
    for (std::int64_t c0 = 0; c0 < k_; c0 += w) {
      const int kb = static_cast<int>(std::min<std::int64_t>(w, k_ - c0));
      factor_block(c0, kb);
      if (me_.rank() == 0)
        for (int j = 0; j < kb; ++j) tau[c0 + j] = tau_[j];
      if (c0 + kb < n_) update_others(c0, kb);
    }
    unscale_columns();
    kernels_.store(mine_.B, mine_.ld, mine_.rows, n_, a, lda);
    return true;
  }

 private:
  /// Brings the largest number of every column near 1 if it is far from it; exponent_[c] is the power of two taken out.
  bool scale_columns() {
    constexpr int small = std::is_same_v<R, float> ? -30 : -300, large = std::is_same_v<R, float> ? 50 : 400;
    for (std::int64_t c = 0; c < n_; ++c)
      shared_.largest[me_.rank() * n_ + c] = kernels_.largest(mine_.B, mine_.ld, mine_.rows, 0, c);
    me_.exchange();
    for (std::int64_t c = 0; c < n_; ++c) {
      R most = 0;
      for (int r = 0; r < me_.size(); ++r) {
        const R other = shared_.largest[r * n_ + c];
        if (!(other <= most)) most = other;
        if (other != other) return false;
      }
      const int exponent = most == 0 ? 0 : std::ilogb(most);
      exponent_[c] = small <= exponent && exponent <= large ? R(0) : R(exponent);
      if (exponent_[c] != 0) multiply_column(c, 0, -exponent);
    }
    return true;
  }

  /// Rows from the panel's row r0 on of column c times 2^exponent, in two steps, since the power may not be
  /// representable.
  void multiply_column(std::int64_t c, std::int64_t r0, int exponent) {
    for (int part : {exponent / 2, exponent - exponent / 2}) {
      const R power[2] = {std::ldexp(R(1), part), 0};
      kernels_.scale_column(mine_.B, mine_.ld, mine_.rows, mine_.local(r0), c, power);
    }
  }

  /// R's columns times the powers that were taken out.
  void unscale_columns() {
    for (std::int64_t c = 0; c < n_; ++c)
      for (std::int64_t i = mine_.begin; exponent_[c] != 0 && i <= c && mine_.has(i); ++i)
        for (int p = 0; p < P; ++p) mine_.at(i, c, p) = std::ldexp(mine_.at(i, c, p), static_cast<int>(exponent_[c]));
  }

  /// The reflectors of columns c0 ... c0 + kb - 1, applied to these columns.
  void factor_block(std::int64_t c0, int kb) {
    R products[w * P], row[w * P];
    column_pass(c0, -1, kb, nullptr, nullptr, products);
    for (int j = 0; j < kb; ++j) {
      const std::int64_t top = c0 + j;
      add_up(c0, j, kb, products, row);
      const auto h = products[0] >= safe_square() ? Reflector<R, P>::from_square(row, products[0])
                                                  : careful(c0, j, kb, products, row);
      tau_[j] = h.template tau_as<T>();
      // w_k = conj(tau) (a_jk + conj(scale) x^H a_k); row j -= w
      R coefficient[w * P];
      for (int k = 1; k < kb - j && !h.identity; ++k)
        h.coefficient(row + k * P, products + k * P, coefficient + (k - 1) * P);
      if (mine_.has(top)) {
        for (int p = 0; p < P; ++p) row[p] = h.beta[p];
        for (int i = P; i < (kb - j) * P && !h.identity; ++i) row[i] -= coefficient[i - P];
        mine_.write_row(top, top, c0 + kb, row);
      }
      if (h.identity)
        column_pass(c0, j, kb, nullptr, nullptr, products);
      else
        column_pass(c0, j, kb, h.scale, coefficient, products);
    }
  }

  /// qr_column after the reflector of column j on this thread's rows.
  void column_pass(std::int64_t c0, int j, int kb, const R* scale, const R* coefficient, R* products) {
    if (j + 1 >= kb && scale == nullptr) return;
    const std::int64_t next = c0 + j + 1;
    kernels_.qr_column(mine_.B, mine_.ld, mine_.rows, mine_.local(next),
                       next < mine_.begin ? 0 : next + 1 - mine_.begin, c0, j, kb, scale, coefficient, products);
  }

  /// Exchanges and adds up the threads' products of column j with columns j ... kb - 1 of the block; row: row c0 + j.
  void add_up(std::int64_t c0, int j, int kb, R* products, R* row) {
    const int count = (kb - j) * P;
    auto* letter = static_cast<Letter<R>*>(me_.mailbox());
    if (mine_.has(c0 + j)) mine_.read_row(c0 + j, c0 + j, c0 + kb, letter->row);
    for (int i = 0; i < count; ++i) letter->products[i] = products[i];
    me_.exchange();
    for (int r = 0; r < me_.size(); ++r) {
      const R* part = letter_of(r).products;
      for (int i = 0; i < count; ++i) products[i] = r == 0 ? part[i] : products[i] + part[i];
    }
    const R* top = letter_of(parts_.owner(c0 + j)).row;
    for (int i = 0; i < count; ++i) row[i] = top[i];
  }

  const Letter<R>& letter_of(int rank) const noexcept { return *static_cast<const Letter<R>*>(me_.letter(rank)); }

  /// A sum of squares from which on what has underflowed in it does not count.
  R safe_square() const noexcept {
    const R unit = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    return unit * 8 * static_cast<R>(parts_.m);
  }

  /// The reflector of column j where x is so small that its squares underflow: x is scaled by a power of two, and the
  /// products are formed anew. Also the place where x = 0 is found out.
  Reflector<R, P> careful(std::int64_t c0, int j, int kb, R* products, R* row) {
    const std::int64_t top = c0 + j;
    auto* letter = static_cast<Letter<R>*>(me_.mailbox());
    letter->products[0] = kernels_.largest(mine_.B, mine_.ld, mine_.rows, mine_.local(top + 1), top);
    me_.exchange();
    R most = 0;
    for (int r = 0; r < me_.size(); ++r) most = std::max(most, letter_of(r).products[0]);
    if (most == 0) {
      for (int i = 0; i < (kb - j) * P; ++i) products[i] = 0;
      return Reflector<R, P>::from_alpha(row);
    }
    const int exponent = std::ilogb(most);
    multiply_column(top, top + 1, -exponent);
    column_pass(c0, j - 1, kb, nullptr, nullptr, products);
    add_up(c0, j, kb, products, row);
    return Reflector<R, P>::from_scaled(row, products[0], exponent);
  }

  /// The columns right of the block.
  void update_others(std::int64_t c0, int kb) {
    const std::int64_t c1 = c0 + kb, columns = n_ - c0, padded = round_up(columns, panel_padding<R>);
    // V with its ones and zeros, in place of R
    R kept[w][w * P];
    for (int i = 0; i < kb; ++i)
      if (mine_.has(c0 + i)) {
        R row[w * P];
        mine_.read_row(c0 + i, c0, c1, kept[i]);
        for (int l = 0; l < kb * P; ++l) row[l] = l < i * P ? kept[i][l] : l == i * P ? R(1) : R(0);
        mine_.write_row(c0 + i, c0, c1, row);
      }
    // W = V^H [V A], added up in slices by the threads
    R* part = shared_.parts + me_.rank() * w * P * ldw_;
    kernels_.products(mine_.B, mine_.ld, mine_.rows, mine_.local(c0), c0, kb, c0, n_, part, ldw_);
    me_.exchange();
    const std::int64_t slice = round_up((kb * P * ldw_ + me_.size() - 1) / me_.size(), panel_padding<R>);
    for (std::int64_t begin = me_.rank() * slice, i = begin; i < std::min(begin + slice, kb * P * ldw_); ++i) {
      if (i % ldw_ >= columns) continue;
      R total = shared_.parts[i];
      for (int r = 1; r < me_.size(); ++r) total += shared_.parts[r * w * P * ldw_ + i];
      shared_.sum[i] = total;
    }
    me_.exchange();
    // W(i, :) = conj(tau_i) (W(i, :) - (V^H V)(i, 0:i-1) W(0:i-1, :))
    for (int i = 0; i < kb; ++i) {
      R* row = W_ + i * P * ldw_;
      R vv[w * P];
      const R conj_tau[2] = {std::real(tau_[i]), -std::imag(tau_[i])};
      for (int p = 0; p < P; ++p) {
        const R* from = shared_.sum + (i * P + p) * ldw_;
        for (int l = 0; l < i; ++l) vv[l * P + p] = from[l];
        for (std::int64_t c = kb; c < columns; ++c) row[p * ldw_ + c - kb] = from[c];
        for (std::int64_t c = columns - kb; c < padded; ++c) row[p * ldw_ + c] = 0;
      }
      kernels_.combine_rows(row, ldw_, round_up(columns - kb, panel_padding<R>), i, vv, W_, conj_tau);
    }
    // A -= V W
    kernels_.subtract_product(mine_.B, mine_.ld, mine_.rows, mine_.local(c0), c0, kb, c1, n_, W_, ldw_);
    for (int i = 0; i < kb; ++i)
      if (mine_.has(c0 + i)) mine_.write_row(c0 + i, c0, c1, kept[i]);
  }

  Team::Member& me_;
  const RowParts parts_;
  const std::int64_t n_, k_;
  Shared<R>& shared_;
  PanelRows<T> mine_;
  const std::int64_t ldw_;
  R* const W_;         // T^H V^H A, w rows
  R* const exponent_;  // of every column's power of two
  T tau_[w];           // of the block's columns
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
void qr_panel(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, T* tau, int threads) {
  using R = real_t<T>;
  constexpr int P = PanelRows<T>::P;
  if (m <= 0 || n <= 0) return;
  threads = choose_threads<T>(m, n, threads);
  const std::int64_t ldw = round_up(n, panel_padding<R>), part = w * P * ldw;
  R* memory = shared_memory.get<R>((threads + 1) * part + threads * n);
  Shared<R> shared{memory, memory + threads * part, memory + (threads + 1) * part};
  Team::shared().run(threads, [&](Team::Member& me) {
    QrWorker<T> worker(me, RowParts(m, me.size()), n, shared);
    me.barrier();  // all have their memory: from here on nothing fails
    if (!worker.run(A, lda, tau) && me.rank() == 0) shared.finite = false;
  });
  if (!shared.finite) fortran::geqrf<T>({m, "qr_panel", "m"}, {n, "qr_panel", "n"}, A, {lda, "qr_panel", "lda"}, tau);
}

#define DEVOBJ_INSTANTIATE(T) template void qr_panel<T>(std::int64_t, std::int64_t, T*, std::int64_t, T*, int);
DEVOBJ_FOR_EACH_SCALAR(DEVOBJ_INSTANTIATE)
#undef DEVOBJ_INSTANTIATE

}  // namespace devobj::host
