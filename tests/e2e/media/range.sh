#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks get studio range: pictures and film of full range are enhanced as well as mona eval reports.
. tests/tap.inc

tiers() { # $1: scales or tiers of the short tier, $2: of the full one
    if full; then echo "$2"; else echo "$1"; fi
}
range() {
    python3 -IS tests/e2e/media/range.py "$@"
}
raw() { # $1: file, $2: pixel format, $3: output
    ffmpeg -nostdin -v error -y -i "$1" -frames:v 1 -pix_fmt "$2" -f rawvideo "$3"
}
size_of() {
    ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$1" | tr ',' ' '
}

# Enhances the small picture of each pair in a folder and prints by how many dB the mean is better than that of
# mona eval. $1: folder of *HR.png and *LR.png, $2: scale, $3: network, $4: list for eval
gain() {
    "$mona" eval "$3" --set "$1" --list "$4" --protocol sr --json > "$tmp/eval.json"
    while read -r name; do
        "$mona" enhance -y "$1/${name%HR.png}LR.png" -o "$tmp/made.png" --stages sr --sr "$3" -s "$2" --quiet
        kind=rgb8 format=rgb24
        [ "$(ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 "$1/$name")" = gray ] && kind=grey format=gray
        raw "$1/$name" $format "$tmp/hr.raw"
        raw "$tmp/made.png" $format "$tmp/made.raw"
        # shellcheck disable=SC2046
        range psnr "$tmp/hr.raw" $kind "$tmp/made.raw" $kind $(size_of "$1/$name") "$2"
    done < "$4" > "$tmp/psnr"
    python3 -IS -c "
import json, sys
made = [float(line) for line in open('$tmp/psnr')]
told = [image['psnr'] for image in json.load(open('$tmp/eval.json'))['images']]
print('%.4f' % ((sum(made) - sum(told)) / len(told)) if len(made) == len(told) else '')"
}

# ---- a picture of its own ------------------------------------------------------------------------------------
# Levels that the bicubic kernel does not take beyond black and white: eval's luma could hold those, a picture
# cannot.
film 1 "$tmp/scene.y4m"
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=426:240,format=rgb24,crop=312:180,lutrgb=r=24+val*13/16:g=24+val*13/16:b=24+val*13/16" \
    -pix_fmt rgb24 "$tmp/own.png"
raw "$tmp/own.png" rgb24 "$tmp/own.raw"
echo own_HR.png > "$tmp/list"
for scale in $(tiers 2 "2 3 4"); do
    mkdir "$tmp/$scale"
    cp "$tmp/own.png" "$tmp/$scale/own_HR.png"
    range reduce "$tmp/own.raw" 312 180 "$scale" "$tmp/small.raw"
    ffmpeg -v error -f rawvideo -pixel_format rgb24 -video_size $((312 / scale))x$((180 / scale)) -i "$tmp/small.raw" \
        "$tmp/$scale/own_LR.png"
    for tier in $(tiers fast "fast balanced best"); do
        at_least "x$scale $tier: a picture is as good as eval says" \
            "$(gain "$tmp/$scale" "$scale" "sr_x${scale}_$tier" "$tmp/list")" -0.02
    done
done

# ---- film ----------------------------------------------------------------------------------------------------
# The same film in both ranges: the output keeps its range, and its luma is equally close to the original's.
for tier in $(tiers fast "fast balanced best"); do
    for kind in tv pc; do
        ffmpeg -v error -y -i "$tmp/2/own_LR.png" -vf "scale=out_range=$kind:out_color_matrix=bt601:flags=accurate_rnd+full_chroma_int" \
            -pix_fmt yuv444p -color_range $kind -c:v ffv1 "$tmp/$kind.mkv"
        "$mona" enhance -y "$tmp/$kind.mkv" -o "$tmp/out.mkv" -c ffv1 --stages sr --sr "sr_x2_$tier" --quiet
        same "$tier: film of range $kind stays that" \
            "$(ffprobe -v error -show_entries stream=color_range -of csv=p=0 "$tmp/out.mkv")" $kind
        ffmpeg -v error -y -i "$tmp/out.mkv" -vf extractplanes=y -f rawvideo "$tmp/$kind.raw"
        range psnr "$tmp/own.raw" rgb "$tmp/$kind.raw" $kind 312 180 2 > "$tmp/$kind.psnr"
    done
    at_least "$tier: film of full range is as good as that of studio range" "$(cat "$tmp/pc.psnr")" \
        "$(awk '{ print $1 - 0.02 }' "$tmp/tv.psnr")"
done

# ---- published sets ------------------------------------------------------------------------------------------
# Without two pictures of Set14, text and a zebra, which reach beyond black and white when they are reduced.
sets=../shared/data/test
if full && [ -z "$SANITIZE" ] && [ -d "$sets" ]; then
    for set in set5 set14; do
        for scale in 2 3 4; do
            find "$sets/$set/x$scale" -name "*HR.png" -printf "%f\n" | sort > "$tmp/list"
            [ $set = set5 ] || sed -i '/img_01[34]/d' "$tmp/list"
            for tier in fast balanced best; do
                at_least "$set x$scale $tier: pictures are as good as eval says" \
                    "$(gain "$sets/$set/x$scale" $scale "sr_x${scale}_$tier" "$tmp/list")" -0.02
            done
        done
    done
else
    skip "published sets: in the full tier, with $sets, without sanitisers"
fi
