/* Random numbers for C; included by devobj.h. See devobj/rng.hpp for what the generators and distributions are.
 *
 * A generator is a handle like an object's, of another kind: an object's handle in its place, or its handle in an
 * object's, is DEVOBJ_INVALID_HANDLE. Draws write into an object or a view, element by element in column order, and do
 * not wait. Parameters are given in double precision and rounded to the object's type. */
#ifndef DEVOBJ_RNG_H
#define DEVOBJ_RNG_H

#include "devobj/devobj.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of int64_t in a saved state. */
#define DEVOBJ_RNG_STATE 6

/* generator: "philox", "state", or on the cuda backend cuRAND's "curand_philox", "xorwow", "mrg32k3a", "mtgp32",
 * "mt19937", "sobol32", "scrambled_sobol32", "sobol64", "scrambled_sobol64"; case ignored. seed: any 64 bits, negative numbers too.
 * stream: 0 to 2^48 - 1 for philox, to 2^32 - 1 for state, 0 for the others. Errors: DEVOBJ_INVALID_ARGUMENT,
 * DEVOBJ_NOT_SUPPORTED (cuRAND's on the host backend), DEVOBJ_OUT_OF_MEMORY. */
devobj_status devobj_rng_create(const char *generator, int64_t seed, int64_t stream, devobj_handle *rng);
devobj_status devobj_rng_free(devobj_handle rng);
/* Another generator that goes on from the same place. */
devobj_status devobj_rng_clone(devobj_handle rng, devobj_handle *clone);
/* 1 if the handle is a live generator, else 0. Never an error. */
int devobj_rng_is_valid(devobj_handle rng);
/* Name (valid for the program's life), seed, stream, and the words used up; null pointers are left out. */
devobj_status devobj_rng_info(devobj_handle rng, const char **generator, int64_t *seed, int64_t *stream,
                              int64_t *position);
/* To the beginning of a seed's sequence. */
devobj_status devobj_rng_seed(devobj_handle rng, int64_t seed, int64_t stream);
/* Leaves out the next words; words >= 0. */
devobj_status devobj_rng_skip(devobj_handle rng, int64_t words);
devobj_status devobj_rng_save(devobj_handle rng, int64_t state[DEVOBJ_RNG_STATE]);
devobj_status devobj_rng_restore(devobj_handle rng, const int64_t state[DEVOBJ_RNG_STATE]);
devobj_status devobj_rng_save_file(devobj_handle rng, const char *file);
devobj_status devobj_rng_restore_file(devobj_handle rng, const char *file);

/* Real and complex objects (both parts of complex numbers). */
devobj_status devobj_rng_uniform(devobj_handle rng, double a, double b, devobj_handle A);
devobj_status devobj_rng_normal(devobj_handle rng, double mean, double sigma, devobj_handle A);
/* Real objects. */
devobj_status devobj_rng_lognormal(devobj_handle rng, double mean, double sigma, devobj_handle A);
devobj_status devobj_rng_exponential(devobj_handle rng, double mean, devobj_handle A);
/* Integer objects; lowest and highest within 32 bits. */
devobj_status devobj_rng_integers(devobj_handle rng, int64_t lowest, int64_t highest, devobj_handle A);
devobj_status devobj_rng_poisson(devobj_handle rng, double mean, devobj_handle A);
devobj_status devobj_rng_words(devobj_handle rng, devobj_handle A);
/* Real and integer objects. */
devobj_status devobj_rng_bernoulli(devobj_handle rng, double p, devobj_handle A);
/* One number, for loops on the host: the number, of the same words, that a draw into an object of one element makes, on any
 * backend, but made at once by the calling thread; "philox" and "state" only. Numbers are made some ahead, which changes none
 * and no position. x of the real ones: a float for DEVOBJ_REAL, a double for DEVOBJ_DOUBLE. Errors: as of the draws;
 * DEVOBJ_NOT_SUPPORTED for cuRAND's generators; x is then unchanged. */
devobj_status devobj_rng_uniform_number(devobj_handle rng, double a, double b, devobj_type type, void *x);
devobj_status devobj_rng_normal_number(devobj_handle rng, double mean, double sigma, devobj_type type, void *x);
devobj_status devobj_rng_lognormal_number(devobj_handle rng, double mean, double sigma, devobj_type type, void *x);
devobj_status devobj_rng_exponential_number(devobj_handle rng, double mean, devobj_type type, void *x);
devobj_status devobj_rng_integer(devobj_handle rng, int64_t lowest, int64_t highest, int32_t *x);
devobj_status devobj_rng_poisson_number(devobj_handle rng, double mean, int32_t *x);
devobj_status devobj_rng_bernoulli_number(devobj_handle rng, double p, int32_t *x);
devobj_status devobj_rng_word(devobj_handle rng, int32_t *x);
/* Matrices; real and complex objects. They wait. s: the singular values, as many as the smaller side of A. */
devobj_status devobj_rng_orthogonal(devobj_handle rng, devobj_handle A);
devobj_status devobj_rng_singular_values(devobj_handle rng, const double *s, int64_t count, devobj_handle A);
devobj_status devobj_rng_condition(devobj_handle rng, double condition, devobj_handle A);

#ifdef __cplusplus
}
#endif

#endif
