// update: paper 003's figures 6 to 14 and tables 1 to 5 with our times, speed-ups against a full factorization with its
// least-squares solution, ours and cuSOLVER's, resident and with the paper's transfers; qrupdate on the host; and the
// times that the cost model is fitted to.
#include <map>
#include <memory>

#include "csv.hpp"
#include "devObjCpp/qr_update_cost.hpp"
#include "machine.hpp"
#include "modes.hpp"
#include "plot.hpp"
#include "update_cases.hpp"
#include "update_tables.hpp"

namespace bench {

using namespace devobj;

namespace {

const char* const header =
    "date,commit,machine,backend,part,update,form,type,m,n,p,k,update_ms,refactor_ms,full_ms,cusolver_full_ms,"
    "update_with_transfers_ms,full_with_transfers_ms,predicted_update_ms,predicted_refactor_ms,update_work,refactor_work";

/// The counts of the cost model, which fit_update_cost.py reads.
std::string work_field(const UpdateWork& work) {
  std::string text;
  for (const double part : work.parts()) {
    if (!text.empty()) text += ' ';
    text += csv_number(part);
  }
  return text;
}

struct Times {
  std::optional<double> update, refactor, full, cusolver, update_transfers, full_transfers;
};

template <class T>
class Measurements {
 public:
  Measurements(const Options& o, Queue& queue) : o_(o), q(queue) {}

  /// The factors of the case's matrix, made if the last case's were others.
  Factors<T>& factors(const UpdateCase& c) {
    const QrForm form = c.form == QrForm::full ? QrForm::full : QrForm::economic;
    if (!factors_ || !factors_->is(c.m, c.n, form)) {
      factors_.reset();
      factors_ = std::make_unique<Factors<T>>(c.m, c.n, form, o_.seed, q);
    }
    return *factors_;
  }
  const FullTimes& full(std::int64_t m, std::int64_t n) {
    const auto [at, fresh] = full_.try_emplace({m, n});
    if (fresh) at->second = full_times<T>(m, n, o_.repeat, o_.seed, q);
    return at->second;
  }

