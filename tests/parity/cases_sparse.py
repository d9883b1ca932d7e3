"""tests/parity/cases_sparse.py - jax.experimental.sparse, and jax.experimental.ode."""

import numpy as np

import corpus as parity

RNG = np.random.default_rng(3)


def holes(*shape):
    return np.where(RNG.random(shape) < 0.5, RNG.normal(size=shape), 0).astype(np.float32)


A, B, T = holes(4, 5), holes(5, 3), holes(2, 3, 4)


def setup(names):
    import importlib

    jax = names["jax"]
    sparse = importlib.import_module(f"{jax.__name__}.experimental.sparse")
    fromdense = sparse.BCOO.fromdense
    names.update(
        sparse=sparse,
        a=A,
        b=B,
        t=T,
        A=fromdense(A),
        B=fromdense(B),
        T=[fromdense(T, n_batch=i, n_dense=k) for i, k in ((0, 0), (1, 0), (0, 1), (1, 1))],
        parts=lambda m: jax.tree_util.tree_leaves(m),
        dense=lambda m: m.todense() if hasattr(m, "todense") else m,
        odeint=importlib.import_module(f"{jax.__name__}.experimental.ode").odeint,
        pend=lambda y, t, k, g: names["jnp"].stack([y[1], -k * y[1] - g * names["jnp"].sin(y[0])]),
        y0=np.float32([3.0, 0.0]),
        ts=np.linspace(0, 2, 5, dtype=np.float32),
    )


corpus = parity.Corpus(setup, rtol=2e-5, atol=2e-5)

corpus.expressions("""
[parts(m) for m in T]
[repr(m) for m in T] + [repr(A.T), repr(sparse.BCSR.fromdense(a)), repr(sparse.COO.fromdense(a)), repr(sparse.CSR.fromdense(a)), repr(sparse.CSC.fromdense(a))]
[m.todense() for m in T]
[parts(m.sum_duplicates(nse=20)) for m in T[:2]]
[parts(sparse.BCOO((np.float32([1, 2, 3, 4]), np.int32([[1, 1], [0, 2], [1, 1], [7, 7]])), shape=(2, 3)).sum_duplicates(k)) for k in (None,)]
[parts(sparse.BCOO.fromdense(a, nse=k)) for k in (3, 30)]
[dense(m.update_layout(n_batch=i, n_dense=k, on_inefficient=None)) for m in T for i in (0, 1, 2) for k in (0, 1)]
A.update_layout(n_batch=1) !! increasing n_batch from 0 to 1 results in inefficient storage
A.update_layout(n_batch=3) !! cannot be larger than mat.ndim
[dense(A @ x) for x in (b, b[:, 0], B)]
[dense(jnp.asarray(b.T) @ A.T), dense(sparse.bcoo_dot_general(T[1], t, dimension_numbers=(((2,), (2,)), ((0,), (0,)))))]
[dense(f(A)) for f in (lambda m: -m, lambda m: m + m, lambda m: m - 2 * m, lambda m: m * m, lambda m: m * a, lambda m: m / 3, lambda m: m**2, abs)]
[dense(m.sum(axis=k)) for m in T for k in (0, 1, 2, (0, 2))]
dense(A.sum())
[dense(m[i]) for m in T[:2] for i in (0, -1, slice(0, 1), (slice(None), 1), (Ellipsis, slice(1, 3)), (slice(None, None, -1), slice(0, 3, 2)))]
[dense(A.reshape(2, 10)), dense(A.T), dense(sparse.bcoo_concatenate([A, A], dimension=0)), dense(sparse.bcoo_rev(A, (0,)))]
dense(sparse.bcoo_dynamic_slice(A, (np.int32(1), np.int32(2)), (2, 2)))
[dense(sparse.bcoo_broadcast_in_dim(A, shape=(2, 4, 5), broadcast_dimensions=(1, 2))), dense(sparse.bcoo_squeeze(A[:1], dimensions=(0,)))]
A + a
A @ b.T !!
[parts(sparse.BCSR.fromdense(a)), dense(sparse.BCSR.fromdense(a) @ b), parts(sparse.CSR.fromdense(a)), parts(sparse.CSC.fromdense(a)), parts(sparse.COO.fromdense(a))]
[dense(getattr(sparse, c).fromdense(a) @ b) for c in ("COO", "CSR", "CSC")]
[dense(sparse.eye(3, 4, k, sparse_format=f)) for k in (-1, 0, 2) for f in ("bcoo", "coo", "csr", "csc")]
[dense(sparse.empty((2, 3), sparse_format=f)) for f in ("bcoo", "coo", "csr", "csc")]
sparse.empty((2, 3), sparse_format="other") !! not recognized
dense(sparse.sparsify(lambda x, y: jnp.sin(x) @ y)(A, b))
dense(jax.jit(sparse.sparsify(lambda x, y: (2 * x.T) @ y))(A, A))
sparse.sparsify(jnp.cos)(A) !! is not implemented
[parts(sparse.grad(lambda m, v: ((m @ v) ** 2).sum(), k)(A, b)) for k in (0, 1)]
[parts(f(lambda m: m @ b[:, 0])(A)) for f in (sparse.jacfwd, sparse.jacrev)]
jax.grad(lambda d: (sparse.BCOO((d, A.indices), shape=A.shape) @ b).sum())(A.data)
jax.vmap(lambda v: A @ v, 1)(b)
odeint(pend, y0, ts, 0.25, 9.8)
jax.grad(lambda y, k: odeint(pend, y, ts, k, 9.8)[-1].sum(), (0, 1))(y0, 0.25)
jax.grad(lambda t: odeint(lambda y, t: -y * t, np.float32(2.0), t).sum())(ts)
odeint(lambda y, t: {"a": y["b"], "b": -y["a"]}, {"a": np.float32(1), "b": np.float32(0)}, ts)
odeint(lambda y, t: y, y0, np.arange(3)) !! t must be an array of floats
odeint(lambda y, t, f: y, y0, ts, len) !! must be arrays or scalars
""")


def recurrent(jax, jnp, lax, layers, both, what):
    import importlib

    rnn = importlib.import_module(f"{jax.__name__}.experimental.rnn")
    sizes = (3, 4, layers, both)
    w = rnn.init_lstm_weight(jax.random.key(0), *sizes)
    if what == "weights":
        return w, rnn.swap_lstm_gates(w, *sizes), rnn.unpack_lstm_weights(w, *sizes)
    x = jnp.cos(jnp.arange(30.0)).reshape(2, 5, 3)
    h = jnp.zeros((layers * (2 if both else 1), 2, 4))
    lengths = np.int32([5, 3])

    def run(w, x):
        parts = rnn.unpack_lstm_weights(w, *sizes)
        return rnn.lstm_ref(x, h, h + 0.1, *parts, lengths, *sizes[:3], 0.0, both)

    return run(w, x), jax.grad(lambda *v: run(*v)[0].sum(), (0, 1))(w, x)


corpus.table(
    {f"lstm {a}": a for a in [(1, False, ""), (2, True, ""), (2, False, ""), (1, True, "weights")]},
    recurrent,
)
