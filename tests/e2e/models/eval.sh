#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona eval: figures by the protocols of the published tables.
. tests/tap.inc

# $1: the JSON of mona eval, $2: an expression of its document d
of_json() {
    python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
print($2)" "$1"
}

# ---- a small set of its own -------------------------------------------------------------------
mkdir "$tmp/set" "$tmp/none" "$tmp/small"
film 2 "$tmp/scene.y4m"
ffmpeg -v error -i "$tmp/scene.y4m" -vf format=rgb24,crop=131:97:100:60 -pix_fmt rgb24 "$tmp/set/img_%d.png"
ffmpeg -v error -i "$tmp/set/img_2.png" -pix_fmt gray "$tmp/set/b_HR.png"
ffmpeg -v error -i "$tmp/set/img_2.png" -vf scale=8:8 "$tmp/small/tiny.png"

succeeds "super-resolution of odd sizes" sh -c \
    "'$mona' eval sr_x2_fast --set '$tmp/set' --protocol sr --json > '$tmp/sr.json'"
same "every image, sorted" "$(of_json "$tmp/sr.json" "[r['image'] for r in d['images']]")" \
    "['b_HR.png', 'img_1.png', 'img_2.png']"
same "the mean is that of the images" \
    "$(of_json "$tmp/sr.json" "abs(sum(r['psnr'] for r in d['images']) / 3 - d['means'][0]['psnr']) < 0.002")" True
same "better than bicubic" \
    "$(of_json "$tmp/sr.json" "d['means'][0]['psnr'] > d['means'][0]['bicubic_psnr'] + 0.3 and d['scale'] == 2")" True
for threads in 1 2; do
    "$mona" eval sr_x2_fast --set "$tmp/set" --protocol sr --threads $threads --cpu c > "$tmp/t$threads"
done
same "the same with every number of threads" "$(cat "$tmp/t1")" "$(cat "$tmp/t2")"
succeeds "bicubic itself" sh -c \
    "'$mona' eval bicubic --scale 3 --set '$tmp/set' --protocol sr --json > '$tmp/bicubic.json'"
same "is its own measure" \
    "$(of_json "$tmp/bicubic.json" "all(r['psnr'] == r['bicubic_psnr'] > 20 for r in d['images'])")" True
succeeds "denoising" sh -c \
    "'$mona' eval denoise_fast --set '$tmp/set' --protocol denoise --sigma 20 --sigma 40 --json > '$tmp/dn.json'"
same "two strengths of three images" "$(of_json "$tmp/dn.json" "[r['sigma'] for r in d['images']]")" \
    "[20, 20, 20, 40, 40, 40]"
same "better than what came in" \
    "$(of_json "$tmp/dn.json" "all(r['psnr'] > r['noisy_psnr'] + 4 and r['ssim'] > r['noisy_ssim'] for r in d['means'])")" True
same "which is as noisy as asked" \
    "$(of_json "$tmp/dn.json" "abs(d['means'][0]['noisy_psnr'] - 22.2) < 0.6")" True
printf 'img_2.png\n' > "$tmp/list"
same "a list chooses" "$("$mona" eval bicubic --scale 2 --set "$tmp/set" --list "$tmp/list" --protocol sr | grep -c img_)" 1
cp "$tmp/set/img_1.png" "$tmp/set/b_LR.png"
same "of pairs only the large ones" "$("$mona" eval bicubic --scale 2 --set "$tmp/set" --protocol sr | grep -c png)" 1
rm "$tmp/set/b_LR.png"

# ---- what cannot work -------------------------------------------------------------------------
# $1: name, $2: exit status, $3: what the line must contain, rest: options
refused() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$mona" eval "$@" > "$tmp/stdout" 2> "$tmp/log"
    found="$? $(wc -l < "$tmp/log") $(grep -c -- "^mona: .*$pattern" "$tmp/log") $(wc -c < "$tmp/stdout")"
    same "$name" "$found" "$status 1 1 0"
}
refused "no protocol" 2 "expected --protocol sr" sr_x2_fast --set "$tmp/set"
! full || refused "a protocol that is none" 2 "found 'x'" sr_x2_fast --set "$tmp/set" --protocol x
! full || refused "no set" 2 "expected a folder" sr_x2_fast --protocol sr
refused "bicubic without a scale" 2 "--scale" bicubic --set "$tmp/set" --protocol sr
refused "a scale beside a model" 2 "--scale" sr_x2_fast --scale 2 --set "$tmp/set" --protocol sr
! full || refused "a strength that is no number" 2 "found '2x'" denoise_fast --sigma 2x --set "$tmp/set" --protocol denoise
refused "a folder without images" 1 "found none" sr_x2_fast --set "$tmp/none" --protocol sr
! full || refused "a folder that is not there" 1 "No such file" sr_x2_fast --set "$tmp/gone" --protocol sr
refused "a denoiser that shall enlarge" 1 "expected a model for one plane" denoise_fast --set "$tmp/set" --protocol sr
! full || refused "the reverse" 1 "expected a model for y, u, v" sr_x2_fast --set "$tmp/set" --protocol denoise
refused "an image too small" 1 "tiny.png.*at least" sr_x2_fast --set "$tmp/small" --protocol sr
printf 'gone.png\n' > "$tmp/list"
! full || refused "a listed image that is not there" 1 "gone.png" sr_x2_fast --set "$tmp/set" --list "$tmp/list" --protocol sr

# ---- published figures ------------------------------------------------------------------------
sets=../shared/data/test
mean() {
    of_json "$tmp/published.json" "'%.2f %.4f' % (d['means'][0]['psnr'], d['means'][0]['ssim'])"
}
if [ -z "$SANITIZE" ] && [ -d "$sets/set5" ]; then
    for row in "set5 4 28.42 0.8104" "set5 2 33.66 0.9299" "set5 3 30.39 0.8682" "set14 2 30.23 0.8687"; do
        set -- $row
        full || [ "$1$2" = set54 ] || continue
        "$mona" eval bicubic --set "$sets/$1/x$2" --scale "$2" --protocol sr --json > "$tmp/published.json"
        same "bicubic on $1 x$2, as published" "$(mean)" "$3 $4"
    done
else
    skip "published figures: $sets is not there, or sanitisers are on"
fi
