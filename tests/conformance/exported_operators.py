"""Random calls of the operators that ExecuTorch adds to aten, for random_operators.py, and what computes them.

The functions are the ones that the executorch package registers in eager: quantized_decomposed:: in Python, llama:: and
preprocess:: in its library of custom operators. Without the package there are none. Not drawn: operators without such a
function (quantized_decomposed::add, mixed_mm, mixed_linear), those that write caches, those whose result is a layout or
no tensor (dim_order_ops::, et_copy::, executorch_prim::).
"""

import collections
import contextlib
import functools
import importlib

import torch

import sampling
from sampled_values import FLOATS

SOURCES = ("torch.ao.quantization.fx._decomposed", "executorch.exir.passes._quant_patterns_and_replacements",
           "executorch.extension.llm.custom_ops.custom_ops")
# The functional overload of a registered one, where it has another name.
FUNCTIONAL = {"out": "default", "dtype_out": "dtype", "Tensor_out": "tensor"}
RANGES = {torch.uint8: [(0, 255), (0, 127)], torch.int8: [(-128, 127), (-127, 127), (-8, 7)],
          torch.int16: [(-32768, 32767)], torch.int32: [(-2**31, 2**31 - 1)]}

Argument = collections.namedtuple("Argument", "name type alias_info is_out")
Schema = collections.namedtuple("Schema", "arguments")
Written = collections.namedtuple("Written", "is_write")


@functools.cache
def load_sources():
    for source in SOURCES:
        with contextlib.suppress(ImportError):
            importlib.import_module(source)


@functools.cache
def resolve(name):
    """As sampling.resolve: the functional overload, and its schema with one more argument for each result."""
    base, _, overload = name.partition(".")
    namespace, _, operator = base.partition("::")
    if f"draw_{operator}" not in vars(Sampler):
        return None, None
    load_sources()
    try:
        function = getattr(getattr(getattr(torch.ops, namespace), operator), FUNCTIONAL[overload])
    except AttributeError:
        return None, None
    arguments = [Argument(a.name, a.type, None, False) for a in function._schema.arguments]
    arguments += [Argument(f"out{i}", "Tensor", Written(True), True) for i in range(len(function._schema.returns))]
    return function, Schema(arguments)


