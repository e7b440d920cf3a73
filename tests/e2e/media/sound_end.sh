#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sound that is encoded is as long as it was: the decoder of WMA gives its last frame without a time.
. tests/tap.inc

sound_bytes() {
    ffmpeg -v error -i "$1" -map 0:a -f s16le - | wc -c
}
for codec in wmav2 aac $(! full || echo wmav1 libmp3lame libvorbis); do
    ffmpeg -v error -y -f lavfi -i testsrc=s=64x48:r=25:d=1 -f lavfi -i sine=r=48000:d=1 -c:v mpeg4 -c:a "$codec" "$tmp/in.mkv"
    "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/out.mkv" --audio flac --stages sr --preset ultrafast > "$tmp/log" 2>&1
    same "the end of $codec is encoded" "$? $(sound_bytes "$tmp/out.mkv")" "0 $(sound_bytes "$tmp/in.mkv")"
done
