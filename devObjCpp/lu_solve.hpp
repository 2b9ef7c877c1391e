// Both triangles of an LU, as getrs solves with them.
#pragma once

#include "devobj/lu.hpp"

namespace devobj {

/// B = U^-1 L^-1 B with the triangles of getrf in LU. Does not wait.
template <class T>
void solve_triangles(View<T> LU, View<T> B, Math math, Queue& q);

}  // namespace devobj
