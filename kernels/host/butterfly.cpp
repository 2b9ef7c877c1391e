// mix_matrix, mix_rows, mix_solution: random butterflies on the way between double and single precision.
#include "kernels/butterfly.hpp"

#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/host/share.hpp"
#include "kernels/host/single_precision.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {
namespace {

/// Four elements of any type: their parts one after the other.
template <class T, class F>
void of_parts(T (&x)[4], F&& act) {
  if constexpr (is_complex<T>) {
    double re[4], im[4];
    for (int i = 0; i < 4; ++i) {
      re[i] = x[i].real();
      im[i] = x[i].imag();
    }
    act(re);
    act(im);
    for (int i = 0; i < 4; ++i) x[i] = {re[i], im[i]};
  } else {
    act(x);
  }
}

std::vector<Butterfly> butterflies(std::int64_t quarter, bool columns) {
  std::vector<Butterfly> all(quarter);
  for (std::int64_t g = 0; g < quarter; ++g) all[g] = butterfly(g, quarter, columns);
  return all;
}

}  // namespace

template <class T>
void mix_matrix(View<T> A, const double* rows, const double* columns, View<single_t<T>> M, std::int32_t* misfit,
                Queue& q) {
  q.submit("mix_matrix", [=] {
    const std::int64_t n = A.rows, quarter = M.rows / 4;
    const auto of_rows = butterflies(quarter, false), of_columns = butterflies(quarter, true);
    std::vector<double> row_powers(n);
    for (std::int64_t i = 0; i < n; ++i) row_powers[i] = power_to_one(rows[i]);
    std::atomic<bool> all_fit = true;
    share(quarter, A.size() * sizeof(T) * 3 / 2, [&](std::int64_t begin, std::int64_t end) {
      bool fit = true;
      T x[4][4];  // [column][row]
      for (std::int64_t h = begin; h < end; ++h)
        for (std::int64_t g = 0; g < quarter; ++g) {
          for (int b = 0; b < 4; ++b) {
            const std::int64_t j = h + b * quarter;
            const double column_power = j < n ? power_to_one(columns[j]) : 1;
            for (int a = 0; a < 4; ++a) {
              const std::int64_t i = g + a * quarter;
              const bool inside = i < n && j < n;
              const T element = inside ? A.data[i + j * A.ld] : T(i == j ? 1 : 0);
              fit = fit && fits_single(element);
              x[b][a] = inside ? element * row_powers[i] * column_power : element;
            }
            of_parts(x[b], [&](double(&part)[4]) { mix(of_rows[g], part); });
          }
          for (int a = 0; a < 4; ++a) {
            T row[4] = {x[0][a], x[1][a], x[2][a], x[3][a]};
            of_parts(row, [&](double(&part)[4]) { mix(of_columns[h], part); });
            for (int b = 0; b < 4; ++b) M.data[g + a * quarter + (h + b * quarter) * M.ld] = to_single(row[b]);
          }
        }
      if (!fit) all_fit = false;
    });
    *misfit = all_fit ? 0 : 1;
  });
}

template <class T>
void mix_rows(View<T> B, const double* rows, const std::int32_t* order, View<single_t<T>> D, Queue& q) {
  q.submit("mix_rows", [=] {
    const std::int64_t n = B.rows, quarter = D.rows / 4;
    const auto of_rows = butterflies(quarter, false);
    std::vector<T> mixed(D.rows);
    for (std::int64_t j = 0; j < B.cols; ++j) {
      for (std::int64_t g = 0; g < quarter; ++g) {
        T x[4];
        for (int a = 0; a < 4; ++a) {
          const std::int64_t i = g + a * quarter;
          x[a] = i < n ? B.data[i + j * B.ld] : T(0);
          if (i < n) x[a] *= power_to_one(rows[i]);
        }
        of_parts(x, [&](double(&part)[4]) { mix(of_rows[g], part); });
        for (int a = 0; a < 4; ++a) mixed[g + a * quarter] = x[a];
      }
      for (std::int64_t i = 0; i < D.rows; ++i) D.data[i + j * D.ld] = to_single(mixed[order[i]]);
    }
  });
}

template <class T>
void mix_solution(View<single_t<T>> D, const double* columns, bool add, View<T> X, Queue& q) {
  q.submit("mix_solution", [=] {
    const std::int64_t n = X.rows, quarter = D.rows / 4;
    const auto of_columns = butterflies(quarter, true);
    for (std::int64_t j = 0; j < X.cols; ++j)
      for (std::int64_t g = 0; g < quarter; ++g) {
        T y[4];
        for (int a = 0; a < 4; ++a) y[a] = T(D.data[g + a * quarter + j * D.ld]);
        of_parts(y, [&](double(&part)[4]) { mix_back(of_columns[g], part); });
        for (int a = 0; a < 4; ++a) {
          const std::int64_t i = g + a * quarter;
          if (i >= n) continue;
          T& x = X.data[i + j * X.ld];
          y[a] *= power_to_one(columns[i]);
          x = add ? x + y[a] : y[a];
        }
      }
  });
}

#define INSTANTIATE(T)                                                                                          \
  template void mix_matrix<T>(View<T>, const double*, const double*, View<single_t<T>>, std::int32_t*, Queue&); \
  template void mix_rows<T>(View<T>, const double*, const std::int32_t*, View<single_t<T>>, Queue&);            \
  template void mix_solution<T>(View<single_t<T>>, const double*, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
