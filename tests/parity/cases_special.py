"""tests/parity/cases_special.py - jax.scipy.special: integrals, hypergeometric functions, harmonics."""

import numpy as np

import corpus as parity

X = np.float64([-20, -3, -1, -0.3, -1e-3, 1e-3, 0.2, 0.7, 1, 1.5, 2.5, 4, 6, 9, 15, 30, 60])
EDGES = np.float64([0, 1, np.inf, -np.inf, np.nan])


def setup(names):
    import importlib

    jax = names["jax"]
    names.update(
        s=importlib.import_module(f"{jax.__name__}.scipy.special"),
        x=X,
        up=X[X > 0],
        edges=EDGES,
        small=np.float32([-2, -0.5, 0.3, 1, 2, 5]),
        half=np.float16([0.3, 1, 2]),
        z=np.complex128([0.3 + 1j, -2.5 + 0.1j, 3 - 2j, 1e-3j, -0.5 - 4j, 10 + 0.5j, 5j, 30 - 9j]),
        slope=lambda f, *a, i=0: jax.vmap(jax.grad(f, i))(*a),
        bend=lambda f, *a, i=0: jax.vmap(jax.grad(jax.grad(f, i), i))(*a),
        real=lambda f: lambda x: f(x).real,
        a=np.float64([0.5, 1.5, 2, 3.2]),
        b=np.float64([1.2, 0.7, 3.1, 2]),
        c=np.float64([2.2, 3.7, 4.1, 1.5]),
        t=np.float64([-0.6, 0.1, 0.5, 0.85]),
        n=np.int32([0, 1, 1, 2, 3, 3, 7]),
        m=np.int32([0, 0, 1, -2, 2, -3, 5]),
        theta=np.float64([0.1, 0.5, 1.2, 2, 3, 0.7, 1.5]),
        phi=np.float64([6, 5, 4, 3, 2, 1, 0.2]),
    )


corpus = parity.Corpus(setup, rtol=2e-9, atol=1e-12, config={"jax_enable_x64": True})

