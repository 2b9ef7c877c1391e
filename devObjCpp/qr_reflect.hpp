// The block reflector's products, in one place: what the trailing updates of QR, orgqr and ormqr are made of.
#pragma once

#include "devobj/blas.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// C -= V op(Tri) (V^H C), that is C = op(I - V Tri V^H) C, in three products. V is m x k with its ones and zeros
/// written out, Tri k x k, C m x n; W and TW are k x n workspace. Does not wait.
template <class T>
void reflect_left(Op op, View<T> V, View<T> Tri, View<T> C, View<T> W, View<T> TW, Queue& q) {
  // W = V^H C
  gemm(adjoint<T>, Op::NoTrans, T(1), V, C, T(0), W, q);
  gemm(op, Op::NoTrans, T(1), Tri, W, T(0), TW, q);
  gemm(Op::NoTrans, Op::NoTrans, T(-1), V, TW, T(1), C, q);
}

/// C -= (C V) op(Tri) V^H, C is n x m; W and TW are n x k workspace.
template <class T>
void reflect_right(Op op, View<T> V, View<T> Tri, View<T> C, View<T> W, View<T> TW, Queue& q) {
  gemm(Op::NoTrans, Op::NoTrans, T(1), C, V, T(0), W, q);
  gemm(Op::NoTrans, op, T(1), W, Tri, T(0), TW, q);
  gemm(Op::NoTrans, adjoint<T>, T(-1), TW, V, T(1), C, q);
}

}  // namespace devobj
