"""tests/parity/cases_scipy.py - jax.scipy and jax.image."""

import inspect

import numpy as np

import corpus as parity

X = np.float32([-1.5, -0.2, 0, 0.1, 0.3, 0.5, 0.75, 1.1, 1.3, 2, 3, 5, 9])
A = np.float32([0.7, 1, 2, 3.5, 0.5, 1.2, 2, 1, 5, 2.2, 0.9, 3, 2])
B = A[::-1] + np.float32(0.2)
P = np.linspace(0.05, 0.95, 13, dtype=np.float32)
PARAMETERS = {
    "p": P,
    "a": A,
    "b": B,
    "n": np.full(13, 6, np.float32),
    "df": A,
    "beta": A,
    "kappa": A,
    "c": P,
    "mu": A,
}
FUNCTIONS = {
    "bernoulli": "logpmf pmf cdf ppf",
    "beta": "logpdf pdf cdf logcdf sf logsf",
    "betabinom": "logpmf pmf",
    "binom": "logpmf pmf",
    "cauchy": "logpdf pdf cdf logcdf sf logsf ppf isf",
    "chi2": "cdf logcdf sf logsf",
    "expon": "logpdf pdf cdf logcdf sf logsf ppf",
    "gamma": "logpdf pdf cdf logcdf sf logsf",
    "gennorm": "logpdf pdf cdf",
    "geom": "logpmf pmf",
    "gumbel_l": "logpdf pdf cdf logcdf sf logsf ppf",
    "gumbel_r": "logpdf pdf cdf logcdf ppf",
    "laplace": "logpdf pdf cdf",
    "logistic": "logpdf pdf cdf sf ppf isf",
    "nbinom": "logpmf pmf",
    "norm": "logpdf pdf cdf logcdf sf logsf ppf isf",
    "pareto": "logpdf pdf cdf logcdf sf logsf ppf",
    "poisson": "logpmf pmf cdf",
    "t": "logpdf pdf",
    "truncnorm": "logpdf pdf cdf logcdf sf logsf",
    "uniform": "logpdf pdf cdf ppf",
    "vonmises": "logpdf pdf",
    "wrapcauchy": "logpdf pdf",
}


def setup(names):
    import importlib

    package = names["jax"].__name__
    names.update(
        special=importlib.import_module(f"{package}.scipy.special"),
        stats=importlib.import_module(f"{package}.scipy.stats"),
        image=importlib.import_module(f"{package}.image"),
        signal=importlib.import_module(f"{package}.scipy.signal"),
        linalg=importlib.import_module(f"{package}.scipy.linalg"),
        ndimage=importlib.import_module(f"{package}.scipy.ndimage"),
        cg=importlib.import_module(f"{package}.scipy.sparse.linalg").cg,
        wave=np.float32([1, -2, 3, 0.5, 2, -1, 4]),
        window=np.float32([0.5, 2, -1]),
        plane=np.float32(
            [[1, 2, -1, 0, 3], [0.5, -2, 1, 1, 2], [2, 2, 0, -1, 1], [3, 1, -2, 1, 0]]
        ),
        stamp=np.float32([[1, -1], [2, 0.5], [0, 1]]),
        MODES=("full", "same", "valid"),
        places=[
            np.linspace(-9, 9, 12).astype(np.float32),
            np.linspace(7, -8, 12).astype(np.float32),
        ],
        spd=np.float32([[4, 1, 0.5], [1, 3, -0.2], [0.5, -0.2, 2]]),
        x=X,
        a=A,
        b=B,
        p=P,
        grads=lambda f, *args: names["jax"].vmap(names["jax"].grad(f))(*args),
        pixels=np.linspace(0, 1, 70, dtype=np.float32).reshape(5, 7, 2) ** 2,
        cov=np.float32([[2, 0.3], [0.3, 1]]),
        ranks=np.int32([[3, 1, 1, 3, 5], [2, 2, 7, 7, 7]]),
    )


corpus = parity.Corpus(setup, rtol=1e-5, atol=2e-6)


def distribution(name, function):
    def case(jax, jnp, lax):
        import importlib

        module = importlib.import_module(f"{jax.__name__}.scipy.stats.{name}")
        f = getattr(module, function)
        names = list(inspect.signature(f).parameters)
        first = P if function in ("ppf", "isf") else X
        if function.endswith("pmf") or name in ("poisson", "bernoulli"):
            first = P if function == "ppf" else np.round(np.abs(X))
        args = [PARAMETERS[n] for n in names[1:] if n not in ("loc", "scale")]
        if name == "truncnorm":
            args = [-A, B]
        moved = {n: v for n, v in {"loc": 1, "scale": np.float32(1.7)}.items() if n in names}
        return f(first, *args), f(first, *args, **moved)

    return case


for _name, _functions in FUNCTIONS.items():
    for _function in _functions.split():
        corpus.add(f"stats.{_name}.{_function}", distribution(_name, _function))

