# SPDX-License-Identifier: Apache-2.0
"""What drawn film is drawn with: lines that taper, shapes with hard shadows, gradients and text.

Everything is drawn FINE times as large as it is seen.
"""
import colorsys

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFont

FINE = 4
FONTS = "DejaVuSans-Bold.ttf", "DejaVuSans.ttf", "DejaVuSerif-Bold.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf"


def hue(rng, saturation, value):
    """A colour; both arguments are ranges."""
    return tuple(int(255 * v) for v in colorsys.hsv_to_rgb(rng.random(), rng.uniform(*saturation), rng.uniform(*value)))


def shade(colour, by, towards=(40, 30, 90)):
    return tuple(int(c * (1 - by) + d * by) for c, d in zip(colour, towards))


def path(points, count=36):
    """A smooth line through points (Catmull-Rom), open."""
    p = np.asarray(points, float)
    p = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
    place = np.linspace(0, len(p) - 3 - 1e-9, count)
    i, t = place.astype(int), (place % 1)[:, None]
    a, b, c, d = (p[i + k] for k in range(4))
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def ring(points, count=72):
    """A smooth closed line through points."""
    p = np.asarray(points, float)
    return path(np.concatenate([p[-2:], p, p[:2]]), count * (len(p) + 3) // len(p))[
        count * 2 // len(p):count * 2 // len(p) + count]


def round_shape(rng, x, y, width, height, uneven=0.15):
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    radius = 1 + sum(rng.uniform(-uneven, uneven) * np.cos(n * angle + rng.uniform(0, 7)) / n for n in (1, 2, 3, 5))
    return np.stack([x + width * radius * np.cos(angle), y + height * radius * np.sin(angle)], 1)


class Sheet:
    """What is drawn on; places are in pixels as they will be seen."""

    def __init__(self, image):
        self.image, self.draw = image, ImageDraw.Draw(image)
        self.width, self.height = (n / FINE for n in image.size)

    def fill(self, points, colour):
        self.draw.polygon([tuple(p) for p in np.asarray(points) * FINE], fill=colour)

    def stroke(self, points, width, ink, taper=(0.3, 0.5)):
        """A line that begins and ends thin, over the shares `taper` of its length."""
        p, t = np.asarray(points, float), np.linspace(0, 1, len(points))
        way = np.gradient(p, axis=0)
        normal = np.stack([-way[:, 1], way[:, 0]], 1) / np.maximum(np.hypot(*way.T), 1e-6)[:, None]
        pressure = np.minimum(1, np.minimum(t / max(taper[0], 1e-3), (1 - t) / max(taper[1], 1e-3)))
        half = (normal * width / 2 * np.sqrt(pressure)[:, None]) if taper != (0, 0) else normal * width / 2
        self.fill(np.concatenate([p + half, (p - half)[::-1]]), ink)

    def outline(self, points, width, ink, uneven=0.4):
        """A closed line whose width wanders."""
        p = np.asarray(points, float)
        t = np.linspace(0, 2 * np.pi, len(p))
        wide = width * (1 + uneven * np.cos(t + p[0, 0])) * FINE
        for a, b, w in zip(p * FINE, np.roll(p, -1, 0) * FINE, wide):
            self.draw.line([*a, *b], fill=ink, width=max(round(w), 1))
            r = w / 2 - 0.5
            if r > 1:
                self.draw.ellipse([*(b - r), *(b + r)], fill=ink)

    def mask(self, points):
        """(box, mask) of a shape; None where none of it is seen."""
        p = np.asarray(points) * FINE
        low, high = np.maximum(np.floor(p.min(0)), 0), np.minimum(np.ceil(p.max(0)) + 1, self.image.size)
        if (high - low < 1).any():
            return None
        mask = Image.new("L", tuple((high - low).astype(int)))
        ImageDraw.Draw(mask).polygon([tuple(q) for q in p - low], fill=255)
        return low.astype(int), mask

    def inside(self, points, others, ink, without=False):
        """Ink where one of the polygons `others` is (or, `without`, is not), inside of a shape."""
        found = self.mask(points)
        if not found:
            return
        (x, y), mask = found
        drawn = Image.new("L", mask.size, 255 * without)
        draw = ImageDraw.Draw(drawn)
        for other in others:
            draw.polygon([tuple(q) for q in np.asarray(other) * FINE - (x, y)], fill=255 * (not without))
        self.image.paste(ink, (int(x), int(y)), ImageChops.multiply(mask, drawn))

    def cel(self, points, colour, dark, light, ink=None, width=0):
        """A shape with a hard shadow on the side that the vector `light` comes not from."""
        self.fill(points, colour)
        self.inside(points, [np.asarray(points) + light], dark, True)
        if ink:
            self.outline(points, width, ink)

    def gradient(self, corners):
        """Between 2 x 2 (or more) colours."""
        small = Image.fromarray(np.asarray(corners, np.uint8))
        self.image.paste(small.resize(self.image.size, Image.BICUBIC))

    def text(self, x, y, words, size, ink, edge, width, font, anchor="la"):
        self.draw.text((x * FINE, y * FINE), words, ink, ImageFont.truetype(FONTS[font], max(round(size * FINE), 6)),
                       stroke_width=round(width * FINE), stroke_fill=edge,
                       anchor=anchor)


def lines(rng, box, pitch, width, angle):
    """Parallel ones over a box, as polygons."""
    x0, y0, x1, y1 = box
    reach = np.hypot(x1 - x0, y1 - y0) / 2
    way, side = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    middle = np.array([x0 + x1, y0 + y1]) / 2
    for n in np.arange(-reach, reach, pitch):
        a, b = middle + n * side - reach * way, middle + n * side + reach * way
        yield [a, b, b + side * width, a + side * width]
