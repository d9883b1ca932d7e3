"""tests/refs/test_refs.py - mutable array references; values are those of JAX 0.10.2."""

import gc
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def equal(x, expected):
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_reading_and_writing():
    ref = shardax.new_ref(jnp.arange(3.0))
    assert repr(ref) == "Ref([0., 1., 2.], dtype=float32)"
    assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((3,), jnp.float32, 1, 3, 3)
    assert str(ref.aval) == "Ref{float32[3]}"
    ref[1] = 5.0
    equal(ref[...], [0, 5, 2])
    ref[...] += 1
    equal(ref[...], [1, 6, 3])
    ref[-1] = 9.0
    ref[::2] = jnp.ones(2)
    equal(ref[...], [1, 6, 1])
    equal(ref[jnp.array([0, 1])], [1, 6])
    equal(shardax.ref.swap(ref, 0, 7.0), 1)
    shardax.ref.addupdate(ref, 0, 1.0)
    ref.addupdate(1.0, 1)
    shardax.ref.set(ref, 2, 0.0)
    equal(shardax.ref.get(ref, (slice(0, 2),)), [8, 7])
    assert [float(x) for x in ref] == [8, 7, 0] and bool(ref)
    equal(shardax.freeze(ref), [8, 7, 0])
    with pytest.raises(ValueError, match="was freed or frozen"):
        _ = ref[...]
    equal(shardax.empty_ref(shardax.ShapeDtypeStruct((2,), "int32"))[...], [0, 0])


def test_the_argument_is_not_changed():
    x = jnp.zeros(2)
    ref = shardax.new_ref(x)
    ref[0] = 1.0
    equal(x, [0, 0])


def test_jit_with_a_reference_as_argument():
    traced = []

    @shardax.jit
    def f(ref, x):
        traced.append(1)
        ref[...] += x
        return ref[0] * 2

    ref, other = shardax.new_ref(jnp.arange(3.0)), shardax.new_ref(jnp.ones(3))
    equal(f(ref, 1.0), 2)
    equal(f(other, 2.0), 6)
    equal(f(x=1.0, ref=ref), 4)
    equal(ref[...], [2, 3, 4])
    equal(other[...], [3, 3, 3])
    assert len(traced) == 2  # once for each form of the call


def test_jit_that_closes_over_a_reference():
    ref = shardax.new_ref(jnp.arange(3.0))

    @shardax.jit
    def f(x):
        ref[0] = x
        return ref[...].sum()

    equal(f(7.0), 10)
    equal(f(8.0), 11)
    ref[1] = 0.0
    equal(f(1.0), 3)
    equal(ref[...], [1, 0, 2])
    outer = shardax.jit(lambda x: f(x) + f(x + 1))
    equal(outer(5.0), 7 + 8)
    equal(ref[...], [6, 0, 2])


def test_static_arguments():
    @shardax.jit(static_argnums=1, static_argnames="scale")
    def f(ref, n, scale):
        ref[...] *= n * scale

    f = shardax.jit(f.__wrapped__, static_argnums=1, static_argnames="scale")
    ref = shardax.new_ref(1.0)
    f(ref, 2, scale=3)
    f(ref, 2, scale=5)
    equal(ref[...], 60)


def test_references_made_inside():
    def double(x):
        ref = shardax.new_ref(x)
        ref[...] *= 2
        return ref[...]

    def triangle(x):
        total = shardax.new_ref(0.0)

        def body(i, _):
            total[...] += x * i

        lax.fori_loop(0, 3, body, None)
        return total[...]

    x = jnp.arange(3.0)
    for f, slope in ((double, 2), (triangle, 3)):
        equal(shardax.vmap(f)(x), slope * x)
        equal(shardax.grad(f)(3.0), slope)
        equal(shardax.jit(f)(4.0), slope * 4)
        equal(shardax.vmap(shardax.grad(f))(x), [slope] * 3)
        equal(shardax.jit(shardax.grad(shardax.checkpoint(f)))(1.0), slope)
        equal(shardax.pmap(f)(x), slope * x)


def test_vmap():
    ref = shardax.new_ref(jnp.zeros(3))

    def f(ref, x):
        ref[...] = x
        return ref[...] * 2

    equal(shardax.vmap(f)(ref, jnp.arange(3.0)), [0, 2, 4])
    equal(ref[...], [0, 1, 2])
    equal(shardax.jit(shardax.vmap(f))(ref, jnp.ones(3)), [2, 2, 2])
    equal(ref[...], [1, 1, 1])
    scalar = shardax.new_ref(2.0)
    equal(shardax.vmap(lambda x: scalar[...] * x)(jnp.arange(3.0)), [0, 2, 4])
    matrix = shardax.new_ref(jnp.zeros((2, 3)))

    def columns(ref, x):
        ref[...] += x

    shardax.vmap(columns, in_axes=(1, 0))(matrix, jnp.arange(3.0))
    equal(matrix[...], [[0, 1, 2]] * 2)
    with pytest.raises(Exception, match="with vmapped value on an unbatched array reference"):
        shardax.vmap(lambda x: scalar.__setitem__(..., x))(jnp.arange(3.0))


