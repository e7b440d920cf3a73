#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets in valgrind, on their corpus and on changes of it: no byte that was never written decides anything
# or gets into a result, in FFmpeg and other libraries too, which no sanitiser of mona's sees.
#
#   BUILD=build CHANGES=40 sh tests/fuzz/valgrind.sh TARGET...     CHANGES: so many of each file; SEED: others
set -eu
BUILD=${BUILD:-build} CHANGES=${CHANGES:-40} SEED=${SEED:-1}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for target; do
    mkdir "$tmp/$target"
    python3 - "tests/fuzz/corpus/$target" "$tmp/$target" "$CHANGES" "$SEED" << 'END'
import pathlib, random, sys
source, to, changes, seed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for file in sorted(p for p in source.rglob('*') if p.is_file()):
    for k in range(changes):
        random.seed(f'{seed} {file.name} {k}')
        data = bytearray(file.read_bytes())
        for _ in range(random.randint(1, 4)):
            if data:
                data[random.randrange(len(data))] = random.choice((0, 1, 127, 255, random.randrange(256)))
        (to / f'{k}_{file.name}').write_bytes(data[:random.randrange(len(data) + 1)] if k % 4 == 0 else data)
END
    MONA_TEST_SHARE=100 valgrind -q --error-exitcode=9 "$BUILD/tests/fuzz_$target" "tests/fuzz/corpus/$target" "$tmp/$target" 2>&1 || {
        echo "valgrind finds a fault in fuzz_$target"
        exit 1
    }
done
