"""tests/codegen/every_instruction.py - loops that need every instruction of the code generator.

Many registers, the stack, and operands beyond those whose addresses registers hold, too.
test_encoder.py and test_encoder_arm64.py read their machine code (SHARDAX_DUMP=asm).
"""

import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def floats(x, y):
    a = jnp.tanh(x * y) + jnp.exp(-x * x) - jnp.log1p(y * y) / jnp.sqrt(2 + x)
    b = jnp.where((x < y) | (x == 1) & ~(y >= 2), jnp.floor(a), jnp.round(y)) + jnp.ceil(x)
    return a, b, x > b, lax.erf(x) * jnp.expm1(y) + lax.rsqrt(x), jnp.sign(x) + jnp.maximum(a, b)

def integers(i, j):
    k = jnp.where(i < j, i * j + 7, i ^ (j | 3) & ~i)
    odd = (i != j) ^ (i < k)
    small = k.astype(f"u{k.dtype.itemsize}") < 5
    shifted = (i << (j & 7)) + lax.shift_right_logical(i, j & 3)
    if not x64:
        shifted = shifted ^ (i >> (j & 5))
    ends = jnp.minimum(i, k) - jnp.maximum(i, j)
    return shifted, k, odd, jnp.where(odd, i > 3, j > 3), ends, small | (i <= j)

def converted(i, x):
    out = []
    for kind in "int32 uint32 int64 uint64 float32 float64 bfloat16 float16".split():
        a = (i + 1).astype(kind)
        out += [a.astype(other) for other in "int32 uint32 int64 uint64 float32 float64".split()]
        out += [jnp.where(x > 0, a, x.astype(kind)) * 2, jnp.exp(x).astype(kind)]
        if kind.endswith("int32"):
            out.append(a // 7 + a % 1000)
    return out

def wide(*xs):
    total = xs[0] * xs[1]
    products = [x * y + total for x in xs for y in xs if x is not y]
    sums = products
    while len(sums) > 1:
        sums = [a - b * a for a, b in zip(sums[::2], sums[1::2])]
    return sums[0], jnp.sin(1.0) + total

def numbers(n, x, flags, table):
    # Numbers of all widths, branches, calls, and more than there are registers.
    def step(c, row):
        i, x, y, flag, many = c
        q = [lax.div(i, n), lax.rem(i, n), i // 7, i.astype("uint32") // n.astype("uint32"),
             i.astype("int64") % n, i.astype("uint64") % n.astype("uint64"), i.astype("int64") * n]
        half = jnp.sin(x).astype("bfloat16")
        back = (y.astype(int) + x.astype("uint32").astype(int) + x.astype(int)
                + y.astype("int32") + x.astype("int32"))
        x = lax.cond(flag, lambda x: x * 2, lambda x: x - y.astype("float32"), x)
        y = y + q[4] + back + q[5].astype("int32").astype(float) + q[6].astype("float32")
        y = y + (i.astype("int64") << 3) + x + q[3].astype("float32") + q[3].astype("float64")
        x = lax.while_loop(lambda x: x > 3, lambda x: x * 0.3, x)
        many = [a * 0.5 + b for a, b in zip(many, many[1:] + many[:1])]
        y = y + q[0] + q[1] + q[2]
        new = (i + 1, x + table[i % 40, n % 3], y, row[0] ^ flag, many)
        return new, (flag, half, x, y, row[1] + 1)

    start = (jnp.int32(0), x, x.astype(float), flags[0], [x + k for k in range(20)])
    return lax.scan(step, start, (flags, jnp.arange(len(flags)).astype("int8")))

def lanes(many):
    return lax.fori_loop(0, 3, lambda i, many: many // 7 + many[::-1], many)

def chosen(n):
    # Integers that loops carry have general registers.
    return lax.fori_loop(0, n, lambda i, m: m * 3 - jnp.where((m | i) < 9, m ^ i, 7), n)

def wholes(n, u, w, x):
    # Of all kinds in general registers, and to and from floats.
    def step(i, c):
        n, u, w, x = c
        m = n.astype("int64")
        w = jnp.where(w < m, w * 3 - m, w >> 5) + (m & w)
        u = u // 7 + jnp.where(u == 3, u, n.astype("uint32"))
        y = x.astype(float).astype("uint32").astype("float32") + x.astype("int64").astype("float32")
        return n * 3 + w.astype("int32"), u, w, x * y

    return lax.fori_loop(0, n, step, (n, u, w, x))

for x64 in (False, True):
    jax.config.update("jax_enable_x64", x64)
    x = jnp.linspace(-2, 3, 40)
    i = jnp.arange(40) - 20
    jax.block_until_ready((jax.jit(floats)(x, x[::-1] + 1), jax.jit(integers)(i, 3 * i[::-1])))
    jax.block_until_ready(jax.jit(lambda i, x: i.astype(x.dtype) * x + (x > 1))(i, x))
    jax.block_until_ready(jax.jit(lambda m, x: jnp.where(m, 2 * x + 1, -x))(x > 0, x))
    jax.block_until_ready(jax.jit(converted)(i, x))
    jax.block_until_ready(jax.jit(lambda x, to=i.dtype: (2 * x).astype(to))(x))
    jax.block_until_ready(jax.jit(lambda x: jnp.tanh(x) * 2)(x))  # two vectors in turns
    jax.block_until_ready(jax.jit(wide)(*[x + n for n in range(8)]))
    large = jnp.arange(2**23 + 1, dtype=x.dtype)
    jax.block_until_ready(jax.jit(lambda x: x * 2 + x[0])(large))  # past the caches
table = jnp.ones((40, 3), "float32")
flags = jnp.arange(9) % 2 > 0
jax.block_until_ready(jax.jit(lanes)(jnp.arange(40, dtype="int32")))
jax.block_until_ready(jax.jit(chosen)(jnp.int32(3)))
jax.block_until_ready(jax.jit(numbers)(jnp.int32(3), jnp.float32(1.5), flags, table))
w = jnp.int64(7)
jax.block_until_ready(jax.jit(wholes)(jnp.int32(3), jnp.uint32(9), w, jnp.float32(1.5)))
