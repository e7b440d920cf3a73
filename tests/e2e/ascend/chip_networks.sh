#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks as they are exported, FP16 and INT8: the host, model310 and the stand-in for a chip give the same bytes.
# NETWORKS names some of tests/bench/make_networks.py alone.
. tests/tap.inc
needs_python numpy torch onnx

python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay2__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o" MONA_ASCEND_TIMEOUT=600
python3 -W ignore - "$tmp" << 'END' > "$tmp/list" || cat "$tmp/list"
import sys
sys.path.insert(0, "tests/e2e/models")
import torch_networks as networks
for number, (name, *_) in enumerate(networks.NETWORKS):
    _, module, inputs, _ = networks.make(number)
    networks.export(number, module, inputs, f"{sys.argv[1]}/{number}.onnx")
    print(f"{number} {inputs[0].shape[-1]}x{inputs[0].shape[-2]} {name}")
END

computed() { # DEVICE: the CRC-32 of a frame, or what went wrong
    frames="-n 1 --warmup 0"
    [ "$1" != model310 ] || frames=
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full "$mona" bench "$tmp/net.mona" $size $frames --device "$1" > "$tmp/out" 2>&1
    grep -o 'CRC-32 [0-9a-f]*' "$tmp/out" || tail -n 1 "$tmp/out"
}
ran=0 without=
equal() { # NAME FILE [WxH]: all three, unless an operator has no program
    size=${3:+--size $3}
    # shellcheck disable=SC2086
    if ! "$mona" compile "$2" -o "$tmp/net.mona" --target ascend310 $size > "$tmp/log" 2>&1; then
        case $(cat "$tmp/log") in
        *"has no AI Core program yet"*) without="$without $(basename "$2" .onnx)" ;;
        *) not_ok "$1" "$(tail -n 1 "$tmp/log")" ;;
        esac
        return
    fi
    host=$(computed host) ran=$((ran + 1))
    modelled=$(computed model310) chip=$(computed ascend)
    case $chip in
    *"operators on arrays, which AI Cores do not run") chip=$host ;;
    esac
    same "$1" "$modelled, $chip" "CRC-32 ${host#CRC-32 }, $host"
}

while read -r number frame name; do
    case $name in
    "dynamic axes") equal "$name" "$tmp/$number.onnx" "$frame" ;;
    *) equal "$name" "$tmp/$number.onnx" ;;
    esac
done < "$tmp/list"
for net in ${NETWORKS:-$(full && python3 tests/bench/make_networks.py --list | cut -d ' ' -f 1)}; do
    python3 tests/bench/make_networks.py "$net" "$tmp/$net.onnx" --qdq "$tmp/$net.qdq.onnx"
    equal "$net" "$tmp/$net.onnx"
    equal "$net, INT8" "$tmp/$net.qdq.onnx"
    rm -f "$tmp/$net.onnx" "$tmp/$net.qdq.onnx"
done
echo "# $ran networks on all three; without a program:$without"
