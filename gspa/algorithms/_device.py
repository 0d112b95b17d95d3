"""The processor that a training runs on."""

from __future__ import annotations

import torch

from gspa.accountant.errors import InvalidValue


def find(name: str) -> torch.device:
    """The device of that name.

    Raises:
        InvalidValue: it is neither the CPU nor a CUDA device of this machine.
    """
    allowed = "'cpu' or an available 'cuda' device"
    try:
        where = torch.device(name)
    except (RuntimeError, TypeError):
        raise InvalidValue("device", name, allowed) from None
    if where.type == "cpu":
        return torch.device("cpu")
    if where.type != "cuda" or not torch.cuda.is_available() or (where.index or 0) >= torch.cuda.device_count():
        raise InvalidValue("device", name, allowed, "this machine has no such device, use 'cpu'")
    return where
