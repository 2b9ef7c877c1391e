#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <vector>

#include "cuda_side.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "peers.hpp"
#include "peers_solve.hpp"
#include "raw_blas.hpp"
#include "update_problem.hpp"

namespace bench {

using namespace devobj;

namespace {

template <class T>
constexpr cudaDataType data_type = is_complex<T> ? (sizeof(real_t<T>) == 4 ? CUDA_C_32F : CUDA_C_64F)
                                                 : (sizeof(real_t<T>) == 4 ? CUDA_R_32F : CUDA_R_64F);

void check(cusolverStatus_t status, const char* call) {
  cuda::check_solver(status, call);
}

/// A handle on the queue's stream and the algorithm's parameters, cuSOLVER's defaults.
struct Solver {
  explicit Solver(Queue& q) {
    check(cusolverDnCreate(&handle), "cusolverDnCreate");
    check(cusolverDnSetStream(handle, static_cast<cudaStream_t>(q.stream())), "cusolverDnSetStream");
    check(cusolverDnCreateParams(&params), "cusolverDnCreateParams");
  }
  ~Solver() {
    if (params) cusolverDnDestroyParams(params);
    if (handle) cusolverDnDestroy(handle);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
};

/// Waits.
void expect_zero(const std::int32_t* info, Queue& q) {
  std::int32_t host_info = 0;
  cuda::memcpy_async(&host_info, info, sizeof host_info, q.stream());
  q.wait();
  require(host_info == 0, "cusolver: info is ", host_info);
}

/// cusolverDnXgetrf of one matrix, in place, and its memory.
template <class T>
class Getrf {
 public:
  Getrf(const Solver& solver, View<T> A, Queue& q)
      : solver_(solver),
        A_(A),
        pivots_(static_cast<std::size_t>(diagonal(A)) * sizeof(std::int64_t), q),
        info_(1, 1, q) {
    std::size_t device_bytes = 0, host_bytes = 0;
    check(cusolverDnXgetrf_bufferSize(solver.handle, solver.params, A.rows, A.cols, data_type<T>, A.data, A.ld,
                                      data_type<T>, &device_bytes, &host_bytes),
          "cusolverDnXgetrf_bufferSize");
    workspace_ = Storage(device_bytes, q);
    host_workspace_.resize(host_bytes);
    device_bytes_ = device_bytes;
  }
  void operator()() {
    check(cusolverDnXgetrf(solver_.handle, solver_.params, A_.rows, A_.cols, data_type<T>, A_.data, A_.ld, pivots(),
                           data_type<T>, workspace_.data(), device_bytes_, host_workspace_.data(),
                           host_workspace_.size(), info_.data),
          "cusolverDnXgetrf");
  }
  std::int64_t* pivots() const { return static_cast<std::int64_t*>(pivots_.data()); }
  std::int32_t* info() const { return info_.data; }

 private:
  const Solver& solver_;
  View<T> A_;
  Storage pivots_, workspace_;
  std::size_t device_bytes_ = 0;
  std::vector<char> host_workspace_;
  Matrix<std::int32_t> info_;
};

/// The one of four functions that belongs to T.
template <class T, class S, class D, class C, class Z>
constexpr auto for_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) return s;
  else if constexpr (std::is_same_v<T, double>) return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return c;
  else return z;
}

}  // namespace

template <class T>
PeerResult cusolver_peer(const Problem<T>& p) {
  constexpr cudaDataType type = data_type<T>;
  const std::int64_t m = p.A.rows, n = p.A.cols, k = diagonal(p.A), ld = p.W.ld;
  cuda::set_device(p.q.device());
  Solver solver(p.q);
  const auto time = [&](auto&& factor) {
    return median_ms(
        p.repeat, [&] { devobj::copy<T>(p.A, p.W, p.q); }, factor, [&] { p.q.wait(); });
  };

  PeerResult result;
  if (p.routine == Routine::getrf) {
    Getrf<T> factor(solver, p.W, p.q);
    result.ms = time(factor);
    expect_zero(factor.info(), p.q);
    if (p.residual) {  // which takes 32-bit pivots
      std::vector<std::int64_t> wide(static_cast<std::size_t>(k));
      cuda::memcpy_async(wide.data(), factor.pivots(), wide.size() * sizeof wide[0], p.q.stream());
      p.q.wait();
      const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
      to_device<std::int32_t>(HostArray<const std::int32_t>(narrow.data(), k, 1, k), p.ipiv, p.q);
    }
  } else {
    std::size_t device_bytes = 0, host_bytes = 0;
    check(cusolverDnXgeqrf_bufferSize(solver.handle, solver.params, m, n, type, p.W.data, ld, type, p.tau.data, type,
                                      &device_bytes, &host_bytes),
          "cusolverDnXgeqrf_bufferSize");
    Storage workspace(device_bytes, p.q);
    std::vector<char> host_workspace(host_bytes);
    Matrix<std::int32_t> info(1, 1, p.q);
    result.ms = time([&] {
      check(cusolverDnXgeqrf(solver.handle, solver.params, m, n, type, p.W.data, ld, type, p.tau.data, type,
                             workspace.data(), device_bytes, host_workspace.data(), host_bytes, info.data),
            "cusolverDnXgeqrf");
    });
    expect_zero(info.data, p.q);
  }
  if (p.residual) result.residual = problem_residual(p);
  return result;
}

