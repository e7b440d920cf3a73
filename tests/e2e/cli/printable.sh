#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names of files, operators and tensors that hold what a terminal obeys are shown, not obeyed.
. tests/tap.inc

# Where FILE has an escape, a C1 character (or its byte), a turn of direction or a byte of no character.
obeyed() {
    python3 - "$1" << 'PYTHON'
import re, sys
raw = open(sys.argv[1], "rb").read()
text = raw.decode("utf-8", "surrogateescape")
for found in re.finditer("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\udc80-\udcff]", text):
    print(ascii(text[max(0, found.start() - 30):found.end() + 5]))
PYTHON
}
shown() { # TITLE STATUS ESCAPED COMMAND...: what it prints is free of them, and has the text
    title=$1 status=$2 escaped=$3
    shift 3
    "$@" > "$tmp/printed" 2>&1 < /dev/null
    same "$title: its status" $? "$status"
    nothing "$title" "$(obeyed "$tmp/printed" | head -n 3)"
    at_least "$title: shown by numbers" "$(grep -cF "$escaped" "$tmp/printed")" 1
}

# Names of the same length in place of a model's, so that its file stays whole.
python3 - "$tmp" << 'PYTHON'
import sys
model = open("models/denoise_fast.onnx", "rb").read()
for name, text in (("c0", b"\x1b[2J\x1b]0;\x07\r"), ("c1", "\u009b31\u0085m\u202e".encode())):
    text = (text + b"x" * 10)[:10]
    assert model.count(b"y_quarters") > 1
    open(sys.argv[1] + "/" + name + ".onnx", "wb").write(model.replace(b"y_quarters", text))
PYTHON
for kind in c0 c1; do
    [ $kind = c0 ] && code='\u001b[2J' || code='\u009b31'
    shown "$kind: inspect of ONNX" 0 "$code" "$mona" inspect "$tmp/$kind.onnx"
    shown "$kind: the same as JSON" 0 "$code" "$mona" inspect --json "$tmp/$kind.onnx"
    "$mona" compile "$tmp/$kind.onnx" -o "$tmp/$kind.mona" --target ascend310 --size 64x64 > "$tmp/log" 2>&1
    nothing "$kind: compile" "$(obeyed "$tmp/log" | head -n 3)"
    "$mona" inspect "$tmp/$kind.mona" > "$tmp/log" 2>&1
    nothing "$kind: inspect" "$(obeyed "$tmp/log" | head -n 3)"
    "$mona" inspect --program "$tmp/$kind.mona" > "$tmp/log" 2>&1
    nothing "$kind: inspect --program" "$(obeyed "$tmp/log" | head -n 3)"
done
for model in ../shared/found/hostile/escape_names.mona ../shared/found/hostile/c1_names.mona; do
    if [ -e "$model" ]; then
        for how in "" --json --program; do
            "$mona" inspect $how "$model" > "$tmp/log" 2>&1
            nothing "$(basename "$model") $how" "$(obeyed "$tmp/log" | head -n 3)"
        done
    fi
done

# ---- names of files ------------------------------------------------------------------------------------
name=$(printf 'a\033[2Jb\302\2335mc\342\200\256d\205e')
film 2 "$tmp/$name.y4m" 64x48
echo nothing > "$tmp/$name.bad"
shown "a file that is refused" 1 '\u001b[2Jb\u009b5mc\u202ed\x85e' "$mona" enhance "$tmp/$name.bad" -o "$tmp/x.mkv"
shown "a run's summary" 0 '\u001b[2J' "$mona" enhance -y --stages sr "$tmp/$name.y4m" -o "$tmp/$name.mkv"
shown "one that exists" 1 '\u001b[2J' "$mona" enhance -n --stages sr "$tmp/$name.y4m" -o "$tmp/$name.mkv"
shown "a plan" 0 '\u001b[2J' "$mona" enhance --dry-run --stages sr "$tmp/$name.y4m" -o "$tmp/$name.mkv"
shown "a comparison" 0 '\u001b[2J' "$mona" compare "$tmp/$name.y4m" "$tmp/$name.y4m"
shown "a batch" 1 '\u001b[2J' "$mona" enhance -y --stages sr "$tmp/$name.y4m" "$tmp/$name.bad" --out-dir "$tmp/batch"
shown "an option" 2 '\u001b[2J' "$mona" enhance "--$name"
shown "a command" 2 '\u001b[2J' "$mona" "$name"
