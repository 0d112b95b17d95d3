"""The checker of certificates against outside values: enumeration, convolution, altered files, false claims."""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from exact_shuffle import (
    gaussian_delta,
    hadamard,
    hashing,
    histograms,
    k_ary,
    optimized,
    piecewise,
    subset,
    symmetric,
)
from pair_oracle import uniform_delta
from scipy.optimize import brentq
from scipy.stats import binom, norm

flint = pytest.importorskip("flint")

from gspa import check_certificate as checker  # noqa: E402

SOURCE = Path(checker.__file__)


@pytest.fixture(autouse=True)
def _same_precision():
    """The checker sets Arb's precision, which is one for the whole process."""
    before = flint.ctx.prec
    yield
    flint.ctx.prec = before


class Raw(str):
    """Goes into the JSON file as it is, without quotes."""


def dumped(fields):
    """JSON in which a Raw is a number of these very digits."""

    def marked(value):
        if isinstance(value, Raw):
            return f"@@{value}@@"
        if isinstance(value, dict):
            return {name: marked(each) for name, each in value.items()}
        return [marked(each) for each in value] if isinstance(value, list) else value

    return re.sub('"@@(.*?)@@"', r"\1", json.dumps(marked(fields)))


def certified(family="aligned", users=((1, 2),), eps=0.5, delta=1e-6, **others):
    """The fields of a certificate."""
    fields = {
        "format": checker.FORMAT,
        "statement": "",
        "family": family,
        "parameters": {},
        "users": [[*group, *[0] * (3 - len(group))] for group in users],
        "relation": checker.REPLACE,
        "rounds": 1,
        "eps": eps,
        "delta": delta,
        "proof": {},
    } | others
    fields["statement"] = checker.statement(checker.parsed(dumped(fields)))
    return fields


def bound(fields, program=checker):
    """The upper end of delta(eps)."""
    return float(program.delta_of(program.read(dumped(fields))).upper())


# --- The outside values: every randomizer as a matrix ---


def theorem(victim, others, eps, base=None):
    """The right-hand side of the theorem, over all outcomes; victim and others are matrices, B as far as they reach."""
    base = np.min([one.min(axis=0) for one in [victim, *others]], axis=0) if base is None else np.asarray(base, float)
    base, e = base / base.sum(), math.exp(eps)
    there = base > 0
    count = np.ones(1)
    for one in others:
        c = min(1.0, (one.min(axis=0)[there] / base[there]).min())
        count = np.convolve(count, [1 - c, c])
    worst = 0.0
    for x0, x1 in itertools.permutations(range(len(victim)), 2):
        gap = victim[x0] - e * victim[x1]
        sums, masses, total = np.zeros(1), np.ones(1), np.maximum(gap[~there], 0).sum()
        for m, chance in enumerate(count, 1):
            sums = np.add.outer(sums, gap[there] / base[there]).ravel()
            masses = np.multiply.outer(masses, base[there]).ravel()
            total += chance * float(masses @ np.maximum(sums, 0)) / m
        worst = max(worst, total)
    return worst


def truth(victim, others, eps):
    """delta(eps) of what the server sees, at the worst inputs of all: every outcome."""
    worst, k = 0.0, victim.shape[1]
    for inputs in itertools.product(*(range(len(one)) for one in others)):
        laws = {(0,) * k: 1.0}
        for one, x in zip(others, inputs, strict=True):
            laws = histograms([one[x]], laws)
        seen = [histograms([row], laws) for row in victim]
        for one, other in itertools.permutations(seen, 2):
            worst = max(worst, sum(max(mass - math.exp(eps) * other.get(at, 0), 0) for at, mass in one.items()))
    return worst


def table(rows, *sizes):
    """The matrix of a local eps."""
    return lambda eps: np.array(rows(math.exp(eps), *sizes), dtype=float)


