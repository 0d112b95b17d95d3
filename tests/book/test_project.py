"""Finding the checkout, refusing a bad output place, replacing files in one step, digests."""

from __future__ import annotations

import hashlib
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import make

from gspa import files
from gspa.accountant.errors import GspaError
from gspa.book import project

CHECKOUT = Path(__file__).resolve().parents[2]


class TestFind:
    def test_the_nearest_folder_above_that_is_a_project(self, tmp_path, monkeypatch):
        outer = make(tmp_path / "outer")
        inner = make(outer.root / "deep" / "inner")
        below = inner.notebooks / "a" / "b"
        below.mkdir(parents=True)
        assert project.find(below) == inner
        assert project.find(inner.root.parent) == outer
        monkeypatch.chdir(below)
        assert project.find() == inner

    @pytest.mark.parametrize("missing", ["_config.yml", "notebooks"])
    def test_half_a_project_is_none(self, tmp_path, missing):
        outer = make(tmp_path)
        half = tmp_path / "half"
        half.mkdir()
        if missing == "_config.yml":
            (half / "notebooks").mkdir()
        else:
            (half / "_config.yml").touch()
        assert project.find(half) == outer

    def test_outside_any_project_it_is_the_one_the_package_lies_in(self, tmp_path):
        assert project.find(tmp_path).root == CHECKOUT

    def test_no_project_at_all_is_refused_with_what_to_do(self, tmp_path, monkeypatch):
        monkeypatch.setattr(project, "__file__", str(tmp_path / "site-packages" / "gspa" / "project.py"))
        with pytest.raises(GspaError, match=r"no _config\.yml and notebooks/ here or above; run gspa inside a clone"):
            project.find(tmp_path)


def test_a_folder_to_write_in_is_made_and_left_empty(tmp_path):
    folder = files.ensure_writable(tmp_path / "a" / "b")
    assert list(folder.iterdir()) == []


def test_a_text_replaces_the_old_one_readable_by_all(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("a much longer old text")
    files.write_atomically(path, "ε\n")
    assert path.read_bytes() == "ε\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


class TestDigest:
    def test_it_is_sha256_over_length_and_bytes(self):
        expected = hashlib.sha256((2).to_bytes(8, "big") + b"ab" + (1).to_bytes(8, "big") + b"c")
        assert files.digest("ab", b"c") == expected.hexdigest()

    def test_where_one_part_ends_matters(self):
        lists = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ()]
        assert len({files.digest(*parts) for parts in lists}) == len(lists)

    def test_a_tree_is_its_matching_names_and_bytes(self, tmp_path):
        def fill(name: str, texts: dict[str, str]) -> str:
            for path, text in texts.items():
                target = tmp_path / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            return files.digest_tree(tmp_path / name, ("*.py", "*.yaml"))

        texts = {"a.py": "1", "sub/b.yaml": "2"}
        whole = fill("whole", texts)
        assert fill("copy", dict(reversed(texts.items()))) == whole
        assert fill("ignored", texts | {"c.txt": "3"}) == whole
        others = [
            fill("edited", texts | {"a.py": "9"}),
            fill("added", texts | {"c.py": ""}),
            fill("renamed", {"a2.py": "1", "sub/b.yaml": "2"}),
            fill("moved", {"a.py": "1", "b.yaml": "2"}),
        ]
        assert len({whole, *others}) == 5


class TestImportCost:
    """The theory loads numpy and scipy's special functions, and nothing that only a notebook needs."""

    HEAVY = ("torch", "scipy.stats", "pandas", "matplotlib", "seaborn", "sklearn", "papermill", "nbformat", "typer")

    def loaded(self, statements: str) -> set[str]:
        code = f"{statements}; import sys; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return set(done.stdout.splitlines()[-1].split())

    def test_the_theory_is_light_and_loads_no_other_room(self):
        modules = self.loaded("import gspa, gspa.accountant.published; gspa.epsilon")
        assert "gspa.accountant.api" in modules
        assert modules.isdisjoint([*self.HEAVY, "yaml", "rich", "gspa.algorithms", "gspa.book"])

    def test_so_is_the_command_that_answers_with_numbers(self):
        modules = self.loaded("from gspa.cli import run; run(['mu', '--eps', '0.5', '--n', '100'])")
        assert {"typer", "gspa.accountant.published"} <= modules
        assert modules.isdisjoint(set(self.HEAVY) - {"typer"})
