"""What a result was made from: versions, source, data, seed.

A page's footer and a build's cache key use the same facts.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gspa import __version__
from gspa.book.project import cores
from gspa.files import digest_tree

# The packages whose release can change a number or a pixel on a page.
_PACKAGES = (
    "numpy",
    "scipy",
    "matplotlib",
    "seaborn",
    "pandas",
    "torch",
    "scikit-learn",
    "papermill",
    "jupyter-book",
)


@cache
def versions() -> dict[str, str]:
    """Python, gspa and the packages that results depend on, by name."""
    found = {"python": platform.python_version(), "gspa": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def source_digest() -> str:
    """SHA-256 over the package's own sources: the code that computed a page."""
    return digest_tree(Path(__file__).parents[1], ("*.py", "*.yaml"))


def machine() -> dict[str, Any]:
    """This machine as a reader of timings needs it: `cpu`, `cores` at hand, `memory_gib` (0: unknown), `system`."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> float:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):  # not POSIX
        return 0.0


def commit(root: Path) -> str:
    """The checkout's commit, marked when files differ from it; empty outside git."""
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + (" with uncommitted changes" if changed else "")


def commit_time(root: Path) -> int:
    """Seconds since 1970 of the last commit, for SOURCE_DATE_EPOCH; a fixed day outside git."""
    try:
        return int(_git(root, "log", "-1", "--format=%ct"))
    except (OSError, subprocess.SubprocessError, ValueError):
        return 1_700_000_000


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True, timeout=20
    ).stdout.strip()


def footer(parameters: Mapping[str, Any], *, data: Mapping[str, str] | None = None) -> object:
    """The provenance block that ends a notebook, as an object a notebook displays."""
    from IPython.display import Markdown

    lines = [
        "**Provenance.** Parameters: " + ", ".join(f"`{name} = {value!r}`" for name, value in parameters.items()) + ".",
        "Versions: " + ", ".join(f"{name} {number}" for name, number in versions().items()) + ".",
        f"Package source (SHA-256): `{source_digest()[:16]}`.",
    ]
    if data:
        lines.append(
            "Data (SHA-256 of the payload): " + ", ".join(f"{name} `{sha[:16]}`" for name, sha in data.items()) + "."
        )
    return Markdown("\n".join(lines))
