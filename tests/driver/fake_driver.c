/* A CUDA driver for machines that have none: as libcuda.so.1 in LD_LIBRARY_PATH it answers the CUDA runtime's first
 * questions, with the version FAKE_DRIVER_VERSION and FAKE_DRIVER_INIT as the result of cuInit. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text != NULL ? atoi(text) : otherwise;
}

int cuInit(unsigned int flags) {
  (void)flags;
  return number("FAKE_DRIVER_INIT", 0);
}
int cuDriverGetVersion(int *version) {
  *version = number("FAKE_DRIVER_VERSION", 13000);
  return 0;
}
/* Every other function of the driver: CUDA_ERROR_UNKNOWN. */
static int unknown(void) { return 999; }

typedef int (*function)(void);
int cuGetProcAddress_v2(const char *symbol, function *found, int version, unsigned long long flags, int *status) {
  (void)version;
  (void)flags;
  *found = unknown;
  if (strcmp(symbol, "cuInit") == 0) *found = (function)cuInit;
  if (strcmp(symbol, "cuDriverGetVersion") == 0) *found = (function)cuDriverGetVersion;
  if (strcmp(symbol, "cuGetProcAddress") == 0) *found = (function)cuGetProcAddress_v2;
  if (status != NULL) *status = 0;
  return 0;
}
int cuGetProcAddress(const char *symbol, function *found, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(symbol, found, version, flags, NULL);
}
