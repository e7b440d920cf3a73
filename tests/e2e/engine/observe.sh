#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cost of observing operators: nothing without an observer, and very little with one.
. tests/tap.inc

# The functions of an object, one per line: the number of instructions and a checksum of them. Calls are given
# by name, since the distance to other functions is not part of the code.
functions() {
    objdump -dr --no-addresses --no-show-raw-insn "$1" | python3 -c "
import sys, zlib
code, name = {}, None
for line in sys.stdin:
    if line.startswith('<') and line.rstrip().endswith('>:'):
        name = line.strip()[1:-2]
        code[name] = []
    elif name and line.strip() and not line.startswith('Disassembly'):
        code[name].append(line.split())
for name, lines in code.items():
    print(name, len(lines), zlib.crc32(repr(lines).encode()))" | sort
}

if [ -n "$SANITIZE" ]; then
    skip "sanitised code is another; the code is compared in the plain builds"
else
    functions "$BUILD/engine/run/session.o" > "$tmp/with"
    functions "$BUILD/unobserved/engine/run/session.o" > "$tmp/without"
    for f in mona_session_run_rows mona_session_call mona_session_point_at mona_session_run_strip mona_session_run_map \
            mona_session_row; do
        line=$(grep "^$f " "$tmp/with")
        same "$f is the same code in a library without observers" "${line:-none}" "$(grep "^$f " "$tmp/without")"
    done
    at_least "these make rows, and are not small" \
        "$(awk '/^mona_session_(run_rows|call|point_at) / { n += $2 } END { print n }' "$tmp/with")" 300
    same "no kernel sees a session" "$(cat $(find "$BUILD/ops" -name "*.d") "$BUILD"/engine/cpu/*/*.d | grep -c 'session')" 0
    same "a program that observes nothing is linked without the code" \
        "$(nm "$BUILD/firmware" | grep -cE '_observed$|mona_session_observe_ops')" 0
    same "one that does has it" "$(nm "$mona" | grep -cE '_observed$|mona_session_observe_ops')" 3
fi
"$BUILD/firmware" "$tmp/in.pgm" "$tmp/a.pgm" > "$tmp/log" 2>&1
succeeds "the library without observers works" "$BUILD/unobserved/firmware" "$tmp/in.pgm" "$tmp/b.pgm"
succeeds "and makes the same picture" cmp "$tmp/a.pgm" "$tmp/b.pgm"

if [ -z "$SANITIZE" ]; then
    # Processor time of the cheapest tenth of frames, observed and plain in turns; a busy machine may spoil an
    # attempt.
    for attempt in 1 2 3; do
        cost=$($mona bench sr_x2_fast --size 960x540 -j 1 -n 20 --layers --json |
            python3 -c "import json, sys; print(100 * json.load(sys.stdin)['observing'])")
        echo "# observed frames take $cost % more processor time"
        cheap=$(echo "$cost" | awk '{ print ($1 < 1) }')
        [ "$cheap" = 1 ] && break
    done
    same "observing every operator costs less than 1 % (attempt $attempt)" "$cheap" 1
fi
