# tests/explain/test_apart.py - the program of devices that have memories of their own.
import itertools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

MESH = shardax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)


def array(*shape, spec=None):
    x = jnp.asarray(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))
    return x if spec is None else shardax.device_put(x, NamedSharding(MESH, P(*spec)))


def split(x, *spec):
    return shardax.device_put(x, NamedSharding(MESH, P(*spec)))


def apart(f, *args):
    return shardax.explain(shardax.jit(f))(*args).apart


def messages(told):
    return [(c["op"], c["over"]) for c in told.collectives]


def run_apart(f, *args):
    """The result of the per-device program, run on all devices."""
    program = shardax.make_jaxpr(f)(*args)
    known = [
        x.sharding._description(x.ndim) if isinstance(x.sharding, NamedSharding) else None
        for x in args
    ]
    made = shardax._core.api.partitioned(program, known)
    return shardax.core.jaxpr_as_fun(made)(*args)


def agree(f, *args):
    program = shardax.make_jaxpr(f)(*args)
    expected = shardax.core.jaxpr_as_fun(program)(*args)
    for got, want in zip(run_apart(f, *args), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


# ---- products: which messages ------------------------------------------------------------------


@pytest.mark.parametrize(
    "left, right, wanted",
    [
        (("a", None), (None, None), []),  # data parallel
        ((None, None), (None, "b"), []),  # columns of a weight
        (("a", None), (None, "b"), []),
        ((None, "b"), ("b", None), [("psum", ["b"])]),  # rows of a weight
        ((None, "b"), (None, None), [("psum", ["b"])]),  # the other is cut for nothing
        (("a", "b"), ("b", None), [("psum", ["b"])]),
        (("a", None), ("a", None), [("all_gather", ["a"])]),  # a sharded parameter
        ((("a", "b"), None), (("a", "b"), None), [("all_gather", ["a", "b"])]),
        (("a", None), (None, "a"), [("all_gather", ["a"])]),
    ],
)
def test_products(left, right, wanted):
    x, w = array(8, 16, spec=left), array(16, 8, spec=right)
    assert messages(apart(jnp.matmul, x, w)) == wanted
    agree(jnp.matmul, x, w)


def test_of_two_that_one_axis_splits_the_smaller_is_gathered():
    x, w = array(64, 16, spec=("b", None)), array(16, 8, spec=(None, "b"))
    told = apart(jnp.matmul, x, w)
    assert [(c["op"], c["operand"]) for c in told.collectives] == [("all_gather", 16 * 2 * 4)]
    agree(jnp.matmul, x, w)


def test_a_gradient_is_summed_once_and_scattered_where_parameters_are_split():
    def step(w, x):
        return w - 0.1 * shardax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

    x = array(16, 8, spec=(("a", "b"), None))
    assert messages(apart(step, array(8, 8, spec=(None, None)), x)) == [("psum", ["a", "b"])]
    rows = array(8, 8, spec=(("a", "b"), None))
    assert messages(apart(step, rows, x)) == [
        ("all_gather", ["a", "b"]),
        ("reduce_scatter", ["a", "b"]),
    ]
    agree(step, array(8, 8, spec=(None, None)), x)
    agree(step, rows, x)


def test_two_layers_in_parallel_take_one_sum_each_way():
    def loss(weights, x):
        first, second = weights
        return jnp.sum(jnp.tanh(x @ first) @ second)

    weights = array(8, 16, spec=(None, "b")), array(16, 8, spec=("b", None))
    x = array(4, 8, spec=("a", None))
    ops = [op for op, axes in messages(apart(shardax.grad(loss), weights, x)) if axes == ["b"]]
    assert ops == [] or set(ops) == {"psum"}
    assert len(ops) <= 1


def test_picking_and_placing_rows_takes_no_message_along_batches():
    def loss(x, labels):
        return -jnp.mean(jnp.take_along_axis(shardax.nn.log_softmax(x), labels[:, None], axis=1))

    x, labels = array(16, 8, spec=("a", None)), split(jnp.arange(16) % 8, "a")
    ops = [op for op, _ in messages(apart(shardax.value_and_grad(loss), x, labels))]
    assert ops == ["psum"]
    agree(lambda x, labels: shardax.grad(loss)(x, labels), x, labels)


# ---- values ------------------------------------------------------------------------------------

FUNCTIONS = {
    "elementwise": lambda x: jnp.sin(x) * 2 + x,
    "rows": lambda x: x - x.mean(0),
    "columns": lambda x: x / jnp.abs(x).sum(1, keepdims=True),
    "softmax": lambda x: shardax.nn.softmax(x, axis=1),
    "largest": lambda x: (x.max(0), x.min(1), x.argmax(1)),
    "product": lambda x: x.prod(0),
    "turned": lambda x: x.T + 1,
    "reshaped": lambda x: x.reshape(4, 2, 16),
    "flat": lambda x: x.reshape(-1) * 2,
    "joined": lambda x: jnp.concatenate([x, x * 2], 1),
    "padded": lambda x: jnp.pad(x, ((0, 0), (1, 2))),
    "sliced": lambda x: x[:, 2:6],
    "reversed": lambda x: x[::-1],
    "window": lambda x: lax.dynamic_slice(x, (0, 3), (8, 4)),
    "changed": lambda x: lax.dynamic_update_slice(x, x[:, :2], (0, 5)),
    "cumulative": lambda x: jnp.cumsum(x, 0),
    "sorted": lambda x: jnp.sort(x, 1),
    "gram": lambda x: x @ x.T,
    "batched": lambda x: jnp.einsum("bij,bjk->bik", x.reshape(8, 4, 4), x.reshape(8, 4, 4)),
    "taken": lambda x: x[jnp.array([3, 1, 0, 7])],
    "repeated": lambda x: jnp.broadcast_to(x[:, None], (8, 3, 16)),
    "scan": lambda x: lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(16), x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, v: v @ v.T @ v * 0.01 + i, x),
    "branch": lambda x: lax.cond(x.sum() > 0, lambda v: v * 2, lambda v: v.T.reshape(8, 16), x),
    "called": lambda x: shardax.checkpoint(jnp.sin)(shardax.jit(jnp.cos)(x)),
    "half": lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32).sum(),
    "constrained": lambda x: lax.with_sharding_constraint(x * 2, NamedSharding(MESH, P(None, "a"))),
    "drawn": lambda x: x + shardax.random.normal(shardax.random.key(0), x.shape),
    "solved": lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(8) * 9, x),
    "convolved": lambda x: lax.conv(x.reshape(8, 1, 4, 4), jnp.ones((2, 1, 3, 3)), (1, 1), "SAME"),
}
SPECS = [("a", None), (None, "b"), ("a", "b"), (("a", "b"), None), (None, ("b", "a")), ("b", "a")]


