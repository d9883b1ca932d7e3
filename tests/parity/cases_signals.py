"""tests/parity/cases_signals.py - jax.scipy.fft, signal's spectra, optimize, spatial, interpolate,
cluster, stats of samples, sparse.linalg."""

import numpy as np

import corpus as parity

RNG = np.random.default_rng(7)
WAVE = RNG.normal(size=(2, 40))
QUATS = RNG.normal(size=(5, 4))
MATRIX = RNG.normal(size=(6, 6)) + 6 * np.eye(6)
COMPLEX = MATRIX + 1j * RNG.normal(size=(6, 6))
VECTOR = RNG.normal(size=6)
POINTS = RNG.normal(size=(2, 12))


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def setup(names):
    import importlib

    jax = names["jax"]
    load = lambda name: importlib.import_module(f"{jax.__name__}.scipy.{name}")
    transform = load("spatial.transform")
    names.update(
        fft=load("fft"),
        signal=load("signal"),
        minimize=load("optimize").minimize,
        Rotation=transform.Rotation,
        Slerp=transform.Slerp,
        Interpolator=load("interpolate").RegularGridInterpolator,
        vq=load("cluster.vq").vq,
        stats=load("stats"),
        solvers=load("sparse.linalg"),
        wave=WAVE,
        quats=QUATS,
        R=lambda: transform.Rotation.from_quat(QUATS),
        m=MATRIX,
        c=COMPLEX,
        hermitian=COMPLEX @ COMPLEX.conj().T,
        v=VECTOR,
        points=POINTS,
        rosenbrock=rosenbrock,
        grid=(np.array([0.0, 1, 2.5]), np.array([-1.0, 0, 1, 4])),
        heights=np.arange(24.0).reshape(3, 4, 2) ** 1.5,
        places=np.array([[0.5, 0.5], [2.4, 3.0], [0, -1], [2.5, 4], [3, 0], [1, -2]]),
        squares=lambda x: (abs(x) ** 2).sum(),
    )


corpus = parity.Corpus(setup, rtol=1e-8, atol=1e-9, config={"jax_enable_x64": True})

