// How matrices are multiplied inside algorithms on a GPU, for the whole program.
#pragma once

#include "devobj/types.hpp"

namespace devobj {

/// From now on, in every thread: strict, products of matrices inside algorithms are plain ones; automatic (at the
/// beginning), they are what is fastest (types.hpp). What is strict by DEVOBJ_MATH=strict or by a routine's options stays
/// strict. Error: invalid_argument.
void set_math(Math math);

/// Math::strict if set_math or DEVOBJ_MATH has said so. Error: invalid_argument for a bad DEVOBJ_ environment variable.
Math math_in_use();

}  // namespace devobj
