"""tests/parity/cases_promotion.py - dtypes and weak types of results: every pair of dtypes, and casts.

A case holds one function and one left dtype, its result one row of the promotion table with the values.
"""

import numpy as np

import corpus as parity

corpus = parity.Corpus(rtol=1e-5)

WIDE = ("int64", "uint64", "float64", "complex128")
NUMPY = ("bool", "int8", "int32", "uint32", "float16", "float32", "float64", "complex64")
SCALARS = {
    "py bool": lambda jnp: True,
    "py int": lambda jnp: 3,
    "py float": lambda jnp: 1.5,
    "py complex": lambda jnp: 1.0 + 2.0j,
    "weak int": lambda jnp: jnp.asarray(3),
    "weak float": lambda jnp: jnp.asarray(1.5),
    "weak complex": lambda jnp: jnp.asarray(1.0 + 2.0j),
    "np.int64": lambda jnp: np.int64(2),
    "np.float32": lambda jnp: np.float32(1.5),
    "np.float64": lambda jnp: np.float64(1.5),
    "np.bool": lambda jnp: np.bool_(True),
}
FUNCTIONS = """add subtract multiply true_divide floor_divide remainder power maximum minimum less equal
    logical_and bitwise_and bitwise_xor left_shift arctan2 logaddexp fmod float_power heaviside copysign""".split()
SCALAR_FIRST = "subtract true_divide floor_divide remainder power less".split()


def operands(jnp, dtypes):
    """The right operands: one small array a dtype, one scalar a kind."""
    arrays = {d: (lambda d=d: parity.sample(jnp, d)[::-1]) for d in dtypes}
    return arrays | {name: (lambda make=make: make(jnp)) for name, make in SCALARS.items()}


def row(jax, jnp, lax, function, dtype, dtypes=parity.DTYPES):
    f, x = getattr(jnp, function), parity.sample(jnp, dtype)
    return {
        name: parity.attempt(lambda make=make: f(x, make()))
        for name, make in operands(jnp, dtypes).items()
    }


def scalar_first(jax, jnp, lax, function, dtype):
    f, x = getattr(jnp, function), parity.sample(jnp, dtype)
    return {
        name: parity.attempt(lambda make=make: f(make(jnp), x)) for name, make in SCALARS.items()
    }


def scalars_alone(jax, jnp, lax, function):
    f = getattr(jnp, function)
    made = {name: make(jnp) for name, make in SCALARS.items()}
    return {
        a: {b: parity.attempt(lambda x=x, y=y: f(x, y)) for b, y in made.items()}
        for a, x in made.items()
    }


def under_jit(jax, jnp, lax, function):
    """Python scalars that are arguments of a jitted function are weak, constants too."""
    f = getattr(jnp, function)
    results = {}
    for d in parity.FEW:
        x = parity.sample(jnp, d)
        results[d] = [parity.attempt(lambda s=s, x=x: jax.jit(f)(x, s)) for s in (True, 3, 1.5)]
        results[d] += [
            parity.attempt(lambda s=s, x=x: jax.jit(lambda v: f(v, s))(x)) for s in (True, 3, 1.5)
        ]
    return results


rows = {f"{f} with {d}": (f, d) for f in FUNCTIONS[:7] for d in parity.DTYPES}
rows |= {
    f"{f} with {d}": (f, d)
    for f in FUNCTIONS[7:]
    for d in ("bool", "int8", "int32", "uint8", "bfloat16", "float32")
}
corpus.table(rows, row)
corpus.table(
    {f"{f} of a scalar and {d}": (f, d) for f in SCALAR_FIRST for d in parity.FEW}, scalar_first
)
corpus.table(
    {f"{f} of two scalars": (f,) for f in ("add", "true_divide", "power", "maximum")}, scalars_alone
)
corpus.table({f"{f} under jit": (f,) for f in ("add", "true_divide", "power")}, under_jit)
corpus.table(
    {
        f"x64: {f} with {d}": (f, d, (*parity.DTYPES, *WIDE))
        for f in ("add", "power")
        for d in (*parity.DTYPES, *WIDE)
    },
    row,
    config={"jax_enable_x64": True},
)


def types(jax, jnp, lax, dtype):
    """promote_types of a dtype with every other, as names."""
    others = (*parity.DTYPES, *WIDE)
    made = {d: np.dtype(jnp.promote_types(dtype, d)).name for d in others}
    return made | {
        f"py {t.__name__}": np.dtype(jnp.promote_types(dtype, t)).name
        for t in (bool, int, float, complex)
    }


