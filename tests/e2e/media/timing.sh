#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Frames and their times: variable rates, reordering, clocks that jump, timestamps that are missing, repeated or
# out of order, interlaced frames, damage.
. tests/tap.inc

enhance() {
    "$mona" enhance -y "$@" --stages sr --preset ultrafast < /dev/null 2> "$tmp/log"
}
make() {
    ffmpeg -v error -y "$@" || echo "# could not make a test file"
}
count() {
    ffprobe -v quiet -count_frames -select_streams v:0 -show_entries stream=nb_read_frames -of csv=p=0 "$1" | tr -d ',' | head -n 1
}
# Whether times ascend in steps of at most $1 seconds.
steps() {
    awk -v most="$1" 'NR > 1 && ($1 <= last || $1 - last > most) { bad = bad " " last "->" $1 } { last = $1 }
        END { print (bad ? bad : "even") }'
}

# From the first to the last frame, in seconds.
span() {
    video_times "$1" | awk 'NR == 1 { first = $1 } { last = $1 } END { printf "%.3f", last - first }'
}

film 48 "$tmp/scene.y4m" 320x180
tiny="-vf scale=96:54 -c:v libx264 -preset veryfast -pix_fmt yuv420p"

# ---- timestamps ---------------------------------------------------------------------------------
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=1.92 $tiny -bf 2 -c:a aac "$tmp/av.mp4"

make -i "$tmp/av.mp4" -map 0 -c copy -bsf:v "setts=pts=if(eq(mod(N\,6)\,3)\,PREV_OUTPTS\,PTS):dts=DTS" "$tmp/double.mkv"
enhance "$tmp/double.mkv" -o "$tmp/out.mkv" || not_ok "doubled timestamps" "$(cat "$tmp/log")"
video_times "$tmp/out.mkv" > "$tmp/times"
same "doubled timestamps: no frame is lost" "$(wc -l < "$tmp/times")" 48
same "doubled timestamps: they ascend" "$(steps 0.2 < "$tmp/times")" even
same "doubled timestamps: it is said" "$(grep -c 'timestamps that did not ascend; moved \(it\|them\)' "$tmp/log")" 1

if full; then
    # Frames that are closer together than the ticks of the container's clock.
    make -r 5000 -i "$tmp/scene.y4m" -vf scale=96:54 -c:v libx264 -bf 2 -pix_fmt yuv420p -video_track_timescale 90000 "$tmp/fast.mp4"
    for suffix in $(! full || echo mov) mkv; do
        enhance "$tmp/fast.mp4" -o "$tmp/out.$suffix" || not_ok "5000 frames a second, .$suffix" "$(cat "$tmp/log")"
        same "5000 frames a second: none is lost, .$suffix" "$(count "$tmp/out.$suffix")" 48
        case $suffix in mkv) expected=1 ;; *) expected=0 ;; esac
        same "5000 frames a second: told where the clock is too coarse, .$suffix" "$(grep -c 'matroska counts in steps of 1/1000 s: [0-9]* frames' "$tmp/log")" $expected
    done
    rm -f "$tmp/out.avi"
    enhance "$tmp/fast.mp4" -o "$tmp/out.avi"
    same "5000 frames a second: refused where they cannot be" "$? $(grep -c 'too coarse for frames so close' "$tmp/log") $([ -e "$tmp/out.avi" ] && echo file)" "1 1 "
fi

# A clock that starts again, as in joined broadcasts.
make -i "$tmp/av.mp4" -c copy -f mpegts "$tmp/one.ts" -c copy -output_ts_offset 5000 -f mpegts "$tmp/two.ts"
cat "$tmp/two.ts" "$tmp/one.ts" "$tmp/two.ts" > "$tmp/jump.ts"
for suffix in $(! full || echo mkv ts) mp4; do
    enhance "$tmp/jump.ts" -o "$tmp/out.$suffix" || not_ok "a clock that jumps, .$suffix" "$(cat "$tmp/log")"
    video_times "$tmp/out.$suffix" > "$tmp/times"
    same "a clock that jumps: no frame is lost, .$suffix" "$(wc -l < "$tmp/times")" "$((3 * 48))"
    same "a clock that jumps: the pieces follow each other, .$suffix" "$(steps 0.3 < "$tmp/times")" even
    same "a clock that jumps: sound stays beside the picture, .$suffix" "$({
        ffprobe -v error -select_streams a:0 -show_entries packet=pts_time -of csv=p=0 "$tmp/out.$suffix" | tr -d , | sort -n | tail -n 1
        tail -n 1 "$tmp/times"
    } | tr '\n' ' ' | awk '{ d = $1 - $2; print (d < 0.2 && d > -0.2 ? "yes" : $0) }')" yes
