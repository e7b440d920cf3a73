#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Film of 24 frames a second that was made 30 with 3:2 pull-down: found, told, and restored by --fields film.
. tests/tap.inc

make() {
    ffmpeg -v error -y "$@" || echo "# could not make a test file"
}
as_they_are() {
    "$mona" enhance -y "$@" --stages denoise --strength 0 -c ffv1 2> "$tmp/log" < /dev/null
}
rate_of() {
    ffprobe -v error -select_streams v:0 -show_entries stream=r_frame_rate -of csv=p=0 "$1" | tr -d ,
}
# As psnr_y, of frames by their number: the times of one may be a thousandth before the other's.
psnr_in_order() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]setpts=N[a];[1:v]setpts=N[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*PSNR y:\([0-9.inf]*\).*/\1/p' | tail -n 1
}
film 60 "$tmp/scene.y4m" 320x180
make -r 24000/1001 -i "$tmp/scene.y4m" -vf crop=192:108 -c:v ffv1 -pix_fmt yuv420p "$tmp/film.mkv"
coded="-c:v libx264 -preset veryfast -crf 10 -pix_fmt yuv420p"
restored="looks like film with 3:2 pull-down, from 24 frames a second; --fields film restores these"
left="does not look like film with 3:2 pull-down"

for order in top $(! full || echo bottom); do
    # shellcheck disable=SC2086
    make -i "$tmp/film.mkv" -f lavfi -i sine=300:duration=2.5 -vf telecine=$order $coded -c:a flac "$tmp/telecined.mkv"
    as_they_are "$tmp/telecined.mkv" -o "$tmp/auto.mkv"
    same "$order first: it is told, and done by request alone" "$? $(grep -c "$restored" "$tmp/log") $(video_times "$tmp/auto.mkv" | wc -l)" "0 1 75"
    as_they_are "$tmp/telecined.mkv" -o "$tmp/whole.mkv" --fields film
    same "$order first: the film's frames, at its rate" "$? $(video_times "$tmp/whole.mkv" | wc -l) $(rate_of "$tmp/whole.mkv")" "0 60 24000/1001"
    same "$order first: that is said" "$(grep -c ': film with 3:2 pull-down; its 24 frames a second are restored' "$tmp/log") $(grep -c "$restored" "$tmp/log")" "1 0"
    make -i "$tmp/telecined.mkv" -an -vf fieldmatch=order=$(echo $order | cut -c 1)ff,decimate -c:v ffv1 "$tmp/ffmpeg.mkv"
    same "$order first: they are those of FFmpeg's own fieldmatch and decimate" "$(frames_md5 "$tmp/whole.mkv")" "$(frames_md5 "$tmp/ffmpeg.mkv")"
    at_least "$order first: they are the original's" "$(psnr_in_order "$tmp/whole.mkv" "$tmp/film.mkv")" 40
    same "$order first: evenly, in time with the sound" "$(video_times "$tmp/whole.mkv" |
        awk '{ d = $1 - (NR - 1) * 1001 / 24000 } d > 0.0015 || d < -0.0015 { print NR, $0 } END { print NR }') $(packets_md5 "$tmp/whole.mkv" a)" \
        "60 $(packets_md5 "$tmp/telecined.mkv" a)"
done
as_they_are "$tmp/telecined.mkv" -o "$tmp/parts.mkv" --fields film --resume --segment 7
same "in segments: the same" "$? $(frames_md5 "$tmp/parts.mkv") $(video_times "$tmp/parts.mkv")" "0 $(frames_md5 "$tmp/whole.mkv") $(video_times "$tmp/whole.mkv")"
as_they_are "$tmp/telecined.mkv" -o "$tmp/few.mkv" --fields film --frames 7
same "--frames counts the film's" "$? $(frames_md5 "$tmp/few.mkv")" "0 $(frames_md5 "$tmp/whole.mkv" | head -n 7)"