 private:
  const Options& o_;
  Queue& q;
  std::unique_ptr<Factors<T>> factors_;
  std::map<std::pair<std::int64_t, std::int64_t>, FullTimes> full_;
};

std::string letter(char type) {
  return std::string(1, type);
}

template <class T>
void write(const Options& o, Report& report, const std::string& part, char type, const UpdateCase& c, const Times& t,
           Queue& q) {
  if (o.csv.empty()) return;
  const Row row = report.row();
  const QrUpdateCost cost = qr_update_cost<T>(c.what, c.form, c.m, c.n, c.p, c.k, q);
  std::vector<std::string> fields = {row.date, row.commit,      row.machine,     row.backend,
                                     part,     name_of(c.what), name_of(c.form), letter(type)};
  for (const std::int64_t size : {c.m, c.n, c.p, c.k}) fields.push_back(std::to_string(size));
  for (const auto& value : {t.update, t.refactor, t.full, t.cusolver, t.update_transfers, t.full_transfers})
    fields.push_back(csv_number(value));
  fields.push_back(csv_number(cost.update));
  fields.push_back(csv_number(cost.refactor));
  const UpdateWorks work = qr_update_work<T>(c.what, c.form, c.m, c.n, c.p, c.k, q.on_cuda());
  fields.push_back(work_field(work.update));
  fields.push_back(work_field(work.refactor));
  csv_append(o.csv, header, csv_line(fields));
}

/// The time of an update by one method; empty where there is no such method.
template <class T>
std::optional<double> method_ms(UpdateRun<T>& run, const UpdateCase& c, UpdateMethod method, const Options& o) {
  if (method == UpdateMethod::refactor && c.what == QrUpdate::remove_rows && c.form == QrForm::without_q)
    return std::nullopt;
  return run.resident_ms(o.repeat, {method, 0});
}

template <class T>
void figure(const UpdateFigure& f, char type, const Options& o, Queue& q, Report& report) {
  Measurements<T> all(o, q);
  report.line("\n" + f.name + ": " + f.title +
              ". Speed-up over a full factorization with its least-squares solution; the "
              "paper's: " +
              f.paper);
  char text[240];
  std::snprintf(text, sizeof text, "%-12s %6s %6s %5s %6s %10s %10s %8s %10s %8s %12s", "curve", "m", "n", "p", "k",
                "update ms", "full ms", "speed-up", "cuSOLVER", "speed-up", "w. transfers");
  report.line(text);
  Plot plot{f.title + ", " + (type == 's' ? "fp32" : "fp64") + ": " + report.row().machine,
            f.x_label,
            "time of a full factorization / time of the update",
            {},
            false};
  for (const UpdateCurve& curve : f.curves)
    for (const UpdateCase& c : curve.cases) {
      report.progress(f.name + " " + curve.title);
      UpdateRun<T> run(c, all.factors(c), o.seed, q);
      Times t;
      t.update = method_ms(run, c, UpdateMethod::update, o);
      t.update_transfers =
          run.with_transfers_ms({std::min(o.repeat.reps, 2), o.repeat.seconds}, {UpdateMethod::update, 0});
      const FullTimes& whole = all.full(c.rows1(), c.cols1());
      t.full = whole.ours, t.full_transfers = whole.ours_transfers, t.cusolver = whole.peer;
      const double speed_up = *t.full / *t.update;
      std::snprintf(
          text, sizeof text, "%-12s %6lld %6lld %5lld %6lld %10.3f %10.3f %8.2f %10s %8s %12.2f", curve.title.c_str(),
          static_cast<long long>(c.m), static_cast<long long>(c.n), static_cast<long long>(c.p),
          static_cast<long long>(c.k), *t.update, *t.full, speed_up, t.cusolver ? csv_number(*t.cusolver).c_str() : "-",
          t.cusolver ? csv_number(*t.cusolver / *t.update).c_str() : "-", *t.full_transfers / *t.update_transfers);
      report.line(text);
      write<T>(o, report, f.name, type, c, t, q);
      plot.curve(curve.title).points.emplace_back(static_cast<double>(c.*(f.x)), speed_up);
      plot.curve(curve.title + ", with transfers")
          .points.emplace_back(static_cast<double>(c.*(f.x)), *t.full_transfers / *t.update_transfers);
    }
  if (const std::string problem = draw(plot, o.out + "/update-" + f.name + ".svg"); !problem.empty())
    report.note(problem);
}

template <class T>
void fit(char type, const Options& o, Queue& q, Report& report) {
  Measurements<T> all(o, q);
  char text[200];
  for (const UpdateCase& c : fit_cases(q.on_cuda())) {
    report.progress("fit " + name_of(c.what));
    UpdateRun<T> run(c, all.factors(c), o.seed, q);
    Times t;
    t.update = method_ms(run, c, UpdateMethod::update, o);
    t.refactor = method_ms(run, c, UpdateMethod::refactor, o);
    const QrUpdateCost cost = qr_update_cost<T>(c.what, c.form, c.m, c.n, c.p, c.k, q);
    const double chosen = cost.refactor < cost.update && t.refactor ? *t.refactor : *t.update;
    const double best = t.refactor ? std::min(*t.update, *t.refactor) : *t.update;
    std::snprintf(
        text, sizeof text,
        "%-12s %-10s %c %6lld %6lld %5lld %6lld  update %9.3f (model %9.3f)  anew %9s (model %9.3f)  loss %.2f",
        name_of(c.what).c_str(), name_of(c.form).c_str(), type, static_cast<long long>(c.m),
        static_cast<long long>(c.n), static_cast<long long>(c.p), static_cast<long long>(c.k), *t.update, cost.update,
        t.refactor ? csv_number(*t.refactor).c_str() : "-", cost.refactor, chosen / best);
    report.line(text);
    write<T>(o, report, "fit", type, c, t, q);
  }
}

}  // namespace

int run_update(const Options& o, Queue& q) {
  Report report(o, q, 200);
  auto guarded = [&](const std::string& what, auto&& run) {
    try {
      run();
    } catch (const std::exception& e) {
      report.failure(what + ": " + e.what());
    }
  };
  for (const char type : o.types)
    with_type(type, [&]<class T>() {
      if (o.fit) return guarded("fit", [&] { fit<T>(type, o, q, report); });
      for (const UpdateFigure& f : update_figures())
        if (std::find(o.parts.begin(), o.parts.end(), f.name) != o.parts.end())
          guarded(f.name, [&] { figure<T>(f, type, o, q, report); });
    });
  if (o.fit) return report.exit_code();
  for (const std::string& part : o.parts) {
    if (part.starts_with("table")) guarded(part, [&] { update_table(part, o, q, report); });
    if (part == "qrupdate") guarded(part, [&] { update_qrupdate(o, q, report); });
  }
  return report.exit_code();
}

}  // namespace bench
