#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona beside onnx2c on emulated controllers: flash, RAM without the stack, and instructions of a frame of sr_x2_fast,
# 64x48. onnx2c writes fp32, has no DepthToSpace, which is cut off for it, and needs more RAM than the boards' 256 KB.
#
#   ONNX2C=onnx2c [BUILD=build] sh tests/bench/firmware_peers.sh
set -eu
BUILD=${BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
/usr/bin/python3 - models/sr_x2_fast.onnx "$tmp/net.onnx" << 'PYTHON'
import sys
import onnx
model = onnx.load(sys.argv[1])
graph = model.graph
for dim, size in zip(graph.input[0].type.tensor_type.shape.dim, (1, 1, 48, 64)):
    dim.dim_value = size
last = graph.node[-1].input[0]
del graph.node[-1], graph.value_info[:], graph.output[:]
graph.output.append(onnx.helper.make_tensor_value_info(last, 1, [1, 4, 48, 64]))
onnx.save(model, sys.argv[2])
PYTHON
"${ONNX2C:?the program onnx2c}" "$tmp/net.onnx" > "$tmp/onnx2c.c" 2> "$tmp/log"

sed 's/LENGTH = 256K/LENGTH = 1M/' apps/firmware/boards/mps.ld > "$tmp/board.ld"
echo "| board | | flash | RAM | million instructions |"
echo "|---|---|---|---|---|"
# $1: board, $2: target, $3: compiler's flags, $4: flash and RAM
measure() {
    make -s -f apps/firmware/Makefile BOARD="$1" BUILD="$BUILD/boards" MONA="$BUILD/mona" "$BUILD/boards/$1/libmona.a"
    "$BUILD/mona" compile sr_x2_fast -o "$tmp/net.c" --emit c --target "$2" --size 64x48 > "$tmp/log"
    for peer in mona onnx2c; do
        define=
        source=$tmp/net.c
        [ $peer = mona ] || { define=-DONNX2C source=$tmp/onnx2c.c; }
        arm-none-eabi-gcc -std=c11 -O3 $3 -mthumb -mfloat-abi=hard -ffreestanding -ffunction-sections -fdata-sections -w \
            -nostdlib -static $define -I. -Iengine -I"$tmp" -Wl,--gc-sections -T "$tmp/board.ld" $4 -o "$tmp/$peer" \
            tests/bench/firmware/frame.c "$source" apps/firmware/boards/common.c apps/firmware/boards/mps.c \
            "$BUILD/boards/$1/libmona.a" -lgcc
        qemu-system-arm -M "${5}" -icount shift=4,sleep=off -nodefaults -display none -serial stdio \
            -semihosting-config enable=on,target=native -kernel "$tmp/$peer" < /dev/null > "$tmp/ticks" 2> "$tmp/log"
        set -- "$1" "$2" "$3" "$4" "$5" $(arm-none-eabi-size "$tmp/$peer" | tail -n 1)
        echo "| $1 | $peer | $((${6} / 1024)) KB | $(((${8} - 8192) / 1024)) KB | $(awk '{ printf "%.1f", $2 / $4 * 1e3 / 16 }' "$tmp/ticks") |"
        set -- "$1" "$2" "$3" "$4" "$5"
    done
}
measure an500 armv7e-m "-mcpu=cortex-m7 -mfpu=fpv5-sp-d16" "-Wl,--defsym=FLASH_ORIGIN=0,--defsym=RAM_ORIGIN=0x20000000" mps2-an500
measure an547 armv8.1-m "-mcpu=cortex-m55" "-Wl,--defsym=FLASH_ORIGIN=0x10000000,--defsym=RAM_ORIGIN=0x31000000" mps3-an547
