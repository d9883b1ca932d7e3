"""tests/api/test_jit.py - jit: signatures, static arguments, donation, stages, methods."""

import functools
import gc
import warnings
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.experimental import checkify


def counted(f):
    """f, and a list that grows with each call of it."""
    calls = []

    @functools.wraps(f)
    def g(*args, **kwargs):
        calls.append(1)
        return f(*args, **kwargs)

    return g, calls


def test_one_trace_per_signature():
    f, calls = counted(lambda x: x * 2)
    g = shardax.jit(f)
    for value in (
        1.0,
        2.0,
        jnp.float32(3),
        np.float32(3),
        jnp.ones(3),
        np.ones(3),
        np.ones(3, np.float32),
    ):
        np.testing.assert_allclose(g(value), 2 * np.asarray(value))
    assert len(calls) == 3  # a weak scalar, a strong one, a vector
    assert g._cache_size() == 3
    g.clear_cache()
    assert g._cache_size() == 0
    g(1.0)
    assert len(calls) == 4


def test_structure_is_part_of_the_signature():
    f, calls = counted(lambda t, **kwargs: (t, kwargs))
    g = shardax.jit(f)
    g({"a": 1.0, "b": [2.0]}, k=1.0)
    g({"b": [2.0], "a": 1.0}, k=1.0)
    assert len(calls) == 1
    g({"a": 1.0, "b": (2.0,)}, k=1.0)
    g({"a": 1.0, "b": [2.0]}, other=1.0)
    assert len(calls) == 3


def test_functions_made_from_one_share_programs():
    f, calls = counted(lambda x: x + 1)
    for _ in range(3):
        shardax.jit(f)(1.0)
    assert len(calls) == 1


def test_caches_do_not_keep_functions_alive():
    def f(x):
        return x

    alive = weakref.ref(f)
    shardax.jit(f)(1.0)
    del f
    gc.collect()
    assert alive() is None


def test_a_recursive_closure_is_collected():
    def make():
        @shardax.jit
        def f(x, n=0):
            return x if n else g(x)

        def g(x):
            return f(x)

        return weakref.ref(f)

    alive = make()
    gc.collect()
    assert alive() is None


def test_settings_are_part_of_the_signature():
    g = shardax.jit(lambda x: x + jnp.asarray(np.float64(1)))
    assert g(jnp.float32(1)).dtype == np.float32
    with shardax.enable_x64():
        assert g(jnp.float32(1)).dtype == np.float64
    assert g(jnp.float32(1)).dtype == np.float32


@pytest.mark.parametrize(
    "options, args, kwargs",
    [
        ({"static_argnums": 1}, (2.0, 3), {}),
        ({"static_argnums": -1}, (2.0, 3), {}),
        ({"static_argnums": (1, 1)}, (2.0, 3), {}),
        ({"static_argnums": 1}, (2.0,), {"n": 3}),
        ({"static_argnames": "n"}, (2.0, 3), {}),
        ({"static_argnames": ["n"]}, (2.0,), {"n": 3}),
    ],
)
def test_static_arguments(options, args, kwargs):
    def f(x, n=1):
        assert type(n) is int
        return x * n

    f, calls = counted(f)
    g = shardax.jit(f, **options)
    assert float(g(*args, **kwargs)) == 6
    g(*args, **kwargs)
    assert len(calls) == 1


def test_static_values_of_different_types_differ():
    g = shardax.jit(lambda x, n: x if n is True else x + 1, static_argnums=1)
    assert float(g(1.0, True)) == 1
    assert float(g(1.0, 1)) == 2


def test_static_argument_errors():
    f = shardax.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(
        ValueError,
        match=r"Non-hashable static arguments are not supported.*index 1.*<class 'list'>",
    ):
        f(1.0, [1])
    with pytest.raises(ValueError, match=r"static_argnums=\(5,\), but only accepts 2 positional"):
        shardax.jit(lambda x, n: x, static_argnums=5)
    with pytest.raises(ValueError, match="invalid argnames {'z'} in static_argnames"):
        shardax.jit(lambda x, n: x, static_argnames="z")
    with pytest.raises(ValueError, match="cannot intersect"):
        shardax.jit(lambda x, n: x, static_argnums=0, donate_argnums=0)


