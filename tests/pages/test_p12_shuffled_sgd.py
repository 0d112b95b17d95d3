"""Page 12: the helper's trainings against plain ones, and the cells of its claims on made tables."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import p12_shuffled_sgd as p
import pandas as pd
import pytest
from running import Planted, run_page, settle
from scipy import stats

from gspa.algorithms import digits as datasets
from gspa.algorithms import sgd
from gspa.algorithms.sgd_config import SgdConfig
from gspa.book import claims

pytestmark = pytest.mark.usefixtures("surroundings")
CONFIG = SgdConfig(clients=7, epochs=2, hidden_width=8)
SEEDS = (3, 8)
NONE, CONSTANT, UNIF1, UNIF2, UNIF3, MIXED = map(
    p.law_label, (p.NO_NOISE, "constant", "unif1", "unif2", "unif3", "mixed")
)
MNIST = SimpleNamespace(name="mnist", sha256={}, stand_in=False, train_x=range(60_000))


@pytest.fixture(scope="module")
def data():
    full = datasets.load("digits")
    parts = {
        name: getattr(full, name)[:: 5 if "train" in name else 3] for name in ("train_x", "train_y", "test_x", "test_y")
    }
    images = dataclasses.replace(full, **parts)
    return {how: datasets.project(images, components=10, scaling=how) for how in datasets.SCALINGS}


@pytest.fixture(scope="module")
def runs(data):
    return p.figure4(data["none"], CONFIG, seeds=SEEDS, laws=(*p.LAWS, p.EQUAL))


def of(runs, name):
    return runs[runs["law"] == p.law_label(name)].reset_index(drop=True)


class TestTrainings:
    UNIT = 2 * 2 / 7 * math.sqrt(2 * math.log(1.25e5))  # line 7 with Table 3's C = 2, delta = 1e-5, and 7 clients

    def test_noise_by_hand(self, runs):
        noise = runs.groupby(["law", "seed"])["noise"].first().unstack()
        # Seven clients: four at 0.5, three at 0.01.
        mixed = self.UNIT * math.sqrt((4 / 0.5**2 + 3 / 0.01**2) / 7)
        for label, value in ((NONE, 0), (CONSTANT, self.UNIT / 0.5), (MIXED, mixed)):
            assert noise.loc[label].tolist() == pytest.approx([value] * 2, rel=1e-12)
        assert noise.loc[p.EQUAL].tolist() == pytest.approx(noise.loc[UNIF2].tolist(), rel=1e-12)
        for label, low, high in ((UNIF1, 0.01, 1), (UNIF2, 0.01, 2), (UNIF3, 0.5, 1)):
            least = runs[runs["law"] == label].groupby("seed")["eps_min"].first()
            assert least.between(low, high).all()
            # The largest of 7 sigmas is at least their root mean square, and at most sqrt(7) times it.
            assert (self.UNIT / least / noise.loc[label]).between(1, math.sqrt(7)).all()
            assert least.nunique() == 2

    def test_it_is_algorithm_3_with_these_budgets(self, data, runs):
        direct = sgd.train(data["none"], np.full(7, 0.5), CONFIG, seeds=[8])
        # Same random numbers; float32 rounding in another batch, over 14 steps.
        np.testing.assert_allclose(of(runs, "constant")["test_loss"][3:], direct.test_loss[0], rtol=1e-3)

    def test_settings_that_nothing_ranks_closely_have_fewer_seeds(self, data):
        fewer = p.figure4(data["none"], CONFIG, seeds=SEEDS, reference_seeds=1).groupby("law")["seed"].nunique()
        assert fewer.to_dict() == {NONE: 1, UNIF1: 1, UNIF2: 2, UNIF3: 2, CONSTANT: 2, MIXED: 1}

    @pytest.mark.parametrize(("law", "step"), [(p.FIRST, 1), (p.LAST, -1)])
    def test_the_orders_are_the_orders_of_the_visits(self, law, step):
        drawn = sgd.client_budgets("unif2", clients=7, seeds=[2])[0]
        visited = p.budgets_of(law, clients=7, seed=2)[sgd.visiting_order(2, clients=7)]
        assert visited.tolist() == sorted(drawn)[::step]


ASKED = {p.HERE: {}, "width": {"hidden_width": 4}, "pixels": {"scaling": "standardize_pixels", "clients": 5}}


class TestReadings:
    def test_a_row_is_the_training_it_names(self, data):
        answers = p.sensitivity(data, CONFIG, ASKED, seeds=SEEDS)
        assert answers.groupby("reading", sort=False).size().to_dict() == dict.fromkeys(ASKED, 3 * 2)
        plain = {
            p.HERE: (data["none"], CONFIG),
            "width": (data["none"], dataclasses.replace(CONFIG, hidden_width=4)),
            "pixels": (data["standardize_pixels"], dataclasses.replace(CONFIG, clients=5)),
        }
        for reading, (images, config) in plain.items():
            part = answers[(answers["reading"] == reading) & (answers["law"] == CONSTANT)]
            direct = sgd.train(images, np.full(config.clients, 0.5), config, seeds=SEEDS).final_accuracy
            # Another batch of replicas may round another image across the boundary.
            np.testing.assert_allclose(part["accuracy"], direct, atol=1.01 / len(images.test_x))

    def test_what_is_known_is_not_trained_again(self, data, monkeypatch):
        once = p.sensitivity(data, CONFIG, ASKED, seeds=SEEDS)
        asked = []
        monkeypatch.setattr(p, "trained", lambda tasks, **_: asked.extend(tasks) or p.pd.DataFrame(rows(tasks)))

        def rows(tasks):
            return [
                {"reading": t.reading, "law": p.law_label(s), "seed": t.seed, "epoch": 2, "accuracy": 0.25}
                for t in tasks
                for s in t.laws
            ]

        known = once[(once["reading"] != "width") | (once["seed"] != 8)]
        again = p.sensitivity(data, CONFIG, ASKED, seeds=SEEDS, known=known)
        assert [(task.reading, task.seed) for task in asked] == [("width", 8)]
        expected = once.assign(accuracy=once["accuracy"].where(once.index.isin(known.index), 0.25))
        pd.testing.assert_frame_equal(again, expected)

    def test_of_the_same_experiment_the_first_name_stays(self):
        asked = {"a": {}, "b": {"hidden_width": 8}, "c": {"scaling": "none"}, "d": {"scaling": "unit_variance"}}
        assert list(p.distinct(asked, CONFIG, scaling="none")) == ["a", "d"]
        assert list(p.distinct(asked, CONFIG, scaling="unit_variance")) == ["a", "c"]


# As the paper draws Figure 4: the printed numbers, unif3 the best of the noisy ones.
PAPERS = {NONE: 0.9678, UNIF1: 0.92, UNIF2: 0.935, UNIF3: 0.955, CONSTANT: 0.948, MIXED: 0.80, p.EQUAL: 0.83}
# As this book measures them: every noisy law far below the run without noise.
MEASURED = {NONE: 0.96, UNIF1: 0.82, UNIF2: 0.83, UNIF3: 0.905, CONSTANT: 0.886, MIXED: 0.70, p.EQUAL: 0.83}


def table(base=PAPERS, *, seeds=12, epochs=50, jitter=0.002, **changes):
    """Figure 4's table with these mean final accuracies; the seeds' deviations sum to 0 in each law."""
    rng, rows = np.random.default_rng(0), []
    for label, mean in (base | {p.law_label(key): value for key, value in changes.items()}).items():
        deviations = rng.normal(size=seeds)
        deviations = jitter * (deviations - deviations.mean())
        for seed, deviation in enumerate(deviations):
            rows.append((p.HERE, label, seed, 1, mean - 0.2))  # the first epoch: must not count
            rows.append((p.HERE, label, seed, epochs, mean + deviation))
    return pd.DataFrame(rows, columns=["reading", "law", "seed", "epoch", "accuracy"])


def read(*accuracies):
    """Two readings; by default the second is 0.3 points from each printed number at most."""
    values = {p.HERE: (0.96, 0.89, 0.83), "m: other": accuracies or (0.967, 0.9491, 0.932)}
    rows = [
        (name, *one) for name, row in values.items() for one in zip((NONE, CONSTANT, UNIF2), (0,) * 3, row, strict=True)
    ]
    return pd.DataFrame(rows, columns=["reading", "law", "seed", "accuracy"])


def spread(less=0.0, seeds=6):
    """Draws of both printed laws, at the printed numbers less so much."""
    noise = 0.0004 * (np.arange(seeds) - (seeds - 1) / 2)
    parts = [pd.DataFrame({"law": label, "seed": range(seeds), "accuracy": mean - less + sign * noise})
             for label, mean, sign in ((CONSTANT, 0.948, 1), (UNIF2, 0.935, -1))]  # fmt: skip
    return pd.concat(parts)


def visits(order=3.0, seeds=3):
    """By seed, in percent: the noisiest client first is `order` points better."""
    return pd.DataFrame({p.FIRST: [84.0, 84.5, 84.2], p.LAST: [84.0 - order, 84.4 - order, 84.3 - order]})[:seeds]


def base():
    more = {"images": MNIST, "runs": table(), "answers": read(), "spread": spread(), "visits": visits(), "opened": {}}
    return more | {"vanilla": pd.Series(96.0 + 0.01 * np.arange(12)), "vanilla_there": 90.0}


def made(claim, runs=None, **more):
    """The outcome of a claim's cell on runs that nobody made."""
    return settle(claim, **(base() | more | ({} if runs is None else {"runs": runs})))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"no_noise": 0.9678}, "not reproduced"),  # only without noise
        ({"unif3": 0.9638}, "verified"),
        ({"no_noise": 0.9800, "unif3": 0.9738}, "not reproduced"),  # every run is too good
    ],
)
def test_the_printed_accuracy_follows_the_means(changes, expected):
    changes = {key.replace("_", " "): value for key, value in changes.items()}
    assert made("G-SGD1", table(**changes), answers=read(0.5, 0.5, 0.5)).verdict == expected


