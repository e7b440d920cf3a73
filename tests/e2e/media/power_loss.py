#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The power goes before each call of a run that changes names on the disk or makes them last.

power_loss.py FOLDER STEP RUN

FOLDER has faults.so and in.mp4; MONA is the command. RUN: resume, or film, which replaces an earlier result. What may lie on the disk
afterwards: of each file what was last synced, and of what was written since all, nothing, a part or zeros; of each
folder the names that were synced, with or without those that were made or removed since. From each of these, or each
STEP-th, the same command must make the same result and leave nothing else; a result that is there is whole.
Prints what is wrong, and how many moments and how many disks there were.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER, STEP, RUN = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3]
MONA = str(Path(os.environ["MONA"]).resolve())
FILM = [MONA, "enhance", "-y", "in.mp4", "-o", "out/film.mp4", "--preset", "ultrafast", "-j", "1", "--quiet", "--stages", "denoise,sr"]
COMMAND = FILM + (["--resume", "--segment", "3"] if RUN == "resume" else [])
RESULT, BEFORE = "film.mp4", b"an earlier result"


class Disk:
    """What is below a folder now, and what is known to last. Folders and files have numbers."""

    def __init__(self, root):
        self.root, self.synced, self.listed, self.folders = root, {}, {}, set()
        self.look()
        for number, bytes_ in self.files.items():
            self.synced[number] = bytes_
        self.listed[self.number] = dict(self.names[self.number])

    def look(self):
        self.files, self.names, self.number = {}, {}, os.stat(self.root).st_ino
        for path in [self.root, *self.root.rglob("*")]:
            try:
                number = os.stat(path).st_ino
                if path.is_dir():
                    self.folders.add(number)
                    self.names[number] = {p.name: os.stat(p).st_ino for p in path.iterdir()}
                else:
                    self.files[number] = path.read_bytes()
            except FileNotFoundError:
                pass

    def sync(self, path):
        try:
            number = os.stat(path).st_ino
        except FileNotFoundError:
            return
        if number in self.names:
            self.listed[number] = dict(self.names[number])
        elif number in self.files:
            self.synced[number] = self.files[number]

    def contents(self, number, how):
        now, kept = self.files.get(number, b""), self.synced.get(number, b"")
        if now == kept or number not in self.files:
            return kept
        return {"all": now, "none": kept, "part": now[:max(len(kept), len(now) // 2)],
                "zeros": kept[:len(now)] + bytes(max(0, len(now) - len(kept)))}[how]

    def entries(self, number, how):
        now, kept = self.names.get(number, {}), self.listed.get(number, {})
        if how == "removals":  # a rename over a name is done or not
            return {name: n for name, n in kept.items() if name in now}
        return {"all": now, "none": kept, "additions": {**kept, **now}}[how]

    def build(self, written, named, number=None, at=""):
        number = number or self.number
        tree = {}
        for name, n in self.entries(number, named).items():
            if n in self.folders:
                tree[at + name] = None
                tree.update(self.build(written, named, n, at + name + "/"))
            else:
                tree[at + name] = self.contents(n, written)
        return tree

    def possible(self):
        for named in ("all", "none", "additions", "removals"):
            for written in ("all", "none", "part", "zeros"):
                yield f"names: {named}, bytes: {written}", self.build(written, named)


def place(tree):
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    (folder / "out").mkdir()
    os.link(FOLDER / "in.mp4", folder / "in.mp4")
    for name, contents in tree.items():
        path = folder / "out" / name
        path.mkdir() if contents is None else path.write_bytes(contents)
    return folder


def tree_of(folder):
    return {str(p.relative_to(folder)): None if p.is_dir() else p.read_bytes() for p in folder.rglob("*")}


def start(folder, **options):
    return subprocess.Popen(COMMAND, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **options)


def watch(tree):
    """Runs it once. Yields each moment and the disk then."""
    folder = place(tree)
    disk = Disk(folder / "out")
    from_it, to_me = os.pipe()
    from_me, to_it = os.pipe()
    env = dict(os.environ, LD_PRELOAD=str(FOLDER / "faults.so"), MONA_FAULT_TELL=f"{to_me}:{from_me}")
    run = start(folder, env=env, pass_fds=(to_me, from_me))
    os.close(to_me)
    os.close(from_me)
    with os.fdopen(from_it) as lines:
        for line in lines:
            what, path = line.rstrip("\n").split(" ", 1)
            disk.look()
            yield line.strip().replace(str(folder), ""), disk
            if what == "fsync":
                disk.sync(path)
            os.write(to_it, b"x")
    os.close(to_it)
    said = run.stderr.read().decode()
    if run.wait():
        print(f"the run that was watched ended with {run.returncode}: {said}")
    disk.look()
    yield "the end", disk
    shutil.rmtree(folder)


def judge(state):
    moment, how, tree, whole = state
    found = tree.get(RESULT)
    if found not in (None, BEFORE, whole[RESULT]) or (found is None and RUN == "film"):
        return f"before {moment} ({how}): the result is neither the old one nor the new one"
    folder = place(tree)
    run = start(folder)
    said = run.communicate()[1].decode()
    after = tree_of(folder / "out")
    shutil.rmtree(folder)
    if run.returncode or after != whole:
        return f"before {moment} ({how}): {run.returncode} {said} {sorted(after)} of {sorted(tree)}"
    return None


def main():
    tree = {RESULT: BEFORE} if RUN == "film" else {}
    folder = place(tree)
    if start(folder).wait():
        print("the command fails")
    whole = tree_of(folder / "out")
    shutil.rmtree(folder)
    seen, states, moments, sealed = set(), [], 0, 0
    for moment, disk in watch(tree):
        moments += 1
        for how, possible in disk.possible():
            key = hashlib.md5(repr(sorted(possible.items())).encode()).digest()
            if key not in seen:
                seen.add(key)
                states.append((moment, how, possible, whole))
        kept = len([name for name in disk.build("none", "none") if name.startswith(f"{RESULT}.resume/0")])
        if moment.startswith("fsync") and kept < sealed and RESULT not in disk.build("none", "none"):
            print(f"before {moment}: a segment that was whole may be lost")
        sealed = max(sealed, kept)
    if RUN == "resume" and sealed < 2:
        print(f"whole segments that last: {sealed}")
    chosen = states[::STEP]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for text in pool.map(judge, chosen):
            if text:
                print(text[:600])
    print(f"moments {moments}, disks {len(chosen)}")


main()
