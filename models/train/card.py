#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measure a shipped network and write what was found into its card, ../CARD-NAME.md.

  card.py sr_x3_fast ../../build/train/x3_fast

The folder is what train.py wrote: NAME.log says how long it took, NAME.png is its curve. Float is
the trained network run by torch, FP16 and INT8 are models run by mona (../../build/mona, or
--mona), all on the same pixels and the same noise. Written are the card's table of facts and its
sections Training, Figures and Pictures; what else stands there stays.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap

import evaluate  # first: it says how many threads numpy takes
import data
import nets
import pictures

MODELS = os.path.dirname(data.HERE)
SIGMAS = (15, 25, 50)
# PSNR that a network of its size is to have.
WANTED = {
    "sr_x2_fast": (37.1, 32.75), "sr_x2_balanced": (37.45, 33.0), "sr_x2_best": (37.6, 33.15),
    "sr_x3_balanced": (33.9,), "sr_x4_balanced": (31.5,),
    "denoise_fast": (30.9, 28.45, 25.2), "denoise_balanced": (31.3, 28.85, 25.9),
}
TIERS = ("fast", "balanced", "best")


# ---- measuring ---------------------------------------------------------------------------------

def mona_rows(mona, model, spec, folder):
    """(PSNR, SSIM) of the model and of what it is to beat, for each set or noise."""
    # Pictures are small: threads would wait for one another more than they work.
    command = [mona, "eval", model, "--json", "--threads", "1", "--protocol", spec.task, "--set"]
    if spec.task == "denoise":
        tests = os.path.join(folder, "test")
        runs = [command + [os.path.join(tests, "bsd100"), "--list", os.path.join(tests, "cbsd68.txt")]]
    else:
        runs = [command + [where] + ["--list", data.HELD_OUT] * (name == "held out")
                for name, where, _ in evaluate.sr_sets(spec.scale, folder)]
    base = "noisy" if spec.task == "denoise" else "bicubic"
    means = [row for run in runs for row in json.loads(subprocess.run(
        run, check=True, stdout=subprocess.PIPE).stdout)["means"]]
    return [(r["psnr"], r["ssim"]) for r in means], \
        [(r[base + "_psnr"], r[base + "_ssim"]) for r in means]


def float_row(net, spec, folder):
    if spec.task == "sr":
        rows = evaluate.sr_rows(net, spec.scale, folder, (False,))
    else:
        rows = evaluate.noise_rows(net, evaluate.bsd68(os.path.join(folder, "test")), evaluate.grey_image, SIGMAS,
                                   (False,))
    return [(float(values[1]),) for _, values in rows]


class Twice:
    """A net for 2 in place of one for 4."""

    def __init__(self, name):
        self.net = nets.load(name, os.path.join(MODELS, name + ".onnx"))

    def __call__(self, x):
        step = nets.F.pixel_shuffle(self.net(x), 2).mul(255).round().clamp(0, 255) / 255
        return nets.F.pixel_unshuffle(nets.F.pixel_shuffle(self.net(step), 2), 4)


def below(name):
    """The network of the next lower tier that is shipped, or None."""
    stem, tier = name.rsplit("_", 1) if name.rsplit("_", 1)[1] in TIERS else (name, "fast")
    for lower in reversed(TIERS[:TIERS.index(tier)]):
        if os.path.exists(os.path.join(MODELS, f"{stem}_{lower}.mona")):
            return f"{stem}_{lower}"
    return None


def measure(name, spec, mona, data_folder):
    """[(what, [(PSNR, SSIM or nothing) of each set])]"""
    onnx, shipped = (os.path.join(MODELS, name + suffix) for suffix in (".onnx", ".mona"))
    ours, base = mona_rows(mona, shipped, spec, data_folder)
    rows = [("noisy" if spec.task == "denoise" else "bicubic", base),
            ("float", float_row(nets.load(name, onnx), spec, data_folder))]
    with tempfile.TemporaryDirectory() as folder:
        half = os.path.join(folder, "fp16.mona")
        subprocess.run([mona, "compile", onnx, "-o", half, "--picture"], check=True,
                       stdout=subprocess.DEVNULL)
        rows.append(("FP16", mona_rows(mona, half, spec, data_folder)[0]))
    rows.append(("**as shipped**", ours))
    other = below(name)
    if other:
        rows.append((f"`{other}` as shipped",
                     mona_rows(mona, os.path.join(MODELS, other + ".mona"), spec, data_folder)[0]))
    double = name.replace("x4", "x2")
    if double != name and os.path.exists(os.path.join(MODELS, double + ".onnx")):
        rows.append((f"`{double}` twice, float", float_row(Twice(double), spec, data_folder)))
    if name in WANTED:
        rows.append(("wanted", [(v,) for v in WANTED[name]]))
    return rows


# ---- the card ----------------------------------------------------------------------------------

