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
    """What `Display` writes, to a terminal or to a file."""
    stream = io.StringIO()

    def display(*, terminal: bool) -> io.StringIO:
        console = Console(file=stream, force_terminal=terminal, width=100)
        monkeypatch.setattr(progress, "Console", lambda stderr: console if stderr else None)
        return stream

    return display


def test_without_a_terminal_each_change_of_state_is_one_line(shown):
    stream = shown(terminal=False)
    with progress.Display() as display:
        for done in range(4):
            display.update("08_comparison", done, 3, "running")
        display.update("11_frequency", 1, 1, "unchanged")
        display.update("08_comparison", 3, 3, "done")
        display.update("12_shuffled_sgd", 5, 9, "failed")
    assert stream.getvalue().splitlines() == [
        "08_comparison: running",
        "11_frequency: unchanged",
        "08_comparison: done",
        "12_shuffled_sgd: failed",
    ]


def test_on_a_terminal_each_notebook_has_one_line_with_its_cells(shown):
    stream = shown(terminal=True)
    with progress.Display() as display:
        display.update("08_comparison", 0, 18, "running")
        display.update("11_frequency", 2, 11, "running")
        display.update("08_comparison", 7, 18, "running")
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n")
    final = [line for line in last.splitlines() if line.strip()][-2:]
    assert re.match(r"08_comparison .* 7/18 +running +0:00:0\d", final[0])
    assert re.match(r"11_frequency .* 2/11 +running +0:00:0\d", final[1])


def test_updates_from_many_threads_are_all_counted(shown):
    stream = shown(terminal=False)
    names = [f"page{i:02d}" for i in range(40)]
    with progress.Display() as display, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: display.update(name, 1, 1, "done"), names))
    assert sorted(stream.getvalue().splitlines()) == [f"{name}: done" for name in names]


def test_a_countdown_says_now_and_then_how_much_is_left(shown):
    stream = shown(terminal=False)
    with progress.Countdown(every=0.0) as bar:
        bar.update(0, 3, 0)
        bar.update(1, 3, 0)
        bar.update(2, 3, 1)
    with progress.Countdown(every=60.0) as bar:
        for done in range(1, 4):
            bar.update(done, 3, 0)
    assert stream.getvalue().splitlines() == [
        "1 of 3 done, about 0:00:00 left",
        "2 of 3 done, 1 failed, about 0:00:00 left",
        "3 of 3 done, about 0:00:00 left",
    ]


def test_on_a_terminal_a_countdown_is_one_bar_with_the_time_left(shown):
    stream = shown(terminal=True)
    with progress.Countdown() as bar:
        bar.update(1, 4, 0)
        bar.update(2, 4, 1)
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").strip().splitlines()[-1]
    assert re.search(r" 2/4 1 failed 0:00:0\d left (0:00:0\d|-:--:--)$", last.rstrip())
