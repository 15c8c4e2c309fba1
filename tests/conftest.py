"""Shared by the tests: hypothesis profile, and runs on disk made once."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ginsim.calibrate import LEVELS, Calibration, Knob, Target, begin, calibrate, finish
from ginsim.cli import main
from ginsim.knock_chart import knock_chart, save_chart
from ginsim.rules import preset, resolve
from ginsim.summary import summary_of
from ginsim.sweep import Sweep, run_sweep, sweep_manifest
from ginsim.tournament import Plan, manifest_of, prepare_folder, run_tournament

# Kernels compile on their first call, which no deadline should count.
settings.register_profile("ginsim", deadline=None, derandomize=True)
settings.load_profile("ginsim")

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cli() -> Cli:
    """The real command in a process of its own: cli("hand", "AS"), cli(..., stdin="...")."""

    def run(
        *words: str | Path, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from ginsim.cli import main; main()", *map(str, words)]
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**os.environ, **env},
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def cli_here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """``cli`` in this process: the same command, without the seconds a new process takes."""

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["ginsim", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return subprocess.CompletedProcess(words, int(ended.value.code or 0), out, err)

    return run


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A small real run on disk: path, plan, totals, manifest, summary."""
    run = tmp_path_factory.mktemp("runs") / "small"
    plan = Plan(("easy", "normal", "hard", "simple"), preset("classic"), seed=5, pairs=60)
    prepare_folder(run, overwrite=False)
    totals, manifest = run_tournament(plan, run, manifest_of(plan, "classic"), jobs=2)
    summary = summary_of(plan, totals)
    (run / "summary.json").write_text(json.dumps(summary))
    return {
        "path": run,
        "plan": plan,
        "totals": totals,
        "manifest": manifest,
        "summary": summary,
    }


@pytest.fixture(scope="session")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of a small sweep, knock chart and calibration, as the commands leave them."""
    folder = tmp_path_factory.mktemp("tuned")
    classic = preset("classic")
    swept = Sweep(
        "normal@early_turns=5", ("late_limit",), ((0, 4),), ("easy", "simple"),
        resolve("eaai", ["knock_limit=8"]), 3, 40,
    )  # fmt: skip
    prepare_folder(folder / "sweep", overwrite=False)
    run_sweep(swept, folder / "sweep", sweep_manifest(swept, "eaai"), jobs=1)
    chart = knock_chart("normal", ["easy"], classic, pairs=2000, turns=8, scores=["80:20"])
    (folder / "chart").mkdir()
    save_chart(chart.to_json(), folder / "chart")
    knobs = {level: Knob.parse(level, "late_limit:0:8:4") for level in LEVELS}
    asked = Calibration(
        (Target("hard", "normal", 0.65),), classic, "hard", knobs, 1, 100, 100, within=0.45
    )
    begin(asked, folder / "calibration")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ginsim.calibrate.WATCHED_PAIRS", 2)
        calibrate(asked, folder / "calibration", jobs=1)
    finish(folder / "calibration")
    return folder
