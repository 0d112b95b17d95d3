"""Page 13: the blog's formulas against mpmath and the package's guarded forms, small crowds against direct summation;
the checks; planted errors."""

from __future__ import annotations

import math
from fractions import Fraction

import matplotlib as mpl
import mpmath
import pandas as pd
import pytest
from exact_shuffle import rr_delta_worst, solve
from running import Planted, run_page

from gspa.accountant.closed_forms import clones_blog_epsilon, fmt21_epsilon
from gspa.accountant.errors import OutsideValidity
from gspa.book.claims import claim
from gspa.pages import p13_clones as p
from gspa.pages import p13_words as words

mpl.use("Agg")

DELTA = 1e-6


class TestFormulas:
    @pytest.mark.parametrize(("x", "n"), [(1e-4, 10**12), (0.5, 10_000), (3.0, 10_000), (10.0, 50)])
    def test_in_mpmath(self, x, n):
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
        found = p.formulas(x, n=n, delta=DELTA)
        assert found == pytest.approx({key: float(value) for key, value in expected.items()}, rel=1e-12)

    @pytest.mark.parametrize("x", [0.01, 1.0, 4.0])
    def test_inside_the_condition_they_are_the_packages_bounds(self, x):
        n = p.least_users(x, delta=DELTA)
        found = p.formulas(x, n=n, delta=DELTA)
        assert found["blog"] == pytest.approx(clones_blog_epsilon(x, n=n, delta=DELTA), rel=1e-12)
        assert found["source"] == pytest.approx(fmt21_epsilon(x, n=n, delta=DELTA), rel=1e-12)
        assert found["blog"] >= found["source"]
        with pytest.raises(OutsideValidity):
            fmt21_epsilon(x, n=n - 1, delta=DELTA)

    def test_regimes_stand_between_exact_and_printed(self):
        table = p.regimes([0.5, 6.0], [500, 1_000_000], delta=DELTA)
        assert (table["bits"] <= table["any"]).all()
        assert table.loc[table["valid"], "loose"].min() > 1
        wrong = table[~table["valid"] & (table["loose"] < 1)]
        assert wrong[["eps_local", "n"]].to_numpy().tolist() == [[6.0, 500]]
        assert p.of_bits(0.5, n=40, delta=DELTA) == pytest.approx(
            solve(lambda eps: rr_delta_worst(0.5, 40, eps), DELTA, 0.5), rel=1e-6
        )
        assert p.regimes([0.01], [10**8], delta=1e-3)["loose"].isna().all()

    def test_the_printed_direction_is_broken_by_direct_summation(self):
        found = p.direction(2.0, n=30, delta=1e-3)
        for row in found.itertuples():
            assert row.exact == pytest.approx(rr_delta_worst(2.0, 30, row.eps), rel=1e-9, abs=1e-15)
        assert found["times"].iloc[0] > 100
        assert found["times"].iloc[-1] < 1

    def test_without_the_constant_eq_1_is_false_by_direct_summation(self):
        row = p.users_needed([4.0], delta=1e-2).iloc[0]
        n = int(row["n"])
        blog = p.formulas(4.0, n=n, delta=1e-2)["blog"]
        assert rr_delta_worst(4.0, n, blog) > 1e-2
        assert row["exact"] > blog == row["blog"]
        assert row["constant"] == pytest.approx(n / (math.exp(4) * math.log(100)))
        # Five percent more users, and it holds.
        more = math.ceil(1.051 * n)
        assert rr_delta_worst(4.0, more, p.formulas(4.0, n=more, delta=1e-2)["blog"]) < 1e-2
        assert p.users_needed([0.5], delta=DELTA)["n"].item() == 0

    def test_the_improvement_is_sqrt_n_over_its_constant(self):
        for row in p.improvement(1e-3, [100, 10**6], delta=DELTA).itertuples():
            expected = math.sqrt(row.n) / (8 * math.sqrt(math.log(4 / DELTA)))
            assert row.factor == pytest.approx(expected, rel=5e-3)
            assert row.over_root * math.sqrt(row.n) == pytest.approx(row.factor)
            assert row.over_scaled == pytest.approx(1, rel=5e-3)

    def test_expansions_are_compared_where_they_should_be_right(self):
        table = p.expansions(DELTA).set_index("formula")[["over_blog", "over_source"]]
        assert table.loc["small"].tolist() == pytest.approx([1, 2], rel=2e-3)
        assert table.loc["linear"].tolist() == pytest.approx([0.5, 1], rel=2e-3)
        assert table.loc["large", "over_source"].tolist() == pytest.approx([0.983, 1.0], abs=1e-3)

    def test_malicious_users_leave_the_honest(self):
        found = p.malicious(1.0, sizes=[1_000], share=0.25, delta=DELTA).iloc[0]
        only = p.malicious(1.0, sizes=[750], share=0.0, delta=DELTA).iloc[0]
        assert found["honest"] == 750
        for key in ("any", "blog"):
            assert found[f"{key}_honest"] == only[f"{key}_all"] > found[f"{key}_all"]

    def test_the_floor_of_delta_is_below_delta(self):
        table = p.pure(1.0, (1, 5, 50, 10**5))
        w = math.e / (1 + math.e)
        for row in table[table["n"] <= 50].itertuples():
            assert 10**row.log10_floor == pytest.approx(w**row.n * (1 - math.exp(-0.01)), rel=1e-9)
            assert 0 < 10**row.log10_floor <= row.exact * (1 + 1e-9)
        assert table["log10_floor"].iloc[-1] < -10_000


