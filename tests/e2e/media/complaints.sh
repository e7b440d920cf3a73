#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The most frequent complaints about other tools of this kind, with one test for each. Other scripts test each
# topic more thoroughly; these are the shortest proofs. A proof that another script has in the short tier is in
# the full tier here.
. tests/tap.inc

enhance() {
    "$mona" enhance -y "$@" --stages sr --preset ultrafast --quiet 2> "$tmp/log" < /dev/null
}
make() {
    ffmpeg -v error -y "$@" || echo "# could not make a test file"
}
probe() {
    ffprobe -v error -select_streams v:0 -show_entries "$2" -of csv=p=0 "$1"
}
survives() {
    python3 tests/e2e/media/survival.py "$1" "$2" | grep -v '^#' | tr '\t' '\n' | grep -c DIFFERS
}
# The rounded mean of each plane.
means() {
    ffprobe -v error -f lavfi -i "movie=$1,signalstats" -show_entries \
        frame_tags=lavfi.signalstats.YAVG,lavfi.signalstats.UAVG,lavfi.signalstats.VAVG -of csv=p=0 |
        awk -F , '{ for (i = 1; i <= 3; i++) s[i] += $i } END { printf "%.1f %.1f %.1f\n", s[1] / NR, s[2] / NR, s[3] / NR }'
}

film 25 "$tmp/scene.y4m" 320x180
make -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=1 -vf "scale=160:90,$(says tv smpte170m smpte170m smpte170m)" \
    -c:v libx264 -bf 3 -pix_fmt yuv420p -color_range tv -c:a aac "$tmp/av.mp4"
# Both ends of the range, with much noise given by --strength; and studio black and white, whose noise is
# estimated: a 16 with half of its noise clipped at 0 would rightly be restored as something darker.
# Without noise the networks see what they were not trained on, and may be 2 steps off; with noise they are within 1.
# $1, $2: videos, $3: how far apart their means may be
apart() {
    echo "$(means "$1") $(means "$2")" |
        awk -v most="$3" '{ for (i = 1; i <= 3; i++) if ($i - $(i + 3) > most || $(i + 3) - $i > most) bad = 1; print (NF == 6 && !bad ? "no" : $0) }'
}
for flat in "0 0.5" "16 auto" "255 0.5" "235 auto"; do
    full || [ "${flat% *}" = 0 ] || continue
    level=${flat% *}
    # Made without filters, which FFmpeg 7.1 may let convert the range.
    python3 -c "import sys; sys.stdout.buffer.write((bytes([$level]) * 5184 + bytes([128]) * 2592) * 2)" > "$tmp/flat.yuv"
    make -f rawvideo -pix_fmt yuv420p -video_size 96x54 -color_range pc -i "$tmp/flat.yuv" -c:v ffv1 -color_range pc "$tmp/flat.mkv"
    "$mona" enhance -y "$tmp/flat.mkv" -o "$tmp/o_flat.mkv" -c ffv1 --strength "${flat#* }" --quiet 2> "$tmp/log"
    same "6 black frames: luma $level stays, strength ${flat#* }" "$(apart "$tmp/o_flat.mkv" "$tmp/flat.mkv" 2)" no
done

"$mona" enhance -y "$tmp/av.mp4" -o "$tmp/out.mp4" --crf 4 -e g=4 -e bf=0 --quiet
colour=stream=color_range,color_space,color_transfer,color_primaries
same "9 colours shift: what they stand for" "$(probe "$tmp/out.mp4" $colour)" "$(probe "$tmp/av.mp4" $colour)"
same "9 colours shift: what they are" "$(apart "$tmp/out.mp4" "$tmp/av.mp4" 0.6)" no

same "13 no control of the encoder" "$(probe "$tmp/out.mp4" packet=flags | cut -c1 | tr -d '\n')" "K___K___K___K___K___K___K"

make -i "$tmp/av.mp4" -vf setsar=16/11 -c:v libx264 -an "$tmp/sar.mp4"
enhance "$tmp/sar.mp4" -o "$tmp/out.mp4"
same "11 shape of a pixel lost" "$(probe "$tmp/out.mp4" stream=sample_aspect_ratio)" 16:11

full || exit 0

frames=
codecs="h264 hevc vp9 ffv1"
for codec in $codecs; do
    "$mona" enhance -y "$tmp/av.mp4" -o "$tmp/out.mkv" --stages sr -c $codec --quiet 2> "$tmp/log"
    frames="$frames$(video_times "$tmp/out.mkv" | wc -l) "
done
same "3 last frames missing" "$frames" "$(for codec in $codecs; do printf '25 '; done)"

options="--stages sr --preset ultrafast --resume --segment 5 --quiet"
# shellcheck disable=SC2086
"$mona" enhance "$tmp/av.mp4" -o "$tmp/whole.mkv" $options
# shellcheck disable=SC2086
"$mona" enhance "$tmp/av.mp4" -o "$tmp/again.mkv" $options &
sleep 0.2
kill -9 $! 2> /dev/null
wait
# shellcheck disable=SC2086
[ -e "$tmp/again.mkv" ] || "$mona" enhance "$tmp/av.mp4" -o "$tmp/again.mkv" $options
same "4 a crash loses the work of days" "$(frames_md5 "$tmp/again.mkv")" "$(frames_md5 "$tmp/whole.mkv")"

