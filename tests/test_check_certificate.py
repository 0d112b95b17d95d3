"""The checker of certificates against outside values: enumeration, plain sums, altered files, planted errors."""

from __future__ import annotations

import ast
import json
import math
import random
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln

flint = pytest.importorskip("flint")

from gspa import check_certificate as checker  # noqa: E402

SOURCE = Path(checker.__file__)
mp = mpmath.mp.clone()
mp.dps = 100


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


def certified(family="aligned", users=(("1", 2),), eps="0.5", delta="1e-6", tv=None):
    """The fields of a certificate; numbers are strings of digits."""
    fields = {
        "format": checker.FORMAT,
        "statement": "",
        "family": family,
        "parameters": {} if tv is None else {"tv": Raw(tv)},
        "users": [[Raw(local), count] for local, count in users],
        "relation": checker.REPLACE,
        "rounds": 1,
        "eps": Raw(eps),
        "delta": Raw(delta),
        "method": "dominating pair",
        "proof": {},
    }
    fields["statement"] = checker.worded(dumped(fields))
    return fields


# --- The outside values ---


def masses_of(family, local, tv):
    """p, a of the victim with this local eps, and q as a function of another user's."""
    p = mp.exp(mp.mpf(local))
    if family == "tv":
        a = mp.mpf(tv) / (p - 1)
        return p, a, lambda _: 2 * a
    if family == "common":
        return p, 1 / (p + 1), lambda other: mp.exp(-mp.mpf(other))
    return p, 1 / (p + 1), lambda other: 2 / (mp.exp(mp.mpf(other)) + 1)


def enumerated(family, users, eps, tv=None):
    """delta(eps) by what every user does, one by one, for the worst victim: a sum of positive parts over outcomes."""
    e, worst = mp.exp(mp.mpf(eps)), mp.mpf(0)
    for i, (local, _) in enumerate(users):
        p, a, clone = masses_of(family, local, tv)
        others = [clone(other) for j, (other, count) in enumerate(users) for _ in range(count - (i == j))]
        law = {}
        for did in product((None, 0, 1), repeat=len(others)):  # not a clone, a clone of the first, of the second
            mass = mp.fprod(1 - q if act is None else q / 2 for q, act in zip(others, did, strict=True))
            law[did.count(0), did.count(1)] = law.get((did.count(0), did.count(1)), 0) + mass
        first, second = {}, {}
        for (x, y), mass in law.items():
            for seen, one, other in (((x + 1, y), p * a, a), ((x, y + 1), a, p * a)):
                first[seen] = first.get(seen, 0) + mass * one
                second[seen] = second.get(seen, 0) + mass * other
            # "Neither" is seen, and is as likely under both: it adds nothing from eps = 0 on.
        worst = max(worst, mp.fsum(max(first[seen] - e * second[seen], 0) for seen in first))
    return worst


def summed(family, users, eps, tv=None):
    """delta(eps) as a double sum over C and the first counts, in whole numbers with 60 digits behind the point."""
    i = max(range(len(users)), key=lambda i: Decimal(users[i][0]))
    p, a, clone = masses_of(family, users[i][0], tv)
    e = mp.exp(mp.mpf(eps))
    law = {0: mp.mpf(1)}
    for j, (local, count) in enumerate(users):
        q, m = clone(local), count - (i == j)
        mass, own = (1 - q) ** m, {}
        for c in range(m + 1):
            if mass > mp.mpf(10) ** -45:
                own[c] = mass
            mass = mass * q / (1 - q) * (m - c) / (c + 1)
        joint = {}
        for c, one in law.items():
            for d, other in own.items():
                joint[c + d] = joint.get(c + d, 0) + one * other
        law = joint
    gain, loss = int((p - e) * mp.mpf(10) ** 60), int((p * e - 1) * mp.mpf(10) ** 60)
    total = mp.mpf(0)
    for c, mass in law.items():
        before, part, row = 0, 0, 1  # row = binomial(c, k)
        for k in range(c + 2):
            part += max(0, gain * before - loss * row)
            before, row = row, row * (c - k) // (k + 1)
        total += mass * mp.mpf(part) / mp.mpf(2) ** c
    return a * total / mp.mpf(10) ** 60


