#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona enhance --preview: one frame, half before and half after.
. tests/tap.inc
mkdir "$tmp/scratch"
export TMPDIR="$tmp/scratch"

film 12 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=322:182 -c:v libx264 -crf 20 -pix_fmt yuv420p "$tmp/clip.mp4"
rate=$(ffprobe -v error -select_streams v:0 -show_entries stream=r_frame_rate -of csv=p=0 "$tmp/clip.mp4")
time=$(echo "$rate" | awk -F/ '{ print 5 * $2 / $1 }')

succeeds "a preview is written" "$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/look.png" --preview "$time" --stages sr -c ffv1
same "of the result's size" "$(ffprobe -v error -show_entries stream=width,height,pix_fmt -of csv=p=0 "$tmp/look.png")" 644,364,rgb24
# RGB PSNR of a part of two pictures. $1, $2: pictures, $3: crop
part() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi "[0:v]format=gbrp,crop=$3[a];[1:v]format=gbrp,crop=$3[b];[a][b]psnr" -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1
}
least() {
    same "$1" "$(echo "$2 $3" | awk '{ print ($1 == "inf" || $1 >= $2 ? "yes" : $1) }')" yes
}
accurate=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp
"$mona" enhance "$tmp/clip.mp4" -o "$tmp/whole.mkv" --stages sr -c ffv1 --quiet
ffmpeg -v error -i "$tmp/clip.mp4" -vf "select=eq(n\\,5),scale=644:364:$accurate,format=rgb24" -frames:v 1 "$tmp/before.png"
ffmpeg -v error -i "$tmp/whole.mkv" -vf "select=eq(n\\,5),scale=$accurate,format=rgb24" -frames:v 1 "$tmp/after.png"
left=$(part "$tmp/look.png" "$tmp/before.png" 320:364:0:0)
right=$(part "$tmp/look.png" "$tmp/after.png" 320:364:324:0)
other=$(part "$tmp/look.png" "$tmp/after.png" 320:364:0:0)
echo "# left half $left dB, right half $right dB, left half against the result $other dB"
least "its left half is the frame before, enlarged" "$left" 40
least "its right half is the frame of the whole run" "$right" 45
same "which the left half is not" "$(echo "$other" | awk '{ print ($1 < 40) }')" 1
ffmpeg -v error -i "$tmp/clip.mp4" -frames:v 6 -f rawvideo "$tmp/clip.yuv"
raw=322x182:yuv420p:$rate
succeeds "raw frames have a preview" "$mona" enhance -y "$tmp/clip.yuv" --raw "$raw" -o "$tmp/raw.png" --preview "$time" --stages sr
least "of the same frame" "$(part "$tmp/raw.png" "$tmp/look.png" 644:364:0:0)" 40
same "and a plan" "$("$mona" enhance "$tmp/clip.yuv" --raw "$raw" -o "$tmp/raw.mkv" --stages sr --dry-run --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["speed"]["expected_frames"])')" 6
nothing "no temporary folder is left" "$(ls "$tmp/scratch")"

# Phones mark a film as rotated, and players must turn it. ffmpeg does.
for rotate in $(! full || echo 180 270) 90; do
    turned "$tmp/clip.mp4" $rotate "$tmp/turned.mp4"
    "$mona" enhance -y "$tmp/turned.mp4" -o "$tmp/turned.png" --preview "$time" --stages sr 2> "$tmp/log" || not_ok "turned" "$(cat "$tmp/log")"
    case $rotate in 180) size=644:364 half=320:364:0:0 ;; *) size=364:644 half=180:644:0:0 ;; esac
    same "turned by $rotate: as players show it" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/turned.png" | tr , :)" $size
    ffmpeg -v error -y -i "$tmp/turned.mp4" -vf "select=eq(n\\,5),scale=$size:$accurate,format=rgb24" -frames:v 1 "$tmp/upright.png"
    least "turned by $rotate: that way up" "$(part "$tmp/turned.png" "$tmp/upright.png" $half)" 38
done

# $1: name, $2: status, $3: pattern, rest: arguments
refused() {
    name=$1 status=$2 pattern=$3
    shift 3
    rm -f "$tmp/no.png"
    "$mona" enhance -y "$@" > /dev/null 2> "$tmp/log" < /dev/null
    same "$name" "$? $(wc -l < "$tmp/log") $(grep -c -- "^mona: .*$pattern" "$tmp/log") $(ls "$tmp/scratch" "$tmp/no.png" 2> /dev/null | grep -c 'no.png\|mona-')" "$status 1 1 0"
}
refused "a time after the end" 1 "expected frames at 100 s or later" "$tmp/clip.mp4" -o "$tmp/no.png" --preview 100
! full || refused "a picture" 1 "works only on videos" "$tmp/look.png" -o "$tmp/no.png" --preview 0
refused "a picture as a live stream" 1 "live works only on videos" "$tmp/look.png" -o "$tmp/no.png" --live
refused "another name than .png" 1 "expected a name that ends in .png" "$tmp/clip.mp4" -o "$tmp/no.mp4" --preview 0
! full || refused "standard input" 2 "need files" - -o "$tmp/no.png" --preview 0
! full || refused "a folder that is not there" 1 "No such file" "$tmp/clip.mp4" -o "$tmp/none/no.png" --preview 0
TMPDIR=$tmp/none refused "no room for a trial" 1 "temporary folder" "$tmp/clip.mp4" -o "$tmp/no.png" --preview 0
