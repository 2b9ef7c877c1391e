// equilibration: the sizes and sums of a matrix's rows, and the sizes of its columns after scaling the rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/butterfly.hpp"
#include "kernels/host/arithmetic.hpp"
#include "kernels/modulus.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class T>
void equilibration(View<T> A, double* rows, double* columns, double* sums, Queue& q) {
  q.submit("equilibration", [=] {
    std::fill(rows, rows + A.rows, 0.0);
    std::fill(sums, sums + A.rows, 0.0);
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = 0; i < A.rows; ++i) {
        const T a = A.data[i + j * A.ld];
        rows[i] = std::fmax(rows[i], magnitude(a));
        sums[i] += modulus(a);
      }
    std::vector<double> powers(A.rows);
    std::transform(rows, rows + A.rows, powers.begin(), power_to_one);
    for (std::int64_t j = 0; j < A.cols; ++j) {
      double largest = 0;
      for (std::int64_t i = 0; i < A.rows; ++i)
        largest = std::fmax(largest, powers[i] * magnitude(A.data[i + j * A.ld]));
      columns[j] = largest;
    }
  });
}

#define INSTANTIATE(T) template void equilibration<T>(View<T>, double*, double*, double*, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
