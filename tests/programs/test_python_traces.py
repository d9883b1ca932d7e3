"""tests/programs/test_python_traces.py - traces and tracers whose classes users write in Python."""

import functools
import gc
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import core, lax
from shardax.extend.linear_util import wrap_init


class LoggedTracer(core.Tracer):
    __slots__ = ("val",)

    def __init__(self, trace, val):
        super().__init__(trace, shardax.typeof(val))
        self.val = val


class LazyTracer(core.Tracer):
    """Without the constructor of its base: its type is asked for later."""

    __slots__ = ("val",)

    def __init__(self, trace, val):
        self._trace = trace
        self.val = val

    @property
    def aval(self):
        return shardax.typeof(self.val)


class Logged(core.Trace):
    """Does what its parent does, and keeps the names of ops."""

    def __init__(self, parent, tracer=LoggedTracer):
        super().__init__()
        self.parent, self.tracer, self.log = parent, tracer, []

    def inner(self, x):
        return x.val if isinstance(x, self.tracer) else x

    def outer(self, x):
        return self.tracer(self, x)

    def process_primitive(self, primitive, tracers, params):
        self.log.append(primitive.name)
        with core.set_current_trace(self.parent):
            out = primitive.bind(*map(self.inner, tracers), **params)
        if primitive.multiple_results:
            return [self.outer(x) for x in out]
        return self.outer(out)

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        self.log.append("custom_jvp")
        values = [self.inner(t) for t in tracers]
        params = {"subfuns": (fun, jvp), "symbolic_zeros": symbolic_zeros}
        avals = [shardax.typeof(x) for x in values]
        return [
            self.outer(x) for x in primitive.bind_with_trace(self.parent, values, avals, params)
        ]


def logged(f, *args, tracer=LoggedTracer, trace=Logged):
    """(f(*args), the ops that it binds)."""
    with core.take_current_trace() as parent:
        trace = trace(parent, tracer)
        with core.set_current_trace(trace):
            out = f(*(trace.outer(x) for x in args))
        out = shardax.tree.map(trace.inner, out, is_leaf=lambda x: isinstance(x, tracer))
    return out, trace.log


def equal(x, expected):
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-6)


@pytest.mark.parametrize("tracer", [LoggedTracer, LazyTracer])
def test_ops_go_to_the_trace(tracer):
    def f(x, y):
        assert isinstance(x, tracer) and isinstance(x, shardax.Array)
        assert (x.shape, x.dtype, x.ndim, len(x)) == ((3,), jnp.float32, 1, 3)
        return jnp.sin(x) * y + 1

    x = jnp.arange(3.0)
    out, log = logged(f, x, x, tracer=tracer)
    equal(out, np.sin(x) * x + 1)
    assert log == ["sin", "mul", "add"]


def test_ops_on_plain_arrays_do_too():
    out, log = logged(lambda: lax.add(jnp.ones(2), 1.0))
    equal(out, [2, 2])
    assert log[-1] == "add"


def test_functions_with_programs_are_one_op():
    inner = shardax.jit(lambda x: x * 2)

    def f(x):
        y = inner(x)
        return lax.scan(lambda c, a: (c + a, c * x.sum()), 0.0, y), lax.cond(
            y[0] > 0, lambda v: v, lambda v: -v, y
        )

    x = jnp.arange(3.0)
    ((last, ys), chosen), log = logged(f, x)
    equal(last, 6)
    equal(ys, [0, 0, 6])
    equal(chosen, [0, -2, -4])
    assert log.count("scan") == 1 and log.count("cond") == 1 and "jit" in log


def test_jit_params_are_those_of_jax():
    seen = {}

    class Seeing(Logged):
        def process_primitive(self, primitive, tracers, params):
            seen[primitive.name] = params
            return super().process_primitive(primitive, tracers, params)

    x = jnp.ones(2)
    with core.take_current_trace() as parent:
        trace = Seeing(parent)
        with core.set_current_trace(trace):
            out = shardax.jit(lambda x: x + 1)(trace.outer(x))
    equal(out.val, [2, 2])
    assert seen["jit"]["inline"] is False and seen["jit"]["donated_invars"] == (False,)
    assert seen["jit"]["jaxpr"].eqns[0].primitive.name == "add"


@pytest.mark.parametrize(
    "transform, args, expected",
    [
        (shardax.jit, (2.0,), 4 * np.cos(2.0)),
        (lambda f: shardax.vmap(f), (np.arange(3.0, dtype=np.float32),), None),
        (lambda f: shardax.grad(f), (2.0,), 2 * np.cos(2.0) - 2 * 2 * np.sin(2.0)),
        (lambda f: shardax.jit(shardax.grad(f)), (1.0,), None),
        (lambda f: shardax.pmap(f), (np.arange(4.0, dtype=np.float32),), None),
    ],
)
def test_transformations_around_it(transform, args, expected):
    def plain(x):
        return jnp.cos(x) * x * 2

    out = transform(lambda x: logged(plain, x)[0])(*args)
    equal(out, transform(plain)(*args) if expected is None else expected)


