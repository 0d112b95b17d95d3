"""Values that only the analyzer can read: public-key encryption, or an envelope for simulations.

`PublicKey` is real encryption (an ephemeral X25519 exchange, HKDF-SHA256, ChaCha20-Poly1305; the library `cryptography`
does all of it). `Envelope` needs no library and protects nothing from a debugger: it is an object that opens for the
holder of one key object, so that a program in which the shuffler looked at a value would fail.

>>> keys = keypair("envelope")
>>> sealed = keys.public.seal([0.25, 1.5])
>>> keys.open(sealed)
[0.25, 1.5]
>>> keypair("envelope").open(sealed)
Traceback (most recent call last):
    ...
gspa.accountant.errors.CheckFailed: sealed values: do not open with this key
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

from gspa.accountant import arguments as check
from gspa.accountant.errors import CheckFailed, GspaError

KINDS = ("encrypted", "envelope")

_REFUSED = "sealed values: do not open with this key"
_CONTEXT = b"gspa flame values 1"
_EPHEMERAL = 32  # bytes of a public key


class Public(Protocol):
    """The analyzer's public key, which users and the shuffler hold."""

    def seal(self, values: Sequence[float]) -> Sealed:
        """Values that only the analyzer can open."""


class Secret(Protocol):
    """The analyzer's secret key."""

    @property
    def public(self) -> Public:
        """Its public half."""

    def open(self, sealed: Sealed) -> list[float]:
        """The values; `CheckFailed` when they were sealed for another key or changed on the way."""


@dataclass(frozen=True)
class Sealed:
    """What travels: its size, and bytes or an object that do not show the values."""

    size: int
    content: Any = field(repr=False)


def available() -> bool:
    """Whether `cryptography` is installed."""
    return find_spec("cryptography") is not None


def keypair(kind: str = "encrypted") -> Secret:
    """A new key pair of the analyzer.

    Args:
        kind: "encrypted" or "envelope".

    Raises:
        GspaError: "encrypted" without the library.
    """
    if check.one_of(KINDS, kind=kind) == "envelope":
        return _EnvelopeKey()
    if not available():
        raise GspaError("encryption: needs the package cryptography; install gspa[crypto], or use kind='envelope'")
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return _EncryptionKey(X25519PrivateKey.generate())


class _EnvelopeKey:
    """Opens what was sealed with its own public half, by identity."""

    def __init__(self) -> None:
        self._public = _EnvelopePublic(self)

    @property
    def public(self) -> Public:
        return self._public

    def open(self, sealed: Sealed) -> list[float]:
        content = sealed.content
        if not isinstance(content, _Envelope):
            raise CheckFailed(_REFUSED)
        return content.read(self)


class _EnvelopePublic:
    def __init__(self, owner: _EnvelopeKey) -> None:
        self._owner = owner

    def seal(self, values: Sequence[float]) -> Sealed:
        return Sealed(len(values), _Envelope(self._owner, values))


class _Envelope:
    def __init__(self, owner: _EnvelopeKey, values: Sequence[float]) -> None:
        self._owner, self._values = owner, [float(value) for value in values]

    def read(self, key: _EnvelopeKey) -> list[float]:
        if key is not self._owner:
            raise CheckFailed(_REFUSED)
        return self._values


class _EncryptionKey:
    def __init__(self, private: Any) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private = private
        self._raw: bytes = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def public(self) -> Public:
        return _EncryptionPublic(self._raw)

    def open(self, sealed: Sealed) -> list[float]:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

        content = sealed.content
        if not isinstance(content, bytes) or len(content) <= _EPHEMERAL:
            raise CheckFailed(_REFUSED)
        theirs, rest = content[:_EPHEMERAL], content[_EPHEMERAL:]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(theirs))
            plain = _cipher(shared, theirs, self._raw).decrypt(bytes(12), rest, None)
        except (InvalidTag, ValueError):  # ValueError: a public key of low order
            raise CheckFailed(_REFUSED) from None
        return list(struct.unpack(f"<{len(plain) // 8}d", plain))


@dataclass(frozen=True)
class _EncryptionPublic:
    raw: bytes

    def seal(self, values: Sequence[float]) -> Sealed:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        own = X25519PrivateKey.generate()
        ours = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        shared = own.exchange(X25519PublicKey.from_public_bytes(self.raw))
        plain = struct.pack(f"<{len(values)}d", *values)
        content = ours + _cipher(shared, ours, self.raw).encrypt(bytes(12), plain, None)
        return Sealed(len(values), content)


def _cipher(shared: bytes, ephemeral: bytes, recipient: bytes) -> Any:
    """The key is used for one message only, so the nonce may be constant."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=ephemeral + recipient, info=_CONTEXT).derive(shared)
    return ChaCha20Poly1305(derived)
