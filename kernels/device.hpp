// The seam to the CUDA runtime: devices, streams, events, memory and copies, without a CUDA header.
// Functions throw devobj::Error unless marked noexcept. Implemented in kernels/cuda/device.cu.
#pragma once

#include <cstddef>
#include <string>

namespace devobj::cuda {

/// Whether CUDA device number `device` can be used by this build, and in words why or why not.
struct Probe {
  bool usable = false;
  std::string text;
};
Probe probe(int device) noexcept;

/// Name, memory and driver of a device in one line.
std::string describe(int device);

/// The CUDA context that streams, handles and memory belong to. A caller may destroy it (cudaDeviceReset); what belonged
/// to it must not be touched then.
struct Context {
  int device = 0;
  unsigned long long id = 0;  ///< never given twice in a process
};
/// The device's context, made if there is none.
Context context_of(int device);
bool alive(Context context) noexcept;

/// Makes `device` the calling thread's current one for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = -1;
};

void* stream_create(bool high_priority);
void stream_destroy(void* stream) noexcept;
/// Waits. `origin` is named in the error's text.
void stream_wait(void* stream, const char* origin);
/// Throws the error of the last launch, if there was one.
void check_launch(const char* name);

void* blas_create(void* stream);
void blas_destroy(void* handle) noexcept;
void* sparse_create(void* stream);
void sparse_destroy(void* handle) noexcept;

void* event_create();
/// An event without a time: streams wait for it sooner, and a kernel launch can mark it as begun.
void* untimed_event_create();
void event_destroy(void* event) noexcept;
void event_record(void* event, void* stream);
void event_wait(void* event);
bool event_ready(void* event);
void stream_wait_event(void* stream, void* event);
double event_milliseconds(void* from, void* to);

/// Whether the stream's work goes into a graph.
bool captured(void* stream) noexcept;

/// From the device's cached pool, in order with the stream's work; null when there is no memory.
void* allocate(std::size_t bytes, int device, void* stream) noexcept;
/// The same, and where the stream is being captured into a graph, memory that is not the graph's.
void* allocate_outside_graphs(std::size_t bytes, int device, void* stream) noexcept;
/// Silent at program exit, when the driver is gone already.
void release(void* pointer, void* stream) noexcept;
/// Gives the pool's unused memory back to the device.
void trim_pool(int device) noexcept;
void* allocate_pinned(std::size_t bytes) noexcept;
void release_pinned(void* pointer) noexcept;

enum class PointerKind { pageable, pinned, device, managed };
PointerKind pointer_kind(const void* pointer) noexcept;

void fill_bytes(void* pointer, int value, std::size_t bytes, void* stream);
/// rows_bytes x cols, with column pitches in bytes; the direction is found from the pointers.
void copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t row_bytes,
             std::size_t cols, void* stream);

}  // namespace devobj::cuda
