"""Check a certificate of `gspa certify`: python check_certificate.py cert.json

Needs Python and python-flint (Arb's balls); nothing of gspa. Exit status 0 PROVED, 1 NOT PROVED, 2 not a certificate.

What is proved: delta(eps) <= delta, for the users and the family that the statement names. A theorem bounds delta(eps)
from above (the book's page of proofs has each, by the names that are given here), and this program computes a ball
whose upper end is at least the bound. Nothing is dropped without being counted. A check lasts a minute and takes
500 MB at most, on a slow core; what would take more is refused. By method:

    dominating pair     a sum over the number of clones; several rounds: a sum of losses on a grid
    exact law           randomized response: the best test on the number of ones, at all inputs of the others
    privacy blanket     Laplace and Gaussian reports: the mean of the positive part of a sum, on a lattice
    random allocation   one of t noisy sums: the same
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from functools import cache
from itertools import pairwise, product, zip_longest
from math import log2, prod
from typing import Any, NamedTuple

from flint import arb, arb_mat, arb_poly, ctx

FORMAT = "gspa certificate 1"
FIELDS = ["format", "statement", "family", "parameters", "users", "relation", "rounds", "eps", "delta"]
FIELDS += ["method", "proof"]
REPLACE = "replace one user's record"
Ranges = dict[str, tuple[str, str] | tuple[int, int]]
# What is taken, and what a check may cost: WORK is in microseconds of a fast core, on balls of a few hundred bits.
MOST_USERS, MOST_GROUPS, MOST_EPS, MOST_ROUNDS = 10**10, 1000, 200, 10**5
WORK, BYTES = 2 * 10**7, 3 * 10**8
MOST_COVERS, MOST_SLOPES = 4, 8
EXACT = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)  # a number of 30 digits times MOST_ROUNDS; by default 28 digits
# How fine; any choice is valid.
BLOCK = 40  # inputs of the others that are looked at together
POINTS, TRIES = 300, 8  # of a grid of losses, on either side of 0; to find its end
CELLS, PER_DEVIATION = 20_000, 32  # of a term's law; places of the lattice in its standard deviation
PLACES = 50_000  # of a lattice; beyond so many it is made coarser
BLOCKS, PAIRS = 80, 10**6  # of numbers of draws from a blanket; of numbers of blankets and clones
BITS, FORGONE, FAR = 64, 1e-5, 40  # of a mass on a lattice; of delta, what may be cut; how far cuts are looked for


class Family(NamedTuple):
    """Who a certificate is about: in words; how it is proved; its parameters' ranges; whether all have one eps."""

    words: str
    methods: tuple[str, ...]
    parameters: Ranges
    one: bool = False
    unit: str = "local eps"
    least: str = "0"


FAMILIES = {
    "rr": Family(
        "binary randomized response (the true bit with odds e^eps), own eps each", ("exact law", "dominating pair"), {}
    ),
    "aligned": Family(
        "any randomizers with these local eps and aligned clones: for all users i and j, any two inputs x and x' that "
        "differ, any input y, and whatever was reported before, R_j(y) >= (R_i(x) + R_i(x'))/(1 + e^(eps_j)) "
        "everywhere, where R_i(x) is the law of the report of user i with input x",
        ("dominating pair",),
        {},
    ),
    "common": Family(
        "any one randomizer of this local eps, the same for all users",
        ("dominating pair",),
        {},
        True,
    ),
    "tv": Family(
        "any one randomizer of this local eps, the same for all users, with at "
        "most total variation {tv} between the reports of any two inputs",
        ("dominating pair",),
        {"tv": ("1e-30", "1")},
        True,
    ),
    "krr": Family(
        "{k}-ary randomized response (one's own of {k} items with odds e^eps to each other one), own eps each",
        ("dominating pair",),
        {"k": (3, 10**9)},
    ),
    "subset": Family(
        "subset selection (a set of {size} of {k} items, with odds e^eps to each other one if it holds one's own item "
        "and the other does not), own eps each",
        ("dominating pair",),
        {"k": (3, 10**9), "size": (1, 10**9)},
    ),
    "laplace": Family(
        "Laplace reports of values in [0, 1], density (eps/2) e^(-eps |report - value|), own eps each",
        ("privacy blanket",),
        {},
        least="0.001",
    ),
    "gaussian": Family(
        "Gaussian reports of values in [0, 1], own standard deviation each",
        ("privacy blanket",),
        {},
        unit="standard deviation",
        least="0.01",
    ),
    "allocation": Family(
        "A record contributes a vector of norm at most 1 to one of {steps} sums, chosen uniformly at random and by "
        "itself. All sums together, each with Gaussian noise of standard deviation {sigma}",
        ("random allocation",),
        {"sigma": ("0.01", "1000000"), "steps": (1, 10**8)},
    ),
}


class Refused(Exception):
    """Not a certificate, in one line."""


def need(true: bool, words: str) -> None:
    if not true:
        raise Refused(words)


def spend(steps: float, balls: float = 0) -> None:
    """Count work before it is done, and the balls that it holds at a time: nothing lasts for hours."""
    spent[0] += steps * (1 + ctx.prec / 300)
    need(
        spent[0] <= WORK and balls * (200 + ctx.prec / 4) <= BYTES,
        "more than a minute, or 500 MB: fewer users, groups, rounds or steps, or a larger delta take less",
    )


spent = [0.0]  # by this check


def number(value: Any, name: str, low: str, high: str) -> Decimal:
    """An exact decimal in [low, high]."""
    need(isinstance(value, (int, Decimal)) and not isinstance(value, bool), f"{name}: must be a number")
    found = Decimal(value)
    need(len(found.as_tuple().digits) <= 30, f"{name}: at most 30 digits")
    need(found.is_finite() and Decimal(low) <= found <= Decimal(high), f"{name} = {value}: must be in [{low}, {high}]")
    return found


def numbers(value: Any, name: str, ranges: Ranges) -> None:
    """Numbers of these names in these ranges; whole ones where the range is written without quotes."""
    need(isinstance(value, dict) and set(value) == set(ranges), f"{name}: must be {{{', '.join(ranges)}}}")
    for key, (low, high) in ranges.items():
        number(value[key], key, str(low), str(high))
        need(isinstance(low, str) or type(value[key]) is int, f"{key}: must be a whole number")


