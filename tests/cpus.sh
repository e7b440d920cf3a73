#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs this machine's build on emulated x86-64 CPUs with fewer instructions: Haswell has AVX2 and no VNNI,
# Nehalem has no AVX at all. make check-cpus calls it.
. tests/tap.inc
export MONA_TEST_SHARE=8

# $1: CPU, rest: a command. qemu's warnings about features that it does not emulate are dropped.
on() {
    cpu=$1
    shift
    qemu-x86_64-static -cpu "$cpu" "$@" 2> "$tmp/err"
}

# Tests that would take minutes under emulation, and use kernels that checkops checks.
slow='denoise|models|modelled_planes|verdict|statistics|top1_margin|networks|channels|textures|quality|array_records|modelled|hostile|graphs|precision'
units=$(cd "$BUILD/tests" && find . -name 'test_*' -type f -perm -u+x | sed 's|^\./||' | grep -vE "^test_($slow)$" | sort)
at_least "unit tests to run" "$(echo "$units" | wc -w)" 25

ffmpeg -v error -f lavfi -i testsrc2=s=96x64:r=25 -frames:v 2 -pix_fmt yuv420p "$tmp/clip.y4m"
"$mona" enhance "$tmp/clip.y4m" -o "$tmp/native.mkv" -c ffv1 --quiet
for cpu in Haswell Nehalem; do
    instructions=avx2
    [ $cpu = Haswell ] || instructions=c
    same "mona tells what a $cpu has" "$(on $cpu "$mona" devices | awk '$1 == "host" { print $2 }')" "$instructions"
    on $cpu "$BUILD/tests/checkops" --share 8 > "$tmp/log"
    same "checkops on a $cpu" "$? $(grep -c '^not ok' "$tmp/log")" "0 0"
    for unit in $units; do
        on $cpu "$BUILD/tests/$unit" > "$tmp/log"
        same "$unit on a $cpu" "$? $(grep '^not ok' "$tmp/log" | grep -vc SKIP)" "0 0"
    done
    on $cpu "$mona" enhance "$tmp/clip.y4m" -o "$tmp/$cpu.mkv" -c ffv1 --quiet
    same "two frames of enhance on a $cpu" "$(frames_md5 "$tmp/$cpu.mkv")" "$(frames_md5 "$tmp/native.mkv")"
done
