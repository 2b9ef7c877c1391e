// The primitives of the random numbers, on both backends; devObjCpp/rng*.cpp has the arguments checked.
#pragma once

#include <cstdint>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "kernels/kernels.hpp"
#include "kernels/random/distributions.hpp"
#include "kernels/random/xoshiro.hpp"

namespace devobj {

// Element e of A, in column order, is number `slot` + e of the distribution's: made from the words from
// (slot + e) D::words on of the sequence.
//
// random_philox: the sequence of g. The number is a function of g and slot + e alone.
// random_state: that of the lanes (random::lanes of them, in the queue's memory), which must stand at the quad that
// holds the first word; they are stepped on to the quad that holds the word after the last. `own` makes the private
// words.
#define DEVOBJ_RANDOM_PRIMITIVES                                                                                    \
  template <class D>                                                                                                \
  void random_philox(random::Philox g, std::uint64_t slot, D d, View<typename D::value> A, Queue& q);               \
  template <class D>                                                                                                \
  void random_state(random::Xoshiro* lanes, random::Philox own, std::uint64_t slot, D d, View<typename D::value> A, \
                    Queue& q);

namespace host {
DEVOBJ_RANDOM_PRIMITIVES
}
namespace cuda {
DEVOBJ_RANDOM_PRIMITIVES
}  // namespace cuda
#undef DEVOBJ_RANDOM_PRIMITIVES

}  // namespace devobj
