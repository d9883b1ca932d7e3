"""tests/refs/test_ref_writes.py - writes of mapped functions to references made outside of them."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

X = jnp.arange(2.0)

WRITES = {
    "number": lambda ref, x: ref.__setitem__(0, 5.0),
    "mapped": lambda ref, x: ref.__setitem__(0, x),
    "whole": lambda ref, x: ref.__setitem__(..., jnp.ones(3)),
    "part": lambda ref, x: ref.at[1:].__setitem__(0, 5.0),
    "swap": lambda ref, x: jax.ref.swap(ref, 0, 5.0),
    "addupdate": lambda ref, x: jax.ref.addupdate(ref, 0, 1.0),
    "adds mapped": lambda ref, x: jax.ref.addupdate(ref, 0, x),
}
MAPS = {
    "vmap": lambda f: jax.vmap(f)(X),
    "twice": lambda f: jax.vmap(jax.vmap(f))(jnp.ones((2, 2))),
    "inner": lambda f: jax.vmap(lambda y: jax.vmap(lambda x: f(y))(X))(X),
    "size": lambda f: jax.vmap(lambda: f(1.0), axis_size=2, out_axes=None)(),
    "jit of vmap": lambda f: jax.jit(jax.vmap(f))(X),
    "vmap of jit": lambda f: jax.vmap(jax.jit(f))(X),
    "in scan": lambda f: lax.scan(lambda c, _: (c, jax.vmap(f)(X)), 0, None, length=2),
    "of scan": lambda f: jax.vmap(lambda x: lax.scan(lambda c, _: (c, f(x)), 0, None, length=2))(X),
    "of loop": lambda f: jax.vmap(lambda x: lax.fori_loop(0, 2, lambda i, c: f(c), x))(X),
    "of cond": lambda f: jax.vmap(lambda x: lax.cond(x > 0, f, lambda x: x, x))(X),
    "grad": lambda f: jax.grad(lambda x: jax.vmap(f)(x).sum())(X),
    "of grad": lambda f: jax.vmap(jax.grad(f))(X),
    "lax.map": lambda f: lax.map(f, X, batch_size=2),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("mapped", MAPS)
def test_slices_do_not_write_to_what_they_share(write, mapped):
    ref = jax.new_ref(jnp.zeros(3))

    def f(x):
        WRITES[write](ref, x)
        return x

    word = "an addupdate" if write.startswith("add") else r"a set/swap"
    text = rf"performing {word} operation with vmapped value on an unbatched array reference"
    with pytest.raises(Exception, match=text) as raised:
        MAPS[mapped](f)
    assert type(raised.value) is Exception
    assert jax.freeze(ref).tolist() == [0, 0, 0]


@pytest.mark.parametrize("mapped", MAPS)
def test_slices_read_what_they_share(mapped):
    ref = jax.new_ref(jnp.ones(3))
    for read in (lambda x: ref[0] * x, lambda x: jax.jit(lambda r: r[0] * x)(ref)):
        MAPS[mapped](read)
        assert ref[...].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "read",
    {
        "checkpoint": lambda ref, x: jax.checkpoint(lambda r: r[0] * x)(ref),
        "vmap of a reference": lambda ref, x: jax.vmap(lambda r: r[...] * x)(ref)[0],
        "scan": lambda ref, x: lax.scan(lambda c, r: (c, r[...] * x), 0, ref)[1][0],
    }.items(),
    ids=lambda item: item[0],
)
def test_slices_read_what_they_pass_on(read):
    ref = jax.new_ref(jnp.ones(3))
    assert jax.vmap(lambda x: read[1](ref, x))(X).tolist() == [0, 1]


def test_references_as_arguments_that_are_not_mapped():
    ref = jax.new_ref(jnp.zeros(3))
    with pytest.raises(Exception, match="with vmapped value on an unbatched"):
        jax.vmap(lambda ref, x: ref.__setitem__(0, 1.0), in_axes=(None, 0))(ref, X)
    assert jax.vmap(lambda x: ref[0] + x)(X).tolist() == [0, 1]


def test_references_of_the_mapped_function_are_written():
    ref = jax.new_ref(jnp.zeros((2, 3)))

    def f(ref, x):
        own = jax.new_ref(0.0)
        own[...] = x
        own[...] += 1.0
        ref[0] = 5.0
        ref[1] = own[...]
        lax.fori_loop(0, 2, lambda i, _: jax.ref.addupdate(ref, 2, x), None)
        return own[...]

    np.testing.assert_array_equal(jax.vmap(f)(ref, X), [1, 2])
    np.testing.assert_array_equal(ref[...], [[5, 1, 0], [5, 2, 2]])
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(ref, X), [1, 2])


def test_a_reference_between_two_maps():
    def outer(x):
        ref = jax.new_ref(0.0)
        jax.vmap(lambda y: ref.__setitem__(..., x))(X)
        return ref[...]

    with pytest.raises(Exception, match=r"unbatched array reference of type Ref{float32\[\]}"):
        jax.vmap(outer)(X)
