#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the kernels of ARMv8-A on emulated CPUs: one without dot products, and one with everything. make
# check-aarch64 calls it once the programs of both architectures are built.
. tests/tap.inc
arm=$BUILD/aarch64

# $1: CPU, rest: command
on() {
    cpu=$1
    shift
    qemu-aarch64-static -cpu "$cpu" "$@"
}

# Row programs against the instructions; the CPU decides which are run. Emulated ones are slow.
on cortex-a53 "$arm/tests/checkops" --share 4 > "$tmp/plain" 2>&1 &
on max "$arm/tests/checkops" --share 4 --cpu dotprod > "$tmp/dotprod" 2>&1
dotprod=$?
on max "$arm/tests/checkops" --share 4 --cpu i8mm > "$tmp/i8mm" 2>&1
i8mm=$?
wait $!
same "checkops ends well on both CPUs" "$? $dotprod $i8mm" "0 0 0"
cat "$tmp/plain" "$tmp/dotprod" "$tmp/i8mm"
same "those with products of matrices ran" "$(grep -c '^ok .* checkops i8mm conv_row' "$tmp/i8mm")" 3
same "checkops on a CPU without dot products runs C, NEON and the modelled chip" \
    "$(sed -n 's/^ok [0-9]* - checkops \([^ ]*\) conv_row$/\1/p' "$tmp/plain" | tr '\n' ' ')" "c neon model310 "

# The library as firmware sees it; tests/e2e/engine/library.sh checks more.
cross=aarch64-linux-gnu-
${cross}ld -r -o "$tmp/engine" $(find "$arm/engine" "$arm/ops" -name '*.o' ! -name 'posix*.o' ! -path '*/engine/ascend/*')
nothing "engine and kernels call nothing of libc but mem*, and the port" \
    "$(${cross}nm -u "$tmp/engine" | awk '{ print $2 }' | grep -vE '^(mem(cpy|move|set|cmp)|mona_port_[a-z_]*)$')"
nothing "no writable data" "$(${cross}size -A "$tmp/engine" | awk '$1 ~ /^\.(data|bss)$/ && $2 > 0')"
limit=$(sed -n 's/^enum { STACK_BYTES = \([0-9]*\) \* 1024 };.*/\1/p' engine/layout/query.c)
nothing "the largest frame stays within a quarter of the $limit KiB stack bound" \
    "$(find "$arm/engine" "$arm/ops" -name '*.su' -exec cat {} + |
        awk -v most=$((limit * 1024 / 4)) '$2 > most || $3 ~ /^dynamic$/')"

# A whole network, compared with the result on this machine.
succeeds "the firmware example runs here" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/native.pgm"
for case in "cortex-a53 c" "cortex-a53" "max dotprod" "max i8mm"; do
    set -- $case
    rm -f "$tmp/out.pgm"
    succeeds "the firmware example runs on $case" on "$1" "$arm/firmware" "$tmp/in.pgm" "$tmp/out.pgm" ${2:-}
    succeeds "$case gives the same bytes" cmp "$tmp/native.pgm" "$tmp/out.pgm"
done
# $1: CPU, $2: instruction set
refused() {
    if on "$1" "$arm/firmware" "$tmp/in.pgm" "$tmp/out.pgm" "$2" > "$tmp/log" 2>&1; then
        not_ok "$2 is refused on $1, which lacks it" "$(cat "$tmp/log")"
    else
        ok "$2 is refused on $1, which lacks it"
    fi
}
refused cortex-a53 dotprod
refused cortex-a76 i8mm
