# SPDX-License-Identifier: Apache-2.0
"""Enlarges frames that numpy makes, then a whole film.

    python3 frames.py [IN.mp4 OUT.mp4]
"""
import sys
import mona
import numpy

rows, columns = 180, 320


def draw(number):
    """A diagonal grid that moves a column a frame: planes of luma and of chroma of half the size."""
    y, x = numpy.mgrid[:rows, :columns]
    luma = (16 + (x + y + number) * 8 % 220).astype(numpy.uint8)
    return [luma] + 2 * [numpy.full((rows // 2, columns // 2), 110, numpy.uint8)]


video = mona.Video((rows, columns), stages='denoise,sr')
for number, planes in enumerate(video.frames(map(draw, range(5)))):
    print(f'frame {number}: {planes[0].shape}, mean {planes[0].mean():.2f}')

if len(sys.argv) > 2:
    mona.enhance(sys.argv[1], sys.argv[2], scale=2, progress=lambda frames, expected: print(f'{frames}/{expected}', end='\r'))
