#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo runs, and what it promises holds.
. tests/tap.inc

frames=${SANITIZE:+2}
frames=${frames:-10}
export OUT="$tmp/demo" FRAMES=$frames BUILD
succeeds "the demo runs" env INPUT= sh apps/demo/demo.sh
cp "$tmp/log" "$tmp/table"
grep dB -A 4 "$tmp/table" | sed 's/^/# /'
value() {
    sed -n "s/^  $1  *\([0-9.]*\)  *\([0-9.]*\)\$/\1/p" "$tmp/table"
}
for other in bicubic 'bicubic + hqdn3d'; do
    same "mona is at least 0.5 dB closer to the original than $other" \
        "$(echo "$(value mona) $(value "$other")" | awk '{ print (NF == 2 && $1 >= $2 + 0.5 ? "yes" : $0) }')" yes
done
same "out.mp4 has every frame" "$(video_times "$OUT/out.mp4" | wc -l)" "$frames"
same "the pictures are there" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$OUT/side_by_side.png")" 1920,1176
# make readme-picture makes it of as many frames.
ffmpeg -v error -y -i docs/scene.jpg -i "$OUT/side_by_side.png" -filter_complex \
    "[1:v]scale=1152:-2:flags=area,format=gbrp[a];[0:v]format=gbrp[b];[b][a]psnr=f=$tmp/psnr" -f null -
at_least "the picture of README.md is today's (make readme-picture)" "$(sed -n 's/.*psnr_avg:\([0-9.]*\).*/\1/p' "$tmp/psnr")" 34
succeeds "INPUT= takes a file" env INPUT="$OUT/in.mp4" OUT="$tmp/demo2" sh apps/demo/demo.sh
same "its pictures are there" "$(ffprobe -v error -show_entries stream=width -of csv=p=0 "$tmp/demo2/side_by_side.png")" 1280
ffmpeg -v error -i "$OUT/in.mp4" -frames:v 1 "$tmp/still.png"
succeeds "INPUT= takes a picture" env INPUT="$tmp/still.png" OUT="$tmp/demo3" sh apps/demo/demo.sh
