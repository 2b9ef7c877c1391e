// Where, when and from which source a result comes.
#pragma once

#include <string>

#include "devobj/queue.hpp"

namespace bench {

/// The CPU's model as the system names it.
std::string cpu_model();
/// The flags of /proc/cpuinfo's first processor, spaces between.
std::string cpu_flags();
/// The GPU's name; "" on the host backend.
std::string gpu_name(const devobj::Queue& q);
/// GPU, CPU and the number of cores this process may use: "NVIDIA H200 + Intel(R) Xeon(R) Processor, 16 cores".
std::string machine_name(const devobj::Queue& q);
/// Today, YYYY-MM-DD, UTC.
std::string today();
/// The source's short hash: DEVOBJ_BENCH_COMMIT of the environment, else that of the build, else "unknown".
std::string commit();
/// A file that comes with the program, e.g. "plot/lines.gp": beside the program, else in its source folder; "" if in
/// neither.
std::string data_file(const std::string& name);

}  // namespace bench
