// tune: the fastest block sizes and methods of getrf, geqrf and ormqr on square matrices, as a table for
// DEVOBJ_TUNING or devObjCpp/tuning.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "devobj/devobj.hpp"
#include "machine.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "report.hpp"
#include "tuned.hpp"

namespace bench {

using namespace devobj;

namespace {

struct Blocks {
  std::int64_t block, inner_block = 0;
};
/// What is measured for one routine and method, under the names of the table.
struct Candidates {
  std::string routine, method_name;
  Method method;
  std::vector<Blocks> blocks;
  bool for_auto;  ///< the method may be what 'auto' stands for
};

std::vector<Candidates> candidates(bool on_cuda, const Options& o) {
  std::vector<Candidates> all;
  if (on_cuda) {
    std::vector<Blocks> native;
    for (const std::int64_t block : {32, 64, 96, 128, 192, 256, 512, 1024}) {
      if (block <= 256) native.push_back({block});
      for (const std::int64_t inner : {32, 64, 128})
        if (inner < block && block <= 8 * inner && block % inner == 0) native.push_back({block, inner});
    }
    all.push_back({"lu", "native", Method::native, native, true});
    all.push_back({"qr", "native", Method::native, {{32}, {64}, {96}, {128}, {256}, {512}, {768}}, true});
  } else {
    all.push_back({"lu", "lapack", Method::lapack, {{0}}, true});
    all.push_back({"qr", "lapack", Method::lapack, {{0}}, true});
  }
  all.push_back({"lu", "hybrid", Method::hybrid, {{32}, {64}, {96}, {128}, {256}}, true});
  all.push_back({"qr", "hybrid", Method::hybrid, {{32}, {64}, {96}, {128}, {256}}, true});
  all.push_back({"qr", "block_householder", Method::block_householder, {{32}, {64}, {128}, {256}}, false});
  std::vector<Blocks> apply = {{32}, {64}, {128}, {256}};
  if (on_cuda) apply.push_back({512});
  all.push_back({"qr_apply", "hybrid", Method::hybrid, apply, false});
  std::erase_if(all, [&](const Candidates& c) {
    return std::find(o.routines.begin(), o.routines.end(), c.routine) == o.routines.end() ||
           (o.method != Method::automatic && c.method != o.method);
  });
  return all;
}

/// Square matrices of one type and size.
template <class T>
class Square {
 public:
  Square(std::int64_t n, const Options& o, Queue& q)
      : o_(o), q_(q), A_(n, n, q), W_(n, n, q), C_(n, n, q), tau_(n, 1, q), ipiv_(n, 1, q) {
    const HostMatrix<T> host = uniform<T>(n, n, o.seed);
    to_device<T>(HostArray<const T>(host.data.get(), n, n, n), A_, q);
    devobj::copy<T>(A_, C_, q);
  }
  double ms(const Candidates& c, Blocks b) {
    if (c.routine == "qr_apply") {
      devobj::copy<T>(A_, W_, q_);
      geqrf<T>(W_, tau_, q_);
      return median_ms(
          o_.repeat, [] {},
          [&] {
            // the same for all methods of a GPU, of which native allows the widest blocks
            const Method method = q_.on_cuda() ? Method::native : c.method;
            ormqr<T>(Side::Left, adjoint<T>, W_, tau_, C_, q_, QrOptions{method, b.block});
          },
          [&] { q_.wait(); });
    }
    return median_ms(
        o_.repeat, [&] { devobj::copy<T>(A_, W_, q_); },
        [&] {
          if (c.routine == "lu")
            getrf<T>(W_, ipiv_, q_, LuOptions{c.method, b.block, nullptr, b.inner_block});
          else
            geqrf<T>(W_, tau_, q_, QrOptions{c.method, b.block});
        },
        [&] { q_.wait(); });
  }

