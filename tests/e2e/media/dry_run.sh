#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona enhance --dry-run: prints the plan that the run would follow, and writes nothing.
. tests/tap.inc
mkdir "$tmp/scratch"
export TMPDIR="$tmp/scratch"

film 20 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=d=1 -map 0 -map 1 -vf scale=160:90 -c:v libx264 -pix_fmt yuv420p \
    -c:a aac -metadata:s:a language=deu "$tmp/clip.mp4"
ffmpeg -v error -i "$tmp/clip.mp4" -frames:v 5 -vf scale=40:30 -c:v libx264 "$tmp/small.mp4" -frames:v 1 -vf scale=40:30 "$tmp/a.png"
succeeds "a plan is made" sh -c "'$mona' enhance '$tmp/clip.mp4' -o '$tmp/out.mkv' --preset ultrafast --dry-run --json > '$tmp/plan'"
"$mona" enhance "$tmp/clip.mp4" -o "$tmp/real.mkv" --preset ultrafast --progress json 2> "$tmp/lines"
same "it is that of the run" "$(python3 - "$tmp/plan" "$tmp/lines" <<'PYTHON'
import json, sys
plan = json.load(open(sys.argv[1]))
begin = next(e for e in map(json.loads, open(sys.argv[2])) if e['event'] == 'begin')
assert (plan['input']['width'], plan['input']['height']) == (begin['in_width'], begin['in_height']) == (160, 90)
assert (plan['output']['width'], plan['output']['height']) == (begin['out_width'], begin['out_height']) == (320, 180)
assert plan['memory']['engine_bytes'] == begin['engine_bytes'] and plan['memory']['frame_bytes'] == begin['frame_bytes']
assert plan['options'] == {'preset': 'ultrafast'}, plan['options']
assert plan['speed']['expected_frames'] == begin['expected'] == 20
assert [(s['stage'], s['from'], s['to']) for s in plan['stages']] == [
    ('denoise', '160x90', '160x90'), ('sr', '160x90', '320x180')], plan['stages']
assert all(s['ms'] > 0 for s in plan['stages'])
speed = plan['speed']
assert 4 <= speed['measured_frames'] <= 20 and speed['fps'] > 0
assert abs(speed['estimated_seconds'] * speed['fps'] - 20) < 1e-6
assert [(s['kind'], s['codec'], s['language'], s['what']) for s in plan['streams']] == [
    ('video', 'h264', 'und', 'enhanced'), ('audio', 'aac', 'deu', 'copied')], plan['streams']
print('the same')
PYTHON
)" "the same"
nothing "the output is not there" "$(ls "$tmp/out.mkv" 2> /dev/null)"
nothing "no temporary folder is left" "$(ls "$tmp/scratch")"
"$mona" enhance "$tmp/small.mp4" -o "$tmp/out.mp4" --stages sr,sr --dry-run > "$tmp/text"
same "it is readable" "$(grep -cE '^  sr +sr_x2_fast_video +80x60 +160x120|measured on this machine|^  5 frames would take about|copied' "$tmp/text")" 4
printf '1\n00:00:00,000 --> 00:00:01,000\nhello\n' > "$tmp/a.srt"
ffmpeg -v error -i "$tmp/clip.mp4" -i "$tmp/a.srt" -map 0 -map 1 -c copy -c:s srt "$tmp/subs.mkv"
"$mona" enhance "$tmp/subs.mkv" -o "$tmp/out.ts" --dry-run > /dev/null 2> "$tmp/log"
same "what the run would refuse, the plan refuses" "$? $(grep -c "^mona: $tmp/out.ts: mpegts cannot hold" "$tmp/log")" "1 1"
same "or says what is left out" "$("$mona" enhance "$tmp/subs.mkv" -o "$tmp/out.ts" --drop-unsupported --dry-run 2> /dev/null | grep -c 'subrip.*left out')" 1
same "pictures have plans too" "$("$mona" enhance "$tmp/a.png" -o "$tmp/b.png" --dry-run | grep -cE '40x30 +80x60|1 frame of this')" 2
"$mona" enhance - -o "$tmp/out.mp4" --dry-run < /dev/null 2> "$tmp/log"
same "standard input has none" "$? $(grep -c 'need files' "$tmp/log")" "2 1"
nothing "nothing was left behind" "$(ls "$tmp/scratch" "$tmp/b.png" "$tmp/out.mp4" 2> /dev/null | grep -v :)"

# ---- the size of the result -------------------------------------------------------------------------
ffmpeg -v error -stream_loop 19 -i "$tmp/scene.y4m" -f lavfi -i sine=d=16 -map 0 -map 1 -vf scale=64:36 -c:v libx264 \
    -pix_fmt yuv420p -c:a aac -shortest "$tmp/long.mp4"
