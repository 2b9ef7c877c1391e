#include "queue_impl.hpp"

#include <algorithm>
#include <bit>

#include "devobj/error.hpp"
#include "environment.hpp"
#include "injected.hpp"
#include "kernels/device.hpp"
#include "kernels/kernels.hpp"
#include "memory.hpp"

namespace devobj {

// ---- Event ----

Event::Impl::~Impl() {
  if constexpr (cuda_built)
    if (cuda_event != nullptr) cuda::event_destroy(cuda_event);
}
void Event::Impl::mark(std::exception_ptr failed) {
  std::lock_guard lock(mutex);
  done = true;
  error = failed;
  reached.notify_all();
}
void Event::Impl::wait() {
  if constexpr (cuda_built)
    if (cuda_event != nullptr) return cuda::event_wait(cuda_event);
  std::unique_lock lock(mutex);
  reached.wait(lock, [this] { return done; });
}
void Event::Impl::wait_for_success() {
  wait();
  std::lock_guard lock(mutex);
  if (error) std::rethrow_exception(error);
}
bool Event::Impl::ready() {
  if constexpr (cuda_built)
    if (cuda_event != nullptr) return cuda::event_ready(cuda_event);
  std::lock_guard lock(mutex);
  return done;
}

void Event::wait() const {
  if (impl_) impl_->wait();
}
bool Event::ready() const { return !impl_ || impl_->ready(); }

double Event::milliseconds_since(const Event& earlier) const {
  if constexpr (cuda_built)
    if (impl_ && earlier.impl_ && impl_->cuda_event != nullptr && earlier.impl_->cuda_event != nullptr) {
      if (!impl_->timed || !earlier.impl_->timed)
        fail(Status::not_supported, "Event::milliseconds_since: an event was recorded without a time");
      wait();
      return cuda::event_milliseconds(earlier.impl_->cuda_event, impl_->cuda_event);
    }
  fail(Status::not_supported, "Event::milliseconds_since: both events must be of CUDA queues");
}

// ---- Queue ----

BackendChoice choose_backend(Backend wanted) {
  const Environment& env = environment();
  if (wanted == Backend::host) return {Backend::host, "the host backend was asked for"};
  if (wanted == Backend::automatic && env.backend == Backend::host)
    return {Backend::host, "DEVOBJ_BACKEND=host"};
  const bool required = wanted == Backend::cuda || env.backend == Backend::cuda;
  if constexpr (cuda_built) {
    cuda::Probe found = cuda::probe(env.device);
    if (found.usable)
      return {Backend::cuda, wanted == Backend::cuda          ? "the cuda backend was asked for"
                             : env.backend == Backend::cuda ? "DEVOBJ_BACKEND=cuda"
                                                              : "a GPU was found: " + found.text};
    if (required) fail(Status::no_device, "open: the cuda backend was asked for, but ", found.text);
    return {Backend::host, found.text};
  } else {
    if (required) fail(Status::no_device, "open: the cuda backend was asked for, but this library was built without CUDA");
    return {Backend::host, "this library was built without CUDA"};
  }
}

Queue::Queue(Backend backend, QueueOptions options) : impl_(std::make_shared<Impl>()) {
  const Environment& env = environment();
  impl_->backend = backend == Backend::host ? Backend::host : choose_backend(backend).backend;
  on_cuda_ = impl_->backend == Backend::cuda;
  if constexpr (cuda_built) {
    if (on_cuda_) {
      impl_->device = options.device < 0 ? env.device : options.device;
      if (options.device >= 0 && options.device != env.device) {
        cuda::Probe found = cuda::probe(options.device);
        if (!found.usable) fail(Status::no_device, "Queue: ", found.text);
      }
      cuda::DeviceScope scope(impl_->device);
      impl_->context = cuda::context_of(impl_->device);
      impl_->stream = cuda::stream_create(options.high_priority);
      synchronous_ = false;
      return;
    }
  }
  HostMode mode = options.host_mode == HostMode::from_environment ? env.host_mode : options.host_mode;
  synchronous_ = mode == HostMode::synchronous;
  if (!synchronous_) impl_->worker = std::make_unique<HostWorker>();
}

Queue::~Queue() {
  if (!impl_) return;
  if (impl_->worker) impl_->worker->wait();
  if constexpr (cuda_built) {
    if (on_cuda_ && impl_->alive()) {
      try {
        cuda::stream_wait(impl_->stream, "~Queue");
      } catch (...) {  // a destructor is silent; the error was the waiting caller's to take
      }
    }
  }
}

Queue::Impl::~Impl() {
  side_queues[0].clear();
  side_queues[1].clear();
  worker.reset();
  if constexpr (cuda_built) {
    if (!alive()) return;
    for (const Growing* memory : {&scratch, &workspace})
      for (void* block : memory->blocks) cuda::release(block, stream);
    if (blas != nullptr) cuda::blas_destroy(blas);
    if (sparse != nullptr) cuda::sparse_destroy(sparse);
    if (stream != nullptr) cuda::stream_destroy(stream);
  }
}

bool Queue::Impl::alive() const noexcept {
  if constexpr (cuda_built)
    if (backend == Backend::cuda) return cuda::alive(context);
  return true;
}

void Queue::Impl::release_in_order(void* pointer) noexcept {
  if (worker) {
    try {
      worker->enqueue("release", [pointer] { memory::release_host(pointer); }, true);
      return;
    } catch (...) {
      worker->wait();
    }
  }
  memory::release_host(pointer);
}

Backend Queue::backend() const noexcept { return impl_->backend; }
int Queue::device() const noexcept { return impl_->device; }
void* Queue::stream() const noexcept { return impl_->stream; }

void* Queue::blas() const {
  if constexpr (cuda_built)
    if (on_cuda_ && impl_->blas == nullptr) {
      cuda::DeviceScope scope(impl_->device);
      impl_->blas = cuda::blas_create(impl_->stream);
    }
  return impl_->blas;
}

namespace {

/// Device memory of a queue's own, which a graph that is being captured does not take for its own.
void* own_memory(std::size_t bytes, const Queue::Impl& impl) {
  void* memory = nullptr;
  if constexpr (cuda_built) {
    cuda::DeviceScope scope(impl.device);
    if (!memory::next_allocation_fails()) memory = cuda::allocate_outside_graphs(bytes, impl.device, impl.stream);
    if (memory == nullptr) fail(Status::out_of_memory, "allocate: no memory for ", bytes, " bytes on the GPU");
  }
  return memory;
}

void* at_least(std::size_t bytes, Queue::Impl::Growing& memory, const Queue::Impl& impl) {
  auto& all = memory.blocks;
  if (all.empty() || bytes > memory.bytes) {
    bytes = std::bit_ceil(bytes);  // so that all together are at most twice the largest
    all.reserve(all.size() + 1);
    all.push_back(own_memory(bytes, impl));
    memory.bytes = bytes;
  }
  return all.back();
}

}  // namespace

void* Queue::workspace(std::size_t bytes) {
  return on_cuda_ ? at_least(bytes, impl_->workspace, *impl_) : nullptr;
}

void* Queue::sparse() const {
  if constexpr (cuda_built)
    if (on_cuda_ && impl_->sparse == nullptr) {
      cuda::DeviceScope scope(impl_->device);
      impl_->sparse = cuda::sparse_create(impl_->stream);
    }
  return impl_->sparse;
}

void* Queue::scratch(std::size_t bytes) {
  constexpr std::size_t least = 64 * 1024;
  return on_cuda_ ? at_least(std::max(bytes, least), impl_->scratch, *impl_) : nullptr;
}

void Queue::starts(const char* name) { injected::may_fail(name); }
void Queue::enqueue(const char* name, std::function<void()> work) { impl_->worker->enqueue(name, std::move(work), false); }

void Queue::launched(const char* name) {
  impl_->last_launch = name;
  if constexpr (cuda_built) {
    cuda::check_launch(name);
    if (environment().check) cuda::stream_wait(impl_->stream, name);
  }
  injected::may_fail(name);
}

void Queue::wait() {
  if constexpr (cuda_built)
    if (on_cuda_) return cuda::stream_wait(impl_->stream, impl_->last_launch);
  if (!impl_->worker) return;
  impl_->worker->wait();
  if (std::exception_ptr error = impl_->worker->take_error()) std::rethrow_exception(error);
}

Event Queue::record(bool timed) {
  Event event;
  event.impl_ = std::make_shared<Event::Impl>();
  if constexpr (cuda_built)
    if (on_cuda_) {
      cuda::DeviceScope scope(impl_->device);
      event.impl_->timed = timed;
      event.impl_->cuda_event = timed ? cuda::event_create() : cuda::untimed_event_create();
      cuda::event_record(event.impl_->cuda_event, impl_->stream);
      return event;
    }
  if (impl_->worker)
    impl_->worker->enqueue("event", [e = event.impl_, worker = impl_->worker.get()] { e->mark(worker->error()); }, true);
  else
    event.impl_->done = true;
  return event;
}

void Queue::wait_for(const Event& event) {
  if (!event.impl_) return;
  if constexpr (cuda_built)
    if (on_cuda_ && event.impl_->cuda_event != nullptr)
      return cuda::stream_wait_event(impl_->stream, event.impl_->cuda_event);
  if (impl_->worker)
    impl_->worker->enqueue("event", [e = event.impl_] { e->wait_for_success(); }, true);
  else
    event.impl_->wait_for_success();
}

// ---- SideQueue ----

SideQueue::SideQueue(Queue& parent, bool high_priority) : parent_(parent), high_priority_(high_priority) {
  auto& idle = parent.impl_->side_queues[high_priority];
  if (!idle.empty()) {
    side_ = std::move(idle.back());
    idle.pop_back();
  } else {
    HostMode mode = parent.synchronous_ ? HostMode::synchronous : HostMode::worker;
    side_ = std::make_unique<Queue>(parent.backend(), QueueOptions{mode, high_priority, parent.on_cuda_ ? parent.device() : -1});
    idle.reserve(idle.size() + 4);  // so that the destructor's push_back cannot throw
  }
  side_->wait_for(parent.record(false));
}

SideQueue::~SideQueue() {
  try {
    const Event done = side_->record(false);
    if (HostWorker* parent = parent_.impl_->worker.get()) {
      // An error of the side queue becomes the parent's; if that has one already, it is the one that counts.
      parent->enqueue("side queue", [done, parent, side = side_->impl_] {
        done.wait();
        parent->throw_error_of(*side->worker);
      }, true);
    } else {
      parent_.wait_for(done);
    }
  } catch (...) {
    // No join without an event: wait here instead.
    try {
      side_->wait();
    } catch (...) {
    }
  }
  parent_.impl_->side_queues[high_priority_].push_back(std::move(side_));
}

}  // namespace devobj