of = table(k_ary, 2)
CASES = [
    # family, users, parameters, eps, the matrix of a local eps
    ("rr", [(1, 5)], {}, 0.3, of),
    ("rr", [(0.7, 3), (1.3, 2)], {}, 0.25, of),
    ("aligned", [(2.5, 1), (0.5, 2), (0, 2)], {}, 0.8, of),
    ("aligned", [(1, 1)], {}, 0.1, of),
    ("rr", [(4, 4)], {}, 0.0, of),
    ("krr", [(1, 4)], {"k": 3}, 0.4, table(k_ary, 3)),
    ("krr", [(1.5, 2), (0.5, 2)], {"k": 5}, 0.8, table(k_ary, 5)),
    ("subset", [(1, 4)], {"k": 4, "size": 2}, 0.3, table(subset, 4, 2)),
    ("subset", [(2, 1), (1, 2)], {"k": 5, "size": 3}, 0.9, table(subset, 5, 3)),
    ("local hashing", [(1, 3)], {"g": 3}, 0.2, table(hashing, 2, 3)),
    ("local hashing", [(1, 2), (0.3, 2)], {"g": 2}, 0.2, table(hashing, 2, 2)),
    ("hadamard", [(1, 3), (0.5, 1)], {}, 0.3, table(hadamard, 3)),
    ("piecewise", [(1, 5)], {}, 0.3, table(piecewise, ("-1", "1"))),
    ("unary", [(1, 4)], {}, 0.2, table(symmetric, 2)),
    ("optimized unary", [(1.5, 4)], {}, 0.2, table(optimized, 2)),
]


@pytest.mark.parametrize(("family", "users", "parameters", "eps", "matrix"), CASES)
def test_every_outcome_of_few_users(family, users, parameters, eps, matrix):
    """The ball is the theorem's value, which is at least what the server sees at the worst inputs."""
    local = sorted((eps for eps, count in users for _ in range(count)), reverse=True)
    victim, others = matrix(local[0]), [matrix(eps) for eps in local[1:]]
    uniform = matrix(0.0)[0] if family in ("local hashing", "hadamard") else None  # of more items than are here
    value = theorem(victim, others, eps, uniform)
    found = bound(certified(family, users, eps, 1e-9, parameters=parameters))
    assert value * (1 - 1e-9) <= found <= value * (1 + 3e-3)
    if len(others) < 4 and victim.shape[1] < 9:
        assert truth(victim, others, eps) <= found * (1 + 1e-12)  # which is no sum of balls


@pytest.mark.parametrize("tv", [None, 0.25])
def test_any_one_randomizer(tv):
    """Two atoms, clones with the probability that local privacy gives: every outcome."""
    p = math.exp(1.0)
    a = 1 / (p + 1) if tv is None else tv / (p - 1)
    q = 1 / p if tv is None else 2 * a
    pair = np.array([[p * a, a, 1 - (p + 1) * a], [a, p * a, 1 - (p + 1) * a]])
    other = np.array([[q / 2, q / 2, 1 - q]])
    value = theorem(pair, [other] * 5, 0.3, [1, 1, 0])
    name = {"family": "common"} if tv is None else {"family": "tv", "parameters": {"tv": tv}}
    assert value * (1 - 1e-9) <= bound(certified(**name, users=[(1.0, 6)], eps=0.3, delta=1e-9)) <= value * 1.003


def test_matrices():
    """Groups with their own matrices, one of which sends what others never do; every victim and change."""
    first = np.array([[0.5, 0.3, 0.2, 0.0], [0.3, 0.5, 0.2, 0.0], [0.2, 0.2, 0.5, 0.1]])
    second = np.array([[0.25, 0.5, 0.25, 0.0], [0.5, 0.25, 0.25, 0.0]])
    users, base = [(first.tolist(), 2), (second.tolist(), 2)], [0.2, 0.2, 0.2, 0]
    crowd = [first, first, second, second]
    for eps in (0.1, 0.6):
        value = max(theorem(crowd[i], crowd[:i] + crowd[i + 1 :], eps, base) for i in (0, 2))
        found = bound(certified("discrete", users, eps, 1e-9, proof={"base": base}))
        assert value * (1 - 1e-9) <= found <= value * (1 + 3e-3)
        assert max(truth(crowd[i], crowd[:i] + crowd[i + 1 :], eps) for i in (0, 2)) <= found
        worse = bound(certified("discrete", users, eps, 1e-9, proof={"base": [0, 0, 1, 1]}))
        assert found <= worse <= 1  # another law is valid, too
    with pytest.raises(checker.Refused, match="a law"):
        bound(certified("discrete", users, 0.1, 1e-9, proof={"base": [0, 0, 0, 0]}))
    with pytest.raises(checker.Refused, match="must be 4 probabilities"):
        bound(certified("discrete", [([[1, 0, 0, 0], [0, 1, 0]], 2)], 0.1, 1e-9, proof={"base": base}))


