"""The knock chart: what knocking now is worth more than playing on, by own turn and deadwood.

The bot is held back from knocking until its own turn t. From there every deal is played
twice: once it knocks at turn t if it may, once it plays on and then knocks by its own rule.
Up to turn t both rounds are the same, cards and decisions, so their difference is what the
knock is worth. Gin is always taken at once. The chart is about rounds; what one is worth at
a score of the match follows from the points that rounds of these bots bring.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import joblib
import numba
import numpy as np
import pandas as pd

from ginsim import places, records
from ginsim.bots import Bot, load, load_all
from ginsim.errors import GinsimError
from ginsim.jit import INTERPRETED, int64
from ginsim.match import play_chunks
from ginsim.places import Place
from ginsim.rules import TO_TARGET, Rules, describe
from ginsim.stats import Rate, clustered_mean, holm
from ginsim.view import BIG_GIN, KNOBS, POLICY_SIGNATURE, Policy

#: Places in the view's knobs that say until which own turn the bot is held, and what it does
#: there: knock, or not.
HELD_UNTIL, KNOCKS_THERE = KNOBS - 2, KNOBS - 1
#: Pairs that a cell must rest on to be judged.
FEW = 50
SURE = 0.05  #: chance, over a whole table, of any advice where both are worth the same
BLOCK_PAIRS = 5000
MOST_TURNS = 40
CHART = "knock_chart.json"
CELLS = "knock_chart.parquet"


@dataclass(frozen=True)
class Held(Bot):
    """*base*, held back from knocking before its own turn *until*; there it knocks or not."""

    base: Bot | None = None
    until: int = 0
    knocks_there: bool = False

    def knobs(self) -> np.ndarray:
        """Parameters of the bot that is held, and what holds it."""
        assert self.base is not None
        values = self.base.knobs()
        values[HELD_UNTIL], values[KNOCKS_THERE] = self.until, self.knocks_there
        return values

    def policies(self) -> tuple[Policy, Policy, Policy]:
        """Draw and discard of the bot that is held, and its knock, held."""
        assert self.base is not None
        draw, discard, knock = self.base.policies()
        return draw, discard, _held_knock(knock, self.base.jit and not INTERPRETED)


def held(bot: Bot, until: int, knocks_there: bool) -> Bot:
    """Return *bot* held back until its own turn *until* (1 for its first)."""
    if len(bot.parameters) > HELD_UNTIL:
        raise GinsimError(
            f"{bot.name}: has {len(bot.parameters)} parameters; a knock chart needs two of the "
            f"{KNOBS} places: leave {HELD_UNTIL} or fewer"
        )
    return Held(
        bot.name,
        bot.draw,
        bot.discard,
        _held_knock(bot.knock, False),
        bot.parameters,
        jit=bot.jit,
        source=bot.source,
        base=bot,
        until=until,
        knocks_there=knocks_there,
    )


@functools.cache
def _held_knock(knock: Policy, compiled: bool) -> Policy:
    """*knock*, but plain knocks wait for the turn, which counts from 1."""

    def waits(view: Any) -> int:
        if view.phase == BIG_GIN or view.kept_deadwood == 0:
            return knock(view)
        turn = view.turn // 2 + 1
        if turn < view.knobs[HELD_UNTIL]:
            return 0
        if turn == view.knobs[HELD_UNTIL]:
            return int64(view.knobs[KNOCKS_THERE])
        return knock(view)

    if not compiled:
        return waits
    made: Policy = numba.njit(POLICY_SIGNATURE, nogil=True)(waits)
    return made


class Sample(NamedTuple):
    """Rounds that could be knocked in, one entry each; points are the bot's, losses negative."""

    pair: np.ndarray
    deadwood: np.ndarray
    now: np.ndarray  #: points of knocking now
    on: np.ndarray  #: points of playing on


