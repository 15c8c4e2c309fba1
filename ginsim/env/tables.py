"""Tables in lockstep as both environments use them: arrays held once, kernels called on them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ginsim import engine, lockstep
from ginsim.bots import Bot, load
from ginsim.cards import card_text
from ginsim.engine import records, rules_record
from ginsim.errors import GinsimError
from ginsim.rows import ROW
from ginsim.rules import Rules

#: More matches than any table will play.
_NO_END = 1 << 60


class Tables:
    """*number* tables of one seed; the first bot answers from outside, the other perhaps."""

    def __init__(self, number: int, rules: Rules, opponent: Bot | str | None) -> None:
        """*opponent* is a compiled bot that plays the second bot's part, or None."""
        self.rules = rules_record(rules)
        bot = load(opponent) if isinstance(opponent, str) else opponent
        self.opponent = bot
        if bot is not None and not bot.jit:
            raise GinsimError(f"opponent {bot.name!r} is plain Python: only compiled bots play")
        stand_in = bot or load("simple")
        policies = stand_in.policies()
        self.policies = (*policies, *policies)
        self.knobs = np.stack([stand_in.knobs()] * 2)
        self.games = records(engine.GAME, number, True)
        self.rows = records(ROW, number, True)
        self.places = np.zeros((number, lockstep.PLACE_COLUMNS), np.int64)
        self.replied = np.zeros(number, np.bool_)
        self.replies = np.zeros(number, np.int64)
        self.log = np.zeros(0, ROW)
        self.logged = np.zeros(1, np.int64)
        self.decks, self.trace = np.empty((0, 52), np.int64), np.empty((0, 3), np.int64)

    def deal(self, seed: int) -> None:
        """Begin anew: the first match of each table."""
        number = len(self.games)
        self.seed = seed
        self.tasks = np.array([0, _NO_END, number], np.int64)
        self.places[:] = 0
        self.places[:, lockstep.DONE] = 1
        self.places[:, lockstep.TASK] = np.arange(number) - number
        self.replied[:] = False
        self._advance()

    def play(self, actions: np.ndarray) -> np.ndarray:
        """Play one action a table; returns the first bot's points since, int64 [tables].

        A table that is done begins its next match instead. Raises GinsimError, nothing having
        been played, if an action is not legal.
        """
        at = lockstep.read_actions(self.games, self.places, actions, self.replied, self.replies)
        if at >= 0:
            raise GinsimError(
                f"table {at}: {action_words(int(actions[at]))} is not legal here; "
                "choose one of its action_mask"
            )
        self._advance()
        return self.replies

    def _advance(self) -> None:
        lockstep.advance(
            *self.policies, True, self.opponent is None, self.rules, self.knobs, self.games,
            self.rows, self.places, self.seed, self.opponent is not None, self.tasks,
            self.replied, self.replies, self.decks, self.trace, self.log, self.logged,
        )  # fmt: skip

    def done(self) -> np.ndarray:
        """Whether the match at each table is over, bool [tables]."""
        done: np.ndarray = self.places[:, lockstep.DONE] != 0
        return done

    def asked(self) -> np.ndarray:
        """Seat that each table asks, or that made its last turn, int64 [tables]."""
        return np.ascontiguousarray(self.games["seat"])

    def first_seat(self) -> np.ndarray:
        """Seat of the first bot at each table, int64 [tables]."""
        return np.ascontiguousarray(self.places[:, lockstep.LEG])

    def observe(self, seats: np.ndarray, into: dict[str, np.ndarray]) -> None:
        """Write what *seats* see, one a table, into the arrays of ``empty_observations``."""
        lockstep.observe(
            self.rules, self.games, seats, into["planes"], into["numbers"], into["action_mask"]
        )


def empty_observations(number: int) -> dict[str, np.ndarray]:
    """Return arrays for the observations of *number* tables."""
    return {
        "planes": np.zeros((number, len(lockstep.PLANES), 52), np.int8),
        "numbers": np.zeros((number, len(lockstep.NUMBERS)), np.int32),
        "action_mask": np.zeros((number, lockstep.ACTIONS), np.int8),
    }


def flat(observations: dict[str, np.ndarray]) -> np.ndarray:
    """*observations* as float32 [tables, lockstep.FLAT], for a network."""
    out = np.empty((len(observations["numbers"]), lockstep.FLAT), np.float32)
    lockstep.flatten(observations["planes"], observations["numbers"], out)
    return out


def random_actions(masks: np.ndarray, key: int) -> np.ndarray:
    """A legal action of each of *masks*, drawn from the stream of *key*, int64 [tables]."""
    out = np.empty(len(masks), np.int64)
    lockstep.random_actions(masks, key, out)
    return out


def action_words(action: int) -> str:
    """*action* in words.

    >>> action_words(12), action_words(54), action_words(99)
    ('throw KS', 'take the upcard', 'action 99')
    """
    if 0 <= action < 52:
        return f"throw {card_text(action)}"
    if action in range(52, lockstep.ACTIONS):
        return lockstep.ACTION_NAMES[action - 52]
    return f"action {action}"


def spaces(names: Iterable[str] = ("planes", "numbers", "action_mask")) -> dict[str, Any]:
    """Gymnasium spaces of one table's observation, by name."""
    from gymnasium.spaces import Box  # noqa: PLC0415 - an extra

    every = {
        "planes": Box(0, 52, (len(lockstep.PLANES), 52), np.int8),
        "numbers": Box(-1, 100_000, (len(lockstep.NUMBERS),), np.int32),
        "flat": Box(-1.0, 1000.0, (lockstep.FLAT,), np.float32),
        "action_mask": Box(0, 1, (lockstep.ACTIONS,), np.int8),
    }
    return {name: every[name] for name in names}
