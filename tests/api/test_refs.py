"""tests/api/test_refs.py - mutable array references; values are those of JAX 0.10.2."""

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


def test_values_that_do_not_fit():
    ref = shardax.new_ref(jnp.arange(3.0))
    with pytest.raises(ValueError, match=r"Invalid shape for `swap`. Ref shape: \(3,\)"):
        ref[...] = 0.0
    with pytest.raises(ValueError, match="Invalid dtype for `swap`. Ref dtype: float32"):
        ref[0] = jnp.int32(1)
    with pytest.raises(ValueError, match="Out of bound indexer: idx=5, dim=3"):
        _ = ref[5]
    with pytest.raises(ValueError, match="`indices` must not be longer than `shape`"):
        _ = ref[0, 0]
    with pytest.raises(ValueError, match="is no array: read it with"):
        np.asarray(ref)
    with pytest.raises(TypeError, match="cannot hold another"):
        shardax.new_ref(ref)
    with pytest.raises(TypeError, match="does not have a dtype attribute"):
        shardax.empty_ref((3,))


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


def test_loops():
    ref = shardax.new_ref(jnp.zeros(3))

    def body(c, i):
        ref[i] = c
        return c + 1, ref[...].sum()

    last, ys = lax.scan(body, 0.0, jnp.arange(3))
    equal(last, 3)
    equal(ys, [0, 1, 3])
    equal(ref[...], [0, 1, 2])

    def write(i, _):
        ref[i] = 2.0 * i

    lax.fori_loop(0, 3, write, None)
    equal(ref[...], [0, 2, 4])
    total = shardax.new_ref(0.0)

    def add(i):
        total[...] += 2.0
        return i + 1

    equal(lax.while_loop(lambda i: i < 4, add, 0), 4)
    equal(total[...], 8)
    lax.while_loop(lambda i: total[...] < 11, add, 0)
    equal(total[...], 12)
    shardax.jit(lambda n: lax.fori_loop(0, n, lambda i, _: add(0) and None, None))(3)
    equal(total[...], 18)

    def each(x):
        total[...] += x
        return total[...]

    equal(lax.map(each, jnp.arange(3.0)), [18, 19, 21])


def test_branches():
    ref = shardax.new_ref(0.0)

    def write():
        ref[...] = 1.0
        return 1

    equal(lax.cond(False, write, lambda: 2), 2)
    equal(ref[...], 0)
    equal(lax.cond(True, write, lambda: 2), 1)
    equal(ref[...], 1)

    def add(x):
        ref[...] += x
        return x

    equal(shardax.jit(lambda i: lax.switch(i, [lambda x: x, add, lambda x: -x], 5.0))(1), 5)
    equal(ref[...], 6)


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


def test_grad():
    ref = shardax.new_ref(2.0)

    def records(x):
        ref[...] = lax.stop_gradient(x * 3)
        return x**2 * ref[...]

    equal(shardax.grad(records)(3.0), 54)
    equal(ref[...], 9)
    with pytest.raises(Exception, match="with a differentiated value on a non-differentiated"):
        shardax.grad(lambda x: ref.__setitem__(..., x) or x)(3.0)

    @shardax.jit
    def inside(x):
        def loss(x):
            ref[...] = lax.stop_gradient(x)
            return x**2

        return shardax.grad(loss)(x)

    equal(inside(4.0), 8)
    equal(ref[...], 4)


def test_checkpoint_writes_once():
    ref = shardax.new_ref(1.0)

    def f(x):
        ref[...] += 1.0
        return jnp.sin(x) * x

    grad = shardax.grad(shardax.checkpoint(f))(1.0)
    np.testing.assert_allclose(grad, np.sin(1) + np.cos(1), rtol=1e-6)
    equal(ref[...], 2)


