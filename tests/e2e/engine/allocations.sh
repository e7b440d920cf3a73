#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In steady state mona's own code allocates and frees nothing: a run of 40 frames makes exactly as many
# calls as one of 20.
. tests/tap.inc

if [ -n "$SANITIZE" ] || ! printf '#include <features.h>\n__GLIBC__' | ${CC:-cc} -E - 2> /dev/null | tail -n 1 | grep -q '[0-9]'; then
    skip "the counter needs glibc and a build without sanitisers"
    ok "nothing to count in this build"
    exit 0
fi
${CC:-cc} -O1 -fPIC -shared -fno-builtin -o "$tmp/count.so" tests/e2e/engine/allocations.c || exit 1
film 40 "$tmp/scene.y4m" 320x180
ffmpeg -v error -stream_loop 1 -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=3.2 -vf scale=160:90 -c:v libx264 -bf 2 -pix_fmt yuv420p \
    -c:a aac "$tmp/long.mkv"

# $1: frames, $2: stages; prints the calls.
calls() {
    MONA_ALLOCATIONS=$tmp/calls LD_PRELOAD=$tmp/count.so "$mona" enhance "$tmp/long.mkv" -y -o "$tmp/out.mkv" \
        --frames "$1" --stages "$2" --preset ultrafast 2> "$tmp/log" || cat "$tmp/log"
    cat "$tmp/calls"
}
for stages in $(! full || echo denoise,sr sr) sr,denoise colour; do
    twenty=$(calls 20 $stages)
    forty=$(calls 40 $stages)
    echo "# $stages: $twenty calls for 20 frames, $forty for 40"
    same "no call more for twenty frames more, $stages" "$forty" "$twenty"
    same "the counter sees calls, $stages" "$([ "${twenty:-0}" -gt 10 ] && echo yes)" yes
done
