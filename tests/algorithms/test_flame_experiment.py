"""FLAME's experiment: its cases, and what its protocols are worth."""

from __future__ import annotations

import math

import pytest

from gspa.accountant.errors import OutsideValidity
from gspa.algorithms import digits
from gspa.algorithms.flame import accounting
from gspa.algorithms.flame.accounting import DOUBLE, SIMPLE, TOPK, Worth
from gspa.algorithms.flame.experiment import GROUPS, Paper

WORTHS = (
    Worth(SIMPLE, 0.01, 0.0901, 0.0906, 0.0245),
    Worth(DOUBLE, 0.5, 0.1508, 0.1523, 0.788),
    Worth(TOPK, 0.5, 1.2865, 1.4481, 0.0994),
)


class TestCases:
    def test_the_papers_numbers(self):
        paper = Paper()
        assert (paper.k, paper.n_p) == (157, 333)
        assert paper.clip2 == pytest.approx(0.886, abs=5e-4)
        assert paper.sampled("largest").eps == pytest.approx(0.5)
        assert paper.simple().eps == pytest.approx(0.01)
        sigma = 2 * paper.clip2 / 0.24 * math.sqrt(2 * math.log(1.25 / 5e-6))
        assert paper.curator(0.24).sigma == pytest.approx(sigma)
        assert paper.curator(0.24, analytic=True).sigma < sigma

    def test_what_is_shared_is_run_once(self):
        cases = Paper().cases(GROUPS, certified=WORTHS)
        assert len({case.setup for case in cases}) < len(cases)
        tenth = {case.setup for case in cases if case.group == "figure 8" and case.value == 0.1}
        assert {case.setup for case in cases if case.group == "loss" and case.label == TOPK} & tenth

    def test_equal_privacy_follows_the_certificates(self):
        made = Paper().cases(("equal privacy",), certified=(WORTHS[2], Worth(SIMPLE, 0.01, 0.0, 0.1)))
        assert [(case.label, case.value) for case in made] == [
            ("DP-FL at SS-Topk's lower end", 1.2865),
            ("DP-FL at SS-Topk's upper end", 1.4481),
            ("SS-Topk tuned", 0.24),
            ("DP-FL at SS-Simple's upper end", 0.1),
            ("DP-FL", 0.24),
        ]

    def test_it_fits_other_data(self):
        paper, many = Paper().sized(digits.load("digits"), users=6_000)
        assert (many, paper.d, paper.n, paper.k) == (174, 650, 29, 13)
        assert Paper(n=2).n_p == 1  # n/n_p = 3, and never no report

    def test_the_price_of_a_larger_share(self):
        low, high = Paper().share_prices()["certified"]
        assert 0.4 < low < 0.5
        assert 2.3 < high < 2.5


class TestWorth:
    def test_a_tuned_budget_certifies_the_target(self):
        setting = {"d": 60, "k": 6, "n": 200, "n_p": 100, "delta": 1e-5}
        for one in accounting.worth(eps_l=3.0, target=0.3, **setting):
            reached = accounting.certified(one.method, eps=one.tuned, attack=False, **setting).upper
            assert 0.99 * 0.3 <= reached <= 0.3
            assert one.lower <= one.upper
            assert 0.5 * reached < one.tuned_lower <= reached

    def test_a_protocol_whose_padding_overflows_is_left_out(self, monkeypatch):
        def refuse(*_, **__):
            raise OutsideValidity("dummy padding", "room")

        monkeypatch.setattr(accounting, "double_poisson", refuse)
        found = accounting.worth(d=12, k=2, n=40, n_p=20, eps_l=3.0, delta=1e-5, target=0.3)
        assert [one.method for one in found] == [SIMPLE, TOPK]
