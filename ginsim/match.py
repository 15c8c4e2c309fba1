"""Play two bots: pairs into rows, compiled or as plain Python, with identical rows.

A bot from a file that raises, answers no int or takes too long forfeits the match. Plain
Python is asked under guard; compiled code that raises gives up its call, so that the pair in
question is played again by the engine's plain twin, where each decision can be caught.
"""

import functools
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from ginsim import engine
from ginsim.batch import play_batched
from ginsim.bots import BUILT_IN, Bot
from ginsim.engine import records, rules_record
from ginsim.errors import GinsimError
from ginsim.guard import Failure, Forfeit, Guard
from ginsim.jit import INTERPRETED, plain
from ginsim.rows import ROW
from ginsim.rules import Rules
from ginsim.scoring import FORFEIT
from ginsim.view import Policy

PlayPairs = Callable[..., tuple[int, int]]

#: Rows that one call of the engine fills at most, beside the worst pair's.
BUFFER_ROWS = 65_536


@functools.cache
def _plain_play_pairs() -> PlayPairs:
    """``engine.play_pairs`` as plain Python: the same source, every engine kernel uncompiled.

    Compiled code cannot call plain Python functions of unknown type, so a plain bot needs an
    engine that is plain down to the call; kernels of other modules stay compiled.
    """
    namespace = dict(vars(engine))
    for name, value in vars(engine).items():
        function = plain(value)
        if isinstance(function, types.FunctionType) and function.__module__ == engine.__name__:
            namespace[name] = types.FunctionType(
                function.__code__, namespace, name, function.__defaults__, function.__closure__
            )
    play: PlayPairs = namespace["play_pairs"]
    return play


#: Matchup and game of each call of compiled code that is under way with a bot from a file.
PLAYING: dict[int, tuple[str, np.ndarray]] = {}


class Table:
    """Two bots, rules and the engine's records to play them in: pairs into rows."""

    def __init__(
        self,
        bots: tuple[Bot, Bot],
        rules: Rules,
        seed: int,
        *,
        mirrored: bool,
        compiled: bool | None,
        decks: np.ndarray | None,
        trace: np.ndarray | None,
        limit: float,
        as_plain: Collection[int] = (),
    ) -> None:
        """As ``play_chunks``."""
        self.as_plain = sorted(as_plain)
        able = bots[0].jit and bots[1].jit and not INTERPRETED
        self.bots, self.rules, self.seed, self.mirrored = bots, rules, seed, mirrored
        self.compiled = able if compiled is None else compiled and able
        as_source = compiled is False
        self.policies = [_policies(bot, as_source) for bot in bots]
        self.knobs = np.stack([bot.knobs() for bot in bots])
        size = max(BUFFER_ROWS if self.compiled else 0, 2 * rules.round_limit)
        self.rows = np.zeros(size, ROW)
        self.decks = np.empty((0, 52), dtype=np.int64) if decks is None else decks
        self.trace = np.empty((0, 3), dtype=np.int64) if trace is None else trace
        self.guard = Guard(limit)
        self.plain_pair = -1  # of a compiled table: the last pair that had to be played plain
        self.guarded = [
            self.guard.around(at, bot, policies)
            for at, (bot, policies) in enumerate(zip(bots, self.policies, strict=True))
        ]

    def fill(self, first: int, end: int) -> tuple[int, int]:
        """Play pairs first..end-1, or as many as fit; the pair to go on with and rows filled."""
        if not self.compiled:
            return self._plain(first, end, self.rows)
        end = next((pair for pair in self.as_plain if first < pair < end), end)
        if first in self.as_plain:
            self.plain_pair = first
            return self._plain(first, first + 1, self.rows, as_source=True)
        try:
            return self._compiled(first, end, self.rows)
        except Exception:
            if all(bot.source == BUILT_IN for bot in self.bots):
                raise
        filled = 0
        while first < end and len(self.rows) - filled >= 2 * self.rules.round_limit:
            rest = self.rows[filled:]
            try:
                first, more = self._compiled(first, first + 1, rest)
            except Exception:  # the pair that raised; behind it, many at a time again
                self.plain_pair = first
                first, more = self._plain(first, first + 1, rest)
                return first, filled + more
            filled += more
        return first, filled

    def _compiled(self, first: int, end: int, rows: np.ndarray) -> tuple[int, int]:
        policies = (*self.policies[0], *self.policies[1])
        return self._play(engine.play_pairs, policies, first, end, rows)

    def _plain(
        self, first: int, end: int, rows: np.ndarray, *, as_source: bool = False
    ) -> tuple[int, int]:
        """Play in the plain engine, under guard; *as_source* with compiled bots as Python too."""
        both = self.guarded
        if as_source:
            both = [
                self.guard.around(at, bot, _policies(bot, bot.source != BUILT_IN))
                for at, bot in enumerate(self.bots)
            ]
        policies = (*both[0], *both[1])
        with self.guard.on_watch():
            return self._play(_plain_play_pairs(), policies, first, end, rows.view(np.recarray))

    def _play(
        self, play: PlayPairs, policies: tuple[Policy, ...], first: int, end: int, rows: Any
    ) -> tuple[int, int]:
        compiled = play is engine.play_pairs
        game, rules = records(engine.GAME, 1, compiled), rules_record(self.rules, compiled)
        if compiled and any(bot.source != BUILT_IN for bot in self.bots):
            PLAYING[id(game)] = f"{self.bots[0].name} v {self.bots[1].name}", game
        try:
            return play(
                *policies, rules, self.knobs, game[0], self.seed, first, end, self.mirrored,
                self.decks, self.trace, rows,
            )  # fmt: skip
        finally:
            PLAYING.pop(id(game), None)

    def forfeits(self, rows: np.ndarray) -> list[Forfeit]:
        """Forfeits in *rows*, in their order, with what the guard noted of them."""
        noted, found = list(self.guard.failures), []
        self.guard.failures.clear()
        for row in rows[rows["outcome"] == FORFEIT].tolist():
            pair, leg, round_, *_ = row
            bot = 1 - row[_WINNER] if leg == 0 else int(row[_WINNER])
            # Compiled pairs leave no note: the card is found when somebody asks (explained).
            plain = not self.compiled or pair == self.plain_pair
            found.append(Forfeit(pair, leg, round_, noted.pop(0) if plain else Failure(bot)))
        return found


