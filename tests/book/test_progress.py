"""What a person sees while notebooks run: a live line each, or plain lines where there is no terminal."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.console import Console

from gspa.book import progress


@pytest.fixture
def shown(monkeypatch):
    """What `display` writes, to a terminal or to a file."""
    stream = io.StringIO()

    def write(*, terminal: bool) -> io.StringIO:
        console = Console(file=stream, force_terminal=terminal, width=100)
        monkeypatch.setattr(progress, "Console", lambda stderr: console if stderr else None)
        return stream

    return write


def test_without_a_terminal_each_end_is_one_line(shown):
    stream = shown(terminal=False)
    with progress.display(3) as update:
        for done in range(4):
            update("08_comparison", done, 3, "running")
        update("11_frequency", 1, 1, "unchanged")
        update("08_comparison", 3, 3, "done")
        update("12_shuffled_sgd", 5, 9, "failed")
    assert stream.getvalue().splitlines() == [
        "11_frequency: unchanged",
        "08_comparison: done",
        "12_shuffled_sgd: failed",
    ]


def test_on_a_terminal_what_is_at_work_has_one_line_with_its_cells_below_the_whole(shown):
    stream = shown(terminal=True)
    with progress.display(4) as update:
        update("08_comparison", 0, 18, "running")
        update("11_frequency", 2, 11, "running")
        update("11_frequency", 1, 1, "done")
        update("08_comparison", 7, 18, "running")
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n")
    final = [line for line in last.splitlines() if line.strip()][-2:]
    assert re.match(r"all .* 1/4 +0:00:0\d left", final[0])
    assert re.match(r"08_comparison .* 7/18 +0:00:0\d left", final[1])


def test_updates_from_many_threads_are_all_counted(shown):
    stream = shown(terminal=False)
    names = [f"page{i:02d}" for i in range(40)]
    with progress.display(40) as update, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: update(name, 1, 1, "done"), names))
    assert sorted(stream.getvalue().splitlines()) == [f"{name}: done" for name in names]
