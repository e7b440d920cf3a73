#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the pictures that training reads, or names those that it cannot fetch.

  fetch.py [FOLDER [SOURCE]...]      (../../../shared/data, all sources)

For each crop of windows.tsv that FOLDER/train lacks, the original is taken from its source (../CREDITS.md): from a Debian
package, or from the newest commit of a public repository that has it in this size. It is then reduced and cut out as it
was. What could not be fetched is named with its source, and the command fails. The six drawn pages of text are no
photographs, and training does without them.
"""
import argparse
import collections
import glob
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile

from PIL import Image, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "..", "shared", "data")
Image.MAX_IMAGE_PIXELS = None
Crop = collections.namedtuple("Crop", "name original size factor window")


def crops():
    with open(os.path.join(HERE, "windows.tsv"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                name, original, size, factor, window = line.rstrip("\n").split("\t")
                yield Crop(name, original, tuple(map(int, size.split("x"))), float(factor), tuple(map(int, window.split(","))))


def sources():
    """Where each source is, by its name."""
    with open(os.path.join(HERE, "..", "CREDITS.md"), encoding="utf-8") as f:
        return dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) *\|", f.read(), re.M))


def source_of(crop):
    return os.path.basename(crop.name).split("_")[0]


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True, **options).stdout


def photograph(content):
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
    if image.mode in ("RGBA", "LA", "P"):
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, (0, 0, 0, 255)), image)
    return image.convert("RGB")


def from_repository(folder, where):
    """A function that yields all that a path ever held, the newest first."""
    run("git", "clone", "--quiet", "--bare", "--filter=blob:none", "https://" + where, folder, env=os.environ | {"GIT_TERMINAL_PROMPT": "0"})

    def contents(original):
        for path in original, ":(glob)**/" + os.path.basename(original):
            for line in run("git", "-C", folder, "log", "--all", "--raw", "--no-abbrev", "--format=", "--", path).decode().splitlines():
                blob = line.split()[3]
                if blob.strip("0"):
                    yield run("git", "-C", folder, "cat-file", "blob", blob)
    return contents


def from_packages(folder, where):
    # "Debian packages lomiri-wallpapers-16.04 and -20.04": names that begin alike are written once.
    names = [n for n in re.findall(r"[a-z][a-z0-9]+(?:-[a-z0-9.]+)+|(?<= )-[0-9.]+", where) if n != "-"]
    for name in names:
        name = names[0].rsplit("-", 1)[0] + name if name.startswith("-") else name
        run("apt-get", "download", name, cwd=folder)
    for package in glob.glob(os.path.join(folder, "*.deb")):
        run("dpkg", "-x", package, folder)

    def contents(original):
        for path in glob.glob(os.path.join(glob.escape(folder), "**", os.path.basename(original)), recursive=True):
            with open(path, "rb") as f:
                yield f.read()
    return contents


def cut(crop, contents, path):
    for content in contents(crop.original):
        image = photograph(content)
        if image.size == crop.size:
            break
    else:
        raise ValueError(f"expected {crop.original} of {crop.size[0]}x{crop.size[1]}, found none")
    if crop.factor != 1:
        image = image.resize(tuple(round(n / crop.factor) for n in image.size), Image.LANCZOS)
    x, y, width, height = crop.window
    os.makedirs(os.path.dirname(path), exist_ok=True)
    image.crop((x, y, x + width, y + height)).save(path + ".part", "WEBP", lossless=True)
    os.replace(path + ".part", path)


def why(error):
    """Its last line."""
    said = getattr(error, "stderr", None) or str(error).encode()
    return said.decode(errors="replace").strip().splitlines()[-1]


def fetch(where, missing, folder):
    """Prints what it could not fetch; returns how many crops that is."""
    left = list(missing)
    with tempfile.TemporaryDirectory() as work:
        try:
            if not where:
                raise ValueError("CREDITS.md does not say where it is")
            debian = where.startswith("Debian")
            contents = (from_packages if debian else from_repository)(work, where if debian else re.match(r"[^ ,]*", where)[0])
            for crop in missing:
                try:
                    cut(crop, contents, os.path.join(folder, "train", crop.name))
                    left.remove(crop)
                except (ValueError, OSError, subprocess.CalledProcessError) as error:
                    print(f"{crop.name}: {why(error)} ({where})")
        except (ValueError, OSError, subprocess.CalledProcessError) as error:
            print(f"{where or source_of(missing[0])}: {why(error)}; {len(left)} crops need it:")
            for crop in left:
                print(f"  {crop.name}: {crop.original}, {crop.size[0]}x{crop.size[1]}, reduced by {crop.factor:g}, window {crop.window}")
    return len(left)


def main():
    parser = argparse.ArgumentParser(usage=inspect.cleandoc(__doc__))
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("sources", nargs="*")
    options, where, missing = parser.parse_args(), sources(), collections.defaultdict(list)
    folder, every = options.folder, [c for c in crops() if not options.sources or source_of(c) in options.sources]
    for crop in every:
        if not os.path.exists(os.path.join(folder, "train", crop.name)):
            missing[source_of(crop)].append(crop)
    left = sum(fetch(where.get(name), of, folder) for name, of in sorted(missing.items()))
    print(f"{len(every) - left} of {len(every)} crops are in {os.path.join(folder, 'train')}")
    return left > 0


if __name__ == "__main__":
    sys.exit(main())
