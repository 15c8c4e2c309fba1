"""OpenSpiel and ginsim: one settlement where the rules agree, and its bot at our table."""

import random
from functools import cache

import numpy as np
import pytest

from ginsim import engine
from ginsim.bots import load
from ginsim.cards import cards_of, hand_of, parse, text
from ginsim.check import check
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.melds import deadwood
from ginsim.replay import deck_of, traced_match
from ginsim.rules import preset
from ginsim.scoring import FORFEIT
from ginsim.showdown import showdown

pyspiel = pytest.importorskip("pyspiel")

from ginsim import openspiel  # noqa: E402

RULES = preset("openspiel")
HANDS = 3000


@cache
def melds() -> tuple[int, ...]:
    """Every meld of three to five cards, by enumeration."""
    runs = [hand_of(range(13 * s + r, 13 * s + r + n)) for s in range(4) for n in (3, 4, 5)
            for r in range(14 - n)]  # fmt: skip
    sets = [hand_of(13 * s + r for s in range(4) if s != left) for r in range(13)
            for left in range(5)]  # fmt: skip
    return (*runs, *sets)


def hand_around(chance: random.Random, number: int, gone: int) -> int:
    """Ten cards, none of *gone*, with up to *number* melds among them, the rest at random."""
    hand = 0
    for meld in chance.sample(melds(), 40):
        if number and not meld & (hand | gone) and (hand | meld).bit_count() <= 10:
            hand, number = hand | meld, number - 1
    rest = [card for card in range(52) if not (hand | gone) >> card & 1]
    return hand | hand_of(chance.sample(rest, 10 - hand.bit_count()))


def finished_hands(number: int) -> list[tuple[int, int]]:
    """Knocker's and defender's hands; the knocker may knock."""
    chance, found = random.Random(11), []
    while len(found) < number:
        knocker = hand_around(chance, chance.choice((1, 2, 2, 3)), 0)
        if deadwood(knocker) <= RULES.knock_limit:
            found.append((knocker, hand_around(chance, chance.randrange(3), knocker)))
    return found


def action_of(state: object, cards: int) -> int:
    """OpenSpiel's legal action that lays down the meld *cards*, found by its own words."""
    for action in state.legal_actions():
        words = state.action_to_string(state.current_player(), action).rpartition(": ")[2]
        if action > openspiel.KNOCK:
            pairs = [words[at : at + 2].upper() for at in range(0, len(words), 2)]
            if parse(" ".join(pairs)) == cards:
                return int(action)
    raise AssertionError(f"OpenSpiel does not let {text(cards)} be laid down in\n{state}")


def lay_down(state: object, meld: str) -> None:
    """Lay *meld* down: in OpenSpiel a run has at most five cards, a longer one is two."""
    cards = list(cards_of(parse(meld)))
    first = cards if len(cards) <= 5 else cards[: max(3, len(cards) - 5)]
    state.apply_action(action_of(state, hand_of(first)))
    if len(cards) > 5:
        state.apply_action(action_of(state, hand_of(cards[len(first) :])))


def settled_by_openspiel(knocker: int, defender: int, report: dict) -> float:
    """Points of the knocker when OpenSpiel's game is played to its end as *report* says."""
    extra = next(card for card in range(52) if not (knocker | defender) >> card & 1)
    state = openspiel.to_discard(knocker | 1 << extra, extra, False, defender)
    state.apply_action(openspiel.KNOCK)
    state.apply_action(extra)
    assert state.current_player() == 1
    for meld in report["spread"]:
        lay_down(state, meld)
    state.apply_action(openspiel.PASS)
    for card in report["layoffs"]:
        (number,) = cards_of(parse(card))
        assert number in state.legal_actions(), f"no layoff of {card} in\n{state}"
        state.apply_action(number)
    if not state.is_terminal() and report["kind"] != "gin":
        state.apply_action(openspiel.PASS)
    while not state.is_terminal():
        for meld in report["defender_melds"]:
            lay_down(state, meld)
        state.apply_action(openspiel.PASS)
        report = report | {"defender_melds": []}
    first, second = state.returns()
    assert first == -second
    return second


