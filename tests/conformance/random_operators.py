#!/usr/bin/env python3
"""Compares operators with PyTorch eager on random calls: overload by dtype, shapes, layouts, special values.

    tests/conformance/random_operators.py [--driver build/dev/tests/conformance/operator_driver] [--pterun FILE]
        [--filter TEXT] [--calls N] [--seed N] [--show N]

For every aten:: overload of `pterun inspect --operators`, N calls are drawn from its schema (sampling.py), and for those
of ExecuTorch where its package has a function for them (exported_operators.py): dtypes, promotion, broadcasting, 0-d and
empty tensors, negative dims, any dim order, NaN, infinity, integer extremes. Calls that eager refuses are not judged.
Prints divergences by overload and kind, with an example each; exit code 1 when there are any, 77 without torch. The seed
is printed.
"""

import argparse
import collections
import json
import math
import random
import subprocess
import sys
import warnings
from pathlib import Path

try:
    import torch
except ImportError:
    print("random_operators.py: torch is not installed; nothing was compared")
    sys.exit(77)

import exported_operators
import sampling

ROOT = Path(__file__).resolve().parents[2]
NUMBER = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
          torch.float32: 6, torch.float64: 7, torch.complex64: 9, torch.complex128: 10, torch.bool: 11,
          torch.bfloat16: 15, torch.uint16: 27, torch.uint32: 28, torch.uint64: 29}
DTYPE = {number: dtype for dtype, number in NUMBER.items()}
# Of the larger of |want| and the typical size of the numbers that went in: sums may cancel.
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.float64: 1e-9,
             torch.complex64: 1e-4, torch.complex128: 1e-9}


class Driver:
    def __init__(self, path, threads=2):
        self.command = [str(path), str(threads)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, request, blobs):
        """(error, outputs); a process that ends gives an error too and is started again."""
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n" + b"".join(blobs))
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            code = self.process.wait()
            self.start()
            return f"CRASH: the process ended with {code}", []
        reply = json.loads(line)
        return reply.get("error"), [self.read(output) for output in reply.get("outs", [])]

    def read(self, output):
        data = self.process.stdout.read(output["nbytes"]) if output["nbytes"] else b""
        dtype = DTYPE[output["dtype"]]
        return (torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)).reshape(
            output["shape"])


def bytes_of(tensor):
    flat = tensor.detach().contiguous().reshape(-1)
    if flat.numel() == 0:
        return b""
    return (flat if flat.dtype == torch.bool else flat.view(torch.uint8)).numpy().tobytes()


class Request:
    """A call in the driver's language."""

    def __init__(self, name, generator):
        self.body, self.blobs, self.generator = {"op": name, "args": []}, [], generator

    def order(self, rank):
        order = list(range(rank))
        # Strides speak of memory: elements have to lie as they do in eager.
        if "as_strided" not in self.body["op"] and self.generator.random() < 0.35:
            self.generator.shuffle(order)
        return order

    def tensor(self, tensor, role="in"):
        if role in ("in", "inout"):
            self.blobs.append(bytes_of(tensor))
        return {"t": "tensor", "dtype": NUMBER[tensor.dtype], "shape": list(tensor.shape),
                "order": self.order(tensor.dim()), "role": role}

    def value(self, value, type_name):
        if value is None:
            return {"t": "none"}
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, bool):
            return {"t": "bool", "v": value}
        if isinstance(value, str):
            return {"t": "string", "v": value}
        if isinstance(value, torch.dtype):
            return {"t": "int", "v": NUMBER[value]}
        if isinstance(value, int) and "float" not in type_name:
            return {"t": "int", "v": value}
        if isinstance(value, (int, float)):
            return {"t": "double", "v": float(value) if math.isfinite(value) else repr(float(value))}
        if "bool" in type_name:
            return {"t": "bools", "v": [bool(item) for item in value]}
        if "Optional[Tensor]" in type_name:
            return {"t": "optional_tensors", "v": [self.value(item, "") for item in value]}
        if "Tensor" in type_name:
            return {"t": "tensors", "v": [self.value(item, "") for item in value]}
        if "float" in type_name:
            return {"t": "doubles", "v": [float(item) for item in value]}
        return {"t": "ints", "v": [int(item) for item in value]}


def build(name, schema, values, results, generator):
    request, left = Request(name, generator), list(results)
    dynamic = name.split(".")[0] in ("aten::nonzero", "aten::masked_select")
    for argument in schema.arguments:
        written = argument.alias_info is not None and argument.alias_info.is_write
        if written and argument.is_out and "List" in str(argument.type):
            item = {"t": "tensors", "v": [request.tensor(result, "out") for result in left]}
        elif written and argument.is_out:
            item = request.tensor(left.pop(0), "dynamic" if dynamic else "out")
        elif written:
            item = request.tensor(values[argument.name], "inout")
        else:
            item = request.value(values[argument.name], str(argument.type))
        request.body["args"].append(item)
    return request.body, request.blobs


