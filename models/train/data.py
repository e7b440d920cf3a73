# SPDX-License-Identifier: Apache-2.0
"""Images for training and for measuring, and the damage the nets learn to undo.

Planes are float in code values, 0..255; stored sets are uint8. Only `train_images` feeds training;
it never reads the test folder. BSDS500 comes as JPEG, so for super-resolution it is reduced first:
nets trained on it as it is learn its compression noise. Denoisers see it as it is too: what noise
is added is far stronger, and reduced pictures have more detail than those of cameras.
"""
import glob
import os

import numpy as np
from skimage import io

import compressed

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DEFAULT_DATA = os.path.join(ROOT, "..", "shared", "data")

# Share of training patches per set and task. T91 is small but was never compressed, so it counts
# for more in super-resolution.
SETS = (
    ("bsds500", "train/bsds500/*/*.jpg", {"sr": 0.55, "denoise": 0.8}),
    ("t91", "train/t91/*.png", {"sr": 0.25, "denoise": 0.1}),
    ("sunhays80", "train/sunhays80/*.png", {"sr": 0.2, "denoise": 0.1}),
)
HELD_OUT = 4  # first images of each set, for validation only


# ---- colour ------------------------------------------------------------------------------------

def luma(rgb):
    """BT.601 studio-range luma, 16..235, of an RGB or grey uint8 image; not rounded."""
    a = rgb.astype(np.float64)
    if a.ndim == 2:
        return 16 + a * (219 / 255)
    return 16 + a[..., :3] @ (np.array([65.481, 128.553, 24.966]) / 255)


def grey(rgb):
    """Full-range grey, 0..255, as the grey denoising benchmarks use; rounded to 8 bit."""
    return rgb.astype(np.float64) if rgb.ndim == 2 else \
        to8(rgb.astype(np.float64)[..., :3] @ np.array([0.2989, 0.5870, 0.1140])).astype(np.float64)


