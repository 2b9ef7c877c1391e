#!/usr/bin/env python3
"""Draws Gflop/s against n of one routine on square matrices from the CSV files of devobj-bench: ours, the peers in the files, MAGMA's
recorded times (bench/peers) and the rate of a square product as a limit.

    rates.py getrf s OUT.svg CSV... [--limit "SGEMM, square" 50000]
"""
import argparse
import csv
import pathlib
import subprocess
import tempfile

here = pathlib.Path(__file__).resolve().parent


def flops(routine, n):
    return (2 if routine == "getrf" else 4) / 3 * n**3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("routine", choices=["getrf", "geqrf"])
    parser.add_argument("type", choices=["s", "d"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--limit", nargs=2, metavar=("NAME", "GFLOPS"), action="append", default=[])
    a = parser.parse_args()

    curves = {}  # title: {n: Gflop/s}
    for name in a.csv:
        for row in csv.DictReader(open(name)):
            n = int(row["n"])
            if row["routine"] != a.routine or row["type"] != a.type or int(row["m"]) != n:
                continue
            curves.setdefault("devObject", {})[n] = flops(a.routine, n) / float(row["ms"]) / 1e6
            if row["peer_ms"]:
                title = "cuSOLVER" if row["peer"] == "cusolver" else row["peer"]
                curves.setdefault(title, {})[n] = flops(a.routine, n) / float(row["peer_ms"]) / 1e6
    last = max(max(points) for points in curves.values())
    for row in csv.DictReader(l for l in open(here.parent / "peers" / "magma-h200.csv") if not l.startswith("#")):
        if row["routine"] == a.routine and row["type"] == a.type:
            n = int(row["n"])
            curves.setdefault("MAGMA hybrid (recorded)", {})[n] = flops(a.routine, n) / float(row["ms"]) / 1e6
    for title, rate in a.limit:
        curves[title] = {0: float(rate), last: float(rate)}

    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "rates.dat"
        with open(data, "w") as f:
            for title, points in curves.items():
                f.write(f'"{title}"\n' + "".join(f"{n} {y:.6g}\n" for n, y in sorted(points.items())) + "\n\n")
        what = {"getrf": "LU", "geqrf": "QR"}[a.routine] + {"s": ", single precision", "d": ", double precision"}[a.type]
        script = "\n".join([
            "set terminal svg size 900,560 dynamic background 'white'", f"out = '{a.out.resolve()}'", f"data = '{data}'",
            f"curves = {len(curves)}", f"plot_title = '{what}, n x n, NVIDIA H200'", "x_label = 'n'", "y_label = 'Gflop/s'",
            "log_y = 0", f"load '{here / 'lines.gp'}'", ""])
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
