// The primitives of the QR methods that stay on one backend, in addition to kernels.hpp.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

#define DEVOBJ_HOUSEHOLDER_PRIMITIVES                                                                                \
  /* A = Q R by one reflector after the other, LAPACK's geqr2: every column costs one pass over what is right of it. \
     tau gets min(m, n) elements. R's signs are LAPACK's. (householder_columns) */                                   \
  template <class T>                                                                                                 \
  void householder_columns(View<T> A, View<T> tau, Queue& q);                                                        \
  /* The same for a panel, A.rows >= A.cols, A.cols <= 256, by what is fastest on the backend. (householder_columns) \
   */                                                                                                                \
  template <class T>                                                                                                 \
  void householder_panel(View<T> A, View<T> tau, Queue& q);

namespace host {
DEVOBJ_HOUSEHOLDER_PRIMITIVES
}
namespace cuda {
DEVOBJ_HOUSEHOLDER_PRIMITIVES
}
#undef DEVOBJ_HOUSEHOLDER_PRIMITIVES

}  // namespace devobj
