"""The knock chart: what it counts, what it compares, and what it says."""

import json

import numpy as np
import pandas as pd
import pytest

from ginsim.bots import Bot, load
from ginsim.decisions import watched
from ginsim.errors import GinsimError
from ginsim.knock_chart import (
    FEW,
    check_chart,
    held,
    knock_chart,
    parse_score,
    points_of,
    sample,
    wins_from,
    worth,
)
from ginsim.match import play
from ginsim.rules import ONE_ROUND, preset
from ginsim.view import KNOCK

CLASSIC = preset("classic")
ONE = CLASSIC._replace(match_end=ONE_ROUND)
TURN = 4


def asked_to_knock(knocks_there):
    """Places and deadwood of plain knocks that the held bot was asked for at its turn TURN."""
    bots = held(load("normal"), TURN, knocks_there), load("easy")
    return [
        (d.pair, d.leg, d.view.kept_deadwood, d.answer)
        for d in watched(bots, ONE, 3, 60)
        if d.bot == 0
        and d.view.phase == KNOCK
        and d.view.kept_deadwood > 0
        and d.view.turn // 2 + 1 == TURN
    ]


def test_the_sample_is_every_round_in_which_the_bot_could_knock_at_that_turn():
    asked = asked_to_knock(True)
    found = sample("normal", "easy", CLASSIC, 3, 0, 60, TURN)
    assert len(asked) > 5
    assert sorted(zip(found.pair, found.deadwood, strict=True)) == sorted(
        (pair, deadwood) for pair, _, deadwood, _ in asked
    )


def test_both_ways_are_the_same_round_up_to_the_turn():
    knocking, waiting = asked_to_knock(True), asked_to_knock(False)
    assert [entry[:3] for entry in knocking] == [entry[:3] for entry in waiting]
    assert {answer for *_, answer in knocking} == {1}
    assert {answer for *_, answer in waiting} == {0}


def test_a_held_bot_does_not_knock_plainly_before_its_turn_but_takes_gin():
    rows = points_of((held(load("gin-only"), 9, False), load("easy")), CLASSIC, 3, 0, 400)
    own, deadwood = rows[:, 2], rows[:, 3]
    early = (own > 0) & (own < 9)
    assert early.any()
    assert (deadwood[early] == 0).all()


def test_a_round_of_the_chart_is_the_first_round_of_a_match():
    """Not a match of one round, in which hard, who looks at the score, would knock for anything."""
    bots = load("normal"), load("hard")
    rows = play(bots, CLASSIC, 3, 60)
    first = rows[rows["round"] == 0]
    sign = np.where(first["winner"] < 0, 0, np.where(first["winner"] == first["leg"], 1, -1))
    assert points_of(bots, CLASSIC, 3, 0, 60)[:, 1].tolist() == (sign * first["points"]).tolist()


def test_points_are_the_bots_in_both_legs():
    """Two copies of one bot: what the first wins in one leg it loses in the other."""
    rows = points_of((load("easy"), load("easy")), CLASSIC, 3, 0, 50)
    by_leg = [rows[rows[:, 4] == leg, 1] for leg in (0, 1)]
    assert np.array_equal(by_leg[0], -by_leg[1])
    assert np.abs(by_leg[0]).sum() > 0


def test_compiled_and_plain_bots_have_the_same_chart():
    easy = load("easy")
    plain = Bot("easy", easy.draw, easy.discard, easy.knock, easy.parameters, jit=False)
    for knocks_there in (True, False):
        bots = [(held(bot, 2, knocks_there), load("simple")) for bot in (easy, plain)]
        one, other = (points_of(pair, CLASSIC, 3, 0, 20) for pair in bots)
        assert np.array_equal(one, other)


