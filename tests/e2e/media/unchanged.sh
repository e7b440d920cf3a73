#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What stands still is not enlarged again: each frame comes out as it would alone, and repeated frames take
# almost no time.
. tests/tap.inc

# Four frames: a picture, the same with a piece of it moved, the same again, and the picture mirrored.
film 1 "$tmp/scene.y4m" 320x180
ffmpeg -v error -y -i "$tmp/scene.y4m" -filter_complex \
    "loop=3:1,setpts=N/25/TB,split[still][other];[other]crop=48:30,negate[piece];
     [still][piece]overlay=x=60:y=100:enable='between(n,1,2)',hflip=enable='eq(n,3)'" \
    -frames:v 4 -c:v ffv1 "$tmp/still.mkv"

# $1: input, rest: options. MD5 of every frame.
frames() {
    input=$1
    shift
    "$mona" enhance -y "$input" -o "$tmp/out.mkv" -c ffv1 --stages sr --quiet "$@" < /dev/null &&
        frames_md5 "$tmp/out.mkv"
}

# The same, with each frame in a run of its own.
alone() {
    for n in 0 1 2 3; do
        frames "$@" --start "$(awk "BEGIN { print $n * 0.04 }")" --frames 1
    done
}

# ---- the same bytes -------------------------------------------------------------------------------
alone "$tmp/still.mkv" > "$tmp/wanted"
same "four frames, of which three differ" "$(wc -l < "$tmp/wanted") $(sort -u "$tmp/wanted" | wc -l)" "4 3"
for options in "-j 1" "-j 2" "-j 2 --strip-rows 6" "--cpu c"; do
    # shellcheck disable=SC2086
    same "frames are what they are alone: $options" "$(frames "$tmp/still.mkv" $options)" "$(cat "$tmp/wanted")"
done
formats="yuva420p yuv420p,setrange=full" # FFV1 knows full range by its tag alone, not as yuvj420p
! full || formats="$formats gray yuv422p10le"
for format in $formats; do
    ffmpeg -v error -y -i "$tmp/still.mkv" -vf "crop=300:150,format=$format" -c:v ffv1 "$tmp/format.mkv"
    same "$format: frames are what they are alone" "$(frames "$tmp/format.mkv")" "$(alone "$tmp/format.mkv")"
done
same "a stage after another finds what the first one left as it was" \
    "$(frames "$tmp/still.mkv" --stages sr,sr --frames 2)" "$(alone "$tmp/still.mkv" --stages sr,sr | head -n 2)"

# ---- what it costs --------------------------------------------------------------------------------
sr_ms() { # $1: input
    "$mona" enhance -y "$1" -o "$tmp/out.mkv" -c ffv1 --stages sr --tier balanced --stats 2>&1 | awk '$1 == "sr" { print $2 }'
}
ffmpeg -v error -y -i "$tmp/scene.y4m" -vf "trim=end_frame=1,loop=15:1,setpts=N/25/TB" -c:v ffv1 "$tmp/held.mkv"
ffmpeg -v error -y -i "$tmp/held.mkv" -vf "noise=alls=20:allf=t" -c:v ffv1 "$tmp/noise.mkv"
# Other load can slow one of two runs; it does not slow the same one three times.
for _ in 1 2 3; do
    times=$(awk "BEGIN { print $(sr_ms "$tmp/noise.mkv") / $(sr_ms "$tmp/held.mkv") }")
    [ "${times%.*}" -lt 3 ] || break
done
at_least "held frames cost at most a third of new ones: times as fast" "$times" 3
