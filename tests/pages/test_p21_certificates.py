"""Page 21: its certificates are of the book's own numbers, and its files are what the program proves."""

from __future__ import annotations

import json
from itertools import groupby

import pytest
from running import run_page

from gspa import check_certificate
from gspa.accountant.certificates import PROGRAM
from gspa.pages import p19_auditing
from gspa.pages import p21_certificates as p

PLANTED = ()
QUICK = {0.5, 2.0}


@pytest.fixture(scope="module")
def issued():
    """Of the settings that are quick to certify: by kind and by what they are for."""
    local = p19_auditing.LOCAL[::10]
    few = [one for one in p.settings(local=local) if one.asked["n"] <= 1_000 or one.asked["mechanism"] == "aligned"]
    found = p.certified(few)
    return {kind: list(some) for kind, some in groupby(found, lambda one: one.setting.file.partition("-")[0])}


def numbers(some):
    """The certified eps by local budget and number of users."""
    return {(one.setting.asked["eps"], one.setting.asked["n"]): one.certificate.eps for one in some}


def test_the_figure_of_the_first_page(issued):
    table = p19_auditing.headline(
        local=p19_auditing.LOCAL[::10], n=p19_auditing.USERS, delta=p19_auditing.CENTRAL
    ).set_index("local")
    found = numbers(issued["figure"])
    assert len(found) == len(table) == 5
    for (eps0, n), eps in found.items():
        assert n == p19_auditing.USERS
        assert table.loc[eps0, "certified"] <= eps <= table.loc[eps0, "certified"] * (1 + 1e-7)


def test_the_pairs_of_page_17(issued):
    table = run_page("17_exact_accounting", delta=p19_auditing.CENTRAL).names["compared"]
    upper = table.set_index(["eps0", "n"])["upper"]
    found = numbers(issued["pair"])
    assert len(found) == len(upper)
    for setting, eps in found.items():
        assert upper[setting] <= eps <= upper[setting] * (1 + 1e-7)


def test_the_bits_of_page_17(issued):
    table = run_page("17_exact_accounting", delta=p19_auditing.CENTRAL).names["gaps"]
    bits = table[table["n"] <= 1_000].set_index(["eps0", "n"])["bits"]
    found = numbers(issued["bits"])
    assert len(found) == len(bits)
    for setting, eps in found.items():
        assert bits[setting] * (1 - 1e-9) <= eps <= bits[setting] * (1 + 1e-7)


def test_every_number_of_the_tables_has_its_setting():
    files = [one.file for one in [*p.settings(), *p.headline(eps0=0.5, n=10_000, delta=1e-4)]]
    assert len(set(files)) == len(files)
    assert len(files) == len(p19_auditing.LOCAL) + len(p.LOCAL) * 6 + len(p.CONTINUOUS) + 3
    assert run_page("17_exact_accounting", delta=p19_auditing.CENTRAL).names["crowds"] == p.CONTINUOUS


@pytest.mark.slow
def test_the_lines_of_page_17():
    certified = run_page("17_exact_accounting").names["lines"]["certified"].tolist()
    lines = [one for one in p.headline(eps0=0.5, n=100, delta=1e-4) if one.file.startswith("line")]
    for upper, one in zip(certified, p.certified(lines), strict=True):
        assert upper * (1 - 1e-3) <= one.certificate.eps <= upper * 1.005


def test_the_table_and_the_files(issued):
    some = issued["figure"][:2]
    table, files = p.table(some), p.files(some)
    for (name, text), link in zip(files.items(), table["file"], strict=True):
        assert link == f"[JSON](../certificates/{name})"
        found = check_certificate.read(text)
        assert check_certificate.proves(found, check_certificate.delta_of(found))
    assert table["proved"].tolist() == [json.loads(text)["eps"] for text in files.values()]
    assert (table["proved"] >= table["accountant"]).all()


def test_the_program_as_a_stranger_runs_it(issued):
    one = issued["figure"][0].certificate
    lines = p.as_a_stranger(one).splitlines()
    assert (lines[0], lines[-1]) == (one.statement, "PROVED")
    assert p.lines_of_the_program() == PROGRAM.read_text(encoding="utf-8").count("\n")
