"""Moving sequences for denoisers that see what they made of the frame before.

A sequence is a crop of a training image that stands still or moves steadily, or stands still behind
a patch of another image that moves; some are cut to another sequence, some grow brighter or darker.
Each frame has noise of its own. A share is film that x264 has compressed (compressed.py).
"""
import os

import numpy as np

import compressed
import data

TRAINED = 3  # frames through which errors are traced back
BEFORE = (0, 0, 1, 3, 6)  # frames before these, which only make the first one's predecessor
STILL, BEHIND = 0.45, 0.25  # shares of sequences that stand still, or do so behind a moving patch
CUT, FADE = 0.12, 0.08
SPEED = 4  # at most so many packed pixels a frame and axis
COMPRESSED = 0.3  # share of the batch
FILMS, FILM_SIZE = 30, 80  # clips of each quality, their side in packed pixels


def reduced(planes):
    """Packed planes at half the size: what moved by two pixels then moves by one."""
    small = planes[..., 4:, :, :]
    small = (small[..., ::2, ::2] + small[..., 1::2, ::2] + small[..., ::2, 1::2]
             + small[..., 1::2, 1::2]) / 4
    return np.concatenate([data.space_to_depth(planes[..., :4, :, :].mean(-3)), small], -3)


def path(room, speed, frames, rng):
    """Positions within `room` that move by `speed` a frame and turn back at the ends."""
    way = (rng.integers(room + 1) + speed * np.arange(frames)) % max(2 * room, 1)
    return np.where(way > room, 2 * room - way, way)


def pan(image, size, frames, still, rng):
    """`frames` x 6 x size x size of one image, in float."""
    half = min(image.shape[1:]) >= 2 * size + 8 and rng.random() < 0.5
    size *= 1 + half
    speeds = (0, 0) if still else rng.integers(-SPEED, SPEED + 1, 2)
    tracks = (path(n - size, speed, frames, rng) for n, speed in zip(image.shape[1:], speeds))
    crops = np.stack([image[:, y:y + size, x:x + size] for y, x in zip(*tracks)]).astype(np.float32)
    return reduced(crops) if half else crops


def behind_patch(clips, rng):
    """The first clip, and the second in an ellipse that moves over it."""
    back, front = clips
    frames, _, size, _ = back.shape
    centre, speed = rng.uniform(0, size, 2), rng.uniform(-2, 2, 2)
    radius = rng.uniform(size / 8, size / 3, 2)
    y, x = np.mgrid[:size, :size]
    out = back.copy()
    for t in range(frames):
        cy, cx = np.rint(centre + t * speed)
        inside = ((y - cy) / radius[0])**2 + ((x - cx) / radius[1])**2 < 1
        out[t][:, inside] = front[t][:, inside]
    return out


def clean_sequence(sets, size, frames, rng):
    shares = [s[2]["denoise"] for s in data.SETS]

    def clip(still):
        images = sets[rng.choice(len(sets), p=shares)]
        return pan(images[rng.integers(len(images))][0], size, frames, still, rng)

    def scene():
        kind = rng.random()
        if kind < BEHIND:
            return behind_patch((clip(True), clip(False)), rng)
        return clip(kind < BEHIND + STILL)

    out = scene()
    if rng.random() < CUT:
        first = rng.integers(1, frames)
        out[first:] = scene()[first:]
    if rng.random() < FADE:
        gain = 1 + rng.uniform(-0.06, 0.06) * np.arange(frames)[:, None, None, None]
        out[:, :4] *= gain
        np.clip(out, 0, 255, out=out)
    way = int(rng.integers(8))
    return np.stack([data.flip(frame, way, 2) for frame in out])


def noisy_sequences(sets, count, size, frames, rng):
    """(input, target, level): frames x count x 7 and x 6 x size x size, and the level of each."""
    clean = np.stack([clean_sequence(sets, size, frames, rng) for _ in range(count)])
    # The frames of a sequence on top of one another: a tall picture with one kind of noise.
    tall = clean.transpose(0, 2, 1, 3, 4).reshape(count, 6, frames * size, size)
    noisy, level, tall = data.add_noise(tall, rng)

    def apart(planes):
        return planes.reshape(count, -1, frames, size, size).transpose(2, 0, 1, 3, 4)

    plane = np.broadcast_to(level[:, None, None, None], noisy[:, :1].shape)
    return apart(np.concatenate([noisy, plane], 1)), apart(tall), level


def film_sequences(film, count, size, frames, rng):
    """The same of compressed film: (input, target, error left by compression)."""
    low, high, error = [], [], []
    for clip in rng.integers(len(film), size=count):
        a, b = film[clip]
        way = int(rng.integers(8))
        y, x = (rng.integers(n - size + 1) for n in a.shape[2:])
        start = rng.integers(len(a) - frames + 1)
        window = slice(start, start + frames), slice(None), slice(y, y + size), slice(x, x + size)
        low.append([data.flip(f, way, 2) for f in a[window]])
        high.append([data.flip(f, way, 2) for f in b[window]])
        d = np.float32(a[window][:, :4]) - b[window][:, :4]
        error.append(np.sqrt(np.mean(d * d)))
    low, high = (np.array(planes, np.float32).swapaxes(0, 1) for planes in (low, high))
    return low, high, np.array(error)


def batch(sets, film, count, size, rng):
    """(input, target, level, frames before those that are trained)"""
    before = int(rng.choice(BEFORE))
    frames = before + TRAINED
    packed = int(rng.binomial(count, COMPRESSED))
    parts = []
    if packed:
        parts.append(film_sequences(film, packed, size, frames, rng))
    if packed < count:
        parts.append(noisy_sequences(sets, count - packed, size, frames, rng))
    low, high, level = zip(*parts)
    return np.concatenate(low, 1), np.concatenate(high, 1), np.concatenate(level), before


def make_film(sets, rng):
    """Yields (compressed, original): frames x 7 and x 6 planes, in studio range."""
    for quality in compressed.QUALITIES["denoise"][1:]:  # lossless film is no film
        clean = [np.rint(data.studio(clean_sequence(sets, FILM_SIZE, compressed.FRAMES, rng)))
                 for _ in range(FILMS)]
        share, most = compressed.NOISE["denoise"]
        sigma = [rng.uniform(1, most) if rng.random() < share else 0 for _ in clean]
        noisy = (frame + s * rng.standard_normal(frame.shape)
                 for frames, s in zip(clean, sigma) for frame in frames)
        done = compressed.through_x264([(data.depth_to_space(data.to8(f[:4])), *data.to8(f[4:]))
                                        for f in noisy], quality)
        for frames in clean:
            low = [next(done) for _ in frames]
            level = np.mean([compressed.noise_level(y) for y, _, _ in low])
            yield np.stack([[*data.space_to_depth(y), u, v, np.full_like(u, round(level))]
                            for y, u, v in low]), data.to8(frames)


def load_film(sets, cache):
    """What make_film makes of a task's images, kept as one file."""
    kept = os.path.join(cache, "film-denoise.npz")
    if not os.path.exists(kept):
        arrays = {}
        for n, (low, high) in enumerate(make_film(sets, np.random.default_rng(3))):
            arrays[f"{n}/in"], arrays[f"{n}/out"] = low, high
        np.savez(kept + ".part.npz", **arrays)
        os.replace(kept + ".part.npz", kept)
    with np.load(kept) as z:
        return [(z[f"{n}/in"], z[f"{n}/out"]) for n in range(len(z.files) // 2)]
