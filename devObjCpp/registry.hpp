// The registry of device objects: a handle is a slot and a generation, so that a freed, copied or foreign handle is
// recognised. Safe for concurrent use; one object may be used by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "devobj/devobj.h"
#include "devobj/matrix.hpp"

namespace devobj {

struct Object {
  Type type = Type::real;
  std::int64_t rows = 0, cols = 0, ld = 1;
  void* data = nullptr;
  std::shared_ptr<Storage> storage;  ///< shared with views
  Backend backend = Backend::host;
  int device = 0;
  const void* allocator = nullptr;  ///< the queue whose order the release of the memory follows
  /// What a handle stands for that is no array: "an FFT plan", ...; an array has no content.
  const char* kind = "an array";
  std::shared_ptr<void> content;
};

class Registry {
 public:
  static Registry& instance();
  /// Slots start with `first_generation`; a slot whose generations are used up is given up, so that no handle is ever
  /// given out twice.
  explicit Registry(std::uint32_t first_generation = 1) : first_generation_(first_generation) {}

  devobj_handle add(Object object);
  /// The object, or null for a handle that is none.
  Object* find(devobj_handle handle);
  /// Removes it and gives the object back (its memory is released by the caller); false if there is none.
  bool remove(devobj_handle handle, Object& removed);
  /// The same object under a new handle; 0 if there is none.
  devobj_handle renew(devobj_handle handle);
  std::int64_t live() const;
  /// Empties the registry; the objects that were in it.
  std::vector<Object> clear();

 private:
  struct Slot {
    std::uint32_t index;
    std::uint32_t generation;
    bool used = false;
    Object object = {};
  };
  Slot* slot_of(devobj_handle handle);
  devobj_handle place(Object object);
  Object vacate(Slot& slot) noexcept;
  const std::uint32_t first_generation_;
  mutable std::mutex mutex_;
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::int64_t live_ = 0;
};

}  // namespace devobj
