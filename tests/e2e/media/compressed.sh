#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Film gets back part of what compression removed, as far as the decoder's quantisers show how much that was.
# Film that was hardly compressed is left alone, and so is everything without known quantisers.
. tests/tap.inc

if [ -z "$clips" ]; then
    skip "the real clips are not here"
    exit 0
fi
ffmpeg -v error -y -i "$clips/carphone_pristine_sar.mp4" -frames:v 24 -vf crop=176:144,format=yuv420p -c:v ffv1 "$tmp/original.mkv"
# $1: name, rest: how it is compressed
compress() {
    name=$1
    shift
    ffmpeg -v error -y -i "$tmp/original.mkv" "$@" "$tmp/$name"
}
compress coarse.mkv -c:v libx264 -crf 32
compress fine.mkv -c:v libx264 -crf 14
compress exact.mkv -c:v libx264 -qp 0
ffmpeg -v error -y -i "$tmp/coarse.mkv" -c:v ffv1 "$tmp/untold.mkv"

# $1: input, rest: options
clean() {
    input=$1
    shift
    "$mona" enhance -y "$tmp/$input" -o "$tmp/out.mkv" -c ffv1 --stages denoise --quiet "$@" < /dev/null
}
frames() { # as clean: MD5 of every frame
    clean "$@" && frames_md5 "$tmp/out.mkv"
}
# Like clean: by how many dB luma gets closer to the original.
gained() {
    before=$(psnr_y "$tmp/$1" "$tmp/original.mkv")
    clean "$@"
    echo "$(psnr_y "$tmp/out.mkv" "$tmp/original.mkv") - $before" | sed 's/inf/99/g' | tr -d '\n' | awk -F ' - ' '{ print $1 - $2 }'
}
# Like clean: prints the reported error of compression in the last frame; none: nothing is reported.
told() {
    input=$1
    shift
    "$mona" enhance -y "$tmp/$input" -o "$tmp/told.mkv" -c ffv1 --stages denoise --progress json "$@" 2>&1 < /dev/null |
        sed -n 's/.*"end".*"compression":\([0-9.]*\).*/\1/p' | grep . || echo none
}
about() { # $1: name, $2: found, $3: wanted, which it may be a third from
    same "$1: $2 is about $3" "$(awk "BEGIN { print ($2 > $3 * 2 / 3 && $2 < $3 * 3 / 2) }")" 1
}

# ---- better than it was ---------------------------------------------------------------------------
for tier in fast balanced; do
    at_least "CRF 32, $tier: dB gained" "$(gained coarse.mkv --tier $tier)" 0.12
    at_least "CRF 14, $tier: dB gained or nearly" "$(gained fine.mkv --tier $tier)" -0.07
done
"$scene" 6 "$tmp/made.y4m"
ffmpeg -v error -y -i "$tmp/made.y4m" -vf scale=320:180,gblur=1.5,format=yuv420p -c:v libx264 -crf 10 "$tmp/made.mkv"
same "what is clean and hardly compressed stays as it is, every byte" "$(frames made.mkv)" "$(frames_md5 "$tmp/made.mkv")"
same "by a network for film" "$("$mona" enhance "$tmp/coarse.mkv" -o "$tmp/x.mkv" --stages denoise --dry-run | grep -c denoise_fast_video)" 1
same "but for frames that were enlarged" \
    "$("$mona" enhance "$tmp/coarse.mkv" -o "$tmp/x.mkv" --stages sr,denoise --dry-run | grep -c denoise_fast_video)" 0

# ---- detail ---------------------------------------------------------------------------------------
same "--detail 1: nothing is repaired, every byte" "$(frames coarse.mkv --temporal off --detail 1)" "$(frames_md5 "$tmp/coarse.mkv")"
first() { # $1: detail
    frames coarse.mkv --temporal off --detail "$1" | head -n 1
}
same "the usual share is neither none nor all" "$(for d in 0 auto 1; do first $d; done | sort -u | wc -l)" 3
moved() { # $1: detail. Mean squared change of luma by what is done
    clean coarse.mkv --temporal off --detail "$1"
    awk "BEGIN { print 10 ^ (-$(psnr_y "$tmp/coarse.mkv" "$tmp/out.mkv") / 10) }"
}
all=$(moved 0)
part=$(moved 0.5)
same "half undone is about a quarter of the squared change" "$(awk "BEGIN { print ($part > $all / 5 && $part < $all / 3) }")" 1
frames coarse.mkv --strength 0.2 --temporal off > "$tmp/wanted"
same "noise that is told by hand is removed wholly" "$(frames coarse.mkv --strength 0.2 --temporal off --detail 1)" "$(cat "$tmp/wanted")"

