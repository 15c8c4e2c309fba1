"""Watching a bot's decisions, and the blunders among them."""

from dataclasses import replace

import pytest

from ginsim.bots import load
from ginsim.decisions import Blunders, blunders, opens_round, watched
from ginsim.match import play
from ginsim.rules import preset
from ginsim.view import BIG_GIN, DISCARD

PAIRS = 6
CLASSIC = preset("classic")


def found(name, rules=CLASSIC, pairs=PAIRS, **changes):
    bots = (replace(load(name), **changes), load("simple"))
    return blunders(bots[0], watched(bots, rules, 5, pairs), 0, rules)


def passes_gin_by_not_knocking(view):
    return 0


def test_decisions_are_those_of_the_match_and_know_their_place():
    bots = load("normal"), load("easy")
    rows = play(bots, CLASSIC, 5, PAIRS)
    places = [tuple(place) for place in rows[["pair", "leg", "round"]].tolist()]
    seen = list(watched(bots, CLASSIC, 5, PAIRS))
    assert list(dict.fromkeys((d.pair, d.leg, d.round_) for d in seen)) == places
    assert sum(opens_round(d.view) for d in seen) == len(places)
    thrown = sum(d.view.phase == DISCARD for d in seen)
    assert thrown == rows["turns"].sum()


def test_the_first_bot_sits_at_the_other_seat_in_the_second_leg():
    bots = load("normal"), load("easy")
    knobs = {0: bots[0].knobs().tolist(), 1: bots[1].knobs().tolist()}
    for decision in watched(bots, CLASSIC, 5, 2):
        assert list(decision.view.knobs) == knobs[decision.bot]


@pytest.mark.parametrize("name", ["easy", "normal", "hard", "master"])
def test_levels_do_not_blunder(name):
    counts = found(name)
    assert counts.decisions > 1000
    assert counts.gins > 0
    assert (counts.gins_passed, counts.melds_broken, counts.dice) == (0, 0, 0)


def test_a_bot_that_never_knocks_passes_up_every_gin_it_could_have():
    counts = found("gin-only", knock=passes_gin_by_not_knocking)
    assert counts.gins_passed == counts.gins > 0


def test_a_bot_that_throws_at_random_breaks_melds_and_rolls_dice():
    counts = found("random")
    assert counts.melds_broken > 0.05 * counts.discards
    assert counts.dice > 0.5 * counts.decisions


def test_big_gin_not_declared_is_gin_passed_up():
    rules = preset("big-gin")
    shy = load("gin-only")
    bots = (replace(shy, knock=passes_gin_by_not_knocking), load("simple"))
    seen = list(watched(bots, rules, 3, 40))
    asked = [d for d in seen if d.bot == 0 and d.view.phase == BIG_GIN]
    assert asked
    assert blunders(bots[0], asked, 0, rules) == Blunders(
        decisions=len(asked), gins=len(asked), gins_passed=len(asked)
    )
