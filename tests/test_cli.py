"""The command as users run it: its answers, its one-line errors, its exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ginsim.records import SCHEMA, match_table, read_rounds
from ginsim.rules import preset

HAND = "AS 2S 3S 4S 7H 7D 7C TC JC QC KC"


def answer(cli: Any, *words: str | Path, stdin: str | None = None) -> Any:
    """JSON that the command prints."""
    found = cli(*words, "--json", stdin=stdin)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def refused(cli: Any, *words: str | Path, stdin: str | None = None) -> str:
    """The one line in which the command refuses."""
    found = cli(*words, stdin=stdin)
    assert found.returncode == 2, found
    assert "Traceback" not in found.stderr
    lines = [line for line in found.stderr.splitlines() if not line.startswith("Compiling")]
    assert len(lines) == 1, found.stderr
    assert lines[0].startswith("ginsim: ")
    return lines[0]


def test_help_names_every_command(cli: Any):
    text = cli("--help").stdout
    for command in [
        "tournament",
        "hand",
        "showdown",
        "bots",
        "rules",
        "bench",
        "replay",
        "verify",
        "plot",
        "report",
    ]:
        assert re.search(rf"^  {command} ", text, re.MULTILINE), command


def test_no_words_print_the_help(cli: Any):
    assert cli().stdout == cli("--help").stdout


def test_help_loads_nothing_heavy(cli: Any):
    heavy = ("numba", "numpy", "pandas", "pyarrow", "matplotlib", "joblib", "scipy")
    code = f"import sys, ginsim.cli; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_hand_tells_what_eleven_cards_may_do(cli: Any):
    """R17 of the cases."""
    report = answer(cli, "hand", HAND)
    assert list(report) == [
        "deadwood", "melds", "loose", "knock_discards", "gin_discards", "big_gin",
        "legal_discards", "deadwood_after_best_discard",
    ]  # fmt: skip
    assert report["gin_discards"] == ["AS", "4S", "TC", "KC"]
    assert report["knock_discards"] == ["2S", "3S"]
    assert report["big_gin"] is True
    assert report["deadwood"] == 0
    assert sorted(report["melds"]) == ["7C 7D 7H", "AS 2S 3S 4S", "TC JC QC KC"]
    assert len(report["legal_discards"]) == 11


def test_hand_of_ten_tells_melds_and_deadwood(cli: Any):
    report = answer(cli, "hand", "AS 2S 3S 7H 7D 7C TC JC QC 5D")
    assert report == {
        "deadwood": 5,
        "melds": ["7C 7D 7H", "AS 2S 3S", "TC JC QC"],
        "loose": ["5D"],
    }


def test_hand_bans_the_card_just_taken(cli: Any):
    report = answer(cli, "hand", HAND, "--taken", "as")
    assert "AS" not in report["legal_discards"] + report["gin_discards"]
    free = answer(cli, "hand", HAND, "--taken", "AS", "--rules", "openspiel")
    assert "AS" in free["gin_discards"]


def test_hand_reads_lines_and_answers_each(cli: Any):
    found = cli("hand", "-", "--json", stdin="AS 2S 3S\nKH KD\n\n" + HAND + "\n")
    assert found.returncode == 0
    assert [json.loads(line)["deadwood"] for line in found.stdout.splitlines()] == [0, 20, 0]


def test_a_bad_line_is_answered_in_its_place_and_the_rest_goes_on(cli: Any):
    found = cli("hand", "-", "--json", stdin="AS 2S\nAS AS\nKH\n")
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert found.returncode == 2
    assert [row.get("deadwood") for row in rows] == [3, None, 10]
    assert rows[1]["line"] == 2
    assert "stands twice" in rows[1]["error"]


def test_hand_prints_text(cli: Any):
    text = cli("hand", HAND).stdout
    assert "gin discards: AS 4S TC KC" in text
    assert "knock discards: 2S 3S" in text


def test_showdown_settles_a_given_spread(cli: Any):
    """R29 of the cases: undercut on a tie, with two layoffs that chain."""
    report = answer(
        cli,
        "showdown",
        "--knocker", "4S 5S 6S JS 7C AD 7D JD 7H JH",
        "--spread", "JS JD JH | 4S 5S 6S | 7C 7D 7H",
        "--defender", "AS 2S 7S 8S 2C TC JC QC 2D 2H",
    )  # fmt: skip
    assert report == {
        "kind": "undercut",
        "knocker_deadwood": 1,
        "defender_deadwood": 1,
        "winner": "defender",
        "points": 25,
        "spread": ["7C 7D 7H", "JS JD JH", "4S 5S 6S"],
        "defender_melds": ["2S 2C 2D 2H", "TC JC QC"],
        "layoffs": ["7S", "8S"],
    }


def test_showdown_reads_lines_with_spreads_as_texts_lists_or_none(cli: Any):
    knocker, defender = "2C 2S 2H 5C 6C 7C TH JH QH KH", "AC 2D 3D 4C 8C 9H JS QS KS KD"
    lines = [
        {"knocker": knocker, "defender": defender},
        {"knocker": knocker, "defender": defender, "spread": "2C 2S 2H|5C 6C 7C|TH JH QH KH"},
        {
            "knocker": knocker,
            "defender": defender,
            "spread": ["2C 2S 2H", "5C 6C 7C", "TH JH QH KH"],
        },
    ]
    found = cli("showdown", "-", "--json", stdin="\n".join(map(json.dumps, lines)))
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(rows) == 3
    assert all((row["kind"], row["points"], row["layoffs"]) == ("gin", 62, []) for row in rows)


def test_rules_prints_all_presets_and_marks_its_own_choices(cli: Any):
    text = cli("rules").stdout
    for name in ("classic", "frapper", "big-gin", "tutorial", "table", "eaai", "openspiel"):
        assert name in text
    assert re.search(r"next_starter.*loser\*", text)
    sentences = cli("rules", "frapper").stdout
    assert "0 stock cards are left" in " ".join(sentences.split())
    values = answer(cli, "rules", "classic", "--rule", "knock_limit=12")
    assert values["classic"]["rules"]["knock_limit"] == 12


def test_bots_lists_all(cli: Any):
    names = [bot["name"] for bot in answer(cli, "bots")]
    assert names[:5] == ["easy", "normal", "hard", "master", "simple"]
    assert "knock-at-5" in cli("bots").stdout


def test_a_tournament_from_command_to_files(cli: Any, tmp_path: Path):
    words = ("easy", "normal", "simple", "--pairs", "30", "--seed", "2")
    found = cli("tournament", *words, "--out", "results/first", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    run = tmp_path / "results" / "first"
    summary = json.loads((run / "summary.json").read_text())
    assert summary["digest"] in found.stdout
    won = summary["matchups"][0]["first_metrics"]["matches_won"]["value"]
    assert f"{100 * won:.1f} ±" in found.stdout
    assert {path.suffix for path in (run / "plots").iterdir()} == {".png", ".svg"}
    assert len(list((run / "plots").iterdir())) == 10
    rounds = read_rounds(run)
    assert len(rounds) == summary["rounds"]
    matches = match_table(rounds, preset("classic"))
    assert len(matches) == summary["matches"] == 180
    first = matches[matches["matchup"] == "easy v normal"]
    assert (first["winner"] == "easy").mean() == pytest.approx(won)
    assert (matches[["score_0", "score_1"]].max(axis=1) >= 100).all()


def test_the_log_has_the_columns_of_the_schema(finished_run: dict[str, Any]):
    part = next((finished_run["path"] / "rounds").glob("*.parquet"))
    schema = pq.read_schema(part)
    assert schema.names == SCHEMA.names
    assert all(schema.field(name).type == SCHEMA.field(name).type for name in SCHEMA.names)
    assert pq.ParquetFile(part).metadata.row_group(0).column(0).compression == "ZSTD"


def test_plots_can_be_drawn_again(cli: Any, finished_run: dict[str, Any]):
    paths = answer(cli, "plot", finished_run["path"])
    assert len(paths) == 10
    assert all(Path(path).stat().st_size > 1000 for path in paths)


def test_an_interrupted_run_is_resumed_by_the_command_it_names(cli: Any, tmp_path: Path):
    run = tmp_path / "run"
    whole = answer(cli, "tournament", "easy", "simple", "--pairs", "40", "--out", run)
    parts = sorted((run / "rounds").iterdir())
    parts[3].unlink()
    (run / "manifest.json").write_text(json.dumps(whole["manifest"] | {"status": "running"}))
    again = answer(cli, "tournament", "--resume", run)
    assert again["summary"] == whole["summary"]
    assert sorted((run / "rounds").iterdir()) == parts


def test_bench_reports_rounds_a_second(cli: Any):
    found = answer(cli, "bench", "simple", "--seconds", "0.1")
    assert found[0]["bot"] == "simple"
    assert found[0]["rounds_per_second"] > 0
    assert found[0]["ratio"] > 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tournament", "easy", "nrmal"), "no bot called 'nrmal'; did you mean 'normal'?"),
        (("tournament", "easy"), "name at least two"),
        (("tournament", "easy", "hard", "--pairs", "0"), "--pairs 0: must be 1"),
        (("tournament", "easy", "hard", "--pairs", "many"), "Invalid value for '--pairs'"),
        (("tournament", "easy", "hard", "--rules", "clasic"), "did you mean 'classic'?"),
        (("tournament", "easy", "hard", "--rule", "target=-1"), "target=-1: must be 1..10000"),
        (("tournament", "easy", "hard", "--rule", "knoklimit=1"), "did you mean 'knock_limit'?"),
        (("tournament", "easy", "hard", "--jobs", "-2"), "--jobs -2"),
        (("tournament", "nobody.py:bot", "hard"), "there is no file 'nobody.py'"),
        (("tournament", "--resume", "nowhere"), "nowhere/manifest.json: cannot be read"),
        (("tournament", "easy", "simple", "--backend", "mpi"), "there are threads, loky"),
        (("tournament", "easy", "simple", "--scheduler", "here"), "goes with --backend dask"),
        (("hand", "AS XX"), "'XX' is no card"),
        (("hand", "AS 2S AS"), "AS stands twice"),
        (("hand", "AS AC AD AH 2S 2C 2D 2H 3S 3C 3D 3H"), "has 12 cards: give 1 to 11"),
        (("hand", ""), "has 0 cards"),
        (("hand", HAND, "--taken", "9H"), "--taken 9H: is not in the hand"),
        (("hand", "AS", "--taken", "AS"), "only a hand of 11"),
        (("hand", "AS", "--nonsense"), "No such option: --nonsense"),
        (("showdown", "--knocker", "AS"), "give --knocker and --defender"),
        (("showdown", "--knocker", "AS 2S", "--defender", "3S"), "has 2 cards: give 10"),
        (("replay",), "give a run folder, or --seed S --bots A B"),
        (("replay", "--seed", "1", "--bots", "easy", "hard", "--round", "999"), "has rounds 0.."),
        (("verify", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("rules", "poker"), "no rules called 'poker'"),
        (("plot", "nowhere"), "nowhere: holds no summary to draw"),
        (("nonsense",), "No such command 'nonsense'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line_that_says_what_and_the_fix(
    cli: Any, tmp_path: Path, words: tuple[str, ...], says: str
):
    assert says in refused(cli, *words)


def test_a_spread_that_cannot_be_laid_is_refused(cli: Any):
    """R65 of the cases: card not held, card used twice, deadwood over the limit."""
    hand = (
        "--knocker",
        "AS 2S 3S 7H 8H 9H KC 9C TC 5D",
        "--defender",
        "AC AD AH 2C 2D 2H 3C 3D 3H 4S",
    )
    for spread, says in (
        ("9C TC JC", "does not hold JC"),
        ("AS 2S 3S | 3S", "is no meld"),
        ("AS 2S 3S | 7H 8H 9H | 7H 8H 9H", "stands in two melds"),
        ("AS 2S 3S | 7H 8H 9H", "the limit is 10"),
    ):
        assert says in refused(cli, "showdown", *hand, "--spread", spread)


def test_an_existing_run_is_refused_unless_overwritten(cli: Any, tmp_path: Path):
    words = ("tournament", "easy", "simple", "--pairs", "2", "--no-plots", "--out", tmp_path / "r")
    assert cli(*words).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "r").rglob("*") if path.is_file()}
    assert "holds a run already" in refused(cli, *words)
    assert {path: path.read_bytes() for path in before} == before
    assert cli(*words, "--overwrite").returncode == 0


def test_a_folder_that_cannot_be_written_is_refused(cli: Any, tmp_path: Path):
    (tmp_path / "file").write_text("")
    line = refused(cli, "tournament", "easy", "simple", "--out", tmp_path / "file" / "run")
    assert "cannot be made (Not a directory); name another --out" in line
