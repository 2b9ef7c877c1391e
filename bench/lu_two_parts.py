#!/usr/bin/env python3
"""Residuals of LU in single precision whose updates are products of float16 parts, with L and U as they come or of two parts.

The native LU's updates in NumPy (kernels/cuda/gemm_fp16_parts.cu, two_parts.cuh): every block's product by plain single precision, or by
three or four products of parts, whose sums are exact here, subtracted with one rounding. L and U keep all bits, or lose the last one as they
are computed (multipliers in the panel, U in tiles of so many rows), or where they are split, after the block's own columns have had them.
Prints ||P A - L U||_1 / (||A||_1 n eps), computed in double precision. Needs numpy.

  bench/lu_two_parts.py 1500 128
"""
import sys

import numpy as np

single, double = np.float32, np.float64


def of_two_parts(x):
    """The last bit goes to zero."""
    return (x.view(np.uint32) & np.uint32(0xFFFFFFFE)).view(single)


def parts(x):
    """x, but for the last bit of one in four, as two numbers of eleven bits."""
    def nearest(y):
        fraction, exponent = np.frexp(y)
        return np.ldexp(np.round(fraction * 2048) / 2048, exponent)

    x = x.astype(double)
    high = nearest(x)
    return high, nearest(x - high)


def product(L, U, way):
    if way == "plain":
        return (L @ U).astype(double)
    (Lh, Ll), (Uh, Ul) = parts(L), parts(U)
    return Lh @ Uh + Lh @ Ul + Ll @ Uh + (Ll @ Ul if way == "four" else 0)


def factor(A, block, way, rounded, tile):
    """P A = L U: the order of the rows, L, U. `rounded`: "", "L", "LU" or "split"."""
    A = A.copy()
    n = len(A)
    order = np.arange(n)
    keep = lambda what, x: of_two_parts(x) if what in rounded else x
    for k0 in range(0, n, block):
        k1 = min(k0 + block, n)
        for k in range(k0, k1):
            p = k + np.argmax(np.abs(A[k:, k]))
            A[[k, p]], order[[k, p]] = A[[p, k]], order[[p, k]]
            A[k + 1:, k] = keep("L", A[k + 1:, k] / A[k, k])
            # (with one rounding, as a fused operation)
            update = np.outer(A[k + 1:, k].astype(double), A[k, k + 1:k1].astype(double))
            A[k + 1:, k + 1:k1] = (A[k + 1:, k + 1:k1] - update).astype(single)
        for t in range(k0, k1, tile):
            end = min(t + tile, k1)
            D = np.tril(A[t:end, t:end], -1).astype(double) + np.eye(end - t)
            A[t:end, k1:] = keep("U", np.linalg.inv(D).astype(single) @ A[t:end, k1:])
            A[end:k1, k1:] -= A[end:k1, t:end] @ A[t:end, k1:]
        if rounded == "split":
            A[k1:, k0:k1], A[k0:k1, k1:] = of_two_parts(A[k1:, k0:k1].copy()), of_two_parts(A[k0:k1, k1:].copy())
        A[k1:, k1:] = (A[k1:, k1:] - product(A[k1:, k0:k1], A[k0:k1, k1:], way)).astype(single)
    return order, np.tril(A, -1) + np.eye(n), np.triu(A).astype(double)


def matrices(n, seed):
    random = np.random.default_rng(seed)
    u = random.uniform(-1, 1, (n, n))
    yield "uniform", u
    # the rows that count are as many as at n = 2600 with 1e-12
    yield "graded rows", u * 10.0 ** (-12 * np.arange(n) / 2600)[:, None]
    Q, P = (np.linalg.qr(random.standard_normal((n, n)))[0] for _ in range(2))
    for condition in (1e7, 1e18):
        yield f"condition {condition:.0e}", Q * condition ** (-np.arange(n) / (n - 1)) @ P


def main():
    n, block = int(sys.argv[1]), int(sys.argv[2])
    ways = [("plain", "", 32), ("three", "", 32), ("four", "", 32), ("three", "L", 32), ("three", "LU", 32),
            ("four", "LU", 32), ("three", "split", 32), ("plain", "", 16), ("three", "LU", 16)]
    print(f"n = {n}, blocks of {block}; products, of two parts, rows of U's tiles")
    print(" " * 16 + "".join(f"{' '.join(map(str, w)):>14}" for w in ways))
    for seed in (1, 2):
        for name, A in matrices(n, seed):
            A = A.astype(single)
            line = ""
            for way in ways:
                order, L, U = factor(A, block, *way)
                R = np.abs(A[order] - L @ U).sum(0).max()
                line += f"{R / (np.abs(A.astype(double)).sum(0).max() * n * 2.0**-23):14.6f}"
            print(f"{name:16}" + line, flush=True)


if __name__ == "__main__":
    main()
