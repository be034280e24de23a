"""Runs a reference for pterun: PyTorch's ExportedProgram, or the official ExecuTorch runtime.

pterun embeds this text and starts `python -c TEXT KIND MODEL FOLDER [DATA...]`, KIND being eager or executorch. Requests
are lines on standard input, replies lines on standard output (both one socket):

    -> ready DESCRIPTION | error WHAT TEXT      once, when the model is loaded; WHAT: missing, model
    <- run METHOD ITEM...                       METHOD and strings in hexadecimal
    <- trace METHOD ITEM...                     eager only: the same, node by node, writing every result
    <- reset                                    eager only: the state is again what it was after loading
    -> ok | error run TEXT                      to each request

An ITEM is tensor, none, int:N, float:HEX, bool:0 or string:HEX. Tensors lie in FOLDER/inputs.safetensors under the item's
position; outputs are written to FOLDER/outputs.safetensors, numbered without those that are None.

A trace writes its input tensors and those that call_function nodes give, each as soon as it is there, and keeps none:
FOLDER/trace.bin has their elements, row-major, each from a multiple of 64 bytes, FOLDER/trace.txt a line for each, in the
order of the graph:

    result NODE TARGET ITEM MODULE DTYPE SHAPE OFFSET READS    ITEM: place among the tensors that the node gives; MODULE:
                                                               path in the model; DTYPE as in safetensors; SHAPE: 1x8x6;
                                                               READS: nodes, with commas, those that wrote into what it
                                                               reads among them, and "=" for a weight or buffer
    input NODE POSITION DTYPE SHAPE OFFSET
    skipped NODE TARGET REASON                                 REASON: the rest of the line
    outputs NODE:ITEM...                                       without those that are None; "-" for what is no node's

"-" stands for an empty MODULE, SHAPE or READS. Operators of control flow and other graphs in the graph are one node.
"""

import json
import os
import struct
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # a torch.py in the working directory is not PyTorch
replies = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
os.dup2(2, 1)  # what libraries print is no reply


def reply(*words):
    replies.write(" ".join(" ".join(str(word).split()) for word in words) + "\n")


def missing(module, error):
    version = ".".join(map(str, sys.version_info[:3]))
    reply("error missing", f"{module} Python {version} ({sys.executable}): {error}")
    sys.exit(0)


try:
    import torch
except ImportError as error:
    missing("torch", error)

DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
}
DTYPES = {name: getattr(torch, dtype) for name, dtype in DTYPES.items() if hasattr(torch, dtype)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def read_tensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    tensors = {}
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype, shape = DTYPES[entry["dtype"]], entry["shape"]
        if begin == end:
            tensors[key] = torch.empty(shape, dtype=dtype)
        else:
            tensors[key] = torch.frombuffer(data[begin:end], dtype=dtype).reshape(shape)
    return tensors


def write_tensors(path, tensors):
    header, parts, offset = {}, [], 0
    for key, tensor in tensors:
        if tensor.dtype == torch.complex128:
            raise TypeError(f"output {key} is complex128, which cannot be handed over")
        data = element_bytes(tensor)
        header[key] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(data)]}
        parts.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def element_bytes(tensor):
    dense = tensor.detach().cpu().contiguous().resolve_conj().resolve_neg()
    return bytes(dense.reshape(-1).view(torch.uint8).numpy()) if dense.numel() else b""


def item_value(item, position, tensors):
    kind, _, text = item.partition(":")
    if kind == "tensor":
        return tensors[str(position)]
    if kind == "none":
        return None
    if kind == "int":
        return int(text)
    if kind == "float":
        return float.fromhex(text)
    if kind == "bool":
        return text == "1"
    return bytes.fromhex(text).decode()


def as_tensor(value):
    if isinstance(value, bool):
        return torch.tensor(value)
    if isinstance(value, int):
        return torch.tensor(value, dtype=torch.int64)
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    if isinstance(value, torch.Tensor):
        return value
    raise TypeError(f"an output is a {type(value).__name__}")


def import_quietly(*modules):
    """Modules that register operators a program may need; those that are not installed are not needed."""
    for module in modules:
        try:
            __import__(module)
        except Exception:  # whatever an optional module breaks on
            pass


