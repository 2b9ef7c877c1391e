/* devObject for C: many small matrices at once; see devobj/batched.hpp. Part of devobj.h.
 *
 * A batch is one object with the matrices side by side, m x (n batch): a host array a[batch][n][m] (column-major matrices one
 * behind the other) is copied to it as a matrix of n batch columns. ipiv is an integer object min(m, n) x batch, tau one of A's
 * type of that shape, info an integer object of batch elements: LAPACK's info of each matrix. Nothing waits: copy info to the
 * host to look at it.
 */
#ifndef DEVOBJ_BATCHED_H
#define DEVOBJ_BATCHED_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

/* P A = L U for each matrix. */
devobj_status devobj_getrf_batched(int64_t batch, devobj_handle A, devobj_handle ipiv, devobj_handle info);
/* op(A) X = B with these factors; B is n x (nrhs batch). */
devobj_status devobj_getrs_batched(char op, int64_t batch, devobj_handle LU, devobj_handle ipiv, devobj_handle B);
/* A X = B; where info is not 0, B is unchanged. */
devobj_status devobj_gesv_batched(int64_t batch, devobj_handle A, devobj_handle ipiv, devobj_handle B, devobj_handle info);
/* A = Q R for each matrix. */
devobj_status devobj_geqrf_batched(int64_t batch, devobj_handle A, devobj_handle tau);
/* min ||B - A X|| for each matrix, m >= n and op 'N'; DEVOBJ_NOT_SUPPORTED otherwise. */
devobj_status devobj_gels_batched(char op, int64_t batch, devobj_handle A, devobj_handle B, devobj_handle info);

#ifdef __cplusplus
}
#endif

#endif
