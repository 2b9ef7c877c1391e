// givens-gpu: tables I and II of paper 001. Q and R of full and of symmetric heptadiagonal matrices by Givens
// rotations, beside the paper's algorithm on this GPU, and its published times.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "cuda_side.hpp"
#include "devobj/devobj.hpp"
#include "explicit_residual.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "peers_qr.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

/// Seconds in the paper: MKL on 12 threads, C2070, GTX 460, K20X; 0: none.
using Published = std::map<std::int64_t, std::vector<double>>;
const Published table_1 = {{5000, {1.854, 4.315, 4.127, 7.567}},  {6000, {3.054, 5.181, 4.893, 9.583}},
                           {7000, {4.664, 6.175, 5.775, 11.967}}, {8000, {6.795, 7.345, 6.823, 14.708}},
                           {9000, {9.428, 8.689, 7.991, 17.812}}, {10000, {12.701, 10.153, 9.289, 21.251}},
                           {12000, {21.379, 13.598, 0, 29.217}},  {15000, {40.967, 19.986, 0, 43.838}},
                           {18000, {71.037, 27.771, 0, 61.680}},  {20000, {96.641, 33.677, 0, 77.676}}};
const Published table_2 = {
    {5000, {3.471, 4.532, 4.405, 7.886}},   {6000, {5.783, 5.507, 5.333, 9.893}}, {7000, {9.001, 6.592, 6.354, 12.401}},
    {8000, {13.338, 7.882, 7.599, 15.271}}, {9000, {18.678, 9.449, 0, 18.640}},   {10000, {25.375, 11.043, 0, 22.124}},
    {12000, {43.294, 14.861, 0, 30.562}},   {15000, {82.342, 22.118, 0, 45.949}}, {16000, {99.588, 24.683, 0, 51.798}}};

/// Symmetric with `k` diagonals on each side; of the full uniform numbers `host`.
template <class T>
void keep_band(const HostMatrix<T>& host, std::int64_t k) {
  const std::int64_t n = host.m;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      T& a = host.data[static_cast<std::size_t>(i + j * n)];
      if (std::abs(i - j) > k)
        a = T(0);
      else if (i > j)
        a = host.data[static_cast<std::size_t>(j + i * n)];
    }
}
/// Its band storage.
template <class T>
HostMatrix<T> band_storage(const HostMatrix<T>& host, std::int64_t k) {
  HostMatrix<T> AB(2 * k + 1, host.n);
  for (std::int64_t j = 0; j < host.n; ++j)
    for (std::int64_t r = 0; r < AB.m; ++r) {
      const std::int64_t i = j + r - k;
      AB.data[static_cast<std::size_t>(r + j * AB.m)] =
          0 <= i && i < host.m ? host.data[static_cast<std::size_t>(i + j * host.m)] : T(0);
    }
  return AB;
}

template <class T>
class Sizes {
 public:
  Sizes(char type, std::int64_t n, const Options& o, Queue& q, Report& report)
      : type_(type),
        n_(n),
        o_(o),
        q_(q),
        report_(report),
        host_(uniform<T>(n, n, o.seed)),
        A_(n, n, q),
        Q_(n, n, q),
        R_(n, n, q) {}

