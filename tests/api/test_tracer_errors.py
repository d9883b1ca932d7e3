"""tests/api/test_tracer_errors.py - traced values used as Python ones: which argument is it?"""

import functools
import pickle

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def branches(x, y, *, z):
    return 1 if x["k"][1] + z > 0 else y


def several(*args):
    return bool(args[0] + args[1] + args[2])


def raised(f, *args, **kwargs):
    with pytest.raises(shardax.errors.TracerBoolConversionError) as error:
        f(*args, **kwargs)
    return str(error.value)


@pytest.mark.parametrize("transform, api", [(shardax.jit, "jit"), (shardax.make_jaxpr, "jit")])
def test_names_the_function_and_the_arguments(transform, api):
    text = raised(transform(branches), {"k": (1.0, 2.0)}, 2.0, z=1.0)
    assert text.startswith("Attempted boolean conversion of traced array with shape bool[].")
    assert (
        "The error occurred while tracing the function branches at "
        f"{__file__}:{branches.__code__.co_firstlineno} for {api}." in text
    )
    assert "it depends on the values of the arguments x['k'][1] and z." in text
    assert "the arguments args[0], args[1], and args[2]." in raised(
        transform(several), 1.0, 2.0, 3.0
    )


def test_other_transformations():
    x = np.ones(3)
    assert "for pmap. " in raised(shardax.pmap(lambda x: bool(x)), x)
    assert "value of the argument x." in raised(shardax.pmap(lambda x: bool(x)), x)
    assert "for scan. " in raised(lambda: lax.scan(lambda c, x: (c, bool(x)), 0.0, x))
    assert "for while_cond. " in raised(lambda: lax.while_loop(lambda c: bool(c), lambda c: c, 1.0))
    assert "shape float32[]" in raised(shardax.vmap(lambda x: bool(x)), x)


def test_partials_static_and_keyword_arguments():
    f = functools.partial(lambda a, b: bool(b), 1.0)
    assert "the argument b." in raised(shardax.jit(f), 2.0)
    assert "the argument b." in raised(shardax.jit(lambda a, b: bool(b), static_argnums=0), 2, 3.0)
    assert "the argument k['a']." in raised(shardax.jit(lambda **k: bool(k["a"])), a=1.0)


def test_conversions():
    errors = shardax.errors
    for convert, error in (
        (int, errors.ConcretizationTypeError),
        (float, errors.ConcretizationTypeError),
        (range, errors.TracerIntegerConversionError),
        (np.asarray, errors.TracerArrayConversionError),
    ):
        with pytest.raises(error, match="(?s)traced array.*for jit"):
            shardax.jit(lambda n, convert=convert: convert(n))(3)


def test_leaked_tracers():
    kept = []
    for transform in (shardax.jit, shardax.vmap, shardax.pmap, shardax.grad):
        kept.clear()
        transform(lambda x: kept.append(x) or x * 1.0)(
            jnp.ones(3) if transform is not shardax.grad else 1.0
        )
        with pytest.raises(
            shardax.errors.UnexpectedTracerError, match="escape the scope of the transformation"
        ):
            kept[0] + 1
        with pytest.raises(shardax.errors.UnexpectedTracerError):
            shardax.jit(lambda x: kept[0])(1.0)


def test_arguments_that_are_no_arrays():
    with pytest.raises(
        TypeError, match=r"(?s)problematic value is of type <class 'str'> .* at path x\['a'\]\[0\]"
    ):
        shardax.jit(lambda x: x)({"a": ["text"]})
    with pytest.raises(
        OverflowError, match="argument path is b. Got <class 'int'> with value 1099511627776"
    ):
        shardax.jit(lambda a, b: a)(1, 2**40)
    with pytest.raises(
        TypeError,
        match=r"function f at .*test_tracer_errors.py:\d+ traced for jit returned a value of type "
        r"<class 'str'> at output component \[1\]",
    ):

        def f(x):
            return x, "text"

        shardax.jit(f)(1.0)