def statement(read: dict[str, Any]) -> str:
    """What the other fields say, in words."""
    family = FAMILIES[read["family"]]
    words = family.words.format(**read["parameters"])
    private = f"are ({read['eps']}, {read['delta']})-differentially private ({read['relation']})"
    if read["relation"] in ONE_SIDED:
        held, bound = ONE_SIDED[read["relation"]]
        private = (
            f"satisfy P(event {held} the record) <= e^{read['eps']} P(event {bound} it) + {read['delta']} for every "
            f"event. This is one-sided ({read['relation']}): nothing is said of the two exchanged"
        )
    if read["family"] == "allocation":
        return f"{words}, {private}."
    users = ", ".join(f"{count} with {family.unit} = {scale}" for scale, count in read["users"])
    rounds = f" in {read['rounds']} rounds, with these budgets in each," if read["rounds"] != 1 else ""
    return f"The shuffled reports of these users{rounds} {private}: {users}; {words}."


def parsed(text: str) -> Any:
    """The fields, numbers exact."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in pairs}) == len(pairs), "a field is given twice")
        return dict(pairs)

    def constant(word: str) -> None:
        raise Refused(f"{word} is no number")

    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=constant, object_pairs_hook=once)
    except (ValueError, RecursionError, ArithmeticError) as wrong:
        raise Refused(f"not JSON: {wrong}") from None
    return found


def worded(text: str) -> str:
    """The statement that belongs to the other fields of a file."""
    return statement(parsed(text))


def read_users(groups: Any, family: Family) -> None:
    """Pairs [local eps or standard deviation, count], each in its range."""
    need(isinstance(groups, list) and 1 <= len(groups) <= MOST_GROUPS, f"users: 1 to {MOST_GROUPS} pairs")
    for group in groups:
        need(isinstance(group, list) and len(group) == 2, f"users: a list of pairs [{family.unit}, count]")
        number(group[0], f"a user's {family.unit}", family.least, str(MOST_EPS))
        need(type(group[1]) is int and 1 <= group[1] <= MOST_USERS, f"a count must be 1 to {MOST_USERS}")
    need(sum(count for _, count in groups) <= MOST_USERS, f"at most {MOST_USERS} users")
    need(len({Decimal(scale) for scale, _ in groups}) == len(groups), f"users: two groups have the same {family.unit}")
    need(not family.one or len(groups) == 1, "users: this family needs one eps for all")


def read_covers(proof: Any, many: int) -> None:
    """For each group of users null, or what `Cover` needs."""
    need(isinstance(proof, dict) and set(proof) == {"covers"}, "proof: must be {covers}")
    covers = proof["covers"]
    need(isinstance(covers, list) and len(covers) == many, "covers: one, or null, for each group of users")
    need(sum(cover is not None for cover in covers) <= MOST_COVERS, f"at most {MOST_COVERS} covers")
    for cover in covers:
        if cover is None:
            continue
        need(
            isinstance(cover, dict) and set(cover) == {"radius", "slopes", "breaks"}, "a cover: radius, slopes, breaks"
        )
        slopes, breaks = cover["slopes"], cover["breaks"]
        need(isinstance(slopes, list) and isinstance(breaks, list), "slopes and breaks: lists")
        need(len(breaks) + 1 == len(slopes) <= MOST_SLOPES, f"1 to {MOST_SLOPES} slopes, a break between any two")
        number(cover["radius"], "radius", "0.5", "1000000")
        for values, name in ((slopes, "a slope"), (breaks, "a break")):
            found = [number(value, name, "0", "1e12") for value in values]
            need(found == sorted(found), f"{name}: must not be smaller than the one before")


def read(text: str) -> dict[str, Any]:
    """The fields, each in its range; anything else is refused."""
    found: dict[str, Any] = parsed(text)
    need(isinstance(found, dict) and set(found) == set(FIELDS), f"the fields must be {', '.join(FIELDS)}")
    need(found["format"] == FORMAT, f"format: must be {FORMAT!r}")
    need(isinstance(found["family"], str) and found["family"] in FAMILIES, f"family: one of {', '.join(FAMILIES)}")
    family = FAMILIES[found["family"]]
    need(found["method"] in family.methods, f"method: one of {', '.join(family.methods)}")
    alone = found["family"] == "allocation"
    relations = tuple(CONTRIBUTIONS) if alone else (REPLACE,)
    need(found["relation"] in relations, f"relation: one of {'; '.join(relations)}")
    pairs = found["method"] == "dominating pair" and found["family"] not in ("krr", "subset")
    most = MOST_ROUNDS if pairs else 1
    need(type(found["rounds"]) is int and 1 <= found["rounds"] <= most, f"rounds: must be 1 to {most}")
    numbers(found["parameters"], "parameters", family.parameters)
    if alone:
        need(found["users"] == [], "users: [] for this family")
    else:
        read_users(found["users"], family)
    if found["method"] == "privacy blanket":
        read_covers(found["proof"], len(found["users"]))
    else:
        numbers(found["proof"], "proof", {})
    number(found["eps"], "eps", "0", str(MOST_EPS))
    number(found["delta"], "delta", "1e-300", "0.999999")
    need(found["statement"] == statement(found), "the statement in words is not that of the other fields")
    return found


def ball(value: object) -> arb:
    """A number of the file, which is decimal, as a ball."""
    return arb(str(value))


# --- the dominating pair ---
# Feldman, McMillan and Talwar 2021; Chen et al. 2024, Theorem 1; "Aligned clones". The victim, the user with the
# largest eps ("The worst victim"), reports one of two outcomes with mass p a and a, p = e^eps_n, else nothing that
# depends on the input. C others are copies of either outcome, C = sum_j Bernoulli(q_j). Given C = c, k copies of the
# first outcome among c + 1 have the masses, b(k) = P(A = k) for A ~ Bin(c, 1/2),
#
#     a (p b(k-1) + b(k))    against    a (b(k-1) + p b(k)),
#
# and the part of the first above e = e^eps times the second is positive from k = theta (c+1) on,
# theta = (p e - 1)/((p - 1)(e + 1)), because b(k-1)/b(k) = k/(c+1-k) rises. So with K = ceil(theta (c+1))
#
#     delta_c = a [(p - e) b(K-1) - (p + 1)(e - 1) P(A >= K)]        delta(eps) = sum_c P(C = c) delta_c.
#
# What a window of c leaves out is 1 minus what it holds, at delta_c <= a (p - e).


def depth_for(delta: Decimal) -> int:
    """L with e^-L well below delta: how deep a window must go to lose nothing that counts."""
    return int(-2.303 * delta.adjusted()) + 30


def window(groups: list[tuple[int, arb]], depth: int) -> tuple[int, int]:
    """Where a sum of Bin(count, q) has nearly all of its mass."""
    mean = sum(float(count * q) for count, q in groups)
    variance = sum(float(count * q * (1 - q)) for count, q in groups)
    reach = (2 * depth * max(variance, 0.0)) ** 0.5 + depth  # q = 1 is a ball, and may seem a little larger
    return max(0, int(mean - reach)), min(sum(count for count, _ in groups), int(mean + reach) + 1)


def binomial(count: int, q: arb, low: int, high: int) -> Iterator[arb]:
    """P(Bin(count, q) = low..high), 0 < q < 1."""
    log = (arb(count + 1).lgamma() - arb(low + 1).lgamma() - arb(count - low + 1).lgamma()) + low * q.log()
    mass, odds = (log + (count - low) * (1 - q).log()).exp(), q / (1 - q)
    for k in range(low, high + 1):
        yield mass
        mass = mass * odds * (count - k) / (k + 1)


def clones(groups: list[tuple[int, arb]], depth: int) -> tuple[int, list[arb]]:
    """`first` and masses of C = first, first + 1, ... for (count, q) each, cut to windows: none is too large."""
    if not groups:
        return 0, [arb(1)]
    low, high = window(groups, depth)
    if len(groups) == 1:
        [(count, q)] = groups
        if q == 1 or not count:  # exactly, at eps = 0: a user whose report ignores the input is a clone
            return count, [arb(1)]
        need(bool(q < 1), "the precision does not suffice")
        spend(high - low, high - low)
        return low, list(binomial(count, q, low, high))
    half = len(groups) // 2
    (first, one), (second, other) = clones(groups[:half], depth), clones(groups[half:], depth)
    first += second
    spend(4 * (len(one) + len(other)), 4 * (len(one) + len(other)))
    masses = (arb_poly(one) * arb_poly(other)).coeffs()
    start = max(low, first)
    return start, masses[start - first : high + 1 - first]


class Tosses:
    """b(k-1) and P(A >= k), A ~ Bin(c, 1/2), as c and k rise."""

    def __init__(self, c: int, k: int) -> None:
        self.c, self.k, self.tail = c, k, arb(0)
        self.point = mass = next(binomial(c, arb(0.5), k - 1, k - 1))
        for j in range(k, c + 1):
            mass = mass * (c - j + 1) / j  # b(j)
            self.tail += mass
            ratio = arb(c - j) / (j + 1)  # b(i+1)/b(i) falls: the rest is at most a geometric series
            if mass < self.point * arb(2) ** -ctx.prec and ratio < 1:
                self.tail += arb(0, 1) * (mass * ratio / (1 - ratio))
                break

    def toss(self) -> None:
        """One more: P(A_c >= k) = P(A_(c-1) >= k) + b(k-1)/2."""
        self.tail += self.point / 2
        self.c += 1
        self.point = self.point * self.c / (2 * (self.c - self.k + 1))

    def up(self, k: int) -> None:
        while self.k < k:
            self.point = self.point * (self.c - self.k + 1) / self.k
            self.tail -= self.point
            self.k += 1

    def best(self, one: arb, more: arb, x: arb) -> arb:
        """The sum over all places of which the first is x, `one` b(K-1) - `more` P(A >= K), K = ceil(x): at least 0."""
        wanted = threshold(x, self.c)
        self.up(wanted)
        need(self.k == wanted, "the precision does not suffice")
        found = (one * self.point - more * self.tail).max(arb(0))
        if self.k > 1 and not x > self.k - 1:  # x is nearly whole, and k - 1 may belong to the sum
            before = self.point * (self.k - 1) / (self.c - self.k + 2)
            found = found.max(one * before - more * (self.tail + self.point))
        return found


def threshold(x: arb, c: int) -> int:
    """The least k >= x, or c + 1 if that is less; where x is nearly whole the k after it."""
    k = min(int(float((x.mid() + arb(2) ** -40).floor())) + 1, c + 1)
    need(bool(x > k - 2) and (k == c + 1 or bool(x < k)), "the precision does not suffice")
    return k


def terms(first: int, many: int, p: arb, e: arb) -> Iterator[arb]:
    """delta_c/a for c = first, first + 1, ..., `many` of them."""
    theta = (p * e - 1) / ((p - 1) * (e + 1))
    need(bool(theta < 1), "the precision does not suffice")
    one, more = p - e, (p + 1) * (e - 1)
    tosses = Tosses(first, threshold(theta * (first + 1), first))
    for c in range(first, first + many):
        yield tosses.best(one, more, theta * (c + 1))
        tosses.toss()


def pair_delta(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    delta, rounds = Decimal(found["delta"]), found["rounds"]
    depth = depth_for(delta / rounds) + (10 if rounds > 1 else 0)
    worst = max(range(len(found["users"])), key=lambda i: Decimal(found["users"][i][0]))
    top = Decimal(found["users"][worst][0])
    ctx.prec = 128 + 3 * depth + 3 * int(top)
    budgets = [(ball(eps), count - (i == worst)) for i, (eps, count) in enumerate(found["users"])]
    p, family = ball(top).exp(), found["family"]
    if Decimal(found["eps"]) >= EXACT.multiply(top, Decimal(rounds)):
        return arb(0)  # every local report is (eps_n, 0)-differentially private
    a = 1 / (p + 1)
    if family == "common":
        others = [(count, (-eps).exp()) for eps, count in budgets]
    elif family == "tv":
        a = ball(found["parameters"]["tv"]) / (p - 1)
        # Up to here less total variation is no worse ("A smaller total variation" on the page of proofs).
        need(bool(2 * p * a <= 1), "tv: must be at most (1 - e^-eps)/2")
        others = [(count, 2 * a) for _, count in budgets]
    else:
        others = [(count, 2 / (eps.exp() + 1)) for eps, count in budgets]
    first, masses = clones(others, depth)
    spend((1 if rounds == 1 else TRIES + POINTS + 1) * (4 * len(masses) + (first * ctx.prec) ** 0.5))
    missing = (1 - sum(masses, arb(0))).max(arb(0))

    def once(e: arb) -> arb:
        """delta of one round at e^eps < p."""
        values = terms(first, len(masses), p, e)
        held = sum((mass * value for mass, value in zip(masses, values, strict=True)), arb(0))
        return a * (held + missing * (p - e) * arb(0.5, 0.5))  # between nothing and all of it

    if rounds == 1:
        return once(ball(found["eps"]).exp())
    need(delta >= Decimal("1e-100"), "delta: at least 1e-100 for several rounds")
    return composed(once, ball(top), ball(found["eps"]), rounds, float(delta))


# --- k-ary randomized response and subset selection ---
# "Aligned clones", with a blanket; the victim as in "The worst victim" on the page of proofs. Sets of `size` items are
# reported with odds p if they hold one's own item: so a report is a draw from all sets alike, a blanket, with
# probability q_j. A blanket is one of the victim's two outcomes, a set with one of the two inputs alone, with
# probability `coin`. Told who is a blanket, one sees S of them and the victim, and C ~ Bin(S, coin) of the S are
# clones. A victim who is neither outcome looks like a blanket that is none, with mass 2 a (1 - coin)/coin, or else
# (both inputs) says nothing of the input, and is told. With b as above, and because P(C = c+1)/P(C = c) = (S-c)
# coin/((c+1) (1 - coin)) and the b(k) of c + 1 reports is (b(k-1) + b(k))/2, c + 1 reports of the two outcomes have, k
# of the first among them and up to the factor P(C = c) a/(c+1), the masses
#
#     (c+1) (p b(k-1) + b(k)) + (S-c) (b(k-1) + b(k))    against    (c+1) (b(k-1) + p b(k)) + (S-c) (b(k-1) + b(k)).
#
# From K on the first is above e times the second, as for the pair.


def blankets_delta(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    delta, users, of = Decimal(found["delta"]), found["users"], found["parameters"]
    k, size = int(of["k"]), int(of.get("size", 1))
    need(size < k, "size: must be below k")
    depth = depth_for(delta)
    worst = max(range(len(users)), key=lambda i: Decimal(users[i][0]))
    ctx.prec = 128 + 3 * depth + 3 * int(Decimal(users[worst][0]))
    if Decimal(found["eps"]) >= Decimal(users[worst][0]):
        return arb(0)
    p, e = ball(users[worst][0]).exp(), ball(found["eps"]).exp()
    own, other = arb(k - 1) / (k - size), arb(k - 1) / size  # sets that hold an item, and that do not, up to a factor
    coin, a = 2 / (own + other), 1 / (own * p + other)
    others = [(n - (i == worst), k / (size * ball(eps).exp() + (k - size))) for i, (eps, n) in enumerate(users)]
    first, masses = clones(others, depth)
    # More blankets never hurt: whoever sees the reports can add one. So a block of S counts with its first.
    size = len(masses) // 3000 + 1
    while True:
        blocks = {first + k: sum(masses[k : k + size], arb(0)) for k in range(0, len(masses), size)}
        windows = {s: window([(s, coin)], depth) for s in blocks}
        if sum(high - low for low, high in windows.values()) <= PAIRS or len(blocks) == 1:
            break
        size *= 2
    least, most = windows[first][0], max(high for _, high in windows.values())
    pairs = sum(high - low + 1 for low, high in windows.values())
    spend(7 * pairs + (4 + len(blocks) / 10) * (most - least) + (least * ctx.prec) ** 0.5, 10 * len(blocks))
    shares = {s: binomial(s, coin, *windows[s]) for s in blocks}
    scale, held, total = (p - 1) * (e + 1), arb(0), arb(0)

    def place(c: int, s: int) -> arb:
        return ((p * e - 1) * (c + 1) + (e - 1) * (s - c)) / scale

    tosses = Tosses(least, threshold(place(least, first), least))
    for c in range(least, most + 1):
        row = tosses
        for s in (s for s, (low, high) in windows.items() if low <= c <= high):
            mass = blocks[s] * next(shares[s])
            held += mass
            one, more = (p - e) * (c + 1) - (e - 1) * (s - c), (e - 1) * ((p + 1) * (c + 1) + 2 * (s - c))
            total += mass * row.best(one, more, place(c, s)) / (c + 1)
            if row is tosses:  # which the next c goes on from
                row = copy(tosses)
        tosses.toss()
    return a * total + a * (p - e) * (1 - held).max(arb(0)) * arb(0.5, 0.5)


# --- randomized response: the law of the shuffled bits themselves ---
# "The worst inputs of randomized response" on the page of proofs. The victim has the largest eps and says the truth
# with probability w = p/(1+p). At given inputs of the others let t be the law of the number of ones among them. It is
# log-concave, so that the best test is a threshold, more than m ones:
#
#     g(m) = D t(m) - (e - 1) P(T > m),   D = w - e (1-w),   delta = max_m g(m),
#
# and g(m) >= g(m+1) if D t(m) >= N t(m+1), N = D + e - 1. The ratio t(m)/t(m+1) rises with m, so that g rises up to a
# peak and then falls. Every choice of how many ones each group holds is tried; that covers both orders of the
# victim's inputs, because the second order is the first with all inputs flipped.


def exact_delta(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    delta, users = Decimal(found["delta"]), found["users"]
    worst = max(range(len(users)), key=lambda i: Decimal(users[i][0]))
    depth = depth_for(delta)
    ctx.prec = 64 + 3 * depth // 2 + 3 * int(Decimal(users[worst][0]))
    if Decimal(found["eps"]) >= Decimal(users[worst][0]):
        return arb(0)
    p, e = ball(users[worst][0]).exp(), ball(found["eps"]).exp()
    D = p / (1 + p) - e / (1 + p)
    N = D + e - 1
    groups = [(count - (i == worst), 1 / (ball(eps).exp() + 1)) for i, (eps, count) in enumerate(users)]
    groups.sort(key=lambda group: (-(group[1] == 0.5), group[0]))  # users at eps = 0, whose input is not heard, first
    choices = [range(1 if q == 0.5 else count + 1) for count, q in groups]  # exactly 1/2: a tiny eps is no 0
    blocks = prod(len(choice) for choice in choices[:-1]) * (len(choices[-1]) // BLOCK + 1)
    spend(blocks * (200 + min(BLOCK, len(choices[-1])) ** 2))
    count, q = groups[-1]

    @cache
    def mix(free: int) -> arb_mat:
        laws = [arb_poly([q, 1 - q]) ** b * arb_poly([1 - q, q]) ** (free - b) for b in range(free + 1)]
        return arb_mat([law.coeffs() for law in laws])

    value = arb(0)
    for ones in product(*choices[:-1]):
        rest = [
            part for (many, r), one in zip(groups[:-1], ones, strict=True) for part in ((one, 1 - r), (many - one, r))
        ]
        for first in choices[-1][:: BLOCK + 1]:
            free = min(BLOCK, choices[-1][-1] - first)
            value = value.max(block_delta(rest, count, q, first, mix(free), D, N, depth))
    return value


def block_delta(
    rest: list[tuple[int, arb]], count: int, q: arb, first: int, mix: arb_mat, D: arb, N: arb, depth: int
) -> arb:
    """The largest over `first` to `first + free` ones in the last group: all but `free` of its inputs are the same.

    `mix` has the law of the number of ones among these `free` users, whom q makes err, a row for each of their inputs.
    """
    free = mix.nrows() - 1
    parts = [*rest, (first, 1 - q), (count - first - free, q)]
    start, u = clones(parts, depth)  # the number of ones of all but the free users
    missing = (1 - sum(u, arb(0))).max(arb(0))
    above, tail = [arb(0)] * (len(u) + 1), arb(0)  # above[k + 1] = P(more than start + k)
    for k in range(len(u) - 1, -1, -1):
        above[k + 1] = tail
        tail += u[k]
    above[0] = tail
    users = sum(part[0] for part in parts) + free
    # Tilted by N/D, t has its mode at the peak, next to its mean (Darroch): where to look, which is checked below.
    tilt = N / D
    zero, one = (float(tilt * x / (1 - x + tilt * x)) for x in (q, 1 - q))
    mean = sum(n * float(tilt * x / (1 - x + tilt * x)) for n, x in parts)
    peaks = [int(mean + b * one + (free - b) * zero) for b in range(free + 1)]
    places = range(max(peaks[0] - 3, -1), min(peaks[-1] + 5, users + 2))

    def law(k: int) -> arb:
        return u[k - start] if 0 <= k - start < len(u) else arb(0)

    def over(k: int) -> arb:
        """P(more than k)."""
        return above[min(max(k - start + 1, 0), len(u))]

    # With b of the free users holding a one: t(m) = sum_j mix[b][j] law(m - j), and so for P(more than m).
    known = [law(k) for k in range(places.start - free, places.stop)]
    t = mix * arb_mat([known[free - j : free - j + len(places)] for j in range(free + 1)])
    last = mix * arb_mat([[over(places[-1] - j)] for j in range(free + 1)])
    best = arb(0)
    for b, peak in enumerate(peaks):
        low, high = max(peak - 2, 0) - places[0], min(peak + 3, users) - places[0]
        rises = low + places[0] == 0 or D * (t[b, low - 1] + missing) <= N * t[b, low]
        falls = high + places[0] == users or D * t[b, high] >= N * (t[b, high + 1] + missing)
        need(bool(rises and falls), "the precision does not suffice")
        more = last[b, 0] + sum((t[b, k] for k in range(high + 1, len(places))), arb(0))  # P(more than `high`)
        for k in range(high, low - 1, -1):
            best = best.max(D * t[b, k] - (N - D) * more + D * missing * arb(0.5, 0.5))
            more += t[b, k]
    return best


# --- sums of many like terms, on a lattice ---
# E[(L_1 + ... + L_m)_+] grows when the law of L is spread (Jensen). So each cell of L's range is moved to the two
# lattice points around it, its mean kept, and the m-fold sum is a product of polynomials.


class Lattice(NamedTuple):
    """Masses at (first + k) 2^level steps; `lost` is what was cut off above, `most` the largest place of all.

    What is small below a window is moved up to its first place, which makes no sum of positive parts smaller. `wide`:
    may be made coarser.
    """

    first: int
    masses: arb_poly
    lost: arb
    most: int
    level: int = 0
    wide: bool = True

    def cut(self, spare: float) -> "Lattice":
        """With at most about `spare` cut off above, and as much moved below."""
        masses = self.masses.coeffs()
        low, high, below, above = 0, len(masses), 0.0, 0.0
        while low < high and (below := below + float(masses[low].abs_upper())) <= spare:
            low += 1
        while high > low + 1 and (above := above + float(masses[high - 1].abs_upper())) <= spare:
            high -= 1
        low = min(low, high - 1)
        lost = self.lost + sum(masses[high:], arb(0))
        kept = [sum(masses[: low + 1], arb(0)), *masses[low + 1 : high]]
        found = self._replace(first=self.first + low, masses=arb_poly(kept), lost=lost)
        while found.wide and found.masses.length() > PLACES:
            found = found.coarser()
        return found

    def coarser(self) -> "Lattice":
        """With twice the step: each odd place is moved to its neighbours, half to either, which keeps its mean."""
        masses = [arb(0)] * (self.first % 2) + self.masses.coeffs() + [arb(0)]
        even, odd = masses[::2], [mass / 2 for mass in masses[1::2]]
        moved = [sum(some, arb(0)) for some in zip_longest(even, odd, [arb(0), *odd], fillvalue=arb(0))]
        most = -(-self.most // 2)
        return self._replace(first=self.first // 2, masses=arb_poly(moved), most=most, level=self.level + 1)

    def at(self, level: int) -> "Lattice":
        return self if self.level >= level else self.coarser().at(level)

    def plus(self, other: "Lattice", spare: float) -> "Lattice":
        """The sum of two independent ones: lost where either is."""
        one, two = self.at(other.level), other.at(self.level)
        first, most, places = one.first + two.first, one.most + two.most, one.masses.length() + two.masses.length()
        spend(places * (3 + abs(log2(spare)) / 20), 4 * places)  # masses of very unlike sizes take longer
        return Lattice(first, one.masses * two.masses, one.lost + two.lost, most, one.level, self.wide).cut(spare)

    def times(self, many: int, spare: float) -> "Lattice":
        """The sum of so many independent copies."""
        if many == 1:
            return self
        half = self.times(many // 2, spare / 2)  # which counts twice
        twice = half.plus(half, spare)
        return twice.plus(self, spare) if many % 2 else twice

    def mixed(self, other: "Lattice", share: arb) -> "Lattice":
        """Its masses and `share` of the other's: shares add up to 1 at most."""
        one, two = self.at(other.level), other.at(self.level)
        first = min(one.first, two.first)
        spend(one.masses.length() + two.masses.length())
        masses, more = (arb_poly([arb(0)] * (law.first - first) + law.masses.coeffs()) for law in (one, two))
        return Lattice(first, masses + share * more, one.lost + share * two.lost, max(one.most, two.most), one.level)

    def chained(self, shares: list[arb], spare: float) -> "Lattice":
        """The sum of k independent copies, with `shares[k]`, which add up to 1 at most: Horner's rule in blocks."""
        many = max(1, round(len(shares) ** 0.5))
        copies = [Lattice(0, arb_poly([1]), arb(0), 0)]
        for _ in range(many):
            copies.append(self.plus(copies[-1], spare))
        found = Lattice(0, arb_poly([]), arb(0), 0)
        for start in reversed(range(0, len(shares), many)):
            if start + many < len(shares):
                found = found.cut(spare).plus(copies[many], spare)  # unlikely numbers' masses take long to multiply
            for one, share in zip(copies, shares[start : start + many], strict=False):
                found = found.mixed(one, share)
        return found

    def positive(self, step: arb) -> arb:
        """E[(sum)_+], the lost mass at the largest value that there is."""
        skip = max(-self.first, 0)  # places below 0
        above = arb_poly(self.masses.coeffs()[skip:])
        mean = above.derivative()(1) + (self.first + skip) * above(1)
        return step * arb(2) ** self.level * (mean + self.lost * max(self.most, 0))


