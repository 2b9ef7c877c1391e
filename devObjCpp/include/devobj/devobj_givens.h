/* devObject for C: QR of band matrices by Givens rotations that are kept; see devobj/givens.hpp. Part of devobj.h.
 *
 * A (n x n) has kl diagonals below and ku above the main one and comes in LAPACK's band storage, AB (kl + ku + 1 x n). C, of
 * the real type of AB, and S (both kl x n) hold the rotations, R (kl + ku + 1 x n) the rows of R.
 */
#ifndef DEVOBJ_GIVENS_H
#define DEVOBJ_GIVENS_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A = Q R. AB is unchanged. */
devobj_status devobj_band_qr(devobj_handle AB, int64_t kl, int64_t ku, devobj_handle C, devobj_handle S,
                             devobj_handle R);
/* B = Q^H B (op 'T' for real, 'C' for complex objects) or Q B ('N'); B has n rows. */
devobj_status devobj_band_qr_apply(char op, devobj_handle C, devobj_handle S, devobj_handle B);
/* B = A^-1 B. info: 0, or the first zero on R's diagonal; B is then unchanged. Waits. */
devobj_status devobj_band_qr_solve(devobj_handle C, devobj_handle S, devobj_handle R, devobj_handle B, int64_t *info);

#ifdef __cplusplus
}
#endif

#endif
