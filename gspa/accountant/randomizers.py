"""What every user runs: a mechanism is data, a table of atoms for its worst two inputs and a coverage of the others.

A `Randomizer` is admitted for one of two reasons. Either every other user's report law is at least r_j (Q0 + Q1),
pointwise and for every input, where Q0 and Q1 are the victim's two outcomes: then that user is a copy of either with
probability r_j each, and the rest of the report is revealed. Or it is at least c_j B for one law B, and the victim's
worst two inputs are known: then that user is a draw from B with probability c_j, and the randomizer is its table of
atoms (`gspa.accountant.pair.AtomTable`). The first is the second with two atoms.

>>> items = KRR(k=4)
>>> q, rest = items.clones(np.array([0.0]))
>>> round(float(q[0]), 12), items.victim(1.0).base.tolist()  # eps = 0 is a draw from B, the uniform law
(1.0, [0.25, 0.25, 0.25, 0.25])
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, partial
from io import TextIOWrapper
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.budgets import encoding
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.pair import AtomTable, Victim

Likely = NDArray[np.bool_]

_LEAST = float(np.finfo(np.float64).tiny)
_PURE = (
    "; a user with delta_j > 0 is pure with probability 1 - delta_j, and else arbitrary but independent of all others"
)


@dataclass(frozen=True)
class Mechanism:
    """What every user runs; its own parameters are its fields, and `name` is the word for it on the command line."""

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidValue("mechanism", self, "one of its kinds, such as RandomizedResponse() or KRR(k=10)")
        check.fields(self, partial(check.count, 2), *(one.name for one in fields(self) if one.name in ("k", "g")))


class Randomizer(Mechanism):
    """A mechanism with pointwise clones.

    Attributes:
        common: every user must have the same eps.
        local_delta: local delta_j > 0 can be accounted for.
        scales: proved: for fixed others, e^eps - 1 at a given delta grows at least in proportion to 1 - q of the
            victim (advanced joint convexity; see `gspa.accountant.one_round`).
        known: the laws of its reports are known, so that it can be attacked.
        words: what it is, with its fields in braces.
        holds: the class of randomizers for which an upper end holds, if that is not the words and whose eps it is.
    """

    common: ClassVar[bool] = False
    local_delta: ClassVar[bool] = True
    scales: ClassVar[bool] = False
    known: ClassVar[bool] = True
    words: ClassVar[str] = ""
    holds: ClassVar[str] = ""

    @property
    def bits(self) -> bool:
        """Whether its reports are bits of binary randomized response, of which the exact law is known."""
        return False

    @property
    def label(self) -> str:
        """For figures and messages."""
        return self.words.format_map(asdict(self))

    @property
    def valid_for(self) -> str:
        """The class of randomizers for which an upper end holds."""
        if self.holds:
            return self.holds.format_map(asdict(self))
        return f"{self.label}, {'one eps for all' if self.common else 'own eps_j each'}{_PURE}"

    def atoms(self, eps: float) -> tuple[Array, Array]:
        """B, and the law of a report of each of r inputs relative to it, shape (r, k).

        k are classes of outputs that the r inputs do not tell apart any further: the victim's two inputs first, then
        others that somebody may hold.
        """
        raise NotImplementedError

    def victim(self, eps: float) -> Victim | AtomTable:
        """What a report of local eps > 0 shows."""
        if eps > MOST_EXPONENT:
            raise OutsideValidity(
                self.label, f"eps <= {MOST_EXPONENT:g} of the victim", f"got {eps:g}, which hides nothing"
            )
        base, relative = self.atoms(eps)
        return AtomTable(eps, base, relative[0], relative[1], np.empty((3, 0)))

    def rows(self, eps: float) -> Array:
        """The laws of a report, shape (r, k)."""
        base, relative = self.atoms(eps)
        law = base * relative
        return np.asarray(law / law.sum(axis=1, keepdims=True))

    def clones(self, eps: Array) -> tuple[Array, Array]:
        """(q, 1 - q) of users of these eps: q is the probability to be a clone of either outcome, or a draw from B."""
        raise NotImplementedError

    def wider(self, eps: float) -> list[Randomizer]:
        """Itself first; and others of this eps whose upper ends hold for it, too, and may be less."""
        return [self]


def _rounded_down(q: Array, rest: Array) -> tuple[Array, Array]:
    """A probability, and 1 minus it, less what their roundings may be: of a million users none of it may be missing."""
    return q * (1 - 64 * UNIT), rest + 64 * UNIT * q


def _classes(mass: dict[tuple[bool, ...], float]) -> tuple[Array, Likely]:
    """B's mass of each class of outputs, and whether each input makes it likely, shape (r, k)."""
    used = {key: part for key, part in mass.items() if part > 0}
    base = np.array(list(used.values()))
    return base / base.sum(), np.array(list(used)).T


