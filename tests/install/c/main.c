/* Solves [2 1; 1 3] x = [3; 5] through devobj.h; x = (0.8, 1.4). Exit status 0 if it is right. */
#include <devobj/devobj.h>
#include <math.h>
#include <stdio.h>

static int failed(devobj_status status) {
  if (status == DEVOBJ_SUCCESS) return 0;
  fprintf(stderr, "error: %s\n", devobj_last_error());
  return 1;
}

int main(void) {
  double a[] = {2, 1, 1, 3}, b[] = {3, 5};
  devobj_host_array host_a = {NULL, 2, 2, 1, 2}, host_b = {NULL, 2, 1, 1, 2};
  devobj_handle A, B, ipiv;
  int64_t info = -1;
  host_a.data = a;
  host_b.data = b;

  if (devobj_version() != DEVOBJ_VERSION) {
    fprintf(stderr, "the header is of version %d, the library of version %d\n", DEVOBJ_VERSION, devobj_version());
    return 1;
  }
  if (failed(devobj_open(DEVOBJ_AUTO, -1)) || failed(devobj_allocate(DEVOBJ_DOUBLE, 2, 2, &A)) ||
      failed(devobj_allocate(DEVOBJ_DOUBLE, 2, 1, &B)) || failed(devobj_allocate(DEVOBJ_INTEGER, 2, 1, &ipiv)) ||
      failed(devobj_to_device(DEVOBJ_DOUBLE, host_a, A)) || failed(devobj_to_device(DEVOBJ_DOUBLE, host_b, B)) ||
      failed(devobj_gesv(A, ipiv, B, DEVOBJ_METHOD_AUTO, 0, &info)) ||
      failed(devobj_to_host(B, DEVOBJ_DOUBLE, host_b)) || failed(devobj_free(A)) || failed(devobj_free(B)) ||
      failed(devobj_free(ipiv)) || failed(devobj_close()))
    return 1;
  printf("info = %d, x = %.3f %.3f\n", (int)info, b[0], b[1]);
  return info == 0 && fabs(b[0] - 0.8) < 1e-14 && fabs(b[1] - 1.4) < 1e-14 ? 0 : 1;
}
