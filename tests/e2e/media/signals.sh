#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Told to end, mona ends within a second wherever it is, with the right status, and leaves nothing.
# TIER=full: at 50 random moments, else at 6. SEED=N: at the same moments again.
. tests/tap.inc

"$scene" 60 "$tmp/scene.y4m"
ffmpeg -v error -stream_loop 2 -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=6 -vf scale=320:180 -c:v libx264 \
    -preset ultrafast -pix_fmt yuv420p -c:a aac "$tmp/in.mp4"
[ "${TIER:-short}" = full ] && moments=50 || moments=6
python3 tests/e2e/media/signals.py "$mona" "$tmp" $moments
tests=$((16 + moments))

# ---- what dead runs have left ---------------------------------------------------------------------
part="$tmp/dead.mkv.mona.part"
# Starts a run that has made its part when this returns.
start() {
    "$mona" enhance "$tmp/in.mp4" -o "$tmp/dead.mkv" --preset ultrafast --quiet < /dev/null 2> "$tmp/log" &
    job=$!
    waited=0
    while [ $waited -lt 600 ] && { [ ! -e "$part" ] || grep -qx dead "$part"; }; do
        sleep 0.05
        waited=$((waited + 1))
    done
}
start
kill -9 $job
wait $job 2> /dev/null
same "a run that is killed leaves its part" "$(find "$tmp" -name 'dead.mkv*')" "$part"
echo dead > "$part"
start
kill -STOP $job
"$mona" enhance "$tmp/in.mp4" -o "$tmp/dead.mkv" --frames 3 --preset ultrafast --quiet < /dev/null 2> "$tmp/second"
same "a second run on the same output leaves the first one's part alone" "$? $(cat "$tmp/second") $([ -e "$part" ] && echo there)" "0  there"
kill -CONT $job
wait $job
same "both end well, and what the dead one left is gone" "$? $(find "$tmp" -name 'dead.mkv*')" "0 $tmp/dead.mkv"
same "the later one's result stays" "$(video_times "$tmp/dead.mkv" | wc -l)" "$(video_times "$tmp/in.mp4" | wc -l)"
