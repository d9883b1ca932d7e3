"""tests/compile/test_text_form.py - programs are written as text, read back, and are the same."""

import pathlib
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core, lax
from shardax.sharding import PartitionSpec as P

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "ops"), str(TESTS / "fuzz")]
import archive_calls  # noqa: E402
import evaluate  # noqa: E402
import grammar  # noqa: E402
from running import CASES, call, operands  # noqa: E402

text_form, parse = _core.api.text_form, _core.api.parse_program
EVERYTHING = 1 << 20
HOST = ("Python function", "there is no op")  # parts that no text can hold


def bits(value):
    """Type and bytes of a result."""
    if shardax.dtypes.issubdtype(value.dtype, shardax.dtypes.prng_key):
        return str(value.dtype), np.asarray(shardax.random.key_data(value)).tobytes()
    array = np.asarray(value)
    return str(value.dtype), array.shape, array.tobytes()


def read_back(program):
    """The program of its text, which is the same text; None where it calls Python."""
    text = text_form(program, most_elements=EVERYTHING)
    try:
        again = parse(text, closed=False)
    except ValueError as error:
        assert any(reason in str(error) for reason in HOST), f"{error}\n{text}"
        return None
    assert text_form(again, most_elements=EVERYTHING) == text
    return again


def check(fun, *args):
    """Has the program of the function been read back, and given the same bits?"""
    closed = shardax.make_jaxpr(fun)(*args)
    again = read_back(closed)
    if again is None:
        return False
    flat = shardax.tree.leaves(args)
    expected = _core.api.evaluate(closed, flat, [])
    got = _core.api.evaluate(again, flat, [])
    assert [bits(v) for v in got] == [bits(v) for v in expected]
    return True


@pytest.mark.parametrize("name, sample", CASES)
def test_samples_are_read_back(name, sample):
    dtypes = sample.dtypes or ("float32",)
    for dtype in dtypes:
        args = [jnp.asarray(a) for a in operands(sample, dtype)]
        check(lambda *args: call(name, sample, args), *args)


def test_most_samples_hold_no_python():
    refused = set()
    for case in CASES:
        name, sample = case.values
        args = [jnp.asarray(a) for a in operands(sample, (sample.dtypes or ("float32",))[0])]
        program = shardax.make_jaxpr(lambda *a: call(name, sample, a))(*args)  # noqa: B023
        if 'function "' in text_form(program):
            refused.add(name)
    assert refused < set(_core.op_names()) and len(refused) < 12, refused


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_programs_are_read_back(first):
    read = 0
    for seed in range(first, first + 40):
        f = evaluate.function(shardax, grammar.program(seed).text())
        x = jnp.asarray(evaluate.X)
        read += check(f, x)
        if seed % 2 == 0:
            read += check(shardax.grad(lambda x: f(x).sum()), x)  # noqa: B023
            read += check(shardax.vmap(shardax.jit(f)), jnp.stack([x, -x]))
    assert read > 30


@pytest.mark.parametrize("name", archive_calls.NAMES)
def test_whole_functions_are_read_back(name):
    f, args = archive_calls.PROGRAMS[name]
    # The rules of custom_jvp and of custom_linear_solve are Python functions.
    read = name not in ("rules", "linear algebra")
    arrays = list(map(jnp.asarray, args))
    assert check(f, *arrays) == read
    program = shardax.make_jaxpr(f)(*arrays)
    text = text_form(program)
    if read and "let @" not in text:  # files hold a program with several uses at each of them
        again = _core.api.deserialize(_core.api.serialize(program))
        assert text_form(again) == text


def explicit(sizes, spec):
    types = (shardax.sharding.AxisType.Explicit,) * 2
    mesh = shardax.make_mesh(sizes, ("x", "y"), axis_types=types)
    return mesh, shardax.sharding.NamedSharding(mesh, spec)


def test_types_are_read_back():
    """Weak types, axes in each state, how arrays are split, memories."""
    mesh, sharding = explicit((2, 2), P("x", None))

    def over_mesh(a):
        def body(a):
            shared = lax.psum(a, "x")
            return lax.pcast(shared, "x", to="varying") * a * 2.0

        specs = {"in_specs": P("x"), "out_specs": P("x")}
        return shardax.shard_map(body, mesh=mesh, **specs)(a)

    a = shardax.device_put(jnp.arange(8.0).reshape(4, 2), sharding)
    plain = jnp.arange(8.0).reshape(4, 2)
    mapped = shardax.pmap(lambda x: lax.pmean(x * 2, "i") + x, axis_name="i")
    assert check(mapped, plain)
    assert check(lambda x: x + 1.0, 2.0)
    with shardax.set_mesh(mesh):
        text = text_form(shardax.make_jaxpr(lambda a: a * 2 + jnp.sum(a))(a))
        assert "f32[4,2]%0" in text and text.startswith("let %0 = sharding(mesh=('x': 2, 'y': 2)")
        assert check(lambda a: (a * 2).sum(1), a)
        program = shardax.make_jaxpr(over_mesh)(a)
        assert "{V:'x'}" in text_form(program)
        assert read_back(program)
        # Files keep the states of axes, by which derivatives go.
        from_file = _core.api.deserialize(_core.api.serialize(program))
        assert text_form(from_file) == text_form(program)
        loss = lambda f: shardax.grad(lambda a: (f(a) ** 2).sum())(a)
        again = loss(lambda a: _core.api.evaluate(from_file, [a], [])[0])
        np.testing.assert_array_equal(again, loss(over_mesh))


