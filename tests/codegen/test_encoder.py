"""tests/codegen/test_encoder.py - instructions are what the system's disassembler takes them for.

SHARDAX_DUMP=asm prints the code of loops as text, each line with its offset, and as bytes: both
come from the same calls of the encoder, so each instruction is compared with what objdump
(binutils) reads out of its bytes.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Loops that need every instruction, many registers, the stack, and operands beyond those whose
# addresses registers hold.
PROGRAM = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def floats(x, y):
    a = jnp.tanh(x * y) + jnp.exp(-x * x) - jnp.log1p(y * y) / jnp.sqrt(2 + x)
    b = jnp.where((x < y) | (x == 1) & ~(y >= 2), jnp.floor(a), jnp.round(y)) + jnp.ceil(x)
    return a, b, x > b, lax.erf(x) * jnp.expm1(y) + lax.rsqrt(x), jnp.sign(x) + jnp.maximum(a, b)

def integers(i, j):
    k = jnp.where(i < j, i * j + 7, i ^ (j | 3) & ~i)
    odd = (i != j) ^ (i < k)
    small = k.astype(f"u{k.dtype.itemsize}") < 5
    shifted = (i << (j & 7)) + lax.shift_right_logical(i, j & 3)
    if not x64:
        shifted = shifted ^ (i >> (j & 5))
    ends = jnp.minimum(i, k) - jnp.maximum(i, j)
    return shifted, k, odd, jnp.where(odd, i > 3, j > 3), ends, small | (i <= j)

def converted(i, x):
    out = []
    for kind in "int32 uint32 int64 uint64 float32 float64 bfloat16 float16".split():
        a = (i + 1).astype(kind)
        out += [a.astype(other) for other in "int32 uint32 int64 uint64 float32 float64".split()]
        out += [jnp.where(x > 0, a, x.astype(kind)) * 2, jnp.exp(x).astype(kind)]
        if kind.endswith("int32"):
            out.append(a // 7 + a % 1000)
    return out

def wide(*xs):
    total = xs[0] * xs[1]
    products = [x * y + total for x in xs for y in xs if x is not y]
    sums = products
    while len(sums) > 1:
        sums = [a - b * a for a, b in zip(sums[::2], sums[1::2])]
    return sums[0], jnp.sin(1.0) + total

def numbers(n, x, flags, table):
    # Numbers of all widths, branches, calls, and more than there are registers.
    def step(c, row):
        i, x, y, flag, many = c
        q = [lax.div(i, n), lax.rem(i, n), i // 7, i.astype("uint32") // n.astype("uint32"),
             i.astype("int64") % n, i.astype("uint64") % n.astype("uint64"), i.astype("int64") * n]
        half = jnp.sin(x).astype("bfloat16")
        back = (y.astype(int) + x.astype("uint32").astype(int) + x.astype(int)
                + y.astype("int32") + x.astype("int32"))
        x = lax.cond(flag, lambda x: x * 2, lambda x: x - y.astype("float32"), x)
        y = y + q[4] + back + q[5].astype("int32").astype(float) + q[6].astype("float32")
        y = y + (i.astype("int64") << 3) + x + q[3].astype("float32") + q[3].astype("float64")
        x = lax.while_loop(lambda x: x > 3, lambda x: x * 0.3, x)
        many = [a * 0.5 + b for a, b in zip(many, many[1:] + many[:1])]
        y = y + q[0] + q[1] + q[2]
        new = (i + 1, x + table[i % 40, n % 3], y, row[0] ^ flag, many)
        return new, (flag, half, x, y, row[1] + 1)

    start = (jnp.int32(0), x, x.astype(float), flags[0], [x + k for k in range(20)])
    return lax.scan(step, start, (flags, jnp.arange(len(flags)).astype("int8")))

def lanes(many):
    return lax.fori_loop(0, 3, lambda i, many: many // 7 + many[::-1], many)

def chosen(n):
    # Integers that loops carry have general registers.
    return lax.fori_loop(0, n, lambda i, m: m * 3 - jnp.where((m | i) < 9, m ^ i, 7), n)

for x64 in (False, True):
    jax.config.update("jax_enable_x64", x64)
    x = jnp.linspace(-2, 3, 40)
    i = jnp.arange(40) - 20
    jax.block_until_ready((jax.jit(floats)(x, x[::-1] + 1), jax.jit(integers)(i, 3 * i[::-1])))
    jax.block_until_ready(jax.jit(lambda i, x: i.astype(x.dtype) * x + (x > 1))(i, x))
    jax.block_until_ready(jax.jit(lambda m, x: jnp.where(m, 2 * x + 1, -x))(x > 0, x))
    jax.block_until_ready(jax.jit(converted)(i, x))
    jax.block_until_ready(jax.jit(lambda x: (2 * x).astype(i.dtype))(x))
    jax.block_until_ready(jax.jit(lambda x: jnp.tanh(x) * 2)(x))  # two vectors in turns
    jax.block_until_ready(jax.jit(wide)(*[x + n for n in range(8)]))
    large = jnp.arange(2**23 + 1, dtype=x.dtype)
    jax.block_until_ready(jax.jit(lambda x: x * 2 + x[0])(large))  # past the caches
table = jnp.ones((40, 3), "float32")
flags = jnp.arange(9) % 2 > 0
jax.block_until_ready(jax.jit(lanes)(jnp.arange(40, dtype="int32")))
jax.block_until_ready(jax.jit(chosen)(jnp.int32(3)))
jax.block_until_ready(jax.jit(numbers)(jnp.int32(3), jnp.float32(1.5), flags, table))
"""