def _tilted(base: Array, likely: Likely, eps: float) -> tuple[Array, Array]:
    """R(x) = c (e^eps on what x makes likely, 1 elsewhere) B, c = 1/(1 + s (e^eps - 1)), s what is likely."""
    share, shrunk = float(base[likely[0]].sum()), math.exp(-eps)
    return base, np.where(likely, 1.0, shrunk) / (shrunk * (1 - share) + share)


class _Likely(Randomizer):
    """Every input makes some outputs e^eps times as likely, of one mass s under B.

    B is covered with c = 1/(1 + s (e^eps - 1)) whatever the input. R(x) = c B + (1 - c) B given "likely".
    """

    scales = True
    k: int

    def chance(self, held: tuple[bool, ...]) -> float:
        """In proportion to B's mass of the outputs that these of the first items make likely, and no others of them."""
        raise NotImplementedError

    @cached_property
    def table(self) -> tuple[Array, Likely]:
        """By the two items of the victim, and a third one."""
        return _classes({one: self.chance(one) for one in product((True, False), repeat=min(self.k, 3))})

    @property
    def bits(self) -> bool:
        return self.known and self.table[0].size == 2

    def atoms(self, eps: float) -> tuple[Array, Array]:
        return _tilted(*self.table, eps)

    def victim(self, eps: float) -> Victim | AtomTable:
        return Victim.binary(eps) if self.table[0].size == 2 else super().victim(eps)

    def clones(self, eps: Array) -> tuple[Array, Array]:
        base, likely = self.table
        share, shrunk = float(base[likely[0]].sum()), np.exp(-eps)
        # Among thousands of users an absolute error of 1e-16 in 1 - q is nothing, and expm1 is slow.
        gap = share * (-np.expm1(-eps) if eps.size <= 4096 else 1 - shrunk)
        return _rounded_down(shrunk / (shrunk + gap), gap / (shrunk + gap))


class _Subsets(_Likely):
    """Sets of `size` of k items, those that hold one's own likelier."""

    size: int

    def chance(self, held: tuple[bool, ...]) -> float:
        # Whole numbers as long as possible: the chance is the same in whatever order the items are held.
        ways, all_ways, inside, outside = 1, 1, self.size, self.k - self.size
        for holds in held:
            ways, all_ways = ways * max(inside if holds else outside, 0), all_ways * (inside + outside)
            inside, outside = inside - holds, outside - (not holds)
        return ways / all_ways


@dataclass(frozen=True)
class RandomizedResponse(_Subsets):
    """Binary randomized response, own eps each: the truth with probability e^eps/(1 + e^eps).

    The answer is the exact law of the shuffled bits (`gspa.accountant.exact`) in one round, without local deltas, and
    up to 2^16 choices of the others' inputs: 65,536 users of one eps, or 256 each of two. Else it is that of `Aligned`,
    which is an upper bound, and the note says so.
    """

    name = "rr"
    words = "binary randomized response"
    k = 2
    size = 1


BINARY = RandomizedResponse()


@dataclass(frozen=True)
class Aligned(RandomizedResponse):
    """Any randomizers with aligned clones, own eps each: the dominating pair of binary randomized response.

    Each user j runs an eps_j-LDP randomizer whose reports have, for every input, the law of either part of the
    victim's randomizer with probability at least 1/(1 + e^eps_j). Binary randomized response is one of them, so the
    answer is never below that of `RandomizedResponse`.
    """

    name = "aligned"
    known = False
    words = "randomizers with aligned clones"
    holds = (
        f"any {words}: own eps_j each, R_j >= (Q_0 + Q_1)/(1 + e^{{{{eps_j}}}}) for the parts Q_0, Q_1 of the victim's "
        f"randomizer{_PURE}"
    )


