#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds a message to frames of HEVC from number $2 on, with a slice a frame: standard input to standard output. $1: vivid
(CUVA 005.1), plus (SMPTE 2094-40) or views (frame packing, side by side)."""
import re
import sys


def packed(*fields):
    """Numbers of so many bits, filled up with zeros to whole bytes."""
    text = "".join(format(value, f"0{bits}b") for value, bits in fields)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


MESSAGES = {
    "vivid": (4, b"\x26\0\4\0\5" + packed((1, 8), (10, 12), (1000, 12), (100, 12), (3000, 12), (0, 8))),
    "plus": (4, b"\xb5\0\x3c\0\1" + packed((4, 8), (1, 8), (1, 2), (1000, 27), (0, 1), (5000, 17), (5000, 17), (5000, 17),
                                          (3000, 17), (1, 4), (50, 7), (5000, 17), (0, 10), (0, 3))),
    "views": (45, packed((1, 1), (0, 1), (3, 7), (0, 1), (1, 6), (0, 6), (0, 16), (0, 8), (1, 1), (0, 1), (1, 1))),
}
kind, body = MESSAGES[sys.argv[1]]
unit = b"\x4e\1" + re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", bytes([kind, len(body)]) + body + b"\x80")
film = sys.stdin.buffer.read()
starts = [m.start() for m in re.finditer(rb"\x00\x00\x01", film)] + [len(film)]
frames = 0
for begin, end in zip(starts, starts[1:]):
    old = film[begin:end].rstrip(b"\0")
    if old[3] >> 1 & 63 < 32:
        if frames >= int(sys.argv[2]):
            sys.stdout.buffer.write(b"\0\0\1" + unit)
        frames += 1
    sys.stdout.buffer.write(old)
