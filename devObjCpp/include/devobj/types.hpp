// The vocabulary of every layer: backends, element types and LAPACK's option letters.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace devobj {

/// Where a queue's work runs. `automatic` is a GPU if there is one, otherwise the host;
/// the environment variable DEVOBJ_BACKEND (auto, cuda, host) overrides it.
enum class Backend : int { automatic = 0, host = 1, cuda = 2 };

/// Element types of a device object, under the names that Fortran uses for them.
enum class Type : int { real = 1, double_precision = 2, complex = 3, double_complex = 4, integer = 5 };

/// LAPACK's letters.
enum class Op : char { NoTrans = 'N', Trans = 'T', ConjTrans = 'C' };
enum class Uplo : char { Upper = 'U', Lower = 'L', General = 'G' };
enum class Diag : char { NonUnit = 'N', Unit = 'U' };
enum class Side : char { Left = 'L', Right = 'R' };
enum class Norm : char { One = '1', Inf = 'I', Fro = 'F', Max = 'M' };

/// How a factorization is computed. `automatic` chooses the fastest for backend and shape:
/// LAPACK on the host; on a GPU what the GPU's tuning table says (devObjCpp/tuning), on an H200 the native algorithms, which have
/// a kernel for nearly every shape, and otherwise the hybrid ones.
enum class Method : int {
  automatic = 0,
  lapack = 1,             ///< the CPU's LAPACK on the whole matrix; host backend only
  hybrid = 2,             ///< panels on the CPU, updates on the queue's backend, with look-ahead
  native = 3,             ///< everything on the GPU
  householder = 4,        ///< QR: non-blocked Householder
  block_householder = 5,  ///< QR: block Householder in WY form, explicit Q
  givens = 6,             ///< QR: Givens rotations
  randomized = 7          ///< mixed-precision LU: rows and columns mixed at random, pivots from a window of rows
};

/// How matrices are multiplied inside an algorithm on a GPU. `automatic`: those of single precision, real and complex, by
/// products of parts of the numbers on the tensor cores where that is faster, which is as accurate; large complex<double>
/// ones in LU and QR by three real products instead of four, with errors relative to norms instead of elements; those of great depth
/// in LU in double precision (of more than some 13,300 rows, complex ones 6000), in complex<double> solves with an LU and 2048
/// right-hand sides or more, and in complex<double> products with Q, QR of more than 7000 columns among them, by products of integers on
/// Hopper's tensor cores, with errors of a few eps relative to |L| |U|, |L| |X|, |V| |W| as a rule.
/// DEVOBJ_MATH=strict in the environment, or set_math (devobj/math.hpp), makes it strict. `strict`: by plain products, as
/// accurate as BLAS's.
enum class Math : int { automatic = 0, strict = 1 };

template <class T> struct type_traits;
template <> struct type_traits<float> {
  using real = float;
  static constexpr Type type = Type::real;
  static constexpr bool is_complex = false;
};
template <> struct type_traits<double> {
  using real = double;
  static constexpr Type type = Type::double_precision;
  static constexpr bool is_complex = false;
};
template <> struct type_traits<std::complex<float>> {
  using real = float;
  static constexpr Type type = Type::complex;
  static constexpr bool is_complex = true;
};
template <> struct type_traits<std::complex<double>> {
  using real = double;
  static constexpr Type type = Type::double_complex;
  static constexpr bool is_complex = true;
};
template <> struct type_traits<std::int32_t> {
  using real = std::int32_t;
  static constexpr Type type = Type::integer;
  static constexpr bool is_complex = false;
};

/// The real type under T: float for float and complex<float>, and so on.
template <class T> using real_t = typename type_traits<T>::real;
template <class T> inline constexpr bool is_complex = type_traits<T>::is_complex;
/// T where it must not take part in template argument deduction (scalars beside views).
template <class T> using scalar = std::type_identity_t<T>;

/// Op for the conjugate transpose: ConjTrans for complex, Trans for real types.
template <class T> inline constexpr Op adjoint = is_complex<T> ? Op::ConjTrans : Op::Trans;

constexpr std::int64_t bytes_of(Type t) {
  return t == Type::double_complex ? 16 : (t == Type::complex || t == Type::double_precision) ? 8 : 4;
}

}  // namespace devobj

/// Instantiates M(T) for LAPACK's four element types.
#define DEVOBJ_FOR_EACH_SCALAR(M) M(float) M(double) M(std::complex<float>) M(std::complex<double>)
