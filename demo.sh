#!/usr/bin/env bash
# Installs what is missing, builds devObject, and runs three Fortran programs on device objects: the lift of an airfoil,
# a least squares problem with certified coefficients, and a short table of factorization times.
#
#   ./demo.sh                      GPU if there are a CUDA toolkit and a GPU, otherwise the host
#   DEVOBJ_CUDA=OFF ./demo.sh      without CUDA
#   DEVOBJ_BACKEND=host ./demo.sh  on the host, whatever was built
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
optional='gnuplot-nox libcli11-dev libgtest-dev libfftw3-dev'
. tools/setup.sh

setup_packages gnuplot
setup_configure
setup_build devobj-info demo
setup_openblas

output=demo-out
mkdir -p "$output"
examples=$build/examples

say "1. Flow past an airfoil (examples/02_airfoil.f90): LU once, several right-hand sides"
"$examples/02_airfoil" "$output" || die "02_airfoil failed"
if have gnuplot && (cd "$output" && gnuplot airfoil.gp) >"$output/gnuplot.log" 2>&1; then
  note "pressure: $output/airfoil.svg"
fi

say "2. Longley's regression (examples/03_longley.f90): QR beside the certified coefficients"
"$examples/03_longley" examples/data/longley.dat || die "03_longley failed"

say "3. Times, LAPACK on the CPU against devObject (examples/04_table1.f90)"
"$examples/04_table1" || die "04_table1 failed"

say "Done. Next: ./test.sh, README.md, examples/"
