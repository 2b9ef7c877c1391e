#!/usr/bin/env python3
"""Measures the native LU and QR as the files of bench/results hold them, and brings the files up to date: a new row takes the place of
the one of the same routine, type, shape, method and peer.

    measure_native.py build/release/devobj-bench bench/results/h200-16cores [--parts lu,qr,mixed] [--method native] [--up-to N] [-- OPTION...]

writes PREFIX-lu-METHOD.csv, PREFIX-qr-METHOD.csv and PREFIX-mixed.csv. Matrices of more than N columns are left out
with --up-to. What follows `--` goes to devobj-bench. A call of devobj-bench that fails, or finds a wrong result, leaves
the files as they are.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

SIZES = [500, 777, 1000, 1537, 2000, 3000, 4000, 6000, 6143, 8000, 10000, 12345, 16000, 20000, 30000, 40000]
TALL = [500, 1000, 2000, 4000, 6000, 8000, 10000, 16000]  # columns, with twice as many rows
LARGEST = {"lu": {"s": 40000, "d": 40000, "c": 30000, "z": 30000}, "qr": {"s": 40000, "d": 30000, "c": 20000, "z": 20000}}
TALL_AND_SKINNY = [("sd", 1000000, 32), ("sd", 100000, 128), ("sd", 20000, 1000), ("cz", 4000, 1000), ("cz", 8000, 1000)]
MIXED = [  # routine, types, method, columns
    ("gesv", "d,z", "auto", [1000, 2000, 4000, 6000, 8000, 10000, 12000, 16000, 20000, 30000]),
    ("gesv", "z", "randomized", [1000, 2000, 4000, 6000, 8000, 10000, 12000, 16000, 20000]),
    ("gels", "d", "auto", [1000, 2000, 4000, 5000, 10000, 20000, 30000]),
]
KEY = ["backend", "routine", "type", "m", "n", "method", "peer"]


def calls(part, method, most):
    """The options of each call of devobj-bench."""
    if part == "mixed":
        made = [["mixed", "--routine", routine, "--type", types, "--method", name, "--sizes", ",".join(str(n) for n in sizes if n <= most)]
                for routine, types, name, sizes in MIXED]
        return [call for call in made if call[-1]]
    made = []
    for letter in "sdcz":
        shapes = [(n, n) for n in SIZES if n <= LARGEST[part][letter]] + [(2 * n, n) for n in TALL]
        if part == "qr":
            shapes += [(m, n) for letters, m, n in TALL_AND_SKINNY if letter in letters]
        shapes = [f"{m}x{n}" for m, n in shapes if n <= most]
        made.append([part, "--type", letter, "--method", method, "--shape", ",".join(shapes)])
    return [call for call in made if call[-1]]


def rows_of(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        return reader.fieldnames, list(reader)


def merge(new, into):
    """The rows of the file `new` into the file `into`: in their predecessors' places, others at the end."""
    names, rows = rows_of(new)
    old = []
    if into.exists():
        old_names, old = rows_of(into)
        if old_names != names:
            sys.exit(f"{into} has other columns than devobj-bench writes")
    place = {tuple(row[k] for k in KEY): i for i, row in enumerate(old)}
    for row in rows:
        i = place.setdefault(tuple(row[k] for k in KEY), len(old))
        if i == len(old):
            old.append(row)
        else:
            old[i] = row
    with open(into, "w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(old)
    print(f"{into}: {len(rows)} rows are new")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="devobj-bench")
    parser.add_argument("prefix", help="of the files of results, such as bench/results/h200-16cores")
    parser.add_argument("--parts", default="lu,qr,mixed")
    parser.add_argument("--method", default="native", help="of LU and QR")
    parser.add_argument("--up-to", type=int, default=max(SIZES), metavar="N")
    words = sys.argv[1:]
    behind = words.index("--") if "--" in words else len(words)
    a, options = parser.parse_args(words[:behind]), words[behind + 1:]

    failed = False
    for part in a.parts.split(","):
        name = part if part == "mixed" else f"{part}-{a.method}"
        for call in calls(part, a.method, a.up_to):
            with tempfile.TemporaryDirectory() as folder:
                new = pathlib.Path(folder) / "new.csv"
                if subprocess.run([a.program, *call, "--csv", new, *options]).returncode == 0:
                    merge(new, pathlib.Path(f"{a.prefix}-{name}.csv"))
                else:
                    failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