def test_methods_partials_and_decorators():
    class C:
        scale = 3.0

        @functools.partial(shardax.jit, static_argnums=0)
        def f(self, x):
            return x * self.scale

        @shardax.jit
        def __call__(x):
            return x

    c = C()
    assert float(c.f(2.0)) == 6
    assert float(C.f(c, 2.0)) == 6
    assert float(shardax.jit(functools.partial(lambda a, b: a - b, 1.0))(3.0)) == -2
    assert float(shardax.jit(c.f)(2.0)) == 6
    assert float(shardax.jit(static_argnums=1)(lambda x, n: x * n)(2.0, 2)) == 4


def test_attributes():
    def f(x):
        """The doc."""

    g = shardax.jit(f)
    assert (g.__name__, g.__doc__, g.__wrapped__, g.__module__) == ("f", "The doc.", f, __name__)
    assert repr(g) == f"<PjitFunction of {f!r}>"
    with pytest.raises(TypeError, match="Expected a callable value, got 3"):
        shardax.jit(3)


def test_results():
    out = shardax.jit(lambda x: {"a": x, "b": (None, 2, True, np.ones(2))})(1.0)
    assert out["b"][0] is None
    assert repr(out["b"][1]) == "Array(2, dtype=int32, weak_type=True)"
    assert out["b"][2].dtype == bool and out["b"][3].dtype == np.float32


def test_results_do_not_share_identity_with_arguments():
    x = jnp.arange(3.0)
    y = shardax.jit(lambda x: x)(x)
    x.delete()
    np.testing.assert_array_equal(y, [0, 1, 2])


def test_donation():
    x = jnp.ones(3)
    view = x[0]
    y = shardax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted() and float(view) == 1
    np.testing.assert_array_equal(y, [2, 2, 2])
    with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[3\]"):
        x + 1
    z = jnp.ones(3)
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: float32\[3\]"):
        shardax.jit(lambda x: x.sum(), donate_argnums=0)(z)
    assert not z.is_deleted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shardax.jit(lambda x: x, donate_argnames="x")(x=z)
    assert z.is_deleted()


def test_nesting_and_closures_over_tracers():
    f, calls = counted(lambda x: x * 2)
    inner = shardax.jit(f)
    outer = shardax.jit(lambda x: inner(x) + inner(x + 1))
    assert float(outer(1.0)) == 6
    assert len(calls) == 1
    assert float(shardax.grad(lambda x: shardax.jit(lambda y: x * y)(3.0))(2.0)) == 3


def test_users_exceptions_pass_unchanged():
    class Mine(Exception):
        pass

    def f(x):
        raise Mine("text")

    for transform in (shardax.jit, shardax.vmap, shardax.pmap, shardax.make_jaxpr):
        with pytest.raises(Mine, match="^text"):
            transform(f)(jnp.ones(3))
    with pytest.raises(Mine):
        shardax.grad(f)(1.0)
    assert float(shardax.jit(lambda x: x)(1.0)) == 1  # no trace is left behind


def test_stages():
    f = shardax.jit(lambda x, n: x * n, static_argnums=1)
    compiled = f.lower(1.0, 3).compile()
    assert isinstance(f, shardax.stages.Wrapped)
    assert float(compiled(2.0)) == 6
    assert "mul" in f.lower(1.0, 3).as_text()
    assert len(f.trace(1.0, 3).jaxpr.eqns) == 1
    assert f.eval_shape(jnp.ones(4), 2).shape == (4,)
    struct = shardax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert f.lower(struct, 2).out_info == struct
    assert str(compiled.in_avals) == "((ShapedArray(float32[], weak_type=True),), {})"
    named = shardax.jit(lambda x, *, n, y: x * n + y, static_argnames="n", donate_argnames="y")
    lowered = named.lower(1.0, n=2, y=jnp.ones(3))
    assert lowered.donate_argnums == (1,)
    info = lowered.args_info[1]["y"]
    assert (info.shape, info.dtype, info.donated) == ((3,), jnp.float32, True)
    y = jnp.ones(3)
    assert lowered.compile()(3.0, y=y).tolist() == [7, 7, 7]
    assert y.is_deleted()


