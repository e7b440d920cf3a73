#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who includes whom, and who compares names of containers (tests/house.py); and planted faults are found.
. tests/tap.inc
if ! git ls-files > /dev/null 2>&1; then
    skip "no git checkout"
else
    succeeds "no arrow goes up or makes a circle, and no name is compared outside its table" python3 tests/house.py
    mkdir "$tmp/tree"
    git ls-files -z engine ops formats pipeline apps models tests/house.py tests/house.left | grep -zE '\.(c|h|inc|py|left)$' |
        tar --null -T - -cf - | tar -xf - -C "$tmp/tree"
    # planted WHAT FILE LINE
    planted() {
        (cd "$tmp/tree" && cp "$2" "$tmp/kept" && printf '%s\n' "$3" >> "$2" && python3 tests/house.py > "$tmp/log"
            status=$?
            cp "$tmp/kept" "$2"
            exit $status)
        same "found: $1" "$? $(grep -c "$4" "$tmp/log")" "1 1"
    }
    (cd "$tmp/tree" && git init -q . && git add -A) 2> /dev/null
    planted "an arrow up" engine/mona.h '#include "pipeline/video.h"' 'engine -> pipeline: up'
    planted "a circle" pipeline/stages/frame.h '#include "pipeline/image/alpha.h"' 'pipeline/stages -> pipeline/image: in a circle'
    planted "a name outside its table" apps/enhance/batch.c 'int f(const char *s) { return !strcmp(s, "matroska"); }' "compares a container's name"
    planted "a line that nothing needs" tests/house.left 'pipeline/image -> pipeline/io' 'gone; take it out'
fi
