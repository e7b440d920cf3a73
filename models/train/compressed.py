# SPDX-License-Identifier: Apache-2.0
"""Training pairs for video: pictures that x264 has compressed, and their originals.

A window moves, turns and grows a little over each training image. Every frame of it is reduced as
in `sr_pair`, some with blur or noise, and all clips of one quality go through one run of ffmpeg
(libx264, 4:2:0) as one stream with a key frame at the start of each. A few frames of each clip are
kept, of any type.

  compressed.py [../../../shared/data]

prints what compression's error is at each quantiser, for pipeline/io/quantiser.c.
"""
import re
import subprocess
import sys

import numpy as np
import torch
from skimage.filters import gaussian

import data
import noise

SIZE, LARGER = (168, 240), (264, 336)  # height and width of the originals
FRAMES = 12  # of each clip
SIZES = (1, 0.6)  # of the photographs; window() makes them soft
KEPT = {"sr": 4, "denoise": 5}  # of these
SOFT = 0.75, 0.35  # share of clips that are enlarged, and the least step of them
SPEED = 3  # at most so many pixels of the original a frame and axis
# CRF; 0 is lossless. Pictures that keep their size are restored from worse.
QUALITIES = {"sr": (0, 18, 21, 23, 25, 27, 29, 31, 33, 35),
             "denoise": (0, 18, 21, 24, 27, 30, 32, 34, 38, 44)}
BLUR = {"sr": 0.25, "denoise": 0}  # share of clips that have to be sharpened too
NOISE = {"sr": (0.2, 4), "denoise": (0.6, 12)}  # share of clips to be freed of it, largest sigma
GRAIN = {"sr": (0, 0), "denoise": (0.3, 2.5)}  # share of the others whose originals have it too
GRAINY = 0.15, 6  # share of the pictures to be enlarged that have it, largest sigma: it moves with them


def window(rgb, rng, soft=SOFT, seen_size=SIZE):
    """FRAMES pictures of that size that a camera over rgb sees.

    A share of them is enlarged: film is softer than photographs, and a network that saw only these
    sharpens what was never sharp. Motion is of parts of pixels, as film's is: x264 would copy whole
    ones without an error of its own.
    """
    size = np.array(rgb.shape[:2])
    step = rng.uniform(soft[1], 0.85) if rng.random() < soft[0] else 1.0  # pixels of rgb in one
    room = np.maximum(size - step * np.array(seen_size), 0) / 2
    centre = (size - 1) / 2 + rng.uniform(-room, room)
    way = rng.uniform(-1, 1, 2)
    time = np.arange(FRAMES)[:, None, None] - FRAMES / 2
    y, x = np.mgrid[0:seen_size[0], 0:seen_size[1]] * 1.0
    y, x = y - y[-1, 0] / 2, x - x[0, -1] / 2
    scale = step * np.exp(0.004 * rng.standard_normal() * time)
    angle = 0.004 * rng.standard_normal() * time
    seen = [scale * (y * np.cos(angle) + x * np.sin(angle)),
            scale * (x * np.cos(angle) - y * np.sin(angle))]
    seen = [s + c + v * abs(v) * SPEED * step * time for s, c, v in zip(seen, centre, way)]
    grid = np.stack([2 * s / (n - 1) - 1 for s, n in zip(seen[::-1], size[::-1])], 3)
    image = torch.from_numpy(np.ascontiguousarray(rgb.transpose(2, 0, 1), np.float32))
    frames = torch.nn.functional.grid_sample(
        image[None].expand(FRAMES, -1, -1, -1), torch.from_numpy(grid).float(), "bicubic",
        "reflection", align_corners=True)
    return np.clip(frames.numpy().transpose(0, 2, 3, 1), 0, 255)


def moving_clip(rgb, spec, rng):
    """(planes of the frames as they will be compressed, of their originals)"""
    if spec.task == "sr" and rng.random() < GRAINY[0]:
        grain = noise.any_grain(rng)
        rgb = rgb + rng.uniform(0, GRAINY[1]) * noise.plane(rgb.shape[:2], grain, rng)[..., None]
    high = window(rgb, rng, seen_size=LARGER if spec.scale > 2 else SIZE)  # patches fit into both
    low = high
    if rng.random() < BLUR[spec.task]:
        sigma = rng.uniform(0.4, 1.6)
        low = [gaussian(frame, sigma, channel_axis=2) for frame in low]
    if spec.scale > 1:
        low = [data.imresize(frame, 1 / spec.scale) for frame in low]

    grain = noise.any_grain(rng)

    def noisy(frames, sigma):
        bright, colour = rng.random(), rng.random() * (rng.random() < 0.5)
        done = []
        for f in frames:
            grey, *rgb = (noise.plane(f.shape[:2], grain, rng) for _ in range(4))
            much = sigma * noise.gain(data.luma(f), bright)
            done.append(f + np.stack([much * (grey + colour * own) for own in rgb], 2))
        return done

    if rng.random() < NOISE[spec.task][0]:
        low = noisy(low, rng.uniform(1, NOISE[spec.task][1]))
    elif rng.random() < GRAIN[spec.task][0]:
        low = high = noisy(high, rng.uniform(0, GRAIN[spec.task][1]))
    return [planes(f) for f in low], [planes(f) for f in high]


