// The registry of device objects: a handle is a slot and a generation, so that a freed, copied or foreign handle is
// recognised. Safe for concurrent use; one object may be used by one thread at a time. Slots are never moved, so that
// finding one, which every call of the C interface does, takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
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
  /// The object, or null for a handle that is none. Takes no lock.
  Object* find(devobj_handle handle) noexcept {
    Slot* slot = slot_of(handle);
    return slot == nullptr ? nullptr : &slot->object;
  }
  /// Removes it and gives the object back (its memory is released by the caller); false if there is none.
  bool remove(devobj_handle handle, Object& removed);
  /// The same object under a new handle; 0 if there is none.
  devobj_handle renew(devobj_handle handle);
  std::int64_t live() const;
  /// Empties the registry; the objects that were in it.
  std::vector<Object> clear();

 private:
  struct Slot {
    std::atomic<std::uint32_t> used_as{0};  ///< the generation of the object in it; 0 if there is none
    std::uint32_t generation = 0;           ///< the last one; 0 before the first
    Object object = {};
  };
  // Slots lie in pieces, piece p has 64 2^p of them: slot i is in piece log2(i / 64 + 1).
  static constexpr std::uint32_t in_first_piece = 64;
  static constexpr int pieces = 26;
  struct Place {
    int piece;
    std::uint32_t at;
    explicit Place(std::uint32_t index) noexcept
        : piece(std::bit_width(index / in_first_piece + 1) - 1),
          at(index - in_first_piece * ((std::uint32_t{1} << piece) - 1)) {}
  };
  Slot* slot_of(devobj_handle handle) noexcept {
    const auto index = static_cast<std::uint32_t>(handle) - 1u;
    const auto generation = static_cast<std::uint32_t>(handle >> 32);
    const Place place(index);
    if (generation == 0 || place.piece >= pieces) return nullptr;
    Slot* piece = first_of_[static_cast<std::size_t>(place.piece)].load(std::memory_order_acquire);
    if (piece == nullptr) return nullptr;
    Slot& slot = piece[place.at];
    return slot.used_as.load(std::memory_order_acquire) == generation ? &slot : nullptr;
  }
  Slot& slot_at(std::uint32_t index) noexcept;
  devobj_handle place(Object object);
  Object vacate(std::uint32_t index) noexcept;
  const std::uint32_t first_generation_;
  mutable std::mutex mutex_;
  std::array<std::atomic<Slot*>, pieces> first_of_ = {};
  std::array<std::unique_ptr<Slot[]>, pieces> owned_;
  std::uint32_t slots_ = 0;
  std::vector<std::uint32_t> free_;
  std::int64_t live_ = 0;
};

}  // namespace devobj
