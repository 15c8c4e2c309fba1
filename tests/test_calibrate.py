"""Calibration: targets and knobs in words, the tuned levels, and the levels as shipped."""

import json
import tomllib

import pytest

from ginsim.bots import level_table, load
from ginsim.calibrate import (
    DEFAULT_KNOBS,
    LEVELS,
    LEVELS_FILE,
    Calibration,
    Knob,
    Target,
    check_levels,
)
from ginsim.decisions import blunders, watched
from ginsim.errors import GinsimError
from ginsim.rules import preset
from ginsim.stats import rate
from ginsim.tournament import Plan, Totals, played

CLASSIC = preset("classic")
TARGETS = (Target("hard", "normal", 0.65), Target("normal", "easy", 0.65))


@pytest.mark.parametrize(
    "words",
    ["normal/easy", "normal/easy=1.2", "normal/easy=0", "normal=0.6", "normal/none=0.6",
     "easy/easy=0.6", ""],
)  # fmt: skip
def test_odd_targets_are_refused(words):
    with pytest.raises(GinsimError, match="--targets"):
        Target.parse(words)


def test_levels_are_tuned_from_the_anchor_outwards():
    def order(anchor):
        return [(tuned, fixed) for _, tuned, fixed in Calibration(TARGETS, CLASSIC, anchor).order()]

    assert order("hard") == [("normal", "hard"), ("easy", "normal")]
    assert order("easy") == [("normal", "easy"), ("hard", "normal")]
    assert order("normal") == [("hard", "normal"), ("easy", "normal")]


def test_targets_that_cannot_all_be_met_are_refused():
    with pytest.raises(GinsimError, match="two targets"):
        Calibration((*TARGETS, Target("hard", "easy", 0.8)), CLASSIC)
    with pytest.raises(GinsimError, match="links it to the anchor"):
        Calibration((Target("normal", "easy", 0.6),), CLASSIC, "hard")


def test_a_knob_needs_a_name_and_values():
    assert Knob.parse("easy", "late_limit:0:8:4") == Knob("late_limit", (0, 4, 8))
    for words in ("speed:0:4", "late_limit:0:1", "late_limit"):
        with pytest.raises(GinsimError):
            Knob.parse("easy", words)


