"""Random calls of aten overloads for random_operators.py: values for every argument of a schema."""

import functools
import math

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
UNSIGNED = (torch.uint16, torch.uint32)
COMPLEX = (torch.complex64, torch.complex128)
# Results that no two implementations share.
SKIPPED = {"aten::rand", "aten::randn", "aten::empty", "aten::native_dropout", "aten::sym_size", "aten::sym_numel",
           "aten::_local_scalar_dense", "aten::allclose"}
# Results add up many numbers: no extremes, and errors are measured by the size of the inputs.
SUMMING = {"mixed_mm", "mixed_linear", "fast_hadamard_transform", "gated_delta_rule", "channelwise_gated_delta_rule",
           "custom_sdpa", "sum", "mean", "prod", "cumsum", "var", "var_mean", "mm", "bmm", "addmm", "linear",
           "convolution", "convolution_backward", "native_layer_norm", "native_group_norm", "_native_batch_norm_legit",
           "_native_batch_norm_legit_no_training", "avg_pool2d", "_adaptive_avg_pool2d", "_cdist_forward",
           "_pdist_forward", "_softmax", "_log_softmax", "upsample_bilinear2d", "_upsample_bilinear2d_aa",
           "grid_sampler_2d", "scatter_add", "index_put", "index_put_", "_fft_r2c", "_fft_c2r", "glu",
           "max_pool2d_with_indices_backward", "gelu", "arange"}


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


def base_of(name):
    return name.split("::")[-1].split(".")[0]


def tensors_of(values):
    for value in values.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, torch.Tensor):
                yield item


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


