"""Chooses tests/data/conformance: a small part of the conformance sets that covers every kind.

    python select_subset.py CONFORMANCE

CONFORMANCE holds the unpacked sets operators, xnnpack and malformed. Every operator overload, dtype, tag,
XNNPACK node, node in each quantisation, datatype, container and kind of damage stays covered at least once,
by the cases with the fewest bytes per newly covered kind. Needs only the standard library.
"""

import json
import re
import shutil
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
MAX_CASE_BYTES = 256 << 10  # the truncated 1 MB program is in tests/data/reports, compressed
SETS = ("operators", "xnnpack", "malformed")
DROPPED = ("official", "official_unverified", "test_atol", "test_rtol", "test_qtol")
STRUCTURE = ("executions", "sequence", "scalar_inputs", "scalar_outputs", "none_outputs", "check", "instructions",
             "input_kinds", "input_dim_orders", "bundle_cases", "compare", "container", "quant", "dynamic", "expect")


def entries(case):
    """The case and its further runs."""
    return [case, *case.get("executions", []), *case.get("sequence", [])]


def files_of(case):
    names = {case["pte"], *case.get("data", [])}
    for entry in entries(case):
        names.update(entry[key] for key in ("inputs", "expected", "expected_float") if entry.get(key))
    return names


def kinds_of(case):
    """What a case covers."""
    kinds = {("operator", name) for name in case.get("ops", [])}
    kinds |= {("dtype", name) for name in case.get("dtypes", [])}
    kinds |= {("tag", name) for name in case.get("tags", [])}
    kinds |= {("node", name) for name in case.get("xnodes", [])}
    kinds |= {("node in quantisation", name, case.get("quant")) for name in case.get("xnodes", [])}
    kinds |= {("datatype", name) for name in case.get("xdtypes", [])}
    for key in STRUCTURE:
        if key in case:
            value = case[key]
            kinds.add((key, str(value) if isinstance(value, (str, bool)) else "present"))
    kinds |= {("file", Path(name).suffix) for name in files_of(case)}
    if "category" in case:
        kinds.add(("damage", case["category"], re.sub(r"[-0-9]+", "", case.get("note", ""))))
    return kinds


def size_of(folder, names):
    return sum((folder / name).stat().st_size for name in names if (folder / name).is_file())


def choose(folder, cases):
    """Greedy cover: most new kinds per byte first; ties go to the smaller id."""
    kinds = {case["id"]: kinds_of(case) for case in cases}
    by_id = {case["id"]: case for case in cases}
    sizes = {name: size_of(folder, files_of(by_id[name])) + 200 for name in by_id}
    missing, chosen = set().union(*kinds.values()), []
    while missing:
        best = min(by_id, key=lambda name: (-len(kinds[name] & missing) / sizes[name], name))
        chosen.append(best)
        missing -= kinds[best]
    return [by_id[name] for name in sorted(drop_redundant(chosen, kinds, sizes))]


def drop_redundant(chosen, kinds, sizes):
    """Leaves out, largest first, what later choices made unnecessary."""
    kept = list(chosen)
    for name in sorted(chosen, key=lambda name: (-sizes[name], name)):
        others = set().union(*(kinds[other] for other in kept if other != name))
        if kinds[name] <= others:
            kept.remove(name)
    return kept


def copy_set(source, target, cases):
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for name in sorted(set().union(*(files_of(case) for case in cases))):
        if not (source / name).is_file() or ".." in Path(name).parts:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
    with open(target / "manifest.jsonl", "w", encoding="utf-8") as file:
        for case in cases:
            file.write(json.dumps({key: value for key, value in case.items() if key not in DROPPED}) + "\n")


def main():
    root = Path(sys.argv[1])
    for name in SETS:
        with open(root / name / "manifest.jsonl", encoding="utf-8") as file:
            cases = [json.loads(line) for line in file]
        cases = [case for case in cases if size_of(root / name, files_of(case)) <= MAX_CASE_BYTES]
        chosen = choose(root / name, cases)
        copy_set(root / name, DATA / "conformance" / name, chosen)
        size = size_of(root / name, set().union(*map(files_of, chosen)))
        print(f"{name}: {len(chosen)} of {len(cases)} cases, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
