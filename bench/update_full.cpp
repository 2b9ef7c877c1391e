// Full QR and least squares, what an update is compared with.
#include "cuda_side.hpp"
#include "update_problem.hpp"

namespace bench {

using namespace devobj;

template <class T>
FullTimes full_times(std::int64_t m, std::int64_t n, const Repeat& repeat, std::uint64_t seed, Queue& q) {
  const HostMatrix<T> host = uniform<T>(m, n, seed + 10), rhs = uniform<T>(m, 1, seed + 11);
  HostMatrix<T> x(n, 1);
  Matrix<T> A(m, n, q), b(m, 1, q), W(m, n, q), w(m, 1, q);
  auto upload = [&](View<T> to_A, View<T> to_b) {
    to_device<T>(source(host, m, n), to_A, q);
    to_device<T>(source(rhs, m, 1), to_b, q);
  };
  upload(A, b);
  FullTimes t;
  std::int64_t info = 0;
  t.ours = median_ms(
      repeat,
      [&] {
        devobj::copy<T>(A, W, q);
        devobj::copy<T>(b, w, q);
      },
      [&] { info = std::max(info, gels<T>(Op::NoTrans, W, w, q)); }, [&] { q.wait(); });
  t.ours_transfers = median_ms(
      repeat, [] {},
      [&] {
        upload(W, w);
        info = std::max(info, gels<T>(Op::NoTrans, W, w, q));
        to_host<T>(w({0, n}, {0, 1}), HostArray<T>(x.data.get(), n, 1, n), q);
      },
      [&] { q.wait(); });
  require(info == 0, "gels: info is ", info);
  if constexpr (cuda_built)
    if (q.on_cuda()) t.peer = cusolver_least_squares_ms<T>(A, b, repeat, q);
  return t;
}

#define INSTANTIATE(T) \
  template FullTimes full_times<T>(std::int64_t, std::int64_t, const Repeat&, std::uint64_t, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