# $1: input, $2: output, rest: options. The plan's bytes over the result's.
guess() {
    in=$1 out=$2
    shift 2
    "$mona" enhance "$in" -o "$out" "$@" --dry-run --json > "$tmp/plan" && "$mona" enhance -y "$in" -o "$out" "$@" --quiet &&
        python3 -c 'import json, os, sys; print(json.load(open(sys.argv[1]))["output"]["estimated_bytes"] / os.stat(sys.argv[2]).st_size)' \
            "$tmp/plan" "$out"
}
same "the size of a film that the trial encoded whole" "$(guess "$tmp/small.mp4" "$tmp/size.mkv")" 1.0
same "and of a picture" "$(guess "$tmp/a.png" "$tmp/size.png")" 1.0
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 -vf scale=960:720 "$tmp/large.png"
found=$(guess "$tmp/large.png" "$tmp/size.png" --stages sr)
same "of a large picture about ($found)" "$(echo "$found" | awk '{ print ($1 > 0.6 && $1 < 1.6) }')" 1
found=$(guess "$tmp/long.mp4" "$tmp/size.y4m" --drop-unsupported)
same "raw frames have one size" "$(echo "$found" | awk '{ printf "%.3f", $1 }')" 1.000
for suffix in mp4 mkv; do
    found=$(guess "$tmp/long.mp4" "$tmp/size.$suffix")
    same "the size of a longer film in .$suffix, nearly ($found)" "$(echo "$found" | awk '{ print ($1 > 0.6 && $1 < 1.6 ? "yes" : "no") }')" yes
done
"$mona" enhance "$tmp/long.mp4" -o "$tmp/size.mp4" --dry-run > "$tmp/text"
same "it is rounded" "$(grep -cE '^size: about [0-9.]{2,3}0? kB, scaled up from [0-9]+ encoded frames; may be off by a third' "$tmp/text")" 1

# ---- its memory ------------------------------------------------------------------------------------
# Encoders hold more frames back than the trial has, and a large picture is measured by a part of it.
# $1: input, rest: options. What the plan says over what the run takes.
memory() {
    "$mona" enhance "$@" --dry-run --json > "$tmp/plan"
    python3 - "$tmp/plan" "$mona" enhance -y "$@" --quiet <<'PYTHON'
import json, resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
taken = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.load(open(sys.argv[1]))['memory']['process_bytes'] / taken)
PYTHON
}
if [ -n "$SANITIZE" ]; then
    skip "sanitisers take memory of their own"
else
    ffmpeg -v error -stream_loop 3 -i "$tmp/scene.y4m" -vf scale=320:180 -c:v libx264 -pix_fmt yuv420p "$tmp/held.mp4"
    found=$(memory "$tmp/held.mp4" -o "$tmp/size.mp4")
    same "the memory of 80 frames ($found)" "$(echo "$found" | awk '{ print ($1 >= 1 && $1 <= 1.3) }')" 1
    if full; then
        ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 -vf scale=1200:900,noise=alls=9,format=rgb48be "$tmp/deep.png"
        found=$(memory "$tmp/deep.png" -o "$tmp/size.png")
        same "and of a large picture ($found)" "$(echo "$found" | awk '{ print ($1 >= 1 && $1 <= 1.3) }')" 1
    fi
    ffmpeg -v error -f lavfi -i testsrc2=s=1200x900 -frames:v 1 "$tmp/drawn.jpg"
    found=$(memory "$tmp/drawn.jpg" -o "$tmp/size.webp")
    same "and of a drawn one as WebP ($found)" "$(echo "$found" | awk '{ print ($1 >= 1 && $1 <= 1.3) }')" 1
    # A program that starts another by vfork shares its memory with it until then.
    same "what started the process does not count" "$(python3 - "$mona" enhance "$tmp/held.mp4" -o "$tmp/size.mp4" --dry-run --json <<'PYTHON'
import json, subprocess, sys
plan = lambda: json.loads(subprocess.run(sys.argv[1:], capture_output=True).stdout)['memory']['process_bytes']
alone = plan()
held = b'\1' * (500 << 20)
print(plan() < 1.2 * alone)
PYTHON
)" True
fi

# ---- the letters that users of other upscalers know -------------------------------------------------
plan() {
    "$mona" enhance "$@" --dry-run --json | python3 -c 'import json, sys; p = json.load(sys.stdin)
print(*[s["stage"] for s in p["stages"]], p["output"]["width"])'
}
same "-s 4 doubles twice" "$(plan "$tmp/small.mp4" -o "$tmp/out.mp4" -s 4)" "denoise sr sr 160"
same "-s 1 only denoises" "$(plan "$tmp/small.mp4" -o "$tmp/out.mp4" -s 1)" "denoise 40"
same "-s 4 of a picture takes one network" "$(plan "$tmp/a.png" -o "$tmp/b.png" -s 4)" "denoise sr 160"
for case in small.mp4:OUT.mp4 a.png:OUT.png; do
    same "without -o, the plan is that of a file of the kind of ${case%:*}" \
        "$("$mona" enhance "$tmp/${case%:*}" --dry-run | sed -n 's/^\(OUT.*\): [0-9]*x.*/\1/p')" "${case#*:}"
