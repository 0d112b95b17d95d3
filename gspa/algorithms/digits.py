"""Handwritten digits: MNIST when it can be had, scikit-learn's bundled digits when not.

MNIST is looked for in the folder `GSPA_DATA_DIR`, then in the user's cache, then downloaded.
Only the SHA-256 of a file's *decompressed* payload is trusted, wherever the file came from, and a
file that fails the check is refused, never used. Nothing is unpickled.

Environment:
    GSPA_DATA_DIR: the one folder looked into: four IDX files, `.gz` or raw, also as from torchvision or Kaggle.
    GSPA_OFFLINE: "1" forbids the download.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from gspa.accountant import arguments as _validate
from gspa.accountant.errors import DataCorrupted, DataUnavailable, InvalidValue
from gspa.algorithms import _mnist_files as files
from gspa.algorithms import _npz
from gspa.algorithms._mnist_files import FileStatus, fetch, status

__all__ = ["Dataset", "FileStatus", "banner", "fetch", "load", "project", "status"]

NAMES = ("auto", "mnist", "digits")
SCALINGS = ("none", "unit_variance", "standardize_pixels")
_PROJECTION_VERSION = "2"  # part of the cache key: raise it when `project` computes something else

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Dataset:
    """Images and labels, split into training and test.

    Attributes:
        train_x, test_x: float32, (n, d); pixels in [0, 1], or PCA scores after `project`.
        train_y, test_y: int64, (n,), digits 0..9.
        name: "mnist" or "digits".
        stand_in: True when this is not MNIST.
        sha256: Checksum of each source file (MNIST) or of the content (digits).
        source: Where the data came from, in words.
        preprocessing: What was done to the pixels.
    """

    train_x: Images = field(repr=False)
    train_y: Labels = field(repr=False)
    test_x: Images = field(repr=False)
    test_y: Labels = field(repr=False)
    name: str
    stand_in: bool
    sha256: dict[str, str]
    source: str
    preprocessing: str = "pixels in [0, 1]"

    @property
    def classes(self) -> int:
        """Number of classes; always 10 here."""
        return int(max(self.train_y.max(), self.test_y.max())) + 1


def load(name: str = "auto", *, download: bool = True) -> Dataset:
    """Load a data set.

    Args:
        name: "mnist"; "digits" (1,797 real 8x8 images bundled with scikit-learn); or "auto": MNIST where it
            can be had, else digits. With GSPA_DATA_DIR set, "auto" means MNIST from there or an error.
        download: Allow the download of MNIST into the user's cache.

    Returns:
        A `Dataset` with pixels in [0, 1]; look at `stand_in` before saying "MNIST".

    Raises:
        DataUnavailable: MNIST was asked for and is neither on disk nor downloadable.
        DataCorrupted: a file is there and is not what its checksum says.

    >>> digits = load("digits")
    >>> digits.train_x.shape, digits.test_x.shape, digits.stand_in
    ((1437, 64), (360, 64), True)
    """
    if _validate.one_of(NAMES, name=name) == "digits":
        return _digits()
    try:
        return _mnist(download)
    except DataUnavailable:
        if name == "mnist" or os.environ.get("GSPA_DATA_DIR"):
            raise
        return _digits()


def project(dataset: Dataset, *, components: int = 60, scaling: str = "none", cache: bool = True) -> Dataset:
    """Reduce images to their leading principal components, fitted on the training images only.

    The paper says no more than "an initial PCA input layer with 60 components"; "none" is its plain reading.

    Args:
        dataset: Pixels in [0, 1] from `load`.
        components: 1 .. d.
        scaling: "none": centred pixels; "unit_variance": each component then divided by its training standard
            deviation (whitening; it inflates components that hold almost no variance);
            "standardize_pixels": each pixel divided by its training standard deviation *before* the PCA.
        cache: Keep the result in the user's cache. A damaged or unwritable cache only costs time.

    Returns:
        The same data with (n, components) inputs; signs are fixed, so repeated runs agree.

    Raises:
        InvalidValue: components or scaling out of range.
    """
    limit = min(dataset.train_x.shape)
    components = _validate.count(components=components)
    if components > limit:
        raise InvalidValue("components", components, f"an integer in 1 .. {limit}")
    _validate.one_of(SCALINGS, scaling=scaling)
    parts = {"train_x": dataset.train_x, "test_x": dataset.test_x}
    # The key is made of the images themselves: a part of MNIST carries MNIST's checksums too.
    key_hash = hashlib.sha256(f"{_PROJECTION_VERSION}|{components}|{scaling}|{dataset.train_x.shape}".encode())
    for images in parts.values():
        key_hash.update(_plain(images).data)
    key = key_hash.hexdigest()
    wanted = {name: ((len(part), components), np.dtype(np.float32).str) for name, part in parts.items()}
    folder = files.cache("pca") if cache else None
    stored = (None if folder is None else _npz.read(folder / f"{key}.npz")) or {}
    sound = {name: (array.shape, array.dtype.str) for name, array in stored.items()} == wanted
    if not sound:
        stored = dict(zip(wanted, _fit_projection(dataset, components, scaling), strict=True))
        if folder is not None:
            _npz.write(folder / f"{key}.npz", stored)
    text = f"PCA to {components} components, scaling: {scaling}"
    return replace(dataset, train_x=stored["train_x"], test_x=stored["test_x"], preprocessing=text)


def banner(dataset: Dataset) -> str:
    """Markdown for the top of a page: which data the page was computed from."""
    counts = f"{len(dataset.train_y):,} training and {len(dataset.test_y):,} test images"
    first = next(iter(dataset.sha256.values()))[:12]
    if not dataset.stand_in:
        return f"Data: MNIST, {counts}; all files match their checksums (training images `{first}`)."
    return (
        "> **This page was computed without MNIST.** The data are scikit-learn's bundled *digits*: "
        f"real handwriting, 8 × 8 pixels, {counts} (content `{first}`).\n"
        "> They are not MNIST. Every claim about MNIST is **not yet checked** by this run; "
        "run `gspa data fetch` and build again."
    )


def _mnist(download: bool) -> Dataset:
    own = files.data_dir()
    folder = own or files.cache("mnist")
    if own is None and download and not all(files.present(folder, file) for file in files.CHECKSUMS):
        folder = files.fetch()
    arrays = [files.parse_idx(files.payload(folder, file), file) for file in files.CHECKSUMS]
    train_x, train_y, test_x, test_y = arrays
    if len(train_x) != len(train_y) or len(test_x) != len(test_y):
        raise DataCorrupted(f"{folder}: images and labels differ in number")
    return Dataset(
        _unit(train_x, 255),
        train_y.astype(np.int64),
        _unit(test_x, 255),
        test_y.astype(np.int64),
        name="mnist",
        stand_in=False,
        sha256=dict(files.CHECKSUMS),
        source="MNIST (LeCun et al. 1998), IDX files verified by SHA-256",
    )


def _unit(pixels: npt.NDArray[np.uint8], top: int) -> Images:
    return np.divide(pixels, np.float32(top), dtype=np.float32)


def _digits() -> Dataset:
    """scikit-learn's digits; sorted by class (stably), every fifth image is a test image."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    pixels, labels = bunch.data.astype(np.uint8), bunch.target.astype(np.int64)
    test = np.zeros(len(labels), dtype=bool)
    test[np.argsort(labels, kind="stable")[::5]] = True
    content = hashlib.sha256(pixels.tobytes() + labels.astype("<i8").tobytes()).hexdigest()
    x = _unit(pixels, 16)
    return Dataset(
        x[~test],
        labels[~test],
        x[test],
        labels[test],
        name="digits",
        stand_in=True,
        sha256={"digits": content},
        source="scikit-learn's bundled digits (UCI optical recognition of handwritten digits)",
    )


