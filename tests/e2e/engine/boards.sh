#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Firmware without an operating system, on boards that QEMU emulates: frames of a rendered sensor pass line by
# line, and are those that this machine makes of whole frames. Instructions are the clock, so runs are the same.
. tests/tap.inc
. tests/operators.inc
root=$PWD

"$BUILD/camera_host" > "$tmp/wanted"
same "the frames of this machine" "$(grep -c '^frame' "$tmp/wanted")" 3

# $1: board
machine() {
    case $1 in
    virt) echo qemu-system-aarch64 -M virt -cpu cortex-a53 ;;
    virt-*) echo qemu-system-aarch64 -M virt -cpu max ;;
    an[345]*) echo qemu-system-arm -M "mps$([ "$1" = an547 ] && echo 3 || echo 2)-$1" ;;
    rv64v) echo "qemu-system-riscv64 -M virt -bios none -cpu rv64,v=true,vlen=${vlen:-128},vext_spec=v1.0" ;;
    rv*) echo "qemu-system-riscv${1#rv} -M virt -bios none" ;;
    esac
}

# Runs an image to its end, with its output in $tmp/out, and prints its status. $1: board, $2: image, $3: an
# instruction takes 2^$3 ns
emulate() {
    timeout 300 $(machine "$1") -icount shift="$3",sleep=off -nodefaults -display none -serial stdio \
        -semihosting-config enable=on,target=native -kernel "$BUILD/boards/$1/$2.elf" < /dev/null > "$tmp/out" 2>&1
    echo $?
}

# Networks of many kinds, whose images, memory and work are what mona inspect --firmware told. $1: board, $2...: networks
budget() {
    if ! command -v python3 > /dev/null; then
        skip "$1: no python3"
        return
    fi
    emulated=$1
    shift
    python3 tests/boards/networks.py check "$mona" "$BUILD" "$emulated" "$@" > "$tmp/told" 2>&1
    status=$?
    sed 's/^\(ok\|not ok\) /# /' "$tmp/told"
    same "$emulated: flash, RAM, stack and instructions are what inspect told, and results those of other boards: $#" \
        "$status $(grep -c '^ok ' "$tmp/told")" "0 $#"
}

# Instructions of two layers. $1: board, $2, $3: most for a multiply-add of the first and of the second, in thousandths
layer() {
    same "$1: instructions of layers are counted" "$(emulate "$1" layer 4)" 0
    each=$(awk '/ticks/ { printf "%d ", $4 * 1e9 / $6 / 16 / $8 * 1000 + 0.5 }' "$tmp/out")
    echo "# $1: ${each}thousandths of an instruction for a multiply-add of INT8 3x3 16 -> 16 and 1x1 64 -> 64"
    same "$1: at most $2 and $3 thousandths" \
        "$(echo "$each $2 $3" | awk '{ print ($1 > 50 && $1 <= $3 && $2 > 50 && $2 <= $4 ? "yes" : "no") }')" yes
}

# $1: board, $2: prefix of its tools, $3, $4: most instructions for a multiply-add, as layer() has them, $5: CPU of
# --firmware
board() {
    emulator=$(machine "$1")
    compiler=$(make --no-print-directory -s -f apps/firmware/Makefile BOARD="$1" compiler)
    if ! command -v "${2}gcc" > /dev/null || ! command -v "${compiler%% *}" > /dev/null || ! command -v "${emulator%% *}" > /dev/null; then
        skip "$1: no ${2}gcc, no ${compiler%% *} or no ${emulator%% *}"
        return
    fi
    succeeds "$1: the firmware is built" make --no-print-directory -f apps/firmware/Makefile BOARD="$1" MONA="$mona" \
        BUILD="$BUILD/boards" WERROR=1
    same "$1: it ends well" "$(emulate "$1" camera 0)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    cp "$tmp/out" "$tmp/camera"
    same "$1: its frames are those of this machine" "$(grep '^frame' "$tmp/out")" "$(cat "$tmp/wanted")"
    same "$1: the stack of 8 KB suffices" "$(awk '/^# stack/ { print ($3 > 1000 && $3 < $5 - 256) }' "$tmp/out")" 1
    same "$1: a clock that jumps ends well" "$(emulate "$1" jump 0)" 0
    same "$1: it costs the frame whose lines were lost" "$(grep '^frame' "$tmp/out")" \
        "$(sed 's/^frame 1:.*/frame 1: lost at line 18/' "$tmp/wanted")"
    # No double, no division of 64 bits, nothing else of the compiler's or of a C library.
    nothing "$1: it calls no function of the compiler's" \
        "$("${2}nm" "$BUILD/boards/$1/camera.elf" | awk '{ print $NF }' | grep -E '^__')"
    same "$1: damaged models, wrong sizes and short arenas are refused" "$(emulate "$1" refusals 0)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    layer "$1" "$3" "$4"
    same "$1: a frame in slices feeds the watchdog" "$(emulate "$1" watchdog 0)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    same "$1: it is that of this machine" "$(sed -n 's/^frame 0: //p' "$tmp/out")" "$(sed -n 's/^frame 0: y [0-9a-f]* //p' "$tmp/wanted")"
    same "$1: a whole frame at once does not" "$(emulate "$1" whole 0)" 4
    same "$1: updates of a model are taken or refused" "$(emulate "$1" slots 0)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    if full; then
        budget "$1" $networks $arrays
        operators "$1" "$5" "$2"
    else
        budget "$1" sr_x2_tiny:64x48 denoise_fast:48x32 $arrays
    fi
}

