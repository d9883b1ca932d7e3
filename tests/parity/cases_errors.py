"""tests/parity/cases_errors.py - tracer errors, leaks, wrong dtypes and shapes: the class and the essence of the text."""

import numpy as np

import corpus as parity


def setup(names):
    jax = names["jax"]
    names.update(grad=jax.grad, vmap=jax.vmap, jit=jax.jit, pmap=jax.pmap)
    names["maps"] = {"jit": jax.jit, "pmap": jax.pmap, "vmap": jax.vmap}


corpus = parity.Corpus(setup)

TRACED = {
    "if x > 0: pass": (lambda x: 1 if x > 0 else 2, "Attempted boolean conversion of traced array"),
    "while x < 3": (
        lambda x: [x for _ in iter(lambda: bool(x < 3), True)],
        "Attempted boolean conversion",
    ),
    "x and 1": (lambda x: x and 1, "traced array"),
    "not x": (lambda x: not x, "traced array"),
    "float(x)": (float, "traced array"),
    "int(x)": (lambda x: int(x.astype("int32")), "traced array"),
    "complex(x)": (complex, "traced array"),
    "range(x)": (lambda x: range(x.astype("int32")), "__index__"),
    "list[x]": (lambda x: [1, 2][x.astype("int32")], "__index__"),
    "np.asarray(x)": (np.asarray, "__array__"),
    "np.sin(x)": (np.sin, "__array__"),
    "x.item()": (lambda x: x.item(), "traced array"),
    "x.tolist()": (lambda x: x.tolist(), "traced array"),
    "hash(x)": (hash, "unhashable"),
    "{x: 1}": (lambda x: {x: 1}, "unhashable"),
    "x in set": (lambda x: x in {1, 2}, "unhashable"),
    "f'{x:.2f}'": (lambda x: f"{x:.2f}", "unsupported format string|format"),
    "x.block": (lambda x: x.nonexistent, "nonexistent"),
    "len(x)": (len, "unsized"),
    "for v in x": (lambda x: [v for v in x], "0-d"),
    "min(x, 3)": (lambda x: min(x, 3), "traced array"),
}


def traced(jax, jnp, lax, transform, function):
    return getattr(jax, transform)(lambda x: (function(x), x)[1])(
        jnp.arange(3.0) if transform != "jit" else 1.0
    )


for transform in ("jit", "pmap", "vmap"):
    for name, (function, text) in TRACED.items():
        corpus.add(
            f"{name} under {transform}",
            lambda j, n, x, t=transform, f=function: traced(j, n, x, t, f),
            error=text,
        )