done
same "a clock that jumps: it is said" "$(grep -c "clock jumped [0-9]* times*; joined" "$tmp/log")" 1

# Raw streams have no clock: frames follow each other at the stream's rate.
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" $tiny -bf 2 -f h264 "$tmp/raw.264" -vf scale=96:54 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f mjpeg "$tmp/raw.mjpeg"
# A stream that does not state its rate either: FFmpeg 7 gives frames that it has not probed a duration of
# almost zero.
make -i "$tmp/scene.y4m" -vf scale=96:54,loop=1:48 -c:v libx265 -preset ultrafast -pix_fmt yuv420p \
    -x265-params log-level=none:vui-timing-info=0 -f hevc "$tmp/raw.265"
for raw in 264:48 265:96 $(! full || echo mjpeg:48); do
    name=raw.${raw%:*} count=${raw#*:}
    enhance "$tmp/$name" -o "$tmp/out.mp4" || not_ok "$name" "$(cat "$tmp/log")"
    same "$name: $count frames, one every 40 ms" "$(video_times "$tmp/out.mp4" |
        awk '{ t = NR * 0.04 - 0.04; if ($1 - t > 0.001 || t - $1 > 0.001) bad = bad " " $1 } END { print NR bad }')" "$count"
done

# ---- interlaced ---------------------------------------------------------------------------------
# Each frame has the fields of two moments; there are half as many frames.
make -i "$tmp/scene.y4m" -vf "scale=192:108,tinterlace=interleave_top,fieldorder=tff" -c:v libx264 -flags +ilme+ildct \
    -x264opts tff=1 -crf 10 -pix_fmt yuv420p "$tmp/fields.mkv"
# Counts frames that idet takes for interlaced.
combed() {
    ffmpeg -v info -i "$1" -vf idet -f null - 2>&1 | sed -n 's/.*Multi frame detection: TFF: *\([0-9]*\) BFF: *\([0-9]*\).*/\1 \2/p' |
        tail -n 1 | awk '{ print $1 + $2 }'
}
! full || same "the test file is combed" "$([ "$(combed "$tmp/fields.mkv")" -ge 20 ] && echo yes)" yes
# Without enlarging, so that rows stay the same.
"$mona" enhance "$tmp/fields.mkv" -o "$tmp/whole.mkv" --stages denoise --strength 0 -c ffv1 2> "$tmp/log"
same "interlaced: it is said" "$(grep -c ': interlaced; it is deinterlaced' "$tmp/log")" 1
# idet needs a few frames before it is certain.
same "interlaced: nothing stays combed" "$([ "$(combed "$tmp/whole.mkv")" -le 5 ] && echo yes)" yes
! full || same "interlaced: as many frames at the same times" "$(video_times "$tmp/whole.mkv")" "$(video_times "$tmp/fields.mkv")"
# The fields of 50i are what the frames of 50p were.
make -i "$tmp/scene.y4m" -vf scale=192:108 -c:v ffv1 "$tmp/moments.mkv"
rate_of() {
    ffprobe -v error -select_streams v:0 -show_entries stream=r_frame_rate -of csv=p=0 "$1" | tr -d ,
}
"$mona" enhance -y "$tmp/fields.mkv" -o "$tmp/each.mkv" --stages denoise --strength 0 -c ffv1 --fields double 2> "$tmp/log"
same "--fields double: a frame for each field" "$(count "$tmp/each.mkv") $(rate_of "$tmp/each.mkv")" \
    "$(count "$tmp/moments.mkv") $(rate_of "$tmp/moments.mkv")"
