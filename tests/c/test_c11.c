/* devobj.h in C11: solves two small systems, meets errors, and leaves nothing behind. Exit status: the line of the first
 * failed check, modulo 256 but not 0. */
#include <devobj/devobj.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed_line(int line, const char *what) {
  fprintf(stderr, "test_c11.c:%d: %s; last error: %s\n", line, what, devobj_last_error());
  return line % 256 == 0 ? 1 : line % 256;
}
#define CHECK(condition) \
  if (!(condition)) return failed_line(__LINE__, #condition)
#define OK(call) CHECK((call) == DEVOBJ_SUCCESS)

/* A X = B for a 3 x 3 matrix, its transpose given as a C array in row order, and two right-hand sides. */
static int solve(void) {
  double rows[3][3] = {{0, 2, 1}, {4, 1, 0}, {1, 0, 3}};
  double b[6] = {7, 6, 10, 3, 5, 4}, x[6];
  const devobj_host_array by_rows = {rows, 3, 3, 3, 1}, right = {b, 3, 2, 1, 3}, solution = {x, 3, 2, 1, 3};
  devobj_handle A = 0, B = 0, ipiv = 0, column = 0;
  int64_t info = -1, m = 0, n = 0;
  devobj_type type = DEVOBJ_INTEGER;

  OK(devobj_allocate(DEVOBJ_DOUBLE, 3, 3, &A));
  OK(devobj_allocate(DEVOBJ_DOUBLE, 3, 2, &B));
  OK(devobj_allocate(DEVOBJ_INTEGER, 3, 1, &ipiv));
  OK(devobj_to_device(DEVOBJ_DOUBLE, by_rows, A));
  OK(devobj_to_device(DEVOBJ_DOUBLE, right, B));
  OK(devobj_gesv(A, ipiv, B, DEVOBJ_METHOD_AUTO, 0, &info));
  CHECK(info == 0);
  OK(devobj_to_host(B, DEVOBJ_DOUBLE, solution));
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i) {
      double r = -b[i + 3 * k];
      for (int j = 0; j < 3; ++j) r += rows[i][j] * x[j + 3 * k];
      CHECK(fabs(r) < 1e-13);
    }
  OK(devobj_shape(B, &type, &m, &n, NULL));
  CHECK(type == DEVOBJ_DOUBLE && m == 3 && n == 2);
  OK(devobj_view(B, 1, 3, 2, 2, &column));
  OK(devobj_free(B));
  double norm = 0;
  OK(devobj_nrm2(column, &norm));
  CHECK(fabs(norm * norm - (x[3] * x[3] + x[4] * x[4] + x[5] * x[5])) < 1e-12);
  OK(devobj_free(A));
  OK(devobj_free(ipiv));
  OK(devobj_free(column));
  return 0;
}

static int errors(void) {
  devobj_handle A = 0;
  CHECK(devobj_allocate(DEVOBJ_REAL, -4, 2, &A) == DEVOBJ_INVALID_ARGUMENT);
  CHECK(strstr(devobj_last_error(), "allocate: rows and cols must not be negative, but are -4 and 2") != NULL);
  CHECK(A == 0 && devobj_is_valid(A) == 0);
  CHECK(devobj_free(A) == DEVOBJ_INVALID_HANDLE);
  return 0;
}

int main(void) {
  int status;
  CHECK(devobj_version() == DEVOBJ_VERSION);
  CHECK(devobj_wait() == DEVOBJ_NOT_OPEN);
  OK(devobj_open(DEVOBJ_AUTO, -1));
  CHECK(devobj_backend_in_use() != DEVOBJ_AUTO);
  CHECK(strstr(devobj_info(), "backend: ") != NULL);
  if ((status = solve()) != 0) return status;
  if ((status = errors()) != 0) return status;
  CHECK(devobj_live_objects() == 0);
  OK(devobj_close());
  CHECK(devobj_close() == DEVOBJ_NOT_OPEN);
  return 0;
}