def test_aliases_are_refused():
    ref = shardax.new_ref(jnp.zeros(3))
    with pytest.raises(ValueError, match="only one reference .* appeared at both a and b"):
        shardax.jit(lambda a, b: a[...])(ref, ref)
    with pytest.raises(ValueError, match="both closed over and passed as"):
        shardax.jit(lambda a: a[...] + ref[...])(ref)
    for f, args in (
        (lambda x: ref, (1.0,)),
        (lambda r: r, (ref,)),
        (lambda x: shardax.new_ref(x), (1.0,)),
    ):
        with pytest.raises(ValueError, match="traced for jit returned a mutable array reference"):
            shardax.jit(f)(*args)
    with pytest.raises(ValueError, match=r"path result\['k'\].*\n\n.*passed in as the argument r"):
        shardax.jit(lambda r: {"k": r})(ref)
    with pytest.raises(ValueError, match=r"\n\n.* was created on line .*test_refs.py"):
        shardax.jit(lambda x: shardax.new_ref(x))(1.0)


def test_aliases_in_loops_and_branches_are_refused():
    ref = shardax.new_ref(0.0)
    only, both = "only one reference .* appeared at both", "closed over and passed as the argument"
    with pytest.raises(ValueError, match=rf"{only} c\[0\] and c\[1\]"):
        lax.scan(lambda c, _: (None, None), (ref, ref), None, length=1)
    with pytest.raises(ValueError, match=f"{only} x and y"):
        lax.cond(True, lambda x, y: 0, lambda x, y: 1, ref, ref)
    with pytest.raises(ValueError, match=f"{both} y"):
        lax.cond(True, lambda y: ref[...] + y[...], lambda y: ref[...] + y[...], ref)
    with pytest.raises(ValueError, match=f"{both} y"):
        shardax.jit(lambda y: ref[...] + y[...])(ref)
    for call, api in (
        (lambda: lax.scan(lambda c, x: (shardax.new_ref(c), x), 0, jnp.arange(3)), "scan"),
        (lambda: lax.scan(lambda c, _: (c, None), ref, None, length=1), "scan"),
        (lambda: lax.cond(True, lambda: ref, lambda: ref), "cond"),
        (lambda: lax.while_loop(lambda c: True, lambda c: c, ref), "while_body"),
        (lambda: lax.fori_loop(0, 3, lambda i, c: c, ref), "fori_loop"),
    ):
        with pytest.raises(ValueError, match=f"traced for {api} returned a mutable array"):
            call()
    with pytest.raises(TypeError, match="the carry holds a mutable array reference"):
        lax.scan(lambda c, _: (c[...], None), ref, None, length=1)

    @shardax.custom_vjp
    def f(x, y):
        return x

    f.defvjp(lambda x, y: (x[...], None), lambda *_: (None, None))
    with pytest.raises(ValueError, match=f"{only} x and y"):
        shardax.vjp(f, ref, ref)
    with pytest.raises(ValueError, match="returned a mutable array"):
        f(ref, 1.0)


def test_a_reference_that_outlives_its_trace():
    kept = []
    shardax.jit(lambda x: kept.append(shardax.new_ref(x)))(1.0)
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="made while a function was"):
        _ = kept[0][...]


def stashing(fwd=lambda ref, x: (x, ref)):
    """x, whose cotangent is added to ref."""

    @shardax.custom_vjp
    def stash(ref, x):
        return x

    def backward(ref, g):
        ref[...] += g
        return None, g

    stash.defvjp(fwd, backward)
    return stash


def twice(stash):
    """sin(sin(x)), with the cotangents of both results added to ref."""

    def f(ref, x):
        return stash(ref, jnp.sin(stash(ref, jnp.sin(x))))

    return f


