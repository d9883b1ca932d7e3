"""tests/ops/references.py - references of functions that NumPy lacks, in float64."""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])
erfc = np.vectorize(math.erfc, otypes=[float])


def _lgamma(x):
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


lgamma = np.vectorize(_lgamma, otypes=[float])


def _erf_inv(x):
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    low, high = -7.0, 7.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < x else (low, middle)
    return (low + high) / 2


erf_inv = np.vectorize(_erf_inv, otypes=[float])


def _zeta(s, q):
    """The sum over k of (q + k)^-s for s > 1: terms up to q + 30, then the integral's expansion."""
    total = sum((q + k) ** -s for k in range(30))
    end = q + 30
    total += end ** (1 - s) / (s - 1) + end**-s / 2 + s * end ** (-s - 1) / 12
    return total - s * (s + 1) * (s + 2) * end ** (-s - 3) / 720


zeta = np.vectorize(_zeta, otypes=[float])


def _digamma(x):
    if x != x or x == 0 or x == -math.inf:
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return math.nan if x == math.floor(x) else _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 20:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square / 252))


digamma = np.vectorize(_digamma, otypes=[float])


def polygamma(n, x):
    return np.where(
        n == 0, digamma(x), (-1.0) ** (n + 1) * np.exp(lgamma(n + 1)) * zeta(n + 1 + (n == 0), x)
    )


def gamma_share(a, x):
    """P(a, x), the distribution function of gamma(a)."""
    n = np.arange(200.0).reshape(-1, *[1] * np.ndim(a + x))
    return np.exp((a + n) * np.log(x) - x - lgamma(a + n + 1)).sum(0)


def gamma_slope(a, x):
    """dx/da at a fixed P(a, x), by differences."""
    h = 1e-3
    near = gamma_share(a + h, x) - gamma_share(a - h, x)
    far = gamma_share(a + 2 * h, x) - gamma_share(a - 2 * h, x)
    density = np.exp((a - 1) * np.log(x) - x - lgamma(a))
    return -(8 * near - far) / (12 * h) / density


def gamma_slope_by_a(a, x):
    h = 0.008
    near = gamma_slope(a + h, x) - gamma_slope(a - h, x)
    far = gamma_slope(a + 2 * h, x) - gamma_slope(a - 2 * h, x)
    farther = gamma_slope(a + 3 * h, x) - gamma_slope(a - 3 * h, x)
    return (45 * near - 9 * far + farther) / (60 * h)


def gamma_rest(a, x):
    return 1 - gamma_share(a, x)


def gamma_share_by_a(a, x):
    return -gamma_slope(a, x) * np.exp((a - 1) * np.log(x) - x - lgamma(a))


def beta_share(a, b, x):
    """By the power series of the integrand, for x well below 1."""
    total, term = 1 / a, np.ones_like(x)
    for n in range(1, 400):
        term = term * (n - b) / n * x
        total = total + term / (a + n)
    return total * x**a * np.exp(lgamma(a + b) - lgamma(a) - lgamma(b))


def bessel(order):
    """e^-|x| times the power series."""

    def function(x):
        term = (np.abs(x) / 2) ** order * np.exp(-np.abs(x))
        total = np.zeros_like(x)
        for k in range(100):
            total = total + term
            term = term * (x * x / 4) / ((k + 1) * (k + 1 + order))
        return np.sign(x) ** order * total

    return function


def mulhi(x, y):
    bits = 8 * x.dtype.itemsize
    product = x.astype(object) * y.astype(object)
    return np.vectorize(lambda p: int(p) >> bits, otypes=[x.dtype])(product)


def fourier(x, fft_type, fft_lengths):
    axes = tuple(range(-len(fft_lengths), 0))
    transform = (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)[fft_type]
    return transform(x, fft_lengths, axes)


def definite(a):
    """A Hermitian positive definite matrix, for arrays of NumPy and of the package."""
    return a @ a.conj().swapaxes(-1, -2) + np.eye(a.shape[-1], dtype=a.dtype)


def triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = np.where(np.eye(a.shape[-1], dtype=bool), 1, a)
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    a = np.conj(a) if conjugate_a else a
    return np.linalg.solve(a, b) if left_side else b @ np.linalg.inv(a)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def sign(x):
    if np.iscomplexobj(x):
        return x / np.where(x == 0, 1, np.abs(x))
    return np.sign(x)


def round_away(x, rounding_method=0):
    return np.round(x) if rounding_method == 1 else np.trunc(x + np.copysign(0.5, x))