video_times "$tmp/moments.mkv" > "$tmp/wanted"
same "--fields double: at their times" "$(video_times "$tmp/each.mkv" | paste - "$tmp/wanted" |
    awk '{ d = $1 - $2 } d > 0.0011 || d < -0.0011 { print NR, $0 } END { print NR }')" "$(wc -l < "$tmp/wanted")"
at_least "--fields double: they are the moments of the fields" "$(psnr_y "$tmp/each.mkv" "$tmp/moments.mkv")" 28
# From a second field on, to before one: moments 5 to 10, of which the first and last lack a neighbour.
"$mona" enhance -y "$tmp/fields.mkv" -o "$tmp/part.mkv" --stages denoise --strength 0 -c ffv1 --fields double -ss 0.2 -to 0.44 --quiet
same "--fields double: a part begins and ends with its fields" "$(frames_md5 "$tmp/part.mkv" | sed '1d;$d') $(video_times "$tmp/part.mkv" | sed -n '1p;$p' | tr '\n' ' ')" \
    "$(frames_md5 "$tmp/each.mkv" | sed -n '7,10p') 0.000000 0.200000 "
# With sound: 48 moments at 25 a second, stored as 24 frames.
make -i "$tmp/fields.mkv" -f lavfi -i sine=300:duration=1.92 -c:v copy -c:a aac "$tmp/fields.mp4"
each() {
    out=$1
    shift
    "$mona" enhance "$tmp/fields.mp4" -o "$out" --stages denoise --strength 0 --fields double --quiet "$@" 2> "$tmp/log" < /dev/null
}
# Where the last packet of stream $2 ends, in seconds.
end_of() {
    ffprobe -v error -select_streams "$2" -show_entries packet=pts_time,duration_time -of csv=p=0 "$1" |
        awk -F , '$1 + $2 > end { end = $1 + $2 } END { printf "%.3f", end }'
}
for suffix in mp4 mkv; do
    each "$tmp/sound.$suffix"
    same "--fields double: the sound stays as it is, .$suffix" "$? $(packets_md5 "$tmp/sound.$suffix" a)" "0 $(packets_md5 "$tmp/fields.mp4" a)"
    # MKV has no room for the encoder's priming, so that everything is up to 24 ms later.
    same "and in sync, .$suffix" "$(paste "$tmp/wanted" - <<END | awk '{ d = $2 - $1; if (NR == 1) first = d; if (d < -0.001 || d > 0.025 || d - first > 0.0011 || first - d > 0.0011) print NR, $0 } END { print NR }'
$(video_times "$tmp/sound.$suffix")
END
)" 48
done
each "$tmp/few.mkv" --frames 7
same "--frames counts fields, and the sound ends with them" "$(count "$tmp/few.mkv") $(echo "$(end_of "$tmp/few.mkv" v) $(end_of "$tmp/few.mkv" a)" |
    awk '{ d = $2 - $1; print (d > -0.025 && d < 0.025 ? "together" : $0) }')" "7 together"
each "$tmp/whole_each.mkv" -c ffv1
for segment in 7 8; do # in the middle of a frame, and between two
    each "$tmp/parts.mkv" -y -c ffv1 --resume --segment $segment
    same "--fields double in segments of $segment: the same" "$? $(frames_md5 "$tmp/parts.mkv") $(video_times "$tmp/parts.mkv") $(packets_md5 "$tmp/parts.mkv" a)" \
        "0 $(frames_md5 "$tmp/whole_each.mkv") $(video_times "$tmp/whole_each.mkv") $(packets_md5 "$tmp/whole_each.mkv" a)"
done
"$mona" enhance "$tmp/fields.mp4" -o "$tmp/killed.mkv" --stages denoise --strength 0 --fields double -c ffv1 --cpu c --resume \
    --segment 3 --quiet &
job=$!
waited=0
while [ $waited -lt 200 ] && [ ! -e "$tmp/killed.mkv.resume/000000" ]; do
    sleep 0.02
    waited=$((waited + 1))
