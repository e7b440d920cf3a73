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
