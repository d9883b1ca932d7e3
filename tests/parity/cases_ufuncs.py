"""tests/parity/cases_ufuncs.py - jnp's ufuncs and their methods, vectorize, histograms, weighted quantiles."""

import numpy as np

import corpus as parity


def setup(names):
    jnp = names["jnp"]
    names.update(
        i4=jnp.array([1, 2, 3, 4]),
        f6=jnp.arange(6.0),
        m23=jnp.float32([[1, -2, 3], [0.5, 5, -6]]),
        b23=jnp.array([[True, False, True], [False, True, True]]),
        blend=jnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1),
        points=np.float32([[0, 1], [2, 3], [4, 5.5], [1, 9], [4, 5]]),
    )


corpus = parity.Corpus(setup)
NAMES = """add multiply subtract bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor maximum minimum
    logaddexp logaddexp2 negative""".split()
corpus.expressions(
    "\n".join(
        f"[(u.nin, u.nout, u.nargs, u.identity, repr(u)) for u in [jnp.{n}]]"
        for n in NAMES
        if "logadd" not in n
    )
)
for _name in ("add", "multiply", "subtract", "maximum", "minimum", "logaddexp"):
    corpus.expressions(f"""
        [jnp.{_name}.reduce(m23), jnp.{_name}.reduce(m23, axis=1, keepdims=True), jnp.{_name}.reduce(m23, axis=None)]
        jnp.{_name}.reduce(m23, initial=2.0, where=b23)
        [jnp.{_name}.accumulate(m23), jnp.{_name}.accumulate(m23, axis=1)]
        jnp.{_name}.outer(f6, m23)
        jnp.{_name}.at(m23, (jnp.array([0, 0, 1]), jnp.array([1, 1, 2])), 5.0, inplace=False)
        jnp.{_name}.reduceat(f6, jnp.array([0, 3, 1]))
        jnp.{_name}.reduceat(m23, jnp.array([0, 2, 1]), axis=1)
    """)
corpus.expressions("""
[getattr(jnp, n).reduce(i4) for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor")]
[getattr(jnp, n).accumulate(i4) for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or")]
[blend(i4, i4), blend.reduce(i4), blend.accumulate(i4), blend.outer(i4, i4), blend.identity]
jnp.frompyfunc(lambda x: (x, x + 1), 1, 2)(i4)
jnp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0).reduce(i4[:0])
jnp.negative.at(i4, jnp.array([0, 0, 1]), inplace=False)
jax.jit(jnp.add)(i4, 1)
jnp.add == jnp.add
jnp.add.reduce(i4, dtype=jnp.float32)
jnp.add.at(i4, jnp.array([0]), 1) !! inplace
jnp.subtract.reduce(m23, where=b23) !! does not have an identity, so to use a where mask
jnp.subtract.reduce(m23[:0]) !! zero-size array to reduction operation subtract which has no identity
jnp.subtract.reduce(m23, axis=(0, 1)) !! tuple of axes
jnp.add(i4, i4, out=i4) !! out argument of
jnp.add(i4, i4, where=i4 > 1) !! where argument of
jnp.negative.reduce(i4) !! reduce only supported for binary ufuncs
jnp.add.reduceat(i4, [0, 2]) !! requires ndarray or scalar arguments
jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(jnp.ones((5, 2, 3)), jnp.ones((4, 1, 3)))
jnp.vectorize(lambda a, b: a + b, excluded={1})(m23, 2)
jnp.vectorize(lambda a, b: a if b is None else a + b)(m23, None)
jnp.vectorize(jnp.dot, signature="(x->()")(f6) !! not a valid gufunc signature
jnp.vectorize(jnp.dot, signature="(n),(n)->()")(f6) !! wrong number of positional arguments: expected 2, got 1
jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(f6, f6) !! does not have enough dimensions for all core dimensions
jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(m23, f6) !! inconsistent size for core dimension 'm'
jnp.vectorize(lambda a: (a, a), signature="()->()")(f6) !! wrong number of output arguments: expected 1, got 2
jnp.vectorize(lambda a: a, signature="()->(),()")(f6) !! output must be a tuple when multiple outputs are expected
jnp.vectorize(lambda a: a, signature="()->(n)")(f6) !! does not match core dimensions
jnp.vectorize(lambda a, b: a, signature="(k),(k)->(k)")(f6, None) !! Cannot pass None at locations
jnp.vectorize(lambda a: a, excluded={-1}) !! contains negative numbers
jnp.vectorize(lambda a: a, excluded={1.5}) !! can only exclude integer or string arguments
jnp.histogram2d(f6, f6 * f6, bins=2)
jnp.histogram2d(f6, f6 * f6, bins=[3, jnp.array([0.0, 2.0, 30.0])], density=True)
jnp.histogram2d(f6, f6, bins=jnp.array([0.0, 2.0, 5.0]), weights=f6)
jnp.histogramdd(points, bins=3)
jnp.histogramdd(points, bins=[2, 3], range=[(0, 6), None], weights=f6[:5], density=True)
jnp.histogramdd(points, bins=[2]) !! should be
jnp.einsum_path("ij,jk,kl", jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 5)))[0]
jnp.quantile(m23, jnp.array([0.0, 0.2, 0.5, 1.0]), axis=1, weights=jnp.array([1.0, 0, 2]), method="inverted_cdf")
jnp.percentile(f6, 50, weights=f6, method="inverted_cdf")
jnp.quantile(f6, 0.5, weights=f6) !! Only method 'inverted_cdf' supports weights
jnp.__array_namespace_info__().capabilities()
list(jnp.__array_namespace_info__().dtypes(kind="real floating"))
jnp.__array_namespace_info__().dtypes(kind="x") !!
""")
