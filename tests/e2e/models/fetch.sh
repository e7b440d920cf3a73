#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Photographs for training are fetched from their sources, or named with what is needed to find them; all phases of a
# training run without any.
. tests/tap.inc

if ! /usr/bin/python3 -c 'import PIL' 2> /dev/null || ! git --version > "$tmp/log" 2>&1; then
    ok "fetching # SKIP needs git and python3-pil"
    exit 0
fi

# A repository of one original, which its newest commit has in another size, stands for a public one.
train=models/train
where=$(sed -n 's/^| `brighton` | \(github[^ |]*\).*/\1/p' models/CREDITS.md)
repository=$tmp/repository
mkdir -p "$repository/images"
commit() { # $1: size
    /usr/bin/python3 -c "
from PIL import Image
x, y = $1
Image.merge('RGB', [Image.linear_gradient('L').rotate(90 * i).resize((x, y)) for i in range(3)]).save('$repository/images/DJI_0024.JPG')"
    git -C "$repository" add -A
    git -C "$repository" -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false commit --quiet -m "$1"
}
git init --quiet "$repository"
commit 4000,2250
commit 400,225
fetch() {
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.$1.insteadOf" GIT_CONFIG_VALUE_0="https://$where" \
        /usr/bin/python3 $train/fetch.py "$tmp/data" brighton > "$tmp/said" 2>&1
}
wanted=$(grep -c '/brighton_' $train/windows.tsv)

fetch "$repository"
same "what cannot be had makes it fail" $? 1
same "the size that was cut is found in history" "$(/usr/bin/python3 -c "
from PIL import Image
print(*Image.open('$tmp/data/train/photos/brighton_dji-0024_0.webp').size)")" "480 480"
same "and the rest is named" "$(grep -c 'brighton_dji-.*: expected .*, found none' "$tmp/said")" $((wanted - 1))
same "the sum is told" "$(tail -n 1 "$tmp/said")" "1 of $wanted crops are in $tmp/data/train"

fetch "$tmp/nowhere"
same "without the source each is named with its window" "$(grep -c ', reduced by .*, window (' "$tmp/said")" $((wanted - 1))

# ---- the list --------------------------------------------------------------------------------------
sed -n 's/^| \([a-z]*_[^ *|]*\)\*\{0,1\} | [^|]* | [^|]* | [^|]* |$/\1/p' models/CREDITS.md |
    sort -u > "$tmp/listed"
sed -n 's|^photos2\{0,1\}/\(.*\)_[0-9]\.webp.*|\1|p' $train/windows.tsv | sort -u > "$tmp/windows"
at_least "photographs in CREDITS.md" "$(wc -l < "$tmp/listed")" 342
nothing "each has a window" "$(comm -23 "$tmp/listed" "$tmp/windows" | head -n 3)"
nothing "what is for tests alone is not fetched" "$(grep texture/ $train/windows.tsv)"

# ---- a training without pictures -------------------------------------------------------------------
if full && /usr/bin/python3 -c 'import torch, matplotlib' 2> /dev/null; then
    for name in sr_x2_fast denoise_fast_video sr_x2_fast_sharp; do
        trainer=torch
        [ $name != sr_x2_fast_sharp ] || trainer=look
        $train/train.py $name --dry-run --trainer $trainer --data "$tmp/nowhere" --out "$tmp/out" > "$tmp/said" 2>&1
        phases=$(grep -c '"steps"' $train/recipes/$name.json)
        same "all phases of $name" "$(grep -c "^$name: $phases phases, [0-9]* steps by $trainer" "$tmp/said")" 1
        succeeds "it writes weights" test -s "$tmp/out/dry/$name.npz"
    done
fi
