# SPDX-License-Identifier: Apache-2.0
"""Images for training and for measuring.

Planes are float in code values, 0..255; stored sets are uint8. Training reads train/photos and nothing else:
photographs under free licences (its LICENSES.md), shown at several sizes, since they are sharper than most of what
networks meet. Those named in held_out.txt are for validation only.
"""
import functools
import glob
import multiprocessing
import os

import numpy as np
from PIL import Image

import anime
import camera
import compressed
import rendered

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
DEFAULT_DATA = os.path.join(ROOT, "..", "shared", "data")

SIZES = (1, 0.6, 1.5)  # that each photograph is shown at
FOLDERS = ("photos",)  # of train, that a recipe takes photographs from if it does not say
HELD_OUT = os.path.join(HERE, "held_out.txt")


def photos(data):
    return os.path.join(data, "train", "photos")


def photographs(data, folders, every):
    """Paths of all in photos, with those held out, or of every so many-th, by name, of these and other windows."""
    kept = {os.path.basename(path).rpartition("_")[0] for path in held_out(data)}
    found = [path for folder in folders for path in glob.glob(os.path.join(data, "train", folder, "*.webp"))
             if folder == "photos" or os.path.basename(path).rpartition("_")[0] not in kept]
    return sorted(found, key=os.path.basename)[every - 1::every]


def held_out(data):
    """Paths of the photographs that no training sees."""
    with open(HELD_OUT) as f:
        return [os.path.join(photos(data), line) for line in f.read().split()]


def read(path):
    """RGB, or grey where it is stored so; uint8."""
    image = Image.open(path)
    return np.asarray(image if image.mode == "L" else image.convert("RGB"))


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


def shown(path, sizes):
    """[(kind, RGB float image)] of a photograph, or of the drawn picture of that number."""
    if isinstance(path, int):
        return [("drawn", rendered.picture(np.random.default_rng([5, path])))]
    rgb = read(path)[..., :3].astype(np.float64)
    return [(size, resized(rgb, size)) for size in sizes]


def shown_as(pair, path, sizes):
    return [(kind, *pair(rgb)) for kind, rgb in shown(path, sizes)]


def in_parallel(work, data, folders=FOLDERS, every=1):
    """Yields ("train" or "held_out", *row) for each row that `work` makes of each photograph, then of each drawn
    picture."""
    files, kept = photographs(data, folders, every), held_out(data)
    if every == 1 and not set(kept) < set(files):
        raise SystemExit(f"{photos(data)}: expected the pictures that models/CREDITS.md names, "
                         f"found {len(files)} of 348")
    files += range(rendered.COUNT)
    with multiprocessing.Pool() as pool:
        for path, made in zip(files, pool.imap(work, files)):
            yield from (("held_out" if path in kept else "train", *row) for row in made)


def train_images(data, sizes=SIZES, folders=FOLDERS, every=1):
    """("train" or "held_out", kind, RGB float image) of photographs in each size, then of drawn pictures."""
    return in_parallel(functools.partial(shown, sizes=sizes), data, folders, every)


def sr_pair(rgb, scale):
    """(low, high): studio luma 1 x h x w, and its packed original n^2 x h x w; both 8-bit."""
    y = luma(rgb)
    y = y[:y.shape[0] // scale * scale, :y.shape[1] // scale * scale]
    return to8(imresize(y, 1 / scale))[None], to8(space_to_depth(y, scale))


def camera_pairs(path):
    """A picture merely halved, and a photograph as cameras leave it, too."""
    [(kind, rgb)] = shown(path, (1,))
    made = [(kind, *sr_pair(rgb, 2))]
    if kind != "drawn":
        made += [("camera", *pair) for pair in camera.pairs(rgb, [6, *os.path.basename(path).encode()])]
    return made


def clean_planes(rgb):
    """Packed 4:2:0 planes, full range, 6 x h x w."""
    y, u, v = yuv420(rgb)
    planes = to8(np.concatenate([space_to_depth(y), u[None], v[None]]))
    return planes, planes


def pairs(spec, data, folders, every):
    """Yields (part, kind, input, target). A kind is a size of the photographs, drawn pictures, or film of
    either."""
    if spec.anime:
        yield from anime.pairs(every)
        return
    if spec.video:
        yield from compressed.pairs(spec, data, folders, every)
        return
    if spec.camera:
        yield from in_parallel(camera_pairs, data, folders, every)
        return
    pair = functools.partial(sr_pair, scale=spec.scale) if spec.task == "sr" else clean_planes
    yield from in_parallel(functools.partial(shown_as, pair, sizes=SIZES), data, folders, every)


def load_training(spec, data, cache, folders=FOLDERS, every=1):
    """{"train": [(kind, (input, target)), ...], "held_out": [...]}, cached as one file."""
    name = f"sr_x{spec.scale}" if spec.task == "sr" else "denoise"
    name += "_video" * spec.video + "_anime" * spec.anime + "_camera" * spec.camera
    path = os.path.join(cache, "-".join([*folders, name]) + f"-{every}" * (every > 1) + ".npz")
    if not os.path.exists(path):
        arrays = {}
        for n, (part, kind, low, high) in enumerate(pairs(spec, data, folders, every)):
            arrays[f"{part}/{kind}/{n}/in"] = low
            if high is not low:
                arrays[f"{part}/{kind}/{n}/out"] = high
        np.savez(path + ".part.npz", **arrays)
        os.replace(path + ".part.npz", path)
    out = {"train": [], "held_out": []}
    with np.load(path) as z:
        for key in z.files:
            if key.endswith("/in"):
                part, kind, _, _ = key.split("/")
                low = z[key]
                high = z[key[:-2] + "out"] if key[:-2] + "out" in z.files else low
                out[part].append((kind, (low, high)))
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


def patches(images, spec, count, size, rng):
    """`count` random (input, target) patches as two float32 arrays in code values."""
    low, high = [], []
    for _ in range(count):
        way = int(rng.integers(8))
        a, b = crop(images[rng.integers(len(images))], size, rng)
        low.append(flip(a, way, 1 if a.shape[0] == 1 else spec.block))
        high.append(flip(b, way, spec.block))
    return np.stack(low).astype(np.float32), np.stack(high).astype(np.float32)
