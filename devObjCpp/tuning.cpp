#include "tuning.hpp"

#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "environment.hpp"
#include "kernels/device_properties.hpp"
#include "kernels/kernels.hpp"
#include "qr_orthogonal.hpp"

namespace devobj {
namespace {

// A table's file is read twice: for its lines of blocks and for those of methods.
#define BLOCK(routine, method, types, from, block, inner_block) \
  BlockLine{Tuned::routine, Method::method, #types, from, {block, inner_block}},
#define METHOD(routine, types, from, method)
constexpr BlockLine h200_blocks[] = {
#include "tuning/h200.inc"
};
constexpr BlockLine gpu_blocks[] = {
#include "tuning/gpu.inc"
};
constexpr BlockLine host_blocks[] = {
#include "tuning/host.inc"
};
#undef BLOCK
#undef METHOD

#define BLOCK(routine, method, types, from, block, inner_block)
#define METHOD(routine, types, from, method) MethodLine{Tuned::routine, #types, from, Method::method},
constexpr MethodLine h200_methods[] = {
#include "tuning/h200.inc"
};
constexpr MethodLine gpu_methods[] = {
#include "tuning/gpu.inc"
};
constexpr MethodLine host_methods[] = {
#include "tuning/host.inc"
};
#undef BLOCK
#undef METHOD

#define LINES(name) \
  std::begin(name##_blocks), std::end(name##_blocks), std::begin(name##_methods), std::end(name##_methods)
// Those of a name first, then those of a compute capability, at last the one for any GPU.
constexpr TuningTable gpus[] = {
    {"h200", "H200", 90, LINES(h200)}, {"h200", "", 90, LINES(h200)}, {"gpu", "", 0, LINES(gpu)}};
constexpr TuningTable host_table = {"host", "", 0, LINES(host)};
#undef LINES

/// The last line that is for these.
template <class Line, class Fits>
const Line* last(const Line* begin, const Line* end, Fits fits) {
  const Line* found = nullptr;
  for (const Line* line = begin; line != end; ++line)
    if (fits(*line)) found = line;
  return found;
}

const TuningTable& compiled_in(int device) {
  if constexpr (cuda_built)
    if (device >= 0) {
      const cuda::Properties p = cuda::properties(device);
      return tuning_of_gpu(p.name, p.capability);
    }
  return host_table;
}

/// A device's table, which has the lines of a file behind those that are compiled in; -1 is the host.
class Extended {
 public:
  Extended(int device, const TuningLines& file) : table_(compiled_in(device)) {
    const bool on_cuda = device >= 0;
    blocks_.assign(table_.blocks_begin, table_.blocks_end);
    methods_.assign(table_.methods_begin, table_.methods_end);
    const std::size_t before = blocks_.size() + methods_.size();
    for (const BlockLine& line : file.blocks)
      if (on_cuda || line.routine == Tuned::lu || line.sizes.block <= qr_block_max) blocks_.push_back(line);
    for (const MethodLine& line : file.methods)
      if (line.method != (on_cuda ? Method::lapack : Method::native)) methods_.push_back(line);
    taken_ = blocks_.size() + methods_.size() - before;
    table_.blocks_begin = blocks_.data();
    table_.blocks_end = blocks_.data() + blocks_.size();
    table_.methods_begin = methods_.data();
    table_.methods_end = methods_.data() + methods_.size();
  }
  Extended(const Extended&) = delete;
  const TuningTable& table() const { return table_; }
  /// Lines of the file, without those of what the device does not have.
  std::size_t taken() const { return taken_; }

 private:
  TuningTable table_;
  std::vector<BlockLine> blocks_;
  std::vector<MethodLine> methods_;
  std::size_t taken_;
};

/// Made once for each device.
const Extended& table_of(int device) {
  static std::mutex mutex;
  static std::map<int, Extended> known;
  std::lock_guard lock(mutex);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.try_emplace(device, device, environment().tuning).first->second;
}

}  // namespace

BlockSizes TuningTable::blocks(Tuned routine, Method method, char type, std::int64_t n) const {
  const BlockLine* line = last(blocks_begin, blocks_end, [&](const BlockLine& l) {
    return l.routine == routine && l.method == method && l.from <= n && l.types.find(type) != l.types.npos;
  });
  return line != nullptr ? line->sizes : BlockSizes{};
}

Method TuningTable::method(Tuned routine, char type, std::int64_t n) const {
  const MethodLine* line = last(methods_begin, methods_end, [&](const MethodLine& l) {
    return l.routine == routine && l.from <= n && l.types.find(type) != l.types.npos;
  });
  return line != nullptr ? line->method : Method::hybrid;
}

const TuningTable& tuning_of_gpu(std::string_view name, int capability) {
  for (const TuningTable& table : gpus)
    if ((table.device.empty() || name.find(table.device) != name.npos) &&
        (table.capability == 0 || table.capability == capability))
      return table;
  return gpus[std::size(gpus) - 1];
}

const TuningTable& tuning_of_host() {
  return host_table;
}

const TuningTable& tuning_of(const Queue& q) {
  return table_of(q.on_cuda() ? q.device() : -1).table();
}

std::string tuning_info(int device) {
  const Extended& extended = table_of(device);
  const TuningTable& table = extended.table();
  std::string text = std::string("tuning: table ").append(table.name);
  if (device >= 0 && table.capability == 0) text.append(", which is for any GPU and not measured");
  if (const TuningLines& file = environment().tuning; !file.file.empty())
    text.append(", and ")
        .append(std::to_string(extended.taken()))
        .append(" of ")
        .append(std::to_string(file.blocks.size() + file.methods.size()))
        .append(" lines of ")
        .append(file.file)
        .append(" (DEVOBJ_TUNING)");
  return text.append("\n");
}

}  // namespace devobj