@cache
def quick(family, users, eps, tv=None):
    """delta(eps) in doubles: the double sum, good to 1e-10 or so of itself."""
    i = max(range(len(users)), key=lambda i: Decimal(users[i][0]))
    p, e = math.exp(float(users[i][0])), math.exp(float(eps))
    if e >= p:
        return 0.0
    a = float(tv) / (p - 1) if family == "tv" else 1 / (p + 1)
    law = np.ones(1)
    for j, (local, count) in enumerate(users):
        x, m = float(local), count - (i == j)
        q = {"tv": 2 * a, "common": math.exp(-x)}.get(family, 2 / (math.exp(x) + 1))
        c = np.arange(m + 1)
        log = gammaln(m + 1) - gammaln(c + 1) - gammaln(m - c + 1)
        own = np.exp(log + c * np.log(q) + (m - c) * np.log1p(-q)) if q < 1 else (c == m) * 1.0
        law = np.convolve(law, own)
    c, k = np.arange(len(law))[:, None], np.arange(len(law) + 1)[None, :]
    with np.errstate(all="ignore"):
        row = np.exp(gammaln(c + 1) - gammaln(k + 1) - gammaln(c - k + 1) - c * math.log(2))
    row = np.where(k <= c, row, 0.0)
    before = np.pad(row, ((0, 0), (1, 0)))[:, :-1]
    return a * float(law @ np.maximum((p - e) * before - (p * e - 1) * row, 0).sum(axis=1))


# --- Comparison ---


def exactly(end):
    """An end of a ball as an mpmath number."""
    man, exp = end.man_exp()
    return mp.ldexp(int(man), int(exp))


def agrees(fields, truth):
    """Whether the ball is around the truth: its upper end never below, and above by no more than a window drops."""
    found = checker.delta_of(checker.read(dumped(fields)))
    slack = truth * mp.mpf(10) ** -15 + mp.mpf(fields["delta"]) * mp.mpf(10) ** -11
    low, high = exactly(found.lower()), exactly(found.upper())
    return low <= high and not_below(high, truth) and high <= truth + slack


def not_below(high, truth):
    """Whether an upper end is at least the truth, which is known to 50 digits."""
    return high >= truth * (1 - mp.mpf(10) ** -50)


def nearly_whole(local, share, below):
    """eps, to 28 digits, with theta (c+1) this little below a whole number for theta = share."""
    p, theta = mp.exp(mp.mpf(local)), mp.mpf(share[0]) / share[1] * (1 - mp.mpf(below))
    return mp.nstr(mp.log((theta * (p - 1) + 1) / (p - theta * (p - 1))), 28)


ENUMERATED = [
    ("rr", (("1", 8),), "0.3", None),
    ("rr", (("0.7", 3), ("1.3", 4)), "0.25", None),
    ("aligned", (("2.5", 1), ("0.5", 3), ("0", 2)), "0.8", None),
    ("aligned", (("0.2", 3), ("0.1", 3), ("4", 1)), "3.9", None),
    ("aligned", (("1", 7),), "0", None),
    ("aligned", (("1", 1),), "0.1", None),
    ("common", (("1", 7),), "0.3", None),
    ("common", (("3", 6),), "2.99999", None),
    ("tv", (("1", 7),), "0.3", "0.25"),
    ("tv", (("2", 6),), "0.05", "0.4"),
    ("rr", (("1", 7),), nearly_whole("1", (2, 3), "1e-14"), None),
    ("common", (("2", 7),), nearly_whole("2", (3, 4), "1e-16"), None),
    ("rr", (("1", 7),), nearly_whole("1", (2, 3), "-1e-14"), None),
]
SUMMED = [
    ("rr", (("1", 50),), "0.2", None, "1e-3"),
    ("rr", (("1", 300),), "0.25", None, "1e-6"),
    ("aligned", (("1", 1500), ("0.6", 500)), "0.15", None, "1e-6"),
    ("aligned", (("0.5", 100), ("2", 30), ("1", 170)), "0.6", None, "1e-5"),
    ("common", (("1.5", 50),), "0.7", None, "1e-2"),
    ("common", (("2", 300),), "0.9", None, "1e-8"),
    ("tv", (("1", 300),), "0.4", "0.2", "1e-6"),
]


