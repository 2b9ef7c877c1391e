// The tables of methods and block sizes: which GPU gets which, that every table is one, and how it is read.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "devobj/error.hpp"
#include "qr_orthogonal.hpp"
#include "tuning.hpp"
#include "tuning_file.hpp"

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
  EXPECT_EQ(tuning_of(host).name, "host");
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

void expect_same_lines(const BlockLine& line, const BlockLine& expected) {
  EXPECT_EQ(line.routine, expected.routine);
  EXPECT_EQ(line.method, expected.method);
  EXPECT_EQ(line.types, expected.types);
  EXPECT_EQ(line.from, expected.from);
  EXPECT_EQ(line.sizes.block, expected.sizes.block);
  EXPECT_EQ(line.sizes.inner_block, expected.sizes.inner_block);
}
void expect_same_lines(const MethodLine& line, const MethodLine& expected) {
  EXPECT_EQ(line.routine, expected.routine);
  EXPECT_EQ(line.types, expected.types);
  EXPECT_EQ(line.from, expected.from);
  EXPECT_EQ(line.method, expected.method);
}
template <class Line>
void expect_same_lines(const std::vector<Line>& lines, const Line* begin, const Line* end) {
  ASSERT_EQ(static_cast<std::ptrdiff_t>(lines.size()), end - begin);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i));
    expect_same_lines(lines[i], begin[i]);
  }
}

TEST(Tuning, LinesOfAFile) {
  std::istringstream in(
      "// a machine\n"
      "METHOD(lu, ds, 0, hybrid)\r\n"
      "\n"
      "  METHOD ( qr,sdcz , 700,native )  // from 700 on\n"
      "BLOCK(lu, native, z, 5001, 128, 64)\n"
      "BLOCK(lu, hybrid, sdcz, 0, 4096, 0)\n"
      "BLOCK(qr, native, c, 1, 768, 0)\n"
      "BLOCK(qr, givens, d, 2, 256, 0)\n"
      "BLOCK(qr_apply, hybrid, sz, 3, 512, 0)");
  const TuningLines lines = read_tuning(in, "table.inc");
  EXPECT_EQ(lines.file, "table.inc");
  const std::vector<MethodLine> methods = {{Tuned::lu, "sd", 0, Method::hybrid},
                                           {Tuned::qr, "sdcz", 700, Method::native}};
  const std::vector<BlockLine> blocks = {{Tuned::lu, Method::native, "z", 5001, {128, 64}},
                                         {Tuned::lu, Method::hybrid, "sdcz", 0, {4096, 0}},
                                         {Tuned::qr, Method::native, "c", 1, {768, 0}},
                                         {Tuned::qr, Method::givens, "d", 2, {256, 0}},
                                         {Tuned::qr_apply, Method::hybrid, "sz", 3, {512, 0}}};
  expect_same_lines(lines.methods, methods.data(), methods.data() + methods.size());
  expect_same_lines(lines.blocks, blocks.data(), blocks.data() + blocks.size());
}

TEST(Tuning, TheCompiledInTablesAreReadAsFiles) {
  const std::filesystem::path folder =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "devObjCpp" / "tuning";
  for (const TuningTable& table : tables()) {
    SCOPED_TRACE(table.name);
    const TuningLines lines = read_tuning((folder / std::string(table.name).append(".inc")).string());
    expect_same_lines(lines.blocks, table.blocks_begin, table.blocks_end);
    expect_same_lines(lines.methods, table.methods_begin, table.methods_end);
  }
}

/// What the error says, or "" without one.
std::string error_of_file(const std::string& text) {
  std::istringstream in(text);
  try {
    read_tuning(in, "t.inc");
  } catch (const Error& error) {
    return error.status() == Status::invalid_argument ? error.what() : std::string("another status: ") + error.what();
  }
  return "";
}

TEST(Tuning, WhatIsWrongInAFileIsNamed) {
  const std::string variable = "environment variable DEVOBJ_TUNING: t.inc";
  EXPECT_EQ(error_of_file(""), variable + " has no line METHOD(...) or BLOCK(...)");
  EXPECT_EQ(error_of_file("// nothing\n\n"), variable + " has no line METHOD(...) or BLOCK(...)");
  for (const auto& [line, wrong] :
       {std::pair<const char*, const char*>{"METHOD", "is neither METHOD(...) nor BLOCK(...)"},
        {"METHOD(lu, s, 0, native", "is neither METHOD(...) nor BLOCK(...)"},
        {"BLOCKS(lu, native, s, 0, 64, 0)", "is neither METHOD(...) nor BLOCK(...)"},
        {"METHOD(lu, s, 0)", "METHOD has 3 values, must have 4"},
        {"METHOD(lu, s, 0, native, 1)", "METHOD has 5 values, must have 4"},
        {"BLOCK()", "BLOCK has 1 values, must have 6"},
        {"METHOD(chol, s, 0, native)", "routine is 'chol', must be lu, qr or qr_apply"},
        {"METHOD(qr_apply, s, 0, native)", "routine is 'qr_apply', which has no methods"},
        {"METHOD(lu, S, 0, native)", "types are 'S', must be letters of sdcz"},
        {"METHOD(lu, , 0, native)", "types are '', must be letters of sdcz"},
        {"METHOD(lu, s, 0, givens)", "method is 'givens', must be one of: lapack, hybrid, native"},
        {"BLOCK(lu, givens, s, 0, 64, 0)", "method is 'givens', must be one of: hybrid, native"},
        {"BLOCK(qr, lapack, s, 0, 64, 0)",
         "method is 'lapack', must be one of: hybrid, native, block_householder, givens"},
        {"BLOCK(qr_apply, native, s, 0, 64, 0)", "method is 'native', must be one of: hybrid"},
        {"BLOCK(lu, native, s, -1, 64, 0)", "from is '-1', must be a number from 0"},
        {"BLOCK(lu, native, s, 1e3, 64, 0)", "from is '1e3', must be a number from 0"},
        {"BLOCK(lu, native, s, 0, 0, 0)", "block is '0', must be a number from 1 to 65536"},
        {"BLOCK(lu, native, s, 0, 99999999999999999999, 0)",
         "block is '99999999999999999999', must be a number from 1 to 65536"},
        {"BLOCK(lu, hybrid, s, 0, 65537, 0)", "block is '65537', must be a number from 1 to 65536"},
        {"BLOCK(lu, native, s, 0, 64, 65)", "inner_block is '65', must be a number from 0 to 64"},
        {"BLOCK(lu, hybrid, s, 0, 64, 32)", "inner_block is '32', must be a number from 0 to 0"},
        {"BLOCK(qr, native, s, 0, 769, 0)", "block is '769', must be a number from 1 to 768"},
        {"BLOCK(qr, hybrid, s, 0, 257, 0)", "block is '257', must be a number from 1 to 256"}})
    EXPECT_EQ(error_of_file(std::string("METHOD(lu, s, 0, native)\n") + line + "\n"),
              variable + ", line 2, '" + line + "': " + wrong);
}

}  // namespace
}  // namespace devobj::test
