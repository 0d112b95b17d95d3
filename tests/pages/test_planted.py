"""Planted errors: every check must notice a wrong formula. The table is `_build/planted.md`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import ROOT, Caught, Planted, needed, planted_in

from gspa.book.claims import registry
from gspa.files import ensure_writable, write_atomically

FILES = sorted(Path(__file__).parent.glob("test_p[0-9]*.py"))
PLANTED = [planted for file in FILES for planted in planted_in(file)]


def test_every_claim_has_a_planted_error():
    settled = {name: one.verdict for name, one in registry().items() if one.notebook}
    planted = {claim for planted in PLANTED for claim in planted.claims.split()}
    assert planted <= set(settled)
    # What is illustrated asserts nothing that an error could falsify.
    assert [name for name in set(settled) - planted if settled[name] != "illustrated"] == []


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: f"{planted.claims}-{planted.module}")
def test_each_replaces_a_text_that_is_there_once(planted):
    assert planted.new != planted.old
    compile(planted.text(), planted.module, "exec")


@pytest.mark.parametrize(
    ("after", "caught"),
    [
        ("refuted", True),
        ("verified", False),
        ("not yet checked", False),
        ("raises KeyError: 'n'", False),
        ("refuses InvalidValue: n = 0", True),
    ],
)
def test_what_counts_as_caught(after, caught):
    assert Caught("G-X", Planted("G-X", "m", "a", "b", "w"), "verified", after).caught == caught


def test_of_a_page_runs_what_its_claims_need():
    sources = (
        "import math",
        "sizes, others = [2], []\ncost = 10**6",
        "%%say\n{{ cost }}",
        "sizes.append(3)\npage.figure(math.drawn(cost, sizes))",
        "others[0] = cost",
        "page.settle('G-D6', others)",
        "table = math.dist(sizes)\npage.settle('G-T1', table)",
        "table = None",
    )
    cells = [{"cell_type": "code", "metadata": {}, "source": [source]} for source in sources]

    def left(claim):
        kept = needed(cells, frozenset({claim}), frozenset())
        return [line for cell in kept for line in "".join(cell["source"]).splitlines()]

    first, last = "sizes, others = ([2], [])", "table = math.dist(sizes)"
    assert left("G-T1") == [sources[0], first, "sizes.append(3)", last, "page.settle('G-T1', table)"]
    assert left("G-D6") == [sources[0], first, "cost = 10 ** 6", sources[4], sources[5]]


@pytest.mark.slow
def test_every_planted_error_is_caught(capsys):
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("running.py")), "planted"],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": paths},
    )
    write_atomically(ensure_writable(ROOT / "_build") / "planted.md", run.stdout)
    with capsys.disabled():
        print("\n" + run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    settled = re.findall(r"^caught   (\S+): .*: (.*?) -> ", run.stdout, re.MULTILINE)
    assert len(settled) == sum(len(planted.claims.split()) for planted in PLANTED)
    # Tables that nobody measured may have any verdict.
    made = {claim for planted in PLANTED if planted.tables for claim in planted.claims.split()}
    wrong = [(claim, before) for claim, before in settled if before != registry()[claim].verdict]
    assert not [one for one in wrong if one[0] not in made]