def planes(rgb):
    """Studio-range BT.601 Y, U, V, 4:2:0."""
    _, u, v = data.yuv420(rgb)
    return [data.to8(p) for p in (data.luma(rgb), 128 + (u - 128) * (224 / 255),
                                  128 + (v - 128) * (224 / 255))]


def through_x264(frames, quality):
    """(planes, mean quantiser) of frames after compression."""
    height, width = frames[0][0].shape
    raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}"]
    quiet = ["ffmpeg", "-nostats", "-threads", "1", "-v"]
    done = subprocess.run(
        quiet + ["debug"] + raw + ["-i", "-", "-c:v", "libx264", "-threads", "1", "-crf", str(quality),
                                   "-g", str(FRAMES), "-keyint_min", str(FRAMES),
                                   "-sc_threshold", "0", "-f", "h264", "-"],
        input=b"".join(p.tobytes() for f in frames for p in f),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    samples = subprocess.run(
        quiet + ["error", "-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
        input=done.stdout, stdout=subprocess.PIPE, check=True).stdout
    quantisers, clip = {}, -1
    # What x264 tells, in the order it codes; places are counted from each key frame, in fields.
    for value, kind, place in re.findall(r"QP=([\d.]+) NAL=\d Slice:(\w) Poc:(\d+)",
                                         done.stderr.decode()):
        clip += kind == "I" and place == "0"
        quantisers[clip * FRAMES + int(place) // 2] = float(value)
    area = height * width
    for n, frame in enumerate(np.frombuffer(samples, np.uint8).reshape(len(frames), area * 3 // 2)):
        u, v = frame[area:].reshape(2, height // 2, width // 2)
        yield (frame[:area].reshape(height, width), u, v), quantisers[n]


def error_of(quantiser):
    """What compression is taken to have left of error (pipeline/io/quantiser.c)."""
    return min(0.18 * 2**(quantiser / 6), 0.5 * 2**(quantiser / 10.6))


def has_noise(was, original):
    """Whether noise was added, to be removed, to the planes of a frame before they were compressed."""
    return not np.array_equal(was[0], original[0])


def pair(spec, compressed, quantiser, was, original, rng):
    """(input, target) in the nets' layout. was: what was compressed."""
    if spec.task == "sr":
        return compressed[0][None], data.space_to_depth(original[0], spec.scale)
    low, high = ([*data.space_to_depth(y), u, v] for y, u, v in (compressed, original))
    level = error_of(quantiser)
    if has_noise(was, original):
        level = max(level, noise.told(noise.rms(compressed[0] - original[0].astype(float)), False, rng))
    low.append(np.full_like(low[0], round(level)))
    return np.stack(low), np.stack(high)


def clips(spec, images):
    """Yields (part, kind, [(planes, quantiser) of each compressed frame], [planes of what was compressed],
    [planes of the originals]) for data's images."""
    rng = np.random.default_rng(2)
    qualities = QUALITIES[spec.task]
    work = [[] for _ in qualities]
    for n, image in enumerate(images):  # sizes take turns too, so the order of qualities shifts
        work[(3 * n + n // len(qualities)) % len(qualities)].append(image)
    for quality, work_part in zip(qualities, work):
        made = [moving_clip(np.clip(rgb, 0, 255), spec, rng) for _, _, rgb in work_part]
        done = list(through_x264([f for low, _ in made for f in low], quality))
        for c, ((part, kind, _), (low, high)) in enumerate(zip(work_part, made)):
            yield part, "drawn film" if kind == "drawn" else "film", done[c * FRAMES:(c + 1) * FRAMES], low, high


def pairs(spec, folder, folders, every):
    """Yields (part, kind, input, target)."""
    rng = np.random.default_rng(3)
    for part, kind, done, low, high in clips(spec, data.train_images(folder, SIZES, folders, every)):
        for f in rng.choice(FRAMES, KEPT[spec.task], replace=False):
            yield part, kind, *pair(spec, *done[f], low[f], high[f], rng)


def main():
    torch.set_num_threads(1)
    folder = sys.argv[1] if len(sys.argv) > 1 else data.DEFAULT_DATA
    spec = nets.NETS["denoise_fast_video"]
    images = [x for n, x in enumerate(data.train_images(folder, SIZES)) if n % 23 == 0]
    rows = []
    for _, _, done, low, high in clips(spec, images):
        if not has_noise(low[0], high[0]):
            rows += [(q, np.mean((c[0] - was[0].astype(float)) ** 2))
                     for (c, q), was in zip(done, low)]
    quantiser, square = np.array(rows).T
    for q in range(16, 52, 3):
        near = square[np.abs(quantiser - q) <= 1.5]
        if len(near):
            print(f"{q:3d} {len(near):5d} frames {near.mean()**0.5:6.2f}, expected {error_of(q):6.2f}")


if __name__ == "__main__":
    import nets
    main()
