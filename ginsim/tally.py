"""Counts a run leaves behind: integers by pair, summed with their products.

Everything that statistics and plots need is a sum over pairs of some counters, or of the
product of two of them (for intervals clustered by pair). So a block of rows is reduced to
integer sums that add up in any order, and a run of any length needs the memory of one.
"""

from dataclasses import dataclass, field

import numpy as np

from ginsim.jit import int64, kernel
from ginsim.rows import DEAD_REASONS, TURN_LIMIT
from ginsim.scoring import BIG_GIN, DEAD, FORFEIT, GIN, KNOCK, UNDERCUT

#: Deadwoods 0..10 are counted one by one; the last bin holds all above (``--rule knock_limit``).
DEADWOOD_BINS = 12
#: Turns of a round are counted one by one up to here; the last bin holds all above.
TURN_BINS = 202

#: What is counted for each bot in each pair.
COUNTERS = (
    "legs",
    "half_matches",  # 2 a match won, 1 a match drawn
    "rounds",
    "rounds_won",
    "points",  # points scored
    "net_points",  # points scored less points given away
    "knocks",  # rounds this bot ended by any knock, gin included
    "knocks_won",  # knocks that scored for this bot, no gin
    "gins",  # gin and big gin
    "undercuts_suffered",
    "undercuts_made",
    "dead",
    "turn_limit",  # dead for the turn limit
    "forfeits",
    "turns",  # of the round, both players
    "pile_draws",
    "dealt_deadwood",
    "plain_knocks",  # knocks without gin
    "knock_deadwood",  # sum over plain knocks
    "defender_deadwood",  # sum over plain knocks, after layoffs
    "laid_off_rounds",  # plain knocks on which the rival laid off
    "started",
    "decided",  # rounds somebody scored
    "decided_started",  # decided rounds this bot started
    "won_started",  # rounds won that this bot started
    "lost_to_knock",
    "lost_to_gin",
    *(f"knocks_at_{deadwood}" for deadwood in range(DEADWOOD_BINS)),
    *(f"undercut_at_{deadwood}" for deadwood in range(DEADWOOD_BINS)),
)
INDEX = {name: at for at, name in enumerate(COUNTERS)}
(
    LEGS, HALF_MATCHES, ROUNDS, ROUNDS_WON, POINTS, NET_POINTS, KNOCKS, KNOCKS_WON, GINS,
    UNDERCUTS_SUFFERED, UNDERCUTS_MADE, DEAD_ROUNDS, TURN_LIMITS, FORFEITS, TURNS, PILE_DRAWS,
    DEALT_DEADWOOD, PLAIN_KNOCKS, KNOCK_DEADWOOD, DEFENDER_DEADWOOD, LAID_OFF_ROUNDS,
    STARTED, DECIDED, DECIDED_STARTED, WON_STARTED, LOST_TO_KNOCK, LOST_TO_GIN, KNOCKS_AT,
) = range(28)  # fmt: skip
UNDERCUT_AT = KNOCKS_AT + DEADWOOD_BINS


@kernel
def _count_round(row: np.ndarray, seat: int, counters: np.ndarray) -> None:
    """Add one round, seen from *seat*, to the *counters* of a bot in a pair."""
    counters[ROUNDS] += 1
    counters[TURNS] += row["turns"]
    counters[PILE_DRAWS] += row["pile_draws_0"] if seat == 0 else row["pile_draws_1"]
    counters[DEALT_DEADWOOD] += row["dealt_deadwood_0"] if seat == 0 else row["dealt_deadwood_1"]
    started = int64(row["starter"] == seat)
    counters[STARTED] += started
    outcome = row["outcome"]
    if outcome == DEAD:
        counters[DEAD_ROUNDS] += 1
        counters[TURN_LIMITS] += int64(row["dead_reason"] == TURN_LIMIT)
        return
    won = row["winner"] == seat
    if outcome == FORFEIT:
        counters[FORFEITS] += int64(not won)
        return
    if row["points"] > 0:
        counters[DECIDED] += 1
        counters[DECIDED_STARTED] += started
        counters[ROUNDS_WON] += int64(won)
        counters[WON_STARTED] += started * int64(won)
        counters[NET_POINTS] += row["points"] if won else -row["points"]
        counters[POINTS] += row["points"] if won else 0
    if row["knocker"] != seat:
        counters[UNDERCUTS_MADE] += int64(outcome == UNDERCUT)
        counters[LOST_TO_KNOCK] += int64(outcome == KNOCK and row["points"] > 0)
        counters[LOST_TO_GIN] += int64(outcome in (GIN, BIG_GIN))
        return
    at = min(int64(row["knock_deadwood"]), DEADWOOD_BINS - 1)
    counters[KNOCKS] += 1
    counters[KNOCKS_AT + at] += 1
    if outcome in (GIN, BIG_GIN):
        counters[GINS] += 1
        return
    counters[PLAIN_KNOCKS] += 1
    counters[KNOCK_DEADWOOD] += row["knock_deadwood"]
    counters[DEFENDER_DEADWOOD] += row["defender_deadwood"]
    counters[LAID_OFF_ROUNDS] += int64(row["laid_off"] > 0)
    if outcome == UNDERCUT:
        counters[UNDERCUTS_SUFFERED] += 1
        counters[UNDERCUT_AT + at] += 1
    elif outcome == KNOCK and won:
        counters[KNOCKS_WON] += 1


