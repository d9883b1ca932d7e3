"""tests/transforms/test_vmap.py - vmap: axes, sizes, names, nesting, errors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_axes():
    np.testing.assert_allclose(shardax.vmap(lambda x: x.sum())(X), X.sum(1))
    np.testing.assert_allclose(shardax.vmap(lambda x: x.sum(), in_axes=1)(X), X.sum(0))
    np.testing.assert_allclose(shardax.vmap(lambda x: x * 2, in_axes=-1, out_axes=-1)(X), 2 * X)
    out = shardax.vmap(lambda x, t: x + t["a"], in_axes=(0, {"a": None}))(X, {"a": np.ones(4)})
    np.testing.assert_allclose(out, X + 1)
    np.testing.assert_allclose(
        shardax.vmap(lambda x, *, k: x + k, in_axes=(None,))(1.0, k=X[0]), X[0] + 1
    )
    assert shardax.vmap(lambda x: x, in_axes=None, axis_size=5)(1.0).shape == (5,)


def test_outputs_that_are_not_batched():
    a, b = shardax.vmap(lambda x: (x, 1), out_axes=(0, None))(X)
    assert a.shape == X.shape and b == 1
    assert shardax.vmap(lambda x: 1.0)(X).shape == (3,)


def test_names_and_nesting():
    f = shardax.vmap(
        shardax.vmap(lambda x: x / lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i"
    )
    np.testing.assert_allclose(f(X), X / X.sum(), rtol=1e-6)
    index = shardax.vmap(lambda x: lax.axis_index("i"), axis_name="i")(X)
    np.testing.assert_array_equal(index, [0, 1, 2])
    shadowed = shardax.vmap(
        lambda r: shardax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(r), axis_name="i"
    )
    np.testing.assert_allclose(shadowed(X), np.repeat(X.sum(1, keepdims=True), 4, 1))


def test_axis_names_of_any_kind():
    np.testing.assert_allclose(
        shardax.vmap(lambda x: lax.psum(x, 7), axis_name=7)(X), np.tile(X.sum(0), (3, 1))
    )


def test_jit_inside_sees_the_axis():
    f = shardax.vmap(lambda x: shardax.jit(lambda y: lax.pmean(y, "i"))(x), axis_name="i")
    np.testing.assert_allclose(f(X), np.tile(X.mean(0), (3, 1)))
    constant = shardax.vmap(
        lambda x: x + shardax.jit(lambda: lax.psum(jnp.ones(4), "i"))(), axis_name="i"
    )
    np.testing.assert_allclose(constant(X), X + 3)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (
            lambda: shardax.vmap(lambda x, y: x)([X, X], [np.ones(4), np.ones((5, 2))]),
            ValueError,
            r"most axes \(2 of them\) had size 3, e.g. axis 0 of argument x\[0\] of type "
            r"float32\[3,4\];\n"
            r".*axis 0 of argument y\[0\] of type float32\[4\];\n.*argument y\[1\] of type "
            r"float32\[5,2\]",
        ),
        (
            lambda: shardax.vmap(lambda x, y: x)(X, y=np.ones(4)),
            ValueError,
            r"axis 0 of kwargs\['y'\] of type float32\[4\]",
        ),
        (
            lambda: shardax.vmap(lambda x: x, axis_size=4)(X),
            ValueError,
            "the `axis_size` argument was 4",
        ),
        (
            lambda: shardax.vmap(lambda x: x)(1.0),
            ValueError,
            r"its rank should be at least 1, but is only 0 \(its shape is \(\)\)",
        ),
        (
            lambda: shardax.vmap(lambda x, y: x, in_axes=(0,))(X, X),
            ValueError,
            r"got len\(in_axes\)=1, len\(args\)=2",
        ),
        (
            lambda: shardax.vmap(lambda x: x, in_axes="a"),
            TypeError,
            "vmap in_axes must be an int, None, or a tuple",
        ),
        (
            lambda: shardax.vmap(lambda x: x, in_axes=(0, "a")),
            TypeError,
            r"or \(nested\) container with those types",
        ),
        (
            lambda: shardax.vmap(lambda x: x, in_axes=None)(X),
            ValueError,
            "at least one non-None value in in_axes",
        ),
        (lambda: shardax.vmap(lambda: 1)(), ValueError, "must be passed at least one argument"),
        (
            lambda: shardax.vmap(lambda x: (x, 1), out_axes=(None, 0))(X),
            ValueError,
            r"at vmap out_axes\[0\], got axis spec None but output was batched on axis 0",
        ),
        (
            lambda: shardax.vmap(lambda x: x, out_axes=5)(X),
            ValueError,
            "axis 5 is out of bounds for array of dimension 2",
        ),
        (
            lambda: shardax.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(X),
            ValueError,
            "vmap out_axes specification must be a tree prefix",
        ),
        (
            lambda: shardax.vmap(lambda x: x, in_axes=({"a": 0},))([X]),
            ValueError,
            r"(?s)tree prefix.*vmap in_axes\[0\]",
        ),
        (
            lambda: shardax.vmap(lambda x: "a")(X),
            TypeError,
            "Output from batched function 'a' with type <class 'str'>",
        ),
        (
            lambda: shardax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), axis_name="i")(
                X
            ),
            ValueError,
            r"sources and destinations must be unique, got \(\(0, 1\), \(2, 1\)\)",
        ),
        (
            lambda: shardax.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(X),
            ValueError,
            "equal x.shape.split_axis., but they are 3 and 4 respectively",
        ),
        # Operands that do not fit are shown as the function sees them, without the mapped axis.
        (
            lambda: shardax.vmap(lambda x: lax.add(x, np.ones((3, 4), np.float32)))(X),
            TypeError,
            r"same number of dimensions, got \{1, 2\}; shapes are \(4,\) and \(3, 4\)",
        ),
        (
            lambda: shardax.vmap(lambda x: lax.select(x > 0, np.ones((2, 4)), np.ones((2, 4))))(X),
            TypeError,
            r"got `which` shape \(4,\) but case shape \(2, 4\)",
        ),
        (
            lambda: shardax.vmap(lambda x: lax.reshape(x, (5,)))(X),
            TypeError,
            r"cannot reshape array of shape \(4,\) \(size 4\) into shape \(5,\)",
        ),
        (
            lambda: shardax.vmap(lambda x: lax.pad(x, np.ones(1, np.float32), [(0, 0, 0)]))(X),
            ValueError,
            r"padding_value must be a scalar; got shape \(1,\)",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_what_is_not_mapped_is_passed_as_it_is():
    class Thing:
        scale = 3

    thing, kept = Thing(), []

    def f(t, n, name, x):
        kept.append((t, n, name))
        return x * t.scale if n > 1 else x

    out = shardax.vmap(f, in_axes=(None, None, None, 0))(thing, 2, "name", jnp.arange(3.0))
    assert out.tolist() == [0, 3, 6] and kept == [(thing, 2, "name")]
    with pytest.raises(
        ValueError, match=r"(?s)inconsistent sizes.*had size 2: axis 0 of argument x"
    ):
        shardax.vmap(lambda f, x, y: f(x, y), (None, 0, 0))(jnp.add, jnp.ones(2), jnp.ones(3))
    with pytest.raises(TypeError, match="is not a valid JAX type"):
        shardax.vmap(f, in_axes=(0, None, None, 0))(thing, 2, "name", jnp.arange(3.0))


def test_unmapped_results_are_the_objects_that_they_are():
    x, table = jnp.ones(3), jnp.arange(2)
    three, same, mapped = shardax.vmap(lambda v: (3, table, v), out_axes=(None, None, 0))(x)
    assert type(three) is int and same is table and mapped.shape == (3,)