def yuv420(rgb):
    """Full-range BT.601 (JPEG) Y, U, V of an RGB image; chroma is the mean of each 2x2 block."""
    a = rgb[:rgb.shape[0] // 2 * 2, :rgb.shape[1] // 2 * 2].astype(np.float64)
    y = a @ np.array([0.299, 0.587, 0.114])
    small = a.reshape(a.shape[0] // 2, 2, a.shape[1] // 2, 2, 3).mean((1, 3))
    u = 128 + small @ np.array([-0.168736, -0.331264, 0.5])
    v = 128 + small @ np.array([0.5, -0.418688, -0.081312])
    return y, u, v


def studio(planes):
    """Full-range packed planes (four of luma, then U, V) to studio range."""
    out = planes * (224 / 255) + (128 - 128 * 224 / 255)
    out[..., :4, :, :] = planes[..., :4, :, :] * (219 / 255) + 16
    return out


def to8(a):
    return np.clip(a, 0, 255).round().astype(np.uint8)


# ---- resampling and packing --------------------------------------------------------------------

def cubic(x):
    x = np.abs(x)
    return np.where(x <= 1, 1.5 * x**3 - 2.5 * x**2 + 1,
                    np.where(x <= 2, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2, 0))


def resize_rows(a, scale):
    """Bicubic from n rows to ceil(n * scale), borders mirrored; one axis of MATLAB's imresize."""
    n = a.shape[0]
    shrink = min(scale, 1.0)  # the kernel widens when reducing: antialiasing
    width = 4 / shrink
    centre = np.arange(1, int(np.ceil(n * scale - 1e-9)) + 1) / scale + 0.5 * (1 - 1 / scale)
    taps = np.floor(centre - width / 2)[:, None] + np.arange(int(np.ceil(width)) + 2)
    weight = cubic(shrink * (centre[:, None] - taps))
    weight /= weight.sum(1, keepdims=True)
    mirror = np.r_[0:n, n - 1:-1:-1]
    source = mirror[np.mod(taps - 1, 2 * n).astype(int)]
    out = 0
    for k in range(taps.shape[1]):
        out = out + weight[:, k].reshape(-1, *[1] * (a.ndim - 1)) * a[source[:, k]]
    return out


def imresize(a, scale):
    """Antialiased bicubic of H x W or H x W x C, as MATLAB's imresize(a, scale)."""
    return resize_rows(resize_rows(a, scale).swapaxes(0, 1), scale).swapaxes(0, 1)


def space_to_depth(a, block=2):
    """... x nH x nW to ... x n^2 x H x W, order (dy, dx); what is left over is cut off."""
    h, w = a.shape[-2] // block, a.shape[-1] // block
    a = a[..., :block * h, :block * w].reshape(*a.shape[:-2], h, block, w, block)
    n = a.ndim
    return a.transpose(*range(n - 4), n - 3, n - 1, n - 4, n - 2) \
        .reshape(*a.shape[:-4], block**2, h, w)


def depth_to_space(a, block=2):
    """... x n^2 x H x W to ... x nH x nW."""
    h, w = a.shape[-2:]
    n = a.ndim - 3
    a = a.reshape(*a.shape[:-3], block, block, h, w).transpose(*range(n), n + 2, n, n + 3, n + 1)
    return a.reshape(*a.shape[:-4], block * h, block * w)


# ---- training sets -----------------------------------------------------------------------------

def resized(image, scale):
    return image if scale == 1 else np.clip(imresize(image, scale), 0, 255)


def train_images(data, spec):
    """Yields (set index, image index, RGB float image), JPEG sources in several sizes.

    Where three or four pixels become one, little is left of what JPEG does, so that their own size
    will do too. Denoisers also get a copy of each that is reduced and then enlarged to about its
    first size: enlarged frames of video are softer than photographs.
    """
    for s, (name, pattern, _) in enumerate(SETS):
        files = sorted(glob.glob(os.path.join(data, pattern)))
        if not files:
            raise SystemExit(f"{os.path.join(data, pattern)}: no training images found")
        for i, f in enumerate(files):
            rgb = io.imread(f)[..., :3].astype(np.float64)
            if name != "bsds500":
                yield s, i, rgb
            elif spec.task == "sr":  # two sizes of each, spread over 0.5-0.7, or 0.7-0.8 and its own
                far = spec.scale > 2 and not spec.video
                for scale in (0.7 + 0.02 * (i % 5), 1) if far else \
                        (0.5 + 0.02 * (i % 5), 0.6 + 0.025 * (i % 5)):
                    yield s, i, resized(rgb, scale)
            else:
                yield s, i, rgb
                yield s, i, resized(rgb, 0.6 + 0.025 * (i % 5))
                yield s, i, resized(resized(rgb, 0.7), 1.4)


def sr_pair(rgb, scale):
    """(low, high): studio luma 1 x h x w, and its packed original n^2 x h x w; both 8-bit."""
    y = luma(rgb)
    y = y[:y.shape[0] // scale * scale, :y.shape[1] // scale * scale]
    return to8(imresize(y, 1 / scale))[None], to8(space_to_depth(y, scale))


def clean_planes(rgb):
    """Packed 4:2:0 planes, full range, 6 x h x w."""
    y, u, v = yuv420(rgb)
    planes = to8(np.concatenate([space_to_depth(y), u[None], v[None]]))
    return planes, planes


def pairs(spec, images):
    """Yields (set index, image index, input, target) of the images."""
    if spec.video:
        yield from compressed.pairs(spec, images)
        return
    for s, i, rgb in images:
        yield s, i, *(sr_pair(rgb, spec.scale) if spec.task == "sr" else clean_planes(rgb))


def load_training(spec, data, cache):
    """{"train": [[(input, target), ...] per set], "held_out": [...]}, cached as one file."""
    kind = f"sr_x{spec.scale}" if spec.task == "sr" else "denoise"
    kind += "_video" if spec.video else ""
    path = os.path.join(cache, f"images-{kind}.npz")
    if not os.path.exists(path):
        arrays = {}
        for n, (s, i, low, high) in enumerate(pairs(spec, train_images(data, spec))):
            part = "held_out" if i < HELD_OUT else "train"
            arrays[f"{part}/{s}/{n}/in"] = low
            if high is not low:
                arrays[f"{part}/{s}/{n}/out"] = high
        np.savez(path + ".part.npz", **arrays)
        os.replace(path + ".part.npz", path)
    out = {"train": [[] for _ in SETS], "held_out": [[] for _ in SETS]}
    with np.load(path) as z:
        for key in z.files:
            if key.endswith("/in"):
                part, s, n, _ = key.split("/")
                low = z[key]
                high = z[key[:-2] + "out"] if key[:-2] + "out" in z.files else low
                out[part][int(s)].append((low, high))
    return out


def crop(pair, size, rng):
    """The same random square of input and target."""
    height, width = pair[0].shape[-2:]
    y, x = rng.integers(height - size + 1), rng.integers(width - size + 1)
    return [a[:, y:y + size, x:x + size] for a in pair]


def flip(planes, way, block):
    """One of 8 flips and rotations; the first block^2 planes are one image and move with it."""
    count = block**2
    order = np.arange(count).reshape(block, block)
    if way & 1:
        planes, order = planes[:, ::-1], order[::-1]
    if way & 2:
        planes, order = planes[:, :, ::-1], order[:, ::-1]
    if way & 4:
        planes, order = planes.transpose(0, 2, 1), order.T
    return np.concatenate([planes[order.ravel()], planes[count:]]) if block > 1 else planes


def patches(sets, spec, count, size, rng):
    """`count` random (input, target) patches as two float32 arrays in code values."""
    low, high = [], []
    shares = [s[2][spec.task] for s in SETS]
    for s in rng.choice(len(SETS), count, p=shares):
        way = int(rng.integers(8))
        a, b = crop(sets[s][rng.integers(len(sets[s]))], size, rng)
        low.append(flip(a, way, 1 if a.shape[0] == 1 else spec.block))
        high.append(flip(b, way, spec.block))
    return np.stack(low).astype(np.float32), np.stack(high).astype(np.float32)


# ---- noise -------------------------------------------------------------------------------------

def dct8():
    k, n = np.mgrid[0:8, 0:8]
    m = np.cos(np.pi * (2 * n + 1) * k / 16) * 0.5
    m[0] *= 0.5**0.5
    return m.astype(np.float32)


DCT8 = dct8()


def block_compress(plane, step, rng):
    """Quantise 8x8 DCT blocks with one step and a dead zone, as video codecs do."""
    shift = rng.integers(8, size=2)
    a = np.roll(plane, shift, (0, 1))
    h, w = a.shape
    b = a.reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
    c = DCT8 @ b @ DCT8.T
    c = np.sign(c) * np.floor(np.abs(c) / step + 0.35) * step
    b = DCT8.T @ c @ DCT8
    return np.roll(b.transpose(0, 2, 1, 3).reshape(h, w), -shift, (0, 1))


def rms(a):
    return float(np.sqrt(np.mean(np.square(a))))


def add_noise(clean, rng):
    """Returns (noisy planes, level per patch, clean planes); all 8-bit values held in float.

    Mostly white Gaussian noise, with equal, less or no noise in chroma; some of it growing with
    brightness as sensor noise does, some of it compressed. The level is what the net is told.
    """
    count = len(clean)
    clean = clean.copy()
    for n in range(count):
        if rng.random() < 0.5:
            clean[n] = studio(clean[n])
        if rng.random() < 0.25:
            clean[n, 4:] = 128
    np.rint(clean, out=clean)
    level = np.where(rng.random(count) < 0.06, 0, 60 * rng.random(count) ** 1.2).round()
    chroma = np.where(rng.random(count) < 0.4, 1, np.where(rng.random(count) < 0.3, 0,
                                                           rng.random(count)))
    kind = rng.random(count)
    noise = rng.standard_normal(clean.shape, np.float32)
    noise[:, 4:] *= chroma[:, None, None, None]
    noisy = clean.copy()
    for n in range(count):
        if kind[n] < 0.05:  # sensor noise: variance grows with brightness
            bright = clean[n, :4].mean(0) / 255
            gain = np.sqrt(0.25 + 1.5 * bright)
            noisy[n] += noise[n] * gain * (level[n] / max(rms(gain), 0.1))
        elif kind[n] < 0.1:  # faint noise, then compression; the level is the error that remains
            noisy[n] += noise[n] * min(level[n], 10)
            step = 4 + 36 * rng.random() ** 2
            noisy[n, :4] = space_to_depth(block_compress(depth_to_space(noisy[n, :4]), step, rng))
            for c in (4, 5):
                noisy[n, c] = block_compress(noisy[n, c], step, rng)
            level[n] = min(round(rms(noisy[n, :4] - clean[n, :4])), 60)
        else:
            noisy[n] += noise[n] * level[n]
    np.clip(np.rint(noisy, out=noisy), 0, 255, out=noisy)
    return noisy, level, clean
