"""Threads, processes, a real local Dask cluster and a real local Ray: the same rows.

Processes (loky): tests/test_faults.py, where one of them is killed.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ginsim import backends, records
from ginsim.backends import Backend, spread
from ginsim.errors import GinsimError
from ginsim.rules import preset
from ginsim.tournament import (
    MANIFEST,
    Plan,
    Totals,
    errand,
    fitted,
    manifest_of,
    play_block,
    played,
)

PLAN = Plan(("easy", "simple", "gin-only"), preset("classic"), seed=11, pairs=60, block_pairs=10)
WORDS = ("easy", "simple", "gin-only", "--seed", "11", "--pairs", "60", "--block", "10")


@pytest.fixture(scope="module")
def digest() -> str:
    """Digest of PLAN on threads."""
    totals = Totals.empty(PLAN)
    for block in played(PLAN, 2, None, backend=Backend("threads")):
        totals.add(block)
    return str(totals.digest())


def check(answer: Any, run: Path, digest: str) -> None:
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    content = json.loads(answer.stdout)
    assert content["manifest"]["digest"] == content["summary"]["digest"] == digest
    assert len(records.read_rounds(run)) == content["manifest"]["rows"]
    assert len(records.parts_of(run)) == PLAN.blocks()


@pytest.fixture(scope="module")
def dask_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real Dask scheduler with two workers, each a process started by hand."""
    pytest.importorskip("distributed")
    # Not the folder that runs are started in: paths must not depend on it.
    folder = tmp_path_factory.mktemp("dask")
    scheduler = folder / "scheduler.json"
    options = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    start += ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    processes = [
        subprocess.Popen([*start, "--scheduler-file", str(scheduler)], **options)  # type: ignore
    ]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file"]
    worker += [str(scheduler), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    try:
        deadline = time.monotonic() + 60
        while not scheduler.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        processes += [subprocess.Popen(worker, **options) for _ in range(2)]  # type: ignore
        yield json.loads(scheduler.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=120)


def test_a_dask_cluster_gives_the_digest_of_threads(
    cli: Any, tmp_path: Path, digest: str, dask_cluster: str
):
    """Its workers run in another folder: the run folder and a bot's file travel as full paths."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import replace\nfrom ginsim.bots import load\n"
        "bot = replace(load('simple'), name='simple')\n"
    )
    words = ("tournament", "easy", "mine.py:bot", *WORDS[2:], "--backend", "dask")
    words += ("--scheduler", dask_cluster, "--json", "--no-plots", "--out", "run")
    check(cli(*words, cwd=tmp_path), tmp_path / "run", digest)


def test_a_dask_cluster_of_its_own(cli: Any, tmp_path: Path, digest: str):
    pytest.importorskip("distributed")
    run = tmp_path / "run"
    words = ("--backend", "dask", "--jobs", "2", "--json", "--no-plots", "--out", run)
    check(cli("tournament", *WORDS, *words), run, digest)


def test_ray_gives_the_digest_of_threads(cli: Any, tmp_path: Path, digest: str):
    pytest.importorskip("ray")
    words = ("--backend", "ray", "--jobs", "2", "--json", "--no-plots", "--out", "run")
    check(cli("tournament", *WORDS, *words, cwd=tmp_path), tmp_path / "run", digest)


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_cluster_that_is_not_there_is_one_line(
    cli_here: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(backends, "PATIENCE", 1)
    pytest.importorskip({"dask": "distributed"}.get(name, name))
    words = (*WORDS, "--backend", name, "--scheduler", "127.0.0.1:1", "--out", tmp_path / "run")
    answer = cli_here("tournament", *words)
    assert answer.returncode == 2
    assert "--scheduler 127.0.0.1:1: no " in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr


def test_a_missing_package_is_one_line_that_names_the_extra(
    cli_here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, module in (("dask", "distributed"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, module, None)
        answer = cli_here("tournament", *WORDS, "--backend", name, "--out", tmp_path / name)
        assert answer.returncode == 2
        assert f"pip install 'ginsim[{name}]'" in answer.stderr


def test_plain_python_bots_play_in_processes_not_threads(cli_here: Any, tmp_path: Path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import replace\nfrom ginsim.bots import load\n"
        "bot = replace(load('easy'), name='mine', jit=False)\n"
    )
    run = tmp_path / "run"
    answer = cli_here("tournament", f"{mine}:bot", "easy", "--backend", "threads", "--out", run)
    assert answer.returncode == 2
    assert "plain Python bots play in processes" in answer.stderr
    assert not run.exists()


def test_a_worker_that_would_play_otherwise_refuses(tmp_path: Path):
    """Other sources, another bot file, a folder it does not see: each says so."""
    mine = tmp_path / "mine.py"
    mine.write_text("from ginsim.bots import load\nbot = load('easy')\n")
    plan = Plan((f"{mine}:bot", "simple"), preset("classic"), seed=1, pairs=2)
    run = tmp_path / "run"
    work = errand(plan, run, Backend("dask"))
    with pytest.raises(GinsimError, match=r"worker on .*: sees no .*manifest\.json; workers on ot"):
        work(0)
    records.write_json(run.parent / "x.json", {})
    (run / "rounds").mkdir(parents=True)
    records.write_json(run / MANIFEST, manifest_of(plan, "classic"))
    assert work(0).digest() == play_block(plan, 0, None).digest()
    mine.write_text("from ginsim.bots import load\nbot = load('hard')\n")
    with pytest.raises(GinsimError, match="has another version of ginsim or of a bot's file"):
        work(0)
    mine.unlink()
    with pytest.raises(GinsimError, match="bot files must be on every worker"):
        work(0)


@pytest.mark.parametrize("in_order", [False, True])
def test_every_block_is_done_once(in_order: bool):
    found = list(
        spread(
            lambda block: block * block,
            range(3, 300),
            backend=Backend("threads"),
            compiled=True,
            jobs=3,
            in_order=in_order,
        )
    )
    squares = [block * block for block in range(3, 300)]
    assert (found if in_order else sorted(found)) == squares


def test_blocks_take_seconds_and_do_not_change_the_rows():
    fast = Plan(("simple", "gin-only"), preset("classic"), seed=1, pairs=1_000_000)
    slow = Plan(("expected-deadwood", "one-away"), preset("classic"), seed=1, pairs=1_000_000)
    assert 1 < fitted(slow).block_size() < fitted(fast).block_size() <= 11_111
    assert fitted(PLAN) == PLAN
