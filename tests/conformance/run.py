#!/usr/bin/env python3
"""Runs a conformance set through pterun and says what passes.

    tests/conformance/run.py FOLDER... [--pterun build/release/pterun] [--filter TEXT] [--jobs N] [--threads N]

FOLDER holds a manifest.jsonl (README.md beside this file). Each case is one or a few processes; pterun does the
comparing. Prints passes per operator, dtype, node, quantisation and so on, the slowest cases, and every failure with
its reason and numbers. Exit code 0: no failure but those in known.json. Needs only Python's standard library.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cases import Planner, load_manifest

HERE = Path(__file__).resolve().parent
LACKS = "what this build lacks"  # in the message that names missing operators and backends
GROUPS = (("operator", "ops"), ("dtype", "dtypes"), ("node", "xnodes"), ("datatype", "xdtypes"),
          ("quantisation", "quant"), ("tag", "tags"), ("container", "container"), ("damage", "category"))


@dataclasses.dataclass
class Outcome:
    """What became of a case. `status`: pass, known, fail."""

    case: dict
    status: str = "pass"
    reason: str = ""
    seconds: float = 0.0
    exit_codes: list = dataclasses.field(default_factory=list)
    note: str = ""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pterun", default=str(HERE.parents[1] / "build/release/pterun"))
    parser.add_argument("--filter", help="only cases whose id contains one of these, separated by commas; /ID/ is exact")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--threads", type=int, default=1, help="threads of each pterun")
    parser.add_argument("--verify", choices=("full", "minimal"))
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for one process")
    parser.add_argument("--memory-limit-mb", type=int, default=4096,
                        help="address space of one process; 0 for builds with sanitizers")
    parser.add_argument("--known", type=Path, default=HERE / "known.json")
    parser.add_argument("--json", dest="json_file", help="write every outcome there")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the slowest cases to list")
    parser.add_argument("--brief", action="store_true", help="print only groups with failures")
    return parser.parse_args()


def is_selected(case, pattern):
    if not pattern:
        return True
    return any(case["id"] == part[1:-1] if part.startswith("/") else part in case["id"] for part in pattern.split(","))


def describe_failure(report, stderr):
    """The error of a report, or the numbers of its failed comparisons, or the last line of stderr."""
    if not isinstance(report, dict):
        lines = stderr.strip().splitlines()
        return lines[-1][:300] if lines else ""
    error = report.get("error")
    if error and error.get("code") != "mismatch":
        return f"{error.get('code')}: {error.get('message')}"[:2000]
    failed = [comparison for comparison in report.get("comparisons", []) if not comparison.get("pass", True)]
    texts = []
    for comparison in failed[:3]:
        place = f"step {comparison['step']} output" if comparison.get("step") else "output"
        worst = (comparison.get("worst") or [None])[0]
        texts.append(f"{place} {comparison.get('output')}: {comparison.get('reason', '')} worst {json.dumps(worst)[:160]}")
    return "; ".join(texts)


def differs_in_finite_values(report, case):
    """Whether a comparison that may fail over NaN and infinity fails over something else too."""
    failed = [comparison for comparison in report.get("comparisons", []) if not comparison.get("pass", True)]
    for metrics in (comparison.get("metrics", {}) for comparison in failed):
        placed_alike = metrics.get("nan_agree", True) and metrics.get("inf_agree", True)
        if placed_alike or metrics.get("max_abs", 0) > 10 * case["atol"]:
            return True
    return False


def check_shapes(report, expected):
    """Empty when the outputs have the expected dtypes and shapes."""
    found = [(output["dtype"], list(output["shape"])) for output in report.get("outputs", [])]
    return "" if found == expected else f"outputs are {found}, expected {expected}"


def output_hashes(report):
    return [output.get("sha256") for output in report.get("outputs", [])]


class Runner:
    def __init__(self, options):
        self.options = options

    def execute(self, run):
        """Starts one process; returns (problem, report). An empty problem means that the run was right."""
        command = [self.options.pterun, *run.arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            stdout, stderr = process.communicate(timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"hangs: no end after {self.options.timeout:g} s", None, None
        code, stderr = process.returncode, stderr.decode("utf-8", "replace")
        if code < 0:
            return f"crash: {signal.Signals(-code).name}", None, code
        try:
            report = json.loads(stdout)
        except ValueError:
            return f"exit {code}, stdout is not one JSON document; {describe_failure(None, stderr)}", None, code
        if report.get("exit_code") != code:
            return f"exit {code}, but the report says {report.get('exit_code')}", report, code
        if code not in run.exit_codes:
            wanted = "/".join(map(str, sorted(run.exit_codes)))
            return f"exit {code} instead of {wanted}: {describe_failure(report, stderr)}", report, code
        if code == 0 and run.shapes is not None:
            return check_shapes(report, run.shapes), report, code
        return "", report, code

    def judge(self, planner, case):
        outcome = Outcome(case)
        start = time.monotonic()
        problems, hashes = [], []
        for run in planner.runs(case):
            problem, report, code = self.execute(run)
            outcome.exit_codes.append(code)
            if problem:
                problems.append(f"{run.label}: {problem}" if run.label else problem)
            elif code == 1 and case.get("compare") == "nan_sensitive" and differs_in_finite_values(report, case):
                problems.append(f"finite values differ: {describe_failure(report, '')}")
            elif case.get("bit_equal"):
                hashes.append(output_hashes(report))
        if not problems and any(other != hashes[0] for other in hashes):
            problems.append("the option sets give different bits")
        if case.get("preferred") == "error" and set(outcome.exit_codes) & {0, 1}:
            outcome.note = "accepted, where refusing is better"
        outcome.seconds = time.monotonic() - start
        if problems:
            outcome.status, outcome.reason = "fail", " | ".join(problems[:3])
        return outcome


def members(case, key):
    value = case.get(key)
    return [] if value is None else sorted(set(value)) if isinstance(value, list) else [value]


def print_groups(outcomes, brief):
    for title, key in GROUPS:
        counts = collections.defaultdict(lambda: [0, 0])
        for outcome in outcomes:
            for name in members(outcome.case, key):
                counts[name][0] += outcome.status == "pass"
                counts[name][1] += 1
        shown = {name: count for name, count in counts.items() if not brief or count[0] < count[1]}
        if not shown:
            continue
        print(f"\npasses per {title}")
        for name, (passed, total) in sorted(shown.items(), key=lambda item: (item[1][0] == item[1][1], item[0])):
            print(f"  {name:<56} {passed}/{total}{'' if passed == total else '   <--'}")


def print_lacks(outcomes):
    """Operators and backends that the build lacks, each with the number of cases that fail over it."""
    counts = collections.Counter()
    for outcome in outcomes:
        if outcome.status == "fail" and LACKS in outcome.reason:
            counts.update(set(re.findall(r"(\S+) \(\d+ uses?\)", outcome.reason)))
    if counts:
        print(f"\nmissing in this build ({sum(LACKS in outcome.reason for outcome in outcomes)} cases)")
    for name, count in sorted(counts.items()):
        print(f"  {name:<56} {count}")


def print_report(outcomes, options, seconds):
    print_groups(outcomes, options.brief)
    print(f"\nslowest of {len(outcomes)} cases")
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.seconds)[: options.slowest]:
        print(f"  {outcome.seconds * 1e3:8.0f} ms  {outcome.case['id']}")
    print_lacks(outcomes)
    for status, title in (("known", "known failures"), ("fail", "failures")):
        chosen = [outcome for outcome in outcomes if outcome.status == status and LACKS not in outcome.reason]
        if chosen:
            print(f"\n{title}")
        for outcome in chosen:
            print(f"  {outcome.case['id']}: {outcome.reason}")
    lenient = sum(bool(outcome.note) for outcome in outcomes)
    if lenient:
        print(f"\n{lenient} damaged programs ran where refusing them is better")
    counts = collections.Counter(outcome.status for outcome in outcomes)
    print(f"\n{counts['pass']} of {len(outcomes)} pass, {counts['fail']} fail, {counts['known']} known failures, {seconds:.0f} s")


def load_known(path):
    """id -> reason, from [{"id", "reason", "numbers"}, ...]."""
    with open(path, encoding="utf-8") as file:
        return {entry["id"]: entry["reason"] for entry in json.load(file)}


def apply_known(outcomes, known):
    for outcome in outcomes:
        reason = known.get(outcome.case["id"])
        if reason and outcome.status == "fail":
            outcome.status, outcome.reason = "known", f"{reason} [{outcome.reason}]"
        elif reason:
            print(f"note: {outcome.case['id']} is in the list of known failures and passes")


def run_folders(options, scratch):
    common = ["--threads", str(options.threads), "--json", "-", "-q"]
    if options.verify:
        common += ["--verify", options.verify]
    runner, outcomes = Runner(options), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, folder in enumerate(options.folders):
            own_scratch = Path(scratch) / str(number)
            own_scratch.mkdir()
            planner = Planner(folder, own_scratch, common)
            cases = [case for case in load_manifest(folder) if is_selected(case, options.filter)]
            outcomes += pool.map(lambda case, planner=planner: runner.judge(planner, case), cases)
    return outcomes


def main():
    options = parse_arguments()
    if options.memory_limit_mb:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (options.memory_limit_mb << 20, hard))  # inherited by every process
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = run_folders(options, scratch)
    apply_known(outcomes, load_known(options.known))
    print_report(outcomes, options, time.monotonic() - start)
    if options.json_file:
        rows = [{"id": o.case["id"], "status": o.status, "reason": o.reason, "seconds": round(o.seconds, 4),
                 "exit_codes": o.exit_codes, "note": o.note} for o in outcomes]
        Path(options.json_file).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(outcome.status == "fail" for outcome in outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
