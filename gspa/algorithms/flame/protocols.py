"""FLAME's protocols report by report: users, a shuffler and an analyzer, each with what it may see and nothing else.

A user holds an update, the rules and the analyzer's public key. The shuffler sees who sends which indices, and
sealed values; it adds dummies, which it can make because a dummy does not depend on data. The analyzer holds the
secret key and sees shuffled messages without senders. `flame.aggregation` is the same in law, for large runs.

>>> import numpy as np
>>> from gspa.algorithms.flame.randomizers import Laplace
>>> rules = Rules(d=6, n=40, clip=0.01, local=Laplace(50.0), k=2, n_p=40)
>>> updates = np.full((40, 6), 0.004)
>>> found = play(updates, rules, keypair("envelope"), rng=1)
>>> len(found.delivered), bool(abs(found.z.mean() - 0.004) < 0.001)
(240, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue, OutsideValidity
from gspa.algorithms.flame.randomizers import Local

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SELECTIONS = ("all", "uniform", "independent", "largest", "largest_scaled")
"""SS-Simple; SS-Double, and with each index drawn for itself, k on average; SS-Topk by the size of the update, and as
Algorithm 4 prints it, by the size of x~ in [0, 1]."""

PACKINGS = ("pairs", "vectors")
"""One (index, value) pair a message, which is what can be proved private; or k, as Algorithms 2 and 3 have it."""


KINDS = ("encrypted", "envelope")
"""Of keys."""

_REFUSED = "sealed values: do not open with this key"
_CONTEXT = b"gspa flame values 1"


@dataclass(frozen=True)
class Rules:
    """What everybody knows.

    Attributes:
        d: coordinates.
        n: users of a round.
        clip: C.
        local: randomizer of one coordinate, with its blanket.
        k: coordinates of one user; d with "all".
        n_p: reports per coordinate, dummies included; not used with "all".
        l: indices shown to the shuffler, over k.
        select: one of `SELECTIONS`.
        packing: one of `PACKINGS`.
        printed: Algorithms 2 and 3 as printed: line 18 takes the mean over n of everything that arrives, and
            dummy vectors are filled at random.
    """

    d: int
    n: int
    clip: float
    local: Local
    k: int
    n_p: int
    l: int = 1  # noqa: E741  # the paper's name
    select: str = "uniform"
    packing: str = "pairs"
    printed: bool = False

    def __post_init__(self) -> None:
        check.fields(self, check.count, "d", "n", "k", "n_p", "l")
        check.fields(self, check.positive, "clip")
        check.one_of(SELECTIONS, select=self.select)
        check.one_of(PACKINGS, packing=self.packing)
        if self.k * self.l > self.d:
            raise InvalidValue("k l", self.k * self.l, f"at most d = {self.d}")
        if self.select == "all" and self.k * self.l != self.d:
            raise InvalidValue("k", self.k, f"d = {self.d} with 'all', and l = 1")
        if self.select == "independent" and (self.l > 1 or self.packing != "pairs"):
            raise InvalidValue(
                "select", self.select, "with l = 1 and pairs", "users report different numbers of indices"
            )

    @property
    def expected(self) -> float:
        """n beta: how many users report a coordinate on average."""
        return self.n * self.k / self.d


class Public:
    """The analyzer's public key, which users and the shuffler hold; this one seals in envelopes, for simulations."""

    def seal(self, values: Sequence[float]) -> Sealed:
        """Values that only the analyzer can open."""
        return Sealed(len(values), (self, [float(value) for value in values]))


class Secret:
    """The analyzer's secret key, with its public half; this one opens the envelopes of that half alone."""

    def __init__(self) -> None:
        self.public = Public()

    def open(self, sealed: Sealed) -> list[float]:
        """The values; `CheckFailed` when they were sealed for another key or changed on the way."""
        match sealed.content:
            case (public, list(values)) if public is self.public:
                return [*values]
        raise CheckFailed(_REFUSED)