def difference(got, want, values):
    """Empty when they agree."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"gives {got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.numel() == 0:
        return ""
    if not (want.is_floating_point() or want.is_complex()):
        wrong = got != want
    else:
        tolerance, want_parts = TOLERANCE[want.dtype], want
        if want.is_complex():
            got, want_parts = torch.view_as_real(got), torch.view_as_real(want)
        a, b = got.double(), want_parts.double()
        size = want.to(torch.complex128).abs().unsqueeze(-1).expand_as(b) if want.is_complex() else b.abs()
        scale = torch.maximum(size, torch.full_like(b, values))
        wrong = ~((a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= tolerance * scale))
    if not wrong.any():
        return ""
    place = wrong.reshape(-1).nonzero()[0].item()
    return (f"{int(wrong.sum())} of {wrong.numel()} differ, first at {place}: {got.reshape(-1)[place].item()!r} "
            f"instead of {(want_parts if want.is_complex() else want).reshape(-1)[place].item()!r}")


def describe(values):
    def text(value):
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            return f"{dtype}{list(value.shape)}" + (f"={value.tolist()}" if value.numel() <= 6 else "")
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        return str(value)
    return ", ".join(f"{name}={text(value)}" for name, value in values.items())


class Comparison:
    def __init__(self, driver, generator):
        self.driver, self.generator = driver, generator
        self.judged, self.refused = collections.Counter(), collections.Counter()
        self.found = collections.defaultdict(list)
        self.unreached = set()

    def run(self, name):
        exported = not name.startswith("aten::")
        function, schema = exported_operators.resolve(name) if exported else sampling.resolve(name)
        if function is None:
            self.unreached.add(name)
            return
        values = exported_operators.draw(name, self.generator) if exported else sampling.draw(name, schema, self.generator)
        if values is None:
            return
        copies = {key: value.clone() if isinstance(value, torch.Tensor) else value for key, value in values.items()}
        try:
            results = function(**copies)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
        except Exception:  # eager refuses in many ways
            self.refused[name] += 1
            return
        if any(result.dtype not in NUMBER for result in results):
            return
        request, blobs = build(name, schema, values, results, self.generator)
        # What a call writes beside its outputs comes first in the driver's answer, as in the schema.
        if any(argument.is_out for argument in schema.arguments):
            results = [copies[argument.name] for argument in schema.arguments
                       if argument.alias_info and argument.alias_info.is_write and not argument.is_out] + results
        self.judged[name] += 1
        error, outputs = self.driver.call(request, blobs)
        involved = results + list(sampling.tensors_of(values))
        if error and error.startswith(("NotSupported", "InvalidType")) and any(item.numel() == 0 for item in involved):
            return None  # eager looks at the dtype only where there is something to compute
        if error:
            kind = "crash" if error.startswith("CRASH") else "refused"
            return self.note(name, kind, error, values)
        scale = sampling.magnitude(name, values)
        for got, want in zip(outputs, results):
            problem = difference(got, want.resolve_conj().resolve_neg(), scale)
            if problem:
                return self.note(name, "differs", problem, values)

    def note(self, name, kind, text, values):
        dtypes = sorted({str(value.dtype).removeprefix("torch.") for value in sampling.tensors_of(values)})
        if any(dtype.startswith("complex") for dtype in dtypes):
            kind += ", complex"
        self.found[name, kind].append((text, describe(values)))

    def report(self, show):
        for (name, kind), cases in sorted(self.found.items()):
            print(f"{name}: {kind} in {len(cases)} of {self.judged[name]} calls")
            for text, call in cases[:show]:
                print(f"    {text[:300]}\n      {call[:400]}")
        print(f"{sum(self.judged.values())} calls of {len(self.judged)} overloads compared, "
              f"{sum(self.refused.values())} refused by eager, {sum(map(len, self.found.values()))} divergences")
        never = sorted(set(self.refused) - set(self.judged))
        if never:
            print("never accepted by eager:", *never)
        if self.unreached:
            print(f"not compared, {len(self.unreached)}:", *sorted(self.unreached))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default=ROOT / "build/dev/tests/conformance/operator_driver")
    parser.add_argument("--pterun", default=ROOT / "build/dev/pterun")
    parser.add_argument("--filter", help="only overloads whose name contains one of these, separated by commas")
    parser.add_argument("--calls", type=int, default=100, help="of each overload")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--show", type=int, default=1, help="examples of each divergence")
    options = parser.parse_args()
    print("seed", options.seed)
    warnings.filterwarnings("ignore")
    torch.manual_seed(options.seed)
    listing = subprocess.run([options.pterun, "inspect", "--operators", "--json", "-"], check=True, capture_output=True)
    names = [row["name"] for row in json.loads(listing.stdout)["inspect"]["operators"]]
    if options.filter:
        names = [name for name in names if any(part in name for part in options.filter.split(","))]
    comparison = Comparison(Driver(options.driver), random.Random(options.seed))
    for name in names:
        for _ in range(options.calls):
            comparison.run(name)
    comparison.report(options.show)
    return 1 if comparison.found else 0


if __name__ == "__main__":
    sys.exit(main())
