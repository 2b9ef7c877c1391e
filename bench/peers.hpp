// The peers of a factorization: the same matrix, in the same run, timed in the same way.
#pragma once

#include <optional>
#include <string>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "matrices.hpp"
#include "residual.hpp"
#include "timing.hpp"

namespace bench {

enum class Routine { getrf, geqrf };

/// One matrix and the room to factor it in.
template <class T>
struct Problem {
  Routine routine;
  devobj::View<T> A;                ///< the matrix, in the queue's memory; stays as it is
  devobj::View<T> W;                ///< room of A's shape; a peer may leave anything here
  devobj::View<T> tau;              ///< min(m, n), for the residual of geqrf
  devobj::View<std::int32_t> ipiv;  ///< min(m, n), for the residual of getrf
  const HostMatrix<T>& host;        ///< the matrix on the host
  Repeat repeat;
  bool residual;  ///< wanted?
  devobj::Queue& q;
};

struct PeerResult {
  double ms = 0;
  std::optional<Residual> residual;
};

/// The residual of the factors in W with ipiv or tau.
template <class T>
Residual problem_residual(const Problem<T>& p);

/// The linked LAPACK's ?getrf or ?geqrf on a host array. With a residual, W and ipiv or tau hold its factors
/// afterwards.
template <class T>
PeerResult lapack_peer(const Problem<T>& p);

/// cuSOLVER's 64-bit cusolverDnXgetrf or cusolverDnXgeqrf on the device. Builds with CUDA and CUDA queues only.
template <class T>
PeerResult cusolver_peer(const Problem<T>& p);

/// MAGMA's hybrid LU or QR as recorded on an H200; empty if there is no time for this matrix or this GPU is another.
std::optional<double> recorded_magma_ms(Routine routine, char type, std::int64_t m, std::int64_t n,
                                        const std::string& gpu);

}  // namespace bench
