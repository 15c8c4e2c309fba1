"""One source, three ways to run it: compiled, interpreted, and compiled with bounds checks."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ginsim import engine, match, records
from ginsim.bots import Bot, built_in, load, yardsticks
from ginsim.cards import lowest
from ginsim.jit import INTERPRETED
from ginsim.match import play
from ginsim.rows import ROW
from ginsim.rules import PRESETS, preset
from ginsim.scoring import DEAD, FORFEIT

#: Every function a built-in bot has: levels, the simple family, the gallery, random.
PAIRS = [
    ("easy", "normal"),
    ("hard", "simple"),
    ("normal", "random"),
    ("gin-only", "knock-at-3"),
    ("hard", "easy"),
    ("master", "one-away"),
    ("early-low", "expected-deadwood"),
    ("random", "random"),
]


def both(names, rules, seed: int, pairs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows compiled and rows interpreted."""
    bots = (load(names[0]), load(names[1]))
    return play(bots, rules, seed, pairs), play(bots, rules, seed, pairs, compiled=False)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("names", PAIRS, ids=" v ".join)
def test_compiled_and_interpreted_engines_give_identical_rows(names, name):
    compiled, interpreted = both(names, preset(name)._replace(target=60, round_limit=8), seed=5)
    assert np.array_equal(compiled, interpreted)
    assert len(compiled) >= 2


@pytest.mark.parametrize(
    "changes",
    [
        {"oklahoma": 1, "oklahoma_ace": 1},
        {"knock_limit": 0},
        {"big_gin": 1, "knock_limit": 0, "stock_end": 0},
        {"turn_limit": 9},
        {"discard_taken": 1},
        {"stock_end": 20, "round_limit": 6},
    ],
    ids=str,
)
def test_they_agree_under_other_rules_too(changes):
    compiled, interpreted = both(
        ("normal", "simple"), preset("classic")._replace(target=60, **changes), seed=6
    )
    assert np.array_equal(compiled, interpreted)


def test_they_agree_over_whole_matches():
    compiled, interpreted = both(("hard", "normal"), preset("classic"), seed=7, pairs=4)
    assert np.array_equal(compiled, interpreted)


def test_a_match_of_plain_bots_is_that_of_the_same_bots_compiled():
    easy, simple = load("easy"), load("simple")
    plain = Bot("easy", easy.draw, easy.discard, easy.knock, easy.parameters, jit=False)
    rows = play((plain, simple), preset("classic"), seed=8, pairs=2)
    assert np.array_equal(rows, play((easy, simple), preset("classic"), seed=8, pairs=2))


def throws_a_card_of_its_own(view):
    """Parameter 0, legal or not, once as many turns as parameter 1 says are over."""
    if view.turn >= view.knobs[1]:
        return view.knobs[0]
    return lowest(view.legal)


def cheat(card: int, turn: int) -> Bot:
    return Bot(
        "cheat",
        yardsticks.simple_draw,
        throws_a_card_of_its_own,
        yardsticks.simple_knock,
        {"card": card, "turn": turn},
        source="test_plain.py:cheat",
    )


@pytest.mark.parametrize("card", [-1, 52, 63, 64, 1 << 40, -(1 << 62), 7])
def test_an_illegal_discard_forfeits_alike_compiled_and_interpreted(card):
    bots = (cheat(card, turn=3), load("simple"))
    compiled = play(bots, preset("classic"), seed=2, pairs=5)
    assert np.array_equal(compiled, play(bots, preset("classic"), seed=2, pairs=5, compiled=False))
    if card != 7:
        ended = compiled[np.flatnonzero(np.diff(compiled["leg"], append=-1))]
        assert (ended["outcome"] == FORFEIT).any()
        # The cheat sits at seat 0 in leg 0 and at seat 1 in leg 1.
        lost = compiled[compiled["outcome"] == FORFEIT]
        assert (lost["winner"] == 1 - lost["leg"]).all()


@pytest.mark.parametrize("names", [("easy", "simple"), ("gin-only", "gin-only")], ids=" v ".join)
def test_nothing_that_lay_in_the_buffers_before_stays_in_a_row(names):
    bots, rules = (load(names[0]), load(names[1])), preset("classic")
    dirty = match.records(ROW, 3000, not INTERPRETED)
    dirty.view(np.uint8)[:] = 77
    game = match.records(engine.GAME, 1, not INTERPRETED)
    game.view(np.uint8)[:] = 77
    record = match.rules_record(rules, not INTERPRETED)
    knobs = np.stack([bot.knobs() for bot in bots])
    policies = (*bots[0].policies(), *bots[1].policies())
    none = np.empty((0, 52), np.int64), np.empty((0, 3), np.int64)
    end, filled = engine.play_pairs(
        *policies, record, knobs, game[0], 9, 0, 3, True, *none, dirty
    )  # it stops between pairs where the next may not fit
    assert np.array_equal(dirty[:filled], play(bots, rules, seed=9, pairs=end))
    assert names[0] == "easy" or (dirty["outcome"][:filled] == DEAD).any()


# --- in a process of its own ---

DIGESTS = """
import json, sys
from ginsim import jit, records
from ginsim.bots import load
from ginsim.cards import lowest
from ginsim.jit import INTERPRETED
from ginsim.match import play
from ginsim.rules import preset

wanted = json.loads(sys.argv[1])
digests = []
for a, b, name in wanted:
    rows = play((load(a), load(b)), preset(name)._replace(target=40), seed=21, pairs=1)
    digests.append(str(records.digest(rows, f"{a} v {b}")))
print(json.dumps({"interpreted": jit.INTERPRETED, "bounds": jit.config.BOUNDSCHECK,
                  "digests": digests}))
"""
WANTED = [
    ("easy", "normal", "classic"),
    ("hard", "random", "frapper"),
    ("simple", "hard", "big-gin"),
    ("gin-only", "knock-at-2", "openspiel"),
    ("normal", "simple", "table"),
    ("random", "easy", "eaai"),
    ("early-low", "one-away", "eaai"),
    ("expected-deadwood", "master", "classic"),
]


def test_the_pairs_are_of_every_function_that_a_built_in_bot_has():
    def functions(bot: Bot) -> tuple:
        return bot.draw, bot.discard, bot.knock

    for pairs in (PAIRS, [pair[:2] for pair in WANTED]):
        played = {functions(load(name)) for pair in pairs for name in pair}
        assert played == {functions(bot) for bot in built_in()}


def digests_of(**environment: str) -> dict:
    """Digests of WANTED, played in a process with *environment*."""
    answer = subprocess.run(
        [sys.executable, "-c", DIGESTS, json.dumps(WANTED)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def digests_here() -> list[str]:
    found = []
    for a, b, name in WANTED:
        rows = play((load(a), load(b)), preset(name)._replace(target=40), seed=21, pairs=1)
        found.append(str(records.digest(rows, f"{a} v {b}")))
    return found


def test_a_process_without_a_compiler_gives_the_same_digests():
    answer = digests_of(NUMBA_DISABLE_JIT="1")
    assert answer["interpreted"] is True
    assert answer["digests"] == digests_here()


def test_a_process_with_bounds_checks_runs_into_none_and_gives_the_same_digests():
    answer = digests_of(NUMBA_BOUNDSCHECK="1")
    assert answer["bounds"]
    assert answer["digests"] == digests_here()
