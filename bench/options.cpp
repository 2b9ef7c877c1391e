#include "options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>

namespace bench {
namespace {

using Words = const std::string&;

/// An option whose word goes through `read`; what that throws becomes a message about the option.
void add(CLI::App* app, const std::string& name, const std::string& help, std::function<void(Words)> read) {
  app->add_option_function<std::string>(
         name,
         [name, read](Words word) {
           try {
             read(word);
           } catch (const std::invalid_argument& e) {
             throw CLI::ValidationError(name, e.what());
           }
         },
         help)
      ->expected(1);
}

template <class Value>
Value choose(const std::map<std::string, Value>& choices, Words word) {
  if (const auto found = choices.find(word); found != choices.end()) return found->second;
  std::string names;
  for (const auto& [name, value] : choices) names += (names.empty() ? "" : ", ") + name;
  throw std::invalid_argument("'" + word + "' is none of " + names);
}

/// The words of a list, each of which must be among `known`.
std::vector<std::string> choose_list(const std::vector<std::string>& known, Words text) {
  std::map<std::string, std::string> choices;
  for (const auto& name : known) choices[name] = name;
  std::vector<std::string> words;
  for (const auto word : split(text, ',')) words.push_back(choose(choices, std::string(word)));
  return words;
}

const std::map<std::string, devobj::Backend> backends = {
    {"auto", devobj::Backend::automatic}, {"host", devobj::Backend::host}, {"cuda", devobj::Backend::cuda}};
const std::map<std::string, devobj::Method> lu_methods = {{"auto", devobj::Method::automatic},
                                                          {"lapack", devobj::Method::lapack},
                                                          {"hybrid", devobj::Method::hybrid},
                                                          {"native", devobj::Method::native}};
const std::map<std::string, devobj::Method> qr_methods = {{"auto", devobj::Method::automatic},
                                                          {"lapack", devobj::Method::lapack},
                                                          {"hybrid", devobj::Method::hybrid},
                                                          {"native", devobj::Method::native},
                                                          {"householder", devobj::Method::householder},
                                                          {"block_householder", devobj::Method::block_householder},
                                                          {"givens", devobj::Method::givens}};

void add_common(CLI::App* app, Options& o) {
  add(app, "--backend", "auto, cuda or host", [&o](Words w) { o.backend = choose(backends, w); });
  app->add_option("--reps", o.repeat.reps, "repetitions after one warm-up; the median counts")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option("--seconds", o.repeat.seconds, "begin no further repetition after so many seconds in one measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--seed", o.seed, "of the uniform(-1, 1) matrices")->capture_default_str();
  app->add_option("--csv", o.csv, "append the results to this file");
  app->add_option("--machine", o.machine, "the machine's name in the CSV instead of GPU, CPU and cores");
  app->add_option("--commit", o.commit, "the commit in the CSV instead of DEVOBJ_BENCH_COMMIT or the build's");
}

void add_types(CLI::App* app, Options& o) {
  add(app, "--type", "types, of s, d, c, z; default s,d", [&o](Words w) { o.types = parse_types(w); });
}

void add_sizes(CLI::App* app, Options& o, const std::string& defaults) {
  add(app, "--sizes", "sizes n: first:last:step or a list; default " + defaults,
      [&o](Words w) { o.sizes = parse_sizes(w); });
}

void add_plot(CLI::App* app, Options& o) {
  add(app, "--plot", "draw Gflop/s against size into this .svg or .png file", [&o](Words w) {
    const std::string extension = std::filesystem::path(w).extension();
    if (extension != ".svg" && extension != ".png")
      throw std::invalid_argument("'" + w + "' does not end in .svg or .png");
    o.plot = w;
  });
}

void add_factorization(CLI::App* app, Options& o, const std::map<std::string, devobj::Method>& methods) {
  add_common(app, o);
  add_types(app, o);
  add_sizes(app, o, "1000:11000:1000 on a GPU, 500,1000,2000 without");
  add(app, "--shape", "square; p:q for m = n p / q (2:1 is m = 2 n); or MxN,MxN,... instead of --sizes", [&o](Words w) {
    parse_shapes(w, {1});
    o.shape = w;
  });
  std::string names;
  for (const auto& [name, value] : methods) names += (names.empty() ? "" : ", ") + name;
  add(app, "--method", names, [&o, &methods](Words w) {
    o.method = choose(methods, w);
    o.method_name = w;
  });
  app->add_option("--block", o.block, "columns of a panel; 0: the library's choice")->check(CLI::NonNegativeNumber);
  add(app, "--peer", "of lapack, cusolver, magma, or none; default cusolver on a GPU, lapack without", [&o](Words w) {
    o.peers = choose_list({"lapack", "cusolver", "magma", "none"}, w);
  });
  app->add_option("--residual-max", o.residual_max, "no residual if m or n is larger")->capture_default_str();
  add_plot(app, o);
}

}  // namespace

bool parse_options(int argc, char** argv, Options& o, int& exit_code) {
  CLI::App app("Times of devObject's routines, each beside a peer's in the same run on the same matrix.",
               "devobj-bench");
  app.require_subcommand(1);
  app.footer(
      "`devobj-bench MODE --help` lists the options of a mode. Exit code 1: a measurement failed or a result is "
      "wrong.");

  CLI::App* lu = app.add_subcommand("lu", "LU: devobj::getrf, data on the backend");
  add_factorization(lu, o, lu_methods);
  CLI::App* qr = app.add_subcommand("qr", "QR: devobj::geqrf, data on the backend");
  add_factorization(qr, o, qr_methods);

  CLI::App* blas = app.add_subcommand("blas", "BLAS routines beside the raw cuBLAS or BLAS call");
  add_common(blas, o);
  add_types(blas, o);
  add_sizes(blas, o, "64,256,1000,4000,10000 on a GPU, 64,256,1000 without");
  const std::vector<std::string> routines = {"gemm", "syrk", "trsm", "gemv", "axpy", "nrm2"};
  o.routines = routines;
  add(blas, "--routine", "of gemm, syrk, trsm, gemv, axpy, nrm2; default all",
      [&o, routines](Words w) { o.routines = choose_list(routines, w); });
  add_plot(blas, o);

  CLI::App* transfer =
      app.add_subcommand("transfer", "Copies between host arrays and the device, and the cost of a call");
  add_common(transfer, o);
  add(transfer, "--type", "types, of s, d, c, z; default s", [&o](Words w) { o.types = parse_types(w); });
  add(transfer, "--bytes", "sizes, suffixes K, M, G; default 4K,64K,1M,16M,256M,1G (without a GPU up to 256M)",
      [&o](Words w) { o.bytes = parse_bytes(w); });

  CLI::App* table1 =
      app.add_subcommand("table1", "Table 1 and figures 4 to 6 of the Flagon paper: gpu_sgetrf, gpu_sgeqrf");
  add_common(table1, o);
  add_sizes(table1, o, "1000:11000:1000");
  table1->add_option("--out", o.out, "folder of table1.csv and the three plots")->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    exit_code = app.exit(e);
    return false;
  }
  const std::map<CLI::App*, Mode> modes = {
      {lu, Mode::lu}, {qr, Mode::qr}, {blas, Mode::blas}, {transfer, Mode::transfer}, {table1, Mode::table1}};
  o.mode = modes.at(app.get_subcommands().front());
  if (o.mode == Mode::transfer && transfer->count("--type") == 0) o.types = {'s'};
  return true;
}

}  // namespace bench
