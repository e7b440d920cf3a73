#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first run on a chip, in the order in which faults are easiest to understand:
#   1. builds the replay kernel with the vendor's compiler (CANN=/path, or the kit of this shell)
#   2. checks the installation
#   3. tries small channels with both settings of bit 63 of CTRL, and goes on with the one that works
#      runs every instruction by itself against the reference, and says where the first byte differs
#   4. runs networks up to their first layer, their second and so on, and names the first layer that differs from the host's
#   5. runs networks, small ones first, against the host's bytes
#   6. measures constants that model310 guesses: costs.json, for mona bench --device model310 --costs costs.json
#
#   sh apps/ascend/first_light.sh [FOLDER]       results in FOLDER (first_light)
#
# MONA_ASCEND_KERNEL=FILE runs a kernel that is built already. NETWORKS="sr_x2_fast colour" tries only those in 4 and 5;
# SIZE=640x360 models that size.
set -u
out=${1:-first_light} BUILD=${BUILD:-build} CANN=${CANN:-${ASCEND_TOOLKIT_HOME:-${ASCEND_HOME_PATH:-}}}
mona=$BUILD/mona
failed=0
mkdir -p "$out" || exit 1

say() {
    echo "$*" | tee -a "$out/log"
}
: > "$out/log"

say "1. the kernel"
if [ -n "${MONA_ASCEND_KERNEL:-}" ]; then
    say "$MONA_ASCEND_KERNEL"
elif [ -n "$CANN" ]; then
    make --no-print-directory BUILD="$BUILD" ascend-kernel CANN="$CANN" FOR= 2>&1 | tee -a "$out/log"
    [ -s "$BUILD/mona_replay.o" ] || exit 1
else
    say "expected CANN=/path/to/the/toolkit or MONA_ASCEND_KERNEL=FILE, found neither"
    exit 1
fi
make --no-print-directory BUILD="$BUILD" "$BUILD/first_light" "$mona" || exit 1

say "2. the installation"
"$mona" devices --check 2>&1 | tee -a "$out/log"

say "3. instructions"
"$BUILD/first_light" small-channels > "$out/small-channels" 2>&1
tee -a "$out/log" < "$out/small-channels"
if grep -q 'CTRL clear: differs' "$out/small-channels"; then
    if grep -q 'CTRL set: equal' "$out/small-channels"; then
        export MONA_ASCEND_CTRL63=1
        say "this chip needs MONA_ASCEND_CTRL63=1"
    else
        say "this chip reads no small channels: build mona with make CFLAGS='-O2 -DMONA_SMALL_CHANNELS=0'"
    fi
fi
"$BUILD/first_light" instructions > "$out/instructions" 2>&1 || failed=1
tee -a "$out/log" < "$out/instructions"

say "4. layers"
# shellcheck disable=SC2086
"$BUILD/first_light" layers ${NETWORKS:-} > "$out/layers" 2>&1 || failed=1
tee -a "$out/log" < "$out/layers"

say "5. networks"
for network in ${NETWORKS:-bicubic_x2 sr_x2_fast denoise_fast sr_x3_fast sr_x2_balanced sr_x2_best}; do
    for size in 64x48; do
        host=$("$mona" bench "$network" --size $size -n 1 --device host 2> /dev/null | grep -o 'CRC-32.*')
        chip=$("$mona" bench "$network" --size $size -n 1 --device ascend 2> "$out/error" | grep -o 'CRC-32.*')
        if [ -n "$host" ] && [ "$host" = "$chip" ]; then
            say "equal: $network at $size"
        else
            failed=1
            say "differs: $network at $size: found ${chip:-no output}, expected $host $(head -n 1 "$out/error")"
        fi
    done
done
rm -f "$out/error"

say "6. costs"
"$BUILD/first_light" costs "$out/costs.json" 2>&1 | tee -a "$out/log"
[ -s "$out/costs.json" ] || failed=1

if [ $failed = 0 ]; then say "everything is equal"; else say "not everything is equal: please report $out/log"; fi
"$mona" bench sr_x2_fast --size "${SIZE:-1920x1080}" --device model310 --costs "$out/costs.json" > "$out/model310" 2>&1 && head -n 4 "$out/model310"
exit $failed