class Sampler:
    """Draws arguments of one call."""

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

    # What the schema does not say: arguments by name that have to fit each other.

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

    def draw_clamp(self, _):
        if "Tensor" in self.name:
            shape = self.shape()
            bounds = [self.tensor(self.broadcast_of(shape)) if self.r.random() < 0.7 else None for _ in range(2)]
        else:
            shape, bounds = self.shape(), [self.scalar() if self.r.random() < 0.7 else None for _ in range(2)]
        return {"self": self.tensor(shape), "min": bounds[0], "max": bounds[1]}

    def draw_where(self, _):
        shape = self.shape()
        return {"condition": self.tensor(self.broadcast_of(shape), torch.bool),
                "self": self.tensor(self.broadcast_of(shape)), "other": self.tensor(self.broadcast_of(shape))}

    def draw_masked_fill(self, _):
        shape = self.shape()
        return {"self": self.tensor(self.broadcast_of(shape)), "value": self.scalar(),
                "mask": self.tensor(self.broadcast_of(shape), torch.bool)}

    def draw_masked_select(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "mask": self.tensor(self.broadcast_of(shape), torch.bool)}

    def draw_masked_scatter(self, _):
        shape, dtype = self.shape(), self.pool[0]
        return {"self": self.tensor(shape, dtype), "mask": self.tensor(self.broadcast_of(shape), torch.bool),
                "source": self.tensor([math.prod(shape) + self.r.randint(0, 2)], dtype)}

    def draw_mm(self, _):
        m, k, n = (self.r.choice([0, 1, 2, 3, 7, 33]) for _ in range(3))
        dtype = self.pool[0]
        batch = [self.r.randint(0, 3)]
        shapes = {"mm": ([m, k], [k, n]), "bmm": (batch + [m, k], batch + [k, n])}
        left, right = (self.tensor(shape, dtype, plain=True) for shape in shapes.get(self.base, shapes["mm"]))
        if self.base == "addmm":
            bias = self.tensor(self.broadcast_of([m, n]), dtype, plain=True)
            return {"self": bias, "mat1": left, "mat2": right, "beta": self.r.choice([1, 0, 2, 0.5]),
                    "alpha": self.r.choice([1, 0, 2, -0.5])}
        return {"self": left, "mat2": right}

    draw_bmm = draw_addmm = draw_mm

    def draw_linear(self, _):
        k, n, dtype = self.r.randint(0, 9), self.r.randint(1, 9), self.pool[0]
        return {"input": self.tensor(self.shape(0, 3) + [k], dtype, plain=True),
                "weight": self.tensor([n, k], dtype, plain=True),
                "bias": self.tensor([n], dtype, plain=True) if self.flag() else None}

    def draw_cat(self, _):
        shape = self.shape(1)
        dim = self.dim(len(shape))
        tensors = []
        for _ in range(self.r.randint(1, 4)):
            if self.base == "cat":
                shape[dim] = self.r.randint(0, 4)
            tensors.append(self.tensor(shape))
        if self.base == "cat" and self.r.random() < 0.1:
            tensors.append(self.tensor([0]))
        if self.base == "stack":
            dim = self.r.randint(-len(shape) - 1, len(shape))
        return {"tensors": tensors, "dim": dim}

    draw_stack = draw_cat

    def draw_gather(self, _):
        shape, dtype = self.shape(), self.pool[0]
        dim = self.dim(len(shape))
        where = dim % len(shape) if shape else 0
        size = shape[where] if shape else 1
        index = self.index(0, size, [0 if size == 0 else self.r.randint(1, 4) if i == where else
                                     self.r.randint(min(1, length), length) for i, length in enumerate(shape)])
        values = {"self": self.tensor(shape, dtype), "dim": dim, "index": index}
        if self.base == "gather":
            return {**values, "sparse_grad": False}
        if "value" in self.name:
            return {**values, "value": self.scalar()}
        if self.base == "scatter":  # which of several sources wins is not defined
            index = torch.randperm(max(size, 1))[:index.shape[where] if shape else 1]
            view = [1] * len(shape)
            if shape:
                view[where] = -1
            lengths = [index.numel() if i == where else n for i, n in enumerate(shape)]
            values["index"] = index.reshape(view).expand(lengths).contiguous() if shape else index.reshape([])
        return {**values, "src": self.tensor([n + self.r.randint(0, 1) for n in values["index"].shape], dtype)}

    draw_scatter = draw_scatter_add = draw_gather

    def draw_index_select(self, _):
        shape = self.shape()
        dim = self.dim(len(shape))
        return {"self": self.tensor(shape), "dim": dim,
                "index": self.index(0, shape[dim] if shape else 1, [self.r.randint(0, 5)] if shape else [1])}

    def draw_index(self, _):
        shape, dtype = self.shape(1, 4), self.pool[0]
        around, indices, dim = self.shape(0, 2), [], 0
        while dim < len(shape):
            roll, size = self.r.random(), shape[dim]
            dim += 1
            if roll < 0.35:
                indices.append(None)
            elif roll < 0.5:
                indices.append(torch.rand([size]) < 0.5)
            else:
                indices.append(self.index(-size, size, self.broadcast_of(around)))
        if all(index is None for index in indices):
            indices[0] = torch.zeros([1], dtype=torch.int64)
        if self.base == "index":
            return {"self": self.tensor(shape, dtype), "indices": indices}
        try:
            chosen = torch.ops.aten.index(torch.empty(shape), indices).shape
        except (RuntimeError, IndexError):
            return None
        accumulate = self.flag()
        values = self.tensor(self.broadcast_of(chosen) if accumulate else [1], dtype, plain=True)
        return {"self": self.tensor(shape, dtype), "indices": indices, "values": values, "accumulate": accumulate}

    draw_index_put = draw_index_put_ = draw_index

    def draw_embedding(self, _):
        rows = self.r.randint(1, 5)
        return {"weight": self.tensor([rows, self.r.randint(0, 5)]), "indices": self.index(0, rows, self.shape(0, 3)),
                "padding_idx": -1, "scale_grad_by_freq": False, "sparse": False}

    def draw_topk(self, _):
        shape = self.shape(0, 3, 40)
        dim = self.dim(len(shape))
        # Which of equal elements comes first is not defined: distinct ones.
        values = torch.randperm(max(math.prod(shape), 1))[:math.prod(shape)].reshape(shape)
        dtype = self.pool[0] if math.prod(shape) < 100 else torch.float32
        return {"self": values.to(dtype), "k": self.r.randint(0, shape[dim] if shape else 1), "dim": dim,
                "largest": self.flag(), "sorted": True}

    def draw_sort(self, _):
        shape = self.shape(0, 3, 40)
        values = {"self": self.tensor(shape), "dim": self.dim(len(shape)), "descending": self.flag()}
        return {**values, "stable": True} if "stable" in self.name else \
            {**values, "self": torch.randperm(max(math.prod(shape), 1))[:math.prod(shape)].reshape(shape)}

    def draw_bucketize(self, _):
        boundaries = torch.sort(self.tensor([self.r.randint(0, 9)], self.r.choice(FLOATS[:2] + INTEGERS), plain=True))[0]
        values = self.scalar() if "Scalar" in self.name else self.tensor(self.shape(), self.r.choice(FLOATS + INTEGERS))
        return {"self": values, "boundaries": boundaries, "out_int32": self.flag(), "right": self.flag()}

    def draw_constant_pad_nd(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "value": self.scalar(),
                "pad": [self.r.choice([0, 1, 2, -1, 3]) for _ in range(2 * self.r.randint(0, len(shape)))]}

    def border_pad(self, dims):
        shape = [self.r.randint(1, 3) for _ in range(self.r.randint(1, 2))] + [self.r.randint(1, 6) for _ in range(dims)]
        return {"self": self.tensor(shape), "padding": [self.r.choice([0, 1, 2, -1, 3]) for _ in range(2 * dims)]}

    def draw_slice_copy(self, _):
        shape = self.shape()
        values = {"self": self.tensor(shape), "dim": self.dim(len(shape)), "start": self.r.choice([None, 0, 1, -2, 3, -9]),
                  "end": self.r.choice([None, 2, -1, 9, 1 << 62, 0]), "step": self.r.choice([1, 1, 2, 3, 7])}
        if self.base == "slice_scatter":
            try:
                part = torch.ops.aten.slice(values["self"], *(values[key] for key in ("dim", "start", "end", "step")))
            except (RuntimeError, IndexError):
                return None
            values["src"] = self.tensor(part.shape, values["self"].dtype)
        return values

    draw_slice_scatter = draw_slice_copy

    def draw_select_copy(self, _):
        shape = self.shape(1)
        dim = self.dim(len(shape))
        if shape[dim] == 0:
            return None
        values = {"self": self.tensor(shape), "dim": dim, "index": self.r.randint(-shape[dim], shape[dim] - 1)}
        if self.base == "select_scatter":
            values["src"] = self.tensor(torch.ops.aten.select(*values.values()).shape, values["self"].dtype)
        return values

    draw_select_scatter = draw_select_copy

    def draw_roll(self, _):
        shape = self.shape()
        count = self.r.randint(0, 3)
        return {"self": self.tensor(shape), "shifts": [self.r.randint(-9, 9) for _ in range(max(count, 1))],
                "dims": [self.dim(len(shape)) for _ in range(count)]}

    def draw_expand_copy(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "implicit": False,
                "size": [self.r.randint(0, 3) for _ in range(self.r.randint(0, 2))] +
                        [size if size != 1 else self.r.choice([-1, 1, 3]) for size in shape]}

    def draw_permute_copy(self, _):
        shape = self.shape()
        dims = self.r.sample(range(len(shape)), len(shape))
        return {"self": self.tensor(shape), "dims": [d - len(shape) if self.r.random() < 0.3 else d for d in dims]}

    def draw_transpose_copy(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "dim0": self.dim(len(shape)), "dim1": self.dim(len(shape))}

    def draw_t_copy(self, _):
        return {"self": self.tensor(self.shape(0, 2))}

    def draw_unsqueeze_copy(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "dim": self.r.randint(-len(shape) - 1, len(shape))}

    def draw_repeat(self, _):
        shape = self.shape(0, 3)
        return {"self": self.tensor(shape), "repeats": [self.r.randint(0, 3) for _ in range(len(shape) + self.flag())]}

    def draw_tril(self, _):
        return {"self": self.tensor(self.shape(2, 4)), "diagonal": self.r.randint(-4, 4)}

    draw_triu = draw_tril

    def draw_unfold_copy(self, _):
        shape = self.shape()
        dim = self.dim(len(shape))
        return {"self": self.tensor(shape), "dimension": dim, "step": self.r.randint(1, 3),
                "size": self.r.randint(0, shape[dim] if shape else 1)}

    def draw_diagonal_copy(self, _):
        shape = self.shape(2)
        return {"self": self.tensor(shape), "offset": self.r.randint(-4, 4), "dim1": self.dim(len(shape)),
                "dim2": self.dim(len(shape))}

    def draw_narrow_copy(self, _):
        shape = self.shape(1)
        dim = self.dim(len(shape))
        start = self.r.randint(0, shape[dim])
        return {"self": self.tensor(shape), "dim": dim, "start": start, "length": self.r.randint(0, shape[dim] - start)}

    def draw_split_copy(self, _):
        shape = self.shape(1)
        dim = self.dim(len(shape))
        values = {"self": self.tensor(shape), "dim": dim}
        if self.base == "unbind_copy":
            return values if shape[dim] else None
        if self.base == "split_copy":
            return {**values, "split_size": self.r.randint(1, 4)}
        first = self.r.randint(0, shape[dim])
        return {**values, "split_sizes": [first, shape[dim] - first]}

    draw_unbind_copy = draw_split_with_sizes_copy = draw_split_copy

    def draw_view_copy(self, _):
        shape = self.shape()
        count = math.prod(shape)
        return {"self": self.tensor(shape), "size": self.r.choice([[count], [count, 1], [1, count], list(shape) + [1]])}

    def draw_as_strided_copy(self, _):
        shape, size = self.shape(), self.shape(0, 3, 3)
        stride = [self.r.randint(0, 3) for _ in size]
        return {"self": self.tensor(shape), "size": size, "stride": stride, "storage_offset": self.r.choice([None, 0, 2])}

    def draw_repeat_interleave(self, _):
        return {"repeats": self.index(0, 4, [self.r.randint(0, 6)]), "output_size": None}

    def draw_full(self, _):
        return {"size": self.shape(), "fill_value": self.scalar(), "_dtype": self.pool[0]}

    def draw_zeros(self, _):
        return {"size": self.shape(), "_dtype": self.pool[0]}

    draw_ones = draw_zeros

    def draw_full_like(self, _):
        return {"self": self.tensor(self.shape()), "fill_value": self.scalar(), "memory_format": None}

    def draw_scalar_tensor(self, _):
        return {"s": self.scalar(), "_dtype": self.pool[0]}

    def draw_arange(self, _):
        if "start" not in self.name:
            return {"end": self.r.choice([0, 5, 7.5, 0.1, 40]), "_dtype": self.pool[0]}
        return {"start": self.r.choice([0, -3, 1.5]), "end": self.r.choice([9, 20.25, 4]),
                "step": self.r.choice([1, 2, 0.3]), "_dtype": self.pool[0]}

    def draw_fill(self, _):
        value = self.scalar() if "Scalar" in self.name else self.tensor([])
        return {"self": self.tensor(self.shape()), "value": value}

    def draw_copy(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "src": self.tensor(self.broadcast_of(shape)), "non_blocking": False}

    draw_copy_ = draw_copy

    def draw__to_copy(self, _):
        everything = FLOATS + INTEGERS + UNSIGNED + COMPLEX + (torch.bool,)
        return self.one(non_blocking=False, memory_format=None, _dtype=self.r.choice(everything))

    def draw_clone(self, _):
        return self.one(memory_format=None)

    def draw_pixel_shuffle(self, _):
        factor, lead = self.r.randint(1, 3), self.shape(0, 2, 3)
        if self.base == "pixel_shuffle":
            return {"self": self.tensor(lead + [2 * factor * factor, 2, 3]), "upscale_factor": factor}
        return {"self": self.tensor(lead + [2, 2 * factor, 3 * factor]), "downscale_factor": factor}

    draw_pixel_unshuffle = draw_pixel_shuffle

    def draw_glu(self, _):
        shape = self.shape(1)
        dim = self.dim(len(shape))
        shape[dim] *= 2
        return {"self": self.tensor(shape, plain=True), "dim": dim}

    def draw__softmax(self, _):
        shape = self.shape()
        return {"self": self.tensor(shape), "dim": self.dim(len(shape)), "half_to_float": False}

    draw__log_softmax = draw__softmax

    def draw_native_layer_norm(self, _):
        shape, dtype = self.shape(1), self.pool[0]
        kept = shape[-self.r.randint(1, len(shape)):]
        parts = [self.tensor(kept, dtype, plain=True) if self.flag() else None for _ in range(2)]
        return {"input": self.tensor(shape, dtype, plain=True), "normalized_shape": kept, "weight": parts[0],
                "bias": parts[1], "eps": 1e-5}

    def draw_native_group_norm(self, _):
        groups, dtype = self.r.randint(1, 3), self.pool[0]
        n, c, rest = self.r.randint(1, 2), groups * self.r.randint(1, 3), self.r.randint(1, 6)
        parts = [self.tensor([c], dtype, plain=True) if self.flag() else None for _ in range(2)]
        return {"input": self.tensor([n, c, rest], dtype, plain=True), "weight": parts[0], "bias": parts[1], "N": n,
                "C": c, "HxW": rest, "group": groups, "eps": 1e-5}

    def draw__native_batch_norm_legit_no_training(self, _):
        c, dtype = self.r.randint(1, 4), self.pool[0]
        parts = [self.tensor([c], dtype, plain=True) if self.flag() else None for _ in range(2)]
        return {"input": self.tensor([self.r.randint(1, 3), c] + self.shape(0, 2), dtype, plain=True),
                "weight": parts[0], "bias": parts[1], "running_mean": self.tensor([c], dtype, plain=True),
                "running_var": (torch.rand([c]) * 4).to(dtype), "momentum": 0.1, "eps": 1e-5}

    def draw__native_batch_norm_legit(self, schema):
        values = self.draw__native_batch_norm_legit_no_training(schema) | {"training": True}
        if "no_stats" in self.name:
            del values["running_mean"], values["running_var"]
        return values

    def image(self, channels=None):
        lead = [self.r.randint(1, 2)] if self.flag() else []
        return lead + [channels or self.r.randint(1, 3), self.r.randint(3, 9), self.r.randint(3, 9)]

    def draw_avg_pool2d(self, _):
        kernel = [self.r.randint(1, 3) for _ in range(self.r.randint(1, 2))]
        values = {"self": self.tensor(self.image()), "kernel_size": kernel,
                  "stride": self.r.choice([[], [1], [2, 1]]), "padding": self.r.choice([[0], [k // 2 for k in kernel]]),
                  "ceil_mode": self.flag()}
        if self.base == "avg_pool2d":
            return {**values, "count_include_pad": self.flag(), "divisor_override": self.r.choice([None, None, 3])}
        return {**values, "dilation": self.r.choice([[1], [2, 1]])}

    draw_max_pool2d_with_indices = draw_avg_pool2d

    def draw_max_pool2d_with_indices_backward(self, _):
        image, dtype = self.tensor(self.image(), plain=True), self.pool[0]
        image = image.to(dtype)
        try:
            result, indices = torch.ops.aten.max_pool2d_with_indices(image, [2], [2], [0], [1], False)
        except RuntimeError:
            return None
        return {"grad_output": self.tensor(result.shape, dtype, plain=True), "self": image, "kernel_size": [2],
                "stride": [2], "padding": [0], "dilation": [1], "ceil_mode": False, "indices": indices}

    def draw__adaptive_avg_pool2d(self, _):
        return {"self": self.tensor(self.image()), "output_size": [self.r.randint(1, 4), self.r.randint(1, 4)]}

    def draw_upsample_bilinear2d(self, _):
        shape = [self.r.randint(1, 2), self.r.randint(1, 3), self.r.randint(1, 6), self.r.randint(1, 6)]
        size = self.flag()
        values = {"input": self.tensor(shape, plain=True), "output_size": [7, 4] if size else None,
                  "scale_factors": None if size else [self.r.choice([1.5, 2.0, 0.7]), 1.3]}
        return values if "nearest" in self.base else {**values, "align_corners": self.flag()}

    draw_upsample_nearest2d = draw_upsample_bilinear2d

    def draw__upsample_bilinear2d_aa(self, _):
        shape = [self.r.randint(1, 2), self.r.randint(1, 3), self.r.randint(2, 6), self.r.randint(2, 6)]
        return {"self": self.tensor(shape, plain=True), "output_size": [self.r.randint(1, 8), 4],
                "align_corners": self.flag(), "scales_h": None, "scales_w": None}

    def draw_grid_sampler_2d(self, _):
        dtype = self.pool[0]
        n, h, w = self.r.randint(1, 2), self.r.randint(1, 5), self.r.randint(1, 5)
        return {"input": self.tensor([n, 2, 4, 5], dtype, plain=True),
                "grid": (torch.rand([n, h, w, 2]) * 3 - 1.5).to(dtype), "interpolation_mode": self.r.randint(0, 2),
                "padding_mode": self.r.randint(0, 2), "align_corners": self.flag()}

    def draw_convolution(self, _):
        dims, groups, dtype = self.r.randint(1, 2), self.r.randint(1, 2), self.pool[0]
        transposed = self.flag()
        inputs, outputs = groups * self.r.randint(1, 3), groups * self.r.randint(1, 3)
        kernel = [self.r.randint(1, 3) for _ in range(dims)]
        weight = [inputs, outputs // groups] if transposed else [outputs, inputs // groups]
        stride = [self.r.randint(1, 2) for _ in range(dims)]
        values = {"input": self.tensor([self.r.randint(1, 2), inputs] + [self.r.randint(4, 8) for _ in range(dims)],
                                       dtype, plain=True),
                  "weight": self.tensor(weight + kernel, dtype, plain=True),
                  "bias": self.tensor([outputs], dtype, plain=True) if self.flag() else None, "stride": stride,
                  "padding": [self.r.randint(0, 1) for _ in range(dims)],
                  "dilation": [self.r.randint(1, 2) if not transposed else 1 for _ in range(dims)],
                  "transposed": transposed,
                  "output_padding": [self.r.randint(0, s - 1) if transposed else 0 for s in stride], "groups": groups}
        return values

    def draw_convolution_backward(self, schema):
        self.pool = [self.r.choice(FLOATS)]
        values = self.draw_convolution(schema)
        try:
            result = torch.ops.aten.convolution(**values)
        except RuntimeError:
            return None
        bias = values.pop("bias")
        return {"grad_output": self.tensor(result.shape, self.pool[0], plain=True), **values,
                "bias_sizes": [result.shape[1]] if bias is not None else None, "output_mask": [True] * 3}

    def draw__cdist_forward(self, _):
        m, dtype = self.r.randint(0, 9), self.r.choice(FLOATS[:2])
        return {"x1": self.tensor([self.r.randint(1, 5), m], dtype, plain=True),
                "x2": self.tensor([self.r.randint(1, 5), m], dtype, plain=True),
                "p": self.r.choice([0.0, 1.0, 2.0, 3.5, math.inf]), "compute_mode": None}

    def draw__pdist_forward(self, _):
        return {"self": self.tensor([self.r.randint(0, 6), self.r.randint(1, 9)], self.r.choice(FLOATS[:2]), plain=True),
                "p": self.r.choice([0.0, 1.0, 2.0, 3.5, math.inf])}

    def draw__fft_r2c(self, _):
        shape = self.shape(1, 3, 9)
        dims = self.r.sample(range(len(shape)), self.r.randint(1, len(shape)))
        if self.base == "_fft_r2c":
            return {"self": self.tensor(shape, plain=True), "dim": dims, "normalization": self.r.randint(0, 2),
                    "onesided": self.flag()}
        last = self.r.randint(1, 9)
        shape[dims[-1]] = last // 2 + 1
        return {"self": self.tensor(shape, self.r.choice(COMPLEX), plain=True), "dim": dims,
                "normalization": self.r.randint(0, 2), "last_dim_size": last}

    draw__fft_c2r = draw__fft_r2c

    def draw_var(self, _):
        values = self.one(keepdim=self.flag())
        values["dim"] = self.dims(values["self"].dim())
        if "correction" in self.name:
            return {**values, "correction": self.r.choice([None, 0, 1, 1.5, 2])}
        return {**values, "unbiased": self.flag()}

    draw_var_mean = draw_var

    def draw_logit(self, _):
        return {"self": self.tensor(self.shape()), "eps": self.r.choice([None, 0.1, 1e-6])}

    def draw_round(self, _):
        return self.one()

    def draw_elu(self, _):
        return self.one(alpha=self.r.choice([1, 0.5]), scale=self.r.choice([1, 2.5]), input_scale=self.r.choice([1, 0.5]))


for _dims in (1, 2, 3):
    for _kind in ("reflection", "replication"):
        setattr(Sampler, f"draw_{_kind}_pad{_dims}d", lambda self, _, dims=_dims: self.border_pad(dims))


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
