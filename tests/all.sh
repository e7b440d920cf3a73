#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The full tier: all tests with gcc; those that read files or move samples with clang and its address and
# undefined-behaviour sanitisers; the engine's own on emulated aarch64 and ARMv7-A and on emulated CPUs that lack
# instructions of this one; and the short tier in a bare Debian 13, built there without a warning. The last line adds up: "N passed, N failed, N skipped".
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
skipped=0

# $1: the position of the wanted number in the last line of $log, from 1
counted() {
    grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1 | sed 's/[^0-9 ]//g' |
        awk "{ print \$$1 }"
}

# $1: name, rest: target and make variables
check() {
    echo "== $1"
    shift
    { make --no-print-directory -j"$(nproc)" "$@" 2>&1; echo "exit $?"; } | tee "$log"
    good=$(counted 1)
    bad=$(counted 2)
    # A failed build, or a run that ended early, is a failure even without a count.
    if [ -z "$bad" ] || { [ "$bad" -eq 0 ] && [ "$(tail -n 1 "$log")" != "exit 0" ]; }; then
        bad=$((${bad:-0} + 1))
    fi
    passed=$((passed + ${good:-0}))
    failed=$((failed + bad))
    some=$(counted 3)
    skipped=$((skipped + ${some:-0}))
}

check "gcc" check CC=gcc BUILD=build TIER=full
check "clang with sanitisers" check CC=clang BUILD=build/clang SANITIZE=1 TIER=full CFLAGS="-O1 -Wno-pass-failed"
check "aarch64 under qemu" check-aarch64 CC=gcc BUILD=build
check "ARMv7-A under qemu" check-armv7 CC=gcc BUILD=build
check "RISC-V with vectors under qemu" check-rvv CC=gcc BUILD=build
check "older x86 CPUs under qemu" check-cpus CC=gcc BUILD=build
check "bare Debian 13" check-trixie

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
