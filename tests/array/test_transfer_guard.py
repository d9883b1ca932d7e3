# tests/array/test_transfer_guard.py - transfers that the guards let through, level by level.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp

X = jnp.arange(3.0)
N = np.ones(3, "float32")
JITTED = shardax.jit(lambda x: x + 1)
PMAPPED = shardax.pmap(lambda x: 2 * x)

IMPLICIT = {
    "ones": lambda: jnp.ones(3),
    "a NumPy operand": lambda: X + N,
    "a Python number": lambda: X * 2.0,
    "jnp.asarray": lambda: jnp.asarray(N),
    "a list": lambda: jnp.array([1, 2]),
    "jit of a NumPy array": lambda: JITTED(N),
    "jit of a number": lambda: JITTED(1.0),
    "pmap of a NumPy array": lambda: PMAPPED(np.ones((4, 2))),
}
NONE = {
    "an op on arrays": lambda: X + X,
    "jit of an array": lambda: JITTED(X),
    "reshape": lambda: X.reshape(3, 1),
    "fetching": lambda: np.asarray(X),
    "printing": lambda: str(X),
    "sum": lambda: X.sum(),
    "arange": lambda: jnp.arange(5),
}


@pytest.mark.parametrize("guard", [shardax.transfer_guard, shardax.transfer_guard_host_to_device])
@pytest.mark.parametrize("level", ["disallow", "disallow_explicit"])
@pytest.mark.parametrize("name", IMPLICIT)
def test_refuses_what_an_op_takes_from_the_host(guard, level, name):
    with guard(level):
        with pytest.raises(shardax.errors.JaxRuntimeError, match="Disallowed host-to-device"):
            IMPLICIT[name]()
        with shardax.transfer_guard("allow"):
            IMPLICIT[name]()


@pytest.mark.parametrize("name", NONE)
def test_lets_through_what_moves_nothing(name):
    with shardax.transfer_guard("disallow_explicit"):
        NONE[name]()


def test_device_put_is_explicit():
    other = shardax.devices()[1]
    with shardax.transfer_guard("disallow"):
        shardax.device_put(N)
        shardax.device_put(X, other)
    with shardax.transfer_guard("disallow_explicit"):
        with pytest.raises(shardax.errors.JaxRuntimeError, match=r"host-to-device.*float32\[3\]"):
            shardax.device_put(N)
        with pytest.raises(shardax.errors.JaxRuntimeError, match="device-to-device"):
            shardax.device_put(X, other)
        shardax.device_put(X, shardax.devices()[0])


def test_constants_of_a_program_are_no_transfers():
    with shardax.transfer_guard("disallow"):
        assert shardax.jit(lambda x: 3 * x + N)(X).shape == (3,)


def test_log_writes_a_line(capfd):
    with shardax.transfer_guard("log"):
        jnp.ones(2)
        shardax.device_put(N)
    assert capfd.readouterr().err == "host-to-device transfer: aval=ShapedArray(float32[])\n"


def test_unknown_levels():
    with pytest.raises(ValueError, match="'allow', 'log', 'disallow'.*got 'no'"):
        shardax.transfer_guard("no").__enter__()
    with pytest.raises(ValueError, match="'allow', 'log', 'disallow'.*got 'no'"):
        shardax.config.update("jax_transfer_guard", "no")


def test_arguments_that_jit_moves():
    there = shardax.sharding.SingleDeviceSharding(shardax.devices()[1])
    moves = [
        shardax.jit(lambda x, n: n * x, in_shardings=there, static_argnums=1),
        shardax.jit(lambda x, n: n * x, device=shardax.devices()[1], static_argnums=1),
    ]
    for f in moves:
        with shardax.transfer_guard_device_to_device("disallow"):
            with pytest.raises(shardax.errors.JaxRuntimeError, match="Disallowed device-to-device"):
                f(X, 2)
            f(shardax.device_put(X, there), 2)
        f(X, 2)
