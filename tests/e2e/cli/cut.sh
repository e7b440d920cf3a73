#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -ss, -to and -t as in ffmpeg: a part of a clip with its sound, subtitles and chapters, with times from 0.
. tests/tap.inc

# 4 s at 25 frames a second with a key frame every second; sound in packets of 0.02 s; a subtitle from 0.5 to
# 1.5 and one from 2 to 3.5; chapters from 0 to 1, 1 to 3 and 3 to 4.
printf '1\n00:00:00,500 --> 00:00:01,500\none\n\n2\n00:00:02,000 --> 00:00:03,500\ntwo\n' > "$tmp/a.srt"
{
    echo ';FFMETADATA1'
    for part in 0,1,first 1,3,second 3,4,third; do
        echo "$part" | awk -F, '{ printf "[CHAPTER]\nTIMEBASE=1/1\nSTART=%s\nEND=%s\ntitle=%s\n", $1, $2, $3 }'
    done
} > "$tmp/chapters"
ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=4 -f lavfi -i sine=d=4:r=48000 -i "$tmp/a.srt" -i "$tmp/chapters" \
    -map 0 -map 1 -map 2 -map_metadata 3 -map_chapters 3 -pix_fmt yuv420p -c:v libx264 -g 25 -c:a pcm_s16le -c:s srt "$tmp/in.mkv"
ffmpeg -v error -i "$tmp/in.mkv" -map 0 -c:v copy -c:a aac -c:s mov_text "$tmp/in.mp4"
ffmpeg -v error -i "$tmp/in.mp4" -map 0:v -map 0:a -c copy -muxdelay 0.7 "$tmp/in.ts"
# The lines of the small test picture look like combing.
plain="--stages sr --deinterlace off --quiet"
# shellcheck disable=SC2086
"$mona" enhance "$tmp/in.mkv" -o "$tmp/whole.y4m" $plain --drop-unsupported 2> "$tmp/log"

# $1: output, rest: options
cut_out() {
    out=$1
    shift
    rm -f "$out"
    coded="-c ffv1"
    [ "${out%.y4m}" = "$out" ] || coded=--drop-unsupported
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/in.mkv" -o "$out" $plain $coded "$@" 2> "$tmp/log" || cat "$tmp/log"
}
# $1: file, $2: a stream specifier of ffprobe. Prints the first and last time, the number of packets, and where
# the last one ends.
span() {
    ffprobe -v error -select_streams "$2" -show_entries packet=pts_time,duration_time -of csv=p=0 "$1" | sort -n |
        awk -F, 'NR == 1 { first = $1 } { last = $1; end = $1 + $2 } END { printf "%.2f %.2f %d %.2f", first, last, NR, end }'
}
# In a y4m file, each frame has a line before its samples, and the file begins with a line.
frame=$((6 + 128 * 96 * 3 / 2))
# Checksum of frames $1 to $2 of the whole, counted from 1; or of all frames of the y4m file $1.
whole_part() {
    tail -n +2 "$tmp/whole.y4m" | tail -c +$((($1 - 1) * frame + 1)) | head -c $((($2 - $1 + 1) * frame)) | cksum
}
all_of() {
    tail -n +2 "$1" | cksum
}

cut_out "$tmp/a.mkv" -ss 1 -to 3
ffmpeg -v error -i "$tmp/a.mkv" -f yuv4mpegpipe "$tmp/a.y4m"
same "-ss 1 -to 3: its frames are those of the whole, sample by sample" "$(all_of "$tmp/a.y4m")" "$(whole_part 26 75)"
same "from 0, one each 0.04 s" "$(span "$tmp/a.mkv" v:0)" "0.00 1.96 50 2.00"
same "its sound is as long" "$(span "$tmp/a.mkv" a:0 | awk '{ print $1, ($4 >= 1.98 && $4 <= 2.03) }')" "0.00 1"
same "subtitles are cut at both ends" "$(ffprobe -v error -select_streams s -show_entries packet=pts_time,duration_time -of csv=p=0 "$tmp/a.mkv" | awk -F, '{ printf "%.1f+%.1f ", $1, $2 }')" \
    "1.0+1.0 "
same "of chapters those that it has" "$(ffprobe -v error -show_entries chapter=start_time,end_time:chapter_tags=title -of csv=p=0 "$tmp/a.mkv" | tr '\n' ' ')" \
    "0.000000,2.000000,second "
same "the file's duration is the part's" "$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$tmp/a.mkv" | awk '{ print ($1 >= 1.99 && $1 <= 2.03) }')" 1

for way in "--start=00:00:01.000 --end=0:03" "-t2 -ss 01.0" "-ss 1 -t 2" "--start 1 --duration 2" "-ss 0:00:01 -to 3.0"; do
    [ "$way" != "-t2 -ss 01.0" ] || full || break
    # shellcheck disable=SC2086
    cut_out "$tmp/b.y4m" $way
    same "$way: the same part" "$(all_of "$tmp/b.y4m")" "$(whole_part 26 75)"
