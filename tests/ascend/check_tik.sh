#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds what model310 enforces of instructions against what TIK checks: sh tests/ascend/check_tik.sh FOLDER, that with tik_lib.
BUILD=${BUILD:-build} CC=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
[ -f "$BUILD/libmona-model310.a" ] || { echo "check-tik: expected $BUILD/libmona-model310.a, which make builds" >&2 && exit 2; }
$CC -std=c11 -O1 -Wall -Wextra -I. -Iengine -o "$tmp/limits" tests/ascend/limits.c "$BUILD/libmona-model310.a" "$BUILD/libmona-plan.a" \
    "$BUILD/libmona.a" -pthread -lm && "$tmp/limits" > "$tmp/ours" && python3 tests/ascend/check_tik.py "$1" "$tmp/ours"
