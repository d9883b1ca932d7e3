"""tests/programs/test_symbolic_export.py - functions that are exported for many sizes."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import export, lax
from shardax.core import InconclusiveDimensionOperation


def struct(text, dtype="float32", **rest):
    return jax.ShapeDtypeStruct(export.symbolic_shape(text, **rest), dtype)


def exported(f, *args, vjp_order=0):
    """Written and read again."""
    return export.deserialize(export.export(jax.jit(f))(*args).serialize(vjp_order))


def test_sizes_print_as_in_jax():
    a, b = export.symbolic_shape("a,b")
    for size, text in (
        (a - 1, "a - 1"),
        (2 * a + b - 1, "b + 2*a - 1"),
        (a * b - 3 * a, "a*b - 3*a"),
        (a * a + b, "a^2 + b"),
        (-a + b, "b - a"),
        (a - b, "- b + a"),
        (1 - a, "- a + 1"),
        (b // 2, "floordiv(b, 2)"),
        (2 * ((a + b) // b) + a % 3, "mod(a, 3) + 2*floordiv(b + a, b)"),
    ):
        assert str(size) == text
        assert str(export.symbolic_shape(text)[0]) == text
    assert (4 * a) // 2 == 2 * a and (a + b) - b == a and a % 1 == 0 and a - a == 0
    assert a != b and a == export.symbolic_shape("a", scope=a.scope)[0] and hash(a) == hash(a + 0)


def test_comparisons_are_decided_by_bounds():
    a, b, c = export.symbolic_shape("a, b, c", constraints=["a >= 8", "b <= a", "c == 2"])
    assert a >= 8 and a > 7 and not a < 8 and not b > a and b <= 2 * a and 3 * a >= b
    assert c >= 2 and c <= 2 and a // 2 >= 4 and b % 3 < 3
    for undecided in (lambda: a > 8, lambda: b > 5, lambda: a * b < 100):
        with pytest.raises(InconclusiveDimensionOperation, match="is inconclusive"):
            undecided()
    with pytest.raises(InconclusiveDimensionOperation, match="context that requires a constant"):
        np.zeros(a)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: export.symbolic_shape("a +"), "expected a size, got 'the end'"),
        (lambda: export.symbolic_shape("a; b"), "unexpected ';'"),
        (lambda: export.symbolic_shape("f(a, b)"), "there is no function 'f'"),
        (lambda: export.symbolic_shape("_, a"), "needs the argument `like`"),
        (lambda: export.symbolic_shape("a, b", like=(3,)), "must match the rank of"),
        (lambda: export.symbolic_shape("_, _", like=(3,)), "must match the rank of"),
        (lambda: export.symbolic_shape(3), "must be None or a string"),
        (lambda: export.SymbolicScope("a >= 3"), "should be a sequence of strings"),
        (lambda: export.SymbolicScope(["3 >= 3"]), "constant constraint"),
        (lambda: export.SymbolicScope(["a > 3"]), "unexpected '>'"),
        (
            lambda: export.symbolic_shape(
                "a", constraints=["a >= 2"], scope=export.SymbolicScope()
            ),
            "Cannot specify both",
        ),
        (
            lambda: export.symbolic_args_specs(
                (1.0,), "", constraints=["a >= 2"], scope=export.SymbolicScope()
            ),
            "Cannot use both",
        ),
        (
            lambda: export.symbolic_shape("a")[0] + export.symbolic_shape("a")[0],
            "Invalid mixing of symbolic scopes",
        ),
    ],
)
def test_texts_that_are_no_shapes(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_specs_of_arguments():
    specs = export.symbolic_args_specs(({"w": jnp.ones((3, 4))}, 2.0), ("b, ...", None))
    assert str(specs[0]["w"].shape) == "(b, 4)" and specs[1].shape == ()
    assert export.is_symbolic_dim(specs[0]["w"].shape[0])


def everything(x):
    a, b = x.shape
    sums = lax.scan(lambda c, row: (c + row.sum(), c), 0.0, x)[1]
    half = x[::2] * jnp.arange(b)
    stacked = jnp.concatenate([x, x]).reshape(2 * a * b)
    return {
        "mean": x.mean(0) + b,
        "sums": sums,
        "half": half,
        "all": stacked,
        "soft": jax.nn.softmax(x),
    }


def test_one_program_for_all_sizes():
    read = exported(everything, struct("a, b"))
    assert str(read.in_avals) == "(ShapedArray(float32[a,b]),)" and read.uses_global_constants
    shapes = [str(a.shape) for a in read.out_avals]
    assert shapes == ["(2*a*b,)", "(floordiv(a + 1, 2), b)", "(b,)", "(a, b)", "(a,)"]
    for shape in ((1, 1), (2, 5), (6, 3), (301, 2)):
        x = np.linspace(0, 1, num=shape[0] * shape[1], dtype="float32").reshape(shape)
        jax.tree.map(
            lambda given, wanted: np.testing.assert_allclose(given, wanted, rtol=1e-5),
            read.call(x),
            everything(x),
        )
    assert jax.jit(read.call)(np.ones((2, 2), "float32"))["all"].shape == (8,)


def test_derivatives_and_calls_within_exports():
    w = np.arange(12, dtype="float32").reshape(4, 3)
    scope = export.SymbolicScope()
    args = struct("n, k", scope=scope), struct("k, m", scope=scope)
    read = exported(lambda x, w: jnp.tanh(x @ w), *args, vjp_order=2)
    x = np.ones((5, 4), "float32")
    loss = lambda call: lambda x: (call(x, w) ** 2).sum()
    wanted = jax.grad(loss(lambda x, w: jnp.tanh(x @ w)))(x)
    np.testing.assert_allclose(jax.grad(loss(read.call))(x), wanted, rtol=1e-6)
    assert str(read.vjp().in_avals[2]) == "ShapedArray(float32[n,m])"
    outer = exported(lambda x: read.call(x, w) + 1, struct("b, 4"))
    np.testing.assert_allclose(outer.call(x), jnp.tanh(x @ w) + 1, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1 if x.shape[0] > 100 else x,
        lambda x: x * (x.shape[0] > 100),
        lambda x: x + np.arange(x.shape[0]),
        lambda x: x * np.float32(1 / x.shape[0]),
        lambda x: sum(x[i] for i in range(x.shape[0])),
    ],
)
def test_functions_that_are_no_one_program_are_refused(f):
    with pytest.raises(NotImplementedError, match="cannot be exported for symbolic dimensions"):
        export.export(jax.jit(f))(struct("a"))


def test_constraints_of_an_export():
    read = exported(lambda x: x.reshape(-1, 4), struct("a, b", constraints=["mod(a, 4) == 0"]))
    assert read.call(np.ones((8, 3), "float32")).shape == (6, 4)
    with pytest.raises(ValueError, match=r"constraint mod\(a, 4\) == 0. Expected .* found 2"):
        read.call(np.ones((6, 2), "float32"))
    with pytest.raises(ValueError, match="Encountered dimension variable 'm' in the constraint"):
        export.export(jax.jit(jnp.sin))(struct("a", constraints=["a >= m"]))
    with pytest.raises(ValueError, match=r"(?s)mixing of symbolic scopes when .*args\[1\]"):
        export.export(jax.jit(lambda x, y: x))(struct("a"), struct("a"))
    with pytest.raises(ValueError, match="no values were found for the dimension variables a"):
        export.export(jax.jit(jnp.sin))(struct("a", constraints=["a >= 100000000"]))


@pytest.mark.parametrize(
    "spec, shape, text",
    [
        ("a + 2*b, a", (2, 2), r"Expected value >= 1 for dimension variable 'b'.*'a' = 2 from"),
        ("a + 2*b, a", (3, 2), "Division had remainder 1 when computing the value of 'b'"),
        ("a, a", (3, 2), r"inconsistency between dimension size args\[0\].shape\[1\] \(= 2\)"),
        ("a*a, 2", (9, 2), "Cannot solve for values of dimension variables {'a'}"),
        ("a, 2", (9, 3), r"Shape mismatch for args\[0\].shape\[1\] \(expected same constant\)"),
        ("a, 2", (9,), r"Rank mismatch for args\[0\]"),
    ],
)
def test_arguments_that_do_not_fit(spec, shape, text):
    read = exported(lambda x: x, struct(spec))
    with pytest.raises(ValueError, match=text):
        read.call(np.ones(shape, "float32"))


def test_versions_of_the_calling_convention():
    before = jax.config.jax_export_calling_convention_version
    jax.config.update("jax_export_calling_convention_version", 11)
    try:
        with pytest.raises(ValueError, match=r"version 11 is outside .* \[9..10\]"):
            export.export(jax.jit(jnp.sin))
    finally:
        jax.config.update("jax_export_calling_convention_version", before)


def test_shardings_of_symbolic_sizes():
    mesh = jax.make_mesh((2,), ("x",))
    rows = jax.NamedSharding(mesh, jax.P("x"))
    f = export.export(jax.jit(lambda x: 2 * x, in_shardings=rows))(struct("2*a, 4"))
    assert f.nr_devices == 2 and f.in_shardings_jax(mesh)[0].spec == jax.P("x", None)
    assert "stablehlo.multiply" in f.mlir_module()
    x = np.ones((6, 4), np.float32)
    with pytest.raises(ValueError, match="for 2 devices and is called in a context with 1 dev"):
        f.call(x)
    np.testing.assert_array_equal(f.call(jax.device_put(x, rows)), 2 * x)


class TestShapesOfResults:
    """eval_shape takes symbolic sizes."""

    @staticmethod
    def of(f, *shapes):
        shape = export.symbolic_shape(", ".join(shapes), constraints=["n >= 2"])
        out = jax.eval_shape(f, jax.ShapeDtypeStruct(shape, "float32"))
        return [(str(s.shape), s.dtype.name) for s in jax.tree.leaves(out)]

    def test_are_expressions_of_sizes(self):
        def f(x):
            return {"a": x @ jnp.ones((3, 4)), "b": x.reshape(-1), "c": x.sum(0) > 0}

        wanted = [("(n, 4)", "float32"), ("(3*n,)", "float32"), ("(3,)", "bool")]
        assert self.of(f, "n", "3") == wanted
        halves = self.of(lambda x: x[: x.shape[0] // 2], "n", "3")
        assert halves == [("(floordiv(n, 2), 3)", "float32")]

    def test_may_be_too_small_for_a_function(self):
        wanted = [("(n - 10, 3)", "float32")]
        assert self.of(lambda x: jnp.ones((x.shape[0] - 10, 3)), "n", "3") == wanted

    def test_refuses_what_it_does_not_know(self):
        with pytest.raises(TypeError, match=r"contracting dimensions to have the same shape"):
            self.of(lambda x: x @ jnp.ones((7, 4)), "n", "3")
        with pytest.raises(NotImplementedError, match="which no size is"):
            self.of(lambda x: jnp.zeros(int(x.shape[0] ** 0.5)), "n", "3")
        with pytest.raises(NotImplementedError, match="it gives other types for other sizes"):
            self.of(lambda x: x if x.shape[0] % 2 else x[0], "n", "3")
