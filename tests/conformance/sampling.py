"""Random calls of aten overloads for random_operators.py: values for every argument of a schema."""

import functools
import math

import torch

from sampled_computations import Computations
from sampled_moves import Moves
from sampled_values import SUMMING, base_of, tensors_of

# Results that no two implementations share.
SKIPPED = {"aten::rand", "aten::randn", "aten::empty", "aten::native_dropout", "aten::sym_size", "aten::sym_numel",
           "aten::_local_scalar_dense", "aten::allclose"}


@functools.cache
def resolve(name):
    """The function to call for a registered name, and the schema of the name; (None, None) for what is not compared."""
    if not name.startswith("aten::") or name.split(".")[0] in SKIPPED:
        return None, None
    base, _, overload = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base)
    schema = getattr(packet, overload or "default")._schema
    inputs = [argument.name for argument in schema.arguments if not argument.is_out]
    for other in packet.overloads():
        candidate = getattr(packet, other)
        arguments = candidate._schema.arguments
        if [a.name for a in arguments if not a.is_out] == inputs and not any(a.is_out for a in arguments) and \
                [str(a.type) for a in arguments] == [str(a.type) for a in schema.arguments if not a.is_out] and \
                any(a.alias_info and a.alias_info.is_write for a in arguments) == base.endswith("_"):
            return candidate, schema
    # Only an out variant exists, or the other one takes dtype and layout as well.
    def with_output(**values):
        dtype = values.pop("_dtype", None) or next((value.dtype for value in tensors_of(values)), torch.float32)
        outputs = {argument.name: torch.empty(0, dtype=dtype) for argument in schema.arguments if argument.is_out}
        return getattr(packet, overload)(**values, **outputs)
    return (with_output, schema) if overload.endswith("out") and not base.endswith("_") else (None, None)


def magnitude(name, values):
    """What errors are measured by, beside the result itself."""
    if base_of(name) not in SUMMING:
        return 1e-3
    largest, count = 1.0, 1
    for tensor in tensors_of(values):
        finite = tensor[tensor.isfinite()]
        if finite.numel():
            whole = finite if finite.is_complex() else finite.double()
            largest = max(largest, whole.abs().max().item())
        count = max(count, tensor.numel())
    return min(largest * largest * math.sqrt(count), 1e30)


class Sampler(Moves, Computations):
    """Draws the arguments of one call."""


def draw(name, schema, generator):
    """Values by argument name, or None when this overload cannot be drawn."""
    sampler = Sampler(name, generator)
    own = getattr(sampler, f"draw_{sampler.base}", None)
    if own:
        return own(schema)
    values = {}
    for argument in schema.arguments:
        if not argument.is_out:
            values[argument.name] = sampler.default(argument, values)
    return values