done
cut_out "$tmp/b.y4m" -t 0.5
same "-t 0.5: the first 13 frames, those before 0.5 s" "$(all_of "$tmp/b.y4m")" "$(whole_part 1 13)"
cut_out "$tmp/b.y4m" -ss 2.5 --frames 3
same "--frames counts from -ss" "$(all_of "$tmp/b.y4m")" "$(whole_part 64 66)"
cut_out "$tmp/resumed.mkv" --resume --segment 20 -ss 1 -to 3
same "--resume makes the same part" "$(frames_md5 "$tmp/resumed.mkv")" "$(frames_md5 "$tmp/a.mkv")"
same "with the same sound" "$(packets_md5 "$tmp/resumed.mkv" a:0)" "$(packets_md5 "$tmp/a.mkv" a:0)"
if full; then
    cut_out "$tmp/b.y4m" -ss 3.01 -to 9
    same "an end behind the end is none" "$(all_of "$tmp/b.y4m")" "$(whole_part 77 100)"
    cut_out "$tmp/b.y4m" -ss 1 -to 3 
    same "into a pipe's format too" "$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$tmp/b.y4m")" 50
fi
# shellcheck disable=SC2086
"$mona" enhance - -o "$tmp/piped.y4m" $plain --drop-unsupported -ss 1 -to 3 < "$tmp/in.mkv" 2> "$tmp/log"
same "and out of a pipe" "$(all_of "$tmp/piped.y4m")" "$(whole_part 26 75)"

# Containers whose times do not begin at 0, or that have edit lists.
for suffix in $(! full || echo ts) mp4; do
    later=$tmp/later.$suffix
    [ $suffix = mp4 ] || later=$tmp/later.mkv
    "$mona" enhance "$tmp/in.$suffix" -o "$tmp/c.$suffix" --stages sr --preset ultrafast --quiet -t 1
    "$mona" enhance "$tmp/in.$suffix" -o "$later" --stages sr --preset ultrafast --quiet -ss 1 -t 1
    same "$suffix: -t 1 has 25 frames" "$(video_times "$tmp/c.$suffix" | wc -l)" 25
    same "$suffix: -ss 1 -t 1 has 25 frames, which begin at 0" "$(video_times "$later" | awk 'NR == 1 { first = $1 } END { print NR, ($1 < 1 && first < 0.04) }')" "25 1"
done
"$mona" enhance "$tmp/in.mkv" -o "$tmp/one.mkv" $plain -c ffv1 -ss 1 --frames 1
ffmpeg -v error -i "$tmp/in.mkv" -map 0:v -c copy "$tmp/video.ts"
"$mona" enhance "$tmp/video.ts" -o "$tmp/one_ts.mkv" $plain -c ffv1 -ss 1 --frames 1
same "without an index the place is found too" "$(frames_md5 "$tmp/one_ts.mkv")" "$(frames_md5 "$tmp/one.mkv")"
same "mp4: a subtitle that began before is shown for what is left of it" \
    "$(ffprobe -v error -select_streams s -show_entries packet=pts_time,duration_time,size -of csv=p=0 "$tmp/later.mp4" | awk -F, '$3 > 2 { printf "%.1f+%.1f ", $1, $2 }')" "0.0+0.5 "

# ---- what knows of the part ---------------------------------------------------------------------
same "--dry-run counts the part's frames" "$("$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" --stages sr -ss 1.5 -t 0.5 --dry-run --json |
    python3 -c 'import json, sys; s = json.load(sys.stdin)["speed"]; print(s["expected_frames"], s["measured_frames"] <= 12)')" "12 True"
! full || same "progress does" "$("$mona" enhance "$tmp/in.mkv" -o "$tmp/e.mkv" --stages sr -ss 1.5 -t 0.5 --progress json 2>&1 |
    python3 -c 'import json, sys; e = [json.loads(l) for l in sys.stdin]; print(e[0]["expected"], e[-1]["frames"])')" "12 12"
succeeds "compare takes the part of A" "$mona" compare "$tmp/whole.y4m" "$tmp/a.mkv" -ss 1 -t 2 --min-psnr inf
same "800ms is a time as 0.8 is" "$("$mona" compare "$tmp/whole.y4m" "$tmp/whole.y4m" -t 800ms --frames 20 --json | md5sum)" \
    "$("$mona" compare "$tmp/whole.y4m" "$tmp/whole.y4m" -t 0.8 --frames 20 --json | md5sum)"
! full || succeeds "--preview of a time of the part" "$mona" enhance "$tmp/in.mkv" -o "$tmp/look.png" --stages sr --preview 0:01.5 -ss 1 -to 3
fails "--preview of another time" "--preview: expected a time within the part" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.png" --preview 3 -ss 1 -to 3

# ---- what makes no sense ------------------------------------------------------------------------
for wrong in $(! full || echo x 1:2:3:4 0x10 inf 1: :1 1.2:3 1.2.3 -1 1e3 5h ms) 1:60 1:30s ""; do
    fails "-ss '$wrong'" "expected a time such as" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" -ss "$wrong"
done
! full || fails "an end before the start" "--end: expected a time after --start" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" -ss 3 -to 1
fails "nothing at all" "--duration: expected more than 0 s" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" -t 0
! full || fails "two ends" "found both" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" -t 1 -to 2
fails "a part behind the end" "expected frames from 5 s" "$mona" enhance "$tmp/in.mkv" -o "$tmp/no.mkv" -ss 5 -t 1 --quiet
fails "which may be standard input" "standard input: expected frames from 5 s" sh -c "'$mona' enhance - -o '$tmp/no.mkv' -ss 5 -t 1 --quiet < '$tmp/in.mkv'"
nothing "no output of these is left" "$(ls "$tmp" | grep '^no')"