NAMES = (*parity.DTYPES, *WIDE)
corpus.table({f"promote_types of {d}": (d,) for d in NAMES}, types)
corpus.table(
    {f"x64: promote_types of {d}": (d,) for d in NAMES}, types, config={"jax_enable_x64": True}
)


def casts(jax, jnp, lax, dtype):
    """astype from values at the edges of a dtype to every dtype."""
    edges = {
        "bool": [True, False],
        "int8": [-128, -1, 0, 127],
        "int16": [-32768, -1, 300, 32767],
        "int32": [-(2**31), -1, 70000, 2**31 - 1],
        "uint8": [0, 1, 128, 255],
        "uint16": [0, 256, 65535],
        "uint32": [0, 2**31, 2**32 - 1],
    }
    x = np.array(
        edges.get(dtype, [0.5, -0.5, 1.999, -2.5, 300.7, -3e9, 3e9, 1e6, np.inf, -np.inf, np.nan])
    )
    if dtype.startswith("complex"):
        x = x[:4] + 1j
    x = jnp.asarray(x, dtype=jnp.dtype(dtype))
    return {d: parity.attempt(lambda d=d: x.astype(d)) for d in parity.DTYPES}


corpus.table({f"astype from {d}": (d,) for d in parity.DTYPES}, casts)


@corpus.case()
def case_asarray_of_python_and_numpy_values(jax, jnp, lax):
    values = [
        True,
        1,
        1.0,
        1j,
        [],
        [1, 2],
        [1, 2.5],
        [True, False],
        [[1], [2]],
        (1, 2),
        [1j, 2],
        np.float64(2),
        np.int64(3),
    ]
    values += [
        np.arange(3),
        np.ones(2),
        np.ones(2, np.float16),
        [np.float32(1), 2],
        [jnp.asarray(1), 2.5],
        range(3),
        np.bool_(1),
    ]
    makers = {"asarray": jnp.asarray, "array": jnp.array}
    return {
        n: [parity.attempt(lambda v=v, m=make: m(v)) for v in values] for n, make in makers.items()
    }


@corpus.case()
def case_asarray_with_dtype(jax, jnp, lax):
    values = [True, 3, 2.7, [1.5, -2.5], np.array([300, -1]), [0, 2]]
    dtypes = [
        bool,
        int,
        float,
        complex,
        jnp.int8,
        jnp.uint8,
        jnp.bfloat16,
        "float16",
        np.float64,
        np.dtype("int64"),
    ]
    return [
        [parity.attempt(lambda v=v, d=d: jnp.asarray(v, dtype=d)) for d in dtypes] for v in values
    ]


