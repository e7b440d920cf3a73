#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the kernels of RISC-V with vectors on emulated CPUs, with registers of 128, 256 and 512 bits. make check-rvv calls it
# once checkops is built.
. tests/tap.inc
emulate() {
    qemu-riscv64-static -cpu "$1" "$BUILD/rvv/tests/checkops" --share "${2:-40}" ${3:-}
}

# Rows that checkops found right. $1: an instruction set
rows() {
    sed -n "s/^ok [0-9]* - checkops $1 //p" "$tmp/out"
}

emulate rv64,v=false 400 > "$tmp/out" 2>&1
same "checkops ends well without vectors" "$?" 0
nothing "it runs no kernels with vectors then" "$(grep 'checkops rvv' "$tmp/out")"
rows c > "$tmp/rows"
at_least "rows of C" "$(wc -l < "$tmp/rows")" 12
for vlen in 128 256 512; do
    emulate "rv64,v=true,vlen=$vlen,vext_spec=v1.0" 40 "--cpu rvv" > "$tmp/out" 2>&1
    same "registers of $vlen bits: checkops ends well" "$?" 0
    same "registers of $vlen bits: all kernels give the bits of C" "$(rows rvv)" "$(cat "$tmp/rows")"
done
