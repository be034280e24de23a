"""What the scripts of hyperfine (scripts/*.py) and Google Benchmark (tools/compare.py) read of a result file, and what
they take for granted; judged without looking at how pterun writes it."""

import math
import statistics

TIME_UNITS = ("s", "ms", "us", "ns")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def lacking(entry, kinds, where):
    """Members that are absent or of another type."""
    for name, good in kinds.items():
        if name not in entry:
            yield f"{where} lacks {name}"
        elif not good(entry[name]):
            yield f"{where} has {name} = {entry[name]!r}"


def is_text(value):
    return isinstance(value, str) and value != ""


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# Labels are commands; the plots take times, mean, stddev and median, in seconds, and a parameter as a number of text.
HYPERFINE = {
    "command": is_text, "mean": is_number, "median": is_number, "min": is_number, "max": is_number,
    "stddev": lambda value: value is None or is_number(value),
    "times": lambda value: isinstance(value, list) and value and all(is_number(item) and item >= 0 for item in value),
    "exit_codes": lambda value: isinstance(value, list) and all(is_count(item) for item in value),
}


def hyperfine_result(result, where):
    found = list(lacking(result, HYPERFINE, where))
    if found:
        return found
    times = result["times"]
    figures = {"mean": statistics.mean(times), "median": statistics.median(times), "min": min(times), "max": max(times),
               "stddev": statistics.stdev(times) if len(times) > 1 else None}
    for name, value in figures.items():
        if value is None or result[name] is None:
            same = value is result[name]
        else:
            same = math.isclose(result[name], value, rel_tol=1e-9, abs_tol=1e-18)
        if not same:
            found.append(f"{where}: {name} does not follow from the times")
    if len(result["exit_codes"]) != len(times):
        found.append(f"{where} has not one exit code for each time")
    for name, value in result.get("parameters", {}).items():
        if not is_text(name) or not isinstance(value, str):
            found.append(f"{where} has the parameter {name!r} = {value!r}")
    return found


def hyperfine_problems(document):
    """What is wrong with a document of hyperfine's --export-json; empty when nothing is."""
    if not isinstance(document.get("results"), list):
        return ["no list of results"]
    found = []
    for index, result in enumerate(document["results"]):
        found += hyperfine_result(result, f"result {index}")
    # Plots of a parameter want the same one in all results.
    if len({tuple(sorted(result.get("parameters", {}))) for result in document["results"]}) > 1:
        found.append("results have different parameters")
    return found


CONTEXT = {
    "date": is_text, "executable": is_text, "num_cpus": is_count, "mhz_per_cpu": is_number,
    "cpu_scaling_enabled": lambda value: isinstance(value, bool), "caches": lambda value: isinstance(value, list),
    "load_avg": lambda value: isinstance(value, list),
    "library_build_type": lambda value: value in ("release", "debug"),
    "json_schema_version": lambda value: value == 1,  # compare.py reads no other
}
ENTRY = {
    "name": is_text, "run_name": is_text, "run_type": lambda value: value in ("iteration", "aggregate"),
    "family_index": is_count, "per_family_instance_index": is_count, "repetitions": is_count, "threads": is_count,
    "iterations": is_count, "real_time": is_number, "cpu_time": is_number, "time_unit": lambda value: value in TIME_UNITS,
}
AGGREGATE = {"aggregate_name": is_text, "aggregate_unit": lambda value: value in ("time", "percentage")}


def family_problems(entries, name):
    """The entries of one benchmark: repetitions first, each once, then their aggregates."""
    runs = [entry for entry in entries if entry["run_type"] == "iteration"]
    aggregates = entries[len(runs):]
    if entries[:len(runs)] != runs:
        yield f"{name}: an aggregate stands before a repetition"
    if [entry.get("repetition_index") for entry in runs] != list(range(len(runs))):
        yield f"{name}: repetition_index does not count"
    for entry in entries:
        if entry["repetitions"] != len(runs):
            yield f"{name}: repetitions is not their number"
        if entry["run_type"] == "iteration" and entry["name"] != name:
            yield f"{name}: a repetition has another name"
    for entry in aggregates:
        wrong = list(lacking(entry, AGGREGATE, name))
        if wrong:
            yield from wrong
            return
        if entry["name"] != f"{name}_{entry['aggregate_name']}" or "repetition_index" in entry:
            yield f"{name}: an aggregate is not named for it, or counts as a repetition"
    times = [entry["real_time"] for entry in runs]
    figures = {entry["aggregate_name"]: entry["real_time"] for entry in aggregates}
    if len(times) < 2:
        if aggregates:
            yield f"{name}: aggregates of one repetition"
        return
    spread = statistics.stdev(times)
    want = {"mean": statistics.mean(times), "median": statistics.median(times), "stddev": spread,
            "cv": spread / statistics.mean(times)}
    if set(figures) != set(want) or not all(math.isclose(figures[key], want[key], rel_tol=1e-9) for key in want):
        yield f"{name}: the aggregates do not follow from the repetitions"


def google_benchmark_problems(document):
    """What is wrong with a document of --benchmark_format=json; empty when nothing is."""
    entries = document.get("benchmarks")
    if not isinstance(entries, list) or not isinstance(document.get("context"), dict):
        return ["no context, or no list of benchmarks"]
    found = list(lacking(document["context"], CONTEXT, "context"))
    for index, entry in enumerate(entries):
        found += lacking(entry, ENTRY, f"benchmark {index}")
    if found:
        return found
    # compare.py sorts before it pairs by name: the file is in that order.
    order = [(entry["family_index"], entry["per_family_instance_index"]) for entry in entries]
    if order != sorted(order):
        found.append("families are not in the order of their index")
    families = {}
    for entry in entries:
        families.setdefault(entry["run_name"], []).append(entry)
    if [members[0]["family_index"] for members in families.values()] != list(range(len(families))):
        found.append("two benchmarks have one name, or one has two families")
    for name, members in families.items():
        found += family_problems(members, name)
    return found


def compared(before, after):
    """By name, the relative changes of the repetitions as compare.py pairs them, without the aggregates."""
    changes = {}
    for name in dict.fromkeys(entry["name"] for entry in before["benchmarks"] if entry["run_type"] == "iteration"):
        sides = [[entry["real_time"] for entry in side["benchmarks"] if entry["name"] == name] for side in (before, after)]
        changes[name] = [new / old - 1 for old, new in zip(*sides)]
    return changes
