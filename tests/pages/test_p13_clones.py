"""Page 13: the blog's formulas against mpmath, crowds against direct summation and fractions by hand; the cells of its
claims on made tables; planted errors."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pandas as pd
import pytest
from exact_shuffle import rr_delta_worst, solve
from running import Planted, in_readings, recorded, run_page, settle

PAGE = "13_clones"
DELTA = 1e-6


def test_the_page(ran):
    assert ran.verdicts == recorded(PAGE)
    assert any("if $n$ is 0.99 times its right-hand side" in text for text in ran.said)
    assert not any("nan" in text for text in ran.said)


@pytest.mark.parametrize(("x", "n"), [(1e-4, 10**12), (0.5, 10_000), (3.0, 10_000), (10.0, 50)])
def test_the_formulas_in_mpmath(p, x, n):
    with mpmath.workdps(30):
        big = mpmath.mpf(x)
        log, tanh = mpmath.log(4 / mpmath.mpf(DELTA)), (mpmath.exp(big) - 1) / (mpmath.exp(big) + 1)
        root = mpmath.sqrt(mpmath.exp(big) * log / n)
        expected = {
            "blog": mpmath.log(1 + 16 * tanh * root),
            "source": mpmath.log(1 + tanh * (8 * root + 8 * mpmath.exp(big) / n)),
            "large": mpmath.log(1 + 8 * root),
            "linear": 8 * mpmath.exp(big / 2) * mpmath.sqrt(log / n),
            "small": 8 * big * mpmath.sqrt(log / n),
        }
    found = p.formulas(x, n, delta=DELTA)
    assert found == pytest.approx({key: float(value) for key, value in expected.items()}, rel=1e-12)


def test_large_crowds_by_direct_summation(ran, p):
    regimes = ran.names["regimes"]
    assert (regimes["bits"] <= regimes["any"]).all()
    found = p.regime(0.5, 40, delta=DELTA)
    assert found["bits"] == pytest.approx(solve(lambda eps: rr_delta_worst(0.5, 40, eps), DELTA, 0.5), rel=1e-6)
    assert math.isnan(p.regime(0.01, 10**8, delta=1e-3)["loose"])
    small = run_page(PAGE, only=["B-1"], eps_local=2.0, n=100, delta=1e-4).names["printed"]
    for row in small.itertuples():
        assert row.exact == pytest.approx(rr_delta_worst(2.0, 100, row.eps), rel=1e-9, abs=1e-15)


def test_without_the_constant_eq_1_is_false_by_direct_summation(p):
    n = p.first_failure(4.0, delta=1e-2)
    blog, more = p.formulas(4.0, n, delta=1e-2)["blog"], math.ceil(1.051 * n)
    assert rr_delta_worst(4.0, n, blog) > 1e-2
    assert rr_delta_worst(4.0, more, p.formulas(4.0, more, delta=1e-2)["blog"]) < 1e-2
    assert p.first_failure(0.5, delta=DELTA) == 0
    assert p.least_users(1.0, delta=DELTA) == 632  # 16 e log(2e6) = 631.02


def test_small_crowds_in_fractions(ran):
    senders, small, ratios = (ran.names[name] for name in ("senders", "small", "ratios"))
    assert set(senders["signed"]) == {Fraction(1, 2)}  # tanh(log(3) / 2)
    for row in senders.itertuples():
        assert float(row.plain) == pytest.approx(rr_delta_worst(math.log(3), row.n, 0.0), rel=1e-12)
    assert float(small["honest_only"].iloc[0]) == pytest.approx(
        rr_delta_worst(math.log(3), 3, math.log(1.5)), rel=1e-12
    )
    assert set(ratios["shuffled"]) == {3}
    # k-ary response: each of the k outputs has at least 1/(e^x + k - 1); 2 of 4: each of the 6 at least 1/(3 e^x + 3).
    assert [(row.weight) for row in ran.names["mixtures"].itertuples() if row.ratio == 3] == [
        Fraction(1, 2),
        Fraction(3, 5),
        Fraction(1, 2),
    ]


def test_the_floor_of_delta_is_below_delta(ran):
    w = math.e / (1 + math.e)
    for row in ran.names["floors"].query("n <= 100").itertuples():
        assert 10**row.log10_floor == pytest.approx(w**row.n * (1 - math.exp(-0.01)), rel=1e-9)
        assert 0 < 10**row.log10_floor <= row.exact * (1 + 1e-9)


def test_the_figures_draw_the_lines_of_their_tables(ran, p):
    names = ("bits", "any", "blog", "source", "large", "linear", "small")
    rows = [{"eps_local": x, "n": 1000, "valid": x < 5, **dict.fromkeys(names, x / 10)} for x in (0.1, 1.0, 10.0)]
    table = pd.DataFrame(rows).assign(loose=[9.0, 3.0, 0.5])
    axis = p.clone_formulas(table, limit=5.0).axes[0]
    assert [patch.get_x() for patch in axis.patches] == [5.0]  # where the condition fails
    axis = p.clone_looseness(table.assign(bits=[0.01, 0.2, 0.3])).axes[0]
    assert axis.collections[-1].get_offsets().tolist() == [[1000, 3.0]]  # crossed out: false
    small, large = p.expansion_curves(ran.names["compared"]).axes[0].lines[2:]
    assert (small.get_ydata()[0], large.get_ydata()[-1]) == pytest.approx((1, 0.5), rel=1e-2)


REGIMES = pd.DataFrame({"valid": [True, False], "blog": [4.0, 1.0], "source": [3.0, 9.0], "any": [2.0, 9.0]})
REGIMES["loose"] = REGIMES["blog"] / REGIMES["any"]
TURNED, RIGHT = (pd.DataFrame({"eps": [0.0, 0.1, 1.0], "times": [times, 0.2, 0.1]}) for times in (100.0, 0.5))


@pytest.mark.parametrize(
    ("regimes", "printed", "constant", "readings"),
    [
        ({}, TURNED, 0.9, ["holds with correction", "verified"]),
        ({}, RIGHT, 0.9, ["verified", "verified"]),
        ({}, RIGHT, 12.0, ["holds with correction"] * 2),  # a condition with "much larger" that is too weak
        ({"any": 4.1}, RIGHT, 0.9, ["refuted"] * 2),  # below what is certified
        ({"source": 4.1}, TURNED, 0.9, ["refuted"] * 2),  # below its source
        ({"valid": False}, TURNED, 0.9, ["not checkable"] * 2),
    ],
)
def test_eq_1(regimes, printed, constant, readings):
    needed = pd.DataFrame({"constant": [constant], "theorem": 16.8})
    found = settle("B-1", regimes=REGIMES.assign(**regimes), printed=printed, needed=needed)
    assert in_readings(found) == readings


@pytest.mark.parametrize(
    ("over", "factor", "readings"),
    [
        (1.009, 1 / (8 * math.sqrt(math.log(4e6))), ["verified", "holds with correction"]),
        (1.011, 1 / (8 * math.sqrt(math.log(4e6))), ["refuted"] * 2),
        (1.0, 1.0, ["verified", "verified"]),
        (1.0, 0.5, ["refuted"] * 2),
    ],
)
def test_the_expansion_for_small_budgets(over, factor, readings):
    expanded = pd.DataFrame({"formula": ["small", "large"], "over_blog": [over, 9.0]})
    improved = pd.DataFrame({"factor": [100 * factor], "over_root": factor})
    improved["over_scaled"] = 8 * factor * math.sqrt(math.log(4e6))
    found = settle("B-2", expanded=expanded, improved=improved)
    assert in_readings(found) == readings
    if over == 1.009:
        assert "there is none below 973." in found.readings[0].found  # 64 log(4e6) = 972.9


@pytest.mark.parametrize(
    ("over_blog", "over_source", "readings"),
    [
        (0.5, 1.0, ["holds with correction", "verified"]),
        (1.0, 2.0, ["verified", "refuted"]),
        (0.5, 1.011, ["refuted"] * 2),
    ],
)
def test_the_expansions_for_large_budgets(over_blog, over_source, readings):
    expanded = pd.DataFrame({"formula": ["large", "large", "linear"], "u": 1.0})
    assert (
        in_readings(settle("B-3", expanded=expanded.assign(over_blog=over_blog, over_source=over_source))) == readings
    )


@pytest.mark.parametrize(
    ("claim", "table", "change", "verdict"),
    [
        ("B-4", "senders", {"signed": Fraction(1, 4)}, "refuted"),
        ("B-4", "senders", {"excess": Fraction(1, 9)}, "refuted"),
        ("B-4", "senders", {"plain": Fraction(1, 2)}, "refuted"),
        ("B-6", "small", {"delta": Fraction(99, 100)}, "refuted"),
        ("B-6", "large", {"any_honest": 9.0}, "refuted"),
        ("B-7", "ratios", {"shuffled": 2}, "refuted"),
        ("B-7", "floors", {"log10_floor": -math.inf}, "refuted"),
        ("B-45", "mixtures", {"weight": Fraction(1, 99)}, "refuted"),
        ("B-45", "mixtures", {"laws": False}, "refuted"),
        ("B-45", "mixtures", {"again": False}, "refuted"),
    ],
)
def test_one_wrong_column_is_enough(ran, claim, table, change, verdict):
    of_claim = {"B-4": ["senders"], "B-6": ["small", "large"], "B-7": ["ratios", "floors"], "B-45": ["mixtures"]}
    made = {name: ran.names[name] for name in of_claim[claim]}
    assert settle(claim, **made).verdict == "verified"
    assert settle(claim, **made | {table: made[table].assign(**change)}).verdict == verdict


_BLOG = "math.log1p(16 * t * root)"
_FEW = {"points": 2}  # of a curve that no check looks at
PLANTED = (
    Planted("B-1 B-6", "notebooks.p13_clones", _BLOG, "math.log1p(t * root)", "eq. (1) without its 16", _FEW),
    Planted("B-2", "notebooks.p13_clones", "8 * x * math.sqrt(A / n)", "4 * x * math.sqrt(A / n)", "4 for 8", _FEW),
    Planted("B-3", "notebooks.p13_clones", "t * (8 * root + 8", "t * (16 * root + 8", "the source with 16", _FEW),
    Planted(
        "B-4", "algorithms.shuffles", "row if u == user else", "row if u == 0 else", "all sign with one number", _FEW
    ),
    Planted("B-6", "notebooks.13_clones", "p.worst([law, *honest], at)", "p.worst([law, *honest], one)", "eps 0", _FEW),
    Planted(
        "B-7",
        "algorithms.shuffles",
        "grown |= {(*reports, z): mass * chance for",
        "grown |= {(*reports, z): mass * (chance + Fraction(1, len(rows[data[user]]))) / 2 for",
        "every second report a uniform one",
        _FEW,
    ),
    Planted(
        "B-45", "notebooks.13_clones", "(mass - low) / (1", "(mass - low / 2) / (1", "half the noise is left", _FEW
    ),
)
