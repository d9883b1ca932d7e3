"""tests/programs/test_program_text.py - lowered and compiled functions as StableHLO's and HLO's
text.

The expected texts are those of JAX 0.10.2, but for the numbers of values.
"""

import functools
import re

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import PartitionSpec as P

X, W = jnp.ones((4, 8)), jnp.ones((8, 16))


def stablehlo(f, *args):
    """Its lines, without the numbers of values."""
    text = (
        f.lower(*args).as_text() if hasattr(f, "lower") else shardax.jit(f).lower(*args).as_text()
    )
    return re.sub(r"%(c|cst)_\d+\b", r"%\1", text)


def hlo(f, *args):
    f = f if hasattr(f, "lower") else shardax.jit(f)
    return f.lower(*args).compile().as_text()


def test_elementwise_and_products():
    def f(x, w):
        y = jnp.sin(x @ w) * 2 + jnp.arange(16)
        return jnp.where(y > 0, y, 0.0).sum(0), jnp.max(y, 1)

    text = stablehlo(f, X, W)
    for line in """\
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> \
(tensor<16xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = \
[DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.sine %0 : tensor<4x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<4x16xf32>
    %4 = stablehlo.iota dim = 0 : tensor<16xi32>
    %5 = stablehlo.convert %4 : (tensor<16xi32>) -> tensor<16xf32>
    %10 = stablehlo.compare GT, %8, %9, FLOAT : (tensor<4x16xf32>, tensor<4x16xf32>) -> \
tensor<4x16xi1>
    %11 = call @_where(%10, %8, %cst) : (tensor<4x16xi1>, tensor<4x16xf32>, tensor<f32>) -> \
tensor<4x16xf32>
    %12 = stablehlo.reduce(%11 init: %cst) applies stablehlo.add across dimensions = [0] : \
(tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%8 init: %cst) applies stablehlo.maximum across dimensions = [1] : \
(tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
  func.func private @_where(%arg0: tensor<4x16xi1>, %arg1: tensor<4x16xf32>, %arg2: tensor<f32>) \
-> tensor<4x16xf32> {
""".splitlines():
        assert line in text.splitlines(), f"{line}\nin\n{text}"


def test_layout():
    def f(x):
        return (
            jnp.concatenate([x, x]).reshape(2, 32).T,
            x[::2, ::-1],
            lax.pad(x, 1.0, ((1, 1, 0), (0, 0, 1))),
            lax.dynamic_slice(x, (1, 2), (2, 2)),
            x.at[0].add(1.0),
        )

    text = stablehlo(f, X)
    for part in (
        "stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> ",
        "stablehlo.reshape %0 : (tensor<8x8xf32>) -> tensor<2x32xf32>",
        "stablehlo.transpose %1, dims = [1, 0] : (tensor<2x32xf32>) -> tensor<32x2xf32>",
        "stablehlo.slice %arg0 [0:3:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>",
        "stablehlo.reverse %3, dims = [1] : tensor<2x8xf32>",
        "stablehlo.pad %arg0, %cst, low = [1, 0], high = [1, 0], interior = [0, 1] : ",
        "sizes = [2, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>",
        '"stablehlo.scatter"(%arg0, ',
        "#stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], ",
    ):
        assert part in text, f"{part}\nin\n{text}"


def test_loops_and_branches():
    def f(x):
        c, ys = lax.scan(lambda c, a: (c + a, c * 2), x[0], x, reverse=True)
        d = lax.while_loop(lambda c: c[0] < 10, lambda c: c + 1, c)
        return lax.cond(d[0] > 1, lambda d: d, lambda d: -d, d), ys

    text = stablehlo(f, X)
    for part in (
        "%3:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %1, %iterArg_1 = %2) : tensor<i32>, ",
        "    } do {\n",
        "func.call @closed_call(%iterArg_0, ",
        "stablehlo.dynamic_update_slice %iterArg_1, ",
        '"stablehlo.case"(',
        "stablehlo.negate",
        "  func.func private @closed_call(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> ",
    ):
        assert part in text, f"{part}\nin\n{text}"
    text = hlo(f, X)
    assert "while(" in text and "condition=while_condition.1, body=while_body.1" in text
    assert "conditional(" in text and "branch_computations={branch.1, branch.2}" in text


