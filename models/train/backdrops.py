# SPDX-License-Identifier: Apache-2.0
"""Backgrounds of drawn film: skies, towns, rooms, bushes, painted ones, and those out of focus."""
import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from ink import FINE, hue, lines, path, round_shape, shade


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