def plain(text):
    """An instruction as both write it."""
    text = re.sub(r"\s*#.*|^{evex} ", "", text)
    text = re.sub(r"0x(f{8}[0-9a-f]{8})$", lambda m: f"-{2**64 - int(m[1], 16):#x}", text)
    text = re.sub(r"[A-Z]+ PTR ", "", text)
    text = re.sub(r"[A-Z]+ BCST ", "bcst ", text)
    text = re.sub(
        r"(vp?blendv\w+ ([xy]).*),0x(.?)0$",
        lambda m: f"{m[1]},{m[2]}mm{int(m[3] or '0', 16)}",
        text,
    )
    text = re.sub(r"vcmp(.._oq|neq|eq)(p[sd]) (.*)", lambda m: compared(*m.groups()), text)
    text = re.sub(
        r"vpcmp(lt|le|neq|nle|nlt|eq)([dq]) (k.*)", lambda m: compared_integers(*m.groups()), text
    )
    return re.sub(r"\s+", " ", text).strip()


def compared(predicate, kind, operands):
    number = {"lt_oq": 0x11, "le_oq": 0x12, "gt_oq": 0x1E, "ge_oq": 0x1D, "neq": 0x4, "eq": 0}[
        predicate
    ]
    return f"vcmp{kind} {operands},{number:#x}"


def compared_integers(predicate, kind, operands):
    number = {"eq": 0, "lt": 1, "le": 2, "neq": 4, "nlt": 5, "nle": 6}[predicate]
    return f"vpcmp{kind} {operands},{number:#x}"


def machines():
    """The kinds of instructions that this processor runs."""
    flags = Path("/proc/cpuinfo").read_text().split()
    needed = "avx512f avx512bw avx512dq avx512vl bmi2".split()
    return ["avx2", *(["avx512"] if set(needed) <= set(flags) else [])]


@pytest.fixture(scope="module")
def listings():
    """By machine, [(lines of text by offset, bytes)] of every loop of PROGRAM."""
    return {machine: listings_of(machine) for machine in machines()}


def listings_of(machine):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "SHARDAX_DUMP": "asm", "SHARDAX_CODEGEN": machine},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    out = []
    for listing in done.stderr.split("-- machine code of: ")[1:]:
        lines = dict(re.findall(r"^ *([0-9a-f]+): (.*)$", listing, re.MULTILINE))
        code = re.search(r"^bytes (.*)$", listing, re.MULTILINE).group(1)
        out.append(({int(at, 16): text for at, text in lines.items()}, bytes.fromhex(code)))
    return out