def collectives(x):
    return (
        lax.psum(x, "i"),
        lax.all_gather(x, "i"),
        lax.ppermute(x, "i", [(0, 1), (1, 2)]),
        lax.axis_index("i"),
        lax.psum_scatter(x, "i", tiled=True),
        lax.all_to_all(x.reshape(4, 2), "i", 0, 0),
        lax.pmax(x, "i"),
    )


def test_collectives():
    f = shardax.pmap(collectives, axis_name="i")
    text = stablehlo(f, X)
    assert "mhlo.num_partitions = 4 : i32" in text
    groups = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
    for part in (
        'sdy.manual_computation(%arg0) manual_axes={"i"=4} (%arg1: tensor<8xf32>) {',
        f'"stablehlo.all_reduce"(%arg1) <{{{groups}}}> ({{',
        "stablehlo.add %arg2, %arg3 : tensor<f32>",
        f'"stablehlo.all_gather"(%3) <{{all_gather_dim = 0 : i64, {groups}}}> : (tensor<1x8xf32>)',
        "<{source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<8xf32>)",
        "stablehlo.partition_id : tensor<ui32>",
        f'"stablehlo.reduce_scatter"(%arg1) <{{{groups}, scatter_dimension = 0 : i64}}> ({{',
        '"stablehlo.all_to_all"(',
        "stablehlo.maximum",
    ):
        assert part in text, f"{part}\nin\n{text}"
    text = hlo(f, X)
    for name in ("all-reduce", "all-gather", "collective-permute", "reduce-scatter", "all-to-all"):
        assert f" {name}(" in text, text
    assert "replica_groups={{0,1,2,3}}" in text and "num_partitions=4" in text