def whole(x: arb) -> int:
    """An exact whole number."""
    need(bool(abs(x) < 2**62), "a loss is too large, or no number")
    found = x.unique_fmpz()
    if found is None:
        raise Refused("the precision does not suffice")
    return int(found)


def step_for(cells: list[tuple[arb, arb, arb, arb]]) -> arb:
    """Of the lattice: a part of L's standard deviation, nearly, or of its largest value; any step will do."""
    deviation = sum(float(total) ** 2 / float(mass) for mass, total, _, _ in cells if mass > 0) ** 0.5
    top, bottom = max(float(cell[3]) for cell in cells), min(float(cell[2]) for cell in cells)
    return arb(max(min(deviation, top) / PER_DEVIATION, (top - bottom) / PLACES))


def spread(cells: Iterable[tuple[arb, arb, arb, arb]], step: arb) -> Lattice:
    """From cells (mass, integral of L, least and greatest L): each moved to lattice points around it, mean kept."""
    found: dict[int, arb] = {}
    for mass, total, least, greatest in cells:
        low = whole((least / step).lower().floor())
        high = max(whole((greatest / step).upper().ceil()), low + 1)
        up = (total / step - low * mass) / (high - low)
        found[high] = found.get(high, arb(0)) + up
        found[low] = found.get(low, arb(0)) + mass - up
    first, last = min(found), max(found)
    spend(last - first, last - first)
    ctx.prec = BITS  # each mass keeps so many of its own, however small it is
    return Lattice(first, arb_poly([+found.get(k, arb(0)) for k in range(first, last + 1)]), arb(0), last)