def test_a_law_that_covers_nothing_hides_nobody():
    table = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    found = bound(certified("discrete", [(table.tolist(), 5)], 1.0, 0.5, proof={"base": [1, 0, 1]}))
    assert found >= truth(table, [table] * 4, 1.0) >= 0.5


def test_local_deltas():
    """The marked truth, and others that may be no help."""
    users = [(1.0, 1, 0.01), (0.5, 3, 0.2)]
    strong, weak = of(1.0), of(0.5)
    values = []
    for victim, local, rest in ((strong, 0.01, [(weak, 0.2)] * 3), (weak, 0.2, [(strong, 0.01)] + [(weak, 0.2)] * 2)):
        low = [np.array([np.append((1 - d) * one.min(axis=0), 1 - (1 - d) * 2 * one.min())]) for one, d in rest]
        padded = np.c_[victim, [0.0, 0.0]]
        values.append(local + (1 - local) * theorem(padded, low, 0.2, [1, 1, 0]))
    found = bound(certified("rr", users, 0.2, 0.5))
    assert max(values) * (1 - 1e-9) <= found <= max(values) * 1.003


# --- Many users ---


@pytest.mark.parametrize(("n", "local", "eps"), [(60, 1.0, 0.3), (200, 0.5, 0.05), (120, 2.0, 1.0)])
def test_many_users(n, local, eps):
    value = float(uniform_delta(n, local, eps))
    found = bound(certified("aligned", [(local, n)], eps, 1e-3))
    assert value * (1 - 1e-6) <= found <= value * (1 + 2e-3)


@pytest.mark.parametrize("delta", ["1e-20", "1e-60"])
def test_a_tiny_delta(delta):
    """Log delta falls about as eps^2 does; nothing is lost at 1e-60."""
    at, low = (0.35, 0.6) if delta == "1e-20" else (0.6, 0.9)
    one = bound(certified("aligned", [(1.0, 2_000)], at, float(delta)))
    other = bound(certified("aligned", [(1.0, 2_000)], low, float(delta)))
    assert 0 < other < one < 1e-8


def test_without_tails():
    """Of two terms, by enumeration: no less than before, and by little more."""
    rng = np.random.default_rng(3)
    for spare in (1e-3, 0.05, 0.3):
        masses, x = rng.dirichlet(np.ones(12)), np.sort(rng.standard_t(2, 12))
        cells = [tuple(flint.arb(v) for v in (m, m * v, v, v)) for m, v in zip(masses, x, strict=True)]
        cut, excess = checker.without_tails(cells, 1, flint.arb(spare))
        m, v = np.array([(float(cell[0]), float(cell[2])) for cell in cut]).T
        before, after = (
            masses @ np.maximum(np.add.outer(x, x), 0) @ masses / 2,
            m @ np.maximum(np.add.outer(v, v), 0) @ m / 2,
        )
        assert before <= after + float(excess) + 1e-12 <= before + 2 * spare + 2e-12
        assert len(cut) < 12


# --- Laplace, Gaussian and several sums ---


@pytest.mark.parametrize("covers", [[None], [{"radius": 3, "slopes": [0.1249], "breaks": []}]])
def test_one_report_with_noise(covers):
    """Alone it is the Gaussian mechanism, covered or not."""
    found = bound(certified("gaussian", [(2.0, 1)], 0.3, 1e-2, proof={"covers": covers}))
    assert gaussian_delta(0.3, 0.5) * (1 - 1e-9) <= found <= gaussian_delta(0.3, 0.5) * 1.003
    covers = [cover and cover | {"slopes": [0.6999]} for cover in covers]
    found = bound(certified("laplace", [(0.7, 1)], 0.3, 1e-2, proof={"covers": covers}))
    assert 1 - math.exp(-0.2) <= found * (1 + 1e-9) <= (1 - math.exp(-0.2)) * 1.003