def test_groups_of_a_mesh():
    mesh = shardax.make_mesh((2, 4), ("a", "b"))
    for axes, groups in (
        ("a", [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("b", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (("a", "b"), [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ):
        f = shardax.shard_map(
            lambda x, axes=axes: lax.psum(x, axes),
            mesh=mesh,
            in_specs=P("a", "b"),
            out_specs=P(*({"a", "b"} - set(axes))) if isinstance(axes, str) else P(),
            check_vma=False,
        )
        text = stablehlo(shardax.jit(f), X)
        assert f"replica_groups = dense<{groups}>" in text, text


def test_hlo():
    text = hlo(lambda x, w: (jnp.exp(x @ w).sum(0), x > 0), X, W)
    assert "dot(Arg_0.1, Arg_1.1)" in text and 'metadata={op_name="jit(<lambda>)/exp"}' in text
    lines = re.sub(r", metadata=\{.*?\}", "", text).splitlines()
    assert lines[0].startswith("HloModule jit__lambda, entry_computation_layout={(f32[4,8]{1,0}, ")
    for line in (
        "ENTRY main.1 {",
        "  Arg_0.1 = f32[4,8]{1,0} parameter(0)",
        "  dot.1 = f32[4,16]{1,0} dot(Arg_0.1, Arg_1.1), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}",
        "  exponential.1 = f32[4,16]{1,0} exponential(dot.1)",
        "  reduce.1 = f32[16]{0} reduce(exponential.1, constant.1), dimensions={0}, "
        "to_apply=region.1",
        "  compare.1 = pred[4,8]{1,0} compare(Arg_0.1, broadcast.1), direction=GT",
        "  ROOT tuple.1 = (f32[16]{0}, pred[4,8]{1,0}) tuple(reduce.1, compare.1)",
    ):
        assert line in lines, f"{line}\nin\n{text}"


def test_convolutions():
    def f(x, k):
        numbers = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(
            x, k, (1, 2), "SAME", rhs_dilation=(2, 1), dimension_numbers=numbers
        )

    images, kernels = jnp.ones((1, 8, 8, 2)), jnp.ones((3, 3, 2, 4))
    assert (
        "stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],"
        " window = {stride = [1, 2], pad = [[2, 2], [0, 1]], lhs_dilate = [1, 1], "
        "rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
        "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : "
        "(tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x8x4x4xf32>"
    ) in stablehlo(f, images, kernels)
    assert (
        "convolution(Arg_0.1, Arg_1.1), window={size=3x3 stride=1x2 pad=2_2x0_1 rhs_dilate=2x1}, "
        "dim_labels=b01f_01io->b01f"
    ) in hlo(f, images, kernels)


def test_precision():
    def f(x, precision):
        numbers = (((1,), (0,)), ((), ()))
        return lax.dot_general(x, x, numbers, precision=precision)

    for precision, names in (
        ("highest", "HIGHEST, HIGHEST"),
        (("high", "default"), "HIGH, DEFAULT"),
    ):
        product = functools.partial(f, precision=precision)
        assert f"precision = [{names}]" in stablehlo(product, jnp.eye(2))
        text = names.lower().replace(" ", "")
        assert f"operand_precision={{{text}}}" in hlo(product, jnp.eye(2))
    assert "operand_precision" not in hlo(functools.partial(f, precision=None), jnp.eye(2))
    images, kernels = jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 3, 3))
    conv = functools.partial(lax.conv, window_strides=(1, 1), padding="SAME", precision="highest")
    assert "operand_precision={highest,highest}" in hlo(conv, images, kernels)


def test_what_stablehlo_lacks():
    text = stablehlo(lambda x: (lax.cumsum(x), jnp.linalg.cholesky(x), lax.erf(x)), jnp.eye(3))
    assert 'stablehlo.custom_call @shardax.cumsum(%arg0) {axis = "0", reverse = "False"}' in text
    assert "@shardax.cholesky(" in text
    assert "chlo.erf %arg0 : tensor<3x3xf32>" in text


def test_keys_constants_and_narrow_types():
    table = jnp.asarray(np.arange(100.0, dtype=np.float32))

    def f(key, i):
        half = jnp.ones(2, jnp.bfloat16) * jnp.complex64(1j).real.astype(jnp.bfloat16)
        return shardax.random.uniform(key, (2,)), table[i], half, jnp.array([1, 2]) + i, i > 0

    text = stablehlo(f, shardax.random.key(0), 1)
    assert "%arg0: tensor<2xui32>, %arg1: tensor<i32>" in text
    assert "dense_resource<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, ...]>" in text
    assert "dense<[1, 2]> : tensor<2xi32>" in text
    assert "tensor<2xbf16>" in text


def test_what_nothing_needs_is_left_out():
    @shardax.jit
    def f(x, y):
        @shardax.jit
        def g(y):
            ref = shardax.new_ref(y)
            ref[...] += 1
            return shardax.freeze(ref)

        g(y)
        return x

    assert "stablehlo.add" not in f.lower(1, 2).as_text()


def test_dialects_and_locations():
    lowered = shardax.jit(lambda x: x + 1).lower(X)
    assert lowered.as_text("hlo") == lowered.compiler_ir("hlo").as_hlo_text()
    assert str(lowered.compiler_ir()) == lowered.as_text("stablehlo") == lowered.as_text()
    assert "loc(" not in lowered.as_text()
    assert re.search(
        r'stablehlo.add .* loc\("jit\(<lambda>\)/add"\(".*test_program_text.py:\d+',
        lowered.as_text(debug_info=True),
    )
    with pytest.raises(ValueError, match="got dialect='llvm'; expected 'stablehlo' or 'hlo'"):
        lowered.as_text("llvm")
    assert "add" in str(shardax.jit(lambda x: x + 1).trace(X).jaxpr)


def test_barriers_keep_second_evaluations_apart():
    def loss(prevent_cse, *args):
        layer = shardax.checkpoint(lambda w, x: jnp.sin(x @ w), prevent_cse=prevent_cse)
        return (layer(*args) ** 2).sum()

    def texts(prevent_cse):
        f = shardax.jit(shardax.grad(functools.partial(loss, prevent_cse)))
        return f.lower(W, X).as_text(), f.lower(W, X).as_text("hlo")

    assert "barrier" not in texts(False)[0] + texts(False)[1]
    whole = r"optimization_barrier %\w+, %\w+, %\w+ : tensor<"
    some = r"optimization_barrier %\w+, %\w+ : tensor<"
    for prevent_cse, expected in ((True, whole), ((False, True), some)):
        for_mlir, for_xla = texts(prevent_cse)
        assert re.search(expected, for_mlir) and "opt-barrier(tuple" in for_xla
    forward = shardax.jit(functools.partial(loss, True)).lower(W, X).as_text()
    assert "barrier" not in forward
    one = shardax.jit(lax.optimization_barrier).lower(1.0)
    assert "%0 = stablehlo.optimization_barrier %arg0 : tensor<f32>" in one.as_text()
    assert "opt-barrier(Arg_0.1)" in one.as_text("hlo")
