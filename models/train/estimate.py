#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the networks that tell noise from texture: pipeline/stages/noise_weights.h and noise_patterns.h.

  estimate.py spoil FOLDER [--groups 3000] [--seed 0] [--data ../../../shared/data] [--patterns] [--sharpened 0]
                                                                      resumable; several may run at once
  estimate.py fit FOLDER [--check FOLDER2]
  estimate.py tell FOLDER --patterns-in FOLDER2

`spoil` shows photographs of train/photos and train/photos2 at several sizes, whole and, as often, cropped to where they
are roughest, so that nothing in them is flat. Each is left as it is, compressed by JPEG, given noise of a kind from KINDS,
and both. Stored are mona's evidence for each (noise_evidence.c, through a library that is built here) and the mean squared
error that denoise_fast leaves with each strength of STRENGTHS: for luma, and for chroma alike.

`fit` trains networks whose answer is whether to denoise and how strongly. What is minimised is the loss in dB that the
answer causes, where the loss of a picture counts HARM times what another one gains, and that of one that was never
compressed CLEAN times more.

`tell` trains a network that tells patterns (patterns.py), of FOLDER2, from photographs with noise: what it calls a pattern is
left as it is. Its weights are from `spoil A --seed 1 --groups 2500 --sharpened 0.2` and `spoil B --seed 3 --groups 500
--sharpened 0.2 --patterns`. The networks of `fit` were not trained on patterns too: they then trusted a quarter of the noise
that they trust without.

