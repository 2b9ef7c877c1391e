#include "plot.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "machine.hpp"

namespace bench {
namespace fs = std::filesystem;
namespace {

/// In gnuplot's single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

/// One block per series: its title in double quotes, then a line per point; two empty lines between.
void write_points(const Plot& plot, const fs::path& file) {
  std::ofstream out(file);
  out.precision(9);
  for (const Series& s : plot.series) {
    out << '"' << s.title << "\"\n";
    for (const auto& [x, y] : s.points)
      if (std::isfinite(y))
        out << x << ' ' << y << '\n';
      else
        out << x << " NaN\n";
    out << "\n\n";
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_script(const Plot& plot, const fs::path& file, const fs::path& image, const std::string& lines) {
  std::ofstream out(file);
  const std::string terminal = image.extension() == ".png" ? "pngcairo size 1200,750 fontscale 1.1 background 'white'"
                                                           : "svg size 900,560 dynamic background 'white'";
  out << "# gnuplot " << file.filename().string() << " draws " << image.filename().string() << "\n"
      << "set terminal " << terminal << "\n"
      << "out = " << quoted(image.filename().string()) << "\n"
      << "data = " << quoted(fs::path(image.filename()).replace_extension(".dat").string()) << "\n"
      << "curves = " << plot.series.size() << "\n"
      << "plot_title = " << quoted(plot.title) << "\n"
      << "x_label = " << quoted(plot.x_label) << "\n"
      << "y_label = " << quoted(plot.y_label) << "\n"
      << "log_y = " << plot.log_y << "\n\n"
      << lines;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

/// gnuplot's exit code for `script` run in `folder`; 127 if there is no gnuplot.
int run_gnuplot(const std::string& folder, const std::string& script) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) == 0) execlp("gnuplot", "gnuplot", script.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::string draw(const Plot& plot, const std::string& file) {
  const fs::path image(file);
  const fs::path script = fs::path(image).replace_extension(".gp");
  const std::string folder = image.has_parent_path() ? image.parent_path().string() : ".";
  fs::create_directories(folder);
  write_points(plot, fs::path(image).replace_extension(".dat"));

  const std::string lines_gp = data_file("plot/lines.gp");
  if (lines_gp.empty()) return file + " was not drawn: plot/lines.gp is neither beside the program nor in its source";
  std::stringstream lines;
  lines << std::ifstream(lines_gp).rdbuf();
  write_script(plot, script, image, lines.str());

  const int code = run_gnuplot(folder, script.filename().string());
  if (code == 0) return "";
  const std::string remedy = "; where it is, run `gnuplot " + script.filename().string() + "` in " + folder;
  if (code == 127) return file + " was not drawn: gnuplot is not installed" + remedy;
  return file + " was not drawn: gnuplot ended with code " + std::to_string(code) + remedy;
}

}  // namespace bench
