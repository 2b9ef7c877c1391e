// Pageable host memory to and from a GPU in pinned pieces: the CPU's threads pack or unpack some while the GPU copies others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/host/team.hpp"
#include "memory.hpp"
#include "staging.hpp"
#include "transfer_parts.hpp"
#include "transfer_pieces.hpp"

namespace devobj {

/// Elements of a column with gaps between them cost the CPU a multiple of their size in memory traffic: their pieces stay
/// in its caches.
struct Staging {
  std::int64_t piece_bytes;
  std::int64_t pieces_in_flight;
};
constexpr Staging neighbours{8 << 20, 8}, with_gaps{2 << 20, 12};
template <class T>
Staging staging_of(HostArray<T> host) {
  constexpr std::int64_t largest_gap = 256;  // bytes; a transposed array is not meant
  const bool near = std::abs(host.row_stride) * std::int64_t(sizeof(T)) <= largest_gap;
  return host.row_stride != 1 && host.row_stride != 0 && near ? with_gaps : neighbours;
}

/// The pinned buffers of a transfer, used in turn, and the GPU's copies into and out of them. All are taken even if there
/// are fewer pieces, so that those that are used were not read or written just before by the transfer before.
template <class T>
class Stages {
 public:
  Stages(const Staging& staging, const TransferPieces& pieces)
      : count_(staging.pieces_in_flight), pieces_(pieces.count()) {
    for (std::int64_t s = 0; s < count_; ++s)
      stages_[s].buffer = PinnedBuffer(pieces.most_elements() * sizeof(T), true);
  }
  /// Gives the buffers back, those that were used last at the end: the cores' own caches hold what is in them, and the next
  /// transfer begins with those that were given back first.
  ~Stages() {
    for (std::int64_t s = 0; s < count_; ++s) at(pieces_ + s).buffer = PinnedBuffer();
  }
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  std::int64_t count() const { return count_; }
  T* buffer(std::int64_t p) const { return at(p).buffer.template as<T>(); }
  /// The piece's buffer to dst, and the reverse. They do not wait.
  void send(std::int64_t p, View<T> dst, Queue& q) {
    devobj::send<T>(buffer(p), dst.rows, dst, q);
    at(p).record(q);
  }
  void receive(std::int64_t p, View<T> src, Queue& q) {
    devobj::receive<T>(src, buffer(p), src.rows, q);
    at(p).record(q);
  }
  /// The copy of piece p, the last one in its buffer, has ended.
  bool copied(std::int64_t p) const { return cuda::event_ready(at(p).copied); }

 private:
  struct Stage {
    PinnedBuffer buffer;
    void* copied = nullptr;  // an event without a time: that costs the GPU a microsecond or two more
    void record(Queue& q) {
      if (copied == nullptr) copied = cuda::untimed_event_create();
      cuda::event_record(copied, q.stream());
    }
    ~Stage() {
      if (copied != nullptr) cuda::event_destroy(copied);
    }
  };
  Stage& at(std::int64_t p) { return stages_[p % count_]; }
  const Stage& at(std::int64_t p) const { return stages_[p % count_]; }

