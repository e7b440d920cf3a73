# SPDX-License-Identifier: Apache-2.0
"""Drawn film: figures with inked outlines and hard shadows that move over painted backgrounds, with text and effects.

  cartoons.py PAGE.png [SEED]

writes 16 pictures to look at. A scene is all that its seed says, at any time: the same seed gives the same frames.
Everything is drawn FINE times as large as it is seen.
"""
import colorsys
import sys

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter

FINE = 4
FONTS = "DejaVuSans-Bold.ttf", "DejaVuSans.ttf", "DejaVuSerif-Bold.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf"
WORDS = ("quick brown fox jumps over the lazy dog while waves break against far cliffs and six grey zebras drink from "
         "a hidden well at dusk; who would have known? you can just begin, my friend! village magic 12 30 1984").split()


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


# ---- backgrounds -------------------------------------------------------------------------------

def lines(rng, box, pitch, width, angle):
    """Parallel ones over a box, as polygons."""
    x0, y0, x1, y1 = box
    reach = np.hypot(x1 - x0, y1 - y0) / 2
    way, side = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    middle = np.array([x0 + x1, y0 + y1]) / 2
    for n in np.arange(-reach, reach, pitch):
        a, b = middle + n * side - reach * way, middle + n * side + reach * way
        yield [a, b, b + side * width, a + side * width]


def painted(sheet, rng):
    """Smooth noise of several sizes between a few colours."""
    colours = np.array([hue(rng, (0.1, 0.7), (0.2, 1)) for _ in range(3)], float)
    field = 0
    for n in (3, 6, 12, 24, 60)[:rng.integers(2, 6)]:
        grain = Image.fromarray(rng.standard_normal((n, n)).astype(np.float32))
        field = field + np.asarray(grain.resize((240, 240), Image.BICUBIC)) / n**0.7
    place = np.clip(1 + field * rng.uniform(0.5, 1.5), 0, 2)[..., None]
    low = np.where(place < 1, colours[0] + (colours[1] - colours[0]) * place,
                   colours[1] + (colours[2] - colours[1]) * (place - 1))
    sheet.image.paste(Image.fromarray(low.astype(np.uint8)).resize(sheet.image.size, Image.BICUBIC))


def sky(sheet, rng):
    top, bottom = hue(rng, (0.2, 0.8), (0.3, 1)), hue(rng, (0, 0.5), (0.6, 1))
    sheet.gradient([[top, top], [bottom, bottom]])
    white = shade(bottom, 0.7, (255, 255, 255))
    for _ in range(rng.integers(0, 6)):
        x, y = rng.uniform(0, sheet.width), rng.uniform(0, sheet.height * 0.7)
        size = sheet.height * rng.uniform(0.03, 0.12)
        for _ in range(rng.integers(3, 9)):
            sheet.cel(round_shape(rng, x + size * rng.normal(0, 1.5), y + size * rng.normal(0, 0.3), size * 0.9,
                                  size * 0.6), white, shade(white, 0.25), (-size * 0.1, -size * 0.25))


def town(sheet, rng):
    """Boxes with rows of windows, poles and wires."""
    for _ in range(rng.integers(3, 9)):
        x, w = rng.uniform(-0.1, 1) * sheet.width, rng.uniform(0.1, 0.35) * sheet.width
        top = rng.uniform(0.1, 0.7) * sheet.height
        wall, ink = hue(rng, (0, 0.4), (0.3, 0.95)), hue(rng, (0, 0.5), (0, 0.3))
        front = np.array([[x, top], [x + w, top], [x + w, sheet.height + 5], [x, sheet.height + 5]])
        sheet.cel(front, wall, shade(wall, 0.4), (-w * rng.uniform(0.1, 0.4), 0))
        kind, pitch = rng.random(), rng.uniform(3, 16)
        pane = hue(rng, (0.1, 0.6), (0.2, 1))
        if kind < 0.6:
            size = pitch * rng.uniform(0.4, 0.8)
            for wx in np.arange(x + pitch / 2, x + w - size, pitch):
                for wy in np.arange(top + pitch, sheet.height, pitch * 1.3):
                    sheet.fill([[wx, wy], [wx + size, wy], [wx + size, wy + size], [wx, wy + size]], pane)
        else:
            sheet.inside(front, lines(rng, (x, top, x + w, sheet.height), pitch, rng.uniform(0.6, 2),
                                      (kind > 0.8) * np.pi / 2), ink)
        sheet.outline(front, rng.uniform(0.6, 1.8), ink, 0)
    for _ in range(rng.integers(0, 7)):  # wires that sag
        y = rng.uniform(0, 0.6, 2) * sheet.height
        sag = [[0, y[0]], [sheet.width / 2, y.mean() + rng.uniform(2, 30)], [sheet.width, y[1]]]
        sheet.stroke(path(sag), rng.uniform(0.5, 1.5), (25, 25, 35), (0, 0))