@dataclass(frozen=True)
class Duchi(RandomizedResponse):
    """Duchi et al.'s mechanism for a value in [-1, 1], own eps each: the answer of `RandomizedResponse`.

    It is binary randomized response on a coin of mean (1 + x)/2: reports of any values are mixtures of those of -1 and
    1, and no mixture is told apart better than the worst of what is mixed.
    """

    name = "duchi"
    words = "Duchi et al.'s mechanism"
    holds = f"{words} for a value in [-1, 1], own eps_j each{_PURE}"


@dataclass(frozen=True)
class KRR(_Subsets):
    """k-ary randomized response, own eps each.

    Attributes:
        k: number of items, >= 2.
    """

    name = "krr"
    words = "{k}-ary randomized response"
    size = 1
    k: int


@dataclass(frozen=True)
class SubsetSelection(_Subsets):
    """Subset selection (Ye and Barg 2018), own eps each: a set of items, those with one's own e^eps times as likely.

    Attributes:
        k: number of items, >= 2.
        size: items in a reported subset, 1 to k - 1; 1 is k-ary randomized response.
    """

    name = "subset"
    words = "subset selection, {size} of {k}"
    k: int
    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check.fields(self, check.count, "size")
        if self.size >= self.k:
            raise InvalidValue("size", self.size, f"in [1, k - 1] = [1, {self.k - 1}]")


@dataclass(frozen=True)
class LocalHashing(_Likely):
    """Local hashing: g-ary randomized response on a random hash of the item, sent with the hash; own eps each.

    Bassily and Smith 2015, Wang et al. 2017. Each user draws a hash by themselves, a uniformly random function. B is
    uniform on hashes and values.

    Attributes:
        k: number of items, >= 2.
        g: values of a hash, >= 2; 2 is binary local hashing, optimized local hashing takes about e^eps + 1.
    """

    name = "hashing"
    words = "local hashing to {g} values"
    holds = (
        "local hashing of {k} items to {g} values, each user's hash a random function of their own, own eps_j each"
        + _PURE
    )
    k: int
    g: int

    def chance(self, held: tuple[bool, ...]) -> float:
        return math.prod(1 / self.g if hashed_to_it else 1 - 1 / self.g for hashed_to_it in held)


@dataclass(frozen=True)
class HadamardResponse(_Likely):
    """Hadamard response (Acharya, Sun and Zhang 2019), own eps each.

    Of K outputs, K the least power of two above k, the half that is one's own is e^eps times as likely; any two items
    share a quarter of the outputs. B is uniform.

    Attributes:
        k: number of items, >= 2.
    """

    name = "hadamard"
    words = "Hadamard response of {k} items"
    k: int

    def chance(self, held: tuple[bool, ...]) -> float:
        return float(len(held) < 3 or sum(held) % 2)  # the third row of a Hadamard matrix is the product of two


@dataclass(frozen=True)
class UnaryEncoding(Randomizer):
    """Unary encoding of k items (Erlingsson et al. 2014; Wang et al. 2017), one eps for all: k bits, each by itself.

    One's own bit is reported as 1 with probability p, any other with q. B is the law of k bits of probability q: a
    report has at least (1 - p)/(1 - q) of it, whatever the input.

    Attributes:
        k: number of items, >= 2.
        kind: "optimized", p = 1/2 and q = 1/(1 + e^eps), or "symmetric", p = 1 - q = 1/(1 + e^(-eps/2)), which is basic
            one-time RAPPOR.
    """

    name = "unary"
    words = "unary encoding of {k} items, {kind}"
    common = True
    k: int
    kind: str = "optimized"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of(("optimized", "symmetric"), kind=self.kind)

    def atoms(self, eps: float) -> tuple[Array, Array]:
        shrunk = math.exp(-eps / 2 if self.kind == "symmetric" else -eps)
        q, truth = shrunk / (1 + shrunk), 1 / (1 + shrunk)
        p, lie = (truth, q) if self.kind == "symmetric" else (0.5, 0.5)
        bits = np.array(list(product((1, 0), repeat=min(self.k, 3))))  # of the victim's two inputs, and of a third one
        base = np.where(bits, q, truth).prod(axis=1)
        with np.errstate(divide="ignore"):
            return base / base.sum(), np.where(bits, p / q if q > 0 else math.inf, lie / truth).T

    def clones(self, eps: Array) -> tuple[Array, Array]:
        # (1 - p)/(1 - q), and 1 minus it, from the budgets themselves.
        if self.kind == "symmetric":
            return _rounded_down(np.exp(-eps / 2), -np.expm1(-eps / 2))
        return _rounded_down(0.5 * (1 + np.exp(-eps)), -0.5 * np.expm1(-eps))


