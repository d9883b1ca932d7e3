"""tests/codegen/test_native.py - machine code gives the bits of tile kernels.

Random expressions are compiled with SHARDAX_CODEGEN=0, with 1, with the instructions of AVX2 alone
and with results that are written past the caches. Operands have all kinds of layout, tails of
vectors, NaN, infinities, zeros of both signs and denormals.
"""

import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import runs_loops

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int32", "uint32", "int64", "uint64"]
COMPLEX = ["complex64", "complex128"]
KINDS = dict.fromkeys(FLOATS, "f") | dict.fromkeys(INTEGERS, "i") | dict.fromkeys(COMPLEX, "c")
UNARY = {
    "f": [
        jnp.negative, jnp.abs, jnp.square, jnp.sqrt, lax.rsqrt, jnp.exp, jnp.expm1, jnp.log,
        jnp.log1p, jnp.tanh, lax.logistic, lax.erf, jnp.floor, jnp.ceil, jnp.round, lax.round,
        jnp.sign, lambda x: x**3, lambda x: lax.integer_pow(x, -2), lambda x: lax.integer_pow(x, 7),
        lambda x: lax.clamp(x.dtype.type(-1), x, x.dtype.type(2)), jax.nn.relu, jax.nn.gelu,
        jnp.sin, jnp.cos, jnp.tan, jnp.arcsin, jnp.arccos, jnp.arctan, jnp.sinh, jnp.cosh,
        jnp.arcsinh, jnp.arccosh, jnp.arctanh, jnp.exp2, lax.erfc, lax.erf_inv, lax.lgamma,
        lax.digamma,
    ],
    "i": [jnp.negative, jnp.square, jnp.invert, lambda x: x**3, lambda x: x // 7, lambda x: x % 10,
          lambda x: x << 3, lambda x: x >> 31, lambda x: lax.shift_right_logical(x, x * 0 + 5),
          lambda x: x << x.dtype.type(70), lax.population_count, lax.clz,
          lambda x: lax.div(x, x.dtype.type(100)), lambda x: lax.rem(x, x.dtype.type(16))],
    "c": [jnp.negative, jnp.square, jnp.conj, lambda x: x**3, lambda x: lax.integer_pow(x, 5),
          lambda x: lax.complex(x.imag, x.real), lambda x: jnp.abs(x) - x],
    "b": [jnp.logical_not],
}  # fmt: skip
BINARY = {
    "f": [jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jnp.maximum, jnp.minimum, lax.atan2,
          jnp.power, jnp.remainder],
    "i": [jnp.add, jnp.subtract, jnp.multiply, jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor,
          jnp.maximum, jnp.minimum, lax.div, lax.rem, jnp.floor_divide, jnp.remainder,
          jnp.left_shift, lambda x, y: x >> (y & 63), lax.shift_right_logical],
    "c": [jnp.add, jnp.subtract, jnp.multiply, lambda x, y: x.real * y,
          lambda x, y: lax.complex(x.real, y.imag)],
    "b": [jnp.logical_and, jnp.logical_or, jnp.logical_xor],
}  # fmt: skip
EQUAL = [jnp.equal, jnp.not_equal]
COMPARE = [*EQUAL, jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, -1e-42, 3e38, 0.5, 2.5, 88.8]


