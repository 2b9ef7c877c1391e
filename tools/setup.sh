# What demo.sh and test.sh share: packages, configuring, building. Sourced by them in the repository's root.
#
#   setup_packages WORD...   makes sure of compilers, CMake, BLAS, and what the words ask for: gnuplot pkgconf clang
#   setup_configure          configures $build (DEVOBJ_CUDA=AUTO|ON|OFF from the environment, AUTO without it)
#   setup_build TARGET...    builds; the compilers' words go to $build/build.log
#   setup_openblas           sets OPENBLAS_CORETYPE where OpenBLAS does not know the processor

build=build/release
cxx=${CXX:-c++}
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)

say() { printf '%s\n' "==> $*"; }
note() { printf '%s\n' "    $*"; }
die() {
  printf '%s\n' "error: $*" >&2
  exit 1
}

# Runs a command with its output in a log; on failure shows the log's end and its place.
logged() {
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "'$1' failed; the whole log is $log"
  fi
}

have() { command -v "$1" >/dev/null 2>&1; }
has_header() { printf '#include <%s>\n' "$1" | "$cxx" -std=c++17 -E -x c++ - >/dev/null 2>&1; }
# The linker's search finds a library if the compiler names more than its bare file name.
has_library() { [ "$("$cxx" -print-file-name="lib$1.so")" != "lib$1.so" ] || [ "$("$cxx" -print-file-name="lib$1.a")" != "lib$1.a" ]; }
has_blas() {
  [ -n "${MKLROOT:-}" ] || has_library openblas || has_library flexiblas || { has_library blas && has_library lapack; }
}
# version_at_least 3.25 3.31.1
version_at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# The Debian packages that are missing. An unknown word is a mistake in the caller.
missing_packages() {
  have "$cxx" || echo g++
  have make || have ninja || echo make
  have cmake || echo cmake
  have gfortran || [ -n "${FC:-}" ] || echo gfortran
  if have "$cxx"; then
    has_blas || echo libopenblas-dev
    { has_header gtest/gtest.h && has_library gtest; } || echo libgtest-dev
    { has_header fftw3.h && has_library fftw3 && has_library fftw3f; } || echo libfftw3-dev
    has_header CLI/CLI.hpp || echo libcli11-dev
  else
    echo libopenblas-dev libgtest-dev libfftw3-dev libcli11-dev
  fi
  local word
  for word in "$@"; do
    case $word in
      gnuplot) have gnuplot || echo gnuplot-nox ;;
      pkgconf) have pkg-config || have pkgconf || echo pkgconf ;;
      clang) { have clang++ && clang_has_tsan; } || echo clang libclang-rt-dev ;;
      *) die "missing_packages: unknown word '$word'" ;;
    esac
  done
}

clang_has_tsan() {
  echo 'int main() {}' | clang++ -fsanitize=thread -x c++ -o /dev/null - >/dev/null 2>&1
}

# What a Debian package is on other systems, for people.
elsewhere() {
  case $1 in
    g++) echo "a C++20 compiler (Fedora, openSUSE: gcc-c++; Arch: gcc)" ;;
    make) echo "make or ninja" ;;
    cmake) echo "CMake 3.25 or later (cmake)" ;;
    gfortran) echo "a Fortran compiler (Fedora: gcc-gfortran; openSUSE, Arch: gcc-fortran)" ;;
    libopenblas-dev) echo "BLAS and LAPACK (Fedora, openSUSE: openblas-devel; Arch: openblas)" ;;
    libfftw3-dev) echo "FFTW 3, both precisions (Fedora, openSUSE: fftw-devel, fftw3-devel; Arch: fftw)" ;;
    libgtest-dev) echo "GoogleTest (Fedora: gtest-devel; openSUSE, Arch: gtest)" ;;
    libcli11-dev) echo "CLI11 (Fedora: cli11-devel; openSUSE: cli11-devel; Arch: cli11)" ;;
    gnuplot-nox) echo "gnuplot (gnuplot)" ;;
    pkgconf) echo "pkg-config (Fedora: pkgconf-pkg-config; openSUSE: pkg-config; Arch: pkgconf)" ;;
    clang | libclang-rt-dev) echo "clang with its sanitizers (clang, compiler-rt)" ;;
    *) echo "$1" ;;
  esac
}

# The script that sources this one may do without these: names of Debian packages.
optional=${optional:-}