def test_two_reports_with_noise():
    """Below the report alone, above what the best test on both reports finds."""
    proof = {"covers": [{"radius": 6, "slopes": [0.9999], "breaks": []}]}
    found = bound(certified("laplace", [(1.0, 2)], 0.3, 1e-2, proof=proof))
    y = np.linspace(-15, 16, 3_101) + 0.005
    law = [np.exp(-abs(y - x)) / 2 * 0.01 for x in (0, 1)]
    seen = []
    for third in law:
        one, other = (np.outer(mine, third) + np.outer(third, mine) for mine in law)
        seen.append(np.maximum(one - math.exp(0.3) * other, 0).sum() / 2)
    assert max(seen) < found < 1 - math.exp(-0.35)


def test_a_cover_must_be_one():
    for cover, words in (
        ({"radius": 3, "slopes": [1.5], "breaks": []}, "steeper"),
        ({"radius": 3, "slopes": [0.5, 1], "breaks": [9]}, "outside"),
        ({"radius": 3, "slopes": [1, 0.5], "breaks": [1]}, "rise"),
        ({"radius": 3, "slopes": [0.5, 1], "breaks": []}, "one less"),
        ({"radius": 3, "slopes": [2, "1"], "breaks": [1]}, r"^slopes\[1\]: must be a number"),
    ):
        with pytest.raises(checker.Refused, match=words):
            bound(certified("laplace", [(1.0, 20)], 0.3, 1e-2, proof={"covers": [cover]}))


@pytest.mark.parametrize(("relation", "mu"), [("add or remove one record", 0.5), ("replace one record", 1.0)])
def test_one_sum(relation, mu):
    fields = certified("allocation", [], 0.3, 1e-2, parameters={"sigma": 2, "steps": 1}, relation=relation)
    assert gaussian_delta(0.3, mu) * (1 - 1e-9) <= bound(fields) <= gaussian_delta(0.3, mu) * 1.003


def test_two_sums():
    """By a grid of two normal variables."""
    z = np.linspace(-9, 9, 1_801)
    x = np.exp(z - 0.5)
    law = norm.pdf(z) * 0.01
    removed, added = x - math.exp(0.3), 1 - math.exp(0.3) * x
    value = max(law @ np.maximum(np.add.outer(level, level), 0) @ law / 2 for level in (removed, added))
    relation = "add or remove one record"
    fields = certified("allocation", [], 0.3, 1e-2, parameters={"sigma": 1, "steps": 2}, relation=relation)
    assert value * (1 - 1e-4) <= bound(fields) <= value * 1.003


# --- Several rounds ---


def test_rounds_of_one_user():
    """Nobody hides the victim: randomized response, composed by hand."""
    rounds, p, eps = 6, math.exp(0.5), 0.7
    w = p / (1 + p)
    value = sum(
        math.comb(rounds, k) * max(w**k * (1 - w) ** (rounds - k) - math.exp(eps) * w ** (rounds - k) * (1 - w) ** k, 0)
        for k in range(rounds + 1)
    )
    found = bound(certified("rr", [(0.5, 1)], eps, 1e-2, rounds=rounds))
    assert value * (1 - 1e-12) <= found <= value * 1.03


def test_rounds_of_many():
    """Close to Gaussian differential privacy of sqrt(rounds) times the mean shift."""

    def delta(eps, rounds):
        return bound(certified("krr", [(0.5, 200)], eps, 1e-2, rounds=rounds, parameters={"k": 4}))

    one, many = delta(0.02, 1), delta(0.06, 9)
    mu = brentq(lambda mu: float(gaussian_delta(0.02, mu)) - one, 1e-3, 1)
    assert many == pytest.approx(float(gaussian_delta(0.06, 3 * mu)), rel=0.05)


# --- Planted errors ---

PLANTED = {
    "coverage too large": ("c = r / (p - 1 + r)", "c = r / (p - 2 + r)"),
    "an atom too small": ("own = c, c * p, 1 / r - both", "own = c, c * p, 0.9 / r"),
    "the mean not kept": ("up = (total / step - low * mass) / (high - low)", "up = mass * 0"),
    "places shifted": ("self.first + other.first + low", "self.first + other.first + low - 200"),
    "the victim counted twice": ("others = [(n - (i == worst), c)", "others = [(n + 3, c)"),
    "no tail": ("reversed(others.masses.coeffs())", "reversed(others.masses.coeffs()[1:])"),
}