@pytest.mark.parametrize(("family", "users", "eps", "tv"), ENUMERATED)
def test_enumeration_of_few_users(family, users, eps, tv):
    """The ball is around the value that every user's choices give, added up."""
    assert agrees(certified(family, users, eps, "1e-9", tv), enumerated(family, users, eps, tv))


@pytest.mark.parametrize(("family", "users", "eps", "tv", "delta"), SUMMED)
def test_double_sum(family, users, eps, tv, delta):
    """The ball is around a double sum that knows no threshold, recurrence or window."""
    truth = summed(family, users, eps, tv)
    assert agrees(certified(family, users, eps, delta, tv), truth)
    assert math.isclose(float(truth), quick(family, users, eps, tv), rel_tol=1e-9)


def test_tiny_delta():
    """A claim of delta = 1e-20 or so: what lies above the double sum is proved, what lies below is not."""
    users, eps = (("1", 1200),), "0.31"
    truth = summed("rr", users, eps)
    assert 1e-21 < truth < 1e-18
    for share, proved in ((1 + mp.mpf("1e-9"), True), (1 - mp.mpf("1e-9"), False)):
        fields = certified("rr", users, eps, mp.nstr(truth * share, 25))
        assert agrees(fields, truth)
        read = checker.read(dumped(fields))
        assert checker.proves(read, checker.delta_of(read)) is proved


@pytest.mark.parametrize("local", ["1e-30", "1e-60", "1e-66", "1e-100", "1e-400"])
def test_a_tiny_budget_is_not_zero(local):
    """A user whose report says very little is no clone for certain: refused, or not below the truth."""
    users = (("1", 1), (local, 3))
    fields = certified("aligned", users, "0.3", "0.1")
    with mp.workdps(1000):
        truth = enumerated("aligned", users, "0.3")
        try:
            found = checker.delta_of(checker.read(dumped(fields)))
        except checker.Refused:
            return
        assert exactly(found.upper()) >= truth


@pytest.mark.parametrize("local", ["1e-10", "1e-20", "200"])
def test_extreme_budgets(local):
    """The victim's own eps at the ends of what is taken."""
    users, eps = ((local, 5),), str(Decimal(local) / 3)
    assert agrees(certified("aligned", users, eps, "1e-30"), enumerated("aligned", users, eps))


# --- Planted errors ---

PLANTED = {
    "the threshold one too large": [("floor())) + 1, c + 1)", "floor())) + 2, c + 1)"), ("x > k - 2", "x > -1")],
    "nearly whole, and not added": [("if self.k > 1 and not x > self.k - 1:", "if False:")],
    "theta of another pair": [("theta = (p * e - 1)", "theta = (p * e - e)")],
    "the first part too small": [("one, more = p - e, (p + 1)", "one, more = (p - e) / 2, (p + 1)")],
    "the tail too large": [("self.tail += self.point / 2", "self.tail += self.point")],
    "the tail not cut": [("self.tail -= self.point", "self.tail -= 0")],
    "the step in c wrong": [("(2 * (self.c - self.k + 1))", "(2 * (self.c - self.k + 2))")],
    "mass dropped silently": [
        ("missing = (1 - sum(masses, arb(0))).max(arb(0))\n\n    def once", "missing = arb(0)\n\n    def once"),
        ("adjusted()) + 30", "adjusted()) * 0 + 2"),
    ],
    "q too large": [("2 / (eps.exp() + 1))", "2.1 / (eps.exp() + 1))")],
    "q too large, common": [("(-eps).exp())", "(-eps / 2).exp())")],
    "q too large, tv": [("2 * a) for", "3 * a) for")],
    "a too small": [("a = 1 / (p + 1)", "a = 1 / (p + 2)")],
    "a too small, tv": [("/ (p - 1)\n", "/ p\n")],
    "the victim counted as a clone": [
        ("budgets = [(ball(eps), count - (i == worst))", "budgets = [(ball(eps), count)")
    ],
    "the best victim": [('worst = max(range(len(found["users"])', 'worst = min(range(len(found["users"])')],
    "the window shifted": [("return start, masses", "return start + 1, masses")],
}


