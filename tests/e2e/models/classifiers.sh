#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks of published shapes and the shipped ones through mona compile: everything fusible is fused, memory is
# reused, and the report and its page show it.
. tests/tap.inc

# A number from the report $1: a Python expression of d.
report() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# User and system time of a command, in seconds.
cpu_seconds() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' "$@"
}

printf 'activation:off\n' > "$tmp/rules.cfg"
for net in resnet18 resnet50 mobilenet_v2; do
    "$BUILD/classifiers" $net 224 "$tmp/$net.onnx"
done
nets="$tmp/resnet18.onnx $tmp/mobilenet_v2.onnx $tmp/resnet50.onnx models/sr_x2_fast.onnx models/denoise_fast.onnx models/bicubic_x2.onnx"
for net in $nets; do
    which=$(basename "$net" .onnx)
    succeeds "compile $which" "$mona" compile "$net" -o "$tmp/net.mona" --report "$tmp/$which.json"
    [ $which = bicubic_x2 ] || same "$which: all that can be fused is" "$(report "$tmp/$which.json" 'd["fusible"] > 4, d["coverage"], d["kept"]')" "(True, 1, [])"
    same "$which: fewer calls than without, fewer bytes" \
        "$(report "$tmp/$which.json" '(lambda m: m["calls"] <= m["plain"]["calls"] and m["tensors_bytes"] <= m["plain"]["tensors_bytes"])(d["memory"])')" True
done
for net in resnet18 resnet50 mobilenet_v2; do
    echo "# $net: $(report "$tmp/$net.json" '"%d calls in place of %d, %.1f %% reuse, bound layer by layer %.1f %%" % (d["memory"]["calls"], d["memory"]["plain"]["calls"], 100 * d["memory"]["reuse"], 100 * d["memory"]["bound"])')"
done
same "ResNet-50: batch normalisations, activations and sums" \
    "$(report "$tmp/resnet50.json" '[r["applied"] for r in d["rules"] if r["rule"] in ("affine", "activation", "residual-add")]')" "[53, 49, 16]"
# 84.1 % with AVX2 alone, whose plans are made for speed; 87.3 % with all others (test_networks.c).
same "ResNet-50: 84 % of the tensors' memory are saved" "$(report "$tmp/resnet50.json" 'd["memory"]["reuse"] >= 0.84')" True
seconds=$(cpu_seconds "$mona" compile "$tmp/resnet50.onnx" -o "$tmp/net.mona")
if [ -n "$SANITIZE" ]; then
    skip "sanitised: ResNet-50 took $seconds s"
else
    same "ResNet-50 compiles in less than 8 s ($seconds)" "$(awk "BEGIN { print $seconds < 8 }")" 1
fi

# ---- rules that are off, and the page
succeeds "a page" "$mona" compile models/sr_x2_fast.onnx -o "$tmp/net.mona" --fusion "$tmp/rules.cfg" --report "$tmp/page.html"
succeeds "the same as JSON" "$mona" compile models/sr_x2_fast.onnx -o "$tmp/net.mona" --fusion "$tmp/rules.cfg" --report "$tmp/off.json"
same "it says why" "$(report "$tmp/off.json" 'sorted({(k["rule"], k["why"]) for k in d["kept"]})')" "[('activation', 'the rule is off'), ('residual-add', 'no operand comes from a convolution that only it reads')]"
same "and that less is fused" "$(report "$tmp/off.json" '0 < d["coverage"] < 1')" True
same "the page is whole" "$(tail -n 1 "$tmp/page.html")" "</html>"
nothing "it names no address" "$(grep -oE '(src|href)=.?https?:[^ ]*' "$tmp/page.html")"
browsed "a page" 9 tests/compile_page.py "$tmp/page.html" "$tmp/shot.png"
"$mona" compile models/sr_x2_fast.onnx -o "$tmp/net.mona" --report "$tmp/none/r.json" > /dev/null 2> "$tmp/log"
same "a report that cannot be written" "$? $(grep -c '^mona: .*No such file' "$tmp/log")" "1 1"
