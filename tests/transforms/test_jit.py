"""tests/transforms/test_jit.py - jit: signatures, static arguments, results, methods, leaked
tracers."""

import functools
import gc
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


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


def test_functions_without_a_text():
    class Nameless:
        def __call__(self, x):
            return x + 1

        def __repr__(self):
            raise ValueError("no text")

    f = shardax.jit(Nameless())
    assert repr(f) == "<PjitFunction>" and f(1) == 2


def test_backends_that_are_not_there_are_refused():
    with pytest.raises(RuntimeError, match="Unknown backend: 'gpu' requested, .* present are: cpu"):
        shardax.jit(lambda x: x, backend="gpu")
    assert shardax.jit(lambda x: x + 1, backend="cpu")(1.0) == 2
