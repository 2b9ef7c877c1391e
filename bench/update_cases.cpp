#include "update_cases.hpp"

namespace bench {

using devobj::QrForm;
using devobj::QrUpdate;

namespace {

using Sizes = std::vector<std::int64_t>;
constexpr auto add_cols = QrUpdate::add_cols, remove_cols = QrUpdate::remove_cols;
constexpr auto add_rows = QrUpdate::add_rows, remove_rows = QrUpdate::remove_rows;
constexpr auto full = QrForm::full, without_q = QrForm::without_q;

std::string text(const char* name, std::int64_t value) {
  return std::string(name) + " = " + std::to_string(value);
}

/// One curve of `base` with the member `x` running over `values`.
UpdateCurve curve(const std::string& title, UpdateCase base, std::int64_t UpdateCase::*x, const Sizes& values) {
  UpdateCurve c{title, {}};
  for (const std::int64_t value : values) {
    base.*x = value;
    c.cases.push_back(base);
  }
  return c;
}
/// Curves that differ in the member `by`.
std::vector<UpdateCurve> curves(const char* name, std::int64_t UpdateCase::*by, const Sizes& of, UpdateCase base,
                                std::int64_t UpdateCase::*x, const Sizes& values) {
  std::vector<UpdateCurve> all;
  for (const std::int64_t value : of) {
    base.*by = value;
    all.push_back(curve(text(name, value), base, x, values));
  }
  return all;
}

}  // namespace

std::vector<UpdateFigure> update_figures() {
  using C = UpdateCase;
  const char* const at = "first column of the update, from 0";
  const char* const rows = "rows m";
  const char* const count = "rows or columns p";
  std::vector<UpdateFigure> f;
  f.push_back({"figure6", "Adding 200 columns, n = 3000", at, "above 1 for the largest k alone, up to about 2.5", &C::k,
               curves("m", &C::m, {4000, 8000, 12000}, {add_cols, full, 0, 3000, 200, 0}, &C::k,
                      {0, 1000, 2000, 2500, 2900, 3000})});
  f.push_back({"figure7", "Adding 200 columns, n = 6000", at, "above 1 for the largest k alone, up to 3.5", &C::k,
               curves("m", &C::m, {8000, 12000, 16000}, {add_cols, full, 0, 6000, 200, 0}, &C::k,
                      {0, 2000, 4000, 5500, 5900, 6000})});
  f.push_back(
      {"figure8", "Adding columns at k = 2980 of 3000", count, "up to 3 for small p, falling with p", &C::p,
       curves("m", &C::m, {5000, 8000}, {add_cols, full, 0, 3000, 0, 2980}, &C::p, {20, 100, 200, 500, 1000, 1500})});
  f.push_back({"figure9",
               "Removing 500 columns at k = 0, n = 3000",
               rows,
               "1 to 2, growing with m",
               &C::m,
               {curve("n = 3000", {remove_cols, without_q, 0, 3000, 500, 0}, &C::m, {6000, 8000, 10000, 12000})}});
  f.push_back({"figure10",
               "Removing columns, 6000 x 3000",
               at,
               "up to 13.5 at the largest k and p",
               &C::k,
               {curve("p = 100", {remove_cols, without_q, 6000, 3000, 100, 0}, &C::k, {0, 1000, 2000, 2500, 2800}),
                curve("p = 200", {remove_cols, without_q, 6000, 3000, 200, 0}, &C::k, {0, 1000, 2000, 2500, 2700}),
                curve("p = 500", {remove_cols, without_q, 6000, 3000, 500, 0}, &C::k, {0, 1000, 2000, 2400})}});
  f.push_back({"figure11",
               "Adding 500 rows, n = 3000",
               rows,
               "1 to nearly 2, growing with m",
               &C::m,
               {curve("n = 3000", {add_rows, without_q, 0, 3000, 500, 0}, &C::m, {8000, 10000, 12000, 14000})}});
  f.push_back({"figure12", "Adding rows, m = 8000", "columns n", "up to 1.8, falling with n and p", &C::n,
               curves("p", &C::p, {200, 1500}, {add_rows, without_q, 8000, 0, 0, 0}, &C::n, {1000, 3000, 5000, 7000})});
  f.push_back({"figure13", "Removing rows, m = 12000", count, "above 1 for n = 10000 and small p alone", &C::p,
               curves("n", &C::n, {6000, 8000, 10000}, {remove_rows, full, 12000, 0, 0, 0}, &C::p, {20, 60, 100})});
  f.push_back({"figure14", "Removing rows, n = 6000", count, "below 1", &C::p,
               curves("m", &C::m, {8000, 12000, 16000}, {remove_rows, full, 0, 6000, 0, 0}, &C::p, {20, 60, 100})});
  return f;
}

std::vector<UpdateCase> fit_cases(bool on_cuda) {
  const std::int64_t unit = on_cuda ? 1000 : 100;
  std::vector<UpdateCase> all;
  for (const auto what : {add_cols, remove_cols, add_rows, remove_rows, QrUpdate::rank_update})
    for (const QrForm form : {QrForm::full, QrForm::economic, QrForm::without_q}) {
      const bool needs_q = what == add_cols || what == remove_rows || what == QrUpdate::rank_update;
      if (needs_q && form == QrForm::without_q) continue;
      for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {2, 1}, {4, 1}, {6, 4}})
        for (const std::int64_t p : {std::int64_t(1), unit / 20, unit / 2})
          for (const int tenths : {0, 8}) {
            const bool cols = what == add_cols || what == remove_cols;
            if (tenths > 0 && !cols) continue;
            const UpdateCase c{what, form, m * unit, n * unit, p, n * unit * tenths / 10};
            if (form == QrForm::economic && (c.rows1() < c.cols1() || (needs_q && c.m < c.n + p))) continue;
            if (what == remove_cols && c.k + p > c.n) continue;
            all.push_back(c);
          }
    }
  return all;
}

std::string name_of(QrUpdate what) {
  switch (what) {
    case QrUpdate::add_cols:
      return "add_cols";
    case QrUpdate::remove_cols:
      return "remove_cols";
    case QrUpdate::add_rows:
      return "add_rows";
    case QrUpdate::remove_rows:
      return "remove_rows";
    case QrUpdate::rank_update:
      break;
  }
  return "rank_update";
}
std::string name_of(QrForm form) {
  return form == QrForm::full ? "full" : form == QrForm::economic ? "economic" : "without_q";
}

}  // namespace bench
