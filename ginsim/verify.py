"""A referee: finished hands of any program, played through this engine.

A hand gives its deck and the players' actions. Scripted players follow the actions through
the engine, which refuses what its rules refuse; the result is compared value by value.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ginsim.bots import Bot
from ginsim.cards import Card, Hand, hand_of, parse, parse_card, points, text
from ginsim.errors import GinsimError
from ginsim.match import play_chunks
from ginsim.melds import beside, deadwood, fourths, lay_off
from ginsim.replay import rebuild
from ginsim.rules import ONE_ROUND, STARTER_SEAT_0, Rules
from ginsim.scoring import BIG_GIN, OUTCOMES, knock_limit, settle
from ginsim.showdown import parse_spread
from ginsim.view import BIG_GIN as BIG_GIN_PHASE
from ginsim.view import OFFER, View

MOVES = ("pass", "take", "draw", "big_gin")


@dataclass(frozen=True)
class Finished:
    """A finished hand: what was dealt, who began, what was done, and what its program says."""

    deck: tuple[Card, ...]  #: draw order; cards 0, 2, .. 18 to player 0
    starter: int
    actions: tuple[str, ...]
    claims: Mapping[str, Any]

    def knocks(self) -> bool:
        """Whether the actions end in a knock."""
        return self.claims.get("type") not in ("draw", "dead")


@dataclass
class Script:
    """Two players who follow the actions; where they stand, and what went wrong."""

    finished: Finished
    at: int = 0
    drew: bool = False
    wrong: str = ""
    ended: bool = False  #: the actions were over when a player had to draw

    def left(self) -> tuple[str, ...]:
        """Actions not played yet."""
        return self.finished.actions[self.at :]

    def _next(self, allowed: Sequence[str]) -> str:
        """Step over the next action, which must be one of *allowed*."""
        action = self.left()[0] if self.left() else "the end"
        if action not in allowed:
            self.wrong = f"action {self.at}: {action} where {' or '.join(allowed)} is due"
            raise _Stop
        self.at += 1
        return action

    def draw(self, view: View) -> int:
        """Follow the next action: pass or take when offered, else draw or take."""
        self.ended = not self.left()
        action = self._next(("pass", "take") if view.phase == OFFER else ("draw", "take"))
        self.drew = action != "pass"
        return int(action == "take")

    def _catch_up(self) -> None:
        """Step over the draw of a player who had no choice, which the engine does not ask for."""
        if not self.drew:
            self._next(("draw",))
        self.drew = True

    def discard(self, view: View) -> int:
        """Follow the next action: the card thrown."""
        self._catch_up()
        action = self.left()[0] if self.left() else "the end"
        card = parse_card(action) if action not in (*MOVES, "the end") else None
        if card is None:
            self.wrong = f"action {self.at}: {action} where a discard is due"
        elif not view.hand >> card & 1:
            self.wrong = f"action {self.at}: throws {action}, which is not held"
        elif not view.legal >> card & 1:
            self.wrong = f"action {self.at}: throws {action}, which was just taken"
        if card is None or self.wrong:
            raise _Stop
        self.at += 1
        self.drew = False
        return card

    def knock(self, view: View) -> int:
        """Knock at the end of the actions, if they end in a knock."""
        if view.phase == BIG_GIN_PHASE:
            self._catch_up()
            going = self.left()[:1] == ("big_gin",)
            self.at += going
            return int(going)
        return int(not self.left() and self.finished.knocks())


class _Stop(Exception):  # noqa: N818 - it ends a game, it is no error
    """The script cannot go on."""


@dataclass(frozen=True)
class Disagreement:
    """One value on which a program and this engine differ."""

    hand: str
    what: str
    theirs: Any
    ours: Any


def parse_finished(line: str) -> tuple[str, Finished]:
    """Name and content of a line; raises GinsimError when it is no finished hand."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GinsimError(f"is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise GinsimError("is no JSON object")
    content = content.get("finished", content)  # a replay carries its finished hand
    if not isinstance(content, dict):
        raise GinsimError("'finished' is no JSON object")
    missing = [key for key in ("deck", "starter", "actions") if key not in content]
    if missing:
        raise GinsimError(f"has no {missing[0]!r}")
    deck, actions = content["deck"], content["actions"]
    for name, value in (("deck", deck), ("actions", actions)):
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise GinsimError(f"{name!r} must be a list of texts")
    cards = tuple(parse_card(word) for word in deck)
    if len(cards) != 52 or len(set(cards)) != 52:
        raise GinsimError(f"'deck' has {len(set(cards))} different cards of {len(cards)}: give 52")
    if content["starter"] not in (0, 1):
        raise GinsimError(f"'starter' is {content['starter']!r}: must be 0 or 1")
    for word in actions:
        if word not in MOVES:
            parse_card(word)
    claims = {k: v for k, v in content.items() if k not in ("deck", "starter", "actions")}
    name = str(content.get("id", ""))
    return name, Finished(cards, int(content["starter"]), tuple(actions), claims)