done
kill -9 $job 2> /dev/null
wait $job 2> /dev/null
if [ -e "$tmp/killed.mkv" ]; then
    skip "the run ended before it was killed"
else
    each "$tmp/killed.mkv" -c ffv1 --resume --segment 3 --fields single
    same "fields that were begun doubled do not go on singly" "$? $(grep -c 'expected work on the same input with the same options' "$tmp/log")" "1 1"
    library=$(ldd "$BUILD/libmonavideo.so" | sed -n 's/.*=> \([^ ]*libx264[^ ]*\) .*/\1/p')
    if [ -n "$library" ]; then
        mkdir "$tmp/libraries" && cp "$library" "$tmp/libraries" && touch -d 2020-01-01 "$tmp/libraries"/*
        export LD_LIBRARY_PATH="$tmp/libraries"
        each "$tmp/killed.mkv" -c ffv1 --resume --segment 3
        same "nor with another library of an encoder" "$? $(grep -c 'expected work on the same input with the same options' "$tmp/log")" "1 1"
        unset LD_LIBRARY_PATH
    fi
    each "$tmp/killed.mkv" -c ffv1 --resume --segment 3
    same "what was killed goes on in the same way" "$? $(frames_md5 "$tmp/killed.mkv") $(packets_md5 "$tmp/killed.mkv" a)" \
        "0 $(frames_md5 "$tmp/whole_each.mkv") $(packets_md5 "$tmp/whole_each.mkv" a)"
fi
if full; then
    "$mona" enhance "$tmp/fields.mkv" -o "$tmp/left.mkv" --stages denoise --strength 0 -c ffv1 --deinterlace off 2> "$tmp/log"
    same "--deinterlace off: it is said" "$(grep -c 'interlaced; it is enhanced without deinterlacing' "$tmp/log")" 1
    same "--deinterlace off: it stays combed" "$([ "$(combed "$tmp/left.mkv")" -ge 20 ] && echo yes)" yes
    enhance "$tmp/fields.mkv" -o "$tmp/few.mkv" --frames 7
    same "interlaced: --frames 7 gives 7" "$(count "$tmp/few.mkv")" 7
fi

# What stays interlaced stays marked as such, by the field that comes first, or it is said that it is not.
marks() {
    ffprobe -v error -select_streams v -show_entries frame=interlaced_frame,top_field_first -of csv=p=0 "$1" | grep . | tr -d '\n,' | sed 's/side_data//g'
}
make -i "$tmp/fields.mkv" -vf fieldorder=bff -c:v mpeg2video -pix_fmt yuv420p -flags +ilme+ildct -q:v 2 -frames:v 3 "$tmp/bottom.mpg"
make -i "$tmp/fields.mkv" -c:v mpeg2video -flags +ilme+ildct -q:v 2 -frames:v 3 "$tmp/top.mpg"
left() {
    rm -f "$tmp/left.$3"
    "$mona" enhance -y "$tmp/$1.mpg" -o "$tmp/left.$3" --stages "$4" --deinterlace off -c "$2" 2> "$tmp/log"
    echo "$(marks "$tmp/left.$3") $(grep -c 'is not marked as interlaced' "$tmp/log")"
}
for way in "h264 mp4" "ffv1 mkv" "prores mov"; do
    # shellcheck disable=SC2086
    same "--deinterlace off: marks of fields: $way" "$(left top $way denoise), $(left bottom $way denoise)" "111111 0, 101010 0"
done
same "--deinterlace off: a codec without marks of fields is told" "$(left top hevc mkv denoise)" "000000 1"
same "--deinterlace off: larger frames have the fields' rows no longer, and are not marked" "$(left top ffv1 mkv sr) $(left top h264 mp4 sr)" "000000 1 000000 1"
"$mona" enhance "$tmp/bottom.mpg" -o "$tmp/left.y4m" --stages denoise --deinterlace off --quiet
same "--deinterlace off: in y4m" "$(head -n 1 "$tmp/left.y4m" | grep -ac ' Ib ')" 1

# The same frames, coded as if they were progressive: only their look can show the fields.
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/scene.png"
"$BUILD/neutral" "$tmp/neutral.onnx"
"$mona" compile "$tmp/neutral.onnx" --picture -o "$tmp/neutral.mona" --calibrate "$tmp/scene.png" > "$tmp/log" 2>&1 || not_ok "compile" "$(cat "$tmp/log")"
as_they_are() {
    "$mona" enhance -y "$@" --stages denoise --temporal off --denoise "$tmp/neutral.mona" -c ffv1 2> "$tmp/log" < /dev/null
}
# The same for single frames, independent of those before.
fields_in() {
    ffmpeg -v info -i "$1" -vf idet -f null - 2>&1 | sed -n 's/.*Single frame detection: TFF: *\([0-9]*\) BFF: *\([0-9]*\).*/\1 \2/p' |
        tail -n 1 | awk '{ print $1 + $2 }'
}
hidden="-vf scale=192:108,tinterlace=interleave_bottom -c:v libx264 -crf 16"
for format in $(! full || echo yuv422p10le) yuv420p; do
    # shellcheck disable=SC2086
    make -i "$tmp/scene.y4m" $hidden -pix_fmt $format "$tmp/hidden.mkv"
    same "fields that nobody marked, $format: the test file is combed, and does not say so" \
        "$([ "$(fields_in "$tmp/hidden.mkv")" -ge 18 ] && echo combed) $(ffprobe -v error -show_entries frame=interlaced_frame \
            -of csv=p=0 "$tmp/hidden.mkv" | tr -d ',' | grep . | sort -u)" "combed 0"
    as_they_are "$tmp/hidden.mkv" -o "$tmp/whole.mkv" || not_ok "hidden fields, $format" "$(cat "$tmp/log")"
    same "fields that nobody marked, $format: it is said" "$(grep -c 'looks interlaced, although it is not marked as such; it is deinterlaced' "$tmp/log")" 1
    same "fields that nobody marked, $format: nothing stays combed" "$([ "$(fields_in "$tmp/whole.mkv")" -le 6 ] && echo yes)" yes
    if full; then
        same "fields that nobody marked, $format: as many frames at the same times" "$(video_times "$tmp/whole.mkv")" "$(video_times "$tmp/hidden.mkv")"
        as_they_are "$tmp/hidden.mkv" -o "$tmp/left.mkv" --deinterlace off
        same "fields that nobody marked, $format: off leaves every frame as it is, and says so" \
            "$(grep -c 'looks interlaced.*enhanced without deinterlacing' "$tmp/log") $(frames_md5 "$tmp/left.mkv" | md5sum)" "1 $(frames_md5 "$tmp/hidden.mkv" | md5sum)"
    fi