# --- several rounds ---
# "Composition of dominating pairs" and "Losses on a grid" on the page of proofs. delta as a function of x = e^eps is
# convex, so the broken line through it at x_k = e^(k h), k = -K..K, flat beyond the last and straight from (0, 1) to
# the first, lies above it. It is the curve of a pair whose loss is k h with mass x_k (slope after x_k - slope before
# it), and infinite with the height of the flat end. Either order of the pair of one round is the same, so that
# delta(-eps) = 1 - e^-eps (1 - delta(eps)).


def composed(once: Callable[[arb], arb], top: arb, eps: arb, rounds: int, delta: float) -> arb:
    """A ball; its upper end is at least the delta(eps) of so many rounds, each with delta `once` up to eps = top."""
    low, high = 0.0, float(top)
    for _ in range(TRIES):  # where to end the grid: where once is a small part of delta; any place will do
        middle = (low + high) / 2 if low else high / 4
        low, high = (low, middle) if once(arb(middle).exp()) < FORGONE * delta / rounds else (middle, high)
    all_of_it = high >= float(top)  # once is 0 at top itself, not at the double below it
    step = (top if all_of_it else arb(high)) / POINTS
    half = [once((k * step).exp()) for k in range(POINTS)]
    half.append(arb(0) if all_of_it else once((POINTS * step).exp()))
    ends = range(-POINTS, POINTS + 1)
    x = [(k * step).exp() for k in ends]
    height = [half[k] if k >= 0 else 1 - x[k + POINTS] * (1 - half[-k]) for k in ends]
    slopes = [(height[0] - 1) / x[0]]
    slopes += [(height[k + 1] - height[k]) / (x[k + 1] - x[k]) for k in range(2 * POINTS)]
    slopes.append(arb(0))
    masses = arb_poly([x[k] * (slopes[k + 1] - slopes[k]) for k in range(2 * POINTS + 1)])
    ctx.prec = BITS
    sums = Lattice(-POINTS, masses, height[-1], POINTS, wide=False).times(rounds, FORGONE * delta / 60)
    total = sums.lost
    for k, mass in enumerate(sums.masses.coeffs()):
        loss = (sums.first + k) * step
        if not loss <= eps:
            total += mass * (1 - (eps - loss).exp()).max(arb(0))
    return total


