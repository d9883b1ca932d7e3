"""tests/bench/function_calls.py - the arguments that tests/bench/functions.py calls each function
with.

A table has, by module, the arguments of functions as they are written in a call. Operands are

    x y z       n floats from 0.1 to 0.9, float32
    s           x, sorted
    q           n floats with 1000 different values
    i j         n integers from 1 to 99, int32
    k           n positions from 0 to n - 1
    b d         n booleans
    c           n complex numbers
    w           32 floats, a window or a filter
    m r         square matrices of about n elements; p: symmetric, positive definite
    u           as many floats as a row of m has
    rows        x as 16 columns
    n side key  the size, the side of m, a PRNG key
"""

import numpy as np

NUMPY = {
    "x": """abs absolute acos amax amin angle any all arccos arcsin arcsinh arctan arctanh argmax
        argmin argsort argwhere around array asarray asin asinh atan atanh atleast_2d average cbrt
        ceil conj copy cos cosh count_nonzero cumprod cumsum cumulative_prod
        cumulative_sum deg2rad degrees diff ediff1d empty_like exp exp2 expm1 fabs fix
        flatnonzero flip floor frexp gradient histogram i0 imag iscomplex isfinite isinf isnan
        isneginf isposinf isreal log log10 log1p log2 logical_not max mean median min modf
        nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod
        nanstd nansum nanvar negative nonzero ones_like positive prod ptp rad2deg radians ravel real
        reciprocal rint round sign signbit sin sinc sinh sort sort_complex spacing sqrt square
        squeeze std sum tan tanh trapezoid trim_zeros trunc unwrap var zeros_like""",
    "x, y": """add allclose arctan2 array_equal array_equiv atan2 copysign divide divmod dot equal
        float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot inner isclose
        less less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal pow
        power remainder subtract true_divide vdot vecdot append""",
    "i, j": """bitwise_and bitwise_or bitwise_xor gcd lcm union1d intersect1d setdiff1d setxor1d
        isin""",
    "i, 3": "bitwise_left_shift bitwise_right_shift left_shift right_shift",
    "i": "bitwise_count bitwise_invert bitwise_not invert bincount",
    "b, d": "logical_and logical_or logical_xor",
    "x + 1": "acosh arccosh",
    "q": "unique unique_counts unique_inverse unique_values unique_all",
    "m": """diag diagonal fliplr flipud matrix_transpose rot90 trace transpose tril triu cov
        corrcoef""",
    "m, r": "matmul",
    "n": "arange bartlett blackman hamming hanning ones zeros empty",
    "side": "eye identity tri tril_indices triu_indices diag_indices",
    "u": "diagflat",
    "(x, y)": "concatenate column_stack dstack hstack stack vstack concat lexsort",
    "x, n // 2": "argpartition partition",
    "x, 30.0": "nanpercentile percentile",
    "x, 0.3": "nanquantile quantile",
    "x, 4": "array_split split hsplit",
    "b, x": "compress extract",
    "x, k": "take",
    "x, w": "convolve correlate",
    "x, 7": "roll",
    "0.0, 1.0, n": "linspace",
    "1.0, 2.0, n": "geomspace logspace",
    "b, x, y": "where",
    "x, 0.2, 0.7": "clip",
    "w, x": "polyval",
    "s, y": "searchsorted",
    "y, s, x": "interp",
    "x, s[:: max(1, n // 100)]": "digitize",
    "x, y, 10": "histogram2d",
    "x, 3": "pad repeat tile",
    "x, (side, side)": "reshape resize",
    "x, (2, n)": "broadcast_to",
    "rows, 0, 1": "moveaxis rollaxis swapaxes",
    "x, k[:8]": "delete",
    "x, k[:8], 0.0": "insert",
    "(n,), 0.5": "full",
    "x, 0.5": "full_like",
    "u, u": "meshgrid outer polymul polyadd polysub",
    "u[:9]": "vander poly",
    "'i,i->', x, y": "einsum",
    "m, m, 1": "tensordot",
    "b": "packbits",
    "(i * 2).astype('uint8')": "unpackbits",
    "k, (side, side)": "unravel_index",
    "m, u": "matvec",
    "u, m": "vecmat",
    "rows, k.reshape(-1, 16) % 16, 1": "take_along_axis",
    "i % 2, (x, y)": "choose",
    "[b, d], [x, y]": "select",
}
LINALG = {
    "m": """cond det eig eigvals inv matrix_norm matrix_rank norm pinv qr slogdet svd svdvals""",
    "p": "cholesky eigh eigvalsh",
    "m, u": "solve lstsq",
    "m, 3": "matrix_power",
    "x": "vector_norm",
    "(m, r, m)": "multi_dot",
}
FFT = {
    "x": "fft ifft rfft ihfft fftshift ifftshift",
    "c": "irfft hfft",
    "m": "fft2 ifft2 fftn ifftn rfft2 rfftn",
    "n": "fftfreq rfftfreq",
}
NN = {
    "x": """celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu
        log_sigmoid log_softmax logsumexp mish relu relu6 selu sigmoid silu soft_sign softmax
        softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh glu""",
    "-x": "log1mexp",
    "i, 100": "one_hot",
}
RANDOM = {
    "key, (n,)": """bits uniform normal cauchy exponential gumbel laplace
        logistic maxwell rademacher""",
    "key, 2.0, (n,)": """chisquare gamma generalized_normal loggamma lognormal pareto poisson
        rayleigh t wald""",
    "key, 2.0, 3.0, (n,)": "beta double_sided_maxwell f weibull_min",
    "key, 0.3, (n,)": "bernoulli geometric",
    "key, 40.0, 0.3, (n,)": "binomial",
    "key, (n,), 0, 100": "randint",
    "key, n": "permutation split",
    "key, x": "categorical",
    "key, n, (n,)": "choice",
    "key, -1.0, 1.0, (n,)": "truncated_normal",
    "key, 0.0, 0.5, 1.0, (n,)": "triangular",
    "key, w[:4] + 1, (n // 4,)": "dirichlet",
    "key, 4, 2.0, (n // 4,)": "ball",
    "key, side": "orthogonal",
}
SPECIAL = {
    "x": """digamma entr erf erfc erfcx erfinv exp1 expi expit factorial gamma gammaln gammasgn i0
        i0e i1 i1e log_ndtr log_softmax logit logsumexp ndtr ndtri softmax spence dawsn""",
    "x, y": "beta betaln boxcox boxcox1p gammainc gammaincc kl_div poch rel_entr xlog1py xlogy",
    "x, y, z": "betainc hyp1f1",
    "x + 1, y": "zeta",
    "2, x": "polygamma",
    "3, x": "expn",
    "x, 2": "multigammaln",
}
SCIPY_LINALG = {
    "m": "det inv hessenberg schur svd lu lu_factor qr expm sqrtm polar",
    "p": "cholesky eigh cho_factor",
    "m, u": "solve solve_triangular",
    "u": "toeplitz hankel circulant",
    "m, r": "block_diag",
}
SCIPY_FFT = {"x": "dct idct", "m": "dctn idctn"}
SIGNAL = {
    "x, w": "convolve correlate fftconvolve",
    "m, m[:5, :5]": "convolve2d correlate2d",
    "x": "detrend stft welch",
}
STATS = {
    "x": "rankdata sem",
    "i": "mode",
}
DISTRIBUTIONS = {
    "x": """norm.pdf norm.cdf norm.logpdf norm.logcdf norm.sf norm.ppf cauchy.pdf cauchy.cdf
        expon.pdf expon.cdf laplace.pdf laplace.cdf logistic.pdf logistic.cdf uniform.pdf
        gumbel_l.pdf gumbel_r.pdf""",
    "x, 2.0": "gamma.pdf gamma.cdf chi2.pdf chi2.cdf t.pdf pareto.pdf gennorm.pdf vonmises.pdf",
    "x, 2.0, 3.0": "beta.pdf beta.cdf",
    "x, -1.0, 1.0": "truncnorm.pdf truncnorm.cdf",
    "i, 5.0": "poisson.pmf poisson.cdf",
    "i, 0.3": "geom.pmf",
    "i % 2, 0.3": "bernoulli.pmf",
    "i, 100, 0.3": "binom.pmf nbinom.pmf",
}
TABLES = {
    "numpy": NUMPY,
    "numpy.linalg": LINALG,
    "numpy.fft": FFT,
    "nn": NN,
    "random": RANDOM,
    "scipy.special": SPECIAL,
    "scipy.linalg": SCIPY_LINALG,
    "scipy.fft": SCIPY_FFT,
    "scipy.signal": SIGNAL,
    "scipy.stats": STATS | DISTRIBUTIONS,
    "scipy.ndimage": {"m, [m[0] * 9, m[1] * 9], 1": "map_coordinates"},
}
# Methods of numpy.random.Generator for functions of `random`.
DRAWS = {
    "normal": "g.standard_normal(n, 'float32')",
    "uniform": "g.random(n, 'float32')",
    "bits": "g.integers(0, 2**32, n, 'uint32')",
    "exponential": "g.standard_exponential(n, 'float32')",
    "gamma": "g.standard_gamma(2.0, n, 'float32')",
    "beta": "g.beta(2.0, 3.0, n)",
    "poisson": "g.poisson(2.0, n)",
    "binomial": "g.binomial(40, 0.3, n)",
    "geometric": "g.geometric(0.3, n)",
    "randint": "g.integers(0, 100, n, 'int32')",
    "permutation": "g.permutation(n)",
    "choice": "g.choice(n, n)",
    "gumbel": "g.gumbel(size=n)",
    "laplace": "g.laplace(size=n)",
    "logistic": "g.logistic(size=n)",
    "cauchy": "g.standard_cauchy(n)",
    "lognormal": "g.lognormal(size=n)",
    "rayleigh": "g.rayleigh(size=n)",
    "pareto": "g.pareto(2.0, n)",
    "chisquare": "g.chisquare(2.0, n)",
    "t": "g.standard_t(2.0, n)",
    "wald": "g.wald(1.0, 2.0, n)",
    "dirichlet": "g.dirichlet([1.0, 2.0, 3.0, 4.0], n // 4)",
    "triangular": "g.triangular(0.0, 0.5, 1.0, n)",
}
# Of matrices of 4 M elements, seconds each.
SLOW = {
    "numpy.linalg": "cond eig eigvals eigh eigvalsh matrix_rank pinv svd svdvals lstsq",
    "scipy.linalg": "hessenberg schur svd expm sqrtm polar eigh block_diag",
    "numpy": "choose",
    "random": "orthogonal",
    "nn": "one_hot",
    "scipy.signal": "convolve2d correlate2d",
}
LARGE = 1_000_000


def operands(n):
    """The arrays by name, of NumPy."""
    rng = np.random.default_rng(0)
    side = int(n**0.5)

    def floats(*shape):
        return rng.uniform(0.1, 0.9, shape).astype(np.float32)

    def integers(high):
        return rng.integers(1, high, n).astype(np.int32)

    x, m = floats(n), floats(side, side)
    return {
        **{"x": x, "y": floats(n), "z": floats(n), "s": np.sort(x), "w": floats(32), "m": m},
        "q": rng.integers(0, 1000, n).astype(np.float32),
        **{"i": integers(100), "j": integers(100), "k": integers(n)},
        **{"b": x > 0.5, "d": floats(n) > 0.5, "c": x + 1j * floats(n)},
        **{"r": floats(side, side), "u": floats(side), "rows": x.reshape(-1, 16)},
        "p": (m @ m.T + side * np.eye(side)).astype(np.float32),
    }


def calls(n):
    """(module, name, its arguments as text) of all functions that are measured at that size."""
    for module, table in TABLES.items():
        for arguments, names in table.items():
            for name in names.split():
                if n < LARGE or name not in SLOW.get(module, "").split():
                    yield module, name, arguments
