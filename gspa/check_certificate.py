"""Check a certificate of `gspa certify`: python check_certificate.py cert.json

Needs Python and python-flint (Arb's balls); nothing of gspa. Exit status 0 PROVED, 1 NOT PROVED, 2 refused: not a
certificate, or too much for this program.

What is proved is delta(eps) <= delta, for the users whom the statement names, by one theorem ("One common law hides the
victim" on the book's page of proofs). The victim reports by P0 or P1; every other user j, whatever the input, by a law
that is at least c_j B. With L = (P0 - e^eps P1)/B under B and C = sum_j Bernoulli(c_j)

    delta(eps) <= E[(L_0 + ... + L_C)_+ / (C + 1)] + sum over y with B(y) = 0 of (P0(y) - e^eps P1(y))_+ .

All L_i are alike, so the expectation is E[L_0; L_0 + S > 0], where S = sum_j (L_j with probability c_j, else 0).
Raising L makes the sum of both terms larger, and so does spreading it (Jensen). All is computed in balls.
"""

import json
import sys
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import accumulate, islice, pairwise, permutations
from math import log, log2
from typing import Any, NamedTuple

from flint import arb, ctx, fmpz, fmpz_poly

FORMAT = "gspa certificate 4"
FIELDS = ["format", "statement", "family", "parameters", "users", "relation", "rounds", "eps", "delta", "proof"]
REPLACE = "replace one user's record"
# Of random allocation: full contributions of the record in either world, or all of them with the other sign.
SIDES = {"add or remove one record": ((1, 0), (0, -1)), "replace one record": ((1, -1),)}
MOST_USERS, MOST_GROUPS, MOST_EPS, MOST_ROUNDS, MOST_NUMBERS = 10**10, 1000, 200, 10**5, 10**4
MOST_COVERS, MOST_SLOPES, MOST_LETTERS, MOST_VICTIMS = 4, 8, 10**6, 10**4
WORK, EACH = 2 * 10**7, 20  # places of all products, three microseconds each; and what any value costs
# How fine; any choice is valid.
FINE, COARSE = (20_000, 24), (5_000, 4)  # places of a lattice, at least in L's deviation; for the many that rounds need
CELLS, FINEST, POINTS = 20_000, 1_000, 100  # of a density; places in L's deviation; of a curve on either side of 0
LONGEST = 10**6  # places of L, for each doubling of the others
FORGONE = 1e-5  # of delta, what may be cut


# --- What a file says ---


class Family(NamedTuple):
    """Who a certificate is about, in words; what a user's first number is; kinds of what else it says (`fits`)."""

    words: str
    parameters: dict[str, Any] = {}  # noqa: RUF012
    unit: str = "local eps"
    scale: Any = ("0", MOST_EPS)
    groups: tuple[int, int] = (1, MOST_GROUPS)
    local: str = "0.999999"  # the largest local delta
    rounds: int = MOST_ROUNDS
    relations: tuple[str, ...] = (REPLACE,)
    proof: dict[str, Any] = {}  # noqa: RUF012


