#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the kernels of ARMv7-A with NEON on an emulated Cortex-A7, and the engine with 32-bit addresses: sizes that do
# not fit are refused. make check-armv7 calls it once the programs are built.
. tests/tap.inc
arm=$BUILD/armv7
cross=arm-linux-gnueabihf-
on() {
    qemu-arm-static -cpu cortex-a7 "$@"
}

on "$arm/tests/checkops" --share 6 > "$tmp/out" 2>&1
same "checkops ends well" $? 0
cat "$tmp/out"
same "checkops runs C, NEON and the modelled chip" \
    "$(sed -n 's/^ok [0-9]* - checkops \([^ ]*\) conv_row$/\1/p' "$tmp/out" | tr '\n' ' ')" "c neon model310 "

succeeds "the firmware example runs here" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/native.pgm"
for cpu in c neon; do
    succeeds "the firmware example runs with $cpu" on "$arm/firmware" "$tmp/in.pgm" "$tmp/out.pgm" $cpu
    succeeds "$cpu gives the same bytes" cmp "$tmp/native.pgm" "$tmp/out.pgm"
done

nothing "the kernels call nothing of the compiler's" \
    "$(${cross}nm -u "$arm"/engine/cpu/*/*.o | awk '{ print $2 }' | grep '^__')"
${cross}ld -r -o "$tmp/engine" $(find "$arm/engine" "$arm/ops" -name '*.o' ! -name 'posix*.o' ! -path '*/engine/ascend/*')
nothing "no writable data" "$(${cross}size -A "$tmp/engine" | awk '$1 ~ /^\.(data|bss)$/ && $2 > 0')"

succeeds "a program for 32 bits is linked" $CC -std=c11 -static -I. -Iengine -o "$tmp/large" tests/e2e/engine/large_arrays.c \
    "$arm/libmona-plan.a" "$arm/libmona.a" -pthread
same "arrays of 2^32 bytes on 32 bits" "$(on "$tmp/large")" "32 bits: a limit of the engine is exceeded"