def test_transformations_inside_it():
    def f(x):
        return shardax.grad(lambda x: jnp.sin(x) * x)(x), shardax.vmap(lambda v: v * x)(jnp.ones(2))

    (slope, rows), log = logged(f, jnp.float32(0.5))
    equal(slope, np.cos(0.5) * 0.5 + np.sin(0.5))
    equal(rows, [0.5, 0.5])
    assert "cos" in log


def test_traces_nest():
    def f(x):
        out, log = logged(lambda y: y * x, x)
        assert log == ["mul"]
        return out

    out, log = logged(f, jnp.float32(3))
    equal(out, 9)
    assert log == ["mul"]


def test_custom_rules():
    out, log = logged(shardax.nn.relu, jnp.array([-1.0, 2.0]))
    equal(out, [0, 2])
    slope = shardax.grad(lambda x: logged(double, x)[0])(2.0)
    equal(slope, 7)
    assert logged(double, jnp.float32(1))[1] == ["custom_jvp"]

    @shardax.custom_vjp
    def g(x):
        return x

    g.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    with pytest.raises(NotImplementedError, match="Logged.process_custom_vjp_call is not defined"):
        logged(g, 1.0)


@shardax.custom_jvp
def double(x):
    return 2 * x


double.defjvp(lambda primals, tangents: (double(*primals), 7 * tangents[0]))


def test_primitives_of_the_users_own():
    primitive = core.Primitive("python_traces_triple")
    primitive.def_impl(lambda x, by: by * x)
    primitive.def_abstract_eval(lambda x, by: x)
    out, log = logged(lambda x: primitive.bind(x, by=3), jnp.float32(2))
    equal(out, 6)
    assert log == ["python_traces_triple"]


def test_errors():
    class Silent(core.Trace):
        pass

    with core.take_current_trace() as parent:
        trace = Silent()
        with core.set_current_trace(trace):
            with pytest.raises(NotImplementedError, match="Silent.process_primitive is not def"):
                lax.sin(1.0)
            with core.set_current_trace(parent):
                equal(lax.add(1.0, 1.0), 2)
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="does not handle ops: set it"):
        jnp.sin(LoggedTracer(Logged(None), 1.0))
    with pytest.raises(TypeError, match="was used before it had a trace"):
        jnp.sin(core.Tracer())
    kept = []

    def keep(x):
        with core.take_current_trace() as current:
            kept.append(current)
        return x

    shardax.jit(keep)(1.0)
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="the trace is over"):
        with core.set_current_trace(kept[0]):
            pass
    with core.set_current_trace(None):
        equal(jnp.sin(0.0), 0)


def test_tracers_are_dropped():
    class Kept(LoggedTracer):
        __slots__ = ("__dict__",)

    alive = []

    def f(x):
        y = jnp.sin(x)
        alive.append(weakref.ref(y))
        return y

    logged(f, jnp.float32(1), tracer=Kept)
    gc.collect()
    assert alive[0]() is None


def test_the_state_is_clean_after_it():
    with pytest.raises(ZeroDivisionError):
        logged(lambda x: 1 / 0, 1.0)
    assert not shardax.make_jaxpr(lambda: None)().eqns
    equal(jnp.sin(0.0), 0)
    assert type(jnp.sin(0.0)).__name__ == "ArrayImpl"


def test_traces_name_their_tracers():
    class Named(core.Trace[LoggedTracer]):
        def process_primitive(self, primitive, tracers, params):
            return np.float32(7)

    with core.set_current_trace(Named()):
        assert lax.sin_p.bind(1.0) == 7


def test_traces_see_symbolic_zeros():
    """Around a rule: tangents that it is given, and tangents that it gives."""
    zero = shardax.custom_derivatives.SymbolicZero
    seen = []

    class Watching(Logged):
        def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
            def watched(*both):
                out = jvp.call_wrapped(*both)
                seen.append([type(x) is zero for x in (*both, *out)])
                return out

            return super().process_custom_jvp_call(
                primitive, fun, wrap_init(watched), tracers, symbolic_zeros=symbolic_zeros
            )

    @shardax.custom_jvp
    def h(x, y):
        return x * y, jnp.ones(())

    @functools.partial(h.defjvp, symbolic_zeros=True)
    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        assert type(dy) is zero
        one = jnp.ones(())
        return (x * y, one), (dx * y, zero(shardax.typeof(one)))

    def f(x):
        (out, one), _ = logged(h, x, jnp.float32(3), trace=Watching)
        return out + one

    equal(shardax.grad(f)(2.0), 3.0)
    assert seen == [[False, False, False, True, False, False, False, True]]
