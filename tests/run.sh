#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of one build: unit tests, checkops, end-to-end scripts. make check calls it.
#
#   BUILD=build CC=gcc SANITIZE= TIER=short sh tests/run.sh [NAME]...
#
# NAME: only tests whose name contains it, or with a minus before, none of those. With a name that is
# wanted, tests/tiers does not count.
#
# TIER: short or full (if not given); tests/tiers says which test is in which.
# PROGRAMS: test programs, in place of all that lie in BUILD/tests.
# SCRIPTS: scripts to run in place of tests/e2e/*/*.sh and tests/judges/*.sh.
# JOBS: tests at a time, if not given 3 for 2 cores, as some tests mostly wait.
#
# A test is a program that prints TAP lines. Each `ok` line counts as passed, each `not ok` as failed; a
# program that fails without a `not ok`, prints no TAP line, prints fewer than it announced, or takes too
# long counts as one failure more. The output of what failed is shown. What took longest in the last run
# begins first. BUILD/tests/times.tsv has a line for each test: name, seconds, seconds of processors,
# passed, failed, skipped. The last line printed is "N passed, N failed, N skipped".
set -u
BUILD=${BUILD:-build}
CC=${CC:-gcc}
SANITIZE=${SANITIZE:-}
TIER=${TIER:-full}
# Runs one in so many of the random cases, sizes and cuts: see tests/cases.h.
if [ -z "${MONA_TEST_SHARE:-}" ]; then
    MONA_TEST_SHARE=1
    [ "$TIER" = full ] && [ -z "$SANITIZE" ] || MONA_TEST_SHARE=12
fi
export BUILD CC SANITIZE TIER MONA_TEST_SHARE
export CMOCKA_MESSAGE_OUTPUT=TAP
# What make check was told on its command line, such as CC=, is not for every make that a test runs: some compile for a board.
unset MAKEFLAGS MFLAGS
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1:strict_string_checks=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-print_suppressions=0} # of tests/leaks.txt
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# Uses the system's python3, since version managers put a wrapper before it that is many times slower to start.
if [ -x /usr/bin/python3 ]; then
    mkdir -p "$BUILD/tests/bin"
    ln -sf /usr/bin/python3 "$BUILD/tests/bin/python3"
    PATH=$(cd "$BUILD/tests/bin" && pwd):$PATH
fi

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
    [ $found -eq 0 ] || { [ $found -eq 1 ] && in_tier "$1"; }
}

in_tier() {
    case $(awk -v name="$1" '$1 == name { print $2 }' tests/tiers) in
        full*) [ "$TIER" = full ] || return 1 ;;
    esac
    [ -z "$SANITIZE" ] || ! grep -q "^$1  *[a-z]*,plain" tests/tiers
}

# Only the given programs, and nothing left over from an earlier build.
programs() {
    for program in ${PROGRAMS:-$(find "$BUILD/tests" -maxdepth 1 -type f -perm -u+x)}; do echo "$program"; done
}

tests() {
    { [ -n "${SCRIPTS:-}" ] || programs; ls ${SCRIPTS:-tests/e2e/*/*.sh tests/judges/*.sh}; } | while read -r test; do
        ! wanted "$(basename "$test")" || echo "$test"
    done
}

table=$BUILD/tests/times.tsv
touch "$table"
list=$(mktemp)
log=$(mktemp)
trap 'rm -f "$list" "$log"' EXIT
# Longest first; a test that never ran may be long.
tests | awk -v table="$table" 'BEGIN { while ((getline < table) > 0) took[$1] = $2 }
    { n = split($0, part, "/"); print (part[n] in took ? took[part[n]] : 1e6), $0 }' | sort -rn | cut -d ' ' -f 2 > "$list"
# Tests that check times have the machine to themselves. A test that ended without a result has failed.
timed='/\(bench\|observe\)\.sh$'
{
    grep -v "$timed" "$list" | xargs -r -P "${JOBS:-$((($(nproc) * 3 + 1) / 2))}" -n 1 sh tests/one.sh
    grep "$timed" "$list" | xargs -r -n 1 sh tests/one.sh
} | tee "$log"
awk -v OFS='\t' 'NR == FNR { if ($1 == "PASS" || $1 == "FAIL") row[$2] = $2 OFS $9 OFS $11 OFS $3 OFS $5 OFS $7; next }
     !($1 in row) { row[$1] = $0 } END { for (name in row) print row[name] }' "$log" "$table" |
    sort -t "$(printf '\t')" -k 3 -rn > "$table.new" && mv "$table.new" "$table"
awk -v left="$(wc -l < "$list")" '/^(PASS|FAIL) / { passed += $3; failed += $5; skipped += $7; cpu += $11; left-- }
     END { failed += left; printf "# %d s of processors\n%d passed, %d failed, %d skipped\n", cpu, passed, failed, skipped
           exit failed > 0 || passed == 0 }' "$log"
