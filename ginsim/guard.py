"""A bot from somebody's file, asked under guard: what goes wrong is a forfeit, not the end.

Guarded functions raise nothing. Where the bot raises, answers no int, or takes longer than
the limit for a decision, they answer ``GIVE_UP``, which forfeits the match, and note why.
A card that may not be thrown is passed on, for the engine to refuse, and noted as well.
"""

import re
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ginsim.bots import BUILT_IN, Bot
from ginsim.cards import card_text, text
from ginsim.engine import GIVE_UP, LAST_CARD
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOCK, OFFER, Policy, View

# Why a match was forfeited.
ILLEGAL_CARD, RAISED, WRONG_TYPE, TOO_SLOW = "illegal card", "raised", "wrong type", "too slow"
REASONS = (ILLEGAL_CARD, RAISED, WRONG_TYPE, TOO_SLOW)

#: Seconds that a plain bot may take for a decision, unless a plan says otherwise.
DECISION_LIMIT = 10.0

QUESTIONS = {
    OFFER: "the offered upcard",
    DRAW: "the draw",
    DISCARD: "the discard",
    KNOCK: "the knock",
    BIG_GIN: "big gin",
}


class Failure(NamedTuple):
    """Why one of two bots has no legal answer, and to what."""

    bot: int  #: 0 for the first of the two, 1 for the second
    reason: str = ILLEGAL_CARD  #: one of REASONS
    what: str = ""  #: the card, the exception or the answer, in words; empty if not known yet
    turn: int = -1  #: turns finished in the round
    asked: str = ""  #: the question, of QUESTIONS
    hand: str = ""


class Forfeit(NamedTuple):
    """A match that ended by a failure, and in which round."""

    pair: int
    leg: int
    round_: int
    failure: Failure


class TooSlow(BaseException):
    """The limit for a decision is over. Not an Exception, which bots like to catch."""


def as_ints(view: View) -> View:
    """*view* with plain ints in place of NumPy's."""
    *fields, knobs = view
    return View._make([*(int(value) for value in fields), tuple(int(knob) for knob in knobs)])


def as_answer(reply: object) -> int | None:
    """*reply* as an int, None if it is none that fits into 64 bits."""
    if isinstance(reply, bool | int | np.integer | np.bool_) and abs(int(reply)) < 1 << 62:
        return int(reply)
    return None


class Guard:
    """Stands between the plain engine and two bots, and notes their failures in order."""

    def __init__(self, limit: float = 0.0) -> None:
        """*limit* seconds for a decision; 0 for none. Enforced in a process's main thread."""
        self.failures: list[Failure] = []
        in_main = threading.current_thread() is threading.main_thread()
        self.limit = limit if in_main and hasattr(signal, "setitimer") else 0.0

    @contextmanager
    def on_watch(self) -> Iterator[None]:
        """Make the alarm of a decision raise TooSlow, meanwhile."""
        if not self.limit:
            yield
            return

        def too_slow(number: int, frame: object) -> None:
            raise TooSlow

        before = signal.signal(signal.SIGALRM, too_slow)
        try:
            yield
        finally:
            signal.signal(signal.SIGALRM, before)

    def around(self, at: int, bot: Bot, policies: tuple[Policy, ...]) -> tuple[Policy, ...]:
        """*policies* of *bot*, number *at* of the two, under guard; one made here raises freely."""
        ours = bot.source == BUILT_IN

        def under_guard(function: Policy) -> Policy:
            def asked(view: Any) -> int:
                seen = as_ints(view)
                if ours:
                    reply = function(seen)
                    if seen.phase == DISCARD:
                        self._check_card(at, seen, int(reply))
                    return reply
                return self._answer(at, bot, function, seen)

            return asked

        return tuple(under_guard(function) for function in policies)

    def _answer(self, at: int, bot: Bot, function: Policy, view: View) -> int:
        try:
            reply: object = self.timed(function, view)
        except TooSlow:
            return self._fail(at, TOO_SLOW, f"no answer within {self.limit:g} s", view)
        except (Exception, SystemExit) as error:
            return self._fail(at, RAISED, told(error, bot), view)
        card = as_answer(reply)
        if card is None:
            return self._fail(at, WRONG_TYPE, f"answered {shown(reply)}, which is no int", view)
        if view.phase == DISCARD:
            self._check_card(at, view, card)
        return card

    def timed(self, function: Policy, view: View) -> Any:
        """Answer of *function*; raises TooSlow when the limit is over."""
        if not self.limit:
            return function(view)
        try:
            # Again and again, should the bot swallow the first.
            signal.setitimer(signal.ITIMER_REAL, self.limit, self.limit)
            return function(view)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _check_card(self, at: int, view: View, card: int) -> None:
        if not (0 <= card <= LAST_CARD and view.legal >> card & 1):
            self._fail(at, ILLEGAL_CARD, f"threw {card_words(card)}", view)

    def _fail(self, at: int, reason: str, what: str, view: View) -> int:
        asked = QUESTIONS[view.phase]
        self.failures.append(Failure(at, reason, what, view.turn, asked, text(view.hand)))
        return GIVE_UP


def card_words(card: int) -> str:
    """*card* as text; a number that is no card as such."""
    return card_text(card) if 0 <= card <= LAST_CARD else f"{card}, which is no card"


def told(error: BaseException, bot: Bot) -> str:
    """*error* in one line: its type, its message, and the line of the bot's file."""
    words = " ".join(f"{type(error).__name__}: {error}".split()[:30])
    words = re.sub(r" at 0x[0-9a-fA-F]+", "", words).rstrip(": ")
    file = Path(bot.source.rpartition(":")[0]).name
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).name == file
    ]
    return f"{words} ({file}, line {lines[-1]})" if lines else words


def shown(reply: object) -> str:
    """*reply* as code, cut to 40 characters."""
    try:
        words = " ".join(repr(reply).split())
    except Exception:  # somebody's __repr__
        return f"a {type(reply).__name__}"
    return words if len(words) <= 40 else f"{words[:37]}..."
