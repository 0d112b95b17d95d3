"""Where the time of a build goes, by page and by cause, in one run.

`python benchmarks/build.py` takes the last commit through all that has an aim in `reached`, as a reader would in a
fresh clone: it installs the package, runs the tests and all that must hold before a change lands, and builds the book
at both sizes, from an empty folder, again with nothing changed, with one page changed, and verified. It builds the
quick profile on one core and on all. Then it runs each notebook's cells once more, in a process of their own where the
stack is looked at every few milliseconds, and says what the processor was busy with. It prints the tables; with
`--record` it also keeps them for the book's page on speed. `--against COMMIT` builds that commit, too, in turn with
this one. All of it lasts most of an hour, and other work beside it would be measured, too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import install
from timing import best, write

from gspa.book import kernels

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "build.json"
TABLE = ROOT / "book" / "_build_table.md"
CORES = (1, 2, 4, 8, 16)
CHANGED = "05_reduction_to_counts"
TESTS, LANDING = "`make test`", "all checks before a change lands"
LONGEST = 90.0  # seconds that a notebook alone should not exceed on two cores

# What a frame of the stack says its seconds went to, the innermost frame that says something first.
CAUSES = {
    "drawing": ("/matplotlib/", "/seaborn/", "/gspa/book/figures.py"),
    "training": ("/torch/", "/gspa/algorithms/sgd", "/gspa/algorithms/flame/federated"),
    "certificates": ("/gspa/check_certificate.py",),
    "the accountant": ("/gspa/accountant/",),
    "simulation": ("/gspa/algorithms/",),
    "the pages' own tables": ("/notebooks/p",),
    "text and checks": ("/gspa/book/", "/IPython/"),
}
IMPORTS, STARTUP, SITE = "imports", "start of processes", "the site (Sphinx and its checks)"
REST = "start of processes, and what running side by side costs"


def cause(frame: FrameType | None) -> str:
    """What a stack is busy with."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return IMPORTS
        if frame.f_code.co_name != "<module>":  # a module at work on its own top level is being imported
            for one, parts in CAUSES.items():
                if any(part in name for part in parts):
                    return one
        frame = frame.f_back
    return STARTUP


def sampled(work: Callable[[], None]) -> dict[str, float]:
    """CPU seconds of this process by cause; what its children used is training."""
    found: Counter[str] = Counter()
    last, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        found[cause(frame)] += now - last  # after a long call of compiled code: all of it
        last = now

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
    work()
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found["training"] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {name: round(seconds, 2) for name, seconds in found.items()}


def cells(name: str, profile: str) -> None:
    """Run a notebook's cells in this process."""
    import contextlib
    import io

    import nbformat
    from IPython.core.interactiveshell import InteractiveShell

    from gspa.book import parameters, project

    shell = InteractiveShell.instance()
    shell.display_pub.publish = lambda *given, **named: None
    values = parameters.select(project.find(), name).defaults(profile)
    for cell in nbformat.read(project.find().root / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                shell.run_cell(cell.source).raise_error()
            if "parameters" in cell.metadata.get("tags", []):
                shell.user_ns.update(values)


def timed(command: Sequence[str], where: Path, cores: int | None = None, *, bare: bool = False) -> dict[str, float]:
    """Seconds, CPU seconds, largest process (MiB; this one if larger) of a command that must succeed, in a checkout.

    `cores`: so many of this machine's. `bare`: its environment says nothing of data, of threads or of Python.
    """
    given = sorted(os.sched_getaffinity(0))[:cores]
    if bare:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GSPA_", "OMP_", "PYTHON"))}
    else:
        kept = os.environ | {"PYTHONPATH": str(where), "OMP_NUM_THREADS": "1"}
    begin = time.perf_counter()
    started = subprocess.Popen(
        command,
        cwd=where,
        env=kept,
        stdout=sys.stderr,
        preexec_fn=lambda: os.sched_setaffinity(0, given),
    )
    _, status, used = os.wait4(started.pid, 0)
    seconds, started.returncode = time.perf_counter() - begin, os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, command)
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
    return {"seconds": round(seconds, 1), "cpu": round(cpu, 1), "memory": memory}


def clone(commit: str, target: Path) -> Path:
    """A checkout of that commit with nothing built."""
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(target)], check=True)
    subprocess.run(["git", "checkout", "--quiet", commit], cwd=target, check=True)
    return target


