#!/usr/bin/env bash
# Installs what is missing, builds devObject, and runs every test.
#
#   ./test.sh                   all tests on the backends there are; without a GPU the GPU's are reported as skipped
#   ./test.sh --all             besides, the host's tests under AddressSanitizer and ThreadSanitizer
#   ./test.sh -R qr             further arguments go to ctest: here only tests with 'qr' in their names
#   DEVOBJ_CUDA=OFF ./test.sh   without CUDA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
optional='gnuplot-nox libcli11-dev pkgconf'
. tools/setup.sh

sanitizers=()
if [ "${1:-}" = --all ]; then
  sanitizers=(asan tsan)
  shift
fi

# run_tests FOLDER ARGUMENT...: ctest's report; before it, what was skipped inside the C++ test programs. The tests that run
# at the same time share the cores among their BLAS threads.
run_tests() {
  local folder=$1 log=$1/Testing/Temporary/LastTest.log at_once=$((jobs < 4 ? jobs : 4)) status passed skipped
  shift
  OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-$((jobs / at_once))} ctest --output-on-failure -j "$at_once" "$@" | tee "$folder/tests.log" | sed -u -e '/^ *Start /d' -e '/^Label Time Summary/,/^$/d'
  status=${PIPESTATUS[0]}
  passed=$(grep -c '^\[       OK \]' "$log")
  skipped=$(grep -c '^\[  SKIPPED \] .* ms)' "$log")
  note "cases within the C++ tests: $passed passed, $skipped skipped"
  if [ "$skipped" -gt 0 ]; then
    grep -ohE 'skipped: .*' "$log" | sort | uniq -c | sort -rn | head -n 3 | while read -r line; do note "$line"; done
  fi
  return "$status"
}

if [ ${#sanitizers[@]} -gt 0 ]; then setup_packages gnuplot pkgconf clang; else setup_packages gnuplot pkgconf; fi
setup_configure
setup_build
setup_openblas
say "What is used, and why"
"$build/devobj-info" | while IFS= read -r line; do note "$line"; done

failed=()
for preset in ${sanitizers[@]+"${sanitizers[@]}"}; do
  say "Building for $preset (log: build/$preset/build.log)"
  configure "build/$preset" --preset "$preset" "-DDEVOBJ_TEST_OBJECTS=$PWD/$build"
  build "build/$preset"
  say "Testing, $preset"
  run_tests "build/$preset" --preset "$preset" "$@" || failed+=("$preset")
done
say "Testing"
run_tests "$build" --test-dir "$build" "$@" || failed+=("$build")

for folder in ${sanitizers[@]+"${sanitizers[@]/#/build/}"} "$build"; do
  printf '%s: %s\n' "$folder" "$(grep -E '% tests passed' "$folder/tests.log" || echo "no tests were run")"
done
if [ ${#failed[@]} -gt 0 ]; then die "tests failed in: ${failed[*]}"; fi