# --- Laplace and Gaussian reports: the privacy blanket ---
# "The blanket" and "The worst inputs on a line" on the page of proofs. With r = |y - 1/2| and u = (r + 1/2)^p (p = 1
# Laplace, 2 Gaussian) a report x -> y has the density h e^(-kappa |y - x|^p) >= h e^(-kappa u). The cover w = q/Z on
# B = {r <= radius} has log q piecewise linear and concave in u; user j is a draw from it with probability
# c_j = Z min (h_j e^(-kappa_j u) / q), the minimum at a corner because the logarithm is linear between corners. Then
#
#     delta(eps) <= int outside B of (f0 - e f1)_+ + sum_c P(C = c) E[(L_1 + ... + L_(c+1))_+]/(c+1),
#
# L = (f0 - e f1)/w under w, f0 and f1 the victim's densities at 0 and 1. The mean falls with c (Jensen), so that a
# block of c counts with its first. The cover is no steeper than the victim's own noise, and y -> 1 - y exchanges the
# two inputs, so that one order is both.


class Cover(NamedTuple):
    """q, and its integral Z over B: corners in v = u^(1/p) = r + 1/2, log q there, slopes between."""

    power: int
    corners: list[arb]
    logs: list[arb]
    slopes: list[arb]

    def log(self, piece: int, v: arb) -> arb:
        return self.logs[piece] - self.slopes[piece] * (v**self.power - self.corners[piece] ** self.power)

    def integral(self, piece: int, start: arb, end: arb) -> arb:
        """Of q over start <= v <= end, inside of one piece."""
        slope, high = self.slopes[piece], self.log(piece, arb(0)).exp()
        if slope == 0:
            return high * (end - start)
        if self.power == 1:
            return high * ((-slope * start).exp() - (-slope * end).exp()) / slope
        root = slope.sqrt()
        return high * ((root * end).erf() - (root * start).erf()) * arb.pi().sqrt() / (2 * root)

    def total(self) -> arb:
        pieces = pairwise(self.corners)
        return 2 * sum((self.integral(i, *ends) for i, ends in enumerate(pieces)), arb(0))


