#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the shipped networks to the .mona files that the binary contains. Run from the root of the
# repository after an .onnx file has come or changed, then make again:
#
#   sh models/compile.sh build/mona ../shared/data/train/photos            # all
#   sh models/compile.sh build/mona ../shared/data/train/photos sr_x2_best # those named
#
# The second argument holds the images that INT8 is calibrated on, those of training. Ranges by least squared
# error and corrected biases give denoise_fast 0.04 dB and sr_x2_fast 0.01 dB more than all that was seen. Deep networks
# are calibrated on fewer, which takes minutes less and costs sr_x3_balanced 0.01 dB in all.
set -eu
mona=$1
images=$2
shift 2
[ $# -gt 0 ] || set -- $(cd models && ls *.onnx | sed 's/\.onnx$//')

for net in "$@"; do
    case $net in
    bicubic_*) options="--picture --precision int8" ;; # samples stay what they are
    colour) options="--precision fp16 --input-type u8" ;; # curves want more than 8 bits
    sr_x2_best) options="--picture --precision int8 --calibrate $images --images 4 --tolerance 0 --calibration mse" ;;
    sr_x[34]_*) options="--picture --precision int8 --calibrate $images --images 8 --tolerance 0 --calibration mse" ;;
    denoise_balanced) options="--picture --precision auto --max-drop 0.03dB --calibrate $images --images 6 --tolerance 0 --calibration mse" ;;
    *) options="--picture --precision int8 --calibrate $images --images 24 --tolerance 0 --calibration mse" ;;
    esac
    # shellcheck disable=SC2086
    "$mona" compile models/$net.onnx -o models/$net.mona $options
done
