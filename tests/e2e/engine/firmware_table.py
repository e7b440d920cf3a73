# SPDX-License-Identifier: Apache-2.0
"""Rows of the table of networks in apps/firmware/README.md with a number that is 5 % off what mona inspect --firmware
prints, each followed by the row as it should be.

    firmware_table.py MONA apps/firmware/README.md
"""
import re
import subprocess
import sys

CPUS = ['cortex-m55', 'cortex-m7', 'cortex-a53', 'cortex-a55']


def figures(network, cpu):
    text = subprocess.run([sys.argv[1], 'inspect', network, '--firmware', cpu, '--size', '320x240'],
                          check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in re.findall(r'^  (\w+) +(\d+)$', text, re.M)}


def row(network):
    of = [figures(network, cpu) for cpu in CPUS]

    def each(name, unit, count):
        return ' / '.join(str(round(one[name] / unit)) for one in of[:count])

    first = of[0]
    moved = f'{round(first["frame_bytes"] / 1024)} + {round(first["row_bytes"] / 1024)}'
    cells = [f'`{network}`', round(first['macs'] / 1e6), first['latency_lines'] or 'whole frames', each('flash', 1024, 3),
             each('ram', 1024, 3), moved, each('instructions', 1e6, 4)]
    return '| ' + ' | '.join(str(c) for c in cells) + ' |'


def near(line, today):
    numbers, words = ([re.findall(p, one) for one in (line, today)] for p in (r'\d+', r'[^\d]+'))
    return words[0] == words[1] and all(abs(int(a) - int(b)) <= max(1, 0.05 * int(b)) for a, b in zip(*numbers))


rows = 0
with open(sys.argv[2], encoding='utf-8') as guide:
    for line in guide:
        network = re.match(r'\| `(\w+)` \| \d', line)
        if not network:
            continue
        rows += 1
        today = row(network[1])
        if not near(line.strip(), today):
            print(f'-{line.strip()}\n+{today}')
if rows < 20:
    print(f'expected the rows of 20 networks, found {rows}')
