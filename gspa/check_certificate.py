"""Check a certificate of `gspa certify`: python check_certificate.py cert.json

Needs Python and python-flint (Arb's balls); nothing of gspa. Exit status 0 PROVED, 1 NOT PROVED, 2 not a certificate.

What is proved: delta(eps) <= delta for the dominating pair (Feldman, McMillan and Talwar 2021; Chen et al. 2024,
Theorem 1; the book's page of proofs, "Aligned clones"). The victim reports one of two outcomes with mass p a and a,
p = e^eps_n, else nothing that depends on the input. C others are copies of either outcome, C = sum_j Bernoulli(q_j).
Given C = c, k copies of the first outcome among c + 1 have the masses, b(k) = P(A = k) for A ~ Bin(c, 1/2),

    a (p b(k-1) + b(k))    against    a (b(k-1) + p b(k)),

and the part of the first above e = e^eps times the second is positive from k = theta (c+1) on,
theta = (p e - 1)/((p - 1)(e + 1)), because b(k-1)/b(k) = k/(c+1-k) rises. So with K = ceil(theta (c+1))

    delta_c = a [(p - e) b(K-1) - (p + 1)(e - 1) P(A >= K)]        delta(eps) = sum_c P(C = c) delta_c.

Nothing is dropped without being counted: what a window leaves out is 1 minus what it holds, at delta_c <= a (p - e).
The victim is the user with the largest eps, which is the worst ("The worst victim" there).
"""

import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from flint import arb, arb_poly, ctx

FORMAT = "gspa certificate 1"
FIELDS = ["format", "statement", "family", "parameters", "users", "relation", "rounds", "eps", "delta"]
FIELDS += ["method", "proof"]
REPLACE = "replace one user's record"
Ranges = dict[str, tuple[str, str] | tuple[int, int]]
MOST_USERS, MOST_GROUPS, MOST_TERMS, MOST_EPS = 10**12, 1000, 2 * 10**6, 200


class Family(NamedTuple):
    """Who a certificate is about: in words; how it is proved; its parameters' ranges; whether all have one eps."""

    words: str
    methods: tuple[str, ...]
    parameters: Ranges
    one: bool = False


FAMILIES = {
    "rr": Family("binary randomized response, own eps each", ("dominating pair",), {}),
    "aligned": Family("any randomizers with aligned clones, own eps each", ("dominating pair",), {}),
    "common": Family("any one randomizer of this local eps, the same for all users", ("dominating pair",), {}, True),
    "tv": Family(
        "any one randomizer of this local eps and at most total variation {tv}, the same for all users",
        ("dominating pair",),
        {"tv": ("1e-30", "1")},
        True,
    ),
}


class Refused(Exception):
    """Not a certificate, in one line."""


def need(true: bool, words: str) -> None:
    if not true:
        raise Refused(words)


def number(value: Any, name: str, low: str, high: str) -> Decimal:
    """An exact decimal in [low, high]."""
    need(isinstance(value, (int, Decimal)) and not isinstance(value, bool), f"{name}: must be a number")
    found = Decimal(value)
    need(found.is_finite() and Decimal(low) <= found <= Decimal(high), f"{name} = {value}: must be in [{low}, {high}]")
    need(len(found.as_tuple().digits) <= 30, f"{name}: at most 30 digits")
    return found


def numbers(value: Any, name: str, ranges: Ranges) -> None:
    """Numbers of these names in these ranges; whole ones where the range is written without quotes."""
    need(isinstance(value, dict) and set(value) == set(ranges), f"{name}: must be {{{', '.join(ranges)}}}")
    for key, (low, high) in ranges.items():
        number(value[key], key, str(low), str(high))
        need(isinstance(low, str) or type(value[key]) is int, f"{key}: must be a whole number")


def statement(read: dict[str, Any]) -> str:
    """What the other fields say, in words."""
    users = ", ".join(f"{count} with local eps = {eps}" for eps, count in read["users"])
    return (
        f"The shuffled reports of these users are ({read['eps']}, {read['delta']})-differentially private "
        f"({read['relation']}): {users}; {FAMILIES[read['family']].words.format(**read['parameters'])}."
    )


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