@pytest.mark.parametrize("change", PLANTED.values(), ids=PLANTED)
def test_planted_errors_are_seen(change):
    """With one piece wrong, a value is too small, or the program refuses."""
    source = SOURCE.read_text(encoding="utf-8")
    old, new = change
    assert source.count(old) == 1, f"{old!r} is no longer in the program, once"
    program = ModuleType("planted")
    exec(compile(source.replace(old, new), "planted", "exec"), program.__dict__)
    seen = 0
    for family, users, parameters, eps, matrix in CASES[:9]:
        local = sorted((eps for eps, count in users for _ in range(count)), reverse=True)
        value = theorem(matrix(local[0]), [matrix(eps) for eps in local[1:]], eps)
        seen += not bound(certified(family, users, eps, 1e-9, parameters=parameters), program) >= value * (1 - 1e-9)
    assert seen


# --- Files that were altered ---

ODD = [None, True, [], {}, "0.5", "", -1, 0, 1.5, 10**13, [[1, 2]], Raw("NaN"), Raw("-Infinity"), Raw("1e999999999")]
ODD += [Raw("-0.0"), Raw("1e-999999999"), Raw("1" * 40), Raw("0.1" + "0" * 40 + "1"), Raw("9" * 5000), Raw("[" * 9999)]
STARTS = [
    certified("rr", [(1, 20)], 0.9, 1e-3),
    certified("aligned", [(0.5, 6, 0.01), (1.25, 4)], 0.55, 0.1),
    certified("tv", [(1, 15)], 0.35, 1e-2, parameters={"tv": 0.3}),
    certified("subset", [(1, 15)], 0.35, 1e-2, parameters={"k": 4, "size": 2}),
    certified("discrete", [([[0.75, 0.25], [0.25, 0.75]], 15)], 0.35, 1e-2, proof={"base": [1, 1]}),
    certified("gaussian", [(2.0, 9)], 0.3, 1e-2, proof={"covers": [{"radius": 3, "slopes": [0.1249], "breaks": []}]}),
]


def altered(rng, value):
    """Somewhere inside, something else."""
    if isinstance(value, (list, dict)) and value and rng.random() < 0.8:
        new = value.copy()
        at = rng.choice(sorted(new) if isinstance(new, dict) else range(len(new)))
        new[at] = altered(rng, new[at])
        return new
    if isinstance(value, float) and rng.random() < 0.5:
        return value * rng.choice([0.5, 2, -1, 1e-30, 1e30])
    return rng.choice(ODD)


def test_altered_files_are_refused_in_one_line_or_answered(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checker, "CELLS", 200)
    rng, path, ends = random.Random(5), tmp_path / "cert.json", {0: 0, 1: 0, 2: 0}
    for i in range(300):
        start = STARTS[i % len(STARTS)]
        fields = {**start, (name := rng.choice(sorted(start))): altered(rng, start[name])}
        if rng.random() < 0.7:
            with suppress(Exception):  # nobody promised to word what is no certificate
                fields["statement"] = checker.statement(checker.parsed(dumped(fields)))
        path.write_text(dumped(fields), encoding="utf-8")
        status = checker.main([str(path)])
        out, err = capsys.readouterr()
        ends[status] += 1
        if status == 2:
            assert (out, err.count("\n"), err[:9]) == ("", 1, "REFUSED: ")
        else:
            assert out.splitlines()[0] == fields["statement"]
    assert ends[2] > 50, ends
    assert ends[0] + ends[1] > 10, ends


def test_the_old_format_is_refused_in_a_line(tmp_path, capsys):
    (tmp_path / "c.json").write_text(dumped(certified() | {"format": "gspa certificate 2"}), encoding="utf-8")
    assert checker.main([str(tmp_path / "c.json")]) == 2
    assert capsys.readouterr().err == "REFUSED: format: must be 'gspa certificate 4'\n"


# --- As a stranger runs it ---


