"""Exports tests/data/live: programs with the .pt2 they were lowered from, for references that run live in Python.

net         convolution, relu, linear, layer norm, gelu: XNNPACK nodes and operators in turn
net_q8      the same, quantised (static int8): net_q8.pt2 is the converted graph
net_wrong   net with one element of the convolution's weight changed: what `run --diverge` has to find
types       inputs and outputs of every kind: bfloat16, float64, int64 and bool tensors, an int, a float, None
state       a buffer that every call adds its input to
"""

import torch
from torch import nn

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


class Types(nn.Module):
    def forward(self, half, double, count, flag, number: int, real: float, nothing):
        assert nothing is None
        return half * 2, double + real, count * number, ~flag, torch.where(flag, half.float(), 0.5)


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(2, 2))

    def forward(self, x):
        self.state.add_(x)
        return self.state * 2


def write(name, model, inputs, partitioners):
    program = export(model, inputs)
    torch.export.save(program, FOLDER / f"{name}.pt2")
    write_program(FOLDER / f"{name}.pte", lower(program, partitioners))


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(0)
    net, image = Net().eval().requires_grad_(False), (torch.randn(1, 3, 6, 6),)
    write("net", net, image, xnnpack())
    converted = quantise(net, [image])
    write("net_q8", converted, image, xnnpack())
    save_tensors(FOLDER / "net.inputs.npz", image)
    save_tensors(FOLDER / "net.expected.npz", run_eager(net, image))
    save_tensors(FOLDER / "net_q8.expected.npz", run_eager(converted, image))
    net.convolution.weight[5, 1, 1, 1] += 0.5
    write_program(FOLDER / "net_wrong.pte", lower(export(net, image), xnnpack()))
    values = (torch.tensor([1.5, -2.0, 3.0]).bfloat16(), torch.tensor([0.1, 2.0], dtype=torch.float64),
              torch.arange(4), torch.tensor([True, False, True]), 3, 0.25, None)
    write("types", Types(), values, [])
    write("state", State(), (torch.ones(2, 2),), [])


if __name__ == "__main__":
    main()
