#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks as C: they give the bytes of mona run, and a program that holds one is small. CROSS=aarch64 or
# armv7: emulated, from make check-aarch64 and check-armv7; CC is the compiler then.
. tests/tap.inc
. tests/operators.inc
CC=${CC:-gcc}
library=$(cd "$BUILD" && pwd)/${CROSS:-.}/libmona.a run= prefix= targets=c
case ${CROSS:-} in
aarch64) run="qemu-aarch64-static -cpu max" prefix=aarch64-linux-gnu- targets="armv8 armv8-dot armv8-i8mm" ;;
armv7) run="qemu-arm-static -cpu cortex-a7" prefix=arm-linux-gnueabihf- targets=armv7 ;;
*)
    [ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo && targets="c x86-avx2"
    [ "$(uname -m)" = aarch64 ] && targets="c armv8"
    ;;
esac
root=$PWD
helper() {
    python3 "$root/tests/e2e/engine/emitted.py" "$@"
}

# Compiles $1 for target $2 and frames of $3 into $tmp/$4.c, and runs it on noise.
emitted() {
    folder=$tmp/$4.$2
    rm -rf "$folder"
    mkdir -p "$folder"
    if ! "$mona" compile "$1" -o "$folder/$4.c" --emit c --target "$2" --size "$3" > "$tmp/log" 2>&1; then
        not_ok "$1 as C for $2" "$(cat "$tmp/log")"
        return
    fi
    (
        cd "$folder" || exit
        helper main "$4.h" > main.c && helper inputs "$4.h" &&
            $CC -O1 $sanitisers -Wall -Wextra -Werror -I"$root" -I"$root/engine" \
                ${CROSS:+-static} -o net main.c "$4.c" "$library" -Wl,--gc-sections -pthread && $run ./net
    ) > "$tmp/log" 2>&1 || { not_ok "$1 as C for $2 runs" "$? $(cat "$tmp/log")"; return; }
    set -- "$1" "$2" "$3" "$4" $(cd "$folder" && ls in.*.npy) -- $(cd "$folder" && ls out.*.raw)
    arguments= option=-i
    shift 4
    for file; do
        case $file in
        --) option=-o ;;
        *.npy) arguments="$arguments $option $folder/$file" ;;
        *.raw) arguments="$arguments $option $folder/${file%.raw}.npy" ;;
        esac
    done
    echo "$arguments"
}

# The same, and mona run on the same arrays.
same_bytes() {
    arguments=$(emitted "$@")
    case $arguments in
    *"not ok"*) tests=$((tests + 1)); echo "$arguments"; return ;;
    esac
    folder=$tmp/$4.$2
    if ! "$mona" run "$1" --raw $arguments > "$tmp/log" 2>&1; then
        not_ok "$1: mona run takes the same arrays" "$(cat "$tmp/log")"
        return
    fi
    for out in "$folder"/out.*.raw; do
        helper raw "${out%.raw}.npy" > "$tmp/wanted"
        succeeds "$1 as C for $2, $3: ${out##*/} is that of mona run" cmp "$out" "$tmp/wanted"
    done
}

# ---- bytes ---------------------------------------------------------------------------------------
for target in $targets; do
    same_bytes sr_x2_fast $target 61x47 net
done
# Values with zero points.
if command -v ffmpeg > /dev/null; then
    ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=1 -frames:v 1 "$tmp/picture.png"
    succeeds "a network with zero points" "$mona" compile tests/precision/zeros.onnx -o "$tmp/zeros.mona" \
        --calibrate "$tmp/picture.png" --input-type u8
    same "is of version 2" "$("$mona" inspect "$tmp/zeros.mona" | sed -n 's/.*format version \([0-9]*\).*/\1/p')" 2
    for target in $targets; do
        same_bytes "$tmp/zeros.mona" $target 61x47 net
    done
    succeeds "a network whose first layer takes a mean from samples" "$mona" compile tests/precision/zeros.onnx \
        -o "$tmp/mean.mona" --calibrate "$tmp/picture.png" --input-type u8 --mean 120,110.4,100 --deviation 60
    "$mona" inspect "$tmp/mean.mona" > "$tmp/said"
    same "is of version 3" "$(sed -n 's/.*format version \([0-9]*\).*/\1/p' "$tmp/said")" 3
    succeeds "and pads with it" grep -q "padding 120 110 100" "$tmp/said"
    for target in $targets; do
        same_bytes "$tmp/mean.mona" $target 61x47 net
    done
