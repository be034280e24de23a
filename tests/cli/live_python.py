"""What tests of references that run live in Python share: a stand-in for the interpreter, and the real one where it is."""

import os
import subprocess
import sys

from driver import Case

# Speaks the protocol: `-c SCRIPT KIND MODEL FOLDER [DATA...]`. WHAT stands for the behaviour that a test wants.
STAND_IN = """#!{python}
import json, os, struct, sys, time
option, script, kind, model, folder, *data = sys.argv[1:]
assert option == "-c" and "live_reference" not in kind
out = os.fdopen(os.dup(1), "w", buffering=1)
def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)), file.read()
def write(path, tensors):
    header, parts, at = {{}}, [], 0
    for name, dtype, shape, data in tensors:
        header[name] = {{"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
{what}
"""


def has_module(python, module):
    try:
        return subprocess.run([python, "-c", f"import {module}"], capture_output=True, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


REAL = os.environ.get("PTERUN_TEST_PYTHON", "python3")
HAS_TORCH = has_module(REAL, "torch")
HAS_EXECUTORCH = HAS_TORCH and has_module(REAL, "executorch.runtime")


class StandInCase(Case):
    """A test that may put a script in the place of Python."""

    def stand_in(self, what):
        path = self.folder / "python"
        path.write_text(STAND_IN.format(python=sys.executable, what=what))
        path.chmod(0o755)
        return str(path)
