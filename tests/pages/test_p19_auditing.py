"""Page 19: what is in order stays so, and a spoiled bound is caught; the headline's numbers are their functions'."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from running import run_page
from scipy.optimize import brentq
from scipy.stats import binom

import gspa
from gspa.accountant import budgets
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.published import CATALOGUE, gspa_epsilon
from gspa.accountant.tradeoff import gdp_delta
from gspa.pages import p19_auditing as p

PAGE = "19_auditing"
ROOT = Path(__file__).parents[2]
SIZES = {"n": 10_000, "delta": 1e-4, "loud": 2.0, "quiet": 0.01}
STANDS_OUT = "Laplace, one user at 2, 9,999 at 0.01"
PLANTED = ()


@pytest.fixture(scope="module")
def settings():
    return p.cases(**SIZES)


@pytest.fixture(scope="module")
def table():
    return run_page(PAGE).names["rows"]


@pytest.fixture(scope="module")
def headline():
    return run_page(PAGE).names["headline"]


class TestIntervals:
    def test_lower_bounds_truth_and_upper_bounds_are_in_order(self, table):
        assert table["consistent"].all()
        assert (table["lower"] > 0).all()
        assert (table["lower"] <= table["certified"]).all()
        known = table.dropna(subset="truth_low")
        assert len(known) == 5
        assert (known["lower"] <= known["truth_high"]).all()
        assert (known["truth_low"] <= known["certified"]).all()

    def test_every_kind_of_lower_bound_and_mechanism_occurs(self, settings, table):
        assert {case.mechanism for case in settings} == {"rr", "krr", "laplace", "gaussian"}
        assert table["enumerated"].notna().sum() >= 3
        assert (table["sampled"] > 0).sum() >= 3
        assert {case.people.eps.size for case in settings} == {1, 2, 3}

    def test_the_papers_promise_is_broken_where_an_attack_reaches_above_it(self, table):
        broken = set(table.loc[table["broken"], "setting"])
        assert STANDS_OUT in broken
        assert "RR, 10,000 users at 0.5" not in broken
        row = table.set_index("setting").loc[STANDS_OUT]
        assert (row["paper"], row["attack"], row["certified"]) == pytest.approx((0.0441, 0.3076, 0.3083), abs=1e-4)

    def test_the_gaussians_local_budgets_hold(self, settings):
        """The paper is given the least eps_i that holds at its delta_i: a broken promise is not our choice of noise."""
        for case in settings:
            if case.mechanism == "gaussian":
                for eps, delta, sigma in zip(case.people.eps, case.people.delta, case.scales, strict=True):
                    assert gdp_delta(0.99 * eps, mu=1 / sigma) > delta >= gdp_delta(eps, mu=1 / sigma)

    def test_the_confidence_is_shared(self, settings):
        found = p.intervals(settings[3:5], samples=1_000, seed=1, confidence=0.9)
        assert found["note"].str.startswith("confidence 0.95;").all()

    def test_a_large_delta_needs_no_budget(self):
        """At delta = 0.01 and n = 100,000 two settings have eps 0: no row is out of order, no ratio is made up."""
        found = p.intervals(
            p.cases(n=100_000, delta=0.01, loud=0.02, quiet=0.01)[:2], samples=400, seed=1, confidence=0.95
        )
        assert found["certified"].tolist() == [0, 0]
        assert found["consistent"].all()
        assert np.isnan(found["slack"]).all()


class TestJudge:
    def test_a_mutated_upper_bound_is_caught(self, table):
        """The certified bound just below the attack: one row turns, and only that one."""
        for i in range(len(table)):
            spoiled = table.copy()
            spoiled.loc[i, "certified"] = spoiled.loc[i, "lower"] * (1 - 1e-9)
            judged = p.judge(spoiled)
            assert not judged.loc[i, "consistent"]
            assert judged["consistent"].sum() == len(table) - 1

    @pytest.mark.parametrize("column", ["published", "truth_high"])
    def test_a_mutated_published_bound_or_truth_is_caught(self, table, column):
        i = int(table[column].notna().to_numpy().argmax())
        spoiled = table.copy()
        spoiled.loc[i, column] = 0.5 * spoiled.loc[i, "lower"]
        assert not p.judge(spoiled).loc[i, "consistent"]

    def test_shrinking_catches_what_the_sensitivity_says(self, table):
        for factor in (1.0, 0.95, 0.85, 0.5):
            found = p.sensitivity(table, p.shrunk(table, factor))
            assert ((found["caught"] == "yes") == (factor < found["seen"])).all()
        assert p.shrunk(table, 1.0)["consistent"].all()
        assert not p.shrunk(table, 0.5)["consistent"].any()

    def test_an_unknown_truth_refutes_nothing(self):
        row = {"attack": 0.1, "enumerated": math.nan, "sampled": 0.0, "truth_low": math.nan, "truth_high": math.nan}
        judged = p.judge(pd.DataFrame([row | {"certified": 0.2, "published": math.nan, "paper": 0.05}]))
        assert judged[["consistent", "broken", "slack"]].to_numpy().tolist() == [[True, True, 2.0]]

    def test_what_was_found_in_words(self, table):
        broken = table["paper"] < np.fmax(table["lower"], table["truth_low"])
        assert (table["found"] == "the promise fails").tolist() == broken.tolist()
        assert set(table["found"]) == {"the promise fails", "all hold"}
        assert set(p.shrunk(table, 0.1)["found"]) == {"a proved bound fails"}


class TestByBound:
    def test_every_published_bound_holds_and_the_papers_does_not(self, settings, table):
        found = p.by_bound(settings, table).set_index("bound")
        proved = found[found["proved"] == "yes"]
        assert len(proved) >= 10
        assert (proved["least"] >= 1).all()
        assert (proved["exceeded"] == 0).all()
        paper = found.loc[CATALOGUE["gspa"].label]
        assert paper["settings"] == len(settings)
        assert paper["exceeded"] == table["broken"].sum() > 0
        assert paper["least"] < 0.2

    def test_a_published_bound_that_were_wrong_would_be_counted(self, settings, table, monkeypatch):
        honest, label = p.published, CATALOGUE["fmt21_numerical"].label

        def spoiled(case):
            rows = honest(case)
            return rows.assign(epsilon=rows["epsilon"].where(rows["bound"] != label, rows["epsilon"] / 3))

        monkeypatch.setattr(p, "published", spoiled)
        assert p.by_bound(settings, table).set_index("bound").loc[label, "exceeded"] > 0


def test_the_price_of_sampling_falls_with_the_runs(settings):
    found = p.price_of_sampling(settings[4], sizes=(400, 40_000), seed=1, confidence=0.95)
    assert found["samples"].tolist() == [400, 40_000]
    assert found["sampled"].is_monotonic_increasing
    assert found["sampled"].iloc[1] > 0.25


class TestAuditFigure:
    @pytest.fixture
    def rows(self):
        nan = math.nan
        made = {
            "setting": ["first", "second", "nothing"],
            "attack": [0.08, 0.4, 0.0],
            "enumerated": [0.09, nan, nan],
            "sampled": [0.02, 0.0, 0.0],
            "truth_low": [0.09, nan, 0.0],
            "truth_high": [0.09, nan, 0.0],
            "certified": [0.1, 0.5, 0.0],
            "published": [0.3, nan, 0.0],
            "paper": [0.2, 0.1, 0.0],
        }
        yield p.judge(pd.DataFrame(made).assign(delta=1e-4, n=10, limit=0.085))
        plt.close("all")

    def test_it_draws_every_row_with_a_certified_bound(self, rows):
        figure = p.audit_intervals(rows)
        near, far = figure.axes
        assert [one.get_text().split(",")[0] for one in near.texts] == ["first", "second"]
        (bars,) = near.collections
        assert [bar[:, 0].tolist() for bar in bars.get_segments()] == [pytest.approx([0.9, 1]), pytest.approx([0.8, 1])]
        # The broken promise is named beside its star: 0.1 of 0.5, in the second row.
        assert [(one.get_text(), one.xy) for one in far.texts] == [("broken", (pytest.approx(0.2), 0))]
        # No two marks look alike.
        legend = figure.legends[0]
        looks = {(h.get_marker(), h.get_color(), h.get_markerfacecolor()) for h in legend.legend_handles}
        assert len(looks) == len(legend.get_texts()) == 5

    def test_it_draws_where_no_attack_reaches_anything(self, rows):
        nothing = p.judge(rows.assign(attack=0.0, enumerated=math.nan, sampled=0.0))
        assert p.audit_intervals(nothing).axes[0].get_xlim()[0] < 1

    def test_the_catalogues_figure_draws_each_bound_at_its_ratio(self, settings, table):
        found = p.by_bound(settings, table)
        (axis,) = p.bound_ratios(found).axes
        assert [tick.get_text() for tick in axis.get_yticklabels()] == found["bound"].tolist()
        drawn = {(x, y) for line in axis.lines if line.get_marker() != "None" for x, y in line.get_xydata().tolist()}
        assert drawn == set(zip(found["least"], range(len(found) - 1, -1, -1), strict=True))
        low, high = axis.get_xlim()
        assert low < found["least"].min() < 1 < found["least"].max() < high


class TestHeadline:
    @pytest.mark.parametrize("index", [0, 20, 40, 49])
    def test_each_number_is_its_functions(self, headline, index):
        row = headline.iloc[index]
        people = budgets.constant(row["local"], n=1_000)
        assert row["paper"] == pytest.approx(gspa_epsilon(people, delta=1e-4))
        assert row["certified"] == pytest.approx(central_epsilon(people, delta=1e-4).upper)
        assert row["numerical"] == pytest.approx(CATALOGUE["fmt21_numerical"].epsilon(people, 1e-4))
        # The attack is a lower bound on the exact value, and close to it.
        exact = exact_epsilon(people, delta=1e-4)
        assert 0.998 * exact.lower <= row["attack"] <= exact.upper

    def test_lower_bounds_lie_below_upper_bounds(self, headline):
        assert (headline["attack"] <= headline["certified"]).all()
        assert (headline["certified"] <= headline["numerical"] * (1 + 1e-9)).all()
        assert (headline["certified"] <= headline["closed"].fillna(np.inf)).all()
        assert (headline["certified"] <= headline["local"]).all()
        assert (headline["broken"] == (headline["paper"] < headline["attack"])).all()
        assert 0 < headline["broken"].sum() < len(headline)

    def test_a_closed_form_outside_its_conditions_is_left_out(self):
        assert p.headline(local=[1.0, 3.0], n=1000, delta=1e-4)["closed"].isna().tolist() == [False, True]

    @pytest.mark.parametrize(("n", "delta"), [(1_000, 1e-2), (10_000, 1e-2), (100, 1e-4)])
    def test_bounds_of_zero_are_said_and_not_divided_by(self, n, delta):
        table = p.headline_at(local=p.LOCAL[::7], sizes=[n], deltas=[delta])
        (frame,) = p.headline_frames(table).values()
        zero = bool((table["certified"] == 0).any())
        assert ("is 0 up to a local budget" in frame.alt) is zero
        assert "nan" not in frame.alt
        assert "inf" not in frame.alt
        said = [each.get_text() for each in p.headline_curves(table).axes[0].texts]
        assert any("times" in each for each in said) is not zero
        plt.close("all")

    def test_a_table_without_a_broken_promise_is_drawn_too(self, headline):
        for broken in (True, False):
            figure = p.headline_curves(headline[headline["broken"] == broken])
            said = [each.get_text() for each in figure.axes[0].texts]
            assert ("promise\nbroken" in said) is broken
            plt.close(figure)

    def test_the_readmes_copy_has_its_numbers_and_its_text(self, headline):
        committed = pd.read_csv(ROOT / "book" / "_static" / "headline.csv")
        pd.testing.assert_frame_equal(committed, headline[committed.columns], rtol=1e-9)
        shown = re.search(r"!\[(.+)\]\((\S+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
        assert shown[2] == "book/_static/headline.svg"
        ((start, frame),) = p.headline_frames(headline).items()
        assert start == (p.USERS, p.CENTRAL)
        assert shown[1] == frame.alt
        assert shown[1].startswith("Central epsilon against the local budget")

    def test_each_number_of_the_readmes_words_is_that_of_the_setting_it_names(self):
        """The attack from two binomial laws; the promise and the certified bound as anybody asks for them."""
        words = (ROOT / "README.md").read_text(encoding="utf-8")
        certified, attack, least, promise, times = (
            float(one)
            for one in re.search(
                r"from ([\d.]+) and ([\d.]+) at ([\d.]+)\. There .+ is ([\d.]+), (\d+) times", words
            ).groups()
        )
        start, end, worst, promised, reached = (
            float(one)
            for one in re.search(
                r"From ([\d.]+) to ([\d.]+) .+ at ([\d.]+) it promises ([\d.]+) and the attack reaches ([\d.]+)\.",
                words,
            ).groups()
        )

        def paper(local):
            rows = gspa.published(eps=local, n=1_000, delta=1e-4)
            return next(row.epsilon for row in rows if row.key == "gspa")

        def broken(local):
            return paper(local) < counted(local)

        def counted(local):
            """eps of the number of ones, all others' bits 0: the worst of their inputs here."""
            flip = 1 / (1 + math.exp(local))
            others = binom.pmf(np.arange(1_000), 999, flip)
            one, zero = np.convolve(others, [flip, 1 - flip]), np.convolve(others, [1 - flip, flip])
            orders = (one, zero), (zero, one)
            return max(
                brentq(lambda eps, p, q: np.maximum(p - math.exp(eps) * q, 0).sum() - 1e-4, 0, local, pair)
                for pair in orders
            )

        upper = gspa.epsilon(eps=least, n=1_000, delta=1e-4, mechanism="aligned").upper
        assert upper <= certified < upper * 1.01
        assert attack <= counted(least) < attack * 1.01
        assert promise == pytest.approx(paper(least), abs=0.005)
        assert times == pytest.approx(paper(least) / upper, abs=0.5)
        assert promised == pytest.approx(paper(worst), abs=0.005)
        assert reached <= counted(worst) < reached + 0.01
        assert [broken(local) for local in (start, end, start - 0.1, end + 0.1)] == [True, True, False, False]


def test_the_page_shows_what_an_attack_proves():
    names = run_page(PAGE).names
    assert max(names["forward"], names["backward"]) == pytest.approx(1e-6, rel=2e-3)
    assert math.log((names["low"] - 1e-4) / names["high"]) == pytest.approx(float(names["counted"]), rel=1e-12)


@pytest.mark.slow
def test_what_is_said_follows_the_run():
    said = "\n".join(run_page(PAGE, shrink=0.99, samples=1_000).said)
    assert re.search(r"Of these spoiled bounds \d+ of 13 (is|are) found wrong", said)
    assert "In all 13 settings no attack exceeds" in said
