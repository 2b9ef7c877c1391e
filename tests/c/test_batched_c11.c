/* Batches in C: three small systems and three least squares problems at once, a singular one among them, and errors. Exit
 * status: the line of the first failed check, modulo 256 but not 0. */
#include <devobj/devobj.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed_line(int line, const char *what) {
  fprintf(stderr, "test_batched_c11.c:%d: %s; last error: %s\n", line, what, devobj_last_error());
  return line % 256 == 0 ? 1 : line % 256;
}
#define CHECK(condition) \
  if (!(condition)) return failed_line(__LINE__, #condition)
#define OK(call) CHECK((call) == DEVOBJ_SUCCESS)

/* a[batch][column][row]; the second matrix has the rank 1. */
static double a[3][2][2] = {{{2, 1}, {1, 3}}, {{1, 2}, {2, 4}}, {{0, 4}, {2, 0}}};
static double b[3][2] = {{5, 10}, {1, 1}, {6, 8}};
static const double x[3][2] = {{1, 3}, {1, 1}, {2, 3}};

static int systems(void) {
  devobj_handle A = 0, B = 0, C = 0, ipiv = 0, info = 0;
  int infos[3] = {-1, -1, -1};
  double result[3][2];
  const devobj_host_array host_a = {a, 2, 6, 1, 2}, host_b = {b, 2, 3, 1, 2}, host_x = {result, 2, 3, 1, 2};
  const devobj_host_array host_info = {infos, 3, 1, 1, 3};

  OK(devobj_allocate(DEVOBJ_DOUBLE, 2, 6, &A));
  OK(devobj_allocate(DEVOBJ_DOUBLE, 2, 3, &B));
  OK(devobj_allocate(DEVOBJ_DOUBLE, 2, 3, &C));
  OK(devobj_allocate(DEVOBJ_INTEGER, 2, 3, &ipiv));
  OK(devobj_allocate(DEVOBJ_INTEGER, 3, 1, &info));
  OK(devobj_to_device(DEVOBJ_DOUBLE, host_a, A));
  OK(devobj_to_device(DEVOBJ_DOUBLE, host_b, B));
  OK(devobj_copy(B, C));
  OK(devobj_gesv_batched(3, A, ipiv, B, info));
  OK(devobj_to_host(B, DEVOBJ_DOUBLE, host_x));
  OK(devobj_to_host(info, DEVOBJ_INTEGER, host_info));
  for (int k = 0; k < 3; ++k) {
    CHECK(infos[k] == (k == 1 ? 2 : 0));
    for (int i = 0; i < 2; ++i) CHECK(fabs(result[k][i] - x[k][i]) < 1e-14);
  }
  /* the factors again */
  OK(devobj_to_device(DEVOBJ_DOUBLE, host_a, A));
  OK(devobj_getrf_batched(3, A, ipiv, info));
  OK(devobj_getrs_batched('n', 3, A, ipiv, C));
  OK(devobj_to_host(C, DEVOBJ_DOUBLE, host_x));
  for (int i = 0; i < 2; ++i) CHECK(fabs(result[2][i] - x[2][i]) < 1e-14);

  CHECK(devobj_gesv_batched(4, A, ipiv, B, info) == DEVOBJ_INVALID_ARGUMENT);
  CHECK(strstr(devobj_last_error(), "gesv_batched: A has 6 columns, which are not those of 4 matrices") != NULL);
  CHECK(devobj_getrf_batched(3, A, B, info) == DEVOBJ_INVALID_ARGUMENT);
  CHECK(strstr(devobj_last_error(), "getrf_batched: ipiv is of type 'double', must be 'integer'") != NULL);
  CHECK(devobj_getrs_batched('x', 3, A, ipiv, B) == DEVOBJ_INVALID_ARGUMENT);
  CHECK(strstr(devobj_last_error(), "getrs_batched: op is 'x'") != NULL);
  CHECK(devobj_getrf_batched(3, 0, ipiv, info) == DEVOBJ_INVALID_HANDLE);
  OK(devobj_free(A));
  OK(devobj_free(B));
  OK(devobj_free(C));
  OK(devobj_free(ipiv));
  OK(devobj_free(info));
  return 0;
}

/* Lines through (0, y0), (1, y1), (2, y2): matrix 1, t of each batch. */
static int lines(void) {
  devobj_handle A = 0, B = 0, tau = 0, info = 0;
  float matrix[2][2][3], y[2][3] = {{1, 3, 5}, {4, 3, 2}};
  const float slopes[2] = {2, -1}, starts[2] = {1, 4};
  const devobj_host_array host_a = {matrix, 3, 4, 1, 3}, host_b = {y, 3, 2, 1, 3};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i) {
      matrix[k][0][i] = 1;
      matrix[k][1][i] = (float)i;
    }
  OK(devobj_allocate(DEVOBJ_REAL, 3, 4, &A));
  OK(devobj_allocate(DEVOBJ_REAL, 3, 2, &B));
  OK(devobj_allocate(DEVOBJ_REAL, 2, 2, &tau));
  OK(devobj_allocate(DEVOBJ_INTEGER, 1, 2, &info));
  OK(devobj_to_device(DEVOBJ_REAL, host_a, A));
  OK(devobj_to_device(DEVOBJ_REAL, host_b, B));
  OK(devobj_gels_batched('N', 2, A, B, info));
  OK(devobj_to_host(B, DEVOBJ_REAL, host_b));
  for (int k = 0; k < 2; ++k) CHECK(fabsf(y[k][0] - starts[k]) < 1e-5f && fabsf(y[k][1] - slopes[k]) < 1e-5f);
  OK(devobj_to_device(DEVOBJ_REAL, host_a, A));
  OK(devobj_geqrf_batched(2, A, tau));
  OK(devobj_to_host(A, DEVOBJ_REAL, host_a));
  CHECK(fabsf(matrix[1][0][0] + sqrtf(3)) < 1e-5f);
  CHECK(devobj_geqrf_batched(2, A, info) == DEVOBJ_INVALID_ARGUMENT);
  CHECK(strstr(devobj_last_error(), "geqrf_batched: tau is of type 'integer', but A is of type 'real'") != NULL);
  CHECK(devobj_gels_batched('T', 2, A, B, info) == DEVOBJ_NOT_SUPPORTED);
  OK(devobj_free(A));
  OK(devobj_free(B));
  OK(devobj_free(tau));
  OK(devobj_free(info));
  return 0;
}

int main(void) {
  int status;
  OK(devobj_open(DEVOBJ_AUTO, -1));
  if ((status = systems()) != 0) return status;
  if ((status = lines()) != 0) return status;
  CHECK(devobj_live_objects() == 0);
  OK(devobj_close());
  return 0;
}
