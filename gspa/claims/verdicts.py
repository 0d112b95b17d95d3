"""The words of a verdict, and of what a run lacked when it could give none."""

from __future__ import annotations

from typing import Literal, get_args

Verdict = Literal["verified", "holds with correction", "refuted", "not reproduced", "not checkable", "not yet checked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Missing = Literal["size", "data", "settings"]