@dataclass(frozen=True)
class Sealed:
    """What travels: its size, and bytes or an object that do not show the values."""

    size: int
    content: Any = field(repr=False)


def encryption_available() -> bool:
    """Whether `cryptography` is installed, 47 or newer."""
    return all(map(find_spec, ("cryptography", "cryptography.hazmat.primitives.hpke")))


def keypair(kind: str = "encrypted") -> Secret:
    """A new key pair of the analyzer.

    Args:
        kind: "encrypted", RFC 9180 with X25519 and ChaCha20-Poly1305; or "envelope", for simulations.

    Raises:
        GspaError: "encrypted" without the library, or with one before 47.

    >>> keys = keypair("envelope")
    >>> sealed = keys.public.seal([0.25, 1.5])
    >>> keys.open(sealed)
    [0.25, 1.5]
    >>> keypair("envelope").open(sealed)
    Traceback (most recent call last):
        ...
    gspa.accountant.errors.CheckFailed: sealed values: do not open with this key
    """
    if check.one_of(KINDS, kind=kind) == "envelope":
        return Secret()
    if not encryption_available():
        raise GspaError("encryption: needs cryptography 47 or newer; install gspa[crypto], or use kind='envelope'")
    return _EncryptionKey()


class Message(NamedTuple):
    """What travels: indices in the clear, values sealed for the analyzer."""

    indices: tuple[int, ...]
    sealed: Sealed


class User:
    """One user: an update of their own, and public things."""

    def __init__(self, update: ArrayLike, rules: Rules, public: Public) -> None:
        self._update = check.floats(update=update)
        if self._update.shape != (rules.d,):
            raise InvalidValue("update", self._update.shape, f"of shape ({rules.d},)")
        self._rules, self._public = rules, public

    def encode(self, rng: np.random.Generator) -> list[Message]:
        """Algorithm 2, lines 8 to 12, with Randomize of the protocol at hand (Algorithm 4)."""
        rules = self._rules
        clipped = np.clip(self._update, -rules.clip, rules.clip)
        scaled = (clipped + rules.clip) / (2 * rules.clip)
        own = self._chosen(rng)
        rest = np.setdiff1d(np.arange(rules.d), own)
        extra = rng.choice(rest, size=rules.k * (rules.l - 1), replace=False)
        indices = np.r_[own, extra]
        values = np.r_[rules.local.randomize(scaled[own], rng), rules.local.blanket(extra.size, rng)]
        order = rng.permutation(indices.size)
        return _packed(indices[order], values[order], rules, self._public)

    def _chosen(self, rng: np.random.Generator) -> Indices:
        rules = self._rules
        if rules.select == "all":
            return np.arange(rules.d)
        if rules.select == "uniform":
            return rng.choice(rules.d, size=rules.k, replace=False)
        if rules.select == "independent":
            return np.flatnonzero(rng.random(rules.d) < rules.k / rules.d)
        # x~ grows with the update, so Algorithm 4's order of |x~| is the order of the updates themselves.
        score = np.abs(self._update) if rules.select == "largest" else self._update
        return np.asarray(np.argsort(score)[rules.d - rules.k :])