def leaves(sheet, rng):
    """Bushes: many blots over one another, lighter towards the top."""
    dark = hue(rng, (0.3, 0.8), (0.15, 0.4))
    bright = hue(rng, (0.3, 0.7), (0.5, 0.9))
    x, y, spread = rng.uniform(0, sheet.width), rng.uniform(0.3, 1) * sheet.height, sheet.height * rng.uniform(0.1, 0.3)
    size = rng.uniform(2, 12)
    for n in range(rng.integers(40, 200)):
        sheet.fill(round_shape(rng, x + spread * rng.normal(), y + spread * 0.5 * rng.normal() - n * 0.05, size,
                               size * 0.6, 0.4), shade(dark, n / 200, bright))


def room(sheet, rng):
    """Floor boards in perspective, a wall with stripes or squares, a frame or shelf."""
    wall, floor = hue(rng, (0, 0.4), (0.4, 1)), hue(rng, (0.1, 0.6), (0.3, 0.8))
    sheet.gradient([[wall, shade(wall, 0.2)], [shade(wall, 0.1), shade(wall, 0.35)]])
    edge = rng.uniform(0.5, 0.85) * sheet.height
    ground = [[0, edge], [sheet.width, edge], [sheet.width, sheet.height + 2], [0, sheet.height + 2]]
    sheet.fill(ground, floor)
    middle, ink, width = sheet.width * rng.uniform(0.2, 0.8), shade(floor, 0.5, (20, 10, 10)), rng.uniform(0.6, 1.6)
    for x in np.arange(-2, 3, rng.uniform(0.05, 0.3)) * sheet.width:
        sheet.stroke([[middle + (x - middle) * 0.3, edge], [x, sheet.height + 2]], width, ink, (0, 0))
    if rng.random() < 0.6:
        box = 0, 0, sheet.width, edge
        area = [[0, 0], [sheet.width, 0], [sheet.width, edge], [0, edge]]
        pitch, width = rng.uniform(4, 40), rng.uniform(0.6, 4)
        for angle in [np.pi / 2, 0][:rng.integers(1, 3)]:
            sheet.inside(area, lines(rng, box, pitch, width, angle), shade(wall, rng.uniform(0.15, 0.6)))
    for _ in range(rng.integers(0, 5)):
        x, y = rng.uniform(0, sheet.width), rng.uniform(0, edge)
        w, h = rng.uniform(10, 90, 2)
        frame = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
        colour = hue(rng, (0.1, 0.8), (0.3, 1))
        sheet.cel(frame, colour, shade(colour, 0.3), (rng.uniform(-9, 9), rng.uniform(-9, 9)),
                  shade(colour, 0.8, (0, 0, 0)), rng.uniform(0.8, 2.5))