corpus.expressions("""
s.expi(x)
[s.exp1(up), s.exp1(np.float64([0, -1, np.nan]))]
[s.expn(k, up) for k in (0, 1, 2, 5, 60)]
s.expn(np.int32([0, 1, -1]), np.float64([0, 0, 1]))
[slope(s.expi, up), slope(s.exp1, up), bend(s.expi, up)]
[s.sici(x), s.sici(edges)]
[slope(lambda v: s.sici(v)[i], up) for i in (0, 1)]
[s.fresnel(x), s.fresnel(edges)]
[slope(lambda v: s.fresnel(v)[i], x[4:-6]) for i in (0, 1)]
[s.spence(up), s.spence(np.float64([0, 1, -1, np.nan]))]
s.spence(np.int32([1, 2])) !! x.dtype=int32 is not supported
[s.owens_t(x, a) for a in (-3.0, -1.0, 0.0, 0.4, 1.0, 2.5, np.inf)]
s.owens_t(edges[1:, None], edges)
[slope(s.owens_t, x, x[::-1], i=i) for i in (0, 1)]
[s.dawsn(x), s.dawsn(edges), slope(s.dawsn, x), bend(s.dawsn, x)]
[s.erfcx(x[1:]), s.erfcx(edges), slope(s.erfcx, x[2:])]
s.dawsn(1j) !! does not support complex-valued inputs
s.expi(1j) !! does not support complex-valued inputs
s.exp1(1j) !! does not support complex-valued inputs
s.sici(1j) !! must be real-valued
s.hyp1f1(1.0, 2.0, 1j) !! does not support complex-valued inputs
[s.wofz(0.5).dtype, s.wofz(np.float32(0.5)).dtype, s.erfcx(np.complex64(1j)).dtype]
s.gamma(z)
s.loggamma(z)
s.gamma(np.complex128([0, -1, np.nan, complex(1, np.nan)]))
slope(real(s.gamma), z)
[s.hyp1f1(a, b, v) for v in (0.0, 0.3, 2.0, 20.0)]
[s.hyp1f1(np.float64([0, 2, 3]), np.float64([0, 2, 0]), 1.5)]
[slope(s.hyp1f1, a, b, np.abs(t), i=i) for i in (0, 1, 2)]
s.hyp2f1(a, b, c, np.abs(t))
[s.hyp2f1(a[:2], b[:2], c[:2], 1.0), s.hyp2f1(a, 0.0, c, 2.0), s.hyp2f1(-2.0, b, c, 0.95), s.hyp2f1(2.0, 1.0, 3.0, np.float64([0.97]))]
[slope(s.hyp2f1, a, b, c, np.abs(t), i=i) for i in (0, 1, 2, 3)]
s.sph_harm_y(n, m, theta, phi)
s.sph_harm_y(n, m, theta, phi, n_max=4)
jax.jit(lambda *v: s.sph_harm_y(*v, n_max=7))(n, m, theta, phi)
jax.jit(s.sph_harm_y)(n, m, theta, phi) !!
s.sph_harm_y(n, m, theta, phi, diff_n=1) !! is not supported
[s.lpmn_values(4, 4, np.float64([-0.9, 0.1, 0.5]), k) for k in (False, True)]
s.lpmn_values(3, 4, np.float64([0.5]), True) !! m!=n
[s.bessel_jn(np.float64([[0.5, 1, 4], [9, -2, 12]]), v=3)]
slope(lambda v: s.bessel_jn(v, v=2)[2], np.float64([0.5, 3, 9]))
s.bessel_jn(1j, v=1) !! complex input not supported
s.bernoulli(-1) !! non-negative
s.polygamma(1.0, 2.0) !! must be of integer type
[s.gammainc(u, v) for u, v in ((0.0, 1.0), (0.0, np.inf), (1.0, 0.0), (1.0, np.inf), (0.0, 0.0), (-1.0, 2.0))]
[s.gammaincc(u, v) for u, v in ((0.0, 1.0), (0.0, np.inf), (1.0, 0.0), (1.0, np.inf), (0.0, 0.0), (-1.0, 2.0))]
[s.betainc(u, v, w) for u, v in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (np.inf, 2.0), (2.0, np.inf), (-1.0, 1.0)) for w in (0.0, 0.5, 1.0)]
[s.comb(0, 0, repetition=True), s.comb(5, 0, repetition=True), s.comb(3.5, 2, repetition=True), s.comb(-1, 0)]
[s.gammasgn(np.nan), s.gammasgn(-0.0), s.gammasgn(-2.0)]
s.gammasgn(1j) !! does not support complex-valued inputs
[slope(s.poch, a, b, i=i) for i in (0, 1)]
[slope(s.zeta, a + 1, b, i=i) for i in (0, 1)]
s.softmax(x, axis=0)
s.softmax(x, 0) !!
""")

# Single precision, and what JAX gives to that precision in double too.
corpus.expressions(
    """
[f(small) for f in (s.expi, s.fresnel, s.erfcx, s.dawsn, s.sici)]
[s.exp1(small[2:]), s.expn(3, small[2:]), s.spence(small[2:])]
[s.hyp1f1(1.0, 2.0, small), s.bessel_jn(small[4:], v=5, n_iter=40)]
[s.bernoulli(k) for k in (0, 1, 2)]
""",
    rtol=5e-6,
    atol=1e-6,
    config={"jax_enable_x64": True},
)

corpus.add(
    "bessel_jn at 0",
    lambda jax, jnp, lax: jax.scipy.special.bessel_jn(np.float64([0.0]), v=2),
    reference=lambda jax, jnp, lax: jnp.array([[1.0], [0.0], [0.0]]),
    because="the limit at 0, where JAX divides 0 by 0",
)
