"""Plots of sweeps, knock charts and calibrations: every number and label is where it belongs."""

import json
from pathlib import Path

import numpy as np
import pytest

from ginsim import charts
from ginsim.errors import GinsimError

RATE = {"value": 0.5, "low": 0.4, "high": 0.6, "weight": 100}


def rate(value, half=0.05):
    return {"value": value, "low": value - half, "high": value + half, "weight": 100}


def swept(parameters, values, settings, versus=("easy",)):
    """A sweep's summary whose every metric is the sum of the setting, in tenths."""
    curves = [
        {"setting": list(setting), "versus": rival,
         "metrics": {key: rate(sum(setting) / 10) for key in charts.CURVES}}
        for setting in settings
        for rival in (*versus, None)
    ]  # fmt: skip
    return {
        "bot": "normal", "parameters": parameters, "values": values, "versus": list(versus),
        "by": "net_points", "rules": "classic", "seed": 1, "pairs": 100, "rounds": 1,
        "current": list(settings[0]), "best": list(settings[-1]), "curves": curves,
    }  # fmt: skip


ONE = swept(["late_limit"], [[0, 2, 4]], [(0,), (2,), (4,)], ("easy", "hard"))
TWO = swept(["late_limit", "early_turns"], [[0, 2], [1, 3, 5]],
            [(a, b) for a in (0, 2) for b in (1, 3, 5)])  # fmt: skip


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_curve_a_rival_in_per_cent_with_its_band():
    ax = charts.sweep_curve(ONE, "matches_won")
    lines = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert len(lines) == len(ax.collections) == 2
    assert lines[0].get_xdata().tolist() == [0, 2, 4]
    assert lines[0].get_ydata() == pytest.approx([0, 20, 40])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((-5, 45))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["against easy", "against hard", "as it is: 0", "best: 4"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("late_limit of normal", "matches won (%)")


def test_means_are_not_in_per_cent():
    ax = charts.sweep_curve(ONE, "net_points")
    assert ax.lines[0].get_ydata() == pytest.approx([0, 0.2, 0.4])
    assert ax.get_ylabel() == "points a round"


def test_a_grid_has_the_first_parameter_upwards_and_the_second_along():
    ax = charts.sweep_heat(TWO, "matches_won")
    mesh = ax.collections[0].get_array().reshape(2, 3)
    assert np.allclose(np.asarray(mesh), [[10, 30, 50], [30, 50, 70]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("early_turns", "late_limit")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "2"]
    assert "70.0\n65.0\N{EN DASH}75.0" in texts(ax)
    best, current = ax.lines
    assert (min(best.get_xdata()), min(best.get_ydata())) == (2, 1)
    assert (min(current.get_xdata()), min(current.get_ydata())) == (0, 0)


def chart():
    cells = [
        {"rival": "easy", "score": score, "turn": turn, "deadwood": deadwood, "rounds": 9,
         "now": 1.0, "on": 0.5, "gain": gain, "low": None, "high": None, "p": None,
         "advice": advice}
        for score in (None, "80:20")
        for turn, deadwood, gain, advice in (
            (1, 1, 5.0, "few"), (1, 2, 0.02, "either"), (2, 1, -0.3, "wait"), (2, 2, 0.4, "knock"),
        )
    ]  # fmt: skip
    return {"bot": "normal", "rivals": ["easy"], "scores": ["80:20"], "rules": "classic",
            "seed": 1, "pairs": 10, "turns": 2, "cells": cells}  # fmt: skip


def test_a_knock_chart_shows_gains_where_enough_is_known():
    ax = charts.knock_chart(chart(), "easy")
    mesh = np.ma.asarray(ax.collections[0].get_array()).reshape(2, 2)
    assert mesh.mask.tolist() == [[True, False], [False, False]]
    assert mesh[0, 1] == pytest.approx(-0.3)
    assert texts(ax)[:4] == ["·", "+0.0", "-0.3", "+0.4"]
    assert [t.get_fontweight() for t in ax.texts[1:4]] == ["normal", "bold", "bold"]
    norm = ax.collections[0].norm
    assert norm.vmax == -norm.vmin == pytest.approx(0.4)


def test_at_a_score_a_chart_is_in_percentage_points():
    ax = charts.knock_chart(chart(), "easy", "80:20")
    assert texts(ax)[2] == "-30.0"
    assert "at 80 to 20" in ax.get_title(loc="left")
    assert set(charts.chart_drawings(chart())) == {"knock_chart", "knock_chart_80-20"}


def step():
    return {
        "target": "hard/normal=0.65", "level": "normal", "against": "hard", "goal": 0.35,
        "knob": "high_weight", "setting": 20, "lack_of_fit": 0.5, "seed": 1, "pairs": 100,
        "played": [{"setting": v, **rate(0.4 - v / 200)} for v in (0, 20, 40)],
        "curve": {"degree": 1, "values": [0, 20, 40], "rates": [0.4, 0.3, 0.2],
                  "low": [0.35, 0.25, 0.15], "high": [0.45, 0.35, 0.25]},
        "tries": [{"setting": 20, "seed": 2, "pairs": 50, **rate(0.36)}],
    }  # fmt: skip


def test_a_calibration_shows_curve_target_choice_and_what_fresh_deals_say():
    ax = charts.calibration_curve(step())
    assert ax.lines[0].get_ydata() == pytest.approx([40, 30, 20])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["played", "fitted", "target 35 %", "chosen: 20", "verified: 36.00 %"]
    assert any(np.allclose(line.get_ydata(), 35) for line in ax.lines)


@pytest.mark.parametrize(
    ("name", "content", "files"),
    [
        ("sweep.json", ONE, {f"sweep_{key}" for key in charts.CURVES}),
        ("sweep.json", TWO, {f"sweep_{key}" for key in charts.CURVES}),
        ("knock_chart.json", chart(), {"knock_chart", "knock_chart_80-20"}),
        ("calibration.json", {"steps": [step()]}, {"calibration_normal"}),
    ],
)
def test_plot_draws_any_kind_of_run_and_the_same_again(name, content, files, tmp_path):
    (tmp_path / name).write_text(json.dumps(content))
    drawn = charts.redraw(tmp_path)
    assert {path.stem for path in drawn} == files
    before = {path: path.read_bytes() for path in drawn}
    assert {path: path.read_bytes() for path in charts.redraw(tmp_path)} == before


@pytest.mark.parametrize("content", [{}, [], {"steps": [{}]}, {"steps": 3}, None, "x"])
def test_odd_summaries_are_refused_in_one_line(content, tmp_path):
    (tmp_path / "calibration.json").write_text(json.dumps(content))
    with pytest.raises(GinsimError, match=r"no summary of a run|holds no JSON object"):
        charts.redraw(tmp_path)


def test_a_folder_without_a_summary_is_refused(tmp_path):
    with pytest.raises(GinsimError, match="holds no summary"):
        charts.redraw(tmp_path)
    with pytest.raises(GinsimError, match="holds no summary"):
        charts.redraw(Path(tmp_path / "nowhere"))