@dataclass(frozen=True)
class Rappor(UnaryEncoding):
    """Basic one-time RAPPOR of k items (Erlingsson et al. 2014), one eps for all; its f is 2/(1 + e^(eps/2)).

    Attributes:
        k: number of items, >= 2.
    """

    name = "rappor"
    kind: str = field(default="symmetric", init=False)


@dataclass(frozen=True)
class Piecewise(Randomizer):
    """The piecewise mechanism (Wang et al. 2019) for a value in [-1, 1], one eps for all.

    A report lies in [-C, C], C = (e^(eps/2) + 1)/(e^(eps/2) - 1), on an interval of length C - 1 about the value e^eps
    times as densely. B is uniform, with c = e^(-eps/2). The inputs -1 and 1, whose intervals are disjoint, are the
    worst ("Atoms", on the page of proofs).
    """

    name = "piecewise"
    words = "the piecewise mechanism"
    holds = f"{words} for values in [-1, 1], one eps for all{_PURE}"
    common = True

    def atoms(self, eps: float) -> tuple[Array, Array]:
        # In units of 2C and with s = e^(-eps/2): of each interval s/(1 + s), also of 0's, which reaches into the others
        # where s > 1/2. No difference of ends, none of which is a double where eps is large.
        s, short = math.exp(-eps / 2), -math.expm1(-eps / 2)
        both, own = max(s - 0.5, 0.0), min(s, 0.5)
        cells: dict[tuple[bool, ...], float] = {
            (True, False, True): both,
            (False, True, True): both,
            (True, False, False): own,
            (False, True, False): own,
            (False, False, True): min(s, short),
            (False, False, False): max(1 - 2 * s, 0.0),
        }
        return _tilted(*_classes(cells), eps)

    def clones(self, eps: Array) -> tuple[Array, Array]:
        return _rounded_down(np.exp(-eps / 2), -np.expm1(-eps / 2))


@dataclass(frozen=True)
class Common(Randomizer):
    """One randomizer for all, of which only its eps is known: C ~ Bin(n - 1, e^-eps).

    Feldman, McMillan and Talwar 2021 (arXiv:2012.12803), Theorem 3.1's numerical form.
    """

    name = "common"
    words = "one common eps0-LDP randomizer"
    holds = "any eps0-LDP randomizer, the same for all users"
    common = True
    local_delta = known = False

    def victim(self, eps: float) -> Victim | AtomTable:
        return Victim.binary(eps)

    def clones(self, eps: Array) -> tuple[Array, Array]:
        return np.exp(-eps), -np.expm1(-eps)


_WIDER = 4  # total variations that are tried


