#!/usr/bin/env python3
"""Measures a sweep on a Ray cluster, one task a share of the cells, and merges the reports.

usage: ray_sweep.py --shards N --out FOLDER [--pterun PROGRAM] [--cpus N] -- ARGUMENTS OF pterun bench...

A task asks for all CPUs of a machine (--cpus, default: those of this one), so that no two measure side by side. The
program, the config and the model are read by path on every machine. The exit code is the first of a task that is not 0,
else that of the merge.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import ray


def measure(program, arguments, shard):
    """One share: exit code, the report, and what was said on stderr."""
    done = subprocess.run([program, "bench", *arguments, "--shard", shard, "--no-progress", "--json", "-"],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--pterun", default="pterun")
    parser.add_argument("--cpus", type=int, default=os.cpu_count())
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    ray.init(log_to_driver=False)
    task = ray.remote(num_cpus=options.cpus, max_retries=0)(measure)
    shards = [f"{k}/{options.shards}" for k in range(1, options.shards + 1)]
    results = ray.get([task.remote(options.pterun, options.arguments, shard) for shard in shards])
    ray.shutdown()

    parts, code = [], 0
    for k, (returned, report, errors) in enumerate(results, 1):
        parts.append(options.out / f"part-{k}.json")
        parts[-1].write_bytes(report)
        sys.stderr.write(errors)
        code = code or returned
    merged = subprocess.run([options.pterun, "report", *parts, "--json", options.out / "merged.json"], check=False)
    return code or merged.returncode


if __name__ == "__main__":
    sys.exit(main())
