"""tests/api/test_splash_attention.py - attention under masks, and the masks."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental.pallas.ops.tpu import splash_attention as splash


def shown(mask):
    return mask[..., :].astype(int).tolist()


def test_masks():
    assert shown(splash.CausalMask((2, 3))) == [[1, 0, 0], [1, 1, 0]]
    assert shown(splash.CausalMask((2, 3), offset=1)) == [[1, 1, 0], [1, 1, 1]]
    assert shown(splash.LocalMask((3, 3), (1, None), 0)) == [[1, 1, 1], [1, 1, 1], [0, 1, 1]]
    assert shown(splash.LocalMask((2, 3), (0, 0), 1)) == [[0, 1, 0], [0, 0, 1]]
    assert shown(splash.LocalMask((2, 2), (None, None), 0)) == [[1, 1], [1, 1]]
    both = splash.CausalMask((2, 2)) & splash.FullMask((2, 2))
    assert shown(both) == [[1, 0], [1, 1]]
    heads = splash.MultiHeadMask([both, both | splash.FullMask((2, 2))])
    assert heads.shape == (2, 2, 2) and shown(heads)[1] == [[1, 1], [1, 1]]


def test_masks_that_do_not_fit():
    square, other = splash.FullMask((2, 2)), splash.FullMask((2, 3))
    with pytest.raises(ValueError, match=r"Invalid shape for other: \(2, 3\), expected: \(2, 2\)"):
        square & other
    with pytest.raises(ValueError, match="the masks must have one shape"):
        splash.MultiHeadMask([square, other])
    with pytest.raises(ValueError, match="at least one mask is needed"):
        splash.MultiHeadMask([])
    with pytest.raises(ValueError, match="2 dimensions of bool are needed; got int64, 1"):
        splash.NumpyMask(np.arange(2))
    with pytest.raises(ValueError, match=r"Unexpected mask shape: \(2, 2\)"):
        splash.make_splash_mha(np.ones((2, 2), bool), head_shards=1, q_seq_shards=1)


def reference(mask, q, k, v, cap=None):
    logits = np.einsum("hqd,hkd->hqk", q, k)
    if cap is not None:
        logits = cap * np.tanh(logits / cap)
    weights = np.where(mask, np.exp(logits), 0)
    sums = weights.sum(-1)
    return np.einsum("hqk,hkd->hqd", weights / sums[..., None], v), np.log(sums)


def test_attention():
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(4, 5, 3)).astype(np.float32) for _ in range(3))
    mask = splash.MultiHeadMask([splash.CausalMask((5, 5))] * 4)
    make = jax.tree_util.Partial(splash.make_splash_mha, mask, head_shards=1, q_seq_shards=1)
    out, (sums,) = make(save_residuals=True)(q, k, v)
    expected, log_sums = reference(mask[:], q, k, v)
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(sums, log_sums, rtol=2e-5, atol=1e-6)
    ids = jnp.arange(5) // 2
    segments = splash.SegmentIds(ids, ids)
    seen = mask[:] & (ids[:, None] == ids)
    out = make(attn_logits_soft_cap=1.5)(q, k[:2], v[:2], segment_ids=segments)
    repeated = (np.repeat(x[:2], 2, 0) for x in (k, v))
    np.testing.assert_allclose(out, reference(seen, q, *repeated, cap=1.5)[0], rtol=2e-5, atol=1e-6)
    single = splash.make_splash_mqa(mask, head_shards=1, q_seq_shards=1)
    same = (np.repeat(x[:1], 4, 0) for x in (k, v))
    np.testing.assert_allclose(
        single(q, k[0], v[0]), reference(mask[:], q, *same)[0], rtol=2e-5, atol=1e-6
    )


@pytest.mark.parametrize("segments", [False, True])
def test_blocks_give_what_all_at_once_gives(segments):
    rng = np.random.default_rng(1)
    q, k, v = (jnp.asarray(rng.normal(size=(2, 12, 4)), jnp.float32) for _ in range(3))
    ids = jnp.arange(12) // 5
    ids = splash.SegmentIds(ids, ids) if segments else None
    mask = splash.MultiHeadMask(
        [splash.CausalMask((12, 12)), splash.LocalMask((12, 12), (2, 1), 0)]
    )

    def make(**options):
        return splash.make_splash_mha(
            mask, head_shards=1, q_seq_shards=1, save_residuals=True, **options
        )

    def loss(attend, *operands):
        out, (sums,) = attend(*operands, segment_ids=ids)
        return (jnp.sin(out).sum() + jnp.cos(sums).sum()), (out, sums)

    whole = make(attn_logits_soft_cap=2.0)
    wanted = jax.value_and_grad(lambda *x: loss(whole, *x), (0, 1, 2), has_aux=True)(q, k, v)
    for sizes in ((3, 4), (12, 6), (4, 12), (1, 1)):
        attend = make(attn_logits_soft_cap=2.0, block_sizes=splash.BlockSizes(*sizes))
        found = jax.value_and_grad(lambda *x, f=attend: loss(f, *x), (0, 1, 2), has_aux=True)(
            q, k, v
        )
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6), found, wanted
        )


def test_blocks_bound_the_logits():
    """No array of the program for blocks has a dimension of queries and one of keys."""
    mask = np.ones((1, 64, 96), bool)
    sizes = splash.BlockSizes(8, 16)
    q, k = jnp.ones((1, 64, 4)), jnp.ones((1, 96, 4))

    def floats(options):
        attend = splash.make_splash_mha(mask, head_shards=1, q_seq_shards=1, **options)
        program = jax.make_jaxpr(jax.grad(lambda *x: attend(*x).sum(), (0, 1, 2)))(q, k, k)
        return [word for word in str(program).split() if ":f32[1,64,96]" in word]

    assert floats({})
    assert not floats({"block_sizes": sizes})
    for block in (splash.BlockSizes(7, 16), splash.BlockSizes(8, 0)):
        with pytest.raises(ValueError, match="which does not divide"):
            splash.make_splash_mha(mask, block_sizes=block, head_shards=1, q_seq_shards=1)


def test_results_have_a_name_for_policies():
    attend = splash.make_splash_mha(
        np.ones((1, 2, 2), bool), head_shards=1, q_seq_shards=1, residual_checkpoint_name="kept"
    )
    assert "name=kept" in str(jax.make_jaxpr(attend)(*[jnp.ones((1, 2, 3))] * 3))
