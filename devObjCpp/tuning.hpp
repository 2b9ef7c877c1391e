// Which method and which block sizes are the fastest: tables in tuning/, one per GPU and one for the host, as
// `devobj-bench tune` writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "devobj/queue.hpp"
#include "devobj/types.hpp"

namespace devobj {

enum class Tuned { lu, qr, qr_apply };  ///< getrf; geqrf; orgqr and ormqr

struct BlockSizes {
  std::int64_t block = 64;       ///< columns of a panel
  std::int64_t inner_block = 0;  ///< native LU: columns that one kernel factors; 0: the panel
};

/// From n columns (getrf, geqrf: the smaller of both sizes; in the native ones of what is left, in the native LU the square root
/// of its elements) on, for the types whose LAPACK letters these are.
struct BlockLine {
  Tuned routine;
  Method method;
  std::string_view types;
  std::int64_t from;
  BlockSizes sizes;
};
struct MethodLine {
  Tuned routine;
  std::string_view types;
  std::int64_t from;
  Method method;
};

/// The last line that fits counts.
struct TuningTable {
  std::string_view name;    ///< of the table
  std::string_view device;  ///< part of the GPU's name; "": any
  int capability = 0;       ///< 10 * major + minor of its compute capability; 0: any
  const BlockLine* blocks_begin;
  const BlockLine* blocks_end;
  const MethodLine* methods_begin;
  const MethodLine* methods_end;

  BlockSizes blocks(Tuned routine, Method method, char type, std::int64_t n) const;
  Method method(Tuned routine, char type, std::int64_t n) const;
};

/// The table of a GPU: that of its name, else of its compute capability, else the one for any GPU.
const TuningTable& tuning_of_gpu(std::string_view name, int capability);
const TuningTable& tuning_of_host();
/// The queue's, with the lines of DEVOBJ_TUNING's file behind it, but for those of what its backend does not have; found once per
/// device.
const TuningTable& tuning_of(const Queue& q);
/// What they are, in a line for people. `device`: the GPU's number, or -1 for the host.
std::string tuning_info(int device);

/// LAPACK's letter.
template <class T>
constexpr char type_letter() {
  constexpr bool single = sizeof(real_t<T>) == 4;
  return is_complex<T> ? (single ? 'c' : 'z') : (single ? 's' : 'd');
}
template <class T>
BlockSizes tuned_blocks(Tuned routine, Method method, std::int64_t n, const Queue& q) {
  return tuning_of(q).blocks(routine, method, type_letter<T>(), n);
}
template <class T>
Method tuned_method(Tuned routine, std::int64_t n, const Queue& q) {
  return tuning_of(q).method(routine, type_letter<T>(), n);
}

}  // namespace devobj