_WINNER = (ROW.names or ()).index("winner")


def play_chunks(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    first: int,
    end: int,
    *,
    mirrored: bool = True,
    compiled: bool | None = None,
    decks: np.ndarray | None = None,
    trace: np.ndarray | None = None,
    limit: float = 0.0,
    forfeits: list[Forfeit] | None = None,
    as_plain: Collection[int] = (),
) -> Iterator[np.ndarray]:
    """Yield the rows (ROW) of pairs first..end-1, a few whole pairs at a time.

    The arrays are views of one buffer: use each before asking for the next. *compiled*
    defaults to whether both bots can be; False plays both as plain Python. *decks* and *trace*
    as for engine.play_pairs. A plain bot from a file has *limit* seconds for a decision, 0 for
    no limit. The pairs *as_plain* are played as plain Python, for the limit to hold for a
    compiled bot from a file too. Why matches were forfeited is appended to *forfeits*. A batch
    bot is asked in batches, unless steps are traced or decks given.
    """
    if compiled is None and decks is None and trace is None and any(bot.batch for bot in bots):
        yield from play_batched(
            bots, rules, seed, first, end, mirrored=mirrored, limit=limit, forfeits=forfeits
        )
        return
    table = Table(
        bots, rules, seed,
        mirrored=mirrored, compiled=compiled, decks=decks, trace=trace, limit=limit,
        as_plain=as_plain,
    )  # fmt: skip
    while first < end:
        first, filled = table.fill(first, end)
        rows = table.rows[:filled]
        if forfeits is not None:
            forfeits += table.forfeits(rows)
        yield rows


def _policies(bot: Bot, as_source: bool) -> tuple[Policy, ...]:
    return (bot.draw, bot.discard, bot.knock) if as_source else bot.policies()


def explained(bots: tuple[Bot, Bot], rules: Rules, seed: int, forfeit: Forfeit) -> Forfeit:
    """*forfeit* with the card and the position, found by playing its pair in the plain engine."""
    if forfeit.failure.what:
        return forfeit
    table = Table(
        bots, rules, seed, mirrored=True, compiled=None, decks=None, trace=None, limit=0.0
    )
    table.compiled = False
    _, filled = table.fill(forfeit.pair, forfeit.pair + 1)
    found = table.forfeits(table.rows[:filled])
    return next((one for one in found if one[:3] == forfeit[:3]), forfeit)


def play(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    pairs: int,
    *,
    first: int = 0,
    mirrored: bool = True,
    compiled: bool | None = None,
) -> np.ndarray:
    """Rows (ROW) of *pairs* pairs from pair *first* on, in one array.

    >>> from ginsim.bots import load
    >>> from ginsim.rules import preset
    >>> rows = play((load("simple"), load("simple")), preset("classic"), seed=1, pairs=2)
    >>> sorted(set(rows["pair"].tolist())), sorted(set(rows["leg"].tolist()))
    ([0, 1], [0, 1])
    """
    if pairs < 1:
        raise GinsimError(f"pairs={pairs}: play at least 1")
    chunks = play_chunks(
        bots, rules, seed, first, first + pairs, mirrored=mirrored, compiled=compiled
    )
    return np.concatenate([np.array(chunk, dtype=ROW) for chunk in chunks])
