#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether random networks find faults: each is planted in a copy of the sources, and the judge must fail there. In the short tier,
# only whether the sources are as the faults expect them.
. tests/tap.inc

copy=$tmp/mona
ort=$PWD/$BUILD/bench
mkdir "$copy"
# Objects keep their times, so that only what a fault touches is compiled.
git ls-files -z 2> /dev/null | xargs -0 cp -a --parents -t "$copy" 2> /dev/null
if [ ! -f "$copy/Makefile" ]; then
    skip "plants are made in a checkout alone"
    exit 0
fi
mkdir "$copy/build"
full && (cd "$BUILD" && find apps engine formats gen models ops pipeline tests/judges -type f -print0 | xargs -0 cp -a --parents -t "$copy/build")
full && cp -a "$BUILD"/*.a "$copy/build"

judge() {
    (cd "$copy" && make -s CC="$CC" build/judge_networks) > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 3; }
    (cd "$copy" && build/judge_networks --count "$1" --c-every 0 $([ -d "$ort/node_modules/onnxruntime-node" ] && command -v node > /dev/null && echo --ort "$ort")) > "$tmp/log" 2>&1
}

# $1: the fault, $2: the file, $3: what sed does there, $4: networks (300), more where few find it
plant() {
    count=${4:-300}
    cp -a "$copy/$2" "$tmp/kept"
    sed -i "$3" "$copy/$2"
    if cmp -s "$copy/$2" "$tmp/kept"; then
        not_ok "$1" "$2 is no longer as this fault expects it: $3"
        return
    fi
    full || { ok "$1: can be planted"; cp "$tmp/kept" "$copy/$2"; return; }
    judge "$count"
    status=$?
    found=$(grep -c -E '^# seed .* (WRONG|CRASHED), ' "$tmp/log")
    if [ $status -eq 1 ] && [ "$found" -gt 0 ]; then
        ok "$1: $found of $count networks find it"
    else
        not_ok "$1 is found" "$(tail -n 5 "$tmp/log")"
    fi
    cp "$tmp/kept" "$copy/$2" # newer than the object of the fault
    touch "$copy/$2"
}

full && succeeds "without a fault nothing is wrong" judge 300
plant "folding a multiply-add drops the bias of the convolution" formats/compiler/passes/fold.c \
    's/= conv->conv.bias\[o\] \* scale + affine->affine.shift\[o\];/= affine->affine.shift[o];/'
plant "pads before and after are exchanged" formats/compiler/import/import_conv.c \
    's/(uint32_t)from->begin\[k\];/(uint32_t)from->end[k];/; s/pad_end\[i\] = (uint32_t)from->end\[k\];/pad_end[i] = (uint32_t)from->begin[k];/'
plant "equalisation is off by a quarter" formats/compiler/quantize/equalise.c 's/w\[i\] \*= s;/w[i] *= s * 1.25f;/'
plant "depth first is run as columns first" formats/compiler/import/import_depth.c \
    's/depth.depth_first = depth_first && planes > 1;/depth.depth_first = false \&\& depth_first \&\& planes > 1;/'
plant "lines of planes in blocks divide by zero" engine/layout/find_lines.c \
    's/if (is_load_or_store(&plan->ops/if (false \&\& is_load_or_store(\&plan->ops/' 600
plant "a frame that passed line by line leaves its count of lines" engine/run/lines.c \
    's/^        mona_session_drop_lines(s);/        s->pushed = 0;/'
plant "the reference resizes by floats in place of ratios" formats/reference/resize.c \
    's/d <= MAX_DENOMINATOR; d++/d < 1 \&\& d <= MAX_DENOMINATOR; d++/' 1500
plant "aligned corners divide by a length that is not rounded" formats/reference/resize.c \
    's/const bool shorter = s->scale\[0\] < s->scale\[1\]/const bool shorter = true/' 1500
