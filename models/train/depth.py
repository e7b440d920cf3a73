#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What 10 bits are worth, and what it costs that the network sees 8 of them.

  depth.py ../../build/mona ../../../shared/data/test

Set14 and the first 20 of BSD100 in grey, halved in float: finer than 8 bits. Halved again and rounded
to 8 and to 10 bits they go through sr_x2_fast as gray and gray10le video, and through the fp32
reference. PSNR in dB, 255 being white, 4 pixels cropped.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

FORMATS = {8: ("gray", np.uint8), 10: ("gray10le", "<u2")}
NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sr_x2_fast.onnx")


def halved(image):
    height, width = image.shape
    return np.asarray(Image.fromarray(image).resize((width // 2, height // 2), Image.BICUBIC))


def through_engine(mona, samples, bits):
    """samples in steps of 8 bits, doubled by the pipeline."""
    name, dtype = FORMATS[bits]
    height, width = samples.shape
    scale = 2 ** (bits - 8)
    words = (samples * scale).astype(dtype).tobytes()
    done = subprocess.run([mona, "enhance", "-", "--raw", f"{width}x{height}:{name}:25", "-o", "-", "-f",
                           "rawvideo", "--stages", "sr", "--content", "clean", "--quiet"],
                          input=words, check=True, stdout=subprocess.PIPE)
    return np.frombuffer(done.stdout, dtype).reshape(2 * height, 2 * width) / scale


def through_reference(mona, folder, samples):
    np.save(folder + "/in.npy", (samples / 255).astype(np.float32)[None, None])
    subprocess.run([mona, "run", NET, "-i", folder + "/in.npy", "-o", folder + "/out.npy", "--reference"],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load(folder + "/out.npy")[0, 0].astype(float) * 255


def psnr(a, b):
    difference = (a - b)[4:-4, 4:-4]
    return 10 * np.log10(255 ** 2 / np.mean(difference ** 2))


def measure(mona, folder, path):
    whole = np.asarray(Image.open(path).convert("L")).astype(np.float32)
    height, width = (side // 4 * 4 for side in whole.shape)
    wanted = halved(whole[:height, :width])
    small = halved(wanted)
    row = []
    for bits in FORMATS:
        scale = 2 ** (bits - 8)
        rounded = np.clip(np.rint(small * scale), 0, 2 ** bits - 1) / scale
        engine = through_engine(mona, rounded, bits)
        reference = through_reference(mona, folder, rounded)
        row += [psnr(engine, wanted), psnr(reference, wanted), psnr(engine, reference)]
    return row


def main():
    mona, data = sys.argv[1:]
    paths = sorted(glob.glob(data + "/set14/x2/*HR*.png")) + sorted(glob.glob(data + "/bsd100/*.jpg"))[:20]
    with tempfile.TemporaryDirectory() as folder:
        means = np.mean([measure(mona, folder, path) for path in paths], 0)
    print(f"{len(paths)} images")
    for i, bits in enumerate(FORMATS):
        engine, reference, apart = means[3 * i:3 * i + 3]
        print(f"{bits:2} bits: mona {engine:.3f}, fp32 {reference:.3f}, mona against fp32 {apart:.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
