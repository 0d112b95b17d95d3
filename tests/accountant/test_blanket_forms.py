"""The blanket's closed forms: constants by integration, printed formulas in 40 digits."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import blanket_forms as b
from gspa.accountant.errors import InvalidValue, OutsideValidity, UnknownName


def form_delta(eps, *, eps0, n, form, randomizer):
    return math.exp(b._log_delta(eps, eps0, n, form, randomizer))


def printed_constants(randomizer, eps, eps0):
    e, p = mpmath.exp(eps), mpmath.exp(eps0)
    if randomizer == "rr":
        k = 2
        gamma = k / (p + k - 1)
        c = gamma * (2 - gamma) * (e - 1) ** 2 + (1 - gamma) ** 2 * k * (e**2 + 1)
        return gamma, (1 - gamma) * k * (e + 1), gamma * (1 - e) + (1 - gamma) * k, c
    if randomizer == "laplace":
        h = mpmath.sqrt(p)
        c = (e**2 + 1) / 3 * (2 * h + 1 / p) - 2 * e * (2 / h - 1 / p)
        return 1 / h, (e + 1) * (h - 1 / h), h * (1 - e / p), c
    gamma = 1 / p
    return gamma, (e + 1) * (p - 1 / p), p * (1 - e / p**2), p * (e**2 + 1) - 2 * gamma * e / p**2


def printed_delta(form, randomizer, eps, eps0, n):
    """As printed; the Bennett sum term by term."""
    with mpmath.workdps(40):
        eps, eps0 = mpmath.mpf(eps), mpmath.mpf(eps0)
        gamma, width, top, c = printed_constants(randomizer, eps, eps0)
        t = mpmath.exp(eps) - 1
        if form == "hoeffding":
            decay = 1 - gamma * (1 - mpmath.exp(-2 * t**2 / width**2))
            return width**2 / (4 * t) / (gamma * n) * decay**n
        u = t * top / c
        rate = c / top**2 * ((1 + u) * mpmath.log(1 + u) - u)
        total = sum(
            mpmath.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) * mpmath.exp(-m * rate) for m in range(1, n + 1)
        )
        return total * top / mpmath.log(1 + u) / (gamma * n)


@pytest.mark.parametrize("randomizer", b.RANDOMIZERS)
@pytest.mark.parametrize("form", b.FORMS)
class TestBothForms:
    @pytest.mark.parametrize("eps0", [1e-9, 1e-3, 0.5, 3.0])
    def test_as_printed(self, form, randomizer, eps0):
        for share in (1e-3, 0.3, 0.99):
            for n in (1, 30):
                found = form_delta(share * eps0, eps0=eps0, n=n, form=form, randomizer=randomizer)
                exact = printed_delta(form, randomizer, share * eps0, eps0, n)
                assert found == pytest.approx(float(exact), rel=1e-9)

    @settings(max_examples=20)
    @given(eps0=st.floats(0.01, 3), n=st.integers(10**4, 10**7), delta=st.floats(1e-12, 0.1))
    def test_epsilon_inverts_delta_upward(self, form, randomizer, eps0, n, delta):
        def at(eps):
            return form_delta(eps, eps0=eps0, n=n, form=form, randomizer=randomizer)

        try:
            eps = b.blanket_epsilon(eps0, n=n, delta=delta, form=form, randomizer=randomizer)
        except OutsideValidity:
            assert at(eps0 * (1 - 1e-9)) > delta * (1 - 1e-9)
            return
        assert at(eps) <= delta < at(eps * (1 - 1e-9))
        assert eps <= eps0
        kept = {"form": form, "randomizer": randomizer}
        assert b.blanket_epsilon(eps0, n=2 * n, delta=delta, **kept) < eps
        assert b.blanket_epsilon(eps0, n=n, delta=min(2 * delta, 0.5), **kept) < eps

    def test_refusals(self, form, randomizer):
        with pytest.raises(OutsideValidity) as refusal:
            b.blanket_epsilon(3.0, n=3, delta=1e-6, form=form, randomizer=randomizer)
        assert f"n so large that its value is below eps0; {form}, {randomizer}, eps0 = 3" in str(refusal.value)
        with pytest.raises(OutsideValidity, match=r"needs eps0 <= 100 and .* eps0 = 101"):
            b.blanket_epsilon(101.0, n=2**53 - 1, delta=0.5, form=form, randomizer=randomizer)
        with pytest.raises(OutsideValidity):
            b.blanket_epsilon(100.0, n=2**53 - 1, delta=0.5, form=form, randomizer=randomizer)
        for tiny in (0.0, 1e-320, 1e-200):
            assert b.blanket_epsilon(tiny, n=1, delta=1e-6, form=form, randomizer=randomizer) == tiny
        if (form, randomizer) != ("bennett", "generic"):  # whose mean square is of order eps0, not its square
            assert 0 < b.blanket_epsilon(1e-50, n=1, delta=1e-6, form=form, randomizer=randomizer) < 1e-90


def test_bad_arguments():
    with pytest.raises(UnknownName, match="form 'benett': does not exist; did you mean 'bennett'"):
        b.blanket_epsilon(1, n=10, delta=0.1, form="benett")
    with pytest.raises(UnknownName, match="randomizer 'krr'"):
        b.blanket_epsilon(1, n=10, delta=0.1, randomizer="krr")
    with pytest.raises(InvalidValue, match=r"delta = 1: must be in \(0, 1\)"):
        b.blanket_epsilon(1, n=10, delta=1)
