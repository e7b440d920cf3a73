#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Damaged and hostile files of all kinds: refused, or taken with a word about it; no crash, no hang.
. tests/tap.inc

seeds=$tmp/seeds
mkdir "$seeds"
film 6 "$seeds/a.y4m" 64x48
printf '1\n00:00:00,010 --> 00:00:00,150\nHello\n' > "$tmp/subs.srt"
make() {
    ffmpeg -v error -y -i "$seeds/a.y4m" -f lavfi -i sine=300:duration=0.24 -i "$tmp/subs.srt" -bitexact "$@"
}
make -c:v libx264 -preset ultrafast -c:a aac -c:s mov_text -map 0 -map 1 -map 2 "$seeds/a.mp4"
make -c:v mpeg4 -c:a libmp3lame -map 0 -map 1 "$seeds/a.avi"
make -c:v mpeg2video -c:a mp2 -map 0 -map 1 "$seeds/a.ts"
make -c:v libvpx-vp9 -c:a libopus -c:s webvtt -map 0 -map 1 -map 2 "$seeds/a.webm"
make -c:v libx265 -pix_fmt yuv420p12le -x265-params log-level=none -c:a flac -c:s srt -map 0 -map 1 -map 2 -attach "$tmp/subs.srt" \
    -metadata:s:t mimetype=text/plain "$seeds/a.mkv"
make -c:v prores_ks -pix_fmt yuv422p10le -c:a pcm_s16le -map 0 -map 1 "$seeds/a.mov"
make "$seeds/a.gif" -frames:v 1 "$seeds/a.png" -frames:v 1 "$seeds/a.jpg" -frames:v 1 "$seeds/a.webp" -frames:v 1 -pix_fmt rgb48le "$seeds/a.tif"
count=20
! full || count=2000
python3 tests/e2e/media/hostile.py "$mona" "$seeds" $count > "$tmp/found"
same "$count mutated files: no crash, no hang, no silent loss" "$? $(head -n 20 "$tmp/found" | grep -v 'taken, 0 faults')" "0 "
# Mutations that everything refuses, or nothing notices, would show nothing.
at_least "some are taken" "$(sed -n 's/.*, \([0-9]*\) taken.*/\1/p' "$tmp/found")" $((count / 10))
at_least "some are refused" "$(sed -n 's/^\([0-9]*\) refused.*/\1/p' "$tmp/found")" $((count / 10))
