"""tests/transforms/test_control.py - scan, cond, switch, loops and map: results, types, errors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X = np.arange(4, dtype=np.float32)


def test_scan():
    last, sums = lax.scan(lambda c, x: (c + x, {"before": c}), 0.0, X)
    assert float(last) == 6
    np.testing.assert_allclose(sums["before"], [0, 0, 1, 3])
    assert float(lax.scan(lambda c, x: (c * 2 + x, None), 0.0, X, reverse=True)[0]) == 0 + 2 * (
        1 + 2 * (2 + 2 * 3)
    )
    last, ys = lax.scan(lambda c, _: ((c[0] + 1, c[1]), c[0]), (0, "x" and 1.0), None, length=3)
    assert int(last[0]) == 3 and ys.shape == (3,)
    assert lax.scan(lambda c, x: (c + x, c), 0.0, X[:0])[1].shape == (0,)


def test_weak_carries_take_the_result_type():
    assert lax.scan(lambda c, x: (c + x, None), 0, X)[0].dtype == np.float32
    assert lax.scan(lambda c, x: (x, None), 0.0, X.astype(np.float16))[0].dtype == np.float16
    assert lax.while_loop(lambda c: c < 3, lambda c: c + 1.0, 0).dtype == np.float32


def test_closures_are_constants():
    @shardax.jit
    def f(y):
        return lax.scan(lambda c, x: (c + x * y, lax.cond(x > y, lambda: c, lambda: y)), 0.0, X)

    last, ys = f(2.0)
    assert float(last) == 12
    np.testing.assert_allclose(ys, [2, 2, 2, 6])


def test_functions_are_staged_once():
    calls = []

    def body(c, x):
        calls.append(1)
        return c + x, None

    for _ in range(3):
        lax.scan(body, 0.0, X)
    assert len(calls) == 1


def test_cond_and_switch():
    assert float(lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3.0)) == 4
    assert float(lax.cond(jnp.float32(0), lambda x: x + 1, lambda x: x - 1, 3.0)) == 2
    assert float(lax.cond(False, 1.0, lambda x: x, 2.0, lambda x: x * 5)) == 10
    assert float(lax.cond(True, lambda x: x, lambda x: -x, operand=3.0)) == 3
    # None is an operand, as programs of the first years pass it.
    choice = (lambda _: 1, lambda _: 2)
    assert int(lax.cond(True, *choice, operand=None)) == int(lax.cond(True, *choice, None)) == 1
    assert int(lax.switch(1, choice, operand=None)) == 2
    assert int(shardax.jit(lambda p: lax.cond(p, *choice, operand=None))(False)) == 2
    for call in (lax.cond, lambda p, *rest, **kw: lax.switch(int(p), rest[:2], *rest[2:], **kw)):
        with pytest.raises(TypeError, match="if 'operand' keyword is passed then no positional"):
            call(True, *choice, 1, operand=2)
    branches = [lambda x: x, lambda x: x + 1, lambda x: x * 10]
    assert [float(lax.switch(i, branches, 2.0)) for i in (-1, 0, 1, 2, 5)] == [2, 2, 3, 20, 20]
    assert float(shardax.jit(lambda i: lax.switch(i, branches, 2.0))(7)) == 20


def test_loops():
    assert int(lax.while_loop(lambda c: c < 100, lambda c: c * 2, 1)) == 128
    assert int(lax.fori_loop(0, 4, lambda i, c: c + i, 10)) == 16
    assert int(shardax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 10))(4)) == 16
    assert int(lax.fori_loop(5, 3, lambda i, c: c + i, 10)) == 10
    np.testing.assert_allclose(lax.map(lambda x: x + 1, X), X + 1)
    np.testing.assert_allclose(lax.map(lambda x: x + 1, X, batch_size=3), X + 1)


def endless_squares(x):
    return lax.while_loop(lambda v: v.sum() < 100, lambda v: v * v + 1, x)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: f,
        shardax.jit,
        shardax.checkpoint,
        lambda f: lambda x: lax.cond(x[0] < 9, f, lambda x: x, x),
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
        lambda f: shardax.jit(shardax.vmap(lambda x: f(x[None])[0])),
    ],
)
def test_linearize_of_while(wrap):
    f, x = wrap(endless_squares), jnp.array([0.5, 0.25])
    value, linear = shardax.linearize(f, x)
    expected, tangent = shardax.jvp(f, (x,), (x,))
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(linear(x), tangent, rtol=1e-6)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work for lax.whi"):
        shardax.grad(lambda x: f(x).sum())(x)


def test_what_passes_through_goes_around():
    """Neither computed nor batched: the caller's own values."""
    w, xs = jnp.eye(2), jnp.ones((3, 2))

    def loop(w, x, n):
        return lax.while_loop(
            lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] @ c[2], c[2]), (0, x, w)
        )

    out = shardax.vmap(loop, (None, 0, 0), (0, 0, None))(w, xs, jnp.arange(3))
    assert out[0].tolist() == [0, 1, 2] and out[2].shape == (2, 2)

    def branches(x, y):
        return lax.cond(x < 1, lambda x, y: (x * 2, y), lambda x, y: (x * 3, y), x, y)

    y = jnp.float32(5)
    doubled, same = shardax.vmap(branches, (0, None), (0, None))(jnp.arange(3), y)
    assert doubled.tolist() == [0, 3, 6] and same.shape == ()

    def scan(c, x):
        return lax.scan(lambda c, x: ((c[0], c[1] + c[0]), (x, x + c[1])), (c, 0.0), x)

    program = shardax.make_jaxpr(scan)(y, jnp.arange(3.0))
    (equation,) = program.eqns
    assert equation.params["num_consts"] == equation.params["num_carry"] == 1
    (kept, total), (passed, sums) = scan(y, jnp.arange(3.0))
    assert (float(kept), float(total)) == (5, 15)
    assert passed.tolist() == [0, 1, 2] and sums.tolist() == [0, 6, 12]
    assert lax.while_loop(lambda c: c[1], lambda c: c, (1, False))[0] == 1


