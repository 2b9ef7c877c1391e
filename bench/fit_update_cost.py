#!/usr/bin/env python3
"""Fits the constants of devObjCpp/qr_update_cost_constants.inc to the CSV of `devobj-bench update --fit`.

Non-negative least squares of the relative errors; cases where both ways are close, where the choice depends on the
model, count more. Then, with --refine, a search from there for constants whose choices lose less. Prints the constants,
the errors, and what a choice by the model loses against the better way.
The counts of work in the CSV have to be those of the library as it is: where the model's form changes, measure again.
"""
import argparse
import csv
import math
import random


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


def shape(c):
    return tuple(c[key] for key in ("update", "form", "type", "m", "n", "p", "k"))


def read(name):
    return [c for c in csv.DictReader(open(name)) if c["part"] == "fit"]


def choice(c, constants):
    """What the choice by the model costs, as a multiple of the better way's time."""
    update, anew = float(c["update_ms"]), float(c["refactor_ms"])
    anew_first = dot(constants["refactor"], numbers(c["refactor_work"])) < dot(
        constants["update"], numbers(c["update_work"]))
    return (anew if anew_first else update) / min(update, anew)


def refine(constants, low, high, cases, steps):
    """Changes one constant at a time, at random, where choices then lose less or the times' logarithms are nearer."""
    counted = [(numbers(c["update_work"]), numbers(c["refactor_work"]), float(c["update_ms"]), float(c["refactor_ms"]))
               for c in cases]

    def penalty(by):
        lost = error = 0.0
        for update_work, refactor_work, update, anew in counted:
            by_update, by_anew = dot(by["update"], update_work), dot(by["refactor"], refactor_work)
            lost += max(0.0, (update if by_update <= by_anew else anew) / min(update, anew) - 1.05)
            error += abs(math.log(by_update / update)) + abs(math.log(by_anew / anew))
        return 3 * lost + 0.3 * error / len(counted)

    first, ends = constants, []
    for start in range(5):
        chance = random.Random(start)
        constants, best = first, penalty(first)
        for _ in range(steps):
            way = chance.choice(("update", "refactor"))
            tried = {**constants, way: list(constants[way])}
            kind = chance.randrange(len(tried[way]))
            if tried[way][kind] > 0:
                tried[way][kind] *= 0 if chance.random() < 0.01 else math.exp(chance.gauss(0, 0.15))
            else:
                tried[way][kind] = 10 ** chance.uniform(-6, -2)
            tried[way][kind] = min(high[kind], max(low[kind], tried[way][kind]))
            found = penalty(tried)
            if found < best:
                best, constants = found, tried
        ends.append((best, start, constants))
    return min(ends)[2]


options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("file", help="the CSV")
options.add_argument("--earlier", nargs="*", default=[], metavar="FILE",
                     help="runs before; where an update was faster in one, that time counts besides")
# What the hardware sets. Without it constants go astray that small cases do not determine.
options.add_argument("--fastest", type=float, default=60, help="most Gflop per ms in products (default 60)")
options.add_argument("--slowest-copy", type=float, default=8, help="most ms for 10^9 copied elements (default 8)")
options.add_argument("--refine", type=int, default=0, metavar="STEPS", help="steps of each of five searches (some 10000)")
o = options.parse_args()

measured = read(o.file)
# Disturbances only add time: the faster of the runs, beside the last one as it is.
faster = {shape(c): c for c in measured}
for c in (c for name in o.earlier for c in read(name)):
    if shape(c) in faster and float(c["update_ms"]) < float(faster[shape(c)]["update_ms"]):
        faster[shape(c)] = {**faster[shape(c)], "update_ms": c["update_ms"]}
runs = {"as measured": measured}
if o.earlier:
    runs["updates by the faster run"] = list(faster.values())

for letter in dict.fromkeys(c["type"] for c in measured):
    constants = {}
    for way, cases in (("update", sum(runs.values(), [])), ("refactor", measured)):
        rows, weights = [], []
        for c in cases:
            if c["type"] != letter or not c[way + "_ms"]:
                continue
            ms = float(c[way + "_ms"])
            rows.append([part / ms for part in numbers(c[way + "_work"])])
            close = c["refactor_ms"] and 0.6 < float(c["update_ms"]) / float(c["refactor_ms"]) < 1.6
            weights.append(20.0 if close else 1.0)
        kinds = len(rows[0])
        low, high = [0.0] * kinds, [1e9] * kinds
        low[-2], high[-1] = 1 / o.fastest, o.slowest_copy
        constants[way] = fit(rows, [1.0] * len(rows), weights, low, high)
    if o.refine:
        chosen = [c for c in sum(runs.values(), []) if c["type"] == letter and c["refactor_ms"]]
        constants = refine(constants, low, high, chosen, o.refine)
    for way in constants:
        errors = sorted(abs(dot(constants[way], numbers(c[way + "_work"])) / float(c[way + "_ms"]) - 1)
                        for c in sum(runs.values(), []) if c["type"] == letter and c[way + "_ms"])
        print(f"{letter} {way}: median error {errors[len(errors) // 2]:.2f}, 90 % below {errors[len(errors) * 9 // 10]:.2f}")
    print("{{" + ", ".join(f"{x:.3g}" for x in constants["update"]) + "},")
    print(" {" + ", ".join(f"{x:.3g}" for x in constants["refactor"]) + "}},")
    for name, cases in runs.items():
        losses = sorted(((choice(c, constants), c) for c in cases if c["type"] == letter and c["refactor_ms"]),
                        key=lambda entry: -entry[0])
        print(f"{letter}, {name}: the choice loses more than 10 % in {sum(l > 1.1 for l, _ in losses)} of {len(losses)} cases")
        for loss, c in losses[:8]:
            if loss > 1.02:
                print(f"  {loss:.2f}", *(c[key] for key in ("update", "form", "m", "n", "p", "k", "update_ms", "refactor_ms")))
