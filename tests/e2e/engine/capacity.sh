#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --capacity: how many streams a machine holds.
. tests/tap.inc

# $1: a name, $2: an expression of its figures
figure() {
    python3 -c 'import json, math, sys; print(eval(sys.argv[2], {"math": math}, json.load(open(sys.argv[1]))))' "$tmp/$1" "$2" 2>&1
}
# $1: a name, rest: options. The status is in $status.
capacity() {
    name=$1
    shift
    "$mona" bench --capacity --json "$@" > "$tmp/$name" 2> "$tmp/log"
    status=$?
}
sum="thousand['machines'] == math.ceil(1000 / streams)"
shown="confirmed['streams'] == streams and confirmed['holds'] and confirmed['p99_ms'] <= budget['ms'], over['streams'] == streams + math.ceil(streams / 5) and not over['holds']"

# ---- a modelled chip, whose time is exact -------------------------------------------------------
capacity chip --fps 25 --size 640x360 --budget p99=40ms --device model310
same "a chip: it is told" $status 0
same "the number is what the time of its frames allows" "$(figure chip 'streams == int(40 / frame_ms)')" True
same "it was shown" "$(figure chip "$shown")" "(True, True)"
same "as are the chips for a thousand, and what one is" "$(figure chip "thousand['chips'] == math.ceil(1000 / streams), name, size, fps, model, bound")" \
    "(True, 'model310', '640x360', 25, 'sr_x2_fast', 'network')"
capacity tight --fps 25 --size 640x360 --budget p99=5ms --device model310
same "a budget of two frames: fewer" "$(figure tight "0 < streams < $(figure chip streams)")" True
capacity none sr_x2_fast --fps 200 --size 1920x1080 --device model310
same "a chip that is too slow for one stream: status" $status 1
same "the budget was a frame's period" "$(figure none "streams, budget['ms'], 'thousand' in globals()" 2>&1)" "(0, 5, False)"
same "for people" "$("$mona" bench --capacity --size 640x360 --device model310 | grep -c -e '^model310: [0-9]* streams of 640x360, 25 frames a second, through sr_x2_fast, with p99 within 40 ms' \
    -e '^  thousand   1000 / [0-9]* = [0-9.]*: [0-9]* chips like this one')" 2

# ---- this machine -------------------------------------------------------------------------------
capacity slow --pipeline synthetic --size 64x48 --stages delay:120ms --duration 0.5 --fps 20
same "a pipeline that is too slow for one stream" "$status $(figure slow "streams, size, tier, over['frames'], over['holds']")" "1 (0, '64x48', 'fast', 10, False)"

fails "a clip that is none: one line" "missing.mp4: cannot be read" "$mona" bench --capacity --pipeline "$tmp/missing.mp4"
same "and one only" "$("$mona" bench --capacity --pipeline "$tmp/missing.mp4" 2>&1 | wc -l)" 1
fails "no percentile" "--budget: expected a time such as 40ms or p99=40ms, found 'q99=40ms'" "$mona" bench --capacity --budget q99=40ms
fails "no such percentile" "--budget: expected a time such as 40ms or p99=40ms, found 'p101=40ms'" "$mona" bench --capacity --budget p101=40ms
fails "no time" "--budget: expected a time" "$mona" bench --capacity --budget p99=40
fails "a pace without a camera" "--late works only with --live or --capacity" "$mona" bench sr_x2_fast --size 64x48 --late none
fails "a rate without frames to come" "--fps works only with --pipeline or --capacity" "$mona" bench sr_x2_fast --size 64x48 --fps 25
for option in "--streams 2" "--html $tmp/x.html" "--compare $tmp/chip" "-n 10" "--warmup 3" "--layers" "--trace $tmp/x"; do
    fails "not with ${option%% *}" "does not work with --capacity" "$mona" bench sr_x2_fast --size 64x48 --capacity $option
done
full || exit 0

# Streams large enough for a machine to hold few of them.
capacity network --size 1280x720 --fps 25 --budget p99=60ms --duration 5
same "the network: it is told" "$status" 0
same "it was shown" "$(figure network "$shown")" "(True, True)"
same "as are the machines for a thousand, and what bounds it" "$(figure network "$sum, bound, size, model, name")" "(True, 'network', '1280x720', 'sr_x2_fast', '$(uname -n)')"
same "CPU time and memory are told" "$(figure network "cpu_ms['network'] > 1, 0 < stream_bytes < 2e7 < free_bytes")" "(True, True)"
film 60 "$tmp/film.y4m" 320x180
ffmpeg -v error -i "$tmp/film.y4m" -c:v libx264 -bf 0 -pix_fmt yuv420p "$tmp/film.mp4"
capacity pipeline --pipeline "$tmp/film.mp4" --fps 25 --budget p95=80ms --duration 5 --stages sr
same "pipelines: it is told" "$status" 0
same "it was shown" "$(figure pipeline "confirmed['holds'], over['streams'] == streams + math.ceil(streams / 5) and not over['holds']")" "(True, True)"
same "what they are" "$(figure pipeline "$sum, size, tier, networks, bound in ('network', 'encode'), cpu_ms['encode'] > 1, 5e6 < stream_bytes")" \
    "(True, '320x180', 'fast', 'sr_x2_fast_video', True, True, True)"
