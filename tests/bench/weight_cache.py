#!/usr/bin/env python3
"""What the weight cache on disk saves: processes without and with a cache file, in alternation.

    tests/bench/weight_cache.py build/release/pterun MODEL.pte... [--threads 1,2] [--rounds 21]

Prints for each model and number of threads the medians over the rounds of load, first inference and their sum, in
milliseconds; `written` is the one process that makes the file. Files go to a temporary folder."""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile


def measure(program, model, threads, options):
    """Load and first inference of one process, in milliseconds."""
    done = subprocess.run([program, "run", model, "--threads", threads, "--quiet", "--json", "-", *options],
                          capture_output=True, check=True)
    timing = json.loads(done.stdout)["timing"]
    return timing["load_ns"] / 1e6, timing["first_ns"] / 1e6


def line(name, times):
    load, first = (statistics.median(column) for column in zip(*times))
    total = statistics.median(load + first for load, first in times)
    print(f"  {name:<9} load {load:7.2f}  first {first:7.2f}  sum {total:7.2f}")
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    for model in arguments.models:
        for threads in arguments.threads.split(","):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "weights.cache"
                options = ["--load-option", "XnnpackBackend.weight_cache_enabled=true", "--load-option",
                           f"XnnpackBackend.packed_cache_path={path}"]
                written = [measure(arguments.program, model, threads, options)]
                without, cached = [], []
                for _ in range(arguments.rounds):
                    without.append(measure(arguments.program, model, threads, []))
                    cached.append(measure(arguments.program, model, threads, options))
                print(f"{pathlib.Path(model).stem}, {threads} thread(s), file of {path.stat().st_size / 1e6:.1f} MB")
                line("written", written)
                plain = line("without", without)
                print(f"            ratio of the sums {line('cached', cached) / plain:.2f}")


if __name__ == "__main__":
    main()
