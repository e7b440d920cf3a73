#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Default settings spoil none of what looks like noise or damage and is none: pictures and films that traps.py draws
# lose at most 0.1 dB and 0.002 of SSIM against the input or, enlarged, against Lanczos interpolation.
. tests/tap.inc

/usr/bin/python3 -c 'import numpy, PIL' 2> /dev/null || {
    ok "traps # SKIP needs python3-numpy and python3-pil"
    exit 0
}

mkdir "$tmp/work"
if full; then
    /usr/bin/python3 tests/e2e/media/traps.py "$tmp/work" "$mona" > "$tmp/found"
else
    /usr/bin/python3 tests/e2e/media/traps.py "$tmp/work" "$mona" --images --small leaves ordered scanned_text > "$tmp/found"
fi
same "all were tried" "$?" 0

# Where more is lost today, traps.left says how much at most.
awk -F'\t' -v OFS='\t' 'FNR == NR { if (!/^#/) { db[$1] = $2; ssim[$1] = $3 }; next }
    { d = ($1 in db) ? db[$1] : -0.1; s = ($1 in ssim) ? ssim[$1] : -0.002
      print $1, $2, $3, ($2 >= d && $3 >= s) ? "kept" : "expected at least " d " dB and " s " of SSIM" }' \
    tests/e2e/media/traps.left "$tmp/found" > "$tmp/judged"
while IFS='	' read -r what db ssim verdict; do
    if [ "$verdict" = kept ]; then
        ok "$what ($db dB, $ssim)"
    else
        not_ok "$what" "found $db dB and $ssim of SSIM, $verdict"
    fi
done < "$tmp/judged"