# Captions of frames that are left out stay.
if command -v python3 > /dev/null; then
    make -i "$tmp/telecined.mkv" -c:v libx264 -preset veryfast -bf 0 -crf 10 -bsf:v filter_units=remove_types=6 -an -f h264 "$tmp/bare.264"
    python3 tests/e2e/media/add_captions.py < "$tmp/bare.264" > "$tmp/with.264"
    make -r 30000/1001 -i "$tmp/with.264" -c copy "$tmp/with.mp4"
    "$mona" enhance "$tmp/with.mp4" -o "$tmp/with_film.mp4" --stages denoise --strength 0 --preset ultrafast --fields film 2> "$tmp/log"
    # As text: where the file's frames are shown, in order.
    captions() {
        ffmpeg -v error -f lavfi -i "movie=$1[out0+subcc]" -map 0:s -c copy -f data - | od -An -v -tx1 -w3 | awk '$1 == "fc" { print $2 $3 }'
    }
    same "captions of all frames are there, in order" "$(video_times "$tmp/with_film.mp4" | wc -l) $(captions "$tmp/with_film.mp4")" \
        "60 $(captions "$tmp/with.mp4")"
fi

# Before FFmpeg 6, libavfilter restores film of 8 bits alone.
make -i "$tmp/telecined.mkv" -an -pix_fmt yuv420p10 -c:v ffv1 "$tmp/deep.mkv"
as_they_are "$tmp/deep.mkv" -o "$tmp/deep_auto.mkv"
offered="$? $(grep -c "$restored" "$tmp/log")"
as_they_are "$tmp/deep.mkv" -o "$tmp/deep_film.mkv" --fields film
case "$? $(grep -c 'frames a second are restored' "$tmp/log") $(grep -c 'cannot restore film from yuv420p10' "$tmp/log"), $offered" in
    "0 1 0, 0 1" | "1 0 1, 0 0") ok "10 bits: film is offered and said to be restored where it is" ;;
    *) not_ok "10 bits: film is offered and said to be restored where it is" "offered: $offered; then: $(cat "$tmp/log")" ;;
esac

# What is not such a film stays as without the option, which a line says.
make -r 30000/1001 -i "$tmp/scene.y4m" -vf scale=192:108 -c:v ffv1 -pix_fmt yuv420p "$tmp/progressive.mkv"
make -r 60000/1001 -i "$tmp/scene.y4m" -vf "scale=192:108,tinterlace=interleave_top,loop=2:30,fieldorder=tff" \
    -c:v ffv1 -pix_fmt yuv420p "$tmp/interlaced.mkv"
for name in progressive interlaced film; do
    as_they_are "$tmp/$name.mkv" -o "$tmp/single.mkv"
    same "$name: nothing of film is told" "$? $(grep -c 'film with' "$tmp/log")" "0 0"
    as_they_are "$tmp/$name.mkv" -o "$tmp/left.mkv" --fields film
    same "$name: stays as it is, and says so" "$? $(grep -c "$left" "$tmp/log") $(rate_of "$tmp/left.mkv") $(frames_md5 "$tmp/left.mkv" | md5sum)" \
        "0 1 $(rate_of "$tmp/single.mkv") $(frames_md5 "$tmp/single.mkv" | md5sum)"
done

ffmpeg -v error -i "$tmp/telecined.mkv" -f yuv4mpegpipe - | "$mona" enhance - -o "$tmp/piped.mkv" --stages denoise --fields film 2> "$tmp/log"
same "a pipe is refused" "$? $(grep -c -e '--fields film: expected a file' "$tmp/log")" "2 1"
as_they_are "$tmp/telecined.mkv" -o "$tmp/none.mkv" --fields film --deinterlace off
same "and so is the option without deinterlacing" "$? $(grep -c -e '--fields film: expected --deinterlace auto, found off' "$tmp/log")" "2 1"