def test_other_settings_that_reach_it_with_noise_are_named_in_the_correction():
    found = made("G-SGD1", answers=read(0.967, 0.9691, 0.932))
    assert (found.verdict, found.agreeing) == ("holds with correction", "in 1 of 2 readings")
    assert "m: other" in found.correction
    assert [one.excluded != "" for one in found.readings] == [False, False, True, True]


@pytest.mark.parametrize(
    ("changes", "less", "expected"),
    [
        ({"constant": 0.952, "unif2": 0.931}, 1, "verified"),
        ({"constant": 0.954}, 1, "not reproduced"),  # the order, not the number
        ({"jitter": 0.2}, 1, "not reproduced"),  # overlapping
        ({"constant": 0.90, "unif2": 0.95}, 0, "holds with correction"),  # nearest_three, the mean of its seeds
        ({"constant": 0.90, "unif2": 0.95}, 0.01, "not reproduced"),
    ],
)
def test_constant_above_unif2_follows_order_and_numbers(changes, less, expected):
    assert made("G-SGD3", table(**changes), spread=spread(less)).verdict == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"mixed": 0.958}, "refuted"),
        ({"constant": 0.955}, "not reproduced"),  # a tie with one of them
        ({"jitter": 0.1}, "not reproduced"),
    ],
)
def test_unif3_is_best_follows_the_ranking(changes, expected):
    assert made("G-SGD4", table(**changes)).verdict == expected


