#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an analyser finds, as lines "RULE FILE:LINE MESSAGE".

analyse.py gcc|clang-tidy BUILD FOLDER [FILE]

Of each file that the build BUILD compiles, as it compiles it, or of FILE alone. The analysers see one file at a time: from
copies of headers in FOLDER they learn that a function which reports a fault returns false.
"""
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOL, BUILD, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
CC = "clang" if TOOL == "clang-tidy" else "gcc"
REPORTS = re.compile(r"^bool ((?:format|onnx_node|graph|import|op|pipeline)_(?:fail(?:_node|_av)?|misuse)|cli_misuse)\(|^int (cli_fail)\(", re.M)
FINDING = re.compile(r"^([^\s:]+:\d+):\d+: (?:warning|error): (.*) \[[^]]*?(?:-W)?([a-zA-Z][\w.-]*?)(?:,[\w.,-]*)?\]$", re.M)
SLOW = "engine/cpu/x86/"  # of vectors, for each of which gcc takes minutes; checkops compares what they compute
SOURCES = ("engine", "ops", "formats", "pipeline", "apps")
# All rules of these groups. That files are written and closed without an error is tested by faults (fault_points.sh).
CHECKS = "-*,bugprone-*,cert-*,concurrency-*"
OPTIONS = {"cert-err33-c.CheckedFunctions": "::aligned_alloc;::calloc;::fgets;::fopen;::fread;::fseek;::ftell;"
                                            "::malloc;::realloc;::remove;::rename;::strtod;::strtol;::strtoul;::strtoull;::tmpfile",
           "bugprone-suspicious-string-compare.WarnOnImplicitComparison": "0"}


def commands():
    """Options for each file."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    text = subprocess.run(["make", "-n", "-B", f"CC={CC}", f"BUILD={BUILD}", "all", *(f"{BUILD}/{name}" for name in
                           ("firmware", "camera_host", "first_light"))], env=env, capture_output=True, text=True, check=True).stdout
    for options, file in set(re.findall(rf"^{CC} (-std=c11 .*) -c -o \S+ (\S+\.c)$", text, re.M)):
        if file.startswith(SOURCES) and (CC == "clang" or not file.startswith(SLOW)):
            yield file, shlex.split(options.replace("$PWD", os.getcwd()).replace("-fstack-usage", "").replace("-MMD -MP", ""))


def teach():
    for folder in SOURCES:
        for header in Path(folder).rglob("*.h"):
            text = header.read_text()
            names = REPORTS.findall(text)
            if names:
                known = FOLDER / header
                known.parent.mkdir(parents=True, exist_ok=True)
                known.write_text(text.rstrip().removesuffix("#endif") + "".join(
                    f"#define {a}(...) ({a}(__VA_ARGS__), false)\n" if a else f"#define {b}(s, ...) ({b}(s, __VA_ARGS__), s)\n"
                    for a, b in names) + "#endif\n")


def findings(file, options):
    known = [] if REPORTS.search(Path(file).read_text()) else [f"-I{FOLDER}"]  # it defines one of them
    config = f"{{Checks: '{CHECKS}', CheckOptions: [{', '.join(f'{{key: {k}, value: {chr(39)}{v}{chr(39)}}}' for k, v in OPTIONS.items())}]}}"
    command = ["clang-tidy", "--quiet", f"--config={config}", file, "--", *known, *options] if TOOL == "clang-tidy" else \
        ["gcc", *known, *options, "-O0", "-fanalyzer", "-c", "-o", "/dev/null", file]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    except subprocess.TimeoutExpired:
        return [f"takes-too-long {file}:0 more than 900 s"]
    found = [f"{rule} {place.removeprefix(os.getcwd() + '/').removeprefix(f'{FOLDER}/').removeprefix('./')} {message}"
             for place, message, rule in FINDING.findall(text.stdout + text.stderr)]
    found = [line for line in found if TOOL == "clang-tidy" or line.startswith("analyzer-")]
    return found if text.returncode == 0 else found + [f"fails {file}:0 {text.stderr.strip()[-200:]}"]


teach()
files = [(sys.argv[4], ["-std=c11"])] if len(sys.argv) > 4 else sorted(commands())
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for lines in pool.map(lambda f: findings(*f), files):
        for line in lines:
            print(line, flush=True)
