#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --pipeline --live: frames are accounted for, waits of the source and of a slow stage show in the figures,
# and no frame is later than the stated bound.
. tests/tap.inc

# Runs it: $1 a name, rest: options. The result is in $tmp/NAME.
bench() {
    name=$1
    shift
    "$mona" bench --pipeline synthetic --size 64x48 --live --warmup 60 --json --max-delay 0.05 "$@" > "$tmp/$name" 2> "$tmp/log" ||
        not_ok "bench $*" "$(cat "$tmp/log")"
}
# $1: a name, $2: an expression of its figures
figure() {
    python3 -c 'import json, sys; print(eval(sys.argv[2], {}, json.load(open(sys.argv[1]))))' "$tmp/$1" "$2" 2>&1
}

bench calm -n 40 --fps 20 --jitter none --late none --burst none --stages delay:1ms
same "every frame is accounted for" "$(figure calm 'arrived - frames - dropped, arrived')" "(0, 100)"
# The first two seconds go by while the stream is examined and what came meanwhile is caught up with.
same "on an idle machine none is left out" "$(figure calm dropped)" 0
# A frame that waited for the next one would take 50 ms.
at_least "no frame waits for a later one: ms below the period" "$(figure calm '50 - p50_ms')" 10

# A stage of 120 ms at 20 frames a second: 3 frames under way, and one that waits for room.
bench slow -n 60 --fps 20 --jitter none --late none --burst none --stages delay:120ms
same "too slow: frames are accounted for" "$(figure slow 'arrived - frames - dropped')" 0
at_least "and left out" "$(figure slow dropped)" 25
at_least "no frame is later than --max-delay and four frames: ms below, with 60 ms for the machine" \
    "$(figure slow '50 + 4 * 120 + 60 - max_ms')" 0

bench rough -n 60 --fps 20 --jitter 10ms --late 200ms@20 --burst 4@30 --stages delay:20ms
same "late frames and bursts: accounted for" "$(figure rough 'arrived - frames - dropped')" 0
# The last of four at once waits for three others.
at_least "a burst shows in the latency, ms" "$(figure rough max_ms)" 45
same "the pace is told" "$(figure rough 'late_ms, late_every, burst, burst_every, source_fps')" "(200, 20, 4, 30, 20)"
same "a budget gets its verdict" "$("$mona" bench --pipeline synthetic --size 64x48 --live -n 30 --fps 60 --warmup 2 --late none --burst none --budget 10s |
    grep -c PASS)" 1

fails "--live alone" "--live works only with --pipeline" "$mona" bench --live
fails "an option of the pipeline without one" "--strength works only with --pipeline" "$mona" bench sr_x2_fast --strength 0.3
fails "a burst of one" "expected 2@N to N@N" "$mona" bench --pipeline synthetic --live --burst 1@4
fails "no number of frames" "--late: expected none or" "$mona" bench --pipeline synthetic --live --late 5ms
fails "no clip" "cannot be read" "$mona" bench --pipeline "$tmp/none.mkv" --live
