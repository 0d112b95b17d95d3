"""B-1 to B-7: the verdicts, their numbers, and that each check can say something else."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from gspa import clone_cases, clones
from gspa.claims import claim, settle

NAMES = [f"B-{i}" for i in range(1, 8)]


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_check_finds_the_recorded_verdict(name):
    assert settle(name, profile="quick").verdict == claim(name).verdict != "not yet checked"


class TestEquationOne:
    table = clones.regimes((0.5, 4.0), (10_000, 1_000_000), delta=1e-6)
    printed = clones.direction(0.5, n=10_000, delta=1e-6)
    needed = clones.users_needed((4.0,), delta=1e-6)

    def settle(self, **changed):
        evidence = {"table": self.table, "printed": self.printed, "needed": self.needed, **changed}
        return settle("B-1", **evidence)

    def test_both_faults_are_named(self):
        found = self.settle()
        assert found.verdict == "holds with correction"
        assert "wrong way round" in found.reason
        assert "with 0.94 e^eps_L log(1/delta) users eq. (1) is false" in found.reason
        assert r"\ge" in found.correction

    def test_a_bound_below_what_is_certified_is_refuted(self):
        assert self.settle(table=self.table.assign(loose=0.99)).verdict == "refuted"

    def test_a_bound_below_its_source_is_refuted(self):
        assert self.settle(table=self.table.assign(source=2 * self.table["blog"])).verdict == "refuted"

    def test_with_neither_fault_it_is_verified(self):
        found = self.settle(printed=self.printed.assign(times=0.5), needed=self.needed.assign(n=0))
        assert found.verdict == "verified"

    def test_one_fault_is_enough(self):
        turned = self.settle(needed=self.needed.assign(n=0))
        assert turned.verdict == "holds with correction"
        assert "eq. (1) holds at every n tried" in turned.reason
        # "n much larger than" is contradicted by a failure at many times that, not by one at 0.94 times.
        right = self.printed.assign(times=0.5)
        assert self.settle(printed=right).verdict == "verified"
        weak = self.settle(printed=right, needed=self.needed.assign(constant=12.0))
        assert weak.verdict == "holds with correction"
        assert "its condition is too weak" in weak.reason

    def test_without_a_valid_point_nothing_is_settled(self):
        assert self.settle(table=self.table.assign(valid=False)).missing == "size"

    def test_a_smaller_constant_would_be_found_out(self, monkeypatch):
        true = clones.formulas

        def halved(*args, **kwargs):
            found = true(*args, **kwargs)
            return {**found, "blog": found["blog"] / 40}

        monkeypatch.setattr(clones, "formulas", halved)
        assert settle("B-1", profile="quick", printed=self.printed, needed=self.needed).verdict == "refuted"


class TestExpansions:
    table = clones.expansions(1e-6)

    def test_the_small_one_is_right_and_another_constant_is_not(self):
        found = settle("B-2", table=self.table)
        assert found.verdict == claim("B-2").verdict == "holds with correction"
        assert "not sqrt(n) but 3.2 with 10,000 users" in found.reason
        assert "below 973 users" in found.reason  # 64 log(4e6) = 972.9
        assert settle("B-2", table=self.table.assign(over_blog=1.02)).verdict == "refuted"

    def test_the_improvement_decides(self):
        improved = clones.improvement(1e-3, (10_000, 10**8), delta=1e-6)
        assert settle("B-2", table=self.table, improved=improved.assign(over_root=1.0)).verdict == "verified"
        assert settle("B-2", table=self.table, improved=improved.assign(over_scaled=2.0)).verdict == "refuted"

    def test_the_large_ones_belong_to_the_source(self):
        found = settle("B-3", table=self.table)
        assert found.verdict == "holds with correction"
        assert "0.500 times" in found.reason
        assert settle("B-3", table=self.table.assign(over_blog=1.0)).verdict == "verified"
        assert settle("B-3", table=self.table.assign(over_source=1.1)).verdict == "refuted"

    def test_a_mutated_formula_is_refuted(self, monkeypatch):
        true = clones.formulas
        monkeypatch.setattr(
            clones, "formulas", lambda *a, **k: {**true(*a, **k), "small": 1.1 * true(*a, **k)["small"]}
        )
        assert settle("B-2").verdict == "refuted"


def test_senders_that_gained_would_refute():
    table = clone_cases.senders(Fraction(3), sizes=(2, 3))
    assert settle("B-4", table=table).verdict == "verified"
    assert settle("B-4", table=table.assign(signed=table["plain"])).verdict == "refuted"
    assert settle("B-4", table=table.assign(excess=Fraction(1, 9))).verdict == "refuted"
    assert "differ is amplified" in settle("B-4", table=table).reason
    assert "differ is not amplified" in settle("B-4", table=table.assign(own=table["local"])).reason


@pytest.mark.parametrize(
    "change", [{"per_user": 2.0}, {"bits_after": 9}, {"same_messages": False}, {"alphabet": False}]
)
def test_changed_messages_would_refute(change):
    found = clone_cases.messages(k=64, eps=2.0, n=200, seed=0)
    assert settle("B-5", found=found).verdict == "verified"
    assert settle("B-5", found={**found, **change}).verdict == "refuted"


def test_a_worse_behaviour_would_refute():
    small = clone_cases.deviations(Fraction(3), n=3, bad=1, at=Fraction(3, 2))
    large = clones.malicious(1.0, sizes=(10_000,), share=0.1, delta=1e-6)
    found = settle("B-6", small=small, large=large)
    assert found.verdict == "verified"
    assert "10,000 users, 10% of them malicious" in found.reason
    half = settle("B-6", small=small, large=clones.malicious(1.0, sizes=(10_000,), share=0.5, delta=1e-6))
    assert "50% of them" in half.reason
    assert "1/sqrt(0.5) is 1.414" in half.reason
    worse = pd.concat([small, small.iloc[:1].assign(delta=Fraction(99, 100))])
    assert settle("B-6", small=worse, large=large).verdict == "refuted"
    assert settle("B-6", small=small, large=large.assign(any_honest=9.0)).verdict == "refuted"


def test_a_better_pure_guarantee_would_refute():
    ratios = clone_cases.pure_ratios(Fraction(3), sizes=(2,))
    floors = clones.pure(1.0, (10, 100))
    assert settle("B-7", ratios=ratios, floors=floors).verdict == "verified"
    assert settle("B-7", ratios=ratios.assign(shuffled=Fraction(2)), floors=floors).verdict == "refuted"
    none = floors.assign(log10_floor=float("-inf"))
    assert settle("B-7", ratios=ratios, floors=none).verdict == "refuted"