ALIGNED = """any randomizers with these local eps and aligned clones: for all users i and j, any two inputs x and x'
that differ, and any input y, R_j(y) >= (R_i(x) + R_i(x'))/(1 + e^(eps_j)) everywhere, where R_i(x) is the law of the
report of user i with input x, drawn independently of all other reports"""
SUBSET = """subset selection (a set of {size} of {k} items, with odds e^eps to each other one if it holds one's own item
and the other does not), own eps each"""
HASHING = """local hashing ({g}-ary randomized response of one's own item's hash, by a uniformly random function of
one's own that is reported, too), own eps each"""
HADAMARD = """Hadamard response (one output, with odds e^eps if it lies in one's own item's half of all outputs;
halves of any two items share a quarter), own eps each"""
UNARY = "unary encoding (a bit for each item, drawn by itself; one's own is 1 with probability {}, any other with {})"
ANY = "any one randomizer of this local eps, the same for all users"
KRR = "{k}-ary randomized response (one's own of {k} items with odds e^eps to each other one), own eps each"
MATRICES = "randomizers by these matrices, a row for each input, a column for each output, each row divided by its sum"
LAPLACE = "Laplace reports of values in [0, 1], density (eps/2) e^(-eps |report - value|), own eps each"
GAUSSIAN = "Gaussian reports of values in [0, 1]"
ALLOCATION = """A record contributes a vector of norm at most 1 to one of {steps} sums, chosen uniformly at random,
independently of all else. All sums, with independent Gaussian noise of standard deviation {sigma} a coordinate"""
ARBITRARY = " (with probability {} a report is arbitrary instead, but independent of all others)"
ONE = (1, 1)
LAW = [("0", "1"), 1, MOST_NUMBERS]
STEEP = ("0", "1e12")
COVER = {"radius": ("0.5", "1000000"), "slopes": [STEEP, 1, MOST_SLOPES], "breaks": [STEEP, 0, MOST_SLOPES]}
ON_A_LINE: dict[str, Any] = {"rounds": 1, "local": "0", "proof": {"covers": [None, 1, MOST_GROUPS]}}
DEALT = {"sigma": ("0.01", "1000000"), "steps": (1, 10**8)}
FAMILIES = {
    "rr": Family("binary randomized response (the true bit with odds e^eps), own eps each"),
    "aligned": Family(ALIGNED),
    "common": Family(ANY, groups=ONE),
    "tv": Family(ANY + ", of total variation at most {tv} between any two inputs", {"tv": ("1e-30", "1")}, groups=ONE),
    "krr": Family(KRR, {"k": (3, 10**6)}),
    "subset": Family(SUBSET, {"k": (3, 10**6), "size": (1, 10**6)}),
    "local hashing": Family(HASHING, {"g": (2, 10**6)}),
    "hadamard": Family(HADAMARD),
    "piecewise": Family("the piecewise mechanism of Wang et al. 2019 for values in [-1, 1], of this eps", groups=ONE),
    "unary": Family("symmetric " + UNARY.format("1/(1 + e^(-eps/2))", "1/(1 + e^(eps/2))"), groups=ONE),
    "optimized unary": Family("optimized " + UNARY.format("1/2", "1/(1 + e^eps)"), groups=ONE),
    "discrete": Family(MATRICES, unit="matrix", scale=[LAW, 2, MOST_NUMBERS], local="0", proof={"base": LAW}),
    "laplace": Family(LAPLACE, scale=("0.001", MOST_EPS), **ON_A_LINE),
    "gaussian": Family(GAUSSIAN, unit="standard deviation", scale=("0.01", MOST_EPS), **ON_A_LINE),
    "allocation": Family(ALLOCATION, DEALT, unit="", groups=(0, 0), rounds=1, relations=tuple(SIDES)),
}


class Refused(Exception):
    """Not a certificate, in one line."""


def need(true: bool, words: str) -> None:
    if not true:
        raise Refused(words)


def fits(value: Any, name: str, kind: Any) -> None:
    """Refuses what is not of its kind: [kind, least, most] is a list, {field: kind} an object, (low, high) a number, a
    whole one if low is, else an exact decimal; None is anything.
    """
    if isinstance(kind, list):
        one, least, most = kind
        long = f"{least} to {most}" if least < most else f"{least}"
        need(isinstance(value, list) and least <= len(value) <= most, f"{name}: must be a list of {long}")
        for i, each in enumerate(value):
            fits(each, f"{name}[{i}]", one)
    elif isinstance(kind, dict):
        need(isinstance(value, dict) and set(value) == set(kind), f"{name}: must be {{{', '.join(kind)}}}")
        for field in kind:
            fits(value[field], field, kind[field])
    elif kind:
        low, high = kind
        types = [int] if isinstance(low, int) else [int, Decimal]
        need(type(value) in types, f"{name}: must be a {'number' if Decimal in types else 'whole number'}")
        found = Decimal(value)
        need(len(found.as_tuple().digits) <= 30, f"{name}: a number of at most 30 digits")
        need(abs(found.adjusted()) <= 1000, f"{name}: an exponent from -1000 to 1000")
        need(Decimal(low) <= found <= Decimal(high), f"{name} = {value}: must be in [{low}, {high}]")


