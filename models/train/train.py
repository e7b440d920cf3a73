#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train one of mona's nets on one core or on a GPU, as recipes/NAME.json says.

  train.py sr_x2_fast
  train.py sr_x2_fast --dry-run

Writes to --out: NAME.pt (checkpoint; the same command continues from it), NAME.npz (averaged,
collapsed weights and feature ranges; the input of export.py and evaluate.py), NAME.log and NAME.png
(curves). The schedule counts steps, not time, so a run is repeatable and may be stopped at will.

A recipe says

  start    a file of weights, seen from models/, of this net or of a narrower, shallower or other
           scale's; random ones, if it does not say
  seed     of weights and patches; 0, if it does not say
  trainer  torch, avx512 or cuda: they round differently, so that one does not reproduce another; look: torch with
           look.py's loss, weighed by `look` of the recipe, on a GPU where there is one
  photographs, every  folders of train, of which every so many-th picture in the order of names is taken:
           photos, and each of them, if it does not say; of photos2 no windows of held-out photographs
  phases   one after the other; in each the rate falls from its first value to nothing. What a later one does not
           say, but for until, is as in the one before

and of a phase: steps, over which the rate falls; until, after how many of them the next one begins
(all, if it does not say); rate; warm_up, steps over which it rises (500, if it does not say); batch; shares, how often pictures of each size and films are drawn;
patch, a patch's side in packed pixels, for avx512 a multiple of 24; l2_from, from which part of it on
the loss is the logarithm of each patch's L2 and no longer L1; quant_from, from which part on weights
and features are quantised as the INT8 engine does, with straight-through gradients (1: never); least,
the L2 (1 is what is to be expected) that is added to each before its logarithm is taken, so that
easier patches count no more; peak_cost, what stray peaks cost; ceilings, at which feature maps are cut
(not, if it does not say; torch cuts in float, too, the others need quant_from 0); chroma, what its errors count beside
those of luma; compressed, of a denoiser for video, the share of film in a batch; white, of a denoiser,
the share of noise that is independent from sample to sample (noise.WHITE, if it does not say).
"""
import argparse
import functools
import json
import os
import subprocess
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(variable, "1")

import numpy as np
import torch

import cuda
import data
import look
import losses
import nets
import noise
import rendered
import store
import training


WARM_UP = 500  # steps over which the rate rises
STEEPEST = 10.0  # gradient
SIDE = 64  # of held-out patches
DRY_STEPS = 20
SR_ERROR = 4.0  # code values, about the RMS error to expect of an enlarged patch
ADVERSARY_RATE = 4e-4  # of a look
EVERY = {True: 400, False: 2000}  # of a look or not, steps: what is held out is measured, and the run saved


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.NETS))
    p.add_argument("--data", default=data.DEFAULT_DATA)
    p.add_argument("--out", default=os.path.join(data.ROOT, "build", "train"))
    p.add_argument("--minutes", type=float, help="as many steps as fit into so many of a GPU, in the recipe's "
                   "proportions; the recipe that was followed is written to NAME.json")
    p.add_argument("--trainer", choices=[*losses.TRAINERS, "cuda", "look"], help="instead of the recipe's")
    p.add_argument("--dry-run", action="store_true", help=f"only try whether this machine can: all phases, each in {DRY_STEPS} "
                   "steps or a minute, on a few drawn pictures, by torch where the recipe's trainer cannot run; "
                   "writes to OUT/dry")
    return p.parse_args()


def read_recipe(name):
    with open(os.path.join(data.HERE, "recipes", name + ".json")) as f:
        recipe = {"start": None, "seed": 0, **json.load(f)}
    for before, phase in zip(recipe["phases"], recipe["phases"][1:]):
        phase.update({word: before[word] for word in before if word not in phase and word != "until"})
    return recipe


def expected_error(level):
    """About the RMS error (code values) a small net leaves: evens out the levels in the loss."""
    return 1 + level**0.65


def sr_batch(spec, images, count, size, rng):
    low, high = data.patches(images, spec, count, size, rng)
    if spec.jpeg:
        low = store.jpeg(torch.from_numpy(low), torch.from_numpy(store.qualities(count, rng))).numpy()
    return low, high, np.full(len(low), SR_ERROR)


def add_noise(clean, rng, video, white):
    """(noisy planes, level told of each patch), 8-bit values held in float; of `clean` half is changed to
    studio range. Film is seldom very noisy: what is rare should not make INT8's steps coarse."""
    noisy, levels = np.empty_like(clean), np.empty(len(clean), np.float32)
    for n, planes in enumerate(clean):
        if rng.random() < 0.5:
            planes = data.studio(planes)
        if rng.random() < 0.25:
            planes[4:] = 128
        np.rint(planes, out=clean[n])
        sigma = 0 if rng.random() < 0.06 else 60 * rng.random() ** (2.5 if video else 1.2)
        luma = data.depth_to_space(clean[n, :4])
        compressed = rng.random() < 0.15
        y, chroma, levels[n] = noise.spoil(luma, clean[n, 4:], min(sigma, 10) if compressed else sigma,
                                         white, rng)
        if compressed:
            y, chroma, levels[n] = noise.compress(y, chroma, luma, rng)
        noisy[n, :4], noisy[n, 4:] = data.space_to_depth(y), chroma
    return np.clip(np.rint(noisy, out=noisy), 0, 255, out=noisy), levels.round()


