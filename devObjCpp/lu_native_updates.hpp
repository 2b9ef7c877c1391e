// What a factored block of the native LU does to columns beside it: by which kernels its rows are exchanged, U12 is solved, and the product
// subtracted. In which order, and on which queues, is lu_native.cpp's. GPU only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "devobj/blas.hpp"
#include "kernels/native.hpp"
#include "lu_native_blocks.hpp"
#include "lu_native_products.hpp"
#include "lu_native_streams.hpp"

namespace devobj {

/// The matrix, or columns of it, as they lie: (rows, columns) of the matrix are `data` from its first row and column on,
/// or its transpose.
template <class T>
struct LuNativePlace {
  View<T> data;
  bool by_rows = false;
  std::int64_t first_row = 0, first_column = 0;
  View<T> operator()(Range rows, Range columns) const {
    const Range r{rows.begin - first_row, rows.end - first_row},
        c{columns.begin - first_column, columns.end - first_column};
    return by_rows ? data(c, r) : data(r, c);
  }
};

/// The updates of one factorization, whose panels' queue is to be set first.
template <class T>
class LuNativeUpdates {
 public:
  using Block = LuNativeBlock;
  using Place = LuNativePlace<T>;

  /// Of the LU of an m x n matrix, row-major meanwhile if `by_rows`, of which `solve_rows` rows of L11 are solved at once where there is no
  /// solve_streamed. `rows`: of all panels; `displaced_workspace`: exchange_top_rows's, or null.
  LuNativeUpdates(std::int64_t m, std::int64_t n, bool by_rows, std::int64_t solve_rows,
                  const LuNativeProducts<T>& products, const LuNativeStreams<T>& streams, cuda::RowExchange rows,
                  void* displaced_workspace)
      : m_(m),
        solve_rows_(solve_rows),
        exchanges_beside_(single && displaced_rows_pay(m, n, by_rows)),
        products_(products),
        streams_(streams),
        rows_(rows),
        displaced_workspace_(displaced_workspace) {}
  /// The panels' queue, and whether in the present step they find multiprocessors enough where the last one was.
  void set_panels(const Queue& panels) { panels_ = &panels; }
  void set_panels_stay(bool stay) { panels_stay_ = stay; }

  /// The rows of `columns` as the panels within the block exchanged them.
  void exchange(const Block& block, const Place& A, Range columns, Queue& q, bool of_rest = false) {
    if (columns.size() <= 0) return;
    const Range K = block.columns;
    if (A.by_rows)
      cuda::exchange_columns(A({K.begin, m_}, columns), exchange_of(K), block.inner, q);
    else
      cuda::exchange_rows(A({K.begin, m_}, columns), exchange_of(K), block.inner, q, {}, of_rest && exchanges_beside_);
  }
  /// Whether exchange_top_rows and the products of the rest have displaced rows of this type.
  static constexpr bool has_displaced_rows = !std::is_same_v<T, std::complex<float>>;
  /// Whether the rest's exchanges of several panels' rows decide, for the sake of the panel beside them: in tall matrices.
  static bool displaced_rows_pay(std::int64_t m, std::int64_t n, bool by_rows) {
    return has_displaced_rows && !by_rows && lu_is_tall(m, n) &&
           (!is_complex<T> || m * n <= largest_complex * largest_complex);
  }

  /// The rows of a factored block's columns as its panels right of them exchanged them, but for those with which they have been
  /// updated: of the left half those of the right one, and so on in the right half.
  void exchange_within(const Block& block, const Place& A, Queue& q) {
    const Range K = block.columns;
    const std::int64_t inner = block.inner;
    std::vector<std::int64_t> firsts;
    for (Range right = K; right.size() > inner; firsts.push_back(right.begin - K.begin))
      right.begin = LuNativeBlocks<T>::middle(right, inner);
    if (!firsts.empty())
      cuda::exchange_rows(A({K.begin, m_}, {K.begin, K.begin + firsts.back()}), exchange_of(K), inner, q, firsts);
  }
  /// L11's stream, factored in L.
  void make_stream(Range K, const Place& L, unsigned char* stream, Queue& q) {
    streams_.make(L(K, K), L.by_rows, streams_.rows_at_once(K), stream, q);
  }
  /// What the kernel's panel at K did to the rows.
  cuda::RowExchange exchange_of(Range K) const {
    return {rows_.source + K.begin, rows_.displaced_to + K.begin, K.size()};
  }

