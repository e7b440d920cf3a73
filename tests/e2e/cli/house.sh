#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who includes whom, and who compares names of containers (tests/house.py); what docs/tour.md and comments name; and planted
# faults are found.
. tests/tap.inc
here=$PWD
if ! git ls-files > /dev/null 2>&1; then
    skip "no git checkout"
else
    succeeds "no arrow goes up or makes a circle, and no name is compared outside its table" python3 tests/house.py
    mkdir "$tmp/tree"
    git ls-files -z engine ops formats pipeline apps models tests/house.py | grep -zE '\.(c|h|inc|py)$' |
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
    planted "more of a folder than another takes" pipeline/video.h '#include "formats/compiler/compiler.h"' 'not what its folder may take'
    planted "a circle" pipeline/stages/frame.h '#include "pipeline/image/picture_planes.h"' 'pipeline/stages -> pipeline/image: in a circle'
    planted "a name outside its table" apps/enhance/batch.c 'int f(const char *s) { return !strcmp(s, "matroska"); }' "compares a container's name"
    succeeds "what docs/tour.md names is there" python3 tests/tour.py
    succeeds "what comments name is there, and they are within 100 columns" python3 tests/comments.py
    (cd "$tmp/tree" && mkdir -p docs && cp "$here/docs/tour.md" docs && cp "$here/Makefile" . && git add -A
        sed -i 's,pipeline/video.c,pipeline/film.c,' docs/tour.md && python3 "$here/tests/tour.py") > "$tmp/log"
    same "found: a file that is gone" "$? $(grep -c 'pipeline/film.c: there is no such file' "$tmp/log")" "1 1"
    (cd "$tmp/tree" && printf '/* See gone_away(). */\n' >> engine/mona.h && python3 "$here/tests/comments.py") > "$tmp/log"
    same "found: a name that is gone" "$? $(grep -c 'mona.h:.*no code has gone_away' "$tmp/log")" "1 1"
fi
