/* Fourier transforms for C; see devobj/fft.hpp for the formulas and the arrays' shapes. Included by devobj.h. */
#ifndef DEVOBJ_FFT_H
#define DEVOBJ_FFT_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the results are multiplied by; N is the number of points of one transform. */
typedef enum devobj_fft_scaling {
  DEVOBJ_FFT_UNSCALED = 0, /* nothing */
  DEVOBJ_FFT_INVERSE = 1,  /* 1 / N, after the inverse transform */
  DEVOBJ_FFT_UNITARY = 2   /* 1 / sqrt(N), after both */
} devobj_fft_scaling;

/* A plan for `batch` transforms of n[0] x ... x n[rank - 1] points, rank 1 to 3. type is that of the array before the
 * forward transform: DEVOBJ_COMPLEX and DEVOBJ_DOUBLE_COMPLEX transform between complex arrays, DEVOBJ_REAL and DEVOBJ_DOUBLE
 * between a real one and the first half, n[0] / 2 + 1 rows, of its complex transform. overwrite_input 1: an inverse
 * transform to real may use its input as workspace; 0: the input is kept. measure 1: on the host several algorithms are
 * timed first. Freed by devobj_free. Errors: DEVOBJ_INVALID_ARGUMENT, DEVOBJ_NOT_SUPPORTED (the host backend without
 * FFTW), DEVOBJ_OUT_OF_MEMORY. */
devobj_status devobj_fft_plan(devobj_type type, int rank, const int64_t *n, int64_t batch, devobj_fft_scaling scaling,
                              int overwrite_input, int measure, devobj_handle *plan);
/* out = the transform of in; out may be in (complex), or share its memory by devobj_fft_real_view (real). */
devobj_status devobj_fft_forward(devobj_handle plan, devobj_handle in, devobj_handle out);
devobj_status devobj_fft_inverse(devobj_handle plan, devobj_handle in, devobj_handle out);
/* Type and shape of the plan's arrays, before (transformed 0) or after (1) the forward transform; null pointers are left
 * out. */
devobj_status devobj_fft_shape(devobj_handle plan, int transformed, devobj_type *type, int64_t *rows, int64_t *cols);
/* A real array of `rows` rows in the memory of the complex array C, which it keeps alive: its leading dimension is twice
 * that of C, as transforms between real and complex in place want it. Error: more than twice the rows of C. */
devobj_status devobj_fft_real_view(devobj_handle C, int64_t rows, devobj_handle *R);

#ifdef __cplusplus
}
#endif

#endif