FLOATS = "vadd vsub vmul vdiv vmax vmin vsqrt vcmp vfmadd213 vfmadd231".split()
BOTH = {name + kind for name in FLOATS for kind in ("ps", "pd")} | set(
    "vpaddd vpaddq vpmulld vpslld vpsllq vpsrlq vpsrad vpsllvd vpsllvq vpsrlvd vpsrlvq vpsravd "
    "vcvtdq2ps vcvttps2dq vmovups vpmaxsd vpminsd "
    "vpermps vmovntps mov add jle jg ret".split()
)
LOOPS = set(
    "vptest vpextrb vpextrw vpbroadcastb vpbroadcastw vpbroadcastd vpbroadcastq vcvtps2pd "
    "vcvtpd2ps vcvtdq2pd vcvttps2dq vcvttpd2dq vcvttss2si vcvttsd2si vcvtsi2sd vcvtsi2ss vpmovsxdq "
    "vpmovzxdq vpmuldq vpshufd div idiv imul neg cdq cqo lea sub cmp test xor and or shl shr sar "
    "cmove cmovne cmovl cmovge cmovg movsxd je jne jbe jge jmp movabs call push pop".split()
)
OWN = {
    "avx2": "vroundps vroundpd vblendvps vblendvpd vpcmpgtd vpcmpgtq vpcmpeqd vpcmpeqq vpand vpor "
    "vpxor vpackssdw vpackusdw vpmovzxbd vpmovzxbq vpmovzxwd vpblendvb vpmuludq vextracti128 "
    "vcvtph2ps vcvtps2ph vmovq vmovd vpblendd",
    "avx512": "vrndscaleps vrndscalepd vblendmps vblendmpd vpcmpd vpcmpq vpandd vpandq vpord vporq "
    "vpxord vpxorq vpmullq vcvtqq2pd vpmovm2b vpabsb vmovdqu8 vptestmb vbroadcastss "
    "vbroadcastsd kandw korw kxorw kxnorw kxnorb knotw kmovw kmovb kmovd kshiftrd bzhi sub jmp "
    "vmovupd vmovdqu16 vpblendmw vcvtps2pd vcvtpd2ps vcvtdq2pd vcvtudq2ps vcvtudq2pd vcvtqq2ps "
    "vcvtuqq2ps vcvtuqq2pd vcvttps2udq vcvttps2qq vcvttps2uqq vcvttpd2dq vcvttpd2udq vcvttpd2qq "
    "vcvttpd2uqq vpmovsxdq vpmovzxdq vpmovqd vpmovzxwd vpmovdw vcvtph2ps vcvtps2ph",
}


def test_every_instruction_is_there(listings):
    for machine, loops in listings.items():
        text = "\n".join(t for lines, _ in loops for t in lines.values())
        names = {line.split()[0] for line in text.splitlines()}
        assert (BOTH | LOOPS | set(OWN[machine].split())) - names == set()
        assert "[rsp+" in text and re.search(r"mov rax,\[rdi", text)


@pytest.mark.skipif(not shutil.which("objdump"), reason="binutils is not installed")
@pytest.mark.parametrize("machine", machines())
def test_bytes_are_the_instructions(listings, machine, tmp_path):
    compared_lines = 0
    for lines, code in listings[machine]:
        data = {kind: sorted(at for at, text in lines.items() if text.startswith(kind))
                for kind in ("constant", "table")}  # fmt: skip
        end = min(sum(data.values(), []), default=len(code))
        (tmp_path / "code").write_bytes(code)
        command = "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn".split()
        read = subprocess.run([*command, tmp_path / "code"], capture_output=True, text=True).stdout
        theirs = {int(at, 16): t for at, t in re.findall(r"^ *([0-9a-f]+):\s+(.*)$", read, re.M)}
        for at, text in lines.items():
            if at >= end:
                continue
            expected = plain(theirs[at])
            place = re.search(r"\[(constant|table) (\d+)\]", text)
            if place:  # objdump shows where the address ends up
                target = re.search(r"# 0x([0-9a-f]+)", theirs[at]).group(1)
                assert int(target, 16) == data[place.group(1)][int(place.group(2))]
                expected = re.sub(r"\[rip[^]]*\]", place.group(0), expected)
            assert plain(text) == expected
            compared_lines += 1
    assert compared_lines > 400
