#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the built-in models and prints the table of docs/benchmark.md.

  table.py BUILD [--iterations 100] [--threads N]

Every row is one run of `mona bench --json`; reasons not to trust a run are printed below the table.
"""
import argparse
import json
import os
import subprocess
import sys

MODELS = ("sr_x2_fast", "sr_x2_balanced", "denoise_fast")
SIZES = ("640x360", "960x540", "1280x720", "1920x1080")


def bench(mona, *arguments):
    done = subprocess.run([mona, "bench", *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"table.py: failed: mona bench {' '.join(arguments)}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--iterations", default="100")
    parser.add_argument("--threads", default="0")
    a = parser.parse_args()
    mona = os.path.join(a.build, "mona")
    rows, warnings = [], []
    for model in MODELS:
        for size in SIZES:
            r = bench(mona, model, "--size", size, "--iterations", a.iterations, "--threads", a.threads)
            rows.append(r)
            warnings += [f"{model} {size}: {w}" for w in r.get("warnings", [])]
            print(f"{len(rows)} of {len(MODELS) * len(SIZES)}", file=sys.stderr)
    p = rows[0]["provenance"]
    print(f"{p['cpu']}, {rows[0]['threads']} threads, {rows[0]['isa']}, {p['compiler'].split(' (')[0]}, commit {p['commit']}, {p['date'][:10]}:\n")
    print("| model | size | p50 | p90 | max | GMAC/s | of the peak | arena |\n|---|---|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['model']} | {r['width']}x{r['height']} | {r['p50_ms']:.2f} ms | {r['p90_ms']:.2f} | {r['max_ms']:.2f} | "
              f"{r['gmac_per_s']:.0f} | {100 * r['peak_share']:.0f} % | {r['arena_bytes'] / 2**20:.2f} MiB |")
    if warnings:
        print("\nNot to be trusted:\n" + "\n".join(f"* {w}" for w in warnings))


if __name__ == "__main__":
    main()
