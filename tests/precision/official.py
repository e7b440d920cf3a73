# SPDX-License-Identifier: Apache-2.0
"""Prints the PSNR in dB, against 1, of MODEL on a case in ONNX's layout with one fp32 output.

   python3 official.py MONA MODEL CASE/test_data_set_0
"""
import array
import math
import os
import struct
import subprocess
import sys
import tempfile


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_tensor(path):
    """dims and fp32 numbers of a TensorProto: field 1 is a dimension, field 9 the raw data."""
    with open(path, "rb") as file:
        data = file.read()
    dims, numbers, at = [], None, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key == 8:
            dims.append(value)
        elif key == 74:
            numbers = array.array("f", data[at:at + value])
        at += value if key & 7 == 2 else 0
    return dims, numbers


def write_npy(path, dims, numbers):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ", ".join(map(str, dims))
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes())


def main():
    mona, model, case = sys.argv[1:]
    dims, numbers = read_tensor(case + "/input_0.pb")
    _, official = read_tensor(case + "/output_0.pb")
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        write_npy(source, dims[1:], numbers)
        subprocess.run([mona, "run", model, "-i", source, "-o", made], check=True)
        with open(made, "rb") as file:
            found = array.array("f", file.read()[-4 * len(official):])
    mean = sum((a - b) ** 2 for a, b in zip(found, official)) / len(official)
    print("%.2f" % (-10 * math.log10(mean)))


main()
