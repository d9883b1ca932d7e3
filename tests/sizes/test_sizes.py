"""tests/sizes/test_sizes.py - dimensions of 0 and of 1: nothing ends the process, all ways agree.

The sweep runs each case in some of the ways; `sweep.py --long` runs it in all of them.
"""

import pathlib
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sweep  # noqa: E402

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_all_sizes_agree(part):
    cases = [*sweep.op_cases(), *sweep.program_cases(sweep.SIZES)]
    findings, counts = sweep.run(cases[part::PARTS], tell=None)
    assert not findings
    assert counts["refused"] < counts["cases"] / 4 and counts["comparisons"] > 10_000


def test_every_op_with_dimensions_is_swept():
    """With a dimension of 0, in some case: an op that is left out needs a reason."""
    import running

    swept = {c["op"] for c in sweep.op_cases()}
    shapes = {n: [a.shape for s in running.samples(n) for a in s.args] for n in running.NAMES}
    assert set(running.NAMES) - swept == {n for n, found in shapes.items() if not any(found)}


# ---- a mapped axis of size 0 -------------------------------------------------------------------


def both(f, x, **options):
    """The results of pmap and of vmap."""
    return jax.pmap(f, axis_name="i", **options)(x), jax.vmap(f, axis_name="i", **options)(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: v * 2,
        lambda v: lax.psum(v, "i"),
        lambda v: lax.pmean(v, "i") + v,
        lambda v: lax.pmax(v, "i"),
        lambda v: lax.all_gather(v, "i"),
        lambda v: lax.all_gather(v, "i", tiled=True),
        lambda v: lax.ppermute(v, "i", []),
        lambda v: v * lax.axis_index("i"),
        lambda v: lax.psum(1, "i") + v,
        lambda v: jax.grad(lambda u: lax.psum(u @ u, "i"))(v),
        lambda v: lax.cond(v.sum() > 0, jnp.sin, jnp.cos, v),
        lambda v: lax.scan(lambda c, u: (c + u, c), v.sum(), v)[1],
    ],
)
def test_no_devices(f):
    for wrap in (lambda g: g, jax.jit):
        got, want = both(wrap(f), jnp.zeros((0, 3)))
        assert got.shape == want.shape == (0, *want.shape[1:]) and got.dtype == want.dtype
        again = wrap(jax.pmap(f, axis_name="i"))(np.zeros((0, 3), np.float32))
        assert again.shape == want.shape


def test_what_no_devices_share():
    for f, value in ((lax.psum, 0), (lax.pmean, np.nan), (lax.pmax, -np.inf), (lax.pmin, np.inf)):
        got, want = both(lambda v, f=f: f(v, "i"), jnp.zeros((0, 2)), out_axes=None)
        np.testing.assert_array_equal(got, np.full(2, value, np.float32))
        np.testing.assert_array_equal(want, got)


def test_derivatives_over_no_devices():
    w, x = jnp.ones((3, 2)), jnp.zeros((0, 4, 3))
    total = lambda w, x: jax.pmap(lambda w, x: x @ w, in_axes=(None, 0))(w, x).sum()
    gw, gx = jax.jit(jax.grad(total, (0, 1)))(w, x)
    np.testing.assert_array_equal(gw, np.zeros((3, 2)))
    assert gx.shape == x.shape


def test_what_needs_a_device_is_refused():
    """Nobody has a part, or is the first."""
    x = jnp.zeros((0, 4))
    for over in (jax.vmap, jax.pmap):
        for f in (
            lambda v: lax.psum_scatter(v, "i", tiled=True),
            lambda v: lax.all_to_all(v, "i", 0, 0, tiled=True),
        ):
            with pytest.raises(ValueError, match="must be divisible"):
                over(f, axis_name="i")(x)
    with pytest.raises(ValueError, match="the mapped axis has size 0"):
        jax.pmap(lambda v: v, out_axes=None)(x)


# ---- loops over products with a dimension of 0 --------------------------------------------------


