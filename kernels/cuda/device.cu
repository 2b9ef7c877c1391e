// The CUDA runtime behind kernels/device.hpp.
#include "kernels/device.hpp"

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <map>
#include <mutex>
#include <utility>

#include "devobj/error.hpp"
#include "kernels/device_properties.hpp"

namespace devobj::cuda {
namespace {

__global__ void probe_kernel() {}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  fail(status == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::device_error, what, ": CUDA error ",
       static_cast<int>(status), ", ", cudaGetErrorString(status));
}

// A function of the driver; the library is not linked with it, since it may be missing. Null if it has no such function.
template <class Function> Function driver_function(const char* name) noexcept {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) return reinterpret_cast<Function>(found);
  cudaGetLastError();
  return nullptr;
}

// The id of the device's primary context, the one the CUDA runtime works in; 0 if there is none at present. The
// context is asked for anew each time: the handle of one that was destroyed must not be given to the driver.
unsigned long long primary_context_id(int device) noexcept {
  static const auto state =
      driver_function<CUresult (*)(CUdevice, unsigned int*, int*)>("cuDevicePrimaryCtxGetState");
  static const auto retain = driver_function<CUresult (*)(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain");
  static const auto release = driver_function<CUresult (*)(CUdevice)>("cuDevicePrimaryCtxRelease");
  static const auto get_id = driver_function<CUresult (*)(CUcontext, unsigned long long*)>("cuCtxGetId");
  if (state == nullptr || retain == nullptr || release == nullptr || get_id == nullptr) return 0;
  unsigned int flags = 0;
  int active = 0;
  CUcontext context = nullptr;
  if (state(device, &flags, &active) != CUDA_SUCCESS || active == 0) return 0;
  if (retain(&context, device) != CUDA_SUCCESS) return 0;
  unsigned long long id = 0;
  if (get_id(context, &id) != CUDA_SUCCESS) id = 0;
  release(device);
  return id;
}

// One pool per context, as long as that lives; it keeps what was freed.
cudaMemPool_t pool_of(int device) noexcept {
  static std::mutex mutex;
  static auto* pools = new std::map<std::pair<int, unsigned long long>, cudaMemPool_t>;
  std::lock_guard lock(mutex);
  unsigned long long id = 0;
  try {
    id = context_of(device).id;
  } catch (const std::exception&) {
    return nullptr;
  }
  auto found = pools->find({device, id});
  if (found != pools->end()) return found->second;
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = device;
  cudaMemPool_t pool = nullptr;
  if (cudaMemPoolCreate(&pool, &props) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  unsigned long long keep = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  (*pools)[{device, id}] = pool;
  return pool;
}

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

Probe probe(int device) noexcept {
  Probe result;
  try {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary) {
      int driver = 0, needed = CUDART_VERSION;
      cudaDriverGetVersion(&driver);
      result.text = driver == 0 ? "no CUDA driver on this machine"
                                : "the CUDA driver supports CUDA " + std::to_string(driver / 1000) + "." +
                                      std::to_string(driver % 1000 / 10) + ", this library needs " +
                                      std::to_string(needed / 1000) + "." + std::to_string(needed % 1000 / 10);
    } else if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
      result.text = "no CUDA device on this machine";
    } else if (status != cudaSuccess) {
      result.text = std::string("CUDA cannot be used: ") + cudaGetErrorString(status);
    } else if (device < 0 || device >= count) {
      result.text = "there is no CUDA device " + std::to_string(device) + "; there are " + std::to_string(count);
    } else {
      DeviceScope scope(device);
      cudaFuncAttributes attributes;
      status = cudaFuncGetAttributes(&attributes, probe_kernel);
      if (status == cudaSuccess) {
        result.usable = true;
        result.text = describe(device);
      } else {
        result.text = describe(device) + " cannot run this build: " + cudaGetErrorString(status);
      }
    }
    cudaGetLastError();
  } catch (const std::exception& e) {
    result.usable = false;
    result.text = e.what();
  }
  return result;
}

Properties properties(int device) {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  return {p.name, 10 * p.major + p.minor};
}

std::string describe(int device) {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  return std::string(p.name) + " (device " + std::to_string(device) + ", compute capability " +
         std::to_string(p.major) + "." + std::to_string(p.minor) + ", " + std::to_string(p.totalGlobalMem >> 20) +
         " MiB)";
}

Context context_of(int device) {
  if (const unsigned long long id = primary_context_id(device)) return {device, id};
  DeviceScope scope(device);
  check(cudaFree(nullptr), "cudaFree");  // makes the context
  return {device, primary_context_id(device)};
}
bool alive(Context context) noexcept { return primary_context_id(context.device) == context.id; }

DeviceScope::DeviceScope(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  if (current == device) return;
  check(cudaSetDevice(device), "cudaSetDevice");
  previous_ = current;
}
DeviceScope::~DeviceScope() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

void* stream_create(bool high_priority) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high_priority ? greatest : least),
        "cudaStreamCreateWithPriority");
  return stream;
}
void stream_destroy(void* stream) noexcept {
  cudaStreamDestroy(as_stream(stream));
  cudaGetLastError();
}
void stream_wait(void* stream, const char* origin) { check(cudaStreamSynchronize(as_stream(stream)), origin); }
void check_launch(const char* name) { check(cudaGetLastError(), name); }

