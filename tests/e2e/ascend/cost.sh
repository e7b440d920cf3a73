#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The count of the kernels' scalar instructions, of networks whose scalar unit reads and writes UB, and of the one whose time is known best.
. tests/tap.inc

for tool in clang aarch64-linux-gnu-gcc qemu-aarch64-static; do
    command -v $tool > /dev/null || { skip "no $tool"; exit; }
done
size=64x48
full && size=320x180
for net in sr_x2_balanced sr_x2_best; do
    BUILD=$BUILD sh tests/bench/kernel/cost.sh $net $size > "$tmp/cost" 2> "$tmp/err"
    same "$net" "$? $(sed -n 's/: [1-9][0-9]* scalar instructions$//p' "$tmp/cost" | tr '\n' ,)" "0 replay kernel,kernel of its own,"
done
# What the model's cost of an instruction, `replay`, is from: 52 cycles besides its issue.
BUILD=$BUILD sh tests/bench/kernel/cost.sh sr_x2_fast 1920x1080 > "$tmp/cost" 2> "$tmp/err"
count=$(sed -n 's/^replay kernel: \([0-9]*\) .*/\1/p' "$tmp/cost")
same "sr_x2_fast at 1080p: at most 2250000 scalar instructions by the replay kernel, found $count" "$([ "${count:-9999999}" -le 2250000 ]; echo $?)" 0
