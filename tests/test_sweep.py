"""Sweeps: the same deals for every value, the best of them, and its confirmation."""

import json

import numpy as np
import pandas as pd
import pytest

from ginsim import read_rounds
from ginsim.bots import load
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.rules import preset
from ginsim.stats import pair_counts, paired_difference
from ginsim.sweep import (
    FRESH,
    Sweep,
    best_of,
    match_contrast,
    parse_values,
    run_sweep,
    sweep_manifest,
)
from ginsim.tournament import Plan, Totals, played, prepare_folder

CLASSIC = preset("classic")


def made(run, **changes):
    told = {
        "bot": "normal", "parameters": ("late_limit",), "values": ((0, 4, 8),),
        "versus": ("easy", "simple"), "rules": CLASSIC, "seed": 5, "pairs": 150,
    }  # fmt: skip
    sweep = Sweep(**(told | changes))
    prepare_folder(run, False)
    return sweep, run_sweep(sweep, run, sweep_manifest(sweep, "classic"), jobs=1)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    run = tmp_path_factory.mktemp("sweep") / "run"
    return run, *made(run)


def test_rivals_meet_every_setting_and_not_each_other(swept):
    _, sweep, _ = swept
    names = [bot.name for bot in sweep.plan().bots()]
    assert names == [
        "normal@late_limit=0", "normal", "normal@late_limit=8", "easy", "simple"
    ]  # fmt: skip
    assert sweep.plan().matchups() == [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)]


def test_every_value_is_played_on_the_deals_of_the_seed(swept):
    run, sweep, _ = swept
    log = read_rounds(run)
    for value in (0, 4, 8):
        bot = load(sweep.spec((value,)))
        rows = play((bot, load("easy")), CLASSIC, seed=5, pairs=150)
        logged = log[log.matchup == f"{bot.name} v easy"]
        assert logged.points.tolist() == rows["points"].tolist()


def test_curves_are_the_statistics_of_the_log(swept):
    run, _, summary = swept
    log = read_rounds(run)
    counts = pair_counts(log[log.matchup == "normal@late_limit=8 v easy"],
                         "normal@late_limit=8", CLASSIC)  # fmt: skip
    entry = next(e for e in summary["curves"] if e["setting"] == [8] and e["versus"] == "easy")
    legs = counts.tally().total("legs")
    assert entry["metrics"]["matches_won"]["value"] == pytest.approx(
        counts.tally().total("half_matches") / 2 / legs
    )


def test_the_difference_to_the_bot_as_it_is_is_paired(swept):
    run, _, summary = swept
    log = read_rounds(run)
    first, second = (
        pair_counts(log[log.matchup.str.startswith(f"{name} v")], name, CLASSIC)
        for name in ("normal@late_limit=8", "normal")
    )
    known = paired_difference(first, second, "matches_won")
    found = next(
        e["against_current"]
        for e in summary["curves"]
        if e["setting"] == [8] and e["versus"] is None
    )
    assert found["value"] == pytest.approx(known.value)
    assert (found["low"], found["high"]) == pytest.approx((known.low, known.high), rel=1e-6)


def test_the_best_is_the_setting_with_most_points_over_all_rivals(swept):
    _, sweep, summary = swept
    over_all = {
        tuple(e["setting"]): e["metrics"]["net_points"]["value"]
        for e in summary["curves"]
        if e["versus"] is None
    }
    assert tuple(summary["best"]) == max(over_all, key=over_all.get)
    assert best_of(sweep, summary["curves"]) == tuple(summary["best"])


def test_the_best_is_confirmed_on_fresh_deals(swept):
    run, sweep, summary = swept
    confirmed = summary["confirmed"]
    assert confirmed["seed"] == sweep.seed + FRESH
    plan = Plan((sweep.spec(tuple(summary["best"])), "normal", "easy", "simple"), CLASSIC,
                5 + FRESH, 150, rivals=2)  # fmt: skip
    totals = Totals.empty(plan)
    for block in played(plan, 1, None):
        totals.add(block)
    assert confirmed["digest"] == str(totals.digest())
    log = read_rounds(run / "confirm")
    assert log.pair.nunique() == 150


