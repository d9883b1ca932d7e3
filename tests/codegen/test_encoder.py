"""tests/codegen/test_encoder.py - instructions are what the system's disassembler takes them for.

SHARDAX_DUMP=asm prints the code of loops as text, each line with its offset, and as bytes. Both
come from the same calls of the encoder, so each instruction is compared with objdump's (binutils)
reading of its bytes.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.machines import KERNELS, RUNS_LOOPS

PROGRAM = Path(__file__).with_name("every_instruction.py")
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86-64")


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
    """AVX2, whose code is listed on every processor, and AVX-512 where it runs."""
    return ["avx2", *(["avx512"] if "AVX-512" in KERNELS else [])]


@pytest.fixture(scope="module")
def listings():
    """By machine, [(lines of text by offset, bytes)] of every loop of PROGRAM."""
    return {machine: listings_of(machine) for machine in machines()}


def listings_of(machine):
    word = "avx2" if machine == "avx2" else "1"  # the processor's own
    done = subprocess.run(
        [sys.executable, PROGRAM],
        env={**os.environ, "SHARDAX_DUMP": "asm", "SHARDAX_CODEGEN": word},
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
    # Code that writes past the caches follows code that runs.
    missing = set() if RUNS_LOOPS else {"vmovntps"}
    for machine, loops in listings.items():
        text = "\n".join(t for lines, _ in loops for t in lines.values())
        names = {line.split()[0] for line in text.splitlines()}
        assert (BOTH | LOOPS | set(OWN[machine].split())) - names == missing
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
