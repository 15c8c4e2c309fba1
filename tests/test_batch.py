"""Batch bots: arrays of views in, arrays of answers out, and the rows of the same bot alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ginsim import batch, check, lockstep
from ginsim.batch import BatchBot, flat, legal_cards, lines_of, of_arrays
from ginsim.bots import Bot, load
from ginsim.decisions import watched
from ginsim.env.tables import empty_observations
from ginsim.env.tables import flat as flat_of
from ginsim.guard import ILLEGAL_CARD, RAISED, WRONG_TYPE, Forfeit
from ginsim.match import play, play_chunks
from ginsim.replay import Where, replay
from ginsim.rows import ROW
from ginsim.rules import PRESETS, preset
from ginsim.scoring import FORFEIT
from ginsim.summary import summary_of
from ginsim.tournament import Plan, Totals, played
from ginsim.view import View

CLASSIC = preset("classic")


def in_a_loop(function: Any) -> Any:
    """A batch function that asks *function* view by view."""

    def answers(view: View) -> np.ndarray:
        lines = np.stack([*view[:-1], *view.knobs]).T.tolist()
        at = lockstep.VIEW_NUMBERS
        return np.array([function(View._make([*line[:at], tuple(line[at:])])) for line in lines])

    return answers


def batched(name: str) -> Bot:
    bot = load(name)
    functions = [in_a_loop(one) for one in bot.policies()]
    return BatchBot(name, *functions, parameters=bot.parameters)


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("rival", ["simple", "plain", "batch"])
def test_a_batch_bot_leaves_the_rows_of_the_same_bot_one_at_a_time(rules: str, rival: str):
    other = {
        "simple": load("easy"),
        "plain": replace(load("easy"), jit=False),
        "batch": batched("easy"),
    }[rival]
    for bots, alone in (
        ((batched("simple"), other), ("simple", "easy")),
        ((other, batched("simple")), ("easy", "simple")),
    ):
        rows = play(bots, preset(rules), 4, 5)
        assert np.array_equal(rows, play((load(alone[0]), load(alone[1])), preset(rules), 4, 5))


def test_rows_do_not_depend_on_the_number_of_tables(monkeypatch: pytest.MonkeyPatch):
    bots = batched("simple"), load("normal")
    found = []
    for tables in (1, 3, 1024):
        monkeypatch.setattr(batch, "TABLES", tables)
        found.append(play(bots, CLASSIC, 6, 9, first=4))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[0], play((load("simple"), load("normal")), CLASSIC, 6, 9, first=4))


def test_one_leg_is_played_without_mirroring():
    rows = play((batched("simple"), load("random")), CLASSIC, 2, 8, mirrored=False)
    assert np.array_equal(
        rows, play((load("simple"), load("random")), CLASSIC, 2, 8, mirrored=False)
    )


def test_a_batch_bot_is_watched_and_replayed_like_any_other():
    bots, alone = (batched("simple"), load("easy")), (load("simple"), load("easy"))
    assert list(watched(bots, CLASSIC, 3, 1)) == list(watched(alone, CLASSIC, 3, 1))
    where = Where(0, 1, 1)
    assert replay(bots, CLASSIC, 3, where) == replay(alone, CLASSIC, 3, where)


def test_what_a_network_is_given_is_what_the_environment_shows():
    views = [one.view for one in watched((load("easy"), load("simple")), CLASSIC, 3, 1)][:50]
    arrays = of_arrays(lines_of(views))
    found = flat(arrays)
    assert found.shape == (50, lockstep.FLAT)
    assert legal_cards(arrays).sum(axis=1).tolist() == [v.legal.bit_count() for v in views]
    into = empty_observations(50)
    lockstep.observe_lines(lines_of(views), into["planes"], into["numbers"], into["action_mask"])
    assert np.array_equal(found, flat_of(into))
    hands = found[:, :52].astype(bool)
    assert [hand.nonzero()[0].tolist() for hand in hands] == [
        [card for card in range(52) if view.hand >> card & 1] for view in views
    ]


BOTS = """
import numpy as np
from ginsim import BatchBot, load
from ginsim.batch import legal_cards

