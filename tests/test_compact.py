"""A log read back in flat memory: counted again, merged into larger files, never lost."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from ginsim import compact as merging
from ginsim import places
from ginsim.compact import compact, recounted
from ginsim.errors import GinsimError
from ginsim.records import dataset, iter_rounds, match_table, part_path, parts_of, read_rounds
from ginsim.replay import Where, replay_logged
from ginsim.stats import pair_counts
from ginsim.tally import tally_of


@pytest.fixture
def run(finished_run: dict[str, Any], tmp_path: Path) -> Path:
    """A copy of the small run, of four bots and 15 blocks."""
    return Path(shutil.copytree(finished_run["path"], tmp_path / "run"))


def size_of(run: Path) -> int:
    return sum(path.stat().st_size for path in (run / "rounds").iterdir())


def test_the_log_counted_again_gives_the_summary(run: Path, finished_run: dict[str, Any]):
    assert recounted(run) == finished_run["summary"]


def test_compacted_a_run_is_the_same_in_fewer_files(
    cli_here: Any, run: Path, finished_run: dict[str, Any]
):
    plan, before = finished_run["plan"], read_rounds(run)
    size = size_of(run)
    found = json.loads(cli_here("compact", run, "--json").stdout)
    assert found["digest"] == finished_run["manifest"]["digest"]
    assert (found["files_before"], found["files"]) == (plan.blocks(), 1)
    assert (found["bytes_before"], found["bytes"]) == (size, size_of(run))
    assert [p.name for p in (run / "rounds").iterdir()] == ["part-000000-000014.parquet"]
    pd.testing.assert_frame_equal(read_rounds(run), before)
    assert recounted(run) == finished_run["summary"]
    at = Where(pair=57, leg=1, round_=2)
    assert replay_logged(run, "easy v hard", at) == replay_logged(
        finished_run["path"], "easy v hard", at
    )
    again = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    assert json.loads(again.stdout)["found"]["whole"] == plan.blocks()
    assert json.loads(again.stdout)["summary"] == finished_run["summary"]


def test_files_are_merged_up_to_a_size(run: Path, finished_run: dict[str, Any]):
    most = 4 * max(path.stat().st_size for path in (run / "rounds").iterdir())
    found = compact(run, aim=most)
    assert 3 <= found.files <= 5
    assert sum(part.last - part.first + 1 for part in parts_of(run)) == 15
    assert all(path.stat().st_size < 1.2 * most for path in (run / "rounds").iterdir())
    assert compact(run, aim=10 * most).files == 1
    assert recounted(run) == finished_run["summary"]


@pytest.mark.parametrize("stopped_at", ["writing", "checking", "removing"])
def test_stopped_at_any_time_nothing_is_lost(
    run: Path, finished_run: dict[str, Any], monkeypatch: pytest.MonkeyPatch, stopped_at: str
):
    before, calls = read_rounds(run), 0
    where = {"writing": "_digest", "checking": "_digest", "removing": "remove"}[stopped_at]
    module: Any = {"writing": merging, "checking": merging, "removing": places}[stopped_at]
    stop_at = {"writing": 5, "checking": 20, "removing": 4}[stopped_at]
    real = getattr(module, where)

    def until(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == stop_at:
            raise KeyboardInterrupt
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(module, where, until)
        with pytest.raises(KeyboardInterrupt):
            compact(run)
    names = sorted(path.name for path in (run / "rounds").iterdir())
    assert ("part-000000-000014.parquet" in names) == (stopped_at != "writing")
    # Files that hold the same blocks are read once.
    columns = ["matchup", "pair", "leg", "round"]
    pd.testing.assert_frame_equal(read_rounds(run), before)
    assert not read_rounds(run, columns).duplicated().any()
    assert recounted(run) == finished_run["summary"]
    assert compact(run).files == 1
    assert [p.name for p in (run / "rounds").iterdir()] == ["part-000000-000014.parquet"]
    pd.testing.assert_frame_equal(read_rounds(run), before)


def test_a_torn_merged_file_is_played_again(cli_here: Any, run: Path, finished_run: dict[str, Any]):
    compact(run)
    merged = part_path(run, 0, 14)
    content = merged.read_bytes()
    at = len(content) // 3
    broken = bytes(byte ^ 0xFF for byte in content[at : at + 500])
    merged.write_bytes(content[:at] + broken + content[at + 500 :])
    with pytest.raises(GinsimError, match=r"is torn; mend the run with"):
        recounted(run)
    answer = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    found = json.loads(answer.stdout)["found"]
    assert (found["whole"], found["torn"], found["missing"]) == (0, 15, 0)
    assert json.loads(answer.stdout)["summary"] == finished_run["summary"]
    assert recounted(run) == finished_run["summary"]


def test_a_torn_merged_file_beside_its_originals_costs_nothing(
    cli_here: Any, run: Path, finished_run: dict[str, Any]
):
    """Compact was killed before it removed them, and then the disk failed."""
    shutil.copytree(run / "rounds", run.parent / "originals")
    compact(run)
    merged = part_path(run, 0, 14)
    merged.write_bytes(merged.read_bytes()[:-100])
    shutil.copytree(run.parent / "originals", run / "rounds", dirs_exist_ok=True)
    with pytest.raises(GinsimError, match="is torn"):
        compact(run)
    assert len(list((run / "rounds").iterdir())) == 16
    answer = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    assert json.loads(answer.stdout)["found"]["whole"] == 15
    assert json.loads(answer.stdout)["summary"] == finished_run["summary"]


def test_a_torn_file_is_not_merged(run: Path):
    torn = part_path(run, 6)
    torn.write_bytes(torn.read_bytes()[:-8])
    names = sorted(path.name for path in (run / "rounds").iterdir())
    with pytest.raises(GinsimError, match=r"part-000006\.parquet: is torn; mend the run with"):
        compact(run)
    assert sorted(path.name for path in (run / "rounds").iterdir()) == names


def test_a_run_that_is_not_finished_is_not_merged(cli_here: Any, run: Path):
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    answer = cli_here("compact", run)
    assert answer.returncode == 2
    assert f"is not finished; `ginsim tournament --resume {run}` does so" in answer.stderr


@pytest.mark.parametrize("merged", [False, True])
def test_statistics_part_by_part_are_those_of_the_whole(
    run: Path, finished_run: dict[str, Any], merged: bool
):
    """Each part holds whole pairs: counts and matches add up."""
    if merged:
        compact(run)
    rules, whole = finished_run["plan"].rules, read_rounds(run)
    frames = list(iter_rounds(run))
    assert len(frames) == 15
    assert sum(map(len, frames)) == len(whole)
    counts = [pair_counts(frame, "hard", rules) for frame in frames]
    together = pair_counts(whole, "hard", rules)
    tallies = [tally_of(count.counters, count.turns) for count in counts]
    for tally in tallies[1:]:
        tallies[0].add(tally)
    all_in_one = tally_of(together.counters, together.turns)
    assert (tallies[0].products == all_in_one.products).all()
    assert (tallies[0].sums == all_in_one.sums).all()
    matches = sum(len(match_table(frame, rules)) for frame in frames)
    assert matches == len(match_table(whole, rules))


def test_duckdb_and_arrow_read_the_log_without_loading_it(run: Path):
    log, whole = dataset(run), read_rounds(run)
    rows = sum(batch.num_rows for batch in log.to_batches(columns=["points"], batch_size=500))
    assert rows == len(whole)
    won = duckdb.sql("SELECT winner, sum(points) FROM log GROUP BY winner").fetchall()
    assert dict(won)["hard"] == whole.loc[whole["winner"] == "hard", "points"].sum()


def test_a_folder_without_parts_is_no_run(tmp_path: Path):
    for read in (dataset, lambda run: next(iter_rounds(run)), read_rounds):
        with pytest.raises(GinsimError, match="is no run folder"):
            read(tmp_path)
