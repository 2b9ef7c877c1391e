#include "registry.hpp"

#include <utility>

namespace devobj {
namespace {

// handle = generation in the upper, slot + 1 in the lower 32 bits; 0 is no handle
devobj_handle make_handle(std::uint32_t slot, std::uint32_t generation) {
  return (static_cast<devobj_handle>(generation) << 32) | (slot + 1);
}

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

devobj_handle Registry::add(Object object) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.reserve(slots_.size() + 1);  // so that remove() cannot fail
    slots_.emplace_back();
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

Object* Registry::find(devobj_handle handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  return slot == nullptr ? nullptr : &slot->object;
}

bool Registry::remove(devobj_handle handle, Object& removed) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return false;
  removed = std::exchange(slot->object, Object{});
  slot->used = false;
  ++slot->generation;
  free_.push_back(static_cast<std::uint32_t>(handle) - 1u);
  --live_;
  return true;
}

devobj_handle Registry::renew(devobj_handle handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (slot == nullptr) return 0;
  return make_handle(static_cast<std::uint32_t>(handle) - 1u, ++slot->generation);
}

std::int64_t Registry::live() const {
  std::lock_guard lock(mutex_);
  return live_;
}

std::vector<Object> Registry::clear() {
  std::lock_guard lock(mutex_);
  std::vector<Object> objects;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.used) continue;
    objects.push_back(std::exchange(slot.object, Object{}));
    slot.used = false;
    ++slot.generation;
    free_.push_back(i);
  }
  live_ = 0;
  return objects;
}

}  // namespace devobj
