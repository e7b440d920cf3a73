"""Training pairs for video: pictures that x264 has compressed, and their originals.

A crop moves over each training image. Every frame of it is reduced as in `sr_pair`, some after blur
and with noise, and all clips of one quality go through one run of ffmpeg (libx264, 4:2:0) as one
stream with a key frame at the start of each. A few frames of each clip are kept, of any type.
"""
import subprocess

import numpy as np
from skimage.filters import gaussian

import data

WIDTH, HEIGHT = 224, 160  # of the originals
FRAMES, KEPT = 12, 2  # of each clip
SPEED = 3  # at most so many pixels of the original a frame and axis
# CRF; 0 is lossless. Pictures that keep their size are restored from worse.
QUALITIES = {"sr": (0, 18, 21, 23, 25, 27, 29, 31, 33, 35),
             "denoise": (0, 18, 21, 24, 27, 30, 33, 36, 40, 45)}
NOISE = {"sr": (0.3, 6), "denoise": (0.4, 15)}  # share of clips, largest sigma


def at_least(rgb, height, width):
    """Mirrored where an image is too small for a crop."""
    pad = [(0, max(0, n - have)) for n, have in zip((height, width), rgb.shape)]
    return np.pad(rgb, pad + [(0, 0)], "symmetric")


def path(room, rng):
    """Positions of a crop that moves steadily within `room` pixels and turns back at the ends."""
    start, speed = rng.integers(room + 1), rng.integers(-SPEED, SPEED + 1)
    way = (start + speed * np.arange(FRAMES)) % max(2 * room, 1)
    return np.where(way > room, 2 * room - way, way)


def moving_clip(rgb, spec, rng):
    """(frames as they will be compressed, originals), RGB in float.

    Half of the originals are enlarged pictures: film is softer than photographs, and a network that
    saw only these sharpens what was never sharp.
    """
    if rng.random() < 0.5:
        rgb = np.clip(data.imresize(rgb, rng.uniform(1.2, 2)), 0, 255)
    rgb = at_least(rgb, HEIGHT, WIDTH)
    soft = gaussian(rgb, rng.uniform(0.4, 1.6), channel_axis=2) if rng.random() < 0.25 else rgb
    share, most = NOISE[spec.task]
    sigma = rng.uniform(1, most) if rng.random() < share else 0
    low, high = [], []
    for y, x in zip(path(rgb.shape[0] - HEIGHT, rng), path(rgb.shape[1] - WIDTH, rng)):
        window = slice(y, y + HEIGHT), slice(x, x + WIDTH)
        small = data.imresize(soft[window], 1 / spec.scale) if spec.scale > 1 else soft[window]
        low.append(small + sigma * rng.standard_normal(small.shape[:2])[..., None])
        high.append(rgb[window])
    return low, high


def planes(rgb):
    """Studio-range BT.601 Y, U, V, 4:2:0."""
    _, u, v = data.yuv420(rgb)
    return [data.to8(p) for p in (data.luma(rgb), 128 + (u - 128) * (224 / 255),
                                  128 + (v - 128) * (224 / 255))]


def through_x264(frames, quality):
    """Planes of RGB frames after compression."""
    height, width = frames[0].shape[:2]
    raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}"]
    quiet = ["ffmpeg", "-v", "error", "-threads", "1"]
    packed = subprocess.run(
        quiet + raw + ["-i", "-", "-c:v", "libx264", "-threads", "1", "-crf", str(quality),
                       "-g", str(FRAMES), "-keyint_min", str(FRAMES), "-sc_threshold", "0",
                       "-f", "h264", "-"],
        input=b"".join(p.tobytes() for f in frames for p in planes(f)),
        stdout=subprocess.PIPE, check=True).stdout
    samples = subprocess.run(
        quiet + ["-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
        input=packed, stdout=subprocess.PIPE, check=True).stdout
    area = height * width
    for frame in np.frombuffer(samples, np.uint8).reshape(len(frames), area * 3 // 2):
        u, v = frame[area:].reshape(2, height // 2, width // 2)
        yield frame[:area].reshape(height, width), u, v


def noise_level(luma):
    """What the pipeline estimates (pipeline/noise.c), and tells a denoiser."""
    a = luma.astype(np.float64)
    for _ in range(2):  # the mask is 1, -2, 1 in both directions
        a = (a[:-2] - 2 * a[1:-1] + a[2:]).T
    h, w = (n // 16 * 16 for n in a.shape)
    blocks = np.abs(a[:h, :w]).reshape(h // 16, 16, w // 16, 16).mean((1, 3))
    return np.quantile(blocks, 0.1) * (np.pi / 2) ** 0.5 / 6 / 0.89


def pair(spec, compressed, original):
    """(input, target) in the nets' layout."""
    if spec.task == "sr":
        return compressed[0][None], data.space_to_depth(data.to8(data.luma(original)), spec.scale)
    low, high = ([*data.space_to_depth(y), u, v] for y, u, v in (compressed, planes(original)))
    low.append(np.full_like(low[0], round(noise_level(compressed[0]))))
    return np.stack(low), np.stack(high)


def pairs(spec, images):
    """Yields (set index, image index, input, target) for data's images."""
    rng = np.random.default_rng(2)
    qualities = QUALITIES[spec.task]
    work = [[] for _ in qualities]
    for n, image in enumerate(images):
        for again in range(2):
            work[(2 * n + 5 * again) % len(qualities)].append(image)
    for quality, part in zip(qualities, work):
        clips = [moving_clip(np.clip(rgb, 0, 255), spec, rng) for _, _, rgb in part]
        done = list(through_x264([f for low, _ in clips for f in low], quality))
        for c, (s, i, _) in enumerate(part):
            for f in rng.choice(FRAMES, KEPT, replace=False):
                yield s, i, *pair(spec, done[c * FRAMES + f], clips[c][1][f])