def flat(sheet, rng):
    corner = [hue(rng, (0, 0.6), (0.5, 1)) for _ in range(4)]
    sheet.gradient([[corner[0]] * 2] * 2 if rng.random() < 0.5 else [corner[:2], corner[2:]])
    if rng.random() < 0.4:  # screen tone
        pitch, size = rng.uniform(3, 9), rng.uniform(0.15, 0.42)
        ink = shade(corner[0], rng.uniform(0.2, 0.8), (0, 0, 0))
        top = rng.uniform(0, 0.8) * sheet.height
        for row, y in enumerate(np.arange(top, sheet.height, pitch)):
            r = pitch * size * (0.3 + 0.7 * (y - top) / (sheet.height - top)) * FINE
            for x in np.arange(row % 2 * pitch / 2, sheet.width, pitch) * FINE:
                sheet.draw.ellipse([x - r, y * FINE - r, x + r, y * FINE + r], fill=ink)


def background(sheet, rng):
    """Some are out of focus, as if far away."""
    rng.choice([painted, sky, sky, room, flat])(sheet, rng)
    for more in (town, leaves, leaves, town):
        if rng.random() < 0.3:
            more(sheet, rng)
    if rng.random() < 0.3:
        small = sheet.image.reduce(FINE)
        soft = gaussian_filter(np.asarray(small, np.float32), (s := rng.uniform(0.8, 4), s, 0))
        sheet.image.paste(Image.fromarray(soft.round().astype(np.uint8)).resize(sheet.image.size, Image.BICUBIC))


# ---- figures -----------------------------------------------------------------------------------

def lock(rng, root, tip, width, bend):
    """A pointed strand of hair."""
    root, tip = np.asarray(root), np.asarray(tip)
    way = tip - root
    side = np.array([-way[1], way[0]]) / max(np.hypot(*way), 1e-6)
    middle = root + way * 0.55 + side * bend
    left, right = ([root + side * s * width * 0.5, middle + side * s * width * 0.5, tip] for s in (-1, 1))
    return np.concatenate([path(left, 20), path(right, 20)[::-1]])


def eye(sheet, rng, place, size, looks, wide, colours, ink, width):
    """wide: 0 shut to 1."""
    x, y = place
    brow = [[x - 0.8 * size, y - size * 1.2], [x, y - size * 1.5], [x + 0.8 * size, y - size * 1.15]]
    sheet.stroke(path(brow, 16), width * 1.2, ink)
    lash = path([[x - 0.75 * size, y - 0.1 * size], [x - 0.3 * size, y - wide * 0.75 * size],
                 [x + 0.35 * size, y - wide * 0.75 * size], [x + 0.8 * size, y]], 20)
    if wide > 0.2:
        under = path([[x + 0.6 * size, y + 0.5 * size * wide], [x, y + 0.8 * size * wide],
                      [x - 0.6 * size, y + 0.5 * size * wide]], 14)
        white = np.concatenate([lash, under])
        sheet.fill(white, (245, 245, 250))
        angle = np.linspace(0, 2 * np.pi, 30)
        iris = np.stack([x + looks * size + 0.42 * size * np.cos(angle), y + 0.62 * size * np.sin(angle)], 1)
        middle = iris.mean(0)
        sheet.inside(white, [iris], shade(colours, 0.55, (0, 0, 0)))
        sheet.inside(white, [middle + (iris - middle) * 0.8 + (0, 0.1 * size)], colours)
        sheet.inside(white, [middle + (iris - middle) * 0.45], (15, 10, 30))
        sheet.inside(white, [middle + (iris - middle) * 0.3 + (-0.15 * size, -0.25 * size)], (255, 255, 255))
        sheet.stroke(under, width * 0.7, ink, (0.5, 0.5))
    sheet.stroke(lash, width * 2.2, ink, (0.15, 0.3))


