#!/bin/sh
# pkgconfig.sh TREE LIBDIR SOURCES WORK C-COMPILER FORTRAN-COMPILER: builds the consumers in C and Fortran with the flags that
# pkg-config gives for the installed tree, and runs them. An empty Fortran compiler leaves that one out.
set -eu
tree=$1 libdir=$2 sources=$3 work=$4 cc=$5 fc=$6
export PKG_CONFIG_PATH="$tree/$libdir/pkgconfig" LD_LIBRARY_PATH="$tree/$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
eval "\"\$cc\" -std=c11 -Wall -Wextra -pedantic -Werror \"\$sources/c/main.c\" -o c $(pkg-config --cflags --libs devobject) -lm"
./c
[ -n "$fc" ] || exit 0
eval "\"\$fc\" \"\$sources/fortran/main.f90\" -o fortran $(pkg-config --cflags --libs devobject-fortran)"
./fortran
