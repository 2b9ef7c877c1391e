// The parts of devobj-bench that need no device: command-line words, CSV, operation counts, medians, the choice of
// kernels.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/csv.hpp"
#include "bench/flops.hpp"
#include "bench/openblas.hpp"
#include "bench/sizes.hpp"
#include "bench/timing.hpp"
#include "bench/tuned.hpp"

namespace {

using namespace bench;
using Sizes = std::vector<std::int64_t>;

TEST(BenchSizes, ListsAndRanges) {
  EXPECT_EQ(parse_sizes("1000"), Sizes{1000});
  EXPECT_EQ(parse_sizes("1000,2000,500"), (Sizes{1000, 2000, 500}));
  EXPECT_EQ(parse_sizes("1000:4000:1000"), (Sizes{1000, 2000, 3000, 4000}));
  EXPECT_EQ(parse_sizes("1000:3999:1000"), (Sizes{1000, 2000, 3000}));
  EXPECT_EQ(parse_sizes("100:300"), (Sizes{100, 200, 300}));
  EXPECT_EQ(parse_sizes("7,10:30:10,7"), (Sizes{7, 10, 20, 30, 7}));
  EXPECT_EQ(parse_sizes("1000:11000:1000").size(), 11u);
}

TEST(BenchSizes, RefusesWhatIsNoSize) {
  for (const char* bad : {"", ",", "0", "-1", "+5", "10,", "1e3", "10x", " 10", "10:5", "10:20:0", "1:2:3:4",
                          "::", "99999999999999999999", "1:9000000000000000000:1"})
    EXPECT_THROW(parse_sizes(bad), std::invalid_argument) << "'" << bad << "'";
  try {
    parse_sizes("100,abc");
    FAIL() << "no exception";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("'abc'"), std::string::npos) << e.what();
  }
}

TEST(BenchSizes, Shapes) {
  using Shapes = std::vector<Shape>;
  EXPECT_EQ(parse_shapes("square", {3, 5}), (Shapes{{3, 3}, {5, 5}}));
  EXPECT_EQ(parse_shapes("2:1", {3, 5}), (Shapes{{6, 3}, {10, 5}}));
  EXPECT_EQ(parse_shapes("1:3", {1, 10}), (Shapes{{1, 1}, {3, 10}}));
  EXPECT_EQ(parse_shapes("100000x128,7x9", {3}), (Shapes{{100000, 128}, {7, 9}}));
  for (const char* bad : {"", "tall", "2", "2:", "0:1", "1:0", "3x", "x3", "3x4x5", "3x4,", "2:1:1"})
    EXPECT_THROW(parse_shapes(bad, {3}), std::invalid_argument) << "'" << bad << "'";
}

TEST(BenchSizes, TypesAndBytes) {
  EXPECT_EQ(parse_types("s,d,c,z"), (std::vector<char>{'s', 'd', 'c', 'z'}));
  EXPECT_EQ(parse_types("dz"), (std::vector<char>{'d', 'z'}));
  for (const char* bad : {"", "s,", "x", "sd,q"}) EXPECT_THROW(parse_types(bad), std::invalid_argument) << bad;
  EXPECT_EQ(parse_bytes("4K,100,3M,1G"), (Sizes{4096, 100, 3 << 20, 1 << 30}));
  for (const char* bad : {"", "K", "4k", "1T", "9000000000G"})
    EXPECT_THROW(parse_bytes(bad), std::invalid_argument) << bad;
}

Row full_row() {
  Row row;
  row.date = "2026-01-31";
  row.commit = "0123abc";
  row.machine = "a \"fast\" GPU, 16 cores";
  row.backend = "cuda";
  row.routine = "getrf";
  row.type = "d";
  row.m = 2000;
  row.n = 1000;
  row.method = "auto";
  row.ms = 2;
  row.gflops = 1234.5678;
  row.peer = "cusolver";
  row.peer_ms = 3;
  row.residual = 0.25;
  row.peer_residual = std::nan("");
  return row;
}