done
! full || as_they_are "$tmp/hidden.mkv" -o "$tmp/few.mkv" --frames 3
! full || same "fields that nobody marked: --frames 3 sees them too" "$(count "$tmp/few.mkv") $(grep -c 'looks interlaced' "$tmp/log")" "3 1"
if full; then
    # Through a pipe, and after a progressive beginning.
    ffmpeg -v error -i "$tmp/hidden.mkv" -f yuv4mpegpipe - | "$mona" enhance - -o "$tmp/piped.mkv" --stages denoise --strength 0 -c ffv1 --quiet
    same "fields that nobody marked, from a pipe: nothing stays combed" "$([ "$(fields_in "$tmp/piped.mkv")" -le 6 ] && echo yes)" yes
    make -i "$tmp/scene.y4m" -i "$tmp/hidden.mkv" -filter_complex "[0]scale=192:108,format=yuv420p,setsar=1[a];[1]format=yuv420p,setsar=1[b];[a][b]concat" -c:v ffv1 "$tmp/joined.mkv"
    as_they_are "$tmp/joined.mkv" -o "$tmp/whole.mkv"
    same "fields from the 49th frame on: nothing stays combed" "$([ "$(fields_in "$tmp/whole.mkv")" -le 6 ] && echo yes)" yes
    same "fields from the 49th frame on: what comes before stays as it is" "$(frames_md5 "$tmp/whole.mkv" | head -n 40 | md5sum)" "$(frames_md5 "$tmp/joined.mkv" | head -n 40 | md5sum)"
    # Two frames in five of a film that was converted to fields.
    make -i "$tmp/scene.y4m" -vf scale=192:108,telecine=top -c:v ffv1 -pix_fmt yuv420p "$tmp/film.mkv"
    as_they_are "$tmp/film.mkv" -o "$tmp/whole.mkv"
    same "a film made into fields: the combed frames are made whole" "$([ "$(fields_in "$tmp/film.mkv")" -ge 20 ] && [ "$(fields_in "$tmp/whole.mkv")" -le 6 ] && echo yes)" yes
