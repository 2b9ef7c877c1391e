#!/usr/bin/env python3
"""Solving with an LU factorization's triangles tile by tile, in single precision: what inverses of the diagonal's tiles do
to the residual, and what one correction makes good (kernels/cuda/trsm_few_tile.cuh).

    bench/tile_inverses.py [n]

Prints ||B - A X||_1 / (||A||_1 ||X||_1 n eps) for substitution, x = T^-1 b, and x += T^-1 (b - T x), by sizes of tiles."""
import sys

import numpy as np
from scipy import linalg

f = np.float32


def inverse_of(T, size=32):
    """Of a lower triangle, as the kernel makes it: blocks of 32 x 32 on the diagonal by substitution, then pairs of them
    together, X10 = -X11 (T10 X00)."""
    n = len(T)
    if n <= size:
        return linalg.solve_triangular(T, np.eye(n, dtype=f), lower=True).astype(f)
    half = size
    while 2 * half < n:
        half *= 2
    X00, X11 = inverse_of(T[:half, :half]), inverse_of(T[half:, half:])
    return np.block([[X00, np.zeros((half, n - half), f)], [-X11 @ (T[half:, :half] @ X00), X11]]).astype(f)


def solve(T, b, lower, way, size):
    """T^-1 b; a lower triangle has a diagonal of ones."""
    n, x = len(b), b.copy()
    starts = range(0, n, size)
    for j in starts if lower else reversed(starts):
        end = min(j + size, n)
        D = np.tril(T[j:end, j:end], -1) + np.eye(end - j, dtype=f) if lower else np.triu(T[j:end, j:end])
        if way == "substitution":
            y = linalg.solve_triangular(D, x[j:end], lower=lower).astype(f)
        else:
            # an upper triangle is a lower one with rows and columns in reverse
            inverse = inverse_of(D) if lower else inverse_of(D[::-1, ::-1])[::-1, ::-1]
            y = inverse @ x[j:end]
            if way == "corrected":
                y = y + inverse @ (x[j:end] - D @ y)
        x[j:end] = y
        if lower:
            x[end:] -= T[end:, j:end] @ y
        else:
            x[:j] -= T[:j, j:end] @ y
    return x


def matrices(n, rng):
    i = np.arange(n)
    U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    yield "uniform", rng.uniform(-1, 1, (n, n))
    yield "singular values to 1e-6", U * 10 ** (-6 * i / (n - 1)) @ V
    yield "singular values to 1e-12", U * 10 ** (-12 * i / (n - 1)) @ V
    yield "one of 1e-6", U * np.r_[np.ones(n - 1), 1e-6] @ V
    yield "cosines", np.cos(np.outer(i, i) * np.pi / (n - 1))
    yield "Hilbert", 1 / (i[:, None] + i[None, :] + 1)
    yield "1 / (|i - j| + 1)", 1 / (np.abs(i[:, None] - i[None, :]) + 1)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    rng = np.random.default_rng(3)
    ways = [("substitution", 64)] + [(way, size) for way in ("inverse", "corrected") for size in (32, 64, 128)]
    print(f"n = {n}")
    print("%-26s" % "" + "".join(f"{way} {size}".rjust(17) for way, size in ways))
    for name, A in matrices(n, rng):
        A = A.astype(f)
        LU, pivots = linalg.lu_factor(A)
        b = rng.uniform(-1, 1, n).astype(f)
        order = np.arange(n)
        for k, p in enumerate(pivots):
            order[[k, p]] = order[[p, k]]
        exact = A.astype(float)
        line = "%-26s" % name
        for way, size in ways:
            x = solve(LU, solve(LU, b[order], True, way, size), False, way, size).astype(float)
            residual = np.abs(b - exact @ x).sum() / (np.abs(exact).sum(0).max() * np.abs(x).sum() * n * 2.0**-23)
            line += "%17.1e" % residual
        print(line, flush=True)


if __name__ == "__main__":
    main()
