#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What players read before the first frame: y4m's frame rate, the colour range and matrix, HEVC's tag, an index at the
# front. And a preview of a clip with sound.
. tests/tap.inc

film 12 "$tmp/scene.y4m" 320x180
# $1: output, rest: options
clip() {
    out=$1
    shift
    ffmpeg -v error -y -r 25 -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=0.48 -vf scale=96:54 -c:v libx264 \
        -preset ultrafast -pix_fmt yuv420p -c:a aac -shortest "$@" "$out"
}
clip "$tmp/clip.mp4"
clip "$tmp/tv.mkv" -color_range tv
! full || clip "$tmp/pc.mkv" -color_range pc

# ---- y4m ----------------------------------------------------------------------------------------
rate_of() {
    head -n 1 "$1" | tr ' ' '\n' | grep '^F'
}
"$mona" enhance "$tmp/clip.mp4" -o - --drop-unsupported --stages sr --quiet > "$tmp/pipe.y4m"
same "y4m on a pipe has the frame rate" "$(rate_of "$tmp/pipe.y4m")" F25:1
"$mona" enhance "$tmp/clip.mp4" -o "$tmp/file.y4m" --drop-unsupported --stages sr --quiet
same "and in a file" "$(rate_of "$tmp/file.y4m")" F25:1
same "and every frame" "$(video_times "$tmp/file.y4m" | wc -l)" 12
ffmpeg -v error -i "$tmp/clip.mp4" -vf "select=not(eq(mod(n\\,4)\\,1))" -an -fps_mode vfr -c:v libx264 "$tmp/vfr.mp4"
"$mona" enhance "$tmp/vfr.mp4" -o "$tmp/vfr.y4m" --stages sr 2> "$tmp/log"
same "frames that are not evenly spaced are told" "$? $(grep -c 'stores no timestamps' "$tmp/log")" "0 1"

# ---- mp4 and mov --------------------------------------------------------------------------------
# $1: what, $2: file
shown() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$1" -of csv=p=0 "$2"
}
for codec in h264 hevc; do
    for range in tv $(! full || echo pc); do
        "$mona" enhance "$tmp/$range.mkv" -o "$tmp/$range.$codec.mp4" -c $codec --preset ultrafast --stages sr --quiet
        same "$codec in mp4 keeps the range $range" "$(shown color_range "$tmp/$range.$codec.mp4")" $range
    done
done
# Grey samples without a range use all values, which players of H.264 have to be told. FFmpeg 7 gives them the range.
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 2 -vf scale=96:54,format=gray -f rawvideo "$tmp/grey.raw"
ffmpeg -v error -f rawvideo -pixel_format gray -video_size 96x54 -i "$tmp/grey.raw" -c:v ffv1 "$tmp/grey.mkv"
"$mona" enhance "$tmp/grey.mkv" -o "$tmp/grey.mp4" --preset ultrafast --stages sr --quiet
same "grey film without a range is of the full one" "$(shown color_range "$tmp/grey.mp4")" pc
if full; then
    same "its frames are those of a file without a range" "$("$mona" enhance "$tmp/clip.mp4" -o "$tmp/plain.mp4" --preset ultrafast \
        --stages sr --quiet; frames_md5 "$tmp/plain.mp4" | md5sum)" "$(frames_md5 "$tmp/tv.h264.mp4" | md5sum)"
fi
"$mona" enhance "$tmp/clip.mp4" -o "$tmp/hevc.mov" -c hevc --preset ultrafast --stages sr --quiet
same "HEVC in mp4 is hvc1" "$(shown codec_tag_string "$tmp/tv.hevc.mp4")" hvc1
same "and in mov" "$(shown codec_tag_string "$tmp/hevc.mov")" hvc1
for file in tv.h264.mp4 hevc.mov; do
    same "$file: the index comes before the frames" "$(grep -aob 'moov\|mdat' "$tmp/$file" | head -n 1 | cut -d: -f2)" moov
    same "$file: every frame can be read" "$(video_times "$tmp/$file" | wc -l)" 12
done

# ---- a preview of a clip with sound -------------------------------------------------------------
for file in $(! full || echo tv.mkv) clip.mp4; do
    for time in $(! full || echo 0.1 0.3) 0; do
        succeeds "$file: a preview at $time s" "$mona" enhance "$tmp/$file" -o "$tmp/$file.$time.png" --preview $time
    done
done

# Of frames without a matrix, players assume BT.601 of small ones and BT.709 of large ones.
matrix() {
    ffprobe -v error -show_entries stream=color_space -of csv=p=0 "$1"
}
for case in "32x576 2 smpte170m" "32x288 2 unknown" "32x720 0.5 bt709"; do
    # shellcheck disable=SC2086
    set -- $case
    ffmpeg -v error -y -f lavfi -i "testsrc=s=$1:d=0.04" -pix_fmt yuv420p -c:v ffv1 "$tmp/unnamed.mkv"
    "$mona" enhance -y "$tmp/unnamed.mkv" -o "$tmp/named.mkv" -c ffv1 -s "$2" --quiet
    same "$1 without a matrix, $2 times as large" "$(matrix "$tmp/unnamed.mkv") $(matrix "$tmp/named.mkv")" "unknown $3"
done