def shares() -> dict[str, float]:
    """Float32 operations a second of a large matrix product, by the faster library, and of the training of Figure 4.

    Both are in thousand millions, on one thread.
    """
    import numpy as np
    import torch

    from gspa.algorithms import sgd
    from gspa.algorithms.digits import Dataset
    from gspa.algorithms.sgd_batch import product

    torch.set_num_threads(1)
    size, clients, samples, inputs, config = 1024, 100, 600, 60, sgd.SgdConfig(epochs=4)
    a, b = torch.rand(size, size), torch.rand(size, size)
    rng = np.random.default_rng(0)
    x, y = rng.random((clients * samples, inputs), dtype=np.float32), rng.integers(0, 10, clients * samples)
    data = Dataset(x, y, x[:1000], np.arange(1000) % 10, "random", True, {}, "made here")
    replicas = 6
    eps = np.full((replicas, clients), 0.5)
    spent = best(lambda: sgd.train(data, eps, config, seeds=[0] * replicas, evaluate_every=4))
    width = config.hidden_width
    operations = 2.0 * samples * (2 * (inputs + 1) * width + 3 * width * data.classes)  # of one step
    steps = config.epochs * clients * replicas
    least = min(best(lambda: a @ b, 10), best(lambda: product(a, b), 10))
    return {
        "product": round(2 * size**3 / least / 1e9, 1),
        "training": round(operations * steps / spent / 1e9, 1),
    }


def checked(folder: Path) -> dict[str, dict[str, float]]:
    """The tests, and all checks before a change lands, each in a clone of its own beside the shared data."""
    folder.mkdir()
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared)
    tests, landing = clone("HEAD", folder / "tests"), clone("HEAD", folder / "landing")
    timed(["make", ".venv/.test"], tests, bare=True)
    found = {TESTS: timed(["make", "test"], tests, bare=True)}
    shutil.rmtree(tests)
    found[LANDING] = timed([".ci/run"], landing, bare=True)
    shutil.rmtree(landing)
    return found


def notebooks(built: Path) -> dict[str, dict[str, Any]]:
    """What a build's record says of each notebook."""
    record = json.loads((built / "_build" / "html" / "build-record.json").read_text(encoding="utf-8"))
    return {one["name"]: one for one in record["notebooks"]}


def measure(against: str | None, profile: str) -> dict[str, Any]:
    """All that the record holds."""
    whole: dict[str, dict[str, float]] = {}
    gspa = [sys.executable, "-m", "gspa"]
    build = [*gspa, "build", "--profile"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        whole |= checked(folder / "checks")
        installed = install.installed(folder / "first", "", install.EPSILON)
        if against:
            whole["quick, before"] = timed([*build, "quick"], before := clone(against, folder / "before"))
        quick = clone("HEAD", folder / "quick")
        whole["quick"] = timed([*build, "quick"], quick)
        whole["quick, nothing changed"] = timed([*build, "quick"], quick)
        notebook = quick / "notebooks" / f"{CHANGED}.ipynb"
        text = notebook.read_text(encoding="utf-8")
        notebook.write_text(text.replace("# ", "#  ", 1), encoding="utf-8")
        whole["quick, one page changed"] = timed([*build, "quick"], quick)
        whole["quick, one core"] = timed([*build, "quick"], clone("HEAD", folder / "alone"), cores=1)
        if against and profile != "quick":
            subprocess.run(["git", "clean", "-xdfq"], cwd=before, check=True)
            whole[f"{profile}, before"] = timed([*build, profile], before)
        paper = clone("HEAD", folder / "paper")
        whole[profile] = timed([*build, profile], paper)
        whole["verify after it"] = timed([*gspa, "verify", "--profile", profile], paper)
        fast, full = notebooks(quick), notebooks(paper)
        # One with fewer CPU seconds than that cannot take longer.
        heavy = [name for name, one in full.items() if one["cpu"] >= LONGEST] or [
            max(full, key=lambda name: full[name]["cpu"])
        ]
        run = [*gspa, "run", "--profile", profile, "-o", str(folder / "run.ipynb")]
        alone = {name: timed([*run, name], paper) for name in heavy}
    pages = []
    for name, one in full.items():
        print(f"looking at {name}", file=sys.stderr)
        command = [sys.executable, __file__, "--page", name, "--profile", profile]
        told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        pages.append({key: one[key] for key in ("name", "seconds", "cpu", "memory")} | {"causes": json.loads(told)})
    return {
        "profile": profile,
        "whole": whole,
        "alone": alone,
        "changed": fast[CHANGED]["seconds"],
        "installed": installed,
        "pages": pages,
        "quick": [one["cpu"] for one in fast.values()],
        "rates": shares(),
        "measured": f"{datetime.now(UTC):%Y-%m}",
        "cores": len(os.sched_getaffinity(0)),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("numpy", "torch")},
    }


