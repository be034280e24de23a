#!/usr/bin/env python3
"""Times pterun against the official runtime, one process each, in alternation.

    tests/bench/compare.py --official build/official/official_runner --zoo FOLDER mv2 silero --threads 1,2

For each model and thread count: rounds of pterun, official, pterun, official, ... with the same inputs and
iterations. A ratio is pterun / official within one round; the table shows its median over the rounds, so
that a load on the machine hits both sides. Below 1 means that pterun is faster or smaller.
`--only official` or `--only pterun` measures one side. `--startup` times tiny programs from start to exit.
Only the standard library is needed; official_runner is built as tests/bench/CMakeLists.txt says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from npz import read_npz

ROOT = Path(__file__).resolve().parents[2]
METRICS = ("steady", "first", "load", "peak")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="names in the zoo folder, without .pte")
    parser.add_argument("--zoo", type=Path, default=ROOT / "tests/data", help="folder of NAME.pte and NAME.inputs.npz")
    parser.add_argument("--pterun", default=str(ROOT / "build/release/pterun"))
    parser.add_argument("--official", default=str(ROOT / "build/official/official_runner"))
    parser.add_argument("--threads", default="1,2", help="comma separated thread counts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, help="default: as many as fill about half a second, 10 to 3000")
    parser.add_argument("--mode", choices=("file", "mmap"), default="file", help="how the official runtime loads")
    parser.add_argument("--only", choices=("official", "pterun"))
    parser.add_argument("--startup", action="store_true", help="also time each model from process start to exit")
    parser.add_argument("--pterun-option", action="append", default=[], metavar="ARG",
                        help="further argument for pterun, for example --pterun-option=--verify=minimal")
    parser.add_argument("--json", dest="json_file", help="write every sample there")
    return parser.parse_args()


def official_inputs(zoo, name, folder):
    """The runner's --input arguments; the arrays are written as raw files into the folder."""
    arguments = []
    for key, (dtype, shape, data) in read_npz(zoo / f"{name}.inputs.npz").items():
        path = folder / f"{name}.{key}.bin"
        path.write_bytes(data)
        arguments += ["--input", f"{dtype}:{'x'.join(map(str, shape))}:{path}"]
    return arguments


def official_command(options, name, folder, threads, iterations, warmup):
    return [options.official, str(options.zoo / f"{name}.pte"), "--mode", options.mode, "--threads", str(threads),
            "--iterations", str(iterations), "--warmup", str(warmup), *official_inputs(options.zoo, name, folder)]


def pterun_command(options, name, threads, iterations, warmup):
    return [options.pterun, "run", str(options.zoo / f"{name}.pte"),
            "--inputs", str(options.zoo / f"{name}.inputs.npz"), "--threads", str(threads),
            "--iterations", str(iterations), "--warmup", str(warmup), "--json", "-", "-q", *options.pterun_option]


def measure(command):
    """One process: steady median, first, load (ns) and peak memory (bytes), or None when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        print(f"  failed ({done.returncode}): {lines[-1] if lines else command[0]}", file=sys.stderr)
        return None
    report = json.loads(done.stdout)
    timing = report["timing"]
    return {"steady": timing["steady"]["p50_ns"], "min": timing["steady"]["min_ns"], "first": timing["first_ns"],
            "load": timing["load_ns"], "peak": report["memory"]["peak_rss_bytes"]}


def choose_iterations(command_for):
    """Fills about half a second, judged by a short run."""
    trial = measure(command_for(5, 1))
    if trial is None:
        return None
    return max(10, min(3000, int(0.5e9 / max(trial["steady"], 1))))


def start_to_exit_ms(command):
    """Wall time of a whole process, from just before it is started until it is reaped."""
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    os.waitpid(pid, 0)
    elapsed = time.perf_counter() - start
    os.close(null)
    return elapsed * 1e3


def compare_model(options, name, threads, folder):
    """Samples of both sides, round by round."""
    sides = {"pterun": lambda n, w: pterun_command(options, name, threads, n, w),
             "official": lambda n, w: official_command(options, name, folder, threads, n, w)}
    if options.only:
        sides = {options.only: sides[options.only]}
    iterations = options.iterations or choose_iterations(sides.get("official", sides.get("pterun")))
    if iterations is None:
        return None
    samples = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side, command_for in sides.items():
            sample = measure(command_for(iterations, max(3, iterations // 5)))
            if sample is None:
                return None
            samples[side].append(sample)
    return {"model": name, "threads": threads, "iterations": iterations, "samples": samples}


def median_of(samples, metric):
    return statistics.median(sample[metric] for sample in samples)


def ratios(result, metric):
    pairs = zip(result["samples"]["pterun"], result["samples"]["official"])
    return [ours[metric] / theirs[metric] for ours, theirs in pairs]


def describe(result, side):
    samples = result["samples"][side]
    return (f"{median_of(samples, 'steady') / 1e6:9.4f} {min(s['min'] for s in samples) / 1e6:9.4f} "
            f"{median_of(samples, 'first') / 1e6:9.3f} {median_of(samples, 'load') / 1e6:8.3f} "
            f"{median_of(samples, 'peak') / 2**20:7.1f}")


def print_result(result):
    head = f"{result['model']:<22} {result['threads']}T"
    for side in result["samples"]:
        print(f"{head} {side:<9} {describe(result, side)}   ({result['iterations']} iterations)")
    if len(result["samples"]) == 2:
        parts = []
        for metric in METRICS:
            values = ratios(result, metric)
            result.setdefault("ratios", {})[metric] = values
            parts.append(f"{metric} {statistics.median(values):.3f} [{min(values):.2f}..{max(values):.2f}]")
        print(f"{head} ratio     {'  '.join(parts)}")
    sys.stdout.flush()


def print_startup(options, name, folder):
    # Without a report: writing one hashes the files.
    commands = {"pterun": [options.pterun, "run", str(options.zoo / f"{name}.pte"), "--threads", "1", "-q",
                           "--inputs", str(options.zoo / f"{name}.inputs.npz"), *options.pterun_option],
                "official": official_command(options, name, folder, 1, 1, 0)}
    if options.only:
        commands = {options.only: commands[options.only]}
    times = {side: [] for side in commands}
    for _ in range(max(20, options.rounds)):
        for side, command in commands.items():
            times[side].append(start_to_exit_ms(command))
    for side, values in times.items():
        print(f"{name:<22} start to exit, {side:<9} median {statistics.median(values):.2f} ms  min {min(values):.2f} ms")
    return {"model": name, "start_to_exit_ms": times}


def main():
    options = parse_arguments()
    results, failed = [], []
    print(f"{'model':<22} {'':2} {'':9} {'steady ms':>9} {'min ms':>9} {'first ms':>9} {'load ms':>8} {'peak MB':>7}")
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models:
            for threads in (int(text) for text in options.threads.split(",")):
                result = compare_model(options, name, threads, Path(temporary))
                if result is None:
                    failed.append(name)
                    continue
                print_result(result)
                results.append(result)
            if options.startup and name not in failed:
                results.append(print_startup(options, name, Path(temporary)))
    if options.json_file:
        Path(options.json_file).write_text(json.dumps(results, indent=1) + "\n")
    if failed:
        print("failed:", " ".join(dict.fromkeys(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
