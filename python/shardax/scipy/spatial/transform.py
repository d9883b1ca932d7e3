"""shardax.scipy.spatial.transform - rotations in three dimensions, and steps between them.

Rotations are unit quaternions (x, y, z, w), any number of them along leading dimensions.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from shardax import numpy as jnp

__all__ = ["Rotation", "Slerp"]


def _length(v):
    return jnp.sqrt((v * v).sum(-1))


def _unit(quat):
    return quat / _length(quat)[..., None]


def _parts(quat):
    return tuple(quat[..., i] for i in range(4))


def _product(p, q):
    """The quaternion of q's rotation followed by p's."""
    px, py, pz, pw = _parts(p)
    qx, qy, qz, qw = _parts(q)
    return jnp.stack(
        [
            pw * qx + qw * px + py * qz - pz * qy,
            pw * qy + qw * py + pz * qx - px * qz,
            pw * qz + qw * pz + px * qy - py * qx,
            pw * qw - px * qx - py * qy - pz * qz,
        ],
        -1,
    )


def _axes(seq, message):
    """(indices of the axes, whether they turn with the body) of a sequence like "xyz" or "ZXZ"."""
    if not re.fullmatch("[XYZ]{1,3}|[xyz]{1,3}", seq):
        raise ValueError(
            f"Expected axes{message} to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}"
        )
    if any(a == b for a, b in zip(seq, seq[1:])):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return ["xyz".index(a) for a in seq.lower()], seq.isupper()


def _about_axis(axis, angle):
    sine, zero = jnp.sin(angle / 2), jnp.zeros_like(angle)
    return jnp.stack([*(sine if i == axis else zero for i in range(3)), jnp.cos(angle / 2)], -1)


def _from_euler(axes, intrinsic, angles):
    result = _about_axis(axes[0], angles[..., 0])
    for position, axis in enumerate(axes[1:], 1):
        turn = _about_axis(axis, angles[..., position])
        result = _product(result, turn) if intrinsic else _product(turn, result)
    return result


def _as_euler(quat, axes, intrinsic):
    """Bernardes and Viollet, Quaternion to Euler angles conversion (2022)."""
    first, third = (2, 0) if intrinsic else (0, 2)
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    q = _parts(quat)
    if symmetric:
        a, b, c, d = q[3], q[i], q[j], q[k] * sign
    else:
        a, b, c, d = q[3] - q[j], q[i] + q[k] * sign, q[j] + q[3], q[k] * sign - q[i]
    middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
    at_zero = jnp.abs(middle) <= 1e-7
    at_pi = jnp.abs(middle - np.pi) <= 1e-7
    half_sum, half_difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
    turn = 2 * half_difference * (1 if intrinsic else -1)
    angles = [jnp.where(at_zero, 2 * half_sum, turn), middle, jnp.zeros_like(middle)]
    # If the axes are parallel, one angle tells all.
    locked = at_zero | at_pi
    angles[first] = jnp.where(locked, angles[first], half_sum - half_difference)
    angles[third] = jnp.where(locked, angles[third], half_sum + half_difference)
    if not symmetric:
        angles[third] = angles[third] * sign
        angles[1] = middle - np.pi / 2
    return (jnp.stack(angles, -1) + np.pi) % (2 * np.pi) - np.pi


def _as_matrix(quat):
    x, y, z, w = _parts(quat)
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def _from_matrix(matrix):
    """Shepperd (1978): by the largest of the squares of the four parts."""

    def m(i, j):
        return matrix[..., i, j]

    trace = m(0, 0) + m(1, 1) + m(2, 2)
    sizes = jnp.stack([m(0, 0), m(1, 1), m(2, 2), trace], -1)
    cases = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        parts = [None] * 4
        parts[i] = 1 - trace + 2 * m(i, i)
        parts[j], parts[k] = m(j, i) + m(i, j), m(k, i) + m(i, k)
        parts[3] = m(k, j) - m(j, k)
        cases.append(jnp.stack(parts, -1))
    last = [m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1), 1 + trace]
    cases = jnp.stack([*cases, jnp.stack(last, -1)], -2)
    choice = jnp.argmax(sizes, -1)[..., None, None]
    return _unit(jnp.take_along_axis(cases, choice, -2)[..., 0, :])


def _from_rotvec(vector):
    square = (vector * vector).sum(-1)
    small = square <= 1e-6
    angle = jnp.sqrt(jnp.where(small, 1, square))
    series = 0.5 - square / 48 + square * square / 3840
    scale = jnp.where(small, series, jnp.sin(angle / 2) / angle)
    cosine = jnp.where(small, 1 - square / 8 + square * square / 384, jnp.cos(angle / 2))
    return jnp.concatenate([scale[..., None] * vector, cosine[..., None]], -1)


def _as_rotvec(quat):
    quat = jnp.where(quat[..., 3:] < 0, -quat, quat)
    square = (quat[..., :3] ** 2).sum(-1)
    small = square <= 2.5e-7
    sine = jnp.sqrt(jnp.where(small, 1, square))
    angle = 2 * jnp.arctan2(sine, quat[..., 3])
    # 2 arcsin(s) / s
    scale = jnp.where(small, 2 + square / 3 + 3 * square * square / 20, angle / sine)
    return scale[..., None] * quat[..., :3]


class Rotation(NamedTuple):
    """One or many rotations; `r * s` is s followed by r.

    >>> from shardax.scipy.spatial.transform import Rotation
    >>> turn = Rotation.from_euler("z", 90, degrees=True)
    >>> turn.apply(jnp.array([1.0, 2.0, 3.0])).round(3)
    Array([-2.,  1.,  3.], dtype=float32)
    """

    quat: Any

    @classmethod
    def concatenate(cls, rotations):
        """The rotations of a sequence of `Rotation` as one."""
        return cls(jnp.concatenate([rotation.quat for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq, angles, degrees=False):
        """From angles (..., len(seq)) about axes: "xyz" fixed ones, "XYZ" ones that turn along."""
        if not 1 <= len(seq) <= 3:
            raise ValueError(
                "Expected axis specification to be a non-empty string of upto 3 characters, got "
                f"{seq}"
            )
        axes, intrinsic = _axes(seq, " from `seq`")
        angles = jnp.atleast_1d(angles) * 1.0
        return cls(_from_euler(axes, intrinsic, jnp.deg2rad(angles) if degrees else angles))

    @classmethod
    def from_matrix(cls, matrix):
        """From orthogonal matrices (..., 3, 3) of determinant 1."""
        return cls(_from_matrix(jnp.asarray(matrix)))

    @classmethod
    def from_mrp(cls, mrp):
        """From modified parameters of Rodrigues (..., 3): the axis times tan(angle / 4)."""
        mrp = jnp.asarray(mrp)
        square = (mrp * mrp).sum(-1, keepdims=True)
        return cls(jnp.concatenate([2 * mrp, 1 - square], -1) / (square + 1))

    @classmethod
    def from_quat(cls, quat):
        """From quaternions (..., 4), which are normalized."""
        return cls(_unit(jnp.asarray(quat)))

    @classmethod
    def from_rotvec(cls, rotvec, degrees=False):
        """From vectors (..., 3): the axis times the angle."""
        rotvec = jnp.asarray(rotvec)
        return cls(_from_rotvec(jnp.deg2rad(rotvec) if degrees else rotvec))

    @classmethod
    def identity(cls, num=None, dtype=float):
        """The rotation that changes nothing."""
        if num is not None:
            raise NotImplementedError("Rotation.identity: `num` is not available; expected None.")
        return cls(jnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype))

    @classmethod
    def random(cls, random_key, num=None):
        """Not available, as in JAX: normalize normal draws of shape (num, 4) by `from_quat`."""
        raise NotImplementedError("Rotation.random")

    def __getitem__(self, indexer):
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self.quat[indexer])

    def __len__(self):
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self.quat.shape[0]

    def __mul__(self, other):
        return Rotation.from_quat(_product(self.quat, other.quat))

    def apply(self, vectors, inverse=False):
        """Vectors (..., 3) turned."""
        matrix = self.as_matrix()
        if inverse:
            matrix = jnp.swapaxes(matrix, -1, -2)
        return (matrix @ jnp.asarray(vectors)[..., None])[..., 0]

    def as_euler(self, seq, degrees=False):
        """Angles (..., 3) about the axes `seq`, each in [-pi, pi)."""
        if len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        angles = _as_euler(self.quat, *_axes(seq, " from `seq`"))
        return jnp.rad2deg(angles) if degrees else angles

    def as_matrix(self):
        """Matrices (..., 3, 3)."""
        return _as_matrix(self.quat)

    def as_mrp(self):
        """Modified parameters of Rodrigues (..., 3)."""
        quat = jnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_rotvec(self, degrees=False):
        """Vectors (..., 3): the axis times the angle, at most pi."""
        vector = _as_rotvec(self.quat)
        return jnp.rad2deg(vector) if degrees else vector

    def as_quat(self, canonical=False, scalar_first=False):
        """Quaternions (..., 4). `canonical`: the first of w, x, y, z that is not 0 is positive;
        `scalar_first`: as (w, x, y, z).
        """
        quat = self.quat
        if canonical:
            x, y, z, w = _parts(quat)
            lead = jnp.where(w != 0, w, jnp.where(x != 0, x, jnp.where(y != 0, y, z)))
            quat = jnp.where(lead[..., None] < 0, -quat, quat)
        return jnp.roll(quat, 1, -1) if scalar_first else quat

    def inv(self):
        """The rotations back."""
        return Rotation(self.quat * jnp.array([-1, -1, -1, 1], self.quat.dtype))

    def magnitude(self):
        """The angles, from 0 to pi."""
        return 2 * jnp.arctan2(_length(self.quat[..., :3]), jnp.abs(self.quat[..., 3]))

    def mean(self, weights=None):
        """The rotation that is nearest to all by the squares of chords, weighted.

        Markley and others, Averaging quaternions (2007).
        """
        dtype = self.quat.dtype
        w = jnp.ones(self.quat.shape[0], dtype) if weights is None else jnp.asarray(weights, dtype)
        if w.ndim != 1:
            raise ValueError(f"Expected `weights` to be 1 dimensional, got shape {w.shape}.")
        if w.shape[0] != len(self):
            raise ValueError(
                "Expected `weights` to have number of values equal to number of rotations, got "
                f"{w.shape[0]} values and {len(self)} rotations."
            )
        return Rotation(jnp.linalg.eigh((w * self.quat.T) @ self.quat)[1][:, -1])

    @property
    def single(self):
        """Is it one rotation, without a dimension of them?"""
        return self.quat.ndim == 1


class Slerp(NamedTuple):
    """Turns at a constant speed from one rotation to the next; make it by `Slerp.init`.

    >>> from shardax.scipy.spatial.transform import Rotation, Slerp
    >>> ends = Rotation.from_euler("z", jnp.array([[0.0], [90.0]]), degrees=True)
    >>> turn = Slerp.init(jnp.array([0.0, 1.0]), ends)
    >>> turn(jnp.array([0.5])).as_euler("zyx", degrees=True)[0, 0].round(2)
    Array(45., dtype=float32)
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times, rotations):
        """Through `rotations`, two or more, at increasing `times`."""
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) == 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        times = jnp.asarray(times, rotations.quat.dtype)
        if times.ndim != 1:
            raise ValueError(
                "Expected times to be specified in a 1 dimensional array, got "
                f"{times.ndim} dimensions."
            )
        if times.shape[0] != len(rotations):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {times.shape[0]} timestamps."
            )
        starts = rotations[:-1]
        return cls(times, jnp.diff(times), starts, (starts.inv() * rotations[1:]).as_rotvec())

    def __call__(self, times):
        """The rotations at `times`, a number or a vector."""
        times = jnp.asarray(times, self.times.dtype)
        if times.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        flat = jnp.atleast_1d(times)
        part = jnp.maximum(jnp.searchsorted(self.times, flat) - 1, 0)
        share = (flat - self.times[part]) / self.timedelta[part]
        result = self.rotations[part] * Rotation.from_rotvec(self.rotvecs[part] * share[:, None])
        return result[0] if times.ndim == 0 else result
