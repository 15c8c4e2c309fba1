"""Runs that are killed, stopped, torn or out of space: resumed, they end as if undisturbed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ginsim import backends, records
from ginsim.locks import LOCK, held
from ginsim.rules import preset
from ginsim.tournament import (
    Plan,
    Totals,
    manifest_of,
    played,
    prepare_folder,
    recount_block,
    run_tournament,
)

#: Slow enough to be caught in the act, at some 100 ms a block.
BOTS = ("expected-deadwood", "simple")
PLAN = Plan(BOTS, preset("classic"), seed=4, pairs=640, block_pairs=20)
WORDS = (*BOTS, "--seed", "4", "--pairs", "640", "--block", "20", "--no-plots", "--jobs", "2")


@pytest.fixture(scope="module")
def undisturbed() -> str:
    """Digest of PLAN, played in one go."""
    totals = Totals.empty(PLAN)
    for block in played(PLAN, 2, None):
        totals.add(block)
    return str(totals.digest())


def start(*words: str | Path, code: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", f"{code}\nfrom ginsim.cli import main; main()"]
    return subprocess.Popen(
        [*command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def parts(run: Path) -> list[Path]:
    return sorted((run / "rounds").glob("part-*.parquet"))


def wait_for(what: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """Wait until *what* holds while *process* runs, and return it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        time.sleep(0.005)
    raise AssertionError("nothing came of it in 60 s")


def check_resumed(cli_here: Any, run: Path, digest: str) -> tuple[dict[str, Any], str]:
    """Resume *run*; check the digest, and that no row is missing or double."""
    answer = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert content["summary"]["digest"] == content["manifest"]["digest"] == digest
    rounds = records.read_rounds(run, ["matchup", "pair", "leg", "round"])
    assert len(rounds) == content["manifest"]["rows"]
    assert not rounds.duplicated().any()
    assert not list(run.rglob(".*"))
    assert not (run / LOCK).exists()
    found = content["found"]
    assert found["whole"] + found["torn"] + found["missing"] == found["blocks"]
    return found, answer.stderr


