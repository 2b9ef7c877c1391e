// table1: Table 1 and figures 4, 5 and 6 of the Flagon paper with gpu_sgetrf and gpu_sgeqrf: host arrays in and out,
// the transfers in the time, the CPU's sgetrf and sgeqrf on the same matrix, and the error max|A - L U| / max|A| /
// 2^-23.
#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "csv.hpp"
#include "devobj/devobj.h"
#include "devobj/matrix.hpp"
#include "flops.hpp"
#include "machine.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "peers.hpp"
#include "plot.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

const char* const paper_header = "n,gpu_lu_ms,cpu_lu_ms,lu_speedup,gpu_qr_ms,cpu_qr_ms,qr_speedup";

/// Ours or the CPU's time and error of one factorization.
struct Result {
  double ms = 0;
  double error = 0;     ///< max|A - product of the factors| / max|A| / 2^-23, the product in double precision
  double residual = 0;  ///< as in the CSV
};

/// One size: LU and QR of the GPU's routine and of the CPU's.
struct Line {
  std::int64_t n = 0;
  Result gpu[2], cpu[2];
  double speedup(int r) const { return cpu[r].ms / gpu[r].ms; }
};

/// gpu_sgetrf or gpu_sgeqrf on a copy of the matrix; the factors go back to the device for the error.
Result gpu_routine(const Problem<float>& p) {
  const int n = static_cast<int>(p.A.rows);
  HostMatrix<float> W(n, n);
  const auto length = static_cast<std::size_t>(n);
  std::vector<int> ipiv(length);
  std::vector<float> tau(length), work(length);
  int info = 0;
  Result result;
  result.ms = median_ms(
      p.repeat, [&] { copy_host(p.host.data.get(), W.data.get(), W.size()); },
      [&] {
        if (p.routine == Routine::getrf)
          gpu_sgetrf(&n, &n, W.data.get(), &n, ipiv.data(), &info);
        else
          gpu_sgeqrf(&n, &n, W.data.get(), &n, tau.data(), work.data(), &n, &info);
      },
      [] {});
  if (info < 0) fail(Status::internal_error, "info is ", info, ": ", devobj_last_error());
  require(info == 0, "info is ", info);
  to_device<float>(HostArray<const float>(W.data.get(), n, n, n), p.W, p.q);
  to_device<std::int32_t>(HostArray<const std::int32_t>(ipiv.data(), n, 1, n), p.ipiv, p.q);
  to_device<float>(HostArray<const float>(tau.data(), n, 1, n), p.tau, p.q);
  const Residual r = problem_residual(p);
  result.error = r.largest;
  result.residual = r.scaled;
  return result;
}

Line measure(std::int64_t n, const Options& o, Queue& q, Report& report) {
  const HostMatrix<float> host = uniform<float>(n, n, o.seed);
  Matrix<float> A(n, n, q), W(n, n, q), tau(n, 1, q);
  Matrix<std::int32_t> ipiv(n, 1, q);
  to_device<float>(HostArray<const float>(host.data.get(), n, n, n), A, q);
  Line line{n, {}, {}};
  for (const Routine routine : {Routine::getrf, Routine::geqrf}) {
    const int r = routine == Routine::getrf ? 0 : 1;
    const Problem<float> problem{routine, A, W, tau, ipiv, host, o.repeat, true, q};
    Row row = report.row();
    row.routine = r == 0 ? "gpu_sgetrf" : "gpu_sgeqrf";
    row.type = "s";
    row.m = row.n = n;
    row.method = "auto";
    row.peer = "lapack";
    report.progress(row.routine + " " + std::to_string(n));
    line.gpu[r] = gpu_routine(problem);
    report.progress((r == 0 ? "sgetrf " : "sgeqrf ") + std::to_string(n));
    const PeerResult cpu = lapack_peer(problem);
    line.cpu[r] = {cpu.ms, cpu.residual.value().largest, cpu.residual.value().scaled};
    row.ms = line.gpu[r].ms;
    row.gflops = (r == 0 ? lu_flops(n, n, 's') : qr_flops(n, n, 's')) / (*row.ms * 1e6);
    row.peer_ms = cpu.ms;
    row.residual = line.gpu[r].residual;
    row.peer_residual = line.cpu[r].residual;
    report.add(row);
  }
  return line;
}

