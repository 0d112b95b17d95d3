"""Page 19: what is in order stays so, a spoiled bound is caught by the page's own cells, the README has its numbers."""

from __future__ import annotations

import json
import math
import re
from itertools import product
from pathlib import Path

import exact_shuffle
import numpy as np
import p19_auditing as p
import pandas as pd
import pytest
from running import run_page

import gspa
from gspa.accountant import budgets
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.tradeoff import gdp_delta

PAGE = "19_auditing"
ROOT = Path(__file__).parents[2]
CELLS = json.loads((ROOT / "notebooks" / f"{PAGE}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def audit(names):
    return names["audit"]


@pytest.fixture(scope="module")
def headline(names):
    curves = names["curves"]
    return curves[(curves["n"] == 1_000) & (curves["delta"] == 1e-4)]


def after(bound, **made):
    """The names after the cell that binds this one, run on made values."""
    (source,) = [text for text in map("".join, (cell["source"] for cell in CELLS)) if f"\n{bound} = " in f"\n{text}"]
    found = {"np": np, "pd": pd, **made}
    exec(source, found)
    return found


def judged(table, **columns):
    return after('audit["holds"]', audit=table.assign(**columns))["audit"]


class TestWorst:
    def test_it_is_the_largest_over_the_inputs(self):
        """5 users: every dataset of the others, one by one, by the outside sum."""
        found = p.worst_epsilon(budgets.constant(1.0, n=5), delta=1e-3, k=3)
        row = exact_shuffle.krr
        victim = (row(3, 1.0, 0), row(3, 1.0, 1))
        best = max(
            exact_shuffle.solve(
                lambda eps, held=held: exact_shuffle.histogram_delta(
                    victim, [(row(3, 1.0, i), held.count(i)) for i in range(3)], eps
                ),
                1e-3,
                1.0,
            )
            for held in product(range(3), repeat=4)
        )
        assert found.lower == pytest.approx(best, rel=1e-7)
        assert found.upper - found.lower < 1e-8


class TestAudit:
    def test_lower_bounds_truth_and_upper_bounds_are_in_order(self, audit):
        assert len(audit) == 13
        assert audit["holds"].all()
        assert (audit["lower"] > 0).all()
        known = audit.dropna(subset="truth_low")
        assert len(known) == 5
        assert (known["lower"] <= known["truth_high"]).all()
        assert (known["truth_low"] <= known["certified"]).all()
        assert audit["enumerated"].notna().sum() >= 3
        assert (audit["sampled"] > 0).sum() >= 3

    def test_the_promise_is_theorem_2s_and_broken_where_an_attack_reaches_above_it(self, audit):
        r = [1 / (1 + math.exp(eps)) for eps in (2, 0.01)]
        mu = math.sqrt(2 / (9_999 * r[1] + r[0] - r[1]))
        row = audit.loc["Laplace, one user at 2, 9,999 at 0.01"]
        assert exact_shuffle.gaussian_delta(row["paper"], mu) == pytest.approx(1e-4, rel=1e-9)
        assert row["broken"]
        assert not audit.loc["RR, 10,000 users at 0.5", "broken"]
        assert (audit["broken"] == (audit["paper"] < np.fmax(audit["lower"], audit["truth_low"]))).all()
        assert (audit["found"] == "the promise fails").tolist() == audit["broken"].tolist()

    def test_the_gaussians_local_budgets_are_the_least_that_hold(self, names):
        for eps, sigma in ((names["strong"], 1.0), (names["weak"], 100.0)):
            assert gdp_delta(0.99 * eps, mu=1 / sigma) > 1e-6 >= gdp_delta(eps, mu=1 / sigma)

    def test_all_sampled_bounds_hold_at_once(self, names):
        assert 13 * (1 - names["share"]) == pytest.approx(0.05)

    def test_no_published_bound_is_above_the_local_budget(self, names, audit):
        for name, (people, _, mechanism, _) in names["cases"].items():
            least = audit.loc[name, "published"]
            assert math.isnan(least) if mechanism == "gaussian" else least <= people.eps_max


class TestTheVerdicts:
    def test_a_spoiled_upper_bound_is_caught(self, audit):
        """The certified bound just below the attack: one row turns, and only that one."""
        for i, name in enumerate(audit.index):
            certified = audit["certified"].where(audit.index != name, audit["lower"] * (1 - 1e-9))
            found = judged(audit, certified=certified)
            assert (~found["holds"]).tolist() == [k == i for k in range(len(audit))]
            assert found.loc[name, "found"] == "a proved bound fails"

    @pytest.mark.parametrize("column", ["published", "truth_high"])
    def test_a_spoiled_published_bound_or_truth_is_caught(self, audit, column):
        assert (~judged(audit, **{column: audit["lower"] / 2})["holds"]).all()

    def test_what_is_unknown_refutes_nothing_but_a_bound_that_is_missing_does_not_hold(self, audit):
        assert judged(audit, truth_low=math.nan, truth_high=math.nan, published=math.nan)["holds"].all()
        assert not judged(audit, certified=math.nan)["holds"].any()

    def test_where_no_budget_is_needed_no_row_is_out_of_order(self, audit):
        zero = dict.fromkeys(["attack", "enumerated", "sampled", "truth_low", "truth_high", "certified"], 0.0)
        found = judged(audit, **zero)
        assert found["holds"].all()
        assert found["slack"].isna().all()

    @pytest.mark.parametrize("shrink", [1.0, 0.95, 0.85, 0.5])
    def test_shrinking_is_caught_where_the_sensitivity_says_so(self, audit, shrink):
        found = after("spoiled", audit=audit, shrink=shrink)
        table = found["sensitivity"]
        assert ((table["caught"] == "yes") == (shrink < table["seen"])).all()
        assert found["caught"] == (table["caught"] == "yes").sum()
        assert {1.0: 0, 0.5: 13}.get(shrink, found["caught"]) == found["caught"]


class TestTheCatalogue:
    def test_every_proved_bound_holds_and_the_papers_does_not(self, names, audit):
        found = names["catalogue"].set_index("bound")
        proved = found[found["proved"] == "yes"]
        assert len(proved) >= 10
        assert (proved["least"] >= 1).all()
        assert (proved["exceeded"] == 0).all()
        assert list(found.index[found["proved"] == "no"]) == ["GSPA"]
        assert found.loc["GSPA", ["settings", "exceeded"]].tolist() == [13, audit["broken"].sum()]

    def test_a_published_bound_that_were_wrong_would_be_counted(self, names, audit):
        published = names["published"].copy()
        published.loc[published["bound"] == "FMT21, numerical", "epsilon"] /= 3
        found = after("by_bound", published=published, audit=audit)["catalogue"].set_index("bound")
        assert found.loc["FMT21, numerical", "exceeded"] > 0
        assert found.loc["FMT21, numerical", "least"] < 1


def test_what_an_attack_and_counts_prove_and_what_more_runs_bring(names):
    assert max(names["forward"], names["backward"]) == pytest.approx(1e-6, rel=2e-3)
    assert math.log((names["low"] - 1e-4) / names["high"]) == pytest.approx(float(names["counted"]), rel=1e-12)
    assert names["price"]["sampled"].is_monotonic_increasing
    assert 0 < names["price"]["sampled"].iloc[-1] <= names["price_exact"]


class TestFigures:
    @pytest.fixture
    def rows(self, audit):
        made = audit.iloc[:3].assign(truth_low=math.nan, truth_high=math.nan, sampled=0.0, enumerated=math.nan)
        made = made.assign(attack=[0.09, 0.4, 0.0], certified=[0.1, 0.5, 0.0], published=[0.3, math.nan, 0.0])
        return judged(made, paper=[0.2, 0.1, 0.0]).set_axis(pd.Index(["first", "second", "nothing"], name="setting"))

    def test_the_intervals_have_every_row_with_a_certified_bound(self, names, rows):
        figure = names["p"].audit_intervals(rows.reset_index())
        near, far = figure.axes
        assert [one.get_text().split(",")[0] for one in near.texts] == ["first", "second"]
        (bars,) = near.collections
        assert [bar[:, 0].tolist() for bar in bars.get_segments()] == [pytest.approx([0.9, 1]), pytest.approx([0.8, 1])]
        # The broken promise is named beside its star: 0.1 of 0.5, in the second row.
        assert [(one.get_text(), one.xy) for one in far.texts] == [("broken", (pytest.approx(0.2), 0))]
        nothing = judged(rows, attack=0.0).reset_index()
        assert names["p"].audit_intervals(nothing).axes[0].get_xlim()[0] < 1

    def test_the_catalogues_figure_draws_each_bound_at_its_ratio(self, names):
        found = names["catalogue"]
        (axis,) = names["p"].bound_ratios(found).axes
        assert [tick.get_text() for tick in axis.get_yticklabels()] == found["bound"].tolist()
        drawn = {(x, y) for line in axis.lines if line.get_marker() != "None" for x, y in line.get_xydata().tolist()}
        assert drawn == set(zip(found["least"], range(len(found) - 1, -1, -1), strict=True))

    def test_bounds_of_zero_are_said_and_not_divided_by(self, names, headline):
        for zero in (True, False):
            table = headline.assign(certified=headline["certified"].where(headline["local"] > 0.2 * zero, 0.0))
            (frame,) = names["p"].headline_frames(table).values()
            assert ("is 0 up to a local budget of 0.187," in frame.alt) is zero
            assert not re.search("nan|inf", frame.alt)
            said = [each.get_text() for each in names["p"].headline_curves(table).axes[0].texts]
            assert any("times" in each for each in said) is not zero


class TestHeadline:
    def test_lower_bounds_lie_below_upper_bounds(self, headline):
        assert (headline["attack"] <= headline["certified"]).all()
        assert (headline["certified"] <= headline["numerical"] * (1 + 1e-9)).all()
        assert (headline["certified"] <= headline["closed"].fillna(np.inf)).all()
        assert (headline["certified"] <= headline["local"]).all()
        assert 0 < headline["broken"].sum() < len(headline)

    @pytest.mark.parametrize("index", [0, 20, 40, 49])
    def test_the_certified_bound_is_the_accountants_and_the_attack_is_close_to_the_exact_value(self, headline, index):
        row = headline.iloc[index]
        people = budgets.constant(row["local"], n=1_000)
        exact = exact_epsilon(people, delta=1e-4)
        assert row["certified"] == central_epsilon(people, delta=1e-4).upper
        assert 0.998 * exact.lower <= row["attack"] <= exact.upper

    def test_the_closed_form_is_left_out_outside_its_conditions(self, headline):
        # Feldman, McMillan and Talwar 2022, Theorem 3.1: eps0 <= log(n/(16 log(2/delta))).
        most = math.log(1_000 / (16 * math.log(2e4)))
        assert (headline["closed"].notna() == (headline["local"] <= most)).all()

    def test_the_readmes_copy_has_its_numbers_and_its_text(self, names, headline):
        committed = pd.read_csv(ROOT / "book" / "_static" / "headline.csv")
        found = headline[committed.columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(committed, found, rtol=1e-9)
        shown = re.search(r"!\[(.+)\]\((\S+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
        assert shown[2] == "book/_static/headline.svg"
        ((start, frame),) = names["p"].headline_frames(headline).items()
        assert start == names["start"]
        assert shown[1] == frame.alt

    def test_each_number_of_the_readmes_words_is_that_of_the_setting_it_names(self, headline):
        """The attack from two binomial laws; the promise and the certified bound as anybody asks for them."""
        words = (ROOT / "README.md").read_text(encoding="utf-8")
        first = re.search(r"from ([\d.]+) and ([\d.]+) at ([\d.]+)\. There .+ is ([\d.]+), (\d+) times", words)
        then = re.search(
            r"From ([\d.]+) to ([\d.]+) .+ at ([\d.]+) it promises ([\d.]+) and the attack reaches ([\d.]+)\.", words
        )
        certified, attack, least, promise, times = map(float, first.groups())
        start, end, worst, promised, reached = map(float, then.groups())

        def paper(local):
            rows = gspa.published(eps=local, n=1_000, delta=1e-4)
            return next(row.epsilon for row in rows if row.key == "gspa")

        def counted(local):
            """eps of the number of ones, all others' bits 0: the worst of their inputs here."""
            return exact_shuffle.solve(lambda eps: exact_shuffle.rr_delta(local, 1_000, eps), 1e-4, local)

        upper = gspa.epsilon(eps=least, n=1_000, delta=1e-4, mechanism="aligned").upper
        assert upper <= certified < upper * 1.01
        assert attack <= counted(least) < attack * 1.01
        assert promise == pytest.approx(paper(least), abs=0.005)
        assert times == pytest.approx(paper(least) / upper, abs=0.5)
        assert promised == pytest.approx(paper(worst), abs=0.005)
        assert reached <= counted(worst) < reached + 0.01
        drawn = headline["local"].tolist()
        inside, beyond = drawn.index(start), drawn.index(end)
        asked = (start, end, drawn[inside - 1], drawn[beyond + 1])
        assert [paper(local) < counted(local) for local in asked] == [True, True, False, False]


@pytest.mark.slow
def test_what_is_said_follows_the_run():
    said = "\n".join(run_page(PAGE, shrink=0.99, samples=1_000).said)
    assert re.search(r"Of the bounds multiplied by 0\.99, \d+ of 13 are found wrong", said)
    assert "In all 13 settings of this page no attack exceeds" in said