def test_both_programs_settle_thousands_of_hands_alike():
    kinds: dict[str, int] = {}
    for knocker, defender in finished_hands(HANDS):
        report = showdown(text(knocker), text(defender), None, RULES)
        points = report["points"] if report["winner"] == "knocker" else -report["points"]
        theirs = settled_by_openspiel(knocker, defender, report)
        assert theirs == points, (text(knocker), text(defender), report)
        kinds[report["kind"]] = kinds.get(report["kind"], 0) + 1
    assert kinds["knock"] > 500
    assert kinds["gin"] > 50
    assert kinds["undercut"] > 50


def acted_in_openspiel(deck: list[int]) -> list[tuple[str, int]]:
    """What OpenSpiel's two bots do with *deck* in OpenSpiel's own game, until one knocks."""
    state = openspiel.dealt((hand_of(deck[0:20:2]), hand_of(deck[1:20:2])), deck[20])
    bots = [pyspiel.make_simple_gin_rummy_bot(openspiel.game().get_parameters(), s) for s in (0, 1)]
    done, at = [], 21
    while not state.is_terminal():
        if state.is_chance_node():
            done.append(("draw", deck[at]))
            state.apply_action(deck[at])
            at += 1
            continue
        player = state.current_player()
        action = int(bots[player].step(state))
        if action == openspiel.KNOCK:
            state.apply_action(action)
            done.append(("knock", int(bots[player].step(state))))
            break
        if at == 52 - 2 and action in (openspiel.PASS, openspiel.DRAW_UPCARD):
            break  # the wall, which ginsim does not play
        if action < 52:
            done.append(("throw", action))
        elif action == openspiel.DRAW_UPCARD:
            done.append(("take", -1))
        state.apply_action(action)
    return done


def acted_at_our_table(seed: int, pair: int) -> list[tuple[str, int]]:
    """What the same bots do in ginsim's game of that pair."""
    bot = openspiel.simple_bot()
    _, (steps,), _ = traced_match((bot, bot), RULES, seed, pair, 0)
    words = {
        engine.TAKE: "take", engine.STOCK_DRAW: "draw", engine.THROW: "throw",
        engine.KNOCK_THROW: "knock",
    }  # fmt: skip
    return [
        (words[step], -1 if step == engine.TAKE else card)
        for step, _, card in steps.tolist()
        if step in words
    ]


def test_its_bot_does_at_our_table_what_it_does_in_openspiels_own_game():
    whole = 0
    for pair in range(40):
        theirs, ours = acted_in_openspiel(deck_of(3, pair, 0, 0)), acted_at_our_table(3, pair)
        assert ours[: len(theirs)] == theirs, pair
        whole += theirs[-1][0] == "knock"
    assert whole > 30


def test_its_bot_keeps_the_contract(monkeypatch: pytest.MonkeyPatch, tmp_path):
    path = tmp_path / "theirs.py"
    path.write_text("from ginsim.openspiel import simple_bot\n\nbot = simple_bot()\n")
    monkeypatch.setattr(
        "ginsim.check.in_process", lambda job, arguments, limit: job(*arguments, int)
    )
    report = check(f"{path}:bot", ("classic", "openspiel"), number=200, pairs=1)
    assert report.kept, report.violations


@pytest.mark.parametrize("rules", ["classic", "openspiel", "big-gin", "table"])
def test_its_bot_plays_under_every_kind_of_rules(rules):
    rows = play((openspiel.simple_bot(), load("simple")), preset(rules), 2, 3)
    assert not (rows["outcome"] == FORFEIT).any()
    assert len(np.unique(rows["pair"])) == 3


def test_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspiel", None)
    with pytest.raises(GinsimError, match=r"OpenSpiel is not installed: pip install"):
        openspiel.pyspiel()
