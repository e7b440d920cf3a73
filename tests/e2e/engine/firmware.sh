#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The firmware example works in static memory, allocates nothing, and gives the same picture as the command.
. tests/tap.inc

succeeds "it runs" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/out.pgm"
sed 's/^/# /' "$tmp/log"
# Of the lower instruction sets, AVX2 needs the most memory.
for isa in avx2:avx2 neon:asimd; do
    if grep -qw "${isa#*:}" /proc/cpuinfo; then
        succeeds "with ${isa%:*} the arena suffices, too" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/out.$isa.pgm" "${isa%:*}"
        succeeds "the picture is the same" cmp "$tmp/out.pgm" "$tmp/out.$isa.pgm"
    fi
done
# The picture becomes a frame of film, whose luma reaches the network unchanged. A PGM has a header of three
# lines.
size=$(sed -n '2s/ /x/p' "$tmp/in.pgm")
samples() {
    tail -c +"$(($(head -n 3 "$1" | wc -c) + 1))" "$1"
}
samples "$tmp/in.pgm" > "$tmp/in.luma"
head -c "$(($(wc -c < "$tmp/in.luma") / 2))" /dev/zero | cat "$tmp/in.luma" - > "$tmp/in.raw"
succeeds "the command enlarges the same picture" "$mona" enhance "$tmp/in.raw" --raw "$size:yuv420p:25" --content clean \
    --stages sr -o "$tmp/out.raw" -f rawvideo
samples "$tmp/out.pgm" > "$tmp/out.luma"
succeeds "both give the same bytes" cmp -n "$(wc -c < "$tmp/out.luma")" "$tmp/out.luma" "$tmp/out.raw"
at_least "all of them" "$(wc -c < "$tmp/out.luma")" 200000
if [ -z "$SANITIZE" ]; then
    nothing "it calls no allocator" "$(nm -u "$BUILD/firmware" | awk '{ print $2 }' | grep -E '^(malloc|calloc|realloc|free|aligned_alloc)(@|$)')"
fi
if command -v python3 > /dev/null; then
    nothing "the guide's table of networks is today's" "$(python3 tests/e2e/engine/firmware_table.py "$mona" apps/firmware/README.md 2>&1)"
fi
