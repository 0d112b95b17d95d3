"""Page 05: shuffled laws and count pairs against independent enumeration and closed forms; the smallest counterexamples
by hand; the checks; planted errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from exact_shuffle import clone_pair_delta, histogram_delta, krr, personal_rr_delta, rr_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from running import Planted, run_page

from gspa.accountant import discrete
from gspa.book.claims import registry
from gspa.book.figures import ROLES
from gspa.pages import p05_reduction as p
from gspa.pages import shuffles as r

F = Fraction
RATIOS = st.fractions(min_value=1, max_value=9, max_denominator=4)


def rr(ratio):
    return r.subset_selection(2, 1, F(ratio))


def user_law(users, data):
    """Reports drawn user by user, then permuted: the definition, with floats and no merging."""
    law = {}
    n = len(users)
    for reports in product(*(range(len(rows[0])) for rows in users)):
        mass = math.prod(float(rows[x][z]) for rows, x, z in zip(users, data, reports, strict=True))
        for order in permutations(range(n)):
            z = tuple(reports[i] for i in order)
            law[z] = law.get(z, 0.0) + mass / math.factorial(n)
    return {z: mass for z, mass in law.items() if mass}


class TestMechanisms:
    def test_rows_by_hand(self):
        assert rr(3) == ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
        assert r.subset_selection(3, 2, F(2)) == tuple(
            tuple(F(v, 5) for v in row) for row in ((2, 2, 1), (2, 1, 2), (1, 2, 2))
        )
        assert r.subset_selection(3, 1, F(1)) == ((F(1, 3),) * 3,) * 3
        assert r.truth_with(F(1, 5), F(3))[1] == (F(1, 5), F(3, 5), 0, F(1, 5))
        assert r.question(2, F(3)) == (rr(3)[1], rr(3)[1], rr(3)[0])
        assert r.signed(rr(3), 1, 2)[0] == (0, 0, F(3, 4), F(1, 4))

    @given(RATIOS, st.sampled_from([(2, 1), (3, 1), (3, 2), (4, 2)]))
    @settings(max_examples=30)
    def test_they_are_laws_of_exactly_that_budget(self, ratio, which):
        rows = r.subset_selection(*which, ratio)
        assert all(sum(row) == 1 for row in rows)
        assert r.local_excess(rows, ratio) == 0
        if ratio > 1:
            assert r.local_excess(rows, (1 + ratio) / 2) > 0

    def test_the_truth_costs_its_delta(self):
        rows = r.truth_with(F(1, 5), F(3))
        assert r.local_excess(rows, F(3), F(1, 5)) == 0
        assert r.local_excess(rows, F(3)) == F(1, 5)


class TestShuffledLaw:
    @pytest.mark.parametrize("data", [(0, 1, 1), (1, 0, 1), (0, 0, 0)])
    def test_user_attached_is_every_report_permuted(self, data):
        users = [rr(1), rr(3), r.subset_selection(2, 1, F(5))]
        ours = r.shuffled_law(users, data, attached="user")
        theirs = user_law(users, data)
        assert ours.keys() == theirs.keys()
        assert [float(v) for v in ours.values()] == pytest.approx([theirs[z] for z in ours], abs=1e-15)

    def test_position_attached_by_hand(self):
        # Step 1 says nothing, step 2 tells the truth with 3/4: the reports are 00 if a 0 stands second and is kept...
        law = r.shuffled_law([rr(1), rr(3)], (0, 1))
        assert law == {z: F(1, 4) for z in product((0, 1), repeat=2)}
        law = r.shuffled_law([rr(1), rr(3)], (0, 0))
        assert law[0, 0] == law[1, 0] == F(3, 8)

    @given(st.lists(RATIOS, min_size=3, max_size=3), st.permutations([0, 0, 1]))
    @settings(max_examples=15)
    def test_it_is_a_law_that_does_not_see_the_order_of_the_data(self, ratios, data):
        steps = [rr(ratio) for ratio in ratios]
        law = r.shuffled_law(steps, data)
        assert sum(law.values()) == 1
        assert law == r.shuffled_law(steps, (0, 0, 1))

    def test_the_two_readings_agree_for_equal_randomizers_only(self):
        equal, own = [rr(3)] * 3, [rr(1), rr(3), rr(3)]
        assert r.shuffled_law(equal, (0, 0, 1)) == r.shuffled_law(equal, (0, 0, 1), attached="user")
        assert r.shuffled_law(own, (0, 0, 1)) != r.shuffled_law(own, (0, 0, 1), attached="user")

    def test_an_adaptive_process_sees_the_reports_so_far(self):
        seen = []

        def choose(step, reports):
            seen.append((step, reports))
            return rr(9) if reports and reports[0] else rr(1)

        law = r.shuffled_law(choose, (1, 1))
        assert {step for step, _ in seen} == {0, 1}
        assert all(len(reports) == step for step, reports in seen)
        # After a 1 the second step reports its own 1 with 9/10; after a 0 it reports a coin.
        assert (law[1, 1], law[1, 0], law[0, 1], law[0, 0]) == (F(9, 20), F(1, 20), F(1, 4), F(1, 4))


class TestPair:
    @pytest.mark.parametrize(("eps0", "n"), [(1.0, 2), (1.0, 5), (3.0, 4)])
    @pytest.mark.parametrize("at", [0.0, 0.3, 0.9])
    def test_it_is_the_pair_of_clones(self, eps0, n, at):
        ratio = F(math.exp(eps0))
        clones = [r.printed_clones(ratio)] * (n - 1)
        ours = r.delta_at(r.count_pair(ratio, clones=clones), F(math.exp(at)))
        assert float(ours) == pytest.approx(clone_pair_delta(eps0, n, at, 1 / (1 + math.exp(eps0))), abs=1e-13)

    def test_a_revealed_delta_is_added(self):
        ratio, delta, clones = F(3), F(1, 10), [F(1, 4), F(1, 3)]
        pure, known = r.count_pair(ratio, clones=clones), r.count_pair(ratio, clones=clones, delta=delta)
        shared = r.count_pair(ratio, clones=clones, delta=delta, shared=True)
        for at in (F(1), F(3, 2), F(3), F(100)):
            assert r.delta_at(known, at) == delta + (1 - delta) * r.delta_at(pure, at)
            assert r.delta_at(shared, at) <= (1 - delta) * r.delta_at(pure, at)

    @given(RATIOS, st.lists(st.fractions(0, F(1, 2), max_denominator=8), max_size=3), st.integers(1, 6))
    @settings(max_examples=25)
    def test_clones_help_and_it_is_a_pair_of_mirrored_laws(self, ratio, clones, at):
        pair = r.count_pair(ratio, clones=clones)
        assert sum(p for p, _ in pair.values()) == sum(q for _, q in pair.values()) == 1
        assert all(pair[b, a] == (q, p) for (a, b), (p, q) in pair.items())
        more = r.count_pair(ratio, clones=[*clones, F(1, 4)])
        assert r.delta_at(more, F(at)) <= r.delta_at(pair, F(at))


class TestDivergences:
    @pytest.mark.parametrize("at", [0.0, 0.2, 0.7])
    def test_shuffled_bits(self, at):
        ratio = F(math.exp(1.0))
        for ones in range(3):
            others = (1,) * ones + (0,) * (2 - ones)
            laws = r.two_laws([rr(ratio)] * 3, others=others, attached="user")
            assert float(r.delta_at(laws, F(math.exp(at)))) == pytest.approx(rr_delta(1.0, 3, at, ones), abs=1e-14)

    def test_own_budgets(self):
        eps = (0.2, 1.5, 1.0)
        laws = r.two_laws([rr(F(math.exp(e))) for e in eps], others=(0, 0), attached="user")
        for at in (0.0, 0.4):
            found = float(r.delta_at(laws, F(math.exp(at))))
            assert found == pytest.approx(personal_rr_delta(eps, 2, at), abs=1e-14)

    def test_three_answers(self):
        rows = r.subset_selection(3, 1, F(math.exp(1.0)))
        laws = r.two_laws([rows] * 3, others=(2, 2), attached="user")
        for at in (0.0, 0.5):
            wanted = histogram_delta((krr(3, 1.0, 0), krr(3, 1.0, 1)), [(krr(3, 1.0, 2), 2)], at)
            assert float(r.delta_at(laws, F(math.exp(at)))) == pytest.approx(wanted, abs=1e-13)

    def test_one_direction_can_be_larger(self):
        laws = {"a": (F(1), F(1, 2)), "b": (F(0), F(1, 2))}
        assert r.delta_at(laws, F(2)) == F(1, 2)  # 1 - 2/2 = 0 one way, 1/2 the other

    @given(RATIOS, RATIOS, st.integers(0, 3))
    @settings(max_examples=15)
    def test_the_largest_excess_is_one(self, victim, other, inputs):
        """No eps on a fine grid has a larger one, and the trade-off functions say the same."""
        users = [r.subset_selection(3, 1, other)] * 2 + [r.subset_selection(3, 1, victim)]
        laws = r.two_laws(users, others=divmod(inputs, 2), attached="user")
        pair = r.count_pair(victim, clones=[r.printed_clones(other)] * 2)
        found = r.largest_excess(laws, pair)
        assert (
            found.amount == found.shuffled - found.pair == r.delta_at(laws, found.ratio) - r.delta_at(pair, found.ratio)
        )
        for at in (F(k, 16) for k in range(16, 16 * 10, 3)):
            assert r.delta_at(laws, at) - r.delta_at(pair, at) <= found.amount
        mine, theirs = (
            discrete.neyman_pearson(*(np.array([float(both[i]) for both in law.values()]) for i in (0, 1)))
            for law in (laws, pair)
        )
        alpha = np.linspace(0, 1, 301)
        lowest = float((mine(alpha) - theirs(alpha)).min())
        assert (lowest > -1e-12) if found.amount <= 0 else (lowest < 0)


class TestParts:
    @given(RATIOS.filter(lambda p: p > 1), st.sampled_from([(2, 1), (3, 1), (3, 2), (4, 2)]))
    @settings(max_examples=20)
    def test_they_mix_to_the_randomizer(self, ratio, which):
        rows = r.subset_selection(*which, ratio)
        zero, one = r.parts(rows, ratio)
        w = ratio / (1 + ratio)
        for z, (a, b) in enumerate(zip(zero, one, strict=True)):
            assert min(a, b) >= 0
            assert (w * a + (1 - w) * b, (1 - w) * a + w * b) == (rows[0][z], rows[1][z])
            assert a + b == rows[0][z] + rows[1][z]

    def test_a_larger_budget_than_needed_will_do(self):
        parts = r.parts(rr(2), F(5))
        assert min(*parts.zero, *parts.one) >= 0
        assert (parts.zero[0] + parts.one[0]) == 1

    def test_the_truth_is_split_off(self):
        parts = r.parts(r.truth_with(F(1, 5), F(3)), F(3), delta=F(1, 5))
        assert parts == ((1, 0, 0, 0), (0, 1, 0, 0))

    def test_a_report_that_says_nothing_is_its_own_parts(self):
        assert r.parts(rr(1), F(1)) == r.parts(rr(1), F(4)) == ((F(1, 2),) * 2,) * 2

    @pytest.mark.parametrize(
        ("which", "victim", "other", "wanted"),
        [
            ((2, 1), 3, 7, F(1, 8)),  # the paper's own 1/(1 + q), whoever the victim is
            ((2, 1), 7, 3, F(1, 4)),
            ((3, 1), 4, 4, F(1, 5)),  # 1/(1 + p), although 1/(p + k - 1) is the mass of one answer
            ((3, 1), 4, 1, F(2, 5)),  # (p + 2)/((p + 1)(q + 2)), below 1/2
            ((3, 2), 4, 4, F(1, 8)),  # e^-eps/2, that of any common randomizer
        ],
    )
    def test_aligned_clones_by_hand(self, which, victim, other, wanted):
        parts = r.parts(r.subset_selection(*which, F(victim)), F(victim))
        assert r.aligned_clone_probability(parts, r.subset_selection(*which, F(other))) == wanted

    def test_who_cannot_send_it_is_no_clone(self):
        parts = r.parts(r.signed(rr(3), 1, 2), F(3))
        assert r.aligned_clone_probability(parts, r.signed(rr(3), 0, 2)) == 0


ASKED = {"ratio": 4, "small": 1, "delta": F(1, 10), "n": 3}
BROKEN = {"rr-low-step", "rr-own-step", "ternary-own", "signed", "truth-alone", "truth"}


@pytest.fixture(scope="module")
def table():
    return p.table(p.cases(**ASKED)).set_index("key")


def test_what_fails_and_what_holds(table):
    assert set(table.index[table["excess"] > 0]) == BROKEN
    assert len(table) == 15


def test_nothing_exceeds_the_corrected_pair(table):
    assert (table["corrected_excess"] <= 0).all()
    assert (table["corrected"] >= table["shuffled"]).all()


@pytest.mark.parametrize(
    ("key", "given", "at", "shuffled", "pair"),
    [
        # Two users, the last with eps = 0: the pair promises that nothing shows; the first step takes the
        # victim half of the time and tells 3/4 - 1/4.
        ("rr-low-step", {"ratio": 3, "n": 2}, 1, F(1, 4), F(0)),
        # Signed reports of two users: (p-1)/(p+1), where half of the pair's weight is hidden by a clone.
        ("signed", {"ratio": 3, "n": 2}, 1, F(1, 2), F(3, 8)),
        # 3-ary, the other says nothing: six multisets, 2/15 each on two of them; the pair has 1/4.
        ("ternary-own", {"ratio": 3, "n": 2}, 1, F(4, 15), F(1, 4)),
        ("truth-alone", {"ratio": 3, "n": 2}, 1, F(1, 10) + F(9, 20), F(9, 20)),
    ],
)
def test_smallest_counterexamples_by_hand(key, given, at, shuffled, pair):
    (case,) = [case for case in p.cases(**ASKED | given) if case.key == key]
    found, _ = case.worst(case.printed_pair())
    assert (found.ratio, found.shuffled, found.pair) == (at, shuffled, pair)


@pytest.mark.parametrize("q", [2, 3, 4, 5, 9, 40])
def test_the_closed_form_of_the_position_counterexample(q):
    ratios = (F(1), F(q), F(q))
    case = p.Case("x", "RR", "position", ratios, [r.subset_selection(2, 1, ratio) for ratio in ratios])
    laws, pair = case.shuffled((0, 0)), case.printed_pair()
    assert r.delta_at(laws, F(1)) == F(2 * q * (q - 1), 3 * (q + 1) ** 2)
    assert r.delta_at(pair, F(1)) == F(q - 1, 2 * (q + 1))
    assert (case.worst(pair)[0].amount > 0) == (q > 3)


@pytest.mark.parametrize("given", [{"ratio": 9, "small": 2}, {"ratio": 3, "small": 3}, {"n": 2, "ratio": 2}])
def test_other_budgets_stay_within_the_corrected_pair(given):
    table = p.table(p.cases(**ASKED | given))
    assert (table["corrected_excess"] <= 0).all()
    kept = table[~table["key"].isin(BROKEN)]
    assert (kept["excess"] <= 0).all()


@pytest.mark.slow
def test_four_users():
    table = p.table(p.cases(**ASKED | {"n": 4})).set_index("key")
    assert (table["corrected_excess"] <= 0).all()
    assert set(table.index[table["excess"] > 0]) == BROKEN


def test_more_clones_than_aligned_ones_are_no_bound():
    """The corrected pair is not loose by construction: a little more and it fails."""
    (case,) = [case for case in p.cases(**ASKED | {"ratio": 9, "n": 2}) if case.key == "ternary-own"]
    ratio, clones = case.aligned()
    better = r.count_pair(ratio, clones=[c * F(11, 10) for c in clones])
    assert case.worst(better)[0].amount > 0


def test_unequal_steps_take_the_largest_budget_and_the_least_clone():
    (case,) = [case for case in p.cases(**ASKED) if case.key == "rr-own-step"]
    assert case.aligned() == (F(4), [F(1, 5)] * 2)


def test_an_adaptive_question_costs_clones():
    by_key = {case.key: case for case in p.cases(**ASKED)}
    # A question that does not separate the victim's inputs has parts R(x0) itself: e^-eps/2.
    assert by_key["adaptive-step"].aligned() == (F(4), [F(1, 8)] * 2)
    assert len(list(by_key["adaptive-step"].histories(2))) == 4
    assert len(list(by_key["adaptive-user"].histories(0))) == 1 + 2 + 4
    assert list(by_key["signed"].histories(1)) == [()]


def test_hidden_neither_is_a_trap():
    for ratio in (3, 4, 10):
        trap = p.hidden_neither(ratio=ratio)
        t = trap.ratio
        assert trap.shuffled == ratio * (ratio - t) / F(ratio + 2) ** 2
        assert trap.pair == (ratio - t) / F(ratio + 2) ** 2


def test_trade_off_curves(table):
    by_key = {case.key: case for case in p.cases(**ASKED)}
    alpha = np.linspace(0, 1, 201)
    for key in ("rr-own-user", "signed", "rr-own-step"):
        curves = {
            name: np.interp(alpha, line["alpha"], line["beta"])
            for name, line in p.trade_offs(by_key[key]).groupby("curve")
        }
        assert (curves["shuffled"] >= curves["corrected pair"] - 1e-12).all()
        assert ((curves["shuffled"] - curves["printed pair"]).min() < -1e-6) == (key in BROKEN)


def test_cases_are_drawn_with_both_pairs(table):
    figure = p.cases_against_pairs(table.reset_index())
    (axis,) = figure.axes
    drawn = {dots.get_label(): dots.get_offsets()[:, 0].tolist() for dots in axis.collections}
    for label, column in (("reports", "shuffled"), ("printed pair", "pair"), ("corrected pair", "corrected")):
        assert drawn[label] == table[column].astype(float).tolist()
    colours = [words.get_color() for words in axis.get_yticklabels()]
    assert [colour == ROLES["paper"][0] for colour in colours] == (table["excess"] > 0).tolist()
    plt.close(figure)


def test_slips_of_the_proof():
    slips = p.proof_slips(ratio=4, small=1)
    assert slips["printed"].tolist() == ["17/25", "3/10", "equal"]
    assert slips["needed"].tolist() == ["4/5", "3/5", "0, 3/5"]


def test_equal_budgets_leave_no_row_twice():
    table = p.table(p.cases(**ASKED | {"small": 4, "n": 2}))
    assert not table.duplicated(["reports", "attached", "budgets"]).any()
    assert p.broken(table, "ternary-own") == "absent"


class TestDefinition6:
    def test_its_numbers(self):
        found = p.definition_6(p.process(ratio=4, small=1))
        assert found.verdict == "illustrated"
        # e^eps = 1, 4, 4, data 0, 0, 1: by hand, the eight vectors differ by 1/25 to 1/20.
        assert found.evidence["distance from user-attached shuffling, own budgets"] == "1/10"

    @pytest.mark.parametrize("wrong", [{"total": F(99, 100)}, {"moved": F(1, 9)}, {"local": F(1, 9)}])
    def test_what_is_no_shuffled_local_process_shows_nothing(self, wrong):
        assert p.definition_6(p.process(ratio=4, small=1) | wrong).verdict == "not checkable"


class TestTheorem1:
    @staticmethod
    def found(*excess, corrected=0, attached="user"):
        rows = []
        for i, amount in enumerate(excess):
            rows.append({"key": str(i), "reports": f"kind {i}", "attached": attached, "budgets": "1, 3", "at": F(1)})
            rows[-1] |= {"shuffled": F(1, 2) + F(amount), "pair": F(1, 2), "excess": F(amount)}
            rows[-1] |= {"corrected": F(3, 4), "corrected_excess": F(corrected)}
        return p.theorem_1(pd.DataFrame(rows), p.proof_slips(ratio=4, small=1), 4)

    def test_its_numbers(self, table):
        found = p.theorem_1(table.reset_index(), p.proof_slips(ratio=4, small=1), 4)
        assert found.evidence["largest excess over the corrected pair, all processes"] == "0"
        assert [one.found.split(" leak")[0] for one in found.readings] == ["4 of 11 processes", "2 of 4 processes"]
        assert [one.verdict for one in found.readings] == ["holds with correction"] * 2
        by_position = found.evidence["binary RR, by position, $e^\\epsilon$ 1, 4, 4: exceeds the pair"]
        assert by_position == "$\\delta$ 8/25, printed pair 3/10, corrected 51/125, at $e^\\epsilon$ = 1"

    def test_each_verdict(self):
        assert self.found(0, F(-1, 9)).verdict == "holds with correction"  # V, as printed, is no law
        assert self.found(F(1, 9), F(1, 8)).verdict == "refuted"
        assert self.found(0, F(1, 9), corrected=F(1, 1000)).verdict == "refuted"
        assert "kind 1 (budgets by user" in self.found(F(1, 9), F(1, 8), 0).reason
        assert self.found(0, F(1, 9), attached="position").readings == ()

    def test_the_same_defect_and_repair_as_lemma_1(self):
        assert registry()["G-T1"].verdict == registry()["G-L1"].verdict

    def test_verified_needs_a_law_for_v(self, monkeypatch):
        monkeypatch.setattr(r, "printed_clones", lambda ratio, delta=0: F(1, 2))
        assert self.found(0, F(-1, 9)).verdict == "verified"
        assert self.found(0, F(1, 9)).verdict == "holds with correction"


class TestBudgetsThatAreSeen:
    def test_by_hand(self):
        # Two users, the other says nothing: the pair's (p-1)/(2(p+1)); with its budget the victim's report is known.
        table = p.seen_budgets(ratio=3, small=1, n=2).set_index("budgets")
        assert table["delta"].tolist() == [F(1, 4), F(1, 4), F(1, 2)]
        assert (table["pair"] == F(1, 4)).all()
        assert p.figure_1(table.reset_index()).verdict == "illustrated"

    def test_equal_budgets_tell_nothing(self):
        table = p.seen_budgets(ratio=3, small=3, n=3)
        assert table["delta"].nunique() == 1
        assert "not needed either" in p.figure_1(table).reason

    def test_an_order_of_their_own_that_tells_more_is_an_error(self):
        table = p.seen_budgets(ratio=3, small=1, n=2)
        table.loc[1, "delta"] = F(1, 2)
        assert p.figure_1(table).verdict == "not checkable"


class TestSamples:
    @pytest.mark.parametrize("attached", ["user", "position"])
    def test_they_are_laws_and_their_counts_the_pairs(self, attached):
        law = p.sampled((F(3), F(3), F(4)) if attached == "user" else (F(4),) * 3, F(1, 5), attached)
        assert [sum(both[b] for both in law.values()) for b in (0, 1)] == [1, 1]
        clones = [r.printed_clones(F(3) if attached == "user" else F(4), F(1, 5))] * 2
        pair = r.count_pair(F(4), clones=clones, delta=F(1, 5), shared=True)
        counts = p._summed(law, lambda y, _: (y.count(0), y.count(1)))
        assert counts == pair

    def test_one_other_user_by_hand(self):
        # Two zeros or none tell b; one 0 and one 2: who drew the 2? delta r' against w (1 - 2 r'), or lie.
        ratio, delta, other = F(4), F(1, 10), F(1, 2)
        table = p.samples(ratio=4, small=1, n=2, delta=delta).set_index(["reading", "budgets"])
        low = r.printed_clones(ratio, delta)
        r_j = r.printed_clones(F(1), delta)
        silent = [delta * r_j, delta * r_j]  # the victim drew the 2
        spoke = [ratio * low * (1 - 2 * r_j), low * (1 - 2 * r_j)]  # the other did
        laws = [a / (a + b) for a, b in zip(silent, spoke, strict=True)]
        assert table.loc[("user", "1, 4"), "given"] == abs(laws[0] - laws[1])
        assert other == F(1, 2)

    def test_what_holds(self):
        table = p.samples(ratio=4, small=1, n=3, delta=F(1, 10)).set_index(["reading", "budgets"])
        assert (table[["alone", "pure"]] == 0).all(axis=None)
        assert (table["given"] > 0).all()
        assert table.index[table["order"] > 0].tolist() == [("position", "1, 1, 4")]

    @pytest.mark.parametrize(
        ("change", "verdicts"),
        [
            ({}, ["verified", "holds with correction"]),
            ({"given": F(0)}, ["verified", "verified"]),
            ({"alone": F(1, 9), "pure": F(1, 9)}, ["refuted", "refuted"]),
        ],
    )
    def test_each_verdict_on_k(self, change, verdicts):
        table = p.samples(ratio=4, small=1, n=2, delta=F(1, 10)).assign(**change)
        assert [one.verdict for one in p.silent_users(table).readings] == verdicts

    def test_each_verdict_on_the_order(self):
        table = p.samples(ratio=4, small=1, n=2, delta=F(1, 10))
        assert [one.verdict for one in p.order_tells_nothing(table).readings] == ["verified", "refuted"]
        assert p.order_tells_nothing(table.assign(order=F(1, 9))).verdict == "refuted"


def test_the_page():
    ran = run_page("05_reduction_to_counts")
    assert {name: found.verdict for name, found in ran.outcomes.items()} == {
        "G-FIG1": "illustrated",
        "G-D6": "illustrated",
        "G-T1": "holds with correction",
        "G-S16": "verified",
        "G-S17": "verified",
    }
    rows = ran.names["table"]
    assert ran.names["kept"] == int((rows["excess"] <= 0).sum())
    assert any("obey the theorem, and" in text for text in ran.said)


PLANTED = (
    Planted(
        "G-FIG1",
        "pages.p05_reduction",
        "(p * share, q * share)",
        "(p * share, p * share)",
        "the second dataset's law forgotten",
    ),
    Planted(
        "G-S16",
        "pages.p05_reduction",
        "lambda y, _: (y.count(0), y.count(1))",
        "lambda y, _: y.count(0)",
        "the 1s not counted",
    ),
    Planted(
        "G-S17",
        "pages.p05_reduction",
        "mass *= delta if y[step] == 2",
        "mass *= delta * b if y[step] == 2",
        "the first user is silent for one b only",
    ),
    Planted(
        "G-D6",
        "pages.shuffles",
        "{(): Fraction(1, factorial(len(data)))}",
        "{(): Fraction(1, len(data))}",
        "permutations weighted 1/n",
    ),
    Planted(
        "G-T1",
        "pages.shuffles",
        "seen * ratio / (1 + ratio), seen / (1 + ratio)",
        "seen / 2, seen / 2",
        "a victim whose report says nothing",
    ),
    Planted(
        "G-T1",
        "pages.shuffles",
        "    return min(row[z] / mass for row in other for z, mass in enumerate(together) if mass)",
        "    return Fraction(1, 2)",
        "every other user a clone",
    ),
)