class Writer:
    """Expressions over operands of one dtype and truth values."""

    def __init__(self, seed, dtype):
        self.random = random.Random(seed)
        self.kind = KINDS[dtype]
        self.dtype = dtype

    def number(self, operands, depth):
        pick = self.random.random()
        if depth == 0 or pick < 0.1:
            return self.random.choice(operands)
        if pick < 0.2:
            return self.constant() + 0 * operands[0]
        if pick < 0.45:
            return self.random.choice(UNARY[self.kind])(self.number(operands, depth - 1))
        if pick < 0.6:
            truth = self.truth(operands, depth - 1)
            return jnp.where(truth, *(self.number(operands, depth - 1) for _ in range(2)))
        if pick < 0.65:
            return self.truth(operands, depth - 1).astype(self.dtype)
        if pick < 0.7:  # through numbers of another width
            way = self.random.choice(COMPLEX if self.kind == "c" else FLOATS + INTEGERS)
            return self.number(operands, depth - 1).astype(way).astype(self.dtype)
        f = self.random.choice(BINARY[self.kind])
        return f(self.number(operands, depth - 1), self.number(operands, depth - 1))

    def truth(self, operands, depth):
        pick = self.random.random()
        if depth > 0 and pick < 0.2:
            return jnp.logical_not(self.truth(operands, depth - 1))
        if depth > 0 and pick < 0.4:
            f = self.random.choice(BINARY["b"])
            return f(self.truth(operands, depth - 1), self.truth(operands, depth - 1))
        if pick < 0.5:
            return self.number(operands, max(depth - 1, 0)).astype(bool)
        a, b = (self.number(operands, max(depth - 1, 0)) for _ in range(2))
        return self.random.choice(EQUAL if self.kind == "c" else COMPARE)(a, b)

    def constant(self):
        value = self.random.choice([0, 1, 2, 3, 7] if self.kind == "i" else [0.3, -1.5, 2.0, 1e-3])
        return jnp.asarray(value, self.dtype)

    def program(self, operands):
        outputs = []
        if self.random.random() < 0.7:
            outputs = [self.number(operands, 5), self.number(operands, 3), self.truth(operands, 3)]
        axes = range(operands[0].ndim)
        axes = [axis for axis in axes if self.random.random() < 0.7] if len(axes) > 1 else axes
        # Reductions over the same axes join the loops of what they reduce: of operands too, as they
        # lie in memory.
        for _ in range(self.random.randrange(3) if outputs else 3):
            outputs.append(jnp.sum(self.number(operands, self.random.randrange(3)), tuple(axes)))
        return outputs


