# SPDX-License-Identifier: Apache-2.0
"""Writes an object of the form that the vendor's compiler gives kernels, without code: FILE SYMBOL."""
import struct
import sys

strings = b'\0' + sys.argv[2].encode() + b'\0'
header = b'\x7fELF' + bytes([2, 1, 1]) + bytes(9)
header += struct.pack('<HHIQQQIHHHHHH', 1, 0x1029, 1, 0, 0, 0, 0, 64, 0, 0, 64, 0, 0)
with open(sys.argv[1], 'wb') as f:
    f.write(header + strings + bytes(64))
