#include <vector>

#include "devobj/matrix.hpp"
#include "lapack.hpp"
#include "peers.hpp"

namespace bench {

using namespace devobj;

namespace {

int getrf(int m, int n, float* a, int* ipiv) {
  int info;
  sgetrf_(&m, &n, a, &m, ipiv, &info);
  return info;
}
int getrf(int m, int n, double* a, int* ipiv) {
  int info;
  dgetrf_(&m, &n, a, &m, ipiv, &info);
  return info;
}
int getrf(int m, int n, std::complex<float>* a, int* ipiv) {
  int info;
  cgetrf_(&m, &n, a, &m, ipiv, &info);
  return info;
}
int getrf(int m, int n, std::complex<double>* a, int* ipiv) {
  int info;
  zgetrf_(&m, &n, a, &m, ipiv, &info);
  return info;
}

int geqrf(int m, int n, float* a, float* tau, float* work, int lwork) {
  int info;
  sgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
  return info;
}
int geqrf(int m, int n, double* a, double* tau, double* work, int lwork) {
  int info;
  dgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
  return info;
}
int geqrf(int m, int n, std::complex<float>* a, std::complex<float>* tau, std::complex<float>* work, int lwork) {
  int info;
  cgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
  return info;
}
int geqrf(int m, int n, std::complex<double>* a, std::complex<double>* tau, std::complex<double>* work, int lwork) {
  int info;
  zgeqrf_(&m, &n, a, &m, tau, work, &lwork, &info);
  return info;
}

}  // namespace

template <class T>
Residual problem_residual(const Problem<T>& p) {
  return p.routine == Routine::getrf ? lu_residual<T>(p.A, p.W, p.ipiv, p.q) : qr_residual<T>(p.A, p.W, p.tau, p.q);
}

template <class T>
PeerResult lapack_peer(const Problem<T>& p) {
  const int m = static_cast<int>(p.A.rows), n = static_cast<int>(p.A.cols);
  require(m == p.A.rows && n == p.A.cols, "lapack: ", p.A.rows, " x ", p.A.cols,
          " does not fit into LAPACK's integers");
  const std::int64_t k = diagonal(p.A);
  HostMatrix<T> W(m, n);
  std::vector<int> ipiv(static_cast<std::size_t>(k));
  std::vector<T> tau(static_cast<std::size_t>(k)), work(1);
  int info = 0;
  if (p.routine == Routine::geqrf) {
    info = geqrf(m, n, W.data.get(), tau.data(), work.data(), -1);
    work.resize(static_cast<std::size_t>(std::real(work[0])));
  }

  PeerResult result;
  result.ms = median_ms(
      p.repeat, [&] { copy_host(p.host.data.get(), W.data.get(), W.size()); },
      [&] {
        info = p.routine == Routine::getrf
                   ? getrf(m, n, W.data.get(), ipiv.data())
                   : geqrf(m, n, W.data.get(), tau.data(), work.data(), static_cast<int>(work.size()));
      },
      [] {});
  require(info == 0, "lapack: info is ", info);
  if (p.residual) {
    to_device<T>(HostArray<const T>(W.data.get(), m, n, m), p.W, p.q);
    if (p.routine == Routine::getrf)
      to_device<std::int32_t>(HostArray<const std::int32_t>(ipiv.data(), k, 1, k), p.ipiv, p.q);
    else
      to_device<T>(HostArray<const T>(tau.data(), k, 1, k), p.tau, p.q);
    result.residual = problem_residual(p);
  }
  return result;
}

#define INSTANTIATE(T)                                   \
  template Residual problem_residual(const Problem<T>&); \
  template PeerResult lapack_peer(const Problem<T>&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
