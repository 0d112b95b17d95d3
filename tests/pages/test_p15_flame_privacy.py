"""Page 15: FLAME's formulas against mpmath, published numbers and hand; its tables; its cells on made tables."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from functools import partial
from itertools import combinations

import mpmath
import numpy as np
import p15_flame_privacy as p
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Planted, in_readings, recorded, settle
from scipy.stats import binom

from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.flame import published as a
from gspa.algorithms.flame.published import Setting
from gspa.algorithms.flame.randomizers import Buckets

PAGE = "15_flame_privacy"

TEN = Setting(d=100, k=10, n=1_000, n_p=500, eps=0.5, delta=1e-5)


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


class TestAmplification:
    @pytest.mark.parametrize(("eps", "eps0", "n"), [(0.1, 0.5, 60), (0.001, 0.01, 40), (1.0, 3.0, 30)])
    def test_the_old_form_term_by_term(self, eps, eps0, n):
        assert a.old_bennett_delta(eps, eps0=eps0, n=n) == pytest.approx(
            old_delta_by_definition(eps, eps0, n), rel=1e-9
        )

    @pytest.mark.parametrize(("eps0", "n", "delta"), [(0.5, 333, 1e-6), (0.01, 1000, 1e-9), (3.0, 10_000, 1e-12)])
    def test_its_inverse(self, eps0, n, delta):
        eps = a.old_bennett_epsilon(eps0, n=n, delta=delta)
        assert a.old_bennett_delta(eps, eps0=eps0, n=n) == pytest.approx(delta, rel=1e-8)

    def test_by_hand(self):
        found = a.lemma1_epsilon(0.5, n=10_001, delta=1e-6, answers=4)
        assert found == pytest.approx(math.sqrt(14 * math.log(2e6) * (math.exp(0.5) + 3) / 10_000))
        assert a.subsampled(1.0, beta=0.5) == pytest.approx(math.log(0.5 + 0.5 * math.e))
        assert a.composed(0.01, delta=1e-6, folds=100) == pytest.approx(
            0.01 * math.sqrt(200 * math.log(1e6)) + 100 * 0.01 * math.expm1(0.01)
        )
        assert a.composed(1.0, delta=1e-6, folds=3) == 3.0
        strong = dataclasses.replace(TEN, eps=2.0)
        assert a.corollary2(strong) == pytest.approx(math.exp(2) * math.log(1e7) * math.sqrt(0.1))

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match="n so large"):
            a.old_bennett_epsilon(3.0, n=10, delta=1e-6)
        with pytest.raises(OutsideValidity, match="eps0 <= 100"):
            a.old_bennett_epsilon(101.0, n=10, delta=1e-6)


def test_what_is_refused_is_empty_with_the_reason():
    found = p.account("SS-Double", p.setting(eps_l=10, d=100, n=400, rate=2, padding=20))
    assert list(found) == ["note"]
    assert "n_p = 20" in found["note"]


class TestError:
    @pytest.mark.parametrize("b", [1, 3])
    def test_deviation_against_simulation(self, b):
        """Eighty thousand rounds of 5 users who hold 0.3, and 15 dummies."""
        local, rng = Buckets(1.0, b), np.random.default_rng(1)
        totals = local.randomize(np.full((80_000, 5), 0.3), rng).sum(axis=1) + local.blanket((80_000, 15), rng).sum(
            axis=1
        )
        found = float((local.estimate(totals, users=5, dummies=15) / 5).std(ddof=1))
        assert p.deviation(local, n_s=5, n_p=20, x=0.3) == pytest.approx(found, rel=5 / math.sqrt(160_000))

    def test_the_best_b_has_the_gamma_of_lemma_1_and_the_least_error(self):
        found = p.least_deviation(10_000, 10_000, 0.5, delta=1e-6)

        def other(b):
            gamma = 14 * (b + 1) * math.log(2e6) / (9_999 * 0.25)
            return p.deviation(Buckets(math.log((b + 1) / gamma - b), b), n_s=10_000, n_p=10_000, x=0.5 / b)

        assert found == pytest.approx(min(map(other, range(1, 11))))


class TestIndexPrivacy:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(2, 60), st.fractions(Fraction(1, 100), Fraction(1, 2)))
    def test_the_least_nu_meets_definition_3_and_no_smaller_one_does(self, many, beta):
        nu = p.least_nu(many, beta=beta)

        def holds(v):
            return v >= 1 and Fraction(1, many) <= v * beta and 1 - Fraction(1, many) >= (1 - beta) / v

        assert holds(nu)
        assert not holds(nu * Fraction(999_999, 1_000_000))


ROWS = ["SS-Simple", "SS-Double", "SS-Double, independent indices", "SS-Topk", "SS-Topk, no subsampling"]
ROWS.append(r"SS-Topk, $\beta$ = 1/10")
# The page's table; 0.237926 and 20.5352544 are in the authors' own README.
ACCOUNTS = pd.DataFrame(
    [
        (0.91006, 0.92781, 0.7938, 0.0901, 0.0906),
        (0.23793, 0.30451, 0.2389, 0.1508, 0.158),
        (0.23793, 0.30451, 0.2389, 0.1508, 0.1523),
        (0.23793, 0.30451, 0.2389, 1.2863, 1.4479),
        (20.5352544, 26.0431, 19.5919, 1.2863, 1.4479),
        (2.34819, 2.91914, 2.40408, 2.1283, 2.4045),
    ],
    pd.Index(ROWS, name="who"),
    ["old_bennett", "bennett", "exact", "attack", "certified"],
)
SIMPLE, DOUBLE, _, TOPK, PLAIN, TENTH = ROWS


def changed(who, table=ACCOUNTS, **values):
    """The table with other numbers in one row."""
    out = table.copy()
    out.loc[who, list(values)] = list(values.values())
    return out


class TestThePage:
    def test_every_verdict_is_the_recorded_one(self, ran):
        assert ran.verdicts == recorded(PAGE)

    def test_its_numbers(self, ran):
        names = ran.names
        for column in ACCOUNTS:
            assert names["accounts"][column].to_numpy() == pytest.approx(ACCOUNTS[column].to_numpy(), rel=2e-3), column
        assert names["ratios"]["printed"].tolist()[:2] == pytest.approx([2.55, 137.36], rel=0.005)
        assert [names["least"][i] for i in (0, 15, 49)] == [math.inf, Fraction(25, 8), 1]
        assert names["evenly"][3] == pytest.approx(binom.sf(333, 1000, 3 * 157 / 7850))
        assert (names["theorem_l"], names["best_nu"]) == (16, 3.125)  # as printed
        assert names["exponents"]["exponent"].tolist() == pytest.approx([0.5, -1, 0, 1 / 6 - 1, -2 / 3], abs=0.01)
        assert (names["power"], names["exact"]) == (Fraction(25, 9), Fraction(1, 72))
        said = {"F10": "0.2910", "F15": "25.99", "F8": r"$l$ = 12, $\nu$ = 4.17"}  # 0.2910 is 4/(8 (e - 1))
        said["F23"] = "at most 254 at $d$ = 785 and at least 3,056 at $d$ = 78,500: it grows"
        for name, text in said.items():
            assert text in ran.outcomes[name].reason
        assert "gives 20.53525, 0.00525 away" in ran.outcomes["F6"].readings[0].found
        assert any("between 1.29 and 1.45 for SS-Topk" in text for text in ran.said)

    def test_its_tables_by_hand(self, ran):
        names = ran.names
        assert names["pointwise"] == pytest.approx(1e-6)
        assert names["events"] == pytest.approx(1.0)
        assert names["corollary1"]["eps"][1] == pytest.approx(math.log(1_000 / math.log(1_000)) / 4)
        assert names["subsamples"]["exact"].iloc[0] == pytest.approx(0.003)  # m/n of 0.01, and no less
        assert names["blanket"]["integral"][1] == pytest.approx(math.exp(-0.25), rel=1e-9)
        # C(7850, 157) sets of indices, next to which all dummies are none; SS-Simple sends every index.
        assert names["messages"]["indices"].to_dict() == {"F4": 0.0, "F5": 1.0, "F6": 1.0, "F7": 1.0}
        vector = names["growing"].set_index(["fixed", "d"])
        assert vector.loc[("coordinate", 78_500), "eps_local"] == pytest.approx(785)
        assert vector.loc[("vector", 78_500), "eps_local"] == pytest.approx(78.5)


ALGORITHM1 = pd.DataFrame(
    {"bias": [0.29, 0.0], "stated": 0.29, "simulated": [0.29, 0.0], "most": 0.05, "ratio": [math.inf, math.e]},
    pd.Index(["printed", "corrected"], name="rule"),
)
THEOREM = pd.DataFrame({"found": [0.1], "tight": [0.5], "zero": [1e5]})  # over the stated delta
EXPONENTS = pd.DataFrame(
    {
        "varied": ["n_p", "n_s", "eps_ck", "n_p", "eps_ck"],
        "dummies": [True, True, True, False, False],
        "stated": [1 / 6, -1, -2 / 3, -5 / 6, -2 / 3],
    }
).assign(exponent=lambda table: table["stated"])
COMPOSED = pd.DataFrame({"d": [2], "stated": [1.0], "certified": [0.5]})
ATTACKED = pd.DataFrame({"stated": [1.0, 1.0], "shown": [1e-3, 1e-3], "delta": [5e-6, 5e-6]})
MESSAGES = pd.DataFrame({"values": [0.1], "indices": [0.2], "pairs": [1e-7], "delta": [1e-6]})
LEAST = [max(1, Fraction(50, many)) for many in range(1, 51)]  # by the first inequality of Definition 3 only
GROWING = pd.DataFrame(
    {
        "fixed": ["vector", "vector", "coordinate", "coordinate"],
        "attack": [1.0, 0.1, 1.0, 2.0],
        "certified": [1.1, 0.2, 1.1, 2.1],
        "by_lemma": [2.0, 1.0, 2.0, 1.0],
        "ratio_low": [3.0, 1.0, 3.0, 1.0],
        "ratio_high": [4.0, 2.0, 4.0, 2.0],
    }
)
LEMMA1 = ["printed", "corrected", "certified", "zero", "delta"]
RANDOMIZERS = ["theorem1", "simple", "theorem4", "attack", "double"]
UNPADDED = {"both": 0.8, "shuffling": 7.0, "padded_to": 0.2}
CORRECTED = "holds with correction"
FITS = {"largest_l": 12, "best": 4.0, "largest_if_popular": 0, "best_nu": 3.125, "theorem_l": 16, "at_l": 0.2}


@pytest.mark.parametrize(
    ("claim", "made", "verdict"),
    [
        ("F25", {"pointwise": 1e-6, "events": 1.0, "report": 0.0, "together": 0.0, "summed": 0.5}, "refuted"),
        ("F10", {"algorithm1": ALGORITHM1.assign(bias=0.0, simulated=0.0, ratio=math.e)}, "verified"),
        ("F10", {"algorithm1": ALGORITHM1.assign(simulated=0.2)}, "refuted"),  # the simulation alone shows it
        ("F10", {"algorithm1": ALGORITHM1.assign(ratio=3.0)}, "refuted"),
        ("F20", {"lemma1": pd.DataFrame([(0.5, 0.6, 0.3, 0.0, 1e-6)], columns=LEMMA1)}, "not checkable"),
        ("F28", {"below": [0.0]}, "not checkable"),  # where even less than t eps is enough, it shows nothing
        ("F18", {"theorem2": THEOREM.assign(zero=0.0)}, "not checkable"),
        ("F18", {"theorem2": THEOREM.assign(tight=2.0)}, "refuted"),
        ("F16", {"exponents": EXPONENTS}, "verified"),
        ("F17", {"theorem1": COMPOSED, "linked": 0.0, "corollary2": [1.0, 1.0]}, "not checkable"),
        ("F17", {"theorem1": COMPOSED, "linked": 0.0, "corollary2": [1.0, 50.0]}, CORRECTED),
        ("F14", {"messages": MESSAGES.assign(values=0.0)}, "holds with correction"),  # the names are enough
        ("F14", {"messages": MESSAGES.assign(values=0.0, indices=0.0)}, "not checkable"),
        ("F11", {"exact": Fraction(0), "attacked": ATTACKED.assign(shown=0.0)}, "not checkable"),
        ("F11", {"exact": Fraction(1, 72), "attacked": ATTACKED.assign(shown=0.0)}, "refuted"),
        ("F11", {"exact": Fraction(0), "attacked": ATTACKED}, "refuted"),
        ("F12", {"accounts": changed(TOPK, attack=0.05, certified=0.1)}, "verified"),
        # A certified eps above a theorem's refutes nothing.
        ("F21", {"randomizers": pd.DataFrame([(0.5, 1.0, 2.0, 2.0, 3.0)], columns=RANDOMIZERS)}, "not checkable"),
        ("F8", {**FITS, "at_l": 0.0}, "verified"),
        ("F8", {**FITS, "largest_l": 0}, "refuted"),
        ("F8", {**FITS, "theorem_l": 17, "at_l": 0.0}, "not reproduced"),
        ("F9", {"least": LEAST, "reported": 7_850}, "verified"),  # k divides d
        ("F9", {"least": LEAST}, "holds with correction"),
        ("F32", {"selections": {50: 0.0}, "report": 0.0}, "verified"),
        ("F32", {"selections": {2: 1.0, 50: 1.0}, "report": 0.0}, "refuted"),
        ("F33", {**UNPADDED, "one_of_two": {"both": 0.2, "known": 0.2}}, "not checkable"),
        ("F15", {"baselines": pd.DataFrame({"eps": [20.53, 15.0], "exact_eps": [26.0, 18.0]})}, "refuted"),
    ],
)
def test_the_verdicts_follow_the_tables(claim, made, verdict):
    assert settle(claim, **{"exponents": EXPONENTS} | made).verdict == verdict  # which takes longest to compute


def budgets(who, whole=0.0, **values):
    """Other numbers in one row, and delta of whole messages; of the pairs nothing is computed again."""
    wholes = dict.fromkeys(("F4", "F5", "F6", "F7"), whole)
    return {"accounts": changed(who, **values), "wholes": wholes, "by_pairs": 0.0, "exponents": EXPONENTS}


def figure_3(drawn, simple, double):
    low, high = zip(simple, double, (1.0, 2.0), strict=True)
    return {"ratios": pd.DataFrame({"printed": [2.55, drawn, 0.1], "certified": low, "attack": high})}


slow = partial(pytest.param, marks=pytest.mark.slow)


def dummies(**missing):
    return {"needs": np.array([2, 2]), "at_random": 0, "largest_first": 0, "large": 0, "met": 0, "unlucky": 0} | missing


@pytest.mark.parametrize(
    ("claim", "made", "readings"),
    [
        ("F4", budgets(SIMPLE), [CORRECTED]),
        slow("F4", budgets(SIMPLE, old_bennett=np.nan), ["not reproduced"]),
        ("F4", budgets(SIMPLE, attack=1.1, certified=1.2), ["refuted"]),
        slow("F4", budgets(SIMPLE, certified=1.2), ["not checkable"]),
        slow("F4", budgets(SIMPLE, whole=1.0, certified=1.2), ["refuted"]),  # nothing holds of what was printed
        # Of two protocols one was refused: what is not proved of it is not proved of both.
        ("F5", budgets(TOPK, attack=np.nan, certified=np.nan), ["not checkable"]),
        # Rounded or cut; the second only if the number is the README's.
        ("F6", budgets(PLAIN, old_bennett=20.5301), [CORRECTED, "not reproduced"]),
        slow("F6", budgets(PLAIN, old_bennett=20.5361), ["not reproduced", "not reproduced"]),
        slow("F7", budgets(TENTH), ["not checkable", "not checkable"]),  # were whole messages not broken
        slow("F7", budgets(TENTH, attack=2.4), ["refuted", "refuted"]),
        ("F7", budgets(TENTH, certified=2.3, old_bennett=2.349), ["not reproduced", "verified"]),
        ("F1", figure_3(137.36, (2.5, 2.6), (137.0, 138.0)), [CORRECTED, "not checkable"]),
        slow("F2", figure_3(137.36, (10, 60), (300, 500)), [CORRECTED, "not checkable"]),
        slow("F2", figure_3(130.0, (10, 60), (300, 500)), ["not reproduced", "not reproduced"]),
        ("F2", figure_3(137.36, (10, 12), (230, 239)), [CORRECTED, "refuted"]),
        ("F23", {"growing": GROWING.assign(ratio_low=1.0)}, ["not reproduced"] * 2 + ["verified"] * 2),
        ("F66", dummies(), ["not checkable", "not checkable"]),
        ("F66", dummies(at_random=9, unlucky=1), ["refuted", CORRECTED]),
    ],
)
def test_the_readings_follow_the_tables(claim, made, readings):
    assert in_readings(settle(claim, **made)) == readings


class TestStatements:
    """What FLAME takes from others or says in passing."""

    @given(st.floats(0.01, 2), st.integers(1, 12), st.floats(0, 0.3), st.floats(0, 5))
    @settings(max_examples=40, deadline=None)
    def test_composed_response_term_by_term(self, eps, folds, delta, at):
        p1 = 1 / (1 + math.exp(-eps))
        total = 0.0
        for told in range(folds + 1):
            share = math.comb(folds, told) * delta**told * (1 - delta) ** (folds - told)
            rest = folds - told
            inner = 1.0 if told else sum(
                math.comb(rest, i) * max(p1**i * (1 - p1) ** (rest - i)
                                         - math.exp(at) * (1 - p1) ** i * p1 ** (rest - i), 0)
                for i in range(rest + 1)
            )  # fmt: skip
            total += share * inner
        assert p.composed_response(eps, delta=delta, folds=folds, at=at) == pytest.approx(total, abs=1e-7)

    def test_without_padding_against_enumeration(self):
        """One coordinate, three users: what the analyzer sees, worst over what the other two hold."""
        one = Setting(d=1, k=1, n=3, n_p=3, eps=0.5, delta=0.02)
        half = dataclasses.replace(one, d=2)  # beta = 1/2
        eps = p.unpadded(half, victim=0.5, folds=1)
        bit = {0: 1 / (1 + math.exp(0.5)), 1: math.exp(0.5) / (1 + math.exp(0.5))}
        worst = 0.0
        for other in ((0, 0), (0, 1), (1, 1)):
            laws = []
            for mine in (0, 1):
                law = np.zeros((4, 4))
                for chosen in range(8):
                    held = [x for i, x in enumerate((mine, *other)) if chosen >> i & 1]
                    count = np.ones(1)
                    for x in held:
                        count = np.convolve(count, [1 - bit[x], bit[x]])
                    law[len(held), : count.size] += count / 8
                laws.append(law.ravel())
            worst = max(worst, float(np.maximum(laws[0] - math.exp(eps) * laws[1], 0).sum()))
        assert 0 < worst <= 0.02

    def test_one_index_by_hand(self):
        """One user, and two users of one coordinate, where nothing is sampled; e^eps = 3 and e^at = 2."""
        for d, n, delta in ((3, 1, 3 / 4 - 2 / 4), (1, 2, 9 / 16 - 2 * 3 / 16)):
            found = p.one_index(d=d, n=n, eps=math.log(3), at=math.log(2))
            assert found["both"] == pytest.approx(found["known"]) == pytest.approx(delta)

    def test_f66_by_hand(self):
        assert p.unfilled([3, 1, 0], k=2) == 1
        for needs in combinations(range(5), 3):  # the largest first fill whenever any choice does
            if sum(needs) % 2 == 0 and max(needs) <= sum(needs) // 2:
                assert p.unfilled(needs, k=2) == 0


_A, _FLAME = "algorithms.flame.published", "algorithms.flame"
CELLS, HELPER = "notebooks.15_flame_privacy", "notebooks.p15_flame_privacy"
PLANTED = (
    Planted("F8", CELLS, "/ (base.n * base.beta) * (1", "/ (2 * base.n * base.beta) * (1", "Theorem 5's l halved"),
    Planted(
        "F10 F32",
        f"{_FLAME}.randomizers",
        "        return self.answers / (math.exp(self.eps) + self.answers - 1)",
        "        return self.answers / (math.exp(self.eps) + self.answers)",
        "gamma without the -1",
    ),
    Planted("F13", HELPER, "math.exp(-eps * abs(y - x))", "math.exp(-2 * eps * abs(y - x))", "densities too steep"),
    Planted(
        "F1 F20", _A, "math.sqrt(14 * math.log(2 / delta)", "math.sqrt(2 * math.log(2 / delta)", "Lemma 1 with 2 for 14"
    ),
    Planted("F16", HELPER, "(local.b + 2) / (12 * local.b)", "0.0", "dummies without variance"),
    Planted(
        "F15",
        "accountant.mechanisms",
        "    return math.sqrt(2 * math.log(1.25 / delta))",
        "    return math.sqrt(4 * math.log(1.25 / delta))",
        "classical Gaussian with 4 for 2",
    ),
    Planted(
        "F25",
        "accountant.tradeoff",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), 0)",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), -1)",
        "hockey-stick with negative parts",
    ),
    Planted(
        "F18 F19 F30",
        _A,
        "    return math.log1p(beta * math.expm1(eps))",
        "    return math.log1p(beta / 2 * math.expm1(eps))",
        "subsampling with half of beta",
    ),
    Planted(
        "F14",
        CELLS,
        "accounting.composed_delta(alone, one.d, eps=promise)",
        "accounting.composed_delta(alone, one.d, eps=promise / 30)",
        "pairs at a thirtieth of the stated eps",
    ),
    Planted(
        "F9", HELPER, "max(beta / beta, 1 / (many * beta)", "max(2 * beta / beta, 1 / (many * beta)", "nu at least 2"
    ),
    Planted(
        "F4 F6",
        _A,
        "(t * math.log1p(u)) / (gamma * n)",
        "(t * math.log1p(u)) / (2 * gamma * n)",
        "half of the first Bennett form",
    ),
    Planted("F5 F7", HELPER, '"certified": found.upper}', '"certified": 0.15 * found.upper}', "certified at a seventh"),
    Planted(
        "F23",
        CELLS,
        "grown.append((fixed, dims, of_d.eps_local,",
        "grown.append((fixed, dims, of_d.eps,",
        "a coordinate's budget for the vector's",
    ),
    Planted(
        "F27",
        CELLS,
        "min(1.0, e) * exp(e) * sqrt(log(1 / at) / m)",
        "min(1.0, e) * exp(e) * log(1 / at) / m",
        "the expression without its root",
    ),
    Planted("F28", CELLS, "first - e**t * second, 0", "first - e ** (t - 1) * second, 0", "less than t eps"),
    Planted(
        "F29",
        CELLS,
        "sqrt(2 * t * log(1 / more)) * e + t * e * (exp(e) - 1)",
        "sqrt(0.2 * t * log(1 / more)) * e",
        "advanced composition with 0.2 for 2",
    ),
    Planted("F33", CELLS, "victim=paper.beta, folds=paper.d", "victim=1.0, folds=paper.d", "subsampling not counted"),
    Planted(
        "F66",
        HELPER,
        'np.argsort(-left, kind="stable")[:k]',
        'np.argsort(left + 999 * (left == 0), kind="stable")[:k]',
        "the smallest needs first",
    ),
    Planted(
        "F2",
        f"{_FLAME}.accounting",
        "    seen = binom(",
        "    k = k // 30\n    seen = binom(",
        "thirty times fewer indices",
    ),
    Planted(
        "F17",
        _A,
        "    return min(folds * eps, eps * math.sqrt",
        "    return 0.1 * min(folds * eps, eps * math.sqrt",
        "composition ten times too small",
    ),
    Planted(
        "F12",
        f"{_FLAME}.accounting",
        "_attacked(local, k, n_p, delta, all_users=most_selected == n_p)",
        "_attacked(local, 1, n_p, delta, all_users=most_selected == n_p)",
        "SS-Topk attacked in one coordinate",
    ),
    Planted(
        "F11 F21",
        _A,
        "    return math.log1p(beta * math.expm1(eps))",
        "    return math.log1p(math.expm1(eps))",
        "subsampling forgotten",
    ),
)
