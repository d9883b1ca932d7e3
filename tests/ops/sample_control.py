"""tests/ops/sample_control.py - samples of control flow, calls, derivative rules, effects."""

import numpy as np
import sample_programs as programs
from sample_kinds import Arg, control

SAMPLES = {
    "jit": control(lambda x: np.sin(x) * 2, lambda sx, x: sx.jit(lambda v: sx.numpy.sin(v) * 2)(x)),
    "composite": control(
        lambda x: np.sin(x) * 2, programs.composite, grad=(), refuses_jvp="composite"
    ),
    "pmap": control(lambda x: x * x, programs.pmap),
    "scan": control(programs.scan_reference, programs.scan, tolerance=8),
    "while": control(lambda x: x * 0.125, programs.while_loop, grad=()),
    "cond": control(np.cos, programs.cond, tolerance=4),
    "custom_jvp_call": control(lambda x: x * x, programs.custom_jvp),
    "custom_vjp_call": control(
        lambda x: x * x, programs.custom_vjp, grad=(), refuses_jvp="custom_vjp"
    ),
    "remat_opt": control(lambda x: x * x, programs.remat_opt),
    "custom_vmap_call": control(lambda x: x * x, programs.custom_vmap),
    "linear_call": control(lambda x: x * 2, programs.linear_call),
    "custom_linear_solve": control(lambda x: x * 2, programs.linear_solve),
    "remat2": control(lambda x: np.sin(x) ** 2, programs.checkpoint, tolerance=4),
    "partial_sums": control(lambda x: x, programs.terms_of_a_sum, (Arg((1, 3)),)),
    "sharding_constraint": control(lambda x: x * 2, programs.constrained),
    "device_put": control(lambda x: x * 2, programs.moved),
    "layout_constraint": control(lambda x: x * 2, programs.laid_out),
    "reshard": control(lambda x: x * 2, programs.resharded),
    "check": control(lambda x: x + x, programs.checked),
    "pure_callback": control(
        lambda x: x + x, programs.callback, grad=(), refuses_jvp="Pure callbacks"
    ),
    "io_callback": control(lambda x: x + x, programs.effects, grad=(), refuses_jvp="IO callbacks"),
}