@pytest.fixture(scope="module")
def calibrated(cli, tmp_path_factory):
    """A small calibration by the command, into a copy of the levels."""
    folder = tmp_path_factory.mktemp("calibration")
    levels = folder / "levels.toml"
    levels.write_text(LEVELS_FILE.read_text())
    answer = cli(
        "calibrate", "--targets", "normal/easy=0.66", "--anchor", "easy", "--knob",
        "normal=late_limit:0:8:2", "--pairs", "400", "--verify-pairs", "1500", "--within", "0.06",
        "--out", folder / "run", "--levels", levels, "--json",
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return folder, json.loads(answer.stdout)


def test_a_target_is_hit_on_fresh_deals(calibrated):
    _, answer = calibrated
    (step,) = answer["calibration"]["steps"]
    assert step["level"] == "normal"
    assert 0 < step["setting"] < 8
    last = step["tries"][-1]
    assert last["seed"] > answer["calibration"]["seed"]
    assert 0.6 <= last["low"] < last["high"] <= 0.72
    plan = Plan((f"normal@late_limit={step['setting']}", "easy"), CLASSIC, last["seed"], 1500)
    totals = Totals.empty(plan)
    for block in played(plan, 1, None):
        totals.add(block)
    assert str(totals.digest()) == last["digest"]
    assert rate(totals.by_matchup[0][0], "matches_won").value == last["value"]


def test_only_the_knob_and_where_it_comes_from_change(calibrated):
    folder, answer = calibrated
    (step,) = answer["calibration"]["steps"]
    was, now = (tomllib.loads(path.read_text()) for path in (LEVELS_FILE, folder / "levels.toml"))
    provenance = now.pop("provenance")
    was.pop("provenance")
    was["normal"]["late_limit"] = step["setting"]
    assert now == was
    (check,) = provenance["verified"]
    assert check["target"] == "normal/easy=0.66"
    assert check["digest"] == step["tries"][-1]["digest"]
    assert "ginsim calibrate" in provenance["how"]


def test_guard_rails_are_counted(calibrated):
    _, answer = calibrated
    for counts in answer["calibration"]["blunders"].values():
        assert counts["discards"] > 1000
        assert (counts["gins_passed"], counts["melds_broken"], counts["dice"]) == (0, 0, 0)


def test_a_calibration_resumes_to_the_same_answer(calibrated, cli):
    folder, answer = calibrated
    run = folder / "run"
    sorted((run / "normal" / "sweep" / "rounds").glob("*.parquet"))[0].unlink()
    (run / "calibration.json").unlink()
    package, levels = LEVELS_FILE.read_text(), folder / "levels.toml"
    written = levels.read_text()
    levels.write_text(package)
    again = cli("calibrate", "--resume", run, "--json")
    assert again.returncode == 0, again.stderr
    found = json.loads(again.stdout)["calibration"]
    assert found == answer["calibration"]
    # It goes on to write into the file that was named, not into the package's.
    assert (levels.read_text(), LEVELS_FILE.read_text()) == (written, package)
    assert (run / "plots" / "calibration_normal.png").stat().st_size > 10_000


def test_an_unreachable_target_is_refused_with_the_range_that_can_be_reached(cli, tmp_path):
    levels = tmp_path / "levels.toml"
    levels.write_text(LEVELS_FILE.read_text())
    answer = cli(
        "calibrate", "--targets", "normal/easy=0.95", "--anchor", "easy", "--pairs", "100",
        "--verify-pairs", "100", "--out", tmp_path / "run", "--levels", levels,
    )  # fmt: skip
    assert answer.returncode == 1
    assert "normal/easy=0.95: out of reach" in answer.stderr
    assert "normal wins 0." in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert levels.read_text() == LEVELS_FILE.read_text()


def test_check_tells_whether_the_levels_still_play_as_verified(calibrated):
    folder, answer = calibrated
    (step,) = answer["calibration"]["steps"]
    provenance = tomllib.loads((folder / "levels.toml").read_text())["provenance"]
    provenance["verified"][0]["bots"] = [f"normal@late_limit={step['setting']}", "easy"]
    (same,) = check_levels(jobs=1, provenance=provenance)
    assert same.same()
    assert same.won.value == pytest.approx(step["verified"]["value"])
    provenance["verified"][0]["bots"] = ["normal@late_limit=9", "easy"]
    (other,) = check_levels(jobs=1, provenance=provenance)
    assert not other.same()
    with pytest.raises(GinsimError, match="run ginsim calibrate"):
        check_levels(jobs=1, provenance={"how": "by hand"})


# --- the levels as shipped ---


def test_shipped_levels_say_how_they_were_verified():
    provenance = level_table()["provenance"]
    found = {entry["target"]: entry for entry in provenance["verified"]}
    assert set(found) == {"hard/normal=0.65", "normal/easy=0.65"}
    for entry in found.values():
        assert 0.64 <= entry["interval"][0] < entry["interval"][1] <= 0.66
        knob, _, value = entry["knob"].partition("=")
        assert level_table()[entry["bots"][0]][knob] == int(value)
        assert entry["seed"] != provenance["seed"]


@pytest.mark.parametrize(("level", "against"), [("normal", "easy"), ("hard", "normal")])
def test_shipped_levels_meet_their_targets(level, against):
    """6,000 pairs have a 95 % interval of +-1.1 points; 2.5 leave room for chance and for 1."""
    plan = Plan((level, against), CLASSIC, seed=77_000_000, pairs=6000)
    totals = Totals.empty(plan)
    for block in played(plan, 2, None):
        totals.add(block)
    assert rate(totals.by_matchup[0][0], "matches_won").value == pytest.approx(0.65, abs=0.025)


@pytest.mark.parametrize("rules", ["classic", "frapper", "big-gin", "tutorial", "eaai"])
def test_no_level_blunders_under_any_rules(rules):
    for at, level in enumerate(LEVELS):
        bots = load(level), load(LEVELS[at - 1])
        counts = blunders(bots[0], watched(bots, preset(rules), 9, 4), 0, preset(rules))
        assert counts.decisions > 400
        assert (counts.gins_passed, counts.melds_broken, counts.dice) == (0, 0, 0)


def test_the_default_knobs_exist():
    for level, words in DEFAULT_KNOBS.items():
        assert Knob.parse(level, words).name in load(level).parameters
