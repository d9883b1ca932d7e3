"""C++ files include all headers that they use. Builds by pip hide a missing one, as sources share a
parse of the standard library and are compiled several at a time."""

import functools
import pathlib
import re

import pytest

CPP = pathlib.Path(__file__).resolve().parent.parent / "cpp"
FILES = sorted(path for path in CPP.rglob("*") if path.suffix in (".h", ".cpp"))

# The headers that have names of the standard library; one of them is enough.
HEADERS = {
    "algorithm": """adjacent_find all_of any_of clamp copy copy_if copy_n count count_if equal
        equal_range fill fill_n find find_if includes is_sorted lower_bound max max_element
        min minmax mismatch none_of nth_element partial_sort remove_copy_if remove_if replace
        reverse rotate set_intersection sort stable_partition stable_sort transform unique
        upper_bound""",
    "array": "array",
    "atomic": "atomic memory_order_relaxed memory_order_acquire memory_order_release",
    "bit": """bit_cast bit_width countl_zero countr_zero has_single_bit popcount rotl""",
    "charconv": "to_chars from_chars",
    "chrono": "chrono",
    "cmath": """acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erfc exp expm1 floor
        fma fmod frexp hypot isfinite isinf isnan ldexp log log1p nan nextafter pow rint round
        signbit sin sinh sqrt tan tanh tgamma trunc""",
    "complex": "complex conj imag real",
    "condition_variable": "condition_variable",
    "cstdint": """int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t
        uintptr_t""",
    "cstdio": "fflush fopen fprintf snprintf",
    "cstdlib": "atexit atoi free getenv strtoll",
    "cstring": "memcmp memcpy memmove memset strchr strcmp strlen strrchr strstr",
    "deque": "deque",
    "exception": "current_exception exception_ptr rethrow_exception",
    "fstream": "ifstream",
    "functional": "function greater greater_equal less multiplies",
    "initializer_list": "initializer_list",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": """enable_shared_from_this make_shared make_unique make_unique_for_overwrite
        shared_ptr static_pointer_cast unique_ptr weak_ptr""",
    "mutex": "lock_guard mutex unique_lock",
    "new": "align_val_t bad_alloc launder nothrow",
    "numbers": "numbers",
    "numeric": "accumulate gcd iota partial_sum",
    "optional": "nullopt optional",
    "set": "multiset set",
    "span": "span",
    "sstream": "ostringstream",
    "stdexcept": "logic_error runtime_error",
    "string": "string to_string",
    "string_view": "string_view",
    "system_error": "system_error",
    "thread": "thread",
    "tuple": "tie tuple",
    "type_traits": """common_type_t conditional_t false_type integral_constant is_arithmetic_v
        is_convertible_v is_floating_point_v is_function_v is_integral_v is_same_v is_signed_v
        is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v make_signed_t
        make_unsigned_t remove_const_t remove_cvref_t remove_pointer_t remove_reference_t true_type
        type_identity_t""",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility": """as_const exchange in_range index_sequence integer_sequence make_index_sequence
        make_integer_sequence pair""",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# Standard headers that include others by what the standard says of them.
BRINGS = {
    "algorithm": ["initializer_list"],
    "map": ["utility", "initializer_list"],
    "unordered_map": ["utility", "initializer_list"],
    "string": ["string_view", "initializer_list"],
    "vector": ["initializer_list"],
    "span": ["array"],
    "memory": ["type_traits"],
    "functional": ["type_traits", "utility"],
    "optional": ["type_traits", "utility"],
    "variant": ["type_traits", "utility"],
    "complex": ["cmath"],
    "chrono": ["limits"],
    "mutex": ["chrono"],
}
PROVIDES = {name: header for header, names in HEADERS.items() for name in names.split()}


def relative(path):
    return path.relative_to(CPP).as_posix()


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


@functools.cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@functools.cache
def code_of(path):
    return without_comments(text_of(path))


@functools.cache
def own_includes(path):
    names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text_of(path), re.MULTILINE)
    return [CPP / name for name in names]


@functools.cache
def closure(path):
    """The file and all files of ours that it includes."""
    found, left = {path}, [path]
    while left:
        for included in own_includes(left.pop()):
            if included not in found:
                found.add(included)
                left.append(included)
    return frozenset(found)


@functools.cache
def angled(path):
    return frozenset(re.findall(r"^\s*#\s*include\s+<([^>]+)>", text_of(path), re.MULTILINE))


def standard_headers(path):
    found = set().union(*(angled(file) for file in closure(path)))
    return found | {brought for header in found for brought in BRINGS.get(header, ())}


# Included in the middle of a file that has what they need.
def is_part(path):
    return re.search(r"\bIncluded (?:by|inside)", text_of(path)[:400]) is not None


def missing_standard(path):
    headers = standard_headers(path)
    used = set(re.findall(r"\bstd::(?:ranges::)?(\w+)", code_of(path)))
    needed = {name: PROVIDES[name] for name in used if name in PROVIDES}
    return [f"std::{n} of <{h}>" for n, h in sorted(needed.items()) if h not in headers]


@functools.cache
def types():
    """The file of each class, enumeration and alias that one file alone defines."""
    places = {}
    for path in FILES:
        if path.suffix == ".h":
            words = r"^(?:struct|class|enum class|enum|using) (?:alignas\(.*\) )?"
            for name in re.findall(words + r"([A-Z]\w+)\b(?! *;)", code_of(path), re.MULTILINE):
                places.setdefault(name, set()).add(path)
    return {name: next(iter(paths)) for name, paths in places.items() if len(paths) == 1}


@functools.cache
def declared(path):
    """Names of types that a file declares, inside of others too."""
    words = r"\b(?:struct|class|enum|using|concept|typename)\s+(?:alignas\([^)]*\)\s+)?([A-Z]\w+)"
    typedefs = r"\btypedef [^;]*?\b([A-Z]\w+)(?: __attribute__.*)?;"
    return frozenset(re.findall(words, code_of(path)) + re.findall(typedefs, code_of(path)))


def missing_types(path):
    visible = closure(path)
    known = set().union(*(declared(file) for file in visible))
    used = set(re.findall(r"(?<![.>\w])([A-Z]\w+)\b", code_of(path)))
    homes = {name: types()[name] for name in used if name in types()}
    return [
        f"{name} of {relative(home)}"
        for name, home in sorted(homes.items())
        if home not in visible and name not in known
    ]


def missing_python(path):
    """Python's API and pybind11, for whose names a declaration will do in a header."""
    headers = set().union(*(angled(file) for file in closure(path)))
    has = {"pybind11": any(header.startswith("pybind11/") for header in headers)}
    has["Python.h"] = has["pybind11"] or "Python.h" in headers
    uses = {"pybind11": r"\bpybind11::|\bpy::", "Python.h": r"\bPy[A-Z]\w+"}
    declares = {"pybind11": r"^namespace pybind11 \{", "Python.h": r"^struct _object;"}

    def lacks(header):
        declared = any(
            re.search(declares[header], code_of(file), re.MULTILINE) for file in closure(path)
        )
        return re.search(uses[header], code_of(path)) and not has[header] and not declared

    return [f"a name of {header}" for header in uses if lacks(header)]


@pytest.mark.parametrize("folder", sorted({path.relative_to(CPP).parts[0] for path in FILES}))
def test_names_are_included(folder):
    lines = []
    for path in FILES:
        if path.relative_to(CPP).parts[0] == folder and not is_part(path):
            missing = missing_standard(path) + missing_types(path) + missing_python(path)
            lines += [f"{relative(path)} uses {name} without its header" for name in missing]
    assert not lines, "\n".join(lines)
