"""The settings of Algorithm 3: Table 3's values, and a named field for all that the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from gspa.accountant import arguments as _validate

INITIALIZATIONS = ("he", "glorot", "torch_default")
CLIENT_SPLITS = ("shuffled", "contiguous")
CLIENT_ORDERS = ("once", "per_epoch")
DIVISORS = ("clients", "samples")
CLIPPED = ("average", "records")


@dataclass(frozen=True, kw_only=True)
class SgdConfig:
    """Settings of Algorithm 3; the defaults of the first five fields are Table 3's.

    Attributes:
        clients: Number of clients, the `m` of Table 3, >= 1. Each holds floor(n / clients) samples;
            the n mod clients samples left over are not used.
        epochs: `T`, >= 1. In an epoch every client is visited once, without replacement.
        learning_rate: `eta`, > 0.
        clip: `C` > 0, the bound on the Euclidean norm of a client's *average* gradient (lines 12-14).
        delta: `delta_i` of every client, in (0, 1).
        hidden_width: Units of the one ReLU layer, >= 1. The paper does not give it.
        initialization: "he": weights N(0, 2/fan_in); "glorot": U(-a, a) with
            a = sqrt(6/(fan_in + fan_out)); both with zero biases. "torch_default": weights and biases
            U(-a, a) with a = 1/sqrt(fan_in), what `torch.nn.Linear` does. The paper says "arbitrary".
        client_split: "shuffled": samples go to clients by a uniform permutation; "contiguous": in file order.
        client_order: "once": one permutation pi before the loop, as line 3 prints; "per_epoch": a
            fresh one each epoch, as "at random without replacement" in the text also allows.
        noise_divisor: The `m` of line 7, which names two things in the paper. "clients": the number of
            clients; "samples": the samples of one client (the batch size of the input line).
        average_divisor: The `m` of line 13. "samples": the sum over a client's samples is divided by their number,
            an average, as with the input line's m; "clients": by the number of clients, as with Table 3's m. It
            acts before the clip.
        clipped: "average": line 14 as printed, so that one record moves a message by up to 2C. "records": each
            record's gradient is cut to norm C before the sum of line 13 as well; with `average_divisor` "samples"
            one record then moves a message by at most 2C over the samples of a client.
    """

    clients: int = 100
    epochs: int = 50
    learning_rate: float = 0.05
    clip: float = 2.0
    delta: float = 1e-5
    hidden_width: int = 100
    initialization: str = "he"
    client_split: str = "shuffled"
    client_order: str = "once"
    noise_divisor: str = "clients"
    average_divisor: str = "samples"
    clipped: str = "average"

    def __post_init__(self) -> None:
        _validate.fields(self, _validate.count, "clients", "epochs", "hidden_width")
        _validate.fields(self, _validate.positive, "learning_rate", "clip")
        object.__setattr__(self, "delta", _validate.probability(delta=self.delta, allow_zero=False))
        _validate.one_of(INITIALIZATIONS, initialization=self.initialization)
        _validate.one_of(CLIENT_SPLITS, client_split=self.client_split)
        _validate.one_of(CLIENT_ORDERS, client_order=self.client_order)
        _validate.one_of(DIVISORS, noise_divisor=self.noise_divisor)
        _validate.one_of(DIVISORS, average_divisor=self.average_divisor)
        _validate.one_of(CLIPPED, clipped=self.clipped)
