#!/bin/sh
# Compiles the shipped networks to the .mona files that the binary contains. Run from the root of the
# repository after any of the .onnx files has changed, then make again:
#
#   sh models/compile.sh build/mona ../shared/data/train
#
# The second argument holds the images that INT8 is calibrated on: BSDS500, T91, Sun-Hays80. Ranges by least squared
# error and corrected biases give denoise_fast 0.04 dB and sr_x2_fast 0.01 dB more than all that was seen.
set -eu
mona=$1
images=$2

for net in sr_x2_fast sr_x2_fast_video sr_x2_balanced denoise_fast; do
    "$mona" compile models/$net.onnx -o models/$net.mona --precision int8 --calibrate "$images" \
        --images 24 --tolerance 0 --calibration mse
done

"$mona" compile models/bicubic_x2.onnx -o models/bicubic_x2.mona --precision int8
