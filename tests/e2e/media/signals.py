# SPDX-License-Identifier: Apache-2.0
"""Sends signals to mona at random moments: signals.py MONA FOLDER MOMENTS SECONDS. Prints TAP lines.

FOLDER has in.mp4. MOMENTS of the signals are random, within SECONDS. A run must end within a second, with 128 + the signal's number, and leave nothing."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

full = os.environ.get("TIER", "full") == "full"
mona, folder, moments, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
here = os.path.join(folder, "here")
seed = int(os.environ.get("SEED", time.time()))
print(f"# SEED={seed}", flush=True)
random.seed(seed)
count = 0


def check(name, wrong):
    global count
    count += 1
    print(f"{'not ok' if wrong else 'ok'} {count} - {name}")
    for line in wrong:
        print(f"#   {line}")
    sys.stdout.flush()


def listens(process):
    """Waits until mona handles signals, which is the first thing it does after loading."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"SigCgt:\s*(\w+)", status.read())[1], 16) >> (signal.SIGTERM - 1) & 1


def wait_for(condition, seconds=60):
    end = time.time() + seconds
    while not condition() and time.time() < end:
        time.sleep(0.005)


def fill(pipe):
    """The number of bytes in a pipe that nobody reads."""
    os.set_blocking(pipe, False)
    try:
        while os.write(pipe, bytes(4096)):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(pipe, True)


def left_behind(keep):
    return [os.path.join(at, f) for at, _, files in os.walk(here) for f in files
            if f.endswith(".part") or ".part." in f or not any(k in os.path.join(at, f) for k in keep)]


def run(name, arguments, signals, ready, keep=(), said="interrupted", **streams):
    """ready: when to send the signals; keep: parts of names that may stay."""
    shutil.rmtree(here, ignore_errors=True)
    os.mkdir(here)
    environment = dict(os.environ, TMPDIR=here)
    with open(os.path.join(folder, "log"), "w+b") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": log, **streams}
        process = subprocess.Popen([mona, *arguments], env=environment, **streams)
        wait_for(lambda: listens(process))
        ready(process)
        running = process.poll() is None
        began = time.time()
        for number in signals:
            process.send_signal(number)
        try:
            status = process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            status = f"none, {process.wait()} after 20 s"
        took = time.time() - began
        log.seek(0)
        text = log.read().decode()
    wrong = []
    if not running and status == 0:
        return check(f"{name}: it ended before the signal", [])
    # If there are two signals, either may come first.
    if status not in [128 + n for n in signals]:
        # After the result has its name, there is nothing left to stop.
        if status != 0 or not os.path.exists(os.path.join(here, "out.mkv")):
            wrong.append(f"expected status {128 + signals[0]}, found {status}: {text!r}")
    elif said not in text and streams["stderr"] is log:
        wrong.append(f"expected a line with '{said}', found {text!r}")
    if took > 1:
        wrong.append(f"expected an end within 1 s, found {took:.2f} s")
    whole = ["out.mkv", "out.png"] if status == 0 or "nothing was written" not in text else []
    left = left_behind([*keep, *(f"here/{w}" for w in whole)])
    if left:
        wrong.append(f"expected nothing left behind, found {left}")
    check(f"{name} ({1000 * took:.0f} ms)", wrong)


def after(seconds):
    return lambda process: time.sleep(seconds)


def has(*parts):
    """A moment after a file appears whose name contains all of these."""
    def found():
        return any(all(p in os.path.join(at, f)[len(here):] for p in parts)
                   for at, _, files in os.walk(here) for f in files)

    def ready(process):
        wait_for(lambda: process.poll() is not None or found())
        time.sleep(0.2)
    return ready


clip, out = os.path.join(folder, "in.mp4"), os.path.join(here, "out.mkv")
quick = ["--preset", "ultrafast", "--quiet"]
reading, writing = os.pipe()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[:3 if full else 1]:
    run(f"a stalled input, {number.name}", ["enhance", "-", "-o", out, *quick], [number], after(0.3), stdin=reading)
fifo = os.path.join(folder, "fifo")
os.mkfifo(fifo)
run("an input that nobody has opened yet", ["enhance", fifo, "-o", out, *quick], [signal.SIGINT], after(0.3))
fill(writing)
for number in (signal.SIGTERM, signal.SIGINT)[:2 if full else 1]:
    run(f"a stalled output, {number.name}", ["enhance", clip, "-o", "-", "--drop-unsupported", "--quiet"], [number], after(0.5),
        stdout=writing)
run("nobody reads what it says", ["enhance", clip, "-o", out], [signal.SIGTERM], after(0.5), stderr=writing)
run("a result of compare that nobody reads", ["compare", clip, clip, "--json"], [signal.SIGTERM], after(0.5),
    stdout=writing)
run("SIGHUP with a file half written", ["enhance", clip, "-o", out, *quick], [signal.SIGHUP],
    has("out.mkv", ".part"))
run("two signals", ["enhance", clip, "-o", out, *quick], [signal.SIGINT, signal.SIGTERM], has("out.mkv", ".part"))
if full:
    run("a long network and a slow encoder", ["enhance", clip, "-o", out, "--scale", "4", "--tier", "best", "-c", "hevc",
                                              "--preset", "veryslow", "--quiet"], [signal.SIGINT], has("out.mkv"))
    run("a preview", ["enhance", clip, "-o", os.path.join(here, "out.png"), "--preview", "1", "--tier", "best",
                       "--scale", "8"],
        [signal.SIGINT], has("mona-", "result"))
    run("a dry run", ["enhance", clip, "-o", out, "--dry-run"], [signal.SIGTERM], has("mona-", "result"))
    run("bench --pipeline", ["bench", "--pipeline", clip], [signal.SIGINT], after(0.5))
run("--resume keeps what is done", ["enhance", clip, "-o", out, "--resume", "--segment", "2", *quick],
    [signal.SIGTERM], has(".resume", "000001"), keep=[".resume/"],
    said="frames; the same command goes on from there")
run("--resume leaves no half of a segment", ["enhance", clip, "-o", out, "--resume", "--segment", "60", "--scale", "4", "--tier", "best", *quick],
    [signal.SIGTERM], has(".resume", "-", ".part"), keep=[".resume/work"],
    said="after 0 frames; the same command goes on from there")
run("a batch", ["enhance", clip, "--out-dir", os.path.join(here, "all"), *quick], [signal.SIGINT],
    has("all", ".part"), keep=["manifest.json"], said="manifest.json says what was done")

for i in range(moments):
    number = random.choice([signal.SIGINT, signal.SIGTERM])
    seconds = random.random() * most
    run(f"{number.name} after {seconds:.3f} s", ["enhance", clip, "-o", out, *quick], [number], after(seconds))
