"""What a page says it was made from: versions, source, commit, parameters, data."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gspa
from gspa.book import provenance

COMMITTED = 1_600_000_000


@pytest.fixture
def fresh():
    """The facts are computed once in a process; a test that changes them starts and ends clean."""
    for function in (provenance.versions, provenance.source_digest):
        function.cache_clear()
    yield
    for function in (provenance.versions, provenance.source_digest):
        function.cache_clear()


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """A repository with one commit of one file."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")
        monkeypatch.setenv(f"GIT_{who}_DATE", f"{COMMITTED} +0000")
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "file.txt").write_text("one")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    return root


class TestVersions:
    def test_they_are_those_of_what_is_installed(self):
        found = provenance.versions()
        assert found["python"] == platform.python_version()
        assert found["gspa"] == gspa.__version__ == importlib.metadata.version("gspa")
        for name in ("numpy", "scipy", "matplotlib", "papermill"):
            assert found[name] == importlib.metadata.version(name)

    def test_a_package_that_is_not_installed_is_left_out(self, fresh, monkeypatch):
        def version(name: str) -> str:
            if name == "torch":
                raise importlib.metadata.PackageNotFoundError(name)
            return "1.0"

        monkeypatch.setattr(provenance, "version", version)
        found = provenance.versions()
        assert "torch" not in found
        assert found["numpy"] == "1.0"


class TestSource:
    @pytest.fixture
    def package(self, tmp_path, monkeypatch, fresh):
        folder = tmp_path / "gspa"
        (folder / "templates").mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")
        (folder / "templates" / "page.schema.yaml").write_text("[]\n")
        monkeypatch.setattr(provenance, "__file__", str(folder / "provenance.py"))
        return folder

    def digest(self) -> str:
        provenance.source_digest.cache_clear()
        return provenance.source_digest()

    def test_code_and_schemas_count_and_compiled_files_do_not(self, package):
        first = self.digest()
        assert re.fullmatch(r"[0-9a-f]{64}", first)
        (package / "__pycache__").mkdir()
        (package / "__pycache__" / "a.cpython-312.pyc").write_bytes(b"\0")
        assert self.digest() == first
        (package / "templates" / "page.schema.yaml").write_text("[1]\n")
        second = self.digest()
        (package / "a.py").write_text("x = 2\n")
        assert len({first, second, self.digest()}) == 3


class TestCommit:
    def head(self, root: Path) -> str:
        command = ["git", "-C", str(root), "rev-parse", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def test_a_changed_file_is_said_and_a_new_one_is_not(self, checkout):
        (checkout / "notes.txt").write_text("mine")
        assert provenance.commit(checkout) == self.head(checkout)[:12]
        (checkout / "file.txt").write_text("two")
        assert provenance.commit(checkout) == self.head(checkout)[:12] + " with uncommitted changes"

    def test_the_commits_time_dates_a_build(self, checkout):
        assert provenance.commit_time(checkout) == COMMITTED

    @pytest.mark.parametrize("error", [None, FileNotFoundError("git"), subprocess.TimeoutExpired("git", 20)])
    def test_outside_git_or_without_one_that_answers_there_is_no_commit_and_a_fixed_day(
        self, tmp_path, monkeypatch, error
    ):
        def run(*arguments: object, **options: object) -> None:
            raise error

        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        if error:
            monkeypatch.setattr(provenance.subprocess, "run", run)
        assert provenance.commit(tmp_path) == ""
        assert provenance.commit_time(tmp_path) == 1_700_000_000


class TestFooter:
    def test_it_states_parameters_versions_and_source(self):
        block = provenance.footer({"n": 3, "name": "constant", "delta": 1e-5, "seed": 2024})
        text = block.data
        assert "Parameters: `n = 3`, `name = 'constant'`, `delta = 1e-05`, `seed = 2024`." in text
        for name, number in provenance.versions().items():
            assert f"{name} {number}" in text
        assert f"`{provenance.source_digest()[:16]}`" in text
        assert "Data" not in text
        assert block._repr_markdown_() == text

    def test_a_data_set_is_named_with_its_checksum(self):
        text = provenance.footer({"seed": 0}, data={"train-images": "ba89" * 16, "digits": "f" * 64}).data
        assert "Data (SHA-256 of the payload): train-images `ba89ba89ba89ba89`, digits `ffffffffffffffff`." in text