@pytest.mark.parametrize("changes", PLANTED.values(), ids=PLANTED)
def test_planted_errors_are_seen(changes):
    """With one piece of the program wrong, a value above no longer agrees, and by being too small."""
    source = SOURCE.read_text(encoding="utf-8")
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} is no longer in the program, once"
        source = source.replace(old, new)
    program = ModuleType("planted")
    exec(compile(source, "planted", "exec"), program.__dict__)
    seen = 0
    cases = [(*case, "1e-9") for case in ENUMERATED if sum(count for _, count in case[1]) <= 7]
    for family, users, eps, tv, delta in cases + [case for case in SUMMED if sum(n for _, n in case[1]) <= 300]:
        truth = known(family, users, eps, tv)
        try:
            found = program.delta_of(program.read(dumped(certified(family, users, eps, delta, tv))))
        except program.Refused:  # refuses what it should take: seen elsewhere, and not by being too small
            continue
        seen += not not_below(exactly(found.upper()), truth)
    assert seen


@cache
def known(family, users, eps, tv):
    """The outside value of a case."""
    few = sum(count for _, count in users) <= 8
    return (enumerated if few else summed)(family, users, eps, tv)


# --- Files that were altered ---

STARTS = [
    ("rr", (("1", 200),), "0.3", None),
    ("aligned", (("0.5", 60), ("1.25", 40)), "0.55", None),
    ("aligned", (("2", 10), ("0.1", 20), ("0", 20)), "1.1", None),
    ("common", (("1.5", 100),), "0.8", None),
    ("tv", (("1", 150),), "0.35", "0.3"),
]
ODD = [None, True, [], {}, "0.5", "", -1, 0, 1.5, 10**13, [[1, 2]], Raw("NaN"), Raw("-Infinity"), Raw("1e999999999")]
ODD += [Raw("-0.0"), Raw("1e-999999999"), Raw("1" * 40), Raw("0.1" + "0" * 40 + "1"), Raw("9" * 5000), Raw("[" * 9999)]


def digit_changed(rng, digits):
    """A number with one digit changed."""
    places = [i for i, sign in enumerate(digits) if sign.isdigit()]
    place = rng.choice(places)
    return Raw(digits[:place] + rng.choice("0123456789") + digits[place + 1 :])


def altered(rng, fields):
    """The fields with one of them changed."""
    new = json.loads(json.dumps(fields))
    for name in ("eps", "delta"):
        new[name] = Raw(fields[name])
    new["parameters"] = {name: Raw(value) for name, value in fields["parameters"].items()}
    new["users"] = [[Raw(eps), count] for eps, count in new["users"]]
    way, name, group = rng.randrange(12), rng.choice(sorted(new)), rng.choice(new["users"])
    if way <= 2:
        new[("eps", "delta", "eps")[way]] = digit_changed(rng, fields[("eps", "delta", "eps")[way]])
    elif way == 3:
        group[0] = digit_changed(rng, group[0])
    elif way == 4:
        group[1] = rng.choice([group[1] + 1, group[1] - 1, rng.randrange(1, 300), 0, -3, 2.0, True, 10**13])
    elif way == 5:
        new["family"] = rng.choice([*checker.FAMILIES, "RR", "krr"])
    elif way == 6:
        new["parameters"] = rng.choice([{"tv": Raw(tv)} for tv in ("0.3", "0.29", "0.9", "0", '"0.3"')] + [{}, None])
    elif way == 7:
        words = new["statement"].split(" ")
        words[rng.randrange(len(words))] = rng.choice(["not", "0.1", "(0.01,", "", "1000"])
        new["statement"] = " ".join(words)
    elif way == 8:
        new.pop(name)
    elif way == 9:
        new[rng.choice(["note", "n", "Eps"])] = 1
    elif way == 10:
        new[name] = rng.choice(ODD)
    else:
        rng.choice([new["users"], group]).append(rng.choice([*ODD, [Raw("0.3"), 5], [Raw("3"), 1]]))
    return new