TEST(BenchCsv, ALineUnderTheHeader) {
  EXPECT_EQ(csv_line(full_row()),
            "2026-01-31,0123abc,\"a \"\"fast\"\" GPU, 16 cores\",cuda,getrf,d,2000,1000,auto,2,1234.57,cusolver,3,1.5,"
            "0.25,nan");
  const auto fields = csv_fields(csv_line(full_row()));
  EXPECT_EQ(fields.size(), csv_fields(csv_header).size());
  EXPECT_EQ(fields[2], full_row().machine);
}

TEST(BenchCsv, WhatWasNotMeasuredIsEmpty) {
  Row row = full_row();
  row.peer_ms.reset();
  row.residual.reset();
  row.peer_residual.reset();
  const auto fields = csv_fields(csv_line(row));
  for (const int empty : {12, 13, 14, 15}) EXPECT_EQ(fields.at(static_cast<std::size_t>(empty)), "");
  row.ms = std::nan("");
  EXPECT_EQ(csv_fields(csv_line(row)).at(9), "nan");
}

TEST(BenchCsv, FieldsOfALine) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(csv_fields(""), Fields{""});
  EXPECT_EQ(csv_fields("a,,b,"), (Fields{"a", "", "b", ""}));
  EXPECT_EQ(csv_fields("\"a,b\",\"c\"\"d\""), (Fields{"a,b", "c\"d"}));
  EXPECT_EQ(csv_fields("a,b\r"), (Fields{"a", "b"}));
  EXPECT_THROW(csv_fields("a,\"b"), std::runtime_error);
}

class BenchCsvFile : public testing::Test {
 protected:
  ~BenchCsvFile() override { std::filesystem::remove(file); }
  std::string text() const {
    std::stringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }
  void write(const std::string& content) const { std::ofstream(file) << content; }
  const std::string file = std::filesystem::temp_directory_path() / ("bench_csv_" + std::to_string(getpid()) + ".csv");
};

TEST_F(BenchCsvFile, TheHeaderComesOnceAndLinesAreAppended) {
  csv_append(file, "a,b", "1,2");
  csv_append(file, "a,b", "3,4");
  EXPECT_EQ(text(), "a,b\n1,2\n3,4\n");
  EXPECT_EQ(csv_read(file, "a,b"), (std::vector<std::vector<std::string>>{{"1", "2"}, {"3", "4"}}));
}

TEST_F(BenchCsvFile, AnEmptyFileGetsTheHeader) {
  write("");
  csv_append(file, "a,b", "1,2");
  EXPECT_EQ(text(), "a,b\n1,2\n");
}

TEST_F(BenchCsvFile, AnOpenLastLineIsEnded) {
  write("a,b\n1,2");
  csv_append(file, "a,b", "3,4");
  EXPECT_EQ(text(), "a,b\n1,2\n3,4\n");
  write("a,b");
  csv_append(file, "a,b", "3,4");
  EXPECT_EQ(text(), "a,b\n3,4\n");
}

TEST_F(BenchCsvFile, OtherColumnsAreRefusedAndTheFileIsLeft) {
  write("a,c\n1,2\n");
  EXPECT_THROW(csv_append(file, "a,b", "3,4"), std::runtime_error);
  EXPECT_EQ(text(), "a,c\n1,2\n");
  EXPECT_THROW(csv_read(file, "a,b"), std::runtime_error);
  write("a,b\n1,2,3\n");
  EXPECT_THROW(csv_read(file, "a,b"), std::runtime_error);
  EXPECT_THROW(csv_read(file + ".none", "a,b"), std::runtime_error);
  EXPECT_THROW(csv_append("/nonexistent/folder/x.csv", "a,b", "1,2"), std::runtime_error);
}

