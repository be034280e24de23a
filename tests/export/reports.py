"""Exports tests/data/reports: what users of .pte runners reported, each with its right answer.

    python reports.py CONFORMANCE/xnnpack

Cases that the conformance set has are copied from it and keep their ids; the others are exported here.
The numbers in the ids (C01 to C17) are those of the list of regression cases; #n is an issue of pytorch/executorch.
"""

import gzip
import io
import json
import math
import sys
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn

from lowering import DATA, export, lower, quantise, run_eager, xnnpack
from manifest import CaseFolder, tolerance

COPIED = ("C02.", "C04.", "C05.", "C06.", "C07.", "C08.", "C09.", "C10.", "C11.", "C12.", "C15.", "C16.")
NAN, INF = math.nan, math.inf
SPECIALS = (NAN, 1.0, INF, -INF, -2.0, 0.0, -0.0, 3.0)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def program_bytes(edge, config=None):
    program = edge.to_executorch(config) if config else edge.to_executorch()
    buffer = io.BytesIO()
    program.write_to_file(buffer)
    return buffer.getvalue(), program.executorch_program


def describe(execution_plans, method):
    """Operators outside delegates and the number of delegates of one method."""
    plan = next(plan for plan in execution_plans if plan.name == method)
    names = [op.name + (f".{op.overload}" if op.overload else "") for op in plan.operators]
    return {"ops": sorted(set(names)), "delegates": len(plan.delegates)}


class Writer:
    def __init__(self):
        self.folder = CaseFolder(DATA / "reports")

    def program(self, name, programs, dynamic=False, config=None):
        """Exports one program or a dict of methods; returns its path and plans."""
        partitioners = xnnpack(dynamic)
        if isinstance(programs, dict):
            partitioners = {method: [XnnpackPartitioner()] for method in programs}
        data, program = program_bytes(lower(programs, partitioners), config)
        return self.folder.add_program(f"{name}.pte", data), program.execution_plan

    def case(self, name, program, inputs, expected, method="forward", **fields):
        path, plans = program
        case = {"id": name, "pte": path, "data": [], "method": method, **describe(plans, method),
                "xnodes": [], "xdtypes": ["fp32"], "quant": "none", "dtypes": ["f32"], "rtol": 1e-4,
                "expect": "ok", "judged_by": "float eager", "source": "user_reports", "set": "reports"}
        if inputs is not None:
            case["inputs"] = self.folder.add_tensors(f"{name}.in.npz", inputs)
        if expected is not None:
            case["expected"] = self.folder.add_tensors(f"{name}.exp.npz", expected)
            case["atol"] = tolerance(expected, 1e-5)
        self.folder.add({**case, **fields})


def layout_lie(writer):
    model, example = Function(lambda x: x * 2), (torch.arange(12.0).reshape(1, 3, 2, 2),)
    program = writer.program("C01.layout_lie", export(model, example))
    writer.case("C01.layout_lie", program, example, run_eager(model, example), xnodes=["Multiply"],
                input_dim_orders=[[0, 2, 3, 1]], accept=["ok", "error_input"],
                note="#21837 contiguous method, caller states channels last: right numbers or an input error")
    writer.case("C01.contiguous", program, example, run_eager(model, example), xnodes=["Multiply"], note="#21837 pair")


def rowwise_reference(x, linear, weight, scale):
    """Dynamic int8 linear as XNNPACK defines it: one scale and zero point per row, in double."""
    rows = []
    for row in x.double():
        low, high = min(row.min().item(), 0.0), max(row.max().item(), 0.0)
        step = (high - low) / 255.0 or 1.0
        zero = round(min(max(-128 - low / step, -128), 127))
        quantised = torch.clamp(torch.round(row / step) + zero, -128, 127)
        rows.append(((quantised - zero) @ weight.double().T) * step * scale.double() + linear.bias.double())
    return torch.stack(rows).float()


def row_scales(writer):
    """C3: rows of very different size; the whole-tensor scale of the converted graph is not the reference."""
    torch.manual_seed(0)
    linear, example = nn.Linear(8, 5).eval().requires_grad_(False), torch.randn(3, 8)
    converted = quantise(linear, [(example,)], dynamic=True)
    program = writer.program("C03.rows", export(converted, (example,)), dynamic=True)
    scale = linear.weight.abs().amax(1) / 127.0
    weight = torch.clamp(torch.round(linear.weight / scale[:, None]), -127, 127)
    factors = torch.tensor([[1.0], [100.0], [0.01]])
    inputs = {"x1": example, "x100": example * 100, "x001": example * 0.01, "mixed": example * factors,
              "zero": torch.zeros(3, 8), "constant": torch.full((3, 8), 2.5)}
    fields = {"xnodes": ["Convert", "FullyConnected"], "xdtypes": ["fp32", "qcint8", "qdint8"],
              "quant": "dynamic_pc", "rtol": 1e-4}
    for name, x in inputs.items():
        expected = rowwise_reference(x, linear, weight, scale)
        step = (x.clamp(min=0).amax(1) - x.clamp(max=0).amin(1)).max().item() / 255.0
        writer.case(f"C03.rows_{name}", program, (x,), [expected], **fields, judged_by="row-wise reference in double",
                    atol=1e-5 + step * linear.weight.abs().max().item(), quantum=step,
                    note="per-row scales; one activation step times the largest weight allowed for ties")
        eager = run_eager(linear, (x,))
        half_step = 0.5 * step * linear.weight.abs().sum(1).max().item()
        rounding = 0.5 * scale.max().item() * x.abs().sum(1).max().item()
        writer.case(f"C03.rows_{name}_float", program, (x,), eager, **fields, judged_by="float eager",
                    atol=1e-5 + half_step + rounding, quantum=step,
                    note="half a row quantum times the L1 of the weights plus the rounding of the weights")


