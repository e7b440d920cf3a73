#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The colour stage: no change at 0, the same bytes however they are computed, and steady curves within a shot.
. tests/tap.inc

film 12 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=150:100,eq=contrast=0.6:brightness=-0.15:saturation=0.5" -c:v ffv1 "$tmp/dull.mkv"

# $1: output, rest: options
colour() {
    out=$1
    shift
    rm -f "$out"
    "$mona" enhance "$tmp/dull.mkv" -o "$out" --stages colour --quiet "$@" 2> "$tmp/log" || cat "$tmp/log"
}
sum() {
    cksum < "$1"
}

formats="yuva420p"
# FFV1 knows full range by its tag alone, not as yuvj420p.
! full || formats="$formats yuv420p,setrange=full yuv420p yuv422p yuv444p yuv420p10le gray"
for format in $formats; do
    ffmpeg -v error -y -i "$tmp/dull.mkv" -frames:v 3 -vf "crop=149:99,format=$format" -c:v ffv1 "$tmp/in.mkv"
    for strength in 0 1; do
        succeeds "$format, odd size, strength $strength" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/$strength.mkv" -c ffv1 \
            --stages colour --colour $strength
    done
    ffmpeg -v error -y -i "$tmp/0.mkv" -i "$tmp/1.mkv" -i "$tmp/in.mkv" -map 0 -f rawvideo "$tmp/0.raw" \
        -map 1 -f rawvideo "$tmp/1.raw" -map 2 -f rawvideo "$tmp/in.raw"
    same "$format: nothing changes at 0" "$(sum "$tmp/0.raw")" "$(sum "$tmp/in.raw")"
    differ "$format: something does at 1" "$tmp/1.raw" "$tmp/in.raw"
done

colour "$tmp/one.y4m"
for options in "-j 3" "--strip-rows 1" "--cpu c" "--colour 1" "-j 1" "--strip-rows 7" "--device model310"; do
    [ "$options" != "-j 1" ] || full || break # the rest in the full tier; test_models has instruction sets and devices
    # shellcheck disable=SC2086
    colour "$tmp/other.y4m" $options
    same "the same bytes with $options" "$(sum "$tmp/other.y4m")" "$(sum "$tmp/one.y4m")"
done
colour "$tmp/half.y4m" --colour 0.5
differ "half strength is something else" "$tmp/half.y4m" "$tmp/one.y4m"

# With --colour alone, colour is the last stage.
"$mona" enhance "$tmp/dull.mkv" -o "$tmp/a.y4m" --colour 0.5 --frames 3 --quiet
"$mona" enhance "$tmp/dull.mkv" -o "$tmp/b.y4m" --stages denoise,sr,colour --colour 0.5 --frames 3 --quiet
same "--colour alone adds the stage" "$(sum "$tmp/a.y4m")" "$(sum "$tmp/b.y4m")"
same "the plan tells of it" "$("$mona" enhance "$tmp/a.y4m" -o "$tmp/c.mkv" --stages colour --dry-run --json |
    grep -c '"stage":.*"colour"')" 1

# Colours do not change from frame to frame without a reason: in a still shot the mean changes by less than half
# a step.
ffmpeg -v error -i "$tmp/dull.mkv" -vf "trim=end_frame=1,loop=11:1,noise=alls=12:allf=t:all_seed=1" -c:v ffv1 "$tmp/still.mkv"
"$mona" enhance "$tmp/still.mkv" -o "$tmp/steady.mkv" -c ffv1 --stages colour --quiet
ffmpeg -v error -i "$tmp/steady.mkv" -vf signalstats,metadata=mode=print:file=- -f null - > "$tmp/means"
for plane in YAVG UAVG VAVG; do
    worst=$(sed -n "s/lavfi.signalstats.$plane=//p" "$tmp/means" | awk 'NR > 1 { d = $1 - last; if (d < 0) d = -d; if (d > worst) worst = d } { last = $1 } END { print (NR < 2 ? 99 : worst + 0) }')
    echo "# $plane of a noisy still shot changes by $worst steps at most between two frames"
    same "a still shot is steady, $plane" "$(awk "BEGIN { print ($worst <= 0.5) }")" 1
done

ffmpeg -v error -i "$tmp/dull.mkv" -frames:v 1 -pix_fmt gray "$tmp/grey.png" -frames:v 1 -pix_fmt rgba "$tmp/rgba.png"
succeeds "a grey picture at 0" "$mona" enhance "$tmp/grey.png" -o "$tmp/same.png" --stages colour --colour 0
ffmpeg -v error -y -i "$tmp/grey.png" -i "$tmp/same.png" -map 0 -f rawvideo "$tmp/a.raw" -map 1 -f rawvideo "$tmp/b.raw"
same "a grey picture is the same at 0" "$(sum "$tmp/b.raw")" "$(sum "$tmp/a.raw")"
succeeds "a picture with alpha" "$mona" enhance "$tmp/rgba.png" -o "$tmp/coloured.png" --colour 1
same "is twice as large" "$(ffprobe -v error -show_entries stream=width,height,pix_fmt -of csv=p=0 "$tmp/coloured.png")" 300,200,rgba

in=$tmp/dull.mkv
for strength in $(! full || echo 2 x nan) -0.1 0.5x ''; do
    fails "strength '$strength'" "--colour: expected a number from 0 to 1, found '$strength'" "$mona" enhance "$in" -o "$tmp/no.mkv" --colour "$strength"
done
! full || fails "stages without it" "--colour: expected colour among --stages" "$mona" enhance "$in" -o "$tmp/no.mkv" --stages sr --colour 1
! full || fails "one stage too many" "expected up to 6 stages" "$mona" enhance "$in" -o "$tmp/no.mkv" --scale 8 --stages denoise,sr,sr,colour
fails "another network" "expected a model of y, u and v" "$mona" enhance "$in" -o "$tmp/no.mkv" --stages colour --colour-model models/sr_x2_fast.mona
! full || fails "another network of planes" "expected" "$mona" enhance "$in" -o "$tmp/no.mkv" --stages colour --colour-model models/denoise_fast.mona
nothing "and there is no output" "$([ -e "$tmp/no.mkv" ] && echo one)"
