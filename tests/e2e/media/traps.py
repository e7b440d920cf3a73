# SPDX-License-Identifier: Apache-2.0
"""Pictures and films that an enhancer is tempted to spoil, all drawn here: traps.sh.

    traps.py FOLDER MONA [--images|--films] [--small] [NAME]...

Prints a line for each way in which mona enhances each of them at default settings: what it is, by how many dB the
result is better than the input, or than Lanczos interpolation of it where it is enlarged, and by how much of SSIM.
"""
import argparse
import inspect
import io
import json
import os
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HEIGHT, WIDTH, FRAMES = 256, 448, 24
QUALITIES = 95, 90, 75, 60, 40, 30
COARSENESS = 18, 23, 28  # CRF of x264
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)


# ---- drawing ---------------------------------------------------------------------------------------

def clipped(a):
    return np.clip(np.rint(a), 0, 255).astype(np.uint8)


def blurred(a, sigma):
    reach = int(4 * sigma + 1)
    taps = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * sigma * sigma))
    taps /= taps.sum()
    for axis in 0, 1:
        padded = np.pad(a, [(reach, reach) if i == axis else (0, 0) for i in range(a.ndim)], "symmetric")
        a = sum(t * np.take(padded, np.arange(a.shape[axis]) + i, axis) for i, t in enumerate(taps))
    return a


