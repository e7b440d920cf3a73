#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The speed of rows that mona.kernel writes beside that of intrinsics, and of the example's demosaic beside swscale's,
# on one core with AVX-512 and AVX2.
#
#   [CC=gcc] [CPU=1] [BUILD=build] sh tests/bench/user_rows.sh
set -eu
BUILD=${BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for file in tests/bench/user_rows.py apps/examples/kernels/demosaic.py; do
    PYTHONPATH="$BUILD/python" /usr/bin/python3 -m mona.kernel "$file" -o "$tmp" > "$tmp/log"
done
for isa in '-march=native -mprefer-vector-width=512' '-mavx2 -mfma'; do
    echo "$isa"
    for file in "$tmp"/*.c; do
        # shellcheck disable=SC2086
        ${CC:-gcc} -std=c11 -O3 -ffp-contract=off $isa -Iengine -c -o "${file%.c}.o" "$file"
    done
    # shellcheck disable=SC2086,SC2046
    gcc -std=gnu11 -O3 $isa -Iengine $(pkg-config --cflags libswscale) -o "$tmp/rows" tests/bench/user_rows.c "$tmp"/*.o $(pkg-config --libs libswscale libavutil)
    taskset -c "${CPU:-1}" "$tmp/rows"
done
