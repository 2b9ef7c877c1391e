// qr with Method::givens: band matrices by their rotations alone, others by fused rotations on the host. (Rotations
// accumulated into blocks on the GPU: qr_blocked.cpp.)
#include "qr_givens.hpp"

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch_givens.hpp"

namespace devobj {
namespace {

/// Whether rotating within the band, one column after the other, is the faster way.
bool narrow(std::int64_t n, Bandwidths band) {
  return band.lower <= 32 && 4 * band.lower < n && band.lower + band.upper <= 256;
}

template <class T>
void qr_of_band(View<T> A, Bandwidths band, View<T> Q, View<T> R, Queue& q) {
  const std::int64_t n = A.cols, width = band.lower + band.upper + 1;
  Matrix<T> AB(width, n, q), RB(width, n, q), S(band.lower, n, q);
  Matrix<real_t<T>> C(band.lower, n, q);
  band_pack(A, band, AB.view(), q);
  band_factor<T>(AB, band, C, S, RB, q);
  band_unpack(RB.view(), R, q);
  laset(Uplo::General, T(0), T(1), Q, q);
  if (band.lower > 0) band_rotate<T>(true, C, S, Q, q);
}

}  // namespace

template <class T>
bool qr_by_rotations(View<T> A, View<T> Q, View<T> R, Bandwidths& band, Queue& q) {
  const std::int64_t n = A.cols;
  if (A.rows == n || q.on_cuda()) band = bandwidths(A, q);
  if (A.rows == n && narrow(n, band))
    qr_of_band(A, band, Q, R, q);
  else if (!q.on_cuda())
    host::givens_qr(A, Q, R, q);
  else
    return false;
  q.wait();
  return true;
}

#define INSTANTIATE(T) template bool qr_by_rotations<T>(View<T>, View<T>, View<T>, Bandwidths&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
