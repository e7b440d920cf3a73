#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Denoised film is steadied with the frame before where it stands still, and nowhere else, and so flickers less.
. tests/tap.inc

# 8 frames of a still picture, then of another one, each frame with its own noise.
film 1 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=160:90,loop=7:1,setpts=N/25/TB,format=yuv420p" -frames:v 8 -c:v ffv1 "$tmp/clean.mkv"
ffmpeg -v error -i "$tmp/clean.mkv" -vf noise=alls=34:allf=t:all_seed=1 -c:v ffv1 "$tmp/one.mkv" \
    -vf noise=alls=34:allf=t:all_seed=1,negate,hflip -c:v ffv1 "$tmp/two.mkv"
printf 'file one.mkv\nfile two.mkv\n' > "$tmp/list"
ffmpeg -v error -y -f concat -i "$tmp/list" -c copy "$tmp/cut.mkv"

# $1: input, rest: options. MD5 of every frame.
frames() {
    input=$1
    shift
    "$mona" enhance -y "$input" -o "$tmp/out.mkv" -c ffv1 --stages denoise --strength 0.4 --quiet "$@" < /dev/null &&
        frames_md5 "$tmp/out.mkv"
}

# ---- state ----------------------------------------------------------------------------------------
frames "$tmp/one.mkv" > "$tmp/wanted"
same "eight frames" "$(wc -l < "$tmp/wanted")" 8
frames "$tmp/one.mkv" --start 0.04 > "$tmp/later"
same "the first frame has none before it: later ones differ from what they are when the clip begins with them" \
    "$(paste -d ' ' "$tmp/later" "$tmp/wanted" | awk 'NR == 1 { first = $1 } NR == 2 { print first != $2 }')" 1
if full; then
    same "without the frame before each is on its own" "$(frames "$tmp/one.mkv" --temporal off --start 0.04)" \
        "$(frames "$tmp/one.mkv" --temporal off | tail -n 7)"
fi
frames "$tmp/two.mkv" > "$tmp/second"
same "after a cut everything is as in a clip that begins there" "$(frames "$tmp/cut.mkv")" "$(cat "$tmp/wanted" "$tmp/second")"
if full; then
    same "a segment of --resume is steadied by the two frames before it" \
        "$(frames "$tmp/one.mkv" --resume --segment 4 | sed -n 5,8p)" "$(frames "$tmp/one.mkv" --start 0.08 | sed -n 3,6p)"
    same "a second stage is steadied by its own last frame" \
        "$("$mona" enhance "$tmp/one.mkv" -o "$tmp/twice.mkv" -c ffv1 --stages denoise,denoise --strength 0.4 --quiet && frames_md5 "$tmp/twice.mkv")" \
        "$("$mona" enhance "$tmp/one.mkv" -o "$tmp/once.mkv" -c ffv1 --stages denoise --strength 0.4 --quiet && frames "$tmp/once.mkv")"
fi

# ---- the same bytes -------------------------------------------------------------------------------
# $1: input, rest: options. Checksum of all frames.
bytes() {
    input=$1
    shift
    rm -f "$tmp/out.y4m"
    "$mona" enhance "$input" -o "$tmp/out.y4m" --stages denoise --strength 0.4 --quiet "$@" < /dev/null && cksum < "$tmp/out.y4m"
}
wanted=$(bytes "$tmp/one.mkv")
for options in "-j 2 --strip-rows 4" "--cpu c" $(! full || echo "-j:1" "--device:model310"); do
    options=$(echo "$options" | tr : ' ')
    # shellcheck disable=SC2086
    same "the same bytes with $options" "$(bytes "$tmp/one.mkv" $options)" "$wanted"
done
for format in $(! full || echo yuv444p gray) yuv420p10le; do
    ffmpeg -v error -y -i "$tmp/one.mkv" -frames:v 3 -vf "crop=74:50,format=$format" -c:v ffv1 "$tmp/format.mkv"
    same "$format: the same bytes with another strip and one thread" "$(frames "$tmp/format.mkv" -j 1 --strip-rows 4)" "$(frames "$tmp/format.mkv")"
done