class Shuffler:
    """Permutes messages, pads every coordinate to n_p, and never holds the secret key.

    Attributes:
        seen: what it saw, one row a message: `sender`, `indices`, `sealed`.
    """

    def __init__(self, rules: Rules, public: Public) -> None:
        self._rules, self._public = rules, public
        self.seen: list[tuple[int, Message]] = []

    def shuffle(self, sent: Sequence[Sequence[Message]], rng: np.random.Generator) -> list[Message]:
        """Algorithm 3; for SS-Simple a permutation.

        Args:
            sent: each user's messages.
            rng: generator.

        Raises:
            OutsideValidity: a coordinate was reported more than n_p times; or, as printed, no k coordinates
                are left to fill a dummy vector with.
        """
        self.seen = [(sender, message) for sender, messages in enumerate(sent) for message in messages]
        messages = [message for _, message in self.seen]
        if self._rules.select != "all":
            messages += self._dummies(messages, rng)
        return [messages[i] for i in rng.permutation(len(messages))]

    def _dummies(self, messages: Sequence[Message], rng: np.random.Generator) -> list[Message]:
        rules = self._rules
        reported = np.bincount([index for one in messages for index in one.indices], minlength=rules.d)
        if reported.max() > rules.n_p:
            hint = f"coordinate {int(reported.argmax())} was reported {int(reported.max())} times; pad to more"
            raise OutsideValidity("dummy padding", f"n_(s,j) <= n_p = {rules.n_p} for every coordinate j", hint)
        missing = rules.n_p - reported
        if rules.packing == "pairs":
            indices = np.repeat(np.arange(rules.d), missing)
            return _packed(indices, rules.local.blanket(indices.size, rng), rules, self._public)
        made = []
        for chosen in dummy_vectors(missing, rules.k, rng, printed=rules.printed):
            values = rules.local.blanket(chosen.size, rng)
            made.append(Message(tuple(chosen.tolist()), self._public.seal(values.tolist())))
        return made

    def peek(self, number: int) -> str:
        """Try to open a message with a key of its own: what comes of it, in words."""
        sealed = self.seen[number][1].sealed
        own = keypair("encrypted" if isinstance(sealed.content, bytes) else "envelope")
        try:
            values = own.open(sealed)
        except CheckFailed as refused:
            return str(refused)
        return f"read {values}"


class Analyzer:
    """Holds the secret key; sees messages without senders.

    Attributes:
        values: what it decrypted, (index, value) in order of arrival.
    """

    def __init__(self, rules: Rules, secret: Secret) -> None:
        self._rules, self._secret = rules, secret
        self.values: list[tuple[int, float]] = []

    def estimate(self, messages: Sequence[Message]) -> Array:
        """Algorithm 2, lines 17 to 19: what is added to the model, shape (d,).

        Corrected, a coordinate with m reports, users' and dummies', is estimated as the sum over the users who reported
        it, centred, over n beta: unbiased for that, whatever their number. As printed it is the sum over n.
        """
        rules = self._rules
        self.values = []
        for one in messages:
            self.values += zip(one.indices, self._secret.open(one.sealed), strict=True)
        arrived, total = np.zeros(rules.d), np.zeros(rules.d)
        for index, value in self.values:
            arrived[index] += 1
            total[index] += value
        if rules.printed:
            mean = rules.local.estimate(total, users=rules.n) / rules.n
        else:
            mean = rules.local.estimate(total, users=rules.expected, dummies=arrived - rules.expected) / rules.expected
        return np.asarray(rules.clip * (2 * mean - 1))


class Played(NamedTuple):
    """One round.

    Attributes:
        z: what the analyzer adds to the model.
        delivered: what the analyzer received.
        shuffler, analyzer: the two servers, with what they saw.
    """

    z: Array
    delivered: list[Message]
    shuffler: Shuffler
    analyzer: Analyzer


def play(updates: ArrayLike, rules: Rules, secret: Secret, *, rng: np.random.Generator | int) -> Played:
    """One round of Algorithm 2.

    Args:
        updates: (n, d), each user's local update.
        rules: of the protocol.
        secret: the analyzer's key, from `keypair`.
        rng: generator or seed; encryption has randomness of its own.

    Raises:
        InvalidValue: updates of another shape.
        OutsideValidity: a coordinate overflows n_p.
    """
    rng = check.rng(rng)
    given = check.array_in(-1e300, 1e300, updates=updates)
    if given.shape != (rules.n, rules.d):
        raise InvalidValue("updates", given.shape, f"of shape ({rules.n}, {rules.d})")
    shuffler, analyzer = Shuffler(rules, secret.public), Analyzer(rules, secret)
    sent = [User(one, rules, secret.public).encode(rng) for one in given]
    delivered = shuffler.shuffle(sent, rng)
    return Played(analyzer.estimate(delivered), delivered, shuffler, analyzer)


