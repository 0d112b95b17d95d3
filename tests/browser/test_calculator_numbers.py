"""The calculator's numbers against the Python package's, on drawn settings of every mechanism, in the browser itself.

The page has upper ends. None is below what the package certifies from below (an attack, where it has one), and each is
within a thousandth of the package's own upper end; where noise differs from user to user 95 in 100 are within two
hundredths, and none is twice as large.
"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gspa
from gspa.accountant import api, tradeoff
from gspa.accountant import closed_forms as bounds
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import Budgets, from_array, from_csv
from gspa.accountant.errors import OutsideValidity

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

BOOK = Path(__file__).parents[2] / "book"
CLOSE = 1e-3
TOLERANCE = 1e-6

Group = tuple[float, int]
Setting = dict[str, Any]
SIZES = (1, 10, 1000, 10_000, 10**6, 10**9)
LOCAL = (1e-3, 0.1, 0.5, 2.0, 6.0, 20.0)
DELTAS = (1e-1, 1e-4, 1e-8, 1e-12)
GROUPS: list[list[Group]] = [
    [(low, n - round(share * n)), (high, round(share * n))]
    for n, (low, high), share in itertools.product(
        (20, 3000, 100_000, 10**9), ((0.1, 1.0), (0.01, 5.0), (1e-3, 20.0)), (0.5, 0.05)
    )
]
NOISE = ("laplace", "gaussian")
OWN = ("rr", "krr", "subset", "hashing", "hadamard", "duchi", "aligned", *NOISE)  # own budgets or noise each
MECHANISMS = (*OWN, "unary", "rappor", "piecewise", "discrete", "common")


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


def setting_of(groups: list[Group], delta: float, mechanism: str = "aligned", rounds: int = 1) -> Setting:
    people = people_of(groups)
    n = sum(count for _, count in groups)
    return {
        "mechanism": mechanism,
        "own": {},
        "people": people,
        "n": n,
        "delta": delta,
        "rounds": rounds,
        "target": None,
    }


def drawn(mechanism: str, size: int, *, most: float = 7.0) -> list[Setting]:
    """Settings as the page keeps them; one, two or three groups where users may differ."""
    rng = np.random.default_rng([5, sum(map(ord, mechanism))])
    return [_drawn(mechanism, rng, most) for _ in range(size)]


def _drawn(mechanism: str, rng: np.random.Generator, most: float) -> Setting:
    k = int(rng.integers(3, 30))  # two items are bits
    own: dict[str, Any] = {}
    if mechanism in ("krr", "subset", "unary", "rappor", "hashing", "hadamard"):
        own["k"] = k
    if mechanism == "subset":
        own["size"] = int(rng.integers(1, k))
    if mechanism == "unary":
        own["kind"] = str(rng.choice(["optimized", "symmetric"]))
    if mechanism == "hashing":
        own["g"] = int(rng.integers(2, 10))
    if mechanism == "discrete":
        weights = rng.uniform(0.2, 1, rng.integers(2, 5, 2)) ** rng.integers(1, 4)
        own["matrix"] = (weights / weights.sum(axis=1, keepdims=True)).tolist()
    groups = int(rng.integers(1, 4)) if mechanism in OWN else 1
    # The exact law is the costliest: few others, or so many that the page says that it is the pair.
    if mechanism in ("rr", "duchi"):
        most = 9 if rng.random() < 0.2 else (3.5, 2.2, 1.4)[groups - 1]
    spread = (-2.5, 1.0) if mechanism not in NOISE else (-1.5, 0.3)
    values = np.sort(10 ** rng.uniform(*spread, groups)).round(6)
    count = np.ceil(10 ** rng.uniform(1 if mechanism in NOISE else 0, most, groups)).astype(int)
    delta = float(10 ** rng.uniform(-12, -4 if mechanism in NOISE else -1))
    if mechanism == "gaussian":
        own["sensitivity"] = float(10 ** rng.uniform(-1, 1))
        values = np.sort(own["sensitivity"] / values)
    column = "sigma" if mechanism == "gaussian" else "eps"
    people = [{column: float(v), "count": int(c)} for v, c in zip(values, count, strict=True)]
    found: Setting = {"mechanism": mechanism, "own": own, "people": people, "n": int(count.sum()), "delta": delta}
    if mechanism == "discrete":
        found["people"] = []
    return found | {"rounds": 1, "target": None}


def who(setting: Setting, folder: Path) -> dict[str, Any]:
    """The front door's arguments for who reports, by what."""
    name, own, people = setting["mechanism"], dict(setting["own"]), setting["people"]
    asked: dict[str, Any] = {"n": setting["n"]}
    if name == "gaussian" and len(people) > 1:
        lines = ["sigma,count", *(f"{one['sigma']!r},{one['count']}" for one in people)]
        (folder / "budgets.csv").write_text("\n".join(lines))
        asked = {"budgets": str(folder / "budgets.csv")}
    elif name == "gaussian":
        own["sigma"] = people[0]["sigma"] if people else None
    elif people:
        asked = {"budgets": budgets_of([(one["eps"], one["count"]) for one in people])}
    return asked | {"mechanism": api.mechanism(name, **own)}