@pytest.mark.parametrize("p", [0.5, 0.6])
def test_the_chance_to_win_a_race_of_rounds_is_known(p):
    """First to two wins of 50 points to 100: p*p*(3 - 2p), counted by hand."""
    points = np.array([50] * round(10 * p) + [-50] * round(10 * (1 - p)) + [0] * 3)
    wins = wins_from(points, 100)
    assert wins[0, 0] == pytest.approx(p * p * (3 - 2 * p))
    assert wins[50, 50] == pytest.approx(p)
    assert wins[50, 0] == pytest.approx(p + (1 - p) * p)


def test_what_points_are_worth_at_a_score():
    wins = wins_from(np.array([50, -50]), 100)
    got = worth(np.array([0, 50, 70, -50, -120]), (50, 50), wins)
    assert got.tolist() == [0.5, 1.0, 1.0, 0.0, 0.0]


def test_late_in_the_round_normal_should_wait_against_easy():
    """Seen at 20,000 pairs: -8 to -13 points at turn 10; a right program finds it at 4,000."""
    chart = knock_chart("normal", ["easy"], CLASSIC, pairs=4000, turns=10)
    last = [cell for cell in chart.cells if cell.turn == 10 and cell.deadwood in (8, 9)]
    assert [cell.advice for cell in last] == ["wait", "wait"]
    for cell in chart.cells:
        if cell.advice == "few":
            assert cell.low is None
            assert cell.rounds < 2 * FEW
        else:
            assert cell.now - cell.on == pytest.approx(cell.gain, abs=1e-5)
            assert cell.low < cell.gain < cell.high


def test_the_chart_does_not_depend_on_jobs_or_on_other_rivals():
    alone = knock_chart("normal", ["easy"], CLASSIC, pairs=300, turns=3, scores=["80:20"])
    both = knock_chart(
        "normal", ["hard", "easy"], CLASSIC, pairs=300, turns=3, scores=["80:20"], jobs=2
    )
    assert tuple(cell for cell in both.cells if cell.rival == "easy") == alone.cells


@pytest.mark.parametrize(
    ("words", "complaint"),
    [("80", "own:rival"), ("100:2", "below 100"), ("-3:2", "own:rival"), ("a:b", "own:rival")],
)
def test_a_score_outside_the_match_is_refused(words, complaint):
    with pytest.raises(GinsimError, match=complaint):
        parse_score(words, CLASSIC)


def test_what_has_no_chart_is_refused():
    full = Bot("full", None, None, None, {f"knob{at}": 0 for at in range(15)})
    with pytest.raises(GinsimError, match="15 parameters"):
        held(full, 1, True)
    with pytest.raises(GinsimError, match="gin only"):
        check_chart("easy", ["easy"], CLASSIC._replace(knock_limit=0), 10, 3, [])
    with pytest.raises(GinsimError, match="rival"):
        check_chart("easy", [], CLASSIC, 10, 3, [])
    with pytest.raises(GinsimError, match="one round"):
        check_chart("easy", ["easy"], preset("table"), 10, 3, ["0:0"])


def test_the_command_writes_table_plot_and_both_files(cli, tmp_path):
    run = tmp_path / "chart"
    words = ("sweep", "knock_limit", "--bot", "easy", "--vs", "normal", "--pairs", "1500",
             "--turns", "5", "--score", "60:80", "--out", run)  # fmt: skip
    answer = cli(*words)
    assert answer.returncode == 0, answer.stderr
    told = " ".join(answer.stdout.split())
    assert "easy against normal: knocking now less playing on (points of the round)" in told
    assert "easy against normal at 60:80: knocking now" in told
    chart = json.loads((run / "knock_chart.json").read_text())
    cells = pd.read_parquet(run / "knock_chart.parquet")
    assert len(cells) == len(chart["cells"]) == 2 * 5 * 10
    assert {path.name for path in (run / "plots").glob("*.png")} == {
        "knock_chart.png", "knock_chart_60-80.png",
    }  # fmt: skip
    again = cli(*words)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    assert cli(*words, "--overwrite").returncode == 0