@dataclass(frozen=True)
class Played:
    """What the engine made of a finished hand. Hands are the players', seats are the engine's."""

    script: Script
    row: Any  #: None if the script could not be played to the end of the round
    hands: list[Hand]
    last_player: int | None  #: who threw last


def _play(finished: Finished, rules: Rules) -> Played:
    """Follow the script through the engine; the starter sits at seat 0."""
    script = Script(finished)
    bot = Bot("script", script.draw, script.discard, script.knock, jit=False)
    deck = np.array([finished.deck], dtype=np.int64)
    if finished.starter == 1:  # the engine deals the starter first
        deck[0, :20] = deck[0, :20].reshape(10, 2)[:, ::-1].ravel()
    one = rules._replace(match_end=ONE_ROUND, first_starter=STARTER_SEAT_0, round_limit=1)
    trace = np.full((4 * rules.turn_limit + 8, 3), -1, dtype=np.int64)
    row = None
    try:
        chunks = play_chunks((bot, bot), one, 0, 0, 1, mirrored=False, decks=deck, trace=trace)
        row = np.array(next(iter(chunks)))[0]
    except _Stop:
        pass
    turns, hands = rebuild([int(card) for card in deck[0]], 0, trace[trace[:, 0] >= 0])
    thrown = [turn["seat"] ^ finished.starter for turn in turns if "throw" in turn]
    by_player = hands if finished.starter == 0 else hands[::-1]
    return Played(script, row, by_player, thrown[-1] if thrown else None)


def referee(name: str, finished: Finished, rules: Rules) -> Iterator[Disagreement]:
    """Yield every disagreement about one finished hand."""
    played = _play(finished, rules)
    script, row, hands = played.script, played.row, played.hands
    no_knock = script.ended or (row is not None and row["knocker"] < 0 and not script.left())
    if no_knock and finished.knocks() and played.last_player is not None:
        left = int(deadwood(hands[played.last_player]))
        yield Disagreement(name, "legality", "knocks", f"may not knock with {left} deadwood")
    elif row is None:
        yield Disagreement(name, "legality", script.wrong, "refused")
    elif script.left():
        ended = OUTCOMES[row["outcome"]]
        yield Disagreement(name, "end", f"goes on with {script.left()[0]}", f"{ended} by then")
    else:
        ours = _ours(finished, rules, row, hands)
        yield from _spread_disagreements(name, finished, rules, ours, hands)
        yield from _defence_disagreements(name, finished, ours, hands)
        for key, value in ours.items():
            if key in finished.claims and _plain(key, finished.claims[key]) != value:
                yield Disagreement(name, key, finished.claims[key], value)


def _plain(key: str, value: Any) -> Any:
    """A claim in the form that ours has: hands as sorted texts, nobody as None."""
    if key == "winner" and value == -1:
        return None
    if key != "hands":
        return value
    try:
        return [text(parse(" ".join(hand))) for hand in value]
    except (GinsimError, TypeError):
        return value  # no hands at all: a disagreement