def asked(setting: Setting, folder: Path) -> dict[str, Any]:
    """The same, and what is asked."""
    return who(setting, folder) | {"delta": setting["delta"], "rounds": setting["rounds"]}


def python(setting: Setting, folder: Path) -> Bound:
    """What the front door answers to it."""
    found: Bound = gspa.epsilon(**asked(setting, folder))
    return found


FIRST = "(all) => all.map((one) => { for (const piece of gspa.answer(one)) if (piece.holds) return piece; })"


def check(found: dict[str, Any], wanted: Bound, setting: Setting) -> None:
    """Near 0 the curve falls half as fast as eps grows, and a part of delta is worth as much of eps."""
    upper, differ = found["upper"], setting["mechanism"] in NOISE and len(setting["people"]) > 1
    assert upper >= wanted.lower, setting
    assert upper <= wanted.upper * (1 + (20 if differ else 1) * CLOSE) + CLOSE * setting["delta"], setting
    if setting["mechanism"] not in NOISE:
        assert upper == pytest.approx(wanted.upper, rel=CLOSE, abs=CLOSE * setting["delta"]), setting


FEW_AND_ALL = [8, pytest.param(500, marks=pytest.mark.slow)]


@pytest.mark.parametrize("size", FEW_AND_ALL)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_drawn_settings(maths: Page, mechanism: str, size: int, tmp_path: Path) -> None:
    settings = drawn(mechanism, size, most=4.5 if mechanism in NOISE else 7.0)
    far = []
    for found, setting in zip(maths.evaluate(FIRST, settings), settings, strict=True):
        wanted = python(setting, tmp_path)
        if len(setting["people"]) > 1 and mechanism in NOISE:
            assert wanted.lower <= found["upper"] <= 2 * wanted.upper, setting
            far += [setting] if found["upper"] > 1.02 * wanted.upper else []
        else:
            check(found, wanted, setting)
            assert (found["method"], found["holds"]) == (wanted.method, wanted.valid_for)
    assert len(far) <= 0.05 * size, far  # of unequal noise, where the search for B is shorter


FEW_AND_MORE = [2, pytest.param(40, marks=pytest.mark.slow)]


@pytest.mark.parametrize("size", FEW_AND_MORE)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_drawn_rounds(maths: Page, mechanism: str, size: int, tmp_path: Path) -> None:
    rng, settings = np.random.default_rng(4), drawn(mechanism, size, most=4.5)
    for setting in settings:
        setting["rounds"] = int(10 ** rng.uniform(0.4, 2.5))
        setting["delta"] = min(setting["delta"], 1e-3)
        for one in setting["people"]:
            one["eps"] = min(one.get("eps", 0.0), 3.0)
            one["count"] += 20
        setting["n"] = sum(one["count"] for one in setting["people"]) or setting["n"]
    for found, setting in zip(maths.evaluate(FIRST, settings), settings, strict=True):
        check(found, python(setting, tmp_path), setting)