def test_wrong_calls_of_compiled_functions():
    compiled = shardax.jit(lambda x, n: x * n, static_argnums=1).lower(1.0, 3).compile()
    with pytest.raises(
        TypeError, match=r"Argument 'x' compiled with float32\[\] and called with float32\[2\]"
    ):
        compiled(jnp.ones(2))
    with pytest.raises(
        TypeError,
        match="(?s)input pytree .* 1 mismatches.* at args, seen a tuple of length 1 but now",
    ):
        compiled(1.0, 3)
    with pytest.raises(TypeError, match="Cannot apply JAX transformations"):
        shardax.vmap(compiled)(jnp.ones(2))
    with pytest.raises(shardax.errors.JaxRuntimeError, match="No such compile option: 'fast'"):
        shardax.jit(lambda x: x).lower(1).compile({"fast": True})


def test_inlined_functions_leave_no_call():
    @functools.partial(shardax.jit, inline=True)
    def f(x):
        return jnp.sin(x) * 2

    for g in (f, shardax.grad(f), shardax.jit(f), lambda x: shardax.jvp(f, (x,), (x,))):
        equations = shardax.make_jaxpr(g)(1.0).eqns
        if len(equations) == 1:  # the outer jit
            equations = equations[0].params["jaxpr"].eqns
        assert not any(str(e.primitive) == "jit" for e in equations)
    assert float(shardax.vmap(f)(jnp.zeros(3))[1]) == 0


def test_what_cannot_be_jitted():
    def generator(x):
        yield x

    for transform in (shardax.jit, shardax.grad, shardax.vmap):
        with pytest.raises(TypeError, match="Expected a function, got a generator function: "):
            transform(generator)
    with pytest.raises(TypeError, match="staticmethod arguments are not supported, got "):
        shardax.jit(staticmethod(lambda x: x))

    def f(a, /, b, *rest, c):
        return a

    for names in (("a", "c"), ("rest", "c")):
        with pytest.raises(ValueError, match="invalid argnames .* positional-only"):
            shardax.jit(f, static_argnames=names)

    class NoSignature:
        @property
        def __signature__(self):
            raise TypeError("none")

        def __call__(self, *args, **kwargs):
            return None

    with pytest.raises(ValueError, match="Getting the signature of function .* failed. Pass "):
        shardax.jit(NoSignature(), donate_argnames="x")


def test_an_array_donated_beside_its_use():
    x = jnp.ones(3)
    f = shardax.jit(lambda x, y: x + y, donate_argnums=0)
    for _ in range(2):  # staged, and found again
        with pytest.raises(RuntimeError, match=r"leaves 0 and 1 of the arguments are one array"):
            f(x, x)
    assert not x.is_deleted()
    g = shardax.pmap(lambda x, y: x + y, donate_argnums=0)
    with pytest.raises(RuntimeError, match="one array of type float32"):
        g(*[jnp.ones((2, 3))] * 2)
    assert f(x, jnp.ones(3)).tolist() == [2, 2, 2] and x.is_deleted()


def test_leaked_tracers_are_found():
    kept = []

    def f(x):
        kept.append(x)
        return x * 2

    with shardax.checking_leaks():
        for transform in (shardax.jit, shardax.pmap):
            with pytest.raises(Exception, match=r"Leaked trace Dynamic.*\(s\): 1 outlived .*f"):
                transform(f)(np.ones(1, np.float32))
            kept.clear()
        with pytest.raises(Exception, match="for scan: JitTracer"):
            shardax.lax.scan(lambda c, _: (f(c), None), 1.0, None, length=2)
        assert float(shardax.jit(lambda x: shardax.grad(jnp.sin)(x) + 1)(0.0)) == 2
    assert float(shardax.jit(f)(1.0)) == 2


