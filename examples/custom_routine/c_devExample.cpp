// The C function behind devf_example: takes a handle, checks it, and runs example.cu's code where the object is.
#include <devobj/devobj.h>

extern "C" {
const char* example_on_gpu(float* A, int64_t rows, int64_t cols, int64_t ld, float factor, float shift, void* stream);
void example_on_host(float* A, int64_t rows, int64_t cols, int64_t ld, float factor, float shift);

/// A = factor A + shift for an object of type 'real'. Does not wait for the GPU.
/// Returns a status; if it is not DEVOBJ_SUCCESS, *text is the reason, valid until the thread's next error.
devobj_status cf_example(devobj_handle A, float factor, float shift, const char** text) {
  devobj_type type;
  int64_t rows, cols, ld;
  void *pointer, *stream;
  devobj_status status = devobj_shape(A, &type, &rows, &cols, &ld);
  if (status == DEVOBJ_SUCCESS) status = devobj_pointer(A, &pointer);
  if (status == DEVOBJ_SUCCESS) status = devobj_stream(&stream);
  if (status != DEVOBJ_SUCCESS) {
    *text = devobj_last_error();
    return status;
  }
  if (type != DEVOBJ_REAL) {
    *text = "A must be of type 'real'";
    return DEVOBJ_INVALID_ARGUMENT;
  }
  if (rows == 0 || cols == 0) return DEVOBJ_SUCCESS;

  float* elements = static_cast<float*>(pointer);
  if (devobj_backend_in_use() == DEVOBJ_CUDA) {
    *text = example_on_gpu(elements, rows, cols, ld, factor, shift, stream);
    return *text == nullptr ? DEVOBJ_SUCCESS : DEVOBJ_DEVICE_ERROR;
  }
  status = devobj_wait();  // earlier work on A may still run on the queue's own thread
  if (status != DEVOBJ_SUCCESS) {
    *text = devobj_last_error();
    return status;
  }
  example_on_host(elements, rows, cols, ld, factor, shift);
  return DEVOBJ_SUCCESS;
}
}