corpus.expressions("""
jit(lambda n: jnp.zeros(n))(3) !! Shapes must be 1D sequences of concrete values of integer type, got
jit(lambda n: jnp.ones((2, n)))(3) !! Shapes must be 1D sequences of concrete values of integer type, got
jit(lambda n: jnp.arange(n))(3) !! (?i)concrete
jit(lambda n: jnp.linspace(0, 1, n))(3) !!
jit(lambda n: f4.reshape(n, -1))(2) !! Shapes must be 1D sequences of concrete values of integer type, got
jit(lambda n: jnp.broadcast_to(1., (n,)))(2) !! Shapes must be 1D sequences of concrete values of integer type
jit(lambda x: jnp.unique(x))(f4) !! size
jit(lambda x: jnp.where(x > 1))(f4) !! size
jit(lambda x: x[x > 1])(f4) !! Array boolean indices must be concrete; got bool\\[4\\]
jit(lambda a: jnp.sum(m23, axis=a))(0) !!
jit(lambda a: jnp.repeat(f4, a))(i4) !!
jit(lambda x: jnp.split(f4, x))(2) !!
jit(lambda x: jax.nn.one_hot(i4, x))(4) !!
jit(lambda x: 'abc')(1.) !! is not a valid JAX type
jit(lambda x: x)('abc') !! (is not a valid JAX type|abstract array|not an array)
jit(lambda x: x)(object()) !!
jit(lambda x: {1, 2})(1.) !! is not a valid JAX type
jit(lambda x, n: x, static_argnums=1)(1., [1]) !! Non-hashable static arguments are (not supported|used)
jit(lambda x, n: x, static_argnums=1)(1., f4) !!
jit(lambda x, n: x, static_argnames='n')(1., n=[1]) !! Non-hashable static arguments
jit(lambda x: x, static_argnums=3)(1.) !! static_argnums=\\(3,\\), but only accepts 1 positional arguments
jit(lambda x: x)(1., 2.) !! takes 1 positional argument
jit(lambda x: x)() !! missing 1 required positional argument
jit(3) !! Expected a callable value, got 3
jit(lambda x: x, static_argnames='y')(1.) !! invalid argnames {'y'} in static_argnames
jit(lambda x: x, nonsense=1)(1.) !!
jit(lambda x: x @ x)(m23) !!
jit(lambda x, y: x + y)(f4, f4[:3]) !! Incompatible shapes|incompatible shapes
jit(lambda x: x + 'a')(f4) !!
jit(lambda x: 1 / 0)(1.) !! division by zero
jit(lambda x: {}['missing'])(1.) !! missing
jit(lambda x: [][1])(1.) !! list index out of range
jit(lambda x: (_ for _ in ()).throw(RuntimeError('mine')))(1.) !! mine
vmap(lambda x: (_ for _ in ()).throw(KeyError('mine')))(f4) !! mine
grad(lambda x: (_ for _ in ()).throw(OSError('mine')))(1.) !! mine
lax.scan(lambda c, x: (_ for _ in ()).throw(RuntimeError('mine')), 0., f4) !! mine
lax.cond(True, lambda: (_ for _ in ()).throw(RuntimeError('mine')), lambda: 1.) !! mine
vmap(lambda x: jnp.zeros(x.astype(int)))(f4) !! Shapes must be 1D sequences of concrete values of integer type
vmap(lambda x: f4[:x.astype(int)])(f4) !!
grad(lambda x: np.sin(x))(1.) !! __array__\\(\\)
grad(lambda x: float(x) * 2)(1.) !! traced array
grad(jit(lambda x: x if x > 0 else -x))(1.) !! Attempted boolean conversion of traced array with shape bool\\[\\]
grad(lambda x: x[0])(1.) !!
jnp.sum('a') !!
jnp.sum(f4, axis=1) !! axis 1 is out of bounds for array of dimension 1
jnp.sum(f4, axis=(0, 0)) !! duplicate
jnp.sum(f4, axis=0.5) !!
jnp.sum(f4, keepdims=1, nonsense=2) !! nonsense
jnp.concatenate(3) !!
jnp.dot(f4) !!
jnp.sin() !!
jnp.sin(f4, f4) !!
jnp.nonexistent !! has no attribute 'nonexistent'
lax.nonexistent !! has no attribute 'nonexistent'
jax.nonexistent !! has no attribute 'nonexistent'
jnp.zeros((2,), dtype='nonsense') !!
jnp.zeros((2,), dtype=str) !!
f4.astype('nonsense') !!
jnp.maximum(f4, 'a') !!
jnp.matmul(f4, 2.) !!
jnp.einsum('ij,jk->ik', m23, m23) !!
jnp.einsum('i', m23) !!
jnp.arange() !!
jnp.arange('a') !!
jnp.arange(0, 5, 0) !!
jnp.linspace(0, 1, -1) !!
jnp.eye(-1) !!
jnp.full((2,), f4) !! (Incompatible (types|shapes) for broadcasting)
jnp.array([[1, 2], [1]]) !!
jnp.stack(f0) !!
jnp.take(f4) !!
jnp.clip() !!
jnp.where() !!
jnp.split(f4, 0) !!
jax.nn.softmax('a') !!
jax.device_put('a') !!
jax.device_put(1, 'cpu') !!
jax.tree_util.tree_map(lambda a, b: a, [1], (1,)) !! (Expected list|list)
jax.tree_util.tree_map(lambda a, b: a, [1], [1, 2]) !! (List arity mismatch|different lengths of list)
jax.tree_util.tree_map(lambda a, b: a, {'a': 1}, {'b': 1}) !! (Dict key mismatch|key)
jax.tree_util.tree_unflatten(jax.tree_util.tree_structure([1, 2]), [1]) !! Too few leaves for PyTreeDef; expected 2, got 1
jax.tree_util.tree_unflatten(jax.tree_util.tree_structure([1]), [1, 2]) !! Too many leaves for PyTreeDef; expected 1
jax.tree_util.tree_leaves({1: 1, 'a': 2}) !! Comparator raised exception while sorting pytree dictionary keys
[issubclass(getattr(jax.errors, n), TypeError) for n in ('TracerBoolConversionError', 'ConcretizationTypeError', 'TracerArrayConversionError')]
[issubclass(getattr(jax.errors, n), c) for n, c in (('TracerIntegerConversionError', TypeError), ('NonConcreteBooleanIndexError', IndexError))]
[issubclass(jax.errors.UnexpectedTracerError, TypeError), issubclass(jax.errors.TracerBoolConversionError, jax.errors.ConcretizationTypeError)]
[issubclass(jax.errors.JaxRuntimeError, RuntimeError), issubclass(jax.errors.KeyReuseError, RuntimeError)]
[jit(lambda x: (out.append(repr(x)), x)[1])(f4) is None or out for out in [[]]]
[vmap(lambda x: (out.append(repr(x)), x)[1])(f4) is None or out for out in [[]]]
[grad(lambda x: (out.append(repr(x)), x)[1])(1.0) is None or out for out in [[]]]
[jit(lambda x: (out.append(str(x)), x)[1])(1) is None or out for out in [[]]]
[jit(lambda x: (out.append(f'{x}'), x)[1])(f0) is None or out for out in [[]]]
""")


