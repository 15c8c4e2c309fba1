"""Dealt decks and scripted or plain players, played through the real engine's plain twin.

A script says each turn in words, for whoever is to act: ``pass``, ``draw KD`` (draw, throw the
king), ``take 9S``, ``draw KD knock``, ``draw big_gin``. Where it ends, play stops, and the
last question asked shows who is to act and what he sees.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from ginsim import engine, match
from ginsim.bots import Bot, load
from ginsim.cards import Card, Hand, card_text, cards_of, count, nth, parse_card, parse_cards, text
from ginsim.match import play_chunks
from ginsim.replay import deck_of
from ginsim.rng import below
from ginsim.rules import STARTER_SEAT_0, Rules, preset
from ginsim.scoring import OUTCOMES
from ginsim.view import BIG_GIN, DISCARD, KNOCK, View

STEPS = ("pass", "take", "draw", "throw", "knock", "big_gin", "refused", "deal")  #: engine's order


def rules_of(name: str, **changes: int) -> Rules:
    """Preset *name*, seat 0 starting the first round, with *changes*."""
    return preset(name)._replace(**{"first_starter": STARTER_SEAT_0, **changes})


def stacked(starter: str, other: str, upcard: str, stock: str = "") -> list[Card]:
    """52 cards in draw order: two hands, the upcard, the first stock cards, then card order."""
    hands = [parse_cards(starter), parse_cards(other)]
    assert [len(hand) for hand in hands] == [10, 10]
    dealt = [card for both in zip(*hands, strict=True) for card in both]
    top = [*dealt, parse_card(upcard), *parse_cards(stock)]
    assert len(set(top)) == len(top), f"a card stands twice in {text_of(top)}"
    return top + [card for card in range(52) if card not in top]


def text_of(cards: Sequence[Card]) -> str:
    """Cards in the order given."""
    return " ".join(card_text(int(card)) for card in cards)


@dataclass(frozen=True)
class Asked:
    """One question of the engine: to whom, what he sees, what he answered."""

    seat: int
    view: View
    answer: int | None  #: None: the script had ended
    at: int  #: steps of the trace by then (a throw is noted after the question to knock)

    def hand(self) -> str:
        return text(self.view.hand)


class Stop(Exception):  # noqa: N818 - the end of a script is no error
    """The script has ended."""


class Script:
    """Both players' turns, in order."""

    def __init__(self, turns: Sequence[str]) -> None:
        self.turns = [turn.split() for turn in turns]
        self.words: list[str] = []  # of the turn that is being played

    def _begin(self, *firsts: str) -> str:
        if not self.turns:
            raise Stop
        first, *self.words = self.turns.pop(0)
        assert first in firsts, f"{first} is scripted where {' or '.join(firsts)} is asked"
        return first

    def draw(self, view: View) -> int:
        return int(self._begin("pass", "take", "draw") == "take")

    def discard(self, view: View) -> int:
        if not self.words:  # the draw was forced, so it was not asked
            self._begin("draw")
        card = self.words.pop(0)
        return int(card) if card.lstrip("-").isdigit() else parse_card(card)

    def knock(self, view: View) -> int:
        if view.phase == BIG_GIN and not self.words:
            self._begin("draw")
        word = "big_gin" if view.phase == BIG_GIN else "knock"
        wants = self.words[:1] == [word]
        if wants:
            self.words.pop(0)
        return int(wants)


Policies = tuple[Callable[[View], int], Callable[[View], int], Callable[[View], int]]


def plain_bot(
    draw: Callable[[View], Any] = lambda view: 0,
    discard: Callable[[View], Any] = lambda view: view.drawn,
    knock: Callable[[View], Any] = lambda view: 0,
    name: str = "plain",
) -> Bot:
    """Bot in plain Python; by default it draws from the stock, throws that card, never knocks."""
    return Bot(name, draw, discard, knock, jit=False)


class Clock:
    """Counts the steps that the engine has noted in *trace*."""

    def __init__(self, trace: np.ndarray) -> None:
        self.trace, self.at = trace, 0

    def now(self) -> int:
        while self.trace[self.at, 0] != engine.NO_STEP:
            self.at += 1
        return self.at


