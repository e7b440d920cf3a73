# SPDX-License-Identifier: Apache-2.0
"""Noise that networks learn to remove, and what they are told of it.

Noise is seldom independent from sample to sample: a phone interpolates its sensor's mosaic, an editor
reduces or enlarges, a camera compresses, grain is larger than a pixel. GRAINS has a row for each kind. The
level told is the noise's standard deviation, whatever its kind, not quite exactly, as mona's estimates are.
"""
import numpy as np

MOST = 50  # steps that mona tells of at most


def rms(a):
    return float(np.sqrt(np.mean(np.square(a))))


# ---- kinds of noise ----------------------------------------------------------------------------

def blurred(noise, sigma):
    """Along the last two axes, by a Gaussian; borders wrap around, which noise does not mind."""
    x = np.arange(-3, 4)
    taps = np.exp(-x**2 / (2 * sigma**2 + 1e-9))
    for axis in (-1, -2):
        noise = sum(t * np.roll(noise, k, axis) for t, k in zip(taps / taps.sum(), x))
    return noise


def enlarged(noise, times):
    """Noise of a picture that was `times` smaller, linearly between its samples."""
    small = noise[..., ::times, ::times]
    at = np.arange(max(noise.shape[-2:])) / times
    for axis in (-1, -2):
        low = np.floor(at[:noise.shape[axis]]).astype(int)
        part = (at[:noise.shape[axis]] - low).astype(np.float32)
        part = part if axis == -1 else part[:, None]
        small = small.take(low, axis, mode="wrap") * (1 - part) + small.take(low + 1, axis, mode="wrap") * part
    return small


def demosaiced(noise):
    """Red, green and blue that a sensor sees through a Bayer pattern, linearly between its samples."""
    y, x = np.mgrid[0:noise.shape[-2], 0:noise.shape[-1]] % 2
    out = []
    for seen in (y & x, y ^ x, (1 - y) & (1 - x)):
        a, b = noise * seen, seen * 1.0
        for axis in (-1, -2):
            a, b = (np.roll(p, 1, axis) + 2 * p + np.roll(p, -1, axis) for p in (a, b))
        out.append(a / b)
    return np.stack(out)


WHITE = 0.4  # share of white noise, unless a recipe says another
# name: (share of what is not white, values of its parameter or None)
GRAINS = {"white": (0, None), "blurred": (0.5, (0.35, 0.5, 0.6, 0.75, 1.0, 1.2)), "enlarged": (0.25, (2, 4)),
          "mosaic": (0.25, None)}
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
COLOUR = np.array([[-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)


def any_grain(rng, white=WHITE):
    """(name, parameter)"""
    shares = [share * (1 - white) for share, _ in GRAINS.values()]
    shares[0] = white
    name = rng.choice(list(GRAINS), p=shares)
    values = GRAINS[name][1]
    return name, None if values is None else values[rng.integers(len(values))]


def plane(shape, grain, rng):
    """Noise of luma, of standard deviation 1."""
    name, value = grain
    noise = rng.standard_normal(shape, np.float32)
    if name == "blurred":
        noise = blurred(noise, value)
    elif name == "enlarged":
        noise = enlarged(noise, value)
    elif name == "mosaic":
        noise = np.tensordot(LUMA, demosaiced(noise).astype(np.float32), 1)
    return noise / rms(noise)


def planes(side, grain, rng):
    """Noise of luma, side x side and of standard deviation 1, and of 4:2:0 chroma."""
    if grain[0] == "mosaic":
        rgb = demosaiced(rng.standard_normal((side, side), np.float32)).astype(np.float32)
        y, colour = np.tensordot(LUMA, rgb, 1), np.tensordot(COLOUR, rgb, 1)
        return y / rms(y), colour.reshape(2, side // 2, 2, side // 2, 2).mean((2, 4)) / rms(y)
    return plane((side, side), grain, rng), np.stack([plane((side // 2,) * 2, grain, rng) for _ in range(2)])


# ---- on patches --------------------------------------------------------------------------------

def dct8():
    k, n = np.mgrid[0:8, 0:8]
    m = np.cos(np.pi * (2 * n + 1) * k / 16) * 0.5
    m[0] *= 0.5**0.5
    return m.astype(np.float32)


DCT8 = dct8()


def block_compress(plane, step, rng):
    """Quantise 8x8 DCT blocks with one step and a dead zone, as JPEG and video codecs do."""
    shift = rng.integers(8, size=2)
    a = np.roll(plane, shift, (0, 1))
    h, w = a.shape
    b = a.reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
    c = DCT8 @ b @ DCT8.T
    c = np.sign(c) * np.floor(np.abs(c) / step + 0.35) * step
    b = DCT8.T @ c @ DCT8
    return np.roll(b.transpose(0, 2, 1, 3).reshape(h, w), -shift, (0, 1))


def told(sigma, white, rng):
    """What mona would find: the level of coarse or compressed noise less exactly."""
    return min(sigma * (rng.uniform(0.9, 1.15) if white else np.exp(rng.uniform(-0.35, 0.35))), MOST)


def gain(luma, kind):
    """How much noise each sample has beside others: all as much; more where it is bright, as sensors; or more
    in the middle, as grain, as `kind`, 0 to 1, chooses. Of RMS 1."""
    bright = luma / 255
    if kind < 0.6:
        return np.float32(1)
    of = np.sqrt(0.1 + 1.5 * bright) if kind < 0.8 else 0.3 + 3 * bright * (1 - bright)
    return (of / rms(of)).astype(np.float32)


def spoil(y, chroma, sigma, white, rng):
    """(luma, chroma, level told) with noise of a kind that chance chooses; not rounded."""
    grain = any_grain(rng, white)
    noise, colours = planes(len(y), grain, rng)
    much = gain(y, rng.random())
    less = 1 if rng.random() < 0.4 else rng.random() * (rng.random() < 0.7)
    small = much if much.ndim == 0 else much[::2, ::2]
    y = y + sigma * much * noise
    chroma = chroma + sigma * less * small * colours
    if sigma == 0:
        return y, chroma, 0
    return y, chroma, told(sigma, grain[0] == "white", rng)


def compress(y, chroma, noise_free, rng):
    """The same once it is compressed; the level is the error that remains."""
    step = 4 + 36 * rng.random() ** 2
    y = block_compress(y, step, rng)
    chroma = np.stack([block_compress(c, step, rng) for c in chroma])
    return y, chroma, min(rms(y - noise_free), MOST)
