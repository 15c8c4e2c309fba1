"""Play two bots: pairs into rows, compiled or as plain Python, with identical rows."""

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ginsim import engine
from ginsim.bots import BUILT_IN, Bot
from ginsim.errors import GinsimError
from ginsim.jit import INTERPRETED, plain
from ginsim.rows import ROW
from ginsim.rules import Rules

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


def records(dtype: np.dtype[Any], size: int, compiled: bool) -> Any:
    """Zeroed records, with fields as attributes where plain Python is to read them."""
    array = np.zeros(size, dtype)
    return array if compiled else array.view(np.recarray)


def rules_record(rules: Rules, compiled: bool = True) -> Any:
    """*rules* as the record that kernels take."""
    record = records(engine.RULES, 1, compiled)
    record[0] = tuple(rules)
    return record[0]


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
) -> Iterator[np.ndarray]:
    """Yield the rows (ROW) of pairs first..end-1, a few whole pairs at a time.

    The arrays are views of one buffer: use each before asking for the next. *compiled*
    defaults to whether both bots can be; *decks* and *trace* as for engine.play_pairs.
    """
    able = bots[0].jit and bots[1].jit and not INTERPRETED
    compiled = able if compiled is None else compiled and able
    policies = (*_policies(bots[0], compiled), *_policies(bots[1], compiled))
    play: PlayPairs = engine.play_pairs if compiled else _plain_play_pairs()
    knobs = np.stack([bot.knobs() for bot in bots])
    size = max(BUFFER_ROWS if compiled else 0, 2 * rules.round_limit)
    rows = records(ROW, size, compiled)
    game = records(engine.GAME, 1, compiled)
    decks = np.empty((0, 52), dtype=np.int64) if decks is None else decks
    trace = np.empty((0, 3), dtype=np.int64) if trace is None else trace
    record = rules_record(rules, compiled)
    while first < end:
        try:
            first, filled = play(
                *policies, record, knobs, game[0], seed, first, end, mirrored, decks, trace, rows
            )
        except Exception as error:
            suspects = [bot.name for bot in bots if bot.source != BUILT_IN]
            if isinstance(error, GinsimError) or not suspects:
                raise
            raise GinsimError(
                f"{' or '.join(suspects)} raised {type(error).__name__}: {error} "
                f"(seed {seed}, pair {first} or later, {bots[0].name} v {bots[1].name})"
            ) from error
        yield rows[:filled]


def _policies(bot: Bot, compiled: bool) -> tuple[Callable[..., int], ...]:
    return bot.policies() if compiled else (bot.draw, bot.discard, bot.knock)


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