class Noise(NamedTuple):
    """Density height e^(-kappa |t|^power)."""

    power: int
    kappa: arb
    height: arb

    @classmethod
    def of(cls, family: str, scale: arb) -> "Noise":
        if family == "laplace":  # eps
            return cls(1, scale, scale / 2)
        kappa = 1 / (2 * scale**2)  # sigma
        return cls(2, kappa, (kappa / arb.pi()).sqrt())

    def below(self, t: arb) -> arb:
        """P(noise <= t)."""
        if self.power == 2:
            return (1 + (self.kappa.sqrt() * t).erf()) / 2
        return (1 + t.sgn() * (1 - (-self.kappa * abs(t)).exp())) / 2

    def alone(self, e: arb, eps: arb) -> arb:
        """delta(eps) of one report that nobody hides, at 0 against 1."""
        if self.power == 1:
            return (1 - ((eps - self.kappa) / 2).exp()).max(arb(0))
        place = self.crossing(eps)
        return self.below(place) - e * self.below(place - 1)

    def crossing(self, eps: arb) -> arb:
        """Where f0 = e f1, Gaussian noise; left of it f0 is the larger."""
        return 0.5 - eps / (2 * self.kappa)


def cover_of(noise: Noise, given: dict[str, Any]) -> Cover:
    """With a slope between any two corners: from u = 2^-p to the edge of B, cut at the breaks."""
    power, slopes = noise.power, [ball(slope) for slope in given["slopes"]]
    need(bool(slopes[-1] <= noise.kappa), "a slope is steeper than the noise of the user who is covered")
    u = [arb(0.5) ** power, *(ball(x) for x in given["breaks"]), (ball(given["radius"]) + 0.5) ** power]
    need(all(bool(x <= y) for x, y in pairwise(u)), "a break lies outside of the radius")
    logs = [arb(0)]
    for i, slope in enumerate(slopes):
        logs.append(logs[-1] - slope * (u[i + 1] - u[i]))
    return Cover(power, [x if power == 1 else x.sqrt() for x in u], logs, slopes)


