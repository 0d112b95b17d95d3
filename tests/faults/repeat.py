"""Build the book twice, each time from a clean clone elsewhere, and compare what was made byte for byte.

`make repeat` runs this (`make repeat PROFILE=paper` at the papers' sizes). Each build has a cache of
its own, so that neither takes up what the other computed; the data files are the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from gspa.algorithms import _mnist_files
from gspa.book import build_record
from gspa.files import digest

ROOT = Path(__file__).resolve().parents[2]
MADE = ("_build/html", "_build/executed", "book/notebooks", "book/_generated")


def made(root: Path) -> dict[str, str]:
    """The digest of every file that a build made, by name below the checkout; not of how long each notebook took."""
    times, found = {f"_build/html/{name}" for name in build_record.FILES}, {}
    for folder in MADE:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and name not in times and not (folder == "_build/executed" and path.suffix == ".json"):
                found[name] = digest(path.read_bytes())
    return found


def differing(first: Path, second: Path) -> list[str]:
    """Files that one checkout has and the other has not, or whose bytes differ."""
    one, other = made(first), made(second)
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def build(source: Path, target: Path, profile: str, jobs: int | None) -> None:
    """Clone and build; the build's own messages go where this process's go."""
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(source), str(target)], check=True)
    cache = target.parent / f"{target.name} cache"
    path = [str(target), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "XDG_CACHE_HOME": str(cache)}
    data = _mnist_files.data_dir() or _mnist_files.cache("mnist")
    if "GSPA_DATA_DIR" in environment or all(_mnist_files.present(data, file) for file in _mnist_files.CHECKSUMS):
        environment["GSPA_DATA_DIR"] = str(data.resolve())
    line = [sys.executable, "-m", "gspa", "build", "--profile", profile]
    line += ["--jobs", str(jobs)] if jobs else []
    subprocess.run(line, cwd=target, env=environment, check=True)


def main() -> int:
    """0 when both builds are the same, 1 with the differing files listed when not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="quick", choices=("quick", "middle", "paper"))
    parser.add_argument("--jobs", type=int, default=None, help="notebooks at once (default: the cores at hand)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gspa-repeat-") as folder:
        # Paths of other lengths and letters, so that a path on a page would show.
        clones = (Path(folder) / "first", Path(folder) / "the second, é")
        for clone in clones:
            build(ROOT, clone, given.profile, given.jobs)
        total, found = len(made(clones[0])), differing(*clones)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{total} files in two {given.profile} builds: {len(found)} differ.")
    return 1 if found or not total else 0


if __name__ == "__main__":
    sys.exit(main())
