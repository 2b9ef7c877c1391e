#!/usr/bin/env python3
"""Growth and refinements of LU factorizations in single precision with pivots from a window of rows.

The algorithm of devObjCpp/lu_window.cpp and the butterflies of kernels/butterfly.hpp in NumPy (numbers of another
generator), for matrices of several kinds: max|U| / max|A| and the number of refinements until gesv_mixed's criterion
holds (30: never; -: the factorization broke down). Needs numpy and scipy.

  bench/lu_window_growth.py windows 2000     windows of 128 rows to all rows, uniform matrices, nothing mixed
  bench/lu_window_growth.py kinds 1600       kinds of matrices: no mixture, one level of butterflies, two, two without scaling
  bench/lu_window_growth.py products 2000    max|P A - L U| and refinements where L21 and U12 are products with inverses, and
                                             where A22 -= A21 V, V = A11^-1 A12; uniform matrices, nothing mixed
"""
import sys
import warnings

import numpy as np
from scipy.linalg import lu_factor, solve_triangular

PANEL = 128
random = np.random.default_rng(5)


def solve(T, B, **options):
    return solve_triangular(T, B, check_finite=False, **options)


def factor(A, window, way="substitution"):
    """P A = L U with pivots from `window` rows: L and U in one matrix, and the order of the rows."""
    A = A.astype(np.float32).copy()
    n = len(A)
    order = np.arange(n)
    for k in range(0, n, PANEL):
        K, W = slice(k, min(k + PANEL, n)), slice(k, min(k + window, n))
        A[W, K], pivots = lu_factor(A[W, K], check_finite=False)
        rows = np.arange(W.stop - k)
        for i, j in enumerate(pivots):
            rows[[i, j]] = rows[[j, i]]
        order[W] = order[W][rows]
        A[W, :k], A[W, K.stop:] = A[W, :k][rows], A[W, K.stop:][rows]
        below, right = slice(W.stop, n), slice(K.stop, n)
        one = np.eye(K.stop - k, dtype=np.float32)
        if way == "inverses":
            A[K, right] = solve(A[K, K], one, lower=True, unit_diagonal=True) @ A[K, right]
        else:
            A[K, right] = solve(A[K, K], A[K, right], lower=True, unit_diagonal=True)
        A21 = A[below, K].copy()
        if W.stop < n:
            A[below, K] = A21 @ solve(A[K, K], one) if way == "inverses" else solve(A[K, K].T, A21.T, lower=True).T
        if way == "V":
            A[K.stop:W.stop, right] -= A[K.stop:W.stop, K] @ A[K, right]
            A[below, right] -= A21 @ solve(A[K, K], A[K, right])
        else:
            A[right, right] -= A[right, K] @ A[K, right]
    return A, order


def factors(n, levels):
    return (15 / 16 + random.random((levels, n)) / 8) * random.choice([-1, 1], (levels, n))


def mix(A, d):
    """U^T A: the innermost level first."""
    A = A.copy()
    n, levels = len(A), len(d)
    for level in range(levels):
        parts = 2 ** (levels - 1 - level)
        for p in range(parts):
            lo, hi = n * p // parts, n * (p + 1) // parts
            h = (hi - lo) // 2
            a, b = A[lo:lo + h].copy(), A[lo + h:lo + 2 * h].copy()
            A[lo:lo + h] = d[level, lo:lo + h, None] * (a + b) / np.sqrt(2)
            A[lo + h:lo + 2 * h] = d[level, lo + h:lo + 2 * h, None] * (a - b) / np.sqrt(2)
    return A


def power_to_one(sizes):
    return np.exp2(-np.floor(np.log2(np.where(sizes > 0, sizes, 1))))


def refinements(A, LU, order):
    """Until gesv_mixed's criterion holds, nothing being mixed."""
    n = len(A)
    limit = abs(A).sum(1).max() * 2.0**-53 * np.sqrt(n)
    B, X = random.random(n) * 2 - 1, np.zeros(n)
    R = B
    for step in range(31):
        D = solve(LU, R[order].astype(np.float32), lower=True, unit_diagonal=True)
        X = X + solve(LU, D).astype(float)
        R = B - A @ X
        if abs(R).max() <= abs(X).max() * limit:
            break
    return step