def never(view):
    return np.zeros(len(view.hand), int)

def highest_rank(view):
    ranks = np.arange(52) % 13 + np.arange(52) / 100
    return np.where(legal_cards(view), ranks, -1).argmax(axis=1)

def yes(view):
    return view.kept_deadwood <= 10

def raises_late(view):
    if (view.turn > 9).any():
        raise ValueError("too late for me")
    return highest_rank(view)

def short(view):
    return highest_rank(view)[:-1]

def halves(view):
    return np.full(len(view.hand), 0.5)

def cheats(view):
    return np.where(view.turn > 9, view.upcard, highest_rank(view))

bot = BatchBot("net", never, highest_rank, yes)
raising = BatchBot("raising", never, raises_late, yes)
shortening = BatchBot("shortening", never, short, yes)
halving = BatchBot("halving", halves, highest_rank, yes)
cheating = BatchBot("cheating", never, cheats, yes)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "net.py"
    path.write_text(BOTS)
    return path


@pytest.mark.parametrize(
    ("name", "reason", "says"),
    [
        ("raising", RAISED, "ValueError: too late for me (net.py, line 18)"),
        ("halving", WRONG_TYPE, "answered 0.5, which is no int"),
        ("shortening", RAISED, "IndexError"),
        ("cheating", ILLEGAL_CARD, "threw "),
    ],
)
def test_a_batch_bot_that_fails_forfeits_those_matches_in_which_it_does(
    file: Path, name: str, reason: str, says: str
):
    bots = load(f"{file}:{name}"), load("gin-only")
    forfeits: list[Forfeit] = []
    rows = np.concatenate(
        [r.copy() for r in play_chunks(bots, CLASSIC, 1, 0, 6, forfeits=forfeits)]
    )
    lost = rows[rows["outcome"] == FORFEIT]
    assert len(lost) == len(forfeits) > 0
    assert {one.failure.reason for one in forfeits} == {reason}
    assert all(says in one.failure.what and one.failure.bot == 0 for one in forfeits)
    assert (lost["winner"] == 1 - lost["leg"]).all()
    # One at a time, in the plain engine, the same.
    again: list[Forfeit] = []
    trace = np.zeros((10, 3), np.int64)
    plain = np.concatenate(
        [
            np.array(r, dtype=ROW)
            for r in play_chunks(bots, CLASSIC, 1, 0, 6, forfeits=again, trace=trace)
        ]
    )
    assert np.array_equal(rows, plain)
    assert forfeits == again


def test_a_tournament_of_batch_bots_is_the_same_for_any_jobs_and_blocks(file: Path):
    plan = Plan((f"{file}:bot", f"{file}:raising", "easy"), CLASSIC, seed=3, pairs=12)
    summaries = []
    for jobs, block in ((1, 0), (2, 5)):
        totals = Totals.empty(plan)
        for one in played(replace(plan, block_pairs=block), jobs, None):
            totals.add(one)
        summaries.append(summary_of(plan, totals))
    assert summaries[0] == summaries[1]
    assert summaries[0]["first_forfeits"][0]["bot"] == "raising"


def test_the_command_rates_a_batch_bot(file: Path, cli: Any, tmp_path: Path):
    run = cli("tournament", f"{file}:bot", "easy", "--pairs", 30, "--no-plots",
              "--out", tmp_path / "run")  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "│ net " in run.stdout
    assert "forfeited" not in run.stdout


def test_a_batch_bot_can_be_checked(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check, "in_process", lambda job, arguments, limit: job(*arguments, int))
    report = check.check(f"{file}:bot", ("classic",), number=60, pairs=1)
    assert report.kept, report.violations
    assert report.blunders.decisions > 30
