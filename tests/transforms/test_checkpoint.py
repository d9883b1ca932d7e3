"""tests/transforms/test_checkpoint.py - checkpoint computes again what it does not keep."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.ad_checkpoint import checkpoint_name

policies = jax.checkpoint_policies


def count(fun, name, *args):
    """The number of times that op `name` appears in the program of fun(*args), bodies included."""

    def walk(program):
        total = 0
        for eqn in program.eqns:
            total += eqn.primitive.name == name
            for value in eqn.params.values():
                for body in value if isinstance(value, tuple) else (value,):
                    if hasattr(body, "eqns"):
                        total += walk(body)
        return total

    return walk(jax.make_jaxpr(fun)(*args))


def chain(x):
    return jnp.sin(jnp.sin(jnp.sin(x)))


def temporaries(fun, *args):
    return jax.jit(fun).lower(*args).compile().memory_analysis().temp_size_in_bytes


def network(wrap):
    def layer(x, w):
        return jnp.tanh(jnp.tanh(jnp.tanh(x * w) * w) * w)

    def loss(x, ws):
        for w in ws:
            x = wrap(layer)(x, w)
        return x.sum()

    return jax.grad(loss)


def test_values_are_those_without_it():
    x = jnp.linspace(0, 1, 7)
    plain = jax.grad(lambda v: chain(v).sum())(x)
    again = jax.grad(lambda v: jax.checkpoint(chain)(v).sum())(x)
    np.testing.assert_allclose(plain, again, rtol=1e-6)


def test_forward_is_computed_twice():
    assert count(jax.grad(chain), "sin", 1.0) == 3
    assert count(jax.grad(jax.checkpoint(chain)), "sin", 1.0) == 5  # the last is not needed again


def test_compiled_program_still_computes_twice():
    seen = []

    def f(x):
        jax.debug.callback(seen.append, x)
        return jnp.sin(x) ** 2

    jax.jit(jax.grad(jax.checkpoint(f)))(1.0)
    assert len(seen) == 2


def test_memory_falls():
    x, ws = jnp.ones((200, 200)), [jnp.float32(i) for i in range(1, 9)]
    plain = temporaries(network(lambda f: f), x, ws)
    again = temporaries(network(jax.checkpoint), x, ws)
    assert again < 0.6 * plain


def test_cse_does_not_merge_the_second_evaluation():
    x, ws = jnp.ones((200, 200)), [jnp.float32(i) for i in range(1, 9)]
    kept = temporaries(network(lambda f: jax.checkpoint(f, prevent_cse=False)), x, ws)
    again = temporaries(network(jax.checkpoint), x, ws)
    assert again < kept


@pytest.mark.parametrize(
    "policy, sines",
    [
        (None, 5),
        (policies.nothing_saveable, 5),
        (policies.everything_saveable, 3),
        (policies.save_only_these_names("inner"), 4),
        (policies.save_any_names_but_these("inner"), 5),
        (policies.save_anything_except_these_names("inner"), 3),
        (lambda primitive, *_, **params: primitive.name == "sin", 3),
    ],
)
def test_policies_choose_what_is_kept(policy, sines):
    def f(x):
        return jnp.sin(jnp.sin(checkpoint_name(jnp.sin(x), "inner")))

    g = jax.grad(jax.checkpoint(f, policy=policy))
    assert count(g, "sin", 1.0) == sines
    np.testing.assert_allclose(g(0.7), jax.grad(f)(0.7), rtol=1e-6)


def test_policies_combine():
    both = policies.save_from_both_policies(policies.dots_saveable, policies.nothing_saveable)
    w = jnp.eye(3)
    f = lambda w: jnp.sin(w @ w).sum()
    assert count(jax.grad(jax.checkpoint(f, policy=both)), "dot_general", w) == 3
    assert count(jax.grad(jax.checkpoint(f)), "dot_general", w) == 4


def test_traced_once_per_signature():
    calls = []

    @jax.checkpoint
    def f(x):
        calls.append(x)
        return jnp.sin(x)

    for _ in range(3):
        jax.grad(f)(1.0)
    assert len(calls) == 1
    jax.grad(lambda v: f(v).sum())(jnp.ones(2))
    assert len(calls) == 2


def test_python_control_flow_needs_static_arguments():
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.checkpoint(lambda x: x if x > 0 else -x)(1.0)
    f = jax.checkpoint(lambda x, flag: jnp.sin(x) if flag else x, static_argnums=(1,))
    assert jax.grad(f)(0.0, True) == 1.0


def test_closed_over_values_have_gradients():
    f = lambda w: jax.checkpoint(lambda x: jnp.sin(w * x))(2.0)
    np.testing.assert_allclose(jax.grad(f)(0.5), 2 * np.cos(1.0), rtol=1e-6)


def test_bad_arguments():
    with pytest.raises(TypeError, match="Expected a callable"):
        jax.checkpoint(3)
    with pytest.raises(TypeError, match="policy must be callable"):
        jax.checkpoint(chain, policy=3)
    with pytest.raises(NotImplementedError, match="concrete"):
        jax.checkpoint(chain, concrete=True)


def test_policies_that_offload_keep():
    keep = policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["a"],
        names_which_can_be_offloaded=["b"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def f(x):
        return checkpoint_name(jnp.sin(checkpoint_name(jnp.sin(x), "a")), "b") * x

    names = [
        text for _, text in jax.ad_checkpoint.saved_residuals(jax.checkpoint(f, policy=keep), 1.0)
    ]
    assert sum("named 'a'" in t or "named 'b'" in t for t in names) == 2
    with pytest.raises(ValueError, match="should not intersect"):
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a"],
            names_which_can_be_offloaded=["a"],
            offload_src="device",
            offload_dst="pinned_host",
        )
    dots = policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    x = jnp.ones((2, 2))
    g = jax.checkpoint(lambda x: jnp.sin(x @ x), policy=dots)
    assert any("dot" in text for _, text in jax.ad_checkpoint.saved_residuals(g, x))


def test_static_arguments_without_a_hash():
    f = jax.checkpoint(lambda x, options, y: x * options["scale"] + y, static_argnums=(1,))
    assert f(2.0, {"scale": 3}, 1.0) == 7
    assert jax.grad(f)(2.0, {"scale": 3}, 1.0) == 3
    assert jax.grad(f, argnums=2)(2.0, {"scale": 4}, 1.0) == 1


@pytest.mark.parametrize(
    "unsaved, times", [((), 1), (("y",), 1), (("z",), 1), (("y", "z"), 2), (None, 2)]
)
def test_prints_are_repeated_where_what_they_print_is(capsys, unsaved, times):
    def f(x):
        y = checkpoint_name(x + 1, "y")
        z = checkpoint_name(y * 2, "z")
        jax.debug.print("{} {}", y, z)
        return jnp.exp(z)

    def policy(primitive, *_, **params):
        if unsaved is None or primitive.name != "name":
            return unsaved is not None
        return params["name"] not in unsaved

    jax.grad(jax.checkpoint(f, policy=policy))(2.0)
    assert capsys.readouterr().out == "3.0 6.0\n" * times
