#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The replay kernel's types are checked: with clang, which knows address spaces, it compiles as C and C++, and what
# mixes buffers, leaves out an argument, names a pipe or event that dav-m100 lacks, or a type without an instruction
# does not.
. tests/tap.inc

if ! command -v clang > /dev/null; then
    skip "no clang"
    ok "nothing to compile"
    exit 0
fi

kernel=engine/ascend/kernel/replay.cce

# $1: source, $2: language
compiles() {
    clang -x "$2" -fsyntax-only -Wall -Wextra -Werror -Wno-deprecated -I. -Iengine "$1" > "$tmp/log" 2>&1
}

for language in c c++; do
    if compiles $kernel $language; then ok "it compiles as $language"; else not_ok "it compiles as $language" "$(head -5 "$tmp/log")"; fi
done

# $1: what is wrong, $2: a sed program that plants it
refused() {
    sed "$2" $kernel > "$tmp/planted.cce"
    if cmp -s $kernel "$tmp/planted.cce"; then
        not_ok "$1: does not compile" "nothing was planted"
    elif compiles "$tmp/planted.cce" c; then
        not_ok "$1: does not compile" "it does"
    else
        ok "$1: does not compile"
    fi
}
refused "L1 where mad takes L0A" 's/mad((__cc__ int32_t \*)c, (__ca__ uint8_t/mad((__cc__ int32_t *)c, (__cbuf__ uint8_t/'
refused "L0A and L0B exchanged" 's/(__ca__ half \*)a, (__cb__ half \*)b/(__cb__ half *)a, (__ca__ half *)b/'
refused "UB where load3d takes L1" 's/(__cbuf__ T \*)a, xm/(__ubuf__ T *)a, xm/'
refused "global memory where a copy takes L1" 's/copy_cbuf_to_ubuf((__ubuf__ void \*)dst, (__cbuf__/copy_cbuf_to_ubuf((__ubuf__ void *)dst, (__gm__/'
refused "source and destination exchanged" 's/copy_ubuf_to_gm((__gm__ void \*)dst, (__ubuf__ void \*)a/copy_ubuf_to_gm((__ubuf__ void *)a, (__gm__ void *)dst/'
refused "mad of u8 and fp16" 's/(__ca__ half \*)a, (__cb__ half/(__ca__ uint8_t *)a, (__cb__ half/'
refused "an accumulator of another type" 's/mad((__cc__ float \*)c/mad((__cc__ int32_t *)c/'
refused "vand of floats, which there is not" 's/UB(T, dst), UB(T, a), UB(T, b), config/UB(float, dst), UB(float, a), UB(float, b), config/'
refused "a conversion between other types" 's/UB(D, dst), UB(S, a), config/UB(D, dst), UB(D, a), config/'
refused "a copy without its config" 's/(__ubuf__ void \*)a, config)/(__ubuf__ void *)a)/'
refused "a copy without padding mode" 's/, config, PAD_NONE)/, config)/'
refused "a drain without conversion" 's/(__cc__ S \*)a, config, mode)/(__cc__ S *)a, config)/'
refused "load2d without its source's stride" 's/(uint16_t)1, (uint8_t)0, false, inc)/(uint8_t)0, false, inc)/'
refused "a pipe that v100 lacks" 's/pipe_barrier(PIPE_ALL)/pipe_barrier(PIPE_V2)/'
refused "an event that v100 lacks" 's/EVENT_ID3/EVENT_ID4/'
refused "set_flag without its event" 's/set_flag(PIPE_##src, PIPE_##dst, event)/set_flag(PIPE_##src, PIPE_##dst)/'

# Kernels written for one program issue what the replay kernel does.
cc=${CC:-cc}
for net in sr_x2_fast $(full && echo denoise_fast bicubic_x2); do
    "$mona" compile $net -o "$tmp/$net.mona" --target ascend310 --size 98x62 > /dev/null || exit 1
    "$mona" inspect "$tmp/$net.mona" --kernel > "$tmp/$net.cce" || exit 1
    if compiles "$tmp/$net.cce" c++; then ok "$net: its kernel compiles as c++"; else not_ok "$net: its kernel compiles as c++" "$(head -5 "$tmp/log")"; fi
    $cc -std=c11 -O1 -w $sanitisers -D_GNU_SOURCE -DMONA_KERNEL=mona_replay3__kernel0 -I. -Iengine -I"$BUILD/gen" -o "$tmp/$net.run" -x c "$tmp/$net.cce" \
        tests/e2e/engine/kernel_run.c -x none "$BUILD/engine/ascend/kernel/emulation.o" "$BUILD/formats/file.o" "$BUILD/formats/error.o" \
        "$BUILD/libmona-ascend.a" "$BUILD/libmona-model310.a" "$BUILD/libmona-plan.a" "$BUILD/libmona.a" -pthread -lm || exit 1
    same "$net: its kernel has the host's bytes" "$("$tmp/$net.run" "$tmp/$net.mona")" equal
done

# The vendor's compiler, in whose place a script stands, gets the command that its own kernels are compiled with.
mkdir -p "$tmp/cann/ccec_compiler/bin"
printf '#!/bin/sh\necho "$@" >> "%s/arguments"\n' "$tmp" > "$tmp/cann/ccec_compiler/bin/ccec"
chmod +x "$tmp/cann/ccec_compiler/bin/ccec"
kernels() { make --no-print-directory BUILD="$tmp/build" ascend-kernel CANN="$tmp/cann" "$@" > "$tmp/log" 2>&1; }
# Of the command for the kernel of $1.mona.
own() { echo "-c -O2 $tmp/build/mona_own_$1.cce ... $tmp/build/mona_own_$1.o"; }
kernels FOR=
same "the compiler's command" "$(cat "$tmp/arguments")" "-c -O2 engine/ascend/kernel/replay.cce -I. -Iengine --cce-aicore-arch=dav-m100 --cce-aicore-only --cce-auto-sync=off -mllvm -cce-aicore-jump-expand=false -mllvm -cce-aicore-mask-opt=false -fno-jump-tables -o $tmp/build/mona_replay.o"
kernels
same "without mona there are none for programs" "$? $(grep -c 'build/mona, found none' "$tmp/log")" "2 1"
cp "$mona" "$tmp/build/mona"
kernels FOR="$tmp/sr_x2_fast.mona"
same "and for a program" "$(tail -n 1 "$tmp/arguments" | sed 's/ -I.* -o / ... /')" "$(own sr_x2_fast)"
kernels SIZE=64x48
same "by default for the networks that enhance a film" "$(tail -n 2 "$tmp/arguments" | sed 's/ -I.* -o / ... /')" "$(own denoise_fast_video_64x48; own sr_x2_fast_video_64x48)"
make --no-print-directory BUILD="$tmp/build" ascend-kernel CANN="$tmp/none" > "$tmp/log" 2>&1
same "without a toolkit one line says what is missing" "$(grep -c 'expected CANN=' "$tmp/log")" 1
