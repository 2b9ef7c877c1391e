#!/usr/bin/env python3
"""Fits the constants of devObjCpp/qr_update_cost_constants.inc to the CSV of `devobj-bench update --fit`.

Non-negative least squares of the relative errors; cases where both ways are close, where the choice depends on the
model, count more. fit_update_cost.py FILE [Gflop per ms at most] [ms per 10^9 copied elements at most] prints the constants, the errors, and what a choice by the model loses against the better way.
"""
import csv
import sys


def fit(rows, targets, weights, low, high):
    n = len(rows[0])
    gram = [[sum(w * r[i] * r[j] for r, w in zip(rows, weights)) for j in range(n)] for i in range(n)]
    right = [sum(w * r[i] * t for r, t, w in zip(rows, targets, weights)) for i in range(n)]
    x = list(low)
    for _ in range(20000):
        for i in range(n):
            if gram[i][i] > 0:
                step = (right[i] - sum(g * y for g, y in zip(gram[i], x))) / gram[i][i]
                x[i] = min(high[i], max(low[i], x[i] + step))
    return x


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def numbers(text):
    return [float(part) for part in text.split()]


# What the hardware sets: products no faster than 60 Tflop/s on a GPU (given as an argument for others), copies no slower
# than a twentieth of its bandwidth. Without it constants go astray that small cases do not determine.
fastest = 1 / float(sys.argv[2]) if len(sys.argv) > 2 else 1 / 60
slowest_copy = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
low = [0, 0, 0, 0, fastest, 0]
high = [1e9, 1e9, 1e9, 1e9, 1e9, slowest_copy]

cases = [c for c in csv.DictReader(open(sys.argv[1])) if c["part"] == "fit"]
for letter in dict.fromkeys(c["type"] for c in cases):
    mine = [c for c in cases if c["type"] == letter]
    constants = {}
    for way in ("update", "refactor"):
        rows, weights = [], []
        for c in mine:
            if not c[way + "_ms"]:
                continue
            ms = float(c[way + "_ms"])
            rows.append([part / ms for part in numbers(c[way + "_work"])])
            close = c["refactor_ms"] and 0.6 < float(c["update_ms"]) / float(c["refactor_ms"]) < 1.6
            weights.append(20.0 if close else 1.0)
        constants[way] = fit(rows, [1.0] * len(rows), weights, low, high)
        errors = sorted(abs(dot(constants[way], r) - 1) for r in rows)
        print(f"{letter} {way}: median error {errors[len(errors) // 2]:.2f}, 90 % below {errors[len(errors) * 9 // 10]:.2f}")
    print("{{" + ", ".join(f"{x:.3g}" for x in constants["update"]) + "}, {" +
          ", ".join(f"{x:.3g}" for x in constants["refactor"]) + "}}")
    losses = []
    for c in mine:
        if c["refactor_ms"]:
            update, anew = float(c["update_ms"]), float(c["refactor_ms"])
            anew_first = dot(constants["refactor"], numbers(c["refactor_work"])) < dot(
                constants["update"], numbers(c["update_work"]))
            losses.append(((anew if anew_first else update) / min(update, anew), c))
    losses.sort(key=lambda entry: -entry[0])
    print(f"{letter}: the choice loses more than 10 % in {sum(l > 1.1 for l, _ in losses)} of {len(losses)} cases")
    for loss, c in losses[:5]:
        print(f"  {loss:.2f}", *(c[key] for key in ("update", "form", "m", "n", "p", "k", "update_ms", "refactor_ms")))
