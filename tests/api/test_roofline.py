"""tests/api/test_roofline.py - shardax.experimental.roofline. Figures are JAX 0.10.2's."""

import dataclasses

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import roofline
from shardax.extend.core import Primitive
from shardax.sharding import NamedSharding, P

S = jax.ShapeDtypeStruct
F32 = np.float32
Result = roofline.RooflineResult


def told(f, *args, **options):
    return roofline.roofline(f, **options)(*args)[1]


def gelu(x):
    """As JAX writes it: figures are those of its ops."""
    c = np.sqrt(2 / np.pi).astype(np.float32)
    return x * (0.5 * (1.0 + jnp.tanh(c * (x + 0.044715 * (x**3)))))


def mlp(x, w1, w2):
    return jax.nn.softmax(gelu(x @ w1) @ w2)


MLP = S((16, 32), F32), S((32, 64), F32), S((64, 8), F32)


def test_a_model():
    assert told(mlp, *MLP) == Result(
        flops=81920,
        unfused_flops=89600,
        hbm_bytes=20992,
        peak_hbm_bytes=12288,
        unfused_hbm_bytes=90452,
    )
    kept = told(mlp, *MLP, pin_lhs_in_vmem=True)
    assert (kept.hbm_bytes, kept.unfused_hbm_bytes) == (10240, 79700)


@pytest.mark.parametrize(
    "stride, dilation, spread, padding, flops, peak, moved",
    [
        (1, 1, 1, 0, 4752, 792, 1432),
        (2, 1, 1, 1, 2544, 792, 1144),
        (1, 2, 1, 3, 5472, 1536, 2328),
        (2, 3, 2, 4, 2688, 1088, 1880),
        (3, 2, 3, 5, 1584, 792, 1272),
        (4, 6, 1, 7, 1104, 1152, 1944),
        (6, 4, 5, 2, 912, 792, 1208),
    ],
)
def test_convolutions(stride, dilation, spread, padding, flops, peak, moved):
    def f(x, w):
        pads = [(padding, padding + 1)]
        return lax.conv_general_dilated(
            x, w, (stride,), pads, lhs_dilation=(dilation,), rhs_dilation=(spread,)
        )

    expected = Result(unfused_flops=flops, peak_hbm_bytes=peak, unfused_hbm_bytes=moved)
    assert told(f, S((2, 3, 23), F32), S((4, 3, 5), F32)) == expected


def test_long_convolutions_are_counted_at_once():
    n = 512 * 1024
    f = lambda x, w: lax.conv_general_dilated(x, w, (1,), [(n - 1, n - 1)])
    assert told(f, S((1, 1, 1), F32), S((1, 1, n), F32)).unfused_flops == 2 * n


MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def split(struct, *spec):
    return S(struct.shape, struct.dtype, sharding=NamedSharding(MESH, P(*spec)))


def test_tensor_parallel():
    def f(x, w1, w2):
        return lax.psum(jnp.maximum(x @ w1, 0) @ w2, "y")

    specs = P("x", None), P(None, "y"), P("y", None)
    args = [split(struct, *spec) for struct, spec in zip(MLP, specs, strict=True)]
    shapes, forward, backward = roofline.roofline_and_grad(f, MESH, specs, P("x", None))(*args)
    assert shapes.shape == (16, 8) and shapes.sharding == NamedSharding(MESH, P("x", None))
    assert forward == Result(
        flops=10240,
        unfused_flops=10368,
        ici_bytes={"y": 384},
        ici_latency={"y": 8},
        hbm_bytes=4864,
        peak_hbm_bytes=3584,
        unfused_hbm_bytes=5892,
    )
    assert (backward.flops, backward.hbm_bytes) == (20480, 4864)
    assert backward.ici_bytes == {"y": 768, "x": 1280}
    assert backward.ici_latency == {"y": 8, "x": 8}


def test_gathered_parameters():
    specs = P("x"), P(("x", "y"))
    args = split(S((16, 32), F32), "x"), split(S((32, 64), F32), ("x", "y"))
    f = lambda x, w: x @ lax.all_gather(w, ("x", "y"), tiled=True)
    _, forward, backward = roofline.roofline_and_grad(f, MESH, specs, P("x", "y"))(*args)
    assert forward.ici_bytes == {"x": 3584, "y": 3584}
    assert backward.ici_bytes == {"x": 1792, "y": 2560}
    assert (forward.peak_hbm_bytes, backward.peak_hbm_bytes) == (9216, 9216)


