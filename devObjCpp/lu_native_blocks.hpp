// How the native LU divides a matrix: blocks of columns, narrower the less is left of it, and the panels in each. GPU only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "devobj/matrix.hpp"
#include "kernels/native.hpp"
#include "lu_native.hpp"
#include "lu_native_products.hpp"
#include "tuning.hpp"

namespace devobj {

/// Columns that are factored before what is right of them is updated, in panels of `inner` columns.
struct LuNativeBlock {
  Range columns;
  std::int64_t inner;
  cuda::LuPanelShape first_shape, last_shape;  // of its panels
  bool two_parts = false;                      // its L and U are to be, as in LuPanelShape

  void set_two_parts(bool on) { two_parts = first_shape.two_parts = last_shape.two_parts = on; }
};

/// The blocks of one matrix, from the options or else from the table, read anew for each block with the order of what is left.
template <class T>
class LuNativeBlocks {
 public:
  /// Of an m x n matrix, row-major meanwhile if `by_rows`, with panels of at most `most_inner` columns beside these products.
  LuNativeBlocks(std::int64_t m, std::int64_t n, bool by_rows, const LuOptions& options, std::int64_t most_inner,
                 const LuNativeProducts<T>& products, const TuningTable& table)
      : m_(m),
        n_(n),
        beside_(products.leave_multiprocessors()),
        plain_(std::is_same_v<T, float> && strict_math(options.math)),
        grouping_(options.block <= 0 && products.better_deep(m, n) ? grouping_of(order_of(m, n)) : Grouping{}) {
    const std::int64_t k = std::min(m, n);
    for (std::int64_t j = 0; j < k; j = blocks_.back().columns.end) {
      BlockSizes sizes{options.block, options.inner_block};
      if (options.block <= 0) {
        sizes = sizes_for(table, m - j, n - j);
        if (by_rows && grouping_.some())
          sizes.block =
              std::min(sizes.block, order_of(m - j, n - j) < large ? grouping_.widest : grouping_.widest_of_large);
        if (products.slow(k - j)) sizes.block = std::min(2 * sizes.block, cuda::gemm_by_parts_max_depth);
        if (options.inner_block > 0) sizes.inner_block = options.inner_block;
      }
      std::int64_t width = std::min(sizes.block, k - j);
      // Nothing runs beside the first block's panels, and beside the next one's what the first block's depth gives. (Where complex
      // products are by gemm_residues they lose more by little depth than that gains.)
      if (!(is_complex<T> && products.better_deep(m, n)) && options.block <= 0 && sizes.inner_block < sizes.block)
        width = std::min(width, blocks_.empty() ? 2 * sizes.inner_block : 2 * blocks_.back().columns.size());
      const std::int64_t inner = std::min({sizes.inner_block > 0 ? sizes.inner_block : width, width, most_inner});
      blocks_.push_back(block_of({j, j + width}, inner));
      widest_ = std::max(widest_, width);
      widest_panel_ = std::max(widest_panel_, inner);
    }
    soon_ = blocks_.size() > 2 && soon_pays(k, by_rows);
  }
  /// L and U of a block are of two parts if the products of the rest are, which have been chosen.
  void set_two_parts(const LuNativeProducts<T>& products) {
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) {
      const std::size_t before_rest = soon_ && i + 2 < blocks_.size() ? i + 2 : i + 1;
      const std::int64_t below = m_ - blocks_[i].columns.end, right = n_ - blocks_[before_rest].columns.end;
      blocks_[i].set_two_parts(products.of_two_parts(below, right));
    }
  }
  /// Whether the columns of the block after the next are updated on a queue of their own: where that takes less time than it delays
  /// the product of the rest.
  bool soon() const { return soon_; }

  /// Blocks whose updates of the rest are one product, deeper than theirs would be: from `first` to `last`. Most are alone.
  struct Group {
    std::size_t first, last;
    bool of_several() const { return first < last; }
  };
  /// Of a large matrix whose blocks are the table's, as the products are faster for it; to be called before group_of, and again where there
  /// is no memory for these products.
  void set_groups(const LuNativeProducts<T>& products) {
    groups_.clear();
    groups_.reserve(size());
    widest_group_ = 0;
    for (std::size_t first = 0; first < size(); first = groups_.back().last + 1) {
      std::size_t last = first;
      while (grouping_.some() && soon_ && last + 3 < size() && can_follow(first, last + 1, products)) ++last;
      groups_.push_back({first, last});
      widest_group_ = std::max(widest_group_, whole(groups_.back()).columns.size());
    }
  }
  const std::vector<Group>& groups() const { return groups_; }
  std::int64_t widest_group() const { return widest_group_; }
  Group group_of(std::size_t i) const {
    return *std::lower_bound(groups_.begin(), groups_.end(), i,
                             [](const Group& g, std::size_t j) { return g.last < j; });
  }
  /// Where the columns begin that a group of several updates with all its blocks at once. Those before, up to the block after the next of
  /// its last one, are needed sooner, and are brought up to date by one block after the other.
  std::int64_t rest_of_group(std::size_t last) const { return blocks_[last + 2].columns.end; }
  /// The columns of block i, not the first one, that its first panel waits for: all, or in tall real matrices this panel's own. Then the
  /// others are updated beside it, together with the block after it, where that has a queue of its own.
  Range awaited(std::size_t i) const {
    Range columns = blocks_[i].columns;
    if (!is_complex<T> && lu_is_tall(m_, n_) && soon_ && i + 1 < size() && !group_of(i - 1).of_several())
      columns.end = std::min(columns.end, columns.begin + blocks_[i].inner);
    return columns;
  }
  /// A group as one block.
  LuNativeBlock whole(Group g) const {
    LuNativeBlock all = blocks_[g.first];
    all.columns.end = blocks_[g.last].columns.end;
    return all;
  }