def divide(x, y):
    """XLA's: integers truncate, and x / 0 is -1."""
    if x.dtype.kind not in "iu":
        return x / y
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(x.astype(object)) // np.abs(safe.astype(object)) * np.sign(x) * np.sign(safe)
    return np.where(y == 0, -1, quotient).astype(np.int64).astype(x.dtype)


def clz(x):
    bits = x.dtype.itemsize * 8
    mask = (1 << bits) - 1
    return np.vectorize(lambda v: bits - (int(v) & mask).bit_length(), otypes=[np.int64])(x).astype(
        x.dtype
    )


def population_count(x):
    mask = (1 << (x.dtype.itemsize * 8)) - 1
    return np.vectorize(lambda v: (int(v) & mask).bit_count(), otypes=[np.int64])(x).astype(x.dtype)


def shift(kind):
    def reference(x, y):
        bits = x.dtype.itemsize * 8
        unsigned = x.astype(f"uint{bits}").astype(object)
        count = y.astype(f"uint{bits}").astype(object)

        def one(value, signed, n):
            if kind == "left":
                return 0 if n >= bits else (value << n) & ((1 << bits) - 1)
            if kind == "logical":
                return 0 if n >= bits else value >> n
            top = value - (1 << bits) if value >> (bits - 1) else value
            return (top >> min(n, bits - 1)) & ((1 << bits) - 1)

        out = np.vectorize(one, otypes=[object])(unsigned, x.astype(object), count)
        return np.asarray(out.astype(np.uint64)).astype(f"uint{bits}").astype(x.dtype)

    return reference


def reduce_precision(x, exponent_bits, mantissa_bits):
    """Through the arithmetic of significands, for values that are normal in both formats."""
    significand, exponent = np.frexp(x)
    scale = 2.0 ** (mantissa_bits + 1)
    return np.ldexp(np.round(significand * scale) / scale, exponent)


def pad(x, value, low, high, interior):
    for axis in range(x.ndim):
        x = np.moveaxis(x, axis, 0)
        rows = []
        for i, row in enumerate(x):
            rows += [row] + [np.full_like(row, value)] * (interior[axis] if i + 1 < len(x) else 0)
        edge = np.full_like(x[0], value)
        rows = [edge] * low[axis] + rows + [edge] * high[axis]
        rows = rows[max(-low[axis], 0) : len(rows) + min(high[axis], 0)]
        x = np.moveaxis(np.stack(rows), 0, axis)
    return x


def stable_sort(*arrays, dimension, num_keys, is_stable=True):
    order = np.lexsort(
        [np.moveaxis(a, dimension, -1) for a in reversed(arrays[:num_keys])], axis=-1
    )
    moved = [np.take_along_axis(np.moveaxis(a, dimension, -1), order, -1) for a in arrays]
    return tuple(np.moveaxis(a, -1, dimension) for a in moved)


def nonzero(mask, size):
    found = [np.nonzero(row)[0][:size] for row in mask]
    return np.int32([np.pad(f, (0, size - len(f)), constant_values=len(mask[0])) for f in found])


