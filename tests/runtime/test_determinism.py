"""tests/runtime/test_determinism.py - the same bits for any number of threads, run after run."""

import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import hashlib
import numpy as np
import shardax as jax
import shardax.numpy as jnp

key = jax.random.PRNGKey(3)
x = jax.random.normal(key, (8, 300, 40))
w = jax.random.normal(key, (40, 30))

def loss(w, x):
    h = jnp.tanh(x @ w)
    return jnp.mean(jax.nn.logsumexp(h, axis=-1) + jnp.sum(h ** 2, axis=0).mean())

def step(w, x):
    value, grad = jax.value_and_grad(loss)(w, x)
    return w - 0.1 * jax.lax.pmean(grad, "i"), jax.lax.pmean(value, "i")

w2, value = jax.pmap(step, axis_name="i", in_axes=(None, 0))(w, x)
long = jax.random.uniform(key, (3_000_000,))
results = [w2, value, long.sum(), long.reshape(1500, 2000).sum(0)]
results += [long.reshape(2000, 1500).max(1), jnp.sort(long[:70_000])]
square = long[:2 * 260 * 260].reshape(2, 260, 260)
small = long[:30 * 9 * 9].reshape(30, 9, 9)
for a in (square, small):
    results += [*jnp.linalg.svd(a), *jnp.linalg.qr(a), *jnp.linalg.eigh(a), jnp.linalg.inv(a)]
half, bytes_ = square.astype(jnp.bfloat16), (square * 100).astype(jnp.int8)
results += [half @ half, jnp.matmul(bytes_, bytes_, preferred_element_type=jnp.int32)]
wide = long[:700_000].reshape(700, 1000)
results += [wide @ wide.T, wide.astype(jnp.bfloat16) @ wide.T.astype(jnp.bfloat16)]
images = long[: 5 * 24 * 31 * 20].reshape(5, 24, 31, 20)
conv = lambda w: jax.lax.conv(images, w, (1, 1), "SAME")
taps = long[: 40 * 24 * 9].reshape(40, 24, 3, 3)
results += [conv(taps), jax.grad(lambda w: jnp.sum(jnp.sin(conv(w))))(taps)]
print(hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest())
"""


def digest(threads):
    env = {**os.environ, "SHARDAX_NUM_THREADS": str(threads)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_bits_do_not_depend_on_the_number_of_threads():
    """Loops have more chunks for more than four threads."""
    assert len({digest(1), digest(2), digest(2), digest(5), digest(40)}) == 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rows_of_a_product_have_the_bits_of_the_whole(dtype):
    """Those of 16 bits too, of which large products multiply pairs where a processor can."""
    import shardax.numpy as jnp

    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.standard_normal(s), dtype) for s in ((77, 500), (500, 53)))
    whole = np.asarray(jnp.dot(a, b))
    rows = np.stack([np.asarray(jnp.dot(a[i], b)) for i in range(len(a))])
    stacked = np.asarray(jnp.einsum("ik,kj->ij", jnp.stack([a, a])[1], b))
    assert np.array_equal(whole, rows)
    assert np.array_equal(whole, stacked)


def test_slices_with_equal_inputs_have_equal_bits():
    import shardax as jax
    import shardax.numpy as jnp

    x = np.random.default_rng(1).standard_normal((50, 7)).astype(np.float32)
    other = np.random.default_rng(2).standard_normal((50, 7)).astype(np.float32)
    out = np.asarray(jax.pmap(lambda v: jnp.tanh(v @ v.T).sum(0))(np.stack([x, other, x, x])))
    assert np.array_equal(out[0], out[2])
    assert np.array_equal(out[0], out[3])


def test_a_wider_view_may_start_between_its_elements():
    import shardax as jax
    import shardax.numpy as jnp

    words = jax.jit(lambda v: jax.random.key_data(jax.random.wrap_key_data(v[3:5])))
    assert np.asarray(words(jnp.arange(12, dtype=jnp.uint32))).tolist() == [3, 4]