  const std::vector<LuNativeBlock>& all() const { return blocks_; }
  std::size_t size() const { return blocks_.size(); }
  const LuNativeBlock& operator[](std::size_t i) const { return blocks_[i]; }
  /// Columns of the widest block, and of the widest panel.
  std::int64_t widest() const { return widest_; }
  std::int64_t widest_panel() const { return widest_panel_; }

  /// The halves of a block of more than one panel.
  std::pair<LuNativeBlock, LuNativeBlock> halves(const LuNativeBlock& block) const {
    const std::int64_t half = middle(block.columns, block.inner);
    std::pair both(block_of({block.columns.begin, half}, block.inner),
                   block_of({half, block.columns.end}, block.inner));
    both.first.set_two_parts(block.two_parts);
    both.second.set_two_parts(block.two_parts);
    return both;
  }
  /// Where the right half of a block begins.
  static std::int64_t middle(Range K, std::int64_t inner) {
    return K.begin + (K.size() / 2 + inner - 1) / inner * inner;
  }

  /// Whether the panels of the next two blocks, which step i's update of the rest may run beside, find multiprocessors enough
  /// where those of block i were: clusters that do not grow.
  bool panels_stay(std::size_t i) const {
    int most = cuda::lu_panel_places;
    for (std::size_t j = i; j < std::min(i + 3, blocks_.size()); ++j)
      for (const cuda::LuPanelShape& shape : {blocks_[j].first_shape, blocks_[j].last_shape}) {
        if (!shape.cluster || shape.blocks > most) return false;
        most = shape.blocks;
      }
    return true;
  }

 private:
  /// Whether block `next` can be of the group that begins with block `first`.
  bool can_follow(std::size_t first, std::size_t next, const LuNativeProducts<T>& products) const {
    const LuNativeBlock &before = blocks_[next - 1], &block = blocks_[next];
    const std::int64_t depth = block.columns.end - blocks_[first].columns.begin;
    const std::int64_t rows = m_ - block.columns.end, cols = n_ - rest_of_group(next);
    return block.inner == before.inner && before.columns.size() % before.inner == 0 && depth <= grouping_.deepest &&
           std::min(rows, cols) >= grouping_.least && products.better_deep(rows, cols);
  }

  static std::int64_t order_of(std::int64_t rows, std::int64_t cols) {
    return std::llround(std::sqrt(static_cast<double>(rows) * static_cast<double>(cols)));
  }
  /// Columns of a group's blocks together, at most, and rows and columns of the rest from which there are groups. Blocks of a row-major
  /// matrix are not as wide then as the table's, which are for products of their own depth: panels wait less long for what is
  /// narrower. So they have at most `widest` columns, or where what is left is still of a large order `widest_of_large`.
  struct Grouping {
    std::int64_t deepest = 0, least = 0, widest = 0, widest_of_large = 0;
    bool some() const { return deepest > 0; }
  };
  static constexpr std::int64_t large = 18'001;
  /// That of a matrix of this order.
  static constexpr Grouping grouping_of(std::int64_t order) {
    if (order < (is_complex<T> ? 12'001 : 11'501)) return {};
    if (order < large) return {1024, is_complex<T> ? 6000 : 0, 512, 512};
    return is_complex<T> ? Grouping{1536, 9000, 512, 512} : Grouping{1920, 0, 768, 640};
  }

  /// The table's blocks are those of square matrices: what is left counts by the square root of its elements; a panel's columns,
  /// besides, by its rows.
  static BlockSizes sizes_for(const TuningTable& table, std::int64_t rows, std::int64_t cols) {
    const auto of_order = [&](std::int64_t n) {
      BlockSizes sizes = table.blocks(Tuned::lu, Method::native, type_letter<T>(), n);
      if (sizes.inner_block == 0) sizes.inner_block = sizes.block;
      return sizes;
    };
    const std::int64_t order = order_of(rows, cols);
    BlockSizes sizes = of_order(order);
    if (rows > order) sizes.inner_block = std::min(sizes.inner_block, of_order(rows).inner_block);
    return sizes;
  }

  // Order from which the block after the next of a column-major matrix is updated on a queue of its own.
  static constexpr std::int64_t soon_least_double = 5000, soon_least_double_complex = 4000, soon_least_single = 6000;
  bool soon_pays(std::int64_t k, bool by_rows) const {
    if (by_rows) return true;
    if constexpr (std::is_same_v<T, float>)  // a panel that is a grid waits for these products, too
      return k >= soon_least_single && blocks_[0].first_shape.cluster;
    return !std::is_same_v<real_t<T>, float> && k >= (is_complex<T> ? soon_least_double_complex : soon_least_double);
  }

  LuNativeBlock block_of(Range K, std::int64_t inner) const {
    const std::int64_t last = K.begin + (K.size() - 1) / inner * inner;
    return {K, inner, shape_of(m_ - K.begin, std::min(inner, K.size())), shape_of(m_ - last, K.end - last)};
  }
  cuda::LuPanelShape shape_of(std::int64_t rows, std::int64_t cols) const {
    cuda::LuPanelShape shape = cuda::lu_panel_shape<T>(rows, cols, beside_);
    if (plain_) shape.boxes = false;
    return shape;
  }

  std::int64_t m_, n_;
  bool beside_;   // products that leave multiprocessors to the panels
  bool plain_;    // products within panels: with boxes those of float are sums of three
  Grouping grouping_;  // if there is a queue for the columns after the next
  bool soon_ = false;
  std::int64_t widest_ = 0, widest_panel_ = 0, widest_group_ = 0;
  std::vector<LuNativeBlock> blocks_;
  std::vector<Group> groups_;
};

}  // namespace devobj
