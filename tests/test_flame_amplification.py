"""FLAME's formulas as printed: mpmath, published numbers, and where they are no bounds."""

from __future__ import annotations

import math

import mpmath
import pytest

from gspa.errors import InvalidValue, OutsideValidity
from gspa.flame import amplification, privacy
from gspa.flame.amplification import Setting
from gspa.flame.padded import coordinate
from gspa.flame.randomizers import Laplace


def old_delta_by_definition(eps, eps0, n):
    """The first version's form, term by term."""
    with mpmath.workdps(30):
        e, s, t = mpmath.mpf(eps0), mpmath.e ** mpmath.mpf(eps), mpmath.expm1(eps)
        gamma = mpmath.exp(-e / 2)
        top = mpmath.exp(e / 2) * (1 - mpmath.exp(eps - e))
        square = (s**2 + 1) / 3 * (2 * mpmath.exp(e / 2) + mpmath.exp(-e))
        square -= 2 * s * (2 * mpmath.exp(-e / 2) - mpmath.exp(-e))
        u = t * top / square
        phi = (1 + u) * mpmath.log(1 + u) - u
        total = mpmath.mpf(0)
        for m in range(1, n + 1):
            weight = mpmath.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m)
            total += weight * mpmath.exp(-m * square / top**2 * phi) / (m * (t / top) * mpmath.log(1 + u))
        return float(total / (gamma * n))


@pytest.mark.parametrize(("eps", "eps0", "n"), [(0.1, 0.5, 60), (0.001, 0.01, 40), (1.0, 3.0, 30)])
def test_the_old_form_term_by_term(eps, eps0, n):
    found = amplification.old_bennett_delta(eps, eps0=eps0, n=n)
    assert found == pytest.approx(old_delta_by_definition(eps, eps0, n), rel=1e-9)


class TestPublished:
    """What FLAME prints, by the first version of the Bennett form; the corrected form and the exact bound beside it."""

    @pytest.mark.parametrize(
        ("name", "subsampling", "printed", "corrected", "exact"),
        [
            ("SS-Simple", None, 0.91006, 0.92781, 0.79377),
            ("SS-Double", True, 0.237926, 0.30451, 0.23890),
            ("SS-Topk", False, 20.5352544, 26.0431, 19.5919),
            ("SS-Topk, beta = 1/10", True, 2.34819, 2.91914, 2.40408),
        ],
    )
    def test_numbers(self, name, subsampling, printed, corrected, exact):
        one = privacy.paper_settings()[name]
        for bound, value in (("old_bennett", printed), ("bennett", corrected), ("exact", exact)):
            if subsampling is None:
                found = amplification.simple(one, bound=bound)
            else:
                found = amplification.double(one, bound=bound, subsampling=subsampling)
            # 0.237926 and 20.5352544 are in the authors' own README
            assert found.eps == pytest.approx(value, rel=5e-3 if bound == "exact" else 2e-5)

    def test_figure_3(self):
        table = privacy.amplification_ratios(privacy.figure3_setting(), eps=[0.8])
        assert table["simple"].iloc[0] == pytest.approx(2.55, rel=0.005)
        assert table["double"].iloc[0] == pytest.approx(137.36, rel=0.005)


def test_the_old_form_is_no_bound():
    # At eps0 = 0.5, n = 10,000 the exact delta is ten times the form's.
    exact = coordinate(Laplace(0.5), n_p=10_000).delta(0.025).lower
    assert amplification.old_bennett_delta(0.025, eps0=0.5, n=10_000) < 0.1 * exact
    assert amplification.old_form_excess(privacy.setting()) > 1.05


@pytest.mark.parametrize("bound", ["bennett", "hoeffding", "exact"])
def test_the_others_are_bounds(bound):
    eps = amplification.coordinate_epsilon(bound, 0.5, n=1_000, delta=1e-6)
    assert coordinate(Laplace(0.5), n_p=1_000).delta(eps).lower <= 1e-6


def test_lemma_1_and_the_rest_by_hand():
    found = amplification.lemma1_epsilon(0.5, n=10_001, delta=1e-6, answers=4)
    assert found == pytest.approx(math.sqrt(14 * math.log(2e6) * (math.exp(0.5) + 3) / 10_000))
    assert amplification.subsampled(1.0, beta=0.5) == pytest.approx(math.log(0.5 + 0.5 * math.e))
    assert amplification.composed(0.01, delta=1e-6, folds=100) == pytest.approx(
        0.01 * math.sqrt(200 * math.log(1e6)) + 100 * 0.01 * math.expm1(0.01)
    )
    assert amplification.composed(1.0, delta=1e-6, folds=3) == 3.0


def test_theorem_4_joins_the_pieces():
    one = Setting(d=100, k=10, n=1_000, n_p=500, eps=0.5, delta=1e-5)
    share = 1e-5 / 21
    eps_ck = amplification.lemma1_epsilon(0.5, n=500, delta=share / 0.1, answers=2)
    eps_cd = math.log1p(0.1 * math.expm1(eps_ck))
    found = amplification.double(one, bound="lemma1")
    assert found.coordinate == pytest.approx(eps_cd)
    assert found.delta_coordinate == share
    assert found.eps == pytest.approx(amplification.composed(eps_cd, delta=share, folds=20))
    plain = amplification.double(one, bound="lemma1", subsampling=False)
    assert plain.coordinate == pytest.approx(amplification.lemma1_epsilon(0.5, n=500, delta=share, answers=2))


def test_corollaries_by_hand():
    one = Setting(d=100, k=10, n=1_000, n_p=500, eps=2.0, delta=1e-5)
    assert amplification.corollary2(one) == pytest.approx(math.exp(2) * math.log(1e7) * math.sqrt(0.1))
    expected = math.exp(2) * 0.1**1.5 * math.sqrt(0.2 * math.log(1e6) * math.log(1e5))
    assert amplification.corollary3(one) == pytest.approx(expected)


def test_settings():
    one = Setting(d=100, k=10, n=1_000, n_p=500, eps=0.5, delta=1e-5)
    assert (one.beta, one.eps_local) == (0.1, 5.0)
    assert one.full() == Setting(d=100, k=100, n=1_000, n_p=1_000, eps=0.05, delta=1e-5)
    assert one.full(eps=0.5).eps == 0.5
    with pytest.raises(InvalidValue, match="k = 101"):
        Setting(d=100, k=101, n=10, n_p=10, eps=0.5, delta=1e-5)
    with pytest.raises(InvalidValue, match="full"):
        amplification.simple(one, bound="exact")


def test_refusals():
    with pytest.raises(OutsideValidity, match="n so large"):
        amplification.old_bennett_epsilon(3.0, n=10, delta=1e-6)
    with pytest.raises(OutsideValidity, match="eps0 <= 100"):
        amplification.old_bennett_epsilon(101.0, n=10, delta=1e-6)
    with pytest.raises(InvalidValue, match="10\\^7"):
        amplification.old_bennett_delta(0.1, eps0=1.0, n=10**8)
    with pytest.raises(KeyError, match="did you mean 'bennett'"):
        amplification.coordinate_epsilon("benett", 0.5, n=100, delta=1e-6)