/// While it exists, the thread may take memory and make streams and handles during a capture, and the capture goes on.
class DuringCapture {
 public:
  DuringCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~DuringCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  DuringCapture(const DuringCapture&) = delete;
  DuringCapture& operator=(const DuringCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// (A handle whose making fails leaves an error in cuBLAS, which some later call of it would report as its own.)
void* blas_create(void* stream) {
  const DuringCapture relaxed;
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = cublasCreate(&handle);
  if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetStream(handle, as_stream(stream));
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
         "cublasCreate: ", cublasGetStatusString(status));
  return handle;
}
void blas_destroy(void* handle) noexcept { cublasDestroy(static_cast<cublasHandle_t>(handle)); }

void* sparse_create(void* stream) {
  const DuringCapture relaxed;
  cusparseHandle_t handle = nullptr;
  cusparseStatus_t status = cusparseCreate(&handle);
  if (status == CUSPARSE_STATUS_SUCCESS) status = cusparseSetStream(handle, as_stream(stream));
  if (status != CUSPARSE_STATUS_SUCCESS)
    fail(status == CUSPARSE_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
         "cusparseCreate: ", cusparseGetErrorString(status));
  return handle;
}
void sparse_destroy(void* handle) noexcept { cusparseDestroy(static_cast<cusparseHandle_t>(handle)); }

void* event_create() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}
void* untimed_event_create() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}
void event_destroy(void* event) noexcept { cudaEventDestroy(as_event(event)); }
void event_record(void* event, void* stream) {
  check(cudaEventRecord(as_event(event), as_stream(stream)), "cudaEventRecord");
}
void event_wait(void* event) { check(cudaEventSynchronize(as_event(event)), "cudaEventSynchronize"); }
bool event_ready(void* event) {
  const DuringCapture relaxed;  // of another thread
  cudaError_t status = cudaEventQuery(as_event(event));
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, "cudaEventQuery");
  return true;
}
void stream_wait_event(void* stream, void* event) {
  check(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0), "cudaStreamWaitEvent");
}
double event_milliseconds(void* from, void* to) {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, as_event(from), as_event(to)), "cudaEventElapsedTime");
  return ms;
}

void* allocate(std::size_t bytes, int device, void* stream) noexcept {
  cudaMemPool_t pool = pool_of(device);
  if (pool == nullptr) return nullptr;
  void* pointer = nullptr;
  if (cudaMallocFromPoolAsync(&pointer, bytes, pool, as_stream(stream)) == cudaSuccess) return pointer;
  cudaGetLastError();
  // Memory that other streams freed can be had once their work is done.
  if (cudaDeviceSynchronize() != cudaSuccess) cudaGetLastError();
  trim_pool(device);
  if (cudaMallocFromPoolAsync(&pointer, bytes, pool, as_stream(stream)) == cudaSuccess) return pointer;
  cudaGetLastError();
  return nullptr;
}
bool captured(void* stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(as_stream(stream), &status) != cudaSuccess) cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}
void* allocate_outside_graphs(std::size_t bytes, int device, void* stream) noexcept {
  if (!captured(stream)) return allocate(bytes, device, stream);
  // through a stream that is not captured
  const DuringCapture relaxed;
  void* pointer = nullptr;
  cudaStream_t other = nullptr;
  if (cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess) {
    pointer = allocate(bytes, device, other);
    if (cudaStreamSynchronize(other) != cudaSuccess) cudaGetLastError();
    cudaStreamDestroy(other);
  }
  cudaGetLastError();
  return pointer;
}
void release(void* pointer, void* stream) noexcept {
  cudaFreeAsync(pointer, as_stream(stream));
  cudaGetLastError();
}
void trim_pool(int device) noexcept {
  if (cudaMemPool_t pool = pool_of(device)) cudaMemPoolTrimTo(pool, 0);
  cudaGetLastError();
}
void* allocate_pinned(std::size_t bytes) noexcept {
  void* pointer = nullptr;
  if (cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable) == cudaSuccess) return pointer;
  cudaGetLastError();
  return nullptr;
}
void release_pinned(void* pointer) noexcept {
  cudaFreeHost(pointer);
  cudaGetLastError();
}

PointerKind pointer_kind(const void* pointer) noexcept {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();
    return PointerKind::pageable;
  }
  switch (attributes.type) {
    case cudaMemoryTypeHost: return PointerKind::pinned;
    case cudaMemoryTypeDevice: return PointerKind::device;
    case cudaMemoryTypeManaged: return PointerKind::managed;
    default: return PointerKind::pageable;
  }
}

void fill_bytes(void* pointer, int value, std::size_t bytes, void* stream) {
  check(cudaMemsetAsync(pointer, value, bytes, as_stream(stream)), "cudaMemsetAsync");
}
void copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t row_bytes,
             std::size_t cols, void* stream) {
  if (row_bytes == 0 || cols == 0) return;
  if (cols == 1 || (dst_pitch == row_bytes && src_pitch == row_bytes)) {
    check(cudaMemcpyAsync(dst, src, row_bytes * cols, cudaMemcpyDefault, as_stream(stream)), "cudaMemcpyAsync");
    return;
  }
  // A pitch beyond the driver's limit (2^31 - 1) is copied column by column.
  constexpr std::size_t pitch_limit = 0x7fffffff;
  if (dst_pitch > pitch_limit || src_pitch > pitch_limit) {
    for (std::size_t j = 0; j < cols; ++j)
      check(cudaMemcpyAsync(static_cast<char*>(dst) + j * dst_pitch, static_cast<const char*>(src) + j * src_pitch,
                            row_bytes, cudaMemcpyDefault, as_stream(stream)),
            "cudaMemcpyAsync");
    return;
  }
  check(cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, row_bytes, cols, cudaMemcpyDefault, as_stream(stream)),
        "cudaMemcpy2DAsync");
}

}  // namespace devobj::cuda
