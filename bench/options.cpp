#include "options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>

#include "devobj/rng.hpp"

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
const std::map<std::string, devobj::Method> mixed_methods = {{"auto", devobj::Method::automatic},
                                                             {"lapack", devobj::Method::lapack},
                                                             {"hybrid", devobj::Method::hybrid},
                                                             {"native", devobj::Method::native},
                                                             {"randomized", devobj::Method::randomized}};
const std::map<std::string, devobj::Method> qr_methods = {{"auto", devobj::Method::automatic},
                                                          {"lapack", devobj::Method::lapack},
                                                          {"hybrid", devobj::Method::hybrid},
                                                          {"native", devobj::Method::native},
                                                          {"householder", devobj::Method::householder},
                                                          {"block_householder", devobj::Method::block_householder},
                                                          {"givens", devobj::Method::givens}};

void add_common(CLI::App* app, Options& o) {
  add(app, "--backend", "auto, cuda or host", [&o](Words w) { o.backend = choose(backends, w); });
  app->add_option("--reps", o.repeat.reps, "repetitions after a warm-up of 10 ms or one run; the median counts")
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
  app->add_option("--inner-block", o.inner_block,
                  "lu, native: columns of a kernel's panel within it; 0: the library's choice")
      ->check(CLI::NonNegativeNumber);
  add(app, "--peer", "of lapack, cusolver, magma, or none; default cusolver on a GPU, lapack without", [&o](Words w) {
    o.peers = choose_list({"lapack", "cusolver", "magma", "none"}, w);
  });
  add(app, "--math", "auto or strict: how fp32 updates multiply", [&o](Words w) {
    o.math = choose<devobj::Math>({{"auto", devobj::Math::automatic}, {"strict", devobj::Math::strict}}, w);
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
  add(blas, "--columns", "columns of B in trsm, at most n; default n", [&o](Words w) { o.columns = parse_sizes(w); });
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

  CLI::App* update =
      app.add_subcommand("update", "Updates of a QR: figures 6 to 14 and tables 1 to 5 of paper 003, and qrupdate");
  add_common(update, o);
  add_types(update, o);
  add_sizes(update, o, "500,1000,2000, for qrupdate");
  std::vector<std::string> parts;
  for (int i = 6; i <= 14; ++i) parts.push_back("figure" + std::to_string(i));
  for (int i = 1; i <= 5; ++i) parts.push_back("table" + std::to_string(i));
  parts.push_back("qrupdate");
  o.parts = parts;
  add(update, "--parts", "of figure6 ... figure14, table1 ... table5, qrupdate (host); default all",
      [&o, parts](Words w) { o.parts = choose_list(parts, w); });
  update->add_flag("--fit", o.fit, "instead: the times that the cost model is fitted to");
  update->add_option("--out", o.out, "folder of the plots")->capture_default_str();
  CLI::App* fft = app.add_subcommand("fft", "Fourier transforms beside raw cuFFT or FFTW");
  add_common(fft, o);
  add_types(fft, o);
  add_sizes(fft, o, "65536,1048576,4194304,16777216,67108864 points on a GPU, the first three without");
  CLI::App* prims = app.add_subcommand("prims", "Scans, reductions, sorting, ... beside raw CUB and cuSPARSE or std");
  add_common(prims, o);
  add(prims, "--type", "types, of i, s, d; default all", [&o](Words w) {
    o.types.clear();
    for (const auto& word : choose_list({"i", "s", "d"}, w)) o.types.push_back(word[0]);
  });
  add_sizes(prims, o, "65536,1048576,4194304,16777216,67108864 on a GPU, the first three without");
  std::vector<std::string> primitives = {"scan",       "segmented_scan", "reduce_sum", "reduce_min", "sort_keys",
                                         "sort_pairs", "compact",        "histogram",  "spmv"};
  o.primitives = primitives;
  primitives.insert(primitives.end(), {"exclusive_scan", "exclusive_segmented_scan"});
  add(prims, "--routine",
      "of scan, segmented_scan, reduce_sum, reduce_min, sort_keys, sort_pairs, compact, histogram, spmv; default all; "
      "also "
      "exclusive_scan, exclusive_segmented_scan",
      [&o, primitives](Words w) { o.primitives = choose_list(primitives, w); });
  CLI::App* wy =
      app.add_subcommand("wy", "Block Householder QR with explicit Q, and the non-blocked form, m = 2 n (paper 000)");
  add_common(wy, o);
  add_types(wy, o);
  add_sizes(wy, o, "1000,2000,4000,8000 on a GPU, 500,1000 without; n, m = 2 n");
  wy->add_option("--block", o.block, "columns of a panel; 0: the library's choice")->check(CLI::NonNegativeNumber);
  wy->add_option("--cpu-max", o.cpu_max, "no time of the CPU for more columns")->capture_default_str();
  add_plot(wy, o);
  CLI::App* givens_cpu =
      app.add_subcommand("givens-cpu", "Givens QR on the CPU beside the variants of paper 004, its tables");
  add_common(givens_cpu, o);
  CLI::App* givens_gpu = app.add_subcommand(
      "givens-gpu", "Givens QR on the GPU, dense and heptadiagonal, beside paper 001's algorithm, its tables I, II");
  add_common(givens_gpu, o);
  add_types(givens_gpu, o);
  add_sizes(givens_gpu, o, "the paper's");
  givens_gpu->add_option("--residual-max", o.residual_max, "no residual if n is larger")->capture_default_str();
  givens_gpu->add_option("--baseline-max", o.baseline_max, "no time of the paper's algorithm for larger matrices")
      ->capture_default_str();
  CLI::App* rng = app.add_subcommand("rng", "Random numbers beside cuRAND's or the C++ standard library's");
  add_common(rng, o);
  add_types(rng, o);
  add_sizes(rng, o, "2^30 numbers on a GPU; 1, 10, 100 and 2^25 without");
  const std::vector<std::string> distributions = {"words",       "uniform",  "normal",  "lognormal",
                                                  "exponential", "integers", "poisson", "bernoulli"};
  add(rng, "--routine", "of words, uniform, normal, lognormal, exponential, integers, poisson, bernoulli; default all",
      [&o, distributions](Words w) { o.routines = choose_list(distributions, w); });
  add(rng, "--generator", "of philox, state, and cuRAND's through the library; default philox,state", [&o](Words w) {
    std::vector<std::string> known;
    for (int g = 0; g < devobj::generators; ++g) known.push_back(devobj::name_of(static_cast<devobj::Generator>(g)));
    o.generators = choose_list(known, w);
  });
  add(rng, "--peer", "none leaves the peers out", [&o](Words w) { o.peers = choose_list({"none"}, w); });
  CLI::App* batched =
      app.add_subcommand("batched", "Many small LU, QR and solves at once beside cuBLAS's or a loop over LAPACK");
  add_common(batched, o);
  add_types(batched, o);
  add_sizes(batched, o, "4,8,16,24,32,48,64,96,128,192,256,384,512 on a GPU, 4,8,16,32,64,128,256 without");
  const std::vector<std::string> batched_routines = {"getrf", "getrs", "gesv", "geqrf", "gels"};
  add(batched, "--routine", "of getrf, getrs, gesv, geqrf, gels; default all",
      [&o, batched_routines](Words w) { o.routines = choose_list(batched_routines, w); });
  batched->add_option("--batch", o.batch, "matrices; 0: 2^25 elements of them on a GPU, 2^20 without")
      ->check(CLI::NonNegativeNumber);

  CLI::App* mixed = app.add_subcommand("mixed", "Mixed-precision solves beside those in double precision");
  add_common(mixed, o);
  add(mixed, "--type", "types, of d, z; default d", [&o](Words w) {
    o.types.clear();
    for (const auto& word : choose_list({"d", "z"}, w)) o.types.push_back(word[0]);
  });
  add_sizes(mixed, o, "1000,2000,4000,8000,16000 on a GPU, 500,1000,2000 without");
  const std::vector<std::string> solvers = {"gesv", "gels"};
  add(mixed, "--routine", "of gesv (n x n), gels (2 n x n); default both",
      [&o, solvers](Words w) { o.routines = choose_list(solvers, w); });
  add(mixed, "--method", "auto, lapack, hybrid, native, randomized (gesv)",
      [&o](Words w) { o.method = choose(mixed_methods, w); });
  mixed->add_option("--block", o.block, "columns of a panel; 0: the library's choice")->check(CLI::NonNegativeNumber);
  mixed->add_option("--nrhs", o.nrhs, "right-hand sides")->check(CLI::PositiveNumber)->capture_default_str();

  CLI::App* solve = app.add_subcommand("solve", "getrs beside cuSOLVER's or LAPACK's");
  add_common(solve, o);
  add_types(solve, o);
  add_sizes(solve, o, "1000,2000,4000,8000,16000 on a GPU, 500,1000,2000 without");
  add(solve, "--nrhs", "numbers of right-hand sides; default 1,4,16,100,1000",
      [&o](Words w) { o.right_hand_sides = parse_sizes(w); });

  CLI::App* tune = app.add_subcommand("tune", "The fastest methods and block sizes here, as a table for DEVOBJ_TUNING");
  add_common(tune, o);
  add(tune, "--type", "types, of s, d, c, z; default all", [&o](Words w) { o.types = parse_types(w); });
  add_sizes(tune, o, "500 to 20000 on a GPU, 500,1000,2000,4000 without");
  const std::vector<std::string> tuned = {"lu", "qr", "qr_apply"};
  add(tune, "--routine", "of lu, qr, qr_apply; default all",
      [&o, tuned](Words w) { o.routines = choose_list(tuned, w); });
  add(tune, "--method", "one method alone; auto: all", [&o](Words w) { o.method = choose(qr_methods, w); });
  tune->add_option("--out", o.out, "folder of tuning.inc")->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    exit_code = app.exit(e);
    return false;
  }
  const std::map<CLI::App*, Mode> modes = {{lu, Mode::lu},
                                           {qr, Mode::qr},
                                           {blas, Mode::blas},
                                           {transfer, Mode::transfer},
                                           {table1, Mode::table1},
                                           {update, Mode::update},
                                           {fft, Mode::fft},
                                           {prims, Mode::prims},
                                           {wy, Mode::wy},
                                           {givens_cpu, Mode::givens_cpu},
                                           {givens_gpu, Mode::givens_gpu},
                                           {rng, Mode::rng},
                                           {batched, Mode::batched},
                                           {mixed, Mode::mixed},
                                           {solve, Mode::solve},
                                           {tune, Mode::tune}};
  o.mode = modes.at(app.get_subcommands().front());
  if (o.mode == Mode::rng && rng->count("--routine") == 0) o.routines = distributions;
  if (o.mode == Mode::batched && batched->count("--routine") == 0) o.routines = batched_routines;
  if (o.mode == Mode::mixed && mixed->count("--routine") == 0) {
    o.routines = solvers;
    if (o.method == devobj::Method::randomized) o.routines = {"gesv"};
  }
  if (o.mode == Mode::mixed && mixed->count("--type") == 0) o.types = {'d'};
  if (o.mode == Mode::tune && tune->count("--routine") == 0) o.routines = tuned;
  if (o.mode == Mode::tune && tune->count("--type") == 0) o.types = {'s', 'd', 'c', 'z'};
  if (o.mode == Mode::prims && prims->count("--type") == 0) o.types = {'i', 's', 'd'};
  if (o.mode == Mode::transfer && transfer->count("--type") == 0) o.types = {'s'};
  if (o.mode == Mode::update && !o.fit && update->count("--type") == 0) o.types = {'s'};
  return true;
}

}  // namespace bench