def recording(bot: Bot, seat: int, clock: Clock, into: list[Asked]) -> Bot:
    """*bot*, uncompiled, noting in *into* every question it is asked as the player of *seat*."""

    def noting(policy: Callable[[View], Any]) -> Callable[[View], Any]:
        def ask(view: View) -> Any:
            into.append(Asked(seat, view, None, clock.now()))
            answer = policy(view)
            into[-1] = replace(into[-1], answer=int(answer))
            return answer

        return ask

    return replace(
        bot,
        draw=noting(bot.draw),
        discard=noting(bot.discard),
        knock=noting(bot.knock),
        jit=False,
    )


@dataclass
class Played:
    """What came of a match: a row a round (none if the script ended first), steps, questions."""

    decks: list[list[Card]]  #: of the rounds begun
    rows: list[Any] = field(default_factory=list)
    steps: list[tuple[str, int, Card]] = field(default_factory=list)  #: (STEPS, seat, card)
    asked: list[Asked] = field(default_factory=list)
    left: list[list[str]] = field(default_factory=list)  #: scripted turns not played

    @property
    def row(self) -> Any:
        """The row of the only round."""
        (row,) = self.rows
        return row

    @property
    def to_act(self) -> Asked:
        """The last question asked: who is to act where a script ended."""
        return self.asked[-1]

    def rounds(self) -> list[list[tuple[str, int, Card]]]:
        """Steps, a list a round."""
        starts = [at for at, step in enumerate(self.steps) if step[0] == "deal"]
        return [self.steps[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]

    def words(self) -> list[str]:
        """Steps but the deals, in words: ``0 draw 5H``."""
        return [
            f"{seat} {step} {card_text(card) if 0 <= card < 52 else card}"
            for step, seat, card in self.steps
            if step != "deal"
        ]

    def hands(self, round_: int = -1) -> list[Hand]:
        """Both hands as they are at the end of a round, by seat."""
        steps = self.rounds()[round_]
        starter = steps[0][1]
        dealt = self.decks[round_ % len(self.rounds())][:20]
        hands = [sum(1 << card for card in dealt[(seat != starter) :: 2]) for seat in range(2)]
        for step, seat, card in steps:
            if step in ("take", "draw"):
                assert not hands[seat] >> card & 1
                hands[seat] |= 1 << card
            elif step in ("throw", "knock"):
                assert hands[seat] >> card & 1
                hands[seat] ^= 1 << card
        return hands


def play_bots(
    bots: tuple[Bot, Bot],
    rules: Rules,
    decks: Sequence[Sequence[Card]] = (),
    *,
    seed: int = 0,
    pair: int = 0,
    record: bool = True,
) -> Played:
    """Play a match (leg 0) of *bots* in the plain engine; rounds beyond *decks* are keyed deals."""
    played = Played([list(deck) for deck in decks])
    trace = np.full((1 << 16, 3), engine.NO_STEP, dtype=np.int64)
    if record:
        clock = Clock(trace)
        first, second = (recording(bot, seat, clock, played.asked) for seat, bot in enumerate(bots))
        bots = (first, second)
    cards = np.array(played.decks, dtype=np.int64).reshape(len(decks), 52)
    chunks = play_chunks(
        bots, rules, seed, pair, pair + 1, mirrored=False, compiled=False, decks=cards, trace=trace
    )
    with suppress(Stop):
        played.rows = [row for rows in chunks for row in np.array(rows)]
    used = Clock(trace).now()
    played.steps = [(STEPS[step], seat, card) for step, seat, card in trace[:used].tolist()]
    rounds = range(len(decks), len(played.rounds()))
    played.decks += [
        deck_of(seed, pair, round_, played.rounds()[round_][0][1]) for round_ in rounds
    ]
    return played


def play(
    decks: Sequence[Card] | Sequence[Sequence[Card]], *turns: str, rules: Rules | None = None
) -> Played:
    """Play the scripted *turns* on one deck, or on one a round; no round follows the last deck.

    The rules default to classic with seat 0 starting.
    """
    if not isinstance(decks[0], list):
        decks = [decks]  # type: ignore[list-item]
    rules = rules or rules_of("classic")
    script = Script(turns)
    bot = plain_bot(script.draw, script.discard, script.knock, "script")
    rules = rules._replace(round_limit=min(rules.round_limit, len(decks)))
    played = play_bots((bot, bot), rules, decks)  # type: ignore[arg-type]
    played.left = script.turns
    return played


@dataclass(frozen=True)
class Position:
    """A question as the engine puts it: all that is on the table, and the view made of it."""

    rules: Any
    game: Any  #: GAME record, hidden cards and all
    seat: int
    asked: tuple[int, ...]  #: the further arguments of engine.see: phase, drawn, legal, ..
    view: View

    def see(self, game: Any) -> View:
        """What the same player would see if *game* were on the table."""
        return View(*as_ints(_plain_engine()["see"](self.rules, game, self.seat, *self.asked)))

    def hidden(self) -> list[Card]:
        """Cards that the player cannot know the place of: the stock and the rival's own."""
        rival = 1 - self.seat
        cards = int(self.game.hand[rival]) & ~int(self.game.known[rival])
        return [*cards_of(cards), *(int(card) for card in self.game.deck[self.game.next :])]


def as_ints(values: Any) -> tuple[Any, ...]:
    """*values*, perhaps tuples of them, as Python ints."""
    return tuple(as_ints(v) if isinstance(v, tuple) else int(v) for v in values)


def _plain_engine() -> dict[str, Any]:
    """Names of the plain twin of the engine."""
    return match._plain_play_pairs().__globals__


def positions(
    bots: tuple[Bot, Bot], rules: Rules, decks: Sequence[Sequence[Card]] = (), **where: int
) -> list[Position]:
    """Every question of a match (as play_bots) with what was on the table."""
    found: list[Position] = []
    names = _plain_engine()
    see = names["see"]

    def noting(rules: Any, game: Any, seat: int, *asked: int) -> View:
        view = see(rules, game, seat, *asked)
        found.append(Position(rules, game.copy(), seat, as_ints(asked), View(*as_ints(view))))
        return view

    names["see"] = noting
    try:
        play_bots(bots, rules, decks, record=False, **where)
    finally:
        names["see"] = see
    return found


#: Does anything legal at random, takes and knocks seldom: rounds run into the last stock cards.
WANDERER = plain_bot(
    draw=lambda view: below(view.key, 3) == 0,
    discard=lambda view: nth(view.legal, below(view.key, count(view.legal))),
    knock=lambda view: below(view.key, 5) == 0,
)
PLAYERS = [(WANDERER, WANDERER), (load("hard"), WANDERER), (load("normal"), load("simple"))]
#: Eleven cards that all meld with the nine of hearts, for either player.
BIG = "AS 2S 3S 4S 5D 6D 7D 9S 9C 9D"
BIG_DECKS = [
    stacked(BIG, "TH JH QH 2C 2D 2H KD 8C AC AH", "4H", "9H"),
    stacked("TH JH QH 2C 2D 2H KD 8C AC AH", BIG, "4H", "QC 9H"),
]
DECLINES_BIG = plain_bot(discard=lambda view: view.drawn)


@cache
def pool(name: str) -> list[Position]:
    """Positions of all phases of the preset: random ones, and those of real play."""
    rules = preset(name)._replace(target=60, round_limit=3)
    found = [p for bots in PLAYERS for seed in range(3) for p in positions(bots, rules, seed=seed)]
    for deck in BIG_DECKS:
        found += positions((DECLINES_BIG, DECLINES_BIG), rules_of(name, round_limit=1), [deck])
    return found


def some_of_each_phase(name: str, number: int, chance: random.Random) -> list[Position]:
    """Up to *number* positions of each phase, and as many of the last three stock cards."""
    by_phase = [[p for p in pool(name) if p.view.phase == phase] for phase in range(5)]
    last = [p for p in pool(name) if p.view.stock <= preset(name).stock_end + 3]
    return [p for some in [*by_phase, last] for p in chance.sample(some, min(number, len(some)))]


def outcome(row: Any) -> tuple[str, int, int]:
    """How a round ended, who scored (-1: nobody), and what."""
    return OUTCOMES[row["outcome"]], int(row["winner"]), int(row["points"])


def phases(played: Played) -> list[tuple[int, int]]:
    """(seat, phase) of every question asked."""
    return [(asked.seat, asked.view.phase) for asked in played.asked]


def discards_asked(played: Played) -> list[Asked]:
    """Questions for a discard."""
    return [asked for asked in played.asked if asked.view.phase == DISCARD]


def knocks_asked(played: Played) -> list[Asked]:
    """Questions whether to knock (not big gin)."""
    return [asked for asked in played.asked if asked.view.phase == KNOCK]