@dataclass(frozen=True)
class TotalVariation(Randomizer):
    """One randomizer for all, of which its eps and its total variation are known: a = r = tv/(e^eps - 1).

    "At most tv" has a proof for tv <= (1 - e^-eps)/2 ("A smaller total variation", on the page of proofs); above that
    the pair is for two inputs whose laws differ by exactly tv. What holds for "at most" a larger number holds for tv,
    too, and may be less, as more total variation means more clones.

    The masses of Wang et al. 2024 (arXiv:2304.05007) with q = p, but "neither" is revealed: what the others send when
    they are no clones need not look like it, and hidden, as that paper has it, the bound fails (page 5, and the tests).

    Attributes:
        tv: total variation, in (0, tanh(eps/2)]; the upper end is binary randomized response.
    """

    name = "tv"
    words = "one common randomizer of total variation {tv:g}"
    holds = (
        "any one eps0-LDP randomizer, the same for all users, of total variation at most {tv:g} if that is at most "
        "(1 - e^-eps0)/2; else for two inputs whose reports are exactly that far apart"
    )
    common = True
    local_delta = known = False
    tv: float

    def __post_init__(self) -> None:
        check.fields(self, partial(check.in_range, 0, 1), "tv")
        if self.tv == 0:
            raise InvalidValue("tv", self.tv, "in (0, tanh(eps0/2)]", "at 0 the reports say nothing")

    @property
    def least(self) -> float:
        """The smallest eps that it can have."""
        return 2 * math.atanh(self.tv) if self.tv < 1 else math.inf

    def _low(self, eps: float) -> float:
        if self.tv > math.tanh(eps / 2) * (1 + 1e-12):
            raise InvalidValue("tv", self.tv, f"in (0, tanh(eps0/2)] = (0, {math.tanh(eps / 2):.6g}]")
        return self.tv / math.expm1(eps) if eps < MOST_EXPONENT else self.tv * math.exp(-eps)

    def victim(self, eps: float) -> Victim | AtomTable:
        if eps > MOST_EXPONENT:
            raise OutsideValidity("total variation", f"eps <= {MOST_EXPONENT:g}", f"got {eps:g}, which hides nothing")
        low = self._low(eps)
        if low < _LEAST:
            raise InvalidValue("tv", self.tv, f"tv/e^eps >= {_LEAST:.3g}, a double with all its digits")
        return Victim(eps, low, max(0.0, 1 - self.tv / math.tanh(eps / 2)))

    def clones(self, eps: Array) -> tuple[Array, Array]:
        q = np.array([min(2 * self._low(float(e)), 1.0) for e in eps])
        return q, 1 - q

    def wider(self, eps: float) -> list[Randomizer]:
        most = -math.expm1(-eps) / 2 * (1 - 1e-9)
        if self.tv >= most:
            return [self]
        return [self, *(TotalVariation(float(tv)) for tv in np.geomspace(self.tv, most, _WIDER)[1:]), Common()]


# --- mechanisms that are no tables of one local eps ----------------------------------------------------------

_SUM = 1e-9  # how far a row may be from 1; it is divided by its sum
_SMALLEST = 1e-300  # of a probability that is not 0: a double with all its digits, also divided by others
_MOST_CELLS = 10**6
_LONGEST = 1 << 25  # bytes of a file
_DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|[-+]?inf", re.ASCII | re.IGNORECASE)


def matrix(given: ArrayLike) -> Array:
    """A randomizer, shape (inputs, outputs), its rows divided by their sums."""
    table = check.floats(matrix=given)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise InvalidValue("matrix", f"shape {table.shape}", "a table with a row for each input, at least two")
    if table.size > _MOST_CELLS:
        raise InvalidValue("matrix", f"{table.size:,} cells", f"at most {_MOST_CELLS:,}")
    sums = [math.fsum(row) for row in table.tolist()]
    for i, row in enumerate(table):
        bad = np.flatnonzero(~(np.isfinite(row) & (row >= 0)))
        if bad.size:
            raise InvalidValue(f"matrix[{i}, {bad[0]}]", float(row[bad[0]]), "a probability >= 0")
        small = np.flatnonzero((row > 0) & (row < _SMALLEST))
        if small.size:
            raise InvalidValue(f"matrix[{i}, {small[0]}]", float(row[small[0]]), f"0, or at least {_SMALLEST:g}")
        if not abs(sums[i] - 1) <= _SUM:
            found = f"a row that sums to {sums[i]:.12g}"
            raise InvalidValue(f"matrix[{i}]", found, f"a law: its sum is 1 within {_SUM:g}")
    return np.asarray(table / np.array(sums)[:, None], dtype=np.float64)


