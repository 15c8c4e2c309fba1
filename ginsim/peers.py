"""ginsim beside other programs that play gin rummy: hands a second, in one run, on one core.

Each plays its own simple bot against itself, as its documentation plays it: OpenSpiel its
SimpleGinRummyBot through its own C++ loop (``evaluate_bots``), RLCard its novice rule agent
through ``env.run``, ginsim ``simple`` under the rules of OpenSpiel. All three bots meld for the
least deadwood, throw what leaves least, and knock as soon as they may; none looks at the rival.
"""

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

from ginsim.bench import pairs_for, rounds_of
from ginsim.bots import load
from ginsim.errors import GinsimError
from ginsim.rules import preset

#: Plays at least so many hands and returns how many it played.
Play = Callable[[int], int]


def _needed(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise GinsimError(
            f"--peers: {module} is not installed: pip install 'ginsim[peers]'"
        ) from None


def _ginsim() -> Play:
    bot, rules = load("simple"), preset("openspiel")
    pairs_for(bot, rules, 0.01)  # compiles

    def play(hands: int) -> int:
        return rounds_of(bot, rules, 0, -(-hands // 2))  # a pair is two matches of one round

    return play


def _open_spiel() -> Play:
    pyspiel = _needed("pyspiel")
    game = pyspiel.load_game("gin_rummy")
    bots = [pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), seat) for seat in (0, 1)]

    def play(hands: int) -> int:
        for seed in range(hands):
            pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        return hands

    return play


def _rlcard() -> Play:
    rlcard = _needed("rlcard")
    models = _needed("rlcard.models.gin_rummy_rule_models")
    env = rlcard.make("gin-rummy", config={"seed": 1})
    env.set_agents([models.GinRummyNoviceRuleAgent() for _ in range(2)])

    def play(hands: int) -> int:
        for _ in range(hands):
            env.run(is_training=False)
        return hands

    return play


#: Program, its bot, the package that tells its version, what makes its loop.
PROGRAMS: tuple[tuple[str, str, str, Callable[[], Play]], ...] = (
    ("ginsim", "simple, rules openspiel", "ginsim", _ginsim),
    ("OpenSpiel", "SimpleGinRummyBot", "open-spiel", _open_spiel),
    ("RLCard", "GinRummyNoviceRuleAgent", "rlcard", _rlcard),
)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _hands_for(play: Play, seconds: float) -> int:
    """Hands that take about *seconds*."""
    hands = 1
    while True:
        start = time.perf_counter()
        played = play(hands)
        took = time.perf_counter() - start
        if took > seconds / 8:
            return max(1, round(played * seconds / took))
        hands *= 4


def compare(seconds: float, repeats: int = 3) -> list[dict[str, Any]]:
    """Hands a second of each of PROGRAMS, and how many times as fast ginsim is.

    The programs take turns, *repeats* times about *seconds* each, so that a noisy machine hits
    all alike; the best of each counts. Raises GinsimError if a package is missing.
    """
    plays = [make() for *_, make in PROGRAMS]
    with one_core():
        hands = [_hands_for(play, seconds) for play in plays]
        best = [0.0 for _ in plays]
        for _ in range(repeats):
            for at, play in enumerate(plays):
                start = time.perf_counter()
                played = play(hands[at])
                best[at] = max(best[at], played / (time.perf_counter() - start))
    return [
        {
            "program": program,
            "version": version(package),
            "bot": bot,
            "hands_per_second": round(speed, 1),
            "ginsim_is_times_as_fast": round(best[0] / speed, 1),
        }
        for (program, bot, package, _), speed in zip(PROGRAMS, best, strict=True)
    ]
