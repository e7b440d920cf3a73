#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --resume goes on with its own work only: another film, other pictures or other options are refused with a line
# that says what differs. test_settings walks all options; here a few stand for each kind of difference.
. tests/tap.inc

# Each film is damaged after 32 frames, where every run stops.
begin() {
    rm -rf "$tmp/out.mkv" "$tmp/out.mkv.resume"
    enhance "$@"
    segments=$(find "$tmp/out.mkv.resume" -name '0*' | wc -l)
}
enhance() {
    "$mona" enhance "$@" -o "$tmp/out.mkv" --stages denoise --strength 0 -c ffv1 --on-error stop --resume --segment 16 \
        --progress plain 2> "$tmp/log"
}
# $1: name, $2: what the line must say, rest: the command line, whose work is different
refused() {
    name=$1
    words=$2
    shift 2
    enhance "$@"
    same "$name: refused" "$? $(grep -cF "found different work ($words)" "$tmp/log") $segments" "1 1 1"
    test ! -e "$tmp/out.mkv" || not_ok "$name: nothing is written" "found out.mkv"
}
# $1: name, rest: the command line, whose work is the same
goes_on() {
    name=$1
    shift
    enhance "$@"
    same "$name: goes on" "$? $(grep -c 'continues after 16 frames' "$tmp/log")" "1 1"
}
pictures() {
    ffmpeg -v error -y -f lavfi -i "color=$1:s=64x48:r=25:d=1.28" -start_number 1 "$tmp/in/%04d.png"
}

mkdir "$tmp/in"
pictures white
head -c 60 "$tmp/in/0032.png" > "$tmp/in/0033.png"
begin "$tmp/in/%04d.png"
cp -p "$tmp/in/0007.png" "$tmp/seventh.png"
ffmpeg -v error -y -f lavfi -i color=black:s=64x48 -frames:v 1 "$tmp/in/0007.png"
refused "one picture of many replaced" "it was begun with another file as --input" "$tmp/in/%04d.png"
cp -p "$tmp/seventh.png" "$tmp/in/0007.png"
cp -p "$tmp/seventh.png" "$tmp/in/0034.png"
refused "one picture more" "it was begun with another file as --input" "$tmp/in/%04d.png"
rm "$tmp/in/0034.png"
goes_on "the same pictures" -i "$tmp/in/%04d.png"

ffmpeg -v error -f lavfi -i color=red:s=64x48:r=25:d=1.28,format=yuv420p -f rawvideo "$tmp/in.raw"
head -c 1000 "$tmp/in.raw" > "$tmp/part"
cat "$tmp/part" >> "$tmp/in.raw"
begin "$tmp/in.raw" --raw 64x48:nv12:25
refused "another --raw" "it was begun with --raw=64x48:nv12:25" "$tmp/in.raw" --raw 64x48:yuv420p:25
cp -p "$tmp/in.raw" "$tmp/copy.raw"
printf x | dd of="$tmp/in.raw" bs=1 seek=$(($(stat -c %s "$tmp/in.raw") - 9)) conv=notrunc 2> "$tmp/log"
touch -r "$tmp/copy.raw" "$tmp/in.raw"
refused "other bytes of the same size and time" "it was begun with another file as --input" "$tmp/in.raw" --raw 64x48:nv12:25
cp -p "$tmp/copy.raw" "$tmp/in.raw"
refused "another --tier" "it was begun without --tier=best" "$tmp/in.raw" --raw 64x48:nv12:25 --tier best
cp models/denoise_fast.mona "$tmp/net.mona"
refused "another network" "it was begun without --denoise=denoise_balanced" "$tmp/in.raw" --raw 64x48:nv12:25 --denoise denoise_balanced
goes_on "on another CPU, and another name" "$tmp/copy.raw" --raw 64x48:nv12:25 --strip-rows 8 --cpu c

begin "$tmp/in.raw" --raw 64x48:nv12:25 --denoise "$tmp/net.mona"
cp models/denoise_balanced.mona "$tmp/net.mona"
refused "another network of the same name" "it was begun with another file as --denoise" "$tmp/in.raw" --raw 64x48:nv12:25 --denoise "$tmp/net.mona"

# A byte of OUT.resume that changed on the disk is found: the segment is made again, or the work is refused.
flip() {
    python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2]), 2); b = f.read(1)[0]; f.seek(-1, 1); f.write(bytes([b ^ 1]))' "$@"
}
begin "$tmp/in.raw" --raw 64x48:nv12:25
cp -r "$tmp/out.mkv.resume" "$tmp/kept"
# Every byte of the work and each 31st of a segment in the full tier.
places() {
    if full; then
        seq "$(wc -c < "$tmp/kept/work")" | sed 's/^/work:-/'
        seq 1 31 "$(wc -c < "$tmp/kept/000000")" | sed 's/^/000000:-/'
    else
        printf '%s\n' 000000:-1 000000:-300 work:-1 work:-3 work:-50 work:-60
    fi
}
for at in $(places); do
    rm -rf "$tmp/out.mkv.resume"
    cp -r "$tmp/kept" "$tmp/out.mkv.resume"
    flip "$tmp/out.mkv.resume/${at%:*}" "${at#*:}"
    enhance "$tmp/in.raw" --raw 64x48:nv12:25
    found="$? $(grep -c 'continues after' "$tmp/log")"
    [ "$found" = "1 0" ] || not_ok "byte ${at#*:} of ${at%:*} changed" "found $found, expected 1 0"
done
ok "$(places | wc -l) bytes of the work and its segment, changed one at a time, are found"

touch "$tmp/list.m3u8"
for film in http://127.0.0.1:9/film.mp4 "$tmp/list.m3u8"; do
    fails "--resume takes no ${film##*/} that may be another film next time" "--resume and --part: expected a film in one file" \
        "$mona" enhance "$film" -o "$tmp/none.mkv" --resume
done
test ! -e "$tmp/none.mkv.resume" || not_ok "nothing is left of it" "found none.mkv.resume"

# What is coded is not kept in memory: 24 MiB here, in segments that hevc's encoder, which has a thread of its own, makes.
ffmpeg -v error -f lavfi -i "nullsrc=s=320x180:r=25,geq=random(1)*255:128:128" -frames:v 120 -c:v ffv1 "$tmp/noise.mkv"
taken() {
    "$mona" enhance "$tmp/noise.mkv" -o "$tmp/coded.mkv" -y -c hevc --crf 0 --preset ultrafast --stages sr --sr sr_x2_tiny "$@" 2>&1 |
        sed -n 's/.*whole process \([0-9]*\) MiB.*/\1/p'
}
if [ -n "$SANITIZE" ]; then
    skip "sanitisers keep memory that is freed"
    exit 0
fi
whole=$(taken)
parts=$(taken --resume --segment 40)
same "a run in segments takes the memory of one without (whole $whole MiB, in segments $parts)" "$([ "$parts" -lt $((whole + 12)) ] && echo yes)" yes
