"""tests/runtime/test_aborts.py - nothing ends the process: each program runs in one of its own."""

import re
import subprocess
import sys
import textwrap

import pytest


def run(code, *, timeout=120, **options):
    """The output of a program, which has to end by itself, with status 0."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        **options,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("work", ["plan", "callback", "tracing"])
def test_exit_while_a_daemon_thread_computes(work):
    out = run(
        f"""
        import threading, time
        import numpy as np
        import shardax as jax
        import shardax.numpy as jnp

        x = jnp.ones((300, 300))
        loop = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda i, c: c @ c / 300, x))
        call = jax.jit(lambda x: jax.lax.fori_loop(
            0, 10**6, lambda i, c: jax.pure_callback(lambda v: np.asarray(v), c, c), x))

        def plan():
            while True:
                loop(x)

        def callback():
            call(x)

        def tracing():
            while True:
                jax.jit(lambda x: jnp.sin(x) @ x)(x).block_until_ready()

        started = [threading.Thread(target={work}, daemon=True) for _ in range(3)]
        for t in started:
            t.start()
        time.sleep(0.5)
        print("end")
        """
    )
    assert out == "end\n"


def test_import_in_a_subinterpreter_is_refused():
    out = run(
        """
        import sys
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        code = '''
        try:
            import shardax
        except ImportError as e:
            print(str(e)[:70], flush=True)
        '''
        import textwrap
        interpreter = interpreters.create()
        if hasattr(interpreters, "run_string"):
            interpreters.run_string(interpreter, textwrap.dedent(code))
        else:
            interpreters.exec(interpreter, textwrap.dedent(code))
        """,
        timeout=60,
    )
    # From 3.13 on, CPython refuses it before the module is asked.
    assert out.startswith(
        (
            "shardax: the extension module cannot be imported in a subinterpreter",
            "module shardax._core does not support loading in subinterpreters",
        )
    )


# A function that calls a function, and so on, each staged before it is called; made once.
CALLS = """
import functools

@functools.cache
def calls():
    f = jnp.sin
    for _ in range(3000):
        f = jax.jit(lambda x, f=f: f(x))
        jax.make_jaxpr(f)(1.0)
    return f