/// Ours, with the paper's numbers in brackets.
void print_table(const std::vector<Line>& lines, Report& report) {
  std::map<std::string, std::vector<std::string>> paper;
  if (const std::string file = data_file("peers/paper-table1.csv"); !file.empty())
    for (auto& fields : csv_read(file, paper_header)) paper[fields[0]] = fields;
  if (report.row().backend == "host") report.note("This is the host backend: what is called GPU ran on the CPU.");
  report.line("\nTable 1: milliseconds and speed-up, in brackets the paper's (GT200 and Core 2)");
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      char cell[40];
      std::snprintf(cell, sizeof cell, i == 0 ? "%6s" : "%22s", cells[i].c_str());
      text += cell;
    }
    report.line(text);
  };
  row({"n", "GPU-LU", "CPU-LU", "LU speed-up", "GPU-QR", "CPU-QR", "QR speed-up"});
  for (const Line& l : lines) {
    const std::string n = std::to_string(l.n);
    std::vector<std::string> cells = {n};
    for (const double value : {l.gpu[0].ms, l.cpu[0].ms, l.speedup(0), l.gpu[1].ms, l.cpu[1].ms, l.speedup(1)}) {
      char cell[40];
      const auto found = paper.find(n);
      std::snprintf(cell, sizeof cell, "%.4g (%s)", value,
                    found == paper.end() ? "-" : found->second[cells.size()].c_str());
      cells.push_back(cell);
    }
    row(cells);
  }
  report.line("\nError max|A - L U| / max|A| / 2^-23, and of Q R");
  row({"n", "GPU-LU", "CPU-LU", "GPU-QR", "CPU-QR"});
  for (const Line& l : lines)
    row({std::to_string(l.n), csv_number(l.gpu[0].error), csv_number(l.cpu[0].error), csv_number(l.gpu[1].error),
         csv_number(l.cpu[1].error)});
}

void write_csv(const std::vector<Line>& lines, const std::string& file) {
  std::filesystem::remove(file);
  std::string header(paper_header);
  header += ",gpu_lu_error,cpu_lu_error,gpu_qr_error,cpu_qr_error";
  for (const Line& l : lines) {
    std::vector<std::string> fields = {std::to_string(l.n)};
    for (const int r : {0, 1})
      for (const double value : {l.gpu[r].ms, l.cpu[r].ms, l.speedup(r)}) fields.push_back(csv_number(value));
    for (const int r : {0, 1})
      for (const Result& result : {l.gpu[r], l.cpu[r]}) fields.push_back(csv_number(result.error));
    csv_append(file, header, csv_line(fields));
  }
}

/// Figures 4 (time), 5 (speed-up) and 6 (error) of the paper.
void draw_figures(const std::vector<Line>& lines, const Options& o, Report& report) {
  const auto curve = [&](const std::string& title, auto value) {
    Series s{title, {}};
    for (const Line& l : lines) s.points.emplace_back(static_cast<double>(l.n), value(l));
    return s;
  };
  const std::string where = report.row().machine, x = "rows and columns";
  const std::vector<std::pair<std::string, Plot>> figures = {
      {"table1-time.svg",
       {"Time of LU and QR, fp32, host arrays: " + where,
        x,
        "milliseconds",
        {curve("GPU-LU", [](const Line& l) { return l.gpu[0].ms; }),
         curve("CPU-LU", [](const Line& l) { return l.cpu[0].ms; }),
         curve("GPU-QR", [](const Line& l) { return l.gpu[1].ms; }),
         curve("CPU-QR", [](const Line& l) { return l.cpu[1].ms; })},
        true}},
      {"table1-speedup.svg",
       {"Speed-up over LAPACK: " + where,
        x,
        "CPU time / GPU time",
        {curve("LU", [](const Line& l) { return l.speedup(0); }),
         curve("QR", [](const Line& l) { return l.speedup(1); })},
        false}},
      {"table1-error.svg",
       {"Error of LU and QR: " + where,
        x,
        "max|A - product| / max|A| / 2^-23",
        {curve("GPU-LU", [](const Line& l) { return l.gpu[0].error; }),
         curve("CPU-LU", [](const Line& l) { return l.cpu[0].error; }),
         curve("GPU-QR", [](const Line& l) { return l.gpu[1].error; }),
         curve("CPU-QR", [](const Line& l) { return l.cpu[1].error; })},
        false}}};
  for (const auto& [file, plot] : figures)
    if (const std::string problem = draw(plot, o.out + "/" + file); !problem.empty()) report.note(problem);
}

}  // namespace

int run_table1(const Options& o, Queue& q) {
  const std::vector<std::int64_t> sizes = o.sizes.empty() ? parse_sizes("1000:11000:1000") : o.sizes;
  // the gpu_ routines use the library as it is open
  if (devobj_open(static_cast<devobj_backend>(q.backend()), -1) != DEVOBJ_SUCCESS)
    fail(Status::not_open, "devobj_open: ", devobj_last_error());
  Report report(o, q, static_cast<int>(4 * sizes.size()));
  std::vector<Line> lines;
  for (const std::int64_t n : sizes) try {
      require(n <= 46340, "table1: n is ", n, ", but LAPACK's 32-bit work sizes end at 46340");
      lines.push_back(measure(n, o, q, report));
    } catch (const std::exception& e) {
      report.failure("table1 " + std::to_string(n) + ": " + e.what());
    }
  if (!lines.empty()) {
    std::filesystem::create_directories(o.out);
    print_table(lines, report);
    write_csv(lines, o.out + "/table1.csv");
    draw_figures(lines, o, report);
    report.line("\n" + o.out + "/ holds table1.csv and the figures of time, speed-up and error.");
  }
  devobj_close();
  return report.exit_code();
}

}  // namespace bench
