#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every test of one build: unit tests, checkops, end-to-end scripts. make check calls it.
#
#   BUILD=build CC=gcc SANITIZE= sh tests/run.sh [NAME]...
#
# NAME: only tests whose name contains it, or with a minus before, none of those.
#
# SCRIPTS: scripts to run in place of tests/e2e/*/*.sh. JOBS: tests at a time, 1 for each core if not given.
#
# A test is a program that prints TAP lines. Each `ok` line counts as passed, each `not ok` as failed; a
# program that fails without a `not ok`, prints no TAP line, prints fewer than it announced, or takes too
# long counts as one failure more. The output of what failed is shown. The last line is
# "N passed, N failed, N skipped".
set -u
BUILD=${BUILD:-build}
CC=${CC:-gcc}
SANITIZE=${SANITIZE:-}
export BUILD CC SANITIZE
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1:strict_string_checks=1}
# x265 does not free a table of its own when it is closed.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/leaks.txt:print_suppressions=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

names=$*
wanted() {
    found=1
    for name in $names; do
        case $name in
            -*) case $1 in *"${name#-}"*) return 1 ;; esac ;;
            *) [ $found -eq 0 ] || found=2
               case $1 in *"$name"*) found=0 ;; esac ;;
        esac
    done
    [ $found -ne 2 ]
}

tests() {
    for test in "$BUILD"/tests/* ${SCRIPTS:-tests/e2e/*/*.sh}; do
        if [ -f "$test" ] && wanted "$(basename "$test")"; then
            case $test in
                *.sh) echo "$test" ;;
                *) [ ! -x "$test" ] || echo "$test" ;;
            esac
        fi
    done
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# What holds times to bounds has the machine for itself. A test that ended without a word has failed.
timed='/\(bench\|observe\).sh$'
{
    tests | grep -v "$timed" | xargs -r -P "${JOBS:-$(nproc)}" -n 1 sh tests/one.sh
    tests | grep "$timed" | xargs -r -n 1 sh tests/one.sh
} | tee "$log"
awk -v left="$(tests | wc -l)" '/^(PASS|FAIL) / { passed += $3; failed += $5; skipped += $7; left-- }
     END { failed += left; printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 || passed == 0 }' "$log"
