#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How deep the stack of a thread gets, from the graph of all calls.

    stack.py LIMITS BUILD IR_FILE... prints a line for each row of LIMITS that begins with a function; exit status 1
                                         where one is over its limit, or a recursion has no row

Calls are those of the source, which clang prints as IR; a call through a pointer may reach every function of its type whose
address is taken anywhere. Frames are gcc's (-fstack-usage), of which each variant of a function counts; one that gcc has put
into its callers has none. What other libraries take is not counted. LIMITS has these rows, and lines that begin with '#':

    FUNCTION BYTES             the deepest stack below FUNCTION takes at most BYTES
    recursion FUNCTION TIMES   FUNCTION lies in a circle of calls, which is gone through at most so many times, because ...
"""
import re
import sys
from pathlib import Path

ALIGNMENT = 16  # a return address, and alignment
OUTSIDE = 256  # of mem* and of what else libc has that calls nothing
NAME = r'@("[^"]+"|[\w.$]+)'


def plain(text):
    """Without attributes, and without the numbers that tell types of the same name apart."""
    text = re.sub(r"\b(noundef|zeroext|signext|nocapture|readonly|writeonly|noalias|nonnull|returned|immarg|inreg|nofree)\b", "", text)
    text = re.sub(r"\b(align|dereferenceable|dereferenceable_or_null) ?\(?\d+\)?", "", text)
    text = re.sub(r"\b(byval|sret|byref)\([^()]*\)", "", text)
    text = re.sub(r'(%[\w.]*?)\.\d+\b', r"\1", text)
    return re.sub(r"\s+", "", text)


def arguments(text):
    """Splits at commas outside of brackets; text begins behind the opening parenthesis. Returns the parts."""
    depth, part, parts = 0, "", []
    for c in text:
        if c in "([{<":
            depth += 1
        if c in ")]}>":
            if depth == 0:
                break
            depth -= 1
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part] if part.strip() else parts


def types(text):
    """Of parameters or of values: the name or number at the end goes."""
    return [plain(re.sub(r"\s(%[\w.]+|[-\w.]+|@[\w.$]+|getelementptr .*|bitcast .*|inttoptr .*)$", "", p.strip())) for p in arguments(text)]


class Graph:
    def __init__(self):
        self.calls, self.through, self.type, self.taken = {}, {}, {}, set()

    def read(self, path):
        unit, name = Path(path).with_suffix("").name, None
        own = set(re.findall(r"^define (?:dso_local )?internal [^\n]*?" + NAME + r"\(", text := Path(path).read_text(), re.M))

        def full(n):
            return f"{unit}:{n}" if n in own else n

        for line in text.splitlines():
            start = re.match(r"define ([^@]*)" + NAME + r"\((.*)", line)
            if start:
                name = full(start.group(2))
                returns = re.sub(r"\b(dso_local|internal|hidden|linkonce_odr|weak|available_externally|unnamed_addr|local_unnamed_addr)\b", "", start.group(1))
                self.calls[name], self.through[name] = set(), set()
                self.type[name] = (plain(returns), tuple(t for t in types(start.group(3)) if t))
                continue
            if line.startswith("}"):
                name = None
            if line.startswith(("declare", "!", "attributes", "source_filename", "target")):
                continue
            call = re.search(r"\b(?:call|invoke) ([^@%]*?(?:%[\w.]+\**|\{[^}]*\})?\**\s*(?:\([^()]*\))?\s*)(" + NAME + r"|%\d+)\((.*)", line) if name else None
            rest = line
            if call:
                target = call.group(2)
                rest = line[: call.start(2)] + line[call.end(2):]
                if target.startswith("@"):
                    self.calls[name].add(full(target[1:].strip('"')))
                else:
                    returns = re.sub(r"\(.*\)\s*$", "", call.group(1))
                    self.through[name].add((plain(returns), tuple(t for t in types(call.group(call.lastindex)) if t)))
            for other in re.findall(NAME, rest.split(", !dbg")[0]):
                self.taken.add(full(other.strip('"')))

    def below(self, name):
        reached = set(self.calls.get(name, ()))
        for wanted in self.through.get(name, ()):
            reached |= {f for f in self.taken if self.type.get(f) == wanted}
        return reached


def frames(folder):
    """Of each function, by its name and by its file and name: variants that gcc has made of it may call each other."""
    size = {}
    for path in (p for part in ("engine", "ops", "formats", "pipeline", "apps") for p in (Path(folder) / part).rglob("*.su")):
        own = {}
        for line in path.read_text().splitlines():
            where, count, kind = line.split("\t")
            name = where.split(":")[-1].split(".")[0]
            own[name] = own.get(name, 0) + int(count)
            if kind == "dynamic":
                sys.exit(f"{where}: a frame without a bound")
        for name, count in own.items():
            for key in (name, f"{path.stem}:{name}"):
                size[key] = max(size.get(key, 0), count)
    return size


def circles(graph, names):
    """Tarjan's, without recursion. Returns a component for each name."""
    index, low, stack, on, of, counter = {}, {}, [], set(), {}, 0
    for root in names:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on.add(root)
        while work:
            n, rest = work[-1]
            for m in rest:
                if m not in graph:
                    continue
                if m not in index:
                    index[m] = low[m] = counter
                    counter += 1
                    stack.append(m)
                    on.add(m)
                    work.append((m, iter(sorted(graph[m]))))
                    break
                if m in on:
                    low[n] = min(low[n], index[m])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[n])
                if low[n] == index[n]:
                    group = []
                    while True:
                        m = stack.pop()
                        on.discard(m)
                        group.append(m)
                        if m == n:
                            break
                    for m in group:
                        of[m] = tuple(group)
    return of