@pytest.mark.parametrize("codegen", ["1", "avx2", "stream", "0"])
@pytest.mark.parametrize("threads", ["1", "4"])
def test_gradients_of_loops_over_nothing(codegen, threads, dump_of):
    dump_of(
        """
import numpy as np
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def mapped(w, x):
    return lax.map(lambda u: jnp.tanh(u @ w), x).sum()

def carried(w, x):
    return lax.scan(lambda c, u: (jnp.tanh(c @ w + u), None), x[0], x)[0].sum()

for shape, n in (((4, 0, 3), 3), ((4, 3, 0), 0), ((4, 0, 0), 0)):
    for f in (mapped, carried):
        gw, gx = jax.jit(jax.grad(f, (0, 1)))(jnp.ones((n, n)), jnp.ones(shape))
        np.testing.assert_array_equal(gw, np.zeros((n, n)))
        assert gx.shape == shape
""",
        "",
        SHARDAX_CODEGEN=codegen,
        SHARDAX_NUM_THREADS=threads,
    )


# ---- plans -------------------------------------------------------------------------------------


def test_what_has_no_elements_is_no_step(dump_of):
    plan = dump_of("""
import shardax as jax, shardax.numpy as jnp
from shardax import lax
jax.jit(lambda x, w: (jnp.sort(jnp.sin(x) @ w), x.sum(0), lax.map(jnp.cos, x)))(
    jnp.ones((0, 3)), jnp.ones((3, 4)))
""")
    assert "plan: 0 steps" in plan or "plan: 1 steps" in plan, plan


# ---- reductions of nothing ----------------------------------------------------------------------

# Of max and min: infinities where the dtype has them, else the ends of its range, as in JAX.
ENDS = {
    "float32": (-np.inf, np.inf), "float16": (-np.inf, np.inf), "bfloat16": (-np.inf, np.inf),
    "float8_e4m3fn": (-448, 448), "float8_e5m2": (-np.inf, np.inf), "int32": (-(2**31), 2**31 - 1),
    "int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint2": (0, 3), "bool": (0, 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ENDS)
def test_reductions_of_nothing_give_their_identity(dtype):
    x = jnp.zeros((0, 2), dtype)
    for reduce, value in zip((lax.reduce_max, lax.reduce_min), ENDS[dtype]):
        for f in (reduce, jax.jit(reduce, static_argnums=1)):
            got = f(x, (0,))
            assert got.dtype == dtype and got.tolist() == [value, value]
    if dtype != "bool":
        assert lax.reduce_sum(x, (0,)).tolist() == [0, 0]
        assert lax.reduce_prod(x, (0,)).tolist() == [1, 1]
    assert jnp.concatenate([x, jnp.ones((1, 2), dtype)]).tolist() == [[1, 1]]


# ---- operands that do not go together -----------------------------------------------------------


def test_operands_of_sizes_that_do_not_fit_are_refused():
    x = jnp.ones((1, 1, 3, 3))
    with pytest.raises(ValueError, match="a window to have positive value"):
        lax.conv(x, jnp.ones((1, 1, 0, 3)), (1, 1), "VALID")
    with pytest.raises(ValueError, match="RFFT needs one or more"):
        lax.fft(jnp.ones((5, 0)), "RFFT", (5, 0))
    with pytest.raises(TypeError, match="clamp"):
        lax.clamp(jnp.zeros((3, 4)), jnp.ones((1, 4)), jnp.ones((3, 4)))


def test_powers_of_what_repeats_have_derivatives():
    x, y = jnp.array([[2.0, 3.0]]), jnp.array([[0, 1], [2, 3]])
    slope = jax.grad(lambda x: lax.pow(x, y).sum())(x)
    np.testing.assert_allclose(slope, [[0 + 4, 1 + 27]], rtol=1e-6)


def test_maps_in_batches_of_nothing():
    for shape, width in (((3, 0), 0), ((4, 2), 0), ((4, 0), 3), ((0, 2), 2)):
        w = jnp.ones((shape[1], width))
        got = lax.map(lambda u, w=w: u @ w, jnp.ones(shape), batch_size=2)
        assert got.shape == (shape[0], width)


def test_explained_without_elements():
    text = str(jax.explain(lambda x, w: jnp.tanh(x @ w))(jnp.ones((0, 3)), jnp.ones((3, 0))))
    assert "one program of 0 steps" in text
