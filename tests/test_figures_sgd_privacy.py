"""The privacy figures of the SGD page: what they draw and what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from gspa import figures, sgd_privacy

DELTA = 1e-5


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_record_movement():
    record = pd.DataFrame({"factor": [1, 10], "norm": [5.0, 5e5], "movement": [0.02, 3.999]})
    drawn = figures.record_movement(record, clip=2.0, assumed={"clients": 100, "records": 600}, real_norm=11.0)
    axis = drawn.axes[0]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), record["movement"])
    assert [line.get_ydata()[0] for line in axis.lines[1:4]] == [4.0, 0.04, pytest.approx(4 / 600)]
    assert "3.999 at 5e+05, where 2C = 4" in figures.describe_record_movement(record, clip=2.0)


def test_true_budgets():
    local = sgd_privacy.local_table([0.01, 0.5, 2.0], delta=DELTA, clients=100, samples=600, epochs=50)
    drawn = figures.true_budgets(local, delta=DELTA, epochs=50)
    assert len(drawn.axes[0].lines) == 6
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert "each record clipped, all 50 messages" in labels
    assert "number of clients, 1.03e+03" in figures.describe_true_budgets(local)


def test_training_budgets():
    table = sgd_privacy.theorem5_table(
        epochs=(1, 3), clients=20, samples=6, delta=DELTA, divisor=20, dimension=50, settings=("constant",)
    )
    axis = figures.training_budgets(table, delta=DELTA).axes[0]
    np.testing.assert_allclose(axis.lines[2].get_ydata(), table["promised"])
    assert axis.get_yscale() == "log"
    assert f"promised by Theorem 5, {table['promised'].iloc[1]:.3g}" in figures.describe_training_budgets(table)


def test_blanket_masses():
    table = sgd_privacy.certified_table(0.5, delta=DELTA, clients=20, samples=6, divisor=20, dimensions=(1, 100, 1000))
    axis = figures.blanket_masses(table).axes[0]
    assert len(axis.lines) == 2  # two sizes of noise, three kinds
    assert (np.diff(axis.lines[0].get_ydata()) < 0).all()
    assert "from 1 to 1,000: Algorithm 3, 10^" in figures.describe_blanket_masses(table)