def test_parts_of_references():
    ref = shardax.new_ref(jnp.arange(6.0).reshape(2, 3))
    row = ref.at[1]
    assert (row.shape, row.dtype, str(row.aval)) == ((3,), jnp.float32, "Ref{float32[3]}")
    row[...] += 1
    row.at[1:][0] = 9.0
    equal(ref[...], [[0, 1, 2], [4, 9, 6]])
    equal(row.swap(jnp.zeros(3)), [4, 9, 6])
    row.set(jnp.ones(3))
    row.addupdate(2.0, 0)
    equal(row.get(), [3, 1, 1])
    equal(shardax.grad(lambda x: double_part(x))(jnp.ones(2)), [2, 2])

    def write(row):
        row[0] = 7.0

    shardax.jit(write)(row)
    equal(ref[...], [[0, 1, 2], [7, 1, 1]])


def double_part(x):
    ref = shardax.new_ref(jnp.ones(4))
    ref.at[1:3][...] += 2 * x
    return ref[...].sum()


def test_stages_of_functions_with_references():
    ref = shardax.new_ref(jnp.zeros(3))

    def closing(x):
        ref[...] += x

    compiled = shardax.jit(closing).lower(1.0).compile()
    compiled(1.0), compiled(2.0)
    equal(ref[...], [3, 3, 3])

    def passed(ref):
        ref[0] += 1.0
        return ref[...].sum()

    compiled = shardax.jit(passed).lower(ref).compile()
    equal(compiled(ref), 10)
    described = shardax.ShapeDtypeStruct((3,), "float32", is_ref=True)
    assert "is_ref=True" in repr(described)
    compiled = shardax.jit(passed).lower(described).compile()
    equal(compiled(ref), 11)
    equal(ref[...], [5, 3, 3])
    assert shardax.eval_shape(passed, ref) == shardax.ShapeDtypeStruct((), "float32")
    assert shardax.eval_shape(lambda: ref[0]) == shardax.ShapeDtypeStruct((), "float32")
    # A reference's value goes in after the arguments, and comes out after the results.
    jaxpr = shardax.make_jaxpr(lambda x: ref.__setitem__(..., ref[...] + x))(1.0)
    assert [str(aval) for aval in jaxpr.out_avals] == ["float32[3]"]
    with pytest.raises(NotImplementedError, match="make_jaxpr: with axis_env, the function is"):
        shardax.make_jaxpr(passed, axis_env=[("i", 2)])(ref)


def test_pmap():
    ref, scale = shardax.new_ref(jnp.arange(4.0)), shardax.new_ref(3.0)

    @shardax.pmap
    def f(ref, x):
        ref[...] += x * scale[...]
        return ref[...] * 2

    equal(f(ref, jnp.ones(4)), [6, 8, 10, 12])
    equal(ref[...], [3, 4, 5, 6])
    shared = shardax.pmap(
        lambda x, r, n: x * r[...] * n, in_axes=(0, None, None), static_broadcasted_argnums=2
    )
    equal(shared(jnp.ones(2), scale, 2), [6, 6])
    with pytest.raises(ValueError, match="closes over, which all devices share. Pass the ref"):
        shardax.pmap(lambda x: scale.__setitem__(..., 1.0) or x)(jnp.ones(2))


def test_references_are_dropped():
    ref = shardax.new_ref(jnp.zeros(3))
    alive = weakref.ref(ref)
    f = shardax.jit(lambda x, held=[ref]: held[0].__setitem__(0, x))
    f(1.0)
    del f, ref
    gc.collect()
    assert alive() is None


def test_typeof_a_reference():
    ref = shardax.new_ref(jnp.zeros(3))
    assert str(shardax.typeof(ref)) == "Ref{float32[3]}" and shardax.typeof(ref) == ref.aval
    assert str(shardax.typeof(ref.at[0])) == "Ref{float32[]}"
    assert ref.aval.sharding == shardax.typeof(ref[...]).sharding and not ref.aval.weak_type
    assert ref.unsafe_buffer_pointer() == ref[...].unsafe_buffer_pointer()
    assert ref.format.sharding == ref.sharding and not ref.committed


def test_what_is_used_up_while_tracing():
    def f(values, x):
        refs = list(map(shardax.new_ref, values))

        @shardax.jit
        def inner(x):
            return sum(jnp.sin(refs.pop()[...]) for _ in values) + x

        return inner(x)

    values = [jnp.float32(1.0), jnp.float32(2.0)]
    got = shardax.grad(f)(values, 3.0)
    np.testing.assert_allclose(np.asarray(got), np.cos([1.0, 2.0]), rtol=1e-6)


def test_programs_of_references_go_with_their_function():
    ref = shardax.new_ref(jnp.zeros(2))

    class Counter:
        def __init__(self):
            self.ref = shardax.new_ref(0.0)
            self.add = shardax.jit(lambda x: self.ref.addupdate(x) or ref[...])

    counter = Counter()
    counter.add(1.0)
    gone = weakref.ref(counter)
    del counter
    gc.collect()
    assert gone() is None


def test_references_show_what_was_written():
    """Weakly typed as at first, or as the array that was written."""
    ref = shardax.new_ref(0.0)
    assert repr(ref) == "Ref(0., dtype=float32, weak_type=True)"
    shardax.ref.addupdate(ref, ..., 1.0)
    shardax.ref.addupdate(ref.at[...], ..., 1.0)
    assert repr(ref) == "Ref(2., dtype=float32, weak_type=True)"
    ref[...] += 1.0
    assert repr(ref) == "Ref(3., dtype=float32)"
    assert repr(ref[...]) == "Array(3., dtype=float32, weak_type=True)"
