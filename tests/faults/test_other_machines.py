"""Other processors, as far as one machine can be them: the verdicts stay, the numbers agree to the last digits.

OpenBLAS, NumPy and PyTorch choose their inner loops by what the processor can do and can be told to use
those of another. What remains unlike another machine is its C library's functions and its operating system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_book import ROOT, command, environment

pytestmark = pytest.mark.slow

# What book/rerun.md promises. Largest seen here: 8e-9, and no other accuracy.
RELATIVE, ACCURACY = 1e-6, 0.001
# Distances that are 0 but for rounding or quadrature, which "vary freely", as that page says: they stay as small.
ROUNDING = 1e-9
RESIDUALS = {
    ("G-D1p", "$\\mathbb{E}[(1 - e^{\\epsilon - L})_+]/\\delta$: distance from 1"),
    ("G-L3", "relative gaps"),
    ("G-TAB1", "largest distance"),
}
THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
OTHERS = {
    "plain loops, no vector units": {
        "OPENBLAS_CORETYPE": "Prescott",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_ICL X86_V3 X86_V4",
    },
    "Intel of 2013": {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2"},
    "two threads": dict.fromkeys(THREADS, "2"),
}
TRAIN = """import json
from gspa.algorithms import digits as datasets, sgd
data = datasets.project(datasets.load("digits"), components=20, cache=False)
config = sgd.SgdConfig(clients=10, epochs=30, hidden_width=16)
accuracy = [sgd.train(data, eps, config, seeds=(0, 1, 2)).accuracy for eps in (0.5, None)]
print(json.dumps([float(a) for table in accuracy for a in table[:, -1]]))
"""


def answer(line: list[str], folder: Path = ROOT, **more: str) -> object:
    done = subprocess.run(line, cwd=folder, env=environment(**(THREADS | more)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return json.loads(done.stdout)


def verdicts(folder: Path, **more: str) -> dict[str, dict[str, object]]:
    """By claim; the notebooks run in a folder of their own, where none has run before."""
    folder.mkdir()
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    (folder / "book").mkdir()
    shutil.copy(ROOT / "book" / "claims.yaml", folder / "book")
    found = answer(command("verify", "--profile", "quick", "--json"), folder, **more)["claims"]
    checked = [one for one in found if "evidence" in one]  # what no run can check has none
    assert len(checked) > 100
    return {one["claim"]: one | {"evidence": dict(one["evidence"])} for one in checked}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return verdicts(tmp_path_factory.mktemp("here") / "book")


@pytest.fixture(scope="module")
def trained_here():
    return answer([sys.executable, "-c", TRAIN])


def numbers(value: object) -> Iterator[float]:
    """Numbers of one row of evidence; a text such as "2e-16 apart" is a rounding error itself."""
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float):
        yield float(value)


def farthest(first: object, second: object, size: float = 0.0) -> float:
    """The largest difference of two rows' numbers relative to them, or to a size that is more; another length is 1."""
    pairs = list(numbers(first)), list(numbers(second))
    if len(pairs[0]) != len(pairs[1]):
        return 1.0
    gaps = [0.0 if a == b else abs(a - b) / max(abs(a), abs(b), size) for a, b in zip(*pairs, strict=True)]
    return max(gaps, default=0.0)


def test_a_difference_is_measured():
    assert farthest([1.0, 2.0], [1.0, 2.0]) == farthest("2e-16 apart", "0 apart") == 0
    assert farthest([1.0, 2.0], [1.0, 1.0]) == 0.5
    assert farthest(0.0, 1e-300) == 1
    assert farthest(1e-12, 2e-12, 1e-3) < RELATIVE < farthest(1e-12, 2e-9, 1e-3)
    assert farthest([1.0], [1.0, 2.0]) == 1


@pytest.mark.parametrize("name", OTHERS)
def test_the_verdicts_stay_and_the_numbers_agree(here, tmp_path, name):
    there = verdicts(tmp_path / "book", **OTHERS[name])
    if name.startswith("plain loops") and os.uname().machine == "x86_64":  # else the switches were not taken
        assert any(row["evidence"] != there[claim]["evidence"] for claim, row in here.items())
    assert {claim: row["verdict"] for claim, row in there.items()} == {k: row["verdict"] for k, row in here.items()}
    gaps = {
        (claim, label): farthest(
            value, there[claim]["evidence"][label], ROUNDING / RELATIVE if (claim, label) in RESIDUALS else 0.0
        )
        for claim, row in here.items()
        for label, value in row["evidence"].items()
    }
    assert gaps.keys() >= RESIDUALS
    assert {label: gap for label, gap in gaps.items() if gap > RELATIVE} == {}


@pytest.mark.parametrize("name", OTHERS)
def test_training_ends_where_it_ends_here(trained_here, name):
    there = answer([sys.executable, "-c", TRAIN], **OTHERS[name])
    assert len(there) == len(trained_here) == 6
    assert max(abs(a - b) for a, b in zip(there, trained_here, strict=True)) <= ACCURACY + 1 / 360  # one test image
