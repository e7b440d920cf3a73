#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pages that mona compare and mona enhance write, checked in headless Chromium.
. tests/tap.inc

# Runs the checks in the browser; without one, only checks that the page exists and is complete. $1: name, $2:
# page
look_at() {
    browsed "$1" 20 tests/page.py "$2" "$tmp/shot.png"
    same "$1: the page is whole" "$(tail -n 1 "$2")" "</html>"
    nothing "$1: it names no address" "$(grep -oE '(src|href)=.?https?:[^ ]*' "$2")"
}

film 13 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=160:90 -c:v ffv1 "$tmp/<a> & 'b'.mkv" \
    -vf scale=160:90 -c:v libx264 -crf 32 -pix_fmt yuv420p "$tmp/b.mp4"
succeeds "a page of two videos, of odd names" "$mona" compare "$tmp/<a> & 'b'.mkv" "$tmp/b.mp4" --html "$tmp/page.html"
look_at "two videos" "$tmp/page.html"
succeeds "a page of what is identical" "$mona" compare "$tmp/b.mp4" "$tmp/b.mp4" --html "$tmp/same.html"
look_at "identical" "$tmp/same.html"
ffmpeg -v error -i "$tmp/b.mp4" -frames:v 1 "$tmp/a.png"
succeeds "a page of pictures, one enlarged" sh -c "ffmpeg -v error -i '$tmp/scene.y4m' -frames:v 1 '$tmp/b.png' &&
    '$mona' compare '$tmp/a.png' '$tmp/b.png' --scale --html '$tmp/picture.html'"
look_at "pictures" "$tmp/picture.html"
turned "$tmp/b.mp4" 90 "$tmp/turned.mp4"
succeeds "a page of a film that players turn" "$mona" compare "$tmp/turned.mp4" "$tmp/turned.mp4" --html "$tmp/turned.html"
sides() {
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>/\1/p' "$1" |
        python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["width"], d["height"], "")'
}
same "it is turned in the page" "$(sides "$tmp/turned.html")" "$(sides "$tmp/same.html" | awk '{ print $2, $1, "" }')"
grep -o 'data:image/jpeg;base64,[^"]*' "$tmp/turned.html" | head -n 1 | cut -d, -f2 | base64 -d > "$tmp/turned.jpg"
same "and so are its pictures" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/turned.jpg" | tr , ' ') " "$(sides "$tmp/turned.html")"
"$mona" compare "$tmp/b.mp4" "$tmp/b.mp4" --html "$tmp/none/page.html" > /dev/null 2> "$tmp/log"
same "a page that cannot be written" "$? $(grep -c '^mona: .*No such file' "$tmp/log")" "1 1"

# ---- what mona enhance did ------------------------------------------------------------------------
succeeds "a page of a run" "$mona" enhance "$tmp/b.mp4" -o "$tmp/out.mp4" --preset ultrafast --html "$tmp/run.html"
look_at "a run" "$tmp/run.html"
same "it says what became of the size" "$(grep -c '"words":"[0-9]*x[0-9]* became [0-9]*x[0-9]*\.' "$tmp/run.html")" 1
same "it has a latency for each frame" "$(sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>/\1/p' "$tmp/run.html" |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(len(d["latency"]), len(d["psnr"]["all"]), min(d["latency"]) > 0)')" "13 13 True"
ffmpeg -v error -f lavfi -i testsrc2=s=64x36:d=0.2 -vf gblur=3 -pix_fmt gbrp -c:v ffv1 "$tmp/rgb.mkv"
succeeds "a page of RGB" "$mona" enhance "$tmp/rgb.mkv" -o "$tmp/yuv.mkv" --stages denoise -c ffv1 --html "$tmp/rgb.html"
same "RGB that stays as it was reads as little changed" \
    "$(sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>/\1/p' "$tmp/rgb.html" |
    python3 -c 'import json, sys; print(max(p["mse"] for p in json.load(sys.stdin)["planes"]) < 2)')" True
# A resumed run knows nothing about the latencies of the run that was killed.
"$mona" enhance "$tmp/b.mp4" -o "$tmp/killed.mp4" --preset ultrafast --cpu c --quiet --resume --segment 2 &
job=$!
waited=0
while [ $waited -lt 300 ] && [ ! -e "$tmp/killed.mp4.resume/000001" ] && kill -0 $job 2> /dev/null; do
    sleep 0.05
    waited=$((waited + 1))
done
kill -9 $job 2> /dev/null
wait $job 2> /dev/null
succeeds "a page of a run that goes on" "$mona" enhance -y "$tmp/b.mp4" -o "$tmp/killed.mp4" --preset ultrafast --cpu c \
    --quiet --resume --segment 2 --html "$tmp/killed.html"
look_at "a run that goes on" "$tmp/killed.html"
"$mona" enhance "$tmp/b.mp4" -o - --html "$tmp/no.html" > /dev/null 2> "$tmp/log"
same "a page of a pipe is refused" "$? $(grep -c 'need files' "$tmp/log")" "2 1"