@kernel
def match_halves(row: np.ndarray, needed: int, seat: int) -> int:
    """Half matches that *seat* gets from a match whose last round is *row*: 2, 1 (draw) or 0.

    *needed* is the score that wins: the target, or 1 where one scored round decides.
    """
    if row["outcome"] == FORFEIT:
        return 2 if row["winner"] == seat else 0
    own = int64(row["score_before_0"])
    rival = int64(row["score_before_1"])
    if row["winner"] == 0:
        own += int64(row["points"])
    elif row["winner"] == 1:
        rival += int64(row["points"])
    if seat == 1:
        own, rival = rival, own
    if max(own, rival) < needed:
        return 1
    return 2 if own > rival else 0


@kernel
def count_pairs(
    rows: np.ndarray, first: int, needed: int, counters: np.ndarray, halves: np.ndarray
) -> None:
    """Add *rows* (whole pairs, legs one after the other) to int64 counters[bot, pair - first].

    *halves*, int64 [pair - first, leg], receives the half matches of the first bot: 0, 1, 2.
    """
    for at in range(len(rows)):
        row = rows[at]
        pair, leg = row["pair"] - first, int64(row["leg"])
        last = at + 1 == len(rows) or rows[at + 1]["leg"] != leg or rows[at + 1]["round"] == 0
        for bot in range(2):
            _count_round(row, bot ^ leg, counters[bot, pair])
            if last:
                won = match_halves(row, needed, bot ^ leg)
                counters[bot, pair, LEGS] += 1
                counters[bot, pair, HALF_MATCHES] += won
                if bot == 0:
                    halves[pair, leg] = won


@dataclass
class Tally:
    """Sums over pairs for one bot, in one matchup or over several; Tallies add up."""

    pairs: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    products: np.ndarray = field(
        default_factory=lambda: np.zeros((len(COUNTERS), len(COUNTERS)), np.int64)
    )
    turns: np.ndarray = field(default_factory=lambda: np.zeros(TURN_BINS, np.int64))

    def add(self, other: "Tally") -> None:
        """Add the pairs of *other*, which must be pairs not counted yet."""
        self.pairs += other.pairs
        self.sums += other.sums
        self.products += other.products
        self.turns += other.turns

    def total(self, counter: str) -> int:
        """Sum of a counter over all pairs."""
        return int(self.sums[INDEX[counter]])

    def product(self, first: str, second: str) -> int:
        """Sum over pairs of the product of two counters."""
        return int(self.products[INDEX[first], INDEX[second]])


@kernel
def products_of(counters: np.ndarray) -> np.ndarray:
    """Sum over pairs of counters[pair, i] * counters[pair, j], int64 [counter, counter]."""
    width = counters.shape[1]
    sums = np.zeros((width, width), dtype=np.int64)
    for pair in range(counters.shape[0]):
        for i in range(width):
            if counters[pair, i]:
                for j in range(width):
                    sums[i, j] += counters[pair, i] * counters[pair, j]
    return sums


def tally_of(counters: np.ndarray, turns: np.ndarray) -> Tally:
    """Tally of int64 counters[pair, counter] and of how many rounds took 0, 1, 2.. turns."""
    return Tally(len(counters), counters.sum(axis=0), products_of(counters), turns)


def turn_counts(rows: np.ndarray) -> np.ndarray:
    """Return how many of *rows* took 0, 1, 2.. turns, int64[TURN_BINS]."""
    turns = np.minimum(rows["turns"], TURN_BINS - 1)
    return np.bincount(turns, minlength=TURN_BINS).astype(np.int64)


assert len(COUNTERS) == UNDERCUT_AT + DEADWOOD_BINS, "COUNTERS and their indices have drifted"
assert len(DEAD_REASONS) == 2, "a new reason for a dead hand needs a counter"