def reached(found: dict[str, Any]) -> list[tuple[str, float, float, float | None]]:
    """What has an aim on two cores: what, the aim, what was measured, and what the version before took if it was, too.

    Less than the aim reaches it.
    """
    whole, profile = found["whole"], found["profile"]
    book, quick = whole[profile], whole["quick"]
    book_before, quick_before = (whole.get(f"{name}, before", {}) for name in (profile, "quick"))
    longest = max(one["seconds"] for one in found["alone"].values())
    rest = round(whole["quick, one page changed"]["seconds"] - found["changed"], 1)
    first = round(sum(found["installed"].values()), 1)
    return [
        ("the book at the papers' sizes (s)", 360, book["seconds"], book_before.get("seconds")),
        ("its CPU seconds", 480, book["cpu"], book_before.get("cpu")),
        ("its longest notebook alone (s)", LONGEST, longest, None),
        ("its largest process (MiB)", 1024, book["memory"], book_before.get("memory")),
        ("the quick book (s)", 60, quick["seconds"], quick_before.get("seconds")),
        ("the same with nothing changed (s)", 3, whole["quick, nothing changed"]["seconds"], None),
        ("with one page changed, without that page's own time (s)", 15, rest, None),
        ("`gspa verify` after the papers' sizes (s)", 20, whole["verify after it"]["seconds"], None),
        (f"{TESTS} (s)", 240, whole[TESTS]["seconds"], None),
        (f"{LANDING} (s)", 600, whole[LANDING]["seconds"], None),
        ("`pip install .` and a first epsilon (s)", 10, first, None),
    ]


def elsewhere(before: dict[str, Any], product: float) -> list[dict[str, Any]]:
    """Earlier records, the newest first, one a processor: a product a fifth faster or slower than others'."""
    whole = before["whole"]
    old = {"product": before["rates"]["product"], "measured": before["measured"]}
    old |= {"quick": whole["quick"], "book": whole[before["profile"]]}
    kept, known = [], [product]
    for one in (old, *before.get("elsewhere", [])):
        if all(abs(math.log(one["product"] / other)) > math.log(1.2) for other in known):
            kept.append(one)
            known.append(one["product"])
    return kept


