"""Roots: on the named side, as near as promised, asked seldom; and what comes back where there is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gspa.accountant.roots import crossing, find_root, push_until

PLACES = st.floats(1e-12, 1e12)
SIDES = st.sampled_from((-1, 1))
# Decreasing, with a root at r: a smooth one, one with a jump, one that is nearly flat on a side.
SHAPES = {
    "line": lambda x, r: r - x,
    "cubic": lambda x, r: -((x / r - 1) ** 3),
    "logarithm": lambda x, r: math.log(r) - math.log(max(x, 1e-300)),
    "jump": lambda x, r: 1.0 if x <= r else -2.0,
    "flat": lambda x, r: math.expm1(50 * (1 - x / r)) if x > r else 1e-3 * (1 - x / r),
    "bounded": lambda x, r: math.tanh(math.log(r) - math.log(max(x, 1e-300))),
}


class Counted:
    """f, and how often it was asked."""

    def __init__(self, f):
        self.f, self.asked = f, []

    def __call__(self, x):
        self.asked.append(x)
        return self.f(x)


@pytest.mark.parametrize("shape", SHAPES)
class TestCrossing:
    @given(root=PLACES, start=st.floats(1e-3, 1e3), side=SIDES)
    def test_the_end_is_on_its_side_and_was_asked(self, shape, root, start, side):
        f = Counted(lambda x: SHAPES[shape](x, root))
        end = crossing(f, 0.0, start, side=side)
        assert side * f.f(end) <= 0
        assert end in f.asked
        assert len(f.asked) == len(set(f.asked))

    @given(root=PLACES, side=SIDES, rtol=st.sampled_from((2.0**-50, 1e-7, 1e-3)))
    def test_the_end_is_near(self, shape, root, side, rtol):
        end = crossing(lambda x: SHAPES[shape](x, root), root / 3, 2 * root, side=side, rtol=rtol)
        # A triple root is where f underflows, at 1e-16 of its size: elsewhere the tolerance holds.
        assert abs(end - root) <= (4 * rtol if shape != "cubic" else max(4 * rtol, 1e-4)) * root

    @given(root=st.floats(0.1, 10), side=SIDES)
    def test_no_root_gives_the_nearest_end(self, shape, root, side):
        def f(x):
            return SHAPES[shape](x, root)

        assert crossing(f, 2 * root, 3 * root, side=side) == 2 * root
        assert crossing(f, 0.1 * root, 0.2 * root, side=side, most=0.9 * root) == (0.9 * root if side < 0 else math.inf)


def test_a_wider_bracket_costs_few_values():
    for root in (1e-6, 1e-3, 1.0, 1e3):
        f = Counted(lambda x, root=root: root - x * x)
        end = crossing(f, 0.0, 1.0, side=1)
        assert end * end >= root
        assert len(f.asked) < 30


def test_the_absolute_tolerance_is_used():
    f = Counted(lambda x: math.cos(x))
    end = crossing(f, 0.0, 3.0, side=-1, xtol=1e-3)
    assert 0 <= math.pi / 2 - end < 3e-3
    assert len(f.asked) < 10


class TestPushUntil:
    @given(start=st.floats(-1e6, 1e6), least=st.floats(0, 1e6), push=st.floats(1e-6, 1e3), sign=SIDES)
    def test_the_first_that_holds(self, start, least, push, sign):
        asked = Counted(lambda x: sign * x >= sign * start + least)
        end = push_until(asked, start, sign * push, sign * math.inf)
        assert asked.f(end)
        assert end == asked.asked[-1]
        assert [asked.f(x) for x in asked.asked[:-1]] == [False] * (len(asked.asked) - 1)
        # Of steps that double, the last is as long as all before it and one more.
        assert abs(end - start) <= 2 * least + push + 1e-9 * abs(start)
        expected = [start]
        while len(expected) < len(asked.asked):
            expected.append(expected[-1] + sign * push * 2 ** (len(expected) - 1))
        assert asked.asked == expected

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_nothing_holds(self, sign):
        never = Counted(lambda x: False)
        assert push_until(never, 0.0, sign * 1.0, sign * 100.0) == sign * 100.0
        assert never.asked == [sign * x for x in (0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0)]
        assert push_until(never, 1.0, sign * 5e-324, sign * math.inf) == sign * math.inf  # it ends

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_the_last_is_not_asked(self, sign):
        asked = Counted(lambda x: True)
        assert push_until(asked, sign * 2.0, sign * 1.0, sign * 2.0) == sign * 2.0
        assert push_until(asked, sign * 3.0, sign * 1.0, sign * 2.0) == sign * 2.0
        assert not asked.asked


class TestFindRoot:
    @given(root=st.floats(-30, 30), start=st.floats(-30, 30), scale=st.floats(0.1, 10))
    def test_near_and_with_the_slope(self, root, start, scale):
        x, slope = find_root(lambda x: scale * (root - x), start)
        assert x == pytest.approx(root, abs=1e-9)
        assert slope in (0, pytest.approx(-scale, rel=1e-2))

    @given(root=st.floats(-5, 5), start=st.floats(-5, 5))
    def test_minus_infinity_beyond_an_end(self, root, start):
        x, _ = find_root(lambda x: 1 - math.exp(x - root) if x < root + 1 else -math.inf, start)
        assert x == pytest.approx(root, abs=1e-9)

    @given(root=st.floats(-5, 0.9), start=st.floats(-5, 0.9))
    def test_never_beyond_the_highest(self, root, start):
        f = Counted(lambda x: root - x)
        find_root(f, start, highest=1.0)
        assert max(f.asked) < 1.0

    def test_a_flat_stretch_before_a_jump(self):
        f = Counted(lambda x: math.log(1 - math.exp(x - 30) if x < 30 else 1e-300) + 10)
        x, _ = find_root(f, 0.0)
        assert 29.99 < x < 30

    def test_five_values_from_near(self):
        f = Counted(lambda x: -x - 0.1 * x * x)
        find_root(f, 0.01)
        assert len(f.asked) <= 6
