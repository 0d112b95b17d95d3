"""Loading, refusing, downloading and projecting; real MNIST where GSPA_DATA_DIR points to it."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import struct
import threading
import time
import tracemalloc
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from small_project import small_mnist

from gspa.accountant.errors import DataCorrupted, DataUnavailable, InvalidValue, UnknownName
from gspa.algorithms import _mnist_files as files
from gspa.algorithms import digits as datasets

REAL = os.environ.get("GSPA_DATA_DIR", "")


@pytest.fixture(scope="module")
def mnist():
    if not Path(REAL).is_dir() or not REAL:
        pytest.skip("GSPA_DATA_DIR does not point to the MNIST files")
    return datasets.load("mnist")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """No GSPA_DATA_DIR, an empty cache, no mirror."""
    monkeypatch.delenv("GSPA_DATA_DIR", raising=False)
    monkeypatch.delenv("GSPA_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(files, "cache", lambda kind: tmp_path / "cache" / kind)
    monkeypatch.setattr(files, "MIRRORS", ("http://127.0.0.1:9/",))
    monkeypatch.setattr(files, "CONNECT_SECONDS", 1.0)
    return tmp_path / "cache" / "mnist"


@pytest.fixture
def fake(monkeypatch):
    """Four small IDX files with their checksums in place of MNIST's."""
    content = small_mnist()
    monkeypatch.setattr(files, "CHECKSUMS", {k: hashlib.sha256(v).hexdigest() for k, v in content.items()})
    return content


def write(folder, content, packed=True):
    folder.mkdir(parents=True, exist_ok=True)
    for name, payload in content.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(payload, mtime=0))
        else:
            (folder / name).write_bytes(payload)


@pytest.fixture
def serve(monkeypatch):
    """Serve folders over HTTP on this machine and make them the mirrors."""
    servers = []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    def start(*folders):
        for folder in folders:
            servers.append(ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)))
            threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setattr(files, "MIRRORS", tuple(f"http://127.0.0.1:{s.server_address[1]}/" for s in servers))

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


# --- reading files


@pytest.mark.parametrize("place", ["MNIST/raw", "raw", "", "{name}", "{kaggle}"])
@pytest.mark.parametrize("name", ["{name}", "{name}.gz", "{kaggle}", "{kaggle}.gz"])
def test_reads_what_was_published_and_the_folders_of_torchvision_and_kaggle(tmp_path, monkeypatch, fake, place, name):
    for file, content in fake.items():
        both = {"name": file, "kaggle": file.replace("-idx", ".idx")}
        path = tmp_path / place.format(**both) / name.format(**both)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    monkeypatch.setenv("GSPA_DATA_DIR", str(tmp_path))
    assert [s.state for s in datasets.status()] == ["ok"] * 4
    assert datasets.fetch() == tmp_path
    data = datasets.load()
    assert (data.name, data.stand_in) == ("mnist", False)
    assert (data.train_x.shape, data.train_x.dtype, data.train_y.dtype) == ((3, 2), np.float32, np.int64)
    assert (data.train_x * np.float32(255)).round(4).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (data.train_y.tolist(), data.test_y.tolist()) == ([0, 1, 2], [0, 1])


