"""A bot that fails forfeits the match; the row stays, the tournament goes on, the run says why."""

import json
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ginsim import engine, match, records
from ginsim.bots import Bot, load
from ginsim.cards import parse
from ginsim.guard import ILLEGAL_CARD, RAISED, TOO_SLOW, WRONG_TYPE, Forfeit
from ginsim.match import play_chunks
from ginsim.replay import Where, hand_record, replay
from ginsim.rows import ROW
from ginsim.rules import PRESETS, preset
from ginsim.scoring import FORFEIT
from ginsim.summary import summary_of
from ginsim.tournament import MANIFEST, Plan, Totals, manifest_of, played, run_tournament
from ginsim.watchdog import Hang, on_watch

BOTS = """
import sys, time
from ginsim import Bot, load

good = load("simple")

def good_draw(view):
    return 0 if view.upcard < 0 else good.draw(view)

def raises(view):
    if view.turn > 9:
        return {}["no such hand"]
    return good.discard(view)

def wrong(view):
    if view.turn > 9:
        return 0.5
    return good_draw(view)

def huge(view):
    return 1 << 70 if view.turn > 9 else good.discard(view)

def illegal(view):
    return 51 - (view.legal.bit_length() - 1) + 52 if view.turn > 9 else good.discard(view)

def slow(view):
    while view.turn > 9:
        try:
            time.sleep(0.01)
        except Exception:
            pass
    return good.knock(view)

def leaves(view):
    sys.exit("I am off")

def loops(view):
    turn = view.turn
    while turn > 18:
        turn += view.stock
    return view.kept_deadwood == 0

def divides(view):
    if view.turn > 9:
        return 1 // (view.turn - view.turn)
    return view.drawn if view.legal >> view.drawn & 1 else 60

def plain(name, draw=good_draw, discard=good.discard, knock=good.knock):
    return Bot(name, draw, discard, knock, good.parameters, jit=False)

raising = plain("raising", discard=raises)
mistyping = plain("mistyping", draw=wrong)
overflowing = plain("overflowing", discard=huge)
cheating = plain("cheating", discard=illegal)
hanging = plain("hanging", knock=slow)
leaving = plain("leaving", knock=leaves)
looping = Bot("looping", good.draw, good.discard, loops, good.parameters)
dividing = Bot("dividing", good.draw, divides, good.knock, good.parameters)
"""
CLASSIC = preset("classic")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bots") / "bad.py"
    path.write_text(BOTS)
    return path


def played_pairs(
    bots: tuple[Bot, Bot], pairs: int = 6, limit: float = 0.0, rules=CLASSIC
) -> tuple[np.ndarray, list[Forfeit]]:
    forfeits: list[Forfeit] = []
    chunks = play_chunks(bots, rules, 3, 0, pairs, limit=limit, forfeits=forfeits)
    return np.concatenate([np.array(chunk, dtype=ROW) for chunk in chunks]), forfeits


@pytest.mark.parametrize(
    ("name", "reason", "says", "asked"),
    [
        ("raising", RAISED, "KeyError: 'no such hand' (bad.py, line 12)", "the discard"),
        ("mistyping", WRONG_TYPE, "answered 0.5, which is no int", "the draw"),
        ("overflowing", WRONG_TYPE, "answered 1180591620717411303424, which", "the discard"),
        ("cheating", ILLEGAL_CARD, "which is no card", "the discard"),
        ("hanging", TOO_SLOW, "no answer within 0.05 s", "the knock"),
        ("leaving", RAISED, "SystemExit: I am off (bad.py, line 35)", "the knock"),
    ],
)
def test_a_plain_bot_that_fails_forfeits_the_match_and_play_goes_on(
    file: Path, name: str, reason: str, says: str, asked: str
):
    bots = load(f"{file}:{name}"), load("simple")
    rows, forfeits = played_pairs(bots, limit=0.05)
    lost = rows[rows["outcome"] == FORFEIT]
    assert len(lost) == len(forfeits) > 0
    assert set(rows["pair"]) == set(range(6))
    for row, forfeit in zip(lost, forfeits, strict=True):
        assert forfeit[:3] == (row["pair"], row["leg"], row["round"])
        failure = forfeit.failure
        assert failure.bot == 0
        assert row["winner"] == 1 - row["leg"], "the other bot wins"
        assert (failure.reason, failure.asked) == (reason, asked)
        assert says in failure.what
        assert parse(failure.hand).bit_count() in (10, 11)
        assert row["points"] == 0
    # A forfeit ends its match.
    ends = np.flatnonzero(np.diff(rows["leg"], append=-1))
    assert set(np.flatnonzero(rows["outcome"] == FORFEIT)) <= set(ends)


