/* devObject for C (and for Fortran by ISO_C_BINDING).
 *
 * Objects are handles. Sizes are counted in elements, indices from 1 where LAPACK counts from 1. Matrices are
 * column-major. Every function returns a status; when it is not 0, devobj_last_error() has the text, with the routine,
 * the argument and the values, and nothing was written. A singular matrix is not an error: it is info > 0.
 * Option letters are LAPACK's; lower case is accepted.
 *
 * Work runs in order on the calling thread's queue, asynchronously on a GPU: functions with a result on the host wait,
 * the others do not. Different threads may work on different objects at the same time; an object that another
 * thread has written may be used after that thread's devobj_wait(). An error of work that was under way is returned by the
 * next function that waits, with the name of the step; what that and later steps would have written is undefined.
 */
#ifndef DEVOBJ_H
#define DEVOBJ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEVOBJ_VERSION_MAJOR 0
#define DEVOBJ_VERSION_MINOR 1
#define DEVOBJ_VERSION_PATCH 0
#define DEVOBJ_VERSION (DEVOBJ_VERSION_MAJOR * 10000 + DEVOBJ_VERSION_MINOR * 100 + DEVOBJ_VERSION_PATCH)

typedef enum devobj_status {
  DEVOBJ_SUCCESS = 0,
  DEVOBJ_NOT_OPEN = 1,         /* devobj_open was not called */
  DEVOBJ_INVALID_ARGUMENT = 2, /* value, shape or type of an argument */
  DEVOBJ_INVALID_HANDLE = 3,   /* null, freed, foreign or wrong-kind handle */
  DEVOBJ_OUT_OF_MEMORY = 4,    /* host or device; every object is as before */
  DEVOBJ_NO_DEVICE = 5,        /* the CUDA backend was asked for and cannot be had */
  DEVOBJ_DEVICE_ERROR = 6,     /* a CUDA or cuBLAS call failed */
  DEVOBJ_NOT_SUPPORTED = 7,    /* not in this build, or not on this backend */
  DEVOBJ_INTERNAL_ERROR = 8
} devobj_status;

typedef enum devobj_backend { DEVOBJ_AUTO = 0, DEVOBJ_HOST = 1, DEVOBJ_CUDA = 2 } devobj_backend;

typedef enum devobj_type {
  DEVOBJ_REAL = 1,
  DEVOBJ_DOUBLE = 2,
  DEVOBJ_COMPLEX = 3,
  DEVOBJ_DOUBLE_COMPLEX = 4,
  DEVOBJ_INTEGER = 5 /* 32 bits */
} devobj_type;

typedef enum devobj_method {
  DEVOBJ_METHOD_AUTO = 0,
  DEVOBJ_METHOD_LAPACK = 1,
  DEVOBJ_METHOD_HYBRID = 2,
  DEVOBJ_METHOD_NATIVE = 3,
  DEVOBJ_METHOD_HOUSEHOLDER = 4,
  DEVOBJ_METHOD_BLOCK_HOUSEHOLDER = 5,
  DEVOBJ_METHOD_GIVENS = 6,
  DEVOBJ_METHOD_RANDOMIZED = 7 /* gesv_mixed only */
} devobj_method;

typedef enum devobj_math { DEVOBJ_MATH_AUTO = 0, DEVOBJ_MATH_STRICT = 1 } devobj_math;

/* A device object; 0 is no object. */
typedef uint64_t devobj_handle;

/* A factor such as alpha or beta: its value in the object's type. A real object needs im = 0. */
typedef struct devobj_scalar {
  double re;
  double im;
} devobj_scalar;

/* Any host array: element (i, j) is at data + (i * row_stride + j * col_stride) * element size; strides count elements
 * and may be negative. */
typedef struct devobj_host_array {
  void *data;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
} devobj_host_array;

/* ---- runtime ---- */
/* The library's version as DEVOBJ_VERSION; compare it with the header's. */
int devobj_version(void);
/* Opens the library for the process; a second call with the same backend only counts. DEVOBJ_AUTO takes the GPU if
 * there is one, otherwise the host; the environment variable DEVOBJ_BACKEND overrides it. device: number, -1 for the
 * default. Errors: DEVOBJ_NO_DEVICE with the reason, DEVOBJ_INVALID_ARGUMENT for bad values and environment variables. */
devobj_status devobj_open(devobj_backend backend, int device);
/* Undoes one devobj_open; the last one waits for all work, frees all objects, and reports an error of work that nobody has
 * waited for. Under DEVOBJ_CHECK=1 objects that were not freed are an error that names them (they are freed all the same). */