# From a mosaic to NV12, with kernels of mona.kernel around the networks. $1: board, $2: prefix of its tools
raw() {
    if [ ! -s "$tmp/raw" ] || ! command -v "${2}gcc" > /dev/null; then
        skip "$1: no numpy, no cffi or no ${2}gcc"
        return
    fi
    succeeds "$1: kernels are part of the firmware" make --no-print-directory -f apps/firmware/Makefile BOARD="$1" MONA="$mona" \
        BUILD="$BUILD/boards" WERROR=1 "$BUILD/boards/$1/raw.elf"
    same "$1: a mosaic becomes NV12 line by line" "$(emulate "$1" raw 0)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    same "$1: it is that of numpy and whole frames" "$(grep '^frame' "$tmp/out")" "$(cat "$tmp/raw")"
}

# Code and constants of an object or a program. $1: it, $2: prefix of the tools
code() {
    "${2}size" -A "$1" | awk '$1 ~ /^\.(text|rodata)/ { n += $2 } END { print n + 0 }'
}

# Every operator is linked with the library of a board, and takes the code that mona inspect told. $1: board, $2: CPU,
# $3: prefix. On ARMv8-A the linker's alignment alone is worth 4 KB.
operators() {
    bound=2560
    [ "$3" = arm-none-eabi- ] || bound=6144
    target=$(make --no-print-directory -s -f apps/firmware/Makefile BOARD="$1" target)
    # clang finds no library of its own for a bare machine.
    compiler=$(make --no-print-directory -s -f apps/firmware/Makefile BOARD="$1" compiler | sed "s/^clang[^ ]* [^ ]*/${3}gcc/")
    board=$(cd "$BUILD/boards/$1" && pwd)
    libraries="$board/libmona.a $board/apps/firmware/boards/common.o"
    operators_link "$target" "$compiler" "$libraries" "$(full && echo . || echo _0_)" # the first variant of each operator
    wrong= looked=0
    for net in $(grep -v '^array' "$folder/names"); do
        told=$("$mona" inspect "$folder/$net.mona" --firmware "$2" --size 12x12 --json | sed -n 's/.*"flash_code":[[:space:]]*\([0-9]*\).*/\1/p')
        operators_one "$net" "$compiler" "$libraries" > "$tmp/log" 2>&1 || told=
        found=$(($(code "$folder/one" "$3") - $(code "$folder/$net.o" "$3")))
        looked=$((looked + 1))
        [ -n "$told" ] && [ $((told - found)) -le $bound ] && [ $((found - told)) -le $bound ] ||
            wrong="$wrong $net: told $told, found $found;"
    done
    nothing "$1: the code of $looked networks is what inspect told, within $bound bytes" "$wrong"
    at_least "$1: it looked at all operators on maps" "$looked" "$(full && echo 50 || echo 20)"
}

