"""Shared steps of the export scripts: eager model -> .pte, inputs and outputs -> npz.

Everything is seeded and single threaded, so that a second run writes the same
programs and the same numbers on the same machine.
"""

import copy
import logging
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
    XnnpackDynamicallyQuantizedPartitioner,
    XnnpackPartitioner,
)
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

torch.set_num_threads(1)

DATA = Path(__file__).resolve().parent.parent / "data"


def flatten(outputs):
    """The tensors of a method's result in the order of the program's outputs."""
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    return [tensor for item in outputs for tensor in flatten(item)]


def run_eager(model, inputs):
    """Outputs of a copy of the model, so that buffers of the original stay as they are."""
    with torch.no_grad():
        return flatten(copy.deepcopy(model)(*inputs))


def save_tensors(path, tensors):
    """Writes arr_0, arr_1, ... in logical (row-major) order."""
    arrays = {f"arr_{i}": np.ascontiguousarray(t.detach().numpy()) for i, t in enumerate(tensors)}
    np.savez(path, **arrays)


def lower(programs, partitioners):
    """An edge program of one ExportedProgram or of a dict of methods."""
    return to_edge_transform_and_lower(
        programs,
        partitioner=partitioners,
        compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=False),
    )


def xnnpack(dynamic=False):
    """Partitioners that give XNNPACK all it takes."""
    if dynamic:
        return [XnnpackDynamicallyQuantizedPartitioner(), XnnpackPartitioner()]
    return [XnnpackPartitioner()]


def write_program(path, edge, config=None):
    program = edge.to_executorch(config) if config else edge.to_executorch()
    with open(path, "wb") as file:
        program.write_to_file(file)
    return program


def quantise(model, samples, dynamic=False):
    """The model converted to int8 (per channel), calibrated on the samples."""
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic))
    graph = prepare_pt2e(export(model, samples[0]).module(), quantizer)
    with torch.no_grad():
        for sample in samples:
            graph(*sample)
    return convert_pt2e(graph)
