#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What players see of mona's films, for each container and each awkward source: the frames and times of
# ffmpeg -c copy, from 0 on. Players apply edit lists, so a frame can be in the file and yet never be shown.
. tests/tap.inc

in=$tmp/in
mkdir "$in"
film 30 "$tmp/scene.y4m" 96x54
make() {
    ffmpeg -nostdin -v error -y "$@" || not_ok "a source can be made" "ffmpeg $*"
}
h264="-c:v libx264 -preset veryfast -bf 2 -g 12"
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=1.2 $h264 -pix_fmt yuv420p -c:a aac "$in/plain.mp4"
# A transport stream's clock has 33 bits of 1/90000 s.
make -i "$in/plain.mp4" -c copy -output_ts_offset 95441.5 "$in/wraps.ts" -c copy -output_ts_offset 95400 "$in/before_wrap.ts" \
    -c copy -output_ts_offset 40000 "$in/clock.ts"
sources="wraps.ts clock.ts"
if full; then
    sources="$sources before_wrap.ts plain.mp4 sound_late.mkv video_late.mp4 sound_first.mkv late.mkv vfr.mkv b_frames.mkv cut.mp4 cut.ts"
    make -i "$in/plain.mp4" -itsoffset 0.7 -i "$in/plain.mp4" -map 0:v -map 1:a -c copy "$in/sound_late.mkv" \
        -map 1:v -map 0:a -c copy "$in/video_late.mp4"
    make -i "$in/plain.mp4" -itsoffset -0.5 -i "$in/plain.mp4" -map 0:v -map 1:a -c copy "$in/sound_first.mkv"
    make -i "$in/plain.mp4" -c copy -output_ts_offset 7 "$in/late.mkv"
    # shellcheck disable=SC2086
    make -i "$in/plain.mp4" -vf "select='not(mod(n\,5))+eq(mod(n\,7)\,3)'" -fps_mode vfr $h264 -c:a copy "$in/vfr.mkv"
    make -i "$tmp/scene.y4m" -c:v libx264 -bf 5 -x264-params open-gop=1:b-pyramid=normal:keyint=10:scenecut=0:repeat-headers=1 -pix_fmt yuv420p \
        "$in/b_frames.mkv" -c:v libx264 -bf 5 -x264-params open-gop=1:keyint=10:scenecut=0:repeat-headers=1 -pix_fmt yuv420p "$tmp/whole.ts"
    make -ss 0.5 -i "$in/plain.mp4" -c copy "$in/cut.mp4"
    # From the middle of a group of pictures on: its first frames cannot be decoded.
    size=$(wc -c < "$tmp/whole.ts")
    tail -c $((size / 188 / 3 * 188 * 2)) "$tmp/whole.ts" > "$in/cut.ts"
fi

command -v gst-launch-1.0 > /dev/null || skip "no GStreamer here, whose readers would judge beside FFmpeg's"
command -v mkvmerge > /dev/null || skip "no mkvmerge here, which would judge Matroska"

make -i "$in/plain.mp4" -c copy "$tmp/read.mp4"
gpac=$BUILD/bench
if ! node tests/judges/mp4box.cjs "$gpac" "$tmp/read.mp4" > "$tmp/log" 2>&1; then
    skip "no node here, or no mp4box of npm in $gpac, which would judge MP4"
    gpac=
fi

# What mkvmerge has to say about $tmp/out.$1, if it is Matroska.
matroska() {
    case $1 in mkv | webm) ! command -v mkvmerge > /dev/null || mkvmerge -J "$tmp/out.$1" ;; esac |
        python3 -c 'import json, sys; text = sys.stdin.read(); said = json.loads(text) if text else {}
print("\n".join(said.get("errors", []) + said.get("warnings", [])), end="")'
}

# $1: source, $2: suffix, $3: seconds after 0 at which it may begin, $4: by which a frame may be off, rest: options
seen() {
    source=$1 suffix=$2 late=$3 room=$4
    shift 4
    rm -f "$tmp"/out.*
    if ! "$mona" enhance "$in/$source" -o "$tmp/out.$suffix" --stages sr "$@" 2> "$tmp/log" < /dev/null; then
        case $suffix:$(cat "$tmp/log") in
            avi:*'avi cannot store that stream '[01]' begins '*) ok "$source to .avi is refused by name" ;;
            *) not_ok "$source to .$suffix" "$(cat "$tmp/log")" ;;
        esac
    elif python3 tests/judges/players.py "$tmp/out.$suffix" "$tmp/reference.mp4" "$late" "$room" ${gpac:+"$gpac"} > "$tmp/said" 2>&1; then
        nothing "$source to .$suffix: players see what ffmpeg -c copy makes, from 0 on" "$(matroska "$suffix")"
    else
        not_ok "$source to .$suffix: players see what ffmpeg -c copy makes, from 0 on" "$(cat "$tmp/said")"
    fi
}
for source in $sources; do
    make -i "$in/$source" -c copy "$tmp/reference.mp4"
    seen "$source" mp4 0.03 0.002
    seen "$source" mkv 0.03 0.002
    full || continue
    seen "$source" mov 0.03 0.002
    seen "$source" webm 0.03 0.002 --audio auto
    seen "$source" avi 0.03 0.042
    # These begin with the first frame's decoding time, which is before it is shown.
    seen "$source" ts 0.2 0.002
    seen "$source" nut 0.2 0.002
    seen "$source" flv 0.2 0.002
done