@pytest.mark.parametrize(
    "fun, argument",
    [
        (lambda n: jnp.arange(1, n), "It arose in the jnp.arange argument 'stop'"),
        (lambda n: jnp.linspace(0, 1, n), "argument 'num' of jnp.linspace"),
        (lambda n: jnp.sum(jnp.ones(3), axis=n), "The axis argument"),
        (lambda n: jnp.repeat(jnp.ones(3), n), "static value for `repeats`"),
        (lambda n: jnp.split(jnp.ones(4), n), "in jax.numpy.split argument 1"),
        (lambda n: shardax.nn.one_hot(0, n), "jax.nn.one_hot argument `num_classes`"),
    ],
)
def test_arguments_that_decide_a_shape(fun, argument):
    with pytest.raises(shardax.errors.ConcretizationTypeError) as error:
        shardax.jit(fun)(2)
    assert "concrete value is expected: traced array with shape int32[]" in str(error.value)
    assert argument in str(error.value) and "the value of the argument n." in str(error.value)
    assert "static_argnums" in str(error.value)


def closing_over(x, custom):
    """A function with a rule of its own that uses x, called with x."""
    f = custom(lambda y: x * y)
    if custom is shardax.custom_jvp:
        f.defjvp(lambda primals, tangents: (x * primals[0], x * tangents[0]))
    else:
        f.defvjp(lambda y: (x * y, y), lambda y, t: (x * t,))
    return f(x)


@pytest.mark.parametrize("custom", [shardax.custom_jvp, shardax.custom_vjp])
@pytest.mark.parametrize(
    "transform",
    [
        shardax.grad,
        lambda f: shardax.jit(shardax.grad(f)),
        lambda f: shardax.grad(shardax.jit(f)),
        lambda f: lambda x: shardax.vmap(shardax.grad(f))(x * jnp.ones(2)),
        lambda f: shardax.grad(lambda x: shardax.vmap(f)(x * jnp.ones(2)).sum()),
    ],
)
def test_rules_do_not_close_over_what_is_differentiated(custom, transform):
    def f(x):
        return closing_over(x, custom)

    assert float(shardax.jit(f)(2.0)) == 4
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="with respect to a closed-over"):
        transform(f)(2.0)


def test_tangents_do_not_pass_by_a_rule_that_closes_over_them():
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="with respect to a closed-over"):
        shardax.jvp(lambda x: closing_over(x, shardax.custom_jvp), (2.0,), (1.0,))


@pytest.mark.parametrize("custom", [shardax.custom_jvp, shardax.custom_vjp])
@pytest.mark.parametrize(
    "program",
    [
        lambda rule: shardax.grad(lambda a: rule(a)(1.0))(2.0),
        lambda rule: shardax.jvp(lambda a: rule(a)(1.0), (2.0,), (1.0,)),
        lambda rule: shardax.vmap(shardax.grad(lambda a: rule(a)(1.0)))(jnp.ones(3)),
        lambda rule: shardax.grad(lambda a: shardax.vmap(rule(a))(jnp.ones(3)).sum())(2.0),
        lambda rule: shardax.grad(lambda b: shardax.grad(lambda a: rule(b)(a))(1.0) * b)(2.0),
    ],
)
def test_derivatives_by_closed_over_values_alone_do_not_pass_by_a_rule(custom, program):
    def rule(a):
        @custom
        def f(x):
            return x * a

        if custom is shardax.custom_jvp:
            f.defjvp(lambda p, t: (f(p[0]), t[0] * 7))
        else:
            f.defvjp(lambda x: (f(x), None), lambda _, g: (g * 7,))
        return f

    with pytest.raises(shardax.errors.UnexpectedTracerError, match="with respect to a closed-over"):
        program(rule)


def test_traced_values_are_not_pickled():
    with pytest.raises(
        shardax.errors.ConcretizationTypeError, match=r"__reduce__\(\) method was c"
    ):
        shardax.jit(pickle.dumps)(0)


def test_errors_about_tracers_without_a_trace():
    class Mine(shardax.core.Tracer):
        pass

    error = shardax.errors.TracerIntegerConversionError(Mine(None))
    assert "The __index__() method was called on a Mine" in str(error)
    assert repr(Mine(None)) == str(Mine(None)) == f"{Mine(None)}" == "Mine()"
    with pytest.raises(
        shardax.errors.UnexpectedTracerError, match="a Mine was used where its trace"
    ):
        abs(Mine(None))
