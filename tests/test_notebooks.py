"""Notebooks: both halves of a pair say the same, and each runs on a small real run."""

import re
import warnings
from pathlib import Path

import jupytext
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SCRIPTS = sorted(FOLDER.glob("*.py"))


def test_every_notebook_is_a_pair_and_is_listed():
    assert [path.stem for path in NOTEBOOKS] == [path.stem for path in SCRIPTS]
    assert len(NOTEBOOKS) == 5
    readme = (FOLDER / "README.md").read_text()
    assert [path.stem for path in NOTEBOOKS if path.name not in readme] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pair_is_in_sync_and_keeps_no_outputs(path):
    """If this fails: ``jupytext --sync notebooks/*.py``."""
    notebook, script = jupytext.read(path), jupytext.read(path.with_suffix(".py"))
    cells = [[(cell.cell_type, cell.source) for cell in half.cells] for half in (notebook, script)]
    assert cells[0] == cells[1]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run a notebook in a folder of its own; its outputs, none of which is an error."""
    monkeypatch.delenv("GINSIM_RUN", raising=False)
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    folder = tmp_path / "notebooks"
    folder.mkdir()

    def run(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the client's own libraries, not the notebook's
            from nbclient import NotebookClient  # noqa: PLC0415

            notebook = jupytext.read(path)
            resources = {"metadata": {"path": str(folder)}}
            NotebookClient(notebook, timeout=120, resources=resources).execute()
        outputs = [
            output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        ]
        assert [o.text for o in outputs if o.get("name") == "stderr"] == []
        return outputs

    return run


def text_of(outputs):
    return "".join(output.get("text", "") for output in outputs)


def pictures_in(outputs):
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_reading_a_run(execute, finished_run, monkeypatch):
    monkeypatch.setenv("GINSIM_RUN", str(finished_run["path"]))
    outputs = execute(FOLDER / "01-reading-a-run.ipynb")
    summary = finished_run["summary"]
    assert f"{summary['rounds']:,} rounds in 720 matches, counted alike by all" in text_of(outputs)


def test_win_rates_and_undercuts(execute, finished_run, monkeypatch):
    monkeypatch.setenv("GINSIM_RUN", str(finished_run["path"]))
    outputs = execute(FOLDER / "02-win-rates-and-undercuts.ipynb")
    assert pictures_in(outputs) == 3


def test_knock_chart(execute, tuned, monkeypatch):
    monkeypatch.setenv("GINSIM_CHART", str(tuned / "chart"))
    outputs = execute(FOLDER / "03-knock-chart.ipynb")
    assert pictures_in(outputs) == 3  # the chart, two of its turns, the chart at a score
    assert "places where normal does not do what surely pays" in text_of(outputs)


def test_calibrating_the_levels(execute, tuned, monkeypatch):
    monkeypatch.setenv("GINSIM_CALIBRATION", str(tuned / "calibration"))
    outputs = execute(FOLDER / "04-calibrating-the-levels.ipynb")
    assert pictures_in(outputs) == 2
    text = text_of(outputs)
    crossing = re.search(r"crosses 0.35 at late_limit = ([\d.]+)", text)
    read = re.search(r"calibrate reads ([\d.]+)", text)
    assert crossing is not None
    assert read is not None
    # Read off a curve of 41 points by straight lines between them.
    assert float(crossing[1]) == pytest.approx(float(read[1]), abs=0.05)


def test_comparing_two_runs_plays_them_itself(execute, tmp_path):
    outputs = execute(FOLDER / "05-comparing-two-runs.ipynb")
    played = {path.parent.name for path in tmp_path.glob("results/notebooks/*/summary.json")}
    assert len(played) == 3
    assert "tournament-normal-late-limit-6-easy-pairs-1000-seed-11" in played
    assert pictures_in(outputs) == 1
    assert "percentage points of matches won" in text_of(outputs)