def scanned(stash):
    def f(ref, x):
        return lax.scan(lambda x, _: (jnp.sin(stash(ref, x)), None), x, None, length=2)[0]

    return f


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: shardax.grad(f, 1),
        lambda f: shardax.grad(shardax.jit(f), 1),
        lambda f: shardax.jit(shardax.grad(f, 1)),
        lambda f: shardax.jit(shardax.grad(shardax.jit(f), 1)),
        lambda f: shardax.grad(shardax.checkpoint(f), 1),
        lambda f: shardax.grad(lambda r, x: lax.cond(x > 0, f, lambda r, x: x, r, x), 1),
        lambda f: lambda r, x: shardax.vjp(lambda x: f(r, x), x)[1](1.0)[0],
        lambda f: lambda r, x: shardax.vjp(shardax.jit(lambda x: f(r, x)), x)[1](1.0)[0],
    ],
)
def test_backward_rules_write_to_references(transform):
    x = 0.5
    inner, outer = np.cos(x), np.cos(np.sin(x))
    for f, stashed in ((twice(stashing()), 1 + outer), (scanned(stashing()), outer * (1 + inner))):
        ref = shardax.new_ref(jnp.float32(10.0))
        gradient = transform(f)
        np.testing.assert_allclose(gradient(ref, jnp.float32(x)), inner * outer, rtol=1e-6)
        np.testing.assert_allclose(ref[...], 10 + stashed, rtol=1e-6)
        gradient(ref, jnp.float32(x))
        np.testing.assert_allclose(ref[...], 10 + 2 * stashed, rtol=1e-6)


def test_rules_read_and_write_references():
    @shardax.custom_vjp
    def f(x, ref):
        ref[...] += 1
        return x * ref[...]

    def forward(x, ref):
        ref[...] += 10
        return x * ref[...], ref

    def backward(ref, g):
        ref[...] += 100
        return g, None

    f.defvjp(forward, backward)
    ref = shardax.new_ref(0.0)
    equal(f(2.0, ref), 2)
    equal(shardax.jit(f)(2.0, ref), 4)
    equal(shardax.grad(f)(2.0, ref), 1)
    equal(ref[...], 112)
    equal(shardax.grad(shardax.jit(f))(2.0, ref), 1)
    equal(ref[...], 222)
    equal(shardax.jit(shardax.grad(f))(2.0, ref), 1)
    equal(ref[...], 332)
    equal(shardax.vmap(f)(jnp.ones(2), shardax.new_ref(jnp.ones(2))), [2, 2])


def test_rules_that_close_over_references():
    ref = shardax.new_ref(3.0)

    @shardax.custom_jvp
    def f(x):
        return x * ref[...]

    f.defjvp(lambda primals, tangents: (f(*primals), 5 * tangents[0]))

    @shardax.custom_vjp
    def g(x):
        return x * ref[...]

    g.defvjp(lambda x: (g(x), None), lambda _, ct: (7 * ct,))
    for h, slope in ((f, 5), (g, 7)):
        equal(h(2.0), 6)
        equal(shardax.jit(h)(2.0), 6)
        equal(shardax.grad(h)(2.0), slope)
        equal(shardax.jit(shardax.grad(h))(2.0), slope)
        equal(shardax.grad(shardax.jit(h))(2.0), slope)

    @shardax.custom_jvp
    def passed(x, ref):
        return x * ref[...]

    passed.defjvp(lambda primals, tangents: (passed(*primals), tangents[0]))
    equal(passed(2.0, ref), 6)
    equal(shardax.grad(passed)(2.0, ref), 1)


def test_the_value_of_a_reference_is_differentiated():
    @shardax.custom_vjp
    def f(ref):
        return ref[...]

    f.defvjp(lambda ref: (f(ref), None), lambda _, g: (2 * g,))
    equal(shardax.vjp(lambda x: f(shardax.new_ref(x)), 3.0)[1](1.0)[0], 2)
    g = shardax.jit(f)
    equal(shardax.grad(lambda x: g(shardax.new_ref(x)))(3.0), 2)


def test_what_backward_rules_cannot_reach():
    ref, number = shardax.new_ref(jnp.float32(0)), shardax.new_ref(0)
    stash, x = stashing(), jnp.float32(1.0)
    with pytest.raises(NotImplementedError, match="by values that it closes over only. Pass one"):
        shardax.grad(lambda x: shardax.jit(lambda: stash(ref, x * x))())(x)
    with pytest.raises(NotImplementedError, match="reads or writes a mutable array reference of"):
        shardax.grad(shardax.jit(lambda x: stash(number, x)))(x)
    other = shardax.new_ref(0.0)
    leaking = stashing(lambda ref, x: (x, other))
    with pytest.raises(ValueError, match="custom_vjp fwd function .* that is no argument of it"):
        shardax.vjp(leaking, ref, x)
    symbolic = stashing()
    symbolic.defvjp(symbolic.fwd, symbolic.bwd, symbolic_zeros=True)
    with pytest.raises(NotImplementedError, match="Define them without symbolic_zeros"):
        shardax.grad(symbolic, 1)(ref, x)


