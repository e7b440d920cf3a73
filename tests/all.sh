#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests with gcc, with clang and with the address and undefined-behaviour sanitisers, and the engine's own on
# an emulated aarch64. The last line adds up:
# "N passed, N failed, N skipped".
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
skipped=0

# $1: which number of the last line of $log that counts, from 1
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
    # A build that broke, or a run that ended early, is a failure even without a count.
    if [ -z "$bad" ] || { [ "$bad" -eq 0 ] && [ "$(tail -n 1 "$log")" != "exit 0" ]; }; then
        bad=$((${bad:-0} + 1))
    fi
    passed=$((passed + ${good:-0}))
    failed=$((failed + bad))
    some=$(counted 3)
    skipped=$((skipped + ${some:-0}))
}

# gcc: everything. Another compiler makes other code of the same sources: the engine, kernels and unit tests show
# whether it does the same. Sanitisers take many times as long: whatever reads files and moves samples, but not
# what only measures times or the quality of numbers.
check "gcc" check CC=gcc BUILD=build
check "clang" check CC=clang BUILD=build/clang \
    TESTS="test_ -top1_margin checkops published firmware.sh library.sh enhance.sh model310.sh"
check "sanitisers" check CC=gcc BUILD=build/asan SANITIZE=1 \
    TESTS="-top1_margin -networks -textures -modelled -quality -precision -published -bench.sh -dry_run.sh -demo.sh \
        -longrun.sh -observe.sh -report.sh -progress.sh -model310.sh -classifiers.sh -compressed.sh -library.sh \
        -inspect.sh"
check "aarch64 under qemu" check-aarch64 CC=gcc BUILD=build

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
