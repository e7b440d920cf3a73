#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything besides the enhanced video: timestamps, other streams, colours, aspect ratio, chapters; and odd
# sizes, parts of a clip, damage.
. tests/tap.inc

enhance() {
    "$mona" enhance -y "$@" --preset ultrafast --stages sr --quiet 2> "$tmp/log"
}

# $1: file, $2: entries, $3: stream specifier
probe() {
    ffprobe -v error -select_streams "$3" -show_entries "$2" -of default=nw=1:nk=1 "$1" | tr '\n' ' '
}

film 24 "$tmp/scene.y4m" 320x180
tiny="-vf scale=160:90 -c:v libx264 -preset veryfast -pix_fmt yuv420p"

# ---- variable frame rate, B-frames, a start that is not zero ------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -vf "select='not(mod(n\,5))+eq(mod(n\,7)\,3)',scale=160:90" -fps_mode vfr \
    -c:v libx264 -bf 3 -pix_fmt yuv420p -video_track_timescale 90000 "$tmp/vfr.mp4"
ffmpeg -v error -itsoffset 1.5 -i "$tmp/vfr.mp4" -c copy "$tmp/late.mkv"
pairs="late.mkv:mp4"
! full || pairs="$pairs vfr.mp4:mp4 vfr.mp4:mkv vfr.mp4:mov late.mkv:mkv"
for pair in $pairs; do
    in=$tmp/${pair%:*}
    out=$tmp/vfr_out.${pair#*:}
    enhance "$in" -o "$out" || not_ok "enhance $pair" "$(cat "$tmp/log")"
    # Matroska counts milliseconds.
    round='{ printf "%.3f\n", $1 }'
    ffmpeg -v error -y -i "$in" -c copy "$tmp/copied.${pair#*:}"
    same "frame times are those that ffmpeg copies, $pair" "$(video_times "$out" | awk "$round" | tr '\n' ' ')" \
        "$(video_times "$tmp/copied.${pair#*:}" | awk "$round" | tr '\n' ' ')"
done

# ---- parts of a clip ----------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=0.96 $tiny -g 10 -c:a aac -shortest "$tmp/av.mp4"
enhance "$tmp/av.mp4" -o "$tmp/part.mp4" --frames 7
same "--frames 7 gives 7" "$(video_times "$tmp/part.mp4" | wc -l)" 7
same "and sound for as long, to the packet" \
    "$(probe "$tmp/part.mp4" packet=pts_time a:0 | tr ' ' '\n' | awk 'NF && $1 > last { last = $1 } END { print (last < 0.28 && last > 0.28 - 0.03 ? "yes" : last) }')" yes
enhance "$tmp/av.mp4" -o "$tmp/part.mkv" --start 0.5
same "--start 0.5 leaves out the 13 frames before" "$(video_times "$tmp/part.mkv" | wc -l)" 11
same "what is left begins at its own distance from 0.5" "$(video_times "$tmp/part.mkv" | head -n 1)" 0.020000
same "sound begins there too" \
    "$(probe "$tmp/part.mkv" packet=pts_time a:0 | awk '{ print ($1 >= 0 && $1 < 0.05) }')" 1

# ---- damage -------------------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" $tiny -g 8 -f h264 "$tmp/good.264"
{ head -c 9000 "$tmp/good.264"; head -c 300 /dev/zero; tail -c +9301 "$tmp/good.264"; } > "$tmp/bad.264"
decodable=$(ffprobe -v quiet -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$tmp/bad.264")
enhance "$tmp/bad.264" -o "$tmp/bad.mp4" || not_ok "enhance a damaged stream" "$(cat "$tmp/log")"
echo "# of 24 frames in $(wc -c < "$tmp/good.264") bytes, $decodable can be decoded"
same "a damaged stream gives every frame that can be decoded" "$(video_times "$tmp/bad.mp4" | wc -l)" "$decodable"

# ---- full range ---------------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 5 -vf scale=160:90:out_range=pc -c:v libx264 -pix_fmt yuvj420p "$tmp/range.mp4"
enhance "$tmp/range.mp4" -o "$tmp/range_out.mp4"
same "full range is kept" "$(probe "$tmp/range_out.mp4" stream=color_range v:0)" "pc "

# containers.sh and complaints.sh check the rest too, with fewer files.
full || exit 0

# ---- streams, metadata, chapters ----------------------------------------------------------------
cat > "$tmp/meta" << 'END'
;FFMETADATA1
title=A title
[CHAPTER]
TIMEBASE=1/1000
START=0
END=400
title=First
[CHAPTER]
TIMEBASE=1/1000
START=400
END=960
title=Second
END
printf '1\n00:00:00,100 --> 00:00:00,500\nHello\n\n2\n00:00:00,600 --> 00:00:00,900\nWorld\n' > "$tmp/subs.srt"
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=0.96 -f lavfi -i sine=500:duration=0.96 \
    -i "$tmp/subs.srt" -i "$tmp/meta" -map 0 -map 1 -map 2 -map 3 -map_metadata 4 -map_chapters 4 \
    -vf "scale=160:90,$(says tv bt709 bt709 bt709)" -c:v libx264 -preset veryfast -pix_fmt yuv420p -aspect 2:1 -color_range tv -c:a:0 aac \
    -c:a:1 flac -c:s srt -metadata:s:a:1 language=fra -disposition:a:1 comment -attach "$tmp/subs.srt" \
    -metadata:s:t mimetype=text/plain -metadata:s:t filename=notes.txt "$tmp/full.mkv"
enhance "$tmp/full.mkv" -o "$tmp/full_out.mkv" || not_ok "enhance a file with all kinds of streams" "$(cat "$tmp/log")"
same "every stream is there, in order" "$(probe "$tmp/full_out.mkv" stream=codec_name,codec_type "")" \
    "$(probe "$tmp/full.mkv" stream=codec_name,codec_type "")"
for stream in a:0 a:1 s:0; do
    same "packets of $stream are bit-identical" "$(packets_md5 "$tmp/full_out.mkv" $stream)" \
        "$(packets_md5 "$tmp/full.mkv" $stream)"
done
times="packet=pts_time,duration_time"
for stream in a:0 a:1 s:0; do
    same "times of $stream are kept" "$(probe "$tmp/full_out.mkv" $times $stream)" \
        "$(probe "$tmp/full.mkv" $times $stream)"
done
colour=stream=color_range,color_space,color_transfer,color_primaries,display_aspect_ratio
same "colour and shape are kept" "$(probe "$tmp/full_out.mkv" $colour v:0)" "$(probe "$tmp/full.mkv" $colour v:0)"
tags=stream_tags=language,filename,mimetype:stream_disposition=comment,default
same "tags and dispositions are kept" "$(probe "$tmp/full_out.mkv" $tags "")" "$(probe "$tmp/full.mkv" $tags "")"
same "chapters and title are kept" \
    "$(ffmpeg -v error -i "$tmp/full_out.mkv" -f ffmetadata - | grep -v -i encoder)" \
    "$(ffmpeg -v error -i "$tmp/full.mkv" -f ffmetadata - | grep -v -i encoder)"

if enhance "$tmp/full.mkv" -o "$tmp/full_out.avi"; then
    not_ok "a container that cannot hold a stream is refused" "exit status 0"
else
    same "the refusal names stream and a container" "$(grep -c 'cannot hold stream 3 .*\.mkv' "$tmp/log")" 1
fi

# ---- rotation -----------------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 5 $tiny "$tmp/plain.mp4"
turned "$tmp/plain.mp4" 90 "$tmp/rotated.mp4"
enhance "$tmp/rotated.mp4" -o "$tmp/rotated_out.mp4"
same "rotation is kept" "$(probe "$tmp/rotated_out.mp4" stream_side_data=rotation v:0)" \
    "$(probe "$tmp/rotated.mp4" stream_side_data=rotation v:0)"

# ---- sizes --------------------------------------------------------------------------------------
for size in 151x99 33x2 64x35; do
    ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 3 -vf scale="$size":flags=bicubic -c:v ffv1 -pix_fmt yuv420p "$tmp/odd.mkv"
    enhance "$tmp/odd.mkv" -o "$tmp/odd_out.mkv" || not_ok "enhance $size" "$(cat "$tmp/log")"
    same "$size is doubled exactly" "$(probe "$tmp/odd_out.mkv" stream=width,height v:0)" \
        "$((2 * ${size%x*})) $((2 * ${size#*x})) "
done
