#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one test, TEST, for run.sh, which sets the environment and says what a test is:
#
#   sh tests/one.sh TEST
#
# Prints "PASS NAME N passed, N failed, N skipped, N s, N cpu", or FAIL and the test's output, all at once, as other
# tests run at the same time.
set -u
log=$(mktemp)
trap 'rm -f "$log" "$log.report"' EXIT
name=$(basename "$1")
limit=1800 # seconds; slow machines with sanitisers need many
case $name in
    *.sh) set -- sh "$1" ;;
esac

count() {
    grep -c "$@" "$log"
}

began=$(date +%s)
timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null
status=$?
took=$(($(date +%s) - began))
# The second line of times: user and system time of finished children.
times > "$log.report"
cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); n += 60 * t[1] + t[2] } printf "%.1f", n }' "$log.report")
# cmocka prints a skipped test as "not ok N # SKIP".
skipped=$(count -E '^(not )?ok .*# SKIP')
good=$(($(count '^ok ') - $(count '^ok .*# SKIP')))
bad=$(($(count '^not ok ') - $(count '^not ok .*# SKIP')))
# Unit tests announce each of their groups.
planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\).*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
why=
if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    why="took longer than $limit s"
elif [ $((good + bad + skipped)) -eq 0 ]; then
    why="printed no TAP line (exit status $status)"
elif [ "$planned" -eq 0 ]; then
    why="announced no plan: it did not reach its end (exit status $status)"
elif [ "$planned" -gt $((good + bad + skipped)) ]; then
    why="announced $planned tests, reported $((good + bad + skipped)) (exit status $status)"
elif [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
    why="exit status $status"
fi
[ -z "$why" ] || bad=$((bad + 1))
{
    [ "$bad" -eq 0 ] && verdict=PASS || verdict=FAIL
    echo "$verdict $name $good passed, $bad failed, $skipped skipped, $took s, $cpu cpu${why:+: $why}"
    if [ "$bad" -eq 0 ]; then
        grep -i '# skip' "$log"
    else
        sed 's/^/    /' "$log" | tail -n 200
    fi
} > "$log.report"
flock tests/one.sh cat "$log.report"