@corpus.case()
def case_weak_type_of_makers(jax, jnp, lax):
    return {
        "full": [
            jnp.full((2,), 1),
            jnp.full((2,), 1.0),
            jnp.full((2,), True),
            jnp.full((2,), 1, jnp.float32),
            jnp.full(2, 1.5j),
        ],
        "like": [
            jnp.ones_like(1.0),
            jnp.zeros_like(2),
            jnp.full_like(1, 2.5),
            jnp.ones_like(jnp.arange(2), dtype=float),
        ],
        "like weak": [jnp.zeros_like(jnp.asarray(1.0)), jnp.full_like(jnp.arange(3), 2.7)],
        "range": [
            jnp.arange(3),
            jnp.arange(3.0),
            jnp.linspace(0, 1, 3),
            jnp.eye(2),
            jnp.zeros(2),
            jnp.arange(0, 1, 0.5),
        ],
        "join": [
            jnp.stack([1.0, 2.0]),
            jnp.concatenate([jnp.full(1, 1.0), jnp.full(1, 2)]),
            jnp.stack([1, 2.5]),
        ],
        "select": [
            jnp.where(True, 1, 2.5),
            jnp.where(jnp.arange(2) > 0, 1, 0),
            jnp.clip(jnp.arange(4), 0.5, 2.5),
            jnp.clip(3, 1, 2),
        ],
        "math": [
            jnp.exp(1),
            jnp.exp(1.0),
            jnp.maximum(1, 2),
            jnp.maximum(1, 2.0),
            jnp.power(2, 3),
            jnp.sqrt(4),
            jnp.abs(-1),
        ],
        "reduce": [
            jnp.sum(1.0),
            jnp.mean(1),
            jnp.max(2),
            jnp.prod(jnp.asarray(2.0)),
            jnp.sum(jnp.full(2, 1.0)),
            jnp.argmax(2),
        ],
        "shape": [
            jnp.reshape(jnp.asarray(1.0), (1,)),
            jnp.broadcast_to(1.0, (2,)),
            jnp.ravel(1),
            jnp.squeeze(2.5),
            jnp.tile(1, 2),
        ],
        "index": [jnp.full(3, 1.0)[0], jnp.full(3, 1.0)[1:], jnp.full((3,), 1)[jnp.arange(2)]],
        "neg": [
            -jnp.asarray(1),
            +jnp.asarray(1.0),
            abs(jnp.asarray(-2)),
            ~jnp.asarray(1),
            jnp.asarray(1) == 1,
        ],
        "copy": [
            jnp.array(jnp.asarray(1.0)),
            jnp.asarray(jnp.asarray(1.0)),
            jnp.copy(jnp.asarray(1.0)),
            jnp.asarray(1.0).copy(),
        ],
        "astype": [
            jnp.asarray(1.0).astype(float),
            jnp.asarray(1.0).astype(jnp.float32),
            jnp.float32(1),
            jnp.int32(2),
            jnp.bool_(1),
        ],
        "dot": [
            jnp.dot(2.0, 3.0),
            jnp.dot(jnp.full(2, 1.0), jnp.full(2, 1)),
            jnp.matmul(jnp.full((2, 2), 1.0), jnp.full(2, 2.0)),
        ],
        "jit": [
            jax.jit(lambda x: x)(1.0),
            jax.jit(lambda x: x + 1)(2),
            jax.jit(lambda x: x * 2.5)(True),
            jax.jit(lambda: 1.0)(),
        ],
        "grad": [
            jax.grad(lambda x: x * x)(3.0),
            jax.grad(lambda x: x * x)(jnp.float32(3)),
            jax.value_and_grad(jnp.sin)(1.0),
        ],
        "vmap": [
            jax.vmap(lambda x: x + 1)(jnp.full(2, 1.0)),
            jax.vmap(lambda x: 2.0)(jnp.arange(2)),
        ],
        "scan": [
            lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(3.0)),
            lax.fori_loop(0, 3, lambda i, c: c + i, 0),
        ],
        "cond": [
            lax.cond(True, lambda: 1.0, lambda: 2.0),
            lax.select(True, jnp.float32(1), jnp.float32(2)),
        ],
    }