def test_kill_9_of_the_whole_run(cli_here: Any, tmp_path: Path, undisturbed: str):
    run = tmp_path / "run"
    process = start("tournament", *WORDS, "--out", run)
    wait_for(lambda: len(parts(run)) >= 4, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    left = len(parts(run))
    assert 4 <= left < PLAN.blocks()
    assert json.loads((run / "manifest.json").read_text())["status"] == "running"
    # As if it had been killed in the midst of writing, too.
    (run / "rounds" / ".part-000031.parquet.abcd1234").write_bytes(b"PAR1 half of")
    found, told = check_resumed(cli_here, run, undisturbed)
    assert (found["whole"], found["torn"]) == (left, 0)
    assert found["half_written"] >= 1
    assert f"the run that wrote here died (process {process.pid} on" in told
    assert f"found {left} of 32 blocks whole (kept), {32 - left} missing (played now)" in told


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_kill_9_of_one_worker_process(tmp_path: Path, undisturbed: str):
    """The others play its blocks again, in the same run."""
    run = tmp_path / "run"
    process = start("tournament", *WORDS, "--backend", "loky", "--json", "--out", run)

    def workers() -> list[int]:
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == process.pid and b"popen_loky" in line:
                found.append(int(entry.name))
        return found

    wait_for(lambda: len(parts(run)) >= 2, process)
    os.kill(workers()[0], signal.SIGKILL)
    out, told = process.communicate(timeout=100)
    assert process.returncode == 0, told
    assert json.loads(out)["summary"]["digest"] == undisturbed
    assert told.splitlines() == [
        "ginsim: a worker process died (killed, or out of memory); its blocks are played again"
    ]
    assert len(records.read_rounds(run)) == json.loads(out)["manifest"]["rows"]


def test_workers_that_die_one_after_another_end_the_run_in_one_line(
    cli_here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(backends, "MOST_DEATHS", 2)
    mine = tmp_path / "deadly.py"
    mine.write_text(
        "import os\n"
        "from dataclasses import replace\n"
        "from ginsim.bots import load\n"
        "def draw(view):\n"
        "    os._exit(9)\n"
        "bot = replace(load('simple'), name='deadly', draw=draw, jit=False)\n"
    )
    run = tmp_path / "run"
    answer = cli_here(
        "tournament", f"{mine}:bot", "simple", "--pairs", "8", "--jobs", "2", "--out", run
    )
    assert answer.returncode == 2
    last = answer.stderr.splitlines()[-1]
    assert "2 worker processes died one after another" in last
    assert f"ginsim tournament --resume {run}" in last
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_the_stop_of_a_service(
    cli_here: Any, tmp_path: Path, undisturbed: str, how: signal.Signals
):
    run = tmp_path / "run"
    process = start("tournament", *WORDS, "--out", run)
    wait_for(lambda: len(parts(run)) >= 3, process)
    process.send_signal(how)
    out, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, told) == (
        "",
        f"ginsim: stopped; what was played is kept: ginsim tournament --resume {run}\n",
    )
    found, _ = check_resumed(cli_here, run, undisturbed)
    assert 3 <= found["whole"] < PLAN.blocks()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[str], None]]]:
    """A file system of its own, of 200 kB, and what remounts it with other options."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*words: str) -> bool:
        if shutil.which("mount") is None:
            return False
        return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0

    if not mount("-t", "tmpfs", "-o", "size=200k", "none", str(disk)):
        pytest.skip("may not mount a file system here")
    yield (
        disk,
        lambda options: subprocess.run(
            ["mount", "-o", f"remount,{options}", str(disk)], check=True
        ),
    )
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk(cli_here: Any, small_disk: Any, undisturbed: str):
    disk, remount = small_disk
    run = disk / "run"
    process = start("tournament", *WORDS, "--out", run)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert len(told.splitlines()) == 1
    assert "cannot be written" in told
    assert "No space left on device" in told
    assert f"what was played is kept: ginsim tournament --resume {run}" in told
    again = cli_here("tournament", "--resume", run)  # still full
    assert again.returncode == 2
    assert "No space left on device" in again.stderr.splitlines()[-1]
    remount("size=100m")
    found, _ = check_resumed(cli_here, run, undisturbed)
    assert 0 < found["whole"] < PLAN.blocks()


def test_a_read_only_folder(cli_here: Any, small_disk: Any, undisturbed: str):
    disk, remount = small_disk
    remount("size=100m")
    run = disk / "run"
    process = start("tournament", *WORDS, "--out", run)
    wait_for(lambda: len(parts(run)) >= 2, process)
    process.kill()
    process.communicate()
    remount("ro")
    for words in (("--resume", run), (*BOTS, "--out", disk / "other")):
        answer = cli_here("tournament", *words)
        assert answer.returncode == 2
        assert len(answer.stderr.splitlines()) == 1
        assert "Read-only file system" in answer.stderr
    remount("rw")
    check_resumed(cli_here, run, undisturbed)


def test_a_place_that_takes_no_folder_is_one_line(cli_here: Any):
    """Also for root, whom permissions do not bind."""
    answer = cli_here("tournament", *BOTS, "--pairs", "2", "--out", "/proc/ginsim/run")
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert "/proc/ginsim/run: cannot be made" in answer.stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PLAN as a finished run."""
    run = tmp_path_factory.mktemp("faults") / "done"
    prepare_folder(run, overwrite=False)
    run_tournament(PLAN, run, manifest_of(PLAN, "classic"), jobs=2)
    return run


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "one byte", "of another block"])
def test_a_torn_file(cli_here: Any, tmp_path: Path, done: Path, undisturbed: str, damage: str):
    run = tmp_path / "run"
    shutil.copytree(done, run)
    torn, other = parts(run)[7], parts(run)[8]
    content = torn.read_bytes()
    at = len(content) // 2
    torn.write_bytes(
        {
            "cut": content[:-9],
            "empty": b"",
            "garbage": b"\xff" * 5000,
            "one byte": content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :],
            "of another block": other.read_bytes(),
        }[damage]
    )
    parts(run)[20].unlink()
    found, told = check_resumed(cli_here, run, undisturbed)
    assert (found["whole"], found["torn"], found["missing"]) == (30, 1, 1)
    assert "found 30 of 32 blocks whole (kept), 1 torn (played again), 1 missing" in told


def test_a_file_of_another_run_is_refused_and_kept(cli_here: Any, tmp_path: Path, done: Path):
    """Rows of other rules or seeds must not be counted in, nor thrown away."""
    run, other = tmp_path / "run", tmp_path / "other"
    shutil.copytree(done, run)
    words = ("--pairs", "640", "--block", "20", "--no-plots", "--out", other)
    assert cli_here("tournament", *BOTS, *words, "--seed", "5", "--rules", "eaai").returncode == 0
    shutil.copy(parts(other)[3], parts(run)[3])
    answer = cli_here("tournament", "--resume", run)
    assert answer.returncode == 2
    line = answer.stderr.splitlines()[0]
    assert "part-000003.parquet: was written with other rules and seed than manifest.json" in line
    assert parts(run)[3].read_bytes() == parts(other)[3].read_bytes()


def test_files_that_are_of_no_block_are_refused(cli_here: Any, tmp_path: Path, done: Path):
    run = tmp_path / "run"
    shutil.copytree(done, run)
    for name in ("part-000032.parquet", "part-999999999999.parquet", "copy of part.parquet"):
        stray = run / "rounds" / name
        shutil.copy(parts(run)[0], stray)
        answer = cli_here("tournament", "--resume", run)
        assert answer.returncode == 2
        assert f"{name}: is no file of this run" in answer.stderr
        stray.unlink()


