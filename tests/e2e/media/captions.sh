#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Closed captions inside the frames: kept by codecs that have a place for them, told where one has none.
. tests/tap.inc

film 30 "$tmp/scene.y4m" 96x54
# $1: result, rest: how it is encoded
captioned() {
    result=$1
    shift
    ffmpeg -v error -i "$tmp/scene.y4m" "$@" -c:v libx264 -preset veryfast -bf 0 -pix_fmt yuv420p -bsf:v filter_units=remove_types=6 \
        -f h264 - | python3 tests/e2e/media/add_captions.py | ffmpeg -v error -r 25 -f h264 -i - -c copy "$result"
}
# The captions of $1, in the order in which frames are shown: two bytes each. What reads them loses frames with FFmpeg 7.1
# where a packet gives several, so each frame is given a packet of its own first.
captions() {
    ffmpeg -v error -y -i "$1" -fps_mode passthrough -c:v libx264 -preset ultrafast -g 1 -a53cc 1 "$tmp/each.ts"
    ffmpeg -v error -f lavfi -i "movie=$tmp/each.ts[out0+subcc]" -map 0:s -c copy -f data - | od -An -v -tx1 -w6 | awk '$1 == "fc" { print $2 $3 }'
}
captioned "$tmp/in.mp4"
same "the test film has captions, all different" "$(captions "$tmp/in.mp4" | sort -u | wc -l)" 30

for way in h264:mp4 hevc:mkv hevc:ts $(! full || echo h264:ts hevc:mp4 hevc:hevc); do
    rm -f "$tmp"/out.*
    "$mona" enhance "$tmp/in.mp4" -o "$tmp/out.${way#*:}" -c "${way%:*}" --stages sr --preset ultrafast 2> "$tmp/log"
    same "$way keeps them, each beside its frame" "$? $(captions "$tmp/out.${way#*:}") $(grep -c captions "$tmp/log")" "0 $(captions "$tmp/in.mp4") 0"
done
"$mona" enhance "$tmp/in.mp4" -o "$tmp/parts.mkv" -c hevc --stages sr --preset ultrafast --resume --segment 7 --quiet
same "and so does a run in segments" "$? $(captions "$tmp/parts.mkv")" "0 $(captions "$tmp/in.mp4")"
for codec in ffv1 $(! full || echo av1 vp9); do
    "$mona" enhance -y "$tmp/in.mp4" -o "$tmp/lost.mkv" -c $codec --stages sr 2> "$tmp/log"
    same "$codec has no place for them, which is told" "$? $(grep -c "$codec has no place for the closed captions inside the video, from 0.00 s on" "$tmp/log")" "0 1"
done
ffmpeg -v error -i "$tmp/scene.y4m" -c:v libx264 -pix_fmt yuv420p "$tmp/without.mp4"
"$mona" enhance "$tmp/without.mp4" -o "$tmp/none.mkv" -c ffv1 --stages sr 2> "$tmp/log"
same "nothing is told of a film without any" "$? $(grep -c captions "$tmp/log")" "0 0"
