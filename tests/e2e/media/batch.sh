#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many files at once: folders, patterns, numbered pictures; the manifest, and an exit status that shows
# failures.
. tests/tap.inc

mkdir "$tmp/in" "$tmp/bad" "$tmp/pictures"
film 5 "$tmp/scene.y4m" 320x180
for name in a.mp4 b.mkv c.mov; do
    ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=96:54 -c:v libx264 -preset ultrafast -pix_fmt yuv420p "$tmp/in/$name"
done
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 3 -vf scale=48:28 "$tmp/pictures/frame_%03d.png"
echo "not a video" > "$tmp/in/notes.txt"
head -c 3000 "$tmp/in/a.mp4" > "$tmp/bad/broken.mp4"

# $1: expression on the list m of the manifest of folder $2
manifest() {
    python3 -c 'import json, sys; m = json.load(open(sys.argv[2] + "/manifest.json")); print(eval(sys.argv[1]))' "$1" "$2"
}
enhance() {
    "$mona" enhance "$@" --quiet > "$tmp/stdout" 2> "$tmp/log" < /dev/null
}

"$mona" enhance "$tmp/in" --out-dir "$tmp/out" --stages sr --preset ultrafast --dry-run > "$tmp/stdout" 2> "$tmp/log" < /dev/null
same "--dry-run: a row for each, and one for all" "$? $(awk '{ print $1, $2, $3 }' "$tmp/stdout" | sed "s|$tmp/||" | tr '\n' ';' | sed 's/[0-9]:[0-9:]*/T/')" \
    "0 file from to;out/a.mp4 96x54 192x108;out/b.mkv 96x54 192x108;out/c.mov 96x54 192x108;all 3 T;"
same "it tells how far it is" "$(grep ' of 3: ' "$tmp/log" | sed "s|$tmp/||")" "mona: 1 of 3: in/a.mp4
mona: 2 of 3: in/b.mkv
mona: 3 of 3: in/c.mov"
nothing "and writes nothing" "$(ls -d "$tmp/out" 2> /dev/null)"
same "its JSON has the plans" "$("$mona" enhance "$tmp/in" "$tmp/none.mp4" --out-dir "$tmp/out" --stages sr --preset ultrafast --dry-run --json \
    2> "$tmp/log" < /dev/null | python3 -c 'import json, sys
print([x["output"]["width"] if "output" in x else x["error"].split(": ")[-1] for x in json.load(sys.stdin)])')" \
    "[192, 192, 192, 'No such file or directory']"
mkdir "$tmp/kinds"
cp "$tmp/in/a.mp4" "$tmp/in/b.mkv" "$tmp/pictures/frame_001.png" "$tmp/kinds"
enhance "$tmp/kinds" --out-dir "$tmp/as_mkv" --stages sr --preset ultrafast -f mkv
same "-f names the files as what they are, and leaves pictures alone" "$? $(ls "$tmp/as_mkv" | tr '\n' ' ')" "0 a.mkv b.mkv frame_001.png manifest.json "
enhance "$tmp/in" --out-dir "$tmp/out" --stages sr --preset ultrafast
same "a folder: status 0" "$? $(cat "$tmp/log")" "0 "
same "a folder: every video, nothing else" "$(cd "$tmp/out" && find . -type f | sort | tr '\n' ' ')" "./a.mp4 ./b.mkv ./c.mov ./manifest.json "
same "a folder: the manifest says done" "$(manifest '[(x["result"], x["status"]) for x in m]' "$tmp/out")" \
    "[('done', 0), ('done', 0), ('done', 0)]"
for name in a.mp4 b.mkv c.mov; do
    same "a folder: $name has its frames" "$(video_times "$tmp/out/$name" | wc -l)" 5
done

enhance "$tmp/in/*.m[pk]*" "$tmp/bad" "$tmp/none.mp4" --out-dir="$tmp/some" --stages sr --preset ultrafast
same "a pattern, a broken file and a missing one: status 1" "$? $(tail -n 1 "$tmp/log" | grep -c '2 of 4 files failed')" "1 1"
same "the manifest says which" "$(manifest '[(x["output"].split("/")[-1], x["result"]) for x in m]' "$tmp/some")" \
    "[('a.mp4', 'done'), ('b.mkv', 'done'), ('broken.mp4', 'failed'), ('none.mp4', 'failed')]"