def test_leaked_tracers_of_vmap_are_found():
    kept = []

    def f(x):
        kept.append(x)
        return x

    with shardax.checking_leaks():
        with pytest.raises(
            Exception, match=r"Leaked trace BatchTrace.*\(s\): 1 .*f at .* for vmap"
        ):
            shardax.vmap(f)(jnp.arange(3.0))
        kept.clear()
        with pytest.raises(Exception, match="Leaked trace BatchTrace"):
            shardax.vmap(lambda x: f(x + 1).sum())(jnp.ones((2, 3)))
        kept.clear()
        twice = shardax.vmap(shardax.vmap(shardax.grad(jnp.sin)), axis_name="i")
        np.testing.assert_allclose(twice(jnp.zeros((2, 3))), jnp.ones((2, 3)))
        assert shardax.vmap(lambda x: (x, "one")[0])(jnp.arange(3)).tolist() == [0, 1, 2]
    assert shardax.vmap(f)(jnp.arange(3)).tolist() == [0, 1, 2]


def test_eval_shape_and_make_jaxpr():
    out = shardax.eval_shape(lambda x: {"a": x.sum()}, shardax.ShapeDtypeStruct((2,), "int8"))
    assert repr(out) == "{'a': ShapeDtypeStruct(shape=(), dtype=int32)}"
    program = shardax.make_jaxpr(lambda x: x * 2.0 + 1.0)(1.0)
    assert str(program).split() == (
        "{ lambda ; a:f32[]. let b:f32[] = mul a 2.0:f32[] "
        "c:f32[] = add b 1.0:f32[] in (c,) }".split()
    )
    assert [e.primitive.name for e in program.eqns] == ["mul", "add"]
    assert str(program.in_avals) == "[ShapedArray(float32[], weak_type=True)]"


def test_disable_jit():
    with shardax.disable_jit():
        assert shardax.jit(lambda x: bool(x > 0))(1.0) is True


@pytest.mark.parametrize("weak", [True, False])
def test_conversions_that_change_only_the_weak_type(weak):
    def convert(x):
        return shardax.lax.convert_element_type_p.bind(
            x, new_dtype=np.dtype("float32"), weak_type=weak
        )

    x = shardax.numpy.full(2, 2.5) if not weak else shardax.numpy.ones(2)
    assert x.weak_type is not weak
    for transform in (
        lambda f: f,
        shardax.jit,
        shardax.vmap,
        lambda f: lambda x: shardax.vjp(f, x)[0],
    ):
        assert transform(convert)(x).weak_type is weak


def test_weak_types_of_results_are_those_of_the_program():
    assert not shardax.jit(lambda x: x.astype("float32"))(2.0).weak_type
    assert shardax.jit(lambda x: x * 2)(2.0).weak_type


def test_positions_and_names_of_static_arguments_may_disagree():
    seen = []

    def f(x, y):
        seen.append([isinstance(v, shardax.core.Tracer) for v in (x, y)])
        return 1

    by_position = shardax.jit(f, static_argnums=1, static_argnames=())
    by_name = shardax.jit(f, static_argnums=(), static_argnames="y")
    by_position(1, 2), by_position(1, y=2), by_name(1, 2), by_name(1, y=2)
    assert seen == [[True, False], [True, True], [True, True], [True, False]]


def test_log_of_compilations(caplog):
    f = shardax.jit(lambda x: shardax.numpy.where(x > 0, x, 0))
    x = shardax.numpy.ones(3)
    with shardax.log_compiles():
        f(x)
        f(x + 1)  # known
        shardax.pmap(lambda x: x)(x)
    f(shardax.numpy.ones(4))
    lines = [line for line in caplog.messages if line.startswith("Compiling")]
    assert lines == [
        f"Compiling {name}(<lambda>) with global shapes and types (ShapedArray(float32[3]),)."
        for name in ("jit", "pmap")
    ]
    assert "Finished tracing <lambda> for jit in 0.0" in caplog.text
    assert "Finished XLA compilation of jit(<lambda>) in 0.0" in caplog.text