def main():
    limits, folder, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    rows = [line.split(None, 3) for line in Path(limits).read_text().splitlines() if line.strip() and line[0] != "#"]
    times = {r[1]: int(r[2]) for r in rows if r[0] == "recursion"}
    graph, size, bad = Graph(), frames(folder), []
    for path in files:
        graph.read(path)
    edges = {n: graph.below(n) for n in graph.calls}
    of = circles(edges, sorted(edges))

    def frame(n):
        return size.get(n, size.get(n.split(":")[-1], 0)) + ALIGNMENT

    deepest = {}

    def depth(group):
        """Of a circle: all of its frames, as often as its rows say, and what lies below."""
        if group in deepest:
            return deepest[group]
        own, below = sum(map(frame, group)), (OUTSIDE, None)
        round_ = len(group) > 1 or group[0] in edges[group[0]]
        if round_:
            named = [times[m] for n in group for m in (n, n.split(":")[-1]) if m in times]
            if not named:
                bad.append("recursion without a row: " + " ".join(sorted(group)))
            own *= max(named, default=1)
        for n in group:
            for m in edges[n]:
                if m in of and of[m] != group:
                    below = max(below, (depth(of[m])[0], of[m]), key=lambda b: b[0])
        deepest[group] = (own + below[0], below[1])
        return deepest[group]

    sys.setrecursionlimit(20000)
    for row in rows:
        if row[0] == "recursion":
            continue
        if row[0] not in of:
            bad.append(f"{row[0]}: no such function")
            continue
        total, group = depth(of[row[0]])[0], of[row[0]]
        way = []
        while group:
            way.append(f"{group[0] if len(group) == 1 else '{' + ' '.join(sorted(group)) + '}'} {sum(map(frame, group))}")
            group = deepest[group][1]
        print(f"{row[0]} {total} of {row[1]}: " + " > ".join(way))
        if total > int(row[1]):
            bad.append(f"{row[0]}: {total} bytes, over {row[1]}")
    for line in dict.fromkeys(bad):
        print(line)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