TEST(BenchFlops, LapackCounts) {
  EXPECT_DOUBLE_EQ(lu_flops(300, 300, 'd'), 2.0 / 3 * 27e6);
  EXPECT_DOUBLE_EQ(qr_flops(300, 300, 's'), 4.0 / 3 * 27e6);
  EXPECT_DOUBLE_EQ(lu_flops(300, 300, 'z'), 8.0 / 3 * 27e6);
  // m n^2 - n^3 / 3 and 2 n^2 (m - n / 3) for m > n, and the same with m and n changed
  EXPECT_DOUBLE_EQ(lu_flops(600, 300, 'd'), 600 * 9e4 - 9e6);
  EXPECT_DOUBLE_EQ(qr_flops(600, 300, 'd'), 2 * 9e4 * (600 - 100));
  EXPECT_DOUBLE_EQ(lu_flops(300, 600, 'd'), lu_flops(600, 300, 'd'));
  EXPECT_DOUBLE_EQ(qr_flops(300, 600, 'c'), 4 * qr_flops(600, 300, 's'));
}

TEST(BenchTiming, Median) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(BenchTiming, AWarmUpThenTheRepetitions) {
  int prepared = 0, ran = 0, waited = 0;
  const auto count = [](int& n) { return [&n] { ++n; }; };
  median_ms({4, 1000, 0}, count(prepared), count(ran), count(waited));
  EXPECT_EQ(prepared, 5);
  EXPECT_EQ(ran, 5);
  EXPECT_EQ(waited, 10);  // after each preparation and each run
  ran = 0;
  median_ms(
      {100, 0.2}, [] {},
      [&] {
        usleep(5000);
        ++ran;
      },
      [] {});
  EXPECT_GE(ran, 2);
  EXPECT_LE(ran, 41);  // 5 ms each, 200 ms in all
  ran = 0;
  EXPECT_GE(median_ms(
                {100, 0.001}, [] {},
                [&] {
                  usleep(5000);
                  ++ran;
                },
                [] {}),
            5);
  EXPECT_EQ(ran, 1);
  ran = 0;
  median_ms(
      {1, 1000, 50}, [] {},
      [&] {
        usleep(500);
        ++ran;
      },
      [] {});
  EXPECT_GE(ran, 3);    // more than one run warms up
  EXPECT_LE(ran, 101);  // 100 runs of 0.5 ms or more do
}

TEST(BenchOpenblas, OnlyARelapseIsMended) {
  const std::string old = "fpu sse sse2 pni ssse3", avx2 = old + " avx fma avx2",
                    avx512 = avx2 + " avx512f avx512bw avx512vl";
  EXPECT_EQ(better_openblas_core("Prescott", avx512, false), "SkylakeX");
  EXPECT_EQ(better_openblas_core("Nehalem", avx2, false), "Haswell");
  EXPECT_EQ(better_openblas_core("generic", avx2, true), "Zen");
  EXPECT_EQ(better_openblas_core("Prescott", old, false), "");
  EXPECT_EQ(better_openblas_core("Prescott", old + " avx512fp16 notavx2", false), "");
  EXPECT_EQ(better_openblas_core("Haswell", avx512, false), "");
  EXPECT_EQ(better_openblas_core("SkylakeX", avx512, false), "");
  EXPECT_EQ(better_openblas_core("", avx512, false), "");
}

TEST(Tuned, TheFastestStaysUnlessAnotherIsClearlyFaster) {
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_EQ(bench::fastest({{3, 2, 4}, {3, 3.05, 4}, {3, 3.07, 4}, {none, none, 5}, {none, none, none}}),
            (std::vector<std::size_t>{1, 1, 0, 2, 2}));
  EXPECT_EQ(bench::fastest({{none, 2}, {std::nan(""), 2}}), (std::vector<std::size_t>{1, 1}));
}

TEST(Tuned, StepsBeginBetweenTheSizes) {
  const double none = std::numeric_limits<double>::infinity();
  using Steps = std::vector<bench::Step>;
  EXPECT_EQ(bench::increments({{3, 2, none}, {4, 5, 6}, {8, none, 7}}),
            (std::vector<std::vector<double>>{{3, 2, none}, {1, 3, 6}, {4, none, 1}}));
  EXPECT_EQ(bench::steps({1000, 2000, 4000, 8000}, {1, 1, 0, 2}), (Steps{{0, 1}, {3001, 0}, {6001, 2}}));
  EXPECT_EQ(bench::steps({500}, {3}), (Steps{{0, 3}}));
  EXPECT_EQ(bench::steps({}, {}), Steps{});
}

}  // namespace
