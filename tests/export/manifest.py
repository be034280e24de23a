"""Writes a folder of cases with a manifest.jsonl in the format of the conformance sets.

One case is one line; tests/conformance/README.md explains the fields. Files are named after
the case, programs that several cases share after the first of them.
"""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
from lowering import save_tensors


class CaseFolder:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.cases = []
        self.programs = {}
        if self.folder.exists():
            shutil.rmtree(self.folder)
        for name in ("pte", "io", "data"):
            (self.folder / name).mkdir(parents=True)

    def add_program(self, name, data):
        """The path of a program in the folder; equal bytes are stored once."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self.programs:
            self.programs[digest] = f"pte/{name}"
            (self.folder / "pte" / name).write_bytes(data)
        return self.programs[digest]

    def add_tensors(self, name, tensors):
        save_tensors(self.folder / "io" / name, tensors)
        return f"io/{name}"

    def add(self, case):
        self.cases.append(case)

    def copy_case(self, source, case):
        """Takes a case over from another set, with its files."""
        case = json.loads(json.dumps(case))
        case["pte"] = self.add_program(case["id"] + Path(case["pte"]).suffix, (source / case["pte"]).read_bytes())
        for entry in (case, *case.get("sequence", []), *case.get("executions", [])):
            for key in ("inputs", "expected", "expected_float"):
                if entry.get(key):
                    entry[key] = self.copy_file(source, entry[key], "io")
        case["data"] = [self.copy_file(source, path, "data") for path in case.get("data", [])]
        self.cases.append(case)

    def copy_file(self, source, path, kind):
        name = Path(path).name
        shutil.copyfile(source / path, self.folder / kind / name)
        return f"{kind}/{name}"

    def write(self):
        self.cases.sort(key=lambda case: case["id"])
        ids = [case["id"] for case in self.cases]
        assert len(ids) == len(set(ids)), "two cases have the same id"
        for name in ("pte", "io", "data"):
            if not any((self.folder / name).iterdir()):
                (self.folder / name).rmdir()
        with open(self.folder / "manifest.jsonl", "w", encoding="utf-8") as file:
            for case in self.cases:
                file.write(json.dumps(case) + "\n")


def tolerance(expected, share):
    """Absolute tolerance as a share of the largest finite value, at least the share itself."""
    largest = 0.0
    for tensor in expected:
        values = np.abs(tensor.detach().numpy().astype(np.float64))
        finite = values[np.isfinite(values)]
        if finite.size:
            largest = max(largest, float(finite.max()))
    return share * (1.0 + largest)
