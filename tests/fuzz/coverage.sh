#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much of each reader the corpora of the fuzz targets reach (make fuzz-coverage builds the targets for it):
#
#   BUILD=build sh tests/fuzz/coverage.sh TARGET...
#
# Counts lines, with the inputs of tests/fuzz/corpus and those that make fuzz has kept in $BUILD/fuzz/corpus.
set -u
BUILD=${BUILD:-build}
traces=$BUILD/coverage/traces
rm -rf "$traces"
mkdir -p "$traces"
programs=
for target; do
    program=$BUILD/coverage/tests/fuzz_$target
    folders=
    for folder in "tests/fuzz/corpus/$target" "$BUILD/fuzz/corpus/$target"; do [ ! -d "$folder" ] || folders="$folders $folder"; done
    case $target in onnx | tensor | external | int8) folders="$folders tests/conformance" ;; esac
    # shellcheck disable=SC2086
    LLVM_PROFILE_FILE="$traces/$target" timeout "${SECONDS_EACH:-600}" "$program" $folders > "$BUILD/coverage/log" 2>&1 || echo "$target: $(tail -n 1 "$BUILD/coverage/log")"
    programs="$programs -object $program"
done
tool() { command -v "$1" "$1-14" | head -n 1; }
"$(tool llvm-profdata)" merge -sparse "$traces"/[a-z]* -o "$traces/all.profdata" 2> "$BUILD/coverage/log" || { cat "$BUILD/coverage/log"; exit 1; }
# shellcheck disable=SC2086
"$(tool llvm-cov)" export -summary-only -instr-profile "$traces/all.profdata" ${programs# -object } > "$traces/summary.json" || exit 1
/usr/bin/python3 - "$traces/summary.json" <<'END'
import json, os, sys
readers = {
    '.mona': ['engine/model/', 'engine/layout/load_plan'], 'programs': ['engine/aicore/program', 'engine/aicore/prove'],
    'ONNX': ['formats/onnx/'], '.om, .pb, .npy': ['formats/om.', 'formats/npy.', 'formats/tensor.'],
    'stills': ['pipeline/image/stills', 'pipeline/image/jpeg', 'pipeline/image/tiff', 'pipeline/image/picture_'],
    'metadata': ['pipeline/image/metadata', 'pipeline/image/exif'],
    'films, raw, y4m, playlists': ['pipeline/io/sources/', 'pipeline/io/containers/'],
    'options': ['pipeline/job/option.', 'pipeline/job/limits', 'pipeline/job/stage_list', 'pipeline/library/handle'],
    'command line': ['apps/cli/options'],
}
root = os.getcwd() + '/'
rows = {}
for file in json.load(open(sys.argv[1]))['data'][0]['files']:
    name = file['filename'].removeprefix(root).removeprefix('./')
    for reader, parts in readers.items():
        if any(name.startswith(p) for p in parts) and name.endswith('.c'):
            rows.setdefault(reader, []).append((name, file['summary']['lines']))
for reader, files in rows.items():
    share = lambda ls: '%5.1f %% of %5d lines' % (100 * sum(l['covered'] for l in ls) / sum(l['count'] for l in ls), sum(l['count'] for l in ls))
    print('%-40s %s' % (reader, share([l for _, l in files])))
    for name, lines in sorted(files):
        print('    %-36s %s' % (name, share([lines])))
END