def figure(sheet, seed, time, x, y, size, mouth):
    """A person from the chest up; size: half the height of the head. time moves, mouth 0..1 opens it."""
    rng = np.random.default_rng(seed)
    skin = shade(hue(rng, (0, 0.05), (0.95, 1)), rng.uniform(0.1, 0.45), (230, 150, 110))
    hair, cloth = hue(rng, (0.1, 0.9), (0.15, 1)), hue(rng, (0, 0.9), (0.2, 1))
    second = hue(rng, (0, 0.9), (0.2, 1))
    ink = shade(hue(rng, (0, 0.6), (0, 0.3)), rng.uniform(0, 0.8), (10, 5, 10))
    width = max(size * np.exp(rng.uniform(np.log(0.01), np.log(0.04))), 0.7)
    light = np.array([rng.choice([-1, 1]) * rng.uniform(0.05, 0.25), -rng.uniform(0.02, 0.2)]) * size
    sway = np.array([np.sin(time * 0.7 + seed) * 0.06, np.sin(time * 0.9) * 0.03]) * size
    wind = np.sin(time * 0.8 + seed) * 0.15 * size
    head = np.array([x, y]) + sway

    def at(*points):
        return head + size * np.asarray(points, float)

    length = rng.uniform(0.6, 2.4)
    back = ring(at((-0.9, -0.6), (0, -1.15), (0.9, -0.6), (1.0 + wind / size, length), (0, length * 0.9),
                   (-1.0 + wind / size, length)))
    sheet.cel(back, shade(hair, 0.3), shade(hair, 0.5), light, ink, width)
    fall = rng.uniform(0.6, 1.1)
    body = ring(np.array([x, y]) + size * np.array([(-0.3, 0.9), (0.3, 0.9), (1.0, 1.4), (1.5 * fall, 3.2), (1.6, 6), (-1.6, 6),
                                                    (-1.5 * fall, 3.2), (-1.0, 1.4)]), 90)
    sheet.cel(body, cloth, shade(cloth, 0.35), light * 2, ink, width)
    kind = rng.random()
    box = x - 2 * size, y + size, x + 2 * size, y + 6 * size
    if kind < 0.35:
        pitch = size * rng.uniform(0.08, 0.5)
        sheet.inside(body, lines(rng, box, pitch, pitch * rng.uniform(0.2, 0.6), rng.choice([0, 0.3, np.pi / 2])), second)
        sheet.outline(body, width, ink)
    elif kind < 0.55:  # hatched shadow
        sheet.inside(body, lines(rng, box, max(size * rng.uniform(0.04, 0.12), 2.2), max(width * 0.6, 0.7),
                                 rng.uniform(0.5, 1)), shade(cloth, 0.7, (0, 0, 0)))
    for _ in range(rng.integers(2, 8)):  # folds
        a = np.array([x + size * rng.uniform(-1, 1), y + size * rng.uniform(1.5, 3)])
        sheet.stroke(path([a, a + size * rng.uniform(-0.3, 0.3, 2), a + size * np.array([rng.uniform(-0.5, 0.5), 1])], 20),
                     width, ink, (0.1, 0.8))
    neck = at((-0.25, 0.6), (0.25, 0.6), (0.3, 1.25), (0, 1.5), (-0.3, 1.25))
    sheet.cel(neck, skin, shade(skin, 0.3, (150, 60, 80)), (0, size * 0.3), ink, width)
    face = ring(at((-0.75, -0.3), (0, -0.9), (0.75, -0.3), (0.65, 0.35), (0.3, 0.8), (0, 0.97), (-0.3, 0.8), (-0.65, 0.35)))
    sheet.cel(face, skin, shade(skin, 0.3, (150, 60, 80)), light, ink, width)
    if rng.random() < 0.4:
        for s in (-1, 1):
            cheek = at((s * 0.42, 0.42))[0]
            sheet.inside(face, list(lines(rng, (*(cheek - size * 0.12), *(cheek + size * 0.12)), size * 0.07,
                                          max(width * 0.5, 0.6), 1.9)), (240, 110, 110))
    turn, open_eyes = rng.uniform(-0.2, 0.2) + 0.1 * np.sin(time * 0.3), 0.1 if (int(time) + seed) % 23 == 0 else 1
    iris, eye_size = hue(rng, (0.5, 1), (0.4, 1)), rng.uniform(0.22, 0.32)
    for s in (-1, 1):
        eye(sheet, rng, at((s * 0.35 + turn, 0.12))[0], size * eye_size, turn, open_eyes, iris, ink, width)
    sheet.stroke(path(at((turn * 1.5, 0.3), (turn * 1.5 + 0.05, 0.42), (turn * 1.5 - 0.02, 0.45)), 12), width * 0.8, ink)
    lips = at((-0.15 + turn, 0.62), (turn, 0.65), (0.15 + turn, 0.62))
    if mouth > 0.2:
        lips = ring(np.concatenate([lips, at((turn, 0.65 + 0.2 * mouth))]), 24)
        sheet.cel(lips, (150, 40, 50), (230, 120, 120), (0, -size * 0.08), ink, width * 0.8)
    else:
        sheet.stroke(path(lips, 14), width, ink, (0.4, 0.4))
    count, hang = rng.integers(5, 11), rng.uniform(-0.35, 0.35)
    for n in range(count):  # the fringe, and the highlight over it
        u = (n + 0.5) / count * 2 - 1
        tip = at((u * 0.95 + rng.uniform(-0.15, 0.15) + 0.3 * wind / size, hang + 0.5 * abs(u)**2 + rng.uniform(-0.2, 0.3)))[0]
        root = at((u * 0.45, -1.05 + 0.25 * u * u))[0]
        shape = lock(rng, root, tip, size * rng.uniform(0.3, 0.6), size * rng.uniform(-0.15, 0.15))
        sheet.cel(shape, hair, shade(hair, 0.35), light * 0.4, ink, width * 0.8)
        if rng.random() < 0.6:
            band = at((-1, -0.62 + 0.2 * u * u), (1, -0.6 + 0.2 * u * u), (1, -0.5 + 0.2 * u * u), (-1, -0.48))
            sheet.inside(shape, [band], shade(hair, 0.75, (255, 255, 255)))
    for _ in range(rng.integers(4, 30)):  # single hairs
        a = at((rng.uniform(-0.9, 0.9), rng.uniform(-1.1, -0.2)))[0]
        b = a + size * np.array([rng.uniform(-0.4, 0.4), rng.uniform(0.3, 1.2)]) + (wind, 0)
        sheet.stroke(path([a, (a + b) / 2 + size * rng.uniform(-0.15, 0.15, 2), b], 20), max(width * rng.uniform(0.3, 0.8), 0.5),
                     rng.choice([0, 1]) and ink or shade(hair, 0.6, (255, 255, 255)), (0.5, 0.6))


