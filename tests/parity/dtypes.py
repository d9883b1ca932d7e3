"""tests/parity/dtypes.py - the dtypes of results: functions, over every dtype, with x64 or without.

A source is an expression over `x`, four numbers, `m`, two by two of them, and `s`, one of them. Its
outcome is the dtype of each leaf for each dtype of these ("f4", "i8~": weak; "!": an error).

    python tests/parity/dtypes.py        under JAX 0.10.2: writes recorded/dtypes.txt
"""

import pathlib

import numpy as np

RECORDED = pathlib.Path(__file__).parent / "recorded" / "dtypes.txt"
# The last three are weak.
DTYPES = "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 bf f4 f8 c8 c16 int float complex".split()
WEAK = {"int": 1, "float": 1.0, "complex": 1 + 0j}


def short(leaf):
    if not hasattr(leaf, "dtype"):
        return type(leaf).__name__
    name = {"bfloat16": "bf"}.get(leaf.dtype.name, leaf.dtype.name)
    if getattr(leaf.dtype, "kind", "V") in "biufc":
        name = np.dtype(leaf.dtype).str.lstrip("|<=>")
    return name + "~" * bool(getattr(leaf, "weak_type", False))


def outcome(jax, function, x):
    """Traced, which is quick, unless elements decide about shapes; shapes alone have no weak type
    everywhere."""

    def run_now(f, *args):
        return f(*args)

    for run in (run_now,) if x.weak_type else (jax.eval_shape, run_now):
        try:
            leaves = jax.tree_util.tree_leaves(run(function, x, x.reshape(2, 2), x[0]))
            return "/".join(map(short, leaves))
        except Exception:
            continue
    return "!"


def outcomes(jax, source, x64):
    """For each dtype the outcome."""
    jnp = jax.numpy
    names = {"jax": jax, "jnp": jnp, "lax": jax.lax, "nn": jax.nn, "np": np}
    names["sp"] = jax.scipy.special
    function = eval(f"lambda x, m, s: {source}", names)
    with jax.enable_x64(x64):
        out = []
        for name in DTYPES:
            if name in WEAK:
                x = jnp.broadcast_to(jnp.asarray(WEAK[name]), (4,))
            else:
                x = jnp.asarray(np.ones(4), dtype="bfloat16" if name == "bf" else name)
            out.append(outcome(jax, function, x))
    return out


def packed(results):
    """Runs of equal outcomes are written once, with how many there are."""
    runs = []
    for result in results:
        if runs and runs[-1][0] == result:
            runs[-1][1] += 1
        else:
            runs.append([result, 1])
    return " ".join(result if n == 1 else f"{result}*{n}" for result, n in runs)


def unpacked(text):
    out = []
    for word in text.split():
        result, _, n = word.partition("*")
        out += [result] * int(n or 1)
    return out


def recording():
    """Source -> (outcomes without x64, with x64)."""
    rows = (line.split("\t") for line in RECORDED.read_text().splitlines())
    return {source: (unpacked(off), unpacked(on)) for source, off, on in rows}


