"""Where the book's sources and products are."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from gspa.accountant.errors import GspaError


@dataclass(frozen=True)
class Project:
    """The checkout: sources to the left, products under `_build`."""

    root: Path

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def book(self) -> Path:
        return self.root / "book"

    def claims_of(self, ids: Collection[str]) -> str:
        """The entries of `book/claims.yaml` with these ids, as they stand there."""
        path = self.book / "claims.yaml"
        entries = re.split(r"(?m)^(?=- id: )", path.read_text(encoding="utf-8")) if path.is_file() else []
        return "".join(one for one in entries if one.partition("\n")[0].removeprefix("- id: ") in ids)

    @property
    def config(self) -> Path:
        return self.root / "_config.yml"

    @property
    def build(self) -> Path:
        return self.root / "_build"

    @property
    def html(self) -> Path:
        return self.build / "html"

    def executed(self, profile: str) -> Path:
        """Executed notebooks and their records, one folder a profile."""
        return self.build / "executed" / profile


def find(start: Path | None = None) -> Project:
    """The project around `start` (default: the working directory), else the one this package lies in."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
            return Project(folder)
    raise GspaError(f"{here}: no _config.yml and notebooks/ here or above; run gspa inside a clone of the book")


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux: what taskset or a container allows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
