"""Run folders and baselines from somebody else: read as data, refused in one line."""

import copy
import json
import pickle
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ginsim import records
from ginsim.baseline import write_baseline
from ginsim.errors import GinsimError
from ginsim.rules import preset
from ginsim.tournament import Plan, recount_block

DEEP = "[" * 100_000
EVIL = "../../../../etc/passwd"


@pytest.fixture(scope="module")
def run(finished_run: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(finished_run["path"], tmp_path_factory.mktemp("hostile") / "run"))


def refused(cli_here: Any, *words: str | Path) -> str:
    """Return the one line of a command that must end with exit code 2, soon."""
    start = time.monotonic()
    answer = cli_here(*words)
    took = time.monotonic() - start
    assert answer.returncode == 2, answer
    assert answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert len(answer.stderr) < 1000
    assert "\x1b" not in answer.stderr
    assert took < 10
    return str(answer.stderr)


def changed(content: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    """*content* with another value at ``a.0.b``; a value of ... removes what is there."""
    content = copy.deepcopy(content)
    *path, last = (int(word) if word.isdigit() else word for word in where.split("."))
    place: Any = content
    for word in path:
        place = place[word]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return content


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("seed", "1"),
        ("seed", -1),
        ("seed", 10**40),
        ("seed", 1.5),
        ("seed", True),
        ("pairs", 10**400),
        ("pairs", 2_000_000_001),
        ("pairs", None),
        ("pairs", ...),
        ("block_pairs", 0.5),
        ("block_pairs", -(10**30)),
        ("mirrored", 1),
        ("rules", []),
        ("rules", ...),
        ("rules.knock_limit", 10**30),
        ("rules.knock_limit", "ten"),
        ("rules.unheard_of", 1),
        ("bots", None),
        ("bots", {}),
        ("bots", [{"spec": "easy"}] * 100_000),
        ("bots", [None, None]),
        ("bots.0.spec", EVIL),
        ("bots.0.spec", EVIL + ".py:bot"),
        ("bots.0.spec", "a\0b.py:bot"),
        ("bots.0.spec", "x" * 100_000),
        ("bots.0.spec", "\x1b]0;steer the terminal\x07"),
        ("bots.0.spec", 7),
        ("bots.0.name", EVIL),
        ("bots.0.parameters", None),
        ("bots.0.parameters.late_limit", 10**30),
        ("engine", "\x1b[31mred"),
        ("engine", ["a"] * 3),
        ("sprt", {"low": "x"}),
        ("sprt", {"low": 0.4, "high": 10**400, "alpha": 0.1, "beta": 0.1}),
    ],
)
def test_a_hostile_manifest(
    cli_here: Any, run: Path, finished_run: dict[str, Any], where: str, value: Any
):
    (run / "manifest.json").write_text(json.dumps(changed(finished_run["manifest"], where, value)))
    before = sorted(path.name for path in run.rglob("*"))
    refused(cli_here, "tournament", "--resume", run)
    if not where.startswith("sprt"):
        refused(cli_here, "replay", run, "--matchup", "easy v hard")
        refused(cli_here, "compact", run)
    assert sorted(path.name for path in run.rglob("*")) == before


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", DEEP.encode(), b'{"seed": NaN}', b"7"])
def test_what_is_no_json_at_all(cli_here: Any, tmp_path: Path, content: bytes):
    for name in ("manifest.json", "summary.json"):
        (tmp_path / name).write_bytes(content)
    refused(cli_here, "tournament", "--resume", tmp_path)
    refused(cli_here, "plot", tmp_path)
    refused(cli_here, "regress", tmp_path / "manifest.json")