corpus.expressions(
    """
jnp.result_type(jnp.int8, jnp.float32)
jnp.result_type(1, 2.0)
jnp.result_type(i4, 1.5)
jnp.result_type(jnp.int8, 1.5)
jnp.result_type(h4, np.float32(1))
jnp.result_type(h4, jnp.float16)
jnp.result_type(int)
jnp.result_type(float, jnp.bfloat16)
jnp.result_type(i4, u4, f4)
[jnp.issubdtype(jnp.bfloat16, t) for t in (jnp.floating, jnp.inexact, jnp.number, jnp.integer, np.floating)]
[jnp.issubdtype(d, jnp.integer) for d in (jnp.int8, jnp.uint32, jnp.bool_, jnp.float16, int)]
[jnp.issubdtype(d, jnp.signedinteger) for d in (jnp.int8, jnp.uint32)]
[jnp.issubdtype(d, jnp.complexfloating) for d in (jnp.complex64, jnp.float32)]
[jax.dtypes.canonicalize_dtype(d) for d in (float, int, bool, complex, np.float64, np.int64, np.uint64, 'float16')]
[jnp.isdtype(jnp.float32, k) for k in ('real floating', 'integral', 'bool', 'numeric', 'complex floating')]
[jnp.can_cast(a, b) for a, b in ((jnp.int8, jnp.int16), (jnp.float32, jnp.int32), (jnp.uint8, jnp.int8))]
jnp.dtype('float32')
[jnp.dtype(d) for d in (jnp.bfloat16, jnp.int4, jnp.bool_, float, int)]
[jnp.float32.dtype, jnp.int8.dtype, jnp.bfloat16.dtype]
[jnp.iinfo(jnp.int8).max, jnp.iinfo(jnp.uint32).max, jnp.iinfo('int32').min, jnp.iinfo(jnp.uint8).bits]
[float(jnp.finfo(d).eps) for d in (jnp.float16, jnp.bfloat16, jnp.float32)]
[float(jnp.finfo(d).max) for d in (jnp.float16, jnp.bfloat16, jnp.float32)]
[float(jnp.finfo(d).tiny) for d in (jnp.float16, jnp.bfloat16, jnp.float32)]
[jnp.finfo(d).bits for d in (jnp.float16, jnp.bfloat16, jnp.float32)]
jnp.float32(3)
jnp.int8(300) !! 300 out of bounds for int8
jnp.uint8([1, 2])
jnp.bfloat16(1.2345)
jnp.asarray(2**40) !! too large to convert to int32
jnp.asarray(2**31 - 1)
u4 + (-1)
u4 + 300
jnp.int8(100) + 100
i4 ** 2.
i4 ** 2
i4 ** i4
i4 ** -1 !! Integers cannot be raised to negative powers
f4 ** -1
f4 ** 0
h4 ** 2
sample_bool + sample_bool
-b4 !! does not accept dtype bool
~b4
b4 - b4 !! does not accept dtype bool
jnp.sign(u4)
-u4
1 - u4
2 / i4
True + i4
np.ones(4, np.float32) + f4
np.ones(4) * i4
np.float64(2) * h4
np.int64(2) * h4
np.float32(2) * h4
[1, 2, 3, 4] + f4 !! unsupported operand type
jnp.add(f4, [1, 2, 3, 4]) !! requires ndarray or scalar arguments, got <class 'list'> at position 1
jnp.add('a', f4) !! <class 'str'>
f4 + None !! requires ndarray or scalar arguments|unsupported operand
f4 + jnp.arange(3) !! Incompatible shapes for broadcasting|got incompatible shapes for broadcasting
m23 + f4 !! got incompatible shapes for broadcasting: \\(2, 3\\), \\(4,\\)|Incompatible shapes for broadcasting
""".replace("sample_bool + sample_bool", "b4 + b4[::-1]")
)

# Functions of one dtype work under the strictest settings.
corpus.expressions(
    """
jnp.linspace(jnp.zeros(2), jnp.ones(2), 3)
jnp.linspace(0.0, jnp.ones(2), 3)
jnp.logspace(f4, f4, 2)
jnp.isin(f4, f4[1:])
jnp.setdiff1d(f4, f4[:2])
jnp.setxor1d(f4, f4[:2])
jnp.packbits(jnp.arange(9) % 2)
jnp.trapezoid(i4, i4)
jnp.vander(f4)
jnp.gradient(i4, i4 * 2)
jnp.histogram(i4, 3)
jnp.bincount(i4 > 1)
jnp.median(i4)
jnp.nanpercentile(i4, 30)
jnp.isclose(i4, i4 + 1)
jax.nn.logsumexp(jnp.asarray([1 + 2j, 0.5]))
jax.random.normal(jax.random.key(0), (2,), jnp.complex64)
jnp.linalg.svdvals(jnp.eye(3) * 2)
jnp.linalg.det(jnp.eye(3) * 2)
jnp.linalg.solve(jnp.eye(3) * 2, jnp.ones(3))
jnp.linalg.pinv(jnp.eye(3) * 2)
jnp.histogram2d(i4, i4, 2)
jnp.allclose(f4, f4 + 1, jnp.float32(0.1))
""",
    config={"jax_numpy_rank_promotion": "raise", "jax_numpy_dtype_promotion": "strict"},
)

# Quantiles have the dtype of the array, and find their places in that of q.
corpus.expressions("""
jnp.median(jnp.arange(1003).astype(jnp.bfloat16))
jnp.quantile((jnp.arange(1003) / 7).astype(jnp.float16), jnp.array([0.1, 0.3, 0.9]))
jnp.percentile((jnp.arange(1003) / 7).astype(jnp.float16), 30.0)
jnp.nanmedian(jnp.arange(1003).astype(jnp.bfloat16))
jnp.quantile(i4, jnp.float16(0.3))
jnp.quantile(f4, jnp.float16(0.3))
jnp.quantile(2.0, 0.5)
jnp.isclose(f4, f4 * 1.1, rtol=jnp.asarray([0.2, 0.01, 0.2, 0.01]), atol=0)
jnp.isclose(i4, i4 + 1, atol=jnp.int32(1))
jnp.zeros((2,), jax.float0).dtype == jax.float0
""")
