#!/usr/bin/env python3
"""Ways to refine with single precision LU factors, and when to change from one to another or to give up.

The algorithm of devObjCpp/mixed_gesv.cpp in NumPy, for matrices of given singular values; steps are counted as there: corrections
after the first solution until gesv_mixed's criterion holds. Needs numpy and scipy.

  bench/refinement_ways.py ways 1000     steps of plain refinement, of minimal residuals with solves in single precision and in
                                         double precision (by the same factors), and of plain refinement until that is slow
  bench/refinement_ways.py rules 300 3   three matrices of each kind: the cost of several bounds for slow steps, and what several
                                         rules to give up lose
"""
import sys
import warnings

import numpy as np
from scipy.linalg import lu_factor, lu_solve, qr

MOST = 30
random = np.random.default_rng(1)
warnings.simplefilter("ignore")


def singular_values(kind, n, condition):
    s = np.ones(n)
    if kind == "one":
        s[-1] = 1 / condition
    elif kind == "five":
        s[-5:] = 1 / condition
    elif kind == "twenty":
        s[-20:] = condition ** (-np.arange(1, 21) / 20)
    else:
        s = condition ** (-np.arange(n) / (n - 1))
    return s


def orthogonal(n):
    return qr(random.standard_normal((n, n)))[0]


class System:
    def __init__(self, A):
        self.A, self.b = A, random.uniform(-1, 1, len(A))
        self.factors = lu_factor(A.astype(np.float32))
        self.wide = self.factors[0].astype(float), self.factors[1]
        self.limit = np.abs(A).sum(1).max() * 2.0**-53 * np.sqrt(len(A))

    def single(self, r):
        return lu_solve(self.factors, r.astype(np.float32), check_finite=False).astype(float)

    def double(self, r):
        return lu_solve(self.wide, r, check_finite=False)

    def excess(self, r, x):
        return np.abs(r).max() / (np.abs(x).max() * self.limit)

    def plain(self, slow=None):
        """Excesses, and the last residual and solution; ends where a step leaves more than `slow`."""
        x, excesses = self.single(self.b), []
        for _ in range(MOST + 1):
            r = self.b - self.A @ x
            excesses.append(self.excess(r, x))
            if not excesses[-1] > 1:
                break
            if slow and len(excesses) > 1 and excesses[-1] > excesses[-2] * slow:
                break
            last, x = x, x + self.single(r)
        else:
            x = last
        return excesses, r, x

    def minimal(self, solve, r, x, steps):
        """Excesses from r and x on, by the best combination of corrections."""
        W, Z, excesses = np.zeros((len(r), 0)), np.zeros((len(r), 0)), []
        while len(excesses) < steps:
            z = solve(r * 2.0 ** -np.floor(np.log2(np.abs(r).max())))
            w = self.A @ z
            for _ in range(2):
                c = W.T @ w
                w, z = w - W @ c, z - Z @ c
            norm = np.linalg.norm(w)
            W, Z = np.column_stack([W, w / norm]), np.column_stack([Z, z / norm])
            c = W.T @ r
            r, x = r - W @ c, x + Z @ c
            if self.excess(r, x) <= 1:
                r = self.b - self.A @ x
            excesses.append(self.excess(r, x))
            if excesses[-1] <= 1:
                break
        return excesses

    def both(self, slow):
        """Excesses, and how many of them are plain refinement's."""
        excesses, r, x = self.plain(slow)
        if excesses[-1] <= 1:
            return excesses, len(excesses)
        return excesses + self.minimal(self.double, r, x, MOST + 1 - len(excesses)), len(excesses)


def steps(excesses):
    return str(len(excesses) - 1) if excesses[-1] <= 1 else "-"


def systems(n, conditions):
    U, V = orthogonal(n), orthogonal(n)
    for kind in ("one", "five", "twenty", "geometric"):
        for condition in conditions:
            yield kind, condition, System((U * singular_values(kind, n, condition)) @ V)


def ways(n):
    print("values     cond.  plain  minimal, single  minimal, double  plain, then minimal   log2 of excesses of the last")
    for kind, condition, s in systems(n, (1e4, 1e6, 1e7, 1e8, 1e9, 1e10)):
        start = s.b, np.zeros(n)
        last = s.both(1 / 8)[0]
        print(f"{kind:9}  {condition:5.0e}  {steps(s.plain()[0]):>5}  {steps(s.minimal(s.single, *start, MOST + 1)):>15}"
              f"  {steps(s.minimal(s.double, *start, MOST + 1)):>15}  {steps(last):>19}   "
              + " ".join(f"{np.log2(e):.0f}" for e in last), flush=True)


def given_up(excesses, patience):
    """The step at which the residual has not been halved by so many steps, or None."""
    best, since = np.inf, 0
    for k, e in enumerate(excesses):
        if e <= 1:
            return None
        best, since = (e, 0) if e < best / 2 else (best, since + 1)
        if since == patience:
            return k + 1
    return None


def rules(n, repetitions):
    all_systems = [s for _ in range(repetitions) for _, _, s in systems(n, (3e6, 1e7, 1e8, 1e9, 1e10))]
    print("slow   converged  mean cost of these, in plain steps (one by double precision is 4/3, the factors' copy 1)")
    for slow in (1 / 2, 1 / 4, 1 / 8, 1 / 16):
        runs = [s.both(slow) for s in all_systems]
        costs = [plain - 1 + (len(e) - plain) * 4 / 3 + (len(e) > plain) for e, plain in runs if e[-1] <= 1]
        print(f"1/{1 / slow:<3.0f}  {len(costs):9}  {np.mean(costs):.1f}", flush=True)
    runs = [s.both(1 / 8) for s in all_systems]
    good = [(e, plain) for e, plain in runs if e[-1] <= 1]
    bad = [(e, plain) for e, plain in runs if not e[-1] <= 1]
    print("patience  lost, of", len(good), " mean steps of the", len(bad), "that do not converge")
    for patience in range(3, 9):
        lost = sum(given_up(e[plain:], patience) is not None for e, plain in good)
        spent = [plain - 1 + (given_up(e[plain:], patience) or MOST + 1 - plain) for e, plain in bad]
        print(f"{patience:8}  {lost:8}  {np.mean(spent):.1f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "ways":
        ways(int(sys.argv[2]))
    else:
        rules(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
