#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No command writes over a file that it reads, or two results into one file.
. tests/tap.inc

film 2 "$tmp/scene.y4m" 96x54
mkdir "$tmp/in"
ffmpeg -v error -i "$tmp/scene.y4m" -c:v ffv1 "$tmp/a.mkv" -frames:v 1 "$tmp/a.png"
cp "$tmp/a.mkv" "$tmp/b.mkv"
cp models/bicubic_x2.mona "$tmp/m.mona"
echo "only its name is read" > "$tmp/n.onnx"
ln -s a.png "$tmp/link.png"
ln "$tmp/a.mkv" "$tmp/same.mkv"
python3 -c 'import struct, sys
sys.stdout.buffer.write(b"\x93NUMPY\1\0v\0" + b"{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (8, 8)}".ljust(117) + b"\n" + bytes(256))' > "$tmp/a.npy"

sums() {
    (cd "$tmp" && md5sum a.mkv b.mkv a.png m.mona n.onnx a.npy)
}
sums > "$tmp/sums"
kept() {
    sums | cmp -s - "$tmp/sums" && [ -z "$(find "$tmp" -name 'out*')" ]
}

# $1: what the one line must contain, rest: the command line, which leaves all inputs as they were and
# writes nothing
refused() {
    words=$1
    shift
    (cd "$tmp" && "$here/$mona" "$@" > stdout 2> log < /dev/null)
    same "refused: $*" "$? $(wc -l < "$tmp/log") $(grep -cF -- "$words" "$tmp/log") $(kept; echo $?)" "2 1 1 0"
}
here=$PWD
input="the output is the input; expected another name"
refused "--output a.png: $input" enhance a.png -o a.png -y
refused "--output link.png: $input" enhance a.png -o link.png -y
refused "--output in/../a.png: $input" enhance a.png -o in/../a.png -y
refused "--output same.mkv: $input" enhance a.mkv -o same.mkv -y
refused "--output m.mona: $input" enhance a.mkv -o m.mona -f matroska --sr m.mona --stages sr -y
refused "--html a.mkv: $input" enhance a.mkv -o out.mkv --html a.mkv -y
refused "--metrics a.mkv: $input" enhance a.mkv -o out.mkv --live --metrics a.mkv -y
refused "--html a.mkv: $input" compare a.mkv b.mkv --html a.mkv
refused "--html b.mkv: $input" compare a.mkv b.mkv --html b.mkv
refused "--dot m.mona: $input" inspect m.mona --dot m.mona
refused "--html m.mona: $input" bench m.mona --size 64x64 -n 3 --html m.mona
refused "--output m.mona: $input" compile m.mona --target host --size 64x64 -o m.mona
refused "--report n.onnx: $input" compile n.onnx -o out.mona --report n.onnx
refused "--output a.npy: $input" run m.mona -i a.npy -o a.npy
refused "--output and --html: expected two files, found out.mkv for both" enhance a.mkv -o out.mkv --html out.mkv
refused "--output and --metrics: expected two files, found out.mkv for both" enhance a.mkv -o out.mkv --live --metrics in/../out.mkv
refused "--output and --report: expected two files, found out.mona for both" compile n.onnx -o out.mona --report out.mona
refused "--trace and --html: expected two files, found out for both" bench m.mona --size 64x64 -n 3 --html out --trace out --device model310
refused "--output and --output: expected two files, found out.npy for both" run m.mona -i a.npy -o out.npy -o out.npy

"$mona" enhance "$tmp/a.png" --out-dir "$tmp" -y --quiet > "$tmp/stdout" 2> "$tmp/log"
same "refused: --out-dir where the picture lies" "$? $(grep -cF "a.png: $input" "$tmp/log") $(kept; echo $?)" "1 1 0"