def test_the_reason_of_the_ranking_is_the_noise_and_each_lead_is_paired_by_seed():
    runs = table()
    found = made("G-SGD4", runs)
    assert [one.verdict for one in found.readings] == ["verified", "holds with correction"]
    final = runs[runs["epoch"] == 50].pivot(index="seed", columns="law", values="accuracy")
    pair = stats.ttest_rel(final[UNIF3], final[CONSTANT]).confidence_interval(0.95)
    shown = found.evidence[f"ahead of others by (points, 95% interval): {CONSTANT}"]
    assert shown == pytest.approx([100 * pair.low, 100 * pair.high])


@pytest.mark.parametrize(
    ("changes", "plain", "there", "expected"),
    [
        ({}, 96.0, 90.0, "not reproduced"),  # without noise alone
        ({"unif3": 0.952}, 96.0, 90.0, "verified"),
        ({}, 98.0, 90.0, "not reproduced"),
        ({}, 96.0, 95.5, "holds with correction"),  # 94.91 there
    ],
)
def test_agreement_with_the_vanilla_network_follows_the_paired_gaps(changes, plain, there, expected):
    vanilla = pd.Series(np.full(12, plain))
    assert made("G-SGD2", table(MEASURED, **changes), vanilla=vanilla, vanilla_there=there).verdict == expected