  void run() {
    upload();
    const double dense = qr_ms();
    Row row = row_of("givens-dense", dense);
    check(row, false);
    std::optional<double> baseline;
    if constexpr (cuda_built && !is_complex<T>)
      if (q_.on_cuda() && n_ <= o_.baseline_max) {
        Repeat once = o_.repeat;
        once.reps = 1;
        baseline = paper001_ms<T>(A_, Q_, R_, once, q_);
        Row of_paper = row_of("paper001-dense", *baseline);
        check(of_paper, true);
        row.peer = "paper001";
        row.peer_ms = baseline;
      }
    report_.add(row);
    double band[3] = {}, kept[3] = {}, solve = 0;
    for (int k = 1; k <= 3; ++k) {
      // narrower bands out of the wider one's numbers
      const HostMatrix<T> numbers = uniform<T>(n_, n_, o_.seed);
      copy_host(numbers.data.get(), host_.data.get(), host_.size());
      keep_band(host_, k);
      upload();
      band[k - 1] = qr_ms();
      Row of_band = row_of(("givens-" + std::to_string(2 * k + 1) + "-diagonal").c_str(), band[k - 1]);
      check(of_band, false);
      if (baseline) {
        of_band.peer = "paper001";
        of_band.peer_ms = baseline;  // which does not look at zeros
      }
      report_.add(of_band);
      const HostMatrix<T> AB = band_storage(host_, k);
      Matrix<T> ab(AB.m, n_, q_), S(k, n_, q_), R(AB.m, n_, q_), B(n_, 1000, q_);
      Matrix<real_t<T>> C(k, n_, q_);
      to_device<T>(HostArray<const T>(AB.data.get(), AB.m, n_, AB.m), ab, q_);
      kept[k - 1] = median_ms(
          o_.repeat, [] {}, [&] { band_qr<T>(ab, k, k, C, S, R, q_); }, [&] { q_.wait(); });
      report_.add(row_of(("rotations-" + std::to_string(2 * k + 1) + "-diagonal").c_str(), kept[k - 1]));
      devobj::copy<T>(A_({0, n_}, {0, std::min<std::int64_t>(1000, n_)}),
                      B({0, n_}, {0, std::min<std::int64_t>(1000, n_)}), q_);
      solve = median_ms(
          o_.repeat, [] {}, [&] { band_qr_solve<T>(C, S, R, B, q_); }, [&] { q_.wait(); });
    }
    char text[200];
    const Published& table = type_ == 's' ? table_1 : table_2;
    std::string published;
    if (const auto found = table.find(n_); found != table.end())
      for (const double s : found->second) published += s > 0 ? csv_number(s) + " " : "- ";
    std::snprintf(
        text, sizeof text,
        "n %6lld  baseline %9s s  dense %8.4f s  3/5/7 diagonals %7.4f %7.4f %7.4f s, rotations kept %7.4f %7.4f %7.4f "
        "s, 1000 solves %7.4f s",
        static_cast<long long>(n_), baseline ? csv_number(*baseline / 1000).c_str() : "-", dense / 1000, band[0] / 1000,
        band[1] / 1000, band[2] / 1000, kept[0] / 1000, kept[1] / 1000, kept[2] / 1000, solve / 1000);
    report_.line(std::string(text) + "  paper (MKL12 C2070 GTX K20X): " + published);
  }

 private:
  void upload() { to_device<T>(HostArray<const T>(host_.data.get(), n_, n_, n_), A_, q_); }
  double qr_ms() {
    return median_ms(
        o_.repeat, [] {}, [&] { qr<T>(A_, Q_, R_, q_, {Method::givens}); }, [&] { q_.wait(); });
  }
  Row row_of(const char* method, double ms) {
    report_.progress(std::string(method) + " " + std::to_string(n_));
    Row row = report_.row();
    row.routine = "qr";
    row.type = type_;
    row.m = row.n = n_;
    row.method = method;
    row.ms = ms;
    return row;
  }
  void check(Row& row, bool transposed) {
    if (n_ > o_.residual_max) return;
    const ExplicitResidual r = explicit_residual<T>(A_, Q_, R_, q_, transposed);
    row.residual = r.residual;
    if (!(r.residual <= residual_bound && r.orthogonality <= residual_bound))
      report_.failure(row.method + " " + std::to_string(n_) + ": residual " + csv_number(r.residual) +
                      ", orthogonality " + csv_number(r.orthogonality));
  }
  static constexpr double residual_bound = 30;

  char type_;
  std::int64_t n_;
  const Options& o_;
  Queue& q_;
  Report& report_;
  HostMatrix<T> host_;
  Matrix<T> A_, Q_, R_;
};

}  // namespace

int run_givens_gpu(const Options& o, Queue& q) {
  Report report(o, q, static_cast<int>(9 * o.types.size() * std::max<std::size_t>(1, o.sizes.size())));
  for (const char type : o.types) {
    report.line(type == 's' ? "Table I, single precision" : "Table II, double precision");
    std::vector<std::int64_t> sizes = o.sizes;
    if (sizes.empty())
      for (const auto& [n, seconds] : type == 's' ? table_1 : table_2) sizes.push_back(n);
    for (const std::int64_t n : sizes) try {
        with_type(type, [&]<class T>() { Sizes<T>(type, n, o, q, report).run(); });
      } catch (const std::exception& e) {
        report.failure("givens-gpu " + std::to_string(n) + ": " + e.what());
      }
  }
  return report.exit_code();
}

}  // namespace bench
