#include "registry.hpp"

#include <new>
#include <utility>

namespace devobj {
namespace {

// handle = generation in the upper, slot + 1 in the lower 32 bits; 0 is no handle
devobj_handle make_handle(std::uint32_t slot, std::uint32_t generation) {
  return (static_cast<devobj_handle>(generation) << 32) | (slot + 1);
}

std::uint32_t slot_in(devobj_handle handle) {
  return static_cast<std::uint32_t>(handle) - 1u;
}

constexpr std::uint32_t last_generation = 0xffffffffu;

}  // namespace

Registry& Registry::instance() {
  static auto* registry = new Registry;  // lives until the end: Fortran may free objects at exit
  return *registry;
}

Registry::Slot& Registry::slot_at(std::uint32_t index) noexcept {
  const Place place(index);
  return owned_[static_cast<std::size_t>(place.piece)][place.at];
}

devobj_handle Registry::place(Object object) {
  if (free_.empty()) {
    free_.reserve(std::size_t{slots_} + 1);  // so that vacate() cannot fail
    const Place next(slots_);
    if (next.piece >= pieces) throw std::bad_alloc();
    const auto piece = static_cast<std::size_t>(next.piece);
    if (next.at == 0) {
      owned_[piece] = std::make_unique<Slot[]>(std::size_t{in_first_piece} << piece);
      first_of_[piece].store(owned_[piece].get(), std::memory_order_release);
    }
    slot_at(slots_).generation = first_generation_;
    free_.push_back(slots_++);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slot_at(index);
  slot.object = std::move(object);
  slot.used_as.store(slot.generation, std::memory_order_release);
  ++live_;
  return make_handle(index, slot.generation);
}

Object Registry::vacate(std::uint32_t index) noexcept {
  Slot& slot = slot_at(index);
  slot.used_as.store(0, std::memory_order_release);
  --live_;
  if (++slot.generation != 0) free_.push_back(index);
  return std::exchange(slot.object, Object{});
}

devobj_handle Registry::add(Object object) {
  std::lock_guard lock(mutex_);
  return place(std::move(object));
}

bool Registry::remove(devobj_handle handle, Object& removed) {
  std::lock_guard lock(mutex_);
  if (slot_of(handle) == nullptr) return false;
  removed = vacate(slot_in(handle));
  return true;
}

devobj_handle Registry::renew(devobj_handle handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return 0;
  const std::uint32_t index = slot_in(handle);
  if (slot->generation != last_generation) {
    slot->used_as.store(++slot->generation, std::memory_order_release);
    return make_handle(index, slot->generation);
  }
  const devobj_handle moved = place(slot->object);
  vacate(index);
  return moved;
}

std::int64_t Registry::live() const {
  std::lock_guard lock(mutex_);
  return live_;
}

std::vector<Object> Registry::clear() {
  std::lock_guard lock(mutex_);
  std::vector<Object> objects;
  objects.reserve(static_cast<std::size_t>(live_));
  for (std::uint32_t index = 0; index < slots_; ++index)
    if (slot_at(index).used_as.load(std::memory_order_relaxed) != 0) objects.push_back(vacate(index));
  return objects;
}

}  // namespace devobj