def contents(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read(MOST_LETTERS + 1)
    except (OSError, ValueError):
        raise Refused("no readable text file") from None


def parsed(text: str) -> Any:
    """The fields, numbers exact."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a field is given twice")
        return dict(pairs)

    need(len(text) <= MOST_LETTERS, "longer than a certificate")
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=once)
    except (ValueError, RecursionError, ArithmeticError):
        raise Refused("not JSON, or with numbers beyond all bounds") from None


def read(text: str) -> dict[str, Any]:
    """The fields, each in its range; anything else is refused."""
    found: dict[str, Any] = parsed(text)
    fits(found, "a certificate", dict.fromkeys(FIELDS))
    need(found["format"] == FORMAT, f"format: must be {FORMAT!r}")
    need(isinstance(found["family"], str) and found["family"] in FAMILIES, f"family: one of {', '.join(FAMILIES)}")
    family, users = FAMILIES[found["family"]], found["users"]
    need(found["relation"] in family.relations, f"relation: one of {', '.join(family.relations)}")
    fits(found["parameters"], "parameters", family.parameters)
    fits(found["proof"], "proof", family.proof)
    fits(found["rounds"], "rounds", (1, family.rounds))
    fits(users, "users", [None, *family.groups])
    user = {f"a user's {family.unit}": family.scale, "a count": (1, MOST_USERS), "a local delta": ("0", family.local)}
    for group in users:
        fits(group, f"users, [{family.unit}, count, local delta]", [None, 3, 3])
        fits(dict(zip(user, group, strict=True)), "a user", user)
    fits(found["eps"], "eps", ("0", MOST_EPS))
    fits(found["delta"], "delta", ("1e-100", "0.999999"))
    need(sum(count for _, count, _ in users) <= MOST_USERS, f"at most {MOST_USERS} users")
    need(len({(shown(scale), local) for scale, _, local in users}) == len(users), "users: two groups are alike")
    need(found["statement"] == statement(found), "the statement in words is not that of the other fields")
    return found


def shown(value: Any) -> str:
    return f"[{', '.join(map(shown, value))}]" if isinstance(value, list) else str(value)


def statement(read: dict[str, Any]) -> str:
    """What the other fields say, in words."""
    family = FAMILIES[read["family"]]
    words = family.words.format(**read["parameters"]).replace("\n", " ")
    relation = read["relation"] + (" in all rounds" if read["rounds"] != 1 else "")
    private = f"are ({read['eps']}, {read['delta']})-differentially private ({relation})"
    if not family.unit:
        return f"{words}, {private}."
    told = [
        f"{count} with {family.unit} = {shown(scale)}" + (ARBITRARY.format(local) if local != 0 else "")
        for scale, count, local in read["users"]
    ]
    rounds = f" in {read['rounds']} rounds, each like this, with randomness of its own," if read["rounds"] != 1 else ""
    return f"The shuffled reports of these users, drawn independently,{rounds} {private}: {', '.join(told)}; {words}."


def ball(value: object) -> arb:
    """A number of the file, which is decimal, as a ball."""
    return arb(str(value))


# --- The expectation ---
Piece = tuple[arb, arb, arb, arb, arb]  # masses under B, P0 and P1; in these balls P0/B and P1/B lie
Cell = tuple[arb, arb, arb, arb]  # mass under B, integral of L, least and greatest L
Draws = list[tuple[int, arb]]  # so many others, each a draw from B with this probability


spent = [0.0]  # by this check


def spend(work: float, times: float = 1) -> None:
    """Count work before it is done: nothing lasts for hours or fills the memory."""
    spent[0] += work * times
    small = spent[0] <= WORK and work * max(times, 1) <= 2 * 10**6
    need(small, "more than a minute, or 500 MB: fewer users, groups, rounds or steps, or a larger delta take less")


def down(x: arb) -> int:
    """The largest whole number that is surely not above."""
    found = x.lower().floor().unique_fmpz() if abs(x) < arb(2) ** 4000 else None
    if found is None:
        raise Refused("the precision does not suffice")
    return int(found)


class Law(NamedTuple):
    """Of a sum: masses of the places first, first + 1, ... of a lattice, in units of 2^-bits and rounded down."""

    first: int
    masses: fmpz_poly
    bits: int

    @classmethod
    def of(cls, placed: dict[int, arb], many: int, delta: float) -> "Law":
        """So precise that sums of so many lose little beside delta."""
        bits = 50 + many.bit_length() - int(log2(delta))
        first, last = min(placed), max(placed)
        spend(last - first, bits / 100)
        masses = [max(down(placed[k] * 2**bits), 0) if k in placed else 0 for k in range(first, last + 1)]
        return cls(first, fmpz_poly(masses), bits)

    def plus(self, other: "Law") -> "Law":
        """The sum of two independent ones."""
        spend(self.masses.length() + other.masses.length(), self.bits / 100)
        masses = (self.masses * other.masses // fmpz(2) ** self.bits).coeffs()
        low = next((k for k, mass in enumerate(masses) if mass), 0)
        return Law(self.first + other.first + low, fmpz_poly(masses[low:]), self.bits)

    def times(self, many: int) -> "Law":
        """The sum of so many independent copies."""
        if many == 1:
            return self
        half = self.times(many // 2)
        twice = half.plus(half)
        return twice.plus(self) if many % 2 else twice

    def lost(self) -> arb:
        """The mass that rounding took, and what was not placed."""
        return 1 - arb(sum(self.masses.coeffs(), fmpz(0))) / fmpz(2) ** self.bits


def step_for(cells: list[Cell], draws: Draws, places: int, fewest: int) -> arb:
    """Of the lattice: so fine as the places allow, and with few atoms near them. Any step will do."""
    values = [(float(mass), min(max(float(total / mass), -1e150), 1e150)) for mass, total, _, _ in cells if mass > 0]
    mean, square = (sum(mass * x**power for mass, x in values) for power in (1, 2))
    many, squares = (sum(n * float(c) ** power for n, c in draws) for power in (1, 2))
    deviation = max(square - (squares / many if many else 1) * mean**2, 0) ** 0.5  # of one of the others
    step = deviation * min(max(16 * (1 + many) ** 0.5 / places, 1 / FINEST), 1 / fewest)
    sizes = [abs(x) for _, x in values]
    step = max(step, max(sizes) * log2(4 + many) / LONGEST) or 1.0
    tried = [step]
    if len(cells) <= 8:
        tried += [x / k for x in sizes for k in range(int(x / step / 2) + 1, int(x / step) + 1)[:300]]

    def spread(step: float) -> float:
        return sum(mass * step**2 * (x / step % 1) * (1 - x / step % 1) for mass, x in values)

    return arb(min(tried, key=spread))


def without_tails(cells: list[Cell], others: int, spare: arb) -> tuple[list[Cell], arb]:
    """Cells between two levels, and what is added for it. What lies above the higher level counts as that level, and
    its excess is added; what lies below the lower one counts as that level, which is more. With a term so low that no
    sum is positive it stays so.
    """
    excess, free = arb(0), -arb("inf")
    for end, further in ((2, arb.min), (3, arb.max)):  # from above, by the least L; from below, by the greatest
        cells = sorted(cells, key=lambda cell: float(cell[end]), reverse=end == 2)
        tail, many = (arb(0), arb(0), cells[0][end]), 0
        for cell in cells:
            mass, total, level = tail[0] + cell[0], tail[1] + cell[1], further(tail[2], cell[end])
            if not (abs(total - mass * level) <= spare or level < free):
                break
            tail, many = (mass, total, level), many + 1
        mass, total, level = tail
        cells = [(mass, mass * level, level, level), *cells[many:]]
        excess += (total - mass * level).max(arb(0))
        free = -others * max(greatest for _, _, _, greatest in cells)
    return cells, excess


def expectation(cells: list[Cell], draws: Draws, delta: float, fine: tuple[int, int]) -> arb:
    """A ball; its upper end is at least E[L_0; L_0 + S > 0]."""
    many = sum(n for n, _ in draws)
    cells, excess = without_tails(cells, many, arb(FORGONE * delta))
    step, placed = step_for(cells, draws, *fine), {0: arb(0)}
    for mass, total, least, greatest in cells:
        low = down(least / step)
        high = max(-down(-greatest / step), low + 1)
        up = (total / step - low * mass) / (high - low)
        placed[high] = placed.get(high, 0) + up
        placed[low] = placed.get(low, 0) + mass - up
    parts = [Law.of({0: arb(1)}, many, delta)]
    for count, c in draws:
        if count:
            drawn = {k: c * mass + (1 - c if k == 0 else 0) for k, mass in placed.items()}
            parts.append(Law.of(drawn, many, delta).times(count))
    while len(parts) > 1:
        parts.append(parts.pop(0).plus(parts.pop(0)))
    others = parts[0]
    highest = others.first + len(others.masses) - 1
    above = [*accumulate(reversed(others.masses.coeffs()), initial=fmpz(0))]  # masses of so many places from there
    known = most = arb(0)  # in steps; the second is E[(L_0)_+]
    for k, mass in placed.items():
        known += k * mass * above[min(max(highest + k, 0), len(above) - 1)] / 2**others.bits  # P(S > -k), less lost
        most += max(k, 0) * mass
    return excess + step * (known + others.lost() * most)


def bare(outputs: list[tuple[arb, arb]], e: arb) -> arb:
    """Of outputs with these masses under P0 and P1, which B misses."""
    spend(len(outputs))
    return sum(((x - e * y).max(arb(0)) for x, y in outputs), arb(0))


class Victim(NamedTuple):
    """A user who is hidden: B in pieces; the others; at e^eps what B misses; eps from which delta is local."""

    pieces: list[Piece]
    draws: Draws
    missed: Callable[[arb], arb] = partial(bare, [])
    local: arb = arb(0)  # the probability that the report is arbitrary
    top: Decimal = Decimal(MOST_EPS + 1)

    def delta(self, eps: arb, spare: float, fine: tuple[int, int]) -> arb:
        """A ball; its upper end is at least delta(eps)."""
        spend(len(self.pieces) + EACH)
        e, cells = eps.exp(), list[Cell]()
        for mass, p0, p1, r0, r1 in self.pieces:
            levels = r0 - e * r1
            cells.append((mass, p0 - e * p1, levels.lower(), levels.upper()))
        found = self.missed(e)
        if not all(greatest <= 0 for _, _, _, greatest in cells):
            found += expectation(cells, self.draws, spare, fine)
        return self.local + (1 - self.local) * found.min(arb(1))


def atom(mass: arb, r0: arb, r1: arb) -> Piece:
    return mass, mass * r0, mass * r1, r0, r1


# --- Atoms ---
# "Atoms" on the page of proofs: mass under B, P0/B and P1/B. A report is a draw from B with probability c, else from T,
# whose density over B is r on the share 1/r of all outputs that is the input's own; two inputs share `both` of them.
def atoms(family: str, of: dict[str, Any], p: arb) -> tuple[arb, list[Piece]]:
    """c, and B in atoms for the worst two inputs, p = e^(local eps)."""
    k, size, g = (arb(of.get(name, usual)) for name, usual in (("k", 2), ("size", 1), ("g", 2)))
    truths = {  # r, both; an item is a set of one, and a bit is one of two items
        **dict.fromkeys(("rr", "aligned", "krr", "subset"), (k / size, size * (size - 1) / (k * (k - 1)))),
        "local hashing": (g, 1 / g**2),
        "hadamard": (arb(2), arb(0.25)),
        "piecewise": (p.sqrt() + 1, arb(0)),
    }
    if family in truths:
        r, both = truths[family]
        c = r / (p - 1 + r)
        low, high, own = c, c * p, 1 / r - both
        rest = 1 - 2 * own - both
        return c, [atom(own, high, low), atom(own, low, high), atom(both, high, high), atom(rest, low, low)]
    if "unary" in family:
        own, other = 1 - 1 / (1 + p.sqrt()), 1 / (1 + p.sqrt())
        if family == "optimized unary":
            own, other = arb(0.5), 1 / (1 + p)
        bits = [(other, own / other), (1 - other, (1 - own) / (1 - other))]
        return bits[1][1], [atom(m0 * m1, r0, r1) for m0, r0 in bits for m1, r1 in bits]
    a, c = 1 / (p + 1), 1 / p
    if family == "tv":
        a = ball(of["tv"]) / (p - 1)
        # Up to here less total variation is no worse ("A smaller total variation" on the page of proofs).
        need(bool(2 * p * a <= 1), "tv: must be at most (1 - e^-eps)/2")
        c = 2 * a
    return c, [atom(arb(0.5), 2 * a * p, 2 * a), atom(arb(0.5), 2 * a, 2 * a * p)]


def named(found: dict[str, Any]) -> Iterator[Victim]:
    """Of users with equal local delta the one with the largest eps ("The worst victim" on the page of proofs)."""
    users, family, of = found["users"], found["family"], found["parameters"]
    need(of.get("size", 1) < of.get("k", 2), "size: must be below k")
    tables = [atoms(family, of, ball(eps).exp()) for eps, _, _ in users]
    draws = [(n, c * (1 - ball(local))) for (_, n, local), (c, _) in zip(users, tables, strict=True)]
    for local in {local for _, _, local in users}:
        eps, worst = max((eps, i) for i, (eps, _, other) in enumerate(users) if other == local)
        others = [(n - (i == worst), c) for i, (n, c) in enumerate(draws)]
        yield Victim(tables[worst][1], others, local=ball(local), top=Decimal(eps))


def shares(row: list[Any]) -> list[arb]:
    """Numbers of the file over their sum."""
    total = sum(map(ball, row), arb(0))
    return [ball(x) / total for x in row]


def discrete(found: dict[str, Any]) -> Iterator[Victim]:
    """Every user of every matrix with any two inputs; those that differ by the names of the outputs alone, once."""
    given, users = found["proof"]["base"], found["users"]
    rows = [row for matrix, _, _ in users for row in matrix]
    need(sum(map(len, rows)) <= MOST_NUMBERS, f"at most {MOST_NUMBERS} probabilities")
    need(all(len(row) == len(given) for row in rows), f"a law: must be {len(given)} probabilities, as base is")
    need(all(sum(row) > 0 for row in [given, *rows]), "a law: must have a sum above 0")
    base, seen = shares(given), set()
    tables = [[[(x, x / b) for x, b in zip(shares(row), base, strict=True)] for row in matrix] for matrix, *_ in users]
    ratios = ([r for row in table for (_, r), b in zip(row, base, strict=True) if b > 0] for table in tables)
    draws = [(n, reduce(arb.min, of, arb(1))) for of, (_, n, _) in zip(ratios, users, strict=True)]
    for g, (matrix, _, _) in enumerate(users):
        others = [(n - (i == g), c) for i, (n, c) in enumerate(draws)]
        for one, other in permutations(range(len(matrix)), 2):
            spend(len(base), 20)
            key = (g, *sorted(zip(given, matrix[one], matrix[other], strict=True)))
            if key not in seen:
                seen.add(key)
                laws = list(zip(base, tables[g][one], tables[g][other], strict=True))
                pieces = [(b, x, y, r0, r1) for b, (x, r0), (y, r1) in laws if b > 0]
                outside = [(x, y) for b, (x, _), (y, _) in laws if b == 0]
                yield Victim(pieces, others, partial(bare, outside))


# --- Laplace and Gaussian reports ---
# "The blanket" and "The worst inputs on a line" on the page of proofs. With v = |y - 1/2| + 1/2 and u = v^p (p = 1
# Laplace, 2 Gaussian) a report x -> y has the density h e^(-kappa |y - x|^p) >= h e^(-kappa u). B = q/Z, as far as v is
# at most radius + 1/2, has log q piecewise linear and concave in u; c_j is the least h_j e^(-kappa_j u)/B, at a corner
# because the logarithm is linear between corners. q is no steeper than the victim's own noise, and y -> 1 - y exchanges
# the inputs.
class Curve:
    """height e^(-kappa |t|^power); where no height is given the density of noise, with the integral 1."""

    def __init__(self, power: int, kappa: arb, height: arb | None = None) -> None:
        self.power, self.kappa = power, kappa
        half = 1 / kappa if power == 1 else (arb.pi() / kappa).sqrt() / 2  # int of e^(-kappa t^power) over t > 0
        self.height = 1 / (2 * half) if height is None else height
        self.right = self.height if kappa == 0 else self.height * half

    def share(self, t: arb) -> arb:
        """Times `right` this is the integral from 0 to t."""
        if self.kappa == 0:
            return t
        return (self.kappa.sqrt() * t).erf() if self.power == 2 else t.sgn() * (1 - (-self.kappa * abs(t)).exp())

    def over(self, base: "Curve", t: arb, shift: arb) -> arb:
        """This curve at t - shift, over another of this power at t, which may be a wide ball."""
        if self.power == 2 and base.kappa == self.kappa:  # as below, but t occurs once
            exponent = self.kappa * shift * (2 * t - shift)
        else:
            exponent = base.kappa * abs(t) ** self.power - self.kappa * abs(t - shift) ** self.power
        return self.height / base.height * exponent.exp()

    def below(self, t: arb) -> arb:
        """P(noise <= t)."""
        return 0.5 + self.right * self.share(t)

    def left(self, edge: arb, e: arb) -> arb:
        """int (f0 - e f1)_+ left of a place: f0/f1 falls, and is e where the two cross, or less everywhere."""
        edge = edge.min(0.5 - e.log() / (2 * self.kappa))
        return (self.below(edge) - e * self.below(edge - 1)).max(arb(0))


def cut(base: Curve, noise: Curve, shifts: tuple[arb, arb], ends: tuple[arb, arb], many: int) -> Iterator[Piece]:
    """So many pieces between two ends, of B with the density base, P0 and P1 with those of the noise, shifted."""
    start, end = ends
    places = [start + (end - start) * k / many for k in range(many + 1)]
    below = [(base.share(t), *(noise.share(t - shift) for shift in shifts)) for t in places]
    for (t, after), (less, more) in zip(pairwise(places), pairwise(below), strict=True):
        inside = t.union(after)
        r0, r1 = (noise.over(base, inside, shift) for shift in shifts)
        mass, p0, p1 = (one.right * (y - x) for one, x, y in zip((base, noise, noise), less, more, strict=True))
        yield mass, p0, p1, r0, r1


def cover(noise: Curve, given: dict[str, Any]) -> list[tuple[Curve, arb, arb]]:
    """B in parts: its density as a curve in v, and between which v."""
    fits(given, "a cover", COVER)
    need(len(given["breaks"]) == len(given["slopes"]) - 1, "breaks: must be one less than slopes")
    need(given["slopes"] == sorted(given["slopes"]), "slopes: must rise")
    slopes, power = [ball(slope) for slope in given["slopes"]], noise.power
    need(bool(slopes[-1] <= noise.kappa), "a slope is steeper than the noise of the user who is covered")
    u = [arb(0.5) ** power, *map(ball, given["breaks"]), (ball(given["radius"]) + 0.5) ** power]
    need(all(bool(x <= y) for x, y in pairwise(u)), "breaks: must rise, and none lies outside of the radius")
    ends = [*pairwise(u if power == 1 else [x.sqrt() for x in u])]
    turns = ((more - less) * x for (less, more), x in zip(pairwise(slopes), u[1:-1], strict=True))
    q = [Curve(power, slope, log.exp()) for slope, log in zip(slopes, accumulate(turns, initial=arb(0)), strict=True)]
    z: arb = 2 * sum((one.right * (one.share(y) - one.share(x)) for one, (x, y) in zip(q, ends, strict=True)), arb(0))
    return [(Curve(power, one.kappa, one.height / z), *of) for one, of in zip(q, ends, strict=True)]


def line(found: dict[str, Any]) -> Iterator[Victim]:
    """Every user. Who has less noise than the victim is told: q must fall as fast beyond B as what it covers."""
    users, covers, laplace = found["users"], found["proof"]["covers"], found["family"] == "laplace"
    need(len(covers) == len(users), "covers: one for each group, or null")
    need(len(covers) - covers.count(None) <= MOST_COVERS, f"at most {MOST_COVERS} covers")
    noises = [Curve(1, ball(x)) if laplace else Curve(2, 1 / (2 * ball(x) ** 2)) for x, _, _ in users]
    for victim, (own, _, _), given in zip(noises, users, covers, strict=True):
        base, draws, pieces = [] if given is None else cover(victim, given), list[tuple[int, arb]](), list[Piece]()
        for other, (scale, n, _) in zip(noises, users, strict=True):
            if scale <= own if laplace else scale >= own:
                ratios = (other.over(part, v, arb(0)) for part, *ends in base for v in ends)
                draws.append((n - (other is victim), reduce(arb.min, ratios, arb(1))))
        last = base[-1][2] if base else arb(0.5)  # without a cover the report alone has to say little enough
        for part, start, end in base:
            many = max(1, int(float(CELLS / 2 * (end - start) / (last - 0.5))))
            for mass, far, near, f, g in cut(part, victim, (arb(0), arb(1)), (start, end), many):
                pieces += [(mass, far, near, f, g), (mass, near, far, g, f)]  # right of 1/2, and left of it
        yield Victim(pieces, draws, partial(victim.left, 1 - last))


# --- One of t noisy sums, chosen at random ---
# "Largest contributions are the worst" on the page of proofs: B is the noise z, c = 1, and L = e^(u z - u^2/2) -
# e^eps e^(v z - v^2/2), which rises with z because u >= 0 >= v.
def allocation(found: dict[str, Any]) -> Iterator[Victim]:
    """Pieces up to the last place, beyond which L counts as there, and what is added for that."""
    steps, a, delta = found["parameters"]["steps"], 1 / ball(found["parameters"]["sigma"]), float(found["delta"])
    noise = Curve(2, arb(0.5))
    for one, other in SIDES[found["relation"]]:
        shifts = one * a, other * a
        end = arb((-2 * log(FORGONE * delta)) ** 0.5) + shifts[0]
        first, last = (atom(noise.below(-end), *(noise.over(noise, z, s) for s in shifts)) for z in (-end, end))
        x, y = (noise.below(shift - end) - mass for shift, mass in zip(shifts, last[1:3], strict=True))
        pieces = [first, last, *cut(noise, noise, shifts, (-end, end), CELLS)]
        yield Victim(pieces, [(steps - 1, arb(1))], partial(bare, [(x, y)]))


# --- Several rounds ---
# "Composition of dominating pairs" and "Losses on a grid" on the page of proofs. delta as a function of x = e^eps is
# convex, and delta(-eps) = 1 - e^-eps (1 - delta(eps)) as each family has either order of any two inputs. So chords
# between upper values at x_k = e^(k h), flat beyond the last and straight from (0, 1) to the first, lie above it, and
# if convex they are the curve of a pair whose loss is k h with mass x_k (slope after x_k - slope before it), and
# infinite with the height of the flat end.
def composed(victims: list[Victim], eps: arb, rounds: int, delta: float) -> arb:
    """A ball; its upper end is at least the delta(eps) of so many rounds."""

    def once(x: arb) -> arb:
        return reduce(arb.max, (victim.delta(x, delta / rounds, COARSE) for victim in victims))

    least, low, high = reduce(arb.max, (v.local for v in victims)), 0.0, float(max(v.top for v in victims))
    for _ in range(8):  # where to end the grid: where once is a small part of delta; any place will do
        middle = (low + high) / 2 if low else high / 4
        low, high = (low, middle) if once(arb(middle)) < least + FORGONE * delta / rounds else (middle, high)
    step = arb(high) / POINTS
    upper = [*accumulate((once(k * step).upper() for k in range(POINTS + 1)), arb.min, initial=arb(1))][1:]
    hull = [(-POINTS - 1, arb(0), arb(1), -arb("inf"))]  # and the slope before
    for k in range(-POINTS, POINTS + 1):
        x = (k * step).exp()
        y = upper[k] if k >= 0 else 1 - x * (1 - upper[-k])
        while not hull[-1][3] <= (slope := (y - hull[-1][2]) / (x - hull[-1][1])) and len(hull) > 1:
            hull.pop()
        hull.append((k, x, y, slope))
    after = [*(slope for _, _, _, slope in hull[2:]), arb(0)]
    masses = {k: x * (more - before) for (k, x, _, before), more in zip(hull[1:], after, strict=True)}
    sums = Law.of(masses, rounds, delta).times(rounds)
    places = enumerate(sums.masses.coeffs(), sums.first)
    finite = (mass * (1 - (eps - k * step).exp()).max(arb(0)) for k, mass in places if not k * step <= eps)
    return sums.lost() + arb(sum(finite, arb(0))) / fmpz(2) ** sums.bits  # what is lost, or infinite, counts in full


PROOFS = {"discrete": discrete, "allocation": allocation, "laplace": line, "gaussian": line}


def delta_of(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    spent[0], ctx.prec = 0.0, 200 - 8 * Decimal(found["delta"]).adjusted()
    delta, rounds, eps = float(found["delta"]), found["rounds"], ball(found["eps"])
    victims = PROOFS.get(found["family"], named)(found)
    if rounds == 1:  # compared in decimals, as a ball around eps is not surely at the top
        return reduce(arb.max, (v.delta(eps, delta, FINE) if found["eps"] < v.top else v.local for v in victims))
    hidden = list(islice(victims, MOST_VICTIMS + 1))
    need(len(hidden) <= MOST_VICTIMS, f"at most {MOST_VICTIMS} pairs of inputs over several rounds")
    if all(v.local == 0 and Fraction(v.top) * rounds <= Fraction(found["eps"]) for v in hidden):
        return arb(0)  # as each report by itself has it
    return composed(hidden, eps, rounds, delta)


def rounded(bound: arb) -> str:
    """The upper end, rounded up."""
    digits, power = (int(x) for x in bound.upper().man_exp())
    up = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(up.divide(digits * 2 ** max(power, 0), 2 ** max(-power, 0)))


def main(arguments: list[str]) -> int:
    try:
        need(len(arguments) == 1, "usage: python check_certificate.py cert.json")
        found = read(contents(arguments[0]))
        bound = delta_of(found)
        need(bool(bound < 2), "the precision does not suffice")
        proved = "PROVED" if bound <= ball(found["delta"]) else "NOT PROVED"  # the whole ball
        print(f"{found['statement']}\ndelta(eps) <= {rounded(bound)}\n{proved}", flush=True)
        return 0 if proved == "PROVED" else 1
    except KeyboardInterrupt:
        print("INTERRUPTED: nothing was proved", file=sys.stderr)
        return 130
    except Refused as wrong:
        reason = str(wrong)
    except OSError:
        reason = "the answer could not be written"
    except (MemoryError, ArithmeticError, ValueError, RecursionError):
        reason = "numbers too far apart for this program, or out of memory"
    print(f"REFUSED: {reason}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