class Trace:
    """Runs a graph node by node and writes what its nodes give."""

    LIMIT = 2 << 30  # bytes of all results

    def __init__(self, module, folder):
        from torch.fx import Interpreter

        class Runner(Interpreter):
            def run_node(runner, node):
                value = super().run_node(node)
                if node.op == "call_function":
                    self.add(node, value)
                elif node.op == "placeholder":
                    self.add_input(node, value)
                return value

        self.runner = Runner(module)
        self.graph = module.graph
        self.folder = folder
        self.sources = {}  # by node that picks an item of another's result: that node and the item
        self.roots = {}  # by node whose result lies in another's memory: that node
        self.writers = {}  # by root: the node that last wrote into it
        self.inputs = 0
        self.offset = 0

    def run(self, values):
        with open(os.path.join(self.folder, "trace.txt"), "w", encoding="utf-8") as self.lines, \
                open(os.path.join(self.folder, "trace.bin"), "wb") as self.data:
            self.runner.run(*values, enable_io_processing=False)
            self.line("outputs", *self.outputs())

    def outputs(self):
        from torch.utils import _pytree as pytree

        (output,) = [node for node in self.graph.nodes if node.op == "output"]
        for leaf in pytree.tree_leaves(output.args):
            if isinstance(leaf, torch.fx.Node) and leaf.op == "call_function":
                yield "{}:{}".format(*self.sources.get(leaf.name, (leaf.name, 0)))
            elif leaf is not None:
                yield "-"

    def line(self, *words):
        self.lines.write(" ".join(words) + "\n")

    def name(self, node):
        return self.sources.get(node.name, (node.name, 0))[0]

    def root(self, node):
        return self.roots.get(node.name, node.name)

    def note_memory(self, node):
        """Which memory the node's result lies in, and what it writes into."""
        schema = getattr(node.target, "_schema", None)
        for position, argument in enumerate(schema.arguments if schema else []):
            operand = node.args[position] if position < len(node.args) else node.kwargs.get(argument.name)
            if argument.alias_info is None or not isinstance(operand, torch.fx.Node):
                continue
            self.roots[node.name] = self.root(operand)
            if argument.alias_info.is_write:
                self.writers[self.root(operand)] = node.name

    def reads(self, node):
        names = []
        for other in node.all_input_nodes:
            names.append("=" if other.op == "get_attr" else self.name(other))
            names += [self.writers[self.root(other)]] if self.root(other) in self.writers else []
        return ",".join(dict.fromkeys(names)) or "-"

    def write(self, tensor):
        """The words that say where it lies; nothing, and why, when it is not written."""
        size = tensor.numel() * tensor.element_size()
        if tensor.dtype not in NAMES:
            return None, f"{str(tensor.dtype).removeprefix('torch.')} cannot be handed over"
        if self.offset + size > self.LIMIT:
            return None, f"beyond the {self.LIMIT >> 20} MiB that a trace may take"
        self.data.seek(self.offset)
        self.data.write(element_bytes(tensor))
        words = NAMES[tensor.dtype], "x".join(map(str, tensor.shape)) or "-", str(self.offset)
        self.offset += -(-size // 64) * 64  # aligned for every dtype
        return words, ""

    def add_input(self, node, value):
        words = self.write(value)[0] if isinstance(value, torch.Tensor) else None
        if words:
            self.line("input", node.name, str(self.inputs), *words)
        self.inputs += 1

    def add(self, node, value):
        from operator import getitem
        from torch.utils import _pytree as pytree

        if node.target is getitem and isinstance(node.args[0], torch.fx.Node) and node.args[0].op == "call_function":
            self.sources[node.name] = (self.name(node.args[0]), node.args[1])
            return
        target = "".join((str(node.target) if isinstance(node.target, torch._ops.OpOverload)
                          else getattr(node.target, "__name__", str(node.target))).split())
        reads = self.reads(node)
        self.note_memory(node)
        tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        if not tensors and not target.startswith(("aten._assert", "aten.sym_")):
            self.line("skipped", node.name, target, "gives no tensor")
        modules = [str(entry[0]) for entry in (node.meta.get("nn_module_stack") or {}).values()]
        module = "".join(modules[-1].split()) if modules else ""
        for item, tensor in enumerate(tensors):
            words, reason = self.write(tensor)
            if words:
                self.line("result", node.name, target, str(item), module or "-", *words, reads)
            else:
                self.line("skipped", node.name, target, reason)


class Eager:
    """A .pt2 file, run by PyTorch. State in its buffers advances from call to call."""

    def __init__(self, path, _):
        import_quietly("torch.ao.quantization.fx._decomposed", "torchao", "executorch.extension.llm.custom_ops.custom_ops")
        self.program = torch.export.load(path)
        self.module = self.program.module()
        self.state = {name: buffer.clone() for name, buffer in self.module.named_buffers()}
        calls = [str(node.target) for node in self.program.graph.nodes if node.op == "call_function"]
        quantised = any(call.startswith(("quantized_decomposed.", "torchao.", "quant.")) for call in calls)
        self.description = ("converted_graph" if quantised else "float_eager") + f" PyTorch {torch.__version__}"

    def check(self, values):
        leaves = self.program.call_spec.in_spec.num_leaves
        if leaves != len(values):
            raise ValueError(f"the exported program takes {leaves} inputs, {len(values)} were given")

    def __call__(self, method, values):
        from torch.utils import _pytree as pytree

        self.check(values)
        args, kwargs = pytree.tree_unflatten(values, self.program.call_spec.in_spec)
        return pytree.tree_leaves(self.module(*args, **kwargs))

    def trace(self, method, values, folder):
        self.check(values)
        Trace(self.module, folder).run(values)

    def reset(self):
        for name, buffer in self.module.named_buffers():
            buffer.copy_(self.state[name])


class ExecuTorch:
    """A .pte or .bpte file, run by the official runtime."""

    def __init__(self, path, data):
        try:
            import executorch
            from executorch.extension.pybindings import portable_lib
            from executorch.runtime import Runtime
        except ImportError as error:
            missing("executorch", error)
        import_quietly("executorch.kernels.quantized", "executorch.extension.llm.custom_ops.custom_ops")
        from importlib import metadata

        try:
            version = metadata.version("executorch")
        except metadata.PackageNotFoundError:
            version = getattr(executorch, "__version__", "of unknown version")
        if len(data) > 1:
            raise ValueError(f"its Python bindings take one .ptd file, {len(data)} were given")
        self.methods = None
        if path.endswith(".bpte"):
            with open(path, "rb") as file:
                self.bundle = portable_lib._load_bundled_program_from_buffer(file.read())
            self.module = portable_lib._load_for_executorch_from_bundled_program(self.bundle)
        else:
            self.methods = Runtime.get().load_program(path, **({"data_path": data[0]} if data else {}))
        self.description = f"executorch ExecuTorch {version}"

    def __call__(self, method, values):
        if self.methods is None:
            return list(self.module.run_method(method, tuple(values)))
        return list(self.methods.load_method(method).execute(values))


def answer(model, folder, verb, method="", *items):
    if verb == "reset":
        return model.reset()
    tensors = read_tensors(os.path.join(folder, "inputs.safetensors"))
    values = [item_value(item, i, tensors) for i, item in enumerate(items)]
    method = bytes.fromhex(method).decode()
    if verb == "trace":
        return model.trace(method, values, folder)
    kept = [as_tensor(value) for value in model(method, values) if value is not None]
    write_tensors(os.path.join(folder, "outputs.safetensors"), [(str(i), tensor) for i, tensor in enumerate(kept)])


def main():
    kind, path, folder, *data = sys.argv[1:]
    try:
        model = {"eager": Eager, "executorch": ExecuTorch}[kind](path, data)
    except Exception as error:
        reply("error model", f"{type(error).__name__}: {error}")
        return
    reply("ready", model.description)
    for line in sys.stdin:
        try:
            with torch.no_grad():
                answer(model, folder, *line.split())
            reply("ok")
        except Exception as error:
            reply("error run", f"{type(error).__name__}: {error}")


main()