def _numbers(line: str, where: str) -> list[float]:
    """A row's numbers, between semicolons, else commas, else blanks; one more at its end is no cell."""
    between = next((mark for mark in ";," if mark in line), None)
    if line.count('"') % 2:
        raise InvalidValue(where, line.strip(), "numbers, in pairs of quotation marks or in none")
    words = [word.strip(' \t"') for word in line.strip().removesuffix(between or " ").split(between)]
    for column, word in enumerate(words, 1):
        if not _DECIMAL.fullmatch(word):
            hint = "write 0 where it is 0" if not word else "with a decimal point, such as 0.25 or 1e-6, and no header"
            raise InvalidValue(f"{where}, column {column}", word, "a probability", hint)
    return [float(word) for word in words]


def read_matrix(path: str | Path) -> Array:
    """A randomizer from a file: NPY, or text with a row a line and numbers between commas, semicolons or blanks."""
    name = Path(path).name or "matrix"
    longer = InvalidValue(name, f"over {_LONGEST:,} bytes", "a shorter file")
    try:
        if Path(path).stat().st_size > _LONGEST:
            raise longer
        if Path(path).suffix.lower() == ".npy":
            table = np.load(path, allow_pickle=False)
        else:
            with Path(path).open("rb") as raw, TextIOWrapper(raw, encoding(name, raw)) as text:
                lines = text.read(_LONGEST + 1).splitlines()
                if text.read(1):  # a device has no size
                    raise longer
            rows = [_numbers(line, f"{name} line {i}") for i, line in enumerate(lines, 1) if line.strip()]
            if len({len(row) for row in rows}) != 1:
                raise InvalidValue(name, [len(row) for row in rows][:5], "rows of one length, without a header")
            table = np.array(rows)
    except OSError as error:
        raise InvalidValue(name, str(path), "a readable file", error.strerror or "cannot be read") from None
    except InvalidValue:
        raise
    except (ValueError, EOFError, MemoryError):
        raise InvalidValue(name, str(path), "a table of numbers, as text or as NumPy's save writes it") from None
    return matrix(table)


@dataclass(frozen=True)
class Discrete(Mechanism):
    """Any finite randomizer, written down.

    Attributes:
        matrix: shape (inputs, outputs), a row the law of a report of that input; at least two rows, each with sum 1.
    """

    name = "discrete"
    matrix: ArrayLike

    def __post_init__(self) -> None:
        # As tuples, so that the mechanism can be compared and hashed.
        object.__setattr__(self, "matrix", tuple(map(tuple, matrix(self.matrix).tolist())))


@dataclass(frozen=True)
class Laplace(Mechanism):
    """A value of a range with Laplace noise, own scale each: range / eps, or as given.

    Attributes:
        scale: None where `eps` or `budgets` say who reports; else the noise's scale, > 0, one number with `n`, or one
            for each user. A report's local eps is sensitivity / scale.
        sensitivity: with `scale`, the width of the range of the values, > 0.
    """

    name = "laplace"
    scale: float | Sequence[float] | None = None
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        _noise(self, "scale")
        if self.scale is None and self.sensitivity != 1:
            raise InvalidValue("sensitivity", self.sensitivity, "given with scale", "a local eps needs none")


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """A value of a range with Gaussian noise, own sigma each; it has no finite local eps.

    Attributes:
        sigma: standard deviation of the noise, > 0: one number with `n`, one for each user, or None where `budgets`
            names a CSV file with columns sigma[,count], and for `calibrate`, which finds it.
        sensitivity: width of the range of the values, > 0: C for values that are clipped to [0, C].
    """

    name = "gaussian"
    sigma: float | Sequence[float] | None = None
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        _noise(self, "sigma")


def _noise(runs: Laplace | Gaussian, name: str) -> None:
    """Check, and make a sequence a tuple, so that the mechanism can be compared and hashed."""
    check.fields(runs, check.positive, "sensitivity")
    given = getattr(runs, name)
    if given is None:
        return
    if np.iterable(given) and not isinstance(given, str | bytes):
        numbers = check.floats(**{name: given})
        if numbers.ndim != 1 or not numbers.size:
            raise InvalidValue(name, given, "a number, or a list with one for each user")
        for i in np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))[:1]:
            raise InvalidValue(f"{name}[{i}]", float(numbers[i]), "a finite number > 0")
        object.__setattr__(runs, name, tuple(numbers.tolist()))
    else:
        check.fields(runs, check.positive, name)