SOURCES = []
UNARY = {
    "jnp": """
    abs acos acosh all amax angle any arange argmax argmin argsort argwhere asarray
    asin asinh atan atanh average cbrt ceil conj copy corrcoef cos cosh count_nonzero cov cumprod
    cumsum cumulative_prod cumulative_sum deg2rad degrees diag diff ediff1d empty_like exp exp2
    expm1 fabs fft.fft fft.ifft fft.irfft fft.rfft flatnonzero floor frexp gradient histogram
    histogram_bin_edges i0 imag isfinite isneginf ix_ lexsort log log10 log1p log2
    logical_not mean median modf nan_to_num nanargmax nancumprod nancumsum nanmax nanmean
    nanmedian nanmin nanprod nanstd nansum nanvar negative nonzero ones_like poly polyder polyint
    positive prod ptp rad2deg radians ravel real reciprocal rint round sign signbit sin sinc sinh
    sort sort_complex spacing sqrt square std sum tan tanh trapezoid trunc unique unique_all
    unique_counts unique_inverse unique_values unwrap vander var zeros_like""",
    "nn": """
    celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid
    log_softmax logmeanexp logsumexp mish relu relu6 selu sigmoid silu soft_sign softmax softplus
    sparse_plus sparse_sigmoid squareplus standardize tanh""",
    "sp": """
    digamma entr erf erfc erfinv expit factorial gamma gammaln gammasgn i0 i0e i1 i1e log_ndtr
    logit logsumexp ndtr ndtri softmax""",
    "lax": """
    abs acos argsort bessel_i0e cbrt clz cumsum cummax erf exp integer_pow is_finite lgamma neg
    population_count reduce_sum rsqrt sin sort sqrt square sign logistic""",
}
BINARY = {
    "jnp": """
    add append arctan2 bitwise_and convolve copysign correlate digitize divide divmod dot
    float_power floor_divide fmax fmin fmod gcd geomspace gradient greater heaviside histogram2d
    hypot inner interp intersect1d isin kron lcm ldexp left_shift linspace logaddexp logaddexp2
    logical_and logspace matmul maximum minimum mod multiply nanpercentile nextafter
    not_equal outer percentile polyadd polydiv polymul polysub polyval power quantile
    right_shift searchsorted setdiff1d subtract trapezoid true_divide union1d vdot""",
    "sp": """
    beta betaln boxcox comb gammainc gammaincc kl_div poch rel_entr xlog1py xlogy zeta""",
    "lax": "add div max pow rem atan2 nextafter shift_left eq",
}
for module, listed in UNARY.items():
    for function in listed.split():
        SOURCES.append(f"{module}.{function}(x)")
for module, listed in BINARY.items():
    for function in listed.split():
        second = "s" if function in ("quantile", "percentile", "nanpercentile") else "x"
        SOURCES.append(f"{module}.{function}(x, {second})")

for operator in "+ - * / // % ** & | << == <".split():
    SOURCES.append(f"x {operator} x")
    for other in ("1", "1.5", "True", "1j", "np.int8(1)", "np.float64(1)", "np.arange(4)"):
        if other in ("1", "1.5", "np.float64(1)") or operator in "+/":
            SOURCES.append(f"x {operator} {other}")