devobj_status devobj_close(void);
/* The backend in use, or DEVOBJ_AUTO when not open. */
devobj_backend devobj_backend_in_use(void);
/* Words on backend, device, BLAS, CPU core and table of block sizes, and why this backend was chosen. Valid until the thread's next call. */
const char *devobj_info(void);
/* The text of the thread's last error; "" if there was none. Valid until the thread's next failing call. */
const char *devobj_last_error(void);
/* Waits for the thread's queue. Errors of earlier work appear here, with their origin. */
devobj_status devobj_wait(void);
/* How matrices are multiplied inside algorithms on a GPU, from now on and in every thread: DEVOBJ_MATH_AUTO, those of
 * single precision by products of parts of the numbers on the tensor cores where that is faster, which is as accurate, and
 * large double complex ones in LU and QR by three real products instead of four, large ones in double precision, real
 * and complex, in LU, and complex ones in getrs and QR, by products of integers, where that is nearly as accurate;
 * DEVOBJ_MATH_STRICT, by plain products.
 * DEVOBJ_MATH=strict in the environment overrides it. Error: DEVOBJ_INVALID_ARGUMENT. */
devobj_status devobj_set_math(devobj_math math);
devobj_math devobj_math_in_use(void);
/* The number of objects that are allocated now. */
int64_t devobj_live_objects(void);

/* ---- objects ---- */
/* A rows x cols object, not initialised. Errors: DEVOBJ_INVALID_ARGUMENT, DEVOBJ_OUT_OF_MEMORY. */
devobj_status devobj_allocate(devobj_type type, int64_t rows, int64_t cols, devobj_handle *A);
/* Frees the object, or whatever else the handle stands for (a plan, a generator); its memory stays while views of it live.
 * Waits for the thread's queue if another thread allocated the object. Error: DEVOBJ_INVALID_HANDLE, twice freed included. */
devobj_status devobj_free(devobj_handle A);
/* The block of rows i1 ... i2 and columns j1 ... j2 (from 1, inclusive; i2 = i1 - 1 is empty) as an object that shares
 * the memory of A and keeps it alive. */
devobj_status devobj_view(devobj_handle A, int64_t i1, int64_t i2, int64_t j1, int64_t j2, devobj_handle *block);
/* The same object under a new handle; the old handle becomes invalid. (For languages that copy handles.) */
devobj_status devobj_move(devobj_handle A, devobj_handle *moved);
/* 1 if the handle is live, else 0. Never an error. */
int devobj_is_valid(devobj_handle A);
/* Shape and type; null pointers are left out. */
devobj_status devobj_shape(devobj_handle A, devobj_type *type, int64_t *rows, int64_t *cols, int64_t *ld);
/* The raw pointer in the backend's memory, for kernels of your own. Null for an empty object. */
devobj_status devobj_pointer(devobj_handle A, void **pointer);
/* The cudaStream_t of the thread's queue, for kernels of your own; null on the host backend. */
devobj_status devobj_stream(void **stream);
/* A = host array. type is the array's and must be the object's; shapes must agree. */
devobj_status devobj_to_device(devobj_type type, devobj_host_array host, devobj_handle A);
/* Host array = A. Waits. */
devobj_status devobj_to_host(devobj_handle A, devobj_type type, devobj_host_array host);
/* dst = src; same type and shape. */
devobj_status devobj_copy(devobj_handle src, devobj_handle dst);

/* ---- BLAS: see devobj/blas.hpp for the formulas; all operands have one type, real to double complex ---- */
devobj_status devobj_swap(devobj_handle x, devobj_handle y);
devobj_status devobj_scal(devobj_scalar alpha, devobj_handle x);
devobj_status devobj_axpy(devobj_scalar alpha, devobj_handle x, devobj_handle y);
devobj_status devobj_dotu(devobj_handle x, devobj_handle y, devobj_scalar *result);
devobj_status devobj_dotc(devobj_handle x, devobj_handle y, devobj_scalar *result);
devobj_status devobj_nrm2(devobj_handle x, double *result);
devobj_status devobj_asum(devobj_handle x, double *result);
devobj_status devobj_iamax(devobj_handle x, int64_t *position);
devobj_status devobj_gemv(char op, devobj_scalar alpha, devobj_handle A, devobj_handle x, devobj_scalar beta,
                          devobj_handle y);
devobj_status devobj_geru(devobj_scalar alpha, devobj_handle x, devobj_handle y, devobj_handle A);
devobj_status devobj_gerc(devobj_scalar alpha, devobj_handle x, devobj_handle y, devobj_handle A);
devobj_status devobj_trmv(char uplo, char op, char diag, devobj_handle A, devobj_handle x);
devobj_status devobj_trsv(char uplo, char op, char diag, devobj_handle A, devobj_handle x);
devobj_status devobj_gemm(char opA, char opB, devobj_scalar alpha, devobj_handle A, devobj_handle B,
                          devobj_scalar beta, devobj_handle C);