class TestSmallCrowds:
    def test_named_messages_gain_nothing(self):
        table = p.senders(Fraction(3), sizes=(1, 2, 3))
        assert table["signed"].tolist() == [Fraction(1, 2)] * 3
        for row in table.itertuples():
            assert float(row.plain) == pytest.approx(rr_delta_worst(math.log(3), row.n, 0.0), rel=1e-12)
        assert (table["excess"] <= 0).all()
        assert (table["own"].iloc[1:] < table["plain"].iloc[1:]).all()

    def test_malicious_users_do_at_most_what_leaving_does(self):
        table = p.deviations(Fraction(3), honest=2, bad=2, at=Fraction(1))
        assert set(table["honest_only"]) == {Fraction(3, 8)}
        assert min(table["delta"]) < max(table["delta"]) == Fraction(3, 8)

    def test_no_pure_guarantee_improves(self):
        assert p.pure_ratios(Fraction(5, 2), sizes=(1, 3))["shuffled"].tolist() == [Fraction(5, 2)] * 6

    def test_messages_are_only_permuted_and_one_common_bit_shows_one_number(self):
        bits = {"per_user": 1.0, "bits_before": 7, "bits_after": 7}  # 128 outputs
        assert p.messages(k=64, eps=2.0, n=500, seed=4) == bits | {"same_messages": True, "alphabet": True}
        assert p.one_bit(k=16, ratio=3.0) == {"k": 16, "directions": 1, "gap": 0.0}


def test_figures_draw_the_lines_of_their_table():
    names = ("bits", "any", "blog", "source", "large", "linear", "small")
    rows = [{"eps_local": x, "n": 1000, "valid": x < 5, **dict.fromkeys(names, x / 10)} for x in (0.1, 1.0, 10.0)]
    table = pd.DataFrame(rows).assign(loose=[9.0, 3.0, 0.5])
    axis = p.clone_formulas(table, limit=5.0).axes[0]
    assert len(axis.get_legend().get_texts()) == len(p.LINES) + 1
    assert [patch.get_x() for patch in axis.patches] == [5.0]  # where the condition fails
    assert axis.get_xlim() == (0.1, 10.0)
    axis = p.clone_looseness(table.assign(bits=[0.01, 0.2, 0.3])).axes[0]
    assert axis.collections[-1].get_offsets().tolist() == [[1000, 3.0]]  # crossed out: false
    assert len(axis.texts) == 4
    quotients = p.quotients([0.01, 16.0], n=10**17, delta=DELTA)
    small, large = p.expansion_curves(quotients).axes[0].lines[2:]
    assert (small.get_ydata()[0], large.get_ydata()[-1]) == pytest.approx((1, 0.5), rel=1e-2)