@pytest.mark.parametrize("name, spec", list(itertools.product(FUNCTIONS, SPECS)))
def test_gives_what_the_whole_program_gives(name, spec):
    agree(lambda x: shardax.tree.leaves(FUNCTIONS[name](x)), array(8, 16, spec=spec))


@pytest.mark.parametrize("spec", SPECS)
def test_gradients_give_what_the_whole_program_gives(spec):
    def loss(w, x):
        return jnp.sum(shardax.nn.softmax(jnp.tanh(x @ w), axis=1) ** 2)

    x, w = array(16, 8, spec=("a", None)), array(8, 16, spec=spec)
    agree(lambda w, x: shardax.grad(loss)(w, x) + w, w, x)


# ---- what is said of it ------------------------------------------------------------------------


def test_only_what_shardings_split_has_a_program_of_parts():
    assert apart(jnp.sin, array(8, 4)) is None
    x = array(8, 4, spec=("a", None))
    mapped = shardax.shard_map(
        lambda x: lax.psum(x, "a"), mesh=MESH, in_specs=P("a"), out_specs=P()
    )
    assert apart(mapped, x) is None
    assert apart(jnp.sin, x).devices == 8


def test_an_explanation_lists_the_messages():
    x, w = array(8, 16, spec=(None, "b")), array(16, 8, spec=("b", None))
    told = shardax.explain(shardax.jit(lambda x, w: x @ w))(x, w)
    text = str(told)
    assert "Communication of devices that have memories of their own" in text
    assert "psum over 'b': 4 devices, f32[8,8] (256 B) each" in text
    assert "psum" in told._repr_html_()
    assert "apart" not in told.to_dict()