template <class T>
double cusolver_solve_ms(View<T> A, View<T> B, View<T> X, const Repeat& repeat, Queue& q) {
  cuda::set_device(q.device());
  Solver solver(q);
  Matrix<T> LU(A.rows, A.cols, q);
  devobj::copy<T>(A, LU, q);
  Getrf<T> factor(solver, LU, q);
  factor();
  expect_zero(factor.info(), q);
  return median_ms(
      repeat, [&] { devobj::copy<T>(B, X, q); },
      [&] {
        check(cusolverDnXgetrs(solver.handle, solver.params, CUBLAS_OP_N, A.rows, B.cols, data_type<T>, LU.data, LU.ld,
                               factor.pivots(), data_type<T>, X.data, X.ld, factor.info()),
              "cusolverDnXgetrs");
      },
      [&] { q.wait(); });
}

template <class T>
double cusolver_least_squares_ms(View<T> A, View<T> b, const Repeat& repeat, Queue& q) {
  using E = std::conditional_t<is_complex<T>, std::conditional_t<sizeof(T) == 8, cuComplex, cuDoubleComplex>, T>;
  constexpr cudaDataType type = data_type<T>;
  const std::int64_t m = A.rows, n = A.cols;
  cuda::set_device(q.device());
  Solver solver(q);
  Matrix<T> W(m, n, q), w(m, 1, q), tau(n, 1, q);
  std::size_t device_bytes = 0, host_bytes = 0;
  check(cusolverDnXgeqrf_bufferSize(solver.handle, solver.params, m, n, type, W.data, m, type, tau.data, type,
                                    &device_bytes, &host_bytes),
        "cusolverDnXgeqrf_bufferSize");
  const auto ormqr_size = for_type<T>(cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize,
                                     cusolverDnCunmqr_bufferSize, cusolverDnZunmqr_bufferSize);
  const auto apply = for_type<T>(cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n);
  const cublasOperation_t adjoint_op = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  auto raw = [](View<T> v) { return reinterpret_cast<E*>(v.data); };
  int lwork = 0;
  check(ormqr_size(solver.handle, CUBLAS_SIDE_LEFT, adjoint_op, rows, 1, cols, raw(W), rows, raw(tau), raw(w), rows,
                   &lwork),
        "cusolverDn?ormqr_bufferSize");
  Storage workspace(std::max(device_bytes, static_cast<std::size_t>(lwork) * sizeof(T)), q);
  std::vector<char> host_workspace(host_bytes);
  Matrix<std::int32_t> info(1, 1, q);
  RawBlas blas(q);
  return median_ms(
      repeat,
      [&] {
        devobj::copy<T>(A, W, q);
        devobj::copy<T>(b, w, q);
      },
      [&] {
        check(cusolverDnXgeqrf(solver.handle, solver.params, m, n, type, W.data, m, type, tau.data, type,
                               workspace.data(), device_bytes, host_workspace.data(), host_bytes, info.data),
              "cusolverDnXgeqrf");
        check(apply(solver.handle, CUBLAS_SIDE_LEFT, adjoint_op, rows, 1, cols, raw(W), rows, raw(tau), raw(w), rows,
                    static_cast<E*>(workspace.data()), lwork, info.data),
              "cusolverDn?ormqr");
        blas.trsm<T>(Uplo::Upper, W({0, n}, {0, n}), w({0, n}, {0, 1}));
      },
      [&] { q.wait(); });
}

#define INSTANTIATE(T)                                                                    \
  template PeerResult cusolver_peer(const Problem<T>&);                                   \
  template double cusolver_solve_ms<T>(View<T>, View<T>, View<T>, const Repeat&, Queue&); \
  template double cusolver_least_squares_ms<T>(View<T>, View<T>, const Repeat&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
