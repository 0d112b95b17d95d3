"""What the tests of pages share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from running import Ran, run_page

from gspa.algorithms import _mnist_files

sys.path.append(str(Path(__file__).parents[2] / "notebooks"))  # the helpers beside the notebooks
collect_ignore = ["conftest.py"]  # as the one above: fixtures only


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest) -> Ran:
    """The page PAGE of a test file, run once, with the parameters RUN where it names some."""
    return run_page(request.module.PAGE, **getattr(request.module, "RUN", {}))


@pytest.fixture(scope="module")
def names(ran: Ran) -> dict[str, Any]:
    return ran.names


@pytest.fixture(scope="module")
def p(ran: Ran) -> Any:
    """The helper beside the notebook."""
    return ran.names["p"]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure is left behind."""
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A user's cache that is empty, and no figure on a screen."""
    with pytest.MonkeyPatch.context() as patch, mpl.rc_context({"backend": "Agg"}):
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(_mnist_files, "cache", lambda kind: folder / kind)
        yield
