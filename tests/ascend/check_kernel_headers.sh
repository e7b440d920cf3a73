#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds the kernels for AI Cores against the stub headers of a kit, which declare each intrinsic:
# sh tests/ascend/check_kernel_headers.sh FOLDER [KERNEL.cce...], the folder that holds stub_fun.h. Without kernels: the replay kernel
# and those that mona writes for programs of its networks. One line for each kernel, and the first error of one that does not compile.
stubs=$1
BUILD=${BUILD:-build} CLANG=${CLANG:-clang}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -f "$stubs/stub_fun.h" ]; then
    echo "expected TIKICPULIB=FOLDER with stub_fun.h, as in /usr/local/Ascend/ascend-toolkit/latest/tools/tikicpulib/lib/include, found ${stubs:+none in }${stubs:-no folder}" >&2
    exit 2
fi
command -v "$CLANG" > /dev/null || { echo "check-kernel-headers: no $CLANG" >&2 && exit 2; }
shift

# The stubs define what the vendor's compiler knows, but not the attributes.
mkdir -p "$tmp/engine/ascend/kernel"
for file in replay.cce cce.h words.h; do
    sed 's/\[aicore\]//; s/__global__//' engine/ascend/kernel/$file > "$tmp/engine/ascend/kernel/$file"
done
printf '#include "stub_def.h"\n#include "stub_fun.h"\n' > "$tmp/stubs.h"
checked=0 bad=0
check() { # NAME KERNEL
    checked=$((checked + 1))
    if "$CLANG" -x c++ -std=c++17 -fsyntax-only -w -D__CCE_AICORE__=100 -I"$stubs" -I"$tmp" -I. -Iengine -include "$tmp/stubs.h" "$2" 2> "$tmp/err"; then
        echo "$1: compiles"
    else
        bad=$((bad + 1))
        echo "$1: $(grep -m 1 error "$tmp/err" | sed 's/.*error: //')"
    fi
}

[ $# -gt 0 ] || [ -x "$BUILD/mona" ] || { echo "check-kernel-headers: expected $BUILD/mona, which make builds" >&2 && exit 2; }
for kernel in "$@"; do check "$kernel" "$kernel"; done
if [ $# -eq 0 ]; then
    check replay.cce "$tmp/engine/ascend/kernel/replay.cce"
    for net in models/*.mona; do
        name=$(basename "$net" .mona)
        "$BUILD/mona" compile "$name" -o "$tmp/net.mona" --target ascend310 --size 64x48 > "$tmp/log" 2>&1 &&
            "$BUILD/mona" inspect "$tmp/net.mona" --kernel > "$tmp/own.cce" || { cat "$tmp/log" >&2 && exit 1; }
        check "the kernel of $name" "$tmp/own.cce"
    done
fi
echo "$checked kernels compared, $bad differ"
[ $bad -eq 0 ]
