# SPDX-License-Identifier: Apache-2.0
"""What moves in drawn film: people, and things that are inked."""
import numpy as np

from ink import hue, lines, path, ring, round_shape, shade


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
    half = np.array([(0.3, 0.9), (1.0, 1.4), (1.5 * fall, 3.2), (1.6, 6)])
    body = ring(np.array([x, y]) + size * np.concatenate([[(-0.3, 0.9)], half, (half * (-1, 1))[:0:-1]]), 90)
    sheet.cel(body, cloth, shade(cloth, 0.35), light * 2, ink, width)
    kind = rng.random()
    box = x - 2 * size, y + size, x + 2 * size, y + 6 * size
    if kind < 0.35:
        pitch = size * rng.uniform(0.08, 0.5)
        sheet.inside(body, lines(rng, box, pitch, pitch * rng.uniform(0.2, 0.6), rng.choice([0, 0.3, np.pi / 2])),
                     second)
        sheet.outline(body, width, ink)
    elif kind < 0.55:  # hatched shadow
        sheet.inside(body, lines(rng, box, max(size * rng.uniform(0.04, 0.12), 2.2), max(width * 0.6, 0.7),
                                 rng.uniform(0.5, 1)), shade(cloth, 0.7, (0, 0, 0)))
    for _ in range(rng.integers(2, 8)):  # folds
        a = np.array([x + size * rng.uniform(-1, 1), y + size * rng.uniform(1.5, 3)])
        b, c = a + size * rng.uniform(-0.3, 0.3, 2), a + size * np.array([rng.uniform(-0.5, 0.5), 1])
        sheet.stroke(path([a, b, c], 20), width, ink, (0.1, 0.8))
    neck = at((-0.25, 0.6), (0.25, 0.6), (0.3, 1.25), (0, 1.5), (-0.3, 1.25))
    sheet.cel(neck, skin, shade(skin, 0.3, (150, 60, 80)), (0, size * 0.3), ink, width)
    face = ring(at((-0.75, -0.3), (0, -0.9), (0.75, -0.3), (0.65, 0.35), (0.3, 0.8), (0, 0.97), (-0.3, 0.8),
                   (-0.65, 0.35)))
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
    nose = at((turn * 1.5, 0.3), (turn * 1.5 + 0.05, 0.42), (turn * 1.5 - 0.02, 0.45))
    sheet.stroke(path(nose, 12), width * 0.8, ink)
    lips = at((-0.15 + turn, 0.62), (turn, 0.65), (0.15 + turn, 0.62))
    if mouth > 0.2:
        lips = ring(np.concatenate([lips, at((turn, 0.65 + 0.2 * mouth))]), 24)
        sheet.cel(lips, (150, 40, 50), (230, 120, 120), (0, -size * 0.08), ink, width * 0.8)
    else:
        sheet.stroke(path(lips, 14), width, ink, (0.4, 0.4))
    count, hang = rng.integers(5, 11), rng.uniform(-0.35, 0.35)
    for n in range(count):  # the fringe, and the highlight over it
        u = (n + 0.5) / count * 2 - 1
        tip = at((u * 0.95 + rng.uniform(-0.15, 0.15) + 0.3 * wind / size,
                  hang + 0.5 * abs(u)**2 + rng.uniform(-0.2, 0.3)))[0]
        root = at((u * 0.45, -1.05 + 0.25 * u * u))[0]
        shape = lock(rng, root, tip, size * rng.uniform(0.3, 0.6), size * rng.uniform(-0.15, 0.15))
        sheet.cel(shape, hair, shade(hair, 0.35), light * 0.4, ink, width * 0.8)
        if rng.random() < 0.6:
            band = at((-1, -0.62 + 0.2 * u * u), (1, -0.6 + 0.2 * u * u), (1, -0.5 + 0.2 * u * u), (-1, -0.48))
            sheet.inside(shape, [band], shade(hair, 0.75, (255, 255, 255)))
    for _ in range(rng.integers(4, 30)):  # single hairs
        a = at((rng.uniform(-0.9, 0.9), rng.uniform(-1.1, -0.2)))[0]
        b = a + size * np.array([rng.uniform(-0.4, 0.4), rng.uniform(0.3, 1.2)]) + (wind, 0)
        line = path([a, (a + b) / 2 + size * rng.uniform(-0.15, 0.15, 2), b], 20)
        thin = max(width * rng.uniform(0.3, 0.8), 0.5)
        sheet.stroke(line, thin, rng.choice([0, 1]) and ink or shade(hair, 0.6, (255, 255, 255)), (0.5, 0.6))


def thing(sheet, seed, time, x, y, size, _):
    """Anything else that is inked: a round body with parts, marks and hatching."""
    rng = np.random.default_rng(seed)
    ink, width = hue(rng, (0, 0.5), (0, 0.25)), max(size * rng.uniform(0.015, 0.07), 0.6)
    light = size * rng.uniform(-0.3, 0.3, 2)
    place = np.array([x, y + size * 0.1 * np.sin(time + seed)])
    for _ in range(rng.integers(2, 9)):
        colour = hue(rng, (0, 0.9), (0.2, 1))
        shape = round_shape(rng, *(place + size * rng.uniform(-0.8, 0.8, 2)), *(size * rng.uniform(0.15, 0.8, 2)))
        dark = shade(colour, rng.uniform(0.2, 0.5))
        sheet.cel(shape, colour, dark, light, ink if rng.random() < 0.85 else None, width)
        if rng.random() < 0.4:
            low, high = shape.min(0), shape.max(0)
            pitch = rng.uniform(2.5, 10)
            sheet.inside(shape, lines(rng, (*low, *high), pitch, pitch * rng.uniform(0.15, 0.5), rng.uniform(0, 3)),
                         shade(colour, rng.uniform(0.2, 0.9), ink))
            sheet.outline(shape, width, ink)