def cells(cover: Cover, total: arb, noise: Noise, e: arb) -> Iterator[tuple[arb, arb, arb, arb]]:
    """B in about `CELLS` cells: mass of w, integral of L w, and a range of L."""
    length = cover.corners[-1] - cover.corners[0]
    for piece, (start, end) in enumerate(pairwise(cover.corners)):
        many = max(1, int(float(CELLS / 2 * (end - start) / length)))
        v = [start + (end - start) * k / many for k in range(many + 1)]
        masses = [cover.integral(piece, a, b) / total for a, b in pairwise(v)]
        for side in (-1, 1):
            places = [0.5 + side * (x - 0.5) for x in v]  # y
            laws = [[noise.below(y - x) for y in places] for x in (0, 1)]
            for k, mass in enumerate(masses):
                got = [side * (law[k + 1] - law[k]) for law in laws]
                inside, cell = v[k].union(v[k + 1]), places[k].union(places[k + 1])
                shared = noise.height.log() - cover.log(piece, inside) + total.log()
                away = (prod([abs(cell - x)] * noise.power) for x in (0, 1))  # `**` is NaN for a ball around 0
                f0, f1 = ((shared - noise.kappa * far).exp() for far in away)
                range_ = f0 - e * f1
                yield mass, got[0] - e * got[1], range_.lower(), range_.upper()


def outside(cover: Cover, noise: Noise, e: arb, eps: arb) -> arb:
    """Of the victim's report outside B, radius >= 1/2: f0 > e f1 only on its left, up to where the two cross."""
    edge = 1 - cover.corners[-1]  # 1/2 - radius
    if noise.power == 2:
        edge = edge.min(noise.crossing(eps))  # Laplace: f0/f1 is constant there
    return (noise.below(edge) - e * noise.below(edge - 1)).max(arb(0))


