#!/usr/bin/env python3
"""Writes kernels/random/radius_table.inl and log_table.inl (kernels/random/tables.hpp says what they hold). Needs mpmath."""
import pathlib
import re
import struct

from mpmath import cos, ldexp, log, log1p, lu_solve, matrix, mp, mpf, pi, sqrt

mp.prec = 160
folder = pathlib.Path(__file__).resolve().parent.parent / "kernels" / "random"


def single(x):
    """x rounded to single precision."""
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def single_text(x):
    head, digits, exponent = re.match(r"(-?0x1\.)([0-9a-f]{13})(p.*)", float(x).hex()).groups()
    return head + digits[:6] + exponent + "f"


def cubic(f, width):
    """The cubic through f at Chebyshev's points of [-width, width]: coefficients of 1, t, t^2, t^3."""
    points = [width * cos(pi * (2 * i + 1) / 8) for i in range(4)]
    vandermonde, values = matrix(4, 4), matrix(4, 1)
    for i, x in enumerate(points):
        values[i] = f(x)
        for j in range(4):
            vandermonde[i, j] = x**j
    return list(lu_solve(vandermonde, values))


def shifted(c, middle):
    """The same cubic as a function of x = t + middle."""
    return [
        c[0] - middle * (c[1] - middle * (c[2] - middle * c[3])),
        c[1] - middle * (2 * c[2] - 3 * middle * c[3]),
        c[2] - 3 * middle * c[3],
        c[3],
    ]


def radius_rows():
    for sign in (1, -1):
        for octave in list(range(1, 32)) + [0]:  # an exponent's lower five bits: 2^1 first, 2^0 last
            for piece in range(8):
                def magnitude(t):
                    return ldexp(1 + mpf(piece) / 8 + mpf(1) / 16 + t, octave)

                def radius(t):
                    if sign > 0:
                        return sqrt(max(mpf(0), 2 * (32 * log(mpf(2)) - log(magnitude(t)))))
                    return sqrt(-2 * log1p(-magnitude(t) * mpf(2) ** -32))

                yield [single(c) for c in shifted(cubic(radius, mpf(1) / 16), mpf(17) / 16)]


def log_rows():
    def number(high):
        return mpf(struct.unpack("d", struct.pack("Q", high << 32))[0])

    for piece in range(64):
        begin, end = number(0x3FE54000 + piece * 0x4000), number(0x3FE54000 + (piece + 1) * 0x4000)
        inverse = 1.0 if 1 in (begin, end) else float(2 / (begin + end))
        yield inverse, float(2 * log(mpf(inverse)))


with open(folder / "radius_table.inl", "w") as out:
    for row in radius_rows():
        out.write("{" + ", ".join(single_text(c) for c in row) + "},\n")
with open(folder / "log_table.inl", "w") as out:
    for inverse, two_log in log_rows():
        out.write("{%s, %s},\n" % (inverse.hex(), two_log.hex()))