corpus.expressions("""
stats.multivariate_normal.logpdf(np.arange(6, dtype=np.float32).reshape(3, 2), np.ones(2, np.float32), cov)
stats.multivariate_normal.pdf(np.float32([0, 1]), 0.0, 2.0)
stats.multivariate_normal.pdf(np.float32([0, 1]), np.zeros(2, np.float32), 2.0)
stats.multivariate_normal.pdf(np.ones((4, 3, 2), np.float32), np.zeros((3, 2), np.float32), np.stack([cov] * 3))
stats.dirichlet.logpdf(np.float32([0.2, 0.3, 0.5]), np.float32([1, 2, 3]))
stats.dirichlet.pdf(np.float32([0.2, 0.3]), np.float32([1, 2, 3]))
stats.dirichlet.logpdf(np.float32([0.2]), np.float32([1, 2, 3])) !! must have either the same number of entries
stats.multinomial.logpmf(np.array([1, 2, 3]), 6, np.float32([0.2, 0.3, 0.5]))
[stats.rankdata(ranks, m) for m in ("average", "min", "max", "dense", "ordinal")]
[stats.rankdata(ranks, m, axis=1) for m in ("average", "min", "max", "dense", "ordinal")]
stats.beta.logpdf(np.float32([0.5, 0.5, 0.5, 5, np.nan, 0]), np.float32([-1, 2, 2, -2, 2, 0.5]), 2.0, 0, np.float32([1, 1, -1, 1, 1, 1]))
[special.logsumexp(jnp.array([1 + 2j, 3 - 1j]), return_sign=r) for r in (False, True)]
[special.logsumexp(np.float32([1, 2]), b=c, return_sign=r) for c in (np.float32([1, -1]), np.complex64([1 + 1j, -1])) for r in (False, True)]
[special.logsumexp(np.zeros(s, np.float32), axis=0) for s in ((0,), (0, 3))]
jax.random.orthogonal(jax.random.key(0), 2, dtype=np.complex64)
[jax.random.orthogonal(jax.random.key(0), 0).shape, jnp.linalg.svd(jnp.zeros((3, 0)))[0].shape, jnp.linalg.qr(jnp.zeros((0, 3)))[1].shape]
jax.random.choice(jax.random.key(0), 5, 3) !! must be a sequence
jax.random.key(2**63) !!
[jax.nn.initializers.variance_scaling(1.0, "fan_in", d)(jax.random.key(0), (2, 3), np.complex64) for d in ("normal", "truncated_normal", "uniform")]
jax.nn.initializers.lecun_normal(in_axis=(0,), out_axis=())(jax.random.key(0), (3,))
jax.nn.initializers.lecun_normal()(jax.random.key(0), (3,)) !! with default in_axis
[stats.chi2.pdf(x[3:], a[3:]), stats.chi2.logpdf(x[3:], a[3:], 0.05, 1.5)]
[grads(f, x[:3], y) for f in (special.xlogy, special.xlog1py) for y in (np.float32([0, 1, 2]), np.float32([2, -1, -1]))]
[jax.grad(f, i)(x, y) for f in (special.xlogy, special.xlog1py) for i in (0, 1) for x, y in ((0.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0))]
stats.rankdata(ranks, "x") !! unknown method
[tuple(stats.mode(ranks)), tuple(stats.mode(ranks, axis=1)), tuple(stats.mode(ranks, axis=None, keepdims=True))]
[stats.sem(ranks), stats.sem(ranks, axis=None), stats.sem(x, nan_policy="omit")]
[grads(f, x) for f in (stats.norm.logpdf, stats.cauchy.logpdf, stats.expon.logpdf, stats.laplace.logpdf)]
[grads(f, x, a) for f in (stats.gamma.logpdf, stats.t.logpdf, stats.vonmises.logpdf)]
grads(stats.beta.logpdf, x, a, b)
[f(x) for f in (special.gamma, special.gammasgn, special.i0, special.i0e, special.i1, special.i1e)]
[grads(f, x) for f in (special.gamma, special.i0, special.i0e, special.i1, special.i1e)]
[f(abs(x)) for f in (special.factorial, special.loggamma, special.logit, special.entr)]
[grads(f, abs(x)) for f in (special.logit, special.entr)]
[grads(special.logit, np.float32([0, -0.0, 1]))]
[special.log_ndtr(np.float32([-30, -100, -12, -9, -5, 0, 4, 6, 10])), special.log_ndtr(x)]
[special.polygamma(1, a), special.zeta(2, a), special.multigammaln(a + 2, 3)]
[f(abs(x), a) for f in (special.beta, special.betaln, special.boxcox, special.boxcox1p, special.kl_div, special.rel_entr)]
[grads(f, abs(x) + 0.25, a) for f in (special.betaln, special.boxcox, special.boxcox1p, special.kl_div, special.rel_entr)]
[special.comb(np.float32([5, 6, 3, 4]), np.float32([2, 0, 5, -1])), special.comb(5.0, 2.0, repetition=True), special.poch(a, b)]
special.factorial(3, exact=True) !!
[image.resize(pixels, s, "linear", antialias=t) for s in ((10, 14, 2), (3, 4, 2), (2, 9, 3)) for t in (True, False)]
[image.resize(pixels, s, "cubic", antialias=t) for s in ((10, 14, 2), (3, 4, 2), (2, 9, 3)) for t in (True, False)]
[image.resize(pixels, s, "lanczos3", antialias=t) for s in ((10, 14, 2), (3, 4, 2), (2, 9, 3)) for t in (True, False)]
[image.resize(pixels, (3, 11, 2), m) for m in ("lanczos5", "area", "cubic-pytorch", "bilinear", "bicubic", "nearest")]
[image.resize(np.arange(35, dtype=t).reshape(5, 7), (3, 3), m) for t in ("int32", "uint8") for m in ("nearest", "cubic")]
image.resize(pixels, (3, 3, 2), "cubic-pytorch", antialias=False)
image.resize(pixels, (3, 3, 2), image.ResizeMethod.CUBIC)
image.resize(pixels, (0, 3, 2), "linear")
image.resize(pixels, (3, 3, 2), "foo") !! Unknown resize method "foo"
image.resize(pixels, (3, 3), "linear") !! shape must have length equal to the number of dimensions
jax.grad(lambda v: (image.resize(v, (3, 3, 2), "cubic") ** 2).sum())(pixels)
image.scale_and_translate(pixels, (8, 9, 2), (0, -2), np.float32([1.3, 0.8]), np.float32([0.5, -1]), "linear")
jax.grad(lambda s: image.scale_and_translate(pixels, (8, 9, 2), (0, 1), s, np.float32([0.5, -1]), "cubic").sum())(np.float32([1.3, 0.8]))
image.scale_and_translate(pixels, (8, 9, 2), (0, 1), np.ones(2), np.ones(2), "nearest") !! Nearest neighbor resampling is not
[f(wave, window, m) for f in (signal.convolve, signal.correlate) for m in MODES]
[f(window, wave, m) for f in (signal.convolve, signal.correlate) for m in MODES]
[f(plane, stamp, m) for f in (signal.convolve, signal.correlate, signal.convolve2d, signal.correlate2d) for m in MODES]
[f(wave, window, m, method="fft") for f in (signal.convolve, signal.correlate) for m in MODES]
[signal.fftconvolve(plane, stamp, m) for m in MODES]
[signal.fftconvolve(plane, plane[:2], m, axes=0) for m in MODES]
signal.fftconvolve(plane, stamp, axes=0) !! mapped axes must have same shape
signal.convolve(np.arange(5), np.arange(3))
signal.convolve(plane, wave) !! must have the same number of dimensions
signal.convolve(wave, window, "x") !! mode must be one of
signal.convolve2d(plane, stamp, boundary="wrap") !! only supports boundary='fill'
[signal.detrend(plane, axis=d, type=t) for d in (0, -1) for t in ("linear", "constant")]
signal.detrend(wave, bp=3)
signal.detrend(wave, type="x") !! must be 'linear' or 'constant'
linalg.block_diag(plane, 3.0, wave, stamp)
[linalg.toeplitz(wave, window), linalg.toeplitz(wave), linalg.toeplitz(wave + 1j * wave)]
[linalg.cho_solve(linalg.cho_factor(spd, lower=t), v) for t in (False, True) for v in (wave[:3], spd)]
[linalg.expm(spd - 2), linalg.expm(np.stack([spd, -spd])), linalg.expm(np.eye(2, dtype=np.int32))]
linalg.expm(np.triu(spd), upper_triangular=True)
jax.grad(lambda q: linalg.expm(q).sum())(spd / 4)
linalg.expm(plane) !! square matrix
linalg.polar(spd)
[ndimage.map_coordinates(plane, places, 1, m, cval=0.5) for m in ("constant", "nearest", "wrap", "mirror", "reflect")]
[ndimage.map_coordinates(plane, places, 0, m) for m in ("constant", "nearest", "wrap", "mirror", "reflect")]
ndimage.map_coordinates((plane * 10).astype(np.int32), places, 1, "reflect")
jax.grad(lambda c: ndimage.map_coordinates(plane, [c, places[1]], 1, "wrap").sum())(places[0])
ndimage.map_coordinates(plane, places, 2) !! requires order<=1
ndimage.map_coordinates(plane, places[:1], 1) !! must be a sequence of length input.ndim
ndimage.map_coordinates(plane, places, 1, "x") !! does not yet support mode x
[cg(spd, wave[:3])[0], cg(lambda v: spd @ v, wave[:3], x0=window, maxiter=2)[0], cg(spd, wave[:3], M=np.diag(1 / np.diag(spd)))[0]]
jax.grad(lambda m: cg(m, wave[:3])[0].sum())(spd)
jax.vmap(lambda v: cg(spd, v)[0])(spd)
cg(lambda v: {"a": 2 * v["a"], "b": 3 * v["b"]}, {"a": wave, "b": jnp.float32(2)})[0]
cg(spd[:2], wave[:3]) !! must be a square matrix
cg(spd, wave[:3], x0=wave[:2]) !! must have matching shapes
""")