# ---- flicker --------------------------------------------------------------------------------------
flicker() { # $1: clip, $2: original
    "$mona" compare "${2:-$tmp/clean.mkv}" "$1" | sed -n '/^plane *flicker/,$p' | awk '$1 == "y" { print $2 }'
}
for temporal in on off; do
    "$mona" enhance "$tmp/one.mkv" -o "$tmp/$temporal.mkv" -c ffv1 --stages denoise --temporal $temporal --quiet
done
of_input=$(flicker "$tmp/one.mkv") of_single=$(flicker "$tmp/off.mkv") of_steady=$(flicker "$tmp/on.mkv")
echo "# flicker of luma: input $of_input, one frame at a time $of_single, steadied $of_steady"
at_least "times less flicker than frame by frame" "$(awk "BEGIN { print $of_single / $of_steady }")" 1.25
at_least "times less flicker than the input" "$(awk "BEGIN { print $of_input / $of_steady }")" 2
at_least "dB of luma gained on frame by frame" \
    "$(awk "BEGIN { print $(psnr_y "$tmp/on.mkv" "$tmp/clean.mkv") - $(psnr_y "$tmp/off.mkv" "$tmp/clean.mkv") }")" 0.2
# What compression left flickers too, whether the decoder tells how much it was or not. Beside Lanczos, which keeps about
# as much detail: the softer a filter is, the less it flickers (at CRF 28 of the real clip: bilinear 0.189, bicubic 0.214,
# Lanczos 0.222).
steadier() { # $1: of what, which $tmp/moving.y4m is
    for coding in "libx264 -crf 18" "libx264 -crf 28" "libx265 -crf 28 -x265-params log-level=none"; do
        # shellcheck disable=SC2086
        ffmpeg -v error -y -i "$tmp/moving.y4m" -vf scale=iw/2:ih/2:flags=bicubic -c:v $coding "$tmp/coded.mkv"
        ffmpeg -v error -y -i "$tmp/coded.mkv" -vf scale=iw*2:ih*2:flags=lanczos -c:v ffv1 "$tmp/lanczos.mkv"
        "$mona" enhance -y "$tmp/coded.mkv" -o "$tmp/doubled.mkv" -c ffv1 --quiet
        at_least "$1, ${coding%% -x265*}: times less flicker than by Lanczos interpolation" \
            "$(awk "BEGIN { print $(flicker "$tmp/lanczos.mkv" "$tmp/moving.y4m") / $(flicker "$tmp/doubled.mkv" "$tmp/moving.y4m") }")" 1
    done
}
film 8 "$tmp/moving.y4m" 640x360
steadier "the scene"
if ! full; then
    : # one film
elif [ -n "$clips" ]; then
    ffmpeg -v error -y -i "$clips/bunny_720p_audio.mp4" -frames:v 8 -map 0:v -vf "crop=640:352,format=yuv420p" "$tmp/moving.y4m"
    steadier "a real clip"
else
    skip "the real clips are not here"
fi

# ---- what is said ---------------------------------------------------------------------------------
plan() {
    "$mona" enhance "$tmp/one.mkv" -o "$tmp/plan.mkv" --stages denoise --dry-run --json "$@" | tr -d ' \t\n'
}
engine_bytes() {
    echo "$1" | sed 's/.*"engine_bytes":\([0-9]*\).*/\1/'
}
steady=$(plan) single=$(plan --temporal off)
same "--dry-run tells" "$(echo "$steady" | grep -c '"steady":true') $(echo "$single" | grep -c '"steady":false')" "1 1"
at_least "bytes of memory more, which are in the plan" "$(($(engine_bytes "$steady") - $(engine_bytes "$single")))" $((20 * 12 * 12))
"$mona" enhance "$tmp/one.mkv" -o "$tmp/other.mkv" -c ffv1 --stages denoise --cpu c --resume --segment 2 --quiet &
job=$!
waited=0
while [ $waited -lt 200 ] && [ ! -e "$tmp/other.mkv.resume/000000" ]; do
    sleep 0.02
    waited=$((waited + 1))
done
kill -9 $job 2> /dev/null
wait $job 2> /dev/null
if [ -e "$tmp/other.mkv" ]; then
    skip "the run ended before it was killed"
else
    fails "what was begun steadied does not go on otherwise" "expected work on the same input with the same options" \
        "$mona" enhance "$tmp/one.mkv" -o "$tmp/other.mkv" -c ffv1 --stages denoise --resume --segment 2 --temporal off --quiet
fi