Photographs in held_out.txt, and those of which test/texture has windows, are left out; `--held-out` spoils only the former.
"""
import argparse
import ctypes
import glob
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageFilter

import data as pictures
import noise
import patterns

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WEIGHTS = os.path.join(ROOT, "pipeline", "stages", "noise_weights.h")
PATTERNS = os.path.join(ROOT, "pipeline", "stages", "noise_patterns.h")
STRENGTHS = np.array([0, 2, 3, 4, 6, 9, 13, 18, 26])
STUDIO = 219 / 255
BITS = 11  # of the planes that mona makes of pictures
# what has it, its grain as in noise.py
KINDS = [("rgb", ("white", None)), ("luma", ("white", None)), ("rgb", ("blurred", .5)), ("luma", ("blurred", .5)),
         ("rgb", ("blurred", .75)), ("luma", ("blurred", .75)), ("rgb", ("blurred", 1)), ("luma", ("blurred", 1)),
         ("luma", ("blurred", 1.5)), ("rgb", ("enlarged", 2)), ("luma", ("enlarged", 2)), ("rgb", ("enlarged", 4)),
         ("luma", ("enlarged", 4)), ("mosaic", None), ("mosaic", None)]
CLEAN, CODED, NOISY, BOTH = range(4)
SMOOTH, WOVEN = 0.14, 0.05  # shares of pictures
LEAST, MOST = 1.5, 25  # standard deviations


# ---- mona ------------------------------------------------------------------------------------------

C = """
#include "pipeline/stages/noise_evidence.h"
unsigned evidence(const frame *f, unsigned plane, double *to)
{
    static noise_work work;
    const mona_size size = frame_plane_size(&f->format, plane);
    noise_measure(&work, f->data[plane], f->stride[plane], size.width, size.height, f->format.bits, 1, false);
    if (work.flattest)
        noise_collect(&work, f, plane, to);
    return work.flattest ? NOISE_EVIDENCE : 0;
}
"""


class Format(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in ("width", "height", "planes", "shift_x", "shift_y", "bits", "multiple")]


class Frame(ctypes.Structure):
    _fields_ = [("format", Format), ("data", ctypes.c_void_p * 4), ("stride", ctypes.c_ssize_t * 4)]


def library():
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "evidence.c"), os.path.join(folder, "evidence.so")
        with open(source, "w") as f:
            f.write(C + "#include <stdatomic.h>\natomic_bool vector_unwanted;\n")
        build = os.path.join(ROOT, "build")
        subprocess.run(["cc", "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I" + ROOT, "-I" + ROOT + "/engine", source,
                        *(f"{ROOT}/pipeline/stages/{name}.c" for name in ("noise", "noise_evidence", "frame")), "-o", out,
                        "-L" + build, "-l:libmona.so", "-Wl,-rpath," + build, "-lm"], check=True)
        return ctypes.CDLL(out)


def evidence_of(lib, planes, plane):
    kept = [np.ascontiguousarray(np.clip(np.rint(p * 2**(BITS - 8)), 0, 2**BITS - 1).astype(np.uint16)) for p in planes]
    height, width = kept[0].shape
    half = len(kept) > 1 and kept[1].shape != kept[0].shape
    f = Frame(Format(width, height, len(kept), half, half, BITS, 1))
    for i, p in enumerate(kept):
        f.data[i], f.stride[i] = p.ctypes.data, p.strides[0]
    out = (ctypes.c_double * 64)()
    count = lib.evidence(ctypes.byref(f), plane, out)
    return np.array(out[:count])


class Denoiser:
    def __init__(self, mona):
        self.mona, self.models = mona, {}

    def __call__(self, plane, strength):
        height, width = plane.shape
        if plane.shape not in self.models:
            self.models = {plane.shape: self.mona.Model(os.path.join(ROOT, "models", "denoise_fast.mona"), size=plane.shape, threads=1)}
        grey = np.full((height // 2, width // 2), 128, np.uint8)
        told = np.full_like(grey, strength)
        return self.models[plane.shape](plane, grey, grey, told)[0]

    def errors(self, plane, clean):
        """The mean squared error with each strength."""
        plane = np.clip(np.rint(plane), 0, 255).astype(np.uint8)
        return [np.mean(np.square((self(plane, s) if s else plane) - clean)) for s in STRENGTHS]


# ---- spoiling --------------------------------------------------------------------------------------

def stems(paths):
    return {os.path.basename(p).rsplit("_", 1)[0] for p in paths}


def photographs(data, held_out):
    never = stems(glob.glob(os.path.join(data, "test", "texture", "*")))
    held = stems(pictures.held_out(data))
    every = sorted(glob.glob(os.path.join(data, "train", "photos", "*.webp")) + glob.glob(os.path.join(data, "train", "photos2", "*.webp")))
    return [p for p in every if (stems([p]) <= held if held_out else not stems([p]) & (held | never))]


def rough(a, rng):
    """The one of 16 windows whose flattest parts are the roughest."""
    best, most = None, -1
    for _ in range(16):
        side = min(int(rng.integers(128, 300)), *a.shape[:2]) // 4 * 4
        y, x = (rng.integers(n - side + 1) for n in a.shape[:2])
        part = a[y:y + side, x:x + side]
        grey = part.mean(-1)
        bends = np.abs(grey[8:, 8:] - 2 * grey[4:-4, 8:] + grey[:-8, 8:])
        blocks = bends[:len(bends) // 16 * 16, :len(bends) // 16 * 16].reshape(len(bends) // 16, 16, -1, 16).mean((1, 3))
        if np.quantile(blocks, .05) > most:
            best, most = part, np.quantile(blocks, .05)
    return best


def woven(a, rng):
    """With a pattern that repeats, as of fabric, tiles and screens."""
    y, x = np.mgrid[0:a.shape[0], 0:a.shape[1]]
    turn, periods = rng.uniform(0, np.pi), rng.uniform(2.5, 24, 3)
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    wave = np.sin(2 * np.pi * u / periods[0] + rng.uniform(0, 2) * np.abs(np.sin(np.pi * v / periods[1]))) \
        + rng.uniform(0, 1) * np.cos(2 * np.pi * v / periods[2])
    return np.clip(np.rint(a + rng.uniform(3, 40) * wave[..., None]), 0, 255).astype(np.uint8)


def sharpened(a, rng):
    """As cameras and people do, by an unsharp mask."""
    mask = ImageFilter.UnsharpMask(rng.uniform(.5, 2.5), int(rng.uniform(60, 350)), int(rng.integers(0, 4)))
    return np.ascontiguousarray(Image.fromarray(a).filter(mask))


def shown(path, rng, sharp):
    """A photograph at a size, smooth, whole or its roughest part; its sides are multiples of 4."""
    image, chance = Image.open(path).convert("RGB"), rng.random()
    times = 1 if chance < .45 else rng.uniform(.5, 1) if chance < .8 else rng.uniform(1, 1.6)
    size = int(image.width * times), int(image.height * times)
    kind = rng.random()
    if kind < SMOOTH:  # hardly anything but light and shade
        image = image.resize((size[0] // 24, size[1] // 24), Image.BOX)
        image = Image.blend(Image.new("RGB", image.size, tuple(int(c) for c in np.mean(image, (0, 1)))), image, rng.random() ** 2)
    if image.size != size:
        image = image.resize(size, rng.choice([Image.BICUBIC, Image.LANCZOS, Image.BOX] if kind >= SMOOTH else [Image.BICUBIC]))
    a = np.asarray(image)
    if kind < WOVEN:
        a = woven(a, rng)
    a = a[:a.shape[0] // 4 * 4, :a.shape[1] // 4 * 4]
    a = a if kind < .5 else rough(a, rng)
    return sharpened(a, rng) if sharp and rng.random() < sharp else np.ascontiguousarray(a)


def with_noise(rgb, kind, sigma, rng):
    """sigma: of luma, in steps of studio range."""
    what, grain = kind
    side = (max(rgb.shape) + 15) // 8 * 8
    if what == "mosaic":
        made = noise.demosaiced(rng.standard_normal((side, side), np.float32)).transpose(1, 2, 0)
    elif what == "rgb":
        made = np.stack([noise.plane((side, side), grain, rng) for _ in range(3)], -1)
    else:
        made = noise.plane((side, side), grain, rng)[..., None]
    made = made[:rgb.shape[0], :rgb.shape[1]] / noise.rms(made @ noise.LUMA if made.shape[-1] == 3 else made)
    gain = noise.gain(rgb @ noise.LUMA, rng.random())
    return np.clip(np.rint(rgb + sigma / STUDIO * (gain[..., None] if np.ndim(gain) else gain) * made), 0, 255).astype(np.uint8)


def with_jpeg(rgb, quality, whole):
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "JPEG", quality=quality, subsampling=0 if whole else 2)
    return np.asarray(Image.open(file).convert("RGB"))


def planes_of(rgb, half):
    y = 16 + STUDIO * (rgb @ noise.LUMA.astype(float))
    u, v = (128 + STUDIO * (rgb @ row.astype(float)) for row in noise.COLOUR)
    if half:
        u, v = (p.reshape(p.shape[0] // 2, 2, -1, 2).mean((1, 3)) for p in (u, v))
    return y, u, v


def spoil(options):
    sys.path.insert(0, os.path.join(ROOT, "build", "python"))
    os.environ.setdefault("MONA_LIBRARIES", os.path.join(ROOT, "build"))
    import mona
    lib, denoise = library(), Denoiser(mona)
    paths = photographs(options.data, options.held_out)
    os.makedirs(options.folder, exist_ok=True)
    lot, lots = 50, -(-options.groups // 50)
    for number in range(lots):
        out = os.path.join(options.folder, f"{options.seed}_{number}.npz")
        if os.path.exists(out):
            continue
        rng = np.random.default_rng((options.seed, number))
        rows = []
        for _ in range(lot):
            rgb = shown(paths[rng.integers(len(paths))], rng, options.sharpened)
            rgb = patterns.pattern(rgb, rng) if options.patterns else rgb
            for state in (CLEAN, CODED, NOISY, NOISY, BOTH):
                rows += spoilt(rgb, state, lib, denoise, rng)
        np.savez(out + ".part.npz", **{k: np.array([r[k] for r in rows]) for k in rows[0]})
        os.replace(out + ".part.npz", out)
        print(f"{number + 1} of {lots}", flush=True)


def spoilt(rgb, state, lib, denoise, rng):
    """A row for luma, and sometimes one for chroma."""
    kind, sigma, made = -1, 0, rgb
    if state in (NOISY, BOTH):
        kind, sigma = rng.integers(len(KINDS)), float(np.exp(rng.uniform(np.log(LEAST), np.log(MOST))))
        made = with_noise(made, KINDS[kind], sigma, rng)
    if state in (CODED, BOTH):
        made = with_jpeg(made, int(rng.integers(60 if state == CODED else 75, 97)), rng.random() < .5)
    rows, half = [], rng.random() < .4
    clean, seen = planes_of(rgb, half), planes_of(made, half)
    for plane in (0,) + ((int(rng.integers(1, 3)),) if rng.random() < .5 else ()):
        found = evidence_of(lib, seen if plane == 0 or not half else (seen[plane],) * 3, plane)
        if len(found):
            rows.append({"evidence": found, "errors": denoise.errors(seen[plane], clean[plane]), "plane": plane, "state": state,
                         "kind": kind, "sigma": float(noise.rms(seen[plane] - clean[plane])) if state in (NOISY, BOTH) else 0})
    return rows


# ---- fitting ---------------------------------------------------------------------------------------

NETWORKS, FIRST, SECOND, ANSWERS = 3, 20, 10, 3
HARM, CLEANER = 2.0, 20.0
RARE = 0.3  # what coarse noise of luma alone weighs, which is rare in colour and like texture
BLOCKS = 8  # and the little that is gained where there is only JPEG, which is seen from afar
DOUBT = 4.0  # of the first answer, a logarithm of odds, by the network that is least sure
STRANGE = 5.0  # standard deviations from what pictures worth denoising have: this is something else
WORTH = 0.05  # dB
UNSEEN = 0.02  # a squared error that nobody sees


def load(folder, plane):
    lots = [np.load(path) for path in sorted(glob.glob(os.path.join(folder, "*_*.npz"))) if ".part" not in path]
    rows = {k: np.concatenate([lot[k] for lot in lots]) for k in lots[0].files}
    return {k: v[(rows["plane"] > 0) == plane] for k, v in rows.items()}


def gains(rows):
    """In dB, of each strength."""
    quality = -10 * np.log10(rows["errors"] + UNSEEN)
    return np.clip(quality - quality[:, :1], -12, 12).astype(np.float32)


def gain_at(gain, strength):
    """gain: a row for each, strength: a number for each; tensors."""
    import torch
    at = torch.tensor(STRENGTHS, dtype=torch.float32)
    below = torch.clamp(torch.searchsorted(at, strength.detach().contiguous(), right=True) - 1, 0, len(at) - 2)
    share = (strength - at[below]) / (at[below + 1] - at[below])
    which = torch.arange(len(gain))
    return gain[which, below] * (1 - share) + gain[which, below + 1] * share


def logarithm(x):
    """As in noise_evidence.c: linear between powers of two."""
    part, exponent = np.frexp(np.maximum(x, 0.02))
    return exponent - 2 + 2 * part


def power(x):
    """The inverse."""
    return (x - np.floor(x) + 1) * 2**np.floor(x)


def third_scale(evidence):
    return power(evidence[:, 0])


LUMA_ALONE = np.array([what == "luma" for what, _ in KINDS] + [True])  # -1: no noise
COARSE = np.array([grain is None or grain[0] != "white" for _, grain in KINDS] + [False])


def with_grey(rows):
    """The same, and what would be found if the pictures had no colours."""
    grey = {k: v[LUMA_ALONE[rows["kind"]]] for k, v in rows.items()}
    evidence = grey["evidence"] = grey["evidence"].copy()
    third, (second, fourth) = third_scale(evidence), (power(evidence[:, i]) for i in (2, 3))
    evidence[:, 30:33] = logarithm(0.02 / np.maximum(np.stack([third * second, third, third / fourth], 1), 0.02))
    return {k: np.concatenate([rows[k], grey[k]]) for k in rows}


def network(seed, rows, mean, scale, epochs):
    import torch
    from torch import nn
    torch.manual_seed(seed)
    evidence = torch.tensor(np.clip((rows["evidence"] - mean) * scale, -STRANGE, STRANGE), dtype=torch.float32)
    gain, sigma = torch.tensor(gains(rows)), torch.tensor(rows["sigma"], dtype=torch.float32)
    third = torch.tensor(third_scale(rows["evidence"]), dtype=torch.float32)
    worth = gain.max(1).values > WORTH
    harm = torch.tensor(np.where(rows["state"] == CLEAN, HARM * CLEANER, HARM), dtype=torch.float32)
    rare = LUMA_ALONE & COARSE
    share = torch.tensor(np.where(rare[rows["kind"]], RARE, np.where(rows["state"] == CODED, BLOCKS, 1)), dtype=torch.float32)
    net = nn.Sequential(nn.Linear(evidence.shape[1], FIRST), nn.ReLU(), nn.Linear(FIRST, SECOND), nn.ReLU(), nn.Linear(SECOND, ANSWERS))
    with torch.no_grad():
        net[4].bias[1:] = 1
    lot = 256
    steps = epochs * -(-len(gain) // lot)
    optimiser = torch.optim.AdamW(net.parameters(), 4e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    for _ in range(epochs):
        for of in torch.randperm(len(gain)).split(lot):
            answers = net(evidence[of] + .05 * torch.randn(len(of), evidence.shape[1]))
            odds, strength = answers[:, 0], torch.clamp(answers[:, 1] * third[of], 0, float(STRENGTHS[-1]) - .01)
            gained = gain_at(gain[of], strength)
            weight = torch.where(gained < 0, harm[of], share[of]) * torch.clamp(gained.detach().abs(), .05)
            wrong = nn.functional.binary_cross_entropy_with_logits(odds, (gained.detach() > 0).float(), reduction="none")
            noisy = sigma[of] > 0
            relative = (answers[:, 2] * third[of] - sigma[of]).abs() / (1 + sigma[of])
            loss = (weight * wrong).mean() - gained[worth[of]].sum() / len(of) + .5 * relative[noisy].sum() / len(of)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    layers = [(m.weight.detach().numpy().astype(float), m.bias.detach().numpy().astype(float)) for m in net if hasattr(m, "weight")]
    return [np.concatenate([b[:, None], w], 1) for w, b in layers]


def answer(evidence, mean, scale, networks):
    """As noise_evidence.c computes it: (whether, how strongly)."""
    total, odds = 0, np.inf
    for net in networks:
        x = (evidence - mean) * scale
        for i, weights in enumerate(net):
            x = x @ weights[:, 1:].T + weights[:, 0]
            x = np.maximum(x, 0) if i < 2 else np.concatenate([x[:, :1], np.maximum(x[:, 1:], 0)], 1)
        total, odds = total + x / len(networks), np.minimum(odds, x[:, 0])
    strange = (np.abs(evidence - mean) * scale > STRANGE).any(1)
    return np.where(strange, -np.inf, odds), np.minimum(total[:, 1] * third_scale(evidence), STRENGTHS[-1] - .01)


def tell(name, rows, odds, strength):
    import torch
    strength = np.where((odds > DOUBT) & (strength >= 1.5), strength, 0)
    gain = gains(rows)
    gained = gain_at(torch.tensor(gain), torch.tensor(strength, dtype=torch.float32)).numpy()
    for state, what in enumerate(("clean", "JPEG", "noise", "both")):
        of = rows["state"] == state
        print(f"{name:14} {what:6} {of.sum():5}: {np.mean(strength[of] > 0):6.1%} denoised, {gained[of].mean():6.3f} dB gained, "
              f"{gain[of].max(1).mean():.3f} at best, {np.mean(gained[of] < -.05):5.1%} lose, {gained[of].min():.2f} at worst")


def rounded(values):
    return "{" + ", ".join(f"{v:.4g}" for v in values) + "}"


def table(name, mean, scale, networks):
    lines = [f"static const noise_networks {name} = {{", f"    .doubt = {DOUBT},", f"    .strange = {STRANGE},", f"    .most = {STRENGTHS[-1]},", f"    .mean = {rounded(mean)},", f"    .scale = {rounded(scale)},"]
    for field, layer in (("first", 0), ("second", 1), ("third", 2)):
        lines.append(f"    .{field} = {{")
        lines += ["        {" + ",\n         ".join(rounded(row) for row in net[layer]) + "}," for net in networks]
        lines.append("    },")
    return "\n".join(lines + ["};"])


HEADER = """// SPDX-License-Identifier: Apache-2.0
/* Networks that tell noise from texture, made by models/train/estimate.py, which see. */
#ifndef MONA_NOISE_WEIGHTS_H
#define MONA_NOISE_WEIGHTS_H

