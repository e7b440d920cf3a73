# SPDX-License-Identifier: Apache-2.0
"""Helps emitted.sh.

main NET.h      a program that reads NET's inputs from in.0.npy, in.1.npy, ... and writes out.0.npy, ...
inputs NET.h    in.0.raw, in.0.npy, ...: noise that is the same everywhere
raw FILE.npy    its elements
stack ELF OBJDUMP ENTRY SU...  the deepest stack of a program's call graph, from the frames that the compiler told
"""
import re, subprocess, sys


def tensors(header):
    text = open(header).read()
    run = text[text.index("_run(mona_session"):]
    run = run[:run.index(";")]
    sizes = dict(re.findall(r"(\w+) = (\d+),", text))
    found = []
    for const, kind, name in re.findall(r"(const )?(\w+) \*(\w+), ptrdiff_t", run):
        key = next(k for k in sizes if k.endswith("_" + name.upper() + "_WIDTH"))[:-6]
        found.append((not const, kind, name, *(int(sizes[key + s]) for s in ("_CHANNELS", "_HEIGHT", "_WIDTH"))))
    return text, found


def main_of(header):
    text, found = tensors(header)
    net = re.search(r"mona_status (\w+)_open", text).group(1)
    print(f'#include "{net}.h"\n#include <stdio.h>\n')
    print(f"static _Alignas(64) uint8_t arena[{net.upper()}_ARENA_BYTES];")
    for out, kind, name, c, h, w in found:
        print(f"static {kind} {name}[{c} * {h} * {w}];")
    print("\nint main(void)\n{\n    mona_session *session;\n    FILE *f;")
    print(f"    if ({net}_open(&session, arena, sizeof arena - 1) != MONA_ERR_ARENA)\n        return 3;")
    print(f"    if ({net}_open(&session, arena, sizeof arena))\n        return 1;")
    for i, (out, kind, name, *_) in enumerate(t for t in found if not t[0]):
        print(f'    f = fopen("in.{i}.raw", "rb");\n    if (!f || fread({name}, sizeof {name}, 1, f) != 1)\n        return 4;\n    fclose(f);')
    arguments = ", ".join(f"{name}, {w} * sizeof *{name}" for _, _, name, _, _, w in found)
    print(f"    for (int i = 0; i < 2; i++)\n        if ({net}_run(session, {arguments}))\n            return 2;")
    for i, (out, kind, name, *_) in enumerate(t for t in found if t[0]):
        print(f'    f = fopen("out.{i}.raw", "wb");\n    fwrite({name}, sizeof {name}, 1, f);\n    fclose(f);')
    print("    mona_session_close(session);\n    return 0;\n}")


def npy(path, raw, kind, shape):
    """Writes an array of raw elements as .npy."""
    code = {"uint8_t": "|u1", "int8_t": "|i1", "uint16_t": "<f2", "float": "<f4"}[kind]
    head = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + raw)


def inputs_of(header):
    """in.N.raw and in.N.npy: noise that is the same everywhere."""
    state = 1
    for i, (out, kind, name, c, h, w) in enumerate(t for t in tensors(header)[1] if not t[0]):
        raw = bytearray()
        for _ in range(c * h * w * (2 if kind == "uint16_t" else 1)):
            state = (state * 1103515245 + 12345) % 2**31
            raw.append(state >> 16 & 255)
        if kind == "uint16_t":
            raw[1::2] = bytes(b & 0x3b for b in raw[1::2])  # halves below 1
        open(f"in.{i}.raw", "wb").write(raw)
        npy(f"in.{i}.npy", bytes(raw), kind, (c, h, w))


def raw_of(path):
    data = open(path, "rb").read()
    sys.stdout.buffer.write(data[10 + int.from_bytes(data[8:10], "little"):])


