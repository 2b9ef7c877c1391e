/* Prints the version, the backend that DEVOBJ_BACKEND and the machine lead to and why, the device and the BLAS.
 * Exit status: 0, or the devobj_status of devobj_open. */
#include <devobj/devobj.h>
#include <stdio.h>

int main(void) {
  devobj_status status = devobj_open(DEVOBJ_AUTO, -1);
  if (status != DEVOBJ_SUCCESS) {
    fprintf(stderr, "devobj-info: %s\n", devobj_last_error());
    return (int)status;
  }
  fputs(devobj_info(), stdout);
  return (int)devobj_close();
}