def read(text: str) -> dict[str, Any]:
    """The fields, each in its range; anything else is refused."""
    found: dict[str, Any] = parsed(text)
    need(isinstance(found, dict) and set(found) == set(FIELDS), f"the fields must be {', '.join(FIELDS)}")
    need(found["format"] == FORMAT, f"format: must be {FORMAT!r}")
    need(isinstance(found["family"], str) and found["family"] in FAMILIES, f"family: one of {', '.join(FAMILIES)}")
    family = FAMILIES[found["family"]]
    need(found["method"] in family.methods, f"method: one of {', '.join(family.methods)}")
    need(found["relation"] == REPLACE, f"relation: must be {REPLACE!r}")
    need(type(found["rounds"]) is int and found["rounds"] == 1, "rounds: must be 1")
    numbers(found["parameters"], "parameters", family.parameters)
    numbers(found["proof"], "proof", {})
    groups = found["users"]
    need(isinstance(groups, list) and 1 <= len(groups) <= MOST_GROUPS, f"users: 1 to {MOST_GROUPS} pairs [eps, count]")
    for group in groups:
        need(isinstance(group, list) and len(group) == 2, "users: a list of pairs [eps, count]")
        number(group[0], "a user's eps", "0", str(MOST_EPS))
        need(type(group[1]) is int and 1 <= group[1] <= MOST_USERS, f"a count must be 1 to {MOST_USERS}")
    need(sum(count for _, count in groups) <= MOST_USERS, f"at most {MOST_USERS} users")
    need(len({Decimal(eps) for eps, _ in groups}) == len(groups), "users: two groups have the same eps")
    need(not family.one or len(groups) == 1, "users: this family needs one eps for all")
    number(found["eps"], "eps", "0", str(MOST_EPS))
    number(found["delta"], "delta", "1e-300", "0.999999")
    need(found["statement"] == statement(found), "the statement in words is not that of the other fields")
    return found


def ball(value: object) -> arb:
    """A number of the file, which is decimal, as a ball."""
    return arb(str(value))


def depth_for(delta: Decimal) -> int:
    """L with e^-L well below delta: how deep a window must go to lose nothing that counts."""
    return int(-2.303 * delta.adjusted()) + 30


def binomial(count: int, q: arb, low: int, high: int) -> list[arb]:
    """P(Bin(count, q) = low..high), 0 < q < 1."""
    log = (arb(count + 1).lgamma() - arb(low + 1).lgamma() - arb(count - low + 1).lgamma()) + low * q.log()
    masses, odds = [(log + (count - low) * (1 - q).log()).exp()], q / (1 - q)
    for k in range(low, high):
        masses.append(masses[-1] * odds * (count - k) / (k + 1))
    return masses


def clones(groups: list[tuple[int, arb]], depth: int) -> tuple[int, list[arb]]:
    """`first` and masses of C = first, first + 1, ... for (count, q) each, cut to windows: none is too large."""
    parts: list[tuple[float, float, int, arb_poly]] = []
    shift = terms = 0
    for count, q in groups:
        if q == 1:  # exactly, at eps = 0: a user whose report ignores the input is a clone
            shift += count
        elif count:
            need(bool(q < 1), "the precision does not suffice")
            mean, variance = float(count * q), float(count * q * (1 - q))
            reach = (2 * depth * variance) ** 0.5 + depth
            low, high = max(0, int(mean - reach)), min(count, int(mean + reach) + 1)
            terms += high - low + 1
            need(terms <= MOST_TERMS, f"more than {MOST_TERMS} terms: this would take too long")
            parts.append((mean, variance, low, arb_poly(binomial(count, q, low, high))))
    while len(parts) > 1:  # convolve neighbours, smallest first, and cut
        parts.sort(key=lambda part: part[3].length())
        (mean, variance, low, one), (mean2, variance2, low2, other) = parts[:2]
        mean, variance, low = mean + mean2, variance + variance2, low + low2
        reach, whole = (2 * depth * variance) ** 0.5 + depth, (one * other).coeffs()
        first, last = max(0, int(mean - reach) - low), max(0, int(mean + reach) + 2 - low)
        parts[:2] = [(mean, variance, low + first, arb_poly(whole[first:last]))]
    if not parts:
        return shift, [arb(1)]
    return shift + parts[0][2], parts[0][3].coeffs()


