"""Any finite randomizers: brackets against enumeration in fractions, named families, and what is refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact_shuffle import curves, response, subset, truth

import gspa
from gspa.accountant import exact
from gspa.accountant.budgets import constant
from gspa.accountant.engine import discrete_delta, discrete_epsilon
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.randomizers import read_matrix


def enumerated(tables, counts, factor):
    return truth(curves([table for table, count in zip(tables, counts, strict=True) for _ in range(count)]), factor)


def drawn(rng):
    """Small randomizers with zeros among their masses, and how many users run each."""
    outputs, inputs = rng.choice([2, 3]), rng.choice([2, 3])

    def row():
        weights = [rng.choice([0, 1, 1, 2, 3, 5, 8, 13]) for _ in range(outputs)]
        weights[0] += not sum(weights)
        return [Fraction(weight, sum(weights)) for weight in weights]

    groups = rng.choice([1, 1, 2])
    counts = [rng.choice([1, 2]) if groups == 2 else rng.choice([1, 2, 3, 4]) for _ in range(groups)]
    return [[row() for _ in range(inputs)] for _ in range(groups)], counts


def plain(tables, counts):
    return [([[float(p) for p in row] for row in table], count) for table, count in zip(tables, counts, strict=True)]


class TestAgainstEnumeration:
    @pytest.mark.parametrize("seed", [*range(60), *(pytest.param(s, marks=pytest.mark.slow) for s in range(60, 1500))])
    def test_both_ends(self, seed):
        rng = random.Random(seed)
        tables, counts = drawn(rng)
        factor = Fraction(rng.choice([8, 9, 12, 16, 25, 40]), 8)
        true = enumerated(tables, counts, factor)
        found = discrete_delta(plain(tables, counts), eps=math.log(factor))
        assert found.lower <= true * (1 + 1e-12)
        assert true <= found.upper * (1 + 1e-12)

    @pytest.mark.parametrize("seed", range(4))
    def test_nobody_who_may_be_the_worst_is_skipped_among_personal_randomizers(self, seed):
        rng = random.Random(seed)
        weights = [[[rng.randint(1, 9) for _ in range(3)] for _ in range(2)] for _ in range(4)]
        tables = [[[Fraction(one, sum(row)) for one in row] for row in table] for table in weights]
        true, eps = enumerated(tables, [1] * 4, Fraction(5, 4)), math.log(1.25)
        for order in (tables, tables[::-1]):
            found = discrete_delta(plain(order, [1] * 4), eps=eps)
            assert found.lower <= true * (1 + 1e-12)
            assert true <= found.upper * (1 + 1e-12)
            enough = discrete_epsilon(plain(order, [1] * 4), delta=found.upper).upper
            assert discrete_delta(plain(order, [1] * 4), eps=enough).upper <= found.upper * (1 + 1e-9)

    @pytest.mark.parametrize(
        "seed", [*range(0, 60, 2), 13, 129, *(pytest.param(s, marks=pytest.mark.slow) for s in range(60, 400))]
    )
    def test_an_epsilon_is_found_where_a_delta_certifies_it(self, seed):
        rng = random.Random(seed)
        users, eps = plain(*drawn(rng)), math.log(rng.choice([8, 9, 12, 16, 25, 40]) / 8)
        delta = discrete_delta(users, eps=eps).upper * 1.001
        if 0 < delta < 1:
            # Rows that are equal have a local eps of a few units of rounding.
            assert discrete_epsilon(users, delta=delta).upper <= eps * (1 + 1e-6) + 1e-14

    @pytest.mark.parametrize(
        ("tables", "counts", "delta"),
        [
            ([[["1/2", "1/2"], ["0", "1"]], [["9/10", "1/10"], ["4/5", "1/5"]]], [3, 3], 0.4),
            (
                [[["83/100", "17/100"], ["22/25", "3/25"]], [["999999/1000000", "1/1000000"], ["1", "0"]]],
                [2, 2],
                1e-6,
            ),
        ],
    )
    def test_a_zero_among_different_randomizers(self, tables, counts, delta):
        tables = [[[Fraction(mass) for mass in row] for row in table] for table in tables]
        found = discrete_epsilon(plain(tables, counts), delta=delta)
        assert found.upper - found.lower < 1e-4
        assert enumerated(tables, counts, _power(found.upper)) <= delta
        assert found.lower == 0 or enumerated(tables, counts, _power(found.lower)) >= delta

    def test_equal_users_are_attacked_to_the_last_digits_where_two_inputs_are_all(self):
        table = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
        for n in (2, 3, 5):
            true = enumerated([table], [n], Fraction(3, 2))
            assert discrete_delta(plain([table], [n]), eps=math.log(1.5)).lower == pytest.approx(true, rel=2e-2)

    def test_what_differs_only_where_nobody_hides_it_is_not_taken_for_the_same(self):
        """Two changes of a record whose masses outside of B are the same numbers in another order."""
        table = [[2 / 3, 0, 1 / 3], [3 / 5, 0, 2 / 5], [0, 3 / 5, 2 / 5]]
        assert discrete_delta([(table, 3)], eps=math.log(25 / 8)).upper >= 2 / 3

    def test_a_huge_local_eps_is_an_answer(self):
        table = [[1.0, 0.0, 0.0], [1.0 - 2e-120, 1e-120, 1e-120], [0.5, 0.5 - 1e-120, 1e-120]]
        with pytest.raises(OutsideValidity, match=r"needs delta > 0\.5"):
            discrete_epsilon([(table, 2)], delta=1e-3)
        found = discrete_epsilon([(table[1:], 2)], delta=1e-3)
        alone = math.log(0.5 / 1e-120) + math.log1p(-1e-3 / 0.5)  # what one report shows
        assert alone <= found.upper <= alone + 1e-6

    @pytest.mark.parametrize("mass", [1e-149, 1e-151, 1e-160])
    @pytest.mark.parametrize("n", [2, 5])
    def test_an_attack_counts_what_the_others_hardly_ever_send(self, n, mass):
        """Of n reports one that the others send with that mass is not the victim's for certain."""
        half, rare = Fraction(1, 2), Fraction(mass)
        factor = Fraction(2, 5) / n / rare
        found = discrete_delta([([[0.5, 0.5], [mass, 1.0]], n)], eps=math.log(factor))
        true = enumerated([[[half, half], [rare, 1 - rare]]], [n], factor)
        assert 0.5 * true < found.lower <= true * (1 + 1e-12)
        assert true <= found.upper * (1 + 1e-12)

    def test_a_report_is_worth_something_until_its_largest_ratio(self):
        """log of 0.999999/1e-120 is no double."""
        table = [[1e-120, 1.0], [0.999999, 1e-6]]
        at = math.log(0.999999) - math.log(1e-120)
        true = enumerated([[[Fraction(p) / sum(map(Fraction, row)) for p in row] for row in table]], [3], _power(at))
        assert true > 0
        assert discrete_delta([(table, 3)], eps=at).upper >= true