# ---- only where it is told ------------------------------------------------------------------------
about "x264, CRF 32" "$(told coarse.mkv)" 7
same "CRF 14 has too little" "$(told fine.mkv)" none
same "no loss at all" "$(told exact.mkv)" none
same "a codec that tells nothing" "$(told untold.mkv)" none
same "--content clean does not ask" "$(told coarse.mkv --content clean)" none
same "nor does a strength that is given: the same as of frames that nobody knows of" \
    "$(frames coarse.mkv --strength 0.1)" "$(frames untold.mkv --strength 0.1)"
same "or none" "$(frames coarse.mkv --strength 0)" "$(frames untold.mkv --strength 0)"
same "enlarged frames are other ones" "$(told coarse.mkv --stages sr,denoise)" none
same "colours may come before" "$(told coarse.mkv --stages colour,denoise)" "$(told coarse.mkv)"

# ---- by every way a frame goes --------------------------------------------------------------------
frames coarse.mkv --temporal off > "$tmp/wanted"
for options in "-j 1" "-j 2 --strip-rows 4" "--threads 1:1:1" "--threads 4:2:1" "--cpu c"; do
    # shellcheck disable=SC2086
    same "the same bytes with $options" "$(frames coarse.mkv --temporal off $options)" "$(cat "$tmp/wanted")"
done
# With several threads, a decoder must not report a frame that is only half decoded.
"$scene" 10 "$tmp/large.y4m"
ffmpeg -v error -y -i "$tmp/large.y4m" -c:v libx264 -crf 32 -preset veryfast -bf 3 "$tmp/large.mkv"
for run in 1 2 3 4 5 6; do frames large.mkv --temporal off --threads 8:2:1 | md5sum; done | sort -u > "$tmp/runs"
same "six runs are alike" "$(wc -l < "$tmp/runs")" 1
length=$(video_times "$tmp/coarse.mkv" | sed -n 9p)
clean coarse.mkv --temporal off
ffmpeg -v error -y -i "$tmp/out.mkv" -vf "select='gte(n,8)',setpts=PTS-STARTPTS" -c:v ffv1 "$tmp/end.mkv"
clean coarse.mkv --temporal off --start "$length"
at_least "from a later frame on: dB to the end of all, whose error is smoothed over more frames" \
    "$(psnr_y "$tmp/out.mkv" "$tmp/end.mkv")" 40

compress fields.mkv -c:v libx264 -crf 32 -flags +ilme+ildct -x264-params tff=1
about "through the deinterlacer" "$(told fields.mkv)" 7
same "which is there" "$(told fields.mkv --deinterlace off)" "$(told fields.mkv)"
compress ten.mkv -pix_fmt yuv420p10le -c:v libx264 -crf 32
about "10 bits, in steps of 8" "$(told ten.mkv)" 7
compress wide.mkv -pix_fmt yuv444p -c:v libx264 -crf 32
at_least "4:4:4: dB gained" "$(gained wide.mkv)" 0.1

# ---- of other codecs ------------------------------------------------------------------------------
compress four.mkv -c:v mpeg4 -q:v 8
about "MPEG-4" "$(told four.mkv)" 4
compress vp9.mkv -c:v libvpx-vp9 -crf 50 -b:v 0 -deadline realtime -cpu-used 4
about "VP9" "$(told vp9.mkv)" 5
compress hevc.mkv -c:v libx265 -crf 32 -x265-params log-level=none
same "HEVC tells nothing" "$(told hevc.mkv)" none
same "what was coded so is not said of what comes out" \
    "$(ffprobe -v error -show_frames "$tmp/told.mkv" | grep -c -i 'encoding param')" 0