def special_values(writer):
    note = "C4: NaN and infinity may be placed elsewhere; the report counts them"
    row = (torch.tensor([SPECIALS]),)
    image = (torch.tensor(SPECIALS * 2).reshape(1, 1, 4, 4),)
    operators = {"sqrt": ("SquareRoot", torch.sqrt, row), "exp": ("Exp", torch.exp, row),
                 "maxpool": ("MaxPooling2d", nn.MaxPool2d(2), image)}
    for name, (node, function, inputs) in operators.items():
        model = Function(function)
        program = writer.program(f"C04.nan_{name}", export(model, inputs))
        writer.case(f"C04.nan_{name}", program, inputs, run_eager(model, inputs), xnodes=[node],
                    compare="nan_sensitive", note=note)


class Accumulator(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(2, 2))

    def forward(self, x):
        self.state.add_(x)
        return self.state * 1.0


class SetState(nn.Module):
    """Sets the accumulator's state. The buffer has the same name here: the exporter shares buffers by name."""

    def __init__(self, model):
        super().__init__()
        self.register_buffer("state", model.state)

    def forward(self, value):
        self.state.copy_(value)
        return self.state * 1.0


def shared_state(writer):
    """C6: two methods, one buffer in a shared arena."""
    model = Accumulator()
    one, seven = torch.ones(2, 2), torch.full((2, 2), 7.0)
    methods = {"forward": export(model, (one,)), "set_state": export(SetState(model), (one,))}
    config = ExecutorchBackendConfig(
        emit_mutable_buffer_names=True,
        memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True),
        passes=[InitializedMutableBufferPass(["state"])],
    )
    program = writer.program("C06.two_methods_one_state_shared", methods, config=config)
    steps = [("set_state", seven, seven), ("forward", one, torch.full((2, 2), 8.0)), ("forward", one, torch.full((2, 2), 9.0))]
    name = "C06.two_methods_one_state_shared"
    sequence = [{"method": method, "expect": "ok",
                 "inputs": writer.folder.add_tensors(f"{name}.s{i}.in.npz", (given,)),
                 "expected": writer.folder.add_tensors(f"{name}.s{i}.exp.npz", (wanted,))}
                for i, (method, given, wanted) in enumerate(steps)]
    writer.case(name, program, None, None, atol=1e-5, sequence=sequence, container="mutable_state",
                xnodes=["Multiply"], note="#17005 set_state(7), forward(1), forward(1) on one shared buffer: 7, 8, 9")


def even_kernel(writer):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Unflatten(1, (1, 256, 1)), nn.Conv2d(1, 16, (32, 1), padding="same"), nn.ReLU()).eval()
    inputs = (torch.randn(1, 256),)
    converted = quantise(model.requires_grad_(False), [inputs])
    program = writer.program("C07.even_same_pad_2d", export(converted, inputs))
    expected = run_eager(converted, inputs)
    step = min(difference for difference in torch.diff(torch.unique(expected[0])).tolist() if difference > 1e-6)
    writer.case("C07.even_same_pad_2d", program, inputs, expected, judged_by="converted graph", quantum=step,
                atol=step * 1.01, rtol=0.0, quant="static_pc", xdtypes=["fp32", "qcint32", "qcint8", "qint8"],
                xnodes=["Convert", "Conv2d", "Convert"], note="#20517 one step of the output allowed")


class Stack(nn.Module):
    """Three linears that layer norms, which stay outside, split into three delegates."""

    def __init__(self):
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(2))

    def forward(self, x):
        x = self.norms[0](self.linears[0](x))
        return self.linears[2](self.norms[1](self.linears[1](x)))


class FirstHalf(nn.Module):
    def __init__(self, stack):
        super().__init__()
        self.stack = stack

    def forward(self, x):
        return self.stack.linears[1](self.stack.norms[0](self.stack.linears[0](x)))


def option_sets():
    """Three sharing modes, cache off and on, set for the process, for this load, and both in conflict."""
    sets = []
    for mode in (0, 1, 2):
        for cache in (False, True):
            chosen = {"workspace_sharing_mode": mode, "weight_cache_enabled": cache}
            other = {"workspace_sharing_mode": (mode + 1) % 3, "weight_cache_enabled": not cache}
            sets += [{"global": chosen}, {"load": chosen}, {"global": other, "load": chosen}]
    return sets


