#!/bin/sh
# Compiles the shipped networks to the .mona files that the binary contains. Run from the root of the
# repository after any of the .onnx files has changed, then make again:
#
#   sh models/compile.sh build/mona ../shared/data/train
#
# The second argument holds the images that INT8 is calibrated on: BSDS500, T91, Sun-Hays80.
set -eu
mona=$1
images=$2

for net in sr_x2_fast denoise_fast; do
    "$mona" compile models/$net.onnx -o models/$net.mona --precision int8 --calibrate "$images" --images 24
done

# Chroma of 4:2:0 that is sited left, as in MPEG-2 to H.265: sample j of a chroma row stands at the place of
# luma column 2j, before the frame is doubled and after it. Column X of the doubled luma shows what was at
# column (X + 1/2) / 2 - 1/2 = X / 2 - 1/4. Output chroma sample i, at X = 2i, therefore shows luma column
# i - 1/4, which in chroma samples is i / 2 - 1/8. Half-pixel coordinates give (i + 1/2) / 2 - 1/2 =
# i / 2 - 1/4; they are 1/8 too small. Down the rows chroma sits midway, and half-pixel is right; so it is in
# both directions for centred chroma, as in JPEG, and for planes of full size.
"$mona" compile models/bicubic_x2.onnx -o models/bicubic_x2.mona --precision int8 --resize-offset-w 0.125
"$mona" compile models/bicubic_x2.onnx -o models/bicubic_x2_center.mona --precision int8 \
    --name bicubic_x2_center