def cloudy(rng, power, shape=(HEIGHT, WIDTH)):
    """Like the light and shade of nature: 1 / f^power, of mean 0 and deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1])[None]) + 1 / max(shape)
    a = np.real(np.fft.ifft2(np.fft.fft2(rng.standard_normal(shape)) / frequency**power))
    return (a - a.mean()) / a.std()


def coloured(a, *tint):
    return a[..., None] * tint


def smaller(image):
    return np.asarray(image.resize((WIDTH, HEIGHT), Image.BOX)).astype(float)


def landscape(rng, times=1):
    """Hills with a gradient of sky, a path, a house and bushes: edges, texture and smooth parts."""
    height, width = HEIGHT * times, WIDTH * times
    sky = np.linspace(0, 1, height)[:, None, None]
    a = np.array([90, 140, 215]) * (1 - sky) + np.array([225, 220, 200]) * sky + np.zeros((1, width, 1))
    x = np.arange(width)
    for i in range(4):
        top = height * (.35 + .15 * i) + height * .06 * cloudy(rng, 1.6, (64, width))[i]
        below = np.arange(height)[:, None] > top[None]
        shade = 1 + .18 * cloudy(rng, 1.1, (height, width))
        a[below] = (np.array([70, 110, 60]) * (.6 + .2 * i) * shade[..., None])[below]
    image = Image.fromarray(clipped(a)).resize((2 * width, 2 * height), Image.BICUBIC)
    draw = ImageDraw.Draw(image)
    u = width / 224  # the unit of what is drawn
    draw.polygon([(u * px, u * py) for px, py in ((120, 150), (120, 90), (160, 60), (200, 90), (200, 150))], fill=(188, 160, 130))
    draw.polygon([(u * px, u * py) for px, py in ((112, 94), (160, 56), (208, 94))], fill=(120, 50, 40))
    for px, py in ((132, 100), (172, 100)):
        draw.rectangle([u * px, u * py, u * (px + 16), u * (py + 20)], fill=(50, 60, 80), outline=(240, 240, 235), width=int(2 * u))
    for _ in range(2500):
        px, py = rng.uniform(230, 448) * u, rng.uniform(140, 250) * u
        turn, size = rng.uniform(0, np.pi), rng.uniform(1, 4) * u
        dx, dy = size * np.cos(turn), size * np.sin(turn)
        draw.polygon([(px - dx, py - dy), (px + .3 * dy, py - .3 * dx), (px + dx, py + dy), (px - .3 * dy, py + .3 * dx)],
                     fill=tuple(int(c * rng.uniform(.4, 1)) for c in (95, 140, 60)))
    return np.asarray(image.resize((width, height), Image.LANCZOS)).astype(float)


# ---- pictures --------------------------------------------------------------------------------------

def stars(rng):
    a = np.array([6, 7, 12]) + 3 * cloudy(rng, 1.8)[..., None] * np.ones(3)
    for _ in range(500):
        y, x, light, size = rng.uniform(3, HEIGHT - 4), rng.uniform(3, WIDTH - 4), min(255 * rng.pareto(2.), 250), rng.uniform(.6, .9)
        top, left = int(y) - 3, int(x) - 3
        spot = np.exp(-((np.arange(7)[:, None] + top - y) ** 2 + (np.arange(7) + left - x) ** 2) / (2 * size * size))
        a[top:top + 7, left:left + 7] += coloured(spot * light, *rng.uniform(.8, 1, 3))
    return a


def monitor(rng, shift=0.):
    """Its stripes and rows, seen by a camera of another pitch."""
    u, v = (X + shift) * np.cos(.03) + Y * np.sin(.03), Y * np.cos(.03) - (X + shift) * np.sin(.03)
    stripes = np.stack([.7 + .5 * np.cos(2 * np.pi * (u / 2.7 - c / 3)) for c in range(3)], -1)
    return blurred(landscape(rng) * stripes * (.85 + .25 * np.cos(2 * np.pi * v / 2.7))[..., None], .45)


def tomograph(rng):
    """A slice of a body: organs, and bone whose fine texture is the picture."""
    body = np.hypot((X - WIDTH / 2) / 180, (Y - HEIGHT / 2) / 110)
    a = np.where(body < 1, 90., -20.)
    for _ in range(60):
        y, x, high, wide = rng.uniform(40, HEIGHT - 40), rng.uniform(100, WIDTH - 100), rng.uniform(3, 30), rng.uniform(3, 30)
        a[(np.hypot((X - x) / wide, (Y - y) / high) < 1) & (body < .95)] += rng.uniform(-40, 60)
    return coloured(blurred(a, .8) + 4 * cloudy(rng, .6) * (body < 1), 1, 1, 1)


def fields_from_above(rng):
    """Fields with furrows, and houses of a few pixels."""
    at = rng.uniform(0, 1, (90, 2)) * [HEIGHT, WIDTH]
    which = np.argmin((Y[..., None] - at[:, 0]) ** 2 + (X[..., None] - at[:, 1]) ** 2, -1)
    a = (rng.uniform(40, 170, (90, 3)) * [.9, 1, .7])[which]
    for n in range(90):
        turn, pitch, here = rng.uniform(0, np.pi), rng.uniform(.5, 2.2), which == n
        a[here] += (rng.uniform(2, 12) * np.cos(pitch * (X * np.cos(turn) + Y * np.sin(turn))))[here][:, None]
    for _ in range(500):
        y, x = rng.integers(2, HEIGHT - 6), rng.integers(2, WIDTH - 6)
        high, wide = rng.integers(1, 5, 2)
        a[y:y + high, x:x + wide] = rng.uniform(30, 240)
    return blurred(a + 6 * cloudy(rng, 1.)[..., None], .5)


def scanned_text(rng):
    image = Image.new("L", (2 * WIDTH, 2 * HEIGHT), 238)
    text = "It was the best of times, it was the worst of times, it was the age of wisdom. 0123456789 (a+b)^2 = c/7; " * 3
    for n in range(16):
        ImageDraw.Draw(image).text((20, 12 + 32 * n), text[7 * n:7 * n + 90], fill=30, font=font((22, 18, 26, 15)[n % 4]))
    paper = np.asarray(image) + 3 * cloudy(rng, .8, (2 * HEIGHT, 2 * WIDTH))
    return coloured(blurred(paper, 1.)[::2, ::2], 1, .985, .95)


def font(size):
    try:
        return ImageFont.truetype("DejaVuSerif.ttf", size)
    except OSError:
        return ImageFont.load_default()


def diffused(rng):
    image = Image.fromarray(clipped(landscape(rng)))
    return np.asarray(image.quantize(16, dither=Image.FLOYDSTEINBERG).convert("RGB"))


def diffused_black(rng):
    return np.asarray(Image.fromarray(clipped(landscape(rng))).convert("L").convert("1").convert("RGB"))


def ordered(rng, side=4, step=64):
    matrix = np.zeros((1, 1))
    while len(matrix) < side:
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    threshold = np.tile(matrix / side**2 - .5, (HEIGHT // side, WIDTH // side))
    return np.rint(landscape(rng) / step + threshold[..., None]) * step


def ordered_finely(rng):
    return ordered(rng, 8, 255 / 7)


def ordered_coarsely(rng):
    return ordered(rng, 2, 255 / 3)


def pixel_art(rng):
    colours = rng.integers(0, 256, (6, 3))
    return np.kron(colours[rng.integers(0, 6, (HEIGHT // 8, WIDTH // 8))], np.ones((8, 8, 1)))


def leaves(rng):
    image = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), (25, 35, 15))
    draw = ImageDraw.Draw(image)
    for _ in range(6000):
        x, y, size, turn = rng.uniform(0, 2 * WIDTH), rng.uniform(0, 2 * HEIGHT), rng.uniform(4, 14), rng.uniform(0, np.pi)
        dx, dy, light = size * np.cos(turn), size * np.sin(turn), rng.uniform(.3, 1)
        draw.polygon([(x - dx, y - dy), (x + .3 * dy, y - .3 * dx), (x + dx, y + dy), (x - .3 * dy, y + .3 * dx)],
                     fill=tuple(int(c * light) for c in (110, 160, 60)))
    return np.asarray(image.resize((WIDTH, HEIGHT), Image.LANCZOS))


def gravel(rng):
    at, light = rng.uniform(0, 1, (900, 2)) * [HEIGHT, WIDTH], rng.uniform(60, 210, 900)
    rows = []
    for y in range(HEIGHT):  # of distances to all stones
        distance = np.hypot(y - at[:, 0], X[y][:, None] - at[:, 1])
        nearest = np.partition(distance, 1)[:, :2]
        rows.append(light[distance.argmin(1)] * np.clip((nearest[:, 1] - nearest[:, 0]) / 2.5 + .2, 0, 1))
    return coloured(blurred(np.array(rows) + 12 * cloudy(rng, .5), .5), 1, .97, .92)


def cartoon(rng, times=1):
    """Flat colours, shadows with hard edges, and dark outlines."""
    image = Image.new("RGB", (4 * WIDTH * times, 4 * HEIGHT * times), (150, 190, 225))
    draw = ImageDraw.Draw(image)
    for _ in range(60 * times):
        angle = np.linspace(0, 2 * np.pi, 80)
        shape = 1 + sum(rng.uniform(-.2, .2) * np.cos(n * angle + rng.uniform(0, 7)) for n in (1, 2, 3))
        x, y, size = rng.uniform(0, image.width), rng.uniform(0, image.height), rng.uniform(40, 260)
        outline = [(x + size * s * np.cos(t), y + size * s * np.sin(t)) for s, t in zip(shape, angle)]
        colour = rng.integers(40, 256, 3)
        draw.polygon(outline, fill=tuple(int(c) for c in colour))
        draw.polygon([(px + .15 * size, max(py, y)) for px, py in outline[:40]], fill=tuple(int(c * .7) for c in colour))
        draw.line(outline, fill=(25, 20, 30), width=8, joint="curve")
    return np.asarray(image.resize((WIDTH * times, HEIGHT * times), Image.LANCZOS)).astype(float)


PICTURES = (stars, monitor, tomograph, fields_from_above, scanned_text, diffused, diffused_black, ordered, ordered_finely,
            ordered_coarsely, pixel_art, leaves, gravel, landscape, cartoon)


# ---- films -----------------------------------------------------------------------------------------
# The frames or, for those that are spoilt before, the frames as they should be and the frames that are stored.

def fade_out(rng):
    scene = landscape(rng)
    return [scene * (1 - n / FRAMES) for n in range(FRAMES)]


def fade_in(rng):
    scene = landscape(rng)
    return [16 + (scene - 16) * n / FRAMES for n in range(FRAMES)]


def flashes(rng):
    scene = landscape(rng)
    return [scene if n % 7 else 1.8 * scene + 40 for n in range(FRAMES)]


def rain(rng):
    scene, drops = landscape(rng), [(rng.uniform(0, WIDTH), rng.uniform(-HEIGHT, HEIGHT), rng.uniform(8, 20), rng.uniform(.15, .5))
                                    for _ in range(500)]
    for n in range(FRAMES):
        image = Image.new("L", (2 * WIDTH, 2 * HEIGHT))
        for x, y, length, light in drops:
            down = (y + 1.6 * length * n) % (1.2 * HEIGHT) - length
            ImageDraw.Draw(image).line([2 * x + .2 * down, 2 * down, 2 * x + .2 * down + .3 * length, 2 * (down + length)],
                                       fill=int(255 * light), width=2)
        share = smaller(image)[..., None] / 255
        yield .7 * scene * (1 - share) + 220 * share


def snow(rng):
    scene, flakes = landscape(rng), [(rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT), rng.uniform(.6, 3), rng.uniform(-1, 1))
                                     for _ in range(900)]
    for n in range(FRAMES):
        image = Image.new("L", (3 * WIDTH, 3 * HEIGHT))
        for x, y, size, wind in flakes:
            x, y = 3 * ((x + wind * n + 2 * np.sin(.2 * n + x)) % WIDTH), 3 * ((y + 1.5 * size * n) % HEIGHT)
            ImageDraw.Draw(image).ellipse([x - 1.8 * size, y - 1.8 * size, x + 1.8 * size, y + 1.8 * size], fill=230)
        share = smaller(image)[..., None] / 255
        yield .6 * scene * (1 - share) + 245 * share


def confetti(rng):
    scene = Image.fromarray(clipped(.5 * landscape(rng))).resize((2 * WIDTH, 2 * HEIGHT))
    pieces = [(rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT), rng.uniform(2, 5), rng.uniform(1, 4), rng.uniform(0, 6),
               rng.uniform(.1, .5), tuple(int(c) for c in rng.integers(30, 256, 3))) for _ in range(900)]
    for n in range(FRAMES):
        image = scene.copy()
        for x, y, size, down, turn, speed, colour in pieces:
            x, y, turn = 2 * ((x + 3 * np.sin(turn + n * speed)) % WIDTH), 2 * ((y + down * n) % HEIGHT), turn + n * speed
            across, along = np.array([np.cos(turn), np.sin(turn)]) * size, np.array([-np.sin(turn), np.cos(turn)])
            along = along * (size * abs(np.cos(1.3 * turn)) + .5)
            corners = [tuple(np.array([x, y]) + 2 * (a * across + b * along)) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            ImageDraw.Draw(image).polygon(corners, fill=colour)
        yield smaller(image)


def water(rng):
    waves = [(rng.uniform(-1, 1), rng.uniform(.1, 1), rng.uniform(0, 6)) for _ in range(40)]
    for n in range(FRAMES):
        a = sum(np.sin((.35 * u * X + .6 * v * Y) * (1 + .5 * i / 40) + np.hypot(u, v) * .385 * n + p) for i, (u, v, p) in enumerate(waves)) / 6
        slope = np.clip(np.diff(a, axis=1, prepend=a[:, :1]), -1, 1)
        shine = 400 * np.clip(slope - .35, 0, 1)
        yield np.stack([60 + 30 * a + shine, 90 + 35 * a + shine, 110 + 35 * a + shine], -1)


def starry_sky(rng):
    spots = [(rng.uniform(0, HEIGHT), rng.uniform(0, 1.3 * WIDTH), min(240, 80 * rng.pareto(1.5)), rng.uniform(.6, .9)) for _ in range(600)]
    sky = np.array([8, 9, 14]) + 2 * cloudy(rng, 1.8)[..., None]
    for n in range(FRAMES):
        a = sky.copy()
        for y, x, light, size in spots:
            x = x - .6 * n
            top, left = int(y) - 3, int(np.floor(x)) - 3
            if top < 0 or left < 0 or top + 7 > HEIGHT or left + 7 > WIDTH:
                continue
            spot = np.exp(-((np.arange(7)[:, None] + top - y) ** 2 + (np.arange(7) + left - x) ** 2) / (2 * size * size))
            a[top:top + 7, left:left + 7] += light * spot[..., None]
        yield a


def drawn_pan(rng):
    scene = cartoon(rng, 2)
    return [scene[60:60 + HEIGHT, 100 + 2 * n:100 + 2 * n + WIDTH] for n in range(FRAMES)]


def pan(rng):
    scene = landscape(rng, 2)
    return [scene[80 + n:80 + n + HEIGHT, 60 + 2 * n:60 + 2 * n + WIDTH] for n in range(FRAMES)]


def pan_over_gravel(rng):
    stones = np.tile(gravel(rng), (1, 2, 1))
    return [stones[:, 10 + n:10 + n + WIDTH] for n in range(FRAMES)]


def filmed_monitor(rng):
    seed = int(rng.integers(1 << 30))
    return [monitor(np.random.default_rng(seed), .35 * n) for n in range(FRAMES)]


def standing_monitor(rng):
    return [monitor(rng)] * FRAMES


def film_scan(rng):
    scene = landscape(rng)
    return [scene] * FRAMES, [scene + 22.5 * .4 * coloured(cloudy(rng, 0), 1, 1, 1) + 2 * rng.standard_normal(scene.shape) for _ in range(FRAMES)]


def dark_gradient(rng):
    """Light that moves slowly over a dark wall, dithered as renderers do."""
    return [18 + 22 * np.exp(-((X - 150 - 2 * n) / 130) ** 2 - ((Y - 120) / 90) ** 2)[..., None] + rng.uniform(-.5, .5, (HEIGHT, WIDTH, 3))
            for n in range(FRAMES)]


def fast_spot(rng):
    """A soft dark spot that drifts fast over a plain wall."""
    return [150 - 60 * np.exp(-((X - 60 - 9 * n) / 45) ** 2 - ((Y - 120) / 45) ** 2)[..., None] * np.ones(3) for n in range(FRAMES)]


FILMS = (fade_out, fade_in, flashes, rain, snow, confetti, water, starry_sky, drawn_pan, pan, pan_over_gravel, filmed_monitor,
         standing_monitor, film_scan, dark_gradient, fast_spot)


# ---- judging ---------------------------------------------------------------------------------------

def window_mean(a):
    """SSIM's: a Gaussian of 1.5, 11 samples wide, where it fits."""
    taps = np.exp(-np.arange(-5, 6) ** 2 / 4.5)
    taps /= taps.sum()
    a = sum(t * a[i:a.shape[0] - 10 + i] for i, t in enumerate(taps))
    return sum(t * a[:, i:a.shape[1] - 10 + i] for i, t in enumerate(taps))