# checkops with the kernels of a controller. $1: board, $2: compiler's flags, $3: where the core starts, $4: where
# there is memory, $5: the instruction set
kernels() {
    build=$BUILD/boards/$1/checkops
    if ! echo '#include <stdlib.h>' | arm-none-eabi-gcc -E - > /dev/null 2>&1 || ! command -v qemu-system-arm > /dev/null; then
        skip "$1: no arm-none-eabi-gcc with newlib, or no qemu-system-arm"
        return
    fi
    succeeds "$1: checkops is built" make --no-print-directory CC="arm-none-eabi-gcc $2 -mthumb -mfloat-abi=hard --specs=rdimon.specs" \
        CFLAGS=-fno-pic CPPFLAGS='-D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=1' PKG_CONFIG=true SANITIZE= WERROR= BUILD="$build" \
        START="$build/tests/boards/checkops_start.o" "$build/tests/checkops" \
        LDFLAGS="-nostartfiles -T tests/boards/checkops.ld -Wl,--defsym=VECTORS=$3,--defsym=MEMORY_ORIGIN=$4"
    timeout 900 $(machine "$1") -nodefaults -display none -serial null -kernel "$build/tests/checkops" \
        -semihosting-config "enable=on,target=native,arg=checkops,arg=--cpu,arg=$5,arg=--share,arg=${6:-6}" \
        < /dev/null > "$tmp/out" 2> "$tmp/err"
    same "$1: checkops ends well" "$?" 0
    grep -E '^(ok|not ok|#)' "$tmp/out" | sed 's/^\(ok\|not ok\) [0-9]*/# \1/'
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tmp/out")
    at_least "$1: it looked at all kernels of $5" "$planned" 11
    same "$1: they give the bits of C" "$(grep -c "^ok .* checkops $5 " "$tmp/out")" "$planned"
}

"$mona" compile models/denoise_fast.onnx -o "$tmp/half.mona" > "$tmp/log" || not_ok "a network of fp16" "$(cat "$tmp/log")"
networks="sr_x2_tiny:64x48 sr_x2_fast:160x120 sr_x2_fast_anime:100x30 sr_x3_fast:48x36 sr_x4_fast:64x24 denoise_fast:96x64
    denoise_balanced:48x32 sr_x2_balanced:40x32 sr_x3_balanced:32x24 sr_x2_best:32x24 bicubic_x2:64x48 $tmp/half.mona:32x32"
if full && python3 -c 'import onnx, numpy' 2> /dev/null; then
    for family in separable residual unseen; do
        networks="$networks $(python3 tests/boards/networks.py $family "$mona" "$tmp")"
    done
fi
arrays=$(python3 tests/boards/networks.py arrays "$mona" "$tmp")
board virt aarch64-linux-gnu- 350 400 cortex-a53
if [ -z "$SANITIZE" ] && python3 -c 'import cffi, numpy' 2> /dev/null; then
    ${CC:-gcc} -std=c11 -I. -o "$tmp/scenes" tests/boards/scenes.c apps/firmware/sensor.c && "$tmp/scenes" > "$tmp/luma"
    PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 tests/boards/raw.py "$tmp/luma" > "$tmp/raw" 2>&1
fi
raw virt aarch64-linux-gnu-
if full; then
    board virt-dot aarch64-linux-gnu- 120 160 cortex-a55
    # At most 0.6 of those with dot products.
    board virt-i8mm aarch64-linux-gnu- 67 92 cortex-a510
    board an386 arm-none-eabi- 900 1150 cortex-m4
    board an500 arm-none-eabi- 900 1150 cortex-m7
    board an505 arm-none-eabi- 900 1150 cortex-m33
    board an547 arm-none-eabi- 200 550 cortex-m55
    board rv32 riscv64-unknown-elf- 5500 6500 rv32imafc
    board rv64 riscv64-unknown-elf- 6000 7000 rv64gc
    board rv64v riscv64-unknown-elf- 180 220 rv64gcv
    for vlen in 256 512; do
        [ -f "$BUILD/boards/rv64v/layer.elf" ] || continue
        layer rv64v 180 220
        same "rv64v, registers of $vlen bits: it ends well" "$(emulate rv64v camera 0)" 0
        same "rv64v, registers of $vlen bits: frames are the same" "$(grep '^frame' "$tmp/out")" "$(cat "$tmp/wanted")"
    done
    raw an547 arm-none-eabi-
    kernels an500 "-mcpu=cortex-m7 -mfpu=fpv5-sp-d16" 0 0x60000000 dsp
    kernels an547 -mcpu=cortex-m55 0x10000000 0x70000000 mve
fi