 private:
  const Options& o_;
  Queue& q_;
  Matrix<T> A_, W_, C_, tau_;
  Matrix<std::int32_t> ipiv_;
};

/// times[candidate's number][size's number][block's number]
using Times = std::vector<std::vector<std::vector<double>>>;

Times measure(char type, const std::vector<std::int64_t>& sizes, const std::vector<Candidates>& all, const Options& o,
              Queue& q, Report& report) {
  Times times(all.size());
  for (const std::int64_t n : sizes)
    with_type(type, [&]<class T>() {
      Square<T> square(n, o, q);
      for (std::size_t c = 0; c < all.size(); ++c) {
        auto& of_size = times[c].emplace_back();
        std::ostringstream line;
        line << all[c].routine << ' ' << all[c].method_name << ' ' << type << ' ' << n << ':';
        for (const Blocks b : all[c].blocks) {
          report.progress(line.str().append(" block ").append(std::to_string(b.block)));
          double ms = std::numeric_limits<double>::infinity();
          try {
            if (b.block <= n) ms = square.ms(all[c], b);
          } catch (const std::exception& e) {
            report.note(line.str().append(" block ").append(std::to_string(b.block)) + " failed: " + e.what());
          }
          of_size.push_back(ms);
          line << "  " << b.block;
          if (b.inner_block > 0) line << '/' << b.inner_block;
          line << ' ' << csv_number(ms);
        }
        report.line(line.str() + " ms");
      }
    });
  return times;
}

/// The lines of one type.
void write_lines(std::ostream& out, char type, const std::vector<std::int64_t>& sizes,
                 const std::vector<Candidates>& all, const Times& times) {
  for (const std::string routine : {"lu", "qr", "qr_apply"}) {
    std::vector<const Candidates*> methods;
    std::vector<std::vector<double>> best(sizes.size());
    for (std::size_t c = 0; c < all.size(); ++c)
      if (all[c].routine == routine && all[c].for_auto) {
        methods.push_back(&all[c]);
        for (std::size_t i = 0; i < sizes.size(); ++i)
          best[i].push_back(*std::min_element(times[c][i].begin(), times[c][i].end()));
      }
    if (!methods.empty())
      for (const Step step : steps(sizes, fastest(best)))
        out << "METHOD(" << routine << ", " << type << ", " << step.from << ", " << methods[step.candidate]->method_name
            << ")\n";
    for (std::size_t c = 0; c < all.size(); ++c)
      if (all[c].routine == routine && all[c].method != Method::lapack)
        for (const Step step :
             steps(sizes, fastest(all[c].method == Method::native ? increments(times[c]) : times[c]))) {
          const Blocks b = all[c].blocks[step.candidate];
          out << "BLOCK(" << routine << ", " << all[c].method_name << ", " << type << ", " << step.from << ", "
              << b.block << ", " << b.inner_block << ")\n";
        }
  }
}

}  // namespace

int run_tune(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty())
    sizes = parse_sizes(q.on_cuda() ? "500,1000,2000,3000,4000,6000,8000,12000,16000,20000" : "500,1000,2000,4000");
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const std::vector<Candidates> all = candidates(q.on_cuda(), o);
  std::size_t blocks = 0;
  for (const Candidates& c : all) blocks += c.blocks.size();
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * blocks));

  std::ostringstream table;
  table << "// " << report.row().machine << ": devobj-bench tune, " << report.row().date << ", commit "
        << report.row().commit << ".\n";
  for (const char type : o.types) try {
      write_lines(table, type, sizes, all, measure(type, sizes, all, o, q, report));
    } catch (const std::exception& e) {
      report.failure(std::string("type ") + type + ": " + e.what());
    }
  std::filesystem::create_directories(o.out);
  const std::string file = o.out + "/tuning.inc";
  std::ofstream out(file);
  out << table.str() << std::flush;
  if (!out) report.failure("cannot write " + file);
  report.line("");
  report.line(table.str());
  report.line(std::string("The table is in ")
                  .append(file)
                  .append("; programs use it with DEVOBJ_TUNING=")
                  .append(std::filesystem::absolute(file).string()));
  return report.exit_code();
}

}  // namespace bench