def top_k(x, k, axis):
    order = np.argsort(-x, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order.astype(np.int32)


def running(function):
    def reference(x, axis, reverse):
        flipped = np.flip(x, axis) if reverse else x
        out = function.accumulate(flipped, axis=axis, dtype=x.dtype)
        return np.flip(out, axis) if reverse else out

    return reference


def running_logsumexp(x, axis, reverse):
    total = np.cumsum(np.exp(np.flip(x, axis) if reverse else x), axis, dtype=x.dtype)
    return np.flip(np.log(total), axis) if reverse else np.log(total)


def dynamic_slice(x, *starts, slice_sizes):
    window = tuple(
        slice(s, s + size)
        for s, size in (
            (min(max(int(s), 0), n - size), size)
            for s, n, size in zip(starts, x.shape, slice_sizes, strict=True)
        )
    )
    return x[window]


def dynamic_update_slice(x, update, *starts):
    out = x.copy()
    dynamic_slice(out, *starts, slice_sizes=update.shape)[...] = update
    return out


def scatter_rows(function):
    """Rows of updates at the first dimension; those outside are dropped."""

    def reference(x, indices, updates, **_):
        out = x.copy()
        for row, update in zip(indices[:, 0], updates, strict=True):
            if 0 <= row < len(x):
                out[row] = function(out[row], update)
        return out

    return reference


def threefry(key0, key1, count0, count1):
    """The published rounds, on Python integers."""
    mask = 0xFFFFFFFF

    def one(k0, k1, x0, x1):
        keys = [k0, k1, k0 ^ k1 ^ 0x1BD11BDA]
        x0, x1 = (x0 + k0) & mask, (x1 + k1) & mask
        for group in range(5):
            for bits in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                x0 = (x0 + x1) & mask
                x1 = (((x1 << bits) | (x1 >> (32 - bits))) & mask) ^ x0
            x0 = (x0 + keys[(group + 1) % 3]) & mask
            x1 = (x1 + keys[(group + 2) % 3] + group + 1) & mask
        return x0, x1

    arrays = np.broadcast_arrays(key0, key1, count0, count1)
    pairs = [one(*map(int, item)) for item in zip(*(a.ravel() for a in arrays), strict=True)]
    shape = arrays[0].shape
    return tuple(np.array([p[i] for p in pairs], np.uint32).reshape(shape) for i in (0, 1))


def philox(state, shape, dtype):
    """XLA's stream of philox-4x32: blocks of four words under the first two words of the state,
    numbered from the state on.
    """
    mask = 0xFFFFFFFF
    words = [int(w) for w in state]
    start = (words[1] << 32 | words[0]) << 64 | words[3] << 32 | words[2]
    n, wide = math.prod(shape), np.dtype(dtype).itemsize == 8
    out = []
    for block in range(-(-n // (2 if wide else 4))):
        x = [(start + block) >> (32 * i) & mask for i in range(4)]
        key0, key1 = words[0], words[1]
        for _ in range(10):
            a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [(b >> 32) ^ x[1] ^ key0, b & mask, (a >> 32) ^ x[3] ^ key1, a & mask]
            key0, key1 = (key0 + 0x9E3779B9) & mask, (key1 + 0xBB67AE85) & mask
        out += [x[1] << 32 | x[0], x[3] << 32 | x[2]] if wide else x
    return np.array(out[:n], np.uint64).astype(dtype).reshape(shape)


def cipher(rounds, words):
    """`rounds` of a list of Python integers, on each element of arrays: `words` results."""

    def function(*operands):
        arrays = np.broadcast_arrays(*operands)
        items = zip(*(a.ravel() for a in arrays), strict=True)
        blocks = [rounds(list(map(int, item))) for item in items]
        shape = arrays[0].shape
        return tuple(
            np.array([b[i] for b in blocks], np.uint32).reshape(shape) for i in range(words)
        )

    return function


def philox_2x32(operands):
    """The published rounds, on Python integers; as below."""
    key, x, y = operands
    for _ in range(10):
        product = 0xD256D193 * x
        x, y = (product >> 32) ^ y ^ key, product & 0xFFFFFFFF
        key = (key + 0x9E3779B9) & 0xFFFFFFFF
    return x, y


def philox_4x32(operands):
    mask = 0xFFFFFFFF
    key0, key1, *x = operands
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(b >> 32) ^ x[1] ^ key0, b & mask, (a >> 32) ^ x[3] ^ key1, a & mask]
        key0, key1 = (key0 + 0x9E3779B9) & mask, (key1 + 0xBB67AE85) & mask
    return x


def threefry_4x32(operands):
    mask = 0xFFFFFFFF
    keys, x = operands[:4], operands[4:]
    keys.append(keys[0] ^ keys[1] ^ keys[2] ^ keys[3] ^ 0x1BD11BDA)
    turns = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
    x = [(a + k) & mask for a, k in zip(x, keys[:4], strict=True)]
    for turn in range(20):
        pairs = ((0, 1), (2, 3)) if turn % 2 == 0 else ((0, 3), (2, 1))
        for (i, j), bits in zip(pairs, turns[turn % 8], strict=True):
            x[i] = (x[i] + x[j]) & mask
            x[j] = (x[j] << bits | x[j] >> (32 - bits)) & mask ^ x[i]
        if turn % 4 == 3:
            number = turn // 4 + 1
            x = [(x[i] + keys[(number + i) % 5]) & mask for i in range(4)]
            x[3] = (x[3] + number) & mask
    return x


def _counters(shape):
    n = math.prod(shape)
    return np.zeros(n, np.uint32), np.arange(n, dtype=np.uint32)


def random_bits(key, bit_width, shape):
    """The partitionable stream of one key."""
    high, low = threefry(key[0], key[1], *_counters(shape))
    if bit_width == 64:
        return (high.astype(np.uint64) << np.uint64(32) | low).reshape(shape)
    return (high ^ low).astype(f"uint{bit_width}").reshape(shape)


def random_split(key, shape):
    return np.stack(threefry(key[0], key[1], *_counters(shape)), -1).reshape(*shape, 2)


def random_fold_in(key, data):
    return np.stack(threefry(key[0], key[1], np.uint32(0), np.uint32(data)), -1)
