"""What a case of a conformance manifest asks for: processes to start and how to judge each.

Fields are explained in README.md beside this file.
"""

import ast
import dataclasses
import gzip
import json
import struct
import zipfile
from pathlib import Path

# Exit codes that the names under "accept" stand for.
ACCEPTED = {"ok": {0}, "mismatch": {1}, "error_load": {3, 6}, "error_exec": {3, 6}, "error_input": {4}}
CLEAN_ERRORS = {3, 4, 6}
NPY_DTYPES = {
    "|b1": "bool", "|u1": "uint8", "|i1": "int8", "<u2": "uint16", "<i2": "int16", "<u4": "uint32", "<i4": "int32",
    "<u8": "uint64", "<i8": "int64", "<f2": "float16", "<f4": "float32", "<f8": "float64",
}
SAFETENSORS_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool",
                      "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
                      "U64": "uint64", "I64": "int64"}


@dataclasses.dataclass
class Run:
    """One process: arguments after the program's name and the exit codes that are right."""

    label: str
    arguments: list
    exit_codes: set
    shapes: list = None  # expected (dtype, shape) of each output, where only these are compared


def load_manifest(folder):
    with open(Path(folder) / "manifest.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def allowed_exit_codes(case, expect):
    """Exit codes that count as right for an execution that should end as `expect`."""
    if "exit_codes" in case and expect == case.get("expect", "ok"):
        return set(case["exit_codes"])
    accepted = set().union(*(ACCEPTED[name] for name in case.get("accept", [])))
    if expect == "no_crash":
        return accepted | CLEAN_ERRORS | {0, 1}
    if expect == "error":
        # A damaged method name ends as a method that is not there, which is a usage error.
        unknown_method = "unknown method" in case.get("note", "") or "method_name" in case["id"]
        return accepted | CLEAN_ERRORS | ({2} if unknown_method else set())
    right = {"mismatch": {1}, "nan_sensitive": {0, 1}}.get(case.get("compare"), {0})
    return accepted | right


def program_path(folder, case, scratch):
    """The program's file; one that is stored compressed or has to be cut is written into the scratch folder."""
    if case["pte"].endswith("dev/null"):
        return Path("/dev/null")
    path = (folder / case["pte"]).resolve()
    if path.suffix != ".gz" and "cut" not in case and "append" not in case:
        return path
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    data = data[: case.get("cut", len(data))] + b"\xa5" * case.get("append", 0)
    changed = scratch / f"{case['id']}.pte"
    changed.write_bytes(data)
    return changed


def input_arguments(folder, case, entry):
    """None and strings are not inputs; where they occur the others are given one by one and counted without them."""
    arguments = []
    for index, order in enumerate(case.get("input_dim_orders") or []):
        if order:
            arguments += ["--input-dim-order", f"{index}={','.join(map(str, order))}"]
    if not entry.get("inputs") or case.get("n_inputs") == 0:
        return arguments
    path = (folder / entry["inputs"]).resolve()
    if "input_kinds" not in case:
        return [*arguments, "--inputs", str(path)]
    given = [index for index, kind in enumerate(case["input_kinds"]) if kind not in ("none", "str")]
    for position, index in enumerate(given):
        arguments += ["--input", f"{position}={path}:arr_{index}"]
    return arguments


def option_arguments(options):
    """--global-option and --load-option of XnnpackBackend from {"global": {key: value}, "load": {...}}."""
    arguments = []
    for path, values in options.items():
        for key, value in values.items():
            text = json.dumps(value) if isinstance(value, bool) else value
            arguments += [f"--{path}-option", f"XnnpackBackend.{key}={text}"]
    return arguments


def npz_shapes(path):
    shapes = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist(), key=lambda name: int(name[:-4].rsplit("_", 1)[-1])):
            with archive.open(name) as file:
                start = file.read(8)
                width, code = (4, "<I") if start[6] >= 2 else (2, "<H")
                (length,) = struct.unpack(code, file.read(width))
                header = ast.literal_eval(file.read(length).decode("latin1"))
                shapes.append((NPY_DTYPES[header["descr"]], list(header["shape"])))
    return shapes


