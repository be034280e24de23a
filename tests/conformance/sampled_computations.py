"""Arguments of overloads that compute: products, convolutions, norms, pooling, resampling, distances, transforms, fills."""

import math

import torch

from sampled_values import COMPLEX, FLOATS, INTEGERS, UNSIGNED, Values


class Computations(Values):
    """draw_BASE(schema) gives the values by argument name of an overload of BASE."""

    def draw_clamp(self, _):
        if "Tensor" in self.name:
            shape = self.shape()
            bounds = [self.tensor(self.broadcast_of(shape)) if self.r.random() < 0.7 else None for _ in range(2)]
        else:
            shape, bounds = self.shape(), [self.scalar() if self.r.random() < 0.7 else None for _ in range(2)]
        return {"self": self.tensor(shape), "min": bounds[0], "max": bounds[1]}

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
