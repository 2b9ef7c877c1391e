#!/usr/bin/env python3
"""Draws the results of devobj-bench rng, fft and prims on a GPU: numbers per second beside cuRAND's fastest generator and what a
memset writes; and the time above that of cuFFT, CUB and cuSPARSE called directly, least to most over all sizes from 2^22 on.

    toolbox.py OUT.svg RNG.csv FFT.csv PRIMS.csv
"""
import argparse
import csv
import pathlib
import subprocess
import tempfile

names = {"rng_words": "words", "rng_uniform": "uniform", "rng_normal": "normal", "rng_lognormal": "lognormal",
         "rng_exponential": "exponential"}
precisions = {"s": ", single", "d": ", double", "i": ""}


def rates(name):
    """{what: {generator: 10^9 numbers per second}}, cuRAND's fastest and memset among the generators."""
    result = {}
    for row in csv.DictReader(open(name)):
        if row["backend"] != "cuda" or row["routine"] not in names or int(row["m"]) < 2**28:
            continue
        of = result.setdefault(names[row["routine"]] + precisions[row["type"]], {})
        count = int(row["m"]) * int(row["n"]) / 1e6
        of[row["method"]] = count / float(row["ms"])
        peer = {"cudaMemset": "memset"}.get(row["peer"], "cuRAND" if row["peer"].startswith("curand") else "")
        if peer:
            of[peer] = max(of.get(peer, 0), count / float(row["peer_ms"]))
    return result


def overheads(*files):
    """{routine: [percent above the peer's time]} from 2^22 elements on."""
    result = {}
    for name in files:
        for row in csv.DictReader(open(name)):
            if row["backend"] == "cuda" and row["ratio"] and int(row["m"]) * int(row["n"]) >= 2**22:
                routine = row["routine"] if row["routine"] != "spmv" else "spmv (cuSPARSE)"
                result.setdefault(routine, []).append(100 * (1 / float(row["ratio"]) - 1))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    for what in ("rng", "fft", "prims"):
        parser.add_argument(what)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        numbers, above = (pathlib.Path(folder) / name for name in ("numbers.dat", "above.dat"))
        generators = ["philox", "state", "cuRAND", "memset"]
        with open(numbers, "w") as f:
            for what, of in rates(a.rng).items():
                f.write(f'"{what}" ' + " ".join(f"{of[g]:.6g}" if g in of else "NaN" for g in generators) + "\n")
        routines = overheads(a.fft, a.prims)
        count = len(routines)
        with open(above, "w") as f:
            for routine, percent in routines.items():
                f.write(f'"{routine}" {min(percent):.4g} {max(percent):.4g}\n')
        script = f"""
set terminal svg size 1200,520 dynamic background 'white'
set output '{a.out.resolve()}'
set multiplot layout 1,2
set xtics rotate by -35 noenhanced
set grid ytics
set title 'Random numbers, 2^{{30}} of them, NVIDIA H200'
set ylabel '10^9 numbers per second'
set yrange [0:1400]
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set key top center horizontal
plot '{numbers}' using 2:xtic(1) title 'philox', '' using 3 title 'state', '' using 4 title "cuRAND's fastest", \\
     '' using 5 title 'memset of as many bytes'
set title 'Time above that of cuFFT, CUB, cuSPARSE, 2^{{22}} to 2^{{26}} elements'
set ylabel 'percent'
set yrange [*:10]
set xrange [-0.5:{count - 0.5}]
set arrow 1 from graph 0, first 3 to graph 1, first 3 nohead dashtype 2
set style data points
unset key
plot '{above}' using 0:(($2 + $3) / 2):2:3:xtic(1) with yerrorbars pointtype 7 pointsize 0.3 linewidth 3
unset multiplot
"""
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
