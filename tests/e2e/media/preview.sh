#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona enhance --preview: the part of one frame that changes most, before and after.
. tests/tap.inc
mkdir "$tmp/scratch"
export TMPDIR="$tmp/scratch"

film 12 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=322:182 -c:v libx264 -crf 20 -pix_fmt yuv420p "$tmp/clip.mp4"
rate=$(ffprobe -v error -select_streams v:0 -show_entries stream=r_frame_rate -of csv=p=0 "$tmp/clip.mp4")
time=$(echo "$rate" | awk -F/ '{ print 5 * $2 / $1 }')

succeeds "a preview is written" "$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/look.png" --preview "$time" --stages sr -c ffv1
same "a line says what it shows" "$(grep -c 'look.png: before and after, 644x364 pixels of 644x364 at 0, 0' "$tmp/log")" 1
same "twice the result side by side, under labels" "$(ffprobe -v error -show_entries stream=width,height,pix_fmt -of csv=p=0 "$tmp/look.png")" 1288,396,rgb24
# RGB PSNR of a picture within a preview. $1: preview, $2: picture, $3: columns before it, $4: what is cut out of both
part() {
    cut=${4:-crop=iw:ih:0:0}
    ffmpeg -v info -i "$1" -i "$2" -lavfi "[0:v]format=gbrp,crop=iw/2:ih-32:$3:32,$cut[a];[1:v]format=gbrp,$cut[b];[a][b]psnr" -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1
}
least() {
    same "$1" "$(echo "$2 $3" | awk '{ print ($1 == "inf" || $1 >= $2 ? "yes" : $1) }')" yes
}
accurate=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp
"$mona" enhance "$tmp/clip.mp4" -o "$tmp/whole.mkv" --stages sr -c ffv1 --quiet
ffmpeg -v error -i "$tmp/clip.mp4" -vf "select=eq(n\\,5),scale=644:364:$accurate,format=rgb24" -frames:v 1 "$tmp/before.png"
ffmpeg -v error -i "$tmp/whole.mkv" -vf "select=eq(n\\,5),scale=$accurate,format=rgb24" -frames:v 1 "$tmp/after.png"
left=$(part "$tmp/look.png" "$tmp/before.png" 0)
right=$(part "$tmp/look.png" "$tmp/after.png" 644)
other=$(part "$tmp/look.png" "$tmp/after.png" 0)
echo "# left $left dB, right $right dB, left against the result $other dB"
least "on the left is the frame before, enlarged" "$left" 40
least "on the right is the frame of the whole run" "$right" 45
same "which that on the left is not" "$(echo "$other" | awk '{ print ($1 < 40) }')" 1
ffmpeg -v error -i "$tmp/clip.mp4" -frames:v 6 -f rawvideo "$tmp/clip.yuv"
raw=322x182:yuv420p:$rate
succeeds "raw frames have a preview" "$mona" enhance -y "$tmp/clip.yuv" --raw "$raw" -o "$tmp/raw.png" --preview "$time" --stages sr -c ffv1
ffmpeg -v error -i "$tmp/look.png" -vf crop=644:364:644:32 "$tmp/right.png"
least "of the same frame" "$(part "$tmp/raw.png" "$tmp/right.png" 644)" 40
same "and a plan" "$("$mona" enhance "$tmp/clip.yuv" --raw "$raw" -o "$tmp/raw.mkv" --stages sr --dry-run --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["speed"]["expected_frames"])')" 6
nothing "no temporary folder is left" "$(ls "$tmp/scratch")"

# Phones mark a film as rotated, and players must turn it. ffmpeg does.
for rotate in $(! full || echo 180 270) 90; do
    turned "$tmp/clip.mp4" $rotate "$tmp/turned.mp4"
    "$mona" enhance -y "$tmp/turned.mp4" -o "$tmp/turned.png" --preview "$time" --stages sr 2> "$tmp/log" || not_ok "turned" "$(cat "$tmp/log")"
    case $rotate in 180) size=644:364 both=1288:396 ;; *) size=364:644 both=728:676 ;; esac
    same "turned by $rotate: as players show it" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/turned.png" | tr , :)" $both
    ffmpeg -v error -y -i "$tmp/turned.mp4" -vf "select=eq(n\\,5),scale=$size:$accurate,format=rgb24" -frames:v 1 "$tmp/upright.png"
    least "turned by $rotate: that way up" "$(part "$tmp/turned.png" "$tmp/upright.png" 0)" 38
