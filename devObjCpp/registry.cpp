#include "registry.hpp"

#include <utility>

namespace devobj {
namespace {

// handle = generation in the upper, slot + 1 in the lower 32 bits; 0 is no handle
devobj_handle make_handle(std::uint32_t slot, std::uint32_t generation) {
  return (static_cast<devobj_handle>(generation) << 32) | (slot + 1);
}

constexpr std::uint32_t last_generation = 0xffffffffu;

}  // namespace

Registry& Registry::instance() {
  static auto* registry = new Registry;  // lives until the end: Fortran may free objects at exit
  return *registry;
}

Registry::Slot* Registry::slot_of(devobj_handle handle) {
  const auto index = static_cast<std::uint32_t>(handle) - 1u;
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  return slot.used && slot.generation == handle >> 32 ? &slot : nullptr;
}

devobj_handle Registry::place(Object object) {
  if (free_.empty()) {
    free_.reserve(slots_.size() + 1);  // so that vacate() cannot fail
    slots_.push_back({static_cast<std::uint32_t>(slots_.size()), first_generation_});
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.used = true;
  slot.object = std::move(object);
  ++live_;
  return make_handle(index, slot.generation);
}

Object Registry::vacate(Slot& slot) noexcept {
  slot.used = false;
  --live_;
  if (++slot.generation != 0) free_.push_back(slot.index);
  return std::exchange(slot.object, Object{});
}

devobj_handle Registry::add(Object object) {
  std::lock_guard lock(mutex_);
  return place(std::move(object));
}

Object* Registry::find(devobj_handle handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  return slot == nullptr ? nullptr : &slot->object;
}

bool Registry::remove(devobj_handle handle, Object& removed) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return false;
  removed = vacate(*slot);
  return true;
}

devobj_handle Registry::renew(devobj_handle handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return 0;
  if (slot->generation != last_generation) return make_handle(slot->index, ++slot->generation);
  const devobj_handle moved = place(slot->object);
  vacate(*slot);
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
  for (Slot& slot : slots_)
    if (slot.used) objects.push_back(vacate(slot));
  return objects;
}

}  // namespace devobj
