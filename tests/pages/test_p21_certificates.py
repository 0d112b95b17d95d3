"""Page 21: its certificates are of the book's own numbers, and its files are what the program proves."""

from __future__ import annotations

import json

import p21_certificates as p
import pandas as pd
import pytest
from running import run_page

import gspa
from gspa import check_certificate
from gspa.accountant.certificates import PROGRAM

PAGE = "21_certificates"
RUN = {"profile": "paper"}
pytestmark = pytest.mark.slow  # page 21, and the pages whose numbers it certifies


def numbers(names, kind):
    """What the certificates of a kind prove, by local budget and number of users."""
    some = {file: asked for file, (_, _, asked) in names["rest"].items() if file.startswith(f"{kind}-")}
    return {(asked["eps"], asked["n"]): names["certificates"][file].eps for file, asked in some.items()}


def table(name, page, at):
    return run_page(page).names[name].set_index(at)


def test_the_figure_of_the_first_page(names):
    curves = table("curves", "19_auditing", ["delta", "local", "n"]).loc[1e-4]
    found = numbers(names, "figure")
    assert list(found) == [at for at in curves.index if at[1] == 1_000]
    for at, eps in found.items():
        assert curves.loc[at, "certified"] <= eps <= curves.loc[at, "certified"] * (1 + 1e-3)


def test_the_pairs_of_page_17(names):
    compared = table("compared", "17_exact_accounting", ["eps0", "n"])
    found = numbers(names, "pair")
    assert list(found) == list(compared.index)
    for at, eps in found.items():
        assert compared.loc[at, "upper"] <= eps <= compared.loc[at, "upper"] * (1 + 1e-3)


def test_every_number_of_the_tables_has_its_certificate_and_the_lines_are_those_of_page_17(names):
    certified = run_page("17_exact_accounting").names["lines"]["certified"].tolist()
    found = [one.eps for file, one in names["certificates"].items() if file.startswith("line-")]
    assert len(found) == 4
    for eps, upper in zip(found, certified, strict=True):
        assert upper * (1 - 1e-3) <= eps <= upper * 1.005
    assert names["total"] == 50 + 15 + 4 + 2 + 1  # the last is Ada's


def test_the_tables_say_what_the_files_prove(names):
    issued, certificates = names["issued"], names["certificates"]
    assert (issued["proved"] >= issued["accountant"]).all()
    for name in ("figure-0.1-1000", "allocation"):
        found = check_certificate.read(certificates[name].text)
        assert check_certificate.delta_of(found) <= check_certificate.ball(found["delta"])
        assert issued.loc[name, "file"] == f"[JSON](../certificates/{name}.json)"
        assert issued.loc[name, "proved"] == json.loads(certificates[name].text)["eps"]
    assert names["most"] == (issued["proved"] / issued["accountant"] - 1).max() < 1e-3


def test_the_sum_of_three_users_and_the_program_as_a_stranger_runs_it(names):
    interval = gspa.delta(at_eps=0.4, eps=1.0, n=3, mechanism="aligned")
    assert interval.lower <= names["three"] <= interval.upper
    lines = names["printed"].splitlines()
    assert (lines[0], lines[-1]) == (names["few"].statement, "PROVED")
    assert names["lines"] == PROGRAM.read_text(encoding="utf-8").count("\n")


def test_fewer_clones_never_help_and_nobody_hides_the_victim_of_randomized_response(names):
    assert names["given"] == sorted(names["given"], reverse=True)
    # The likelihood ratio of randomized response at eps0 = 1 exceeds e^0.4 on one answer.
    p, x = names["p_"], names["x"]
    assert names["given"][0] == pytest.approx(p / (1 + p) - x / (1 + p), rel=1e-12)


def test_the_figure_has_a_dot_for_each_margin():
    made = pd.DataFrame({"method": ["pair", "pair", "blanket"], "margin": [1e-9, float("nan"), 1e-3]})
    (axis,) = p.margins(made).axes
    assert axis.lines[0].get_xydata().tolist() == [[1e-9, 0], [1e-3, 1]]
    assert [words.get_text() for words in axis.texts[2:]] == ["pair", "blanket"]


def test_page_17_has_the_same_crowds():
    assert run_page("17_exact_accounting").names["crowds"] == p.CONTINUOUS