def points_of(bots: tuple[Bot, Bot], rules: Rules, seed: int, first: int, end: int) -> np.ndarray:
    """Rounds of both legs with the first bot's points: int64 [n, 5].

    Columns: pair, its points, its own turn when it knocked (else 0), knock deadwood, leg.
    """
    parts = []
    # Not match_end=round: there any points win, and a bot that looks at the score knocks for them.
    for rows in play_chunks(bots, rules._replace(round_limit=1), seed, first, end):
        leg = rows["leg"].astype(np.int64)
        won = np.where(rows["winner"] < 0, 0, np.where(rows["winner"] == leg, 1, -1))
        turn = np.where(rows["knocker"] == leg, (rows["turns"].astype(np.int64) + 1) // 2, 0)
        columns = (rows["pair"], won * rows["points"], turn, rows["knock_deadwood"], leg)
        parts.append(np.stack([np.asarray(column, np.int64) for column in columns], axis=1))
    return np.concatenate(parts)


def sample(
    bot: str, rival: str, rules: Rules, seed: int, first: int, end: int, turn: int
) -> Sample:
    """Rounds of pairs first..end-1 in which *bot* could knock plainly at its own turn *turn*."""
    chosen, other = load(bot), load(rival)
    now = points_of((held(chosen, turn, True), other), rules, seed, first, end)
    on = points_of((held(chosen, turn, False), other), rules, seed, first, end)
    reached = (now[:, 2] == turn) & (now[:, 3] > 0)
    return Sample(now[reached, 0], now[reached, 3], now[reached, 1], on[reached, 1])


def wins_from(points: np.ndarray, target: int) -> np.ndarray:
    """Chance to win the match at each score, float64 [own, rival] up to *target*.

    *points* are the bot's in each of many rounds; rounds are taken as independent, and as
    equal at every score. A match that can never end counts as even.
    """
    values, counts = np.unique(points[points != 0], return_counts=True)
    wins = np.full((target + 1, target + 1), 0.5)
    wins[target, :], wins[:, target] = 1.0, 0.0
    if len(values) == 0:
        return wins
    shares = counts / counts.sum()
    for own in range(target - 1, -1, -1):
        for rival in range(target - 1, -1, -1):
            after = wins[
                np.minimum(own + np.maximum(values, 0), target),
                np.minimum(rival + np.maximum(-values, 0), target),
            ]
            wins[own, rival] = float(after @ shares)
    return wins


def worth(points: np.ndarray, score: tuple[int, int], wins: np.ndarray) -> np.ndarray:
    """Chance to win the match once *points* are added to *score* (own, rival)."""
    target = len(wins) - 1
    own = np.minimum(score[0] + np.maximum(points, 0), target)
    rival = np.minimum(score[1] + np.maximum(-points, 0), target)
    chances: np.ndarray = wins[own, rival]
    return chances


@dataclass(frozen=True)
class Cell:
    """One place of the chart: what knocking there is worth more than playing on."""

    rival: str
    score: str | None  #: "own:rival", None for points of the round
    turn: int  #: own turn, from 1
    deadwood: int
    rounds: int  #: in which the bot could knock here
    now: float | None  #: mean points of knocking (with a score: chance to win the match)
    on: float | None  #: mean points of playing on
    gain: float | None
    low: float | None  #: 95 % interval of the gain, clustered by pair
    high: float | None
    p: float | None  #: that the gain is 0, adjusted for all cells of this table (Holm)
    advice: str  #: knock, wait, either (not sure), or few (too few rounds to say)


@dataclass(frozen=True)
class Chart:
    """A knock chart with what it rests on."""

    bot: str
    rivals: tuple[str, ...]
    scores: tuple[str, ...]
    rules: str
    seed: int
    pairs: int
    turns: int
    cells: tuple[Cell, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the chart as plain JSON."""
        return asdict(self)


class _Seen(NamedTuple):
    """One place of the chart before all places are judged together."""

    turn: int
    deadwood: int
    rounds: int
    now: float
    on: float
    gain: Rate
    p: float | None  #: None where too few pairs got there


def _seen(turn: int, deadwood: int, seen: Sample, now: np.ndarray, on: np.ndarray) -> _Seen:
    here = seen.deadwood == deadwood
    gain, p = clustered_mean((now - on)[here], seen.pair[here])
    enough = len(np.unique(seen.pair[here])) >= FEW
    means = [float(x[here].mean()) if here.any() else math.nan for x in (now, on)]
    return _Seen(turn, deadwood, int(here.sum()), means[0], means[1], gain, p if enough else None)


def _cells(
    rival: str,
    score: str | None,
    samples: Sequence[Sample],
    limit: int,
    value: Callable[[np.ndarray], np.ndarray],
) -> list[Cell]:
    """Cells of one table; *value* turns points into what the table is in."""
    found = []
    for turn, seen in enumerate(samples, 1):
        now, on = value(seen.now), value(seen.on)
        found += [_seen(turn, deadwood, seen, now, on) for deadwood in range(1, limit + 1)]
    judged = [seen.p for seen in found if seen.p is not None]
    adjusted = iter(holm(judged)[1].tolist() if judged else [])
    return [_cell(rival, score, seen, None if seen.p is None else next(adjusted)) for seen in found]


def _cell(rival: str, score: str | None, seen: _Seen, p: float | None) -> Cell:
    """*seen* as a cell; *p* is its p-value adjusted for all cells, None for too few pairs."""
    advice = "few"
    if p is not None:
        advice = "either" if p >= SURE else "knock" if seen.gain.value > 0 else "wait"
    bounds = (seen.gain.low, seen.gain.high) if p is not None else (None, None)
    return Cell(
        rival,
        score,
        seen.turn,
        seen.deadwood,
        seen.rounds,
        _said(seen.now),
        _said(seen.on),
        _said(seen.gain.value),
        _said(bounds[0]),
        _said(bounds[1]),
        p,
        advice,
    )


def _said(value: float | None) -> float | None:
    """*value* as JSON can say it, to a millionth."""
    return None if value is None or not math.isfinite(value) else round(value, 6)


def parse_score(words: str, rules: Rules) -> tuple[int, int]:
    """Own and the rival's points of ``80:20``; raises GinsimError outside the match."""
    own, _, rival = words.partition(":")
    if not (own.isdigit() and rival.isdigit()) or max(int(own), int(rival)) >= rules.target:
        raise GinsimError(
            f"--score {words}: write own:rival, like 80:20, both below {rules.target}"
        )
    if rules.match_end != TO_TARGET:
        raise GinsimError(f"--score {words}: these rules play one round, so there is no score")
    return int(own), int(rival)


def check_chart(
    bot: str, rivals: Sequence[str], rules: Rules, pairs: int, turns: int, scores: Sequence[str]
) -> list[tuple[int, int]]:
    """Return *scores* as points; raises GinsimError for what has no chart."""
    at_scores = [parse_score(score, rules) for score in scores]
    held(load(bot), 1, True)
    if not rivals:
        raise GinsimError("name a rival with --vs, like --vs easy")
    load_all(rivals)
    if not 1 <= turns <= MOST_TURNS or pairs < 1:
        raise GinsimError(
            f"--pairs {pairs}, --turns {turns}: at least 1; turns {MOST_TURNS} at most"
        )
    if rules.knock_limit < 1:
        raise GinsimError("these rules allow gin only: there is no knock to chart")
    return at_scores


def check_chart_folder(run: Place, overwrite: bool) -> None:
    """Refuse a folder that holds anything else, or a chart and not *overwrite*."""
    if places.is_file(run):
        raise GinsimError(f"{run}: is a file; name another folder with --out")
    present = [name for name in places.names(run) if not places.half_written(name)]
    if present and CHART not in present:
        raise GinsimError(f"{run}: holds other files than a knock chart; name another --out")
    if present and not overwrite:
        raise GinsimError(f"{run}: holds a knock chart already; add --overwrite to replace it")


def save_chart(chart: Mapping[str, Any], run: Place) -> None:
    """Write *chart* into the folder *run* as JSON and its cells as Parquet."""
    places.remove(run / records.REPORT)
    frame = pd.DataFrame(chart["cells"])
    places.write_whole(run / CELLS, lambda path: frame.to_parquet(path, index=False))
    records.write_json(run / CHART, dict(chart))


def knock_chart(
    bot: str,
    rivals: Sequence[str],
    rules: Rules,
    *,
    seed: int = 1,
    pairs: int = 20_000,
    turns: int = 12,
    scores: Sequence[str] = (),
    jobs: int = 1,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> Chart:
    """Knock chart of *bot* against each of *rivals* for own turns 1..*turns*.

    A table in points of the round, and one for each of *scores* in the chance to win the
    match. Raises GinsimError for bots or rules that have no chart.
    """
    at_scores = check_chart(bot, rivals, rules, pairs, turns, scores)
    chosen = load(bot)
    compiled = not INTERPRETED and chosen.jit and all(load(rival).jit for rival in rivals)
    cells: list[Cell] = []
    blocks = [(at, min(at + BLOCK_PAIRS, pairs)) for at in range(0, pairs, BLOCK_PAIRS)]
    of = len(rivals) * len(blocks) * turns
    with joblib.Parallel(jobs, backend="threading" if compiled else "loky") as parallel:
        for number, rival in enumerate(rivals):
            samples = []
            for turn in range(1, turns + 1):
                parts = parallel(
                    joblib.delayed(sample)(bot, rival, rules, seed, first, end, turn)
                    for first, end in blocks
                )
                samples.append(Sample(*(np.concatenate(x) for x in zip(*parts, strict=True))))
                watch((number * turns + turn) * len(blocks), of)
            cells += _cells(rival, None, samples, rules.knock_limit, lambda points: points)
            if at_scores:
                usual = points_of((chosen, load(rival)), rules, seed, 0, pairs)[:, 1]
                wins = wins_from(usual, rules.target)
            for words, score in zip(scores, at_scores, strict=True):
                value = functools.partial(worth, score=score, wins=wins)
                cells += _cells(rival, words, samples, rules.knock_limit, value)
    return Chart(
        chosen.name, tuple(rivals), tuple(scores), describe(rules), seed, pairs, turns,
        tuple(cells),
    )  # fmt: skip