done

# ---- of a picture ----------------------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/after.png" -vf "scale=161:91:$accurate" "$tmp/photo.png" 2> /dev/null
ffmpeg -v error -i "$tmp/after.png" -vf "scale=160:90:$accurate,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='255*gt(X,60)'" "$tmp/cut_out.png"
succeeds "a picture has a preview" "$mona" enhance -y "$tmp/photo.png" -o "$tmp/look.png" --preview 0
"$mona" enhance -y "$tmp/photo.png" -o "$tmp/photo_out.png" --quiet
same "of its result" "$(part "$tmp/look.png" "$tmp/photo_out.png" 322)" inf
ffmpeg -v error -y -i "$tmp/photo.png" -vf "scale=322:182:$accurate" "$tmp/before.png"
least "and of itself, enlarged" "$(part "$tmp/look.png" "$tmp/before.png" 0)" 45
"$mona" enhance -y "$tmp/cut_out.png" -o "$tmp/look.png" --preview 0 --quiet
same "grey shows where it is transparent" "$(ffmpeg -v error -i "$tmp/look.png" -vf crop=1:1:400:100 -pix_fmt rgb24 -f rawvideo - | od -An -v -tu1 | tr -s ' ')" " 128 128 128"
"$mona" enhance -y "$tmp/photo.png" -o "$tmp/look.png" --preview 0 --quiet
# shellcheck disable=SC2002
cat "$tmp/photo.png" | "$mona" enhance -y - -o "$tmp/piped.png" --preview 0 2> "$tmp/log"
same "a picture from a pipe has the same" "$? $(md5sum < "$tmp/piped.png")" "0 $(md5sum < "$tmp/look.png")"
"$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/look.png" --preview "$time" --stages sr --quiet
"$mona" enhance -y - -o "$tmp/piped.png" --preview "$time" --stages sr < "$tmp/clip.mp4" 2> "$tmp/log"
same "and so has a film in a file on standard input" "$? $(md5sum < "$tmp/piped.png")" "0 $(md5sum < "$tmp/look.png")"
# Noise in one corner of a large picture, and nothing else.
ffmpeg -v error -f lavfi -i color=gray:s=1200x1000,format=gray,geq="lum='if(gt(X,1000)*gt(Y,800),255*mod(X+Y,2),128)'" -frames:v 1 "$tmp/large.png"
"$mona" enhance -y "$tmp/large.png" -o "$tmp/look.png" --preview 0 --stages sr 2> "$tmp/log"
same "of a large one, the part that changes most" "$? $(grep -c '800x800 pixels of 2400x2000 at 1600, 1200' "$tmp/log")" "0 1"

# $1: name, $2: status, $3: pattern, rest: arguments
refused() {
    name=$1 status=$2 pattern=$3
    shift 3
    rm -f "$tmp/no.png"
    "$mona" enhance -y "$@" > /dev/null 2> "$tmp/log" < /dev/null
    same "$name" "$? $(wc -l < "$tmp/log") $(grep -c -- "^mona: .*$pattern" "$tmp/log") $(ls "$tmp/scratch" "$tmp/no.png" 2> /dev/null | grep -c 'no.png\|mona-')" "$status 1 1 0"
}
refused "a time after the end" 1 "expected frames at 100 s or later" "$tmp/clip.mp4" -o "$tmp/no.png" --preview 100
refused "a picture at another time" 2 "a picture has only the time 0" "$tmp/before.png" -o "$tmp/no.png" --preview 1
refused "a picture as a live stream" 1 "live works only on videos" "$tmp/look.png" -o "$tmp/no.png" --live
refused "another name than .png" 1 "expected a name that ends in .png" "$tmp/clip.mp4" -o "$tmp/no.mp4" --preview 0
refused "standard input without a picture" 2 "expected a file, or PNG, JPEG, .* from a pipe, found neither" - -o "$tmp/no.png" --preview 0
! full || refused "a folder that is not there" 1 "No such file" "$tmp/clip.mp4" -o "$tmp/none/no.png" --preview 0
TMPDIR=$tmp/none refused "no room for a trial" 1 "temporary folder" "$tmp/clip.mp4" -o "$tmp/no.png" --preview 0
