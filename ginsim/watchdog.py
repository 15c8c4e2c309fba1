"""Compiled bots that hang: noticed from another thread, since nothing can stop compiled code.

While compiled code plays, its GAME record lies in memory that this thread can read. If it does
not change for as long as a decision may take, some bot hangs. The only way out is a new
process: the caller starts one that goes on with the run and plays the pair in question as
plain Python, where the hanging decision forfeits its match like any other.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ginsim.match import PLAYING


@dataclass(frozen=True)
class Hang:
    """Where a game stands still."""

    matchup: str
    pair: int
    leg: int
    round_: int


def _states() -> dict[int, tuple[bytes, Hang]]:
    """What each compiled game looks like now, and where it is."""
    found = {}
    for number, (matchup, (game,)) in list(PLAYING.items()):
        place = Hang(matchup, int(game["pair"]), int(game["leg"]), int(game["round"]))
        found[number] = game.tobytes(), place
    return found


@contextmanager
def on_watch(limit: float, hangs: Callable[[Hang], None]) -> Iterator[None]:
    """Meanwhile, call *hangs* from another thread if a compiled game stands still for *limit* s.

    With *limit* 0 nothing is watched.
    """
    done = threading.Event()

    def watch() -> None:
        seen: dict[int, tuple[bytes, float]] = {}
        while not done.wait(min(0.5, limit / 4)):
            now, states = time.monotonic(), _states()
            for number, (state, place) in states.items():
                before, since = seen.get(number, (b"", now))
                seen[number] = state, since if state == before else now
                if now - seen[number][1] > limit:
                    hangs(place)
                    return
            seen = {number: one for number, one in seen.items() if number in states}

    thread = threading.Thread(target=watch, daemon=True)
    if limit:
        thread.start()
    try:
        yield
    finally:
        done.set()
