"""tests/fuzz/text_calls.py FIRST LAST - reads changed texts of programs, and runs passes.

For each seed prints what came of it: "refused", "error" (of a pass) or "read", and the class and
text of the error. A seed is printed before it is tried, so that one that ends the process is known.
"""

import json
import pathlib
import random
import re
import resource
import sys
import warnings

import shardax
from shardax import _core

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import archive_calls  # noqa: E402

warnings.simplefilter("ignore")
TOKEN = re.compile(r"\s+|[A-Za-z_][\w-]*|-?\d[\w.+-]*|\"[^\"]*\"|'[^']*'|.")
NUMBERS = ("0", "-1", "2", "7", "1.5", "65", "1e400", "9223372036854775807", "-9223372036854775808")
NUMBERS += ("99999999999999999999", "4294967296", "nan", "bits(0x7fc00001)", "()", "(1, 2)", "None")
DTYPES = ("f32", "i32", "bool", "f16", "bf16", "f64", "u8", "i4", "c64", "key<fry>")
OPS = _core.op_names()
PASSES = ("simplify", "eliminate_dead_code", "assign_layouts", "form_tile_groups")
PASSES += ("remat_into_consumers", "legalize_types")


def is_op(token):
    return token in OPS


def texts():
    """Of the programs that hold no Python functions."""
    out = []
    for name in archive_calls.NAMES:
        if name == "rules":
            continue
        f, args = archive_calls.PROGRAMS[name]
        program = shardax.make_jaxpr(f)(*map(shardax.numpy.asarray, args))
        out.append(_core.api.text_form(program))
    return out


def changed(all_texts, seed):
    """One of the texts with a few tokens that are others, gone, there twice, or elsewhere."""
    chance = random.Random(seed)
    tokens = TOKEN.findall(all_texts[seed % len(all_texts)])
    mild = chance.random() < 0.6
    for _ in range(chance.choice((1, 1, 2, 4))):
        if mild:
            change_mildly(chance, tokens)
        else:
            change(chance, tokens, all_texts)
        tokens = tokens or ["{"]
    return "".join(tokens)


def change_mildly(chance, tokens):
    """Another number, variable, dtype or op: a text that can be read, if not a valid program."""
    kinds = (str.isdigit, lambda t: re.fullmatch("[a-z]{1,2}", t), DTYPES.__contains__, is_op)
    kind = chance.choice(kinds)
    places = [i for i, token in enumerate(tokens) if kind(token)]
    if not places:
        return
    at = chance.choice(places)
    if kind is str.isdigit and chance.random() < 0.7:
        tokens[at] = str(max(0, int(tokens[at]) + chance.choice((-1, 1, 2))))
    elif kind is is_op:
        tokens[at] = chance.choice(OPS)
    else:
        tokens[at] = tokens[chance.choice(places)]


def change(chance, tokens, all_texts):
    at, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
    kind = chance.randrange(6)
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[other])
    elif kind == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 3:
        tokens[at] = chance.choice(TOKEN.findall(chance.choice(all_texts)))
    elif kind == 4:
        tokens[at] = chance.choice(NUMBERS)
    elif chance.random() < 0.2:
        del tokens[at:]
    else:
        tokens[at] = "".join(chance.choice("{}[]()=:;,.%@'\"\\#\xe9\0\n -x9") for _ in range(3))


def tried(text):
    """The outcome of reading it, writing it, and of passes over it."""
    api = _core.api
    try:
        program = api.parse_program(text)
    except (ValueError, TypeError, NameError, KeyError, NotImplementedError) as error:
        return "refused", error
    written = api.text_form(program, most_elements=1 << 20)
    assert api.text_form(api.parse_program(written), most_elements=1 << 20) == written
    for name in PASSES:
        try:
            api.run_pass(name, written)
        except (ValueError, TypeError, NotImplementedError) as error:
            return "error", error
    return "read", None


def main(first, last):
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limit))
    all_texts = texts()
    for seed in range(first, last):
        print(json.dumps(seed), flush=True)
        try:
            how, error = tried(changed(all_texts, seed))
        except Exception as unexpected:  # noqa: BLE001
            how, error = "fault", unexpected
        what = f"{type(error).__name__}: {error}" if error else ""
        print(json.dumps([how, what[:2000]]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
