"""Random values that arguments are made of: shapes, tensors with extremes, scalars, dims; sampling.py puts calls together."""

import math

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
UNSIGNED = (torch.uint16, torch.uint32)
COMPLEX = (torch.complex64, torch.complex128)
# Results add up many numbers: no extremes, and errors are measured by the size of the inputs.
SUMMING = {"mixed_mm", "mixed_linear", "fast_hadamard_transform", "gated_delta_rule", "channelwise_gated_delta_rule",
           "custom_sdpa", "sum", "mean", "prod", "cumsum", "var", "var_mean", "mm", "bmm", "addmm", "linear",
           "convolution", "convolution_backward", "native_layer_norm", "native_group_norm", "_native_batch_norm_legit",
           "_native_batch_norm_legit_no_training", "avg_pool2d", "_adaptive_avg_pool2d", "_cdist_forward",
           "_pdist_forward", "_softmax", "_log_softmax", "upsample_bilinear2d", "_upsample_bilinear2d_aa",
           "grid_sampler_2d", "scatter_add", "index_put", "index_put_", "_fft_r2c", "_fft_c2r", "glu",
           "max_pool2d_with_indices_backward", "gelu", "arange"}


def base_of(name):
    return name.split("::")[-1].split(".")[0]


def tensors_of(values):
    for value in values.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, torch.Tensor):
                yield item


class Values:
    """Draws single values for one call."""

    def __init__(self, name, generator):
        self.name, self.base, self.r = name, base_of(name), generator
        self.extremes = self.base not in SUMMING
        self.pool = self.draw_pool()

    def draw_pool(self):
        """The dtypes of this call: mostly one, sometimes several, so that promotion happens."""
        everything = FLOATS + INTEGERS + (torch.bool,)
        roll = self.r.random()
        if roll < 0.08:
            return [self.r.choice(COMPLEX)]
        if roll < 0.12:
            return [self.r.choice(UNSIGNED)]
        if roll < 0.75:
            return [self.r.choice(everything)]
        return self.r.sample(everything if roll < 0.95 else everything + UNSIGNED + COMPLEX, 2)

    def shape(self, low_rank=0, high_rank=4, largest=5):
        rank = self.r.randint(low_rank, high_rank)
        if high_rank >= 4 and self.r.random() < 0.05:
            rank, largest = self.r.randint(5, 6), 3
        elif low_rank <= 1 and self.r.random() < 0.03:
            return [self.r.randint(1, 300)]  # longer than any vector loop's stride
        return [0 if self.r.random() < 0.04 else self.r.choice([1, 1, 2, 3, self.r.randint(1, largest)])
                for _ in range(rank)]

    def broadcast_of(self, shape):
        kept = [size if self.r.random() < 0.75 else 1 for size in shape]
        return kept[self.r.randint(0, len(kept)):] if self.r.random() < 0.3 else kept

    def tensor(self, shape, dtype=None, plain=False):
        dtype = dtype or self.r.choice(self.pool)
        if dtype == torch.bool:
            return torch.rand(shape) < 0.5
        if dtype.is_complex:
            parts = [self.tensor(list(shape) + [2], torch.float64, plain)]
            return torch.view_as_complex(parts[0].contiguous()).to(dtype)
        if dtype.is_floating_point:
            values = torch.randn(shape, dtype=torch.float64) * self.r.choice([0.5, 3.0, 3.0, 20.0])
            if self.r.random() < 0.3:
                values = (values * 2).round() / 2
            values = values.to(dtype)
            return values if plain else self.sprinkle(values)
        limits = torch.iinfo(dtype)
        values = torch.randint(max(limits.min, -9), 10, shape, dtype=torch.int64)
        if self.extremes and not plain and self.r.random() < 0.3:
            chosen = torch.rand(shape) < 0.3
            values[chosen] = self.r.choice([limits.min, limits.max, limits.max - 1, 0])
        return values.to(dtype)

    def sprinkle(self, values):
        special = [math.nan, math.inf, -math.inf, 0.0, -0.0]
        if self.extremes and not self.pool[0].is_complex:
            limits = torch.finfo(values.dtype)
            special += [limits.max, limits.min, limits.tiny, limits.tiny / 4]
        for _ in range(3):
            if self.r.random() < 0.25:
                values[torch.rand(values.shape) < 0.15] = self.r.choice(special)
        return values

    def scalar(self):
        return self.r.choice([0, 1, 2, -3, 7, 1.5, -0.75, 0.0, True, False, 300, 2.0] +
                             ([math.nan, math.inf, -math.inf] if self.r.random() < 0.2 else []))

    def dim(self, rank):
        return self.r.randint(-max(rank, 1), max(rank, 1) - 1)

    def dims(self, rank, optional=True):
        roll = self.r.random()
        if optional and roll < 0.15:
            return None
        if roll < 0.2 or rank == 0:
            return self.r.choice([[], [0], [-1]]) if rank == 0 else []
        chosen = self.r.sample(range(rank), self.r.randint(1, rank))
        return [dim - rank if self.r.random() < 0.4 else dim for dim in chosen]

    def index(self, low, high, shape):
        dtype = torch.int64 if self.r.random() < 0.7 else torch.int32
        return torch.randint(low, max(high, low + 1), shape, dtype=dtype)

    def flag(self):
        return self.r.random() < 0.5

    def default(self, argument, drawn):
        """An argument of an operator without a method of its own below."""
        kind, name = str(argument.type), argument.name
        first = next(iter(tensors_of(drawn)), None)
        if kind == "Tensor" or (kind == "Optional[Tensor]" and self.flag()):
            if first is None:
                return self.tensor(self.shape())
            return self.tensor(self.broadcast_of(first.shape))
        if kind in ("number", "Optional[number]"):
            return None if kind.startswith("Opt") and self.r.random() < 0.3 else self.scalar()
        if kind == "bool":
            return self.flag()
        if name == "rounding_mode" or (name == "approximate"):
            return self.r.choice(["floor", "trunc"] + [None] if name == "rounding_mode" else ["none", "tanh"])
        if name == "dtype":
            return self.r.choice([None, None, torch.float32, torch.float64, torch.int64, torch.int32])
        if name == "dim" and kind == "int":
            return self.dim(first.dim())
        if name in ("dim", "dims") and "List" in kind:
            return self.dims(first.dim(), "Optional" in kind)
        if kind == "float" or kind == "Optional[float]":
            return self.r.choice([None, 0.1, 0.5]) if kind.startswith("Opt") else self.r.choice([0.5, 1.0, 2.0])
        return argument.default_value

    def one(self, **more):
        return {"self": self.tensor(self.shape()), **more}