@pytest.mark.parametrize("dtype", [
    "bool", "int2", "int4", "int8", "int16", "int32", "uint4", "uint8", "uint32", "float4_e2m1fn",
    "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "bfloat16", "float16", "float32", "complex64",
])  # fmt: skip
def test_constants_are_read_back_bit_by_bit(dtype):
    """All codes of small dtypes, and of others random bits: NaNs with payloads, denormals."""
    kind = shardax.dtypes.canonicalize_dtype(dtype)
    rng = np.random.default_rng(0)
    size = np.dtype(kind).itemsize
    if dtype == "bool":
        array = rng.integers(0, 2, 50).astype(bool)
    elif size == 1:
        array = np.arange(-8 if dtype == "int4" else 0, 16).astype(kind)
        if "8" in dtype:
            array = np.arange(256, dtype=np.uint8).view(kind)
    else:
        array = rng.integers(0, 256, 400 * size, dtype=np.uint8).view(kind)
    constant = jnp.asarray(array)
    assert check(lambda: (constant, constant[::3], constant[0]))


def test_constants_that_are_elided_are_refused():
    many, zeros = jnp.arange(100), jnp.zeros(1000)
    text = text_form(shardax.make_jaxpr(lambda: (many, zeros))())
    assert "i32[100]=elided" in text and "f32[1000]=splat 0.0" in text
    with pytest.raises(ValueError, match="elements of this constant are left out"):
        parse(text)


def test_programs_with_several_uses_stand_once():
    twice = shardax.jit(lambda x: x * 2)
    program = shardax.make_jaxpr(lambda x: twice(twice(x)))(1.0)
    text = text_form(program)
    assert text.count("mul") == 1 and text.startswith("let @")
    again = read_back(program)
    assert again.eqns[0].params["jaxpr"] is again.eqns[1].params["jaxpr"]


def test_programs_within_programs_are_verified_once():
    """Each calls the one before it twice: 2**60 calls."""
    lines = ["let @f0 = { lambda ; a:f32[]. let b:f32[] = sin a in (b) } in"]
    for k in range(1, 60):
        call = f'jit[name="f" jaxpr=@f{k - 1}]'
        body = f"b:f32[] = {call} a; c:f32[] = {call} b"
        lines.append(f"let @f{k} = {{ lambda ; a:f32[]. let {body} in (c) }} in")
    lines.append('{ lambda ; a:f32[]. let b:f32[] = jit[name="f" jaxpr=@f59] a in (b) }')
    again = text_form(parse("\n".join(lines)))
    assert again.count("let @") == 59 and text_form(parse(again)) == again


ADD = "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = add a b in (c) }"
WRONG = {
    "a comment # here": "line 1, column 1: '{' was expected, not 'a'",
    ADD.replace("add a b", "add a q"): "column 52: no variable 'q' is defined before this",
    ADD.replace("add", "plus"): "column 46: there is no op 'plus'",
    ADD.replace("c:f32[3]", "a:f32[3]"): "variable 'a' is defined twice",
    ADD.replace("a:f32[3]", "a:f33[3]"): "a dtype was expected, such as 'f32', not 'f33'",
    ADD.replace("a:f32[3]", "a:f32[-3]"): "a size is at least 0",
    ADD.replace("add a b", "add a 1:bool[]"): "'1' is no bool",
    ADD.replace("add a b", "add a 300:u8[]"): "'300' is no uint8",
    ADD.replace("add a b", "add a 1.0:f32[2]"): "a literal of more than one element",
    ADD.replace("add a b", "add[n=1 n=2] a b"): "param 'n' is given twice",
    ADD.replace("add a b", "add[f=@g] a b"): "no program '@g' is defined before this",
    ADD.replace("add a b", "add[s=%0] a b"): "there is no sharding %0",
    ADD.replace("add a b", 'add[f=function "g"] a b'): "'f' of add is a Python function",
    ADD.replace("lambda ;", "lambda c:f32[2]=[1.0];"): "1 elements of a constant that has 2",
    ADD.replace("lambda ;", "lambda c:f32[2]=elided;"): "elements of this constant are left out",
    ADD.replace("lambda ;", "lambda c:f32[99999999999]=splat 0.0;"): "a constant of 3999999999",
    ADD.replace(" }", ""): "'}' was expected, not the end of the text",
    ADD + " x": "the end of the text was expected, not 'x'",
    ADD.replace("c:f32[3] =", "c:f32[4] ="): "add gives float32[3], not float32[4]",
    ADD.replace("add a b", "add a"): "at text:1:45 (program)",
    ADD.replace("add a b", "psum[axes=('i',) axis_index_groups=None] a"): "the axis 'i' is not in",
    "{ lambda ;\n  a:f32[3].\nlet ! in (a) }": "line 3, column 5: an equation or 'in' was expected",
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_say_where_and_what(text):
    with pytest.raises((ValueError, NameError)) as info:
        parse(text)
    assert WRONG[text] in str(info.value), info.value
    assert str(info.value).startswith("parse: ")


def test_deep_programs_are_refused():
    deep = "{ lambda ; . let () = f[p=" * 100_000
    with pytest.raises((ValueError, RecursionError)):
        parse(deep)
