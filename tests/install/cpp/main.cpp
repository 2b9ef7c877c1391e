// Solves [2 1; 1 3] x = [3; 5] through devobj.hpp; x = (0.8, 1.4). Exit status 0 if it is right.
#include <cmath>
#include <cstdio>
#include <devobj/devobj.hpp>

int main() {
  double a[] = {2, 1, 1, 3}, b[] = {3, 5};
  devobj::Queue q;
  devobj::Matrix<double> A(2, 2, q), B(2, 1, q);
  devobj::Matrix<std::int32_t> ipiv(2, 1, q);
  devobj::to_device<double>({a, 2, 2, 2}, A, q);
  devobj::to_device<double>({b, 2, 1, 2}, B, q);
  const std::int64_t info = devobj::gesv<double>(A, ipiv, B, q);
  devobj::to_host<double>(B, {b, 2, 1, 2}, q);
  std::printf("info = %d, x = %.3f %.3f\n", static_cast<int>(info), b[0], b[1]);
  return info == 0 && std::abs(b[0] - 0.8) < 1e-14 && std::abs(b[1] - 1.4) < 1e-14 ? 0 : 1;
}