def denoise_batch(spec, images, count, size, rng):
    """Of a network for video the first are compressed, and carry their level; the others have noise
    like those of any denoiser, whose work it does too."""
    films, pictures, share, white = images
    compressed = round(share * count)
    _, clean = data.patches(pictures, spec, count - compressed, size, rng)
    noisy, level = add_noise(clean, rng, spec.video, white)
    plane = np.broadcast_to(level[:, None, None, None], noisy[:, :1].shape)
    noisy, unit = np.concatenate([noisy, plane], 1), expected_error(level)
    if not compressed:
        return noisy, clean, unit
    low, high = data.patches(films, spec, compressed, size, rng)
    error = np.sqrt(((low[:, :4] - high[:, :4]) ** 2).mean((1, 2, 3)))
    return tuple(np.concatenate(both) for both in
                 ((low, noisy), (high, clean), (expected_error(error), unit)))


def batch(spec, images, count, size, rng):
    """Input and target in code values, and what each patch's error in [0, 1] is multiplied by."""
    make = sr_batch if spec.task == "sr" else denoise_batch
    low, high, unit = make(spec, images, count, size, rng)
    return low, high, 255 / unit


def fixed_inputs(spec, images):
    """Always the same 256 patches, for calibration."""
    rng = np.random.default_rng(12345)
    return [nets.to_tensor(batch(spec, images, 16, 32, rng)[0]) for _ in range(16)]


def strengths(spec):
    """Sigmas of the noise that held-out patches have to be freed from; 0: they are as they are. JPEG: qualities."""
    if spec.jpeg:
        return 40, 60, 75, 90
    return (0,) * (spec.video or spec.task == "sr") + (15, 25, 50) * (spec.task == "denoise")