def option_matrix(writer):
    torch.manual_seed(0)
    stack, x = Stack().eval().requires_grad_(False), (torch.randn(4, 64),)
    half = FirstHalf(stack)
    program = writer.program("C13.option_matrix", {"forward": export(stack, x), "half": export(half, x)})
    for method, model in (("forward", stack), ("half", half)):
        writer.case(f"C13.option_matrix_{method}", program, x, run_eager(model, x), method=method,
                    xnodes=["FullyConnected"], option_sets=option_sets(), bit_equal=True,
                    note="#19777 #19603 every option set matches and all give the same bits")
    for name, path, value, codes in (
        ("load_bool", "load", {"workspace_sharing_mode": True}, [2]),
        ("load_string", "load", {"weight_cache_enabled": "yes"}, [2]),
        ("load_range", "load", {"workspace_sharing_mode": 3}, [2]),
        ("global_int", "global", {"weight_cache_enabled": 1}, [2]),
    ):
        writer.case(f"C13.wrong_{name}", program, x, None, xnodes=["FullyConnected"], expect="error", exit_codes=codes,
                    option_sets=[{path: value}], note="a value of the wrong type or out of range is refused before loading")


def seven_dims(writer):
    model, inputs = Function(lambda x, y: x + y), (torch.randn(1, 2, 1, 2, 1, 2, 3), torch.randn(1, 2, 1, 2, 1, 2, 3))
    program = writer.program("C14.seven_dims", export(model, inputs))
    writer.case("C14.seven_dims", program, inputs, run_eager(model, inputs), xnodes=["Add"], expect="error",
                accept=["error_load", "ok"], note="XNNPACK has six dims: a load error with its message, or the right sum")


def half_precision(writer):
    torch.manual_seed(0)
    inputs = (torch.linspace(-8, 8, 64).reshape(4, 16).half(),)
    model = Function(torch.exp)
    program = writer.program("C15.exp_f16", export(model, inputs))
    writer.case("C15.exp_f16", program, inputs, run_eager(model, inputs), atol=2e-3, rtol=5e-3, dtypes=["f16"],
                xdtypes=["fp16"], xnodes=["Exp"], note="measured 5 of 2981")
    model, inputs = nn.Conv2d(3, 4, 3).half().eval().requires_grad_(False), (torch.randn(1, 3, 6, 6).half(),)
    program = writer.program("C15.conv_f16", export(model, inputs))
    writer.case("C15.conv_f16", program, inputs, run_eager(model, inputs), atol=5e-3, rtol=5e-3, dtypes=["f16"],
                xdtypes=["fp16"], xnodes=["Conv2d"], note="measured 0.00098 of 1.96")


def truncation_ladder(writer):
    """C17: a program over 1 MB, stored compressed (its weights repeat), cut by the test at run time."""
    pattern = torch.randn(64, generator=torch.Generator().manual_seed(0)) / 16
    model = nn.Sequential(nn.Linear(544, 544), nn.ReLU(), nn.Linear(544, 8)).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.copy_(pattern.repeat(math.ceil(parameter.numel() / 64))[: parameter.numel()].reshape(parameter.shape))
    inputs = (torch.randn(1, 544, generator=torch.Generator().manual_seed(1)),)
    data, program = program_bytes(lower(export(model, inputs), xnnpack()))
    assert len(data) > 1 << 20
    stored = (writer.folder.add_program("C17.ladder.pte.gz", gzip.compress(data, 9, mtime=0)), program.execution_plan)
    fields = {"xnodes": ["FullyConnected", "FullyConnected"], "container": "truncated"}
    expected = run_eager(model, inputs)
    writer.case("C17.whole", stored, inputs, expected, **fields, note=f"{len(data)} bytes, gzip")
    writer.case("C17.trailing", stored, inputs, expected, **fields, append=1000, note="1000 bytes of junk after the end")
    for size in (0, 7, 64, len(data) // 2, len(data) - 4096, len(data) - 1):
        writer.case(f"C17.cut_{size}", stored, inputs, None, **fields, expect="error", exit_codes=[3], cut=size,
                    note=f"#3848 first {size} of {len(data)} bytes")


# Which exit code a refusal must have where the conformance set leaves it open.
EXIT_CODES = {"C11.dynamic_bound_min1_n9": [4]}


def main():
    source = Path(sys.argv[1])
    writer = Writer()
    with open(source / "manifest.jsonl", encoding="utf-8") as file:
        for case in map(json.loads, file):
            if case["id"].startswith(COPIED):
                for key in ("test_atol", "test_rtol", "test_qtol", "official"):
                    case.pop(key, None)
                case["set"] = "reports"
                if case["id"] in EXIT_CODES:
                    case["exit_codes"] = EXIT_CODES[case["id"]]
                writer.folder.copy_case(source, case)
    for write_cases in (layout_lie, row_scales, special_values, shared_state, even_kernel, option_matrix, seven_dims,
                        half_precision, truncation_ladder):
        write_cases(writer)
    writer.folder.write()
    print(f"{len(writer.folder.cases)} cases")


if __name__ == "__main__":
    main()