# Functions that call through pointers, and what they may call. Everything else calls by name.
THROUGH = {
    "mona_session_start": [],  # AI Cores and several threads, which this linked plan has not
    "mona_session_close": [],
    "mona_session_run": ["mona_session_run_band"],  # no operator of the network works on whole maps
    "run_alone": ["mona_session_run_band"],
    "mona_session_run_band": ["mona_session_run_strip"],
    "mona_session_run_unit": ["mona_session_run_strip"],
    "mona_session_run_until": ["mona_session_run_strip"],
    "mona_session_push_line": ["mona_session_run_strip"],
    "mona_session_pull_line": ["mona_session_run_strip"],
    "fill": ["mona_session_run_strip"],
    "mona_session_run_rows": "run",
    "mona_session_run_map": "run",
    "mona_session_call": "run",
    "mona_session_point_at": "run",
    "point_at_window": "run",
    "mona_schedule_unit": "run",
    "mona_schedule_strip": "run",
    "mona_schedule_start": "run",
    "idle_until": "run",
    "cover": "run",
    "mona_plan_columns_read": "run",
    "row": "isa",
    "mona_conv_map": "isa",
    "conv_scattered": "scatter",
    "conv_narrow": "scatter",
}


def plain(name):
    """The name in the source of a function that the compiler specialised."""
    return re.sub(r"(\.(constprop|isra|part|cold)(\.\d+)?)+$", "", name)


def stack_of(elf, objdump, entry, frames):
    size = {}
    for path in frames:
        for line in open(path):
            name, count, kind = line.rstrip("\n").split("\t")
            name = plain(name.split(":")[-1])
            size[name] = max(size.get(name, 0), int(count))
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", elf], capture_output=True, text=True, check=True).stdout
    calls, indirect, name = {}, set(), None
    for line in text.splitlines():
        start = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        if start:
            name = start.group(1)
            calls[name] = set()
            continue
        target = re.search(r"\s(?:callq?|jmpq?|j[a-z]+|bl?|blx|b\.\w+|b[a-z]{2}(?:\.[nw])?|cbn?z|tbn?z)\s.*<([^>+]+)>", line)
        if target and name and target.group(1) != name:
            calls[name].add(target.group(1))
        if name and re.search(r"\s(callq?\s+\*|blr\s|br\s+x|blx\s+r|bx\s+r|jmpq?\s+\*)", line) and "switch" not in line:
            indirect.add(name)
    runs = [n for n in calls if plain(n) in ("row", "rows", "columns", "same_span", "span", "mona_pool_row_span", "mona_pool_column_span")]
    isa = [n for n in calls if re.match(r"mona_(c|avx\w*|neon|dotprod|i8mm)_\w+_row$", n)]
    groups = {"run": runs, "isa": isa, "scatter": [n for n in isa if "pack_row" in n]}
    unknown = []
    deepest = {}

    def depth(n, path):
        if n in path:
            sys.exit("recursion: " + " > ".join(path + (n,)))
        if n not in deepest:
            below = set(calls.get(n, ()))
            if n in indirect:
                through = THROUGH.get(plain(n))
                if through is None:
                    unknown.append(n)
                else:
                    below |= set(groups.get(through, through) if isinstance(through, str) else through)
            best = max(((depth(m, path + (n,)), m) for m in below if m in calls), default=(0, ""))
            known = size.get(plain(n))
            if known is None:
                known = 0 if n.startswith(("mem", "_")) else unknown.append(n) or 0
            deepest[n] = known + 16 + best[0]  # a return address, and alignment
            chain[n] = best[1]
        return deepest[n]

    chain = {}
    total = depth(entry, ())
    if unknown:
        sys.exit("not known: " + " ".join(sorted(set(unknown))))
    way, n = [], entry
    while n:
        way.append(f"{n} {size.get(plain(n), 0)}")
        n = chain.get(n)
    print(total)
    print("# " + " > ".join(way))


if __name__ == "__main__":
    verb, rest = sys.argv[1], sys.argv[2:]
    {"main": lambda: main_of(rest[0]), "inputs": lambda: inputs_of(rest[0]), "raw": lambda: raw_of(rest[0]),
     "stack": lambda: stack_of(rest[0], rest[1], rest[2], rest[3:])}[verb]()