fi
# Progressive frames stay unchanged, even where idet alone sees fields.
! full || make -i "$tmp/scene.y4m" -vf scale=192:108 -c:v ffv1 -pix_fmt yuv420p "$tmp/plain.mkv" \
    -vf scale=192:108,noise=alls=30:allf=t:all_seed=3 -c:v ffv1 -pix_fmt yuv420p "$tmp/noisy.mkv"
make -f lavfi -i testsrc2=s=192x108:r=25 -frames:v 30 -c:v ffv1 -pix_fmt yuv420p "$tmp/pattern.mkv"
same "idet takes the pattern for fields" "$([ "$(fields_in "$tmp/pattern.mkv")" -ge 20 ] && echo yes)" yes
for name in pattern $(! full || echo plain noisy); do
    as_they_are "$tmp/$name.mkv" -o "$tmp/out.mkv"
    same "frames of one moment stay as they are: $name" "$(grep -c interlaced "$tmp/log") $(frames_md5 "$tmp/out.mkv" | md5sum)" \
        "0 $(frames_md5 "$tmp/$name.mkv" | md5sum)"
done

# ---- damage -------------------------------------------------------------------------------------
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=1.92 $tiny -g 12 -bf 0 -c:a aac "$tmp/good.mkv"
{ head -c 12000 "$tmp/good.mkv"; head -c 2500 /dev/zero; tail -c +14501 "$tmp/good.mkv"; } > "$tmp/hole.mkv"
enhance "$tmp/hole.mkv" -o "$tmp/out.mkv" || not_ok "a hole in the file" "$(cat "$tmp/log")"
same "a hole in the file: every frame that can be decoded is there" "$(count "$tmp/out.mkv")" "$(count "$tmp/hole.mkv")"
# From the first frame on: sound that begins before it, as FFmpeg 7 writes the encoder's priming, moves everything.
same "a hole in the file: what follows it keeps its time" "$(span "$tmp/out.mkv")" "$(span "$tmp/good.mkv")"
same "a hole in the file: it is said what was done" "$(grep -c 'hole.mkv: FFmpeg found [0-9]* fault' "$tmp/log")" 1
rm -f "$tmp/out.mkv"
enhance "$tmp/hole.mkv" -o "$tmp/out.mkv" --on-error stop
same "--on-error stop ends there with status 1 and no file" \
    "$? $(grep -c 'hole.mkv: .*damaged' "$tmp/log") $([ -e "$tmp/out.mkv" ] && echo file)" "1 1 "
# A cluster whose head is lost, which FFmpeg skips; in the second film frames come unevenly.
for even in 1 0; do
    # shellcheck disable=SC2086
    make -i "$tmp/scene.y4m" $tiny -vf "select=$even+not(between(n\,4\,8)),scale=96:54" -fps_mode vfr -g 6 -bf 0 -cluster_time_limit 400 "$tmp/clusters.mkv"
    python3 - "$tmp/clusters.mkv" "$tmp/lost.mkv" << 'END'
