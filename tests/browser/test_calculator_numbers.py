"""The calculator's numbers against the Python package's, on a grid and on drawn settings, in the browser itself.

Certified intervals of the two differ by rounding and by how long sums are blocked. Where the package's is narrower than
1e-6 of its value, all three numbers agree to that; everywhere the intervals overlap, and the page's is hardly wider.
"""

from __future__ import annotations

import itertools
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gspa
from gspa.accountant import closed_forms, tradeoff
from gspa.accountant import one_round as accountant
from gspa.accountant import published as bounds
from gspa.accountant import rounds as composition
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import Budgets, from_array, from_csv
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.randomizers import Common, RandomizedResponse

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
TOLERANCE = 1e-6

Group = tuple[float, int]
FAMILIES = {"rr": RandomizedResponse(), "common": Common()}
SIZES = (1, 10, 1000, 10_000, 10**6, 10**9)
LOCAL = (1e-3, 0.1, 0.5, 2.0, 6.0, 20.0)
DELTAS = (1e-1, 1e-4, 1e-8, 1e-12)
UNIFORM = list(itertools.product(SIZES, LOCAL, DELTAS, FAMILIES))
GROUPS: list[list[Group]] = [
    [(low, n - round(share * n)), (high, round(share * n))]
    for n, (low, high), share in itertools.product(
        (20, 3000, 100_000, 10**9), ((0.1, 1.0), (0.01, 5.0), (1e-3, 20.0)), (0.5, 0.05)
    )
]


def lists() -> list[list[Group]]:
    rng = np.random.default_rng(5)
    own = [np.unique(rng.uniform(0.01, top, n).round(5)) for n, top in ((40, 2.0), (1500, 3.0), (5000, 1.0))]
    return [[(float(e), 1) for e in eps] for eps in own] + [[(0.0, 50), (0.1, 5400), (0.5, 3700), (1.0, 900)]]


def budgets_of(groups: list[Group]) -> Budgets:
    eps, count = zip(*groups, strict=True)
    return Budgets(eps=np.array(eps), delta=np.zeros(len(groups)), count=np.array(count))


def people_of(groups: list[Group]) -> list[dict[str, float]]:
    return [{"eps": eps, "count": count} for eps, count in groups]