def _ours(finished: Finished, rules: Rules, row: Any, hands: Sequence[Hand]) -> dict[str, Any]:
    """What this engine says of the hand, by the keys that programs use; players, not seats."""
    values: dict[str, Any] = {"hands": [text(hand) for hand in hands]}
    if row["knocker"] < 0:
        kind = finished.claims.get("type", "draw")  # programs have several words for it
        return values | {"type": kind, "points": 0, "winner": None, "score": [0, 0]}
    knocker = int(row["knocker"]) ^ finished.starter
    defender = hands[1 - knocker]
    kept = int(row["knock_deadwood"])
    before, after = int(row["defender_deadwood_before"]), int(row["defender_deadwood"])
    outcome, signed = int(row["outcome"]), int(row["points"])
    winner = None if row["winner"] < 0 else int(row["winner"]) ^ finished.starter
    if "knock_melds" in finished.claims and outcome != BIG_GIN:
        try:  # the spread is an input of the settlement: settle with the one that was laid
            sets, runs = _their_spread(finished, hands[knocker])
        except GinsimError:
            pass
        else:
            kept = int(points(hands[knocker] & ~(sets | runs)))
            after = before if kept == 0 else int(lay_off(defender, sets, runs)[0])
            outcome, gained = (int(v) for v in settle(rules, 10, kept, after))
            signed, winner = abs(gained), _winner(gained, knocker)
    score = [0, 0]
    if winner is not None:
        score[winner] = signed
    return values | {
        "type": OUTCOMES[outcome],
        "knocker": knocker,
        "knock_dw": kept,
        "opp_dw_before": before,
        "opp_dw": after,
        "opp_dw_joint": after,
        "winner": winner,
        "points": signed,
        "score": score,
    }


def _winner(points: int, knocker: int) -> int | None:
    if points == 0:
        return None
    return knocker if points > 0 else 1 - knocker


def _their_spread(finished: Finished, hand: Hand) -> tuple[Hand, Hand]:
    melds = finished.claims["knock_melds"]
    try:
        words = [" ".join(meld) for meld in melds]
    except TypeError:
        raise GinsimError("it must be a list of melds, each a list of cards") from None
    return parse_spread(words, hand)


def _spread_disagreements(
    name: str, finished: Finished, rules: Rules, ours: Mapping[str, Any], hands: Sequence[Hand]
) -> Iterator[Disagreement]:
    """Yield what is wrong with the spread that was laid: its melds, and whether it is best."""
    if "knocker" not in ours or "knock_melds" not in finished.claims:
        return
    hand = hands[ours["knocker"]]
    melds = finished.claims["knock_melds"]
    try:
        sets, runs = _their_spread(finished, hand)
    except GinsimError as error:
        yield Disagreement(name, "knock_melds", melds, str(error))
        return
    least = int(deadwood(hand))
    left = int(points(hand & ~(sets | runs)))
    if left > least:
        yield Disagreement(name, "best_spread", left, least)
    limit = int(knock_limit(rules, finished.deck[20] % 13))
    if left > limit:
        yield Disagreement(name, "legality", f"knocks with {left}", f"limit {limit}")


def _defence_disagreements(
    name: str, finished: Finished, ours: Mapping[str, Any], hands: Sequence[Hand]
) -> Iterator[Disagreement]:
    """Yield what is wrong with the layoffs and melds that the defender is said to have made."""
    claims = finished.claims
    needed = {"knock_melds", "layoffs", "opp_melds", "opp_dw"}
    if "knocker" not in ours or not needed <= set(claims):
        return
    defender = hands[1 - ours["knocker"]]
    try:
        sets, runs = _their_spread(finished, hands[ours["knocker"]])
        laid = hand_of(parse_card(card) for card, _ in claims["layoffs"])
        if laid & ~defender:
            raise GinsimError(f"the defender does not hold {text(laid & ~defender)}")
        grown, rest = runs, laid
        while ready := rest & int(beside(grown)):
            grown, rest = grown | ready, rest & ~ready
        if rest & ~int(fourths(sets)):
            raise GinsimError(f"{text(rest)} does not fit the spread")
        kept = defender & ~laid
        own = parse_spread([" ".join(meld) for meld in claims["opp_melds"]], kept)
    except (GinsimError, TypeError, ValueError) as error:
        yield Disagreement(name, "defence", [claims["layoffs"], claims["opp_melds"]], str(error))
        return
    left = int(points(kept & ~(own[0] | own[1])))
    if left != claims["opp_dw"] == ours["opp_dw"]:  # a wrong opp_dw is told already
        yield Disagreement(name, "defence", left, ours["opp_dw"])


@dataclass
class Verdict:
    """What a referee found in a file."""

    hands: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)


def verify(lines: Iterable[str], rules: Rules, source: str) -> Verdict:
    """Referee every line of *lines*; raises GinsimError naming the first that is no hand."""
    verdict = Verdict()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            name, finished = parse_finished(line)
        except GinsimError as error:
            raise GinsimError(f"{source}, line {number}: {error}") from None
        verdict.hands += 1
        verdict.disagreements += referee(name or f"line {number}", finished, rules)
    if verdict.hands == 0:
        raise GinsimError(f"{source}: holds no hand")
    return verdict