def safetensors_shapes(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    names = sorted(header, key=lambda name: int(name.rsplit("_", 1)[-1]))
    return [(SAFETENSORS_DTYPES[header[name]["dtype"]], header[name]["shape"]) for name in names]


def stored_shapes(path):
    return safetensors_shapes(path) if path.suffix == ".safetensors" else npz_shapes(path)


class Planner:
    """Turns cases of one manifest into runs."""

    def __init__(self, folder, scratch, common):
        self.folder, self.scratch, self.common = Path(folder), Path(scratch), common

    def runs(self, case):
        program = program_path(self.folder, case, self.scratch)
        base = ["run", str(program), *(a for path in case.get("data", []) for a in ("--data", str((self.folder / path).resolve())))]
        if "bundle_cases" in case:
            return self.bundle_runs(case, base)
        steps = case.get("executions") or case.get("sequence")
        if steps:
            return self.step_runs(case, base, program, steps)
        if "option_sets" in case:
            return [self.single(case, base, case, f"options {i}", option_arguments(options))
                    for i, options in enumerate(case["option_sets"])]
        return [self.single(case, base, case, "")]

    def single(self, case, base, entry, label, options=()):
        expect = entry.get("expect", "ok")
        arguments = [*base, "--method", entry.get("method", case["method"]), *input_arguments(self.folder, case, entry)]
        run = Run(label, arguments + list(options), allowed_exit_codes(case, expect))
        expected = entry.get("expected")
        if expected and case.get("check") == "shape_dtype":
            run.shapes = stored_shapes(self.folder / expected)
        elif expected and expect != "error":
            run.arguments += ["--reference", str((self.folder / expected).resolve()), *self.tolerances(case)]
        run.arguments += self.common
        return run

    def tolerances(self, case):
        if case.get("atol") is None:
            return []
        return ["--atol", repr(case["atol"]), "--rtol", repr(case.get("rtol") or 0.0)]

    def bundle_runs(self, case, base):
        runs = []
        for (method, index), verdict in zip(case["bundle_cases"], case["bundle_expect"]):
            arguments = [*base, "--method", method, "--case", str(index), "--reference", "bundled", *self.tolerances(case)]
            runs.append(Run(f"{method} {index}", arguments + self.common, {0} if verdict == "pass" else {1}))
        return runs

    def step_runs(self, case, base, program, steps):
        """The steps that should succeed in one process, in order; each that should fail in one of its own."""
        good = [step for step in steps if step.get("expect", "ok") == "ok"]
        bad = [step for step in steps if step.get("expect", "ok") != "ok"]
        runs = [self.single(case, base, step, f"step {steps.index(step)}") for step in bad]
        if case.get("check") == "shape_dtype":
            return runs + [self.single(case, base, step, f"step {steps.index(step)}") for step in good]
        config = {"schema": "pterun.config/1", "model": {"path": str(program)},
                  "steps": [self.config_step(case, step) for step in good]}
        if case.get("data"):
            config["model"]["data"] = [str((self.folder / path).resolve()) for path in case["data"]]
        path = self.scratch / f"{case['id']}.json"
        path.write_text(json.dumps(config))
        runs.append(Run("steps", ["run", "--config", str(path), *self.common], allowed_exit_codes(case, "ok")))
        return runs

    def config_step(self, case, step):
        entry = {"method": step.get("method", case["method"])}
        if step.get("inputs") and case.get("n_inputs") != 0:
            entry["inputs"] = str((self.folder / step["inputs"]).resolve())
        if step.get("expected"):
            entry["reference"] = str((self.folder / step["expected"]).resolve())
            if case.get("atol") is not None:
                entry["tolerance"] = {"atol": case["atol"], "rtol": case.get("rtol") or 0.0}
        return entry
