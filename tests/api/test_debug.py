"""tests/api/test_debug.py - printing, logging, stopping and looking at arrays inside programs."""

import io
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import Mesh, NamedSharding, PartitionSpec

grid = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("x", "y"))


class TestPrint:
    def test_options_may_come_first(self, capsys):
        @jax.jit
        def f(x):
            jax.debug.print(ordered=True)("x = {x:.1f}", x=x)
            jax.debug.callback(ordered=True)(lambda v: print("called with", v), x)

        f(1.25)
        assert capsys.readouterr().out == "x = 1.2\ncalled with 1.25\n"

    @pytest.mark.parametrize("function", [jax.debug.print, jax.debug.log, jax.debug.callback])
    def test_the_call_of_options_takes_nothing_else(self, function):
        with pytest.raises(TypeError, match=r"unexpected arguments in the two-call form.*'x': 1"):
            function(ordered=True, x=1)

    def test_an_option_is_an_argument_in_the_second_call(self):
        with pytest.raises(ValueError, match=r"Unused keyword arguments.*\['ordered'\]"):
            jax.debug.print(partitioned=True)("{x}", x=1, ordered=True)
        with pytest.raises(ValueError, match=r"Unused keyword arguments.*\['partitioned'\]"):
            jax.debug.print(ordered=True)("{x}", x=1, partitioned=True)

    def test_numpys_options_at_tracing_time(self, capsys):
        f = jax.jit(lambda x: jax.debug.print("{}", x))
        x = jnp.array([1.2345])
        with np.printoptions(precision=2):
            f(x)
        f(x)
        assert capsys.readouterr().out == "[1.23]\n[1.23]\n"

    def test_keys_and_attributes(self, capsys):
        jax.jit(lambda k, x: jax.debug.print("{} {x.shape}", k, x=x))(
            jax.random.key(1), jnp.ones(3)
        )
        assert capsys.readouterr().out == "Array((), dtype=key<fry>) overlaying:\n[0 1] (3,)\n"

    def test_interleaved_lines_come_in_program_order(self, capsys):
        @jax.jit
        def f(x):
            jax.debug.print("first {}", x)
            y = jnp.sin(x)
            jax.debug.print("second {}", x, ordered=True)
            return y

        jax.vmap(f)(jnp.arange(2))
        assert capsys.readouterr().out == "first 0\nfirst 1\nsecond 0\nsecond 1\n"


def test_log_names_the_users_line(caplog):
    with caplog.at_level(logging.INFO, "shardax"):
        jax.jit(lambda x: jax.debug.log("x = {}", x))(2)
    (record,) = caplog.records
    assert (record.getMessage(), record.levelname) == ("x = 2", "INFO")
    assert record.pathname == __file__


class TestBreakpoint:
    def stop(self, commands, f, *args, **options):
        """The text of the debugger when `f` called its first argument."""
        out = io.StringIO()

        def here(**more):
            # The frame of this helper is the innermost one.
            jax.debug.breakpoint(stdin=io.StringIO(commands), stdout=out, **options, **more)

        f(here, *args)
        said = out.getvalue()
        assert said.startswith("Entering jdb:\n")
        return said.removeprefix("Entering jdb:\n").replace("(jdb) ", "")

    def test_values_of_traced_variables(self):
        def f(here, x):
            both = {"n": 7, "y": x + 1}
            here()
            return both

        run = jax.jit(f, static_argnums=0)
        assert self.stop("u\np both\nx * 2\nc\n", run, 1.0).splitlines()[-2:] == [
            "{'n': 7, 'y': Array(2., dtype=float32)}",
            "Array(2., dtype=float32)",
        ]

    def test_once_per_element(self):
        seen = io.StringIO()

        def f(x):
            jax.debug.breakpoint(stdin=commands, stdout=seen)
            return x

        for run in (jax.vmap(f), jax.pmap(f)):
            commands = io.StringIO("p x\nc\n" * 2)
            run(jnp.arange(2.0))
        assert seen.getvalue().count("Array(0., dtype=float32)") == 2
        assert seen.getvalue().count("Array(1., dtype=float32)") == 2

    def test_frames(self):
        def f(here):
            here()

        lines = self.stop("bt\nu\nd\nd\nc\n", f).splitlines()
        assert lines[0] == "Traceback:"
        assert all("shardax/_" not in line for line in lines)
        assert f'File "{__file__}"' in " ".join(lines)
        assert any(line.startswith("->") and line.endswith(" here()") for line in lines)
        assert "At bottommost frame." in lines
        assert "At topmost frame." in self.stop("u\nc\n", f, num_frames=1)

    def test_mistakes_are_told(self):
        assert "*** NameError: name 'nope' is not defined" in self.stop(
            "p nope\npp [1]\nc\n", lambda here: here()
        )

    def test_quitting(self):
        for commands in ("q\n", ""):
            with pytest.raises(SystemExit):
                self.stop(commands, lambda here: here())

    def test_token(self):
        out = io.StringIO()

        @jax.jit
        def f(x):
            y = jax.debug.breakpoint(token=x + 1, stdin=io.StringIO("p x\nc\n"), stdout=out)
            jax.debug.breakpoint(token=x, stdin=io.StringIO("c\n"), stdout=out)  # not used
            return y

        assert f(1.0) == 2
        assert out.getvalue().count("Entering") == 1
        with pytest.raises(ValueError, match="`ordered` and `token` are mutually exclusive"):
            jax.debug.breakpoint(token=1.0, ordered=True)