def by_cause(found: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of the whole build, the most first; what a page's cells do not need when they run alone is a rest."""
    total: Counter[str] = Counter()
    for page in found["pages"]:
        seen = sum(page["causes"].values())
        for name, seconds in page["causes"].items():
            total[REST if name == STARTUP else name] += seconds * min(1.0, page["cpu"] / seen)  # of the page's own run
        total[REST] += max(0.0, page["cpu"] - seen)
    total[SITE] = max(0.0, found["whole"][found["profile"]]["cpu"] - sum(page["cpu"] for page in found["pages"]))
    return dict(total.most_common())


def makespan(lengths: Sequence[tuple[float, float]], cores: int, site: float) -> float:
    """Seconds of a build on so many cores: (serial, divisible) CPU seconds a page, the longest first, then the site."""
    free = [0.0] * cores
    for serial, divisible in sorted(lengths, key=sum, reverse=True):
        if divisible:  # all cores share what can be divided
            begin = min(free)
            free = [max(one, begin) + divisible / cores for one in free]
        free[free.index(min(free))] += serial
    return max(free) + site


def lengths(found: dict[str, Any]) -> list[tuple[float, float]]:
    """CPU seconds of each page: what one core must do alone, and the training, which divides among all."""
    parts = []
    for page in found["pages"]:
        training = page["cpu"] * page["causes"].get("training", 0.0) / sum(page["causes"].values())
        parts.append((page["cpu"] - training, training))
    return parts


def scaling(found: dict[str, Any]) -> list[tuple[int, float]]:
    """Seconds on so many cores, by the model: pages divide over the cores, training also within a page."""
    site = by_cause(found)[SITE]
    return [(cores, makespan(lengths(found), cores, site)) for cores in CORES]


def table(found: dict[str, Any]) -> str:
    """The record in Markdown: whole commands, causes, pages, cores."""
    lines = ["| What | Aim | Measured | Before | Ratio |", "|---|---:|---:|---:|---:|"]
    for what, aim, now, before in reached(found):
        ratio = "" if before is None else f"{before:g} | {now / before:.0%}"
        missed = "" if now < aim else " (missed)"
        lines.append(f"| {what} | {aim:g} | {now:g}{missed} | {ratio or ' |'} |")
    lines += ["", "| Command | Seconds | CPU seconds |", "|---|---:|---:|"]
    lines += [f"| {name} | {one['seconds']:g} | {one['cpu']:g} |" for name, one in found["whole"].items()]
    causes = by_cause(found)
    total = sum(causes.values())
    lines += ["", "| CPU seconds go to | Seconds | Share |", "|---|---:|---:|"]
    lines += [f"| {name} | {seconds:.0f} | {seconds / total:.0%} |" for name, seconds in causes.items()]
    lines += ["", "| Page | Seconds | CPU seconds | Memory (MiB) | Most of it |", "|---|---:|---:|---:|---|"]
    for page in sorted(found["pages"], key=lambda page: -page["cpu"]):
        most = max(page["causes"], key=page["causes"].get)
        lines.append(f"| {page['name']} | {page['seconds']:g} | {page['cpu']:g} | {page['memory']:,} | {most} |")
    lines += ["", "| Cores | Seconds, by the model |", "|---:|---:|"]
    lines += [f"| {cores} | {seconds:.0f} |" for cores, seconds in scaling(found)]
    alone, last = max((serial, page["name"]) for (serial, _), page in zip(lengths(found), found["pages"], strict=True))
    critical = f"With any number of cores two things are left: {last}, {alone:.0f} seconds, and then the site, "
    lines += ["", f"{critical}{by_cause(found)[SITE]:.0f} seconds."]
    rates, versions = found["rates"], ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    lines += [
        "",
        f"On one thread a large float32 matrix product does {rates['product']:g} thousand million operations a second, "
        f"and training {rates['training']:g}, which is {rates['training'] / rates['product']:.0%}. "
        f"Measured {found['measured']} on {found['cores']} cores; {versions}.",
    ]
    if found["elsewhere"]:
        heads = ["Matrix product", "Quick book (s)", "CPU seconds", "Papers' sizes (s)", "CPU seconds", "Measured"]
        lines += ["", "Earlier versions on other processors:", "", f"| {' | '.join(heads)} |"]
        lines.append("|---:" * len(heads) + "|")
    for one in found["elsewhere"]:
        times = " | ".join(f"{one[book][unit]:g}" for book in ("quick", "book") for unit in ("seconds", "cpu"))
        lines.append(f"| {one['product']:g} | {times} | {one['measured']} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Measure and print; with --record, keep."""
    parser = argparse.ArgumentParser(description="Where the time of a build goes, by page and by cause.")
    parser.add_argument("--record", action="store_true", help="keep the result, and what the page on speed shows of it")
    parser.add_argument("--against", metavar="COMMIT", help="build it, too")
    parser.add_argument("--profile", default="paper", help="of the pages: paper, middle or quick")
    parser.add_argument("--page", help="only the causes of this page's cells, as JSON")
    asked = parser.parse_args(arguments)
    if asked.page is not None:
        for module in kernels.IMPORTED:  # as in a build, which imports them once for all pages
            importlib.import_module(module)
        print(json.dumps(sampled(lambda: cells(asked.page, asked.profile))))
        return
    found = measure(asked.against, asked.profile)
    found["elsewhere"] = elsewhere(json.loads(RECORD.read_text(encoding="utf-8")), found["rates"]["product"])
    print(table(found), end="")
    if asked.record:
        write(found, RECORD, TABLE, table(found))


if __name__ == "__main__":
    main(sys.argv[1:])
