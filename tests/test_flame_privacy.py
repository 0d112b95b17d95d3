"""FLAME's tables."""

from __future__ import annotations

import numpy as np
import pytest

from gspa.errors import InvalidValue
from gspa.flame import accounting, amplification, privacy
from gspa.flame.amplification import Setting
from gspa.flame.randomizers import Buckets, Laplace

SMALL = privacy.setting(eps_l=10, d=100, n=400, rate=10, padding=2)


def test_settings_of_the_paper():
    found = privacy.paper_settings()
    delta = 0.01 / 1000**1.1
    assert found["SS-Double"] == Setting(d=7850, k=157, n=1000, n_p=333, eps=0.5, delta=delta)
    assert found["SS-Simple"] == Setting(d=7850, k=7850, n=1000, n_p=1000, eps=78.5 / 7850, delta=delta)
    assert found["SS-Topk, beta = 1/10"] == Setting(d=7850, k=785, n=1000, n_p=666, eps=0.5, delta=delta)
    assert privacy.figure3_setting() == Setting(d=75755, k=1515, n=5000, n_p=1666, eps=0.8, delta=0.01 / 5000**1.1)


def test_accounts_hold_what_the_modules_say():
    table = privacy.accounts({"SS-Simple": SMALL.full(), "SS-Double": SMALL, "SS-Topk": SMALL})
    assert table["variant"].tolist() == [
        "own permutation per coordinate",
        "index by index",
        "exactly k indices",
        "k largest",
        "subsampling not counted",
    ]
    assert table["bennett"].iloc[0] == amplification.simple(SMALL.full(), bound="bennett").eps
    assert table["bennett"].iloc[4] == amplification.double(SMALL, bound="bennett", subsampling=False).eps
    top = accounting.topk(Laplace(SMALL.eps), k=10, n_p=200, delta=SMALL.delta, most_selected=200)
    assert (table["attack"].iloc[3], table["certified"].iloc[3]) == (top.lower, top.upper)
    assert (table["attack"] <= table["certified"]).all()
    words = privacy.headline(table)
    assert words["topk_certified"] == words["plain_certified"] == f"{top.upper:.4g}"
    assert set(words) >= {"simple_old", "double_attack", "exactly_certified"}


def test_what_is_refused_is_empty_with_the_reason():
    table = privacy.accounts({"SS-Double": privacy.setting(eps_l=10, d=100, n=400, rate=2, padding=20)})
    assert table["certified"].isna().all()
    assert table["note"].str.contains("n_p = 20").all()
    assert privacy.headline(table)["double_certified"] == "none (refused)"
    with pytest.raises(InvalidValue, match="SS-Simple"):
        privacy.accounts({"other": SMALL})


def test_ratios():
    table = privacy.amplification_ratios(SMALL, eps=[0.5, 1.0])
    now = Setting(100, 10, 400, 200, 0.5, SMALL.delta)
    assert table["double"].iloc[0] == 5 / amplification.double(now, bound="lemma1").eps
    assert table["simple"].iloc[0] == 50 / amplification.simple(now.full(eps=0.5), bound="lemma1").eps
    assert table["equal"].iloc[0] == 5 / amplification.simple(now.full(), bound="lemma1").eps
    proved = privacy.certified_ratios(now).set_index("case")
    found = accounting.simple(Buckets(0.5, 1), d=100, n=400, delta=SMALL.delta)
    assert proved["ratio_low"].loc["simple"] == 50 / found.upper
    assert (proved["ratio_low"] <= proved["ratio_high"]).all()
    assert np.isinf(privacy.certified_ratios(now, attack=False)["ratio_high"]).all()


def test_figure_4():
    table = privacy.figure4(beta=0.02, most=50)
    assert np.isinf(table["nu"].iloc[0])
    assert table["nu"].iloc[15] == 3.125
    assert table["nu"].iloc[-1] == 1.0


@pytest.mark.parametrize(
    ("name", "values"), [("eps_l", [5.0, 10.0]), pytest.param("d", [50, 100], marks=pytest.mark.slow)]
)
def test_sweep(name, values):
    table = privacy.sweep(name, values, base=SMALL, eps_l=10)
    wide = table.pivot(index=name, columns=["line", "kind"], values="epsilon")
    assert wide.shape == (2, 5)
    last = Setting(100, 10, 400, 200, 1.0, SMALL.delta)
    assert wide["SS-Double", "certified"].iloc[-1] == pytest.approx(
        accounting.double_poisson(Laplace(1.0), d=100, k=10, n=400, n_p=200, delta=SMALL.delta, attack=False).upper
    )
    assert wide["SS-Simple", "printed"].iloc[-1] == amplification.simple(last.full(), bound="old_bennett").eps


def test_sweep_leaves_out_what_is_refused():
    table = privacy.sweep("eps_l", [300.0], base=SMALL, eps_l=10)
    certified = table[table["kind"] == "certified"].set_index("line")["epsilon"]
    assert np.isnan(certified["SS-Topk"])  # 30 a coordinate
    assert certified["SS-Simple"] > 0
    with pytest.raises(KeyError, match="name"):
        privacy.sweep("n", [1], base=SMALL, eps_l=10)