def test_a_match_before_the_failure_is_as_if_the_bot_were_sound(file: Path):
    sound, _ = played_pairs((load("simple"), load("easy")))
    rows, _ = played_pairs((load(f"{file}:raising"), load("easy")))
    whole = rows[rows["outcome"] != FORFEIT]
    keys = {tuple(row): None for row in sound.tolist()}
    assert len(whole) > 0
    assert all(tuple(row) in keys for row in whole.tolist())


def test_a_compiled_bot_that_raises_forfeits_as_the_same_bot_in_plain_python_does(file: Path):
    compiled = load(f"{file}:dividing")
    plain = replace(compiled, jit=False)
    for rules in (CLASSIC, preset("openspiel")._replace(round_limit=3)):
        rows, forfeits = played_pairs((compiled, load("simple")), 30, rules=rules)
        others, told = played_pairs((plain, load("simple")), 30, rules=rules)
        assert np.array_equal(rows, others)
        assert [one[:3] for one in forfeits] == [one[:3] for one in told]
        assert [one.failure.reason for one in forfeits] == [one.failure.reason for one in told]
        assert {one.failure.reason for one in forfeits} >= {RAISED}


def test_a_bot_made_here_raises_where_it_is_called():
    def oops(view):
        raise LookupError("mine")

    simple = load("simple")
    mine = Bot("mine", simple.draw, oops, simple.knock, simple.parameters, jit=False)
    with pytest.raises(LookupError, match="mine"):
        played_pairs((mine, simple), 1)


def test_a_plain_bot_is_given_plain_ints(file: Path):
    kinds = set()

    def look(view):
        kinds.update(type(value) for value in (*view[:-1], *view.knobs))
        return view.drawn if view.legal >> view.drawn & 1 else view.legal.bit_length() - 1

    simple = load("simple")
    played_pairs((Bot("looks", simple.draw, look, simple.knock, jit=False), simple), 1)
    assert kinds == {int}


@pytest.mark.parametrize("rules", PRESETS)
def test_failing_at_any_question_forfeits_under_every_preset(file: Path, rules: str):
    def fails(view):
        raise ArithmeticError

    simple = load("simple")
    for which in ("draw", "discard", "knock"):
        changed = {which: fails, "jit": False, "source": f"{file}:raising"}
        rows, forfeits = played_pairs((replace(simple, **changed), simple), 4, rules=preset(rules))
        assert forfeits
        lost = rows[rows["outcome"] == FORFEIT]
        assert len(lost) == len(forfeits)
        assert (lost["knocker"] == -1).all()
        if which == "draw":
            assert (lost["turns"] <= 1).all()


def totals_of(plan: Plan, jobs: int) -> Totals:
    totals = Totals.empty(plan)
    for block in played(plan, jobs, None):
        totals.add(block)
    return totals


@pytest.fixture(scope="module")
def plan(file: Path) -> Plan:
    names = ("raising", "mistyping", "dividing")
    specs = (*(f"{file}:{name}" for name in names), "simple")
    return Plan(specs, CLASSIC, seed=3, pairs=8, block_pairs=3)


def test_the_summary_counts_forfeits_by_reason_alike_for_any_jobs_and_blocks(plan: Plan):
    one = summary_of(plan, totals_of(plan, 1))
    assert one == summary_of(plan, totals_of(plan, 2))
    assert one == summary_of(plan, totals_of(replace(plan, block_pairs=8), 1))
    assert {first["reason"] for first in one["first_forfeits"]} == {
        RAISED, WRONG_TYPE, ILLEGAL_CARD,
    }  # fmt: skip
    for bot in one["bots"]:
        forfeits = bot["metrics"]["forfeits"]
        told = [f["count"] for f in one["first_forfeits"] if f["bot"] == bot["name"]]
        assert sum(told) == round((forfeits["value"] or 0) * forfeits["weight"])
    assert all(first["what"] and first["hand"] for first in one["first_forfeits"])


def test_a_resumed_run_still_knows_why(plan: Plan, tmp_path: Path):
    run = tmp_path / "run"
    (run / "rounds").mkdir(parents=True)
    records.write_json(run / MANIFEST, manifest_of(plan, "classic"))
    list(played(plan, 1, run, [0, 2]))
    totals, _ = run_tournament(plan, run, manifest_of(plan, "classic"), jobs=1, resume=True)
    assert summary_of(plan, totals) == summary_of(plan, totals_of(plan, 1))


