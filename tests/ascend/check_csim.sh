#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds the reference of AI Core instructions against the simulator inside AKG (csim): sh tests/ascend/check_csim.sh LIBRARY, a
# shared library with its functions, named as the intrinsics are. csim_compare.c says what is compared.
library=$1
BUILD=${BUILD:-build} CC=${CC:-gcc} CXX=${CXX:-g++}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -f "$library" ]; then
    echo "expected CSIM=FILE, the simulator inside AKG (src/runtime/csim of its first commit) as a shared library, found ${library:-none}${library:+, which is no file}" >&2
    exit 2
fi
[ -f "$BUILD/libmona-model310.a" ] || { echo "check-csim: expected $BUILD/libmona-model310.a, which make builds" >&2 && exit 2; }
flags="-O1 -g -Wall -Wextra -I. -Iengine"
# Functions that the library lacks stay null, so nothing names it but this.
$CC -std=gnu11 $flags -c -o "$tmp/compare.o" tests/ascend/csim_compare.c &&
    $CXX -std=c++17 -fPIC $flags -c -o "$tmp/csim.o" tests/ascend/csim.cc &&
    $CXX -o "$tmp/compare" "$tmp/compare.o" "$tmp/csim.o" "$BUILD/libmona-model310.a" "$BUILD/libmona-plan.a" "$BUILD/libmona.a" \
        -Wl,--no-as-needed,-rpath,"$(dirname "$(realpath "$library")")" "$(realpath "$library")" -pthread -lm || exit 1
"$tmp/compare"
