"""tests/ops/sample_random.py - samples of random generators and of their keys."""

import numpy as np
import references as ref
from sample_kinds import Arg, Sample

KEY = Arg((2,), dtype="uint32", values=(7, 11))

SAMPLES = {
    "threefry2x32": Sample(
        ref.threefry, (Arg((3, 4), (0, 2**31), "uint32"),) * 4, {}, ("uint32",), ()
    ),
    "philox2x32": Sample(
        ref.cipher(ref.philox_2x32, 2),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 3,
        {},
        ("uint32",),
        (),
    ),
    "philox4x32": Sample(
        ref.cipher(ref.philox_4x32, 4),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 6,
        {},
        ("uint32",),
        (),
    ),
    "threefry4x32": Sample(
        ref.cipher(ref.threefry_4x32, 4),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 8,
        {},
        ("uint32",),
        (),
    ),
    "random_bits": tuple(
        Sample(ref.random_bits, (KEY,), {"bit_width": w, "shape": (5, 7)}, ("uint32",), ())
        for w in (8, 16, 32, 64)
    ),
    "random_bits_part": tuple(
        Sample(
            lambda key, starts, bit_width, shape, whole_shape: ref.random_bits(
                key, bit_width, whole_shape
            )[1:4, 2:6],
            (KEY, Arg((2,), dtype="int32", values=(1, 2))),
            {"bit_width": w, "shape": (3, 4), "whole_shape": (5, 7)},
            ("uint32",),
            (),
        )
        for w in (8, 16, 32, 64)
    ),
    "random_split": Sample(ref.random_split, (KEY,), {"shape": (3,)}, ("uint32",), ()),
    "random_fold_in": Sample(
        ref.random_fold_in, (KEY, Arg((), dtype="int32", values=5)), {}, ("uint32",), ()
    ),
    "random_seed": Sample(
        lambda s: np.stack([np.zeros_like(s), s], -1).astype(np.uint32),
        (Arg((3,), (-9, 9), "int32"),),
        {},
        ("int32",),
        (),
        call=lambda sx, s: sx._core.bind(
            "random_unwrap", (sx._core.bind("random_seed", (s,), impl=sx.random.key_dtype()),)
        ),
    ),
    "random_wrap": Sample(
        lambda k: k,
        (Arg((3, 2), (0, 99), "uint32"),),
        {},
        ("uint32",),
        (),
        call=lambda sx, k: sx._core.bind(
            "random_unwrap", (sx._core.bind("random_wrap", (k,), impl=sx.random.key_dtype()),)
        ),
    ),
    # Under vmap the first state draws for all: JAX's way, checked in test_random_streams.py.
    "rng_bit_generator": tuple(
        Sample(
            lambda k, dtype=dtype: ref.philox(k, (5, 3), dtype),
            (Arg((4,), dtype="uint32", values=(7, 11, 0xFFFFFFFF, 5)),),
            {},
            ("uint32",),
            (),
            batched=(),
            call=lambda sx, k, dtype=dtype: sx.lax.rng_bit_generator(k, (5, 3), dtype)[1],
        )
        for dtype in ("uint8", "uint32", "uint64")
    ),
}
