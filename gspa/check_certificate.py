"""Check a certificate of `gspa certify`: python check_certificate.py cert.json

Needs Python and python-flint (Arb's balls); nothing of gspa. Exit status 0 PROVED, 1 NOT PROVED, 2 not a certificate.

What is proved is delta(eps) <= delta, for the users whom the statement names, by one theorem ("One common law hides the
victim" on the book's page of proofs). The victim reports by P0 or P1; every other user j, whatever the input, by a law
that is at least c_j B. With L = (P0 - e^eps P1)/B under B and C = sum_j Bernoulli(c_j)

    delta(eps) <= E[(L_0 + ... + L_C)_+ / (C + 1)] + sum over y with B(y) = 0 of (P0(y) - e^eps P1(y))_+ .

All L_i are alike, so the expectation is E[L_0; L_0 + S > 0], where S = sum_j (L_j with probability c_j, else 0).
Raising L makes the sum of both terms larger, and so does spreading it (Jensen). All is computed in balls.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from functools import partial, reduce
from itertools import accumulate, pairwise, permutations
from math import log, log2
from typing import Any, NamedTuple

from flint import arb, ctx, fmpz, fmpz_poly

FORMAT = "gspa certificate 3"
FIELDS = ["format", "statement", "family", "parameters", "users", "relation", "rounds", "eps", "delta", "proof"]
REPLACE = "replace one user's record"
SIDES = {  # of random allocation: full contributions of the record in either world
    "add or remove one record": ((1, 0), (0, 1)),
    "replace one record": ((1, -1),),
}
MOST_USERS, MOST_GROUPS, MOST_EPS, MOST_ROUNDS, MOST_NUMBERS = 10**10, 1000, 200, 10**5, 10**4
MOST_COVERS, MOST_SLOPES, MOST_LETTERS = 4, 8, 10**6
LEAST = "1e-100"  # delta
WORK = 2 * 10**7  # places of all products, three microseconds each
EXACT = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
# How fine; any choice is valid.
PLACES, COARSE = 20_000, 5_000  # of a lattice, and of one of the many that rounds need
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
ALLOCATION = """A record contributes a vector of norm at most 1 to one of {steps} sums, chosen uniformly at random and
by itself. All sums together, each with independent Gaussian noise of standard deviation {sigma} a coordinate"""
ARBITRARY = " except with probability {}, when a report is arbitrary, but independent of all others"
LAW = [("0", "1"), 1, MOST_NUMBERS]
COVER = {
    "radius": ("0.5", "1000000"),
    "slopes": [("0", "1e12"), 1, MOST_SLOPES],
    "breaks": [("0", "1e12"), 0, MOST_SLOPES],
}
ON_A_LINE: dict[str, Any] = {"rounds": 1, "local": "0", "proof": {"covers": [None, 1, MOST_GROUPS]}}
ONE = (1, 1)
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
    "allocation": Family(
        ALLOCATION,
        {"sigma": ("0.01", "1000000"), "steps": (1, 10**8)},
        unit="",
        groups=(0, 0),
        rounds=1,
        relations=tuple(SIDES),
    ),
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
    elif kind and isinstance(kind[0], int):
        least, most = kind
        need(type(value) is int and least <= value <= most, f"{name}: must be {least} to {most}, a whole number")
    elif kind:
        need(isinstance(value, (int, Decimal)) and not isinstance(value, bool), f"{name}: must be a number")
        found = Decimal(value)
        need(found.is_finite() and len(found.as_tuple().digits) <= 30, f"{name}: a number of at most 30 digits")
        need(abs(found.adjusted()) <= 1000, f"{name}: an exponent from -1000 to 1000")
        need(Decimal(kind[0]) <= found <= Decimal(kind[1]), f"{name} = {value}: must be in [{kind[0]}, {kind[1]}]")


def parsed(text: str) -> Any:
    """The fields, numbers exact."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in pairs}) == len(pairs), "a field is given twice")
        return dict(pairs)

    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=once)
    except (ValueError, RecursionError, ArithmeticError):
        raise Refused("not JSON, or with numbers beyond all bounds") from None


