"""A logistic curve of match wins over a parameter, from values that share their deals.

All values were played on the same pairs, so their rates move together; errors come from the
pairs, of which each holds a result at every value.
"""

from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import chi2, norm

LEGS = 2
HALVES = 2 * LEGS  #: half matches that a mirrored pair holds
#: A straight line (in log odds) is given up for a cubic when the chance of so bad a fit is less.
DOUBTFUL = 0.01
FINE_STEPS = 2000
RESAMPLES = 400


@dataclass(frozen=True)
class Curve:
    """Chance to win a match as a function of a parameter: a polynomial in its log odds."""

    low: float  #: least value that was played
    high: float  #: greatest
    params: np.ndarray  #: coefficients, constant first, of the value scaled to -1..1
    covariance: np.ndarray  #: of the coefficients, clustered by pair

    def powers(self, values: np.ndarray) -> np.ndarray:
        """Powers of *values*, scaled to -1..1, that the coefficients multiply."""
        return _powers(values, self.low, self.high, len(self.params) - 1)

    def rate(self, values: np.ndarray) -> np.ndarray:
        """Match wins at *values*."""
        return np.asarray(expit(self.powers(values) @ self.params))

    def interval(self, values: np.ndarray, confidence: float = 0.95) -> np.ndarray:
        """Interval of the match wins at *values*, float64 [n, 2]."""
        powers = self.powers(values)
        middle = powers @ self.params
        error = np.sqrt(np.einsum("ij,jk,ik->i", powers, self.covariance, powers))
        margin = float(norm.ppf(0.5 + confidence / 2)) * error
        return np.asarray(expit(np.stack([middle - margin, middle + margin], axis=1)))

    def fine(self) -> np.ndarray:
        """Many values from the least to the greatest."""
        return np.linspace(self.low, self.high, FINE_STEPS + 1)

    def value_at(self, rate: float, near: float) -> float | None:
        """Return the value nearest to *near* that wins *rate* of its matches, None if none does."""
        fine = self.fine()
        above = self.powers(fine) @ self.params - float(logit(rate))
        crossing = np.flatnonzero(np.sign(above[:-1]) != np.sign(above[1:]))
        if len(crossing) == 0:
            return None
        share = above[crossing] / (above[crossing] - above[crossing + 1])
        found = fine[crossing] + share * (fine[1] - fine[0])
        return float(found[np.argmin(np.abs(found - near))])


def _powers(values: np.ndarray, low: float, high: float, degree: int) -> np.ndarray:
    scaled = (2 * np.asarray(values, np.float64) - low - high) / (high - low)
    return np.vander(scaled, degree + 1, increasing=True)


def fit(values: np.ndarray, halves: np.ndarray, degree: int = 1) -> Curve:
    """Fit the curve of *degree* to half matches *halves*, int64 [pair, value], each 0..4."""
    pairs = len(halves)
    low, high = float(values.min()), float(values.max())
    powers = _powers(values, low, high, degree)
    won = halves.sum(axis=0)
    params = _fitted(powers, won, pairs * HALVES)
    expected = expit(powers @ params)
    scores = (halves - HALVES * expected) @ powers
    bread = np.linalg.inv(
        (powers * (pairs * HALVES * expected * (1 - expected))[:, None]).T @ powers
    )
    factor = pairs / (pairs - 1)
    return Curve(low, high, params, bread @ (scores.T @ scores) @ bread * factor)


def _fitted(powers: np.ndarray, won: np.ndarray, of: int) -> np.ndarray:
    counts = np.stack([won, of - won], axis=1)
    return np.asarray(sm.GLM(counts, powers, family=sm.families.Binomial()).fit().params)


def lack_of_fit(values: np.ndarray, halves: np.ndarray) -> float:
    """Chance of a bend as strong as the one seen if the curve is straight in its log odds.

    A Wald test that the quadratic and cubic terms are zero, with errors clustered by pair.
    """
    if len(values) < 4:
        return 1.0
    bent = fit(values, halves, 3)
    extra = bent.params[2:]
    statistic = float(extra @ np.linalg.solve(bent.covariance[2:, 2:], extra))
    return float(chi2.sf(statistic, len(extra)))


def best_fit(values: np.ndarray, halves: np.ndarray) -> tuple[Curve, float]:
    """Return the straight curve, or a cubic where that does not fit, and its lack of fit."""
    p = lack_of_fit(values, halves)
    return fit(values, halves, 3 if p < DOUBTFUL else 1), p


def value_interval(
    values: np.ndarray,
    halves: np.ndarray,
    curve: Curve,
    rate: float,
    near: float,
    seed: int,
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """Interval of the value that wins *rate*, by resampling whole pairs.

    An end is None where the resampled curves do not reach *rate* within the values played.
    """
    pairs, degree = len(halves), len(curve.params) - 1
    powers = _powers(values, curve.low, curve.high, degree)
    random = np.random.default_rng(seed)
    found = []
    for _ in range(RESAMPLES):
        times = random.multinomial(pairs, np.full(pairs, 1 / pairs))
        params = _fitted(powers, times @ halves, pairs * HALVES)
        again = Curve(curve.low, curve.high, params, curve.covariance)
        value = again.value_at(rate, near)
        if value is None:  # which end it lies beyond
            ends = again.rate(np.array([curve.low, curve.high]))
            value = np.inf if (ends[1] > ends[0]) == (rate > ends.max()) else -np.inf
        found.append(value)
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="nearest")
    return (
        float(low) if np.isfinite(low) else None,
        float(high) if np.isfinite(high) else None,
    )