done
same "-i, -o, -t and -v" "$("$mona" enhance -i "$tmp/a.png" -o "$tmp/b.png" -t 1 -v --quiet; echo $?)" 0
# $1: -j. Prints the largest number of threads in the process; decoder, stages, pool and encoder add theirs.
threads_of() {
    "$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/threads.mp4" --quiet --cpu c -s 4 --frames 8 -j "$1" &
    job=$!
    most=0
    while [ -d /proc/$job/task ]; do
        now=$(ls /proc/$job/task 2> /dev/null | wc -l)
        [ "$now" -le $most ] || most=$now
        sleep 0.02
    done
    wait $job && echo $most
}
if full; then
    few=$(threads_of 1:1:1)
    many=$(threads_of 8:1:8)
    echo "# threads: $few with -j 1:1:1, $many with -j 8:1:8"
    same "-j sets the threads of decoder and encoder" "$((many >= few + 12))" 1
fi
for wrong in $(! full || echo 1:2:3:4 65 -1) 1:2 1:x:1; do
    "$mona" enhance "$tmp/clip.mp4" -o "$tmp/out.mp4" -j $wrong 2> "$tmp/log"
    same "-j $wrong is refused" "$? $(grep -c -- '^mona: --threads: expected' "$tmp/log")" "2 1"
done

# ---- scales and tiers ---------------------------------------------------------------------------------
same "-s is what sr of --stages enlarges by" "$(plan "$tmp/small.mp4" -o "$tmp/out.mp4" -s 4 --stages denoise,sr)" "denoise sr sr 160"
# $1: the expected networks, rest: options.
networks() {
    wanted=$1
    shift
    same "the networks of $*" "$("$mona" enhance "$tmp/a.png" -o "$tmp/b.png" --dry-run --json "$@" |
        python3 -c 'import json, sys; print(*[s["model"] for s in json.load(sys.stdin)["stages"]])')" "$wanted"
}
# $1: task, rest: tiers from the wanted one downwards. Prints the first one for which there is a built-in
# network.
inside() {
    task=$1
    shift
    for tier in "$@"; do
        [ ! -e "models/${task}_$tier.mona" ] || { echo "${task}_$tier"; return; }
    done
}
networks "denoise_balanced $(inside sr_x2 best balanced fast)" --tier best
networks "denoise_fast_video sr_x2_fast_video" --content video
networks "denoise_balanced_video sr_x2_best_video" --content video --tier best
networks "denoise_fast_video sr_x3_fast" --content video -s 3
networks "denoise_fast sr_x2_fast_anime" --content anime
networks "denoise_balanced $(inside sr_x2 best_anime balanced_anime fast_anime)" --content anime --tier best
networks "denoise_fast sr_x3_fast" --content anime -s 3
same "drawn film is denoised as film is, and enlarged by the networks for it" "$("$mona" enhance "$tmp/small.mp4" -o "$tmp/out.mp4" --dry-run --json \
    --content anime | python3 -c 'import json, sys; print(*[s["model"] for s in json.load(sys.stdin)["stages"]])')" \
    "denoise_fast_video sr_x2_fast_anime"
networks "denoise_balanced sr_x3_balanced sr_x4_balanced" -s 12 --tier balanced
networks "denoise_balanced sr_x2_best" --stages denoise,sr --denoise denoise_balanced --sr sr_x2_best
if full; then
    networks "sr_x2_balanced $(inside denoise balanced fast)" --tier balanced --stages sr,denoise
    networks "denoise_fast sr_x3_fast" -s 3
    networks "denoise_balanced sr_x2_balanced sr_x3_balanced" -s 6 --tier balanced
    networks "denoise_balanced sr_x4_balanced" -s 4 --tier balanced
    networks "denoise_fast sr_x4_fast" -s 4
fi
for scale in 3 4; do
    "$BUILD/neutral" "$tmp/x$scale.onnx" $scale
    "$mona" compile "$tmp/x$scale.onnx" --picture -o "$tmp/x$scale.mona" --calibrate "$tmp/a.png" > /dev/null
done
same "three times by a network for it" "$(plan "$tmp/a.png" -o "$tmp/b.png" --sr "$tmp/x3.mona")" "denoise sr 120"
same "and nine times" "$(plan "$tmp/a.png" -o "$tmp/b.png" --sr "$tmp/x3.mona" -s 9)" "denoise sr sr 360"
same "four times" "$(plan "$tmp/small.mp4" -o "$tmp/out.mp4" --sr "$tmp/x4.mona" -s 4)" "denoise sr 160"
# $1: name, $2: what the one line must contain, rest: options.
refused() {
    name=$1
    line=$2
    shift 2
    "$mona" enhance "$tmp/a.png" -o "$tmp/b.png" --dry-run "$@" > /dev/null 2> "$tmp/log"
    same "$name is refused" "$([ $? -ne 0 ] && grep -c -- "^mona: .*$line" "$tmp/log") of $(wc -l < "$tmp/log")" "1 of 1"
}
same "six times by one for three: nine, then reduced" "$(plan "$tmp/a.png" -o "$tmp/b.png" --sr "$tmp/x3.mona" -s 6)" "denoise sr sr resize 240"
refused "more stages than there may be" "up to 6 stages" -s 8 --stages sr,sr,sr,sr
refused "a list that does nothing" "leaves nothing to do" -s 1 --stages sr
