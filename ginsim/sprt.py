"""Sequential test on mirrored pairs, and Elo figures of pair counts.

A pair has a score between 0 and 1, one of a few values; the test compares two hypotheses on
the mean score by the log likelihood ratio of the laws, nearest to what was seen, that have
these means (GSPRT in mean form: M. Van den Bergh's notes; fishtest, fastchess). Half a pair
is added to every value, so that no law is degenerate, and nothing is decided before
MIN_PAIRS. The mean at a stop is biased towards the bound that was hit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from ginsim.errors import GinsimError

#: Scores of a pair of matches: LL, LD, DD or WL, WD, WW.
PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
#: Fewest pairs on which a decision may rest.
MIN_PAIRS = 50
#: Pairs between two looks, at fixed indices: the same stop for any number of jobs.
LOOK_EVERY = 50
#: Added to the count of every score.
PRIOR = 0.5

NO_REGRESSION, REGRESSION, UNDECIDED = "no regression", "regression", "undecided"


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Lower and upper bound of the LLR for error rates *alpha* (false pass) and *beta*.

    >>> low, high = bounds(0.05, 0.05)
    >>> round(low, 3), round(high, 3)
    (-2.944, 2.944)
    """
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def _nearest_law(shares: np.ndarray, scores: np.ndarray, mean: float) -> np.ndarray:
    """Maximum-likelihood law on *scores* with the given *mean*, for observed *shares* > 0.

    It is p / (1 + t (a - mean)) with t the root of sum p (a - mean) / (1 + t (a - mean)).
    """
    gaps = scores - mean
    low, high = gaps.min(), gaps.max()
    if not low < 0 < high:
        raise GinsimError(f"mean {mean} lies outside the scores {scores.min()}..{scores.max()}")

    def slope(t: float) -> float:
        return float(np.sum(shares * gaps / (1 + t * gaps)))

    # Between the poles the slope falls from +inf to -inf; keep a hair away from both.
    edge = 1e-12
    t = brentq(slope, -1 / high * (1 - edge), -1 / low * (1 - edge), xtol=1e-14)
    return np.asarray(shares / (1 + t * gaps))


def llr(
    counts: Sequence[float] | np.ndarray,
    low: float,
    high: float,
    scores: np.ndarray = PAIR_SCORES,
    prior: float = PRIOR,
) -> float:
    """Log likelihood ratio of mean *high* against mean *low*; *counts* by score, lowest first."""
    padded = np.asarray(counts, dtype=float) + prior
    total = padded.sum()
    shares = padded / total
    above = _nearest_law(shares, scores, high)
    below = _nearest_law(shares, scores, low)
    return float(total * np.sum(shares * np.log(above / below)))