import sys
film = open(sys.argv[1], "rb").read()
parts = film.split(b"\x1f\x43\xb6\x75")
open(sys.argv[2], "wb").write(b"\x1f\x43\xb6\x75".join(parts[:3]) + bytes(64) + b"\x1f\x43\xb6\x75".join(parts[3:])[60:])
END
    enhance "$tmp/lost.mkv" -o "$tmp/out.mkv"
    gap=$(video_times "$tmp/out.mkv" | awk 'NR > 1 && $1 - last > 0.15 { gap += $1 - last - 0.04 } { last = $1 } END { printf "%.2f", gap }')
    said=$(sed -n 's/.*FFmpeg found [0-9]* fault.*; \([0-9.]*\) s of film are missing/\1/p' "$tmp/log")
    [ $even = 0 ] || same "a part that was skipped: it is said how long it was" "$gap $([ "$gap" != 0.00 ] && echo some)" "$said some"
    [ $even = 1 ] || nothing "but not where frames come unevenly" "$said"
done

# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" $tiny -movflags +faststart "$tmp/long.mp4"
make -i "$tmp/long.mp4" -c copy "$tmp/long.mkv"
for name in $(! full || echo long.mkv) long.mp4; do
    head -c $(($(wc -c < "$tmp/$name") / 2)) "$tmp/$name" > "$tmp/cut_$name"
    enhance "$tmp/cut_$name" -o "$tmp/out.mkv" || not_ok "$name cut in half" "$(cat "$tmp/log")"
    same "$name cut in half: every frame that is there" "$(count "$tmp/out.mkv")" "$(count "$tmp/cut_$name")"
    same "$name cut in half: it is said" "$(grep -c 'cut short' "$tmp/log")" 1
    rm -f "$tmp/out.mkv"
    enhance "$tmp/cut_$name" -o "$tmp/out.mkv" --on-error stop
    same "$name cut in half, --on-error stop: status 1 and no file" "$? $([ -e "$tmp/out.mkv" ] && echo file)" "1 "
done
# Where a film begins late, these tell the time of its end for its duration.
make -i "$tmp/scene.y4m" $tiny -an -output_ts_offset 100 "$tmp/late_film.mp4"
for suffix in mp4 mkv $(! full || echo webm mov); do
    make -i "$tmp/late_film.mp4" -copyts -c copy $([ $suffix != webm ] || echo -c:v libvpx) "$tmp/late.$suffix"
    enhance "$tmp/late.$suffix" -o "$tmp/out.mkv" --on-error stop --progress json
    same "a film that begins at 100 s is not cut short, .$suffix" \
        "$? $(count "$tmp/out.mkv") $(grep -c 'cut short' "$tmp/log") $(sed -n 's/.*"begin".*"expected":\([0-9]*\).*/\1/p' "$tmp/log")" "0 48 0 48"
done
# Between two frames, so that no decoder complains, and for less than a second.
at=$(ffprobe -v error -select_streams v:0 -show_entries packet=pos -of csv=p=0 "$tmp/long.mp4" | tail -n 6 | head -n 1)
head -c "${at%,}" "$tmp/long.mp4" > "$tmp/cut_six.mp4"
enhance "$tmp/cut_six.mp4" -o "$tmp/out.mkv"
same "six frames that an index lists are not there: it is said" \
    "$? $(grep -c 'of the [0-9]* frames that the file announces, the last 6 are missing' "$tmp/log")" "0 1"
make -i "$tmp/long.mp4" -c copy "$tmp/end.mp4"
head -c $(($(wc -c < "$tmp/end.mp4") / 2)) "$tmp/end.mp4" > "$tmp/cut_end.mp4"
enhance "$tmp/cut_end.mp4" -o "$tmp/out.mkv"
same "an mp4 that was cut off before its index: it is said" "$? $(grep -c 'the file is cut off' "$tmp/log")" "1 1"
head -c $(($(wc -c < "$tmp/scene.y4m") - 100)) "$tmp/scene.y4m" > "$tmp/cut.y4m"
enhance "$tmp/cut.y4m" -o "$tmp/out.mkv"
same "a y4m that ends in the middle of a frame: it is said" "$? $(grep -c '1 packet could not be decoded' "$tmp/log")" "0 1"
rm -f "$tmp/out.mkv"
enhance "$tmp/cut.y4m" -o "$tmp/out.mkv" --on-error stop
same "the same, --on-error stop: status 1 and no file" "$? $([ -e "$tmp/out.mkv" ] && echo file)" "1 "