def _fit_projection(dataset: Dataset, components: int, scaling: str) -> tuple[Images, Images]:
    """PCA by the eigenvectors of the training covariance.

    In float64 and in blocks: the result then depends on the machine's matrix routines in the last
    float32 digit only, and the 188 MB of training images are never copied.
    """
    train = dataset.train_x
    mean = train.mean(axis=0, dtype=np.float64)
    unit = np.ones(train.shape[1])
    if scaling == "standardize_pixels":
        deviation = np.sqrt(sum(((block - mean) ** 2).sum(axis=0) for block in _blocks(train)) / len(train))
        unit[deviation > 0] = deviation[deviation > 0]  # a pixel that never varies stays as it is
    covariance = np.zeros((train.shape[1], train.shape[1]))
    for block in _blocks(train):
        centred = (block - mean) / unit
        covariance += centred.T @ centred
    covariance /= len(train) - 1
    variances, axes = np.linalg.eigh(covariance)
    variances, axes = variances[::-1][:components], axes[:, ::-1][:, :components]
    # An eigenvector's sign is arbitrary: make its largest entry positive, as scikit-learn does.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(components)])
    if scaling == "unit_variance":
        # Directions without variance (constant pixels) are left at zero instead of blown up.
        axes = axes / np.sqrt(np.where(variances > 1e-12 * variances[0], variances, 1.0))
    return _scores(train, mean, unit, axes), _scores(dataset.test_x, mean, unit, axes)


def _scores(images: Images, mean: Floats, unit: Floats, axes: Floats) -> Images:
    return np.concatenate([_plain((block - mean) / unit @ axes) for block in _blocks(images)])


def _blocks(images: Images) -> list[Images]:
    return [images[low : low + 4000] for low in range(0, len(images), 4000)]


def _plain(scores: npt.ArrayLike) -> Images:
    return np.ascontiguousarray(scores, dtype=np.float32)