def elo_to_score(elo: float) -> float:
    """Expected score of a player *elo* points stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def llr_normalized(
    counts: Sequence[float] | np.ndarray, elo0: float, elo1: float, prior: float = 1e-3
) -> float:
    """LLR of normalized Elo *elo1* against *elo0*, three or five counts, lowest score first.

    Normalized Elo measures the mean in standard deviations of a game; a hypothesis fixes
    (mean - 1/2) / deviation. The law is found by iterating the constraint at the current
    deviation (Van den Bergh; fishtest's LLRcalc). Only counts of 0 get the *prior*.
    """
    given = np.asarray(counts, dtype=float)
    padded = np.where(given == 0, prior, given)
    scores = np.linspace(0, 1, len(padded))
    per_game = math.sqrt(2) if len(padded) == 5 else 1.0  # a pair is two games
    total = padded.sum()
    shares = padded / total
    laws = [
        _law_with_ratio(shares, scores, elo * math.log(10) / 800 * per_game) for elo in (elo0, elo1)
    ]
    return float(total * np.sum(shares * np.log(laws[1] / laws[0])))


def _law_with_ratio(shares: np.ndarray, scores: np.ndarray, ratio: float) -> np.ndarray:
    """Nearest law whose (mean - 1/2) is *ratio* standard deviations."""
    law = np.full_like(shares, 1 / len(shares))
    for _ in range(100):
        mean = float(law @ scores)
        deviation = math.sqrt(float(law @ (scores - mean) ** 2))
        # The constraint, linear in the law at the current mean and deviation.
        lifted = scores - 0.5 - ratio * deviation * (1 + ((mean - scores) / deviation) ** 2) / 2
        step = _nearest_law(shares, lifted, 0.0)
        if np.max(np.abs(step - law)) < 1e-10:
            return step
        law = step
    return law


def llr_bayeselo(wins: int, losses: int, draws: int, elo0: float, elo1: float) -> float:
    """LLR of single games in the draw model of BayesElo, as cutechess computes it."""
    win, loss, draw = wins + 0.5, losses + 0.5, draws + 0.5
    total = win + loss + draw
    p_win, p_loss = win / total, loss / total
    draw_elo = 200 * math.log10((1 - p_loss) / p_loss * (1 - p_win) / p_win)
    x = 10 ** (-draw_elo / 400)
    scale = 4 * x / (1 + x) ** 2

    def law(elo: float) -> tuple[float, float, float]:
        bayes = elo / scale
        wins_at = 1 / (1 + 10 ** ((draw_elo - bayes) / 400))
        losses_at = 1 / (1 + 10 ** ((draw_elo + bayes) / 400))
        return wins_at, losses_at, 1 - wins_at - losses_at

    ratios = (math.log(a / b) for a, b in zip(law(elo1), law(elo0), strict=True))
    return sum(n * ratio for n, ratio in zip((win, loss, draw), ratios, strict=True))


@dataclass(frozen=True)
class Elo:
    """Elo figures of counts by score; errors are half widths of 95 % intervals."""

    score: float
    variance: float  #: of one pair's (or game's) score
    elo: float
    elo_error: float
    normalized: float
    normalized_error: float
    superiority: float  #: probability that the true score is above 1/2


def _endless(score: float) -> float:
    """Normalized Elo of a score without spread: infinite unless it is even."""
    return 0.0 if score == 0.5 else math.copysign(math.inf, score - 0.5)


def elo_of(counts: Sequence[int] | np.ndarray) -> Elo:
    """Elo figures of three (loss, draw, win) or five (pairs) *counts*, lowest score first."""
    numbers = np.asarray(counts, dtype=float)
    scores = np.linspace(0, 1, len(numbers))
    per_game = math.sqrt(2) if len(numbers) == 5 else 1.0
    total = numbers.sum()
    score = float(numbers @ scores / total)
    variance = float(numbers @ (scores - score) ** 2 / total)
    error = math.sqrt(variance / total)
    z = float(norm.ppf(0.975))

    def elo(s: float) -> float:
        inside = min(max(s, 1e-6), 1 - 1e-6)
        return -400 * math.log10(1 / inside - 1)

    def normalized(s: float) -> float:
        return (s - 0.5) / (math.sqrt(variance) * per_game) * 800 / math.log(10)

    low, high = score - z * error, score + z * error
    has_spread = variance > 0
    return Elo(
        score,
        variance,
        elo(score),
        (elo(high) - elo(low)) / 2,
        normalized(score) if has_spread else _endless(score),
        (normalized(high) - normalized(low)) / 2 if has_spread else 0.0,
        float(norm.cdf((score - 0.5) / error)) if has_spread else float(score > 0.5),
    )


@dataclass(frozen=True)
class Sprt:
    """A sequential test of mean *high* against mean *low* of a score in 0..1."""

    low: float = 0.46
    high: float = 0.50
    alpha: float = 0.001
    beta: float = 0.001

    def __post_init__(self) -> None:
        """Check; raises GinsimError."""
        if not 0 < self.low < self.high < 1:
            raise GinsimError(f"bounds {self.low}:{self.high}: give two rates, 0 < LOW < HIGH < 1")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise GinsimError(f"alpha {self.alpha}, beta {self.beta}: must be in 0..0.5")

    @staticmethod
    def parse(text: str) -> "Sprt":
        """Test written as LOW:HIGH.

        >>> Sprt.parse("0.46:0.5").low
        0.46
        """
        try:
            low, high = (float(word) for word in text.split(":"))
        except ValueError:
            raise GinsimError(f"bounds {text}: write LOW:HIGH, like 0.46:0.50") from None
        return Sprt(low, high)

    def verdict(self, value: float, pairs: int) -> str | None:
        """Return "high" or "low" when the LLR *value* after *pairs* pairs decides, else None."""
        lower, upper = bounds(self.alpha, self.beta)
        if pairs < MIN_PAIRS:
            return None
        return "high" if value >= upper else "low" if value <= lower else None


@dataclass(frozen=True)
class Stop:
    """Where a sequential test stood when it ended."""

    pairs: int
    llr: float
    accepted: str | None  #: "high", "low" or None (undecided)
    counts: tuple[int, ...]


class Walk:
    """A test on its way through the pairs, in pair order, a look at a time.

    *values* are the scores that a pair can have, ascending. The prior weighs as much in all
    as half a pair for each of five scores.
    """

    def __init__(self, test: Sprt, values: np.ndarray = PAIR_SCORES) -> None:
        self.test = test
        self.values = values
        self.counts = np.zeros(len(values), dtype=np.int64)

    def look(self, scores: np.ndarray) -> Stop:
        """Count the next *scores* and say where the test stands."""
        nearest = np.abs(scores[:, None] - self.values).argmin(axis=1)
        self.counts += np.bincount(nearest, minlength=len(self.values))
        pairs = int(self.counts.sum())
        prior = PRIOR * len(PAIR_SCORES) / len(self.values)
        value = llr(self.counts, self.test.low, self.test.high, self.values, prior)
        return Stop(pairs, value, self.test.verdict(value, pairs), tuple(self.counts.tolist()))