class TestB1:
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def tables(cls):
        cls.table = p.regimes((0.5, 4.0), (10_000, 1_000_000), delta=DELTA)
        cls.printed = p.direction(0.5, n=10_000, delta=DELTA)
        cls.needed = p.users_needed((4.0,), delta=DELTA)

    def found(self, **changed):
        return p.equation_one(**{"table": self.table, "printed": self.printed, "needed": self.needed, **changed})

    def test_both_faults_are_named(self):
        found = self.found()
        assert [one.verdict for one in found.readings] == ["holds with correction", "verified"]
        assert found.verdict == "holds with correction"
        assert found.readings[1].excluded
        assert "wrong way round" in found.reason
        assert "with $0.94\\, e^{\\epsilon_L} \\ln(1/\\delta)$ users eq. (1) is false" in found.reason
        assert r"\ge" in found.correction

    def test_below_what_is_certified_or_below_its_source_it_is_refuted(self):
        assert self.found(table=self.table.assign(loose=0.99)).verdict == "refuted"
        assert self.found(table=self.table.assign(source=2 * self.table["blog"])).verdict == "refuted"

    def test_one_fault_is_enough(self):
        holds, right = self.needed.assign(n=0), self.printed.assign(times=0.5)
        assert self.found(printed=right, needed=holds).verdict == "verified"
        turned = self.found(needed=holds)
        assert turned.verdict == "holds with correction"
        assert "eq. (1) holds at every $n$ tried" in turned.reason
        # "n much larger than" is contradicted by a failure at many times that, not by one at 0.94 times.
        assert self.found(printed=right).verdict == "verified"
        weak = self.found(printed=right, needed=self.needed.assign(constant=12.0))
        assert weak.verdict == "holds with correction"
        assert "its condition is too weak" in weak.reason

    def test_without_a_valid_point_nothing_is_settled(self):
        assert self.found(table=self.table.assign(valid=False)).missing == "size"


class TestExpansions:
    table = p.expansions(DELTA)
    improved = p.improvement(1e-3, (10_000, 10**8), delta=DELTA)

    def test_the_small_one(self):
        found = p.small_budgets(self.table, self.improved)
        order, itself = found.readings
        assert [order.verdict, itself.verdict] == ["verified", "holds with correction"]
        assert found.agreeing == "in 1 of 2 readings"
        assert "not $\\sqrt{n}$ but 3.2 with 10,000 users" in itself.found
        assert "below 973." in order.found  # 64 log(4e6) = 972.9
        assert p.small_budgets(self.table.assign(over_blog=1.02), self.improved).verdict == "refuted"
        assert p.small_budgets(self.table, self.improved.assign(over_root=1.0)).verdict == "verified"
        assert p.small_budgets(self.table, self.improved.assign(over_scaled=2.0)).verdict == "refuted"

    def test_the_large_ones_belong_to_the_source(self):
        found = p.large_budgets(self.table)
        assert found.verdict == "holds with correction"
        assert "0.500 times" in found.reason
        assert p.large_budgets(self.table.assign(over_blog=1.0)).verdict == "verified"
        assert p.large_budgets(self.table.assign(over_source=1.1)).verdict == "refuted"


