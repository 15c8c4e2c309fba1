"""The strength gate: equal play passes, weaker play fails, and hostile files are refused."""

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ginsim.baseline import (
    Baseline,
    Gate,
    Report,
    _changed_bots,
    outcomes_of,
    read_baseline,
    regress,
    write_baseline,
)
from ginsim.errors import GinsimError
from ginsim.gate_report import junit_report, markdown_report, text_report
from ginsim.rules import preset
from ginsim.sprt import Sprt
from ginsim.tournament import Plan

PLAN = Plan(("easy", "gin-only", "simple"), preset("classic"), seed=21, pairs=400)
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baseline") / "bots.json"
    write_baseline(path, PLAN, jobs=1)
    return path


def gate(file: Path, today: tuple[str, ...] = PLAN.specs, **changes: Any) -> Gate:
    made = Gate(read_baseline(file), file, today, Sprt(), cap=4000, jobs=1)
    return replace(made, **changes)


def forgotten(file: Path) -> Any:
    """Baseline whose recorded play today's code cannot reproduce, outcomes as they were."""
    known = read_baseline(file)
    other = replace(known.outcomes, digests=["0" * 32] * 3)
    return replace(known, outcomes=other)


def test_a_baseline_reads_back_as_it_was_written(file: Path):
    written, read = write_baseline(file, PLAN, jobs=2), read_baseline(file)
    assert read.plan == PLAN
    assert read.outcomes.digests == written.outcomes.digests
    assert np.array_equal(read.outcomes.halves, written.outcomes.halves)
    assert np.array_equal(read.outcomes.pair_digests, written.outcomes.pair_digests)
    assert {"by", "when", "engine", "commit"} <= set(read.written)


def test_equal_digests_pass_with_certainty(file: Path):
    report = regress(gate(file))
    assert (report.verdict, report.different, report.candidates) == ("no regression", [], [])
    assert "nothing changed" in text_report(report)


def test_a_weaker_bot_is_a_regression_found_against_its_old_self(file: Path):
    """simple against gin-only loses two matches of three."""
    report = regress(gate(file, ("easy", "gin-only@knocks_at=10", "simple")))
    assert report.verdict == "regression"
    (candidate,) = report.candidates
    assert candidate.bot == "gin-only"
    assert candidate.method.startswith("played against its recorded self")
    assert candidate.rate < 0.42
    assert candidate.pairs % 50 == 0


def test_a_stronger_bot_is_no_regression(file: Path):
    report = regress(gate(file, ("easy", "gin-only", "simple@knocks_at=0")))
    assert report.verdict == "no regression"
    assert [c.bot for c in report.candidates] == ["simple"]


def test_a_bot_whose_code_changed_is_held_against_its_recorded_outcomes(file: Path):
    lost = forgotten(file)
    weaker = regress(gate(file, ("easy", "gin-only@knocks_at=10", "simple"), baseline=lost))
    found = {c.bot: c for c in weaker.candidates}
    assert found["gin-only"].verdict == "regression"
    assert found["gin-only"].method.startswith("today's outcomes against the recorded ones")
    same = regress(gate(file, baseline=lost))
    assert {c.verdict for c in same.candidates} <= {"no regression", "undecided"}
    assert all(c.rate == 0.5 for c in same.candidates)


def test_the_verdict_does_not_depend_on_jobs(file: Path):
    weak = ("easy", "gin-only@knocks_at=6", "simple")
    one, two = (regress(gate(file, weak, jobs=jobs)) for jobs in (1, 2))
    assert one == two


def test_two_per_cent_of_random_discards_are_caught():
    """Some four points of match wins; the experiment has the rate over many runs."""
    plan = Plan(("normal", "easy"), preset("classic"), seed=31, pairs=50)
    known = Baseline(plan, [dict(bot.parameters) for bot in plan.bots()], outcomes_of(plan, 1))
    noisy = f"{ROOT}/experiments/bots/noisy.py:noisy"
    report = regress(Gate(known, Path("b.json"), (noisy, "easy"), Sprt(), 20_000, 2))
    assert report.verdict == "regression"


def test_a_bot_as_strong_with_other_rows_raises_no_alarm():
    """Twenty runs at alpha = beta = 0.001: an alarm at all would be one run in fifty."""
    other = f"{ROOT}/experiments/bots/noisy.py:other"
    verdicts = []
    for seed in range(100, 140, 2):
        plan = Plan(("simple", "easy"), preset("classic"), seed, pairs=50)
        parameters = [dict(bot.parameters) for bot in plan.bots()]
        known = Baseline(plan, parameters, outcomes_of(plan, 2))
        report = regress(Gate(known, Path("b.json"), (other, "easy"), Sprt(), 20_000, 2))
        assert report.different == ["simple v easy"]
        verdicts.append(report.verdict)
    assert set(verdicts) == {"no regression"}


def test_too_few_pairs_are_undecided(file: Path):
    report = regress(gate(file, ("easy", "gin-only@knocks_at=1", "simple"), cap=50))
    assert report.verdict == "undecided"