head -c 500 models/sr_x2_fast.mona > "$tmp/cut.mona"
rm -f "$tmp/out.mp4"
enhance "$tmp/av.mp4" -o "$tmp/out.mp4" --sr "$tmp/cut.mona"
same "7 failure in silence, exit status 0" "$? $(wc -l < "$tmp/log") $([ -e "$tmp/out.mp4" ] && echo file)" "1 1 "

make -stream_loop 9 -i "$tmp/scene.y4m" -vf scale=160:90 -c:v libx264 -preset ultrafast -pix_fmt yuv420p "$tmp/long.mp4"
peak() {
    "$mona" enhance -y "$tmp/long.mp4" -o "$tmp/out.mkv" --preset ultrafast --frames "$1" 2>&1 < /dev/null |
        sed -n 's/.*whole process \([0-9]*\) MiB.*/\1/p'
}
few=$(peak 50)
many=$(peak 250)
[ -n "$SANITIZE" ] || same "8 memory blows up" "$([ "${many:-9999}" -le $((few + 8)) ] && [ "$many" -lt 300 ] && echo no)" no

ffmpeg -v error -i "$tmp/av.mp4" -f yuv4mpegpipe - | "$mona" enhance - -o - --stages sr 2> "$tmp/log" |
    ffmpeg -v error -f yuv4mpegpipe -i - -c:v ffv1 -y "$tmp/piped.mkv"
"$mona" enhance "$tmp/av.mp4" -o "$tmp/direct.mkv" -c ffv1 --stages sr --quiet
same "14 no pipes" "$(frames_md5 "$tmp/piped.mkv")" "$(frames_md5 "$tmp/direct.mkv")"

make -i "$tmp/av.mp4" -itsoffset 0.3 -i "$tmp/av.mp4" -map 0:v -map 1:a -c copy "$tmp/late.mp4"

enhance "$tmp/late.mp4" -o "$tmp/out.mp4"
same "1 audio out of sync or lost" "$(survives "$tmp/late.mp4" "$tmp/out.mp4")" 0

make -i "$tmp/av.mp4" -vf "select='not(mod(n\,4))+eq(mod(n\,7)\,3)'" -fps_mode vfr -an -c:v libx264 "$tmp/vfr.mp4"
enhance "$tmp/vfr.mp4" -o "$tmp/out.mp4"
same "2 variable frame rate flattened" "$(video_times "$tmp/out.mp4")" "$(video_times "$tmp/vfr.mp4")"

"$mona" enhance "$tmp/av.mp4" -o "$tmp/one.mkv" -c ffv1 --frames 3 --strip-rows 1 --threads 2 --quiet
"$mona" enhance "$tmp/av.mp4" -o "$tmp/all.mkv" -c ffv1 --frames 3 --strip-rows 4096 --threads 1 --quiet
same "5 tile seams" "$(frames_md5 "$tmp/one.mkv")" "$(frames_md5 "$tmp/all.mkv")"

make -i "$tmp/av.mp4" -an -c:v ffv1 -pix_fmt yuv420p10le "$tmp/deep.mkv"
rm -f "$tmp/out.mkv"
if "$mona" enhance -y "$tmp/deep.mkv" -o "$tmp/out.mkv" --stages sr --quiet 2> "$tmp/log"; then
    same "10 ten bits lost" "$(probe "$tmp/out.mkv" stream=pix_fmt)" yuv420p10le
else
    same "10 ten bits lost: refused" "$(wc -l < "$tmp/log") $([ -e "$tmp/out.mkv" ] && echo file)" "1 "
fi

printf '1\n00:00:00,100 --> 00:00:00,500\nHello\n' > "$tmp/subs.srt"
printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=400\ntitle=First\n' > "$tmp/meta"
make -i "$tmp/av.mp4" -i "$tmp/subs.srt" -i "$tmp/meta" -map 0 -map 1 -map_chapters 2 -c copy -attach "$tmp/subs.srt" \
    -metadata:s:t mimetype=application/x-truetype-font -metadata:s:t filename=font.ttf "$tmp/full.mkv"
enhance "$tmp/full.mkv" -o "$tmp/out.mkv"
same "12 subtitles, fonts, chapters lost" "$(survives "$tmp/full.mkv" "$tmp/out.mkv")" 0
enhance "$tmp/full.mkv" -o "$tmp/full.mp4"
same "12 a container that does not fit" "$? $(grep -c 'use .mkv, which holds everything' "$tmp/log") $([ -e "$tmp/full.mp4" ] && echo file)" "1 1 "

make -i "$tmp/scene.y4m" -frames:v 3 -vf scale=151:99 -c:v ffv1 -pix_fmt yuv420p "$tmp/odd.mkv"
enhance "$tmp/odd.mkv" -o "$tmp/out.mkv"
same "15 odd sizes" "$(probe "$tmp/out.mkv" stream=width,height)" 302,198
turned "$tmp/av.mp4" 90 "$tmp/turned.mp4"
enhance "$tmp/turned.mp4" -o "$tmp/out.mp4"
same "15 rotation lost" "$(probe "$tmp/out.mp4" stream_side_data=rotation)" "$(probe "$tmp/turned.mp4" stream_side_data=rotation)"
