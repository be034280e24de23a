"""Exports tests/data/live: programs with the .pt2 they were lowered from, for references that run live in Python.

net         convolution, relu, linear, layer norm, gelu: XNNPACK nodes and operators in turn
net_q8      the same, quantised (static int8): net_q8.pt2 is the converted graph
net_wrong   net with one element of the convolution's weight changed: what `run --diverge` has to find
branches    two branches that are added, and branches_wrong, whose second has another weight
types       inputs and outputs of every kind: bfloat16, float64, int64 and bool tensors, an int, a float, None
state       a buffer that every call adds its input to, and state_wrong, which multiplies by 3 in place of 2

net.trace   what pterun gets to know of net.pt2, operator by operator, on net.inputs.npz: for tests without PyTorch
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn

from fuzz_corpus import safetensors
from lowering import DATA, export, lower, quantise, run_eager, save_tensors, write_program, xnnpack

FOLDER = DATA / "live"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)
        self.linear = nn.Linear(8 * 6 * 6, 16)
        self.norm = nn.LayerNorm(16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        x = torch.relu(self.convolution(x)).flatten(1)
        return self.last(nn.functional.gelu(self.norm(self.linear(x))))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Conv2d(3, 4, 3, padding=1)
        self.right = nn.Conv2d(3, 4, 3, padding=1)
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        both = torch.relu(self.left(x)) + torch.tanh(self.right(x))
        return self.last(both.mean((2, 3)))


class Types(nn.Module):
    def forward(self, half, double, count, flag, number: int, real: float, nothing):
        assert nothing is None
        return half * 2, double + real, count * number, ~flag, torch.where(flag, half.float(), 0.5)


class State(nn.Module):
    def __init__(self, factor=2):
        super().__init__()
        self.factor = factor
        self.register_buffer("state", torch.zeros(2, 2))

    def forward(self, x):
        self.state.add_(x)
        return self.state * self.factor


def write(name, model, inputs, partitioners):
    program = export(model, inputs)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # paths of the machine that exports
    torch.export.save(program, FOLDER / f"{name}.pt2")
    write_program(FOLDER / f"{name}.pte", lower(program, partitioners))


def record_trace(name, image):
    """Asks the script that pterun runs references with, as pterun does."""
    script = Path(__file__).resolve().parents[2] / "lib" / "reference" / "python" / "live_reference.py"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "inputs.safetensors").write_bytes(
            safetensors({"0": ("F32", list(image.shape), image.numpy().tobytes())}))
        command = [sys.executable, "-c", script.read_text(), "eager", str(FOLDER / f"{name}.pt2"), folder]
        request = f"trace {'forward'.encode().hex()} tensor\n"
        replies = subprocess.run(command, input=request, capture_output=True, text=True, check=True).stdout.splitlines()
        assert replies[-1] == "ok", replies
        (FOLDER / f"{name}.trace").mkdir(exist_ok=True)
        for file in ("trace.txt", "trace.bin"):
            shutil.copy(Path(folder) / file, FOLDER / f"{name}.trace" / file)


def write_branches():
    torch.manual_seed(3)
    branches, image = Branches().eval().requires_grad_(False), (torch.randn(1, 3, 5, 5),)
    write("branches", branches, image, xnnpack())
    branches.right.weight[2, 0, 1, 1] += 0.5
    write_program(FOLDER / "branches_wrong.pte", lower(export(branches, image), xnnpack()))


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(0)
    net, image = Net().eval().requires_grad_(False), (torch.randn(1, 3, 6, 6),)
    write("net", net, image, xnnpack())
    converted = quantise(net, [image])
    write("net_q8", converted, image, xnnpack())
    save_tensors(FOLDER / "net.inputs.npz", image)
    save_tensors(FOLDER / "net.expected.npz", run_eager(net, image))
    record_trace("net", *image)
    save_tensors(FOLDER / "net_q8.expected.npz", run_eager(converted, image))
    net.convolution.weight[5, 1, 1, 1] += 0.5
    write_program(FOLDER / "net_wrong.pte", lower(export(net, image), xnnpack()))
    write_branches()
    values = (torch.tensor([1.5, -2.0, 3.0]).bfloat16(), torch.tensor([0.1, 2.0], dtype=torch.float64),
              torch.arange(4), torch.tensor([True, False, True]), 3, 0.25, None)
    write("types", Types(), values, [])
    write("state", State(), (torch.ones(2, 2),), [])
    write_program(FOLDER / "state_wrong.pte", lower(export(State(3), (torch.ones(2, 2),)), []))


if __name__ == "__main__":
    main()