devobj_status devobj_symm(char side, char uplo, devobj_scalar alpha, devobj_handle A, devobj_handle B,
                          devobj_scalar beta, devobj_handle C);
devobj_status devobj_hemm(char side, char uplo, devobj_scalar alpha, devobj_handle A, devobj_handle B,
                          devobj_scalar beta, devobj_handle C);
devobj_status devobj_syrk(char uplo, char op, devobj_scalar alpha, devobj_handle A, devobj_scalar beta,
                          devobj_handle C);
devobj_status devobj_herk(char uplo, char op, double alpha, devobj_handle A, double beta, devobj_handle C);
devobj_status devobj_trmm(char side, char uplo, char op, char diag, devobj_scalar alpha, devobj_handle A,
                          devobj_handle B);
devobj_status devobj_trsm(char side, char uplo, char op, char diag, devobj_scalar alpha, devobj_handle A,
                          devobj_handle B);
devobj_status devobj_lacpy(char uplo, devobj_handle A, devobj_handle B);
devobj_status devobj_laset(char uplo, devobj_scalar offdiag, devobj_scalar diag, devobj_handle A);
/* B = op(A), op 'T' or 'C'. B may be A if A is square. */
devobj_status devobj_transpose(char op, devobj_handle A, devobj_handle B);
/* Swaps rows k1 ... k2 (from 1) as LAPACK's laswp; forward 1 or 0. ipiv: an integer object. */
devobj_status devobj_laswp(devobj_handle A, int64_t k1, int64_t k2, devobj_handle ipiv, int forward);
/* norm: '1' or 'O', 'I', 'F' or 'E', 'M' */
devobj_status devobj_lange(char norm, devobj_handle A, double *result);

/* ---- LU: see devobj/lu.hpp; ipiv and perm are integer objects ---- */
/* block: columns of a panel, 0 for the table's choice. info: 0, or the first zero pivot. */
devobj_status devobj_getrf(devobj_handle A, devobj_handle ipiv, devobj_method method, int64_t block, int64_t *info);
devobj_status devobj_getrs(char op, devobj_handle LU, devobj_handle ipiv, devobj_handle B);
devobj_status devobj_gesv(devobj_handle A, devobj_handle ipiv, devobj_handle B, devobj_method method, int64_t block,
                          int64_t *info);
devobj_status devobj_getri(devobj_handle A, devobj_handle ipiv, int64_t *info);
devobj_status devobj_lu_unpack(devobj_handle LU, devobj_handle ipiv, devobj_handle L, devobj_handle U,
                               devobj_handle perm);

/* ---- QR: see devobj/qr.hpp; tau has A's type and min(m, n) elements ---- */
devobj_status devobj_geqrf(devobj_handle A, devobj_handle tau, devobj_method method, int64_t block, int64_t *info);
devobj_status devobj_orgqr(devobj_handle A, devobj_handle tau);
devobj_status devobj_ormqr(char side, char op, devobj_handle V, devobj_handle tau, devobj_handle C);
devobj_status devobj_gels(char op, devobj_handle A, devobj_handle B, devobj_method method, int64_t block,
                          int64_t *info);
devobj_status devobj_qr(devobj_handle A, devobj_handle Q, devobj_handle R, devobj_method method, int64_t block);

/* ---- LAPACK's own argument lists, host arrays in and out (also as gpu_sgetrf_ etc. for Fortran 77 calls) ----
 * The library opens itself with DEVOBJ_AUTO if it is not open. info: 0; i > 0 as LAPACK; -i if argument i is wrong; -100 -
 * status for other faults, with the text in devobj_last_error(). Arrays that a failed call was given are unchanged.
 * geqrf: lwork = -1 is a query, work[0] gets the size; work needs max(1, n) elements as in LAPACK, and is not used. */
void gpu_sgetrf(const int *m, const int *n, float *a, const int *lda, int *ipiv, int *info);
void gpu_dgetrf(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void gpu_cgetrf(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info);
void gpu_zgetrf(const int *m, const int *n, void *a, const int *lda, int *ipiv, int *info);
void gpu_sgeqrf(const int *m, const int *n, float *a, const int *lda, float *tau, float *work, const int *lwork,
                int *info);
void gpu_dgeqrf(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
                int *info);
void gpu_cgeqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work, const int *lwork,
                int *info);
void gpu_zgeqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work, const int *lwork,
                int *info);

#ifdef __cplusplus
}
#endif

#include "devobj/devobj_qr_update.h"
#include "devobj/devobj_fft.h"
#include "devobj/devobj_prims.h"
#include "devobj/devobj_givens.h"
#include "devobj/devobj_mixed.h"
#include "devobj/devobj_rng.h"
#include "devobj/devobj_batched.h"

#endif
