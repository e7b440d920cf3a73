#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counts the scalar instructions that core 0 executes for one frame, in the replay kernel and in one written for the program:
#   sh tests/bench/kernel/cost.sh [NETWORK [WxH]]
# Both are compiled for ARMv8 with intrinsics that do nothing.
# Needs clang, gcc-aarch64-linux-gnu and qemu-user-static, and a build.
set -eu
net=${1:-sr_x2_fast} size=${2:-1920x1080} BUILD=${BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
here=tests/bench/kernel

"$BUILD/mona" compile "$net" -o "$tmp/net.mona" --target ascend310 --size "$size" > "$tmp/log"
"$BUILD/mona" inspect "$tmp/net.mona" --kernel > "$tmp/own.cce"
${CC:-gcc} -O1 -I. -Iengine -o "$tmp/words" $here/words.c "$BUILD/formats/file.o" "$BUILD/formats/error.o" "$BUILD/libmona-ascend.a" \
    "$BUILD/libmona-model310.a" "$BUILD/libmona-plan.a" "$BUILD/libmona.a" -pthread -lm
"$tmp/words" "$tmp/net.mona" "$tmp/image"
aarch64-linux-gnu-gcc -O2 -I. -Iengine -c -o "$tmp/main.o" $here/counted.c

# $1: what, $2: its source
count() {
    clang --target=aarch64-linux-gnu -O2 -fno-jump-tables -DMONA_KERNEL=mona_replay3__kernel0 -ffreestanding -w -I. -Iengine -include $here/counted.h -x c -c -o "$tmp/kernel.o" "$2"
    aarch64-linux-gnu-gcc -static -o "$tmp/counted" "$tmp/kernel.o" "$tmp/main.o"
    qemu-aarch64-static -singlestep -d exec,nochain -D "$tmp/trace" "$tmp/counted" "$tmp/image"
    echo "$1: $(grep -cE 'kernel0|segment_' "$tmp/trace") scalar instructions"
}
echo "$net at $size: $(wc -c < "$tmp/image") bytes of words"
count "replay kernel" engine/ascend/kernel/replay.cce
count "kernel of its own" "$tmp/own.cce"
