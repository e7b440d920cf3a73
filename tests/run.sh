#!/bin/sh
# Runs every test of one build: unit tests, checkops, end-to-end scripts. make check calls it.
#
#   BUILD=build CC=gcc SANITIZE= sh tests/run.sh [NAME]...     NAME: only tests whose name contains it
#
# SCRIPTS: scripts to run in place of tests/e2e/*.sh.
#
# A test is a program that prints TAP lines. Each `ok` line counts as passed, each `not ok` as failed; a
# program that fails without a `not ok`, prints no TAP line, prints fewer than it announced, or takes too
# long counts as one failure more. The output of what failed is shown. The last line is
# "N passed, N failed".
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

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0

count() {
    grep -c "$1" "$log"
}

# $1: name, $2: seconds, rest: command
run_test() {
    name=$1
    limit=$2
    shift 2
    timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null
    status=$?
    good=$(count '^ok ')
    bad=$(count '^not ok ')
    planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\).*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    why=
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        why="took longer than $limit s"
    elif [ $((good + bad)) -eq 0 ]; then
        why="printed no TAP line (exit status $status)"
    elif [ "$planned" -gt $((good + bad)) ]; then
        why="announced $planned tests, reported $((good + bad)) (exit status $status)"
    elif [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
        why="exit status $status"
    fi
    [ -z "$why" ] || bad=$((bad + 1))
    passed=$((passed + good))
    failed=$((failed + bad))
    if [ "$bad" -eq 0 ]; then
        echo "PASS $name ($good)"
        grep -i '^# skip' "$log"
    else
        echo "FAIL $name ($good passed, $bad failed)${why:+: $why}"
        sed 's/^/    /' "$log" | tail -n 200
    fi
}

wanted() {
    [ -z "$only" ] && return 0
    for part in $only; do
        case $1 in *"$part"*) return 0 ;; esac
    done
    return 1
}

only=$*
for program in "$BUILD"/tests/*; do
    if [ -f "$program" ] && [ -x "$program" ] && wanted "$(basename "$program")"; then
        run_test "$(basename "$program")" 600 "$program"
    fi
done
for script in ${SCRIPTS:-tests/e2e/*.sh}; do
    wanted "$(basename "$script")" && run_test "$(basename "$script")" 1800 sh "$script"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
