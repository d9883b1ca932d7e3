"""shardax/scipy/_windows.py - windows of signals, as scipy.signal.get_window makes them."""

import numpy as np

from shardax import numpy as jnp

# Weights of cosines of 0, 1, 2, ... turns, with alternating signs (Harris, 1978).
_COSINES = {
    "boxcar": [1.0],
    "hann": [0.5, 0.5],
    "hamming": [0.54, 0.46],
    "blackman": [0.42, 0.5, 0.08],
    "nuttall": [0.3635819, 0.4891775, 0.1365995, 0.0106411],
    "blackmanharris": [0.35875, 0.48829, 0.14128, 0.01168],
    "flattop": [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368],
}
_OTHER_NAMES = {
    "hanning": "hann",
    "han": "hann",
    "ham": "hamming",
    "hamm": "hamming",
    "black": "blackman",
    "blk": "blackman",
    "box": "boxcar",
    "ones": "boxcar",
    "rect": "boxcar",
    "rectangular": "boxcar",
    "bart": "bartlett",
    "tri": "triang",
    "triangle": "triang",
    "par": "parzen",
    "parz": "parzen",
    "bman": "bohman",
    "halfcosine": "cosine",
    "gauss": "gaussian",
    "gss": "gaussian",
    "ksr": "kaiser",
    "poisson": "exponential",
    "nut": "nuttall",
    "blackharr": "blackmanharris",
    "bkh": "blackmanharris",
    "flat": "flattop",
    "flt": "flattop",
    "tuk": "tukey",
}


def _triangle(x, n):
    return 1 - jnp.abs(x) * (n - 1) / (n + n % 2)


def _parzen(x, n):
    y = jnp.abs(x) * (n - 1) / n
    return jnp.where(y <= 0.5, 1 - 6 * y**2 * (1 - y), 2 * (1 - y) ** 3)


def _tukey(x, n, alpha=0.5):
    if alpha <= 0:
        return jnp.ones_like(x)
    inside = jnp.clip((jnp.abs(x) - (1 - alpha)) / alpha, 0, 1)
    return 0.5 * (1 + jnp.cos(np.pi * inside))


def _bohman(x, n):
    y = jnp.abs(x)
    return jnp.where(y < 1, (1 - y) * jnp.cos(np.pi * y) + jnp.sin(np.pi * y) / np.pi, 0)


def _kaiser(x, n, beta):
    return jnp.i0(beta * jnp.sqrt(jnp.maximum(1 - x * x, 0))) / jnp.i0(jnp.asarray(beta * 1.0))


def _from_centre(x, n):
    return x * (n - 1) / 2


# Functions of places x in [-1, 1] and the number of points.
_SHAPES = {
    "triang": _triangle,
    "bartlett": lambda x, n: 1 - jnp.abs(x),
    "parzen": _parzen,
    "bohman": _bohman,
    "cosine": lambda x, n: jnp.cos(np.pi / 2 * x * (n - 1) / n),
    "barthann": lambda x, n: 0.62 - 0.24 * jnp.abs(x) + 0.38 * jnp.cos(np.pi * x),
    "tukey": _tukey,
    "kaiser": _kaiser,
    "gaussian": lambda x, n, std: jnp.exp(-0.5 * (_from_centre(x, n) / std) ** 2),
    "general_gaussian": lambda x, n, p, sig: jnp.exp(
        -0.5 * jnp.abs(_from_centre(x, n) / sig) ** (2 * p)
    ),
    "general_cosine": lambda x, n, weights: _cosines(x, weights),
    "general_hamming": lambda x, n, alpha: _cosines(x, [alpha, 1 - alpha]),
    "exponential": lambda x, n, center=None, tau=1.0: jnp.exp(-jnp.abs(_from_centre(x, n)) / tau),
}


def _cosines(x, weights):
    return sum(w * jnp.cos(np.pi * k * x) for k, w in enumerate(weights))


def get_window(window, size):
    """The window of `size` points: a name, (name, parameters ...), or the parameter of "kaiser".

    Raises:
      ValueError: an unknown name.
    """
    if isinstance(window, (int, float)):
        window = ("kaiser", window)
    name, *parameters = window if isinstance(window, tuple) else (window,)
    name = _OTHER_NAMES.get(name, name)
    if size == 1:
        return jnp.ones(1)
    n = size + 1  # of which the last is the first of the next period
    x = jnp.linspace(-1.0, 1.0, n)[:-1]
    if name in _COSINES:
        return _cosines(x, _COSINES[name])
    if name not in _SHAPES:
        raise ValueError(
            f"window: unknown window type {name!r}; expected one of "
            f"{', '.join(sorted([*_COSINES, *_SHAPES]))}."
        )
    return _SHAPES[name](x, n, *parameters)