def quality(truth, seen):
    """PSNR of all colours, SSIM of luma."""
    error = np.mean((truth.astype(float) - seen) ** 2)
    a, b = (p.astype(float) @ [.299, .587, .114] for p in (truth, seen))
    mean_a, mean_b = window_mean(a), window_mean(b)
    var_a, var_b = window_mean(a * a) - mean_a**2, window_mean(b * b) - mean_b**2
    both = window_mean(a * b) - mean_a * mean_b
    ssim = (2 * mean_a * mean_b + 6.5025) * (2 * both + 58.5225) / ((mean_a**2 + mean_b**2 + 6.5025) * (var_a + var_b + 58.5225))
    return 10 * np.log10(65025 / max(error, .01)), ssim.mean()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout


def enhance(options, name, made, *more):
    run(options.mona, "enhance", name, "-o", made, "-y", "--quiet", *more)


def told(what, made, base):
    print(f"{what}\t{made[0] - base[0]:.3f}\t{made[1] - base[1]:.4f}", flush=True)


def read(name):
    return np.asarray(Image.open(name).convert("RGB"))


def try_picture(options, draw):
    truth = clipped(draw(np.random.default_rng(1)))
    image = Image.fromarray(truth)
    half = image.resize((WIDTH // 2, HEIGHT // 2), Image.BICUBIC)
    made = os.path.join(options.folder, "made.png")
    for q in (None,) + (QUALITIES[1::2] if options.small else QUALITIES):
        name = os.path.join(options.folder, "in.jpg" if q else "in.png")
        what = f"{draw.__name__}, {'JPEG %d' % q if q else 'PNG'}"
        image.save(name, **({"quality": q} if q else {}))
        enhance(options, name, made, "--stages", "denoise")
        told(what, quality(truth, read(made)), quality(truth, read(name)))
        half.save(name, **({"quality": q} if q else {}))
        enhance(options, name, made)
        plain = Image.open(name).convert("RGB").resize(image.size, Image.LANCZOS)
        told(what + ", enlarged", quality(truth, read(made)), quality(truth, np.asarray(plain)))


def ffmpeg(*arguments, frames=b""):
    subprocess.run(("ffmpeg", "-v", "error", "-y") + arguments, check=True, input=frames)


def write(name, frames):
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", "25", "-i", "-", "-vf",
           "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-c:v", "ffv1", name,
           frames=b"".join(clipped(f).tobytes() for f in frames))


def compared(options, truth, name):
    luma = json.loads(run(options.mona, "compare", truth, name, "--json"))["planes"][0]
    return min(float(luma["psnr"]), 60.), luma["ssim"]


def try_film(options, draw):
    truth, seen, small, plain, made = (os.path.join(options.folder, n + ".mkv") for n in ("truth", "seen", "small", "plain", "made"))
    frames = draw(np.random.default_rng(1))
    frames = frames if isinstance(frames, tuple) else (list(frames),) * 2
    write(truth, frames[0])
    write(small, frames[1])
    for crf in COARSENESS[:1] if options.small else COARSENESS:
        for enlarged in False, True:
            filters = ("-vf", "scale=iw/2:ih/2:flags=bicubic") if enlarged else ()
            ffmpeg("-i", small, *filters, "-c:v", "libx264", "-crf", str(crf), seen)
            base = seen
            if enlarged:
                ffmpeg("-i", seen, "-vf", "scale=iw*2:ih*2:flags=lanczos", "-c:v", "ffv1", plain)
                base = plain
            enhance(options, seen, made, "-c", "ffv1", *(() if enlarged else ("--stages", "denoise")))
            told(f"{draw.__name__}, CRF {crf}{', enlarged' if enlarged else ''}", compared(options, truth, made),
                 compared(options, truth, base))


def main():
    parser = argparse.ArgumentParser(usage=inspect.cleandoc(__doc__))
    parser.add_argument("folder")
    parser.add_argument("mona")
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--films", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    for draw in () if options.films else PICTURES:
        if not options.names or draw.__name__ in options.names:
            try_picture(options, draw)
    for draw in () if options.images else FILMS:
        if not options.names or draw.__name__ in options.names:
            try_film(options, draw)


if __name__ == "__main__":
    sys.exit(main())
