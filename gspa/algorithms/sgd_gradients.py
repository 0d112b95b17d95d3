"""Per-record gradients of a network with one ReLU layer, as factors.

The gradient of cross-entropy at one record (x, y) is the pair of outer products back (x, 1)' and error (h, 1)', with
h the hidden units, error = softmax - onehot(y), back = W2' error where h > 0; so inner products of gradients need no
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class Client:
    """A network's weights, and the records of the client that is visited next. All tensors float64.

    Attributes:
        w1, b1, w2, b2: (d, h), (h,), (k, h), (k,).
        x: (s, d).
        y: (s,), int64.
    """

    w1: torch.Tensor
    b1: torch.Tensor
    w2: torch.Tensor
    b2: torch.Tensor
    x: torch.Tensor
    y: torch.Tensor

    def sharper(self, factor: float) -> Client:
        """The same with the last layer's weights and biases times `factor`: surer of the same answers."""
        return replace(self, w2=factor * self.w2, b2=factor * self.b2)

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        """(s, h)."""
        return torch.relu(x @ self.w1 + self.b1)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(s, k)."""
        return self.hidden(x) @ self.w2.T + self.b2


@dataclass(frozen=True)
class Gradients:
    """Gradients of s records as pairs of outer products: back x1' and error h1'."""

    back: torch.Tensor
    x1: torch.Tensor
    error: torch.Tensor
    h1: torch.Tensor

    @classmethod
    def of(cls, client: Client, x: torch.Tensor, y: torch.Tensor) -> Gradients:
        """Gradients at the client's weights of records x (s, d) with labels y (s,)."""
        hidden = client.hidden(x)
        error = (hidden @ client.w2.T + client.b2).softmax(1) - torch.nn.functional.one_hot(y, len(client.b2))
        one = torch.ones(len(x), 1, dtype=x.dtype)
        back = (error @ client.w2) * (hidden > 0)
        return cls(back, torch.cat([x, one], 1), error, torch.cat([hidden, one], 1))

    def squares(self) -> torch.Tensor:
        """Squared norms, (s,)."""
        return (self.back**2).sum(1) * (self.x1**2).sum(1) + (self.error**2).sum(1) * (self.h1**2).sum(1)

    def products(self, other: Gradients) -> torch.Tensor:
        """Inner products with every gradient of another set, (s, s')."""
        first = (self.back @ other.back.T) * (self.x1 @ other.x1.T)
        return first + (self.error @ other.error.T) * (self.h1 @ other.h1.T)

    def mean(self) -> torch.Tensor:
        """The average gradient as one flat vector, (P,)."""
        both = (self.back.T @ self.x1).reshape(-1), (self.error.T @ self.h1).reshape(-1)
        return torch.cat(both) / len(self.x1)


def clipped(vector: torch.Tensor, clip: float) -> torch.Tensor:
    """Line 14: a flat vector cut to norm `clip`."""
    return vector / max(1.0, float(vector.norm()) / clip)
