"""tests/codegen/test_encoder_arm64.py - code for AArch64 is what its assembler makes of it.

SHARDAX_CODEGEN=neon writes that code on every processor; SHARDAX_DUMP=asm prints it as text, which
the assembler (binutils for AArch64) turns into the same bytes.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("every_instruction.py")


def tool(name):
    native = os.uname().machine == "aarch64"
    return shutil.which(f"aarch64-linux-gnu-{name}") or (shutil.which(name) if native else None)


@pytest.fixture(scope="module")
def listings():
    """[(lines of text by offset, bytes)] of every loop."""
    done = subprocess.run(
        [sys.executable, PROGRAM],
        env={**os.environ, "SHARDAX_DUMP": "asm", "SHARDAX_CODEGEN": "neon"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    out = []
    for listing in done.stderr.split("-- machine code of: ")[1:]:
        lines = dict(re.findall(r"^([0-9a-f]+): (.*)$", listing, re.MULTILINE))
        code = re.search(r"^bytes (.*)$", listing, re.MULTILINE).group(1)
        out.append(({int(at, 16): text for at, text in lines.items()}, bytes.fromhex(code)))
    return out


VECTORS = set(
    "add sub mul smax smin umin cmeq cmgt cmhi sshl ushl uzp2 neg and orr eor bsl bit bif mvn mov "
    "fadd fsub fmul fdiv fmla fcmeq fcmge fcmgt fsqrt frintn frintm frintp fcvtzs fcvtzu scvtf "
    "ucvtf xtn sqxtn uqxtn fcvtn fcvtl sxtl uxtl smull smull2 shl sshr ushr shrn tbl movi ldr str "
    "ld1r stp ldp subs b.ge b.lt b.ne b bl cbz movz ret".split()
)

# Of scalar loops: general registers, those to and from vectors, calls.
NUMBERS = set(
    "add sub mul smull umull sdiv udiv msub and orr eor lsl lsr asr sxtw cmp csel csetm mov movn "
    "movk ldr str ldp stp cbnz blr dup fmov scvtf ucvtf fcvtzs fcvtzu".split()
)


def test_every_instruction_is_there(listings):
    text = "\n".join(t for lines, _ in listings for t in lines.values())
    assert VECTORS - {line.split()[0] for line in text.splitlines()} == set()
    general = re.findall(r"^(\S+) (?=.*\b[wx]\d)", text, re.MULTILINE)
    assert NUMBERS - set(general) == set()
    assert "[sp, #" in text and ".xword" in text
    for divided in "8b 16b 4h 8h 2s 4s 2d".split():
        assert f".{divided}," in text


@pytest.mark.skipif(not tool("as"), reason="binutils for AArch64 is not installed")
def test_bytes_are_the_instructions(listings, tmp_path):
    source, binary = tmp_path / "code.s", tmp_path / "code"
    compared_lines = 0
    for lines, code in listings:
        source.write_text("\n".join(lines.values()) + "\n")
        subprocess.run([tool("as"), source, "-o", tmp_path / "code.o"], check=True)
        copied = [tool("objcopy"), "-O", "binary", "-j", ".text", tmp_path / "code.o", binary]
        subprocess.run(copied, check=True)
        theirs = binary.read_bytes()
        assert len(theirs) == len(code)
        for at, text in lines.items():
            assert theirs[at : at + 4] == code[at : at + 4], text
        assert theirs == code
        compared_lines += len(lines)
    assert compared_lines > 1000