class Sampler(sampling.Sampler):
    def __init__(self, name, generator):
        super().__init__(name, generator)
        self.name = name

    def quantized(self, dtypes=tuple(RANGES)):
        """A dtype with a range of it."""
        dtype = self.r.choice(dtypes)
        low, high = self.r.choice(RANGES[dtype])
        return {"quant_min": low, "quant_max": high, "dtype": dtype}

    def levels(self, shape, of):
        return torch.randint(of["quant_min"], of["quant_max"] + 1, shape, dtype=torch.int64).to(of["dtype"])

    def scale(self):
        return self.r.choice([0.1, 0.5, 0.003921568859368563, 1.0, 7.25])

    def zero_point(self, of):
        return self.r.randint(max(of["quant_min"], -9), min(of["quant_max"], 99))

    def scales(self, shape, dtype=torch.float32):
        return (torch.rand(shape) + 0.01).to(dtype)

    def zero_points(self, shape, of, dtype=torch.int64):
        return torch.randint(max(of["quant_min"], -9), min(of["quant_max"], 99) + 1, shape).to(dtype)

    def floats(self, shape):
        return self.tensor(shape, torch.float32, plain=True)

    def per_tensor(self, of):
        if "Tensor_out" in self.name:
            return {"scale": torch.tensor([self.scale()], dtype=torch.float64),
                    "zero_point": torch.tensor([self.zero_point(of)]), **of}
        return {"scale": self.scale(), "zero_point": self.zero_point(of), **of}

    def per_channel(self, shape, of):
        axis = self.r.randint(0, len(shape) - 1)
        return {"axis": axis, "scales": self.scales([shape[axis]], self.r.choice([torch.float32, torch.float64])),
                "zero_points": self.zero_points([shape[axis]], of), **of}

    def per_token(self, shape, of):
        rows = shape[:-1] + [1]
        return {"scales": self.scales(rows, torch.float64), "zero_points": self.zero_points(rows, of), **of}

    def draw_quantize_per_tensor(self):
        return {"input": self.floats(self.shape()), **self.per_tensor(self.quantized())}

    def draw_dequantize_per_tensor(self):
        of = self.quantized()
        return {"input": self.levels(self.shape(), of), "out_dtype": None, **self.per_tensor(of)}

    def draw_quantize_per_channel(self):
        shape = self.shape(1)
        return {"input": self.floats(shape), **self.per_channel(shape, self.quantized())}

    def draw_dequantize_per_channel(self):
        shape, of = self.shape(1), self.quantized()
        return {"input": self.levels(shape, of), "out_dtype": None, **self.per_channel(shape, of)}

    def draw_quantize_per_token(self):
        shape = self.shape(2)
        return {"input": self.floats(shape), **self.per_token(shape, self.quantized((torch.int8, torch.uint8)))}

    def draw_dequantize_per_token(self):
        shape, of = self.shape(2), self.quantized((torch.int8,))
        return {"input": self.levels(shape, of), "output_dtype": torch.float32, **self.per_token(shape, of)}

    def draw_choose_qparams(self):
        return {"input": self.floats(self.shape(1)), "eps": self.r.choice([1e-5, 1.1920928955078125e-07]),
                **self.quantized((torch.int8, torch.uint8))}

    def draw_choose_qparams_per_token_asymmetric(self):
        return {"input": self.floats(self.shape(2)), "dtype": torch.int8}

    def draw_embedding_byte(self):
        bits = {"embedding_2bit": 2, "embedding_4bit": 4}.get(self.base, 8)
        rows, columns = self.r.randint(1, 5), 8 * self.r.randint(1, 3)
        dtype = self.r.choice(FLOATS[:1] + FLOATS[2:])
        groups = self.r.choice([None, 2, columns // 4])
        scales = self.scales([rows] if groups is None else [rows, groups], dtype)
        signed = bits == 8 and self.flag()
        weight = torch.randint(-128 if signed else 0, 128 if signed else 256, [rows, columns * bits // 8])
        values = {"weight": weight.to(torch.int8 if signed else torch.uint8), "weight_scales": scales,
                  "weight_zero_points": None, "weight_quant_min": -(1 << bits - 1),
                  "weight_quant_max": (1 << bits - 1) - 1, "indices": torch.randint(0, rows, self.shape(1, 2))}
        return values | ({"dtype": dtype} if "dtype" in self.name else {})

    draw_embedding_2bit = draw_embedding_4bit = draw_embedding_byte

    def draw_tile_crop(self):  # in eager for float32 and four tiles at most
        size = self.r.randint(1, 3)
        return {"input": self.floats([self.r.randint(0, 3)] + [size * self.r.randint(0, 2) for _ in range(2)]),
                "tile_size": size}

    def draw_fast_hadamard_transform(self):
        return {"mat": self.floats(self.shape(0, 2) + [self.r.choice([1, 2, 16, 28, 56])])}

    def draw_gated_delta_rule(self):
        b, h, t, k, v = (self.r.randint(low, 4) for low in (0, 1, 0, 1, 1))
        each = [b, h, t]
        return {"query": self.floats([b, h * self.r.randint(1, 2), t, k]), "key": self.floats(each + [k]) / 9,
                "value": self.floats(each + [v]), "decay": torch.rand(each + [k] if self.flag() else each),
                "beta": torch.rand(each), "initial_state": self.floats([b, h, k, v])}

    draw_channelwise_gated_delta_rule = draw_gated_delta_rule

    def draw_custom_sdpa(self):
        heads, size, cache = self.r.randint(1, 2), 4 * self.r.randint(1, 3), self.r.randint(4, 12)
        queries, start = self.r.randint(1, 3), self.r.randint(0, cache - 3)
        rows = [1, cache, heads, size]
        return {"query": self.floats([1, queries, heads * self.r.randint(1, 2), size]), "key": self.floats(rows),
                "value": self.floats(rows), "start_pos": start, "attn_mask": None, "drpout_p": 0.0,
                "is_causal": True, "scale": self.r.choice([None, 0.3])}


def draw(name, generator):
    """Values by argument name."""
    sampler = Sampler(name, generator)
    values = getattr(sampler, f"draw_{name.split('::')[1].split('.')[0]}")()
    function, _ = resolve(name)
    names = {argument.name for argument in function._schema.arguments}
    return {key: value for key, value in values.items() if key in names}