#include "pipeline/stages/noise_evidence.h"

enum { NOISE_NETWORKS = %d, NOISE_FIRST = %d, NOISE_SECOND = %d, NOISE_ANSWERS = %d };

/* Of each layer's outputs: the bias, and a weight of each input. The answers are whether there is
 * noise, if each is larger than doubt, and as multiples of the third scale how strongly to denoise,
 * at `most`, and its standard deviation. Evidence that is `strange` standard deviations from its
 * mean is none. */
typedef struct noise_networks {
    double doubt, strange, most, mean[NOISE_EVIDENCE], scale[NOISE_EVIDENCE];
    double first[NOISE_NETWORKS][NOISE_FIRST][1 + NOISE_EVIDENCE];
    double second[NOISE_NETWORKS][NOISE_SECOND][1 + NOISE_FIRST];
    double third[NOISE_NETWORKS][NOISE_ANSWERS][1 + NOISE_SECOND];
} noise_networks;

// clang-format off
%s

%s
// clang-format on

#endif
"""


def fit(options):
    tables = []
    for plane, name in enumerate(("NOISE_LUMA", "NOISE_CHROMA")):
        rows = load(options.folder, plane)
        rows = rows if plane else with_grey(rows)
        worth = rows["evidence"][gains(rows).max(1) > WORTH]
        mean, scale = worth.mean(0), 1 / (worth.std(0) + 1e-3)
        networks = [network(seed, rows, mean, scale, options.epochs) for seed in range(NETWORKS)]
        tell(name, rows, *answer(rows["evidence"], mean, scale, networks))
        if options.check:
            other = load(options.check, plane)
            other = other if plane else with_grey(other)
            tell("  held out", other, *answer(other["evidence"], mean, scale, networks))
        tables.append(table(name, mean, scale, networks))
    with open(options.out or WEIGHTS, "w") as f:
        f.write(HEADER % (NETWORKS, FIRST, SECOND, ANSWERS, *tables))


# ---- patterns --------------------------------------------------------------------------------------

KNOWING = 16  # features of its hidden layer
FAR = 6.0  # standard deviations, beyond which evidence counts as this far
DOUBTED, SURER = 0.01, 1.5  # the answer is 0 for this share of photographs with noise, less this much

PATTERNS_HEADER = """// SPDX-License-Identifier: Apache-2.0
/* A network that tells patterns from noise, made by models/train/estimate.py, which see. */
#ifndef MONA_NOISE_PATTERNS_H
#define MONA_NOISE_PATTERNS_H

