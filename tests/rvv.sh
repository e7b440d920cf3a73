#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the kernels of RISC-V with vectors on emulated CPUs, with registers of 128, 256 and 512 bits. make check-rvv calls it
# once checkops is built.
. tests/tap.inc
emulate() {
    qemu-riscv64-static -cpu "$1" "$BUILD/rvv/tests/checkops" --share "${2:-40}" ${3:-}
}

for vlen in 128 256 512; do
    emulate "rv64,v=true,vlen=$vlen,vext_spec=v1.0" 40 "--cpu rvv" > "$tmp/out" 2>&1
    same "registers of $vlen bits: checkops ends well" "$?" 0
    sed -n 's/^\(ok\|not ok\) [0-9]*/# \1/p' "$tmp/out"
    same "registers of $vlen bits: all kernels give the bits of C" "$(grep -c '^ok .* checkops rvv ' "$tmp/out")" 12
done
emulate rv64,v=false 400 > "$tmp/out" 2>&1
same "checkops ends well without vectors" "$?" 0
nothing "it runs no kernels with vectors then" "$(grep 'checkops rvv' "$tmp/out")"
