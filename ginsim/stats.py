"""Rates and their intervals, clustered by pair.

The unit is the pair: both legs share their deals, so rows within a pair are correlated and
an interval that treats them as independent is too short. A metric is a ratio of two sums
over pairs; its variance comes from the pairs' residuals (linearisation of a ratio).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from ginsim.records import SCHEMA, from_table
from ginsim.rules import Rules, winning_score
from ginsim.tally import (
    COUNTERS,
    DEADWOOD_BINS,
    INDEX,
    TURN_BINS,
    Tally,
    count_pairs,
    tally_of,
    turn_counts,
)


class Rate(NamedTuple):
    """A value with its interval; ``weight`` is the denominator it rests on."""

    value: float
    low: float
    high: float
    weight: int

    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2


NO_RATE = Rate(float("nan"), float("nan"), float("nan"), 0)


@dataclass(frozen=True)
class Metric:
    """A ratio of two counters of ``tally.COUNTERS``, times ``scale``."""

    key: str
    label: str
    above: str
    below: str
    scale: float = 1.0
    share: bool = True  #: a share of 0..1, shown in per cent; else a mean


METRICS = (
    Metric("matches_won", "matches won", "half_matches", "legs", 0.5),
    Metric("rounds_won", "rounds won", "rounds_won", "decided"),
    Metric("net_points", "points a round", "net_points", "rounds", share=False),
    Metric("knocks", "rounds it knocked in", "knocks", "rounds"),
    Metric("gin", "gin", "gins", "rounds"),
    Metric("undercut", "undercut, of its knocks without gin", "undercuts_suffered", "plain_knocks"),
    Metric("undercuts_made", "undercuts made", "undercuts_made", "rounds"),
    Metric("dead", "dead", "dead", "rounds"),
    Metric("turn_limit", "turn limit", "turn_limit", "rounds"),
    Metric("forfeits", "forfeits", "forfeits", "legs"),
    Metric("knock_deadwood", "knock deadwood", "knock_deadwood", "plain_knocks", share=False),
    Metric("defender_deadwood", "defender", "defender_deadwood", "plain_knocks", share=False),
    Metric("laid_off", "layoff, of its knocks", "laid_off_rounds", "plain_knocks"),
    Metric("turns", "turns", "turns", "rounds", share=False),
    Metric("pile_draws", "pile draws a round", "pile_draws", "rounds", share=False),
    Metric("rounds", "rounds a match", "rounds", "legs", share=False),
    Metric("won_started", "rounds won when starting", "won_started", "decided_started"),
)
METRIC = {metric.key: metric for metric in METRICS}


def ratio(
    tally: Tally,
    above: str,
    below: str,
    *,
    scale: float = 1.0,
    share: bool = False,
    confidence: float = 0.95,
) -> Rate:
    """Ratio of two counters of *tally* with its pair-clustered interval (t on pairs - 1).

    A *share* that is 0 or 1 in every pair has no spread to go by: its interval is Wilson's, on
    the number of pairs or, if that is less, of what was counted.
    """
    whole = tally.total(below)
    pairs = tally.pairs
    if whole == 0:
        return NO_RATE
    top = tally.total(above)
    value = top / whole
    squares = (
        tally.product(above, above) * whole * whole
        - 2 * tally.product(above, below) * top * whole
        + tally.product(below, below) * top * top
    )
    if share and squares == 0 and value * scale in (0.0, 1.0):
        units = min(pairs, whole)
        low, high = proportion_confint(
            units if value else 0, units, 1 - confidence, method="wilson"
        )
        # 0 and 1 are the exact ends; rounding must not leave them a hair inside.
        return Rate(value * scale, value and float(low), 1.0 if value else float(high), whole)
    if pairs < 2:
        return Rate(value * scale, float("nan"), float("nan"), whole)
    # squares is whole**2 times the sum of squared residuals, in exact integers until here.
    error = (squares * pairs / (pairs - 1)) ** 0.5 / whole**2
    margin = float(t.ppf(0.5 + confidence / 2, pairs - 1)) * error * scale
    return Rate(value * scale, value * scale - margin, value * scale + margin, whole)


def rate(tally: Tally, key: str, confidence: float = 0.95) -> Rate:
    """Metric *key* of METRICS with its pair-clustered interval."""
    metric = METRIC[key]
    plain = ratio(
        tally,
        metric.above,
        metric.below,
        scale=metric.scale,
        share=metric.share,
        confidence=confidence,
    )
    return within_unit(plain) if metric.share else plain


def within_unit(plain: Rate) -> Rate:
    """*plain* with its interval cut to 0..1, where a share must lie."""
    return plain._replace(low=max(plain.low, 0.0), high=min(plain.high, 1.0))


def undercut_by_deadwood(tally: Tally, confidence: float = 0.95) -> list[Rate]:
    """Share of knocks at deadwood 0, 1, .. 10, more that were undercut."""
    return [
        within_unit(
            ratio(tally, f"undercut_at_{d}", f"knocks_at_{d}", share=True, confidence=confidence)
        )
        for d in range(DEADWOOD_BINS)
    ]


def mean_interval(scores: np.ndarray, confidence: float = 0.95) -> Rate:
    """Mean of independent *scores* (one a pair) with its interval, t on n - 1."""
    value = float(np.mean(scores))
    if len(scores) < 2:
        return Rate(value, float("nan"), float("nan"), len(scores))
    error = float(np.std(scores, ddof=1)) / len(scores) ** 0.5
    margin = float(t.ppf(0.5 + confidence / 2, len(scores) - 1)) * error
    return Rate(value, value - margin, value + margin, len(scores))


def clustered_mean(
    values: np.ndarray, pairs: np.ndarray, confidence: float = 0.95
) -> tuple[Rate, float]:
    """Mean of *values* with its interval clustered by *pairs*, and the p-value of a mean of 0.

    A pair may hold any number of values. With fewer than two pairs there is no interval.
    """
    if len(values) == 0:
        return NO_RATE, float("nan")
    value = float(np.mean(values))
    _, cluster = np.unique(pairs, return_inverse=True)
    residuals = np.bincount(cluster, weights=values - value)
    clusters = len(residuals)
    if clusters < 2:
        return Rate(value, float("nan"), float("nan"), len(values)), float("nan")
    error = float(np.sqrt(np.sum(residuals**2) * clusters / (clusters - 1))) / len(values)
    margin = float(t.ppf(0.5 + confidence / 2, clusters - 1)) * error
    p = 2 * float(t.sf(abs(value) / error, clusters - 1)) if error else float(value == 0)
    return Rate(value, value - margin, value + margin, len(values)), p


@dataclass(frozen=True)
class PairCounts:
    """Counters of one bot by pair, from a log: ``counters[i]`` belongs to pair ``pairs[i]``."""

    pairs: np.ndarray  #: int64 [n], ascending
    counters: np.ndarray  #: int64 [n, counter], in the order of tally.COUNTERS
    turns: np.ndarray  #: int64 [TURN_BINS], rounds by length

    def tally(self) -> Tally:
        """Sums over the pairs, for ``rate`` and ``ratio``."""
        return tally_of(self.counters, self.turns)


def pair_counts(log: pd.DataFrame | pa.Table, bot: str, rules: Rules) -> PairCounts:
    """Counters of *bot* by pair from a log (read_rounds, or its columns as an Arrow table).

    A pair's rounds are added over all matchups of the bot in *log*, which must hold whole
    pairs in the order of the files; filter it by matchup for one rival only.
    """
    table = log if isinstance(log, pa.Table) else pa.Table.from_pandas(log, preserve_index=False)
    table = table.select(SCHEMA.names).cast(SCHEMA)
    names = sorted({*_names(table, "seat0"), *_names(table, "seat1")})
    parts = [
        (rows, 0 if names[first] == bot else 1)
        for (first, second), rows in from_table(table, names).items()
        if bot in (names[first], names[second])
    ]
    played = [np.unique(rows["pair"]) for rows, _ in parts]
    pairs = np.unique(np.concatenate(played)) if played else np.zeros(0, np.int64)
    counters = np.zeros((len(pairs), len(COUNTERS)), np.int64)
    turns = np.zeros(TURN_BINS, np.int64)
    for rows, side in parts:
        place = np.searchsorted(pairs, rows["pair"])
        packed = rows.copy()
        packed["pair"] = place
        found = np.zeros((2, len(pairs), len(COUNTERS)), np.int64)
        count_pairs(packed, 0, winning_score(rules), found, np.zeros((len(pairs), 2), np.int64))
        counters += found[side]
        turns += turn_counts(rows)
    return PairCounts(pairs.astype(np.int64), counters, turns)


def _names(table: pa.Table, column: str) -> list[str]:
    return [str(name) for name in table[column].unique().to_pylist()]


def paired_difference(
    first: PairCounts, second: PairCounts, key: str, confidence: float = 0.95
) -> Rate:
    """Metric *key* of *first* less that of *second*, which played the same pairs.

    The deals are the same, so what they have in common cancels: the interval rests on the
    differences of the pairs' residuals. Pairs that only one of them played are left out.
    """
    metric = METRIC[key]
    common, at_first, at_second = np.intersect1d(first.pairs, second.pairs, return_indices=True)
    values, residuals = [], []
    for counts, at in ((first, at_first), (second, at_second)):
        above = counts.counters[at, INDEX[metric.above]] * metric.scale
        below = counts.counters[at, INDEX[metric.below]]
        if below.sum() == 0:
            return NO_RATE
        value = above.sum() / below.sum()
        values.append(value)
        residuals.append((above - value * below) / below.mean())
    difference = float(values[0] - values[1])
    if len(common) < 2:
        return Rate(difference, float("nan"), float("nan"), len(common))
    error = float(np.std(residuals[0] - residuals[1], ddof=1)) / len(common) ** 0.5
    margin = float(t.ppf(0.5 + confidence / 2, len(common) - 1)) * error
    return Rate(difference, difference - margin, difference + margin, len(common))


def holm(p_values: Sequence[float], alpha: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Which of several tests reject at *alpha* together, and their adjusted p-values (Holm)."""
    rejected, adjusted, *_ = multipletests(p_values, alpha, method="holm")
    return np.asarray(rejected), np.asarray(adjusted)