def test_what_was_clipped_is_trained_without_the_clip_for_the_vanilla_network(data):
    sharp = {"clip": 1e-3, "clients": 7, "epochs": 2, "hidden_width": 8}  # clipped so hard that it stays at its start
    runs = p.figure4(data["none"], SgdConfig(**sharp), seeds=SEEDS, laws=(p.NO_NOISE,))
    ran = run_page("12_shuffled_sgd", dataset="digits", hidden_width=20, epochs=1, widths=[8])
    assert ran.names["clipped"] == []
    assert ran.names["vanilla"].tolist() == (100 * ran.names["clean"]["accuracy"]).tolist()
    free = p.sensitivity(data, SgdConfig(**sharp), {p.HERE: p.NO_CLIP}, seeds=SEEDS, laws=[p.NO_NOISE])
    wide = sgd.train(data["none"], None, SgdConfig(**sharp | {"clip": 1e9}), seeds=SEEDS)
    assert free["accuracy"].tolist() == wide.final_accuracy.tolist() != of(runs, p.NO_NOISE)["accuracy"][2::3].tolist()


@pytest.mark.parametrize(
    ("same", "jitter", "order", "expected"),
    [
        (0.83, 0.002, 3.0, ["refuted", "holds with correction"]),  # one budget with the same noise loses as much
        (0.886, 0.002, 3.0, ["verified", "refuted"]),  # without the difference the drop is gone
        (0.858, 0.05, 3.0, ["not reproduced", "not reproduced"]),  # either may be more than half
        (0.83, 0.002, 0.0, ["refuted", "not reproduced"]),  # the order may do nothing
        (0.83, 0.002, -3.0, ["refuted", "refuted"]),  # the order does the reverse
    ],
)
def test_the_difference_follows_what_remains(same, jitter, order, expected):
    found = made("G-SGD5", table(MEASURED | {p.EQUAL: same}, jitter=jitter), visits=visits(order))
    assert [one.verdict for one in found.readings] == expected


def test_what_is_beyond_half_of_the_drop_is_paired_by_the_seeds_of_both():
    runs = table(MEASURED, jitter=0.01)
    runs = runs[(runs["law"] != p.EQUAL) | (runs["seed"] < 6)]
    by_seed = 100 * runs[runs["epoch"] == 50].pivot(index="seed", columns="law", values="accuracy")[:6]
    # returned - drop / 2, where the drop is constant - unif2 and unif2 with one budget returns equal - unif2
    pair = stats.ttest_rel(by_seed[p.EQUAL], (by_seed[CONSTANT] + by_seed[UNIF2]) / 2).confidence_interval(0.95)
    beyond = settle("G-SGD5", **(base() | {"runs": runs})).evidence
    (label,) = (label for label in beyond if "half of the drop" in label)
    assert beyond[label][1:] == pytest.approx([pair.low, pair.high])


def test_without_a_drop_there_is_nothing_to_explain():
    assert made("G-SGD5", table(MEASURED | {p.EQUAL: 0.886}, unif2=0.886)).verdict == "not reproduced"


def without(law, seeds):
    """Figure 4's table, where this law has so many seeds."""
    rows = table()
    return rows[(rows["law"] != law) | (rows["seed"] < seeds)]


@pytest.mark.parametrize(
    ("claim", "lacking", "need"),
    [
        *((f"G-SGD{number}", {"runs": without(CONSTANT, 11)}, "seeds >= 12") for number in range(1, 6)),
        ("G-SGD1", {"runs": table(epochs=49)}, "epochs >= 50"),
        ("G-SGD4", {"runs": without(MIXED, 5)}, "reference_seeds >= 6"),
        ("G-SGD3", {"spread": spread(seeds=5)}, "spread_seeds >= 6"),
        ("G-SGD5", {"visits": visits(seeds=2)}, "order_seeds >= 3"),
    ],
)
def test_a_claim_waits_for_the_trainings_that_it_needs(claim, lacking, need):
    found = made(claim, **lacking)
    assert (found.verdict, found.missing) == ("not yet checked", "settings")
    assert f"`trained.{need}`" in found.reason


@pytest.mark.parametrize(
    ("agreeing", "expected"),
    [
        ([True, False, True, True], "verified"),
        ([False, False, True, True], "holds with correction"),
        ([False, False, True, False], "refuted"),
    ],
)
def test_table_3_follows_the_lines(agreeing, expected):
    assert settle("G-TAB3", agree=pd.Series(agreeing, list("abcd"))).verdict == expected