def test_derivatives_of_branches_not_taken():
    def safe(x):
        return lax.cond(x < 1e-3, lambda x: x, jnp.sqrt, x)

    gradient = shardax.grad(lambda x: shardax.vmap(safe)(x).sum())(jnp.array([0.0, 4.0]))
    assert gradient.tolist() == [1, 0.25]


def test_loop_bounds_of_floats():
    assert float(lax.fori_loop(1.0, 3.0, lambda i, c: c + i, 0.0)) == 3
    assert float(shardax.grad(lambda x: lax.fori_loop(x, x + 2, lambda i, c: c * x, x))(2.0)) == 12


def test_platform_dependent():
    assert float(lax.platform_dependent(1.0, cpu=lambda x: x + 1, default=abs)) == 2
    assert (
        float(
            shardax.vmap(lambda x: lax.platform_dependent(x, tpu=abs, default=jnp.negative))(
                jnp.ones(1)
            )[0]
        )
        == -1
    )


def test_under_vmap_and_pmap():
    n = np.arange(5)
    count = lambda n: lax.while_loop(lambda c: c < n, lambda c: c + 2, 0)  # noqa: E731
    for transform in (shardax.vmap, shardax.pmap):
        np.testing.assert_array_equal(transform(count)(n), [0, 2, 2, 4, 4])
        out = transform(lambda x: lax.cond(x > 1, lambda y: y * y, lambda y: -y, x))(X)
        np.testing.assert_allclose(out, [0, -1, 4, 9])


