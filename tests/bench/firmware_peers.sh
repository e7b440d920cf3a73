#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona beside onnx2c on emulated controllers: flash, RAM without the stack, and instructions of a frame of sr_x2_fast,
# 64x48. onnx2c writes fp32, has no DepthToSpace, which is cut off for it, and needs more RAM than the boards' 256 KB.
#
#   ONNX2C=FOLDER [CMSIS_NN=FOLDER] [BUILD=build] sh tests/bench/firmware_peers.sh
#
# or make bench-firmware with these. ONNX2C: where the program onnx2c is, or its path.
#
# With CMSIS-NN's sources: its instructions for each multiply-add of the layer that tests/e2e/engine/boards.sh counts.
set -eu
BUILD=${BUILD:-build}
onnx2c=
for program in "${ONNX2C:-}" "${ONNX2C:-}/onnx2c" "${ONNX2C:-}/build/onnx2c"; do
    [ -f "$program" ] && [ -x "$program" ] && onnx2c=$program
done
[ -n "$onnx2c" ] || { echo '# skip: no onnx2c: ONNX2C=FOLDER with that program'; exit 0; }
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
"$onnx2c" "$tmp/net.onnx" > "$tmp/onnx2c.c" 2> "$tmp/log"

sed 's/LENGTH = 256K/LENGTH = 1M/' apps/firmware/boards/small.ld > "$tmp/board.ld"
echo "| board | | flash | RAM | million instructions |"
echo "|---|---|---|---|---|"
# $1: machine, $2: image; prints the instructions, in millions
count() {
    qemu-system-arm -M "$1" -icount shift=4,sleep=off -nodefaults -display none -serial stdio \
        -semihosting-config enable=on,target=native -kernel "$2" < /dev/null 2> "$tmp/log" | awk '{ print $2 / $4 * 1e3 / 16 }'
}
# $1: board, $2: its machine, $3: target, $4: where its memories are
measure() {
    make -s -f apps/firmware/Makefile BOARD="$1" BUILD="$BUILD/boards" MONA="$BUILD/mona" "$BUILD/boards/$1/libmona.a"
    "$BUILD/mona" compile sr_x2_fast -o "$tmp/net.c" --emit c --target "$3" --size 64x48 > "$tmp/log"
    build="$(make -s -f apps/firmware/Makefile BOARD="$1" compiler) -std=gnu11 -O3 -ffreestanding -ffunction-sections
        -fdata-sections -w -nostdlib -static -I. -Iengine -I$tmp -Wl,--gc-sections -T $tmp/board.ld $4
        apps/firmware/boards/common.c apps/firmware/boards/mps.c"
    $build -o "$tmp/mona" tests/bench/firmware/frame.c "$tmp/net.c" "$BUILD/boards/$1/libmona.a" -lgcc
    $build -o "$tmp/onnx2c" -DONNX2C tests/bench/firmware/frame.c "$tmp/onnx2c.c" -lgcc
    for peer in mona onnx2c; do
        arm-none-eabi-size "$tmp/$peer" | awk -v board="$1" -v peer=$peer -v millions="$(count "$2" "$tmp/$peer")" \
            'NR == 2 { printf "| %s | %s | %d KB | %d KB | %.1f |\n", board, peer, $1 / 1024, $3 / 1024 - 8, millions }'
    done
    [ -n "${CMSIS_NN:-}" ] || return 0
    $build -fbuiltin -I"$CMSIS_NN/Include" -o "$tmp/cmsis" tests/bench/firmware/cmsis.c \
        $(find "$CMSIS_NN/Source/ConvolutionFunctions" "$CMSIS_NN/Source/NNSupportFunctions" -name '*.c' ! -name '*_f16.c' ! -name '*_f32.c') -lgcc
    awk -v board="$1" -v millions="$(count "$2" "$tmp/cmsis")" \
        'BEGIN { printf "%s: CMSIS-NN takes %.3f instructions for each multiply-add of the layer\n", board, millions / 5.89824 }'
}
measure an500 mps2-an500 armv7e-m "-Wl,--defsym=FLASH_ORIGIN=0,--defsym=RAM_ORIGIN=0x20000000"
measure an547 mps3-an547 armv8.1-m "-Wl,--defsym=FLASH_ORIGIN=0x10000000,--defsym=RAM_ORIGIN=0x31000000"
