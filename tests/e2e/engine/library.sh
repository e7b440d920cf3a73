#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The archives as firmware sees them: what they need from a C library and from each other, what they export and
# include, and how much stack they use.
. tests/tap.inc
CC=${CC:-gcc}

# $1: name, $2: what is wrong; empty if nothing is
report() {
    if [ -z "$2" ]; then
        ok "$1"
    else
        not_ok "$1" "$2"
    fi
}

# One object of an archive's objects, but for the port to the operating system.
joined() {
    mkdir "$tmp/$1"
    (cd "$tmp/$1" && ar x "$OLDPWD/$BUILD/$1.a" && rm -f posix*.o && ld -r -o "../$1.o" ./*.o)
}
if [ -n "$SANITIZE" ]; then
    skip "sanitised objects call their runtime; symbols are checked in the plain builds"
else
    linked=
    for archive in libmona libmona-plan libmona-model310; do
        joined $archive
        linked="$linked $tmp/$archive.o"
        ld -r -o "$tmp/engine" $linked
        report "${linked##*/} and those it is linked with call nothing of libc but mem*, and the port" \
            "$(nm -u "$tmp/engine" | awk '{ print $2 }' | grep -vE '^(memcpy|memmove|memset|memcmp|mona_port_[a-z_]*|_GLOBAL_OFFSET_TABLE_)$')"
        report "everything that $archive exports starts with mona_ or ac_" \
            "$(nm -g --defined-only "$BUILD/$archive.a" | awk 'NF == 3 { print $3 }' | grep -vE '^(mona|ac)_')"
    done
    # One body of each function that makes rows serves observed and other sessions.
    same "an observed session makes its rows by the same code" \
        "$(nm "$tmp/libmona/session_observe.o" | awk '$2 != "U" && /run_(rows|map)$/ || $1 == "U" { print $NF }' |
            grep run_ | sort | tr '\n' ' ')" \
        "mona_session_run_map mona_session_run_rows mona_session_run_strip "
    same "kernels know nothing of it" "$(nm "$tmp"/libmona/conv*.o "$tmp"/libmona/load.o "$tmp"/libmona/store.o | grep -c observe)" 0
    report "no writable data" \
        "$(size -A "$tmp/engine" | awk '$1 ~ /^\.(data|bss)$/ && $2 > 0')"
fi

if [ -z "$SANITIZE" ]; then
    ld -r -o "$tmp/reference" "$BUILD"/formats/reference/*.o "$BUILD"/formats/onnx/*.o "$BUILD"/gen/onnx.pb-c.o \
        "$BUILD"/formats/tensor.o "$BUILD"/formats/element.o "$BUILD"/formats/error.o "$BUILD"/formats/blocks.o "$BUILD"/formats/file.o
    # Kernels that users write are called by the engine's means alone.
    report "the reference, which judges compiler and engine, links without them" \
        "$(nm -u "$tmp/reference" | awk '{ print $2 }' | grep -vE '^mona_(kernel_lines_|type_size$)' | grep -E "^($(nm -g --defined-only "$BUILD"/formats/compiler/*.o \
            "$BUILD"/formats/compiler/*/*.o "$BUILD"/lib*.a 2> /dev/null | awk 'NF == 3 { print $3 }' | sort -u | tr '\n' '|')none)$")"
fi

allowed='stdint|stddef|stdbool|stdalign|stdatomic|limits|float|immintrin|arm_neon|arm_mve|riscv_vector'
report "engine/ and ops/ include only their own headers and freestanding ones" \
    "$(grep -nE '^#include <' $(find engine ops -name '*.[ch]' ! -path 'engine/port/posix*.c') |
        grep -vE "<($allowed)\.h>")"
report "their folders include each other in no circle" "$(grep -roE '^#include "(mona\.h|(engine|ops)/[^"]*)"' engine ops |
    awk -F '[:"]' '{ from = $1; to = $3 == "mona.h" ? "engine/mona.h" : $3
                     sub("/[^/]*$", "", from); sub("/[^/]*$", "", to); print from, to }' | sort -u | tsort 2>&1 > /dev/null)"
report "engine/ and ops/ include nothing from above" \
    "$(grep -nE '#include "(\.\./)*(formats|pipeline|apps|tests)/' -r engine ops)"

if $CC --version | head -1 | grep -qi gcc && [ -z "$SANITIZE" ]; then
    limit=$(sed -n 's/^enum { STACK_BYTES = \([0-9]*\) \* 1024 };.*/\1/p' engine/layout/query.c)
    # A run nests about eight calls; no two of the large frames lie on one path.
    report "the largest frame stays within a quarter of the $limit KiB stack bound" \
        "$(find "$BUILD/engine" "$BUILD/ops" -name '*.su' -exec cat {} + |
            awk -v most=$((limit * 1024 / 4)) '$2 > most || $3 ~ /^dynamic$/')"
    report "every object has its frames told" "$(find "$BUILD/engine" "$BUILD/ops" -name '*.o' ! -name 'posix*.o' |
        while read -r o; do [ -f "${o%.o}.su" ] || echo "$o"; done)"
fi

# clang warns of what gcc does not, and clang 14 once kept the sums of layers of one block in memory, at half the speed.
if full && [ "$(uname -m)" = x86_64 ] && command -v clang > /dev/null; then
    avx512=$tmp/clang/engine/cpu/x86/avx512.o
    succeeds "clang builds everything without a warning" \
        make -s --no-print-directory -j"$(nproc)" CC=clang SANITIZE= WERROR=1 BUILD="$tmp/clang"
    products=0
    for kernel in int8_one int8_pair; do
        objdump -d --no-show-raw-insn --disassemble=$kernel "$avx512" > "$tmp/$kernel"
        products=$((products + $(grep -c vpdpbusd "$tmp/$kernel")))
    done
    same "clang stores no sum of an INT8 layer after a product ($products products)" \
        "$([ "$products" -gt 100 ]; echo $?) $(grep -hA1 vpdpbusd "$tmp/int8_one" "$tmp/int8_pair" | grep -c 'vmov.*(%rsp)$')" "0 0"
fi

# The port for bare metal takes the place of posix.o: no threads, the same interface.
$CC -std=c11 -O2 -ffreestanding -Wall -Wextra -Wpedantic -Werror -I. -Iengine -c -o "$tmp/none.o" engine/port/none.c
report "the bare-metal port builds freestanding and calls nothing" "$(nm -u "$tmp/none.o" | awk '{ print $2 }')"
