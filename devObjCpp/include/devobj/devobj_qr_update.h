/* Updating a QR factorization: see devobj/qr_update.hpp, whose forms (full, economic, without Q) and shapes hold here too.
 *
 * Q, Q1, d, d1 and b may be 0, which is absent. k counts from 1: columns or rows are added before column or row k, or the
 * first that goes is k. block: rows of a block of the chase, 0 for the library's choice.
 */
#ifndef DEVOBJ_QR_UPDATE_H
#define DEVOBJ_QR_UPDATE_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum devobj_update_method {
  DEVOBJ_UPDATE_AUTO = 0, /* what devobj_qr_update_cost says is faster */
  DEVOBJ_UPDATE_UPDATE = 1,
  DEVOBJ_UPDATE_REFACTOR = 2
} devobj_update_method;

typedef enum devobj_qr_update {
  DEVOBJ_QR_ADD_COLS = 1,
  DEVOBJ_QR_REMOVE_COLS = 2,
  DEVOBJ_QR_ADD_ROWS = 3,
  DEVOBJ_QR_REMOVE_ROWS = 4,
  DEVOBJ_QR_RANK_UPDATE = 5
} devobj_qr_update;

typedef enum devobj_qr_form {
  DEVOBJ_QR_FULL = 1,
  DEVOBJ_QR_ECONOMIC = 2,
  DEVOBJ_QR_WITHOUT_Q = 3
} devobj_qr_form;

/* The columns of U (m x p) come before column k, 1 <= k <= n + 1. b: economic form with d. */
devobj_status devobj_qr_add_cols(devobj_handle Q, devobj_handle R, int64_t k, devobj_handle U, devobj_handle Q1,
                                 devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_handle b,
                                 devobj_update_method method, int64_t block);
/* Columns k ... k + p - 1 go. */
devobj_status devobj_qr_remove_cols(devobj_handle Q, devobj_handle R, int64_t k, int64_t p, devobj_handle Q1,
                                    devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_update_method method,
                                    int64_t block);
/* The rows of U (p x n) come before row k, 1 <= k <= m + 1; without Q any k. b (p rows): with d. */
devobj_status devobj_qr_add_rows(devobj_handle Q, devobj_handle R, int64_t k, devobj_handle U, devobj_handle Q1,
                                 devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_handle b,
                                 devobj_update_method method, int64_t block);
/* Rows k ... k + p - 1 go; without Q they are U (p x n), otherwise U is 0. b: with d, in economic form all m rows, without Q
 * the p that go. info: 0, or > 0 for a downdate that breaks down (without Q). */
devobj_status devobj_qr_remove_rows(devobj_handle Q, devobj_handle R, int64_t k, int64_t p, devobj_handle U,
                                    devobj_handle Q1, devobj_handle R1, devobj_handle d, devobj_handle d1,
                                    devobj_handle b, devobj_update_method method, int64_t block, int64_t *info);
/* A + U V^H; Q, R and d are overwritten. b: economic form with d. */
devobj_status devobj_qr_rank_update(devobj_handle U, devobj_handle V, devobj_handle Q, devobj_handle R,
                                    devobj_handle d, devobj_handle b, devobj_update_method method, int64_t block);
/* Expected milliseconds of an update and of a new factorization, on the backend in use. type: DEVOBJ_REAL, ... */
devobj_status devobj_qr_update_cost(devobj_qr_update what, devobj_qr_form form, devobj_type type, int64_t m, int64_t n,
                                    int64_t p, int64_t k, double *update_ms, double *refactor_ms);

#ifdef __cplusplus
}
#endif

#endif
