"""FLAME's experiments run: one tidy table for all cases of `gspa.flame.cases`, in processes.

>>> from gspa.flame.cases import Paper, Training
>>> small = Paper(d=650, n=10, rate=10, training=Training(rounds=2))
>>> table = run("digits", small.cases(("figure 7",)), users=60, seeds=(0,), jobs=1)
>>> table.groupby(["varied", "value"]).size().to_dict()
{('n/n_p', 1.0): 3, ('n/n_p', 1.5): 3, ('n/n_p', 2.0): 3, ('n/n_p', 3.0): 3}
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd

from gspa import _validate as check
from gspa import datasets
from gspa._parallel import each
from gspa.errors import InvalidValue
from gspa.flame import federated
from gspa.flame.aggregation import Sampled
from gspa.flame.cases import Case, Setup
from gspa.flame.users import Users, partition

_FEW = 2  # seeds of the group "settings"
_WORTH_A_PROCESS = 150_000  # updates of a user, all runs together: some twenty seconds


def run(
    data: str,
    cases: Sequence[Case],
    *,
    users: int,
    seeds: Sequence[int],
    device: str = "cpu",
    jobs: int | None = None,
) -> pd.DataFrame:
    """Run every case.

    Args:
        data: "mnist", "digits" or "auto".
        cases: from `Paper.cases`.
        users: all together, dealt over the batches.
        seeds: one run a case for each; the group "settings" takes the first two.
        device: where users train (`gspa.flame.federated.train`).
        jobs: processes at once (default: the cores at hand, on the CPU); the result does not depend on it.

    Returns:
        One row a case, seed and round: `group`, `label`, `varied`, `value`, `noise`, `seed`, `round`, `accuracy` in
        [0, 1], `largest`, `overflowing`.
    """
    data = check.one_of(datasets.NAMES, data=data)
    users, seeds = check.count(users=users), check.seeds(seeds=seeds)
    if not seeds:
        raise InvalidValue("seeds", seeds, "not empty")
    wanted: dict[Setup, list[int]] = {}
    for case in cases:
        own = wanted.setdefault(case.setup, [])
        few = seeds[:_FEW] if case.group == "settings" else seeds
        own += [seed for seed in few if seed not in own]
    # Cases that share a partition follow each other; the longest, which have most to draw, come first.
    order = sorted(wanted, key=lambda one: (one.scaling, one.split, not isinstance(one.aggregator, Sampled)))
    tasks = [(data, users, setup, tuple(wanted[setup]), device) for setup in order]
    work = sum(len(wanted[one]) * one.training.rounds * (users // one.training.batches) for one in order)
    if jobs is None and (work < _WORTH_A_PROCESS or device != "cpu"):
        jobs = 1
    found = dict(zip(order, each(_run, tasks, jobs=jobs), strict=True))
    parts = []
    for case in cases:
        few = seeds[:_FEW] if case.group == "settings" else seeds
        part = found[case.setup]
        part = part[part["seed"].isin(few)]
        parts.append(
            part.assign(
                group=case.group, label=case.label, varied=case.varied, value=case.value, noise=case.setup.noise
            )
        )
    first = ["group", "label", "varied", "value", "noise", "seed", "round", "accuracy", "largest", "overflowing"]
    return pd.concat(parts, ignore_index=True)[first]


@lru_cache(maxsize=1)
def _users(data: str, users: int, scaling: str, split: str) -> Users:
    return partition(datasets.load(data), users=users, scaling=scaling, split=split)


def _run(task: tuple[str, int, Setup, tuple[int, ...], str]) -> pd.DataFrame:
    data, users, setup, seeds, device = task
    held = _users(data, users, setup.scaling, setup.split)
    runs = [
        federated.train(held, setup.aggregator, setup.training, seed=seed, noise=setup.noise, device=device).assign(
            seed=seed
        )
        for seed in seeds
    ]
    return pd.concat(runs, ignore_index=True)
