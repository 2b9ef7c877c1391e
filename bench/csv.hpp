// Results as lines of a CSV file, and CSV lines back into fields.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view csv_header =
    "date,commit,machine,backend,routine,type,m,n,method,ms,gflops,peer,peer_ms,ratio,residual,peer_residual";

/// One measurement beside one peer's; what was not measured is empty.
struct Row {
  std::string date, commit, machine, backend, routine;
  std::string type;
  std::int64_t m = 0, n = 0;
  std::string method;
  std::optional<double> ms, gflops;
  std::string peer;
  std::optional<double> peer_ms, residual, peer_residual;

  /// How many times faster than the peer.
  std::optional<double> ratio() const {
    if (!ms || !peer_ms) return std::nullopt;
    return *peer_ms / *ms;
  }
};

/// Six digits; "" if there is no number, "nan" if it is not one.
inline std::string csv_number(std::optional<double> value) {
  if (!value) return "";
  if (*value != *value) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", *value);
  return text;
}

/// A field, in quotes if it holds a comma, a quote or a line break.
inline std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

inline std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    line += csv_field(fields[i]);
  }
  return line;
}

/// The row's line under csv_header.
inline std::string csv_line(const Row& r) {
  return csv_line(std::vector<std::string>{r.date, r.commit, r.machine, r.backend, r.routine, r.type,
                                           std::to_string(r.m), std::to_string(r.n), r.method, csv_number(r.ms),
                                           csv_number(r.gflops), r.peer, csv_number(r.peer_ms), csv_number(r.ratio()),
                                           csv_number(r.residual), csv_number(r.peer_residual)});
}

/// The fields of one line; quotes are taken off. Error: a quote that is not closed.
inline std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  if (quoted) throw std::runtime_error("CSV: a quote is not closed in: " + std::string(line));
  return fields;
}

/// The lines of a CSV file as fields, without the header, which must be `header`; empty lines are left out.
inline std::vector<std::vector<std::string>> csv_read(const std::string& file, std::string_view header) {
  std::ifstream in(file);
  std::string line;
  if (!in || !std::getline(in, line)) throw std::runtime_error("cannot read " + file);
  if (line.ends_with('\r')) line.pop_back();
  if (line != header)
    throw std::runtime_error(file + ": the header is '" + line + "', not '" + std::string(header) + "'");
  const std::size_t columns = csv_fields(header).size();
  std::vector<std::vector<std::string>> lines;
  while (std::getline(in, line)) {
    if (line.empty() || line == "\r") continue;
    lines.push_back(csv_fields(line));
    if (lines.back().size() != columns)
      throw std::runtime_error(file + ": not " + std::to_string(columns) + " fields: " + line);
  }
  return lines;
}

/// Appends `line` to `file`; a file that is new or empty gets `header` first, one with another header is an error, and
/// a last line without an end gets its end.
inline void csv_append(const std::string& file, std::string_view header, std::string_view line) {
  std::string first;
  bool open_end = false;
  if (std::ifstream in(file, std::ios::binary); in && std::getline(in, first)) {
    in.clear();
    in.seekg(-1, std::ios::end);
    open_end = in.get() != '\n';
  }
  if (first.ends_with('\r')) first.pop_back();
  if (!first.empty() && first != header)
    throw std::runtime_error(file + " has other columns: '" + first + "', not '" + std::string(header) + "'");
  std::ofstream out(file, std::ios::app | std::ios::binary);
  if (open_end) out << '\n';
  if (first.empty()) out << header << '\n';
  out << line << '\n' << std::flush;
  if (!out) throw std::runtime_error("cannot write " + file);
}

}  // namespace bench