@pytest.fixture(scope="module")
def maths(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A blank page with the parts that the calculator's page names, in its order, but for those that draw."""
    names = re.findall(r'src="(calculator/\w+\.js)"', (BOOK / "calculator.md").read_text(encoding="utf-8"))
    parts = [name for name in names if not name.endswith(("chart.js", "calculator.js"))]
    scripts = "".join(f'<script src="{(BOOK / "_extra" / name).as_uri()}"></script>' for name in parts)
    blank = tmp_path_factory.mktemp("maths") / "blank.html"
    blank.write_text(f"{scripts}<script>const gspa = {{}}; gspaParts.forEach((part) => part(gspa));</script>")
    page = browser.new_page()
    page.goto(blank.as_uri())
    return page


def check(found: dict[str, float], wanted: Bound, where: object) -> None:
    assert found["lower"] <= found["value"] <= found["upper"], where
    assert max(found["lower"], wanted.lower) <= min(found["upper"], wanted.upper), where
    width = found["upper"] - found["lower"]
    assert width <= 1.5 * (wanted.upper - wanted.lower) + TOLERANCE * wanted.upper, where
    assert found["value"] == pytest.approx(wanted.value, rel=TOLERANCE, abs=wanted.upper - wanted.lower), where
    if wanted.relative_width < TOLERANCE:
        for end in ("lower", "value", "upper"):
            assert found[end] == pytest.approx(getattr(wanted, end), rel=TOLERANCE, abs=0), where


def test_more_than_300_settings_are_compared() -> None:
    assert len(UNIFORM) + 2 * len(GROUPS) + 2 * len(lists()) > 300


def test_eps_of_one_budget(maths: Page) -> None:
    asked = [[people_of([(eps, n)]), mechanism, delta] for n, eps, delta, mechanism in UNIFORM]
    script = "(all) => all.map(([people, kind, delta]) => gspa.epsilonOf(gspa.problemOf(people, kind), delta))"
    narrow = 0
    for found, (n, eps, delta, mechanism) in zip(maths.evaluate(script, asked), UNIFORM, strict=True):
        wanted = accountant.central_epsilon(budgets_of([(eps, n)]), delta=delta, mechanism=FAMILIES[mechanism])
        check(found, wanted, (n, eps, delta, mechanism))
        narrow += wanted.relative_width < TOLERANCE
    assert narrow > 0.9 * len(UNIFORM)  # nearly everywhere the comparison is the sharp one


@pytest.mark.parametrize("delta", [1e-3, 1e-10])
def test_eps_of_groups_and_lists(maths: Page, delta: float) -> None:
    script = "([all, delta]) => all.map((people) => gspa.epsilonOf(gspa.problemOf(people, 'rr'), delta))"
    settings = GROUPS + lists()
    answers = maths.evaluate(script, [[people_of(groups) for groups in settings], delta])
    for found, groups in zip(answers, settings, strict=True):
        check(found, accountant.central_epsilon(budgets_of(groups), delta=delta), (groups[:2], delta))


def test_delta_at_an_eps(maths: Page) -> None:
    settings = [*GROUPS, *([(eps, n)] for n, eps in itertools.product(SIZES, LOCAL))]
    script = "(all) => all.map(([people, eps]) => gspa.deltaOf(gspa.problemOf(people, 'rr'), eps))"
    asked = []
    for groups in settings:
        top = accountant.central_epsilon(budgets_of(groups), delta=1e-6).value or 0.1 * groups[-1][0]
        asked += [(groups, eps) for eps in (0.0, 0.4 * top, 1.4 * top)]
    answers = maths.evaluate(script, [[people_of(groups), eps] for groups, eps in asked])
    for found, (groups, eps) in zip(answers, asked, strict=True):
        check(found, accountant.central_delta(budgets_of(groups), eps=eps), (groups, eps))


# ---- every mechanism, on settings drawn at random; the whole of them under the slow marker ----

ENGINE = "(all) => all.map((one) => gspa.engineOf({ rounds: 1, ...one }).epsilon(one.delta))"
FEW_AND_ALL = [20, pytest.param(500, marks=pytest.mark.slow)]
Setting = dict[str, Any]


def drawn(mechanism: str, size: int) -> list[Setting]:
    """Settings as the page keeps them; one, two or three groups where the mechanism has own budgets."""
    rng = np.random.default_rng([5, sum(map(ord, mechanism))])
    found = []
    for _ in range(size):
        setting: Setting = {
            "mechanism": mechanism,
            "delta": float(10 ** rng.uniform(-12, -1)),
            "k": int(rng.integers(3, 30)),  # two items are bits, of which the package has the exact law
        }
        groups = int(rng.integers(1, 4)) if mechanism in ("rr", "aligned", "krr") else 1
        # The exact law is the costliest: few others, or so many that the page says that it is the pair.
        most = 7 if mechanism != "rr" else 9 if rng.random() < 0.2 else (3.5, 2.2, 1.4)[groups - 1]
        eps = np.sort(10 ** rng.uniform(-2.5, 1, groups)).round(6)
        count = np.ceil(10 ** rng.uniform(0, most, groups)).astype(int)
        people = [{"eps": float(e), "count": int(c)} for e, c in zip(eps, count, strict=True)]
        setting |= {"people": people, "n": int(count.sum())}
        if mechanism == "gaussian":
            sensitivity = float(10 ** rng.uniform(-1, 1))
            setting |= {"people": [], "n": setting["n"] + 9, "sensitivity": sensitivity}
            setting |= {
                "delta": max(1e-2 * setting["delta"], 1e-12),
                "sigma": sensitivity * float(10 ** rng.uniform(-0.2, 2)),
            }
        found.append(setting)
    return found


def asked_in_python(setting: Setting) -> Bound:
    """What the front door answers to it."""
    runs: gspa.Mechanism | str = setting["mechanism"]
    if runs == "krr":
        runs = gspa.KRR(k=setting["k"])
    if runs == "gaussian":
        noise = gspa.Gaussian(sigma=setting["sigma"], sensitivity=setting["sensitivity"])
        return gspa.epsilon(n=setting["n"], delta=setting["delta"], mechanism=noise)
    groups = [(one["eps"], one["count"]) for one in setting["people"]]
    return gspa.epsilon(budgets=budgets_of(groups), delta=setting["delta"], mechanism=runs)


@pytest.mark.parametrize("size", FEW_AND_ALL)
@pytest.mark.parametrize("mechanism", ["rr", "aligned", "common", "krr"])
def test_drawn_settings(maths: Page, mechanism: str, size: int) -> None:
    settings = drawn(mechanism, size)
    for found, setting in zip(maths.evaluate(ENGINE, settings), settings, strict=True):
        wanted = asked_in_python(setting)
        if mechanism == "krr":  # blocks of its own, around the package's upper end
            assert found["lower"] <= wanted.upper, setting
            assert wanted.lower <= found["upper"], setting
            assert found["upper"] == pytest.approx(wanted.upper, rel=0.01, abs=1e-9), setting
        else:
            check(found, wanted, setting)


@pytest.mark.parametrize("size", FEW_AND_ALL)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_drawn_noise_on_a_line(maths: Page, mechanism: str, size: int) -> None:
    """An upper end alone: not below the package's interval, and hardly above it."""
    settings = drawn(mechanism, size)
    for found, setting in zip(maths.evaluate(ENGINE, settings), settings, strict=True):
        wanted = asked_in_python(setting)
        assert found["lower"] is None
        assert wanted.lower <= found["upper"] <= 1.01 * wanted.upper, setting


@pytest.mark.parametrize("size", FEW_AND_ALL)
@pytest.mark.parametrize("mechanism", ["rr", "aligned", "common", "krr"])
def test_drawn_targets(maths: Page, mechanism: str, size: int) -> None:
    """The largest local eps for a central one."""
    rng, settings = np.random.default_rng(3), drawn(mechanism, size // (5 if mechanism == "krr" else 2))  # seconds each
    most = {"rr": 3000, "krr": 100 if size == 20 else 3000}.get(mechanism, 10**9)
    for setting in settings:
        setting["target"] = float(10 ** rng.uniform(-2.5, 0.7))
        setting["n"] = min(setting["n"], most)
    for found, setting in zip(maths.evaluate("(all) => all.map(gspa.localEpsilon)", settings), settings, strict=True):
        runs = gspa.KRR(k=setting["k"]) if mechanism == "krr" else mechanism
        ask = partial(gspa.calibrate, target_eps=setting["target"], delta=setting["delta"], n=setting["n"])
        if found is None:
            with pytest.raises(OutsideValidity, match="eps = 600 misses"):
                ask(mechanism=runs)
        else:
            check(found, ask(mechanism=runs), setting)


RATES = """(one) => {
  const pieces = gspa.rates(gspa.engineOf(one).delta, gspa.RATES, one.top);
  for (;;) {
    const { value, done } = pieces.next();
    if (done) return value;
  }
}"""


@pytest.mark.parametrize("mechanism", ["rr", "aligned", "common", "krr", "laplace", "gaussian"])
def test_what_an_attacker_gains(maths: Page, mechanism: str) -> None:
    for setting in drawn(mechanism, 3):
        if mechanism == "laplace":  # what hides nothing is the Python side's to test
            setting["people"][0]["eps"] = min(setting["people"][0]["eps"], 2.0)
        top = setting["people"][-1]["eps"] if setting["people"] else 100.0
        found = maths.evaluate(RATES, {"rounds": 1, "top": top, **setting})
        groups = [(one["eps"], one["count"]) for one in setting["people"]]
        who: dict[str, Any] = {"budgets": budgets_of(groups)} if groups else {"n": setting["n"]}
        runs: gspa.Mechanism | str = gspa.KRR(k=setting["k"]) if mechanism == "krr" else mechanism
        if mechanism == "gaussian":
            runs = gspa.Gaussian(sigma=setting["sigma"], sensitivity=setting["sensitivity"])
        wanted = gspa.risk(**who, fpr=(0.01, 0.001), mechanism=runs)
        assert found["advantage"] == pytest.approx(wanted.advantage, rel=0.01), setting
        for one, other in zip(found["tpr"], wanted.tpr, strict=True):
            assert one == pytest.approx(other, rel=0.01), setting


def test_mu_and_the_papers_eps(maths: Page) -> None:
    settings = GROUPS + lists() + [[(eps, n)] for n, eps in itertools.product(SIZES[1:], LOCAL)]
    mus = maths.evaluate("(all) => all.map((people) => gspa.paperMu(people))", list(map(people_of, settings)))
    for mu, groups in zip(mus, settings, strict=True):
        assert mu == pytest.approx(closed_forms.gspa_mu(budgets_of(groups)), rel=1e-12)
    asked = [(mu, delta) for mu in [*mus, 1e-6, 1.0, 1e3] for delta in (0.7, *DELTAS)]
    eps = maths.evaluate("(all) => all.map(([mu, delta]) => gspa.gdpEpsilon(delta, mu))", asked)
    for found, (mu, delta) in zip(eps, asked, strict=True):
        assert found == pytest.approx(tradeoff.gdp_epsilon(delta=delta, mu=mu), rel=TOLERANCE, abs=0), (mu, delta)
    points = [(mu, part * mu) for mu in (1e-4, 0.02, 0.6, 1.5, 12.0) for part in (0.0, 0.3, 1.0, 2.0, 5.0)]
    deltas = maths.evaluate("(all) => all.map(([mu, eps]) => gspa.gdpDelta(eps, mu))", points)
    for found, (mu, at) in zip(deltas, points, strict=True):
        assert found == pytest.approx(tradeoff.gdp_delta(at, mu=mu), rel=TOLERANCE, abs=0), (mu, at)


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def same_words(shown: str, note: str) -> None:
    """The page's row has the bound's name beside it, so that the reason goes without; 1e-10 and 1e-05 are numbers."""
    said = note.split(": ", 1)[1] if ": needs " in note else note
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", said)
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(said), strict=True)
    assert all(float(one) == pytest.approx(float(other), rel=2e-6) for one, other in pairs), (shown, note)


@pytest.mark.parametrize("mechanism", ["rr", "common"])
def test_published_bounds(maths: Page, mechanism: str) -> None:
    one = [[(eps, n)] for n, eps in itertools.product((1, 600, 10_000, 10**6, 10**9), (0.01, 0.5, 2.0, 6.0))]
    settings = one + (GROUPS[:6] if mechanism == "rr" else [])
    refused = 0
    for delta in (1e-4, 1e-10):
        script = "([all, delta, kind]) => all.map((people) => gspa.compare(people, delta, kind))"
        tables = maths.evaluate(script, [list(map(people_of, settings)), delta, mechanism])
        for table, groups in zip(tables, settings, strict=True):
            wanted = {row.key: row for row in bounds.compare(budgets_of(groups), delta=delta, mechanism=mechanism)}
            assert {row["key"] for row in table} == set(wanted)
            values = [row["epsilon"] for row in table if row["valid"]]
            assert values == sorted(values)
            assert all(row["valid"] for row in table[: len(values)])  # refusals last
            for row in table:
                other, where = wanted[row["key"]], (row["key"], groups, delta)
                assert (row["valid"], row["trivial"]) == (other.valid, other.trivial), where
                assert row["rigorous"] == other.rigorous, where
                same_words("; ".join(row["notes"]), other.note)
                if other.epsilon is None:
                    assert row["epsilon"] is None, where
                    refused += 1
                else:
                    assert row["epsilon"] == pytest.approx(other.epsilon, rel=TOLERANCE, abs=0), where
    assert refused > len(settings)


@pytest.mark.parametrize(
    ("groups", "mechanism", "rounds"),
    [
        *(([(0.5, 100)], "rr", rounds) for rounds in (2, 10, 100)),
        *(([(2.0, 10_000)], "common", rounds) for rounds in (10, 100)),
        *(([(0.1, 950), (1.0, 50)], "rr", rounds) for rounds in (10, 1000)),
        *(([(1.0, 10**7)], "rr", rounds) for rounds in (10, 100)),
    ],
)
def test_rounds(maths: Page, groups: list[Group], mechanism: str, rounds: int) -> None:
    script = """([people, kind, delta, rounds]) => {
      const problem = gspa.problemOf(people, kind), sides = gspa.sidesOf(problem, rounds, delta);
      const exact = gspa.composedEpsilon(sides, problem.eps, delta);
      const eps = [0.5, 1, 1.2].map((part) => part * exact.value);
      return { exact, eps, curve: gspa.composedCurve(sides, problem.eps, eps) };
    }"""
    answer = maths.evaluate(script, [people_of(groups), mechanism, 1e-6, rounds])
    many = [(composition.shuffled(budgets_of(groups), mechanism=FAMILIES[mechanism]), rounds)]
    check(answer["exact"], composition.compose(many, delta=1e-6), rounds)
    for eps, delta in zip(answer["eps"], answer["curve"], strict=True):
        wanted = composition.compose_delta(many, eps=eps)
        assert wanted.lower <= delta <= wanted.upper * (1 + 1e-4), eps


def test_hardly_private_users_over_rounds(maths: Page) -> None:
    # Losses from -20 to 20 on a grid that would be too fine: it is made coarser, and both ends still hold.
    script = """() => {
      const problem = gspa.problemOf([{ eps: 20, count: 1000 }], "rr");
      return gspa.composedEpsilon(gspa.sidesOf(problem, 2, 1e-4), 20, 1e-4);
    }"""
    found: dict[str, float] = maths.evaluate(script)
    assert 39.99 < found["lower"] <= found["upper"] <= 40


def read(maths: Page, **texts: str) -> dict[str, Any]:
    answer: dict[str, Any] = maths.evaluate("(texts) => gspa.read({ ...gspa.START, ...texts })", texts)
    return answer


def test_a_list_is_read_as_the_package_reads_it(maths: Page, tmp_path: Path) -> None:
    text = "eps,count\n0.5,3\n1\n\n0.25,10\n0.5,2\n".replace("1\n\n", "1,1\n\n")
    (tmp_path / "budgets.csv").write_text(text)
    people = read(maths, budgets="list", list=text)["setting"]["people"]
    same = from_csv(tmp_path / "budgets.csv").grouped()
    assert people == [{"eps": e, "count": c} for e, c in zip(same.eps.tolist(), same.count.tolist(), strict=True)]
    plain = read(maths, budgets="list", list="0.5\n1\n0.5")["setting"]["people"]
    assert plain == people_of(list(zip(*np.unique(from_array([0.5, 1, 0.5]).eps, return_counts=True), strict=True)))


def test_a_hundred_thousand_lines(maths: Page) -> None:
    eps = np.random.default_rng(1).uniform(0.1, 2, 100_000).round(6)
    script = """(text) => {
      const { setting } = gspa.read({ ...gspa.START, budgets: "list", list: text });
      return gspa.answer(setting).next().value.exact;
    }"""
    found = maths.evaluate(script, "\n".join(map(str, eps.tolist())))
    check(found, accountant.central_epsilon(from_array(eps), delta=1e-4), "list")


@pytest.mark.parametrize(
    ("texts", "field", "words"),
    [
        ({"n": "0"}, "n", "n = 0: must be an integer from 1 to 1000000000"),
        ({"n": "2.5"}, "n", "n = 2.5: must be an integer"),
        ({"n": "many"}, "n", "n = 'many': must be"),
        ({"eps": ""}, "eps", "eps = '': must be a number in [0.001, 20]"),
        ({"eps": "-1"}, "eps", "eps = -1: must be a number in [0.001, 20]"),
        ({"delta": "0"}, "delta", "delta = 0: must be a number in [1e-12, 0.1]"),
        ({"rounds": "1e9"}, "rounds", "rounds = 1e9: must be an integer from 1 to 1000"),
        ({"budgets": "two", "eps": "x"}, "eps", "group 1, column eps = 'x': must be a number in [0.001, 20]"),
        ({"budgets": "two", "n2": "0"}, "n2", "group 2, column count = '0': must be an integer"),
        ({"budgets": "two", "n": "1e9"}, "n2", "sum(count) = 1000001000: must be at most 1000000000"),
        ({"budgets": "list", "list": ""}, "list", "budgets = '': must be at least one line"),
        (
            {"budgets": "list", "list": "0.5\n1,x"},
            "list",
            "budgets line 2, column count = 'x': must be an integer >= 1",
        ),
        ({"budgets": "list", "list": "0.5,1,2"}, "list", "budgets line 1 = '0.5,1,2': must be eps or eps,count"),
        ({"budgets": "list", "list": "30"}, "list", "budgets line 1, column eps = '30': must be 0 or a number in"),
        ({"budgets": "list", "list": "0.5 100"}, "list", "a comma is missing, as in 0.5,100"),
        ({"n": "1,00"}, "n", "n = '1,00': must be an integer"),
        ({"n": "10 0"}, "n", "n = '10 0': must be an integer"),
        ({"mechanism": "subset"}, "mechanism", "must be rr, aligned, common, krr, laplace, gaussian here"),
        ({"mechanism": "krr", "rounds": "2"}, "rounds", "--mechanism krr --k 10 --rounds 2"),
        ({"mechanism": "krr", "k": "1"}, "k", "k = 1: must be an integer from 2 to 1000"),
        ({"mechanism": "laplace", "budgets": "two"}, "mechanism", "laplace: needs one eps for all users here"),
        ({"mechanism": "laplace", "asks": "calibrate"}, "mechanism", "is found for rr, aligned, common, krr here"),
        ({"mechanism": "gaussian", "sigma": "0.1", "delta": "1e-6"}, "sigma", "gspa epsilon --n 10000 --delta 1e-6"),
        ({"asks": "calibrate", "target_eps": "0"}, "target_eps", "target_eps = 0: must be a number in [1e-4, 20]"),
        ({"budgets": "list", "list": "0.5,0"}, "list", "column count = '0': must be an integer >= 1"),
        ({"budgets": "list", "list": "0.5,1e10"}, "list", "sum(count) = 10000000000: must be at most 1000000000"),
    ],
)
def test_what_is_refused(maths: Page, texts: dict[str, str], field: str, words: str) -> None:
    answer = read(maths, **texts)
    assert answer["setting"] is None
    assert list(answer["complaints"]) == [field]
    assert words in answer["complaints"][field]


def test_one_randomizer_for_all_is_refused_in_the_packages_words(maths: Page) -> None:
    answer = read(maths, budgets="two", mechanism="common", eps="0.1", n="5", eps2="1", n2="3")
    assert answer["setting"] is None
    with pytest.raises(OutsideValidity) as refusal:
        gspa.epsilon(budgets=[0.1] * 5 + [1.0] * 3, delta=1e-4, mechanism="common")
    assert answer["complaints"] == {"mechanism": str(refusal.value)}


@pytest.mark.parametrize("text", ["10000", "1e4", "10,000", "10 000", "10_000", " 10\u202f000 "])
def test_numbers_as_people_write_them(maths: Page, text: str) -> None:
    assert read(maths, n=text)["setting"]["n"] == 10_000
    assert read(maths, budgets="two", n=text)["setting"]["n"] == 11_000
    people = read(maths, budgets="list", list=f"0.5,{text}\n1, {text}")["setting"]["people"]
    assert people == people_of([(0.5, 10_000), (1, 10_000)])


def test_two_groups_with_one_budget_are_one(maths: Page) -> None:
    same = read(maths, budgets="two", n="7", eps="1", n2="3", eps2="1")["setting"]["people"]
    assert same == [{"eps": 1, "count": 10}]


def test_numbers_are_rounded_as_the_package_rounds_them(maths: Page) -> None:
    rng = np.random.default_rng(7)
    values = [0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1e-4, 1e-5, 9.9999999e-5, 1e22, 1e23, 123456.7, 12345678.0, 1e-300, 1e300]
    values += [float(f"{m}e{e}") for m in (1, 9.999999, 9.9999995) for e in range(-30, 23)]
    values += (10 ** rng.uniform(-20, 8, 2000)).tolist()
    values += [float(value) for value in rng.uniform(0, 1, 500).round(7)]  # halfway to no other decimal
    found = maths.evaluate(
        "(all) => all.map((value) => [gspa.rounded(value, false), gspa.rounded(value, true)])", values
    )
    for value, pair in zip(values, found, strict=True):
        assert pair == [rounded(value, up=False), rounded(value, up=True)], value