same "and why" "$(manifest '"broken.mp4" in m[2]["error"] and "No such file" in m[3]["error"]' "$tmp/some")" True
nothing "what failed left nothing" "$(find "$tmp/some" -name 'broken*' -o -name 'none*' -o -name '*.part')"

enhance "$tmp/pictures/" --out-dir "$tmp/larger/"
nothing "a slash at a folder's end is not doubled" "$(grep -n '//' "$tmp/log" "$tmp/larger/manifest.json")"
same "pictures of a sequence keep their names" "$? $(cd "$tmp/larger" && find . -name '*.png' | sort | tr '\n' ' ')" \
    "0 ./frame_001.png ./frame_002.png ./frame_003.png "
same "and are larger" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/larger/frame_002.png")" 96,56

# A name may hold a newline, and figures follow the summary.
newline=$(printf 'in\nside')
mkdir "$tmp/lines"
cp "$tmp/in/a.mp4" "$tmp/lines/$newline.mp4"
"$mona" enhance "$tmp/lines" --out-dir "$tmp/lines/out" --stages sr --preset ultrafast --stats 2> "$tmp/log" < /dev/null
same "a name with a newline: the manifest has the whole summary and nothing else" \
    "$(manifest '[x["summary"].split(" in ")[0] for x in m]' "$tmp/lines/out" | sed "s|$tmp|TMP|")" "['TMP/lines/out/in\\\\u000aside.mp4: 5 frames 192x108']"

# Subfolders: only with --recursive, with the same names, and without the results themselves.
mkdir -p "$tmp/tree/one/two" "$tmp/tree/.hidden"
cp "$tmp/in/a.mp4" "$tmp/tree/top.mp4"
cp "$tmp/in/a.mp4" "$tmp/tree/one/a.mp4"
cp "$tmp/in/b.mkv" "$tmp/tree/one/two/a.mkv"
cp "$tmp/in/a.mp4" "$tmp/tree/.hidden/a.mp4"
ln -s .. "$tmp/tree/one/round"
"$mona" enhance "$tmp/tree" --out-dir "$tmp/flat" --stages sr --preset ultrafast > "$tmp/stdout" 2> "$tmp/log" < /dev/null
same "a folder's folders are left alone, and that is said" "$? $(cd "$tmp/flat" && find . -type f | sort | tr '\n' ' ')$(grep -c '1 folders below are left out (--recursive' "$tmp/log")" \
    "0 ./manifest.json ./top.mp4 1"
for time in $(! full || echo first) second; do
    enhance "$tmp/tree" --out-dir "$tmp/tree/done" --recursive -y --stages sr --preset ultrafast
    same "--recursive: every folder's, the $time time" "$? $(cd "$tmp/tree/done" && find . -type f | sort | tr '\n' ' ')" \
        "0 ./manifest.json ./one/a.mp4 ./one/two/a.mkv ./top.mp4 "
done
same "--recursive: all in the manifest" "$(manifest '[(x["output"].split("/done/")[1], x["result"]) for x in m]' "$tmp/tree/done")" \
    "[('one/a.mp4', 'done'), ('one/two/a.mkv', 'done'), ('top.mp4', 'done')]"
"$mona" enhance "$tmp/tree" --out-dir "$tmp/linked" --recursive --stages sr --dry-run > "$tmp/stdout" 2> "$tmp/log" < /dev/null
same "--recursive: a link to a folder is not followed, and that is said" "$? $(grep -c '1 links to folders are not followed' "$tmp/log")" "0 1"
mkdir "$tmp/dangling"
cp "$tmp/in/a.mp4" "$tmp/dangling/a.mp4"
ln -s nowhere.mp4 "$tmp/dangling/b.mp4"
ln -s nowhere "$tmp/dangling/notes"
enhance "$tmp/dangling" --out-dir "$tmp/linked" --stages sr --preset ultrafast
same "a video that is a link to nothing is said and counts as failed" "$? $(grep -c 'cannot be read' "$tmp/log") $(grep -c 'b.mp4: cannot be read' "$tmp/log") $(ls "$tmp/linked" | tr '\n' ' ')" \
    "1 1 1 a.mp4 manifest.json "
enhance "$tmp/in/a.mp4" -o "$tmp/x.mp4" --recursive
same "--recursive without --out-dir is refused" "$? $(grep -c -- '--recursive works only' "$tmp/log")" "2 1"

