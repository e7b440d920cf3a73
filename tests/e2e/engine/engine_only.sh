#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A mona without video: it needs none of FFmpeg's libraries and computes the same.
. tests/tap.inc

small=$BUILD/engine-only/mona
make --no-print-directory engine-only BUILD="$BUILD" CC="${CC:-gcc}" > "$tmp/log" 2>&1 || not_ok "make engine-only" "$(tail -5 "$tmp/log")"
same "no library of FFmpeg" "$(ldd "$small" | grep -cE 'libav|libsw')" 0
sources=$(find "$BUILD/engine-only" -name '*.d' -exec sed -n 's/^[^ ]*\.o: *\([^ ]*\.c\).*/\1/p' {} +)
for source in $sources; do
    ${CC:-gcc} -DMONA_NO_VIDEO -I. -Iengine -I"$BUILD/gen" -M "$source" 2> "$tmp/log" || echo "libav? $(cat "$tmp/log")"
done > "$tmp/read"
nothing "and none of its headers" "$(grep -oE '[^ ]*libav.*|[^ ]*libsw.*' "$tmp/read" | head -1)"
same "--version names none" "$("$small" --version | wc -l)" 1
same "its commands" "$("$small" help | awk '/^  [a-z]/ { print $1 }' | tr '\n' ' ')" "compile verify ops inspect run sign bench devices help "
"$small" enhance a.mp4 -o b.mp4 2> "$tmp/refused"
same "enhance is unknown" "$? $(cut -d ' ' -f 1-4 "$tmp/refused")" "2 mona: unknown command 'enhance'"

python3 - "$tmp/in.npy" << 'END'
import struct, sys
header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 90, 160), }".ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
    file.write(bytes(i * i // 7 % 256 for i in range(90 * 160)))
END
for of in "$mona" "$small"; do
    "$of" run sr_x2_fast -i "$tmp/in.npy" -o "$tmp/out.npy" > "$tmp/log" 2>&1 || not_ok "$of run" "$(cat "$tmp/log")"
    sha256sum < "$tmp/out.npy"
done | sort -u > "$tmp/sums"
same "a network gives the same bytes" "$(wc -l < "$tmp/sums")" 1
same "it compiles with arrays" "$("$small" compile models/sr_x2_fast.onnx -o "$tmp/x.mona" --size 160x90 --calibrate "$tmp/in.npy" \
    > "$tmp/log" 2>&1; echo $?)" 0
"$small" compile models/sr_x2_fast.onnx -o "$tmp/x.mona" --calibrate docs/scene.jpg > "$tmp/log" 2>&1
same "and says that it cannot with pictures" "$? $(grep -o 'built without pictures.*' "$tmp/log")" "1 built without pictures and video"
