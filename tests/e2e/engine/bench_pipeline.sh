#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --pipeline times what mona enhance does with the same options: its networks, its encoder, its
# memory.
. tests/tap.inc

film 6 "$tmp/scene.y4m" 320x180
mkdir "$tmp/in"
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=64:48 -c:v libx264 -pix_fmt yuv420p "$tmp/clip.mp4" \
    -vf scale=64:48 "$tmp/in/%04d.png"

# $1: input, rest: options
agree() {
    input=$1
    shift
    "$mona" enhance -y "$input" -o "$tmp/out.mkv" --progress json "$@" 2> "$tmp/lines"
    "$mona" bench --pipeline "$input" -n 6 --warmup 0 --json "$@" > "$tmp/bench" 2> "$tmp/log"
    same "bench and enhance agree: ${input##*/} $*" "$(python3 - "$tmp/lines" "$tmp/bench" 2>&1 <<'PYTHON'
import json, sys
begin = next(e for e in map(json.loads, open(sys.argv[1])) if e['event'] == 'begin')
bench = json.load(open(sys.argv[2]))
for key in ('networks', 'strength', 'temporal', 'deinterlace', 'encoder', 'engine_bytes', 'frame_bytes',
            'out_width', 'out_height'):
    if begin[key] != bench.get(key):
        sys.exit(f'{key}: {begin[key]} in enhance, {bench.get(key)} in bench')
steps = [s['name'] for s in bench['steps']]
stages = [n.split('_')[0].replace('lanczos', 'resize') for n in begin['networks'].split(', then ')]
print('agree' if steps == ['decode', 'upload', *stages, 'encode'] else steps)
PYTHON
)" agree
}
agree "$tmp/clip.mp4"
agree "$tmp/clip.mp4" -s 4 --tier balanced --content clean --match-bitrate
agree "$tmp/clip.mp4" --stages sr,denoise --temporal off --deinterlace off --preset ultrafast --crf 30
agree "$tmp/clip.mp4" -s 1 --strength 0.3 --colour 0.5 -c ffv1 -e slices=4
agree "$tmp/clip.mp4" --height 72
agree "$tmp/clip.mp4" --size 80x120
agree "$tmp/in/%04d.png" --denoise denoise_balanced

# The help texts of these options are the same.
rows() {
    "$mona" "$1" --help | sed -n "/$2/,/^$/p" | grep -E '^ {2,8}(-., )?--(stages|scale|height|tier|content|sr|denoise|temporal|codec|crf|preset)'
}
same "they have the same options" "$(rows bench 'The whole pipeline')" \
    "$(rows enhance Enhancement; rows enhance Encoding)"
bench_size() {
    "$mona" bench --pipeline synthetic --size 64x48 -n 6 --warmup 0 --json "$@" | python3 -c 'import json, sys; b = json.load(sys.stdin)
print("%dx%d" % (b["width"], b["height"]), "%dx%d" % (b["out_width"], b["out_height"]), b["networks"].split(", then ")[-1])'
}
same "synthetic frames too have a --height" "$(bench_size --height 72)" "64x48 96x72 lanczos"
same "and without it, as before" "$(bench_size -s 1)" "64x48 64x48 denoise_fast_video"
fails "two sizes" "expected one of --scale, --width, --height and --size" "$mona" bench --pipeline "$tmp/clip.mp4" -s 2 --height 72
fails "an option that bench refuses as enhance does" "--scale 1 leaves nothing to do" \
    "$mona" bench --pipeline "$tmp/clip.mp4" -s 1 --stages sr
fails "a delay at a number beyond all" "found '1ms/2ms@4294967297'" "$mona" bench --pipeline synthetic --stages delay:1ms/2ms@4294967297
