"""What the tests of pages that train share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from gspa.algorithms import _mnist_files

sys.path.append(str(Path(__file__).parents[2] / "notebooks"))  # the helpers beside the notebooks
collect_ignore = ["conftest.py"]  # as the one above: fixtures only


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A user's cache that is empty, and no figure on a screen or left behind."""
    with pytest.MonkeyPatch.context() as patch, mpl.rc_context({"backend": "Agg"}):
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(_mnist_files, "cache", lambda kind: folder / kind)
        yield
        mpl.pyplot.close("all")