def test_predictions_are_of_the_program_of_parts():
    machines = shardax.Accelerators(flops=1e12, memory_bandwidth=1e11, link_bandwidth=1e10)
    x, w = array(64, 512, spec=(None, "b")), array(512, 64, spec=("b", None))
    predicted = shardax.explain(shardax.jit(jnp.matmul))(x, w).on(machines)
    assert predicted.devices == 8
    assert predicted.communication > 0


def test_compiled_text_is_that_of_one_device():
    x, w = array(8, 16, spec=("a", "b")), array(16, 8, spec=("b", None))
    text = shardax.jit(jnp.matmul).lower(x, w).compile().as_text()
    assert "all-reduce" in text and "num_partitions=8" in text
    assert "(f32[4,4]{1,0}, f32[4,8]{1,0})->f32[4,8]{1,0}" in text
    assert "replica_groups={{0,1,2,3},{4,5,6,7}}" in text
    gathered = shardax.jit(jnp.matmul).lower(x, split(w, None, None)).compile().as_text()
    assert "all-reduce" in gathered
    whole = shardax.jit(jnp.matmul).lower(array(8, 16), array(16, 8)).compile().as_text()
    assert "all-reduce" not in whole


# ---- decompositions ----------------------------------------------------------------------------

RECTANGLE, SQUARE = (4, 5, 3), (4, 6, 6)
DECOMPOSITIONS = {
    "cholesky": (lax.linalg.cholesky, SQUARE),
    "eig": (lambda x: lax.linalg.eig(x), SQUARE),
    "eigh": (lambda x: lax.linalg.eigh(x), SQUARE),
    "hessenberg": (lax.linalg.hessenberg, SQUARE),
    "householder": (lax.linalg.householder_product, RECTANGLE, (4, 3)),
    "lu": (lambda x: lax.linalg.lu(x), RECTANGLE),
    "qr": (lambda x: lax.linalg.qr(x), RECTANGLE),
    "schur": (lax.linalg.schur, SQUARE),
    "svd": (lambda x: lax.linalg.svd(x, full_matrices=False), RECTANGLE),
    "triangular_solve": (lax.linalg.triangular_solve, SQUARE, (4, 4, 6)),
    "tridiagonal": (lax.linalg.tridiagonal, SQUARE),
    "tridiagonal_solve": (lax.linalg.tridiagonal_solve, *((4, 6),) * 3, (4, 6, 2)),
}


def stacks(name, *spec):
    f, *shapes = DECOMPOSITIONS[name]
    rng = np.random.default_rng(0)
    out = []
    for shape in shapes:
        x = rng.normal(size=shape).astype("float32")
        if shape == SQUARE:
            x = x @ np.swapaxes(x, 1, 2) + np.eye(6, dtype="float32")
        out.append(split(x, *spec))
    return f, out


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_stacks_of_matrices_are_decomposed_where_they_are(name):
    f, operands = stacks(name, "b")
    assert messages(apart(f, *operands)) == []
    agree(f, *operands)
    for result in shardax.tree.leaves(shardax.jit(f)(*operands)):
        assert result.sharding.spec[0] == "b", result.sharding


@pytest.mark.parametrize("name", ["cholesky", "eigh", "qr", "svd", "triangular_solve"])
def test_derivatives_of_decompositions_are_where_they_are(name):
    f, operands = stacks(name, "b")
    derivative = lambda *x: shardax.jvp(f, x, tuple(map(jnp.ones_like, x)))[1]
    assert messages(apart(derivative, *operands)) == []
    agree(derivative, *operands)


def test_matrices_that_are_split_are_brought_together():
    f, operands = stacks("hessenberg", None, "a")
    assert messages(apart(f, *operands)) == [("all_gather", ["a"])]
    agree(f, *operands)
