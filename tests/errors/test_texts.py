"""tests/errors/test_texts.py - one row per text: the user's function, argument and values in it,
and the remedy."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.errors import (
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)

x = jnp.arange(4.0)
HERE = re.escape(__file__)
WHERE = rf"while tracing the function <lambda> at {HERE}:\d+ for jit\. .* value of the argument"


def jitted(f, argument=1.0, **options):
    return lambda: jax.jit(f, **options)(argument)


def last_scan(body):
    return lambda: lax.scan(body, 0.0, x)


ROWS = {
    # values of tracers
    "if": (jitted(lambda v: 1 if v else 2), TracerBoolConversionError, WHERE + " v"),
    "int": (jitted(int), ConcretizationTypeError, r"x\.astype\(int\)"),
    "float": (jitted(lambda v: float(v)), ConcretizationTypeError, WHERE + " v"),
    "index": (jitted(lambda v: [1, 2][v], 1), TracerIntegerConversionError, WHERE + " v"),
    "range": (jitted(lambda n: list(range(n)), 1), TracerIntegerConversionError, WHERE + " n"),
    "numpy": (jitted(lambda v: np.sin(v)), TracerArrayConversionError, WHERE + " v"),
    "mask": (
        jitted(lambda v: v[v > 0], x),
        NonConcreteBooleanIndexError,
        r"got bool\[4\].*" + WHERE,
    ),
    "nonzero": (
        jitted(lambda v: jnp.nonzero(v), x),
        ConcretizationTypeError,
        r"traced array with shape float32\[4\]\n.*The size argument of jnp.nonzero must be "
        r"statically specified.*\n.*" + WHERE + " v",
    ),
    "unique": (jitted(lambda v: jnp.unique(v), x), ConcretizationTypeError, WHERE + " v"),
    "traced axis": (
        lambda: jax.jit(lambda v, axis: v.min(axis))(x, 0),
        ConcretizationTypeError,
        r"int32\[\]\nThe axis argument must be known statically.*static_argnums\.\n.*"
        + WHERE
        + " axis",
    ),
    "arange": (
        jitted(lambda n: jnp.arange(n), 3),
        ConcretizationTypeError,
        "It arose in the jnp.arange argument 'stop'.*static_argnums.*" + WHERE + " n",
    ),
    "shape of draws": (
        jitted(lambda n: jax.random.normal(jax.random.key(0), (n,)), 3),
        TypeError,
        r"Shapes must be 1D sequences.*JitTracer\(~int32\[\]\).*static_argnums.*" + WHERE + " n",
    ),
    "documentation": (
        jitted(lambda v: 1 if v else 2),
        TracerBoolConversionError,
        r"\nSee help\(shardax\.errors\.TracerBoolConversionError\) or "
        r"https://docs\.jax\.dev/\S+#jax\.errors\.TracerBoolConversionError(\n|$)",
    ),
    "segments": (
        jitted(lambda v: jax.ops.segment_sum(v, v), jnp.arange(3)),
        ConcretizationTypeError,
        "num_segments argument.*" + WHERE + " v",
    ),
    "scan length": (
        jitted(lambda n: lax.scan(lambda c, _: (c, c), 0, length=n), 2),
        ConcretizationTypeError,
        "`length` argument to `scan` expects a concrete `int` value.*" + WHERE + " n",
    ),
    # jit
    "static list": (
        lambda: jax.jit(lambda v, n: v, static_argnums=1)(1.0, [1]),
        ValueError,
        r"Static argument \(index 1\) of type <class 'list'> for .*<lambda>.*a tuple",
    ),
    "text": (jitted(lambda v: v, "a"), TypeError, r"<class 'str'> .* at path v\..*static_argnums"),
    "static position": (
        jitted(lambda v: v, static_argnums=3),
        ValueError,
        r"static_argnums=\(3,\), but only accepts 1 positional",
    ),
    "static name": (
        jitted(lambda v: v, static_argnames="y"),
        ValueError,
        "invalid argnames {'y'} in static_argnames",
    ),
    # grad, jvp, vjp
    "grad of a vector": (lambda: jax.grad(lambda v: v)(x), TypeError, r"Output had shape: \(4,\)"),
    "grad by an integer": (lambda: jax.grad(lambda v: v * 1.0)(1), TypeError, "allow_int to True"),
    "grad argnums": (
        lambda: jax.grad(lambda v: v, 3)(1.0),
        TypeError,
        "argnums=3 requires at least 4 positional arguments .* got only 1",
    ),
    "grad of an integer": (
        lambda: jax.grad(lambda v: v.astype(int))(1.0),
        TypeError,
        "real-valued outputs .* got int32.*vjp",
    ),
    "grad of while": (
        lambda: jax.grad(lambda c: lax.while_loop(lambda v: v < 3, lambda v: v * 2, c))(1.0),
        ValueError,
        "Reverse-mode .* lax.while_loop .* Try using lax.scan",
    ),
    "jvp dtype": (
        lambda: jax.jvp(jnp.sin, (1.0,), (1,)),
        TypeError,
        "expected tangent dtype float32, but got tangent dtype int32",
    ),
    "jvp tree": (
        lambda: jax.jvp(jnp.sin, (1.0,), [1.0]),
        TypeError,
        r"PyTreeDef\(\(\*,\)\) whereas tangents have tree structure PyTreeDef\(\[\*\]\)",
    ),
    "jvp shape": (
        lambda: jax.jvp(jnp.sin, (1.0,), (x,)),
        ValueError,
        r"primal shape \(\) and tangent shape as \(4,\)",
    ),
    "vjp type": (
        lambda: jax.vjp(jnp.sin, 1.0)[1](x),
        ValueError,
        r"got float32\[4\], but expected float32\[\]",
    ),
    "vjp tree": (
        lambda: jax.vjp(jnp.sin, 1.0)[1]((1.0,)),
        ValueError,
        r"the differentiated function sin, PyTreeDef\(\*\), but got PyTreeDef\(\(\*,\)\)",
    ),
    "jvp argument": (
        lambda: jax.jvp(jnp.sin, (x,), np.ones(4)),
        TypeError,
        "must be tuples or lists; found tuple and ndarray",
    ),
    "transpose of integers": (
        lambda: jax.linear_transpose(lambda v: 2.0 * v, 1),
        TypeError,
        r"only supports \[float or complex\] .* got \(int32\[\],\) -> \(float32\[\],\)",
    ),
    # vmap
    "vmap sizes": (
        lambda: jax.vmap(lambda a, b: a)(x, jnp.ones(3)),
        ValueError,
        r"size 4: axis 0 of argument a of type float32\[4\];.* size 3: axis 0 of argument b",
    ),
    "vmap keyword": (
        lambda: jax.vmap(lambda a, b: a)(x, b=jnp.ones(3)),
        ValueError,
        r"axis 0 of kwargs\['b'\]",
    ),
    "vmap in_axes": (
        lambda: jax.vmap(lambda a, b: a, in_axes=(0,))(x, x),
        ValueError,
        r"len\(in_axes\)=1, len\(args\)=2",
    ),
    "vmap rank": (
        lambda: jax.vmap(lambda a: a, in_axes=2)(x),
        ValueError,
        r"axis 2, .* at least 3, but is only 1 .*argument a\. .* None in in_axes",
    ),
    "vmap out_axes": (
        lambda: jax.vmap(lambda a: a, out_axes=None)(x),
        ValueError,
        "axis spec None but output was batched on axis 0",
    ),
    # control flow
    "scan tree": (last_scan(lambda c, a: ((c, c), a)), TypeError, "The input carry c is .*tuple"),
    "scan dtype": (
        last_scan(lambda c, a: (c.astype(int), a)),
        TypeError,
        r"The input carry c has type float32\[\] .* int32\[\], so the dtypes do not match.*Revise",
    ),
    "scan shape": (last_scan(lambda c, a: (x, a)), TypeError, "so the shapes do not match"),
    "scan pair": (last_scan(lambda c, a: c), TypeError, "output must be a pair"),
    "scan lengths": (
        lambda: lax.scan(lambda c, a: (c, a), 0.0, (x, jnp.ones(3))),
        ValueError,
        "different leading axis sizes: 4, 3",
    ),
    "while dtype": (
        lambda: lax.while_loop(lambda c: c < 3, lambda c: c.astype(int), 0.0),
        TypeError,
        r"while_loop body .* float32\[\] .* int32\[\]",
    ),
    "while condition": (
        lambda: lax.while_loop(lambda c: x > 1, lambda c: c, 0.0),
        TypeError,
        r"cond_fun must return a boolean scalar, but got .*bool\[4\]",
    ),
    "cond types": (
        lambda: lax.cond(True, lambda: 1.0, lambda: 1),
        TypeError,
        rf"true_fun is <lambda> at {HERE}:\d+.* float32\[\] .* int32\[\], so the dtypes",
    ),
    "cond trees": (
        lambda: lax.cond(True, lambda: (1.0,), lambda: 1.0),
        TypeError,
        "true_fun output is a <class 'tuple'> but false_fun output is a pytree leaf",
    ),
    "cond predicate": (
        lambda: lax.cond(x, lambda: 1.0, lambda: 1.0),
        TypeError,
        r"Pred must be a scalar, got .* of shape \(4,\)",
    ),
    "switch index": (
        lambda: lax.switch(1.5, [lambda: 1.0, lambda: 2.0]),
        TypeError,
        "Index type must be an integer, got 1.5 as float32",
    ),
    # axes and devices
    "no axis": (lambda: lax.psum(x, "i"), NameError, "axis name: i. .*No mapped axis is in scope"),
    "other axis": (
        lambda: jax.pmap(lambda v: lax.psum(v, "j"), "i")(x),
        NameError,
        r"axis name: j. .*The axes in scope are: i\. .*axis_name='j'",
    ),
    "too many slices": (
        lambda: jax.pmap(lambda v: v)(jnp.zeros(1000)),
        ValueError,
        r"1000 mapped slices need 1000 devices.*config\.update\(\"jax_num_cpu_devices\", 1000\)",
    ),
    "device_put tree": (
        lambda: jax.device_put({"a": x, "b": x}, {"a": [None], "b": (None, None)}),
        ValueError,
        r"Mismatch details \(2 found\):.*device\['a'\].*different types.*device\['b'\]",
    ),
    "device_put place": (
        lambda: jax.device_put(x, "cpu"),
        ValueError,
        "Received invalid value 'cpu' for the device argument; expected None, a Device",
    ),
    # arrays
    "masked array": (
        lambda: jax.jit(lambda v: v)(np.ma.array([1, 2], mask=[True, False])),
        ValueError,
        r"masked arrays are not supported .* Use arr\.filled\(\)",
    ),
    "float0": (
        lambda: jax.grad(lambda v: v * 1.0, allow_int=True)(1) + x,
        TypeError,
        "float0s do not support any operations by design.*gradient with respect to an integer",
    ),
    "float0 op": (
        lambda: lax.exp(jax.grad(lambda v: v * 1.0, allow_int=True)(1)),
        TypeError,
        "Called exp with a float0 array",
    ),
    "shape": (
        jitted(lambda n: jnp.zeros(n), 1),
        TypeError,
        r"got \(JitTracer\(~int32\[\]\),\)\.\nIf using `jit`.*" + WHERE + " n",
    ),
    "reshape to": (
        jitted(lambda n: x.reshape(n, -1), 1),
        TypeError,
        "Shapes must be 1D sequences .*" + WHERE + " n",
    ),
    "sharding": (
        jitted(lambda v: v.sharding),
        AttributeError,
        r"on tracers, use `jax\.typeof\(x\)`.*" + WHERE + " v",
    ),
    "broadcast": (
        lambda: x + jnp.ones(3),
        TypeError,
        r"add got incompatible shapes .*\(4,\), \(3,\)",
    ),
    "matmul": (
        lambda: jnp.ones((2, 3)) @ jnp.ones((2, 3)),
        TypeError,
        r"contracting dimensions to have the same shape, got \(3,\) and \(2,\)",
    ),
    "reshape": (
        lambda: x.reshape(3, 2),
        TypeError,
        r"\(4,\) \(size 4\) into shape \(3, 2\) \(size 6\)",
    ),
    "concatenate": (
        lambda: jnp.concatenate([jnp.ones((2, 2)), jnp.ones((3, 3))]),
        TypeError,
        r"dimension 0 for shapes \(2, 2\), \(3, 3\)",
    ),
    "slice indices": (
        lambda: lax.dynamic_slice(x, (0, 0), (2,)),
        ValueError,
        r"must match number of operand dimensions \(2 vs \(4,\)\)",
    ),
    "array of slice indices": (
        lambda: lax.dynamic_update_slice(x, x, jnp.array([0, 0])),
        ValueError,
        r"indices of shape \(2,\) for an operand of shape \(4,\)",
    ),
    "assignment": (lambda: x.__setitem__(0, 1), TypeError, r"x = x\.at\[idx\]\.set\(y\)"),
    "axis": (lambda: jnp.sum(x, axis=2), ValueError, "axis 2 is out of bounds .* dimension 1"),
    "strings": (lambda: jnp.array(["a"]), TypeError, "'a' with dtype <U1 is not a valid"),
}


@pytest.mark.parametrize("row", ROWS)
def test_text(row):
    run, error, pattern = ROWS[row]
    with pytest.raises(error, match=f"(?s){pattern}"):
        run()


def test_deleted_arrays():
    given = jnp.ones(3)
    jax.jit(lambda v: v * 2, donate_argnums=0)(given)
    with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[3\]"):
        given + 1


def test_leaked_tracers_name_the_function():
    kept = []

    def leak(v):
        kept.append(v * 2)
        return v

    for transform, argument in ((jax.jit, 1.0), (jax.pmap, x), (jax.vmap, x), (jax.grad, 1.0)):
        transform(leak)(argument)
        with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
            kept[-1] + 1
        text = str(caught.value)
        assert "escape the scope" in text and "Return the value from the function" in text
        if transform in (jax.jit, jax.pmap):
            name = transform.__name__
            assert f"the value leaked was leak at {__file__}:" in text
            assert f"traced for {name}." in text and "wrapped in a DynamicJaxprTracer" in text
            line = leak.__code__.co_firstlineno + 1
            name = rf"({leak.__qualname__}|leak)"  # Python 3.10 has neither this nor columns
            where = rf"created on line {HERE}:{line}(:\d+)? \({name}\)\."
            assert re.search(where, text)


def test_exceptions_of_the_user_pass_unchanged():
    class Mine(Exception):
        pass

    def fail(v):
        raise Mine("as it was")

    for call in (
        lambda: jax.jit(fail)(1.0),
        lambda: jax.pmap(fail)(x),
        lambda: jax.vmap(fail)(x),
        lambda: jax.grad(fail)(1.0),
        lambda: lax.scan(lambda c, a: fail(c), 0.0, x),
        lambda: lax.cond(True, fail, fail, 1.0),
        lambda: jax.checkpoint(fail)(1.0),
    ):
        with pytest.raises(Mine, match="^as it was"):
            call()


@pytest.mark.parametrize("name", ["JAXTypeError", "JAXIndexError", "UnexpectedTracerError"])
def test_errors_say_where_they_are_explained(name):
    assert f"errors.html#jax.errors.{name}" in str(getattr(jax.errors, name)("it is wrong"))