def test_programs_keep_the_memory_of_arrays_that_are_deleted_later():
    x = jnp.arange(3.0)
    compiled = shardax.jit(lambda: x + 1)
    assert compiled().tolist() == [1.0, 2.0, 3.0]
    _, tangents = shardax.linearize(lambda y: x * y, jnp.ones(3))
    x.delete()
    others = [jnp.full(3, 7.0) for _ in range(8)]
    assert compiled().tolist() == [1.0, 2.0, 3.0]
    assert tangents(jnp.ones(3)).tolist() == [0.0, 1.0, 2.0]
    assert len(others) == 8
    with pytest.raises(RuntimeError, match="Array has been deleted"):
        shardax.jit(lambda: x + 1)()


@pytest.mark.parametrize("inner", [shardax.jit, shardax.pmap])
def test_donation_to_a_call_that_is_only_traced_takes_nothing(inner):
    donating = inner(lambda x: x + 1, donate_argnums=0)
    for outer in (
        shardax.jit,
        shardax.checkpoint,
        lambda f: lambda: shardax.make_jaxpr(f)() and f(),
    ):
        x = jnp.arange(3.0)[None]
        out = outer(lambda: donating(x) * 1)()  # noqa: B023
        assert out.tolist() == [[1.0, 2.0, 3.0]]
    err, out = checkify.checkify(donating)(jnp.arange(3.0)[None])
    assert err.get() is None and out.tolist() == [[1.0, 2.0, 3.0]]


def test_deletion_by_the_function_that_is_traced():
    x = jnp.arange(3.0)

    def f():
        out = x + 1
        x.delete()
        return out

    with pytest.raises(RuntimeError, match="deleted or donated by the function that uses it"):
        shardax.make_jaxpr(lambda: shardax.jit(lambda y: f() + y)(1.0))()


def test_functions_without_a_text():
    class Nameless:
        def __call__(self, x):
            return x + 1

        def __repr__(self):
            raise ValueError("no text")

    f = shardax.jit(Nameless())
    assert repr(f) == "<PjitFunction>" and f(1) == 2


def test_a_signature_is_traced_once_by_calls_and_stages():
    traced = []

    @shardax.jit
    def f(x):
        traced.append(x)
        return x * 2

    x = jnp.ones(3)
    f.lower(x)
    f.lower(shardax.ShapeDtypeStruct((3,), jnp.float32)).compile()
    f.trace(x)
    f(x)
    shardax.eval_shape(f, x)
    shardax.make_jaxpr(f)(x)
    assert len(traced) == 1
    f.clear_cache()
    f.lower(x)
    assert len(traced) == 2


@pytest.mark.parametrize("fun", [jnp.dot, lambda x, y: jnp.exp(y)])
def test_residuals_that_are_operands_or_results_are_no_others(fun):
    """The known half of a call gives its results alone; the linear half takes them."""
    fun = shardax.jit(fun)

    def both(x, y):
        out, tangents = shardax.linearize(lambda y: fun(x, y), y)
        return out, tangents(y)

    x = jnp.arange(9.0).reshape(3, 3)
    known, linear = shardax.make_jaxpr(both)(x, x).eqns
    assert len(known.outvars) == 1
    assert set(linear.invars) <= {*known.invars, *known.outvars}
    want = shardax.jvp(lambda y: fun(x, y), (x,), (x,))
    for a, b in zip(both(x, x), want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_backends_that_are_not_there_are_refused():
    with pytest.raises(RuntimeError, match="Unknown backend: 'gpu' requested, .* present are: cpu"):
        shardax.jit(lambda x: x, backend="gpu")
    assert shardax.jit(lambda x: x + 1, backend="cpu")(1.0) == 2