def _power(eps):
    """e^eps of a double, to 60 digits."""
    with mpmath.workdps(200):
        return Fraction(int(mpmath.exp(mpmath.mpf(eps)) * mpmath.mpf(10) ** 60), 10**60)


class TestNamed:
    @pytest.mark.parametrize(("n", "delta"), [(100, 1e-3), (1_000, 1e-6), (20_000, 1e-8)])
    def test_binary_response_is_attacked_exactly(self, n, delta):
        found, law = (
            discrete_epsilon([(response(2, 1.0), n)], delta=delta),
            exact.exact_epsilon(constant(1.0, n=n), delta=delta),
        )
        assert law.lower * (1 - 1e-3) <= found.lower <= law.upper
        assert found.upper >= law.lower

    @pytest.mark.parametrize(
        ("table", "named", "n"),
        [
            (response(10, 1.0), gspa.KRR(k=10), 1_000),
            (response(3, 2.0), gspa.KRR(k=3), 400),
            (np.array(subset(math.exp(1.0), 4, 2)), gspa.SubsetSelection(k=4, size=2), 500),
            (np.array(subset(math.exp(2.0), 6, 3)), gspa.SubsetSelection(k=6, size=3), 2_000),
        ],
    )
    def test_it_is_no_wider_than_the_pair_of_the_family(self, table, named, n):
        found = gspa.epsilon(n=n, delta=1e-6, mechanism=gspa.Discrete(table))
        eps = math.log(table.max() / table.min())
        assert found.lower <= found.upper <= gspa.epsilon(eps=eps, n=n, delta=1e-6, mechanism=named).upper * (1 + 1e-3)
        assert found.reached