def test_exchanges():
    def f(x):
        x = lax.all_to_all(x, ("x", "y"), 0, 1, tiled=True)
        return lax.ppermute(x, ("x", "y"), [(i, (3 * i + 1) % 8) for i in range(8)])

    spec = P(None, ("x", "y"))
    result = told(f, S((16, 64), F32), mesh=MESH, in_specs=spec, out_specs=spec)
    both = {"ici_bytes": {"x": 2048, "y": 2048}, "ici_latency": {"x": 5, "y": 5}}
    assert result == Result(**both, peak_hbm_bytes=512)


def test_one_device_sends_nothing():
    mesh = jax.make_mesh((1, 2), ("x", "y"))

    def f(x):
        x = lax.psum_scatter(lax.all_gather(x, "x", tiled=True), "x", tiled=True)
        return lax.ppermute(lax.pmax(lax.psum(x, "x"), "x"), "x", [(0, 0)])

    result = told(f, S((4, 4), F32), mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    assert result.ici_bytes == result.ici_latency == {"x": 0}


def test_ops():
    x = jnp.ones(50)
    cases = [
        (lambda x: jnp.cumsum(jnp.where(x > 0, x, 0.0)).max() + jnp.linalg.norm(x), 251, 1728),
        (lambda x: lax.scan(lambda c, a: (c + a * 2, c), 0.0, x), 2, 24),
        (lambda x: x[jnp.array([0, 1])] + x.at[0].set(3.0)[:2], 8, 108),
        (lambda x: jnp.sort(x) * jax.random.normal(jax.random.key(0), (50,)), 401, 3436),
        (lambda x: jnp.sum(x), 49, 204),
    ]
    for f, flops, moved in cases:
        result = told(f, x)
        assert (result.unfused_flops, result.unfused_hbm_bytes) == (flops, moved)


def test_rules_of_users():
    thing_p = Primitive("thing")
    thing_p.def_impl(lambda x: x)
    thing_p.def_abstract_eval(lambda x: x)
    f = lambda x: jnp.abs(thing_p.bind(x))
    assert told(f, jnp.ones(5)).unfused_flops == 5
    seen = []

    @roofline.register_roofline(thing_p)
    def rule(context, x, **params):
        seen.append(context)
        return Result(flops=7 * x.size)

    assert told(f, jnp.ones(5)) == dataclasses.replace(told(jnp.abs, jnp.ones(5)), flops=35)
    assert seen[0].primitive == thing_p and seen[0].avals_in[0].shape == (5,)
    roofline.register_standard_roofline(thing_p)
    assert told(f, jnp.ones(5)).flops == 0


def test_missing_rules_are_told(caplog):
    silent_p = Primitive("silent")
    silent_p.def_abstract_eval(lambda x: x)
    told(lambda x: silent_p.bind(x), jnp.ones(3))
    assert "No roofline rule for silent" in caplog.text


def test_shapes_and_sums():
    shape = roofline.RooflineShape.from_aval(jax.typeof(jnp.ones((2, 3), jnp.bfloat16)))
    assert (shape.size, shape.bytes) == (6, 12)
    with pytest.raises(TypeError, match="Expected ShapedArray"):
        roofline.RooflineShape.from_aval(3)
    assert Result.zeros() + Result(flops=1) == Result(flops=1)
    assert (2 * Result(flops=1, ici_bytes={"x": 3})).ici_bytes == {"x": 6}


def test_collectives_need_the_mesh():
    f = lambda x: jax.vmap(lambda v: v - lax.pmean(v, "i"), axis_name="i")(x)
    assert told(f, jnp.ones(5)).unfused_flops > 0  # of a batch there are none
    mapped = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=MESH, in_specs=P("x"), out_specs=P())
    with pytest.raises(ValueError, match="needs the mesh. Pass mesh="):
        told(mapped, jnp.ones(4))


def test_programs_are_printed(capsys):
    told(jnp.sin, jnp.ones(3), print_jaxpr=True)
    assert "sin" in capsys.readouterr().out
