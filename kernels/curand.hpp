// The seam to cuRAND, without its header. Functions throw devobj::Error unless marked noexcept. Implemented in
// kernels/cuda/random_curand.cu.
#pragma once

#include <cstdint>

#include "devobj/queue.hpp"
#include "devobj/rng.hpp"
#include "kernels/random.hpp"

namespace devobj::cuda {

/// A generator of cuRAND on a device, in cuRAND's legacy order, at the start of its sequence. Quasirandom ones
/// have one dimension.
void* curand_create(Generator kind, std::uint64_t seed, int device);
void curand_destroy(void* handle) noexcept;
/// Whether the generator can be set to a position without making all numbers before it.
bool curand_can_skip(Generator kind) noexcept;
/// Number `position` of the sequence is the next.
void curand_skip_to(void* handle, std::uint64_t position, Queue& q);
/// The next `count` numbers: 32 bits each, 64 bits from sobol64 and scrambled_sobol64. Does not wait.
void curand_generate(void* handle, Generator kind, void* numbers, std::int64_t count, Queue& q);

/// Quads [begin, end) of a draw of A.size() elements from words[0] on; `words` has those of quads begin to end - 1.
/// `position`, a multiple of 4, is that of the draw's first word.
template <class D>
void random_words(const std::uint32_t* words, std::int64_t begin, std::int64_t end, random::Philox own,
                  std::uint64_t position, D d, View<typename D::value> A, Queue& q);
/// Elements begin ... end - 1 of A, column by column, from as many quasirandom numbers of 32 or 64 bits, by the inverse
/// of the distribution's function. Words, uniform, normal, lognormal and exponential numbers only.
template <class D>
void random_quasi(const void* numbers, bool wide, std::int64_t begin, std::int64_t end, D d, View<typename D::value> A,
                  Queue& q);

}  // namespace devobj::cuda