setup_packages() {
  local packages package needed=() names=() root=()
  packages=$(missing_packages "$@" | tr '\n' ' ')
  for package in $packages; do
    case " $optional " in *" $package "*) ;; *) needed+=("$package") ;; esac
    names+=("$(elsewhere "$package")")
  done
  if [ "$(id -u)" != 0 ] && have sudo; then root=(sudo); fi

  if [ ${#names[@]} = 0 ]; then
    :
  elif have apt-get && { [ "$(id -u)" = 0 ] || [ ${#root[@]} -gt 0 ]; }; then
    say "Installing ${packages% }"
    mkdir -p "$build"
    : >"$build/packages.log"
    logged "$build/packages.log" ${root[@]+"${root[@]}"} apt-get update
    # shellcheck disable=SC2086
    logged "$build/packages.log" ${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends $packages
    hash -r
    packages=$(missing_packages "$@" | tr '\n' ' ')
    [ -z "${packages// /}" ] || die "still missing after the installation: ${packages% }; see $build/packages.log"
  elif [ ${#needed[@]} = 0 ]; then
    for package in "${names[@]}"; do note "not here, goes without: $package"; done
  else
    if have apt-get; then
      echo "As root: apt-get install ${packages% }" >&2
    else
      echo "Please install, then start this script again:" >&2
      printf '  %s\n' "${names[@]}" >&2
    fi
    die "packages are missing"
  fi

  local cmake_version gcc_version
  cmake_version=$(cmake --version | sed -n 's/^cmake version //p')
  version_at_least 3.25 "$cmake_version" || die "CMake 3.25 or later is needed, this is $cmake_version (pip install cmake has a newer one)"
  if "$cxx" --version 2>/dev/null | grep -q 'Free Software Foundation'; then
    gcc_version=$("$cxx" -dumpfullversion)
    version_at_least 12 "$gcc_version" || die "g++ 12 or later is needed, this is $gcc_version (CXX=... names another compiler)"
  fi
}

# configure FOLDER ARGUMENT...: a folder that is configured already keeps its generator.
configure() {
  local folder=$1 arguments=()
  shift
  mkdir -p "$folder"
  : >"$folder/configure.log"
  if [ ! -f "$folder/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] && have ninja; then arguments+=(-G Ninja); fi
  if have ccache; then
    arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
      -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)  # ccache keeps nothing that uses them
  fi
  logged "$folder/configure.log" cmake "$@" "${arguments[@]}"
}

setup_configure() {
  local tests=OFF
  if has_header gtest/gtest.h; then tests=ON; fi
  say "Configuring ($build)"
  configure "$build" -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON "-DDEVOBJ_CUDA=${DEVOBJ_CUDA:-AUTO}" -DDEVOBJ_TESTS=$tests
  sed -n 's/^-- devObject [0-9.]*, backends: /backends built: /p' "$build/configure.log" | while read -r line; do note "$line"; done
}

# build FOLDER TARGET...: shows how far it is on a terminal.
build() {
  local folder=$1 log=$1/build.log target status arguments=()
  shift
  for target in "$@"; do arguments+=(--target "$target"); done
  if [ -t 1 ]; then
    cmake --build "$folder" -j "$jobs" "${arguments[@]}" 2>&1 | tee "$log" | while IFS= read -r line; do
      case $line in \[*\]*) printf '\r    %-70.70s' "${line##*[\\/]}" ;; esac
    done
    status=${PIPESTATUS[0]}
    printf '\r%-76s\r' ''
  else
    cmake --build "$folder" -j "$jobs" "${arguments[@]}" >"$log" 2>&1
    status=$?
  fi
  if [ "$status" != 0 ]; then
    grep -n -m 5 -iE '(^|[^a-z-])error' "$log" >&2
    tail -n 20 "$log" | cut -c 1-400 >&2
    die "the build failed; the whole log is $log"
  fi
}

setup_build() {
  say "Building with $jobs jobs (log: $build/build.log)"
  build "$build" "$@"
}

# OpenBLAS releases know the processors of their time; on a newer one they fall back to slow kernels. The library sees that
# and names the value that mends it.
setup_openblas() {
  local core
  [ -z "${OPENBLAS_CORETYPE:-}" ] || return 0
  core=$(DEVOBJ_BACKEND=host "$build/devobj-info" | sed -n 's/.*OPENBLAS_CORETYPE=\([A-Za-z0-9]*\).*/\1/p')
  [ -n "$core" ] || return 0
  export OPENBLAS_CORETYPE=$core
  note "OpenBLAS does not know this processor: OPENBLAS_CORETYPE=$core is set for this run"
}