def blanket_delta(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps) of every user."""
    delta = Decimal(found["delta"])
    need(delta >= Decimal("1e-100"), "delta: at least 1e-100 for this family")
    family, users, worst = found["family"], found["users"], arb(0)
    ctx.prec = precision = 192 + 3 * depth_for(delta)
    eps = ball(found["eps"])
    noises = [Noise.of(family, ball(scale)) for scale, _ in users]
    for i, (victim, cover) in enumerate(zip(noises, found["proof"]["covers"], strict=True)):
        ctx.prec = precision
        if cover is None:  # the report alone says little enough
            worst = worst.max(victim.alone(eps.exp(), eps))
            continue
        # Who has less noise is told: beyond B the cover must not fall more slowly than anybody's report whom it covers.
        own = Decimal(users[i][0])
        others = [
            (noises[k], count - (i == k))
            for k, (scale, count) in enumerate(users)
            if (Decimal(scale) <= own if family == "laplace" else Decimal(scale) >= own)
        ]
        worst = worst.max(covered_delta(cover_of(victim, cover), victim, others, eps, delta))
    return worst


def covered_delta(cover: Cover, victim: Noise, others: list[tuple[Noise, int]], eps: arb, delta: Decimal) -> arb:
    """The bound above for one victim."""
    e, total, draws = eps.exp(), cover.total(), []
    for other, count in others:
        least = arb.pos_inf()
        for v, log in zip(cover.corners, cover.logs, strict=True):
            least = least.min(other.height.log() - other.kappa * v**cover.power - log)
        draws.append((count, (least.exp() * total).min(arb(1))))
    first, masses = clones(draws, depth_for(delta) - 16)
    missing = (1 - sum(masses, arb(0))).max(arb(0))
    placed = list(cells(cover, total, victim, e))
    step = step_for(placed)
    law = spread(placed, step)
    spare = FORGONE * float(delta) / (2 * BLOCKS * float(step) * max(abs(law.first), law.most))
    size = max(1, len(masses) // BLOCKS)
    blocks = range(0, len(masses), size)
    shares = [sum(masses[k : k + size], arb(0)) * (first + 1) / (first + k + 1) for k in blocks]
    sums = law.times(first + 1, spare).plus(law.times(size, spare).chained(shares, spare), spare)
    return outside(cover, victim, e, eps) + missing + sums.positive(step) / (first + 1)


# --- one of t noisy sums, chosen at random: random allocation ---
# "Largest contributions are the worst" on the page of proofs. With z standard normal and a = 1/sigma,
# delta(eps) = E[(L_1 + ... + L_t)_+]/t for L = X - e Y, X = e^(u z - u^2/2), Y = e^(v z - v^2/2), and (u, v) = (a, 0)
# for a record that is removed, (0, a) for one that is added, (a, -a) for one that is replaced. L is monotone in z.
# Beyond the cut at its upper end L counts as V, its value there, and E[(L - V)_+] is added; beyond the other end it
# counts as its value at that end, which is larger.

ONE_SIDED = {"remove one record": ("with", "without"), "add one record": ("without", "with")}
CONTRIBUTIONS = {
    "remove one record": ((1, 0),),
    "add one record": ((0, 1),),
    "add or remove one record": ((1, 0), (0, 1)),
    "replace one record": ((1, -1),),
}


def below(z: arb) -> arb:
    """P(standard normal <= z)."""
    return (-z / arb(2).sqrt()).erfc() / 2


def allocation_delta(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    delta, steps = Decimal(found["delta"]), found["parameters"]["steps"]
    need(delta >= Decimal("1e-100"), "delta: at least 1e-100 for this family")
    worst = arb(0)
    for one, other in CONTRIBUTIONS[found["relation"]]:
        ctx.prec = 192 + 3 * depth_for(delta)
        a = 1 / ball(found["parameters"]["sigma"])
        worst = worst.max(allocated(one * a, other * a, ball(found["eps"]).exp(), steps, float(delta)))
    return worst


def allocated(u: arb, v: arb, e: arb, steps: int, delta: float) -> arb:
    """The same for one order."""
    sign = 1 if u > 0 else -1  # L rises with sign z, which is called z from here on
    u, v = sign * u, sign * v

    def level(z: arb) -> arb:
        return (u * (z - u / 2)).exp() - e * (v * (z - v / 2)).exp()

    def above(z: arb) -> arb:
        """E[(L - L at z)_+]."""
        return below(u - z) - e * below(v - z) - level(z) * below(-z)

    def beneath(z: arb) -> arb:
        """E[(L at z - L)_+]."""
        return level(z) * below(z) - below(z - u) + e * below(z - v)

    low, high = -3, 3
    while high < FAR and not above(arb(high)) < FORGONE * delta:
        high += 1
    top, variance = level(arb(high)), (u * u).exp() - 2 * e * (u * v).exp() + (e * (v * v).exp()) * e - (1 - e) ** 2
    enough = FORGONE * variance.sqrt().min(top) / steps**0.5
    while low > -FAR and not (beneath(arb(low)) < enough or level(arb(low)) < -steps * top):  # no such sum is positive
        low -= 1
    z = [low + arb(k) * (high - low) / CELLS for k in range(CELLS + 1)]
    levels, masses = [level(x) for x in z], [below(x) for x in z]
    means = [below(x - u) - e * below(x - v) for x in z]
    placed = [(masses[0], masses[0] * levels[0], levels[0], levels[0])]
    for k in range(CELLS):
        placed.append((masses[k + 1] - masses[k], means[k + 1] - means[k], levels[k], levels[k + 1]))
    placed.append((1 - masses[-1], (1 - masses[-1]) * levels[-1], levels[-1], levels[-1]))
    step, rest = step_for(placed), above(z[-1])
    law = spread(placed, step)
    sums = law.times(steps, FORGONE * delta / (40 * float(step) * max(abs(law.first), law.most)))
    return sums.positive(step) / steps + rest


METHODS: dict[str, Callable[[dict[str, Any]], arb]] = {
    "exact law": exact_delta,
    "dominating pair": pair_delta,
    "privacy blanket": blanket_delta,
    "random allocation": allocation_delta,
}


def delta_of(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    method = blankets_delta if found["family"] in ("krr", "subset") else METHODS[found["method"]]
    spent[0] = 0.0
    return method(found)


def proves(found: dict[str, Any], bound: arb) -> bool:
    """Whether the whole ball lies at delta or below."""
    return bool(bound <= ball(found["delta"]))


def shown(bound: arb) -> str:
    """The upper end, rounded up."""
    digits, power = (int(x) for x in bound.upper().man_exp())
    up = Context(prec=12, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(up.multiply(digits, 2**power) if power >= 0 else up.divide(Decimal(digits), Decimal(2**-power)))


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python check_certificate.py cert.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            text = file.read(10**6 + 1)
        need(len(text) <= 10**6, "longer than a certificate")
        found = read(text)
        bound = delta_of(found)
        need(bool(bound < 2), "the precision does not suffice")
        proved = proves(found, bound)
        print(f"{found['statement']}\ndelta(eps) <= {shown(bound)}\n{'PROVED' if proved else 'NOT PROVED'}", flush=True)
    except KeyboardInterrupt:
        print("INTERRUPTED: nothing was proved", file=sys.stderr)
        return 130
    except MemoryError:
        print("REFUSED: out of memory", file=sys.stderr)
        return 2
    except (OSError, ArithmeticError, ValueError, RecursionError, Refused) as wrong:
        print(f"REFUSED: {wrong}", file=sys.stderr)
        return 2
    return 0 if proved else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
