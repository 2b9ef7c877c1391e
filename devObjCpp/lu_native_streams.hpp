// The native LU's L11 as streams (solve_stream), by which many columns of U12 are solved: which blocks have one for all columns right of
// them, and where the streams lie. GPU only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "devobj/blas.hpp"
#include "kernels/native.hpp"
#include "lu_native_blocks.hpp"

namespace devobj {

/// In double precision, real or complex.
template <class T>
class LuNativeStreams {
 public:
  static constexpr bool there_are = !std::is_same_v<real_t<T>, float>;

  /// Of a matrix of n columns, of which `solve_rows` rows of L11 are solved at once where there is no solve_streamed.
  LuNativeStreams(std::int64_t n, std::int64_t solve_rows, const LuNativeBlocks<T>& blocks)
      : n_(n), solve_rows_(solve_rows) {
    if constexpr (there_are) {
      // Room for the widest, in parts of the most rows: others, and halves of blocks, need no more.
      const std::int64_t widest = blocks.widest_group();
      const bool some_streamed = widest > solve_rows_;
      if (!some_streamed && n_ <= cuda::exchange_solve_few) return;
      const std::int64_t bytes =
          cuda::solve_stream_bytes<T>(widest, some_streamed ? cuda::solve_streamed_rows<T> : solve_rows_, false);
      size_ = static_cast<std::size_t>(bytes + 255) / 256 * 256;
    }
  }
  std::size_t bytes() const { return streams * size_; }
  void use(unsigned char* memory) { memory_ = memory; }

  /// Rows of a block's L11 that are solved at once: if it is streamed(), as nearly equal numbers as can be, in one turn on the GPU.
  std::int64_t rows_at_once(Range K) const {
    if constexpr (there_are)
      if (K.size() > solve_rows_) {
        const std::int64_t most =
            !is_complex<T> && n_ - K.end > cuda::solve_streamed_turn ? 256 : cuda::solve_streamed_rows<T>;
        const std::int64_t parts = (K.size() + most - 1) / most, rows = (K.size() + parts - 1) / parts;
        return (rows + 31) / 32 * 32;
      }
    return solve_rows_;
  }
  /// Whether all columns right of the block are solved by one stream, which is made once.
  bool streamed(Range K) const { return rows_at_once(K) > solve_rows_; }

  /// Where block i's is, if it is streamed(). There are three in turn: panel i has waited for the rest of step i - 3, but not of the two
  /// steps after that.
  unsigned char* of_block(std::size_t i) const { return memory_ + i % in_turn * size_; }
  /// Where the rest's queue has one of its own: of blocks that are not streamed(), and of groups.
  unsigned char* of_rest() const { return memory_ + in_turn * size_; }
  /// Where the panels' queue has one of its own: of a block's left half, for the right one.
  unsigned char* of_half() const { return memory_ + (in_turn + 1) * size_; }
  /// Makes L11's, of `at_once` rows at once; L11 is given by its transpose if `by_rows`.
  void make(View<T> L11, bool by_rows, std::int64_t at_once, unsigned char* stream, Queue& q) const {
    if constexpr (there_are) {
      if (cuda::solve_stream_bytes<T>(L11.rows, at_once, false) > static_cast<std::int64_t>(size_))
        fail(Status::internal_error, "getrf: no room for the stream of ", L11.rows, " rows");
      cuda::solve_stream_of(by_rows ? Uplo::Upper : Uplo::Lower, by_rows ? Op::Trans : Op::NoTrans, Diag::Unit, L11,
                            at_once, false, stream, q);
    }
  }

 private:
  static constexpr std::size_t in_turn = 3, streams = in_turn + 2;
  const std::int64_t n_, solve_rows_;
  std::size_t size_ = 0;  // of each, or none
  unsigned char* memory_ = nullptr;
};

}  // namespace devobj
