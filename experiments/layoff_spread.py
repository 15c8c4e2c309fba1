"""How often do the joint layoff and the choice of spread change the result of a knock?

Real knocks of bots that play themselves. The joint layoff chooses own melds and layoffs
together; the naive defender keeps its best melds and lays off what is loose. Of all spreads
with the least deadwood, the engine lays the one that unseen cards fit least.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from statsmodels.stats.proportion import proportion_confint

from experiments.claims import JOBS, RESULTS, estimate, report
from experiments.trial import Cell, Claim
from ginsim import engine
from ginsim.bots import load
from ginsim.cards import Hand, hand_of, points
from ginsim.match import rules_record
from ginsim.melds import beside, deadwood, fourths, lay_off, of_ranks, run_cards, set_ranks
from ginsim.replay import deck_of, traced_match
from ginsim.rules import Rules, preset
from ginsim.scoring import KNOCK, UNDERCUT, settle
from ginsim.showdown import best_melds
from ginsim.stats import Rate, within_unit

BOTS = ("simple", "easy", "normal", "hard")
RULES = ("classic", "frapper")
BLOCK = 50  #: matches
JOINT_POINTS = "joint layoff: other points than fixed melds"
JOINT_WINNER = "joint layoff: other winner than fixed melds"
SPREAD_POINTS = "spread: the points depend on it"
SPREAD_WINNER = "spread: the winner depends on it"

CLAIM = Claim(
    "layoff_spread",
    "How often the joint layoff and the choice of spread change the result",
    seed=8_013_000,
    pairs=3_000,
    seconds=30,
    how="Knocks without gin of each bot against itself; a share of these knocks. Fixed melds: "
    "the defender keeps its best melds and lays off loose cards, chains included. Spread: among "
    "all with the least deadwood, each answered by the joint layoff.",
    effect="share of knocks",
    against="of",
    rests_on="matches of a bot with itself",
    measured=True,
)


class Found(NamedTuple):
    """One knock: what would have been another result."""

    joint_points: bool
    joint_winner: bool
    spread_points: bool
    spread_winner: bool


KINDS = (JOINT_POINTS, JOINT_WINNER, SPREAD_POINTS, SPREAD_WINNER)  #: as Found's fields


def final_hands(deck: Sequence[int], starter: int, steps: np.ndarray) -> list[Hand]:
    """Both hands at the end of a round, rebuilt from its deck and steps."""
    hands = [hand_of(deck[starter ^ seat : 20 : 2]) for seat in range(2)]
    for step, seat, card in steps.tolist():
        if step in (engine.TAKE, engine.STOCK_DRAW):
            hands[seat] |= 1 << card
        elif step in (engine.THROW, engine.KNOCK_THROW):
            hands[seat] &= ~(1 << card)
    return hands


def fixed_melds(defender: Hand, sets: Hand, runs: Hand) -> int:
    """Deadwood of a *defender* that keeps its best melds and lays off what else it can."""
    _, loose = best_melds(defender)
    fourth = int(fourths(sets))
    while ready := loose & int(beside(runs)):
        loose &= ~ready
        runs |= ready
    return int(points(loose & ~fourth))


def least_spreads(hand: Hand) -> Iterator[tuple[Hand, Hand]]:
    """Yield every (sets, runs) of *hand* with the least deadwood."""
    least = int(deadwood(hand))
    choices = []
    ranks = int(set_ranks(hand))
    for rank in range(13):
        if ranks >> rank & 1:
            held = hand & int(of_ranks(1 << rank))
            four = held.bit_count() == 4
            cards = [1 << card for card in range(52) if held >> card & 1] if four else []
            choices.append([0, held, *(held ^ card for card in cards)])
    for chosen in product(*choices):
        sets = sum(chosen)
        runs = int(run_cards(hand & ~sets))
        if int(points(hand & ~(sets | runs))) == least:
            yield sets, runs


def look(rules: Rules, knocker: Hand, defender: Hand, sets: Hand, runs: Hand) -> Found:
    """Whether the knock of *knocker* with that spread could have ended otherwise."""
    record, left = rules_record(rules), int(deadwood(knocker))

    def result(after: int) -> int:
        return int(settle(record, 10, left, after)[1])

    joint = result(int(lay_off(defender, sets, runs)[0]))
    fixed = result(fixed_melds(defender, sets, runs))
    others = {result(int(lay_off(defender, *spread)[0])) for spread in least_spreads(knocker)}
    assert joint <= fixed, "a free choice cannot be worse for the defender"
    return Found(
        joint != fixed, (joint > 0) != (fixed > 0), len(others) > 1, max(others) > 0 >= min(others)
    )


def _block(bot: str, rules: Rules, first: int, end: int) -> list[list[int]]:
    """Of each match: knocks without gin, then those that Found says so of, field by field."""
    one = load(bot)
    counts = []
    for pair in range(first, end):
        rows, rounds = traced_match((one, one), rules, CLAIM.seed, pair, 0)
        found = []
        for row, steps in zip(rows, rounds, strict=True):
            if row["outcome"] not in (KNOCK, UNDERCUT):
                continue
            deck = deck_of(CLAIM.seed, pair, int(row["round"]))
            hands = final_hands(deck, int(row["starter"]), steps)
            knocker = int(row["knocker"])
            sets, runs = int(row["spread_sets"]), int(row["spread_runs"])
            assert int(lay_off(hands[1 - knocker], sets, runs)[0]) == row["defender_deadwood"]
            found.append(look(rules, hands[knocker], hands[1 - knocker], sets, runs))
        counts.append([len(found), *np.array(found).reshape(-1, len(KINDS)).sum(axis=0)])
    return counts


def cells_of(pairs: int) -> list[Cell]:
    """Shares of each kind, by bot and rules, not judged yet."""
    cells = []
    for bot, rules in product(BOTS, RULES):
        load(bot).policies()
        parts = joblib.Parallel(n_jobs=JOBS, backend="threading")(
            joblib.delayed(_block)(bot, preset(rules), first, min(first + BLOCK, pairs))
            for first in range(0, pairs, BLOCK)
        )
        knocks, *kinds = np.array([counts for part in parts for counts in part]).T
        for kind, counts in zip(KINDS, kinds, strict=True):
            cells.append(Cell(kind, bot, rules, share_of(counts, knocks), None, 1))
    return sorted(cells, key=lambda one: KINDS.index(one.contrast))


def share_of(counts: np.ndarray, knocks: np.ndarray) -> Rate:
    """Share of *knocks* that are *counts*, both by match; Wilson's interval if there are none."""
    if counts.sum() == 0:
        return Rate(0.0, 0.0, proportion_confint(0, int(knocks.sum()), method="wilson")[1], 0)
    share = float(counts.sum() / knocks.sum())
    return within_unit(estimate(share, (counts - share * knocks) / knocks.mean())[0])


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    pairs = pairs or CLAIM.pairs
    report(CLAIM, cells_of(pairs), pairs, results)