def luma_psnr(spec, net, held_out, quantised):
    """Mean PSNR of luma over fixed patches of the held-out images: enlarged, or grey with each noise."""
    rng, out = np.random.default_rng(7), []
    low, high = (np.stack(planes).astype(np.float32) for planes in
                 zip(*(data.crop(pair, SIDE, rng) for pair in held_out if min(pair[0].shape[1:]) >= SIDE)))
    net.eval()
    for sigma in strengths(spec):
        x = low
        if spec.jpeg:
            x = store.jpeg(torch.from_numpy(low), torch.full((len(low),), float(sigma))).numpy()
        elif sigma:
            noisy = np.clip(np.rint(high[:, :4] + sigma * rng.standard_normal(
                high[:, :4].shape, np.float32)), 0, 255)
            x = np.concatenate([noisy, np.full_like(high[:, :2], 128),
                                np.full_like(high[:, :1], sigma)], 1)
        with torch.no_grad():
            x = nets.to_tensor(x).to(net.ranges.device)
            y = (net.forward_int8 if quantised else net)(x).cpu().numpy() * 255
        count = spec.block**2
        mse = ((y[:, :count].clip(0, 255).round() - high[:, :count]) ** 2).mean((1, 2, 3))
        mse = np.maximum(mse, 0.1)  # of what was compressed without loss: 58 dB
        out.append(float(np.mean(10 * np.log10(255**2 / mse))))
    return out


def steps_of(phase):
    return phase.get("until", phase["steps"])


def rate_at(phase, done):
    return (phase["rate"] * 0.5 * (1 + np.cos(np.pi * done / phase["steps"])) + 1e-6) * min(1, done / phase.get("warm_up", WARM_UP))


class Run(training.Run):
    def __init__(self, name, recipe, trainer):
        torch.manual_seed(recipe["seed"])
        self.spec, self.seed, self.phases, self.trainer = nets.NETS[name], recipe["seed"], recipe["phases"], trainer
        net = nets.Net(self.spec)
        if recipe["start"]:
            net.start_from(nets.read_weights(os.path.join(data.HERE, "..", recipe["start"])))
        super().__init__(net.to(self.device()))
        if trainer == "cuda":
            self.optimiser = cuda.optimiser_of(self.net)
        self.look = None
        self.drawing = self.kind = None  # of the batches, and of self.work
        self.first = 0  # step of self.drawing
        self.total = torch.zeros((), device=self.device())  # of the losses since it was last set to nothing

    def save(self, path):
        super().save(path)
        if self.look:
            torch.save(self.look.state(), path + ".look.part")
            os.replace(path + ".look.part", path + ".look")

    def restore(self, path):
        super().restore(path)
        if self.look:
            self.look.restore(torch.load(path + ".look"))

    @property
    def steps(self):
        return sum(steps_of(phase) for phase in self.phases)

    def fit(self, left):
        """So many steps more, in the proportions of this phase and those to come."""
        now, first = self.phase()
        coming = self.phases[self.phases.index(now):]
        done = self.step - first
        more = (done + left) / sum(steps_of(phase) for phase in coming)
        for phase in coming:
            phase["steps"] = max(round(phase["steps"] * more), 1)
        now["steps"] = max(now["steps"], done + 1)

    def device(self):
        on_gpu = self.trainer == "cuda" or (self.trainer == "look" and torch.cuda.is_available())
        return "cuda" if on_gpu else "cpu"

    def phase(self):
        """The phase of this step, and its first one."""
        first = 0
        for phase in self.phases:
            if self.step < first + steps_of(phase):
                return phase, first
            first += steps_of(phase)

    def begin(self, images, phase, first):
        """The batches of what is left of a phase."""
        for net in (self.net, self.average):
            net.cut_at(phase.get("ceilings"))
        self.drawing, self.first = phase, first

        def numbers(step):
            return rate_at(phase, step - first), training.follows(step)

        if self.trainer == "cuda" and self.spec.task == "sr" and not self.spec.video:
            held = store.Store(images, self.spec.block, phase["shares"], phase["patch"], self.device())
            self.batches = store.batches(held, phase, self.spec.jpeg, self.seed, numbers, self.step, 255 / SR_ERROR)
            return
        patches = drawn(self.spec, images, phase, phase["patch"])

        def make(step):
            return batch(self.spec, patches, phase["batch"], phase["patch"], np.random.default_rng([self.seed, step]))

        end = first + steps_of(phase)
        self.batches = cuda.batches(make, numbers, self.step, end) if self.trainer == "cuda" else \
            (make(step) for step in range(self.step, end))

    def train_step(self, images):
        phase, first = self.phase()
        if phase is not self.drawing:
            self.begin(images, phase, first)
        progress = (self.step - first) / phase["steps"]
        # one stray peak costs the whole feature map resolution, so peaks are kept low
        kind = {"squared": progress >= phase["l2_from"], "quantised": progress >= phase["quant_from"],
                "peak_cost": phase["peak_cost"], "least": phase["least"]}
        weights = np.where(np.arange(self.net.outputs) < self.spec.block**2, 1, phase.get("chroma", 1))
        now = next(self.batches)
        if self.trainer == "cuda":
            kind_of_step = phase["batch"], phase["patch"], kind
            if kind_of_step != self.kind:
                self.kind, self.work = kind_of_step, cuda.Work(self, *now, weights, STEEPEST, kind)
            self.work(*now)
            self.step += 1
        elif self.look:
            loss = self.look.loss(self.net, *now[:2], kind["quantised"], kind["peak_cost"], self.step)
            self.descend(loss, rate_at(phase, self.step - first), STEEPEST)
            self.total += loss.detach()
        else:
            loss = losses.TRAINERS[self.trainer](self.net, *now, weights, **kind)
            self.descend(loss, rate_at(phase, self.step - first), STEEPEST)
            self.total += loss.detach()