class TestShardings:
    def shown(self, capsys, shape, spec, **options):
        jax.debug.visualize_sharding(shape, NamedSharding(grid, PartitionSpec(*spec)), **options)
        return capsys.readouterr().out.splitlines()

    def test_table(self, capsys):
        table = self.shown(capsys, (8, 8), ("y", "x"))
        assert table[0] == "┌───────┬───────┬───────┬───────┐"
        assert table[2] == "│ CPU 0 │ CPU 2 │ CPU 4 │ CPU 6 │"
        assert len(table) == 11
        assert self.shown(capsys, (8,), ("y",))[1] == "│CPU 0,2,4,6│CPU 1,3,5,7│"
        assert self.shown(capsys, (8, 8), ())[5] == "│  CPU 0,1,2,3,4,5,6,7  │"

    def test_wide_arrays_keep_their_names(self, capsys):
        table = self.shown(capsys, (4, 400), (None, ("x", "y")))
        assert {len(line) for line in table} == {80}
        assert "CPU 7" in "".join(table)

    def test_ranks(self, capsys):
        with pytest.raises(ValueError, match=r"1 and 2 dimensions, and 3, got \(2, 2, 2, 2\)"):
            self.shown(capsys, (2, 2, 2, 2), ())
        table = self.shown(capsys, (4, 8, 8), ("y", "x", None))
        assert [line for line in table if line[0] == "["] == ["[0:2]", "[2:4]"]
        assert [line.split()[1:3] for line in table if "CPU" in line] == [
            ["CPU", str(i)] for i in (0, 2, 4, 6, 1, 3, 5, 7)
        ]

    def test_colours_of_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        text = "".join(self.shown(capsys, (8, 8), ("y", "x")))
        assert text.count("\x1b[30;48;5;") == text.count("\x1b[0m") == 2 * 4 * 4
        text = "".join(self.shown(capsys, (8,), ("y",), color_map=lambda at: (at, 0, 0, 1)))
        assert "\x1b[97;48;2;0;0;0m" in text and "\x1b[97;48;2;12;0;0m" in text
        assert "\x1b" not in "".join(self.shown(capsys, (8,), ("y",), use_color=False))

    def test_of_arrays(self, capsys):
        x = jax.device_put(jnp.zeros((8, 2)), NamedSharding(grid, PartitionSpec("x")))
        seen = []
        jax.debug.inspect_array_sharding({"a": x}, callback=seen.append)
        assert seen == [x.sharding]
        jax.debug.visualize_array_sharding(x)
        assert "CPU 6,7" in capsys.readouterr().out
        jax.jit(lambda x: jax.debug.inspect_array_sharding(x, callback=seen.append))(1.0)
        assert len(seen) == 2

    def test_within_programs(self):
        seen = []

        def f(x):
            jax.debug.inspect_array_sharding(x.T, callback=seen.append)
            return (x * 2).sum()

        split = NamedSharding(grid, PartitionSpec("x", "y"))
        x = jax.device_put(jnp.ones((8, 4)), split)
        jitted = jax.jit(f)
        for _ in range(2):
            jitted(x)
        jitted(jnp.ones((8, 4)))
        assert seen[0] == NamedSharding(grid, PartitionSpec("y", "x"))
        assert [len(s.device_set) for s in seen] == [8, 1]
        seen.clear()
        jax.jit(jax.grad(f))(x)
        jax.grad(f)(x)
        jax.jit(lambda x: jax.lax.scan(lambda c, r: (c + f(r[None]), None), 0.0, x)[0])(x)
        assert [len(s.device_set) for s in seen] == [8, 8, 8]
        asked = jax.jit(f, in_shardings=NamedSharding(grid, PartitionSpec("x")))
        asked(np.ones((8, 2), "f"))
        assert seen[-1].spec == PartitionSpec(None, "x")
        seen.clear()
        jax.pmap(lambda x: jax.debug.inspect_array_sharding(x, callback=seen.append))(jnp.ones(2))
        assert [len(s.device_set) for s in seen] == [1, 1]


