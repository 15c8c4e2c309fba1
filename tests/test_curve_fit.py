"""The logistic curve over a parameter, against statsmodels and against curves that are known."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from ginsim.curve_fit import best_fit, fit, lack_of_fit, value_interval

VALUES = np.arange(0, 90, 10)
PAIRS = 4000


def played(rates, seed=1):
    """Half matches int64 [pair, value] with chance *rates*, the luck of a deal shared by values."""
    random = np.random.default_rng(seed)
    luck = random.random((PAIRS, 2))[:, :, None]
    own = random.random((PAIRS, 2, len(rates)))
    shared = random.random((PAIRS, 1, 1)) < 0.7
    return 2 * (np.where(shared, luck, own) < np.asarray(rates)).sum(axis=1)


STRAIGHT = expit(0.2 - 0.01 * VALUES)
BENT = expit(0.2 - 0.0004 * (VALUES - 40) ** 2)


def test_the_fit_and_its_errors_are_those_of_a_clustered_regression():
    halves = played(STRAIGHT)[:300]
    curve = fit(VALUES, halves)
    scaled = (VALUES - 40) / 40
    rows = [
        (pair, scaled[at], win)
        for pair in range(len(halves))
        for at in range(len(VALUES))
        for win in [1] * (halves[pair, at] // 2) + [0] * (2 - halves[pair, at] // 2)
    ]
    groups, x, won = (np.array(column) for column in zip(*rows, strict=True))
    model = sm.GLM(won, sm.add_constant(x), family=sm.families.Binomial())
    known = model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    assert curve.params == pytest.approx(known.params, rel=1e-6)
    factor = len(halves) / (len(halves) - 1)
    assert curve.covariance == pytest.approx(known.cov_params() * factor, rel=1e-6)


def test_a_known_value_is_found_within_its_interval():
    halves = played(STRAIGHT)
    curve, p = best_fit(VALUES, halves)
    assert len(curve.params) == 2
    assert p > 0.01
    target = float(expit(0.2 - 0.01 * 50))
    value = curve.value_at(target, near=0)
    low, high = value_interval(VALUES, halves, curve, target, 0, seed=3)
    assert low < 50 < high
    assert abs(value - 50) < 6
    assert high - low < 20


def test_a_bend_is_noticed_and_fitted():
    halves = played(BENT)
    assert lack_of_fit(VALUES, halves) < 1e-6
    curve, _ = best_fit(VALUES, halves)
    assert len(curve.params) == 4
    middle = curve.rate(np.array([40]))[0]
    assert middle == pytest.approx(BENT[4], abs=0.02)
    assert fit(VALUES, halves).rate(np.array([40]))[0] < BENT[4] - 0.02


def test_false_alarms_of_the_lack_of_fit_are_as_rare_as_they_claim():
    """20 straight curves: below 0.01 at most twice (chance of more: 0.1 %)."""
    ps = [lack_of_fit(VALUES, played(STRAIGHT, seed)) for seed in range(20)]
    assert sum(p < 0.01 for p in ps) <= 2
    assert max(ps) > 0.2


def test_where_a_bent_curve_meets_a_rate_twice_the_nearer_value_is_taken():
    curve = fit(VALUES, played(BENT), 3)
    rate = float(expit(0.2 - 0.0004 * 20**2))
    assert curve.value_at(rate, near=0) == pytest.approx(20, abs=5)
    assert curve.value_at(rate, near=80) == pytest.approx(60, abs=5)


def test_a_rate_that_no_value_brings_has_no_value():
    halves = played(STRAIGHT)
    curve = fit(VALUES, halves)
    assert curve.value_at(0.9, near=0) is None
    assert value_interval(VALUES, halves, curve, float(STRAIGHT[0]) + 0.005, 0, seed=3)[0] is None


def test_the_interval_of_the_curve_holds_the_true_curve():
    curve = fit(VALUES, played(STRAIGHT))
    bounds = curve.interval(VALUES, confidence=0.999)
    assert (bounds[:, 0] < STRAIGHT).all()
    assert (bounds[:, 1] > STRAIGHT).all()
