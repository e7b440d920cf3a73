#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Enhances mutated media files: hostile.py MONA FOLDER COUNT [SEED]

FOLDER has one small file for each format. Each run takes the next of them with some bytes changed, removed,
doubled or cut off. It must end within 20 s, with status 0 or 1, without a report of a sanitiser. Status 1
needs a line that says why and leaves no output. Status 0 needs frames in the output; fewer than the whole
file gives need a line that says so. Files that fail stay in FOLDER/bad. Prints one line for each, and at the end
how many files were refused and taken.
"""
import os
import random
import re
import subprocess
import sys

FRAMES = 3


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        # Headers lie at the beginning, and in some formats at the end.
        span = min(len(data), rng.choice((64, 512, len(data))))
        at = rng.randrange(span) if rng.random() < 0.8 else len(data) - 1 - rng.randrange(span)
        what = rng.random()
        if what < 0.5:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        elif what < 0.75:
            data[at:at + 4] = rng.choice((0, 1, 0x7fffffff, 0xffffffff, rng.getrandbits(32))).to_bytes(4, "big")
        elif what < 0.85:
            del data[at:at + rng.randrange(1, 200)]
        elif what < 0.95:
            data[at:at] = data[at:at + rng.randrange(1, 200)]
        else:
            del data[at:]
        if len(data) < 8:
            break
    return bytes(data)


def enhance(mona, source, output, sound):
    if os.path.exists(output):
        os.remove(output)
    command = [mona, "enhance", source, "-o", output, "--frames", str(FRAMES), "--stages", "sr", "--drop-unsupported"]
    if output.endswith("mkv"):
        command += ["-c", "ffv1", "--audio", sound]
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return None, "hangs"
    return run.returncode, run.stderr.decode(errors="replace")


def frames_of(text):
    found = re.search(r": (\d+) frames?\b", text)
    return int(found.group(1)) if found else 0


def fault(status, log, output, whole):
    lines = [line for line in log.splitlines() if line.strip()]
    if status is None:
        return "hangs"
    if status not in (0, 1) or "Sanitizer" in log or "runtime error" in log:
        return f"status {status}: " + " | ".join(line for line in lines if "ERROR" in line or "runtime" in line)
    if status == 1:
        return "leaves an output" if os.path.exists(output) else "" if lines else "fails without a word"
    if not os.path.exists(output):
        return "no output"
    return "" if output.endswith("png") or frames_of(log) >= whole or len(lines) > 1 else "frames are missing without a word"


def main(mona, folder, count, seed="1"):
    names = sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
    bad = os.path.join(folder, "bad")
    os.makedirs(bad, exist_ok=True)
    counts, faults, whole = {0: 0, 1: 0}, 0, {}
    for i in range(-len(names), int(count)):
        name = names[i % len(names)]
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        rng = random.Random(f"{seed} {i}")
        source = os.path.join(bad, f"{i}_{name}")
        output = os.path.join(bad, "out" + (".png" if name.rsplit(".")[-1] in ("png", "jpg", "webp", "tif", "bmp") else ".mkv"))
        with open(source, "wb") as file:
            file.write(mutate(data, rng) if i >= 0 else data)
        status, log = enhance(mona, source, output, "aac" if i // len(names) % 2 else "copy")
        if i < 0:  # as it is
            whole[name] = frames_of(log)
            why = "" if status == 0 else f"is refused as it is: {log}"
        else:
            why = fault(status, log, output, whole[name])
        if why:
            faults += 1
            print(f"{source}: {why}", flush=True)
        else:
            os.remove(source)
            counts[status] += i >= 0
    print(f"{counts[1]} refused, {counts[0]} taken, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