def test_imports_make_no_arrays():
    code = (
        "import shardax; shardax.install_as_jax(); import jax; import jax.experimental.checkify; "
        "print(jax.live_arrays())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_live_arrays():
    before = len(jax.live_arrays())
    x, y = jnp.zeros(3), jnp.ones(2)
    assert [a is b for a, b in zip(jax.live_arrays()[before:], (x, y))] == [True, True]
    x.delete()
    del y
    assert len(jax.live_arrays()) == before
    with pytest.raises(RuntimeError, match="Unknown backend: 'gpu'"):
        jax.live_arrays("gpu")


SCRIPT = """
import jax
import jax.numpy as jnp

def body(c, x):
    return c + jnp.ones(3) @ jnp.ones(4), x

try:
    jax.lax.scan(body, 0.0, jnp.arange(3.0))
except TypeError as e:
    raise ValueError("mine") from e
"""


@pytest.mark.parametrize("filtering", ["auto", "off"])
def test_uncaught_exceptions_show_the_users_frames(tmp_path, filtering):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = [sys.executable, "-m", "shardax", str(script)]
    environment = {**os.environ, "JAX_TRACEBACK_FILTERING": filtering}
    text = subprocess.run(options, capture_output=True, text=True, env=environment).stderr
    files = {line.split('"')[1] for line in text.splitlines() if line.startswith("  File")}
    assert str(script) in files and "got (3,) and (4,)" in text and "ValueError: mine" in text
    assert (files == {str(script)}) == (filtering == "auto")


def test_partitioned_prints_show_what_devices_have(capsys):
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    split = jax.device_put(jnp.arange(4), jax.NamedSharding(mesh, jax.P("x")))
    whole = jax.device_put(jnp.arange(4), jax.NamedSharding(mesh, jax.P()))
    show = jax.jit(lambda x: jax.debug.print("{} {}", x, x * 2, partitioned=True))
    rows = jax.device_put(jnp.arange(8).reshape(2, 4), jax.NamedSharding(mesh, jax.P(None, "y")))
    with jax.set_mesh(mesh):
        for _ in range(2):  # told anew, whoever ran last
            show(split)
            lines = ["[0 1] [0 2]", "[0 1] [0 2]", "[2 3] [4 6]", "[2 3] [4 6]"]
            assert capsys.readouterr().out.splitlines() == lines
            show(whole)
            assert capsys.readouterr().out.splitlines() == ["[0 1 2 3] [0 2 4 6]"] * 4
        jax.jit(jax.vmap(lambda x: jax.debug.print(partitioned=True)("{}", x)))(rows)
        lines = ["[0 1]", "[2 3]", "[0 1]", "[2 3]", "[4 5]", "[6 7]", "[4 5]", "[6 7]"]
        assert capsys.readouterr().out.splitlines() == lines
        jax.debug.print("{}", split, partitioned=True)
        assert capsys.readouterr().out == "[0 1 2 3]\n"
        show(jnp.arange(4))
        assert capsys.readouterr().out.splitlines() == ["[0 1 2 3] [0 2 4 6]"] * 4
    values = []
    jax.jit(lambda x: jax.debug.callback(values.append, x, partitioned=True))(split)
    assert [v.tolist() for v in values] == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_callbacks_of_nested_batches_come_as_in_jax(capsys):
    jax.vmap(jax.vmap(lambda x: jax.debug.print("{}", x)))(jnp.arange(6).reshape(3, 2))
    assert capsys.readouterr().out.split() == ["0", "2", "4", "1", "3", "5"]
