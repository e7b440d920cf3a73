#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds a DVD's subtitle to an MPEG program stream, IN OUT: a box of 64x16 at 100, 250 from 0.563 s of its clock on."""
import sys

LEFT, TOP, WIDTH, HEIGHT = 100, 250, 64, 16


def unit():
    line = b"\x00\x01"  # colour 1 up to the end of the line
    field = line * (HEIGHT // 2)
    control = 4 + 2 * len(field)
    right, bottom = LEFT + WIDTH - 1, TOP + HEIGHT - 1
    area = bytes([5, LEFT >> 4, (LEFT & 15) << 4 | right >> 8, right & 255,
                  TOP >> 4, (TOP & 15) << 4 | bottom >> 8, bottom & 255])
    places = b"\x06" + (4).to_bytes(2, "big") + (4 + len(field)).to_bytes(2, "big")
    begin = b"\x03\x00\x70\x04\x00\xf0" + area + places + b"\x01\xff"
    end = control + 4 + len(begin)
    orders = b"\0\0" + end.to_bytes(2, "big") + begin + (50).to_bytes(2, "big") + end.to_bytes(2, "big") + b"\2\xff"
    body = control.to_bytes(2, "big") + 2 * field + orders
    return (len(body) + 2).to_bytes(2, "big") + body


def packet(time):
    stamp = bytes([0x21 | time >> 29 & 14, time >> 22 & 255, 1 | time >> 14 & 254, time >> 7 & 255, 1 | time << 1 & 254])
    body = b"\x81\x80\x05" + stamp + b"\x20" + unit()
    return b"\0\0\1\xbd" + len(body).to_bytes(2, "big") + body


with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as result:
    film = source.read()
    at = film.index(b"\0\0\1\xba", 4)
    result.write(film[:at] + packet(int(0.563 * 90000)) + film[at:])
