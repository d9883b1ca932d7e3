"""shardax/_stablehlo/literals.py - MLIR text of types and constants."""

import json

import numpy as np

_DTYPES = {"bool": "i1", "float": "f", "bfloat": "bf", "uint": "ui", "int": "i"}
_MANY = 16  # elements of a constant that are shown


def type_text(value):
    """tensor<4x8xf32>"""
    return f"tensor<{''.join(f'{n}x' for n in value.shape)}{dtype_text(value.dtype)}>"


def dtype_text(dtype):
    """f32, i1, ui8, complex<f32>, f8E4M3FN"""
    if dtype == "bool":
        return "i1"
    if dtype.startswith("complex"):
        return f"complex<f{int(dtype[7:]) // 2}>"
    if dtype.startswith(("float8", "float4", "float6")):
        return "f" + dtype[5:].replace("_", "").upper().replace("FNUZ", "FNUZ")
    name = dtype.rstrip("0123456789")
    return _DTYPES.get(name, name) + dtype[len(name) :]


def element_text(x):
    """A number as MLIR writes it."""
    x = np.asarray(x)
    if x.dtype.kind == "b":
        return "true" if x else "false"
    if x.dtype.kind == "c":
        return f"({element_text(x.real)}, {element_text(x.imag)})"
    if x.dtype.kind in "iu":
        return str(int(x))
    try:
        number = float(x)
    except (TypeError, ValueError):
        return str(x)
    if np.isfinite(number):
        return f"{number:.6e}"
    words = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize]
    return f"0x{int(x.view(words)):0{2 * x.dtype.itemsize}X}"


def constant_text(array):
    """dense<...>; of large arrays the first elements."""
    array = np.asarray(array)
    if array.ndim == 0:
        return f"dense<{element_text(array)}>"
    if array.size > _MANY:
        shown = ", ".join(element_text(x) for x in array.reshape(-1)[:4])
        return f"dense_resource<[{shown}, ...]>"

    def nested(part):
        if part.ndim == 0:
            return element_text(part)
        return f"[{', '.join(nested(p) for p in part)}]"

    return f"dense<{nested(array)}>"


def attribute_text(value):
    """An attribute of an operation: 3 : i64, "text", f32, dense<...> : tensor<2xf32>."""
    if isinstance(value, bool):
        return element_text(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        value = np.asarray(value)
    if isinstance(value, (np.dtype, type)):
        return dtype_text(str(np.dtype(value)))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(attribute_text(x).removesuffix(' : i64') for x in value)}]"
    if not hasattr(value, "__array__"):
        return json.dumps(repr(value))
    array = np.asarray(value)
    kind = dtype_text(str(array.dtype))
    if array.ndim == 0:
        return f"{element_text(array)} : {kind}"
    same = array.size and (array == array.reshape(-1)[0]).all()
    text = constant_text(array.reshape(-1)[0] if same else array)
    return f"{text} : tensor<{''.join(f'{n}x' for n in array.shape)}{kind}>"
