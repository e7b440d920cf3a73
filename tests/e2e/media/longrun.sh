#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Long runs: killed and resumed, interrupted, and with as little memory at the end as at the start.
. tests/tap.inc

film 60 "$tmp/scene.y4m" 320x180
ffmpeg -v error -stream_loop 3 -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=9.6 -vf "scale=160:90,noise=alls=25:allf=t:all_seed=5" \
    -c:v libx264 -preset veryfast -crf 18 -bf 2 -pix_fmt yuv420p -c:a aac "$tmp/in.mp4"
total=240
[ -z "$SANITIZE" ] || total=40
options="--preset ultrafast --resume --segment 12 --frames $total --colour 0.8"

# What runs are compared by: every frame with its time, and the sound.
contents() {
    video_times "$1"
    frames_md5 "$1"
    packets_md5 "$1" a
}
resume() {
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/in.mp4" $options "$@" < /dev/null 2> "$tmp/log"
}

began=$(date +%s%N)
resume -o "$tmp/whole.mp4" || not_ok "a run with --resume" "$(cat "$tmp/log")"
whole=$((($(date +%s%N) - began) / 1000000))
contents "$tmp/whole.mp4" > "$tmp/wanted"
same "a run with --resume: every frame at its time" "$(video_times "$tmp/whole.mp4")" "$(video_times "$tmp/in.mp4" | head -n $total)"
same "what is compared is there" "$(wc -l < "$tmp/wanted")" $((2 * total + 1))
same "a run with --resume leaves nothing but the output" "$(find "$tmp" -name 'whole.mp4*')" "$tmp/whole.mp4"
same "the denoiser's estimate is in what is compared" "$(grep -q 'noise [1-9]' "$tmp/log" && echo yes)" yes

# ---- killed at random moments -------------------------------------------------------------------
# The seed is printed, so that a failure can be repeated.
seed=${SEED:-$(date +%s)}
kills=100
[ -z "$SANITIZE" ] || kills=4
echo "# SEED=$seed"
# Kills come within a third of the time of a whole run, so that it sometimes completes and starts again.
awk -v seed="$seed" -v n=$kills -v ms=$whole 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%.3f\n", 0.02 + rand() * ms / 3000 }' > "$tmp/moments"
killed=0
ends=0
while read -r moment <&3; do # not standard input, which FFmpeg's tools read as well
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/in.mp4" -o "$tmp/killed.mp4" $options --quiet < /dev/null 2>> "$tmp/killed.log" &
    job=$!
    sleep "$moment"
    kill -9 $job 2> /dev/null && killed=$((killed + 1))
    wait $job 2> /dev/null
    # A kill may also come after the output has its name and before the folder is removed.
    if [ -e "$tmp/killed.mp4" ] && [ ! -e "$tmp/killed.mp4.resume" ]; then
        contents "$tmp/killed.mp4" > "$tmp/found"
        cmp -s "$tmp/wanted" "$tmp/found" || not_ok "an output after kills equals the uninterrupted one" "it differs"
        rm -f "$tmp/killed.mp4"
        ends=$((ends + 1))
    fi
done 3< "$tmp/moments"
echo "# $killed kills, $ends ends on the way, then at segment $(find "$tmp/killed.mp4.resume" -name '0*' 2> /dev/null | wc -l) of $(((total + 11) / 12))"
resume -o "$tmp/killed.mp4" || not_ok "going on after kills" "$(cat "$tmp/log")"
contents "$tmp/killed.mp4" > "$tmp/found"
succeeds "killed at random moments: the output equals the uninterrupted one" cmp "$tmp/wanted" "$tmp/found"
nothing "no kill made mona say anything" "$(cat "$tmp/killed.log")"
same "nothing is left behind" "$(find "$tmp" -name 'killed.mp4*')" "$tmp/killed.mp4"

# ---- interrupted, torn, changed -----------------------------------------------------------------
# shellcheck disable=SC2086
"$mona" enhance "$tmp/in.mp4" -o "$tmp/int.mp4" $options --quiet < /dev/null 2> "$tmp/log" &
job=$!
waited=0
while [ $waited -lt 200 ] && [ ! -e "$tmp/int.mp4.resume/000001" ]; do # the first has been told
    sleep 0.02
    waited=$((waited + 1))
done
kill -TERM $job 2> /dev/null
wait $job
status=$?
if [ -e "$tmp/int.mp4" ]; then
    skip "the run ended before the signal came"
else
    done=$(sed -n 's/.*interrupted after \([0-9]*\) frames; the same command goes on.*/\1/p' "$tmp/log")
    same "a signal ends the run, tells of whole segments, status 143 and one line" \
        "$status $(wc -l < "$tmp/log") $((${done:-1} % 12)) $([ "${done:-0}" -ge 12 ] && echo some)" "143 1 0 some"
    # A segment without its end, which has no name yet.
    head -c 100 "$tmp/int.mp4.resume/000000" > "$tmp/int.mp4.resume/1-2.part"
    resume -o "$tmp/int.mp4" || not_ok "going on after a signal" "$(cat "$tmp/log")"
    same "it goes on after those frames" "$(grep -c "continues after $done frames" "$tmp/log")" 1
    contents "$tmp/int.mp4" > "$tmp/found"
    succeeds "half a segment: the output is the same" cmp "$tmp/wanted" "$tmp/found"
