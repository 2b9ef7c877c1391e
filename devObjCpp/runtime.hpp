// The process-wide state behind the C interface: opened or not, on which backend, and each thread's queue.
#pragma once

#include <string>

#include "devobj/queue.hpp"

namespace devobj::runtime {

/// devobj_open and devobj_close. Errors as there.
void open(Backend backend, int device);
void close();
/// Opens with `automatic` if nothing is open (the gpu_?getrf entries).
void ensure_open();
/// The backend in use; automatic if not open.
Backend backend_in_use() noexcept;
/// The number of the device in use.
int device_in_use() noexcept;
/// Backend, device, BLAS, CPU, and why this backend.
std::string info();
/// The calling thread's queue, made at its first use. Error: not_open; device_error in a child after fork.
Queue& queue();
/// The identity (impl) of that queue, or null if the thread has not used one since the library was opened.
const void* queue_of_thread() noexcept;

}  // namespace devobj::runtime