def thing(sheet, seed, time, x, y, size, _):
    """Anything else that is inked: a round body with parts, marks and hatching."""
    rng = np.random.default_rng(seed)
    ink, width = hue(rng, (0, 0.5), (0, 0.25)), max(size * rng.uniform(0.015, 0.07), 0.6)
    light = size * rng.uniform(-0.3, 0.3, 2)
    place = np.array([x, y + size * 0.1 * np.sin(time + seed)])
    for _ in range(rng.integers(2, 9)):
        colour = hue(rng, (0, 0.9), (0.2, 1))
        shape = round_shape(rng, *(place + size * rng.uniform(-0.8, 0.8, 2)), *(size * rng.uniform(0.15, 0.8, 2)))
        sheet.cel(shape, colour, shade(colour, rng.uniform(0.2, 0.5)), light, ink if rng.random() < 0.85 else None, width)
        if rng.random() < 0.4:
            low, high = shape.min(0), shape.max(0)
            pitch = rng.uniform(2.5, 10)
            sheet.inside(shape, lines(rng, (*low, *high), pitch, pitch * rng.uniform(0.15, 0.5), rng.uniform(0, 3)),
                         shade(colour, rng.uniform(0.2, 0.9), ink))
            sheet.outline(shape, width, ink)


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
        sheet.fill([(x + r * (1 - 0.75 * (k % 2)) * np.cos(k * np.pi / 4), y + r * (1 - 0.75 * (k % 2)) * np.sin(k * np.pi / 4))
                    for k in range(8)], ink)


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