class TestPopulations:
    def test_groups_of_one_randomizer_are_one_group(self):
        table = response(3, 1.0)
        one, two = (
            gspa.epsilon(population=groups, delta=1e-5)
            for groups in ([(gspa.Discrete(table), 900)], [(gspa.Discrete(table), 400), (gspa.Discrete(table), 500)])
        )
        assert two.upper == pytest.approx(one.upper, rel=1e-3)
        assert two.n == one.n == 900

    @pytest.mark.parametrize("table", [np.eye(2), [[0.5, 0.5, 0], [0.5, 0, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    def test_rounds_in_which_nobody_hides_what_differs(self, table):
        """Of a report that nobody hides, two rounds miss what each of them misses."""
        found = gspa.delta(n=2, at_eps=1.0, mechanism=gspa.Discrete(table), rounds=2)
        told = np.maximum(table[0] - math.e * np.asarray(table[1]), 0).sum()
        assert found.upper == pytest.approx(1 - (1 - told) ** 2, abs=1e-9)

    def test_a_louder_group_is_hidden_by_a_quieter_one(self):
        loud, quiet = gspa.Discrete(response(4, 3.0)), gspa.Discrete(response(4, 0.5))
        alone = gspa.epsilon(population=[(loud, 100)], delta=1e-6)
        among = gspa.epsilon(population=[(loud, 100), (quiet, 5_000)], delta=1e-6)
        assert among.upper < alone.lower

    def test_a_report_that_only_some_inputs_send_is_hidden_by_others_who_send_it(self):
        rare = gspa.Discrete([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
        with pytest.raises(OutsideValidity, match=r"needs delta > .*nobody hides it"):
            gspa.epsilon(population=[(rare, 1_000)], delta=1e-6)
        with pytest.raises(OutsideValidity, match="needs a report that two inputs share"):
            gspa.epsilon(population=[(gspa.Discrete(np.eye(2)), 1_000)], delta=0.9)
        crowd = [(rare, 1_000), (gspa.Discrete(response(3, 1.0)), 9_000)]
        assert gspa.epsilon(population=crowd, delta=1e-6).upper < 0.2


class TestRefused:
    @pytest.mark.parametrize(
        ("table", "said"),
        [
            ([[1.0]], r"shape \(1, 1\)"),
            ([0.5, 0.5], r"shape \(2,\)"),
            ([[0.5, 0.6], [0.5, 0.5]], "a row that sums to 1.1"),
            ([[1.5, -0.5], [0.5, 0.5]], r"matrix\[0, 1\] = -0.5"),
            ([[math.nan, 1.0], [0.5, 0.5]], r"matrix\[0, 0\] = nan"),
            ([[0.5, 0.5], [1e-301, 1.0]], r"matrix\[1, 0\] = 1e-301: must be 0, or at least 1e-300"),
            (np.ma.masked_array([[0.5, 0.5], [0.5, 0.5]], mask=[[0, 1], [0, 0]]), "fill in what is masked"),
            ("rr", "matrix"),
            (np.ones((1001, 1000)) / 1000, "at most 1,000,000"),
        ],
    )
    def test_what_is_no_randomizer(self, table, said):
        with pytest.raises(InvalidValue, match=said):
            gspa.Discrete(table)

    @pytest.mark.parametrize(
        ("question", "said"),
        [
            ({"population": []}, "at least one"),
            ({"population": 3}, "list of"),
            ({"population": [("rr", 3)]}, r"population\[0\] = 'rr'"),
            ({"population": [(gspa.Discrete(np.eye(2)), 0)]}, "count = 0"),
            ({"population": [(gspa.Discrete(np.eye(2)), 3), (gspa.Discrete(np.eye(3)), 3)]}, "one number of outputs"),
            ({"population": [(gspa.Discrete(np.eye(2)), 3)], "n": 3}, "n = 3"),
            ({"population": [(gspa.Discrete(np.eye(2)), 3)], "honest": 4}, "at most n = 3"),
            ({"mechanism": gspa.Discrete(np.eye(2)), "n": 3, "eps": 1.0}, "eps = 1.0: must be left out"),
            ({"mechanism": gspa.Discrete(np.eye(2))}, "n = None"),
            ({"mechanism": "discrete", "n": 3}, "matrix = None"),
        ],
    )
    def test_a_question_that_contradicts_itself(self, question, said):
        with pytest.raises(InvalidValue, match=said):
            gspa.epsilon(delta=1e-3, **question)

    @pytest.mark.parametrize("name", ["eps", "n", "delta"])
    def test_an_array_without_axes(self, name):
        asked = {"eps": 1.0, "n": 10, "delta": 0.1}
        assert gspa.epsilon(**asked | {name: np.array(asked[name])}) == gspa.epsilon(**asked)
        with pytest.raises(InvalidValue, match=f"{name} = .*: must be"):
            gspa.epsilon(**asked | {name: np.array("1")})

    def test_no_eps_is_too_large_for_a_word_of_warning(self, recwarn):
        for runs in (gspa.KRR(4), gspa.UnaryEncoding(4), gspa.Rappor(4), gspa.HadamardResponse(4), gspa.Piecewise()):
            assert gspa.epsilon(eps=700.0, n=100, delta=1e-3, mechanism=runs).upper > 690
        assert not recwarn.list


class TestFiles:
    @pytest.mark.parametrize(
        "text",
        ["0.75,0.25\n0.25,0.75\n", "0.75;0.25\n\n0.25;0.75", "0.75 0.25\n0.25\t.75", '"0.75", 0.25,\n0.25 ,"0.75",'],
    )
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_text(self, tmp_path, text, encoding):
        path = tmp_path / "m.csv"
        path.write_text(text, encoding=encoding)
        assert read_matrix(path).tolist() == [[0.75, 0.25], [0.25, 0.75]]

    @pytest.mark.parametrize("text", ["1,,\n,1,\n", "0.5,,0.5\n,0.5,0.5\n", "0.5;;0.5\n0.5;0.5;0\n"])
    def test_an_empty_cell_is_no_cell_less(self, tmp_path, text):
        path = tmp_path / "m.csv"
        path.write_text(text)
        with pytest.raises(InvalidValue, match=r"m\.csv line 1, column 2 = '': must be a probability; write 0"):
            read_matrix(path)

    def test_npy_without_pickles(self, tmp_path):
        np.save(tmp_path / "m.npy", np.eye(2))
        assert read_matrix(tmp_path / "m.npy").tolist() == np.eye(2).tolist()
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
        (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + head.ljust(117) + b"\n")
        with pytest.raises(InvalidValue, match=r"huge\.npy"):
            read_matrix(tmp_path / "huge.npy")
        np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(InvalidValue, match=r"o\.npy"):
            read_matrix(tmp_path / "o.npy")

    @pytest.mark.parametrize(
        "text",
        ["", '"0.5,0.5\n0.1,0.9\n', "a,b\n1,0\n", "1,0\n1\n", "\0", "0,7;0,3\n0,3;0,7\n", "1_0,0\n0,1\n", "PK\3\4"],
    )
    def test_what_is_no_table(self, tmp_path, text):
        path = tmp_path / "m.csv"
        path.write_text(text)
        with pytest.raises(InvalidValue, match=r"m\.csv"):
            read_matrix(path)

    def test_fractions(self):
        assert gspa.Discrete([[Fraction(1, 3), Fraction(2, 3)], [0.5, 0.5]]).matrix[0] == (1 / 3, 2 / 3)

    def test_no_file(self, tmp_path):
        with pytest.raises(InvalidValue, match="readable"):
            read_matrix(tmp_path / "none.csv")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mass", [1e-300, 1e-151, 1e-149])
def test_a_mass_that_is_hardly_a_number_is_as_good_as_none(mass):
    tables = [[[least, 1.0], [0.5, 0.5]] for least in (mass, 0.0)]
    tiny, none = (discrete_delta([(table, 50)], eps=0.5) for table in tables)
    assert (tiny.lower, tiny.upper) == pytest.approx((none.lower, none.upper), rel=1e-9)
    tiny, none = (discrete_epsilon([(table, 50)], delta=0.6) for table in tables)
    assert (tiny.lower, tiny.upper) == pytest.approx((none.lower, none.upper), rel=1e-9)
