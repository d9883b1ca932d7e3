"""tests/test_settings_page.py - docs/settings.md has every flag and environment variable, and tells
effects of those flags alone that have one."""

import importlib.util
import pathlib
import re

import shardax

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tables():
    spec = importlib.util.spec_from_file_location("t", ROOT / "docs" / "settings_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current():
    made = tables()
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, "run python docs/settings_tables.py"


def test_every_flag_stands_in_it_once():
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    made = text[text.index("<!-- begin flags -->") : text.index("<!-- end without effect -->")]
    assert sorted(re.findall(r"`(jax_\w+)`", made)) == sorted(shardax.config.values)


# Named by the sources, and yet without effect: checked when it is set, or part of what a traced
# function is found by.
KNOWN = {"jax_pjrt_client_create_options", "jax_softmax_custom_jvp"}


def test_flags_with_an_effect_are_those_that_the_sources_read():
    left_out = {"config_flags.h", "flags.py"}  # their list, and the functions that set them
    read = set()
    for folder, pattern in (("cpp", "*.cpp"), ("cpp", "*.h"), ("python/shardax", "*.py")):
        for path in (ROOT / folder).rglob(pattern):
            if path.name not in left_out:
                read |= set(re.findall(r"\bjax_\w+", path.read_text(encoding="utf-8")))
    told = {name for group in tables().EFFECTS.values() for name in group}
    # config.cpp reads the three kinds of transfers by the ends of their names.
    guards = {name for name in told if name.startswith("jax_transfer_guard_")}
    assert told == (read & set(shardax.config.values)) - KNOWN | guards