@pytest.mark.parametrize(
    "make, error, text",
    [
        (
            lambda: lax.scan(lambda c, x: (c + x, c), jnp.int32(0), X),
            TypeError,
            r"The input carry c has type int32\[\] but the corresponding output carry component "
            r"has type float32\[\], so the dtypes do not match",
        ),
        (
            lambda: lax.scan(lambda c, x: ((c[0], c[1][None]), x), (1.0, 2.0), X),
            TypeError,
            r"The input carry component c\[1\] has type float32\[\] .* float32\[1\], so the "
            r"shapes do not match",
        ),
        (
            lambda: lax.scan(lambda c, x: ((c[0] > 0, c[1] > 0), x), (1.0, 2.0), X),
            TypeError,
            r"  \* the input carry component c\[0\] has type float32\[\] .*;\n  \* the input",
        ),
        (
            lambda: lax.scan(lambda c, x: ((c[0],), x), (1.0, 2.0), X),
            TypeError,
            "carry c is a tuple of length 2 .* a tuple of length 1, so the lengths do not match",
        ),
        (
            lambda: shardax.jit(lambda n: lax.scan(lambda c, x: (c, x), 0, (), n))(3),
            shardax.errors.ConcretizationTypeError,
            "The `length` argument to `scan` expects a concrete `int` value",
        ),
        (
            lambda: shardax.jit(lambda n: lax.scan(lambda c, x: (c, x), 0, X, unroll=n))(3),
            shardax.errors.ConcretizationTypeError,
            "The `unroll` argument to `scan` expects a concrete `int` or `bool` value",
        ),
        (
            lambda: lax.switch((1, 2), [abs, abs]),
            TypeError,
            r"Branch index must be scalar, got \(1, 2\) of shape \(2,\).",
        ),
        (
            lambda: lax.platform_dependent(1.0, tpu=abs),
            NotImplementedError,
            "not found for platform cpu: it has branches for tpu",
        ),
        (
            lambda: lax.platform_dependent(1.0, gpu=abs),
            ValueError,
            "Use 'cuda' or 'rocm'",
        ),
        (
            lambda: lax.scan(lambda c, x: ((c, c), x), 0.0, X),
            TypeError,
            "must have the same pytree structure",
        ),
        (
            lambda: lax.scan(lambda c, x: ({"a": c["a"]}, x), {"a": 1.0, "b": 2.0}, X),
            TypeError,
            r"with 2 children .* with 1 child, so the numbers of children do not match, .* key "
            r"sets: {'b'}",
        ),
        (
            lambda: lax.scan(lambda c, x: c, 0.0, X),
            TypeError,
            "scan body output must be a pair, got ",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, x), 0.0, None),
            ValueError,
            "no values to scan over and `length` not provided",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, x), 0.0, X, length=3),
            ValueError,
            r"argument of 3 which disagrees with leading axis sizes \[4\]",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, x), 0.0, (X, X[:2])),
            ValueError,
            "different leading axis sizes: 4, 2",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, x), 0.0, 2.0),
            ValueError,
            "no leading axis to scan over: 2.0",
        ),
        (
            lambda: lax.scan(lambda c, x: (c, "a"), 0.0, X),
            TypeError,
            r"<class 'str'> at output component \[1\]",
        ),
        (lambda: lax.scan(3, 0.0, X), TypeError, "f argument should be a callable"),
        (
            lambda: lax.cond(True, lambda x: x, lambda x: 1, 1.0),
            TypeError,
            r"The output of true_fun has type float32\[\] but the corresponding output of "
            r"false_fun has type int32\[\], so the dtypes",
        ),
        (
            lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 1.0),
            TypeError,
            "true_fun output is a pytree leaf but false_fun output is a <class 'tuple'>, so "
            "their Python types differ",
        ),
        (
            lambda: lax.cond(jnp.ones(2), lambda: 1, lambda: 2),
            TypeError,
            r"Pred must be a scalar, got .* of shape \(2,\)",
        ),
        (
            lambda: lax.cond("a", lambda: 1, lambda: 2),
            TypeError,
            "Pred must be a scalar, got a of type <class 'str'>",
        ),
        (
            lambda: lax.cond(True, 1, lambda: 2),
            TypeError,
            "true_fun and false_fun arguments should be callable",
        ),
        (
            lambda: lax.switch(1.0, [lambda: 1, lambda: 2]),
            TypeError,
            "Index type must be an integer, got 1.0 as float32",
        ),
        (lambda: lax.switch(0, []), ValueError, "Empty branch sequence"),
        (
            lambda: lax.while_loop(lambda c: c, lambda c: c, 0),
            TypeError,
            "cond_fun must return a boolean scalar, but got output type",
        ),
        (
            lambda: lax.while_loop(lambda c: (c < 3,), lambda c: c, 0),
            TypeError,
            r"but got pytree PyTreeDef\(\(\*,\)\)",
        ),
        (
            lambda: lax.while_loop(lambda c: c < 3, lambda c: c + 1.0, jnp.int32(0)),
            TypeError,
            "while_loop body function carry input",
        ),
        (
            lambda: lax.fori_loop(0, 3.0, lambda i, c: c, 0.0),
            TypeError,
            "must have equal types, got int32 and float32",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("shape, axis", [((2, 0), 0), ((5, 0), 0), ((0, 2), 0), ((3, 0, 2), -3)])
def test_associative_scan_of_nothing(shape, axis):
    out = lax.associative_scan(jnp.add, jnp.ones(shape), axis=axis)
    assert out.shape == shape


def test_map_takes_a_function():
    with pytest.raises(TypeError, match="lax.map: f argument should be a callable, got 3"):
        lax.map(3, jnp.arange(3))


@pytest.mark.parametrize("depth", [24])
def test_nested_branches_are_transformed_once_a_level(depth):
    def nested(x, level):
        if level == 0:
            return jnp.sin(x)
        return lax.cond(x > 0, lambda x: nested(x, level - 1), lambda x: x, x)

    f = lambda x: nested(x, depth)
    np.testing.assert_allclose(shardax.grad(f)(1.0), np.cos(1), rtol=1e-6)
    np.testing.assert_allclose(shardax.jvp(f, (1.0,), (1.0,))[1], np.cos(1), rtol=1e-6)


def test_results_of_branches_are_weak_where_those_of_the_first_are():
    both = [lambda a, b: a, lambda a, b: b]
    strong = jnp.float32(2)

    def weak(branches):
        switched = shardax.jit(lambda i, a, b: lax.switch(i, branches, a, b))(1, 1.0, strong)
        return shardax.typeof(switched).weak_type

    assert weak(both) and weak([*both, both[1]]) and not weak(both[::-1])
    assert shardax.typeof(lax.cond(True, both[1], both[0], 1.0, strong)).weak_type
    assert not shardax.typeof(lax.cond(True, both[0], both[1], 1.0, strong)).weak_type
    primal, tangent = shardax.jvp(
        lambda a: lax.cond(True, both[1], both[0], a, strong), (1.0,), (1.0,)
    )
    assert shardax.typeof(primal).weak_type and tangent == 0
    stepped = lax.while_loop(
        lambda c: c < 5, lambda c: lax.cond(c < 3, lambda: strong * 2, lambda: c * 2), 1.0
    )
    assert shardax.typeof(stepped).weak_type and stepped == 8