def test_the_table_on_disk_says_what_the_summary_says(swept):
    run, _, summary = swept
    frame = pd.read_parquet(run / "sweep.parquet")
    assert json.loads((run / "sweep.json").read_text()) == summary
    row = frame[
        (frame.late_limit == 8) & (frame.versus == "easy") & (frame.metric == "undercut")
    ].iloc[0]
    entry = next(e for e in summary["curves"] if e["setting"] == [8] and e["versus"] == "easy")
    assert row.value == entry["metrics"]["undercut"]["value"]
    assert set(frame.versus) == {"easy", "simple", "all"}


def test_two_parameters_make_a_grid(tmp_path):
    sweep, summary = made(
        tmp_path / "grid", parameters=("late_limit", "early_turns"), values=((2, 4), (4, 6, 8)),
        versus=("easy",), pairs=30,
    )  # fmt: skip
    settings = [tuple(e["setting"]) for e in summary["curves"] if e["versus"] is None]
    assert settings == [(2, 4), (2, 6), (2, 8), (4, 4), (4, 6), (4, 8)]
    bot = load(sweep.spec((2, 8)))
    assert (bot.parameters["late_limit"], bot.parameters["early_turns"]) == (2, 8)


@pytest.mark.parametrize(
    ("words", "values"),
    [("0:3", (0, 1, 2, 3)), ("0:60:25", (0, 25, 50)), ("4,2,4", (4, 2)), ("-1:1", (-1, 0, 1)),
     ("7", (7,))],
)  # fmt: skip
def test_values_in_words(words, values):
    assert parse_values(words) == values


@pytest.mark.parametrize("words", ["", "3:0", "a", "0:10:0", "0:100000", "1.5", "0:1:2:3", "1,,2"])
def test_odd_values_are_refused(words):
    with pytest.raises(GinsimError, match="--values"):
        parse_values(words)


def test_a_sweep_by_command_resumes_to_the_same_summary(cli, tmp_path):
    run = tmp_path / "run"
    words = ("sweep", "late_limit", "--bot", "normal", "--vs", "easy", "simple",
             "--values", "0:8:4", "--pairs", "60", "--out", run)  # fmt: skip
    first = cli(*words, "--json")
    assert first.returncode == 0, first.stderr
    whole = json.loads(first.stdout)["sweep"]
    assert cli(*words).returncode == 2
    sorted((run / "rounds").glob("*.parquet"))[1].unlink()
    (run / "sweep.json").unlink()
    again = cli("sweep", "--resume", run, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["sweep"] == whole
    shown = cli("sweep", "--resume", run)
    assert "Best by points a round: late_limit=" in shown.stdout
    assert {f"sweep_{key}.png" for key in ("matches_won", "net_points", "undercut", "gin", "turns")
            } == {path.name for path in (run / "plots").glob("*.png")}  # fmt: skip


def test_a_sweep_is_not_resumed_once_its_bots_differ(cli, tmp_path):
    run = tmp_path / "run"
    file = tmp_path / "mine.py"
    text = "from dataclasses import replace\nfrom ginsim.bots import load\nbot = load('normal')\n"
    file.write_text(text)
    spec = f"{file}:bot"
    words = ("--vs", "easy", "--values", "0:8:4", "--pairs", "20", "--out", run)
    assert cli("sweep", "late_limit", "--bot", spec, *words).returncode == 0
    file.write_text(text + "# changed\n")
    again = cli("sweep", "--resume", run)
    assert again.returncode == 2
    assert "has changed since" in again.stderr


def test_contrast_of_a_bot_with_itself_is_zero():
    sweep = Sweep("normal", ("early_limit",), ((10, 11),), ("easy",), CLASSIC, 5, 50)
    plan, totals = sweep.plan(), Totals.empty(sweep.plan())
    for block in played(plan, 1, None):
        totals.add(block)
    same = match_contrast(plan, totals, [1, -1])  # deadwood is never above 10 when knocking
    assert (same.value, same.low, same.high) == (0, 0, 0)
    assert np.isfinite(match_contrast(plan, totals, [1, 0]).low)
