"""tests/refs/test_ref_errors.py - mutable array references that are refused: aliases, results,
references that outlive their trace."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def test_values_that_do_not_fit():
    ref = shardax.new_ref(jnp.arange(3.0))
    with pytest.raises(ValueError, match=r"Invalid shape for `swap`. Ref shape: \(3,\)"):
        ref[...] = 0.0
    with pytest.raises(ValueError, match="Invalid dtype for `swap`. Ref dtype: float32"):
        ref[0] = jnp.int32(1)
    with pytest.raises(ValueError, match="Out of bound indexer: idx=5, dim=3"):
        _ = ref[5]
    with pytest.raises(ValueError, match="`indices` must not be longer than `shape`"):
        _ = ref[0, 0]
    with pytest.raises(ValueError, match="is no array: read it with"):
        np.asarray(ref)
    with pytest.raises(TypeError, match="cannot hold another"):
        shardax.new_ref(ref)
    with pytest.raises(TypeError, match="does not have a dtype attribute"):
        shardax.empty_ref((3,))


def test_aliases_are_refused():
    ref = shardax.new_ref(jnp.zeros(3))
    with pytest.raises(ValueError, match="only one reference .* appeared at both a and b"):
        shardax.jit(lambda a, b: a[...])(ref, ref)
    with pytest.raises(ValueError, match="both closed over and passed as"):
        shardax.jit(lambda a: a[...] + ref[...])(ref)
    for f, args in (
        (lambda x: ref, (1.0,)),
        (lambda r: r, (ref,)),
        (lambda x: shardax.new_ref(x), (1.0,)),
    ):
        with pytest.raises(ValueError, match="traced for jit returned a mutable array reference"):
            shardax.jit(f)(*args)
    with pytest.raises(ValueError, match=r"path result\['k'\].*\n\n.*passed in as the argument r"):
        shardax.jit(lambda r: {"k": r})(ref)
    with pytest.raises(ValueError, match=r"\n\n.* was created on line .*test_ref_errors.py"):
        shardax.jit(lambda x: shardax.new_ref(x))(1.0)


def test_aliases_in_loops_and_branches_are_refused():
    ref = shardax.new_ref(0.0)
    only, both = "only one reference .* appeared at both", "closed over and passed as the argument"
    with pytest.raises(ValueError, match=rf"{only} c\[0\] and c\[1\]"):
        lax.scan(lambda c, _: (None, None), (ref, ref), None, length=1)
    with pytest.raises(ValueError, match=f"{only} x and y"):
        lax.cond(True, lambda x, y: 0, lambda x, y: 1, ref, ref)
    with pytest.raises(ValueError, match=f"{both} y"):
        lax.cond(True, lambda y: ref[...] + y[...], lambda y: ref[...] + y[...], ref)
    with pytest.raises(ValueError, match=f"{both} y"):
        shardax.jit(lambda y: ref[...] + y[...])(ref)
    for call, api in (
        (lambda: lax.scan(lambda c, x: (shardax.new_ref(c), x), 0, jnp.arange(3)), "scan"),
        (lambda: lax.scan(lambda c, _: (c, None), ref, None, length=1), "scan"),
        (lambda: lax.cond(True, lambda: ref, lambda: ref), "cond"),
        (lambda: lax.while_loop(lambda c: True, lambda c: c, ref), "while_body"),
        (lambda: lax.fori_loop(0, 3, lambda i, c: c, ref), "fori_loop"),
    ):
        with pytest.raises(ValueError, match=f"traced for {api} returned a mutable array"):
            call()
    with pytest.raises(TypeError, match="the carry holds a mutable array reference"):
        lax.scan(lambda c, _: (c[...], None), ref, None, length=1)

    @shardax.custom_vjp
    def f(x, y):
        return x

    f.defvjp(lambda x, y: (x[...], None), lambda *_: (None, None))
    with pytest.raises(ValueError, match=f"{only} x and y"):
        shardax.vjp(f, ref, ref)
    with pytest.raises(ValueError, match="returned a mutable array"):
        f(ref, 1.0)


def test_a_reference_that_outlives_its_trace():
    kept = []
    shardax.jit(lambda x: kept.append(shardax.new_ref(x)))(1.0)
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="made while a function was"):
        _ = kept[0][...]


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: shardax.pmap(f).lower(jnp.ones(1)),
        lambda f: shardax.closure_convert(f, 1.0),
    ],
)
def test_what_takes_no_references_says_so(transform):
    ref = shardax.new_ref(1.0)
    with pytest.raises(NotImplementedError, match="a mutable array reference. Pass the value"):
        transform(lambda x: x * ref[...])


def test_explain_refuses_references():
    ref = shardax.new_ref(1.0)
    with pytest.raises(NotImplementedError, match="explain: the function reads or writes"):
        shardax.explain(shardax.jit(lambda x: x + ref[...]))(1.0)
