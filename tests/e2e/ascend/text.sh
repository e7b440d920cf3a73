#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What kernels hold besides instructions: nothing, as the vendor's own; and that those in use fit a core's instruction
# cache of 32 KB: all of the replay kernel, the largest loop of one written for a program; of sr_x2_best's, which has a loop
# over tiles, those over strips.
. tests/tap.inc

for tool in clang aarch64-linux-gnu-objdump; do
    command -v $tool > /dev/null || { skip "no $tool"; exit; }
done
text() { # SOURCE [FLAG]: others, .text, largest loop, largest inner loop
    clang --target=aarch64-linux-gnu -O2 $2 -fno-vectorize -fno-slp-vectorize -ffreestanding -w -I. -Iengine -include \
        tests/bench/kernel/counted.h -x c -c -o "$tmp/kernel.o" "$1" && python3 tests/bench/kernel/text.py "$tmp/kernel.o"
}
fits() { [ "$1" -le 32768 ] && echo fits || echo "$1 bytes"; }

set -- $(text engine/ascend/kernel/replay.cce -fno-jump-tables)
same "the replay kernel: nothing but instructions, $4 bytes of them" "$2 $(fits "$4")" "none fits"
set -- $(text engine/ascend/kernel/replay.cce "")
same "a table of jumps would be found" "$(echo "$2" | grep -c rodata)" 1
for net in sr_x2_fast $(full && echo denoise_balanced sr_x2_balanced sr_x2_best); do
    "$mona" compile $net -o "$tmp/net.mona" --target ascend310 --size 1920x1080 > /dev/null && "$mona" inspect "$tmp/net.mona" --kernel > "$tmp/own.cce"
    set -- $(text "$tmp/own.cce" -fno-jump-tables)
    case $net in
    sr_x2_best) expected="none $6 bytes fits" ;;
    *) expected="none fits fits" ;;
    esac
    same "$net's own kernel: nothing but instructions, $4 bytes, the largest loop $6, over strips $8" \
        "$2 $(fits "$6") $(fits "$8")" "$expected"
done
