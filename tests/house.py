#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""house.py: where things may stand.

Which folder includes which: no arrow goes up, and none makes a circle.
Folders of one folder are compared with each other, and its own files as one of them ("pipeline/.").

Who compares names of containers and readers: only their tables, in pipeline/io/containers."""
import os
import re
import subprocess
import sys

# Whom each may include besides itself.
BELOW = {
    "engine": [],
    "models": ["engine"],
    "ops": ["engine"],
    "formats": ["engine", "ops"],
    "pipeline": ["engine", "models", "formats"],
    "apps": ["engine", "ops", "formats", "models", "pipeline"],
}

# All that a folder takes of another: pipeline reads models and has programs made of them, and
# compiles nothing.
ONLY = {("pipeline", "formats"): {"formats/error.h", "formats/file.h", "formats/kernel_symbol.h", "formats/om.h",
                                  "formats/compiler/program/programs.h"}}


def includes():
    """Pairs of files, of which the first includes the second."""
    files = set(subprocess.check_output(["git", "ls-files", *BELOW], text=True).split("\n"))
    for name in sorted(files):
        if not name.endswith((".c", ".h", ".inc")) or not os.path.exists(name):
            continue
        for other in re.findall(r'^#include "([^"]+)"', open(name).read(), re.M):
            places = (other, os.path.join("engine", other), os.path.join(os.path.dirname(name), other))
            found = [place for place in places if place in files]
            if found:
                yield name, found[0]


def arrow(a, b):
    """The arrow between the folders where the ways of two files part; None: they are in one."""
    a, b = os.path.dirname(a).split("/"), os.path.dirname(b).split("/")
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    if n == len(a) == len(b):
        return None
    return tuple("/".join(p[: n + 1]) if n < len(p) else "/".join(p + ["."]) for p in (a, b))


def arrows():
    found = {}
    for a, b in includes():
        key = arrow(a, b)
        if key:
            found.setdefault(key, f"{a} includes {b}")
    return found


def reaches(graph, start, goal):
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node == goal:
            return True
        if node not in seen:
            seen.add(node)
            todo += graph.get(node, ())
    return False


def is_bad(key, graph):
    """Whether an arrow goes up, or back to where others lead."""
    a, b = key
    if "/" not in a:
        return b not in BELOW[a]
    return reaches(graph, b, a)


def compared():
    """Comparisons of names that a row has, or of whatever libav calls a format."""
    tables = "pipeline/io/containers/"
    rows = "".join(open(tables + name).read() for name in ("container.c", "reader.c"))
    names = re.findall(r'(?:CALLED|ONE|READER)\("(\w+)"', rows)
    call = r"\b(?:strn?(?:case)?cmp|strstr|memcmp|av_match_(?:name|list)|av_strstart)\s*\([^;{}]*?"
    bad = re.compile(call + r'(?:"(?:%s)"|format->name)' % "|".join(names))
    files = subprocess.check_output(["git", "ls-files", "pipeline", "apps"], text=True).split()
    for name in files:
        if name.endswith((".c", ".h")) and not name.startswith(tables):
            text = open(name).read()
            for match in bad.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: compares a container's name: {' '.join(match[0].split())}"
    assert len(names) > 20


def taken():
    for a, b in includes():
        if b not in ONLY.get(arrow(a, b), {b}):
            yield f"{a} includes {b}: not what its folder may take of another"


def wrong():
    found = arrows()
    graph = {}
    for a, b in found:
        if "/" in a:
            graph.setdefault(a, set()).add(b)
    for key, why in sorted(found.items()):
        if is_bad(key, graph):
            yield f"{key[0]} -> {key[1]}: {'up' if '/' not in key[0] else 'in a circle'}: {why}"


def main():
    faults = [*compared(), *taken(), *wrong()]
    print(*faults, sep="\n", end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