def test_a_thousand_altered_files(tmp_path, capsys):
    """None is proved that is false; what the statement does not say is refused, in one line."""
    rng, path, ends = random.Random(5), tmp_path / "cert.json", {0: 0, 1: 0, 2: 0}
    starts = []
    for family, users, eps, tv in STARTS:
        truth = quick(family, users, eps, tv)
        starts += [certified(family, users, eps, f"{truth * share:.12e}", tv) for share in (1.000001, 1.3, 0.999999)]
    for _ in range(1000):
        start = rng.choice(starts)
        fields = altered(rng, start)
        text, reworded = dumped(fields), False
        if rng.random() < 0.6:
            try:
                fields["statement"] = checker.worded(text)
            except (checker.Refused, KeyError, TypeError, ValueError):
                pass
            else:
                text, reworded = dumped(fields), True
        path.write_text(text, encoding="utf-8")
        status = checker.main([str(path)])
        out, err = capsys.readouterr()
        ends[status] += 1
        if status == 2:
            assert (out, err.count("\n"), err[:9]) == ("", 1, "REFUSED: ")
            continue
        assert reworded or text == dumped(start), f"accepted, although the statement says something else: {text}"
        assert out.splitlines()[0] == fields["statement"]
        assert out.splitlines()[-1] == ("NOT PROVED" if status else "PROVED")
        users = tuple((str(eps), count) for eps, count in fields["users"])
        truth = quick(fields["family"], users, str(fields["eps"]), fields["parameters"].get("tv"))
        delta = float(fields["delta"])
        if status == 0:
            assert truth <= delta * (1 + 1e-9), text
        else:
            assert truth >= delta * (1 - 1e-9), text
    assert min(ends.values()) >= 100, ends


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
    fields = certified("rr", (("1", 200),), eps, "1e-3")
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


def printed(path, fields, capsys):
    """Status and lines of the program on these fields."""
    path.write_text(dumped(fields), encoding="utf-8")
    status = checker.main([str(path)])
    return status, capsys.readouterr().out.splitlines()


def test_an_upper_end_and_no_ball(tmp_path, capsys):
    """Three users of randomized response by the pair: above what enumeration gives, and said to be no more."""
    status, out = printed(tmp_path / "c.json", certified("rr", (("1", 3),), "0.3", "0.2"), capsys)
    e, w = mp.exp(mp.mpf("0.3")), mp.exp(1) / (1 + mp.exp(1))
    worst = mp.mpf(0)
    for inputs in product((0, 1), repeat=2):
        law = {0: [mp.mpf(0)] * 4, 1: [mp.mpf(0)] * 4}
        for bits in product((0, 1), repeat=3):
            for held, masses in law.items():
                agree = [bit == own for bit, own in zip(bits, (held, *inputs), strict=True)]
                masses[sum(bits)] += mp.fprod(w if same else 1 - w for same in agree)
        for one, other in ((0, 1), (1, 0)):
            worst = max(worst, mp.fsum(max(x - e * y, 0) for x, y in zip(law[one], law[other], strict=True)))
    pair = enumerated("rr", (("1", 3),), "0.3")
    assert (status, out[1][:14]) == (0, "delta(eps) <= ")
    assert worst < pair <= mp.mpf(out[1][14:]) <= pair * (1 + mp.mpf(10) ** -10)


def test_a_statement_says_its_condition_and_its_side():
    assert "R_j(y) >= (R_i(x) + R_i(x'))/(1 + e^(eps_j))" in certified()["statement"]
    fields = {**certified(), "family": "allocation", "parameters": {"sigma": 1, "steps": 100}, "users": []}
    for relation, sided in (("remove one record", True), ("add one record", True), ("add or remove one record", False)):
        words = checker.worded(dumped({**fields, "relation": relation}))
        assert ("one-sided" in words, "differentially private" in words) == (sided, not sided)


@pytest.mark.parametrize(
    ("raised", "status", "words"),
    [(MemoryError, 2, "out of memory"), (RecursionError, 2, "REFUSED"), (KeyboardInterrupt, 130, "INTERRUPTED")],
)
def test_what_stops_it_is_one_line(tmp_path, capsys, monkeypatch, raised, status, words):
    def stops(_):
        raise raised

    monkeypatch.setattr(checker, "delta_of", stops)
    (tmp_path / "c.json").write_text(dumped(certified()), encoding="utf-8")
    assert checker.main([str(tmp_path / "c.json")]) == status
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), words in err) == ("", 1, True)