  /// A12 = L11^-1 P A12,  A22 -= L21 A12  for some columns right of the block, which is factored in L. `stream`: L11's, if it is
  /// streamed(). Whether a panel can be early behind it.
  bool update(const Block& block, const Place& L, const Place& A, Range columns, Queue& q, bool of_rest = false,
              const unsigned char* stream = nullptr, const cuda::FirstPart& first = {}) {
    if (columns.size() <= 0) return false;
    const Range K = block.columns;
    const std::int64_t inner = block.inner;
    cuda::RowExchange rows = exchange_of(K);
    if (!of_rest && in_one_kernel(block, L, A, columns, {}, q)) return true;
    const bool many = columns.size() > cuda::exchange_solve_few && K.size() > inner;
    cuda::DisplacedRows<T> displaced;
    if (inner > solve_rows_ || many || stream != nullptr) {
      if (of_rest)
        displaced = exchange_of_rest(block, L, A, columns, q);
      else
        exchange(block, A, columns, q);
      rows.rows = 0;
    }
    return solve_and_subtract(block, L, A, columns, rows, stream, q, of_rest, first, displaced);
  }
  /// The same where the rows are exchanged, but for `rows`, which solve() exchanges.
  bool solve_and_subtract(const Block& block, const Place& L, const Place& A, Range columns, cuda::RowExchange rows,
                          const unsigned char* stream, Queue& q, bool of_rest, const cuda::FirstPart& first = {},
                          const cuda::DisplacedRows<T>& displaced = {}) {
    const Range K = block.columns;
    const std::int64_t at_once = stream == nullptr ? solve_rows_ : streams_.rows_at_once(K);
    if (!single && stream == nullptr && of_rest && columns.size() > cuda::exchange_solve_few) {
      make_stream(K, L, streams_.of_rest(), q);
      stream = streams_.of_rest();
    }
    solve(L, A, K, columns, rows, block.inner, stream, at_once, q, of_rest && block.two_parts);
    return subtract(L, A, K, {K.end, m_}, columns, q, of_rest, first, displaced);
  }

  /// update() by one kernel, which waits for `updated`; false, with nothing done, where that is not possible.
  bool in_one_kernel(const Block& block, const Place& L, const Place& A, Range columns, cuda::Progress updated,
                     Queue& q) {
    const Range K = block.columns;
    return !L.by_rows && !A.by_rows && K.size() <= block.inner &&
           cuda::exchange_solve_subtract(L({K.begin, m_}, K), A({K.begin, m_}, columns), exchange_of(K), updated, q);
  }

 private:
  // Order of complex matrices up to which the exchanges of the rest's rows leave to the product what it can bring: the products of larger ones
  // take more time by that than it saves.
  static constexpr std::int64_t largest_complex = 10'000;
  static constexpr bool single = std::is_same_v<real_t<T>, float>;

  /// exchange() of the rest, whose product takes what it can: these rows.
  cuda::DisplacedRows<T> exchange_of_rest(const Block& block, const Place& L, const Place& A, Range columns, Queue& q) {
    if constexpr (has_displaced_rows) {
      const Range K = block.columns;
      if (displaced_workspace_ != nullptr && K.size() <= cuda::exchange_top_rows_max && K.end < m_ &&
          products_.takes_displaced(L({K.end, m_}, K), A(K, columns), A({K.end, m_}, columns), panels_stay_))
        return cuda::exchange_top_rows(A({K.begin, m_}, columns), exchange_of(K), block.inner, displaced_workspace_, q);
    }
    exchange(block, A, columns, q, true);
    return {};
  }
  /// A12 = L11^-1 P A12, by halves, whose products have more depth than those of one part after the other. `stream`: those of
  /// L11's parts of so many rows `at_once`, or null.
  void solve(const Place& L, const Place& A, Range K, Range columns, cuda::RowExchange& rows, std::int64_t inner,
             const unsigned char* stream, std::int64_t at_once, Queue& q, bool two_parts) {
    if (K.size() > at_once) {
      const std::int64_t above = (K.size() / 2 + at_once - 1) / at_once * at_once, middle = K.begin + above;
      solve(L, A, {K.begin, middle}, columns, rows, inner, stream, at_once, q, two_parts);
      subtract(L, A, {K.begin, middle}, {middle, K.end}, columns, q, false);
      if constexpr (!single)
        if (stream != nullptr) stream += cuda::solve_stream_bytes<T>(above, at_once, false);
      return solve(L, A, {middle, K.end}, columns, rows, inner, stream, at_once, q, two_parts);
    }
    if constexpr (!single)
      if (at_once > solve_rows_) return cuda::solve_streamed<T>(stream, A(K, columns), A.by_rows, q);
    const int beside = &q == panels_ && products_.leave_multiprocessors() ? products_.panel_multiprocessors : 0;
    cuda::exchange_solve(L(K, K), L.by_rows, A({K.begin, m_}, columns), A.by_rows, rows, inner, stream, q, beside,
                         two_parts);
    rows.rows = 0;  // of all parts at once
  }

  /// A(rows, columns) -= L(rows, K) A(K, columns), behind solve. Whether a panel can be early behind it.
  bool subtract(const Place& L, const Place& A, Range K, Range rows, Range columns, Queue& q, bool of_rest,
                const cuda::FirstPart& first = {}, const cuda::DisplacedRows<T>& displaced = {}) {
    if (rows.size() <= 0) return false;
    const View<T> L21 = L(rows, K), U = A(K, columns);
    if (&q == panels_ && products_.subtract_beside(L21, U, A(rows, columns), q)) return false;
    // row-major: the product of the transposes. U may have small columns.
    return products_.subtract(A.by_rows ? U : L21, A.by_rows ? L21 : U, A(rows, columns),
                              A.by_rows ? Side::Left : Side::Right, of_rest, panels_stay_, q, first, displaced);
  }

  const std::int64_t m_, solve_rows_;
  const bool exchanges_beside_;  // of the rest, where there are no displaced rows: slower, for the panels' sake
  const LuNativeProducts<T>& products_;
  const LuNativeStreams<T>& streams_;
  const cuda::RowExchange rows_;
  void* const displaced_workspace_;
  const Queue* panels_ = nullptr;
  bool panels_stay_ = false;
};

}  // namespace devobj