def measure(A, window, levels=0, scale=True):
    n = len(A)
    B = random.random(n) * 2 - 1
    rows, cols = np.ones(n), np.ones(n)
    U, V = np.eye(n), np.eye(n)
    M = A
    if levels:
        if scale:
            rows = power_to_one(abs(A).max(1))
            cols = power_to_one(abs(A * rows[:, None]).max(0))
        U, V = mix(np.eye(n), factors(n, levels)), mix(np.eye(n), factors(n, levels))  # transposed
        M = U @ (A * rows[:, None] * cols) @ V.T
    try:
        LU, order = factor(M, window)
    except Exception:
        return "-"
    growth = abs(np.triu(LU)).max() / abs(M).max()
    limit = abs(A).sum(1).max() * 2.0**-53 * np.sqrt(n)
    X, R = np.zeros(n), B
    for step in range(31):
        D = (U @ (rows * R)).astype(np.float32)[order]
        D = solve_triangular(LU, D, lower=True, unit_diagonal=True, check_finite=False)
        D = solve_triangular(LU, D, check_finite=False).astype(float)
        X = X + cols * (V.T @ D)
        R = B - A @ X
        if not np.isfinite(R).all():
            return f"- ({growth:.0e})"
        if abs(R).max() <= abs(X).max() * limit:
            return f"{step} ({growth:.0f})"
    return f"30 ({growth:.0e})"


def kinds(n):
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    uniform = random.random((n, n)) * 2 - 1
    Q = np.linalg.qr(random.standard_normal((n, n)))[0]
    half = n // 2
    saddle = random.standard_normal((n, n))
    saddle[:half, :half] = 0
    wilkinson = np.eye(n) - np.tril(np.ones((n, n)), -1)
    wilkinson[:, -1] = 1
    dominant = random.random((n, n)) - 0.5 + n * np.eye(n)
    return {
        "uniform": uniform,
        "uniform (0, 1)": random.random((n, n)),
        "orthogonal": Q,
        "condition 1e6": (Q * np.logspace(0, -6, n)) @ np.linalg.qr(random.standard_normal((n, n)))[0],
        "dominant diagonal": dominant,
        "the same, rows permuted": dominant[random.permutation(n)],
        "saddle point": saddle,
        "|i - j|": abs(i - j) * 1.0,
        "exp(-|i - j| / 30)": np.exp(-abs(i - j) / 30),
        "cosines": np.cos(np.pi * (i + 0.5) * j / n),
        "Cauchy": 1 / (i - j + 0.5),
        "Wilkinson's growth": wilkinson,
        "rows 1 to 1e-6": uniform * 10 ** (-6 * i / n),
        "columns 1 to 1e-6": uniform * 10 ** (-6 * j / n),
        "1 % of the elements": (random.random((n, n)) < 0.01) * random.standard_normal((n, n)),
        "permutation": np.eye(n)[random.permutation(n)],
    }


def main():
    what, n = sys.argv[1], int(sys.argv[2])
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    if what == "products":
        print(f"max|P A - L U| (refinements), n = {n}, window of 256 rows, panels of {PANEL} columns")
        ways = ["substitution", "inverses", "V"]
        print(" ".join(f"{way:>16}" for way in ways))
        for _ in range(4):
            A = random.random((n, n)) * 2 - 1
            cells = []
            for way in ways:
                LU, order = factor(A, 256, way)
                error = abs(A[order] - (np.tril(LU, -1) + np.eye(n)) @ np.triu(LU).astype(float)).max()
                cells.append(f"{error:.1e} ({refinements(A, LU, order)})")
            print(" ".join(f"{c:>16}" for c in cells), flush=True)
        return
    print(f"refinements (growth), n = {n}, panels of {PANEL} columns")
    if what == "windows":
        windows = [w for w in (128, 256, 512, 1024) if w < n] + [n]
        print(" ".join(f"{'window ' + str(w):>16}" for w in windows))
        for _ in range(4):
            A = random.random((n, n)) * 2 - 1
            print(" ".join(f"{measure(A, w):>16}" for w in windows), flush=True)
    else:
        heads = ["all rows", "window 256", "one level", "two levels", "two, no scaling"]
        print(f"{'':24}" + " ".join(f"{h:>16}" for h in heads))
        for name, A in kinds(n).items():
            cells = [measure(A, n), measure(A, 256), measure(A, 256, 1), measure(A, 256, 2), measure(A, 256, 2, False)]
            print(f"{name:24}" + " ".join(f"{c:>16}" for c in cells), flush=True)


main()
