"""tests/api/test_pickled_functions.py - transformed functions as pickles, by name and by value."""

import copy
import operator
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.sharding import PartitionSpec as P


def square(x):
    return (x**2).sum()


X = jnp.arange(4.0)
MADE = {
    "grad": lambda: shardax.grad(square),
    "grad of several": lambda: shardax.grad(square, argnums=(0,)),
    "value_and_grad": lambda: shardax.value_and_grad(square),
    "grad with aux": lambda: shardax.grad(lambda x: (square(x), x), has_aux=True),
    "vmap": lambda: shardax.vmap(lambda v: v * 2, in_axes=0, out_axes=0),
    "vmap with a name": lambda: shardax.vmap(lambda v: shardax.lax.psum(v, "i"), axis_name="i"),
    "pmap": lambda: shardax.pmap(lambda v: v - shardax.lax.pmean(v, "i"), axis_name="i"),
    "jit": lambda: shardax.jit(square),
    "jit of grad": lambda: shardax.jit(shardax.grad(square)),
    "grad of jit": lambda: shardax.grad(shardax.jit(square)),
    "vmap of grad": lambda: shardax.vmap(shardax.grad(lambda v: v**3)),
    "jacfwd": lambda: shardax.jacfwd(jnp.sin),
    "hessian": lambda: shardax.hessian(square),
    "checkpoint": lambda: shardax.grad(shardax.checkpoint(square)),
    "closure": lambda: (lambda h: lambda x: h(x)[1])(shardax.value_and_grad(square)),
    "shard_map": lambda: shardax.shard_map(
        lambda a: a * 2, mesh=shardax.make_mesh((2,), ("x",)), in_specs=P("x"), out_specs=P("x")
    ),
}


def same(a, b):
    leaves = zip(shardax.tree.leaves(a), shardax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y) for x, y in leaves)


@pytest.mark.parametrize("name", MADE)
def test_by_value(name):
    cloudpickle = pytest.importorskip("cloudpickle")
    function = MADE[name]()
    again = pickle.loads(cloudpickle.dumps(function))
    assert again is not function and same(again(X), function(X))


def test_in_another_process():
    cloudpickle = pytest.importorskip("cloudpickle")
    program = """
        import sys, cloudpickle, shardax, shardax.numpy as jnp

        @shardax.jit
        def double(x):
            return 2 * x

        gradient = shardax.grad(lambda x: double(x).sum() + (x ** 2).sum())
        sys.stdout.buffer.write(cloudpickle.dumps([double, gradient]))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    double, gradient = cloudpickle.loads(data)  # this process has no `double` in its main module
    assert double(3.0) == 6 and gradient(X).tolist() == [2, 4, 6, 8]


@shardax.jit
def named(x):
    return x + 1


gradient_of_square = shardax.grad(square)
gradient_of_square.__qualname__ = "gradient_of_square"


def test_by_name():
    assert pickle.loads(pickle.dumps(named)) is named
    assert pickle.loads(pickle.dumps(gradient_of_square)) is gradient_of_square
    assert copy.deepcopy(named) is named
    assert pickle.loads(pickle.dumps(shardax.grad(square)))(X).tolist() == [0, 2, 4, 6]
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(shardax.grad(lambda x: x))


class Callable:
    def __call__(self, x):
        return x


def multiplied(a, b):
    """A product."""
    return a * b


@pytest.mark.parametrize(
    "transform",
    [shardax.jit, shardax.pmap, shardax.vmap, shardax.grad, shardax.value_and_grad,
     shardax.checkpoint, shardax.jacfwd, shardax.jacrev, shardax.hessian],
)  # fmt: skip
def test_names_of_callables(transform):
    import functools

    partial = functools.partial(functools.partial(multiplied), 2)
    for function in (partial, shardax.tree_util.Partial(multiplied, 2)):
        made = transform(function)
        assert (made.__name__, made.__qualname__) == ("multiplied", "multiplied")
    for function in (Callable(), operator.itemgetter(0)):
        assert transform(function).__name__ == "<unnamed function>"
    assert transform(Callable().__call__).__qualname__ == "Callable.__call__"
