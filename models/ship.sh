#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ships a trained network: exports, compiles, embeds and measures it, and writes its card. Run from the
# root of the repository:
#
#   sh models/ship.sh sr_x2_fast build/train [../shared/data]
#
# The second argument is the --out of train.py.
set -eu
name=$1
folder=$2
data=${3:-../shared/data}
python=/usr/bin/python3

$python models/train/export.py "$name" "$folder/$name.npz" "models/$name.onnx"
sh models/compile.sh build/mona "$data/train/photos" "$name"
make
$python models/train/card.py "$name" "$folder" --data "$data"
