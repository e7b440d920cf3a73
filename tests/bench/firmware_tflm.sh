#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorFlow Lite Micro with CMSIS-NN's kernels on an emulated Cortex-M55 or M7: flash, arena and instructions of a frame
# of networks in INT8, as in apps/firmware/README.md. A frame of more than 2^25 ticks of the board is not counted right.
#
#   TFLM=FOLDER CMSIS_NN=FOLDER FLATBUFFERS=FOLDER GEMMLOWP=FOLDER RUY=FOLDER [OUT=FOLDER] \
#       sh tests/bench/firmware_tflm.sh cortex-m7 NETWORK.tflite:OPERATOR,OPERATOR...
#
# The folders hold the sources of these projects; objects stay in OUT. Operators are those of the network, as Conv2D,Add.
set -eu
cpu=$1
shift
case $cpu in
    cortex-m55) flags='-mfloat-abi=hard' machine=mps3-an547 places='0x10000000 0x70000000' hertz=32 ;;
    cortex-m7) flags='-mfpu=fpv5-sp-d16 -mfloat-abi=hard' machine=mps2-an500 places='0 0x60000000' hertz=25 ;;
    *) echo "expected cortex-m55 or cortex-m7, found $cpu" && exit 2 ;;
esac
OUT=${OUT:-$(mktemp -d)}
mkdir -p "$OUT"
flags="-mcpu=$cpu $flags -mthumb -O2 -ffunction-sections -fdata-sections -DCMSIS_NN -DTF_LITE_STATIC_MEMORY -DTF_LITE_DISABLE_X86_NEON
    -DTF_LITE_STRIP_ERROR_STRINGS -DNDEBUG -w -I$TFLM -I$FLATBUFFERS/include -I$GEMMLOWP -I$RUY -I$CMSIS_NN -I$CMSIS_NN/Include"
cxx='-std=c++17 -fno-rtti -fno-exceptions -fno-threadsafe-statics -fno-unwind-tables'
lite=$TFLM/tensorflow/lite
kernels=$lite/micro/kernels
operators='add_common conv_common depthwise_conv_common fully_connected_common pooling_common softmax_common reshape reshape_common
    depth_to_space decompress decompress_common quantize quantize_common dequantize dequantize_common kernel_util micro_tensor_utils'
{
    find "$lite/micro" -maxdepth 1 -name '*.cc' | grep -vE 'test|mock|fake|recording|hexdump|micro_time'
    find "$lite/micro/arena_allocator" "$lite/micro/memory_planner" "$lite/micro/tflite_bridge" "$lite/core/api" -name '*.cc' | grep -vE 'test|recording'
    for name in $operators; do echo "$kernels/$name.cc"; done
    for name in add conv depthwise_conv fully_connected pooling softmax; do echo "$kernels/cmsis_nn/$name.cc"; done
    for name in common quantization_util portable_tensor_utils reference/portable_tensor_utils runtime_shape tensor_ctypes tensor_utils; do
        echo "$lite/kernels/internal/$name.cc"
    done
    echo "$lite/core/c/common.cc $lite/kernels/kernel_util.cc"
    echo "$TFLM/tensorflow/compiler/mlir/lite/core/api/error_reporter.cc $TFLM/tensorflow/compiler/mlir/lite/schema/schema_utils.cc"
    find "$CMSIS_NN/Source" -name '*.c' | grep -vE '_f16|_f32|LSTM|SVDF|Transpose|Pad|Minimum|Maximum|Concat'
} > "$OUT/list"
for file in $(cat "$OUT/list"); do
    object=$OUT/$(echo "${file#"$TFLM"/}" | tr / _).o
    case $file in
        *.cc) command="g++ $cxx" ;;
        *) command='gcc -std=c11' object=$OUT/$(basename "$file").o ;;
    esac
    # shellcheck disable=SC2086
    [ -f "$object" ] || arm-none-eabi-$command $flags -c -o "$object" "$file"
done
# shellcheck disable=SC2086
arm-none-eabi-gcc $flags -std=gnu11 -D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=1 -c -o "$OUT/start" tests/boards/checkops_start.c
rm -f "$OUT/lib.a"
arm-none-eabi-ar rcs "$OUT/lib.a" "$OUT"/*.o

# $1: a program, $2: more flags, $3: what else is linked
link() {
    # shellcheck disable=SC2086
    arm-none-eabi-g++ $flags $cxx $2 -c -o "$OUT/main" tests/bench/firmware/tflm.cc
    # shellcheck disable=SC2086
    arm-none-eabi-g++ $flags --specs=rdimon.specs -nostartfiles -T tests/boards/checkops.ld -Wl,--defsym=VECTORS="${places% *}" \
        -Wl,--defsym=MEMORY_ORIGIN="${places#* }" -Wl,--gc-sections -Wl,-z,muldefs -o "$1" "$OUT/start" "$OUT/main" $3 "$OUT/lib.a"
}
text() {
    arm-none-eabi-size "$1" | awk 'NR == 2 { print $1 }'
}
link "$OUT/empty" -DEMPTY ''
echo "| network | flash, KB | arena, KB | million instructions |"
echo "|---|---|---|---|"
for given; do
    network=${given%:*}
    operators=$(echo "${given##*:}" | sed 's/[A-Za-z0-9]*/r.Add&();/g; s/,//g')
    printf '.section .rodata.model,"a"\n.balign 16\n.global model_begin\nmodel_begin: .incbin "%s"\n' "$network" > "$OUT/model.S"
    link "$OUT/network" "-DOPS=$operators" "$OUT/model.S"
    qemu-system-arm -M "$machine" -icount shift=4,sleep=off -nodefaults -display none -serial null -kernel "$OUT/network" \
        -semihosting-config enable=on,target=native < /dev/null 2> /dev/null |
        awk -v name="$(basename "$network" .tflite)" -v text="$(($(text "$OUT/network") - $(text "$OUT/empty")))" -v hertz=$hertz \
            '{ printf "| %s | %.0f | %.0f | %.1f |\n", name, text / 1024, $8 / 1024, ($4 + $6 * 16777216) / hertz / 16e3 }'
done
