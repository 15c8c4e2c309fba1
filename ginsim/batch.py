"""Bots that answer many views in one call, and matches played on many tables for them.

A network is fast by the hundred and slow by the one. A batch bot's functions take a ``View``
of arrays, int64 [n] a field, and return arrays of n answers. Each view is to be answered as if
it were alone: then the rows are those of the same bot played one decision at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ginsim import lockstep
from ginsim.bots import Bot, load
from ginsim.cards import text
from ginsim.engine import GAME, records, rules_record
from ginsim.guard import (
    ILLEGAL_CARD,
    QUESTIONS,
    Failure,
    Forfeit,
    Guard,
    TooSlow,
    card_words,
)
from ginsim.rows import ROW
from ginsim.rules import Rules
from ginsim.scoring import FORFEIT
from ginsim.view import DISCARD, DRAW, Policy, View

#: A view of arrays in, an array of answers out.
BatchPolicy = Callable[[View], Any]

#: Tables played at once, and rows that a table may finish between two questions.
TABLES = 1024
_LOG_ROWS = 64


def BatchBot(  # noqa: N802 - it makes a Bot, and reads like one
    name: str,
    draw: BatchPolicy,
    discard: BatchPolicy,
    knock: BatchPolicy,
    parameters: Mapping[str, int] | None = None,
    about: str = "",
) -> Bot:
    """Return a bot of three batch functions; alone it answers by batches of one.

    ``view.hand`` and the like are int64 arrays, ``view.knobs`` a tuple of them. Return ints or
    bools. ``flat(view)`` gives what a network takes.
    """

    def alone(function: BatchPolicy) -> Policy:
        def answer(view: View) -> Any:
            return np.asarray(function(of_arrays(lines_of([view])))).tolist()[0]

        return answer

    return Bot(
        name, alone(draw), alone(discard), alone(knock), dict(parameters or {}), about, jit=False,
        batch=(draw, discard, knock),
    )  # fmt: skip


def lines_of(views: list[View]) -> np.ndarray:
    """*views* as lines of numbers, int64 [n, lockstep.VIEW_COLUMNS]."""
    return np.array([[*view[:-1], *view.knobs] for view in views], np.int64)


def of_arrays(lines: np.ndarray) -> View:
    """Return a View of arrays whose fields are the columns of *lines*."""
    columns = np.ascontiguousarray(lines.T)
    at = lockstep.VIEW_NUMBERS
    return View._make([*columns[:at], tuple(columns[at:])])


def flat(view: View) -> np.ndarray:
    """*view* (of arrays) as float32 [n, lockstep.FLAT], as the environments show it."""
    lines = np.ascontiguousarray(np.stack([*view[:-1], *view.knobs]).T)
    number = len(lines)
    planes = np.zeros((number, len(lockstep.PLANES), 52), np.int8)
    numbers = np.zeros((number, len(lockstep.NUMBERS)), np.int32)
    out = np.empty((number, lockstep.FLAT), np.float32)
    lockstep.observe_lines(lines, planes, numbers, np.zeros((number, lockstep.ACTIONS), np.int8))
    lockstep.flatten(planes, numbers, out)
    return out


def legal_cards(view: View) -> np.ndarray:
    """Whether each card may be thrown, bool [n, 52]."""
    legal: np.ndarray = (view.legal[:, None] >> np.arange(52)) & 1 == 1  # type: ignore[index]
    return legal


class BatchPlay:
    """Matches of two bots on many tables, at least one of them asked in batches."""

    def __init__(self, bots: tuple[Bot, Bot], rules: Rules, seed: int, limit: float) -> None:
        self.bots, self.seed = bots, seed
        self.rules, self.knobs = rules_record(rules), np.stack([bot.knobs() for bot in bots])
        self.guard = Guard(limit)
        self.inside = [bot.jit and bot.batch is None for bot in bots]
        # A bot that is asked from outside needs compiled functions too: they are not called.
        inside = [bot for bot, is_inside in zip(bots, self.inside, strict=True) if is_inside]
        filler = inside[0] if inside else load("simple")
        first, second = (
            bot.policies() if is_inside else filler.policies()
            for bot, is_inside in zip(bots, self.inside, strict=True)
        )
        self.policies = (*first, *second)
        self.alone = [
            () if inside else self.guard.around(at, bot, bot.policies())
            for at, (bot, inside) in enumerate(zip(bots, self.inside, strict=True))
        ]

    def rows(
        self, first: int, end: int, mirrored: bool, forfeits: list[Forfeit] | None
    ) -> np.ndarray:
        """Rows of pairs first..end-1, in the engine's order."""
        legs = 2 if mirrored else 1
        number = min(TABLES, legs * (end - first))
        self.games, self.tables = records(GAME, number, True), records(ROW, number, True)
        self.places = np.zeros((number, lockstep.PLACE_COLUMNS), np.int64)
        self.places[:, lockstep.DONE] = 1
        self.told: dict[tuple[int, int, int], Failure] = {}
        log, logged = records(ROW, _LOG_ROWS * number, True), np.zeros(1, np.int64)
        replied, replies = np.zeros(number, np.bool_), np.zeros(number, np.int64)
        tasks = np.array([legs * first, legs * end, 0], np.int64)
        no_decks, no_trace = np.empty((0, 52), np.int64), np.empty((0, 3), np.int64)
        parts = []
        while lockstep.advance(
            *self.policies, not self.inside[0], not self.inside[1],
            self.rules, self.knobs, self.games, self.tables, self.places, self.seed, mirrored,
            tasks, replied, replies, no_decks, no_trace, log, logged,
        ):  # fmt: skip
            if logged[0] >= len(log):
                raise RuntimeError("more rounds between two questions than there is room for")
            parts.append(log[: logged[0]].copy())
            logged[0] = 0
            self._answer(replied, replies)
        rows: np.ndarray = np.concatenate([*parts, log[: logged[0]]])
        rows = rows[np.lexsort((rows["round"], rows["leg"], rows["pair"]))]
        if forfeits is not None:
            for row in rows[rows["outcome"] == FORFEIT]:
                place = int(row["pair"]), int(row["leg"]), int(row["round"])
                loser = Failure(int(row["winner"] == row["leg"]))
                forfeits.append(Forfeit(*place, self.told.get(place, loser)))
        return rows

    def _answer(self, replied: np.ndarray, replies: np.ndarray) -> None:
        """Ask both bots what their tables ask."""
        open_ = self.places[:, lockstep.DONE] == 0
        replied[:] = open_
        asked = self.games["seat"] ^ self.places[:, lockstep.LEG]
        for bot in range(2):
            which = np.flatnonzero(open_ & (asked == bot))
            if len(which) == 0:
                continue
            lines = np.empty((len(which), lockstep.VIEW_COLUMNS), np.int64)
            lockstep.look(self.rules, self.games, which, lines)
            phases = self.games["phase"][which]
            kinds = np.where(phases == DISCARD, 1, np.where(phases <= DRAW, 0, 2))
            for kind in range(3):
                these = np.flatnonzero(kinds == kind)
                if len(these):
                    replies[which[these]] = self._ask(bot, kind, lines[these], which[these])

    def _ask(self, bot: int, kind: int, lines: np.ndarray, tables: np.ndarray) -> np.ndarray:
        """Answers of *bot* to *lines*: in one call, or one by one where that fails."""
        batch = self.bots[bot].batch
        if batch is not None:
            answers = self._in_one(batch[kind], lines)
            if answers is not None and kind == 1:
                self._note_illegal(bot, lines, answers, tables)
            if answers is not None:
                return answers
        answers = np.empty(len(lines), np.int64)
        with self.guard.on_watch():
            for at, line in enumerate(lines.tolist()):
                numbers = lockstep.VIEW_NUMBERS
                view = View._make([*line[:numbers], tuple(line[numbers:])])
                answers[at] = self.alone[bot][kind](view)
                if self.guard.failures:
                    self.told[self._place(int(tables[at]))] = self.guard.failures.pop()
        return answers

    def _in_one(self, function: BatchPolicy, lines: np.ndarray) -> np.ndarray | None:
        """Answers to all *lines*, None if something is wrong with them."""
        try:
            with self.guard.on_watch():
                given = np.asarray(self.guard.timed(function, of_arrays(lines)))
        except (TooSlow, Exception, SystemExit):
            return None
        if given.shape != (len(lines),) or given.dtype.kind not in "biu":
            return None
        answers = given.astype(np.int64)
        return answers if (np.abs(answers) < 1 << 61).all() else None

    def _note_illegal(
        self, bot: int, lines: np.ndarray, cards: np.ndarray, tables: np.ndarray
    ) -> None:
        legal = lines[:, View._fields.index("legal")]
        fine = (cards >= 0) & (cards < 52) & (legal >> np.clip(cards, 0, 51) & 1 == 1)
        for at in np.flatnonzero(~fine).tolist():
            view = of_arrays(lines[at : at + 1])
            self.told[self._place(int(tables[at]))] = Failure(
                bot, ILLEGAL_CARD, f"threw {card_words(int(cards[at]))}", int(view.turn[0]),  # type: ignore[index]
                QUESTIONS[DISCARD], text(int(view.hand[0])),  # type: ignore[index]
            )  # fmt: skip

    def _place(self, table: int) -> tuple[int, int, int]:
        pair, leg, round_ = self.places[table, : lockstep.ROUND + 1].tolist()
        return pair, leg, round_


def play_batched(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    first: int,
    end: int,
    *,
    mirrored: bool,
    limit: float,
    forfeits: list[Forfeit] | None,
) -> Iterator[np.ndarray]:
    """Yield the rows of pairs first..end-1, a few thousand pairs at a time (``play_chunks``)."""
    play = BatchPlay(bots, rules, seed, limit)
    step = 2 * TABLES
    for at in range(first, end, step):
        yield play.rows(at, min(at + step, end), mirrored, forfeits)
