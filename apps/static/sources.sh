#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects the source packages that libraries.sh builds, from where this machine's packages come, and onnx.proto:
#
#   sh apps/static/sources.sh FOLDER
set -eu
mkdir -p "$1"
cd "$1"
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/parts" "$apt/lists/partial"
touch "$apt/list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >> "$apt/list"
done
for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$apt/parts/${file##*/}"
done
source() {
    apt-get -q -o Dir::Etc::sourcelist="$apt/list" -o Dir::Etc::sourceparts="$apt/parts" -o Dir::State::lists="$apt/lists" \
        -o APT::Sandbox::User=root "$@"
}
# Older releases have it in no package.
[ ! -e /usr/include/onnx/onnx.proto ] || cp /usr/include/onnx/onnx.proto .
source update
source source --download-only cjson dav1d ffmpeg svt-av1 x265
