"""What the package's source must not contain: unpickling, a shell, code from text, an unsafe YAML loader."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from gspa.algorithms._npz import read
from gspa.book import parameters

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path for folder in ("gspa", "book/_ext", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py")
)
# The one place that names a loader itself: `_Loader`, a SafeLoader (below).
OWN_LOADER = ROOT / "gspa" / "book" / "parameters.py"
FORBIDDEN = {
    *("os.system", "os.popen", "os.execv", "os.execvp", "os.spawnv", "subprocess.getoutput"),
    *("subprocess.getstatusoutput", "eval", "exec", "yaml.unsafe_load", "yaml.full_load", "yaml.load_all"),
    *("pickle.load", "pickle.loads", "dill.load", "joblib.load", "cloudpickle.load", "shelve.open", "marshal.loads"),
    *("pd.read_pickle", "pandas.read_pickle", "tempfile.mktemp"),
}


def faults(path: Path) -> list[str]:
    """What a source does that it must not, with the line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [f"{node.lineno}: imports {name}" for name in names if name.split(".")[0] in ("pickle", "dill")]
        if not isinstance(node, ast.Call):
            continue
        name, keywords = ast.unparse(node.func), {word.arg: ast.unparse(word.value) for word in node.keywords}
        if name in FORBIDDEN:
            found.append(f"{node.lineno}: calls {name}")
        if keywords.get("shell", "False") != "False":
            found.append(f"{node.lineno}: {name} with a shell")
        if name in ("np.load", "numpy.load") and keywords.get("allow_pickle", "False") != "False":
            found.append(f"{node.lineno}: {name} may unpickle")
        if name == "torch.load" and keywords.get("weights_only") != "True":
            found.append(f"{node.lineno}: {name} may unpickle")
        if name == "yaml.load" and (path != OWN_LOADER or keywords.get("Loader") != "_Loader"):
            found.append(f"{node.lineno}: {name} with a loader that may make objects")
        if name.endswith(("extractall", "unpack_archive")):
            found.append(f"{node.lineno}: {name} may write outside its folder")
        if name.startswith("pooch.retrieve") and keywords.get("known_hash", "None") == "None":
            found.append(f"{node.lineno}: {name} without a checksum")
    return found


@pytest.mark.parametrize("folder", ["gspa", "book", "benchmarks"])
def test_no_source_does_what_it_must_not(folder):
    own = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == folder]
    assert own
    found = [f"{path.relative_to(ROOT)}:{fault}" for path in own for fault in faults(path)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "os.system('ls')",
        "subprocess.run('ls', shell=True)",
        "subprocess.run('ls', shell=flag)",
        "np.load(f, allow_pickle=True)",
        "torch.load(f)",
        "yaml.load(f, Loader=yaml.Loader)",
        "yaml.load(f, Loader=_Loader)",
        "eval('1')",
        "archive.extractall()",
        "pooch.retrieve(url, known_hash=None)",
    ],
)
def test_the_search_finds_what_it_looks_for(line, tmp_path):
    file = tmp_path / "source.py"
    file.write_text(f"{line}\n")
    assert len(faults(file)) >= 1


def test_the_own_loader_is_a_safe_one():
    assert issubclass(parameters._Loader, (yaml.SafeLoader, yaml.CSafeLoader))
    assert not issubclass(parameters._Loader, yaml.FullLoader)


def test_an_archive_with_a_pickle_is_not_loaded(tmp_path):
    import numpy as np

    file = tmp_path / "a.npz"
    np.savez(file, a=np.array([object], dtype=object))
    assert read(file) is None