def dummy_vectors(missing: Indices, k: int, rng: np.random.Generator, *, printed: bool = False) -> list[Indices]:
    """Algorithm 3, lines 5 to 9: dummy vectors of k different coordinates that fill up what is missing.

    As printed each takes any k coordinates that still lack something, which can leave fewer than k of them at the end.
    Corrected, it takes those that lack most, and a vector may be shorter than k.

    Raises:
        OutsideValidity: as printed, and stuck.

    >>> [v.tolist() for v in dummy_vectors(np.array([2, 1, 1]), 2, np.random.default_rng(0))]
    [[0, 1], [0, 2]]
    """
    k, left, made = check.count(k=k), np.array(missing), []
    while left.any():
        open_ = np.flatnonzero(left)
        if printed:
            if open_.size < k:
                raise OutsideValidity("Algorithm 3", f"{k} coordinates that lack dummies", f"{open_.size} are left")
            chosen = rng.choice(open_, size=k, replace=False)
        else:
            chosen = np.sort(open_[np.argsort(-left[open_], kind="stable")[:k]])
        left[chosen] -= 1
        made.append(chosen)
    return made


def who_saw_what(found: Played, *, sender: int) -> pd.DataFrame:
    """The first message of a user as each server saw it: `who`, `sender`, `indices`, `values`."""
    sender = check.count(0, sender=sender)
    if all(one != sender for one, _ in found.shuffler.seen):
        raise InvalidValue("sender", sender, "a user who sent something")
    number = next(i for i, (one, _) in enumerate(found.shuffler.seen) if one == sender)
    message = found.shuffler.seen[number][1]
    at = next(i for i, one in enumerate(found.delivered) if one is message)
    first = sum(len(one.indices) for one in found.delivered[:at])
    read = found.analyzer.values[first : first + len(message.indices)]
    indices = ", ".join(map(str, message.indices))
    values = ", ".join(f"{value:.3f}" for _, value in read)
    size = f"{len(message.sealed.content)} bytes" if isinstance(message.sealed.content, bytes) else "an envelope"
    return pd.DataFrame(
        {
            "who": ["shuffler", "analyzer"],
            "sender": [f"user {sender}", "not shown"],
            "indices": [indices, indices],
            "values": [f"{size}; {found.shuffler.peek(number)}", values],
        }
    )


def _packed(indices: Indices, values: Array, rules: Rules, public: Public) -> list[Message]:
    width = 1 if rules.packing == "pairs" else rules.k
    return [
        Message(tuple(indices[low : low + width].tolist()), public.seal(values[low : low + width].tolist()))
        for low in range(0, indices.size, width)
    ]


class _EncryptionKey(Secret):
    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        self._private = X25519PrivateKey.generate()
        self.public = _EncryptionPublic(self._private.public_key())

    def open(self, sealed: Sealed) -> list[float]:
        from cryptography.exceptions import InvalidTag

        try:
            plain = _suite().decrypt(sealed.content, self._private, _CONTEXT)
        except (InvalidTag, TypeError, ValueError):  # TypeError: no bytes; ValueError: a public key of low order
            raise CheckFailed(_REFUSED) from None
        return list(np.frombuffer(plain, "<f8").tolist())


@dataclass(frozen=True)
class _EncryptionPublic(Public):
    key: Any

    def seal(self, values: Sequence[float]) -> Sealed:
        return Sealed(len(values), _suite().encrypt(np.array(values, "<f8").tobytes(), self.key, _CONTEXT))


def _suite() -> Any:
    """Hybrid public key encryption, RFC 9180: every message has a key of its own."""
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