"""
DEEP = {
    "jit under grad": """
        f = jnp.sin
        for _ in range(3000):
            f = jax.jit(f)
        jax.grad(f)(1.0)
        """,
    "jit under make_jaxpr": """
        f = jnp.sin
        for _ in range(2500):
            f = jax.jit(f)
        jax.make_jaxpr(f)(1.0)
        """,
    "grad": """
        f = lambda x: x
        for _ in range(2500):
            f = jax.grad(f)
        f(1.0)
        """,
    "vmap": """
        f = lambda x: x
        for _ in range(3000):
            f = jax.vmap(f, in_axes=None, out_axes=None, axis_size=2)
        f(1.0)
        """,
    "checkpoint": """
        f = jnp.sin
        for _ in range(2500):
            f = jax.checkpoint(f)
        jax.grad(f)(1.0)
        """,
    "calls kept between": """
        f = calls()
        f(1.0)
        """,
    "printing": """
        str(jax.make_jaxpr(calls())(1.0))
        """,
    "grad of calls": """
        f = calls()
        jax.grad(f)(1.0)
        """,
    "vmap of calls": """
        f = calls()
        jax.vmap(f)(jnp.ones(3))
        """,
    "pmap of calls": """
        f = calls()
        jax.pmap(f)(jnp.ones(3))
        """,
    "jvp of calls": """
        f = calls()
        jax.jvp(f, (1.0,), (1.0,))
        """,
    "loops": """
        f = jnp.sin
        for _ in range(250):
            f = jax.jit(lambda x, f=f: jax.lax.fori_loop(0, 1, lambda i, c: f(c), x))
            jax.make_jaxpr(f)(1.0)
        f(1.0)
        """,
    "branches": """
        f = jnp.sin
        for _ in range(200):
            f = jax.jit(lambda x, f=f: jax.lax.cond(x > 0, f, jnp.cos, x))
            jax.make_jaxpr(f)(1.0)
        f(1.0)
        """,
    "checkify": """
        from shardax.experimental import checkify
        f = calls()
        checkify.checkify(f, errors=checkify.float_checks)(1.0)
        """,
    "debug_nans": """
        jax.config.update("jax_debug_nans", True)
        f = calls()
        f(jnp.inf)
        """,
    "repr": """
        f = jnp.sin
        for _ in range(2500):
            f = jax.jit(f)
        repr(f)
        """,
    "tree": """
        t = 1.0
        for _ in range(100_000):
            t = [t]
        jax.tree.flatten(t)
        """,
    "tree of dicts": """
        t = 1.0
        for _ in range(100_000):
            t = {"a": (t, None)}
        jax.jit(lambda t: t)(t)
        """,
    "tree with paths": """
        t = 1.0
        for _ in range(100_000):
            t = [t]
        jax.tree_util.tree_flatten_with_path(t)
        """,
    "tree map": """
        t = 1.0
        for _ in range(100_000):
            t = [t]
        jax.tree.map(lambda x: x, t)
        """,
    "treedef": """
        d = jax.tree.structure(1.0)
        for _ in range(3000):
            d = jax.tree.structure([1.0]).compose(d)
        str(d)
        """,
    "treedef unflatten": """
        d = jax.tree.structure(1.0)
        for _ in range(3000):
            d = jax.tree.structure([1.0]).compose(d)
        d.unflatten([1])
        """,
    "lists as arrays": """
        t = 1.0
        for _ in range(100_000):
            t = [t]
        jnp.array(t)
        """,
    "__jax_array__": """
        class Self:
            def __jax_array__(self):
                return self
        jnp.sin(Self())
        """,
    "a fresh __jax_array__": """
        class Other:
            def __jax_array__(self):
                return Other()
        jax.lax.add(Other(), 1.0)
        """,
}
# Lists are refused before they are read to the end, and NaN is found.
ANNOUNCED = "Invalid nan value .*version.\n"  # a function that is called again
REFUSED = {"lists as arrays": "ValueError", "debug_nans": "FloatingPointError"}


@pytest.mark.parametrize("limit", [1000, 10**8])
def test_recursion_ends_in_an_error(limit):
    code = "import sys\nimport shardax as jax\nimport shardax.numpy as jnp\n"
    code += f"sys.setrecursionlimit({limit})\n{CALLS}\n"
    for name in sorted(DEEP):
        code += f"print({name!r}, end=': ', flush=True)\ntry:\n"
        code += textwrap.indent(textwrap.dedent(DEEP[name]), "    ")
        code += "\nexcept (RecursionError, ValueError, FloatingPointError) as e:\n"
        code += "    print(type(e).__name__)\nelse:\n    print('computed')\n"
        code += "jax.config.update('jax_debug_nans', False)\n"
        code += "assert float(jax.grad(jax.jit(jnp.sin))(0.0)) == 1.0\n"
    ended = dict(line.split(": ") for line in re.sub(ANNOUNCED, "", run(code)).splitlines())
    assert sorted(ended) == sorted(DEEP)
    for name, how in ended.items():
        allowed = [REFUSED[name]] if name in REFUSED else ["RecursionError", "computed"]
        assert how in allowed, (name, how)
    assert ended["jit under grad"] == ended["tree"] == "RecursionError"


def test_the_error_says_what_helps():
    out = run(
        """
        import shardax as jax, shardax.numpy as jnp
        f = jnp.sin
        for _ in range(10_000):
            f = jax.jit(f)
        try:
            f(1.0)
        except RecursionError as e:
            print(e)
        """
    )
    assert "the stack of this thread is nearly used up" in out
    assert "threading.stack_size" in out


def test_larger_stacks_nest_deeper():
    out = run(
        """
        import threading
        import shardax as jax, shardax.numpy as jnp
        f = jnp.sin
        for _ in range(1500):
            f = jax.jit(f)
        answer = []
        threading.stack_size(2**29)
        thread = threading.Thread(target=lambda: answer.append(float(jax.grad(f)(0.0))))
        thread.start()
        thread.join()
        print(answer)
        """
    )
    assert out == "[1.0]\n"


def test_chains_of_owners_end_without_recursion():
    run(
        """
        import numpy as np
        import shardax as jax, shardax.numpy as jnp
        f = jnp.sin
        for _ in range(50_000):
            f = jax.jit(f)
        del f
        f = jnp.sin
        for _ in range(3000):
            f = jax.jit(lambda x, f=f: f(x))
            p = jax.make_jaxpr(f)(1.0)
        del f
        jax.clear_caches()
        del p
        x = jnp.ones(3)
        for _ in range(50_000):
            x = jax.dlpack.from_dlpack(x)
        del x
        """
    )


def test_arrays_are_lent_and_taken_in_chains():
    run(
        """
        import numpy as np
        import shardax as jax
        x = np.ones(3, np.float32)
        for _ in range(30_000):
            x = np.from_dlpack(jax.dlpack.from_dlpack(x))
        del x
        """
    )
