#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tour.py: docs/tour.md against the sources.

Each walk names at most eight files, all of which exist, and what a step names stands in one of its files."""
import os
import re
import sys

MOST = 8


def faults():
    walk, files = "", set()
    for number, line in enumerate(open("docs/tour.md").read().split("\n"), 1):
        if line.startswith("## "):
            walk, files = line[3:], set()
        if not re.match(r"\d+\. ", line):
            continue
        words = re.findall(r"`([^`]+)`", line)
        paths = [word for word in words if "/" in word]
        files.update(paths)
        for path in paths:
            if not os.path.isfile(path):
                yield f"{number}: {path}: there is no such file"
        if len(files) > MOST:
            yield f"{number}: {walk}: more than {MOST} files"
        text = "".join(open(path).read() for path in paths if os.path.isfile(path))
        for word in words:
            if "/" not in word and re.fullmatch(r"\w+", word) and not re.search(rf"\b{word}\b", text):
                yield f"{number}: {word}: not in {' or '.join(paths)}"
    if not files:
        yield "no walk was found"


if __name__ == "__main__":
    found = list(faults())
    for fault in found:
        print(f"docs/tour.md:{fault}")
    sys.exit(len(found) > 0)