def test_two_runs_into_one_folder(cli_here: Any, tmp_path: Path, undisturbed: str):
    run = tmp_path / "run"
    first = start("tournament", *WORDS, "--json", "--out", run)
    wait_for(lambda: parts(run), first)
    first.send_signal(signal.SIGSTOP)  # as slow as this test needs it
    for words, says in (
        ((*WORDS, "--out", run), "holds a run already"),
        ((*WORDS, "--out", run, "--overwrite"), "another run is writing here"),
        (("--resume", run), f"another run is writing here (process {first.pid} on"),
    ):
        second = cli_here("tournament", *words)
        assert second.returncode == 2
        assert len(second.stderr.splitlines()) == 1
        assert says in second.stderr
    first.send_signal(signal.SIGCONT)
    out, told = first.communicate(timeout=60)
    assert first.returncode == 0, told
    assert json.loads(out)["summary"]["digest"] == undisturbed
    assert not (run / LOCK).exists()


def test_a_lock_is_free_again_when_its_holder_ended(tmp_path: Path):
    with held(tmp_path, take_over=False) as before:
        assert before is None
        assert (tmp_path / LOCK).exists()
    with held(tmp_path, take_over=False) as before:
        assert before is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("easy", "simple"), "other bots"),
        (("--rules", "eaai"), "other rules"),
        (("--rule", "knock_limit=5"), "other rules"),
        (("--seed", "5"), "other seed"),
        (("--pairs", "9", "--no-mirror"), "other pairs and mirroring"),
        (("--sprt", "0.5:0.6"), "other test"),
    ],
)
def test_resume_refuses_what_differs_and_says_which(
    cli_here: Any, done: Path, words: tuple[str, ...], says: str
):
    answer = cli_here("tournament", *words, "--resume", done)
    assert answer.returncode == 2
    assert f"was started with {says}; --resume takes them from the run" in answer.stderr


def test_resume_takes_what_is_the_same(cli_here: Any, tmp_path: Path, done: Path, undisturbed: str):
    run = tmp_path / "run"
    shutil.copytree(done, run)
    parts(run)[0].unlink()
    answer = cli_here(
        "tournament", *BOTS, "--seed", "4", "--pairs", "640", "--resume", run, "--json"
    )
    assert json.loads(answer.stdout)["summary"]["digest"] == undisturbed


def test_resume_refuses_another_engine_and_changed_bots(cli_here: Any, tmp_path: Path):
    mine = tmp_path / "mine.py"
    text = "from ginsim.bots import load\nfrom dataclasses import replace\n"
    mine.write_text(text + "bot = replace(load('simple'), name='mine')\n")
    run = tmp_path / "run"
    words = ("tournament", f"{mine}:bot", "easy", "--pairs", "4", "--no-plots", "--out", run)
    assert cli_here(*words).returncode == 0
    ran = tmp_path / "ran"
    mine.write_text(text + f"open({str(ran)!r}, 'w')\nbot = replace(load('easy'), name='mine')\n")
    answer = cli_here("tournament", "--resume", run)
    assert answer.returncode == 2
    assert "bot 'mine' has changed since" in answer.stderr
    assert not ran.exists(), "a file that is not the one that was played must not be executed"
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"engine": "0123456789abcdef"}))
    answer = cli_here("tournament", "--resume", run)
    assert "was played by engine 0123456789abcdef, this is" in answer.stderr


def test_a_sequential_run_goes_on_where_it_was_killed(cli_here: Any, tmp_path: Path):
    # Equal bots: it takes long to decide.
    words = ("expected-deadwood", "expected-deadwood", "--sprt", "0.49:0.51", "--no-plots")
    words += ("--pairs", "600", "--jobs", "2", "--json")
    whole = cli_here("tournament", *words, "--out", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    run = tmp_path / "run"
    process = start("tournament", *words, "--out", run)
    wait_for(lambda: len(parts(run)) >= 6, process)
    process.kill()
    process.communicate()
    left = parts(run)
    left[2].write_bytes(left[2].read_bytes()[:-5])
    answer = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    assert answer.returncode == 0, answer.stderr
    assert f"found {len(left) - 1} of" in answer.stderr
    assert "1 torn (played again)" in answer.stderr
    first, second = json.loads(whole.stdout), json.loads(answer.stdout)
    assert second["summary"] == first["summary"]
    assert second["manifest"]["sprt"] == first["manifest"]["sprt"]
    # Once more, of the finished run: all is there.
    again = cli_here("tournament", "--resume", run, "--no-plots", "--json")
    assert json.loads(again.stdout)["summary"] == first["summary"]
    assert len(parts(run)) == second["manifest"]["blocks"]


def test_a_block_that_is_not_there_is_told_at_the_end(tmp_path: Path, cli_here: Any):
    """As when a worker wrote into a folder of its own."""
    run = tmp_path / "run"
    lost = (
        "import ginsim.records as r; old = r.write_part\n"
        "r.write_part = lambda path, *rest: '000003' in path.name or old(path, *rest)"
    )
    process = start("tournament", *WORDS, "--out", run, code=lost)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "part-000003.parquet: was played but is not there (1 such blocks)" in told
    assert recount_block(PLAN, 4, run) is not None
