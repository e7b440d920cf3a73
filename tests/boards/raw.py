# SPDX-License-Identifier: Apache-2.0
"""What apps/firmware/raw.c must print: its frames whole, kernels by numpy.

    raw.py SCENES    what scenes.c writes"""
import runpy
import sys
import zlib

import numpy as np

W, H, NOISE = 160, 120, 24


def kernels(path):
    from mona.kernel import Kernel
    return {k.name.split('::')[1]: k for k in runpy.run_path(path).values() if isinstance(k, Kernel)}


def main():
    import mona
    demosaic, own = kernels('apps/examples/kernels/demosaic.py')['Demosaic'], kernels('apps/firmware/raw_kernels.py')
    denoise, enlarge = (mona.Model(f'models/{n}.mona', size=(H, W)) for n in ('denoise_fast', 'sr_x2_fast'))
    gain = np.array([[12, 16], [16, 10]], np.uint16)
    for n, scene in enumerate(np.fromfile(sys.argv[1], np.uint8).reshape(-1, H, W)):
        raw = scene * np.tile(gain, (H // 2, W // 2))
        luma, u, v = own['ToPlanes'](demosaic(raw, np.array([1.25, 1, 1.5], np.float32)))
        clean = denoise(luma, u, v, np.full((H // 2, W // 2), NOISE, np.uint8))
        results = enlarge(clean[0]), own['ToNv12'](*clean[1:])
        print('frame %d: luma %08x chroma %08x' % (n, *(zlib.crc32(np.ascontiguousarray(r).tobytes()) for r in results)))


main()