  std::int64_t count_, pieces_;
  std::array<Stage, std::max(neighbours.pieces_in_flight, with_gaps.pieces_in_flight)> stages_;
};

/// The threads for a transfer of `bytes`. Nobody waits for one that is late, hence all cores.
inline int transfer_threads(std::int64_t bytes, const host::Team& team) {
  return host::threads_for(static_cast<std::size_t>(bytes), 128 << 10, team.size());
}

/// A turn of a thread that helps the caller.
template <class Work>
host::Team::Turn help(TransferParts& parts, Work&& work) {
  using Turn = host::Team::Turn;
  if (parts.take(work)) return Turn::something;
  return parts.all_taken() ? Turn::finished : Turn::nothing;
}

/// dst = src. All threads pack; the caller's starts the copy of each piece that is packed. Waits.
template <class T>
void stage_to_device(HostArray<const T> src, View<T> dst, Queue& q) {
  using host::Team;
  using Turn = Team::Turn;
  const Staging staging = staging_of(src);
  const TransferPieces pieces(dst.rows, dst.cols, sizeof(T), staging.piece_bytes, Short::first);
  const std::int64_t count = pieces.count(), total = dst.size() * std::int64_t(sizeof(T));
  const cuda::DeviceScope scope(q.device());
  Stages<T> stages(staging, pieces);
  TransferParts parts(pieces);
  const auto pack = [&](std::int64_t p, host::Part part) {
    const Range r = pieces.row_range(p), c = pieces.col_range(p);
    host::pack_part(part, src.data + r.begin * src.row_stride + c.begin * src.col_stride, sizeof(T), r.size(), c.size(),
                    src.row_stride, src.col_stride, stages.buffer(p), r.size(), leave_packed(pieces.bytes(p), total));
  };
  std::int64_t sent = 0, copied = 0;  // pieces
  const auto turn = [&](Team::Member& me) {
    if (me.rank() > 0) return help(parts, pack);
    if (parts.done(sent)) {
      stages.send(sent, dst(pieces.row_range(sent), pieces.col_range(sent)), q);
      ++sent;
      return sent == count || me.size() == 1 ? Turn::finished : Turn::something;
    }
    if (copied < sent && copied + stages.count() < count && stages.copied(copied)) {
      ++copied;
      parts.open(std::min(count, copied + stages.count()));
      return Turn::something;
    }
    return !parts.taken(sent) && parts.take(pack) ? Turn::something : Turn::nothing;
  };
  WaitAtEnd wait(q);
  Team& team = Team::shared();
  parts.open(std::min(count, stages.count()));
  while (sent < count) team.run_turns(transfer_threads(total, team), turn);  // piece by piece if nobody can help now
  Team::Session awake(team, transfer_threads(total, team));                  // the next transfer is often near
  q.wait();
}

/// dst = src. The caller's thread starts the copies; all threads unpack what has arrived. Waits.
template <class T>
void stage_to_host(View<T> src, HostArray<T> dst, Queue& q) {
  using host::Team;
  using Turn = Team::Turn;
  const Staging staging = staging_of(dst);
  const TransferPieces pieces(src.rows, src.cols, sizeof(T), staging.piece_bytes, Short::last);
  const std::int64_t count = pieces.count(), total = src.size() * std::int64_t(sizeof(T));
  const cuda::DeviceScope scope(q.device());
  Stages<T> stages(staging, pieces);
  TransferParts parts(pieces);
  const auto unpack = [&](std::int64_t p, host::Part part) {
    const Range r = pieces.row_range(p), c = pieces.col_range(p);
    host::unpack_part(part, stages.buffer(p), r.size(), sizeof(T), r.size(), c.size(),
                      dst.data + r.begin * dst.row_stride + c.begin * dst.col_stride, dst.row_stride, dst.col_stride,
                      leave_unpacked(pieces.bytes(p), total));
  };
  std::int64_t started = 0, arrived = 0, emptied = 0;  // pieces
  const auto start = [&] {
    stages.receive(started, src(pieces.row_range(started), pieces.col_range(started)), q);
    ++started;
  };
  const auto turn = [&](Team::Member& me) {
    if (me.rank() > 0) return help(parts, unpack);
    if (arrived < started && stages.copied(arrived)) {
      parts.open(++arrived);
      return Turn::something;
    }
    if (emptied < arrived && parts.done(emptied)) {
      ++emptied;
      if (started < count) start();
      return emptied == count || me.size() == 1 ? Turn::finished : Turn::something;
    }
    return parts.take(unpack) ? Turn::something : Turn::nothing;
  };
  WaitAtEnd wait(q);
  Team& team = Team::shared();
  while (started < std::min(count, stages.count())) start();
  while (emptied < count) team.run_turns(transfer_threads(total, team), turn);  // piece by piece if nobody can help now
}

}  // namespace devobj
