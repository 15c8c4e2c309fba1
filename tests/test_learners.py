"""The guide for learners, run as it stands; the trained network and its experiment, in small."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ginsim.bots import load
from ginsim.match import play
from ginsim.rules import preset
from ginsim.scoring import FORFEIT

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "learners.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)


def test_the_environment_of_the_guide_runs():
    pytest.importorskip("gymnasium")
    names: dict[str, Any] = {}
    exec(blocks()[0].replace("4096", "64"), names)
    assert names["rewards"].shape == (64,)
    assert names["seen"]["planes"].shape == (64, 10, 52)


def test_the_batch_bot_of_the_guide_plays(tmp_path: Path):
    path = tmp_path / "net.py"
    path.write_text(blocks()[1])
    rows = play((load(f"{path}:bot"), load("easy")), preset("classic"), 1, 5)
    assert not (rows["outcome"] == FORFEIT).any()


def test_the_trained_network_beats_easy_as_its_table_says():
    bots = load(f"{ROOT}/experiments/bots/net.py:bot"), load("easy")
    rows = play(bots, preset("classic"), seed=77, pairs=150)
    ends = rows[np.flatnonzero(np.diff(rows["leg"], append=-1))]
    won = float((ends["winner"] == ends["leg"]).mean())
    stated = json.loads((ROOT / "results" / "net" / "summary.json").read_text())["net"]["easy"]
    # 300 matches: a standard error of 2.8 %; the table's own is half its interval.
    assert abs(won - stated["value"]) < 4 * 0.035
    assert won > 0.5


def test_the_network_answers_a_view_alone_as_in_a_batch():
    bot = load(f"{ROOT}/experiments/bots/net.py:bot")
    alone = load(f"{ROOT}/experiments/bots/net.py:bot")
    batched = play((bot, load("simple")), preset("classic"), seed=5, pairs=3)
    one_by_one = play((alone, load("simple")), preset("classic"), seed=5, pairs=3, compiled=False)
    assert np.array_equal(batched, one_by_one)


def test_the_experiment_trains_and_rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("sklearn")
    from experiments import net as experiment  # noqa: PLC0415 - an extra

    taught, rounds = experiment.collect(4, 3)
    assert rounds > 10
    weights, report = experiment.train(taught, 3)
    assert set(report) == set(experiment.PARTS)
    stored = np.load(experiment.RESULTS / "model.npz")
    assert {name: w.shape for name, w in weights.items()} == {
        name: stored[name].shape for name in stored.files
    }
    # Trained on a handful of rounds it still agrees more often than chance (1 of 11 cards).
    assert report["discard"]["as the teacher"] > 0.2