cp "$tmp/in/a.mp4" "$tmp/bad/a.mp4"
enhance "$tmp/in" "$tmp/bad" --out-dir "$tmp/two"
same "two inputs that would become one output are refused" "$? $(grep -c 'would both be written to' "$tmp/log") $(ls -d "$tmp/two" 2> /dev/null)" "1 1 "
mkdir "$tmp/others"
for text in mine '{"name": "mine"}' '[{"name": "mine"}]'; do
    echo "$text" > "$tmp/others/manifest.json"
    enhance "$tmp/in/a.mp4" --out-dir "$tmp/others" -y
    same "a manifest.json that is not mona's is kept: $text" \
        "$? $(grep -c 'others/manifest.json: expected no such file or a manifest of mona' "$tmp/log") $(cat "$tmp/others/manifest.json") $(ls "$tmp/others")" \
        "1 1 $text manifest.json"
done
enhance "$tmp/in/a.mp4" --out-dir "$tmp/in" --stages sr
same "an input is never replaced" "$? $(manifest '"the output is the input" in m[0]["error"]' "$tmp/in")" "1 True"
enhance "$tmp/in" -o "$tmp/x.mp4" --out-dir "$tmp/out"
same "--out-dir and -o are refused together" "$? $(grep -c -- '--output does not work with --out-dir' "$tmp/log")" "2 1"

# Photographs in formats that mona does not write become pictures, not videos of one frame.
mkdir "$tmp/photos"
for kind in webp:yuv420p bmp:bgr24 tiff:rgb24; do
    ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 -vf scale=48:28 -pix_fmt ${kind#*:} "$tmp/photos/${kind%:*}.${kind%:*}"
done
cp "$tmp/photos/webp.webp" "$tmp/photos/Beach.WEBP"
enhance "$tmp/photos" --out-dir "$tmp/albums"
same "BMP and TIFF become PNG, WebP stays" "$? $(cd "$tmp/albums" && find . -name '*.*' -type f | sort | tr '\n' ' ')" \
    "0 ./Beach.WEBP ./bmp.png ./manifest.json ./tiff.png ./webp.webp "
for picture in png:tiff.png webp:webp.webp; do
    same "${picture#*:} is larger" "$(ffprobe -v error -show_entries stream=codec_name,width,height -of csv=p=0 "$tmp/albums/${picture#*:}")" "${picture%:*},96,56"
done

# A folder that cannot be read is named, and the other files are processed. Root can read everything, so the
# user nobody tries.
mkdir -p "$tmp/mixed/closed" "$tmp/mixed/locked" "$tmp/nobodys"
cp "$tmp/in/a.mp4" "$tmp/mixed/a.mp4"
cp "$tmp/in/a.mp4" "$tmp/mixed/locked/b.mp4"
chmod 0755 "$tmp"
chmod 0777 "$tmp/nobodys"
chmod 0 "$tmp/mixed/closed"
chmod 0444 "$tmp/mixed/locked"
cp "$mona" "$tmp/mona"
as_nobody=
[ "$(id -u)" -ne 0 ] || as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ -z "$as_nobody" ] || $as_nobody true 2> /dev/null; then
    $as_nobody "$tmp/mona" enhance "$tmp/mixed" --recursive --out-dir "$tmp/nobodys/out" --stages sr --preset ultrafast --quiet \
        > "$tmp/stdout" 2> "$tmp/log" < /dev/null
    same "a folder that cannot be read: status 1 and one line for each" \
        "$? $(wc -l < "$tmp/log") $(grep -c 'mixed/closed: cannot be read: Permission denied' "$tmp/log") $(grep -c 'locked/b.mp4: cannot be read: Permission denied' "$tmp/log")" "1 2 1 1"
    same "and the others are done" "$(cd "$tmp/nobodys/out" && find . -type f | sort | tr '\n' ' ')" "./a.mp4 ./manifest.json "
    $as_nobody "$tmp/mona" enhance "$tmp/mixed/closed" --out-dir "$tmp/nobodys/none" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
    same "nothing but such a folder: one line" "$? $(wc -l < "$tmp/log") $(grep -c 'mixed/closed: cannot be read' "$tmp/log")" "1 1 1"
else
    skip "nobody else can be had here"
fi
chmod 0755 "$tmp/mixed/closed" "$tmp/mixed/locked"
