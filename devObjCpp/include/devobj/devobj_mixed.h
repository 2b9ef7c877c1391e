/* devObject for C: double precision solutions from single precision factors; see devobj/mixed.hpp. Part of devobj.h.
 *
 * Objects are of type double or double complex; ipiv is an integer object. iterations: 0 to 30, the solution was refined so
 * many times and A is unchanged; negative, gesv or gels did it in double precision and A holds the factors (-2: something
 * does not fit into single precision, -3: singular there, -31: refinement does not converge). info is gesv's or gels'.
 */
#ifndef DEVOBJ_MIXED_H
#define DEVOBJ_MIXED_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A X = B; B is overwritten by X unless info > 0. LAPACK's dsgesv and zcgesv, in place. DEVOBJ_METHOD_RANDOMIZED: by random
 * mixtures of rows and columns, without pivots from whole columns, and ipiv is 1, 2, ..., n; DEVOBJ_METHOD_AUTO takes it for
 * double from n = 1000 on where a GPU has thread-block clusters. */
devobj_status devobj_gesv_mixed(devobj_handle A, devobj_handle ipiv, devobj_handle B, devobj_method method,
                                int64_t block, int64_t *info, int64_t *iterations);
/* Least squares or least norm; op, shapes and B as devobj_gels. */
devobj_status devobj_gels_mixed(char op, devobj_handle A, devobj_handle B, devobj_method method, int64_t block,
                                int64_t *info, int64_t *iterations);

#ifdef __cplusplus
}
#endif

#endif
