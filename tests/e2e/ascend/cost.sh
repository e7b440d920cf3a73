#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The count of the kernels' scalar instructions, of networks whose scalar unit reads and writes UB.
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