def test_a_file_too_large_is_not_read(cli_here: Any, tmp_path: Path):
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)  # a hole: takes no space
    line = refused(cli_here, "tournament", "--resume", tmp_path)
    assert "is larger than 64,000,000 bytes" in line


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("hostile") / "baseline.json"
    write_baseline(file, Plan(("easy", "simple"), preset("classic"), seed=1, pairs=20), jobs=1)
    return dict(json.loads(file.read_text()))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("ginsim_baseline", 2),
        ("seed", 1.0),
        ("pairs", 10**30),
        ("pairs", 2_000_000_000),
        ("pairs", "20"),
        ("rules", None),
        ("rules.target", -5),
        ("bots", "easy"),
        ("bots.0.spec", EVIL),
        ("bots.0.parameters", [1]),
        ("bots.0.parameters.late_limit", 1e400),
        ("matchups", []),
        ("matchups.0.halves", "not base64 !"),
        ("matchups.0.halves", "AAAA"),
        ("matchups.0.halves", 5),
        ("matchups.0.pair_digests", ""),
        ("written", 5),
        ("written", ...),
    ],
)
def test_a_hostile_baseline(
    cli_here: Any, tmp_path: Path, baseline: dict[str, Any], where: str, value: Any
):
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(changed(baseline, where, value)))
    refused(cli_here, "regress", file)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("bots", 7),
        ("bots", []),
        ("bots.0.endings", None),
        ("matchups.0.first_metrics", []),
        ("bots.0.undercut_by_deadwood", {"a": 1}),
        ("bots", ...),
    ],
)
def test_a_hostile_summary(
    cli_here: Any, run: Path, finished_run: dict[str, Any], where: str, value: Any
):
    (run / "summary.json").write_text(json.dumps(changed(finished_run["summary"], where, value)))
    assert "is no summary of a run" in refused(cli_here, "plot", run)


def test_nothing_in_a_run_folder_is_executed(
    cli_here: Any, run: Path, finished_run: dict[str, Any], tmp_path: Path
):
    """A manifest may name a bot's file, but not one that came with it, or another than played."""
    ran = tmp_path / "ran"
    code = (
        f"open({str(ran)!r}, 'w').close()\n"
        "from dataclasses import replace\nfrom ginsim.bots import load\n"
        "bot = replace(load('easy'), name='easy')\n"
    )
    for file in (run / "bot.py", run / "rounds" / ".." / "bot.py", tmp_path / "bot.py"):
        file.write_text(code)
        for spec in (f"{file}:bot", f"{file}@late_limit=1@late_limit=2"):
            bots = [{**bot} for bot in finished_run["manifest"]["bots"]]
            bots[0] |= {"spec": spec, "sha256": "0" * 64}
            manifest = finished_run["manifest"] | {"bots": bots}
            (run / "manifest.json").write_text(json.dumps(manifest))
            for words in (("tournament", "--resume", run), ("compact", run), ("replay", run)):
                line = refused(cli_here, *words)
                assert "nothing in a run folder is executed" in line or "has changed since" in line
        file.unlink()
    assert not ran.exists()


class Trap:
    """Unpickled, it would leave a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return (Path.touch, (self.file,))


def test_nothing_is_unpickled(finished_run: dict[str, Any], tmp_path: Path):
    plan = finished_run["plan"]
    run = tmp_path / "run"
    (run / "rounds").mkdir(parents=True)
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    part = records.part_path(run, 0)
    part.write_bytes(trap)
    assert recount_block(plan, 0, run) is None
    metadata = {b"ginsim.digests": trap, b"ginsim.run": trap, b"pandas": trap}
    table = pa.table({"points": [trap]}).replace_schema_metadata(metadata)
    pq.write_table(table, part)
    assert recount_block(plan, 0, run) is None
    for file in Path(records.__file__).parent.rglob("*.py"):
        text = file.read_text()
        for word in ("import pickle", "joblib.load", "allow_pickle", "read_pickle", "eval("):
            assert word not in text, file
    assert not (tmp_path / "sprung").exists()


def test_a_part_that_claims_far_too_many_rows_is_not_read(
    finished_run: dict[str, Any], tmp_path: Path
):
    """A few kilobytes of Parquet can hold millions of equal rows."""
    part = tmp_path / "part-000000.parquet"
    table, digest, key, _ = records.read_block(records.parts_of(finished_run["path"])[0], 0)
    records.write_part(part, [table.take(np.zeros(30_000, np.int64))], digest, key)
    with pytest.raises(GinsimError, match="30000 rows in a block"):
        records.read_block(records.Part(part, 0, 0), 0, 29_999)
