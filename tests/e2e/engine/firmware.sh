#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The firmware example: works from static memory, allocates nothing, and gives the same picture as the
# command.
. tests/tap.inc

succeeds "it runs" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/out.pgm"
sed 's/^/# /' "$tmp/log"
ffmpeg -v error -i "$tmp/in.pgm" "$tmp/in.png"
succeeds "the command enlarges the same picture" "$mona" enhance "$tmp/in.png" -o "$tmp/out.png" --stages sr
ffmpeg -v error -i "$tmp/out.png" -pix_fmt gray "$tmp/command.pgm"
succeeds "both give the same bytes" cmp "$tmp/out.pgm" "$tmp/command.pgm"
if [ -z "$SANITIZE" ]; then
    nothing "it calls no allocator" "$(nm -u "$BUILD/firmware" | awk '{ print $2 }' | grep -E '^(malloc|calloc|realloc|free|aligned_alloc)(@|$)')"
fi
