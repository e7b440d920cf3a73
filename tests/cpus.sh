#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs this machine's build on emulated x86-64 CPUs with fewer instructions: Haswell has AVX2 and no VNNI,
# Nehalem has no AVX at all. make check-cpus calls it.
. tests/tap.inc
export MONA_TEST_SHARE=24

# $1: CPU, rest: a command. qemu's warnings about features that it does not emulate are dropped.
on() {
    cpu=$1
    shift
    qemu-x86_64-static -cpu "$cpu" "$@" 2> "$tmp/err.$cpu"
}

# An emulated test takes some fifty times as long, or more. Those that need more than a second of this CPU use kernels that
# checkops checks.
units=
for unit in $(cd "$BUILD/tests" && find . -name 'test_*' -type f -perm -u+x | sed 's|^\./||' | sort); do
    (ulimit -t 1 && exec "$BUILD/tests/$unit") > "$tmp/native" 2>&1
    case $? in
        137 | 152) echo "# left out: $unit" ;;
        *) units="$units $unit" ;;
    esac
done
at_least "unit tests to run" "$(echo "$units" | wc -w)" 50

ffmpeg -v error -f lavfi -i testsrc2=s=96x64:r=25 -frames:v 2 -pix_fmt yuv420p "$tmp/clip.y4m"
"$mona" enhance "$tmp/clip.y4m" -o "$tmp/native.mkv" -c ffv1 --quiet
# $1: CPU. Leaves what each program printed and its status.
run_all() {
    on "$1" "$mona" devices > "$tmp/$1.devices"
    on "$1" "$BUILD/tests/checkops" --share 8 > "$tmp/$1.checkops"
    echo $? >> "$tmp/$1.checkops"
    for unit in $units; do
        on "$1" "$BUILD/tests/$unit" > "$tmp/$1.$unit"
        echo $? >> "$tmp/$1.$unit"
    done
    on "$1" "$mona" enhance "$tmp/clip.y4m" -o "$tmp/$1.mkv" -c ffv1 --quiet
}
# $1: what run_all left: the status, and how many tests failed
verdict() {
    echo "$(tail -n 1 "$1") $(grep '^not ok' "$1" | grep -vc SKIP)"
}
run_all Haswell &
run_all Nehalem
wait
for cpu in Haswell Nehalem; do
    instructions=avx2
    [ $cpu = Haswell ] || instructions=c
    same "mona tells what a $cpu has" "$(awk '$1 == "host" { print $2 }' "$tmp/$cpu.devices")" "$instructions"
    same "checkops on a $cpu" "$(verdict "$tmp/$cpu.checkops")" "0 0"
    for unit in $units; do
        same "$unit on a $cpu" "$(verdict "$tmp/$cpu.$unit")" "0 0"
    done
    same "two frames of enhance on a $cpu" "$(frames_md5 "$tmp/$cpu.mkv")" "$(frames_md5 "$tmp/native.mkv")"
done
