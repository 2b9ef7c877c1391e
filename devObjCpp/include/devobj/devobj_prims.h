/* Parallel primitives for C; see devobj/prims.hpp for what they compute, and what a NaN does. Included by devobj.h.
 * Objects are integer, real or double, and vectors: a column, or a matrix whose leading dimension is its rows. */
#ifndef DEVOBJ_PRIMS_H
#define DEVOBJ_PRIMS_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum devobj_scan_kind { DEVOBJ_SCAN_INCLUSIVE = 0, DEVOBJ_SCAN_EXCLUSIVE = 1 } devobj_scan_kind;
typedef enum devobj_order { DEVOBJ_ASCENDING = 0, DEVOBJ_DESCENDING = 1 } devobj_order;

/* y = the running sums of x; y may be x. */
devobj_status devobj_scan(devobj_scan_kind kind, devobj_handle x, devobj_handle y);
/* The same, beginning anew where the integer object heads is not 0. */
devobj_status devobj_segmented_scan(devobj_scan_kind kind, devobj_handle x, devobj_handle heads, devobj_handle y);
/* The sum of x's elements, formed in 64-bit integers or in double precision; reduce_sum_i is for integer objects. Wait. */
devobj_status devobj_reduce_sum(devobj_handle x, double *result);
devobj_status devobj_reduce_sum_i(devobj_handle x, int64_t *result);
/* The smallest, largest element and its first position from 1; position 0 if there is none. Wait. */
devobj_status devobj_reduce_min(devobj_handle x, double *value, int64_t *position);
devobj_status devobj_reduce_max(devobj_handle x, double *value, int64_t *position);
/* sorted = keys in order, stable; sorted may be keys. */
devobj_status devobj_sort_keys(devobj_order order, devobj_handle keys, devobj_handle sorted);
/* The same with values of any of the three types; each output may be its input. */
devobj_status devobj_sort_pairs(devobj_order order, devobj_handle keys, devobj_handle values, devobj_handle sorted_keys,
                                devobj_handle sorted_values);
/* y = the elements of x where the integer object flags is not 0, count of them. y has at least x's elements. Waits. */
devobj_status devobj_compact(devobj_handle x, devobj_handle flags, devobj_handle y, int64_t *count);
/* The integer object counts = how many elements of x are in each of equal bins from lower to upper. For an integer x both
 * must be integers. */
devobj_status devobj_histogram(devobj_handle x, double lower, double upper, devobj_handle counts);
/* y = alpha A x + beta y; A in compressed rows: offsets (rows + 1) and columns are integer objects that count from base, 0
 * or 1; values, x and y real or double. */
devobj_status devobj_spmv(double alpha, int base, devobj_handle offsets, devobj_handle columns, devobj_handle values,
                          devobj_handle x, double beta, devobj_handle y);

#ifdef __cplusplus
}
#endif

#endif