class TestWords:
    def test_b4(self):
        table = p.senders(Fraction(3), sizes=(2, 3))
        found = p.different_randomizers(table)
        assert found.verdict == "verified"
        assert "differ is amplified" in found.reason
        assert "differ is not amplified" in p.different_randomizers(table.assign(own=table["local"])).reason
        assert p.different_randomizers(table.assign(signed=table["plain"])).verdict == "refuted"
        assert p.different_randomizers(table.assign(excess=Fraction(1, 9))).verdict == "refuted"

    def test_b6(self):
        small = p.deviations(Fraction(3), honest=2, bad=1, at=Fraction(3, 2))
        large = p.malicious(1.0, sizes=(10_000,), share=0.1, delta=DELTA)
        found = p.malicious_users(small, large)
        assert found.verdict == "verified"
        assert "10,000 users, 10% of them malicious" in found.reason
        half = p.malicious_users(small, p.malicious(1.0, sizes=(10_000,), share=0.5, delta=DELTA))
        assert "$1/\\sqrt{0.5}$ is 1.414" in half.reason
        worse = pd.concat([small, small.iloc[:1].assign(delta=[Fraction(99, 100)])])
        assert p.malicious_users(worse, large).verdict == "refuted"
        assert p.malicious_users(small, large.assign(any_honest=9.0)).verdict == "refuted"
        assert p.malicious_users(small, large.assign(any_all=0.0)).missing == "size"

    def test_b7(self):
        ratios, floors = p.pure_ratios(Fraction(3), sizes=(2,)), p.pure(1.0, (10, 100))
        assert p.inherently_approximate(ratios, floors).verdict == "verified"
        better = ratios.assign(shuffled=[Fraction(2)] * len(ratios))
        assert p.inherently_approximate(better, floors).verdict == "refuted"
        assert p.inherently_approximate(ratios, floors.assign(log10_floor=-math.inf)).verdict == "refuted"


class TestWordsOfTheBlog:
    def test_the_blanket(self):
        table = words.blankets((Fraction(3),))
        # k-ary response with k = 3: each of the three outputs has at least 1/(e^x + 2).
        assert table["weight"].tolist()[:2] == [Fraction(1, 2), Fraction(3, 5)]
        assert words.mixture(table).verdict == "verified"
        for change in ({"weight": Fraction(1, 4)}, {"laws": False}, {"again": False}):
            assert words.mixture(table.assign(**change)).verdict == "refuted"


def test_the_page():
    ran = run_page("13_clones")
    assert set(ran.outcomes) == {f"B-{i}" for i in (1, 2, 3, 4, 6, 7, 45)}
    assert all(found.verdict == claim(name).verdict for name, found in ran.outcomes.items())
    assert any("If $n$ is 0.99 times its right-hand side" in text for text in ran.said)


_BLOG = '        "blog": math.log1p(16 * truth * root),\n'

_FEW = {"points": 2}  # of a curve that no check looks at

PLANTED = (
    Planted("B-1 B-6", "pages.p13_clones", _BLOG, _BLOG.replace("16 * ", ""), "eq. (1) without its 16", _FEW),
    Planted(
        "B-2",
        "pages.p13_clones",
        '"small": 8 * x *',
        '"small": 4 * x *',
        "the expansion for small eps_L with 4 for 8",
        _FEW,
    ),
    Planted(
        "B-3",
        "pages.p13_clones",
        "(8 * root + 8 * growth)",
        "(16 * root + 8 * growth)",
        "Theorem 3.1 of the source with 16 for 8",
        _FEW,
    ),
    Planted(
        "B-4",
        "algorithms.shuffles",
        "row if u == user else",
        "row if u == 0 else",
        "everybody signs with the same number",
        _FEW,
    ),
    Planted(
        "B-6",
        "pages.p13_clones",
        "worst([act] * bad + [rr] * honest, at)",
        "worst([act] * bad + [rr] * honest, _ONE)",
        "delta beside the malicious at eps = 0",
        _FEW,
    ),
    Planted(
        "B-7",
        "algorithms.shuffles",
        "grown |= {(*reports, z): mass * chance for",
        "grown |= {(*reports, z): mass * (chance + Fraction(1, len(rows[data[user]]))) / 2 for",
        "every second report a uniform one",
        _FEW,
    ),
    Planted(
        "B-45",
        "pages.p13_words",
        "own = [[mass - low for",
        "own = [[mass - low / 2 for",
        "half of the noise is left in the rest",
        _FEW,
    ),
)
