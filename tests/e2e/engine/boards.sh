#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Firmware without an operating system, on boards that QEMU emulates: frames of a rendered sensor pass line by
# line, and are those that this machine makes of whole frames. Instructions are the clock, so runs are the same.
. tests/tap.inc

"$BUILD/camera_host" > "$tmp/wanted"
same "the frames of this machine" "$(grep -c '^frame' "$tmp/wanted")" 3

# $1: board, $2: image
emulate() {
    image=$BUILD/boards/$1/$2.elf
    set -- "$1" -icount shift=0,sleep=off -nodefaults -display none -serial stdio \
        -semihosting-config enable=on,target=native -kernel "$image"
    case $1 in
    virt) shift; set -- qemu-system-aarch64 -M virt -cpu cortex-a53 "$@" ;;
    virt-dot) shift; set -- qemu-system-aarch64 -M virt -cpu max "$@" ;;
    esac
    timeout 300 "$@" < /dev/null > "$tmp/out" 2>&1
    echo $?
}

# $1: board, $2: prefix of its tools
board() {
    if ! command -v "${2}gcc" > /dev/null || ! command -v "$3" > /dev/null; then
        skip "$1: no ${2}gcc or no $3"
        return
    fi
    succeeds "$1: the firmware is built" make --no-print-directory -f apps/firmware/Makefile BOARD="$1" MONA="$mona" \
        BUILD="$BUILD/boards" WERROR=1
    same "$1: it ends well" "$(emulate "$1" camera)" 0
    sed "s/^# /# $1: /; t; s/^/# $1: /" "$tmp/out"
    same "$1: its frames are those of this machine" "$(grep '^frame' "$tmp/out")" "$(cat "$tmp/wanted")"
    same "$1: a clock that jumps ends well" "$(emulate "$1" jump)" 0
    same "$1: it costs the frame whose lines were lost" "$(grep '^frame' "$tmp/out")" \
        "$(sed 's/^frame 1:.*/frame 1: lost at line 18/' "$tmp/wanted")"
    # No double, no division of 64 bits, nothing else of the compiler's or of a C library.
    nothing "$1: it calls no function of the compiler's" \
        "$("${2}nm" "$BUILD/boards/$1/camera.elf" | awk '{ print $NF }' | grep -E '^__')"
}

board virt aarch64-linux-gnu- qemu-system-aarch64
if full; then
    board virt-dot aarch64-linux-gnu- qemu-system-aarch64
fi
