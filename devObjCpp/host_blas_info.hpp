// Which BLAS the host backend uses, and whether it uses the CPU as it could.
#pragma once

#include <string>

namespace devobj {

/// The OpenBLAS core and threads (or "BLAS: not OpenBLAS"), the CPU's vector instructions, and a warning with the
/// mending environment variable where OpenBLAS took kernels for a much older CPU. Lines that end in '\n'.
std::string host_blas_info();

/// OPENBLAS_CORETYPE that would mend a crippled OpenBLAS, or "" if nothing is wrong.
std::string openblas_core_to_set();

}  // namespace devobj
