"""Makes the seeds of the fuzz targets that tests/data has none of: small npy, npz, safetensors and config files that
use every feature of their formats. Needs NumPy; run again only when a format gains one.

usage: python3 tests/export/fuzz_corpus.py"""

import io
import json
import pathlib
import struct
import zipfile

import numpy

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
SAFE_NAMES = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "int32": "I32", "uint8": "U8",
              "bool": "BOOL"}


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def npz(arrays, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), npy(array), method)
    return file.getvalue()


def safetensors(arrays, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, content) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write(folder, name, content):
    path = CORPUS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main():
    values = numpy.arange(12)
    arrays = {
        "f32": values.astype("<f4").reshape(3, 4), "f16": values.astype("<f2").reshape(2, 2, 3),
        "bool": (values % 2 == 0), "i64": numpy.int64(7).reshape(()), "empty": numpy.zeros((0, 5), "<f8"),
        "fortran": numpy.asfortranarray(values.astype("<i4").reshape(3, 4)),
        "big": values.astype(">f8").reshape(4, 3), "u16": values.astype("<u2")}
    for name, array in arrays.items():
        write("npy", f"{name}.npy", npy(array))
    write("npy", "version2.npy", npy(arrays["f32"], (2, 0)))
    write("npy", "version3.npy", npy(arrays["u16"], (3, 0)))
    write("npz", "stored.npz", npz(arrays, zipfile.ZIP_STORED))
    write("npz", "deflated.npz", npz(arrays, zipfile.ZIP_DEFLATED))
    write("npz", "one.npz", npz({"arr_0": numpy.zeros(1000, "<f4")}, zipfile.ZIP_DEFLATED))
    write("npz", "none.npz", npz({}, zipfile.ZIP_STORED))
    tensors = {name: (SAFE_NAMES[array.dtype.name], list(array.shape), array.tobytes())
               for name, array in arrays.items() if array.dtype.name in SAFE_NAMES and name not in ("big", "fortran")}
    write("safetensors", "mixed.safetensors", safetensors(tensors, {"format": "pt"}))
    write("safetensors", "bfloat16.safetensors", safetensors({"x": ("BF16", [2, 3], bytes(range(12))),
                                                              "y": ("F8_E4M3", [4], b"\0\1\2\3")}))
    write("safetensors", "none.safetensors", safetensors({}))
    write("config", "all.json", ALL.encode())
    write("config", "steps.json", STEPS.encode())


ALL = """// every kind of setting
{ "schema": "pterun.config/1",
  "model": {"path": ["a.pte", "b.pte"], "data": ["w.ptd"], "method": "forward,encode", "case": 1},
  "verify": "minimal", "raw_options": true, "allow_unknown_options": false, "require_evidence": "stored",
  "global_options": {"XnnpackBackend": {"weight_cache_enabled": true, "x": -2147483648, "s": "text"}},
  "load_options": {"XnnpackBackend": {"workspace_sharing_mode": 1}},
  "inputs": {"0": "uniform(0,1)", "mask": {"gen": "int(0,1)", "seed": 7, "shape": [1, 128]}, "*": "rest.npz"},
  "shapes": {"0": [1, 3, 8, 8]}, "input_dim_orders": {"0": [0, 2, 3, 1]},
  "reference": "pte:c.pte", "tolerance": {"atol": 1e-4, "rtol": 0.5, "outputs": {"0": {"bounds": "cosine>=0.9"}}},
  "threads": 2, "seed": 9223372036854775807, "iterations": 3, "warmup": 0, "fresh_state": true, "python": "python3",
  "timeout_s": 12.5,
  "bench": {"warmup": null, "min_runs": 6, "min_time_s": 0.25, "max_time_s": 1e2, "until_ci": "1%", "processes": 3,
            "profile": true, "input_seeds": 2, "fail_if": ["p50>+3%"], "margin": 0.02, "shard": "1/2"},
  "matrix": {"threads": [1, 2], "load_options.XnnpackBackend.workspace_sharing_mode": [0, 1, 2],
             "exclude": [{"threads": 2}], "baseline": {"threads": 1}}, /* and the rest */
  "output": {"json": "r.json", "print": "all", "progress": "never", "verbosity": -1},
  "profiles": {"ci": {"threads": 1, "bench": {"min_runs": 3}}} }
"""

STEPS = """{"model": {"path": "m.pte"}, "tolerance": {"atol": 1},
 "steps": [{"method": "encode", "inputs": "e.npz", "reference": "e.expected.npz", "labels": "l.npy"},
           {"method": "forward", "inputs": ["x.npy", "zeros"], "tolerance": "cosine>=0.999,max_abs<=0.1",
            "shapes": {"x": [2]}}]}
"""

if __name__ == "__main__":
    main()
