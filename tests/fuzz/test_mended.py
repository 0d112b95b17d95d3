"""Right answers where the drawn inputs found an exception, NaN or a wrong number, each once by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gspa import _validate as check
from gspa import (
    aligned,
    budgets,
    calibrate,
    composition,
    counterexamples,
    decomposition,
    error_laws,
    estimator_choices,
    estimators,
    exact_rr,
    finite_mechanisms,
    gallery,
    gaussian_guarantee,
    infeasible,
    mean_estimation,
    mechanisms,
    message_attack,
    normal_limit,
    parameters,
    privacy_loss,
    reduction_cases,
    sgd,
    slack,
    sweep,
    tradeoff_curves,
)
from gspa.accountant import central_epsilon, problem_of
from gspa.audit import Laws
from gspa.blanket import blanket_epsilon
from gspa.blanket_limit import blanket_limit
from gspa.errors import GspaError, InvalidBudget, InvalidValue, OutsideValidity
from gspa.flame import (
    accounting,
    amplification,
    attacks,
    error,
    worth,
)
from gspa.flame.aggregation import subsets
from gspa.flame.padded import coordinate
from gspa.flame.randomizers import Buckets, Laplace
from gspa.randomizers import binary
from gspa.sgd_config import SgdConfig

NOWHERE = Path("a\0b.csv")
ATTACK = {"delta": 0.1, "high": 1.0, "low": 0.0, "sigma": 1.0}


class TestAnswers:
    """Right answers where there was an exception, NaN or a wrong number."""

    def test_the_least_double_as_a_budget(self):
        assert mechanisms.analytic_gaussian_scale(eps=5e-324, delta=0.1) == pytest.approx(
            mechanisms.analytic_gaussian_scale(eps=0.0, delta=0.1)
        )
        table = counterexamples.named_messages(eps=5e-324, others=1.0, sizes=[12], delta=0.4)
        assert np.isfinite(table.to_numpy(float)).all()

    def test_an_order_that_is_a_fraction(self):
        crowd = budgets.constant(1.0, n=1)
        problem = problem_of(crowd, binary(), 0)
        assert privacy_loss.renyi(problem, Fraction(7, 2)) == privacy_loss.renyi(problem, 3.5)

    def test_a_limit_where_e_to_the_eps_is_no_double(self):
        limit = blanket_limit([0.3], count=20, mechanism="gaussian", delta=1e-9)
        assert 0 <= limit.own.mu < limit.common.mu < math.inf

    def test_nobody_in_the_way_beyond_every_double(self):
        bound = message_attack.message_attack_epsilon(**ATTACK, others=[1e300], sigma_others=[1e-300])
        assert bound >= 0

    def test_a_spread_of_minus_zero(self):
        drawn = mean_estimation.clipped_data(3, center=1.0, sigma=-0.0, low=0.0, high=2.0, rng=0)
        assert drawn.tolist() == [1.0] * 3

    def test_an_error_below_every_square(self):
        usual = mean_estimation.mean_error([0.5, 1.0], sensitivity=1.0)
        assert mean_estimation.mean_error([0.5, 1.0], sensitivity=1e-200) == pytest.approx(1e-200 * usual)
        assert mean_estimation.mean_error([1e308], sensitivity=5e-324) == 0

    def test_delta_near_1_leaves_a_coefficient_of_at_most_a_half(self):
        laws = [np.array(law) for law in ([0.5, 0.5], [0.25, 0.75], [0.5, 0.5])]
        # The tolerance of the linear program is above what is left; no law weighs enough for more.
        assert 0 < decomposition.largest_coefficient(*laws, ratio=3.2, delta=1 - 1e-16) <= 0.5

    def test_nothing_certified_has_no_share(self):
        table = aligned.cut_against_blanket([("laplace", [1.0, 2.0])], eps=[1.5], cells=20)
        assert table["enumerated"].iloc[0] == table["certified"].iloc[0] == 0
        assert math.isnan(table["share"].iloc[0])

    def test_laplace_noise_infinitely_far_apart(self):
        assert tradeoff_curves.laplace_tradeoff(np.array([0.0, 0.5, 1.0]), shift=1e154).max() == pytest.approx(1.0)

    def test_whole_numbers_that_are_floats(self):
        assert subsets(3, 5.0, 2.0, np.random.default_rng(0)).shape == (3, 2)
        assert len(reduction_cases.cases(n=2.0)) == len(reduction_cases.cases(n=2))
        found = error.simulated_deviation(Laplace(0.5), n_s=1.0, n_p=3.0, repeats=2, rng=0)
        assert found == error.simulated_deviation(Laplace(0.5), n_s=1, n_p=3, repeats=2, rng=0)

    def test_a_certificate_of_whole_numbers_is_exact(self):
        half = np.array([Fraction(1, 2)] * 2)
        system = infeasible.lemma1(half, half, {}, ratio=10**400, delta=0)
        assert all(isinstance(entry, Fraction) for entry in system.equal.ravel())

    def test_a_line_through_subnormal_squares(self):
        assert error_laws.r_squared([1e-300, 0.0, 2e-300], [1e-300, 0.0, 2e-300]) == pytest.approx(1)

    def test_others_who_never_lie(self):
        setting = {"local": 0.1, "k": 4, "n": 4, "eps": 0.05}
        assert (
            0
            < counterexamples.krr_attack(others=745.5, **setting)
            <= counterexamples.krr_attack(others=50.0, **setting) * (1 + 1e-9)
        )

    def test_noise_far_below_the_range(self):
        assert gallery.noise("laplace", scale=1e-17, cells=28, ratio=Fraction(9, 2)).delta > 0.9

    def test_a_delta_of_one_subnormal(self):
        found = blanket_epsilon([2.0], count=20, delta=5e-324)
        assert 0 <= found.lower <= found.upper <= 0.5

    def test_beyond_every_loss_of_a_coordinate(self):
        one = coordinate(Laplace(1.0), n_p=4)
        assert accounting.composed_delta(one, 4, eps=1e154) == 0

    def test_an_attack_where_e_to_the_eps_is_no_double(self):
        assert attacks.sum_delta(Laplace(0.5), real=7, padded=7, eps=1e308) == 0

    def test_noise_infinitely_wide_has_no_loss(self):
        assert mechanisms.gaussian_exceeds([2.0, 1e300], scale=1.5, sensitivity=5e-324).tolist() == [0, 0]

    def test_a_budget_that_is_a_fraction(self):
        assert Laplace(Fraction(7, 2)) == Laplace(3.5)
        assert Buckets(Fraction(7, 2), 2.0) == Buckets(3.5, 2)

    def test_a_victim_of_a_subnormal_budget(self):
        assert counterexamples.krr_attack(local=5e-324, others=0.6, k=4, n=4, eps=0.5) == 0

    def test_weights_of_hardly_any_noise(self):
        assert estimator_choices.best_weights([5e-324, 1.0], spread=0.0).tolist() == [1, 5e-324]

    def test_a_staircase_of_huge_steps(self):
        assert finite_mechanisms.staircase(1e154).rows.sum(axis=1) == pytest.approx(1)

    def test_a_budget_for_the_least_target(self):
        found = calibrate.largest_local_epsilon(eps=5e-324, delta=0.49, n=812, mechanism="common")
        assert 0 < found.lower <= found.value <= found.upper

    def test_composition_of_a_huge_budget(self):
        assert amplification.composed(1e300, delta=0.1, folds=1) == 1e300

    def test_tuning_never_ends_above_the_target(self):
        for upper in (lambda eps: eps**9, lambda eps: 0.0 if eps < 1 else eps, lambda eps: 5.0, lambda eps: 0.0):
            found = worth.tuned(upper, target=2.0, start=0.1)
            assert found == 0 or upper(found) <= 2.0
        assert worth.tuned(lambda eps: 5.0, target=2.0, start=0.1) == 0

    def test_where_everything_is_certified_the_tuning_still_ends(self):
        made = worth.worth(d=45, k=2, n=292, n_p=55, eps_l=11.9, delta=0.5, target=1.16)
        assert all(math.isfinite(one.tuned) for one in made)

    def test_seeds_of_a_training_fit_into_its_table(self):
        with pytest.raises(InvalidValue, match=r"seeds\[0\]"):
            sgd.train(None, None, SgdConfig(), seeds=[2**63])

    def test_a_table_without_columns_named(self):
        names = sweep.results_of(pd.DataFrame({"n": [1], "value": [2.0]}), {"n": {}})
        assert names == ["value"]

    @pytest.mark.parametrize("place", [NOWHERE, Path("/none/x.csv"), Path("/none/x.parquet")])
    def test_a_table_that_cannot_be_written(self, place):
        with pytest.raises(GspaError) as refused:
            sweep.write_table(pd.DataFrame({"n": [1]}), place)
        assert len(str(refused.value).splitlines()) == 1

    def test_settings_from_a_name_with_a_nul(self):
        with pytest.raises(GspaError, match="embedded null byte"):
            sweep.rows_of(NOWHERE)


class TestNumbers:
    """Numbers and names at the edges."""

    @pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000, Fraction(10**400)], ids=range(4))
    def test_numbers_beyond_every_double(self, value):
        for refused in (
            lambda: check.positive(eps=value),
            lambda: check.count(n=value),
            lambda: check.array_in(0, 1, p=[value]),
            lambda: budgets.constant(0.5, n=value),
        ):
            with pytest.raises(InvalidValue):
                refused()

    def test_counts_end_where_numpy_does(self):
        assert check.count(n=2**63 - 1) == 2**63 - 1
        with pytest.raises(InvalidValue, match=r"an integer from 1 to 2\^63 - 1"):
            check.count(n=2**63)
        assert check.seed(seed=2**127) == 2**127  # a seed only starts a generator

    def test_a_huge_mu_leaves_no_slack(self):
        # The bracket was halved for ever where every slack that a double can hold is too much.
        assert slack.slack_allowed(0.4, mu=1e150) < 1e-299
        table = gaussian_guarantee.what_is_left([("a", "b", budgets.constant(700.0, n=3))], delta=0.25)
        assert table["allowed"].iloc[0] == pytest.approx(0.0, abs=1e-290)

    def test_the_largest_number_of_rounds_is_looked_at_at_once(self, monkeypatch):
        asked = []
        real = calibrate.compose

        def counted(rounds, *, delta):
            asked.append(rounds[0][1])
            return real(rounds, delta=delta)

        monkeypatch.setattr(calibrate, "compose", counted)
        with pytest.raises(OutsideValidity, match="a target that 1,000,000 rounds miss"):
            calibrate.most_rounds(budgets.constant(1e-9, n=5), eps=1.0, delta=0.1)
        assert len(asked) < 10

    def test_a_grid_that_no_memory_holds_is_refused_or_not_needed(self):
        one = composition.shuffled(budgets.constant(700.0, n=3), mechanism="krr", k=3)
        with pytest.raises(OutsideValidity, match="a grid of at most"):
            composition.compose([(one, 10**6), (composition.gaussian(1e-9), 1)], delta=0.3)
        bound = composition.compose([(one, 10**6)], delta=0.3)
        assert bound.lower <= 7e8 + math.log(0.7) <= bound.upper
        assert bound.relative_width < 1e-9

    @pytest.mark.parametrize("mechanism", [{"mechanism": "krr", "k": 3}, {"mechanism": "subset", "k": 4, "size": 2}])
    def test_a_budget_beyond_every_double_hides_nothing(self, mechanism):
        with pytest.raises(OutsideValidity, match="eps <= 700"):
            central_epsilon(budgets.constant(1e308, n=2), delta=0.1, **mechanism)
        with pytest.raises(OutsideValidity, match=r"eps <= 1e\+100"):
            exact_rr.exact_epsilon(budgets.constant(1e308, n=2), delta=0.1)

    def test_a_limit_without_others_is_no_nan(self):
        limit = blanket_limit([2.6377018779549717], count=20, mechanism="gaussian", delta=0.19137667385990165)
        assert np.isfinite([value for value in limit if isinstance(value, float)]).all()

    def test_an_attack_at_an_eps_beyond_every_double(self):
        laws = Laws(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
        assert laws.delta(1e308) == 0.0
        assert laws.delta(1e308, side=1) < 1e-12

    def test_infinitely_many_users_have_no_covariance(self):
        with pytest.raises(InvalidValue, match="count"):
            normal_limit.covariance([0.5], count=[float("inf")])

    def test_without_delta_the_rest_has_no_distance(self):
        assert decomposition.rest_distance(Fraction(3), Fraction(0)) == 0

    @pytest.mark.parametrize("x", [[[1], [1, 0]], ["1", "0"], [None, 1], ...])
    def test_what_is_no_list_of_bits(self, x):
        with pytest.raises(InvalidValue):
            estimators.frequency_estimate(x, [0.5, 0.5])

    @pytest.mark.parametrize("path", [None, 1.5, ("a",), "a\0b"])
    def test_what_is_no_path(self, path):
        with pytest.raises(InvalidBudget):
            budgets.from_csv(path)

    def test_a_file_name_of_two_lines_is_shown_in_one(self):
        with pytest.raises(InvalidBudget) as refused:
            budgets.from_csv("a\nb.csv")
        assert len(str(refused.value).splitlines()) == 1

    def test_a_yaml_document_makes_no_objects(self, tmp_path):
        file = tmp_path / "p.yaml"
        file.write_text("n: !!python/object/apply:os.getpid []\n")
        with pytest.raises(GspaError, match="not valid YAML"):
            parameters.from_file(file)
