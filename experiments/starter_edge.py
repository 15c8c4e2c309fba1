"""The non-dealer has the edge: rounds won by who starts, and matches by who starts first."""

from collections.abc import Sequence
from pathlib import Path

import joblib
import numpy as np

from experiments.claims import BLOCK_PAIRS, JOBS, RESULTS, estimate, report
from experiments.trial import Cell, Claim
from experiments.verdicts import judged
from ginsim.bots import load
from ginsim.match import play_chunks
from ginsim.rules import Rules, preset
from ginsim.stats import Rate

BOTS = ("simple", "easy", "normal", "hard", "master", "gin-only")
ROUNDS, MATCHES = "rounds won by the starter", "matches won by who starts the first round"
RULES = {ROUNDS: ("classic", "tutorial", "frapper"), MATCHES: ("classic", "eaai")}
ROUNDS_A_MATCH = 2  #: single rounds that are played for each match

CLAIM = Claim(
    "starter_edge",
    "The non-dealer, who starts, has the edge",
    seed=8_012_000,
    pairs=30_000,
    seconds=35,
    how="Each bot plays itself. Single rounds, so that no earlier result has chosen the starter; "
    "then whole matches, where under `classic` the loser of a round starts the next. Under "
    "`classic` and `eaai` the starter is offered the upcard first, under `tutorial` and "
    "`frapper` it opens the pile.",
    effect="share won by who starts, less one half",
    against="by",
    cluster="match or round",
    rests_on="matches of a bot with itself, and twice as many rounds",
)


def _block(bot: str, rules: Rules, seed: int, first: int, end: int) -> np.ndarray:
    """Of each match: whether its first starter won (-1: nobody did), and its last points."""
    one = load(bot)
    found = []
    for rows in play_chunks((one, one), rules, seed, first, end, mirrored=False):
        starts = np.flatnonzero(rows["round"] == 0)
        last = rows[np.append(starts[1:], len(rows)) - 1]
        won = last["winner"] == rows[starts]["starter"]
        points = np.where(won, 1, -1) * last["points"].astype(np.int64)
        found.append(np.stack([np.where(last["winner"] < 0, -1, won), points], axis=1))
    return np.concatenate(found)


def self_play(bot: str, rules: Rules, seed: int, matches: int) -> np.ndarray:
    """``_block`` of all matches."""
    load(bot).policies()
    parts: Sequence[np.ndarray] = joblib.Parallel(n_jobs=JOBS, backend="threading")(
        joblib.delayed(_block)(bot, rules, seed, first, min(first + BLOCK_PAIRS, matches))
        for first in range(0, matches, BLOCK_PAIRS)
    )
    return np.concatenate(parts)


def cell(what: str, bot: str, rules_name: str, matches: int) -> Cell:
    """Share won by the starter less a half; of rounds, its points as well."""
    rules = preset(rules_name)
    if what == ROUNDS:
        rules = rules._replace(round_limit=1)  # and a target of 100, as in a match
        matches *= ROUNDS_A_MATCH
    won, net = self_play(bot, rules, CLAIM.seed, matches).T
    decided = won >= 0
    share = float(won[decided].mean())
    residuals = np.where(decided, won - share, 0) / decided.mean()
    effect, p = estimate(share - 0.5, residuals)
    points: Rate | None = None
    if what == ROUNDS:
        points, _ = estimate(float(net.mean()), net - net.mean())
    return Cell(what, bot, rules_name, effect, points, p)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    pairs = pairs or CLAIM.pairs
    cells = [
        cell(what, bot, rules, pairs)
        for what, all_rules in RULES.items()
        for rules in all_rules
        for bot in BOTS
    ]
    report(CLAIM, judged(cells), pairs, results)