def contents(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(MOST_LETTERS + 1)
    except (OSError, UnicodeDecodeError, ValueError):
        raise Refused("no readable text file") from None
    need(len(text) <= MOST_LETTERS, "longer than a certificate")
    return text


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
    for group in users:
        fits(group, f"users, [{family.unit}, count, local delta]", [None, 3, 3])
        scale, count, local = group
        fits(scale, f"a user's {family.unit}", family.scale)
        fits(count, "a count", (1, MOST_USERS))
        fits(local, "a local delta", ("0", family.local))
    fits(found["eps"], "eps", ("0", MOST_EPS))
    fits(found["delta"], "delta", (LEAST, "0.999999"))
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
    private = f"are ({read['eps']}, {read['delta']})-differentially private ({read['relation']})"
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
Piece = tuple[arb, arb, arb, list[tuple[arb, arb]]]  # of B: masses under B, P0 and P1; P0/B and P1/B, L lies between
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
    def of(cls, placed: dict[int, arb], bits: int) -> "Law":
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

    @property
    def lost(self) -> arb:
        """The mass that rounding took, and what was not placed."""
        kept: arb = arb(sum(self.masses.coeffs(), fmpz(0))) / 2**self.bits
        return 1 - kept


def bits_for(many: int, delta: float) -> int:
    """So many that of sums of so many terms little is lost beside delta."""
    return 50 + many.bit_length() - int(log2(delta))


def step_for(cells: list[Cell], draws: Draws, places: int) -> arb:
    """Of the lattice: so fine as the places allow, and with few atoms near them. Any step will do."""
    values = [(float(mass), float(total / mass)) for mass, total, _, _ in cells if mass > 0]
    mean, square = (sum(mass * x**power for mass, x in values) for power in (1, 2))
    drawn = [(n * float(c), float(c)) for n, c in draws if n * float(c) > 0] or [(1.0, 1.0)]
    many = sum(n for n, _ in drawn)
    deviation = sum(n / many * max(square - c * mean**2, 0.0) for n, c in drawn) ** 0.5  # of one of the others
    step = deviation * min(max(16 * (1 + many) ** 0.5 / places, 1 / FINEST), 1 / (24 if places == PLACES else 4))
    step = max(step, max(abs(x) for _, x in values) * log2(4 + many) / LONGEST) or 1.0
    if len(cells) > 8:
        return arb(step)

    def moved(step: float) -> float:
        return sum(mass * step**2 * (x / step % 1) * (1 - x / step % 1) for mass, x in values)

    tried = [abs(x) / k for _, x in values for k in range(int(abs(x) / step / 2) + 1, int(abs(x) / step) + 1)[:300]]
    return arb(min([step, *(s for s in tried if s > 0)], key=moved))


def without_tails(cells: list[Cell], others: int, spare: arb) -> tuple[list[Cell], arb]:
    """Cells between two levels, and what is added for it. What lies above the higher level counts as that level, and
    its excess is added; what lies below the lower one counts as that level, which is more. With a term so low that no
    sum is positive it stays so.
    """
    excess, free = arb(0), -arb("inf")
    for end, side in ((2, -1), (3, 1)):
        cells = sorted(cells, key=lambda cell: side * float(cell[end]))
        k, mass, total, level = 0, arb(0), arb(0), cells[0][end]
        for cell in cells:
            further = level.min(cell[end]) if side < 0 else level.max(cell[end])
            more, all_of_it = mass + cell[0], total + cell[1]
            if not (abs(all_of_it - more * further) <= spare or further < free):
                break
            k, mass, total, level = k + 1, more, all_of_it, further
        cells = [(mass, mass * level, level, level), *cells[k:]]
        if side < 0:
            excess, free = (total - mass * level).max(arb(0)), -others * max(cell[3] for cell in cells)
    return cells, excess


def expectation(cells: list[Cell], draws: Draws, delta: float, places: int) -> arb:
    """A ball; its upper end is at least E[L_0; L_0 + S > 0]."""
    many = sum(n for n, _ in draws)
    cells, excess = without_tails(cells, many, arb(FORGONE * delta))
    step, placed = step_for(cells, draws, places), defaultdict[int, arb](arb)
    for mass, total, least, greatest in cells:
        low = down(least / step)
        high = max(-down(-greatest / step), low + 1)
        up = (total / step - low * mass) / (high - low)
        placed[high] += up
        placed[low] += mass - up
    bits = bits_for(many, delta)
    parts = [Law.of({0: arb(1)}, bits)]
    for count, c in draws:
        if count:
            inflated = defaultdict(arb, {k: c * mass for k, mass in placed.items()})
            inflated[0] += 1 - c
            parts.append(Law.of(inflated, bits).times(count))
    while len(parts) > 1:
        parts.append(parts.pop(0).plus(parts.pop(0)))
    others = parts[0]
    above = [*accumulate(reversed(others.masses.coeffs()), initial=fmpz(0))]

    def over(k: int) -> arb:
        """P(S > k), of what was not lost."""
        mass: arb = arb(above[min(max(others.first + len(above) - 2 - k, 0), len(above) - 1)]) / 2**bits
        return mass

    known: arb = sum((k * mass * over(-k) for k, mass in placed.items()), arb(0))
    most: arb = sum((k * mass for k, mass in placed.items() if k > 0), arb(0))  # E[(L_0)_+]
    value: arb = excess + step * (known + others.lost * most)
    return value


class Victim(NamedTuple):
    """A user who is hidden: B in pieces; at e^eps what it misses; the others; eps from which delta is local."""

    pieces: list[Piece]
    missed: Callable[[arb], arb]
    draws: Draws
    local: arb = arb(0)  # the probability that the report is arbitrary
    top: Decimal = Decimal(MOST_EPS + 1)

    def delta(self, eps: arb, spare: float, places: int) -> arb:
        """A ball; its upper end is at least delta(eps)."""
        spend(len(self.pieces))
        e, cells = eps.exp(), list[Cell]()
        for mass, p0, p1, ratios in self.pieces:
            levels = [r0 - e * r1 for r0, r1 in ratios]
            cells.append((mass, p0 - e * p1, reduce(arb.min, levels).lower(), reduce(arb.max, levels).upper()))
        found = self.missed(e)
        if not all(cell[3] <= 0 for cell in cells):
            found += expectation(cells, self.draws, spare, places)
        return self.local + (1 - self.local) * found.min(arb(1))


def atom(mass: arb, r0: arb, r1: arb) -> Piece:
    return mass, mass * r0, mass * r1, [(r0, r1)]


def bare(outputs: list[tuple[arb, arb]], e: arb) -> arb:
    """Of outputs with these masses under P0 and P1, which B misses."""
    return sum(((x - e * y).max(arb(0)) for x, y in outputs), arb(0))


# --- Atoms ---
# "Atoms" on the page of proofs: mass under B, P0/B and P1/B. A report is a draw from B with probability c, else from T,
# whose density over B is r on the share 1/r of all outputs that is the input's own; two inputs share `both` of them.


def atoms(family: str, of: dict[str, Any], p: arb) -> tuple[arb, list[Piece]]:
    """c, and B in atoms for the worst two inputs, p = e^(local eps)."""
    k, size, g = (arb(of.get(name, 2)) for name in ("k", "size", "g"))
    truths = {  # r, both
        "rr": (arb(2), arb(0)),
        "aligned": (arb(2), arb(0)),
        "krr": (k, arb(0)),
        "subset": (k / size, size * (size - 1) / (k * (k - 1))),
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
    a = 1 / (p + 1)
    c = 1 / p
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
        worst = max((i for i in range(len(users)) if users[i][2] == local), key=lambda i: Decimal(users[i][0]))
        others = [(n - (i == worst), c) for i, (n, c) in enumerate(draws)]
        yield Victim(tables[worst][1], partial(bare, []), others, ball(local), Decimal(users[worst][0]))


def shares(row: list[Any]) -> list[arb]:
    """Numbers of the file over their sum."""
    total = sum(map(ball, row), arb(0))
    return [ball(x) / total for x in row]


def discrete(found: dict[str, Any]) -> Iterator[Victim]:
    """Every user of every matrix with any two inputs; those that differ by the names of the outputs alone, once."""
    given = found["proof"]["base"]
    rows = [row for matrix, _, _ in found["users"] for row in matrix]
    need(sum(map(len, rows)) <= MOST_NUMBERS, f"at most {MOST_NUMBERS} probabilities")
    need(all(len(row) == len(given) for row in rows), f"a law: must be {len(given)} probabilities, as base is")
    need(all(sum(row) > 0 for row in [given, *rows]), "a law: must have a sum above 0")
    base, zero = shares(given), [x == 0 for x in given]
    tables, draws, seen = [], list[tuple[int, arb]](), set()
    for matrix, n, _ in found["users"]:  # each mass, and relative to B
        tables.append([[(x, x / b) for x, b in zip(shares(row), base, strict=True)] for row in matrix])
        ratios = (ratio for row in tables[-1] for (_, ratio), z in zip(row, zero, strict=True) if not z)
        draws.append((n, reduce(arb.min, ratios, arb(1))))
    for g, (matrix, _, _) in enumerate(found["users"]):
        others = [(n - (i == g), c) for i, (n, c) in enumerate(draws)]
        for one, other in permutations(range(len(matrix)), 2):
            spend(len(base), 20)
            key = (g, *sorted(zip(given, matrix[one], matrix[other], strict=True)))
            if key in seen:
                continue
            seen.add(key)
            laws = list(zip(base, tables[g][one], tables[g][other], zero, strict=True))
            outside = [(x, y) for _, (x, _), (y, _), z in laws if z]
            pieces = [(b, x, y, [(r0, r1)]) for b, (x, r0), (y, r1), z in laws if not z]
            yield Victim(pieces, partial(bare, outside), others)


# --- Laplace and Gaussian reports ---
# "The blanket" and "The worst inputs on a line" on the page of proofs. With r = |y - 1/2| and u = (r + 1/2)^p (p = 1
# Laplace, 2 Gaussian) a report x -> y has the density h e^(-kappa |y - x|^p) >= h e^(-kappa u). B = q/Z on r <= radius
# has log q piecewise linear and concave in u; c_j = Z min (h_j e^(-kappa_j u) / q), the minimum at a corner because the
# logarithm is linear between corners. q is no steeper than the victim's own noise, and y -> 1 - y exchanges the inputs.


class Noise:
    """Density height e^(-kappa |t|^power)."""

    def __init__(self, power: int, kappa: arb) -> None:
        self.power, self.kappa = power, kappa
        self.height = kappa / 2 if power == 1 else (kappa / arb.pi()).sqrt()

    def below(self, t: arb) -> arb:
        """P(noise <= t)."""
        if self.power == 2:
            return (1 + (self.kappa.sqrt() * t).erf()) / 2
        return (1 + t.sgn() * (1 - (-self.kappa * abs(t)).exp())) / 2

    def left(self, edge: arb, e: arb) -> arb:
        """int (f0 - e f1)_+ left of a place of 1/2 at most: the two cross once, from where on f1 is the larger."""
        place = 0.5 - e.log() / (2 * self.kappa)
        if self.power == 2:
            edge = edge.min(place)
        elif edge > 0:  # Laplace: f0/f1 is constant left of 0
            edge = edge.min(place.max(arb(0)))
        return (self.below(edge) - e * self.below(edge - 1)).max(arb(0))


class Cover:
    """q and its integral Z: corners in v = u^(1/p) = r + 1/2 from the middle to the radius, log q there."""

    def __init__(self, noise: Noise, given: dict[str, Any]) -> None:
        fits(given, "a cover", COVER)
        need(len(given["breaks"]) == len(given["slopes"]) - 1, "breaks: must be one less than slopes")
        need(given["slopes"] == sorted(given["slopes"]), "slopes: must rise")
        self.power, self.slopes, self.logs = noise.power, [ball(slope) for slope in given["slopes"]], [arb(0)]
        need(bool(self.slopes[-1] <= noise.kappa), "a slope is steeper than the noise of the user who is covered")
        u = [arb(0.5) ** self.power, *map(ball, given["breaks"]), (ball(given["radius"]) + 0.5) ** self.power]
        need(all(bool(x <= y) for x, y in pairwise(u)), "breaks: must rise, and none lies outside of the radius")
        for slope, (x, y) in zip(self.slopes, pairwise(u), strict=True):
            self.logs.append(self.logs[-1] - slope * (y - x))
        self.corners = [x if self.power == 1 else x.sqrt() for x in u]
        self.total = 2 * sum((self.mass(i, *ends) for i, ends in enumerate(pairwise(self.corners))), arb(0))

    def log(self, piece: int, v: arb) -> arb:
        return self.logs[piece] - self.slopes[piece] * (v**self.power - self.corners[piece] ** self.power)

    def mass(self, piece: int, start: arb, end: arb) -> arb:
        """Of q over start <= v <= end, inside of one piece."""
        high, shape = self.log(piece, arb(0)).exp(), Noise(self.power, self.slopes[piece])
        if shape.kappa == 0:
            return high * (end - start)
        return high * (shape.below(end) - shape.below(start)) / shape.height

    def pieces(self, noise: Noise) -> Iterator[Piece]:
        """About `CELLS` of them."""
        for piece, (start, end) in enumerate(pairwise(self.corners)):
            many = max(1, int(float(CELLS / 2 * (end - start) / (self.corners[-1] - self.corners[0]))))
            v = [start + (end - start) * k / many for k in range(many + 1)]
            far = [noise.below(x) for x in v]  # of the input at a distance v, and of the other
            near = [noise.below(x - 1) for x in v]
            for k in range(many):
                mass, inside = self.mass(piece, v[k], v[k + 1]) / self.total, v[k].union(v[k + 1])
                shared = noise.height.log() - self.log(piece, inside) + self.total.log()
                f, g = ((shared - noise.kappa * abs(t) ** noise.power).exp() for t in (inside, inside - 1))
                one, other = far[k + 1] - far[k], near[k + 1] - near[k]
                yield mass, one, other, [(f, g)]  # right of 1/2, and left of it
                yield mass, other, one, [(g, f)]


def line(found: dict[str, Any]) -> Iterator[Victim]:
    """Every user. Who has less noise than the victim is told: q must fall as fast beyond B as what it covers."""
    family, users, covers = found["family"], found["users"], found["proof"]["covers"]
    need(len(covers) == len(users), "covers: one for each group, or null")
    need(len(covers) - covers.count(None) <= MOST_COVERS, f"at most {MOST_COVERS} covers")
    scales = [ball(scale) for scale, _, _ in users]
    noises = [Noise(1, x) if family == "laplace" else Noise(2, 1 / (2 * x**2)) for x in scales]
    for i, (victim, given) in enumerate(zip(noises, covers, strict=True)):
        if given is None:  # the report alone says little enough
            yield Victim([], partial(victim.left, arb(0.5)), [])
            continue
        cover, draws, own = Cover(victim, given), list[tuple[int, arb]](), Decimal(users[i][0])
        for other, (scale, n, _) in zip(noises, users, strict=True):
            if Decimal(scale) <= own if family == "laplace" else Decimal(scale) >= own:
                corners = zip(cover.corners, cover.logs, strict=True)
                least = reduce(arb.min, (other.height.log() - other.kappa * v**cover.power - log for v, log in corners))
                draws.append((n - (other is victim), (least.exp() * cover.total).min(arb(1))))
        yield Victim(list(cover.pieces(victim)), partial(victim.left, 1 - cover.corners[-1]), draws)


# --- One of t noisy sums, chosen at random ---
# "Largest contributions are the worst" on the page of proofs: B is the noise z, c = 1, and L = e^(u z - u^2/2) -
# e^eps e^(v z - v^2/2), which is monotone in z.


def allocation(found: dict[str, Any]) -> Iterator[Victim]:
    """Pieces up to the last place, beyond which L counts as there, and what is added for that."""
    steps, a, delta = found["parameters"]["steps"], 1 / ball(found["parameters"]["sigma"]), float(found["delta"])
    below = Noise(2, arb(0.5)).below
    for one, other in SIDES[found["relation"]]:
        sign = 1 if one > 0 else -1  # L rises with sign z, which is called z from here on
        u, v = sign * one * a, sign * other * a
        far = (-2 * log(FORGONE * delta)) ** 0.5 + float(abs(u))
        z = [arb(far) * (2 * k - CELLS) / CELLS for k in range(CELLS + 1)]
        ratios = [((u * (x - u / 2)).exp(), (v * (x - v / 2)).exp()) for x in z]
        masses = [(below(x), below(x - u), below(x - v)) for x in z]
        pieces = [atom(masses[0][0], *ratios[0]), atom(below(-z[-1]), *ratios[-1])]
        for k in range(CELLS):
            b, p0, p1 = (more - less for more, less in zip(masses[k + 1], masses[k], strict=True))
            pieces.append((b, p0, p1, ratios[k : k + 2]))
        rest = below(u - z[-1]) - pieces[1][1], below(v - z[-1]) - pieces[1][2]
        yield Victim(pieces, partial(bare, [rest]), [(steps - 1, arb(1))])


# --- Several rounds ---
# "Composition of dominating pairs" and "Losses on a grid" on the page of proofs. delta as a function of x = e^eps is
# convex, and delta(-eps) = 1 - e^-eps (1 - delta(eps)) as each family has either order of any two inputs. So chords
# between upper values at x_k = e^(k h), flat beyond the last and straight from (0, 1) to the first, lie above it, and
# if convex they are the curve of a pair whose loss is k h with mass x_k (slope after x_k - slope before it), and
# infinite with the height of the flat end.


def composed(once: Callable[[arb], arb], top: Decimal, least: arb, eps: arb, rounds: int, delta: float) -> arb:
    """A ball; its upper end is at least the delta(eps) of so many rounds, each of delta `once`, at least `least`."""
    low, high = 0.0, float(top)
    for _ in range(8):  # where to end the grid: where once is a small part of delta; any place will do
        middle = (low + high) / 2 if low else high / 4
        low, high = (low, middle) if once(arb(middle)) < least + FORGONE * delta / rounds else (middle, high)
    step, half = arb(high) / POINTS, [arb(1)]
    for k in range(POINTS + 1):
        half.append(once(k * step).upper().min(half[-1]))
    hull = [(-POINTS - 1, arb(0), arb(1))]
    for k in range(-POINTS, POINTS + 1):
        x = (k * step).exp()
        y = half[k + 1] if k >= 0 else 1 - x * (1 - half[1 - k])
        while len(hull) > 1 and not slope(hull[-2], hull[-1]) <= slope(hull[-1], (k, x, y)):
            hull.pop()
        hull.append((k, x, y))
    slopes = [*(slope(one, other) for one, other in pairwise(hull)), arb(0)]
    masses = {k: x * (slopes[i + 1] - slopes[i]) for i, (k, x, _) in enumerate(hull[1:])}
    sums = Law.of(masses, bits_for(rounds, delta)).times(rounds)
    total = sums.lost  # and what is infinite
    for k, mass in enumerate(sums.masses.coeffs(), sums.first):
        if not k * step <= eps:
            total += arb(mass) / 2**sums.bits * (1 - (eps - k * step).exp()).max(arb(0))
    return total


def slope(one: tuple[int, arb, arb], other: tuple[int, arb, arb]) -> arb:
    return (other[2] - one[2]) / (other[1] - one[1])


PROOFS = {"discrete": discrete, "allocation": allocation, "laplace": line, "gaussian": line}


def delta_of(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    spent[0], ctx.prec = 0.0, 200 - 8 * Decimal(found["delta"]).adjusted()
    delta, rounds, eps = float(found["delta"]), found["rounds"], ball(found["eps"])
    victims = PROOFS.get(found["family"], named)(found)
    if rounds == 1:
        at = Decimal(found["eps"])  # a ball around it is not surely at the top
        return reduce(arb.max, (v.delta(eps, delta, PLACES) if at < v.top else v.local for v in victims))
    hidden = list(victims)
    least, top = reduce(arb.max, (victim.local for victim in hidden)), max(victim.top for victim in hidden)
    if least == 0 and EXACT.multiply(top, rounds) <= Decimal(found["eps"]):
        return arb(0)  # as each report by itself has it

    def once(x: arb) -> arb:
        return reduce(arb.max, (victim.delta(x, delta / rounds, COARSE) for victim in hidden))

    return composed(once, top, least, eps, rounds, delta)


def proves(found: dict[str, Any], bound: arb) -> bool:
    """Whether the whole ball lies at delta or below."""
    return bool(bound <= ball(found["delta"]))


def rounded(bound: arb) -> str:
    """The upper end, rounded up."""
    digits, power = (int(x) for x in bound.upper().man_exp())
    up = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(up.multiply(digits, 2**power) if power >= 0 else up.divide(Decimal(digits), Decimal(2**-power)))


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python check_certificate.py cert.json", file=sys.stderr)
        return 2
    try:
        found = read(contents(arguments[0]))
        bound = delta_of(found)
        need(bool(bound < 2), "the precision does not suffice")
        proved = proves(found, bound)
        said = f"{found['statement']}\ndelta(eps) <= {rounded(bound)}\n{'PROVED' if proved else 'NOT PROVED'}"
        print(said, flush=True)
        return 0 if proved else 1
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
