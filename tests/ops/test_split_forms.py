"""tests/ops/test_split_forms.py - draws, windows and Fourier transforms of split arrays.

Devices that have no common memory draw their parts alone, exchange the edges of windows, and
transform lines of their own: no array is gathered.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, random
from shardax._core import api as _core
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P


def bind(name, *operands, **params):
    return shardax._core.bind(name, operands, **params)


MESH = shardax.make_mesh((4,), ("a",), axis_types=(AxisType.Auto,))


def collectives(program):
    found = []
    for eqn in program.eqns:
        if eqn.primitive.name in ("all_gather", "all_to_all", "ppermute", "psum"):
            found.append(eqn.primitive.name)
        for value in eqn.params.values():
            if hasattr(value, "eqns") or hasattr(value, "jaxpr"):
                found += collectives(getattr(value, "jaxpr", value))
    return found


def parts(f, specs, *args):
    """The results of the program of parts, those of f, and the collectives in the former."""
    program = shardax.make_jaxpr(f)(*args)
    known = [NamedSharding(MESH, s)._description(np.ndim(a)) for s, a in zip(specs, args)]
    made = _core.partitioned(program, known)
    got = shardax.core.jaxpr_as_fun(made)(*args)
    return got[0], f(*args), collectives(made.jaxpr)


def split(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


DRAWS = {
    "rows": lambda key, x: split(random.normal(key, (8, 5)), "a") + x,
    "columns": lambda key, x: split(random.uniform(key, (5, 8)), None, "a").T + x,
    "bits of 8": lambda key, x: split(random.bits(key, (8, 5), "uint8"), "a") + x,
    "bits of 16": lambda key, x: split(random.bits(key, (8, 5), "uint16"), "a") + x,
    "dropout": lambda key, x: jnp.where(random.bernoulli(key, 0.7, x.shape), x / 0.7, 0.0),
    "a chain": lambda key, x: jnp.tanh(random.normal(key, (8, 5)) * 0.1 + jnp.arange(5)) + x,
    "positions": lambda key, x: x + jnp.arange(8)[:, None] * 2,
    "a function within": lambda key, x: (
        shardax.jit(random.normal, static_argnums=1)(key, (8, 5)) + x
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_made_in_parts(name):
    x = np.random.default_rng(0).standard_normal((8, 5)).astype(np.float32)
    key = random.PRNGKey(3)
    got, want, sent = parts(DRAWS[name], [P(), P("a")], key, x)
    np.testing.assert_array_equal(got, want)
    assert sent == []
    program = _core.partitioned(
        shardax.make_jaxpr(DRAWS[name])(key, x),
        [NamedSharding(MESH, s)._description(r) for s, r in ((P(), 1), (P("a"), 2))],
    )
    text = str(program)
    assert "random_bits[" not in text and ("8,5" not in text.split("shard_map")[1].split("{")[1])


def test_draws_of_long_arrays_in_parts():
    """Counters of more than a tile, rows that end within one, each width."""
    key = random.PRNGKey(1)
    for shape, start, part in (
        ((7, 3000), (2, 700), (3, 1500)),
        ((40, 5, 33), (7, 1, 2), (30, 3, 29)),
    ):
        for width in (8, 16, 32, 64):
            with shardax.enable_x64():
                whole = np.asarray(bind("random_bits", key, bit_width=width, shape=shape))
                got = bind(
                    "random_bits_part",
                    key,
                    np.asarray(start, np.int32),
                    bit_width=width,
                    shape=part,
                    whole_shape=shape,
                )
            np.testing.assert_array_equal(
                got, whole[tuple(slice(s, s + n) for s, n in zip(start, part))]
            )


def test_a_part_that_is_none_is_refused():
    key = random.PRNGKey(1)
    starts = np.zeros(1, np.int32)
    with pytest.raises(ValueError, match=r"shape \(5,\) is no part of whole_shape \(4,\)"):
        bind("random_bits_part", key, starts, bit_width=32, shape=(5,), whole_shape=(4,))
    with pytest.raises(TypeError, match=r"of shape \(1,\), got int32\[2\]"):
        bind(
            "random_bits_part",
            key,
            np.zeros(2, np.int32),
            bit_width=32,
            shape=(3,),
            whole_shape=(4,),
        )
    with pytest.raises(TypeError, match="takes threefry keys"):
        bind(
            "random_bits_part",
            random.key(0, impl="rbg"),
            starts,
            bit_width=32,
            shape=(3,),
            whole_shape=(4,),
        )


def test_starts_of_mapped_draws():
    keys = random.split(random.PRNGKey(1), 3)
    starts = np.asarray([[0], [1], [2]], np.int32)
    params = {"bit_width": 32, "shape": (2,), "whole_shape": (4,)}
    got = shardax.vmap(lambda k, s: bind("random_bits_part", k, s, **params))(keys, starts)
    want = [random.bits(k, (4,))[s : s + 2] for k, s in zip(keys, range(3))]
    np.testing.assert_array_equal(got, np.stack(want))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg", "philox4x32"])
def test_draws_of_split_keys(impl):
    """Keys of some generators draw together: then each device draws all."""
    keys = random.split(random.key(0, impl=impl), 8)

    def drawn(keys):
        made = [
            keys,
            bind("random_split", keys, shape=()),
            bind("random_fold_in", keys, np.arange(8, dtype=np.uint32)),
        ]
        return jnp.concatenate([bind("random_bits", k, bit_width=32, shape=(4,)) for k in made], 1)

    got, want, _ = parts(drawn, [P("a")], keys)
    np.testing.assert_array_equal(got, want)


SAME = [(0, 0), (1, 1)]
WINDOWS = {
    "average": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 1), SAME),
    "largest": lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3), (1, 1), SAME),
    "smallest": lambda x: lax.reduce_window(x, np.inf, lax.min, (1, 3), (1, 1), SAME),
    "to the left": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 4), (1, 1), [(0, 0), (3, 0)]),
    "to the right": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 4), (1, 1), [(0, 0), (0, 3)]),
    "pooled": lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID"),
    "pooled, overlapping": lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3), (1, 2), SAME),
    "with gaps": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1), (1, 2), "VALID"),
    "dilated": lambda x: lax.reduce_window(
        x, 0.0, lax.add, (1, 2), (1, 1), [(0, 0), (1, 2)], window_dilation=(1, 3)
    ),
    "gradient of pooled": lambda x: shardax.grad(
        lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID") ** 2).sum()
    )(x),
    "convolution": lambda x: lax.conv(x[:, None], np.ones((2, 1, 3), np.float32), (1,), "SAME")[
        :, 0
    ],
    "convolution by 2": lambda x: lax.conv(
        x[:, None], np.ones((2, 1, 4), np.float32), (2,), "SAME"
    )[:, 0],
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_take_the_edges_of_others(name):
    x = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)
    got, want, sent = parts(WINDOWS[name], [P(None, "a")], x)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    assert "all_gather" not in sent, sent


def two_axes(f, specs, *args):
    """As parts, over a mesh of two axes."""
    mesh = shardax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    program = shardax.make_jaxpr(f)(*args)
    known = [NamedSharding(mesh, s)._description(np.ndim(a)) for s, a in zip(specs, args)]
    made = _core.partitioned(program, known)
    got = shardax.core.jaxpr_as_fun(made)(*args)
    np.testing.assert_allclose(got[0], f(*args), rtol=1e-5, atol=1e-5)
    return collectives(made.jaxpr)


def test_one_axis_does_not_split_two_dimensions_of_a_stack():
    x, y = np.arange(32, dtype=np.float32).reshape(2, 4, 4)
    two_axes(lambda x, y: jnp.stack([x, y], 1), [P(None, "a"), P("a", "b")], x, y)


def test_stacks_that_are_split_along_two_dimensions_are_not_gathered():
    rng = np.random.default_rng(0)
    matrices = (np.tril(rng.standard_normal((4, 4, 3, 3))) + 4 * np.eye(3)).astype(np.float32)
    right = rng.standard_normal((4, 4, 3, 2)).astype(np.float32)

    def solved(a, b):
        return lax.linalg.triangular_solve(a, b, left_side=True, lower=True)

    assert two_axes(solved, [P("a"), P(None, "b")], matrices, right) == []


def test_patches_and_places_of_convolutions_stay_split():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    for size in (1, 2):
        kernel = rng.standard_normal((4, 3, size, size)).astype(np.float32)

        def patches(x, kernel, size=size):
            return lax.conv(x, kernel, (size, size), "VALID")

        assert two_axes(patches, [P(None, None, ("a", "b")), P()], x, kernel) == []
        assert two_axes(patches, [P("a"), P("b")], x, kernel) == []


def test_windows_as_wide_as_parts_gather():
    x = np.arange(8, dtype=np.float32)
    got, want, sent = parts(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (7,), (1,), "SAME"), [P("a")], x
    )
    np.testing.assert_array_equal(got, want)
    assert sent == ["all_gather"]


FOURIER = {
    "lines": (lambda x: jnp.fft.fft(x, axis=1), P("a"), []),
    "along the split": (lambda x: jnp.fft.fft(x, axis=0), P("a"), ["all_to_all"]),
    "both": (lambda x: jnp.fft.fft2(x), P("a"), ["all_to_all"]),
    "both, columns": (lambda x: jnp.fft.fft2(x), P(None, "a"), ["all_to_all"] * 2),
    "and back": (lambda x: jnp.fft.ifft2(jnp.fft.fft2(x)).real, P("a"), ["all_to_all"] * 3),
}


@pytest.mark.parametrize("name", FOURIER)
def test_fourier_transforms_exchange_lines(name):
    f, spec, messages = FOURIER[name]
    x = np.random.default_rng(0).standard_normal((8, 12)).astype(np.float32)
    got, want, sent = parts(f, [spec], x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert "all_gather" not in sent and len(sent) <= len(messages) + 1, sent


@pytest.mark.parametrize("shape", [(8, 12), (8, 11), (4, 8, 6)])
@pytest.mark.parametrize("spec", [P("a"), P(None, "a"), P(None, None, "a")])
def test_real_transforms_of_split_arrays(shape, spec):
    if len(spec) > len(shape) or any(a and n % 4 for a, n in zip(spec, shape)):
        return
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    got, want, _ = parts(lambda x: jnp.fft.rfftn(x), [spec], x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    got, want, _ = parts(lambda x: jnp.fft.irfftn(jnp.fft.rfftn(x), shape), [spec], x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_line_alone_is_gathered():
    x = np.random.default_rng(0).standard_normal(8).astype(np.float32)
    got, want, sent = parts(jnp.fft.fft, [P("a")], x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert sent == ["all_gather"]


def test_long_chains_of_whole_arrays():
    """Parts go back so many ops at most: a long program stays within the stack."""

    def f(x, y):
        for _ in range(3000):
            y = y * 1.0001 + 0.1
        return x + y

    x, y = np.ones((8, 3), np.float32), np.ones((8, 3), np.float32)
    got, want, sent = parts(f, [P("a"), P()], x, y)
    np.testing.assert_array_equal(got, want)
    assert sent == []