for source in """
    jnp.where(x == x, x, 0)
    jnp.where(x == x, x, 0.5)
    jnp.where(x == x, 1, 0.5)
    jnp.select([x == x], [x], 0)
    jnp.select([x == x, x != x], [x, 0.5], 0)
    jnp.select([x == x, x != x], [x, 1], 0.5)
    jnp.clip(x, 0, 1)
    jnp.clip(x, 0.5, None)
    jnp.clip(x)
    jnp.bincount(x)
    jnp.bincount(x, weights=x)
    jnp.histogram(x, jnp.arange(3.0))
    jnp.histogram(x, 2, weights=x)
    jnp.histogram_bin_edges(x, 2)
    jnp.interp(x, x, np.arange(4))
    jnp.piecewise(x, [x == 1], [1.5, 0])
    jnp.polyfit(x, x, 1)
    jnp.average(x, weights=x)
    jnp.mean(x, dtype='float32')
    jnp.sum(x, dtype='int8')
    jnp.linalg.norm(x)
    jnp.linalg.norm(x, 1)
    jnp.linalg.inv(m + jnp.eye(2, dtype=m.dtype))
    jnp.linalg.det(m)
    jnp.linalg.solve(m + jnp.eye(2, dtype=m.dtype), m)
    jnp.linalg.matrix_power(m, 2)
    jnp.linalg.cholesky(m + 3 * jnp.eye(2, dtype=m.dtype))
    jnp.einsum('ij,jk', m, m)
    jnp.einsum('ij->i', m)
    jnp.tensordot(m, m)
    jnp.cross(x[:3], x[:3])
    jnp.trace(m)
    jnp.arange(s, 4)
    jnp.full(3, s)
    jnp.full_like(x, 0.5)
    jnp.linspace(s, 3, 4)
    jnp.linspace(0, s, 4)
    jnp.tri(3, dtype=x.dtype)
    jnp.eye(2) * x[0]
    jnp.repeat(x, 2)
    jnp.pad(x, 1)
    jnp.concatenate([x, np.arange(3)])
    jnp.stack([x, np.ones(4, 'float32')])
    jnp.take(x, 0)
    jnp.take_along_axis(x, jnp.argsort(x), 0)
    jnp.nonzero(x, size=4)
    jnp.unique(x, return_index=True, return_inverse=True, return_counts=True)
    jnp.searchsorted(x, 1)
    jnp.unravel_index(x, (9,))
    jnp.argpartition(x, 1)
    jnp.partition(x, 1)
    jnp.indices((2,), dtype=x.dtype)
    jnp.tril_indices(2)
    jnp.round(x, 1)
    jnp.ldexp(x, 1)
    jnp.nan_to_num(x, nan=1.5)
    jnp.rot90(m)
    jnp.apply_along_axis(jnp.sum, 0, m)
    jnp.vectorize(lambda a: a + 1)(x)
    jnp.cumsum(x, dtype='float32')
    jnp.array([s, 1])
    jnp.array([s, 1.5])
    jnp.asarray(x, dtype=float)
    jnp.zeros_like(x, dtype=int)
    x.astype(float)
    x.mean()
    x.sum()
    x.argmax()
    x.std()
    x.round()
    x.at[0].set(1.5)
    x.at[0].add(1)
    x.at[0].multiply(s)
    -x
    abs(x)
    lax.top_k(x, 2)
    lax.argmax(x, 0, 'int32')
    lax.iota(x.dtype, 3)
    lax.cumlogsumexp(x)
    lax.dot(x, x)
    lax.map(lambda v: v, x)
    lax.scan(lambda c, v: (c, v), s, x)
    lax.cond(True, lambda v: v, lambda v: v, x)
    lax.fori_loop(0, 2, lambda i, v: v, x)
    lax.while_loop(lambda v: False, lambda v: v, x)
    lax.reduce_max(x, (0,))
    lax.convert_element_type(x, float)
    lax.full_like(x, 1)
    lax.psum(x, ())
    jax.grad(lambda v: jnp.sum(jnp.sin(v)))(x)
    jax.jvp(jnp.sin, (x,), (x,))
    jax.vmap(jnp.sin)(x)
    jax.jit(lambda v: v * 2)(x)
    jax.jit(jnp.sin)(x)
    jax.pmap(lambda v: v * 2)(x)
    jax.pmap(lambda v, w: v * w, in_axes=(0, None))(x, s)
    jax.grad(lambda w: jax.pmap(lambda v, w: v * w, in_axes=(0, None))(x, w).sum())(s)
    jax.pmap(lambda v: lax.psum(v, 'i'), 'i')(x)
    jax.pmap(lambda v: lax.pmean(v, 'i'), 'i')(x)
    jax.vmap(lambda v: lax.pmean(v, 'i'), axis_name='i')(x)
    jax.vmap(lambda v: lax.pmax(v, 'i'), axis_name='i')(x)
    nn.one_hot(x, 3)
    nn.softmax(x, where=x == x)
    jax.random.uniform(jax.random.key(0), (2,), x.dtype)
    jax.random.randint(jax.random.key(0), (2,), 0, s)
    jax.random.choice(jax.random.key(0), x)
    jax.random.permutation(jax.random.key(0), x)
    jax.random.bernoulli(jax.random.key(0), s)
    jax.random.categorical(jax.random.key(0), x)
    jax.random.gamma(jax.random.key(0), s)
    jax.random.poisson(jax.random.key(0), s)
    jax.ops.segment_sum(x, jnp.arange(4), 4)
    jax.image.resize(m, (4, 4), 'linear')
    jax.scipy.special.multigammaln(x + 2, 2)
    jax.scipy.stats.norm.logpdf(x)
    jax.scipy.stats.norm.cdf(x)
    jax.scipy.linalg.block_diag(m, m)
    jax.scipy.signal.convolve(x, x)
    """.strip().splitlines():
    SOURCES.append(source.strip())


def main():
    import warnings

    import jax
    import jax.scipy.signal
    import jax.scipy.stats

    warnings.simplefilter("ignore")
    rows = []
    for source in SOURCES:
        results = [packed(outcomes(jax, source, x64)) for x64 in (False, True)]
        rows.append("\t".join([source, *results]))
    RECORDED.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