def test_scanned_references():
    ref = shardax.new_ref(jnp.arange(6.0).reshape(3, 2))

    def add(total, row):
        row[...] += 1
        return total + row[0], None

    equal(lax.scan(add, 0.0, ref)[0], 9)
    equal(ref[...], [[1, 2], [3, 4], [5, 6]])
    equal(lax.map(lambda row: row[1], ref), [2, 4, 6])

    def total(xs):
        return lax.scan(lambda c, x: (c + x[...], None), 0.0, shardax.new_ref(xs))[0]

    equal(shardax.grad(total)(jnp.arange(3.0)), [1, 1, 1])


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


def test_references_that_are_not_differentiated():
    ref = shardax.new_ref(1.0, kind="no_grad")

    @shardax.checkpoint
    def f(y, ref):
        ref[...] += y * y
        return y * y

    equal(shardax.grad(f)(2.0, ref), 4)
    equal(ref[...], 5)
    with pytest.raises(ValueError, match="got kind='some'; expected None, 'no_grad'"):
        shardax.new_ref(1.0, kind="some")


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
    with pytest.raises(NotImplementedError, match="make_jaxpr: with axis_env, the function reads"):
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


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: shardax.pmap(f).lower(jnp.ones(1)),
        lambda f: shardax.closure_convert(f, 1.0),
    ],
)
def test_what_takes_no_references_says_so(transform):
    ref = shardax.new_ref(1.0)
    with pytest.raises(NotImplementedError, match="a mutable array reference. Pass the value"):
        transform(lambda x: x * ref[...])


def test_gradients_added_to_references():
    from shardax import ad

    x, y = jnp.arange(3.0), jnp.array([2.0, 3.0, 4.0])
    _, pull = shardax.vjp(lambda x, y: x * y["w"], x, {"w": y})
    total = shardax.new_ref(jnp.ones(3))
    wanted = pull.with_refs(total, {"w": ad.GradValue()})
    given, rest = wanted(jnp.ones(3))
    assert given == ad.GradRef() and rest["w"].tolist() == x.tolist()
    assert total[...].tolist() == [3, 4, 5]
    assert pull.with_refs(ad.DontWant(), {"w": ad.DontWant()})(jnp.ones(3))[0] == ad.DidntWant()
    with pytest.raises(ValueError, match="must have the structure of the arguments"):
        pull.with_refs(total)
    assert pull.with_refs(total, {"w": object()})(jnp.ones(3))[1]["w"].tolist() == x.tolist()


def test_gradients_accumulate_over_microbatches():
    def loss(w, x):
        return jnp.mean(lax.scan(lambda h, w: (h @ w, None), x, w)[0])

    @shardax.jit
    def gradient(w, batches):
        total = shardax.new_ref(jnp.zeros_like(w))

        def step(_, x):
            value, pull = shardax.vjp(lambda w: loss(w, x), w)
            pull.with_refs(total)(jnp.ones_like(value))
            return (), value

        lax.scan(step, (), batches)
        return shardax.freeze(total)

    w, batches = jnp.ones((3, 4, 4)), jnp.ones((5, 7, 4))
    each = sum(shardax.grad(loss)(w, x) for x in batches)
    np.testing.assert_allclose(gradient(w, batches), each, rtol=1e-6)


def test_an_unwanted_gradient_is_not_computed():
    from shardax import ad

    _, pull = shardax.vjp(lambda x, y: x * y, jnp.ones(3), jnp.ones(3))
    pull = pull.with_refs(ad.DontWant(), ad.GradValue())
    assert shardax.jit(lambda: pull(jnp.ones(3))[1])().tolist() == [1, 1, 1]