@pytest.mark.parametrize("size", FEW_AND_MORE)
@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "discrete"])
def test_drawn_targets(maths: Page, mechanism: str, size: int, tmp_path: Path) -> None:
    """A local eps, a sigma or a factor at which the package's central eps is the target, or hardly more or less."""
    rng, settings = np.random.default_rng(3), drawn(mechanism, size, most=4.0)
    for i, setting in enumerate(settings):
        setting["target"] = float(10 ** rng.uniform(-1.5, 0.5))
        setting["rounds"] = (1, 1, 5)[i % 3] if mechanism in NOISE else (1, 5)[i % 2]
        if len(setting["people"]) == 1:
            setting["n"] = min(setting["n"], 3000)
            setting["people"] = []
    for found, setting in zip(maths.evaluate(FIRST, settings), settings, strict=True):
        if found["more"]:  # the others hide the victim however large all budgets are
            with pytest.raises(OutsideValidity, match="misses"):
                gspa.calibrate(target_eps=setting["target"], **asked(setting, tmp_path))
            continue
        column = "sigma" if mechanism == "gaussian" else "eps"
        there = [one | {column: one[column] * found["found"]} for one in setting["people"]]
        there = there or [{column: found["found"], "count": setting["n"]}]
        wanted = python(setting | {"people": there}, tmp_path)
        assert wanted.lower <= setting["target"] * (1 + CLOSE), setting
        assert wanted.upper == pytest.approx(setting["target"], rel=0.02 if len(there) > 1 else 2 * CLOSE), setting


def test_where_any_factor_will_do(maths: Page, tmp_path: Path) -> None:
    """The first group hides the others as long as its own budgets are small."""
    setting = setting_of([(0.003, 3000), (0.7, 80)], 1e-6, "krr") | {"own": {"k": 4}, "target": 2.0}
    (found,) = maths.evaluate(FIRST, [setting])
    assert found["more"]
    assert found["found"] * 0.7 == pytest.approx(600)
    with pytest.raises(OutsideValidity, match="misses"):
        gspa.calibrate(target_eps=2.0, **asked(setting, tmp_path))


def test_what_meets_a_target_meets_it_as_the_page_itself_answers(maths: Page) -> None:
    """The search keeps common laws between nearby numbers; asked afresh the page may choose others."""
    for sigma in (2.0, 4.0):
        noise = [{"sigma": 1.0, "count": 10_000}, {"sigma": sigma, "count": 1000}]
        setting = setting_of([], 1e-4, "gaussian") | {"own": {"sensitivity": 1}, "people": noise, "n": 11_000}
        (found,) = maths.evaluate(FIRST, [setting | {"target": 0.1}])
        there = [one | {"sigma": one["sigma"] * found["found"]} for one in noise]
        (back,) = maths.evaluate(FIRST, [setting | {"people": there}])
        assert 0.099 < back["upper"] <= 0.1


def test_hardly_any_noise(maths: Page, tmp_path: Path) -> None:
    noise = [{"sigma": 0.001, "count": 10_000}]
    setting = setting_of([], 1e-4, "gaussian") | {"own": {"sensitivity": 1.0}, "people": noise, "n": 10_000}
    check(maths.evaluate(FIRST, [setting])[0], python(setting, tmp_path), setting)


@pytest.mark.parametrize("mass", [1e-320, 3e-308, 1e-149, 1e-20, 0.0])
def test_a_mass_that_is_hardly_a_number(maths: Page, mass: float) -> None:
    """All others hold the first input. One report of n is then the victim's with odds 1/2 to n times the mass."""
    own = {"matrix": [[mass, 1.0], [0.5, 0.5]]}
    asked = {"mechanism": "discrete", "own": own, "people": [], "n": 50, "rounds": 1, "target": None}
    both = [asked | {"delta": delta} for delta in (0.6, 0.3)]
    none, least = maths.evaluate(f"(all) => ({FIRST})(all).map(({{ upper }}) => upper)", both)
    assert none == 0
    assert least >= (math.log(0.2 / 50) - math.log(mass) if mass > 0 else math.inf) * (1 - 1e-9)


