// The loops behind RandomFill, in the namespace DEVOBJ_SIMD_SPACE: a batch of quads at a time.
#include "kernels/host/random_fill.hpp"
#include "kernels/host/random_philox.inl"

namespace devobj::host::DEVOBJ_SIMD_SPACE {
namespace {

/// Quads below which a batch is not worth making for them.
constexpr std::int64_t least_batch = batch / 4;

/// Distributions with an element of each word (or two), which are made in the order of the quads. The others are made
/// from arrays, so that what comes from several words of a quad is in vectors.
template <class D>
concept ByWord = requires(const D& d, typename D::value& out) {
  d.number(0, out);
};

/// Distributions whose elements come two by two from two words.
template <class D>
concept InPairs = requires(const D& d, typename D::value (&out)[2]) {
  d.pair(nullptr, out);
};

/// Elements of quads, from number `begin` of the first on.
template <class D>
__attribute__((noinline)) void few(const random::Quad* quads, random::Philox own, const D& d, std::uint64_t block,
                                   std::int64_t begin, std::int64_t count, typename D::value* out) {
  constexpr int per_quad = 4 / D::words;
  if constexpr (ByWord<D>) {
    // until one needs private words
    using Word = std::conditional_t<D::words == 1, std::uint32_t, std::uint64_t>;
    const auto* words = reinterpret_cast<const unsigned char*>(quads) + begin * static_cast<std::int64_t>(sizeof(Word));
    std::int64_t k = 0;
    for (; k < count; ++k)
      if (d.number(load<Word>(words + k * static_cast<std::int64_t>(sizeof(Word))), out[k])) [[unlikely]]
        break;
    begin += k;
    count -= k;
    out += k;
  }
  constexpr int at_once = InPairs<D> ? 2 : per_quad;
  const std::int64_t end = begin + count;
  for (std::int64_t e = begin; e < end;) {
    const random::Quad& quad = quads[e / per_quad];
    typename D::value v[at_once];
    if constexpr (InPairs<D>)
      d.pair(quad.w + e % per_quad / 2 * 2, v);
    else
      d(quad, own, block + static_cast<std::uint64_t>(e / per_quad), v);
    do *out++ = v[e++ % at_once];
    while (e < end && e % at_once != 0);
  }
}

/// A batch in the order of the quads -> elements.
template <bool past_the_cache, ByWord D>
DEVOBJ_INLINE void transform(const Words4 (&v)[vectors], const D& d, random::Philox own, std::uint64_t block,
                             typename D::value* __restrict out) {
  using T = typename D::value;
  using Word = std::conditional_t<D::words == 1, std::uint32_t, std::uint64_t>;
  constexpr int elements = 4 * batch / D::words;
  alignas(64) Word words[elements];
  alignas(64) T values[elements];
  DEVOBJ_WRITTEN_OUT
  for (int i = 0; i < vectors; ++i) store(words + i * (vector_bytes / sizeof(Word)), v[i]);
  Word open = 0;
  const auto number = [&](int k) { open |= static_cast<Word>(d.number(words[k], values[k])); };
  if constexpr (D::table == random::Table::none) {
    for (int k = 0; k < elements; ++k) number(k);
  } else {
    // a vector's elements together, whose look-ups the compiler would not have in a loop's vectors
    constexpr int in_vector = vector_bytes / sizeof(Word);
    DEVOBJ_WRITTEN_OUT
    for (int i = 0; i < vectors; ++i)
      for (int k = 0; k < in_vector; ++k) number(i * in_vector + k);
  }
  if (open != 0) [[unlikely]] {
    random::Quad quads[batch];
    for (int i = 0; i < vectors; ++i) store(reinterpret_cast<unsigned char*>(quads) + i * vector_bytes, v[i]);
    few(quads, own, d, block, 0, elements, values);
  }
  constexpr int in_store = vector_bytes / sizeof(T);
  DEVOBJ_WRITTEN_OUT
  for (int i = 0; i < elements / in_store; ++i)
    store<past_the_cache>(out + i * in_store, load<Words4>(values + i * in_store));
}
/// A batch in arrays -> elements.
template <bool past_the_cache, class D>
DEVOBJ_INLINE void transform(const std::uint32_t (&w)[4][batch], const D& d, random::Philox own, std::uint64_t block,
                             typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  alignas(64) typename D::value columns[per_quad][batch];
  for (int j = 0; j < batch; ++j) {
    const random::Quad quad = {{w[0][j], w[1][j], w[2][j], w[3][j]}};
    typename D::value v[per_quad];
    d(quad, own, block + static_cast<std::uint64_t>(quad_at(j)), v);
    for (int k = 0; k < per_quad; ++k) columns[k][j] = v[k];
  }
  write<past_the_cache>(columns, out);
}

template <class D>
bool can_stream(const typename D::value* out) {
  return reinterpret_cast<std::uintptr_t>(out) % vector_bytes == 0;
}

// ---- philox ----

/// The batch at `place` of the row -> elements.
template <bool past_the_cache, class D>
DEVOBJ_INLINE void row_batch(const PhiloxRowVectors& row, std::uint32_t place, const D& d, const random::Philox& g,
                             std::uint64_t block, typename D::value* __restrict out) {
  Words4 pairs[groups][2];
  row.batch_pairs(place, pairs);
  if constexpr (ByWord<D>) {
    Words4 v[vectors];
    in_order(pairs, v);
    transform<past_the_cache>(v, d, g, block, out);
  } else {
    alignas(64) std::uint32_t w[4][batch];
    in_arrays(pairs, w);
    transform<past_the_cache>(w, d, g, block, out);
  }
}

/// Quads one by one.
template <class D>
__attribute__((noinline)) void philox_quads(const random::Philox& g, const random::PhiloxKeys& keys, const D& d,
                                            std::uint64_t block, std::int64_t count, typename D::value* out) {
  for (std::int64_t b = 0; b < count; ++b) {
    const random::Quad quad = g.quad(block + static_cast<std::uint64_t>(b), keys);
    few(&quad, g, d, block + static_cast<std::uint64_t>(b), 0, 4 / D::words, out + b * (4 / D::words));
  }
}

// A draw's quads by rows, and within a row by batches. A batch on the edge of two rows is made quad by quad, so that
// later ones stay where streaming stores can go.
//
//   row       [              b b b | b b b b b b b b b b b b b b | b b b        ]
//             first quad ----^       e: on the edge              ^
template <bool past_the_cache, class D>
void philox_loop(const random::Philox& g, const D& distribution, std::uint64_t block, std::int64_t count,
                 typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  const D d = distribution;
  const random::PhiloxKeys keys(g.seed);
  while (count >= least_batch) {
    const std::uint32_t place = static_cast<std::uint32_t>(block) % random::PhiloxRow::quads;
    const std::int64_t room = random::PhiloxRow::quads - place, here = std::min(count, room);
    const PhiloxRowVectors row(g, block, keys);
    std::int64_t b = 0;
    for (; b + batch <= here; b += batch)
      row_batch<past_the_cache>(row, place + static_cast<std::uint32_t>(b), d, g, block + static_cast<std::uint64_t>(b),
                                out + b * per_quad);
    const std::int64_t left = std::min<std::int64_t>(count - b, batch);
    if (b + batch <= room && left >= least_batch) {
      alignas(64) typename D::value rest[batch * per_quad];
      row_batch<false>(row, place + static_cast<std::uint32_t>(b), d, g, block + static_cast<std::uint64_t>(b), rest);
      __builtin_memcpy(out + b * per_quad, rest, static_cast<std::size_t>(left * per_quad) * sizeof rest[0]);
    } else {
      philox_quads(g, keys, d, block + static_cast<std::uint64_t>(b), left, out + b * per_quad);
    }
    block += static_cast<std::uint64_t>(b + left);
    count -= b + left;
    out += (b + left) * per_quad;
  }
  philox_quads(g, keys, d, block, count, out);
  vectors_done<past_the_cache>();
}

template <class D>
void philox(random::Philox g, const D& d, std::uint64_t block, std::int64_t count, bool past_the_cache,
            typename D::value* out) {
  if (past_the_cache && can_stream<D>(out))
    philox_loop<true>(g, d, block, count, out);
  else
    philox_loop<false>(g, d, block, count, out);
}

// ---- state ----

/// The next quads of a batch of lanes -> elements.
template <bool past_the_cache, class D>
DEVOBJ_INLINE void lanes_batch(random::Xoshiro* lanes, const D& d, const random::Philox& own, std::uint64_t block,
                               typename D::value* __restrict out) {
  alignas(64) std::uint32_t w[4][batch];
  xoshiro_batch(lanes, w);
  if constexpr (ByWord<D>) {
    Words4 v[vectors];
    in_order(w, v);
    transform<past_the_cache>(v, d, own, block, out);
  } else {
    transform<past_the_cache>(w, d, own, block, out);
  }
}

template <bool past_the_cache, class D>
void state_loop(random::Xoshiro* __restrict lanes, const random::Philox& own, const D& distribution,
                std::uint64_t block, std::int64_t count, typename D::value* __restrict out) {
  constexpr int per_quad = 4 / D::words;
  const D d = distribution;
  std::int64_t b = 0;
  for (; b + batch <= count; b += batch)
    lanes_batch<past_the_cache>(lanes + b, d, own, block + static_cast<std::uint64_t>(b), out + b * per_quad);
  const std::int64_t left = count - b;
  if (left >= least_batch) {
    // the places of no lane have that of the first: words of it need private words no oftener than others
    random::Xoshiro states[batch];
    for (std::int64_t l = 0; l < batch; ++l) states[l] = lanes[b + (l < left ? l : 0)];
    alignas(64) typename D::value rest[batch * per_quad];
    lanes_batch<false>(states, d, own, block + static_cast<std::uint64_t>(b), rest);
    __builtin_memcpy(lanes + b, states, static_cast<std::size_t>(left) * sizeof states[0]);
    __builtin_memcpy(out + b * per_quad, rest, static_cast<std::size_t>(left * per_quad) * sizeof rest[0]);
  } else {
    for (; b < count; ++b) {
      const random::Quad quad = lanes[b].quad();
      few(&quad, own, d, block + static_cast<std::uint64_t>(b), 0, per_quad, out + b * per_quad);
    }
  }
  vectors_done<past_the_cache>();
}

template <class D>
void state(random::Xoshiro* lanes, random::Philox own, const D& d, std::uint64_t block, std::int64_t count,
           bool past_the_cache, typename D::value* out) {
  if (past_the_cache && can_stream<D>(out))
    state_loop<true>(lanes, own, d, block, count, out);
  else
    state_loop<false>(lanes, own, d, block, count, out);
}

}  // namespace

template <class D>
const RandomFill<D>& fill() noexcept {
  static constexpr RandomFill<D> functions = {philox<D>, state<D>, few<D>};
  return functions;
}

#define INSTANTIATE(D) template const RandomFill<D>& fill<D>() noexcept;
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host::DEVOBJ_SIMD_SPACE
