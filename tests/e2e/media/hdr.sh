#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What frames say of themselves that encoders do not write: HDR metadata of every frame is refused or told, and the two views
# of 3D keep their layout, or are refused.
. tests/tap.inc

ffmpeg -v error -f lavfi -i testsrc2=s=96x64:r=25 -frames:v 12 -pix_fmt yuv420p10le -c:v libx265 \
    -x265-params bframes=0:repeat-headers=1:slices=1:log-level=none -f hevc "$tmp/bare.hevc"
# $1: the message, $2: from which frame on. Prints the name of a film with it.
film_with() {
    python3 tests/e2e/media/add_messages.py "$1" "$2" < "$tmp/bare.hevc" > "$tmp/with.hevc"
    ffmpeg -v error -y -i "$tmp/with.hevc" -c copy -bsf:v "setts=ts=N*40" "$tmp/$1.$2.mkv"
    echo "$tmp/$1.$2.mkv"
}
# Frames of $1 that have side data called $2.
having() {
    ffprobe -v error -show_entries frame_side_data=side_data_type -of csv "$1" | grep -c "$2"
}
enhance() {
    "$mona" enhance -y "$@" --stages sr --quiet
}
plus=$(film_with plus 0) vivid=$(film_with vivid 0) late=$(film_with vivid 7) later=$(film_with plus 5)
same "FFmpeg reads these" "$(having "$plus" HDR10+) $(having "$vivid" Vivid) $(having "$late" Vivid) $(having "$later" HDR10+)" "12 12 5 7"
for film in "$plus" "$vivid"; do
    fails "HDR metadata of every frame is refused, ${film##*/}" "does not keep the video's HDR metadata of every frame" enhance "$film" -o "$tmp/out.mkv"
done
for film in "$late" "$later"; do
    "$mona" enhance -y "$film" -o "$tmp/out.mkv" --stages sr --preset ultrafast 2> "$tmp/log"
    same "what begins later is told, ${film##*/}" "$? $(grep -o 'metadata of every frame .*' "$tmp/log")" \
        "0 metadata of every frame (HDR10+, HDR Vivid or Dolby Vision) from $([ "$film" = "$late" ] && echo 0.28 || echo 0.20) s on; it is left out"
done
"$mona" enhance -y "$plus" -o "$tmp/out.mkv" --stages sr --preset ultrafast --drop-unsupported 2> "$tmp/log"
same "with --drop-unsupported it is told once" "$? $(grep -c 'HDR metadata of every frame' "$tmp/log")" "0 1"

# ---- 3D ----------------------------------------------------------------------------------------
views=$(film_with views 0)
layout() {
    ffprobe -v error -show_entries "$2_side_data=type,side_data_type" -of csv=p=0 "$1" | grep -m 1 -o "Stereo 3D.*"
}
same "FFmpeg reads the layout" "$(having "$views" "Stereo 3D")" 12
for out in mkv mp4 webm; do
    enhance "$views" -o "$tmp/views.$out"
    same "3D keeps its layout in .$out" "$? $(layout "$tmp/views.$out" stream)" "0 Stereo 3D,side by side"
done
enhance "$views" -o "$tmp/views.ts" -c h264
same "and inside H.264" "$? $(layout "$tmp/views.ts" frame | cut -d , -f 1)" "0 Stereo 3D"
for out in ts mov nut hevc; do
    fails "else it is refused, .$out" "does not keep the video's layout of 3D or 360 degrees; .mkv would" enhance "$views" -o "$tmp/none.$out"
done
fails "a layout that the file alone tells, in .ts" "does not keep the video's layout of 3D" enhance "$tmp/views.mkv" -c h264 -o "$tmp/none.ts"