@pytest.mark.parametrize("place", ["GSPA_DATA_DIR", "cache"])
def test_a_sound_file_beside_a_damaged_one_is_used(home, monkeypatch, fake, place):
    write(home, fake)
    write(home, fake, packed=False)
    if place == "GSPA_DATA_DIR":
        monkeypatch.setenv("GSPA_DATA_DIR", str(home))
    damage("truncated", home / "train-images-idx3-ubyte.gz")
    damage("garbage", home / "t10k-labels-idx1-ubyte")
    monkeypatch.setattr(files, "_reachable", lambda mirrors: pytest.fail("asked the network"))
    assert datasets.load("mnist").train_x.shape == (3, 2)
    assert datasets.fetch() == home
    wanted = {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz"}
    assert {s.state for s in datasets.status()} == {"ok"}
    assert wanted <= {Path(s.path).name for s in datasets.status()}


@pytest.mark.parametrize("kind", ["bomb", "raw"])
def test_what_is_larger_than_mnist_is_damaged_and_not_read_to_its_end(tmp_path, monkeypatch, fake, kind):
    write(tmp_path, fake)
    monkeypatch.setenv("GSPA_DATA_DIR", str(tmp_path))
    path = tmp_path / "train-labels-idx1-ubyte.gz"
    if kind == "raw":
        with path.open("wb") as stream:
            stream.truncate(8 << 30)  # takes no room on the disk
    else:
        path.write_bytes(gzip.compress(bytes(1 << 20)) * (8 << 10))  # 8 MB that unpack to 8 GB
    tracemalloc.start()
    with pytest.raises(DataCorrupted, match=rf"{path.name}: holds more than {files.LARGEST} bytes, expected .*unset"):
        datasets.load("mnist")
    assert [s.state for s in datasets.status()] == ["ok", "damaged", "ok", "ok"]
    assert tracemalloc.get_traced_memory()[1] < 200 << 20
    tracemalloc.stop()


def damage(kind, path):
    raw = path.read_bytes()
    if kind == "truncated":
        path.write_bytes(raw[: len(raw) // 2])
    elif kind == "flipped":
        path.write_bytes(raw[:25] + bytes([raw[25] ^ 1]) + raw[26:])
    elif kind == "garbage":
        path.write_bytes(b"<html>please sign in</html>")
    elif kind == "empty":
        path.write_bytes(b"")
    else:  # a sound gzip of another content
        path.write_bytes(gzip.compress(gzip.decompress(raw) + b"\0"))


@pytest.mark.parametrize("kind", ["truncated", "flipped", "garbage", "empty", "other"])
@pytest.mark.parametrize("place", ["GSPA_DATA_DIR", "cache"])
def test_a_damaged_file_is_refused_and_named(home, monkeypatch, fake, kind, place):
    write(home, fake)
    if place == "GSPA_DATA_DIR":
        monkeypatch.setenv("GSPA_DATA_DIR", str(home))
    path = home / "t10k-labels-idx1-ubyte.gz"
    damage(kind, path)
    with pytest.raises(DataCorrupted) as caught:
        datasets.load("auto")
    message = str(caught.value)
    assert str(path) in message
    assert files.CHECKSUMS["t10k-labels-idx1-ubyte"] in message
    assert "found" in message
    assert "\n" not in message
    own = place == "GSPA_DATA_DIR"
    assert message.endswith("; replace it, or unset GSPA_DATA_DIR" if own else "; delete it and run `gspa data fetch`")
    assert [s.state for s in datasets.status()] == ["ok", "ok", "ok", "damaged"]


@pytest.mark.parametrize("name", ["mnist", "auto"])
def test_a_file_missing_from_the_named_folder_is_said(tmp_path, monkeypatch, fake, name):
    write(tmp_path, fake)
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    monkeypatch.setenv("GSPA_DATA_DIR", str(tmp_path))
    with pytest.raises(DataUnavailable, match=r"train-labels-idx1-ubyte.*; put it there, or unset GSPA_DATA_DIR$"):
        datasets.load(name)
    assert [s.state for s in datasets.status()] == ["ok", "missing", "ok", "ok"]


def test_header_and_length_must_agree():
    sound = struct.pack(">IIII", 0x803, 2, 1, 1) + b"\1\2"
    assert files.parse_idx(sound, "a-idx3").tolist() == [[1], [2]]
    for broken in (sound[:-1], sound + b"\0", b"\0\0\x08\x01" + sound[4:], sound[:10], b""):
        with pytest.raises(DataCorrupted, match="a-idx3"):
            files.parse_idx(broken, "a-idx3")


def test_unknown_name_is_refused():
    with pytest.raises(UnknownName, match="mnist"):
        datasets.load("minst")


# --- downloading


def test_download_is_verified_cached_and_resumed(home, fake, serve, tmp_path):
    write(tmp_path / "web", fake)
    serve(tmp_path / "web")
    assert [s.state for s in datasets.status()] == ["missing"] * 4
    assert datasets.fetch(progress=False) == home
    kept = sorted(p.name for p in home.iterdir())
    assert kept == sorted(f"{name}.gz" for name in fake)  # and no temporary file
    assert datasets.load("mnist").train_x.shape == (3, 2)
    # A damaged and a missing file are fetched again, the sound ones are left alone.
    before = (home / "train-images-idx3-ubyte.gz").stat().st_mtime_ns
    damage("truncated", home / "train-labels-idx1-ubyte.gz")
    (home / "t10k-images-idx3-ubyte.gz").unlink()
    datasets.fetch(progress=False)
    assert [s.state for s in datasets.status()] == ["ok"] * 4
    assert (home / "train-images-idx3-ubyte.gz").stat().st_mtime_ns == before


def test_a_second_mirror_helps_and_the_bar_is_shown(home, fake, serve, tmp_path, capsys):
    write(tmp_path / "bad", dict.fromkeys(fake, b"sorry"))
    write(tmp_path / "good", fake)
    serve(tmp_path / "bad", tmp_path / "good")
    datasets.fetch()
    assert [s.state for s in datasets.status()] == ["ok"] * 4
    assert "train-images-idx3-ubyte" in capsys.readouterr().err


def test_a_download_without_end_is_given_up(home, fake, serve, tmp_path, monkeypatch):
    write(tmp_path / "web", dict.fromkeys(fake, bytes(8 << 20)), packed=False)
    for name in fake:
        (tmp_path / "web" / name).rename(tmp_path / "web" / f"{name}.gz")
    serve(tmp_path / "web")
    monkeypatch.setattr(files, "LARGEST", 1000)
    kept = []
    monkeypatch.setattr(
        files,
        "_verified",
        lambda path, *rest, old=files._verified: (kept.append(path.stat().st_size), old(path, *rest)),
    )
    with pytest.raises(DataCorrupted, match=r"holds more than 1000 bytes, .*; nothing was kept$"):
        datasets.fetch(progress=False)
    assert 1000 < kept[0] < 1 << 18
    assert list(home.iterdir()) == []


def test_a_mirror_without_the_file_is_unavailable(home, fake, serve, tmp_path):
    (tmp_path / "web").mkdir()
    serve(tmp_path / "web")
    with pytest.raises(DataUnavailable, match="404"):
        datasets.fetch(progress=False)


def test_no_network_falls_back_quickly(home):
    start = time.monotonic()
    assert datasets.load("auto").stand_in
    with pytest.raises(DataUnavailable, match="GSPA_DATA_DIR"):
        datasets.load("mnist")
    assert time.monotonic() - start < 4


def test_a_mirror_that_hangs_is_given_up(home, monkeypatch):
    import requests

    release, left = threading.Event(), threading.Event()

    def hang(*args, **kwargs):
        release.wait(20)
        left.set()
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "head", hang)
    monkeypatch.setattr(files, "CONNECT_SECONDS", 0.2)
    start = time.monotonic()
    try:
        assert datasets.load("auto").stand_in
        assert time.monotonic() - start < 5
        assert not left.is_set()
    finally:
        release.set()
        left.wait(5)


def test_offline_and_download_false_ask_nobody(home, monkeypatch):
    monkeypatch.setattr(files, "_reachable", lambda mirrors: pytest.fail("asked the network"))
    assert datasets.load("auto", download=False).stand_in
    monkeypatch.setenv("GSPA_OFFLINE", "1")
    assert datasets.load("auto").stand_in
    with pytest.raises(DataUnavailable, match="GSPA_OFFLINE"):
        datasets.fetch()


def test_without_a_home_nothing_crashes(monkeypatch):
    monkeypatch.delenv("GSPA_DATA_DIR", raising=False)

    def homeless(self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert files.cache("mnist") is None
    data = datasets.load("auto")
    assert data.stand_in
    assert datasets.project(data, components=5).train_x.shape == (1437, 5)
    assert [s.state for s in datasets.status()] == ["missing"] * 4
    monkeypatch.setattr(files, "_reachable", lambda mirrors: pytest.fail("nowhere to write"))
    with pytest.raises(DataUnavailable, match="cache folder"):
        datasets.fetch()


def test_a_relative_cache_folder_is_not_used(monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *a, **k: "somewhere/gspa")
    assert files.cache("mnist") is None


# --- digits and banner


def test_digits_are_split_by_the_documented_rule():
    data = datasets.load("digits")
    assert (len(data.train_y), len(data.test_y), data.classes) == (1437, 360, 10)
    assert 0 <= data.train_x.min() < data.train_x.max() == 1
    share = np.bincount(data.test_y) / (np.bincount(data.test_y) + np.bincount(data.train_y))
    assert np.abs(share - 0.2).max() < 0.01
    # From outside: the first image of scikit-learn's set is the first zero, so it is a test image.
    from sklearn.datasets import load_digits

    np.testing.assert_array_equal(data.test_x[0] * 16, load_digits().data[0])
    assert len(np.unique(np.vstack([data.train_x, data.test_x]), axis=0)) == 1797
    assert data.sha256 == datasets.load("digits").sha256


def test_banner_says_what_the_data_are(tmp_path, monkeypatch, fake):
    text = datasets.banner(datasets.load("digits"))
    assert all(line.startswith("> ") for line in text.splitlines())
    for words in ("without MNIST", "1,437", "not yet checked", "gspa data fetch"):
        assert words in text
    write(tmp_path, fake)
    monkeypatch.setenv("GSPA_DATA_DIR", str(tmp_path))
    text = datasets.banner(datasets.load("mnist"))
    assert text.startswith("Data: MNIST, 3 training and 2 test images")
    assert files.CHECKSUMS["train-images-idx3-ubyte"][:12] in text
    assert "\n" not in text


# --- projection


@pytest.mark.parametrize("scaling", datasets.SCALINGS)
@pytest.mark.parametrize("components", [1, 20, 60])
def test_projection_is_scikit_learns_pca_of_the_training_images(scaling, components):
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    data = datasets.load("digits")
    train, test = data.train_x.astype(np.float64), data.test_x.astype(np.float64)
    if scaling == "standardize_pixels":
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)
    pca = PCA(components, svd_solver="full", whiten=scaling == "unit_variance").fit(train)
    got = datasets.project(data, components=components, scaling=scaling, cache=False)
    # float32 output; the whitened 60th component divides by a deviation of about 1e-3.
    np.testing.assert_allclose(got.train_x, pca.transform(train), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got.test_x, pca.transform(test), rtol=1e-5, atol=1e-5)
    again = datasets.project(data, components=components, scaling=scaling, cache=False)
    assert got.train_x.tobytes() == again.train_x.tobytes()
    assert scaling in got.preprocessing
    assert got.sha256 == data.sha256


def test_directions_without_variance_are_not_blown_up():
    data = datasets.load("digits")  # some of its 64 pixels never vary
    got = datasets.project(data, components=64, scaling="unit_variance", cache=False)
    assert np.abs(got.train_x[:, -1]).max() < 1e-3
    assert got.train_x[:, 0].std() == pytest.approx(1, abs=1e-3)


def test_projection_never_sees_the_test_images():
    data = datasets.load("digits")
    other = datasets.replace(data, test_x=data.test_x[:50] * 0.5, test_y=data.test_y[:50])
    kept, changed = (datasets.project(d, components=10, cache=False) for d in (data, other))
    assert kept.train_x.tobytes() == changed.train_x.tobytes()


@pytest.mark.parametrize("kind", ["truncated", "garbage", "empty", "wrong shape", "pickle"])
def test_a_damaged_projection_cache_is_computed_again(home, monkeypatch, kind):
    data = datasets.load("digits")
    expected = datasets.project(data, components=8)
    (path,) = (home.parent / "pca").iterdir()
    calls = []
    fit = datasets._fit_projection
    monkeypatch.setattr(datasets, "_fit_projection", lambda *a: calls.append(1) or fit(*a))
    assert datasets.project(data, components=8).train_x.tobytes() == expected.train_x.tobytes()
    assert calls == []  # read from the cache
    if kind == "wrong shape":
        np.savez(path, train_x=expected.train_x[:5], test_x=expected.test_x)
    elif kind == "pickle":
        np.savez(path, train_x=np.array([{}], dtype=object), test_x=expected.test_x)
    else:
        damage(kind, path)
    repaired = datasets.project(data, components=8)
    assert repaired.train_x.tobytes() == expected.train_x.tobytes()
    assert calls == [1]
    datasets.project(data, components=8)
    assert calls == [1]  # and the cache is sound again


def test_projection_cache_tells_contents_apart(home):
    data = datasets.load("digits")
    part = datasets.replace(data, train_x=data.train_x[:500], train_y=data.train_y[:500])
    rest = datasets.replace(data, train_x=data.train_x[500:1000], train_y=data.train_y[500:1000])
    first, second = (datasets.project(d, components=4) for d in (part, rest))
    assert not np.allclose(first.train_x, second.train_x)
    datasets.project(part, components=4, scaling="unit_variance")
    assert len(list((home.parent / "pca").iterdir())) == 3


def test_an_unwritable_cache_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(files, "cache", lambda kind: tmp_path / "file" / kind)
    assert datasets.project(datasets.load("digits"), components=3).train_x.shape == (1437, 3)


@pytest.mark.parametrize("components", [0, 65, 2.5, True])
def test_bad_components_are_refused(components):
    with pytest.raises(InvalidValue, match="components"):
        datasets.project(datasets.load("digits"), components=components, cache=False)


def test_bad_scaling_is_refused():
    with pytest.raises(UnknownName, match="unit_variance"):
        datasets.project(datasets.load("digits"), scaling="unit-variance", cache=False)


# --- the real thing


def test_real_mnist(mnist):
    assert mnist.train_x.shape == (60_000, 784)
    assert mnist.test_x.shape == (10_000, 784)
    assert mnist.train_x.min() == 0
    assert mnist.train_x.max() == 1
    # Known facts: the first label is 5, class counts run from 5,421 (fives) to 6,742 (ones).
    assert mnist.train_y[0] == 5
    counts = np.bincount(mnist.train_y)
    assert (counts.min(), counts[5], counts.max(), counts[1]) == (5421, 5421, 6742, 6742)
    # The often quoted mean of the training pixels.
    assert mnist.train_x.mean(dtype=np.float64) == pytest.approx(0.1307, abs=1e-4)


def test_real_mnist_projected_and_learnt(mnist):
    from gspa.algorithms import sgd

    reduced = datasets.project(mnist, cache=False)
    assert reduced.train_x.shape == (60_000, 60)
    assert np.abs(reduced.train_x.mean(axis=0)).max() < 1e-3
    variances = reduced.train_x.var(axis=0, dtype=np.float64)
    assert (np.diff(variances) < 0).all()
    # Known facts: the first two components of MNIST hold 9.70 % and 7.10 % of the variance.
    total = mnist.train_x.var(axis=0, dtype=np.float64).sum()
    np.testing.assert_allclose(variances[:2] / total, [0.0970, 0.0710], atol=5e-5)
    run = sgd.train(reduced, None, sgd.SgdConfig(epochs=5), seeds=[0], evaluate_every=5)
    assert run.samples_per_client == 600
    assert run.accuracy[0, -1] > 0.88