# ---- a part of a film -------------------------------------------------------------------------------
# Before its first frame, behind which Matroska has more than one cluster.
# shellcheck disable=SC2086
make -itsoffset 1 -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=3 $tiny -g 12 -c:a aac "$tmp/sound_first.mkv"
enhance "$tmp/sound_first.mkv" -o "$tmp/out.mkv" -ss 0.5
same "a part that begins with sound alone has every frame, .mkv" "$? $(count "$tmp/out.mkv")" "0 48"

# What libav cannot search, it reads to the end.
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" $tiny -g 12 "$tmp/plain.h264" -c:v mjpeg -s 96x54 "$tmp/plain.mjpeg" -c:v flv -s 96x54 "$tmp/plain.swf"
for suffix in h264 $(! full || echo mjpeg swf); do
    enhance "$tmp/plain.$suffix" -o "$tmp/out.mkv" -ss 0.5
    same "a part of what cannot be searched, .$suffix" "$? $(count "$tmp/out.mkv")" "0 35"
done

# Of clocks that tick once a frame: the frame at 0.04 s is before 0.05 s.
enhance "$tmp/scene.y4m" -o "$tmp/out.mkv" -ss 0.05 -to 1
same "a part begins with the first frame that is not before it, .y4m" "$? $(count "$tmp/out.mkv")" "0 23"
make -r 2 -i "$tmp/scene.y4m" -f lavfi -i "aevalsrc=gt(t\,2)*sin(3000*t):d=4:s=48000" -frames:v 8 -s 96x54 -c:v mpeg4 -c:a pcm_s16le "$tmp/slow.avi"
enhance "$tmp/slow.avi" -o "$tmp/out.mkv" -ss 0.8
# The frame at 2 s, the third, and the sound that begins there.
same "a part stays in sync where the clock ticks twice a second, .avi" \
    "$? $(video_times "$tmp/out.mkv" | sed -n 3p | cut -c 1-4)" \
    "0 $(ffmpeg -v info -copyts -i "$tmp/out.mkv" -af silencedetect=d=0.1 -f null - 2>&1 | sed -n 's/.*silence_end: \([0-9.]*\).*/\1/p' | head -n 1 | cut -c 1-4)"

# ---- streams without a container ------------------------------------------------------------------
# shellcheck disable=SC2086
make -i "$tmp/scene.y4m" -frames:v 12 $tiny -video_track_timescale 12800 "$tmp/few.mp4"
make -r 30000/1001 -i "$tmp/few.mp4" -c:v libx264 -video_track_timescale 30000 "$tmp/ntsc.mp4"
make -i "$tmp/few.mp4" -vf "select='not(mod(n\,5))+eq(mod(n\,7)\,3)'" -fps_mode vfr -c:v libx264 "$tmp/uneven.mp4"
for suffix in h264 $(! full || echo hevc obu); do
    codec=$([ "$suffix" = obu ] && echo av1 || echo "$suffix")
    for length in few:1/25 ntsc:1001/30000; do # of a frame; FFmpeg 5 and 7 count rates of raw streams differently
        "$mona" enhance -y "$tmp/${length%:*}.mp4" -o "$tmp/out.$suffix" --stages sr -c "$codec" 2> "$tmp/log"
        same "a raw stream says how fast it is played, .$suffix of ${length%:*}.mp4" \
            "$? $(ffmpeg -v error -i "$tmp/out.$suffix" -f framecrc - | sed -n 's/#tb 0: //p') $(grep -c 'stores no timestamps' "$tmp/log")" "0 ${length#*:} 0"
    done
    "$mona" enhance -y "$tmp/uneven.mp4" -o "$tmp/out.$suffix" --stages sr -c "$codec" 2> "$tmp/log"
    same "and what it cannot say is told, .$suffix" "$? $(grep -c 'stores no timestamps: [0-9]* of [0-9]* frames' "$tmp/log")" "0 1"
done
