#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# File names: of maximal length, symbolic links, bytes that are not UTF-8; a resume after another version; a file that still arrives.
. tests/tap.inc

film 3 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=48:28 -frames:v 1 "$tmp/in.png"
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=48:28 -c:v ffv1 "$tmp/in.mkv"
enhance() {
    "$mona" enhance -y "$@" --stages sr --quiet 2> "$tmp/log"
}

# ---- long names -------------------------------------------------------------------------------
for length in 244 245 251; do
    name=$(printf "%0${length}d" 0)
    enhance "$tmp/in.png" -o "$tmp/$name.png"
    same "a picture's name of $((length + 4)) bytes" "$? $(cat "$tmp/log") $(test -s "$tmp/$name.png" && echo there)" "0  there"
done
enhance "$tmp/in.mkv" -o "$tmp/$name.mkv" -c ffv1
same "a video's name of 255 bytes" "$? $(cat "$tmp/log") $(test -s "$tmp/$name.mkv" && echo there)" "0  there"
umlauts=$(printf '%0125d' 0 | sed 's/0/ä/g')
enhance "$tmp/in.png" -o "$tmp/$umlauts.png"
same "a name of 125 umlauts" "$? $(cat "$tmp/log") $(test -s "$tmp/$umlauts.png" && echo there)" "0  there"
fails "a name of 256 bytes is refused" "File name too long" \
    "$mona" enhance "$tmp/in.png" -o "$tmp/0$name.png" --stages sr --quiet
nothing "no temporary file is left" "$(find "$tmp" -name '*part')"

# ---- links ------------------------------------------------------------------------------------
mkdir "$tmp/far"
echo old > "$tmp/far/real.png"
ln -s far/real.png "$tmp/link.png"
ln -s link.png "$tmp/second.png"
enhance "$tmp/in.png" -o "$tmp/second.png"
same "an output that is a link to a link is followed" \
    "$? $(readlink "$tmp/second.png" "$tmp/link.png" | tr '\n' ' ')$(head -c 4 "$tmp/far/real.png" | tail -c 3)" "0 link.png far/real.png PNG"
ln -s "$tmp/far/new.mkv" "$tmp/dangling.mkv"
enhance "$tmp/in.mkv" -o "$tmp/dangling.mkv" -c ffv1 --resume
same "one that leads to no file yet makes that file" \
    "$? $(readlink "$tmp/dangling.mkv") $(test -s "$tmp/far/new.mkv" && echo there)" "0 $tmp/far/new.mkv there"
ln -s loop.png "$tmp/loop.png"
fails "one that leads round is refused" "Too many levels of symbolic links" \
    "$mona" enhance "$tmp/in.png" -o "$tmp/loop.png" --stages sr --quiet
same "the folders hold nothing else" "$(find "$tmp/far" -type f | sort | tr '\n' ' ')" "$tmp/far/new.mkv $tmp/far/real.png "

# ---- bytes that are no UTF-8 ------------------------------------------------------------------
# $1: a JSON file, $2: an expression of it, d, in which text has the bytes of the system's names
json() {
    python3 -c 'import json, os, sys; d = json.load(open(sys.argv[1], encoding="utf-8")); print(eval(sys.argv[2]))' "$1" "$2"
}
odd=$(printf 'a\377\303b\355\240\200\303\244')
mkdir "$tmp/odd"
cp "$tmp/in.png" "$tmp/odd/$odd.png"
enhance "$tmp/odd" --out-dir "$tmp/odd_out"
same "a name that is no UTF-8 in a batch" "$? $(cat "$tmp/log") $(test -s "$tmp/odd_out/$odd.png" && echo there)" "0  there"
same "stands in the manifest, whole" "$(json "$tmp/odd_out/manifest.json" 'os.fsencode(os.path.basename(d[0]["output"]))')" \
    "b'a\\xff\\xc3b\\xed\\xa0\\x80\\xc3\\xa4.png'"
enhance "$tmp/odd" --out-dir "$tmp/odd_out"
same "which a second run replaces" "$? $(cat "$tmp/log") $(json "$tmp/odd_out/manifest.json" 'd[0]["result"]')" "0  done"
"$mona" enhance "$tmp/odd/$odd.png" -o "$tmp/odd.png" --stages sr --dry-run --json > "$tmp/plan.json" 2> "$tmp/log"
same "and in the plan" "$? $(json "$tmp/plan.json" 'os.fsencode(d["input"]["file"])[-13:]')" \
    "0 b'a\\xff\\xc3b\\xed\\xa0\\x80\\xc3\\xa4.png'"
"$mona" enhance "$tmp/odd/$odd.png" -o "$tmp/$odd.png" --stages sr --progress json 2>&1 | tail -n 1 > "$tmp/event.json"
same "and in the events" "$(json "$tmp/event.json" 'os.fsencode(d["output"])[-13:]')" \
    "b'a\\xff\\xc3b\\xed\\xa0\\x80\\xc3\\xa4.png'"

# ---- resume -----------------------------------------------------------------------------------
# A run that cannot write its output leaves the file of the work, which is then changed to be from another version.
mkdir -p "$tmp/kept.mkv.resume/output.part"
resume() {
    enhance "$tmp/in.mkv" -o "$tmp/kept.mkv" -c ffv1 --resume
}
resume
rmdir "$tmp/kept.mkv.resume/output.part"
work=$tmp/kept.mkv.resume/work
cp "$work" "$tmp/work"
for other in 's/mona=[0-9]/mona=9/' 's/libav=[^ ]*/libav=9/' 's/\(libav=[^,]*\),[0-9]*/\1,9/' 's/libraries=[0-9a-f]/libraries=x/'; do
    sed "$other" "$tmp/work" | sed '$d' > "$work"
    echo "sum $(md5sum < "$work" | cut -c 1-32)" >> "$work"
    resume
    same "work of another version is not gone on with: $other" \
        "$? $(grep -c 'the same versions of mona and libav, found different work' "$tmp/log")" "1 1"
done
cp "$tmp/work" "$work"
resume
same "that of the same one is" "$? $(cat "$tmp/log") $(test -s "$tmp/kept.mkv" && echo there)" "0  there"

# ---- a file that still arrives ----------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=48:28,loop=9:3 -c:v libx264 -pix_fmt yuv420p "$tmp/whole.ts"
head -c 9400 "$tmp/whole.ts" > "$tmp/arrives.ts"
"$mona" enhance -y "$tmp/arrives.ts" -o "$tmp/arrived.mkv" --stages sr 2> "$tmp/log"
same "a file that stays as it is" "$? $(grep -c 'changed while' "$tmp/log")" "0 0"
(
    while [ ! -e "$tmp/read" ]; do
        head -c 188 /dev/zero >> "$tmp/arrives.ts"
        sleep 0.02
    done
) &
"$mona" enhance -y "$tmp/arrives.ts" -o "$tmp/arrived.mkv" --stages sr 2> "$tmp/log"
status=$?
touch "$tmp/read"
wait
same "one that grows meanwhile is told" "$status $(grep -c 'arrives.ts: changed while it was read, from [0-9]* to [0-9]* bytes' "$tmp/log")" "0 1"
