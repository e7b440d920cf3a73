#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo. make demo calls it after building.
#
#   BUILD=build INPUT= OUT=demo FRAMES=48 sh apps/demo/demo.sh
#
# Without INPUT: renders a film, spoils it as a cheap camera would (half the size, sensor noise, H.264),
# enhances it, and compares the result with the original and with what ffmpeg makes of the same input.
# With INPUT: enhances that file and shows before and after.
set -eu
BUILD=${BUILD:-build}
INPUT=${INPUT:-}
OUT=${OUT:-demo}
FRAMES=${FRAMES:-48}
mona=$BUILD/mona
scene=$BUILD/scene
bicubic='flags=bicubic+accurate_rnd+full_chroma_int'
mkdir -p "$OUT"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# What mona said at the end, e.g. "figure fps": the number before that word.
figure() {
    sed -n "s/.*in .* s, \([0-9.]*\) fps.*engine \([0-9.]*\) MiB, frames \([0-9.]*\) MiB.*process \([0-9]*\) MiB.*/\\$1/p" \
        "$OUT/mona.log" | tail -n 1
}

enhance() {
    if ! "$mona" enhance -y "$@" 2> "$OUT/mona.log"; then
        cat "$OUT/mona.log" >&2
        exit 1
    fi
    cat "$OUT/mona.log"
}

# $1: text, $2: width; writes a strip with the text as a picture.
label() {
    "$scene" --label "$2" "$1" > "$tmp/label.y4m"
    ffmpeg -v error -y -i "$tmp/label.y4m" -pix_fmt rgb24 "$3"
}

if [ -n "$INPUT" ]; then
    case $INPUT in
    *.png | *.PNG | *.jpg | *.JPG | *.jpeg | *.JPEG) out=$OUT/out.png ;;
    *.mkv | *.mov | *.webm) out=$OUT/out.mkv ;;
    *) out=$OUT/out.mp4 ;;
    esac
    enhance "$INPUT" -o "$out"
    seconds=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$out" | head -n 1)
    seek=$(echo "${seconds:-0}" | awk '{ printf "%.3f", $1 / 2 }')
    [ "$out" = "$OUT/out.png" ] && seek=0
    ffmpeg -v error -y -ss "$seek" -i "$INPUT" -frames:v 1 -vf "scale=2*iw:2*ih:$bicubic" "$tmp/before.png"
    ffmpeg -v error -y -ss "$seek" -i "$out" -frames:v 1 "$tmp/after.png"
    label BEFORE 640 "$tmp/l1.png"
    label AFTER 640 "$tmp/l2.png"
    crop="crop='min(320,iw)':'min(360,ih)',scale=640:-2:flags=neighbor"
    ffmpeg -v error -y -i "$tmp/before.png" -i "$tmp/after.png" -i "$tmp/l1.png" -i "$tmp/l2.png" \
        -lavfi "[0:v]$crop[a];[1:v]$crop[b];[2:v][a]vstack[c];[3:v][b]vstack[d];[c][d]hstack" \
        -frames:v 1 "$OUT/side_by_side.png"
    echo "$out and $OUT/side_by_side.png are written"
    exit 0
fi

original=$OUT/original.y4m
"$scene" "$FRAMES" "$original"
ffmpeg -v error -y -i "$original" -sws_flags bicubic+accurate_rnd+full_chroma_int \
    -vf "scale=640:360:$bicubic,noise=alls=12:allf=t:all_seed=7" \
    -c:v libx264 -preset medium -crf 23 -pix_fmt yuv420p "$OUT/in.mp4"
enhance "$OUT/in.mp4" -o "$OUT/out.mp4"

# The others get the same encoder at the same setting, so that only the enhancement differs.
x264='-c:v libx264 -preset medium -crf 18 -pix_fmt yuv420p'
ffmpeg -v error -y -i "$OUT/in.mp4" -vf "scale=1280:720:$bicubic" $x264 "$OUT/bicubic.mp4"
ffmpeg -v error -y -i "$OUT/in.mp4" -vf "hqdn3d,scale=1280:720:$bicubic" $x264 "$OUT/hqdn3d.mp4"

# $1: file; prints "luma all" in dB.
psnr() {
    ffmpeg -v info -i "$1" -i "$original" -lavfi '[0:v][1:v]psnr' -f null - 2>&1 |
        sed -n 's/.*PSNR y:\([0-9.]*\) .*average:\([0-9.]*\) .*/\1 \2/p' | tail -n 1
}

row() {
    printf '  %-18s %8.2f %8.2f\n' "$1" $(psnr "$2")
}

echo
echo "640x360 -> 1280x720, $FRAMES frames; PSNR against the original, dB:"
printf '  %-18s %8s %8s\n' '' luma all
row mona "$OUT/out.mp4"
row bicubic "$OUT/bicubic.mp4"
row 'bicubic + hqdn3d' "$OUT/hqdn3d.mp4"
echo "mona: $(figure 1) frames a second with encoding; memory: engine $(figure 2) MiB, frames $(figure 3) MiB," \
    "whole process with libav and libx264 $(figure 4) MiB"

# $1: input, $2: what to cut out, $3: label, $4: result
cut_out() {
    label "$3" 640 "$tmp/label.png"
    ffmpeg -v error -y -i "$1" -i "$tmp/label.png" \
        -lavfi "[0:v]select=eq(n\,$((FRAMES / 2))),$2,scale=640:-2:flags=neighbor,format=rgb24[a];[1:v][a]vstack" \
        -frames:v 1 "$4"
}
for part in "320:180:100:0" "320:180:480:260" "320:180:640:540"; do
    crop=crop=$part
    cut_out "$OUT/bicubic.mp4" "$crop" BICUBIC "$tmp/1.png"
    cut_out "$OUT/out.mp4" "$crop" MONA "$tmp/2.png"
    cut_out "$original" "$crop" ORIGINAL "$tmp/3.png"
    ffmpeg -v error -y -i "$tmp/1.png" -i "$tmp/2.png" -i "$tmp/3.png" -lavfi hstack=inputs=3 \
        "$tmp/row-$(echo "$part" | tr : -).png"
done
set -- "$tmp"/row-*.png
ffmpeg -v error -y -i "$1" -i "$2" -i "$3" -lavfi vstack=inputs=3 "$OUT/side_by_side.png"
echo "$OUT/out.mp4 and $OUT/side_by_side.png are written"
