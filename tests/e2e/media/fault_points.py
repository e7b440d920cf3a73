#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of a run fails once, one after the other.

fault_points.py FOLDER FROM STEP [RUN[:CLASS]]...

FOLDER has faults.so, library (fault_library.c), in.mp4, in.png and net.onnx. MONA is the command. FROM: program,
libc or libraries (faults.c). Of the calls of a class every STEP-th fails; the first is chosen by its name. Prints what a
fault did that it must not, and how many calls of each class failed. A run must
- end by itself with status 0 and the result of a run without a fault, or with status 1 and one line;
- leave no other file, and memory of its own only where a run without a fault does, too;
- not crash. A library may where its own calls fail, which its callers cannot prevent: then mona says so in one line and
  leaves nothing. A library that ends the process itself says why.
"""
import collections
import hashlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER, FROM, STEP = Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
MONA = str(Path(os.environ["MONA"]).resolve())
FILM = ["--preset", "ultrafast", "-j", "1", "--quiet", "--stages", "denoise,sr"]
if FROM == "libraries":  # which may lose frames, and with --quiet only errors are told
    FILM += ["--on-error", "stop"]
RUNS = {
    "film": [MONA, "enhance", "in.mp4", "-o", "out/film.mp4", *FILM],
    "resume": [MONA, "enhance", "in.mp4", "-o", "out/film.mp4", *FILM, "--resume", "--segment", "3"],
    "still": [MONA, "enhance", "in.png", "-o", "out/still.png", "--quiet", "-j", "1"],
    "batch": [MONA, "enhance", "in.mp4", "in.png", "--out-dir", "out", *FILM],
    "live": [MONA, "enhance", "in.ts", "-o", "out/live.ts", "--live", *FILM],
    "compile": [MONA, "compile", "net.onnx", "-o", "out/net.mona", "--calibrate", "in.png"],
    "bench": [MONA, "bench", "sr_x2_tiny", "--size", "32x24", "-n", "2", "--warmup", "1", "-j", "1"],
    "library": ["./library", "in.mp4", "out/film.mp4"],
}
EIGHT = list(RUNS)
RUNS["hevc"] = [MONA, "enhance", "in.mp4", "-o", "out/film.mp4", *FILM, "-c", "hevc"]
RUNS["library-hevc"] = [*RUNS["library"], "hevc"]
RUNS["av1"] = [MONA, "enhance", "in.mp4", "-o", "out/film.mp4", "-c", "av1", "-j", "1", "--quiet", "--stages", "denoise,sr"]
ERRORS = {"malloc": 12, "mmap": 12, "open": 13, "read": 5, "write": 28, "lseek": 5, "close": 5, "stat": 5, "thread": 11,
          "fsync": 5, "rename": 13, "av": 12}
CLASSES = 17  # of faults.c, where those above come first
PACKETS = {}  # of the video, by the digest of the file
TIMES_DIFFER = {"live", "bench"}  # how many frames are left out, how long they take


class Server:
    """The command of a run, loaded once (MONA_FAULT_SERVE of faults.c)."""
    def __init__(self, run):
        from_me, to_it = os.pipe()
        from_it, to_me = os.pipe()
        env = dict(os.environ, LD_PRELOAD=str(FOLDER / "faults.so"), MONA_FAULT_FROM=FROM, MONA_FAULT_SERVE=f"{from_me}:{to_me}")
        if run.startswith("library"):
            env["MONA_FAULT_OBJECT"] = "libmonavideo"
        subprocess.Popen(RUNS[run], cwd=FOLDER, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         pass_fds=(from_me, to_me))
        os.close(from_me)
        os.close(to_me)
        self.to, self.answers = to_it, os.fdopen(from_it)

    def run(self, folder, fault):
        """Its status, or "hangs", and the lines that it says."""
        os.write(self.to, f"{folder} {fault}\n".encode())
        child, late = int(self.answers.readline()), []
        timer = threading.Timer(300, lambda: (late.append(child), os.killpg(child, signal.SIGKILL)))
        timer.start()
        status = int(self.answers.readline())
        timer.cancel()
        said = folder / "said"
        lines = said.read_text(errors="replace").splitlines()
        said.unlink()
        return "hangs" if late else status, lines


LOCAL = threading.local()


def server_of(run):
    """One for each thread, as it has one child at a time."""
    if getattr(LOCAL, "run", None) != run:
        if hasattr(LOCAL, "server"):
            os.close(LOCAL.server.to)  # which ends it
        LOCAL.run, LOCAL.server = run, Server(run)
    return LOCAL.server


class Outcome:
    def __init__(self, run, fault, n):
        self.folder = Path(tempfile.mkdtemp(dir=FOLDER))
        for name in ("in.mp4", "in.ts", "in.png", "net.onnx", "library"):
            os.link(FOLDER / name, self.folder / name)
        for name in ("out", "tmp"):
            (self.folder / name).mkdir()
        server = server_of(run)
        self.status, self.lines = server.run(self.folder, f"{fault}:{n}:{ERRORS.get(fault, 0)}")
        text = (self.folder / "count").read_bytes()
        self.calls = dict(zip(ERRORS, struct.unpack_from(f"{len(ERRORS)}q", text)))
        self.held = collections.Counter(text[8 * CLASSES:].decode().split())
        self.files = self.contents()
        self.again = None
        self.video = None if FROM == "program" or self.status else [self.packets(*file) for file in sorted(self.files.items())]
        if run == "resume" and self.status:
            self.again = server.run(self.folder, "none:0:0"), self.contents()
        shutil.rmtree(self.folder)

    def packets(self, name, digest):
        if digest not in PACKETS:  # most files are those of the run without a fault
            PACKETS[digest] = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                                              "packet=pts,size:stream=width,height,codec_name", "-of", "csv=p=0", self.folder / name],
                                             stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
        return PACKETS[digest]

    def contents(self):
        files = [p for name in ("out", "tmp") for p in sorted((self.folder / name).rglob("*"))]
        return {str(p.relative_to(self.folder)): hashlib.md5(p.read_bytes()).hexdigest() if p.is_file() else "folder"
                for p in files}


def keeps_video(o, whole):
    """A library that gets no memory may lose something beside the video without a word; its caller cannot know."""
    return FROM != "program" and (o.lines or o.video == whole.video)


def says(run, lines):
    """Whether that is one line; a batch goes on after a file that fails, and tells how many did. Libraries
    may print lines, too."""
    own = [line for line in lines if line.startswith("mona: ")]
    if FROM != "program":
        return lines and len(own) <= (2 if run == "batch" else 1)
    return len(own) == len(lines) and 1 <= len(own) <= (2 if run == "batch" else 1)


def complaint(run, whole, o):
    crashed = o.status != "hangs" and (o.status < 0 or o.status >= 128)
    told = any("crashed" in line for line in o.lines) or run.startswith("library")  # which leaves crashes to its program
    if o.status == "hangs" or (crashed and (FROM == "program" or not told)):
        return f"ends with status {o.status}"
    if crashed and run.startswith("library") and not o.lines:  # in FFmpeg: libmonavideo never takes its program's signals
        return None
    if o.status == 0:
        if run in TIMES_DIFFER:
            return None if o.files.keys() == whole.files.keys() else "leaves other files"
        files = {k: v for k, v in o.files.items() if ".resume" not in k}  # kept where no folder can be opened, and told
        return None if files == whole.files or keeps_video(o, whole) else "succeeds with another result"
    if o.status != 1 and not crashed:
        return f"ends with status {o.status}"
    if not says(run, o.lines):
        return f"says {len(o.lines)} lines"
    complete = ("standard output cannot be written", "what came before is in")  # the result is there, and told
    if any(text in o.lines[-1] for text in complete) and o.files.keys() == whole.files.keys():
        return None
    left = {name for name in o.files if not (run == "resume" and name.startswith("out/film.mp4.resume"))}
    if run == "batch":
        left = {name for name in left if name not in whole.files}
    if left:
        return f"leaves {sorted(left)}"
    if o.again and (o.again[0][0] or o.again[1] != whole.files):
        return f"does not go on afterwards: {o.again}"
    refused = "does not start: the system refused a thread"  # where what the encoder has is never given back
    held = o.held - whole.held if FROM == "program" and refused not in o.lines[-1] else None
    return f"keeps memory from {dict(held)}" if held else None


def sweep(run, whole, fault, pool):
    first = 1 + zlib.crc32(f"{run} {fault} {FROM}".encode()) % STEP if STEP > 1 else 1
    points = range(first, whole.calls[fault] + 1, STEP)

    def judge(n):
        o = Outcome(run, fault, n)
        found = complaint(run, whole, o)
        return found and f"call {n} of {whole.calls[fault]} {found} | {' | '.join(o.lines[:4])}"
    return [text for text in pool.map(judge, points) if text], len(points)


def main():
    wanted = sys.argv[4:] or EIGHT
    total = 0
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name in wanted:
            run, _, one = name.partition(":")
            whole = Outcome(run, "none", 0)
            if whole.status:
                print(f"{run} without a fault: {whole.status} {whole.lines}")
                continue
            for fault in [one] if one else ERRORS:
                complaints, points = sweep(run, whole, fault, pool)
                total += points
                print(f"points {run} {fault}: {points} of {whole.calls[fault]}", flush=True)
                for text in complaints:
                    print(f"{run} {fault}: {text}", flush=True)
    print(f"points in all: {total}")


main()
