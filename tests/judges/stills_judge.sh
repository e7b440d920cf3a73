#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stills as other programs see them: every format that mona writes, from sources that are awkward in some way. A short
# run takes a few of them, and what needs no other program.
. tests/tap.inc

missing=
for program in convert identify pngcheck exiftool; do
    command -v $program > /dev/null || missing="$missing $program"
done
python3 -c 'from PIL import ImageCms; import numpy' 2> /dev/null || missing="$missing python3-pil python3-numpy"
if [ -n "$missing" ]; then
    skip "stills are judged by programs that are not here:$missing"
else
    mkdir "$tmp/stills"
    python3 tests/judges/stills_judge.py "$mona" "$tmp/stills" "$(full && echo full || echo short)" > "$tmp/cells" 2>&1
    same "the judge came to its end" "$? $(grep -c '^# [0-9]* cells' "$tmp/cells")" "0 1"
    while read -r result; do
        case $result in
            'not ok '*) not_ok "${result#not ok }" "" ;;
            'ok '*) ok "${result#ok }" ;;
            *) echo "# ${result#\# }" ;;
        esac
    done < "$tmp/cells"
fi

# ---- GIF ---------------------------------------------------------------------------------------------
if command -v gifsicle > /dev/null; then
    ffmpeg -v error -y -f lavfi -i color=black:s=60x50:r=10,format=rgba -frames:v 4 \
        -vf "geq=r=230:g=60:b='20*N':a='255*lt(hypot(X-20-5*N,Y-25),15)',split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=1[p];[b][p]paletteuse=new=1" \
        -loop 2 -final_delay 50 "$tmp/disc.gif"
    gif_facts() {
        gifsicle -I "$1" | awk '/loop/ { print } / images$/ { print $(NF - 1), $NF } /delay/ { print $NF } / transparent / { shows++ } END { print shows + 0 }' | tr '\n' ' '
    }
    succeeds "a GIF" "$mona" enhance -y "$tmp/disc.gif" -o "$tmp/disc_out.gif" --stages sr
    same "gifsicle finds its repeats, times and transparency" "$(gif_facts "$tmp/disc_out.gif")" "$(gif_facts "$tmp/disc.gif")"
    nothing "and no fault" "$(gifsicle --no-warnings -o /dev/null "$tmp/disc_out.gif" 2>&1)"
    echo "# $(gif_facts "$tmp/disc_out.gif")"
else
    skip "no gifsicle here"
fi