def test_a_report_says_what_statistics_ask_for(file: Path):
    report = regress(gate(file, ("easy", "gin-only@knocks_at=10", "simple")))
    text = text_report(report)
    for part in (
        "rule: mean pair score 0.46 (regression) against 0.5 (none)",
        "pair scores: 0: ",
        "95 % ",
        "LLR ",
        "bounds -6.91 and 6.91",
        "first difference: easy v gin-only, pair ",
        "recorded: pair=",
        "today: pair=",
        "reproduce: ginsim regress ",
        "--bounds 0.46:0.5 --alpha 0.001 --beta 0.001 --candidate gin-only=gin-only@knocks_at=10",
        "--pairs 4000",
        "--pairs 16000",
        f"accept: ginsim baseline write {file}",
    ):
        assert part in text, part
    assert "| gin-only | regression |" in markdown_report(report)
    suite = ElementTree.fromstring(junit_report(report))
    assert (suite.get("failures"), suite.get("tests")) == ("1", "4")
    assert suite.find("testcase/failure") is not None


def test_rows_named_as_the_first_difference_do_differ(file: Path):
    report = regress(gate(file, ("easy", "gin-only@knocks_at=10", "simple")))
    difference = report.candidates[0].difference
    assert difference.recorded != difference.today
    assert difference.recorded is not None
    assert difference.today is not None
    for key in ("pair", "leg", "round", "dealt_deadwood_0"):
        assert difference.recorded[key] == difference.today[key]


@pytest.mark.parametrize(
    ("different", "changed"),
    [
        ([True, False, True], [1]),  # easy v gin-only, easy v simple, gin-only v simple
        ([True, True, False], [0]),
        ([True, True, True], [0, 1, 2]),
        ([True, False, False], [0, 1]),  # each is cleared by another matchup: both are tried
    ],
)
def test_the_bots_that_changed_are_found(different: list[bool], changed: list[int]):
    assert _changed_bots(PLAN, different) == changed


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ginsim_baseline": 2}, "is no baseline of format 1"),
        ({"bots": "easy"}, "is no baseline"),
        ({"pairs": 10**12}, "must be 1"),
        ({"pairs": 399}, "bytes where"),
        ({"pairs": True}, "whole numbers"),
        ({"matchups": []}, "not those of its bots"),
        ({"rules": {"target": 5}}, "is missing"),
    ],
)
def test_a_hostile_baseline_is_refused_in_one_line(
    file: Path, tmp_path: Path, change: dict[str, Any], says: str
):
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(GinsimError, match=says) as raised:
        read_baseline(bad)
    assert "\n" not in str(raised.value)


def test_a_packed_bomb_is_not_unpacked(file: Path, tmp_path: Path):
    """A few bytes that unpack to a gigabyte are refused at the size that is due."""
    content = json.loads(file.read_text())
    content["matchups"][0]["halves"] = base64.b64encode(zlib.compress(bytes(10**8), 9)).decode()
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(content))
    with pytest.raises(GinsimError, match="801 bytes where 800 are due"):
        read_baseline(bad)


def test_the_command_has_the_exit_codes_of_the_design(cli: Any, file: Path, tmp_path: Path):
    assert cli("regress", file).returncode == 0
    weak = ("--candidate", "gin-only=simple")
    files = ("--markdown", tmp_path / "gate.md", "--junit", tmp_path / "gate.xml")
    assert cli("regress", file, *weak, *files).returncode == 1
    assert (tmp_path / "gate.md").read_text().startswith("## Strength gate: regression")
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().tag == "testsuite"
    assert (
        cli("regress", file, "--candidate", "gin-only=knock-at-1", "--pairs", "50").returncode == 3
    )
    assert cli("regress", file, "--candidate", "nobody=easy").returncode == 2
    assert cli("regress", tmp_path / "none.json").returncode == 2


def test_the_command_writes_a_baseline(cli: Any, tmp_path: Path):
    words = ("easy", "simple", "--pairs", "60", "--seed", "4", "--rules", "eaai")
    found = cli("baseline", "write", tmp_path / "b.json", *words)
    assert found.returncode == 0, found.stderr
    known = read_baseline(tmp_path / "b.json")
    assert known.plan == Plan(("easy", "simple"), preset("eaai"), seed=4, pairs=60)


def test_the_levels_play_as_in_the_projects_own_baseline():
    """If this fails, results have changed: run the gate, then accept with the command it names."""
    path = ROOT / "results" / "baselines" / "levels.json"
    known = read_baseline(path)
    report: Report = regress(Gate(known, path, known.plan.specs, Sprt(), cap=10_000, jobs=2))
    assert report.verdict == "no regression", text_report(report)


def test_the_levels_are_in_order_today():
    """easy < normal < hard, each by more than ten points, on 600 pairs of the gate's seed."""
    known = read_baseline(ROOT / "results" / "baselines" / "levels.json")
    plan = replace(known.plan, pairs=600)
    won = dict(
        zip(plan.matchup_names(), outcomes_of(plan, 2).halves.mean(axis=(1, 2)) / 2, strict=True)
    )
    assert won["easy v normal"] < 0.40
    assert won["normal v hard"] < 0.40
    assert won["easy v hard"] < 0.30
