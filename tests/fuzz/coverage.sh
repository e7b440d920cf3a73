#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much of each reader (tests/fuzz/readers) the fuzz targets reach (make fuzz-coverage builds them for it):
#
#   BUILD=build sh tests/fuzz/coverage.sh TARGET...
#
# Counts lines, with the inputs of tests/fuzz/corpus, changes of them, and those that make fuzz has kept in
# $BUILD/fuzz/corpus. Lines that answer refused memory or a failing call of the system, which tests of faults reach,
# are also told apart. MISSED=FOLDER prints the lines there that nothing reaches.
set -u
. tests/fuzz/corpora.sh
BUILD=${BUILD:-build}
traces=$BUILD/coverage/traces
mkdir -p "$traces"
programs=
for target; do
    program=$BUILD/coverage/tests/fuzz_$target
    folders=$(corpora "$target")
    [ ! -d "$BUILD/fuzz/corpus/$target" ] || folders="$folders $BUILD/fuzz/corpus/$target"
    # shellcheck disable=SC2086
    LLVM_PROFILE_FILE="$traces/$target" timeout "${SECONDS_EACH:-600}" "$program" $folders > "$BUILD/coverage/log" 2>&1 || echo "$target: $(tail -n 1 "$BUILD/coverage/log")"
done
for program in "$BUILD"/coverage/tests/fuzz_*; do [ -d "$program" ] || programs="$programs -object $program"; done
tool() { command -v "$1" "$1-14" | head -n 1; }
"$(tool llvm-profdata)" merge -sparse "$traces"/[a-z]*[a-z0-9] -o "$traces/.all" 2> "$BUILD/coverage/log" || { cat "$BUILD/coverage/log"; exit 1; }
for format in lcov text; do
    # shellcheck disable=SC2086
    "$(tool llvm-cov)" export -format=$format -instr-profile "$traces/.all" ${programs# -object } > "$traces/.$format" 2> "$BUILD/coverage/log" || exit 1
done
/usr/bin/python3 - "$traces" "${MISSED:-/}" << 'END'
import json
import os
import re
import sys

traces, missed = sys.argv[1:]
readers, others = {}, {}
for line in open('tests/fuzz/readers'):
    word, _, rest = line.partition(' ')
    if word == 'reader':
        name, *parts = re.split(r'\s+(?=\S*/)', rest.strip())
        readers[name] = parts
    elif word == 'but':
        file, *names = rest.split()
        others.setdefault(file, set()).update(names)

root = os.getcwd() + '/'
lines, spans = {}, {}  # of a file: number: how often; function: its first and last line
for row in open(traces + '/.lcov'):
    if row.startswith('SF:'):
        counts = lines.setdefault(row[3:].strip().removeprefix(root).removeprefix('./'), {})
    elif row.startswith('DA:'):
        number, count = map(int, row[3:].split(',')[:2])
        counts[number] = max(count, counts.get(number, 0))
for function in json.load(open(traces + '/.text'))['data'][0]['functions']:
    file = function['filenames'][0].removeprefix(root).removeprefix('./')
    spans.setdefault(file, {})[function['name'].rpartition(':')[2]] = function['regions'][0][0], function['regions'][0][2]


def counted(file):
    """The file's lines, but for functions that do not read: [number, how often]."""
    names = others.get(file, set())
    if '*' in names:
        return []
    for name in names - spans[file].keys():
        print('tests/fuzz/readers: %s has no %s' % (file, name))
    left = [spans[file][n] for n in names & spans[file].keys()]
    return [(n, c) for n, c in sorted(lines[file].items()) if not any(a <= n <= b for a, b in left)]


FAULT = re.compile(r'out of memory|out_of_memory|strerror|ENOMEM|alloc|realloc|strdup|ferror|errno')


def judge(file):
    """Lines, those reached, and those missed that answer a fault."""
    source = open(file).read().split('\n')
    found = counted(file)
    runs, last = [], None
    for n, count in found:
        if not count:
            if last != n - 1:
                runs.append([])
            runs[-1].append(n)
            last = n
    answers = [r for r in runs if FAULT.search('\n'.join(source[max(r[0] - 3, 0):r[-1]])) and len(r) <= 4]
    if file.startswith(missed):
        for run in runs:
            for n in run:
                print('%s:%d:%s %s' % (file, n, ' (fault)' if run in answers else '', source[n - 1]))
    return len(found), sum(c > 0 for _, c in found), sum(map(len, answers))


def show(name, all, reached, faults):
    if all:
        print('%-42s %5.1f %% of %5d lines; %5.1f %% but for %3d of refused memory and calls' % (
            name, 100 * reached / all, all, 100 * reached / max(all - faults, 1), faults))


for reader, parts in readers.items():
    rows = {f: judge(f) for f in sorted(lines) if f.endswith('.c') and any(f.startswith(p) for p in parts)}
    show(reader, *map(sum, zip(*rows.values())))
    for file, row in rows.items():
        show('    ' + file, *row)
END
