#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Enhances several cameras at once, until Ctrl-C or until all of them have ended.
#
#   sh cameras.sh FOLDER rtsp://camera/1 rtsp://camera/2 ...
#
# Camera n is recorded in FOLDER/n.mkv, told in FOLDER/n.log and measured in FOLDER/n.prom. The status is 0 if every
# camera ended well.
[ $# -ge 2 ] || { echo "usage: cameras.sh FOLDER CAMERA..." >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
number=0
runs=
trap 'kill $runs 2> /dev/null' INT TERM
for camera; do
    number=$((number + 1))
    ${MONA:-mona} enhance --live -y "$camera" -o "$folder/$number.mkv" --stages sr --preset superfast --progress plain \
        --metrics "$folder/$number.prom" 2> "$folder/$number.log" &
    runs="$runs $!"
done
status=0
for run in $runs; do
    wait "$run" || status=1
done
exit $status