def test_the_page_without_mnist():
    ran = run_page("12_shuffled_sgd", dataset="digits", hidden_width=20, epochs=1, widths=[8])
    uses = ran.names["uses"]
    assert uses.loc["line by line, $m$ = a batch"].tolist() == [600, 100, 100, 100, 600, 100, 100]
    assert uses.loc["$m$ clients of $n/m$ samples"].tolist() == [100, 100, 600, 100, 100, 600, 600]
    assert uses.loc["this page's runs"].tolist() == [100, 100, 600, 100, 100, 600, 100]
    assert ran.names["agree"].tolist() == [False, False, True, True, False]
    missing = {name: found.missing for name, found in ran.outcomes.items()}
    assert missing == {f"G-SGD{number}": "data" for number in range(1, 6)} | {"G-TAB3": ""}
    assert ran.outcomes["G-TAB3"].verdict == claims.claim("G-TAB3").verdict
    assert ran.names["by_hand"] == pytest.approx(ran.names["by_package"], rel=1e-12)
    # Each field that the paper leaves open is asked.
    changed = {name for changes in ran.names["opened"].values() for name in changes}
    stated = {"epochs", "learning_rate", "clip", "delta", "clipped"}
    assert changed == {field.name for field in dataclasses.fields(CONFIG)} - stated | {"scaling"}
    noise = sgd.client_budgets("unif2", clients=100, seeds=range(100))
    noise = (noise**-2).mean(axis=1) ** -0.5
    assert [sorted(noise).index(noise[seed]) for seed in p.typical(range(100), 3, clients=100)] == [16, 50, 83]


def test_the_printed_accuracies_are_the_quoted_ones():
    printed = run_page("12_shuffled_sgd", dataset="digits", hidden_width=20, epochs=1, widths=[8]).names["printed"]
    for claim, labels in (("G-SGD1", [NONE]), ("G-SGD3", [CONSTANT, UNIF2])):
        assert all(f"{printed[label]}%" in claims.claim(claim).quote for label in labels)


def tables(claim):
    """For the planted errors: where the claim comes out otherwise with the right formula."""
    best = {"G-SGD1": {"unif3": 0.9678}, "G-SGD2": {"unif3": 0.952}}.get(claim, {})
    answers = read(0.5, 0.5, 0.5) if claim == "G-SGD1" else read()
    return base() | {"runs": table(MEASURED if claim in ("G-SGD2", "G-SGD5") else PAPERS, **best), "answers": answers}


NOTEBOOK = "notebooks.12_shuffled_sgd"
PLANTED = (
    Planted(
        "G-TAB3",
        NOTEBOOK,
        '"$m$ clients of $n/m$ samples": (m, m, n / m, m, m, n / m, n / m)',
        '"$m$ clients of $n/m$ samples": (m, m, n / m, m, m, n / m, m)',
        "line 7 with another divisor in the corrected reading",
    ),
    Planted(
        "G-SGD1 G-SGD2",
        NOTEBOOK,
        'final = 100 * ends.pivot_table(index="seed", columns="law", values="accuracy", sort=False)',
        'final = 100 * runs.pivot_table(index="seed", columns="law", values="accuracy", sort=False)',
        "the mean over the epochs taken for the last",
        tables="tables",
    ),
    Planted(
        "G-SGD3",
        NOTEBOOK,
        "gap = (by_seed[CONSTANT] - by_seed[UNIF2]).dropna()",
        "gap = (by_seed[UNIF2] - by_seed[CONSTANT]).dropna()",
        "the difference with the other sign",
        tables="tables",
    ),
    Planted(
        "G-SGD4",
        NOTEBOOK,
        "over = {name: final[UNIF3] - final[name] for",
        "over = {name: final[name] - final[UNIF3] for",
        "the ranking with the other sign",
        tables="tables",
    ),
    Planted(
        "G-SGD5",
        NOTEBOOK,
        "drop, returned = final[CONSTANT] - final[UNIF2],",
        "drop, returned = final[UNIF2] - final[CONSTANT],",
        "the drop with the other sign",
        tables="tables",
    ),
    Planted(
        "G-SGD5",
        NOTEBOOK,
        '"beyond half": returned - drop / 2',
        '"beyond half": returned + drop / 2',
        "half of the drop with the other sign",
        tables="tables",
    ),
)
