#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each call of mona and of libc, in eight short runs, to the system, to libc and to FFmpeg fails once: the run ends with
# its result, or with one line, status 1 and nothing left behind. The power goes before each call that changes what the
# disk holds, and the next run makes the same result. The short tier tries a sample, the full one all of them.
. tests/tap.inc
. tests/e2e/media/fault_points.inc

same "the list of faults has every function of FFmpeg that mona calls" "$({
    nm -D --undefined-only "$mona" "$BUILD/libmonavideo.so" | sed 's/@.*//' | awk '$1 == "U" && $2 ~ /^(av|sws|swr)/ { print $2 }'
    find "$BUILD" -name on_demand.inc -exec sed -n 's/^FUNCTION(\([a-z0-9_A-Z]*\),.*/\1/p' {} +
} | sort -u | while read -r name; do grep -qE "\\($name[,)]|^int $name\\(" tests/e2e/media/fault_calls.inc tests/e2e/media/faults.c || echo "$name"; done) done" " done"

# $1: run, $2: of the disks that the power may leave, every how manieth is tried
power() {
    MONA=$mona PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/media/power_loss.py "$tmp" "$2" "$1" > "$tmp/found" 2>&1
    same "power that goes, $1: $(sed -n 's/^moments //p' "$tmp/found") that it may leave" "$? $(grep -v '^moments' "$tmp/found")" "0 "
}
if full; then
    power resume 1
    power film 1
    points program 1
    points program 1 hevc:thread av1:thread
    points libc 1
else
    power resume 8
    points program 3 hevc:thread
    points program 20 av1:thread
    points program 48 film still live resume batch compile library
fi