def made_with(trainer):
    """What the result depends on beside the recipe."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"], cwd=data.HERE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
    how = {"avx512": losses.version, "cuda": cuda.version}.get(trainer, lambda: trainer)()
    return f"commit {commit or 'unknown'}, trainer {how}, torch {torch.__version__}, numpy {np.__version__}"


def write_weights(net, path):
    np.savez(path + ".part.npz", ranges=net.ranges.cpu().numpy(), **net.plain_weights())
    os.replace(path + ".part.npz", path)


def plot(curve, labels, path):
    steps, loss, plain, int8 = zip(*curve)

    def draw(left, right):
        left.plot(steps, loss), left.set_ylabel("loss (L1, then log of L2)")
        for label, a, b in zip(labels, zip(*plain), zip(*int8)):
            line, = right.plot(steps, a, label=label)
            right.plot(steps, b, "--", color=line.get_color())
        right.set_ylabel("held-out luma, dB; dashed: INT8")

    training.plot(path, draw)


def load(spec, a, recipe):
    """(images to train on, held-out ones). Networks for video get pictures too."""
    images = data.load_training(spec, a.data, a.out, recipe.get("photographs", data.FOLDERS), recipe.get("every", 1))
    if spec.video and not spec.sharp:
        images["train"] += data.load_training(spec._replace(video=False), a.data, a.out)["train"]
    return images["train"], [pair for _, pair in images["held_out"]]


def drawn(spec, images, phase, patch):
    """Images as often as a phase draws them; of a denoiser films, pictures, the shares of films and of white noise."""
    shares = phase["shares"]

    def of(kinds):
        return [pair for kind, pair in images if min(pair[0].shape[1:]) >= patch
                for _ in range(shares[kind] if kind in kinds else 0)]

    if spec.task == "sr":
        return of(shares)
    films = [kind for kind in shares if kind.endswith("film")]
    return (of(films), of([kind for kind in shares if kind not in films]), phase.get("compressed", 0),
            phase.get("white", noise.WHITE))


def load_dry(spec, phases):
    """As load, of drawn pictures alone, whatever the network is for: what is tried is the machine."""
    pair = data.clean_planes if spec.task == "denoise" else functools.partial(data.sr_pair, scale=spec.scale)
    made = [pair(data.to8(rendered.picture(np.random.default_rng(n)))) for n in range(4)]
    films = [(np.concatenate([low, low[:1] % 8]), high) for low, high in made] if spec.task == "denoise" else made
    kinds = {kind for phase in phases for kind in phase["shares"]}
    return [(kind, one) for kind in sorted(kinds) for one in (films if kind.endswith("film") else made)], films if spec.video else made


def make_dry(a, recipe):
    a.out = os.path.join(a.out, "dry")
    for phase in recipe["phases"]:
        phase["steps"] = min(steps_of(phase), DRY_STEPS)
        phase.pop("until", None)
    if os.path.exists(os.path.join(a.out, a.name + ".pt")):
        os.remove(os.path.join(a.out, a.name + ".pt"))
    can = {"cuda": torch.cuda.is_available, "avx512": losses.has_avx512, "torch": lambda: True, "look": lambda: True}[recipe["trainer"]]
    a.trainer = a.trainer or (recipe["trainer"] if can() else "torch")


def main():
    started = time.time()
    a = arguments()
    recipe = read_recipe(a.name)
    if a.dry_run:
        make_dry(a, recipe)
    trainer = a.trainer or recipe["trainer"]
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    os.makedirs(a.out, exist_ok=True)
    base = os.path.join(a.out, a.name)
    spec = nets.NETS[a.name]
    if trainer == "avx512":
        for phase in recipe["phases"]:
            losses.check(spec, phase["patch"])
    for phase in recipe["phases"]:
        if trainer != "torch" and "ceilings" in phase and phase["quant_from"]:
            raise SystemExit(f"{trainer}: expected quant_from 0 in a phase with ceilings; torch cuts in float, too")
    if trainer == "cuda":
        cuda.prepare()
    images, held_out = load_dry(spec, recipe["phases"]) if a.dry_run else load(spec, a, recipe)
    run = Run(a.name, recipe, trainer)
    calibration = [x.to(run.device()) for x in fixed_inputs(spec, drawn(spec, images, recipe["phases"][-1], 32))]
    if trainer == "look":
        run.look = look.Look(recipe.get("look", {}), ADVERSARY_RATE, run.device())
    if os.path.exists(base + ".pt"):
        run.restore(base + ".pt")
    log = open(base + ".log", "a", buffering=1)
    print(f"{a.name}: step {run.step} of {run.steps}, {spec.macs} MAC per pixel, {made_with(trainer)}", file=log)
    told, began, plotted, timed = run.step, time.time(), 0, None
    while run.step < run.steps:
        run.net.train()
        run.train_step(images)
        if a.dry_run and time.time() - started > 60 * (1 + run.phases.index(run.drawing)):
            run.drawing["until"] = run.step - run.first
        if a.minutes and run.step % WARM_UP == 0 and run.step < run.steps:
            torch.cuda.synchronize()
            now = time.time()
            if timed:
                run.fit(WARM_UP / (now - timed) * (60 * a.minutes - (now - started)))
            timed = now
        if run.step % EVERY[trainer == "look"] == 0 or run.step == run.steps:
            loss = run.total.item() / (run.step - told)
            run.seconds += time.time() - began
            run.average.calibrate(calibration)
            plain, int8 = (luma_psnr(spec, run.average, held_out, q) for q in (False, True))
            run.curve.append((run.step, loss, plain, int8))
            ranges = " ".join(f"{v:.2f}" for v in run.average.ranges.tolist())
            figures = [" ".join(f"{v:.3f}" for v in values) for values in (plain, int8)]
            print(f"{run.step} loss {loss:.4f} held-out {figures[0]} "
                  f"INT8 {figures[1]} ranges {ranges} minutes {run.seconds / 60:.1f}", file=log)
            write_weights(run.average, base + ".npz")
            run.save(base + ".pt")
            if a.minutes:
                with open(base + ".json", "w") as f:
                    json.dump(recipe, f, indent=2)
            if run.step == run.steps or time.time() - plotted > 60:
                plot(run.curve, strengths(spec), base + ".png")
                plotted = time.time()
            run.total.zero_()
            told, began = run.step, time.time()
    if a.dry_run:
        print(f"{a.name}: {len(run.phases)} phases, {run.steps} steps by {trainer} in {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