def leak(jax, jnp, lax, transform):
    leaked = []
    argument = 1.0 if transform in ("jit", "grad") else jnp.arange(3.0)
    getattr(jax, transform)(lambda x: (leaked.append(x * 2), x)[1])(argument)
    return leaked[0] + 1


corpus.table(
    {f"leak out of {t}": (t,) for t in ("jit", "pmap", "vmap", "grad")},
    leak,
    error="unexpected tracer|leaked|scope",
)


@corpus.case(error="unexpected tracer|leaked|scope")
def case_leak_out_of_scan(jax, jnp, lax):
    leaked = []
    lax.scan(lambda c, x: (leaked.append(c), (c, x))[1], 0.0, jnp.arange(3.0))
    return leaked[0] + 1


@corpus.case()
def case_error_names_the_user_function_and_argument(jax, jnp, lax):
    def my_function(first, second):
        return first if second > 0 else -first

    found = []
    for transform in (jax.jit, jax.vmap):
        try:
            transform(my_function)(jnp.ones(2), jnp.ones(2))
        except Exception as e:
            found.append(("my_function" in str(e), "second" in str(e)))
    return found[0]


@corpus.case(
    reference=lambda jax, jnp, lax: (True, True, True),
    because="JAX's pmap names its own internals here.",
)
def case_pmap_error_names_the_user_function_and_argument(jax, jnp, lax):
    def my_function(first, second):
        return first if second > 0 else -first

    try:
        jax.pmap(my_function)(jnp.ones(2), jnp.ones(2))
    except jax.errors.TracerBoolConversionError as e:
        return "my_function" in str(e), "second" in str(e), "cases_errors.py" in str(e)


@corpus.case()
def case_work_goes_on_after_errors(jax, jnp, lax):
    for transform in (jax.jit, jax.vmap, jax.pmap, jax.grad):
        for _ in range(2):
            try:
                transform(lambda x: jnp.sin(x) + [][0])(jnp.arange(3.0))
            except IndexError:
                pass
    x = jnp.arange(3.0)
    return (
        jax.jit(jnp.sin)(x),
        jax.pmap(lambda v: v / lax.psum(v, "i"), "i")(x),
        jax.grad(jnp.sin)(1.0),
    )


corpus.expressions(
    "jnp.linalg.cholesky(f4) !!",
    raises=("TypeError", r"must have rank at least 2, but got shape=\(4,\)"),
    because="JAX's TypeError is about the permutation of a transpose of its own.",
)