def operands(seed, dtype, shape):
    """Three arrays: one dense, one transposed, one that is broadcast."""
    rng = np.random.default_rng(seed)
    if dtype in FLOATS + COMPLEX:
        parts = (3, *shape, 1 + (dtype in COMPLEX))
        x = rng.normal(size=parts) * 10.0 ** rng.integers(-3, 3, parts)
        some = x.reshape(-1)[:: max(1, x.size // 40)]
        some[:] = rng.choice(SPECIAL, len(some))
        x = x.view(complex)[..., 0] if dtype in COMPLEX else x[..., 0]
    else:
        x = rng.integers(-(2**31), 2**31, (3, *shape))
        x.reshape(-1)[::3] %= 5
    with np.errstate(over="ignore"):
        x = x.astype("float32" if dtype.endswith("float16") else dtype)
    turned = jnp.asarray(np.ascontiguousarray(x[1].T), dtype).T
    once = jnp.asarray(x[2].reshape(-1)[:1], dtype)
    return jnp.asarray(x[0], dtype), turned, jnp.broadcast_to(once, shape)


def bits(x):
    """Bits, with one NaN for all: which one of two a sum keeps is the processor's choice."""
    x = np.asarray(x.astype("float32") if x.dtype == jnp.bfloat16 else x)
    if x.dtype.kind == "c":
        x = np.stack([x.real, x.imag])
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    return x.view(f"u{x.itemsize}") if x.dtype.kind == "f" else x


def every_way(f, *args):
    """Results of machine code, also of AVX2 alone and written past the caches, and without."""
    out = []
    for wanted in ("1", "avx2", "stream", "0"):
        before = os.environ.get("SHARDAX_CODEGEN")
        os.environ["SHARDAX_CODEGEN"] = wanted
        try:
            out.append(jax.jit(lambda *a: f(*a))(*args))
        finally:
            if before is None:
                del os.environ["SHARDAX_CODEGEN"]
            else:
                os.environ["SHARDAX_CODEGEN"] = before
    return out


SHAPES = [
    (1,),
    (7,),
    (8,),
    (9,),
    (17,),
    (31,),
    (33,),
    (513,),
    (3, 70),
    (5, 129),
    (40, 33),
    (2, 3, 11),
    (4, 9, 64),
    (3, 100_001),  # several chunks
]


@pytest.mark.parametrize("dtype", list(KINDS))
@pytest.mark.parametrize("start", range(0, 112, 28))
def test_random_expressions(dtype, start):
    with jax.enable_x64(True):
        for seed in range(start, start + 28):
            shape = SHAPES[seed % len(SHAPES)]
            args = operands(seed, dtype, shape)
            results = every_way(lambda *a: Writer(seed, dtype).program(a), *args)  # noqa: B023
            for *natives, tiles in zip(*results):
                for native in natives:
                    np.testing.assert_array_equal(bits(native), bits(tiles), err_msg=f"seed {seed}")


@pytest.mark.parametrize("dtype", COMPLEX)
def test_what_is_left_behind_vectors_leaves_operands_as_they_are(dtype):
    """Of 16 bytes, whose tiles fill their memory: rows of 3 end within a vector."""
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        x = rng.integers(-9, 9, (2, 3, 20_000)) + 1j * rng.integers(-9, 9, (2, 3, 20_000))
        summed, dense = jnp.asarray(x[0], dtype), np.ascontiguousarray(x[1].T)
        turned = jnp.asarray(dense, dtype).T
        f = lambda a, b: (b * (1 + 2j) + 1, jnp.sum(a, 1))
        for product, total in every_way(f, summed, turned):
            np.testing.assert_array_equal(total, x[0].sum(1))
            np.testing.assert_array_equal(product, x[1] * (1 + 2j) + 1)


def test_an_operand_is_summed_as_it_lies_and_within_an_expression():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.integers(-9, 9, (4, 128, 64)), "float32")
    y = jnp.asarray(rng.integers(-9, 9, (4, 1, 64)), "float32")
    for sums, product in every_way(lambda x, y: (x.sum((0, 2)), (x * y).sum((0, 2))), x, y):
        np.testing.assert_array_equal(sums, np.asarray(x).sum((0, 2)))
        np.testing.assert_array_equal(product, (np.asarray(x) * np.asarray(y)).sum((0, 2)))


def plan_of(f, *args):
    """The text of SHARDAX_DUMP=plan."""
    program = "import shardax as jax, shardax.numpy as jnp\nfrom shardax import lax\n"
    program += f"jax.jit({f})({', '.join(args)})"
    env = {**os.environ, "SHARDAX_DUMP": "plan", "SHARDAX_CODEGEN": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@runs_loops
@pytest.mark.parametrize(
    ("f", "native"),
    [
        ("lambda x: jax.nn.gelu(jnp.tanh(x) * 2 + 1)", True),
        ("lambda x: jnp.mean((x - x.mean()) ** 2)", True),
        ("lambda x: jnp.where(x > 0, x, jnp.expm1(x))", True),
        ("lambda x: (x + 1) * (x < 3)", True),
        ("lambda x: jnp.sin(x) * 2", True),  # reduced in float64
        ("lambda x: x.astype(jnp.bfloat16) + 1", True),
        ("lambda x: lax.erf_inv(x) * lax.digamma(x)", True),
        ("lambda x: jnp.cbrt(x) * 2", False),  # by integer division
        ("lambda x: lax.complex(x, x) ** 2 * 1j + 1", True),
        ("lambda x: abs(lax.complex(x, -x)) < 2", True),
        ("lambda x: lax.complex(x, x) / (1 + x) + 1", False),
    ],
)
def test_plans_say_which_loops_are_native(f, native):
    text = plan_of(f, "jnp.linspace(-1., 1., 1000)")
    last = text.split("-- plan:")[-1]
    assert ("native loop" in last) == native, text


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_chunks_and_rows_end_where_others_start(dtype):
    """Many chunks, and rows whose last vector is not full: the memory behind them keeps its
    content."""

    def f(x):
        y = jnp.tanh(x) * 2 + jnp.exp(-x)
        return y, y > 1, jnp.sin(x) + 1

    with jax.enable_x64(True):
        for shape in [(50_005,), (29, 1037), (300, 35)]:
            x = jnp.linspace(-2, 3, int(np.prod(shape))).reshape(shape).astype(dtype)
            for *natives, tiles in zip(*every_way(lambda x: f(x[..., 1:]), x)):
                for native in natives:
                    np.testing.assert_array_equal(bits(native), bits(tiles))


def test_numbers_of_all_widths_become_each_other():
    """Halfway between two floats, at the ends of integers, of both signs."""
    near = [2**k + d for k in range(3, 64) for d in (-1025, -1024, -3, -1, 0, 1, 2, 511, 1025)]
    near = [n for n in near if 0 <= n < 2**63]
    halves = [2**k + 2 ** (k - 24) + d for k in range(25, 63) for d in (-1, 0, 1)]
    with jax.enable_x64(True):
        whole = np.array([*near, *halves, 2**63 - 1, 2**63 - 2**38, 2**63 - 2**38 - 1], "int64")
        whole = np.concatenate([whole, -whole, [-(2**63)]])
        floats = np.concatenate([whole.astype("float64"), whole.astype("float64") + 0.75])
        floats = np.concatenate([floats, [1e300, np.inf, np.nan, -0.0, -0.5, 2.0**64, 1.8e19]])
        with np.errstate(over="ignore"):
            numbers = [whole, whole.view("uint64"), floats, floats.astype("float32")]
        numbers += [n.astype(f"{kind}32") for n in numbers[:2] for kind in ("int", "uint")]
        for x in map(jnp.asarray, numbers):
            for kind in [*INTEGERS, *FLOATS]:
                both = every_way(lambda x: (x.astype(kind), x < 1), x)  # noqa: B023
                ways = [bits(converted) for converted, _ in both]
                for native in ways[:-1]:
                    np.testing.assert_array_equal(native, ways[-1], str((x.dtype, kind)))
            if x.dtype.kind in "iu":
                want = np.asarray(x) * np.asarray(x)[::-1]
                for product, _ in every_way(lambda x, y: (x * y, x < y), x, x[::-1]):
                    np.testing.assert_array_equal(product, want)


def test_results_may_lie_where_operands_do():
    def step(x, y):
        z = jnp.tanh(x) * y + 1
        return y * z - x, z

    x, y = jnp.linspace(-1, 1, 1003), jnp.linspace(0, 2, 1003)
    want = jax.jit(step)(x, y)
    got = jax.jit(step, donate_argnums=(0, 1))(x + 0, y + 0)
    for a, b in zip(got, want):
        np.testing.assert_array_equal(bits(a), bits(b))


@pytest.mark.parametrize("length", [17, 48, 49, 63, 97, 100, 255, 257, 1037])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_rows_of_any_length_beside_one_row(length, dtype):
    """The last vector of a row overlaps the one before it, also if results overlap operands.
    Elements that a row leaves out keep their values."""
    with jax.enable_x64(True):
        x = jnp.arange(600 * length).astype(dtype).reshape(600, length) / 64
        row = jnp.linspace(-1, 1, length).astype(dtype)
        f = lambda x, row: x * x - row
        for native in (ways := every_way(f, x, row))[:-1]:
            np.testing.assert_array_equal(bits(native), bits(ways[-1]))
        over = jax.jit(f, donate_argnums=0)(x + 0, row)
        np.testing.assert_array_equal(bits(over), bits(ways[-1]))
        narrow = jax.jit(lambda x, row: (x[:, 1:] + row[1:], x))(x, row)
        np.testing.assert_array_equal(narrow[0], np.asarray(x)[:, 1:] + np.asarray(row)[1:])


def test_many_values_at_once():
    """More values than registers: some wait on the stack."""

    def f(x):
        terms = [x * n + 1 / (x + n + 1) for n in range(40)]
        total = terms[0]
        for n, term in enumerate(terms[1:]):
            total = jnp.maximum(total, term * terms[-n - 1])
        return total, sum(terms)

    for *natives, tiles in zip(*every_way(f, jnp.linspace(0.5, 3, 777))):
        for native in natives:
            np.testing.assert_array_equal(bits(native), bits(tiles))


def test_rows_of_what_has_no_machine_code():
    """Divisions of 64 bits by numbers that differ run on tile kernels, rows of 64 places too."""
    with jax.enable_x64(True):
        a = np.random.default_rng(0).integers(1, 2**40, (4, 9, 64)).astype(np.uint64)
        b = np.asfortranarray(a) % 1000 + 1
        turned = jnp.asarray(np.ascontiguousarray(b.T)).T
        got = jax.jit(lambda a, b: jnp.sum((a + b) // b, (0, 2)))(a, turned)
        np.testing.assert_array_equal(got, ((a + b) // b).sum((0, 2)))


@runs_loops
def test_chains_are_native_and_what_the_environment_asks_for_is_done():
    def plan(f, wanted):
        program = f"import shardax as jax, shardax.numpy as jnp\njax.jit({f})(jnp.ones(1000))"
        env = {k: v for k, v in os.environ.items() if k != "SHARDAX_CODEGEN"}
        env |= {"SHARDAX_DUMP": "plan", **({"SHARDAX_CODEGEN": wanted} if wanted else {})}
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True
        )
        return "native loop" in done.stderr

    chain = "lambda x: ((x * 2 + 1) * 3 - x) * x"
    assert plan(chain, None) and plan(chain, "1") and not plan(chain, "0")


@runs_loops
def test_perf_is_told_the_names_of_loops():
    """SHARDAX_PERF_MAP=1 writes the file in which perf looks for names."""
    program = """
import os, shardax as jax, shardax.numpy as jnp
jax.block_until_ready(jax.jit(lambda x: x * 2 + 1)(jnp.ones(100)))
jax.block_until_ready(jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, 0))
path = f"/tmp/perf-{os.getpid()}.map"
print(open(path).read() if os.path.exists(path) else "none")
if os.path.exists(path):
    os.remove(path)
"""
    two = r"[0-9a-f]+ [0-9a-f]+ loop: mul add\n[^ ]+ [^ ]+ loop: while\n"
    for asked, found in (("1", two), ("", r"none\n")):
        env = {**os.environ, "SHARDAX_CODEGEN": "1", "SHARDAX_PERF_MAP": asked}
        out = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True
        )
        assert re.search(found, out.stdout), out.stdout + out.stderr


def test_large_results_are_those_of_their_parts():
    """Results of 32 MB go past the caches; parts of them, which do not, have the same bits."""
    rows, cols = 8400, 1001  # the rows start anywhere in a line

    def f(x, row, column, single):
        y = x * row + column
        return y, y > single, jnp.where(y > 0, x, -y) + single

    x = jnp.sin(jnp.arange(rows * cols, dtype="float32")).reshape(rows, cols)
    row, column, single = jnp.cos(x[0]), x[:, :1] * 2, jnp.float32(0.25)
    whole = jax.jit(f)(x, row, column, single)
    for first in range(0, rows, 600):
        part = slice(first, first + 600)
        for a, b in zip(whole, jax.jit(f)(x[part], row, column[part], single), strict=True):
            np.testing.assert_array_equal(bits(a[part]), bits(b))
    # Over its operand, and from the middle of memory on.
    flat = x.reshape(-1)
    want = np.asarray(flat) * np.float32(1.5) + np.float32(1)
    for given in (flat, flat[3:]):
        got = jax.jit(lambda x: x * 1.5 + 1)(given)
        np.testing.assert_array_equal(got, want[-len(given) :])
    again = jax.jit(lambda x: x * 1.5 + 1, donate_argnums=0)(flat + 0)
    np.testing.assert_array_equal(again, want)


def test_large_truths_beside_64_bits_stay_in_their_chunks():
    """Eight of them are eight bytes: the next ones may be another thread's, and written already."""
    with jax.enable_x64(True), jax.threads(2):
        x = jnp.linspace(1, 2, 2_400_001)
        f = jax.jit(lambda x, given: (x * 2 + 1, x * x - 1, x > 0, (x < 3) & given))
        given = jnp.asarray(np.ones(x.shape, bool))
        for _ in range(3):
            double, square, positive, small = f(x, given)
            assert np.asarray(positive).all() and np.asarray(small).all()
        np.testing.assert_array_equal(double, np.asarray(x) * 2 + 1)
        np.testing.assert_array_equal(square, np.asarray(x) * np.asarray(x) - 1)
