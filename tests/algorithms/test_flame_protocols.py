"""FLAME's protocols report by report: what each party sees, padding, refusals, agreement with the large-run version."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue, OutsideValidity
from gspa.algorithms.flame import protocols
from gspa.algorithms.flame.aggregation import Curator, LocalGaussian, Mean, Sampled, Simple
from gspa.algorithms.flame.federated import Training
from gspa.algorithms.flame.noise import Source
from gspa.algorithms.flame.protocols import Rules, keypair, play
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.algorithms.sgd_config import SgdConfig
from gspa.algorithms.testing import HadamardResponse

SECRET = keypair("envelope")


def rules(**changes):
    return Rules(**({"d": 8, "n": 12, "clip": 0.01, "local": Laplace(3.0), "k": 2, "n_p": 12} | changes))


@pytest.fixture
def updates():
    return 0.01 * np.random.default_rng(4).normal(size=(12, 8))


def test_what_a_setting_holds_is_what_was_checked():
    """A whole float counts, and any real number measures; what is computed with is an int or a float."""
    half = Fraction(1, 2)
    same = [
        (rules(d=8.0, n=np.int16(12), k=2.0, clip=half), rules(d=8, n=12, k=2, clip=0.5)),
        (Sampled(half, Fraction(3), k=2.0, n_p=np.int64(4)), Sampled(0.5, 3.0, k=2, n_p=4)),
        (Simple(half, np.float32(3)), Simple(0.5, 3.0)),
        (Curator(half, 0, rate=1), Curator(0.5, 0.0, rate=1.0)),
        (LocalGaussian(half, 1), LocalGaussian(0.5, 1.0)),
        (Mean(half), Mean(0.5)),
        (Training(rounds=2.0, batches=np.int8(3), local_rate=half), Training(rounds=2, batches=3, local_rate=0.5)),
        (Source(seed=3.0), Source(seed=3)),
        (Buckets(np.float32(2), 4.0), Buckets(2.0, 4)),
        (Laplace(half), Laplace(0.5)),
        (HadamardResponse(8.0, half, 2.0), HadamardResponse(8, 0.5, 2)),
        (SgdConfig(clients=4.0, clip=half), SgdConfig(clients=4, clip=0.5)),
    ]
    for one, meant in same:
        assert repr(one) == repr(meant)
    assert HadamardResponse(8.0, half, 2.0).outputs == 16  # 2 blocks of 8 rows of the matrix


class TestWhoSeesWhat:
    def test_the_shuffler_sees_senders_and_indices_and_cannot_open_a_value(self, updates):
        found = play(updates, rules(), SECRET, rng=1)
        assert len(found.shuffler.seen) == 24
        assert {sender for sender, _ in found.shuffler.seen} == set(range(12))
        assert found.shuffler.peek(0) == "sealed values: do not open with this key"
        assert not [name for name, value in vars(found.shuffler).items() if isinstance(value, type(SECRET))]

    def test_the_analyzer_sees_no_sender_and_the_same_number_of_reports_for_each_coordinate(self, updates):
        found = play(updates, rules(), SECRET, rng=1)
        counts = np.bincount([index for index, _ in found.analyzer.values], minlength=8)
        assert (counts == 12).all()
        assert all(set(vars(message.sealed)) == {"size", "content"} for message in found.delivered)

    def test_messages_are_permuted(self, updates):
        found = play(updates, rules(), SECRET, rng=1)
        own = [message for _, message in found.shuffler.seen]
        places = [next(i for i, one in enumerate(found.delivered) if one is message) for message in own]
        assert places != sorted(places)

    def test_an_index_is_shown_l_times_as_often(self, updates):
        found = play(updates, rules(l=3, n_p=20, select="largest"), SECRET, rng=1)
        for sender in range(12):
            shown = {one.indices[0] for who, one in found.shuffler.seen if who == sender}
            assert len(shown) == 6
            assert set(np.argsort(np.abs(updates[sender]))[-2:]) <= shown

    def test_the_table(self, updates):
        table = protocols.who_saw_what(play(updates, rules(packing="vectors"), SECRET, rng=1), sender=3)
        assert table["who"].tolist() == ["shuffler", "analyzer"]
        assert table["sender"].tolist() == ["user 3", "not shown"]
        assert "do not open" in table["values"][0]
        assert len(table["values"][1].split(",")) == 2


class TestPadding:
    def test_a_coordinate_that_overflows_is_refused(self, updates):
        updates[:, 5] = 1.0
        with pytest.raises(OutsideValidity, match=r"coordinate 5 was reported 12 times; pad to more"):
            play(updates, rules(select="largest", n_p=11), SECRET, rng=1)
        play(updates, rules(select="largest", n_p=12), SECRET, rng=1)

    @given(st.lists(st.integers(0, 6), min_size=3, max_size=8), st.integers(1, 3))
    @settings(max_examples=60, deadline=None)
    def test_corrected_dummy_vectors_fill_exactly_what_is_missing(self, missing, k):
        made = protocols.dummy_vectors(np.array(missing), k, np.random.default_rng(0))
        filled = np.zeros(len(missing), dtype=int)
        for one in made:
            assert 1 <= one.size <= k
            assert len(set(one.tolist())) == one.size
            filled[one] += 1
        assert filled.tolist() == missing

    @staticmethod
    def gets_stuck(seed):
        try:
            protocols.dummy_vectors(np.array([2, 2, 2]), 2, np.random.default_rng(seed), printed=True)
        except OutsideValidity:
            return True
        return False

    def test_as_printed_it_can_get_stuck(self):
        stuck = sum(self.gets_stuck(seed) for seed in range(200))
        # {a,b}, then with probability 1/3 again {a,b}: the third coordinate lacks two and is alone.
        assert abs(stuck / 200 - 1 / 3) < 5 * math.sqrt(2 / 9 / 200)


class TestAgreement:
    """The same law as `gspa.algorithms.flame.aggregation`."""

    @pytest.mark.parametrize("packing", ["pairs", "vectors"])
    def test_without_noise_topk_is_exactly_the_same(self, updates, packing):
        quiet = rules(local=Laplace(1e13), select="largest", packing=packing)
        found = play(updates, quiet, SECRET, rng=2).z
        expected = Sampled(0.01, math.inf, k=2, n_p=12)(updates.astype(np.float32), 0, Source()).z
        assert found == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize(
        ("select", "k", "l", "aggregator"),
        [
            ("all", 8, 1, Simple(0.01, 3.0)),
            ("uniform", 2, 1, Sampled(0.01, 3.0, k=2, n_p=12, select="uniform")),
            ("independent", 2, 1, Sampled(0.01, 3.0, k=2, n_p=12, select="independent")),
            ("largest", 2, 2, Sampled(0.01, 3.0, k=2, n_p=12)),
        ],
    )
    def test_the_sums_have_the_same_distribution(self, updates, select, k, l, aggregator):  # noqa: E741
        own = rules(select=select, k=k, l=l, n_p=12)
        rng = np.random.default_rng(8)
        played = np.array([play(updates, own, SECRET, rng=rng).z for _ in range(150)])
        quick = np.array([aggregator(updates.astype(np.float32), number, Source()).z for number in range(3000)])
        for j in (0, 5):
            assert stats.ks_2samp(played[:, j], quick[:, j]).pvalue > 1e-4
        error = np.sqrt(played.var(axis=0) / 150 + quick.var(axis=0) / 3000)
        assert (np.abs(played.mean(axis=0) - quick.mean(axis=0)) < 5 * error).all()

    def test_the_estimate_is_unbiased_for_the_bucket_randomizer_too(self):
        own = rules(local=Buckets(eps=6.0, b=4), n=12, n_p=12)
        rng = np.random.default_rng(3)
        found = np.array([play(np.full((12, 8), 0.005), own, SECRET, rng=rng).z.mean() for _ in range(150)])
        assert abs(found.mean() - 0.005) < 5 * found.std() / math.sqrt(150)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"k": 5, "l": 2}, "at most d"),
            ({"select": "all"}, "d = 8 with 'all'"),
            ({"packing": "x"}, "packing"),
            ({"select": "independent", "l": 2}, "l = 1 and pairs"),
            ({"clip": 0.0}, "clip"),
        ],
    )
    def test_rules(self, changes, match):
        with pytest.raises((InvalidValue, KeyError), match=match):
            rules(**changes)

    def test_updates_of_another_shape(self, updates):
        with pytest.raises(InvalidValue, match="updates"):
            play(updates[:5], rules(), SECRET, rng=0)
        with pytest.raises(InvalidValue, match="update"):
            protocols.User(np.zeros(3), rules(), SECRET.public)


class TestSealing:
    def test_without_the_library_the_message_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(protocols, "find_spec", lambda name: None)
        with pytest.raises(GspaError, match=r"install gspa\[crypto\]"):
            keypair("encrypted")

    def test_an_envelope_opens_for_its_key_only(self):
        sealed = SECRET.public.seal([1.0, -2.5])
        assert SECRET.open(sealed) == [1.0, -2.5]
        with pytest.raises(CheckFailed, match="do not open"):
            keypair("envelope").open(sealed)
        with pytest.raises(CheckFailed, match="do not open"):
            SECRET.open(protocols.Sealed(1, b"bytes"))
        assert "-2.5" not in repr(sealed)

    @pytest.mark.skipif(not protocols.encryption_available(), reason="cryptography is not installed")
    def test_real_encryption(self, updates):
        secret = keypair("encrypted")
        values = [0.25, -1e300, 5e-324]
        sealed, again = secret.public.seal(values), secret.public.seal(values)
        assert secret.open(sealed) == values
        assert sealed.content != again.content
        changed = bytes([sealed.content[-1] ^ 1])
        bad = (sealed.content[:-1] + changed, bytes(64), b"short", sealed.content[:40])
        for content in bad:
            with pytest.raises(CheckFailed, match="do not open"):
                secret.open(protocols.Sealed(3, content))
        with pytest.raises(CheckFailed, match="do not open"):
            keypair("encrypted").open(sealed)
        encrypted = play(updates, rules(), secret, rng=5)
        assert (encrypted.z == play(updates, rules(), SECRET, rng=5).z).all()
        assert len({len(message.sealed.content) for message in encrypted.delivered}) == 1
        assert encrypted.shuffler.peek(0) == "sealed values: do not open with this key"
