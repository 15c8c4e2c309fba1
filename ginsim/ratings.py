"""Bradley-Terry ratings with a seat term and errors clustered by pair.

One binomial regression over all matches: the log odds that seat 0 wins are the rating of
its bot, less that of the other, plus a seat term. The fit needs only counts by matchup and
leg; the errors, only the products of the outcomes of one pair, so no row is kept.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

#: With fewer pairs the seat alone may explain all results: no rating has an interval then.
FEW_PAIRS = 20
ELO = 400 / math.log(10)  #: Elo points of one unit of log odds


@dataclass(frozen=True)
class Rating:
    """A bot's rating in Elo points around the mean of all, with its interval."""

    name: str
    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """Ratings of a run; ``seat`` is seat 0's advantage in Elo, ``separated`` that it is rough.

    Where some bots never lost to the others, ratings have no finite value: half a match drawn
    in every matchup and leg is added then, and the ratings only say who is above. The same
    holds below FEW_PAIRS pairs.
    """

    bots: list[Rating]
    seat: float
    separated: bool


def _design(matchups: Sequence[tuple[int, int]], bots: int, legs: Sequence[int]) -> np.ndarray:
    """One row for each matchup and leg: +1 first bot, -1 second, and the seat of the first.

    The last bot is left out: ratings are relative to it until they are centred.
    """
    design = np.zeros((len(matchups), len(legs), bots + 1))
    for at, (first, second) in enumerate(matchups):
        design[at, :, first] += 1
        design[at, :, second] -= 1
        design[at, :, bots] = [1.0 if leg == 0 else -1.0 for leg in legs]
    return np.delete(design.reshape(-1, bots + 1), bots - 1, axis=1)


def is_separated(matchups: Sequence[tuple[int, int]], wins: np.ndarray, bots: int) -> bool:
    """Whether some bots never lost half a match to the rest; *wins* [matchup, 2] in matches."""
    beat = np.zeros((bots, bots))
    for (first, second), (won, lost) in zip(matchups, wins, strict=True):
        beat[first, second] += won
        beat[second, first] += lost
    parts, _ = connected_components(beat > 0, directed=True, connection="strong")
    return int(parts) > 1


def bradley_terry(
    names: Sequence[str],
    matchups: Sequence[tuple[int, int]],
    pairs: int,
    mirrored: bool,
    half_sums: np.ndarray,
    half_products: np.ndarray,
    confidence: float = 0.95,
) -> Ratings:
    """Ratings from the half matches of first bots, by 2 * matchup + leg, over *pairs* pairs.

    *half_sums* and *half_products* are their sums and the sums of their products over pairs
    (Totals). The error is the sandwich of the pairs' scores, with the factor n / (n - 1).
    """
    legs = [0, 1] if mirrored else [0]
    kept = [2 * at + leg for at in range(len(matchups)) for leg in legs]
    sums = half_sums[kept] / 2
    products = half_products[np.ix_(kept, kept)] / 4
    by_matchup = sums.reshape(len(matchups), len(legs)).sum(axis=1)
    played = pairs * len(legs)
    wins = np.stack([by_matchup, played - by_matchup], axis=1)
    separated = pairs < FEW_PAIRS or is_separated(matchups, wins, len(names))
    extra = 0.5 if separated else 0.0
    counts = np.stack([sums + extra, pairs - sums + extra], axis=1)
    design = _design(matchups, len(names), legs)
    if not mirrored:
        design = design[:, :-1]  # one leg cannot tell a seat from a bot
    with warnings.catch_warnings():
        # Two bots are as many parameters as counts: a perfect fit, and no fault.
        warnings.simplefilter("ignore", PerfectSeparationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        fit = sm.GLM(counts, design, family=sm.families.Binomial()).fit()
    expected = np.asarray(fit.fittedvalues)
    meat = (
        products
        - np.outer(sums, expected)
        - np.outer(expected, sums)
        + pairs * np.outer(expected, expected)
    )
    bread = np.linalg.inv((design * (pairs * expected * (1 - expected))[:, None]).T @ design)
    factor = pairs / (pairs - 1) if pairs > 1 else math.nan
    covariance = bread @ design.T @ meat @ design @ bread * factor
    if separated:  # the half matches added are no evidence: there is no interval
        covariance = np.full_like(covariance, math.nan)
    return _centred(names, np.asarray(fit.params), covariance, confidence, mirrored, separated)


def _centred(
    names: Sequence[str],
    params: np.ndarray,
    covariance: np.ndarray,
    confidence: float,
    mirrored: bool,
    separated: bool,
) -> Ratings:
    """Ratings around their mean, from parameters relative to the last bot."""
    bots = len(names)
    spread = np.vstack([np.eye(bots - 1), np.zeros(bots - 1)]) - 1 / bots
    ratings = spread @ params[: bots - 1]
    variances = np.diag(spread @ covariance[: bots - 1, : bots - 1] @ spread.T)
    errors = np.sqrt(np.maximum(variances, 0.0))  # rounding may leave a hair below zero
    z = float(norm.ppf(0.5 + confidence / 2))
    seat = float(params[-1]) * ELO if mirrored else math.nan
    return Ratings(
        [
            Rating(name, value * ELO, (value - z * error) * ELO, (value + z * error) * ELO)
            for name, value, error in zip(names, ratings.tolist(), errors.tolist(), strict=True)
        ],
        seat,
        separated,
    )