def figures_table(spec, rows):
    sets = [f"sigma {s}" for s in SIGMAS] if spec.task == "denoise" \
        else [name for name, _, _ in evaluate.sr_sets(spec.scale, "")]
    lines = ["| | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for what, values in rows:
        cells = [f"{v[0]:.2f}" + (f", {v[1]:.4f}" if len(v) > 1 else "") for v in values]
        lines.append(f"| {what} | " + " | ".join(cells + [""] * (len(sets) - len(cells))) + " |")
    kept = dict(rows)
    loss = max(a[0] - b[0] for a, b in zip(kept["float"], kept["**as shipped**"]))
    return "\n".join(lines) + f"\n\nAs shipped it loses at most {max(loss, 0):.2f} dB against float."


def facts(name, spec, onnx, mona_file):
    weights = nets.read_weights(onnx)
    count = {part: sum(v.size for k, v in weights.items() if k.endswith(part))
             for part in ("weight", "bias")}
    c, n, reach = spec.channels, spec.body, spec.body + 2
    middle = f"{n} x (Conv {c}->{c}, Relu); Add f; Conv {c}->{spec.outputs}"
    if spec.task == "sr":
        s = spec.scale
        rows = [("input", "`luma` [1, 1, h, w], value / 255, any h and w; BT.601 studio range"),
                ("output", f"`luma_x{s}` [1, 1, {s}h, {s}w]"),
                ("graph", f"Conv 1->{c}, Relu (f); {middle}; Add luma; DepthToSpace")]
        per, sees = "input pixel", f"{2 * reach + 1}x{2 * reach + 1} input pixels around each"
    else:
        rows = [("inputs, value / 255", "`y` [1, 1, 2h, 2w]; `u`, `v`, `noise` [1, 1, h, w]; "
                 "`noise` is sigma everywhere"),
                ("outputs", "`y_out` [1, 1, 2h, 2w]; `u_out`, `v_out` [1, 1, h, w]"),
                ("graph", f"SpaceToDepth of y, Concat; Conv {spec.inputs}->{c}, Relu (f); {middle}; "
                 "Add y, u, v; DepthToSpace of y")]
        per, sees = "luma pixel", f"{4 * reach + 2}x{4 * reach + 2} luma pixels around each"
    rows += [("kernels", f"all 3x3, pads 1; ONNX opset {export_opset()}"),
             ("arithmetic", f"{spec.macs:,} MAC per {per}"),
             ("weights", f"{count['weight']:,} and {count['bias']:,} biases; "
              f"{os.path.getsize(mona_file):,} bytes of the binary"),
             ("sees", sees)]
    return "\n".join(["| | |", "|---|---|"] + [f"| {a} | {b} |" for a, b in rows])


def export_opset():
    import export
    return export.OPSET


def training(name, folder):
    """What the log tells."""
    with open(os.path.join(folder, name + ".log")) as f:
        text = f.read()
    last = re.findall(r"^(\d+) loss \S+ held-out ([\d. ]+) INT8 ([\d. ]+?) ranges .* minutes (\S+)$",
                      text, re.M)[-1]
    planned, made_with = re.findall(r"step \d+ of (\d+), \d+ MAC per pixel, (.*)$", text, re.M)[-1]
    shutil.copy(os.path.join(folder, name + ".png"), os.path.join(MODELS, "curves", name + ".png"))
    seen = "drawings" if nets.NETS[name].anime else "photographs"
    worker = "a GPU" if "trainer cuda" in made_with else "one thread"
    text = f"`train/train.py {name}` (`train/recipes/{name}.json`; {made_with}): {int(last[0]):,} of " \
        f"{int(planned):,} steps in {float(last[3]):.0f} minutes of {worker} beside other work. Luma of patches of " \
        f"the held-out {seen} at the end: {last[1].strip()} dB in float, {last[2].strip()} dB by the INT8 rule " \
        "with the ranges of training."
    return textwrap.fill(text, 118, break_on_hyphens=False) + \
        f"\n\n![Loss, and luma of held-out {seen}](curves/{name}.png)\n"


def written_into(card, facts, sections):
    """The card with its table of facts (its first) and these sections, new ones before those that it has."""
    above, *parts = re.split(r"^(?=## )", card, flags=re.M)
    words = above.split("\n| | |\n")[0].rstrip()
    kept = [part for part in parts if part[3:].split("\n")[0] not in sections]
    new = [f"## {title}\n\n{text.rstrip()}\n\n" for title, text in sections.items()]
    return f"{words}\n\n{facts}\n\n" + "".join(new + kept).rstrip() + "\n"


PICTURES = """The original, {base} and this network, twice as large as they are: the image that gains most and
the one that gains least.

![good](curves/{name}-good.png)
![bad](curves/{name}-bad.png)
"""


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name", choices=sorted(nets.NETS))
    p.add_argument("training", help="folder of NAME.log and NAME.png")
    p.add_argument("--mona", default=os.path.join(MODELS, "..", "build", "mona"))
    p.add_argument("--data", default=data.DEFAULT_DATA)
    a = p.parse_args()
    evaluate.torch.set_num_threads(1)
    spec = nets.NETS[a.name]
    onnx, mona_file = (os.path.join(MODELS, a.name + suffix) for suffix in (".onnx", ".mona"))
    rows = measure(a.name, spec, a.mona, a.data)
    folder = os.path.join(a.data, "test", "bsd100" if spec.task == "denoise" else f"set14/x{spec.scale}")
    pictures.write(a.mona, a.name, folder, os.path.join(MODELS, "curves"))
    figures = "PSNR in dB and SSIM of " + ("BSD68, grey," if spec.task == "denoise" else "luma") \
        + f" by the protocol of `mona eval`, which its --help describes; `train/card.py {a.name}`\nmeasured them."
    if spec.task == "sr":
        figures += " The last column is of the photographs that `train/held_out.txt` names."
    sections = {"Training": training(a.name, a.training), "Figures": figures + "\n\n" + figures_table(spec, rows),
                "Pictures": PICTURES.format(name=a.name, base="noisy (sigma 25)" if spec.task == "denoise"
                                            else "bicubic")}
    path = os.path.join(MODELS, f"CARD-{a.name}.md")
    card = open(path).read() if os.path.exists(path) else f"# {a.name}\n"
    with open(path, "w") as f:
        f.write(written_into(card, facts(a.name, spec, onnx, mona_file), sections))
    print(figures_table(spec, rows))


if __name__ == "__main__":
    main()