#include "pipeline/stages/noise_evidence.h"

enum { NOISE_KNOWING = %d };

/* As in noise_weights.h, for evidence that is at most `far` from its mean. Above 0: a pattern. */
static const struct {
    double far, mean[NOISE_EVIDENCE], scale[NOISE_EVIDENCE];
    double first[NOISE_KNOWING][1 + NOISE_EVIDENCE], second[1][1 + NOISE_KNOWING];
} NOISE_PATTERN = {
    // clang-format off
    .far = %s,
    .mean = %s,
    .scale = %s,
    .first = {
        %s,
    },
    .second = {%s},
    // clang-format on
};

#endif
"""


def told_apart(patterns_seen, noisy):
    """The layers of a network that tells one from the other, evidence in standard deviations."""
    import torch
    from torch import nn
    torch.manual_seed(0)
    seen = torch.tensor(np.concatenate([patterns_seen, noisy]), dtype=torch.float32)
    wanted = torch.cat([torch.ones(len(patterns_seen)), torch.zeros(len(noisy))])
    net = nn.Sequential(nn.Linear(seen.shape[1], KNOWING), nn.ReLU(), nn.Linear(KNOWING, 1))
    optimiser = torch.optim.AdamW(net.parameters(), 5e-3, weight_decay=1e-2)
    loss_of = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(len(noisy) / len(patterns_seen)))
    for _ in range(40):
        for of in torch.randperm(len(seen)).split(256):
            loss = loss_of(net(seen[of] + .05 * torch.randn(len(of), seen.shape[1]))[:, 0], wanted[of])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return [np.concatenate([m.bias.detach().numpy()[:, None], m.weight.detach().numpy()], 1).astype(float) for m in (net[0], net[2])]


def patternness(evidence, mean, scale, layers):
    x = np.clip((evidence - mean) * scale, -FAR, FAR)
    return (np.maximum(x @ layers[0][:, 1:].T + layers[0][:, 0], 0) @ layers[1][:, 1:].T + layers[1][:, 0])[:, 0]


def tell_patterns(options):
    photographs_seen, shown_patterns = (with_grey(load(folder, 0)) for folder in (options.folder, options.patterns_in))
    noisy = (photographs_seen["state"] >= NOISY) & (gains(photographs_seen).max(1) > WORTH)
    noisy, of_patterns = photographs_seen["evidence"][noisy], shown_patterns["evidence"][shown_patterns["state"] < NOISY]
    mean, scale = noisy.mean(0), 1 / (noisy.std(0) + 1e-3)
    layers = told_apart(*(np.clip((e - mean) * scale, -FAR, FAR) for e in (of_patterns, noisy)))
    layers[1][0, 0] -= np.quantile(patternness(noisy, mean, scale, layers), 1 - DOUBTED) + SURER
    print(f"{np.mean(patternness(of_patterns, mean, scale, layers) > 0):.1%} of patterns are seen, "
          f"{np.mean(patternness(noisy, mean, scale, layers) > 0):.1%} of photographs with noise")
    with open(options.out or PATTERNS, "w") as f:
        f.write(PATTERNS_HEADER % (KNOWING, FAR, rounded(mean), rounded(scale), ",\n        ".join(rounded(row) for row in layers[0]),
                                   rounded(layers[1][0])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=("spoil", "fit", "tell"))
    parser.add_argument("folder")
    parser.add_argument("--data", default=pictures.DEFAULT_DATA)
    parser.add_argument("--groups", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--patterns", action="store_true")
    parser.add_argument("--sharpened", type=float, default=0, metavar="SHARE")
    parser.add_argument("--check")
    parser.add_argument("--patterns-in", metavar="FOLDER2")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--out")
    options = parser.parse_args()
    {"spoil": spoil, "fit": fit, "tell": tell_patterns}[options.work](options)


if __name__ == "__main__":
    main()
