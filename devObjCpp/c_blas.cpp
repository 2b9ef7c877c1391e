// extern "C": the BLAS and the matrix utilities on device objects. Each function takes its operands, checks that they
// have one type, and calls the C++ routine of the same name.
#include "c_support.hpp"
#include "devobj/blas.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// Operands of one type: f(T{}, view of each).
template <class F>
void with_views(const char* routine, Operand x, F&& f) {
  for_type(x.object.type, routine, [&]<class T>(T) { f(T{}, view<T>(x.object)); });
}
template <class F>
void with_views(const char* routine, Operand x, Operand y, F&& f) {
  same_type(routine, x, y);
  for_type(x.object.type, routine, [&]<class T>(T) { f(T{}, view<T>(x.object), view<T>(y.object)); });
}
template <class F>
void with_views(const char* routine, Operand x, Operand y, Operand z, F&& f) {
  same_type(routine, x, y, z);
  for_type(x.object.type, routine,
           [&]<class T>(T) { f(T{}, view<T>(x.object), view<T>(y.object), view<T>(z.object)); });
}

/// The object of a handle and its name in messages.
Operand operand(devobj_handle handle, const char* routine, const char* name) {
  return {name, object(handle, routine, name)};
}

}  // namespace

extern "C" {

// ---- level 1 ----

devobj_status devobj_swap(devobj_handle x, devobj_handle y) {
  return guard([&] {
    with_views("swap", operand(x, "swap", "x"), operand(y, "swap", "y"),
               [&]<class T>(T, View<T> X, View<T> Y) { swap<T>(X, Y, queue()); });
  });
}

devobj_status devobj_scal(devobj_scalar alpha, devobj_handle x) {
  return guard([&] {
    with_views("scal", operand(x, "scal", "x"),
               [&]<class T>(T, View<T> X) { scal<T>(to_scalar<T>(alpha, "scal", "alpha"), X, queue()); });
  });
}

devobj_status devobj_axpy(devobj_scalar alpha, devobj_handle x, devobj_handle y) {
  return guard([&] {
    with_views("axpy", operand(x, "axpy", "x"), operand(y, "axpy", "y"),
               [&]<class T>(T, View<T> X, View<T> Y) { axpy<T>(to_scalar<T>(alpha, "axpy", "alpha"), X, Y, queue()); });
  });
}

devobj_status devobj_dotu(devobj_handle x, devobj_handle y, devobj_scalar* dot) {
  return guard([&] {
    result(dot, "dotu", "result");
    with_views("dotu", operand(x, "dotu", "x"), operand(y, "dotu", "y"),
               [&]<class T>(T, View<T> X, View<T> Y) { *dot = from_scalar(dotu<T>(X, Y, queue())); });
  });
}

devobj_status devobj_dotc(devobj_handle x, devobj_handle y, devobj_scalar* dot) {
  return guard([&] {
    result(dot, "dotc", "result");
    with_views("dotc", operand(x, "dotc", "x"), operand(y, "dotc", "y"),
               [&]<class T>(T, View<T> X, View<T> Y) { *dot = from_scalar(dotc<T>(X, Y, queue())); });
  });
}

devobj_status devobj_nrm2(devobj_handle x, double* norm) {
  return guard([&] {
    result(norm, "nrm2", "result");
    with_views("nrm2", operand(x, "nrm2", "x"), [&]<class T>(T, View<T> X) { *norm = nrm2<T>(X, queue()); });
  });
}

devobj_status devobj_asum(devobj_handle x, double* sum) {
  return guard([&] {
    result(sum, "asum", "result");
    with_views("asum", operand(x, "asum", "x"), [&]<class T>(T, View<T> X) { *sum = asum<T>(X, queue()); });
  });
}

devobj_status devobj_iamax(devobj_handle x, int64_t* position) {
  return guard([&] {
    result(position, "iamax", "position");
    with_views("iamax", operand(x, "iamax", "x"), [&]<class T>(T, View<T> X) { *position = iamax<T>(X, queue()); });
  });
}

// ---- level 2 ----

devobj_status devobj_gemv(char op, devobj_scalar alpha, devobj_handle A, devobj_handle x, devobj_scalar beta,
                          devobj_handle y) {
  return guard([&] {
    with_views("gemv", operand(A, "gemv", "A"), operand(x, "gemv", "x"), operand(y, "gemv", "y"),
               [&]<class T>(T, View<T> MA, View<T> X, View<T> Y) {
                 gemv<T>(parse_op(op, "gemv", "op"), to_scalar<T>(alpha, "gemv", "alpha"), MA, X,
                         to_scalar<T>(beta, "gemv", "beta"), Y, queue());
               });
  });
}

devobj_status devobj_geru(devobj_scalar alpha, devobj_handle x, devobj_handle y, devobj_handle A) {
  return guard([&] {
    with_views("geru", operand(x, "geru", "x"), operand(y, "geru", "y"), operand(A, "geru", "A"),
               [&]<class T>(T, View<T> X, View<T> Y, View<T> MA) {
                 geru<T>(to_scalar<T>(alpha, "geru", "alpha"), X, Y, MA, queue());
               });
  });
}

devobj_status devobj_gerc(devobj_scalar alpha, devobj_handle x, devobj_handle y, devobj_handle A) {
  return guard([&] {
    with_views("gerc", operand(x, "gerc", "x"), operand(y, "gerc", "y"), operand(A, "gerc", "A"),
               [&]<class T>(T, View<T> X, View<T> Y, View<T> MA) {
                 gerc<T>(to_scalar<T>(alpha, "gerc", "alpha"), X, Y, MA, queue());
               });
  });
}

devobj_status devobj_trmv(char uplo, char op, char diag, devobj_handle A, devobj_handle x) {
  return guard([&] {
    with_views("trmv", operand(A, "trmv", "A"), operand(x, "trmv", "x"), [&]<class T>(T, View<T> MA, View<T> X) {
      trmv<T>(parse_uplo(uplo, "trmv", "uplo"), parse_op(op, "trmv", "op"), parse_diag(diag, "trmv", "diag"), MA, X,
              queue());
    });
  });
}

devobj_status devobj_trsv(char uplo, char op, char diag, devobj_handle A, devobj_handle x) {
  return guard([&] {
    with_views("trsv", operand(A, "trsv", "A"), operand(x, "trsv", "x"), [&]<class T>(T, View<T> MA, View<T> X) {
      trsv<T>(parse_uplo(uplo, "trsv", "uplo"), parse_op(op, "trsv", "op"), parse_diag(diag, "trsv", "diag"), MA, X,
              queue());
    });
  });
}

// ---- level 3 ----

devobj_status devobj_gemm(char opA, char opB, devobj_scalar alpha, devobj_handle A, devobj_handle B, devobj_scalar beta,
                          devobj_handle C) {
  return guard([&] {
    with_views("gemm", operand(A, "gemm", "A"), operand(B, "gemm", "B"), operand(C, "gemm", "C"),
               [&]<class T>(T, View<T> MA, View<T> MB, View<T> MC) {
                 gemm<T>(parse_op(opA, "gemm", "opA"), parse_op(opB, "gemm", "opB"),
                         to_scalar<T>(alpha, "gemm", "alpha"), MA, MB, to_scalar<T>(beta, "gemm", "beta"), MC, queue());
               });
  });
}

devobj_status devobj_symm(char side, char uplo, devobj_scalar alpha, devobj_handle A, devobj_handle B,
                          devobj_scalar beta, devobj_handle C) {
  return guard([&] {
    with_views("symm", operand(A, "symm", "A"), operand(B, "symm", "B"), operand(C, "symm", "C"),
               [&]<class T>(T, View<T> MA, View<T> MB, View<T> MC) {
                 symm<T>(parse_side(side, "symm", "side"), parse_uplo(uplo, "symm", "uplo"),
                         to_scalar<T>(alpha, "symm", "alpha"), MA, MB, to_scalar<T>(beta, "symm", "beta"), MC, queue());
               });
  });
}

devobj_status devobj_hemm(char side, char uplo, devobj_scalar alpha, devobj_handle A, devobj_handle B,
                          devobj_scalar beta, devobj_handle C) {
  return guard([&] {
    with_views("hemm", operand(A, "hemm", "A"), operand(B, "hemm", "B"), operand(C, "hemm", "C"),
               [&]<class T>(T, View<T> MA, View<T> MB, View<T> MC) {
                 hemm<T>(parse_side(side, "hemm", "side"), parse_uplo(uplo, "hemm", "uplo"),
                         to_scalar<T>(alpha, "hemm", "alpha"), MA, MB, to_scalar<T>(beta, "hemm", "beta"), MC, queue());
               });
  });
}

devobj_status devobj_syrk(char uplo, char op, devobj_scalar alpha, devobj_handle A, devobj_scalar beta,
                          devobj_handle C) {
  return guard([&] {
    with_views("syrk", operand(A, "syrk", "A"), operand(C, "syrk", "C"), [&]<class T>(T, View<T> MA, View<T> MC) {
      syrk<T>(parse_uplo(uplo, "syrk", "uplo"), parse_op(op, "syrk", "op"), to_scalar<T>(alpha, "syrk", "alpha"), MA,
              to_scalar<T>(beta, "syrk", "beta"), MC, queue());
    });
  });
}

devobj_status devobj_herk(char uplo, char op, double alpha, devobj_handle A, double beta, devobj_handle C) {
  return guard([&] {
    with_views("herk", operand(A, "herk", "A"), operand(C, "herk", "C"), [&]<class T>(T, View<T> MA, View<T> MC) {
      herk<T>(parse_uplo(uplo, "herk", "uplo"), parse_op(op, "herk", "op"), static_cast<real_t<T>>(alpha), MA,
              static_cast<real_t<T>>(beta), MC, queue());
    });
  });
}

devobj_status devobj_trmm(char side, char uplo, char op, char diag, devobj_scalar alpha, devobj_handle A,
                          devobj_handle B) {
  return guard([&] {
    with_views("trmm", operand(A, "trmm", "A"), operand(B, "trmm", "B"), [&]<class T>(T, View<T> MA, View<T> MB) {
      trmm<T>(parse_side(side, "trmm", "side"), parse_uplo(uplo, "trmm", "uplo"), parse_op(op, "trmm", "op"),
              parse_diag(diag, "trmm", "diag"), to_scalar<T>(alpha, "trmm", "alpha"), MA, MB, queue());
    });
  });
}

devobj_status devobj_trsm(char side, char uplo, char op, char diag, devobj_scalar alpha, devobj_handle A,
                          devobj_handle B) {
  return guard([&] {
    with_views("trsm", operand(A, "trsm", "A"), operand(B, "trsm", "B"), [&]<class T>(T, View<T> MA, View<T> MB) {
      trsm<T>(parse_side(side, "trsm", "side"), parse_uplo(uplo, "trsm", "uplo"), parse_op(op, "trsm", "op"),
              parse_diag(diag, "trsm", "diag"), to_scalar<T>(alpha, "trsm", "alpha"), MA, MB, queue());
    });
  });
}

// ---- utilities ----

devobj_status devobj_lacpy(char uplo, devobj_handle A, devobj_handle B) {
  return guard([&] {
    with_views("lacpy", operand(A, "lacpy", "A"), operand(B, "lacpy", "B"), [&]<class T>(T, View<T> MA, View<T> MB) {
      lacpy<T>(parse_part(uplo, "lacpy", "uplo"), MA, MB, queue());
    });
  });
}

devobj_status devobj_laset(char uplo, devobj_scalar offdiag, devobj_scalar diag, devobj_handle A) {
  return guard([&] {
    with_views("laset", operand(A, "laset", "A"), [&]<class T>(T, View<T> MA) {
      laset<T>(parse_part(uplo, "laset", "uplo"), to_scalar<T>(offdiag, "laset", "offdiag"),
               to_scalar<T>(diag, "laset", "diag"), MA, queue());
    });
  });
}

devobj_status devobj_transpose(char op, devobj_handle A, devobj_handle B) {
  return guard([&] {
    with_views("transpose", operand(A, "transpose", "A"), operand(B, "transpose", "B"),
               [&]<class T>(T, View<T> MA, View<T> MB) {
                 const Op how = parse_op(op, "transpose", "op");
                 const bool in_place = MA.data == MB.data && MA.rows == MB.rows && MA.cols == MB.cols &&
                                       MA.rows == MA.cols && MA.ld == MB.ld;
                 if (in_place)
                   transpose<T>(how, MA, queue());
                 else
                   transpose<T>(how, MA, MB, queue());
               });
  });
}

devobj_status devobj_laswp(devobj_handle A, int64_t k1, int64_t k2, devobj_handle ipiv, int forward) {
  return guard([&] {
    const View<std::int32_t> pivots = integers(ipiv, "laswp", "ipiv");
    with_views("laswp", operand(A, "laswp", "A"), [&]<class T>(T, View<T> MA) {
      require(1 <= k1 && k1 - 1 <= k2 && k2 <= MA.rows, "laswp: rows ", k1, " to ", k2, " are not within 1 to ",
              MA.rows);
      laswp<T>(MA, k1 - 1, k2, pivots, forward != 0, queue());
    });
  });
}

devobj_status devobj_lange(char norm, devobj_handle A, double* value) {
  return guard([&] {
    result(value, "lange", "result");
    with_views("lange", operand(A, "lange", "A"),
               [&]<class T>(T, View<T> MA) { *value = lange<T>(parse_norm(norm, "lange", "norm"), MA, queue()); });
  });
}

}  // extern "C"