def test_a_matrix_as_python_writes_it(maths: Page) -> None:
    for text in ("[[0.5, 0.5], [0.25, 0.75]]", "0.5 0.5\n\n0.25 0.75\n", "[0.5,0.5],\n[0.25,0.75]"):
        assert read(maths, mechanism="discrete", matrix=text)["setting"]["own"]["matrix"] == [[0.5, 0.5], [0.25, 0.75]]


def test_the_upper_end_for_many_users_and_lists(maths: Page) -> None:
    grid = [[(eps, n)] for n, eps in itertools.product(SIZES, LOCAL)]
    settings = [setting_of(groups, delta) for groups in grid + GROUPS + lists() for delta in (1e-3, 1e-10)]
    for found, setting in zip(maths.evaluate(FIRST, settings), settings, strict=True):
        check(found, python(setting, Path()), setting)


def test_each_groups_own(maths: Page, tmp_path: Path) -> None:
    script = "(one) => { for (const piece of gspa.answer(one)) if (piece.each) return piece.each; }"
    for mechanism in ("rr", "krr", "aligned", "laplace"):
        setting = setting_of([(0.1, 12), (0.5, 15), (1.0, 20)], 1e-5, mechanism)
        setting["own"] = {"k": 5} if mechanism == "krr" else {}
        wanted = gspa.per_user(delta=1e-5, **who(setting, tmp_path))
        for found, low, high in zip(maths.evaluate(script, setting), wanted.lower, wanted.upper, strict=True):
            assert low <= found <= (1 + CLOSE) * high, mechanism


RATES = "(one) => { for (const piece of gspa.answer(one)) if (piece.rates) return piece; }"


@pytest.mark.parametrize("mechanism", ["rr", "aligned", "common", "krr", "discrete", "laplace", "gaussian"])
def test_what_an_attacker_gains(maths: Page, mechanism: str, tmp_path: Path) -> None:
    for setting in drawn(mechanism, 2, most=4.0):
        setting["people"] = setting["people"][:1]
        setting["n"] = setting["people"][0]["count"] if setting["people"] else setting["n"]
        found = maths.evaluate(RATES, setting)["rates"]
        wanted = gspa.risk(**who(setting, tmp_path), fpr=(0.01, 0.001))
        for one, other in zip([found["advantage"], *found["tpr"]], [wanted.advantage, *wanted.tpr], strict=True):
            assert one <= 1.01 * other, setting
            assert one >= (0.97 if mechanism in NOISE else 0.99) * other, setting  # of noise it may be the better one


@pytest.mark.parametrize("rounds", [1, 10])
def test_the_curve(maths: Page, rounds: int) -> None:
    script = "(one) => { for (const piece of gspa.answer(one)) if (piece.curve) return piece.curve; }"
    found = maths.evaluate(script, setting_of([(0.5, 5000)], 1e-6, "common", rounds))
    for eps, delta in list(zip(found["eps"], found["pair"], strict=True))[::12]:
        wanted = gspa.delta(eps=0.5, n=5000, at_eps=eps, mechanism="common", rounds=rounds)
        assert wanted.lower <= delta <= wanted.upper * 1.005 + 1e-9  # the chart ends above


def test_unequal_noise_over_rounds(maths: Page, tmp_path: Path) -> None:
    """The limit of many users says little of some of these laws."""
    setting = setting_of([(0.043, 1035), (0.058, 48), (0.163, 37)], 5e-12, "laplace", 25)
    found = maths.evaluate(FIRST, [setting])[0]
    check(found, python(setting, tmp_path), setting)


def test_hardly_private_users_over_rounds(maths: Page) -> None:
    found = maths.evaluate(FIRST, [setting_of([(20.0, 1000)], 1e-4, "rr", 2)])[0]
    assert 39.99 < found["upper"] <= 40


def test_the_papers_eps_is_refuted_where_it_promises_too_much(maths: Page) -> None:
    few, many = maths.evaluate(FIRST, [setting_of([(eps, 1000)], 1e-4, "rr") for eps in (5.0, 0.5)])
    lower = gspa.epsilon(eps=5.0, n=1000, delta=1e-4).lower
    assert few["refuted"]
    assert few["paper"] < lower
    assert not many["refuted"]


