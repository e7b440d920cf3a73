# SPDX-License-Identifier: Apache-2.0
"""Drawn film: figures with inked outlines and hard shadows that move over painted backgrounds, with text and effects.

  cartoons.py PAGE.png [SEED]

writes 16 pictures to look at. A scene is all that its seed says, at any time: the same seed gives the same frames.
"""
import sys

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from backdrops import background
from figures import figure, thing
from ink import FINE, FONTS, Sheet, hue

WORDS = ("quick brown fox jumps over the lazy dog while waves break against far cliffs and six grey zebras drink from "
         "a hidden well at dusk; who would have known? you can just begin, my friend! village magic 12 30 1984").split()


# ---- effects and text --------------------------------------------------------------------------

def speed_lines(sheet, rng, time):
    rng = np.random.default_rng(rng.integers(1 << 30) + int(time))  # never the same twice
    ink = (255, 255, 255) if rng.random() < 0.6 else hue(rng, (0, 0.4), (0, 0.2))
    middle = np.array([sheet.width, sheet.height]) * rng.uniform(0.3, 0.7, 2)
    reach, width = np.hypot(sheet.width, sheet.height), rng.uniform(0.8, 4)
    for angle in rng.uniform(0, 2 * np.pi, rng.integers(20, 120)):
        way = np.array([np.cos(angle), np.sin(angle)])
        sheet.stroke([middle + way * reach * f for f in (1, 0.75, 0.5, rng.uniform(0.15, 0.45))],
                     width * rng.uniform(0.3, 2), ink, (0, 1.0))


def sparks(sheet, rng, time):
    ink = hue(rng, (0, 0.5), (0.8, 1))
    for n in range(rng.integers(5, 60)):
        x, y = rng.uniform(0, sheet.width), (rng.uniform(0, sheet.height) + time * 2) % sheet.height
        r = rng.uniform(0.5, 5)
        angle, reach = np.arange(8) * np.pi / 4, r * np.tile([1, 0.25], 4)
        sheet.fill(np.stack([x + reach * np.cos(angle), y + reach * np.sin(angle)], 1), ink)


def words(rng, count):
    text = " ".join(rng.choice(WORDS, count))
    return text.upper() if rng.random() < 0.2 else text.capitalize()


def subtitle(sheet, rng, size):
    """One or two lines at the foot, in the middle."""
    ink = (255, 255, 255) if rng.random() < 0.7 else (255, 230, 80)
    edge, font, width = hue(rng, (0, 0.5), (0, 0.15)), int(rng.integers(2)), size * rng.uniform(0.05, 0.12)
    rows = [words(rng, rng.integers(2, 6)) for _ in range(rng.integers(1, 3))]
    for n, row in enumerate(rows):
        y = sheet.height - size * 1.3 * (len(rows) - n) - size * 0.3
        sheet.text(sheet.width / 2, y, row, size, ink, edge, width, font, "ma")


def sign(sheet, rng):
    """A word, or a block of signs that are made of strokes, somewhere."""
    x, y, size = rng.uniform(-0.1, 0.8) * sheet.width, rng.uniform(0, 0.9) * sheet.height, np.exp(rng.uniform(2, 4))
    ink, edge = hue(rng, (0, 0.9), (0, 1)), hue(rng, (0, 0.9), (0, 1))
    if rng.random() < 0.6:
        sheet.text(x, y, words(rng, rng.integers(1, 4)), size, ink, edge, size * rng.choice([0, 0.05, 0.1]),
                   int(rng.integers(len(FONTS))))
        return
    width = max(size * rng.uniform(0.05, 0.12), 0.7)
    for n in range(rng.integers(1, 7)):
        for _ in range(rng.integers(4, 11)):
            a, way = rng.uniform(0, 0.9, 2), rng.choice([(0.8, 0), (0, 0.8), (0.5, 0.6), (-0.4, 0.5), (0.4, 0)])
            line = np.clip([a, a + np.array(way) * rng.uniform(0.4, 1)], 0, 0.95)
            sheet.stroke(line * size + (x + n * size * 1.1, y), width, ink, (0, 0))


# ---- scenes ------------------------------------------------------------------------------------

class Scene:
    """A background that is panned over, figures that move or hold still, and what is laid over both."""

    def __init__(self, seed, width, height, moving=None):
        rng = np.random.default_rng(seed)
        self.width, self.height, self.seed = width, height, seed
        still = moving is None and rng.random() < 0.35
        self.pan = np.zeros(2) if still else rng.uniform(-1, 1, 2) * (3, 0.7)  # pixels a frame
        self.hold = int(rng.choice([1, 2, 2, 3, 3, 1000])) if moving is None else moving
        self.room = np.ceil(np.abs(self.pan) * 60).astype(int)
        self.back = Image.new("RGB", tuple(int(n) for n in (np.array([width, height]) + self.room) * FINE))
        background(Sheet(self.back), rng)
        self.cast = []
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 5])):
            size = height * np.exp(rng.uniform(np.log(0.07), np.log(0.6)))
            self.cast.append((figure if rng.random() < 0.7 else thing, int(rng.integers(1 << 30)),
                              rng.uniform(0, width), height * rng.uniform(0.2, 0.8), size, rng.uniform(-1, 1)))
        self.effects = [f for f, share in ((speed_lines, 0.12), (sparks, 0.1)) if rng.random() < share]
        self.signs = int(rng.choice([0, 0, 0, 1, 1, 3]))
        self.words = height * rng.uniform(0.04, 0.09) if rng.random() < 0.4 else 0
        self.soft = 0 if rng.random() < 0.25 else rng.uniform(0.3, 1.0)
        self.glow = rng.uniform(-35, 35, (3, 4, 3)).astype(np.float32) if rng.random() < 0.3 else None
        self.drawn = None, None

    def frame(self, time):
        """RGB, float. Within 60 frames the background is never left."""
        pose = time // self.hold * self.hold
        start = np.rint((self.pan * time + (self.pan < 0) * self.room) * FINE).astype(int)
        what = pose, *start, bool(self.effects) * time
        if self.drawn[0] == what:
            return self.drawn[1]
        sheet = Sheet(self.back.crop((*start, start[0] + self.width * FINE, start[1] + self.height * FINE)))
        rng = np.random.default_rng(self.seed + 1)
        for draw, seed, x, y, size, speed in self.cast:
            open_mouth = abs(np.sin(pose * 0.9 + seed)) if seed % 2 else 0
            draw(sheet, seed, pose if self.hold < 1000 else seed % 50, x + speed * pose, y, size, open_mouth)
        for _ in range(self.signs):
            sign(sheet, rng)
        for effect in self.effects:
            effect(sheet, rng, time)
        if self.words:
            subtitle(sheet, np.random.default_rng(self.seed + 2), self.words)
        frame = np.asarray(sheet.image.reduce(FINE), np.float32)
        if self.soft:
            frame = gaussian_filter(frame, (self.soft, self.soft, 0))
        if self.glow is not None:
            frame = frame + np.stack([np.asarray(Image.fromarray(self.glow[..., c]).resize(
                (self.width, self.height), Image.BICUBIC)) for c in range(3)], 2)
        self.drawn = what, np.clip(frame, 0, 255).astype(np.float64)
        return self.drawn[1]


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    page = [Scene(first + n, 448, 320).frame(5).astype(np.uint8) for n in range(16)]
    Image.fromarray(np.vstack([np.hstack(page[n:n + 4]) for n in range(0, 16, 4)])).save(sys.argv[1])
