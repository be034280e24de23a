"""Reads .npz files with the standard library: name -> (dtype name, shape, row-major bytes)."""

import ast
import struct
import zipfile

DTYPES = {
    "|b1": "bool", "|u1": "uint8", "|i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64",
    "<f2": "float16", "<f4": "float32", "<f8": "float64",
}


def parse_npy(data):
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not an npy file")
    long_header = data[6] >= 2
    (length,) = struct.unpack_from("<I" if long_header else "<H", data, 8)
    start = 12 if long_header else 10
    header = ast.literal_eval(data[start : start + length].decode("latin1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("column-major arrays are not supported")
    return DTYPES[header["descr"]], header["shape"], data[start + length :]


def read_npz(path):
    """The arrays of a file whose keys end in a number, in the order of that number."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist(), key=lambda name: int(name[:-4].rsplit("_", 1)[-1]))
        return {name[:-4]: parse_npy(archive.read(name)) for name in names}