fi
# shellcheck disable=SC2086
"$mona" enhance "$tmp/in.mp4" -o "$tmp/two.mp4" $options --quiet < /dev/null 2> "$tmp/log" &
job=$!
waited=0
while [ $waited -lt 200 ] && [ ! -e "$tmp/two.mp4.resume/000000" ]; do
    sleep 0.02
    waited=$((waited + 1))
done
"$mona" enhance "$tmp/in.mp4" -o "$tmp/two.mp4" $options --quiet < /dev/null 2> "$tmp/second"
same "a second mona on the same work is refused" "$? $(grep -c 'another mona is working on it' "$tmp/second")" "1 1"
kill -INT $job 2> /dev/null
kill -TERM $job 2> /dev/null
wait $job
same "two signals end it at once and leave nothing under the name" "$? $([ -e "$tmp/two.mp4" ] && echo file)" "130 "
resume -o "$tmp/two.mp4" --crf 30
same "other options are not mixed in" "$? $(grep -c 'expected work on the same input with the same options' "$tmp/log")" "1 1"
if [ -s "$tmp/two.mp4.resume/000000" ]; then
    : > "$tmp/two.mp4.resume/000000"
fi
resume -o "$tmp/two.mp4" || not_ok "a segment that lost its bytes" "$(cat "$tmp/log")"
contents "$tmp/two.mp4" > "$tmp/found"
succeeds "a segment that lost its bytes is made again" cmp "$tmp/wanted" "$tmp/found"
"$mona" enhance "$tmp/in.mp4" -o - --resume > "$tmp/stdout" 2> "$tmp/log" < /dev/null
same "--resume into a pipe is refused" "$? $(grep -c -- '--resume: expected files' "$tmp/log")" "2 1"

# ---- memory -------------------------------------------------------------------------------------
if [ -n "$SANITIZE" ]; then
    skip "memory is not flat under sanitisers"
    exit 0
fi
resident() {
    awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2> /dev/null
}
frames=100000
mkfifo "$tmp/pipe"
ffmpeg -v error -f lavfi -i testsrc2=size=64x36:rate=25 -frames:v $frames -pix_fmt yuv420p -f yuv4mpegpipe -y "$tmp/pipe" < /dev/null &
"$mona" enhance - -o "$tmp/long.mkv" --preset ultrafast --progress json < "$tmp/pipe" 2> "$tmp/events" &
job=$!
while kill -0 $job 2> /dev/null; do
    at=$(tail -n 1 "$tmp/events" 2> /dev/null | sed -n 's/.*"frame":\([0-9]*\).*/\1/p')
    kb=$(resident $job)
    [ -n "$at" ] && [ -n "$kb" ] && echo "$at $kb"
    sleep 0.02
done > "$tmp/memory"
wait $job
same "$frames frames: none is lost" "$? $(ffprobe -v error -count_packets -select_streams v:0 -show_entries stream=nb_read_packets \
    -of csv=p=0 "$tmp/long.mkv")" "0 $frames"
# Closing takes 1 MB more for a moment, however long the film is: 1,000 frames or 30,000.
awk -v all=$frames '$1 >= 100 && !first { first = $2; at = $1 } $1 < all - 500 { last = $2; end = $1 } END { print first, at, last, end }' "$tmp/memory" > "$tmp/grown"
echo "# resident: $(awk '{ printf "%d KiB after %d frames, %d KiB after %d", $1, $2, $3, $4 }' "$tmp/grown")"
same "$frames frames: memory grows by less than 1 MB after the first 100" \
    "$(awk '{ print ($1 && $3 - $1 < 1000 && $4 > 50000 ? "yes" : $0) }' "$tmp/grown")" yes

# ---- a thousand files ---------------------------------------------------------------------------
mkdir "$tmp/many"
ffmpeg -v error -f lavfi -i testsrc2=s=16x12 -frames:v 1 "$tmp/one.png"
seq 1000 | while read -r i; do ln "$tmp/one.png" "$tmp/many/$i.png"; done
"$mona" enhance -y --quiet "$tmp/many" --out-dir "$tmp/made" -j 1 2> "$tmp/log" &
job=$!
while kill -0 $job 2> /dev/null; do
    echo "$(find "$tmp/made" -name '*.png' 2> /dev/null | wc -l) $(resident $job)"
    sleep 0.2
done > "$tmp/memory"
wait $job
same "1000 files: all are made" "$? $(find "$tmp/made" -name '*.png' | wc -l) $(grep -c '"done"' "$tmp/made/manifest.json")" "0 1000 1000"
awk '$1 >= 100 && !first { first = $2; at = $1 } NF == 2 { last = $2; end = $1 } END { print first, at, last, end }' "$tmp/memory" > "$tmp/grown"
echo "# resident: $(awk '{ printf "%d KiB after %d files, %d KiB after %d", $1, $2, $3, $4 }' "$tmp/grown")"
same "1000 files: memory grows by less than 1 MB after the first 100" \
    "$(awk '{ print ($1 && $3 - $1 < 1000 && $4 > 900 ? "yes" : $0) }' "$tmp/grown")" yes
