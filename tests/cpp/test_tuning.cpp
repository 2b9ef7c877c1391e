// The tables of methods and block sizes: which GPU gets which, that every table is one, and how it is read.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "qr_orthogonal.hpp"
#include "tuning.hpp"

namespace devobj::test {
namespace {

constexpr std::string_view types = "sdcz";

std::vector<TuningTable> tables() {
  return {tuning_of_gpu("NVIDIA H200", 90), tuning_of_gpu("NVIDIA A100-SXM4-80GB", 80), tuning_of_host()};
}

TEST(Tuning, AGpuIsFoundByNameThenByCapability) {
  EXPECT_EQ(tuning_of_gpu("NVIDIA H200", 90).name, "h200");
  EXPECT_EQ(tuning_of_gpu("NVIDIA H200", 90).device, "H200");
  EXPECT_EQ(tuning_of_gpu("NVIDIA H100 PCIe", 90).name, "h200");
  EXPECT_EQ(tuning_of_gpu("NVIDIA H100 PCIe", 90).device, "");
  for (auto [name, capability] : {std::pair<const char*, int>{"NVIDIA A100-SXM4-80GB", 80},
                                  {"NVIDIA L40S", 89},
                                  {"NVIDIA B200", 100},
                                  {"", 0},
                                  {"NVIDIA H2000", 120}})
    EXPECT_EQ(tuning_of_gpu(name, capability).name, "gpu") << name;
  EXPECT_EQ(tuning_of_host().name, "host");
  Queue host(Backend::host);
  EXPECT_EQ(&tuning_of(host), &tuning_of_host());
}

/// Every table says something for every routine, type and size, and nothing that the routines refuse.
TEST(Tuning, TablesAreComplete) {
  for (const TuningTable& table : tables()) {
    const bool host = table.name == "host";
    for (const char type : types) {
      for (const Tuned routine : {Tuned::lu, Tuned::qr})
        for (const std::int64_t n : {0, 1, 10000, 1000000}) {
          const Method method = table.method(routine, type, n);
          EXPECT_TRUE(method == Method::hybrid || method == (host ? Method::lapack : Method::native)) << table.name;
        }
      auto has = [&](Tuned routine, Method method) {
        for (auto line = table.blocks_begin; line != table.blocks_end; ++line)
          if (line->routine == routine && line->method == method && line->from == 0 &&
              line->types.find(type) != line->types.npos)
            return true;
        return false;
      };
      EXPECT_TRUE(has(Tuned::lu, Method::hybrid)) << table.name << ", " << type;
      EXPECT_TRUE(has(Tuned::qr, Method::hybrid)) << table.name << ", " << type;
      EXPECT_TRUE(has(Tuned::qr, Method::block_householder)) << table.name << ", " << type;
      EXPECT_TRUE(has(Tuned::qr_apply, Method::hybrid)) << table.name << ", " << type;
      EXPECT_EQ(has(Tuned::lu, Method::native), !host) << table.name << ", " << type;
      EXPECT_EQ(has(Tuned::qr, Method::native), !host) << table.name << ", " << type;
      EXPECT_EQ(has(Tuned::qr, Method::givens), !host) << table.name << ", " << type;
    }
    for (auto line = table.blocks_begin; line != table.blocks_end; ++line) {
      EXPECT_GE(line->sizes.block, 1) << table.name;
      // orgqr and ormqr have the same blocks for all methods of a GPU
      const bool wide = line->method == Method::native || (line->routine == Tuned::qr_apply && !host);
      EXPECT_LE(line->sizes.block, line->routine == Tuned::lu ? 1280
                                   : wide                     ? qr_native_block_max
                                                              : qr_block_max)
          << table.name;
      EXPECT_GE(line->sizes.inner_block, 0) << table.name;
      EXPECT_LE(line->sizes.inner_block, line->sizes.block) << table.name;
      EXPECT_EQ(line->types.find_first_not_of(types), line->types.npos) << table.name;
    }
  }
}

TEST(Tuning, TheLastLineThatFitsCounts) {
  constexpr BlockLine blocks[] = {{Tuned::lu, Method::native, "sd", 0, {64, 0}},
                                  {Tuned::lu, Method::native, "sd", 100, {128, 32}},
                                  {Tuned::lu, Method::native, "d", 50, {96, 48}}};
  constexpr MethodLine methods[] = {{Tuned::lu, "sdcz", 0, Method::hybrid}, {Tuned::lu, "s", 10, Method::native}};
  const TuningTable table{"", "", 0, blocks, blocks + 3, methods, methods + 2};
  EXPECT_EQ(table.blocks(Tuned::lu, Method::native, 's', 99).block, 64);
  EXPECT_EQ(table.blocks(Tuned::lu, Method::native, 's', 100).block, 128);
  EXPECT_EQ(table.blocks(Tuned::lu, Method::native, 's', 100).inner_block, 32);
  EXPECT_EQ(table.blocks(Tuned::lu, Method::native, 'd', 100).block, 96);
  EXPECT_EQ(table.blocks(Tuned::lu, Method::native, 'c', 100).block, 64) << "what no line is for";
  EXPECT_EQ(table.method(Tuned::lu, 's', 9), Method::hybrid);
  EXPECT_EQ(table.method(Tuned::lu, 's', 10), Method::native);
  EXPECT_EQ(table.method(Tuned::lu, 'd', 10), Method::hybrid);
}

}  // namespace
}  // namespace devobj::test