def test_mu_and_the_papers_eps(maths: Page) -> None:
    settings = GROUPS + lists() + [[(eps, n)] for n, eps in itertools.product(SIZES[1:], LOCAL)]
    mus = maths.evaluate("(all) => all.map((people) => gspa.paperMu(people))", list(map(people_of, settings)))
    for mu, groups in zip(mus, settings, strict=True):
        assert mu == pytest.approx(bounds.gspa_mu(budgets_of(groups)), rel=1e-12)
    asked = [(mu, delta) for mu in [*mus, 1e-6, 1.0, 1e3] for delta in (0.7, *DELTAS)]
    eps = maths.evaluate("(all) => all.map(([mu, delta]) => gspa.gdpEpsilon(delta, mu))", asked)
    for found, (mu, delta) in zip(eps, asked, strict=True):
        assert found == pytest.approx(tradeoff.gdp_epsilon(delta=delta, mu=mu), rel=TOLERANCE, abs=0), (mu, delta)
    points = [(mu, part * mu) for mu in (1e-4, 0.02, 0.6, 1.5, 12.0) for part in (0.0, 0.3, 1.0, 2.0, 5.0)]
    deltas = maths.evaluate("(all) => all.map(([mu, eps]) => gspa.gdpDelta(eps, mu))", points)
    for found, (mu, at) in zip(deltas, points, strict=True):
        assert found == pytest.approx(tradeoff.gdp_delta(at, mu=mu), rel=TOLERANCE, abs=0), (mu, at)


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
      return gspa.answer(setting).next().value;
    }"""
    found = maths.evaluate(script, "\n".join(map(str, eps.tolist())))
    wanted = gspa.epsilon(budgets=eps, delta=1e-6)
    assert wanted.lower <= found["upper"] <= wanted.upper * (1 + CLOSE)


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
        (
            {"mechanism": "tv"},
            "mechanism",
            "must be rr, krr, subset, unary, rappor, hashing, hadamard, laplace, gaussian",
        ),
        ({"mechanism": "krr", "k": "1"}, "k", "k = 1: must be an integer from 2 to 1000000"),
        ({"mechanism": "subset", "k": "3", "size": "3"}, "size", "size = 3: must be in [1, k - 1] = [1, 2]"),
        ({"mechanism": "unary", "budgets": "two"}, "mechanism", "needs one eps for all users; eps runs from 0.5 to 1"),
        ({"mechanism": "discrete", "matrix": "0.5,0.5\n0.5,0.4"}, "matrix", "matrix row 2: must sum to 1, not 0.9"),
        ({"mechanism": "discrete", "matrix": "0.5,0.5\n1"}, "matrix", "matrix row 2: must have 2 probabilities"),
        ({"mechanism": "discrete", "matrix": "0.5,0.5"}, "matrix", "must be two to 30 rows"),
        ({"mechanism": "discrete", "matrix": "1,0\n0.5,NaN"}, "matrix", "matrix row 2, column 2 = 'NaN': must be a"),
        ({"mechanism": "discrete", "matrix": "1,1e-310\n0.5,0.5"}, "matrix", "row 1, column 2 = '1e-310': must be 0"),
        ({"mechanism": "unary", "kind": "other"}, "kind", "kind = 'other': must be optimized or symmetric"),
        ({"budgets": "list", "list": "0.7\n0,5"}, "list", "budgets line 2 = '0,5': must be 0.5 for a half, or 0.0,5"),
        ({"budgets": "list", "list": "0,5,100"}, "list", "a comma is no decimal point"),
        ({"n": "1.000"}, "n", "n = 1.000: must be an integer"),
        ({"n": "0x10"}, "n", "n = 0x10: must be an integer"),
        (
            {"mechanism": "discrete", "asks": "calibrate"},
            "mechanism",
            "ask the command line: gspa calibrate --target-eps",
        ),
        (
            {"mechanism": "laplace", "budgets": "list", "list": "\n".join(f"{i / 8},{i}" for i in range(1, 14))},
            "mechanism",
            "at most 12 distinct scales of noise here; ask the command line: gspa epsilon --budgets budgets.csv",
        ),
        ({"mechanism": "gaussian", "budgets": "list", "list": "0"}, "list", "budgets line 1, column sigma = '0'"),
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