@pytest.mark.parametrize("name", ["raising", "mistyping", "dividing", "cheating", "leaving"])
def test_the_replay_shows_the_forfeit(file: Path, name: str):
    bots = load(f"{file}:{name}"), load("simple")
    _, forfeits = played_pairs(bots)
    for forfeit in forfeits[:2]:
        where = Where(forfeit.pair, forfeit.leg, forfeit.round_)
        record = replay(bots, CLASSIC, 3, where)
        assert record["end"]["reason"] == forfeit.failure.reason
        words = hand_record(record)
        assert f"{name} forfeits the match to simple" in words
        assert f"{forfeit.failure.reason}: " in words
        assert record["turns"][-1]["bot"] == name


def test_the_command_goes_on_and_tells_who_where_and_the_replay_command(
    file: Path, cli: Any, tmp_path: Path
):
    specs = [f"{file}:{name}" for name in ("hanging", "raising", "cheating")]
    words = ("tournament", *specs, "simple", "--pairs", 2, "--jobs", 2, "--decision-limit", 0.2)
    answer = cli(*words, "--out", tmp_path / "run", "--no-plots")
    assert answer.returncode == 0, answer.stderr
    out = answer.stdout
    assert "raising forfeited" in out
    assert "KeyError: 'no such hand' (bad.py, line 12), asked for the discard in turn" in out
    assert "no answer within 0.2 s, asked for the knock in turn" in out
    assert "too slow depends on the clock" in out
    assert len(records.read_rounds(tmp_path / "run")["pair"].unique()) == 2
    command = next(line.split("ginsim ")[1] for line in out.splitlines() if "raising" in line
                   and "ginsim replay" in line)  # fmt: skip
    again = cli(*shlex.split(command), "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["end"]["reason"] == RAISED


def test_a_decision_limit_that_is_none_is_refused(cli: Any):
    answer = cli("tournament", "easy", "simple", "--decision-limit", "-1")
    assert answer.returncode == 2
    assert answer.stderr == "ginsim: --decision-limit -1: must be 0 (none) or 0.001 s and more\n"


def test_an_illegal_card_is_named(file: Path):
    stays = "from ginsim import Bot, load\ns = load('simple')\n"
    path = file.parent / "upcard.py"
    path.write_text(
        stays + "bot = Bot('upcard', s.draw, lambda view: view.upcard if view.upcard >= 0 else 0, "
        "s.knock, s.parameters)\n"
    )
    bots = load(f"{path}:bot"), load("simple")
    summary = summary_of(
        plan := Plan((f"{path}:bot", "simple"), CLASSIC, seed=3, pairs=2), totals_of(plan, 1)
    )
    first = summary["first_forfeits"][0]
    record = replay(bots, CLASSIC, 3, Where(first["pair"], first["leg"], first["round"]))
    card = record["turns"][-1]["illegal"]
    assert first["what"] == f"threw {card}"
    assert not parse(first["hand"]) & parse(card)


def test_a_compiled_bot_that_hangs_forfeits_and_the_run_goes_on(
    file: Path, cli: Any, tmp_path: Path
):
    run = tmp_path / "run"
    words = ("tournament", f"{file}:looping", "simple", "--pairs", 2, "--seed", 4)
    answer = cli(*words, "--decision-limit", 0.5, "--out", run, "--no-plots", "--json")
    assert answer.returncode == 0, answer.stderr
    assert "a compiled bot hangs\nginsim: going on, with that pair played" in answer.stderr
    report = json.loads(answer.stdout)
    (first,) = report["summary"]["first_forfeits"]
    assert (first["bot"], first["reason"]) == ("looping", TOO_SLOW)
    assert first["turn"] > 18
    assert first["asked"] == "the knock"
    assert report["manifest"]["as_plain"]
    assert set(records.read_rounds(run)["pair"]) == {0, 1}
    place = ("--pair", first["pair"], "--leg", first["leg"], "--round", first["round"])
    again = cli("replay", run, *place)
    assert again.returncode == 0, again.stderr
    assert "too slow: no answer within 0.5 s" in again.stdout


def test_an_engine_that_stands_still_is_noticed_and_one_that_moves_is_not():
    game = np.zeros(1, engine.GAME)
    seen: list[Hang] = []
    match.PLAYING[1] = "a v b", game
    try:
        with on_watch(0.4, seen.append):
            for turn in range(8):
                game[0]["turn"] = turn
                time.sleep(0.1)
            assert seen == []
            game[0]["pair"], game[0]["leg"] = 7, 1
            time.sleep(1.5)
    finally:
        del match.PLAYING[1]
    assert seen == [Hang("a v b", 7, 1, 0)]
