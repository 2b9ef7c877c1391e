#include <string>

#include "csv.hpp"
#include "machine.hpp"
#include "peers.hpp"

namespace bench {

std::optional<double> recorded_magma_ms(Routine routine, char type, std::int64_t m, std::int64_t n,
                                        const std::string& gpu) {
  if (m != n || gpu.find("H200") == std::string::npos) return std::nullopt;
  const std::string name = routine == Routine::getrf ? "getrf" : "geqrf";
  for (const auto& fields : csv_read(data_file("peers/magma-h200.csv"), "routine,type,n,ms,source"))
    if (fields[0] == name && fields[1] == std::string(1, type) && fields[2] == std::to_string(n))
      return std::stod(fields[3]);
  return std::nullopt;
}

}  // namespace bench
