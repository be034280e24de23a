"""Arguments of overloads that move, choose, index and sort elements."""

import math

import torch

from sampled_values import FLOATS, INTEGERS, Values


class Moves(Values):
    """draw_BASE(schema) gives the values by argument name of an overload of BASE."""

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

    def draw_pixel_shuffle(self, _):
        factor, lead = self.r.randint(1, 3), self.shape(0, 2, 3)
        if self.base == "pixel_shuffle":
            return {"self": self.tensor(lead + [2 * factor * factor, 2, 3]), "upscale_factor": factor}
        return {"self": self.tensor(lead + [2, 2 * factor, 3 * factor]), "downscale_factor": factor}

    draw_pixel_unshuffle = draw_pixel_shuffle


for _dims in (1, 2, 3):
    for _kind in ("reflection", "replication"):
        setattr(Moves, f"draw_{_kind}_pad{_dims}d", lambda self, _, dims=_dims: self.border_pad(dims))