def strangers(folder, *arguments):
    """Status, output and error lines of the program, copied alone to a folder."""
    program = shutil.copy(SOURCE, folder / "check_certificate.py")
    command = [sys.executable, "-I", str(program), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.parametrize(("eps", "status", "word"), [("0.18", 0, "PROVED"), ("0.17", 1, "NOT PROVED")])
def test_run_alone(tmp_path, eps, status, word):
    """The file alone, without this package: status and last line."""
    fields = certified("rr", [(1, 200)], float(eps), 1e-3)
    (tmp_path / "cert.json").write_text(dumped(fields), encoding="utf-8")
    found, out, err = strangers(tmp_path, "cert.json")
    assert (found, out[0], out[-1], err) == (status, fields["statement"], word, [])


@pytest.mark.parametrize("what", ["nothing", "two", "absent", "folder", "damaged", "binary", "huge"])
def test_run_on_no_certificate(tmp_path, what):
    """Status 2 and one line of error."""
    path = tmp_path / "cert.json"
    if what == "folder":
        path.mkdir()
    elif what != "absent":
        text = dumped(certified())
        content = {
            "damaged": text[:-5].encode(),
            "binary": bytes(range(256)),
            "huge": (text + " " * 10**6 + "}").encode(),
        }
        path.write_bytes(content.get(what, text.encode()))
    found, out, err = strangers(tmp_path, *{"nothing": [], "two": [path, path]}.get(what, [path]))
    assert (found, out, len(err)) == (2, [], 1)


def test_imports():
    """The standard library and flint, nothing else."""
    names = set()
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module).split(".")[0])
    assert names <= {"flint", *sys.stdlib_module_names}


# --- What is printed ---


def test_a_statement_says_its_condition():
    assert "R_j(y) >= (R_i(x) + R_i(x'))/(1 + e^(eps_j))" in certified()["statement"]


def test_aligned_clones_must_not_repeat_the_victims_report():
    """Others who send randomized response of the first user's report: each law has aligned clones, and nobody hides."""
    n, at = 200, 0.3
    true = 1 / (1 + math.exp(-1.0))
    seen = [np.r_[binom.pmf(range(n), n - 1, 1 - true), 0.0], np.r_[0.0, binom.pmf(range(n), n - 1, true)]]  # ones
    zero, one = (mine * seen[1] + (1 - mine) * seen[0] for mine in (1 - true, true))
    claimed = certified("aligned", [(1.0, n)], at, 1e-2)
    assert bound(claimed) < 1e-2 < np.maximum(one - math.exp(at) * zero, 0).sum()
    assert "drawn independently of all other reports" in claimed["statement"]


@pytest.mark.parametrize(
    ("raised", "status", "words"),
    [
        (MemoryError, 2, "out of memory"),
        (RecursionError, 2, "REFUSED"),
        (BrokenPipeError, 2, "could not be written"),
        (KeyboardInterrupt, 130, "INTERRUPTED"),
    ],
)
def test_what_stops_it_is_one_line(tmp_path, capsys, monkeypatch, raised, status, words):
    def stops(_):
        raise raised

    monkeypatch.setattr(checker, "delta_of", stops)
    (tmp_path / "c.json").write_text(dumped(certified()), encoding="utf-8")
    assert checker.main([str(tmp_path / "c.json")]) == status
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), words in err) == ("", 1, True)


@pytest.mark.parametrize(
    "fields",
    [
        # Equal rows, of which nothing is summed up: 6,000 pairs of them in each of a hundred values of a round.
        pytest.param(
            {"users": [[[[(k + 1) / 1024] * 128 for k in range(78)], 9]], "proof": {"base": [1] * 128}, "rounds": 2},
            marks=pytest.mark.slow,
        ),
        # A tiny delta needs long numbers, and a few thousand places of them are much memory.
        {"users": [[[[1, 1e-7], [1e-7, 1]], 8]], "proof": {"base": [1, 1e-6]}, "eps": 0.01, "delta": 1e-99},
    ],
)
def test_what_takes_long_or_much_memory_is_refused(fields):
    with pytest.raises(checker.Refused, match="more than a minute, or 500 MB"):
        bound(certified("discrete", **fields))


def test_many_inputs_over_rounds_are_refused_at_once():
    """Nobody else hides them, so that no sum is formed, and each pair of inputs takes its time."""
    matrix = [[k / 1024, 1 - k / 1024] for k in range(1, 151)]
    with pytest.raises(checker.Refused, match="pairs of inputs over several rounds"):
        bound(certified("discrete", users=[[matrix, 1]], proof={"base": [1, 1]}, rounds=2))


def test_the_precision_before_does_not_matter(monkeypatch):
    monkeypatch.setattr(checker, "CELLS", 100)
    relation = "add or remove one record"
    one = certified("allocation", [], 2.7, parameters={"sigma": 1, "steps": 3}, relation=relation)
    found = []
    for before in (53, 400):
        flint.ctx.prec = before
        found.append(bound(one))
    assert found[0] == found[1]