corpus.expressions("""
[fft.dct(wave, norm=n) for n in (None, "backward", "ortho")]
[fft.idct(wave, norm=n) for n in (None, "backward", "ortho")]
[f(wave[:, :9], n=n, axis=a) for f in (fft.dct, fft.idct) for n, a in ((None, 0), (12, 1), (1, 1))]
[f(wave + 1j * wave[::-1]) for f in (fft.dct, fft.idct)]
[f(wave, axes=a, s=s) for f in (fft.dctn, fft.idctn) for a, s in ((None, None), ((1,), None), (None, (4, 50)), ((0,), (3,)))]
fft.dct(np.arange(4), 3) !! Only DCT type 2
fft.dct(np.arange(4), norm="forward") !! is not implemented
jax.grad(lambda x: (fft.dct(x) ** 3).sum())(wave[0])
[signal.stft(wave, nperseg=n, axis=-1) for n in (8, 9)]
[signal.stft(wave, 2.0, nperseg=8, noverlap=3, nfft=16, boundary=b, padded=p, detrend=d) for b, p, d in (("even", True, "linear"), ("odd", False, "constant"), ("constant", True, False), (None, False, False))]
signal.stft(wave.T, nperseg=8, axis=0)
signal.stft(wave + 1j, nperseg=8, return_onesided=False)
signal.stft(wave[0], nperseg=8, window=np.arange(8.0))
signal.stft(wave[0], nperseg=8, boundary="other") !! Unknown boundary option
signal.stft(wave[0], nperseg=8, noverlap=8) !! noverlap must be less than nperseg
signal.stft(wave[0], nperseg=8, nfft=4) !! nfft must be greater
signal.stft(wave[0], nperseg=0) !! positive integer
[signal.istft(signal.stft(wave, nperseg=n)[2], nperseg=n) for n in (8, 10)]
signal.istft(signal.stft(wave[0] + 1j, nperseg=8, return_onesided=False)[2], input_onesided=False)
signal.istft(wave[0]) !! at least 2d
signal.istft(wave, time_axis=0, freq_axis=0) !! differing time and frequency
[signal.csd(wave[0], wave[1], nperseg=8, scaling=s, average=a) for s in ("density", "spectrum") for a in ("mean", "median")]
signal.csd(wave, wave[:, :30], nperseg=8, detrend="linear")
signal.csd(wave, wave[0]) !! same rank
[signal.welch(wave, nperseg=n) for n in (8, 7, None)]
signal.welch(wave[0], scaling="most") !! Unknown scaling
[R().as_matrix(), R().as_rotvec(), R().as_rotvec(degrees=True), R().as_mrp(), R().magnitude()]
[R().as_euler(s) for s in ("xyz", "zxz", "XYZ", "YXY", "ZYX")]
R().as_euler("xyz", degrees=True)
[R().as_quat(canonical=c, scalar_first=f) for c in (False, True) for f in (False, True)]
[Rotation.from_euler(s, np.ones((2, len(s))) * 0.3, degrees=d).as_quat() for s in ("x", "zY"[:1], "xyz", "ZXZ") for d in (False, True)]
[Rotation.from_matrix(R().as_matrix()).as_quat(canonical=True), Rotation.from_rotvec(R().as_rotvec()).as_quat(canonical=True), Rotation.from_mrp(R().as_mrp()).as_quat(canonical=True)]
[(R() * R().inv()).as_quat(), R().apply(quats[:, :3]), R().apply(quats[0, :3], inverse=True), R()[1:3].as_quat(), len(R())]
[Rotation.identity().as_matrix(), Rotation.concatenate([R(), R()]).as_quat().shape, R()[0].single]
Rotation.from_rotvec(np.array([1e-9, 0, 0])).as_rotvec()
abs(R().mean(np.arange(5.0)).as_quat())
Rotation.from_euler("xx", [1, 2]) !! consecutive axes to be different
Rotation.from_euler("xY", [1, 2]) !! Expected axes from `seq`
Rotation.from_euler("", []) !! non-empty
R().as_euler("xy") !! Expected 3 axes
R()[0][0] !! not subscriptable
len(R()[0]) !! no len
Slerp.init(np.arange(5.0), R())(np.array([0.0, 0.5, 1, 2.2, 4])).as_rotvec()
Slerp.init(np.arange(5.0), R())(1.5).as_quat()
Slerp.init(np.arange(4.0), R()) !! number of rotations
Slerp.init(np.arange(5.0), quats) !! must be a `Rotation`
[Interpolator(grid, heights, k)(places) for k in ("linear", "nearest")]
[Interpolator(grid, heights, fill_value=f)(places) for f in (None, -1.0)]
Interpolator(grid, heights[..., 0])((np.array([0.5, 1]), np.array([[2.0], [3]])))
jax.jit(lambda f, x: f(x))(Interpolator(grid, heights), places)
jax.grad(lambda x: Interpolator(grid, heights)(x).sum())(places[:2])
Interpolator(grid, heights, "cubic") !! is not defined
Interpolator(grid, heights, bounds_error=True) !! takes no effect
Interpolator(grid, heights)(np.ones((2, 3))) !! have dimension
[vq(points.T, points.T[:3] + 0.1), vq(points[0], points[1, :4])]
vq(points, points[0]) !! same rank
[stats.gaussian_kde(d, b, w).logpdf(points[:, :4]) for d in (points,) for b, w in ((None, None), ("silverman", np.arange(12.0)), (0.5, None))]
[stats.gaussian_kde(points[0])(np.array([0.1, 2.0])), stats.gaussian_kde(points[0]).pdf(0.3)]
[stats.gaussian_kde(points).integrate_gaussian(np.ones(2), np.eye(2)), stats.gaussian_kde(points).integrate_kde(stats.gaussian_kde(points[:, :7])), stats.gaussian_kde(points[0]).integrate_box_1d(-1.0, 0.5)]
stats.gaussian_kde(points).resample(jax.random.key(0), (3,)).shape
stats.gaussian_kde(np.ones(1)) !! multiple elements
stats.gaussian_kde(points, "most") !! bw_method
stats.gaussian_kde(points)(np.ones((3, 2))) !! points have dimension
[stats.rankdata(np.array([3.0, np.nan, 1])), stats.rankdata(np.array([[3.0, np.nan, 1], [2, 1, 2]]), axis=1)]
[stats.poisson.entropy(np.array([0.0, 0.5, 1, 20, 99])), stats.poisson.entropy(1, np.zeros((2, 1)))]
stats.multivariate_normal.logpdf(points.T, np.zeros((12, 2)), np.stack([np.eye(2) * k for k in range(1, 13)]))
stats.multivariate_normal.logpdf(points[:, :2], np.zeros(2), np.eye(2) * np.arange(1.0, 4)[:, None, None, None])
[stats.multinomial.logpmf(np.array([1, 2]), 3, np.array([0.4, 0.6])), stats.multinomial.pmf(np.array([1, 1]), 3, np.array([0.4, 0.6]))]
solvers.cg(m @ m.T, v, tol=1e-12)[0]
solvers.cg({"a": 1}, v) !! must be either a function or ndarray
solvers.cg(m[:2], v) !! must be a square matrix
solvers.gmres(m, v, solve_method="other") !! invalid solve_method
""")

# Solutions up to their tolerance.
corpus.expressions(
    """
[f(m, v, tol=1e-12, maxiter=60)[0] for f in (solvers.gmres, solvers.bicgstab)]
[f(c, v + 1j, tol=1e-12, maxiter=60)[0] for f in (solvers.gmres, solvers.bicgstab)]
solvers.gmres(m, v, tol=1e-10, restart=3, solve_method="incremental")[0]
[f(lambda x: {"a": 2 * x["a"] + x["b"].sum(), "b": 3 * x["b"]}, {"a": v, "b": v[:2]}, tol=1e-12)[0] for f in (solvers.gmres, solvers.bicgstab)]
[jax.grad(lambda b: squares(f(m, b, tol=1e-12)[0]))(v) for f in (solvers.gmres, solvers.bicgstab)]
[jax.grad(lambda a: squares(f(a, v, tol=1e-12)[0]))(m) for f in (solvers.gmres, solvers.bicgstab)]
jax.grad(lambda b: squares(solvers.cg(hermitian, b, tol=1e-14)[0]))(v + 1j)
jax.grad(lambda a: squares(solvers.cg(a + a.conj().T, v + 1j, tol=1e-14)[0]))(hermitian / 2)
minimize(lambda x, k: ((x - k) ** 4 + (x - k) ** 2).sum(), np.zeros(3), (np.arange(3.0),), method="bfgs").x.round(4)
minimize(rosenbrock, np.zeros(3), np.zeros(2), method="BFGS") !! must be a tuple
minimize(rosenbrock, np.zeros(3), method="Newton") !! not recognized
""",
    rtol=1e-6,
    atol=1e-6,
    config={"jax_enable_x64": True},
)