fi
# Three operators on arrays between convolutions: flash has their records beside packed weights, no weights again.
"$BUILD/classifiers" exp 16 "$tmp/arrays.onnx"
succeeds "a network with operators on arrays" "$mona" compile "$tmp/arrays.onnx" -o "$tmp/arrays.mona"
same_bytes "$tmp/arrays.mona" ${targets##* } 16x16 net
same "of its data there are three records of 160 bytes" \
    "$(sed -n 's/.* data\[\([0-9]*\)\].*/\1/p' "$tmp/net.${targets##* }/net.c")" 120
if full && [ -z "${CROSS:-}" ]; then
    for model in sr_x2_balanced sr_x4_fast bicubic_x2 denoise_fast denoise_balanced denoise_balanced_video; do
        same_bytes $model ${targets##* } 96x64 net
    done
    # Some of its convolutions work on whole maps, and arrays follow.
    "$BUILD/classifiers" mobilenet_v2 64 "$tmp/classifier.onnx"
    succeeds "a classifier" "$mona" compile "$tmp/classifier.onnx" -o "$tmp/classifier.mona"
    same_bytes "$tmp/classifier.mona" ${targets##* } 64x64 net
fi

# ---- every operator ------------------------------------------------------------------------------
# On targets that this machine has not, they are only linked. The short tier runs one.
compiler="$CC $sanitisers ${CROSS:+-static}"
for target in $targets; do
    if full || [ $target = "${targets##* }" ]; then
        operators_run $target "$compiler" "$(dirname "$library")" . "${run:-env}"
    fi
done
if full && [ "$(uname -m)${CROSS:-}" = x86_64 ]; then
    for isa in avxvnni:avx_vnni avx512:avx512_vnni; do
        runs=
        ! grep -qw "${isa#*:}" /proc/cpuinfo || runs=env
        operators_run "x86-${isa%:*}" "$compiler" "$(dirname "$library")" . $runs
    done
fi

# ---- tensors whose names are no identifiers ------------------------------------------------------
# $1, $2: the input and the output of $tmp/names.onnx, $3: the parameters
called() {
    "$mona" compile "$tmp/names.onnx" -o "$tmp/names.mona" > "$tmp/log"
    same_bytes "$tmp/names.mona" ${targets##* } 20x1 net
    same "tensors '$1' and '$2' are called" \
        "$(grep -o '\*[a-z0-9_]*, ptrdiff' "$tmp/net.${targets##* }/net.h" | sort -u | tr -d '\n')" "$3"
}
# $1: for the input x, $2: for the output y, $3: the parameters
names() {
    python3 - "$tmp/line.onnx" "$tmp/names.onnx" "$1" "$2" << 'END'
import sys
data = open(sys.argv[1], "rb").read()
for old, new in zip((b"x", b"y"), sys.argv[3:]):
    data = data.replace(b"\x01" + old, b"\x01" + new.encode())
open(sys.argv[2], "wb").write(data)
END
    called "$@"
}
"$BUILD/classifiers" line 20 "$tmp/line.onnx"
names x y "*x, ptrdiff*y, ptrdiff"
names x 7 "*input_0, ptrdiff*output_0, ptrdiff"
names . / "*input_0, ptrdiff*output_0, ptrdiff"
if python3 -c 'import onnx' 2> /dev/null; then
    for name in EOF mona_session_run; do
        python3 - "$tmp/line.onnx" "$tmp/names.onnx" $name << 'END'
import onnx, sys
model = onnx.load(sys.argv[1])
model.graph.input[0].name = sys.argv[3]
for node in model.graph.node:
    node.input[:] = [sys.argv[3] if name == "x" else name for name in node.input]
onnx.save(model, sys.argv[2])
END
        called $name y "*input_0, ptrdiff*output_0, ptrdiff"
    done
fi

# ---- size and stack ------------------------------------------------------------------------------
# What a program without an operating system holds of it: $1: target
holds() {
    folder=$tmp/size.$1
    mkdir -p "$folder"
    "$mona" compile sr_x2_fast -o "$folder/net.c" --emit c --target "$1" --size 320x180
    printf '%s\n' '#include "net.h"' 'int entry(void *arena, const uint8_t *in, uint8_t *out);' \
        'int entry(void *arena, const uint8_t *in, uint8_t *out)' '{' '    mona_session *s;' \
        '    mona_status status = net_open(&s, arena, NET_ARENA_BYTES);' '    if (!status)' \
        '        status = net_run(s, in, 320, out, 640);' '    mona_session_close(s);' '    return status;' '}' \
        > "$folder/entry.c"
    (cd "$folder" && $CC -O2 -ffreestanding -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fstack-usage \
        -I"$root" -I"$root/engine" -c net.c entry.c "$root/engine/port/none.c" &&
        $CC -static -nostdlib -o net net.o entry.o none.o "$library" -Wl,--gc-sections,-e,entry,--unresolved-symbols=ignore-all)
}
# $1: target, $2: limit in bytes
fits() {
    folder=$tmp/size.$1
    weights=$("${prefix}nm" -S --size-sort "$folder/net" | awk '$4 == "constants" { print $2 }')
    bytes=$("${prefix}size" "$folder/net" | awk -v weights=$((0x$weights)) 'NR == 2 { print $1 + $2 - weights }')
    echo "# sr_x2_fast for 320x180 on $1: $bytes bytes of code and tables, $((0x$weights)) of constants, arena $(sed -n 's/.*ARENA_BYTES = \([0-9]*\).*/\1/p' "$folder/net.h")"
    same "$1: code and tables take at most $2 bytes" "$(awk -v b="$bytes" -v l="$2" 'BEGIN { print (b <= l && b > 10000) }')" 1
    same "$1: none of it is written to" "$("${prefix}size" -A "$folder/net" | awk '$1 ~ /^\.(data|bss)$/ { n += $2 } END { print n + 0 }')" 0
}
# $1: target, $2: limit in bytes
stacks() {
    # Only of the objects that are in it: others have functions of the same name.
    frames=$("${prefix}objdump" -t "$tmp/size.$1/net" | awk '/ df / { print $NF }' | sed 's/\.c$//' | while read -r object; do
        find "$BUILD/${CROSS:-.}/engine" "$BUILD/${CROSS:-.}/ops" "$tmp/size.$1" -name "$object.su"
    done)
    helper stack "$tmp/size.$1/net" "${prefix}objdump" entry $frames > "$tmp/stack" 2>&1
    sed -n '2,$p' "$tmp/stack"
    at_most_bytes=$(head -n 1 "$tmp/stack")
    same "$1: the call graph's deepest stack takes at most $2 bytes ($at_most_bytes)" \
        "$(awk -v b="$at_most_bytes" -v l="$2" 'BEGIN { print b ~ /^[0-9]+$/ && b <= l }')" 1
}
if [ -z "$SANITIZE" ] && $CC --version | head -n 1 | grep -qi gcc; then
    for target in $targets; do
        holds $target > "$tmp/log" 2>&1 || sed 's/^/# /' "$tmp/log"
        case $target in
        # Of x86-avx2 106,616 bytes by gcc 12; gcc 14 makes more. armv8-i8mm takes fp16 from the kernel with dot products.
        x86-avx2) fits $target 110592 ;;
        armv7 | armv8-i8mm) fits $target 106496 ;;
        armv8*) fits $target 73728 ;;
        *) fits $target 65536 ;;
        esac
        stacks $target 8192
        nothing "$target: it calls no function of the compiler's" "$("${prefix}nm" "$tmp/size.$target/net" | awk '$1 == "U" { print $2 }' | grep '^__')"
    done
fi
[ -z "${CROSS:-}" ] || exit 0

# ---- its header ----------------------------------------------------------------------------------
"$mona" compile sr_x2_fast -o "$tmp/told.c" --emit c --target c --size 64x64 > "$tmp/log"
same "what is written is told" "$(cat "$tmp/log")" "$tmp/told.c, $tmp/told.h: C for c at 64x64"
same "the header tells what a step of 8 bits is worth" "$(grep -c '_SCALE 3.921568859e-03f$' "$tmp/told.h")" 2
if command -v g++ > /dev/null; then
    # A tensor whose name is a word of C++.
    sed 's/luma/this/g' models/sr_x2_tiny.onnx > "$tmp/word.onnx"
    "$mona" compile "$tmp/word.onnx" -o "$tmp/word.mona" > "$tmp/log" &&
        "$mona" compile "$tmp/word.mona" -o "$tmp/word.c" --emit c --target c --size 64x64 > "$tmp/log"
    "$mona" compile denoise_fast -o "$tmp/other.c" --emit c --target c --size 64x64 > "$tmp/log"
    cat > "$tmp/user.cc" << 'END'
#include "other.h"
#include "told.h"
#include "word.h"
#include <vector>

static_assert(TOLD_LUMA_ZERO == 0 && TOLD_LUMA_SCALE > 0.0039f && OTHER_Y_SCALE > 0.0039f);
alignas(MONA_ALIGNMENT) static uint8_t arena[TOLD_ARENA_BYTES], second[OTHER_ARENA_BYTES];

int main()
{
    mona_session *told = nullptr, *other = nullptr;
    std::vector<uint8_t> in(64 * 64, 100), out(4 * 64 * 64);
    if (auto status = told_open(&told, arena, sizeof arena); status != MONA_OK)
        return status;
    return other_open(&other, second, sizeof second) || told_run(told, in.data(), 64, out.data(), 128) || out[64 * 128 + 64] < 90;
}
END
    succeeds "a program in C++17 runs two networks" sh -c 'for net in told other; do
            $4 $3 -Iengine -I. -c -o "$1/$net.o" "$1/$net.c" || exit; done
        g++ -std=c++17 $3 -Wall -Wextra -Wpedantic -Werror -Iengine -I"$1" -o "$1/user" "$1/user.cc" "$1/told.o" "$1/other.o" "$2" -pthread &&
            "$1/user"' - "$tmp" "$library" "$sanitisers" "$CC"
else
    skip "no g++ here"
fi
rm -f "$tmp"/told.* "$tmp"/other.* "$tmp"/word.*

# ---- its name ------------------------------------------------------------------------------------
"$mona" compile models/sr_x2_fast.onnx -o "$tmp/named.mona" --name 'x*/ /* \ "y
#error' > "$tmp/log" && "$mona" compile "$tmp/named.mona" -o "$tmp/named.c" --emit c --target c --size 64x64 > "$tmp/log" ||
    not_ok "a strange name" "$(cat "$tmp/log")"
succeeds "a name with all letters stays in its comment" ${CC:-gcc} -Wall -Wextra -Werror -std=c11 -Iengine -I. -c -o "$tmp/named.o" "$tmp/named.c"
rm -f "$tmp"/named.*

# ---- its tensors' names --------------------------------------------------------------------------
for word in s/luma/NULL/g s/luma/unix/g s/luma_x2/uint8_t/g; do
    sed "$word" models/sr_x2_tiny.onnx > "$tmp/word.onnx"
    "$mona" compile "$tmp/word.onnx" -o "$tmp/word.mona" > "$tmp/log" &&
        "$mona" compile "$tmp/word.mona" -o "$tmp/word.c" --emit c --target c --size 64x64 > "$tmp/log" || not_ok "$word" "$(cat "$tmp/log")"
    succeeds "a tensor's name that means something in C ($word)" ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -Iengine -I. -c -o "$tmp/word.o" "$tmp/word.c"
done
rm -f "$tmp"/word.*

# ---- refusals ------------------------------------------------------------------------------------
refused() {
    wanted=$1
    shift
    if "$mona" compile "$@" > "$tmp/log" 2>&1; then
        not_ok "refused: $*" "it was not"
    else
        same "refused: $*" "$(grep -c "$wanted" "$tmp/log")" 1
    fi
}
refused "expected --target c|" sr_x2_fast -o "$tmp/net.c" --emit c --size 64x64
refused "expected -o NAME.c" sr_x2_fast -o "$tmp/Net.c" --emit c --target c --size 64x64
refused "nor mona, found" sr_x2_fast -o "$tmp/mona_session.c" --emit c --target c --size 64x64
refused "expected --size WxH" sr_x2_fast -o "$tmp/net.c" --emit c --target c
nothing "and nothing was written" "$(find "$tmp" -maxdepth 1 -type f -name 'net.*')"
