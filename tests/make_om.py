# SPDX-License-Identifier: Apache-2.0
"""Writes .om files by the documented layout, for tests of the reader: python3 tests/make_om.py FOLDER"""
import os
import struct
import sys


def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def message(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    held = message(2, value) if isinstance(value, bytes) else varint(3 << 3) + varint(value)
    return message(11, message(1, name) + message(2, held))


def elf(size):
    return b'\x7fELF' + bytes([2, 1, 1]) + bytes(9) + struct.pack('<HH', 1, 0x1029) + bytes(size - 20)


def kernel(name, size):
    return struct.pack('<III', 0x5d776efd, len(name), size) + name + elf(size)


def om(partitions, wide=False, encrypted=0, name=b'classifier'):
    table, offset = struct.pack('<I4x' if wide else '<I', len(partitions)), 0
    for kind, data in partitions:
        table += struct.pack('<I4xQQ' if wide else '<III', kind, offset, len(data))
        offset += len(data)
    body = table + b''.join(data for _, data in partitions)
    head = bytearray(256)
    struct.pack_into('<4sII', head, 0, b'IMOD', 256, 0x20000000)
    struct.pack_into('<IBBBB', head, 76, 0 if wide else len(body), encrypted, 0, 0, 0)
    head[84:84 + len(name)] = name
    head[160:168] = b'hisi3559'
    if wide:
        struct.pack_into('<Q', head, 184, len(body))
    return bytes(head) + body


definition = (message(1, b'classifier') + attribute(b'soc_version', b'Ascend310') + attribute(b'target_type', b'MINI') +
              attribute(b'memory_size', 4194304) + attribute(b'stream_num', 2) + attribute(b'atc_version', b'1.80.T15.0.B156'))
leak = attribute(b'atc_cmdline', b'atc --model=/home/someone/secret/net.onnx --output=net --soc_version=Ascend310')
kernels = kernel(b'te_conv2d_0__kernel0', 1234) + kernel(b'te_pooling_1__kernel0', 2000)
FILES = {
    'plain': om([(0, definition), (1, bytes(96)), (3, kernels), (2, b'\x08\x01')]),
    'leak': om([(0, definition + leak), (1, bytes(96)), (3, kernels), (2, b'\x08\x01')]),
    'wide': om([(0, definition + leak), (1, bytes(64)), (3, kernels)], wide=True),
    'encrypted': om([(0, bytes(range(200)))], encrypted=1),
    'empty': om([]),
}

for name, data in FILES.items():
    with open(os.path.join(sys.argv[1], name + '.om'), 'wb') as f:
        f.write(data)
