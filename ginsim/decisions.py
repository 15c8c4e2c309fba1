"""Decisions of a bot in real matches, as it saw them, and the blunders among them.

The engine's plain twin plays, so each decision is a Python call that can be looked at: some
hundred rounds a second, enough for shares of blunders and for contract checks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ginsim.bots import Bot
from ginsim.guard import Forfeit, as_ints
from ginsim.match import play_chunks
from ginsim.melds import best_discards, deadwood
from ginsim.rng import fold
from ginsim.rules import Rules
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOCK, OFFER, Policy, View


class Decision(NamedTuple):
    """What one of two bots was asked, and what it answered."""

    bot: int  #: 0 for the first of the two, 1 for the second
    pair: int
    leg: int
    round_: int
    view: View  #: of plain ints
    answer: int


class _Watch:
    """Stands between the engine and the two bots, and notes what passes."""

    def __init__(self, bots: tuple[Bot, Bot]) -> None:
        self.policies = [bot.policies() for bot in bots]
        self.noted: list[tuple[int, View, int]] = []

    def asked(self, bot: int, which: int) -> Policy:
        """Function *which* (draw, discard, knock) of *bot*, under watch."""
        function = self.policies[bot][which]

        def answer(view: Any) -> int:
            seen = as_ints(view)
            given = int(function(seen))
            self.noted.append((bot, seen, given))
            return given

        return answer

    def stand_in(self, bot: Bot, at: int) -> Bot:
        """*bot* with all it is asked noted."""
        draw, discard, knock = (self.asked(at, which) for which in range(3))
        return replace(bot, draw=draw, discard=discard, knock=knock, jit=False, batch=None)


def watched(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    pairs: int,
    *,
    first: int = 0,
    limit: float = 0.0,
    forfeits: list[Forfeit] | None = None,
) -> Iterator[Decision]:
    """Every decision of *pairs* mirrored pairs, in the order they were made.

    *limit* and *forfeits* as for ``play_chunks``.

    >>> from ginsim.bots import load
    >>> from ginsim.rules import preset
    >>> bots = load("easy"), load("normal")
    >>> one = next(watched(bots, preset("classic"), seed=1, pairs=1))
    >>> one.round_, one.view.turn, one.view.hand.bit_count()
    (0, 0, 10)
    """
    watch = _Watch(bots)
    stand_ins = (watch.stand_in(bots[0], 0), watch.stand_in(bots[1], 1))
    for pair in range(first, first + pairs):
        watch.noted.clear()
        (rows,) = play_chunks(
            stand_ins, rules, seed, pair, pair + 1, compiled=False, limit=limit, forfeits=forfeits
        )
        places = iter(rows[["leg", "round"]].tolist())
        leg = round_ = 0
        for bot, view, answer in watch.noted:
            if opens_round(view):
                leg, round_ = next(places)
            yield Decision(bot, pair, leg, round_, view, answer)


def opens_round(view: View) -> bool:
    """Whether *view* is the first question of its round: about the upcard, to the starter."""
    return bool(view.phase in (OFFER, DRAW) and view.turn == 0 and view.starter)


class Blunders(NamedTuple):
    """What a believable player never does, of how many chances. Counts."""

    decisions: int = 0
    gins: int = 0  #: turns on which gin could be had
    gins_passed: int = 0  #: of these, not taken
    discards: int = 0
    melds_broken: int = 0  #: a melded card thrown though another left less deadwood
    dice: int = 0  #: decisions that another random stream would have changed


def blunders(bot: Bot, decisions: Iterable[Decision], seat: int, rules: Rules) -> Blunders:
    """Count the blunders of *bot*, which is number *seat* of the two in *decisions*.

    Gin is passed up by a discard that leaves more than 0 where a card that may be knocked
    with would leave 0, by not knocking with 0, and by not declaring big gin.
    """
    draw, discard, knock = bot.policies()
    found = Counter[str]()
    for decision in decisions:
        if decision.bot != seat:
            continue
        view, answer = decision.view, decision.answer
        policy = {DISCARD: discard, KNOCK: knock, BIG_GIN: knock}.get(view.phase, draw)
        found["decisions"] += 1
        found["dice"] += any(
            int(policy(view._replace(key=fold(view.key, other)))) != answer for other in (1, 2)
        )
        if view.phase == DISCARD:
            least, best = best_discards(view.hand, may_knock_with(view, rules))
            left = deadwood(view.hand & ~(1 << answer))
            found["discards"] += 1
            found["melds_broken"] += left > best_discards(view.hand, view.legal)[
                0
            ] and left > deadwood(view.hand)
            if best and least == 0:
                found["gins"] += 1
                found["gins_passed"] += left > 0
        elif view.phase == BIG_GIN:
            found["gins"] += 1
            found["gins_passed"] += not answer
        elif view.phase == KNOCK and view.kept_deadwood == 0:
            found["gins_passed"] += not answer
    return Blunders(**found)


def may_knock_with(view: View, rules: Rules) -> int:
    """Cards of a view at DISCARD that may be thrown to knock."""
    taken = view.known >> view.drawn & 1
    return view.legal if rules.knock_taken or not taken else view.legal & ~(1 << view.drawn)
