#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A table of all real clips with input and output. In each row everything is the same, or the run is refused
# with a reason.
. tests/tap.inc

if [ -z "$clips" ] || [ -n "$SANITIZE" ]; then
    skip "the real clips are not here, or this build is too slow for them"
    exit 0
fi
python="python3 tests/e2e/media/survival.py"

# $1: clip, $2: output, $3: model. One row of the table.
row() {
    name="$(basename "$1") -> .${2##*.}"
    "$mona" enhance -y "$1" -o "$2" --stages sr --sr $3 --preset ultrafast 2> "$tmp/log" < /dev/null
    status=$?
    later=$(sed -n 's/.*everything is \([0-9.]*\) s later.*/\1/p' "$tmp/log")
    if [ $status -eq 0 ]; then
        $python "$1" "$2" $later > "$tmp/row"
        verdict=$?
        printf '# %-38s %s\n' "$name" "$(head -n 1 "$tmp/row" | awk -F '\t' "$shape")  0"
        # None of them has fields.
        grep interlaced "$tmp/log" >> "$tmp/row" && verdict=1
        if [ $verdict -eq 0 ]; then ok "$name"; else not_ok "$name" "$(tail -n +2 "$tmp/row")"; fi
    else
        printf '# %-38s refused: %s  %s\n' "$name" "$(tail -n 1 "$tmp/log")" "$status"
        same "$name: a reason, status 1, no file" "$(tail -n 1 "$tmp/log" | grep -c '^mona: .*\(hold\|expected\)') $status $([ -e "$2" ] && echo file)" "1 1 "
    fi
}

shape='{ printf "%-7s %-8s %-8s %-9s %-14s %-8s %-8s %-8s", $1, $2, $3, $4, $5, $6, $7, $8 }'
printf '# %-38s %s\n' clip "$($python | awk -F '\t' "$shape")  exit"
for clip in "$clips"/*; do
    case $clip in
    *.264 | *.y4m) suffixes="mp4 mkv" ;;
    *.mov) suffixes="mov mkv" ;;
    *.mkv) suffixes=mkv ;;
    *) suffixes="mp4 mkv" ;;
    esac
    model=sr_x2_fast_video
    for suffix in $suffixes; do
        rm -f "$tmp/out.$suffix"
        row "$clip" "$tmp/out.$suffix" $model
        model=bicubic_x2 # takes less time
    done
done
