"""tests/refs/test_ref_gradients.py - derivatives of functions with references, and what backward
rules write to them; values are those of JAX 0.10.2."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def equal(x, expected):
    np.testing.assert_array_equal(np.asarray(x), expected)


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

    def products(*targets):
        _, pull = shardax.vjp(lambda w, x: jnp.tanh(w @ x), jnp.ones((4, 3)), jnp.ones(3))
        program = shardax.make_jaxpr(lambda: pull.with_refs(*targets)(jnp.ones(4)))()
        return str(program).count("dot_general")

    assert products(ad.GradValue(), ad.GradValue()) == 2
    assert products(ad.GradValue(), ad.DontWant()) == products(ad.DontWant(), ad.GradValue()) == 1
    assert products(ad.DontWant(), ad.DontWant()) == 0
    assert products(ad.DontWant(), shardax.new_ref(jnp.zeros(3))) == 1


def test_gradients_by_integers_are_float0_beside_unwanted_ones():
    from shardax import ad

    _, pull = shardax.vjp(lambda x, n, y: x * y * n, jnp.ones(3), 2, jnp.ones(3))
    pull = pull.with_refs(ad.GradValue(), ad.GradValue(), ad.DontWant())
    by_x, by_n, by_y = pull(jnp.ones(3))
    assert by_x.tolist() == [2, 2, 2] and by_y == ad.DidntWant()
    assert type(by_n) is np.ndarray and by_n.dtype == shardax.float0


def test_gradients_by_what_references_held():
    def f(x, held):
        held["a"][...] = jnp.sin(held["a"][...])
        return x * held["a"][...] ** 2

    a = shardax.new_ref(2.0)
    out, pull = shardax.vjp(f, 3.0, {"a": a})
    equal(a[...], jnp.sin(2.0))
    equal(out, 3 * jnp.sin(2.0) ** 2)
    total = shardax.new_ref(100.0)
    x_bar, marked = pull.with_refs(shardax.ad.GradValue(), {"a": total})(1.0)
    equal(x_bar, jnp.sin(2.0) ** 2)
    equal(total[...], 100 + 6 * jnp.sin(2.0) * jnp.cos(2.0))
    equal(a[...], jnp.sin(2.0))
    assert marked == {"a": shardax.ad.GradRef()}
    _, marked = pull.with_refs(total, {"a": shardax.ad.DontWant()})(1.0)
    assert marked == {"a": shardax.ad.DidntWant()}
    equal(total[...], 100 + 6 * jnp.sin(2.0) * jnp.cos(2.0) + jnp.sin(2.0) ** 2)
    with pytest.raises(ValueError, match=r"Expected cotangent type Ref\{float32\[\]\}") as info:
        pull(1.0)
    assert not hasattr(info.value, "__notes__") or "with_refs" in info.value.__notes__[0]
    with pytest.raises(ValueError, match="must have the structure of the arguments"):
        pull.with_refs(total)