def terms(first: int, many: int, p: arb, e: arb) -> Iterator[arb]:
    """delta_c/a for c = first, first + 1, ..., `many` of them."""
    theta = (p * e - 1) / ((p - 1) * (e + 1))
    need(bool(theta < 1), "the precision does not suffice")
    k, pmf, tail = 0, arb(0), arb(0)
    for c in range(first, first + many):
        x = theta * (c + 1)
        wanted = min(int(float((x.mid() + arb(2) ** -40).floor())) + 1, c + 1)  # theta < 1
        need(bool(x > wanted - 2) and (wanted == c + 1 or bool(x < wanted)), "the precision does not suffice")
        if k == 0:
            k = wanted
            mass = pmf = binomial(c, arb(0.5), k - 1, k - 1)[0]  # b(k-1)
            for j in range(k, c + 1):
                mass = mass * (c - j + 1) / j  # b(j)
                tail += mass
                ratio = arb(c - j) / (j + 1)  # b(i+1)/b(i) falls: the rest is at most a geometric series
                if mass < pmf * arb(2) ** -ctx.prec and ratio < 1:
                    tail += arb(0, 1) * (mass * ratio / (1 - ratio))
                    break
        else:  # from c - 1 to c: P(A_c >= k) = P(A_(c-1) >= k) + b(k-1)/2
            tail += pmf / 2
            pmf = pmf * c / (2 * (c - k + 1))
        while k < wanted:
            pmf = pmf * (c - k + 1) / k  # b(k)
            tail -= pmf
            k += 1
        value = (p - e) * pmf - (p + 1) * (e - 1) * tail
        if k > 1 and not x > k - 1:  # x is nearly whole, and k - 1 may belong to the sum: what it adds, if positive
            value += ((p - e) * pmf * (k - 1) / (c - k + 2) - (p * e - 1) * pmf).max(arb(0))
        yield value.max(arb(0))


def delta_of(found: dict[str, Any]) -> arb:
    """A ball; its upper end is at least delta(eps)."""
    delta = Decimal(found["delta"])
    depth = depth_for(delta)
    worst = max(range(len(found["users"])), key=lambda i: Decimal(found["users"][i][0]))
    ctx.prec = 128 + 3 * depth + 3 * int(Decimal(found["users"][worst][0]))
    budgets = [(ball(eps), count - (i == worst)) for i, (eps, count) in enumerate(found["users"])]
    p, e, family = ball(found["users"][worst][0]).exp(), ball(found["eps"]).exp(), found["family"]
    if Decimal(found["eps"]) >= Decimal(found["users"][worst][0]):
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
    held = total = arb(0)
    for mass, value in zip(masses, terms(first, len(masses), p, e), strict=True):
        held, total = held + mass, total + mass * value
    missing = (1 - held).max(arb(0))
    return a * (total + missing * (p - e) * arb(0.5, 0.5))  # between nothing and all of it


def proves(found: dict[str, Any], bound: arb) -> bool:
    """Whether the whole ball lies at delta or below."""
    return bool(bound <= ball(found["delta"]))


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
    except (OSError, UnicodeDecodeError, Refused) as wrong:
        print(f"REFUSED: {wrong}", file=sys.stderr)
        return 2
    proved = proves(found, bound)
    print(f"{found['statement']}\ndelta(eps) is in {bound.str(12)}\n{'PROVED' if proved else 'NOT PROVED'}")
    return 0 if proved else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
