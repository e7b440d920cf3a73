#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks as they are exported, FP16 and INT8: the host, model310 and the stand-in for a chip give the same bytes.
# NETWORKS names some of tests/bench/make_networks.py alone.
. tests/tap.inc
needs_python numpy torch onnx

python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o" MONA_ASCEND_TIMEOUT=600
python3 -W ignore - "$tmp" << 'END' > "$tmp/list" || cat "$tmp/list"
import sys
import numpy as np
sys.path.insert(0, "tests/e2e/models")
import torch_networks as networks
for number, (name, *_) in enumerate(networks.NETWORKS):
    _, module, inputs, _ = networks.make(number)
    networks.export(number, module, inputs, f"{sys.argv[1]}/{number}.onnx")
    for place, array in enumerate(inputs):
        np.save(f"{sys.argv[1]}/{number}.{place}.npy", array.numpy())
    print(f"{number} {inputs[0].shape[-1]}x{inputs[0].shape[-2]} {name}")
END

computed() { # DEVICE: the checksum of the outputs, or what went wrong
    folder=$tmp/on.$1
    rm -rf "$folder"
    mkdir "$folder"
    # shellcheck disable=SC2046,SC2086
    if LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full "$mona" run "$tmp/net.mona" $inputs \
        $(printf -- "-o $folder/out.%s.npy " $outputs) --raw --device "$1" > "$folder/said" 2>&1; then
        (cd "$folder" && cksum out.*)
    else
        tail -n 1 "$folder/said"
    fi
}
ran=0 without=
equal() { # NAME ONNX INPUTS [--size WxH]: all three, unless an operator has no program
    name=$1 onnx=$2 inputs=$(echo "$3" | sed 's/[^ ][^ ]*/-i &/g')
    shift 3
    if ! "$mona" compile "$onnx" -o "$tmp/net.mona" --target ascend310 "$@" > "$tmp/log" 2>&1; then
        case $(cat "$tmp/log") in
        *"has no AI Core program yet"*) without="$without
#   $name: $(tail -n 1 "$tmp/log")" ;;
        *) not_ok "$name" "$(tail -n 1 "$tmp/log")" ;;
        esac
        return
    fi
    outputs=$(awk '$1 == "out" { print NR }' "$tmp/log")
    computed ascend > "$tmp/chip" &
    host=$(computed host) modelled=$(computed model310) ran=$((ran + 1))
    wait
    chip=$(cat "$tmp/chip")
    same "$name" "$modelled, $chip" "${host%mona:*}, $host"
    case $name in
    attention)
        same "and on a module, whose memory is the chip's" "$(FAKE_ASCEND=mode=0 computed ascend)" "$host"
        FAKE_ASCEND=trace=$tmp/trace computed ascend > "$tmp/log"
        same "no array comes that the CPU has computed: the result does, and what the cores computed" \
            "$(grep -c '^download' "$tmp/trace")" 2
        ;;
    esac
}

while read -r number frame name; do
    set -- "$name" "$tmp/$number.onnx" "$(ls "$tmp/$number".[0-9]*.npy)"
    case $name in
    "dynamic axes") equal "$@" --size "$frame" ;;
    *) equal "$@" ;;
    esac
done < "$tmp/list"
python3 tests/bench/make_networks.py --list > "$tmp/list"
for net in ${NETWORKS:-$(full && cut -d ' ' -f 1 "$tmp/list")}; do
    frame=$(awk -v net="$net" '$1 == net { print $3 }' "$tmp/list")
    python3 tests/bench/make_networks.py "$net" "$tmp/$net.onnx" --qdq "$tmp/$net.qdq.onnx" --input "$tmp/$net.npy"
    equal "$net, $frame, FP16" "$tmp/$net.onnx" "$tmp/$net.npy"
    equal "$net, $frame, INT8" "$tmp/$net.qdq.onnx" "$tmp/$net.npy"
    rm -f "$tmp/$net".*
done
echo "# $ran networks on all three; without a program:$without"
