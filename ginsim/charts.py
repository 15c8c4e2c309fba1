"""Plots of sweeps, calibrations and knock charts: JSON in, an Axes out."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ginsim import places
from ginsim.calibrate import CALIBRATION
from ginsim.errors import GinsimError
from ginsim.knock_chart import CHART
from ginsim.places import Place
from ginsim.plots import (
    SIZES,
    axis_labels,
    bot_style,
    cell_text,
    counted,
    head,
    ink_on,
    new_axes,
    plot_drawings,
    save_figures,
    shown,
    side_legend,
)
from ginsim.records import read_json
from ginsim.stats import METRIC
from ginsim.sweep import CURVES, SWEEP
from ginsim.tournament import SUMMARY

Json = Mapping[str, Any]

CURRENT = "#555555"  #: colour of marks for values as they are, targets and choices


def metric_label(key: str) -> str:
    """Return a metric's name and unit for an axis."""
    metric = METRIC[key]
    return f"{metric.label} (%)" if metric.share else metric.label


def capital(words: str) -> str:
    """Return *words* as a title begins."""
    return words[:1].upper() + words[1:]


def scaled(rate: Json, key: str) -> tuple[float, float, float]:
    """Value, low and high of a rate in the unit of its axis; NaN where there is none."""
    factor = 100 if METRIC[key].share else 1
    value, low, high = (rate[end] for end in ("value", "low", "high"))
    if value is None:
        return (float("nan"),) * 3
    return (
        factor * value,
        factor * (value if low is None else low),
        factor * (value if high is None else high),
    )


def _band_axes(ax: Axes | None) -> Axes:
    ax = new_axes(ax, 8.4, 4.8)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _played(summary: Json) -> str:
    return (
        f"{summary['rules']}: {counted(summary['pairs'], 'mirrored pair')} a value and rival, "
        f"the same deals for all, seed {summary['seed']}"
    )


def _tick_values(ax: Axes, values: Sequence[int]) -> None:
    """Ticks at the values played while there is room for them."""
    if len(values) <= 16:
        ax.set_xticks(values)


def sweep_curve(summary: Json, key: str, ax: Axes | None = None) -> Axes:
    """Metric *key* against the value of the one parameter swept, a curve and band a rival."""
    ax = _band_axes(ax)
    name = summary["parameters"][0]
    handles, labels = [], []
    for place, rival in enumerate(summary["versus"]):
        entries = [entry for entry in summary["curves"] if entry["versus"] == rival]
        values = [entry["setting"][0] for entry in entries]
        rates = np.array([scaled(entry["metrics"][key], key) for entry in entries])
        style = bot_style(place)
        handles += ax.plot(values, rates[:, 0], **style)
        ax.fill_between(values, rates[:, 1], rates[:, 2], color=style["color"], alpha=0.18, lw=0)
        labels.append(f"against {shown(rival)}")
    marks = [("as it is", summary["current"][0], ":"), ("best", summary["best"][0], "--")]
    for label, value, line in marks:
        handles.append(ax.axvline(value, color=CURRENT, linestyle=line, linewidth=1))
        labels.append(f"{label}: {value}")
    _tick_values(ax, summary["values"][0])
    axis_labels(ax, f"{name} of {shown(summary['bot'])}", metric_label(key))
    side_legend(ax, handles, labels, "")
    head(
        ax,
        f"{capital(METRIC[key].label)} by {name}",
        [_played(summary), "bands: 95 % intervals clustered by pair",
         f"best: most {METRIC[summary['by']].label} over all rivals"],
    )  # fmt: skip
    return ax


def sweep_heat(summary: Json, key: str, ax: Axes | None = None) -> Axes:
    """Heat map of metric *key* over two parameters, all rivals together."""
    entries = {
        tuple(entry["setting"]): entry["metrics"][key]
        for entry in summary["curves"]
        if entry["versus"] is None
    }
    down, across = summary["values"]
    grid = np.array([[scaled(entries[row, column], key)[0] for column in across] for row in down])
    ax = new_axes(ax, max(6.4, 2.8 + 0.74 * len(across)), max(3.6, 2.2 + 0.5 * len(down)))
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(grid), cmap="cividis", edgecolors="white", linewidth=1.2
    )
    share = METRIC[key].share
    for at, row in enumerate(down):
        for place, column in enumerate(across):
            rate = entries[row, column]
            text = cell_text(rate) if share else f"{rate['value']:.2f}"
            ax.text(
                place + 0.5, at + 0.5, text, ha="center", va="center",
                fontsize=SIZES["cell"] - 0.5, color=ink_on(mesh.cmap(mesh.norm(grid[at, place]))),
            )  # fmt: skip
    best = down.index(summary["best"][0]), across.index(summary["best"][1])
    _frame(ax, best[1], best[0], "#D55E00", "-")
    now = tuple(summary["current"])
    if now in entries:
        _frame(ax, across.index(now[1]), down.index(now[0]), "black", ":")
    ax.set_xticks(np.arange(len(across)) + 0.5, across)
    ax.set_yticks(np.arange(len(down)) + 0.5, down)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.05, pad=0.02)
    bar.set_label(metric_label(key), fontsize=SIZES["cell"])
    bar.ax.tick_params(labelsize=SIZES["cell"])
    bar.outline.set_visible(False)
    axis_labels(ax, summary["parameters"][1], summary["parameters"][0])
    rivals = ", ".join(shown(rival) for rival in summary["versus"])
    head(
        ax,
        f"{capital(METRIC[key].label)}: {shown(summary['bot'])} against {rivals}",
        [_played(summary), "framed: best (whole line), as it is (dotted)"],
    )
    return ax


def _frame(ax: Axes, column: int, row: int, colour: str, line: str) -> None:
    corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)]
    x, y = zip(*corners, corners[0], strict=True)
    ax.plot(x, y, color=colour, linewidth=2.2, linestyle=line, clip_on=False)


def sweep_drawings(summary: Json) -> dict[str, Callable[[], Axes]]:
    """Every plot of a sweep, by the name of its files."""
    draw = sweep_curve if len(summary["parameters"]) == 1 else sweep_heat
    return {f"sweep_{key}": functools.partial(draw, summary, key) for key in CURVES}


def _numbered(last: int) -> list[str]:
    return [str(number) for number in range(1, last + 1)]


def chart_title(bot: str, rival: str, score: str | None) -> str:
    """Return what a knock chart is of."""
    at = f" at {score.replace(':', ' to ')}" if score else ""
    return f"Knock chart of {shown(bot)} against {shown(rival)}{at}"


def knock_chart(chart: Json, rival: str, score: str | None = None, ax: Axes | None = None) -> Axes:
    """Heat map of own turn and deadwood: what knocking now is worth more than playing on."""
    cells = [c for c in chart["cells"] if c["rival"] == rival and c["score"] == score]
    limit = max(cell["deadwood"] for cell in cells)
    factor = 100 if score else 1
    gains = np.full((limit, chart["turns"]), np.nan)
    for cell in cells:
        if cell["advice"] != "few":
            gains[cell["deadwood"] - 1, cell["turn"] - 1] = factor * cell["gain"]
    reach = float(np.nanmax(np.abs(gains))) if np.isfinite(gains).any() else 1.0
    ax = new_axes(ax, max(7.2, 2.6 + 0.56 * chart["turns"]), max(3.4, 2.4 + 0.36 * limit))
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(gains), cmap="RdBu", vmin=-reach, vmax=reach,
        edgecolors="white", linewidth=1.2,
    )  # fmt: skip
    for cell in cells:
        place = (cell["turn"] - 0.5, cell["deadwood"] - 0.5)
        if cell["advice"] == "few":
            ax.text(*place, "·", ha="center", va="center", color="#999999")
            continue
        sure = cell["advice"] != "either"
        gain = factor * cell["gain"]
        ax.text(
            *place, f"{gain:+.1f}", ha="center", va="center", fontsize=SIZES["cell"],
            fontweight="bold" if sure else "normal", alpha=1.0 if sure else 0.75,
            color=ink_on(mesh.cmap(mesh.norm(gain))),
        )  # fmt: skip
    ax.set_xticks(np.arange(chart["turns"]) + 0.5, _numbered(chart["turns"]))
    ax.set_yticks(np.arange(limit) + 0.5, _numbered(limit))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.05, pad=0.02)
    unit = "match wins, percentage points" if score else "points of the round"
    bar.set_label(f"wait better  |  knock better\n({unit})", fontsize=SIZES["cell"])
    bar.ax.tick_params(labelsize=SIZES["cell"])
    bar.outline.set_visible(False)
    axis_labels(ax, "own turn", "deadwood after the discard (points)")
    head(
        ax,
        chart_title(chart["bot"], rival, score),
        [f"{chart['rules']}: {counted(chart['pairs'], 'mirrored pair')} a turn, each deal played "
         f"both ways, seed {chart['seed']}",
         "knocking now less playing on; bold: sure (Holm, 5 % for the whole chart); "
         "dot: too few rounds"],
    )  # fmt: skip
    return ax


def chart_name(rival: str, score: str | None, rivals: Sequence[str]) -> str:
    """Return the file name of one table of a knock chart."""
    number = "" if len(rivals) == 1 else f"_{rivals.index(rival) + 1}"
    return f"knock_chart{number}" + (f"_{score.replace(':', '-')}" if score else "")


def chart_drawings(chart: Json) -> dict[str, Callable[[], Axes]]:
    """Every plot of a knock chart, by the name of its files."""
    return {
        chart_name(rival, score, chart["rivals"]): functools.partial(
            knock_chart, chart, rival, score
        )
        for rival in chart["rivals"]
        for score in (None, *chart["scores"])
    }


def calibration_curve(step: Json, ax: Axes | None = None) -> Axes:
    """Match wins of the tuned level against its knob: played, fitted, target and choice."""
    ax = _band_axes(ax)
    curve = step["curve"]
    style = bot_style(0)
    rates, low, high = (100 * np.array(curve[name]) for name in ("rates", "low", "high"))
    (line,) = ax.plot(curve["values"], rates, color=style["color"], linewidth=1.4)
    ax.fill_between(curve["values"], low, high, color=style["color"], alpha=0.18, linewidth=0)
    played = step["played"]
    value, below, above = (
        100 * np.array([entry[name] for entry in played]) for name in ("value", "low", "high")
    )
    dots = ax.errorbar(
        [entry["setting"] for entry in played], value, [value - below, above - value],
        fmt="o", color="#333333", markersize=4, linewidth=0.9, capsize=2,
    )  # fmt: skip
    goal = ax.axhline(100 * step["goal"], color="#D55E00", linewidth=1.1, linestyle="--")
    chosen = ax.axvline(step["setting"], color="#D55E00", linewidth=1.1, linestyle=":")
    last = step["tries"][-1]
    verified = ax.errorbar(
        [step["setting"]], [100 * last["value"]],
        [[100 * (last["value"] - last["low"])], [100 * (last["high"] - last["value"])]],
        fmt="D", color="#009E73", markersize=6, capsize=3,
    )  # fmt: skip
    axis_labels(
        ax, f"{step['knob']} of {step['level']}",
        f"matches won by {step['level']} against {shown(step['against'])} (%)",
    )  # fmt: skip
    handles = [dots, line, goal, chosen, verified]
    labels = [
        "played", "fitted", f"target {100 * step['goal']:g} %", f"chosen: {step['setting']}",
        f"verified: {100 * last['value']:.2f} %",
    ]  # fmt: skip
    side_legend(ax, handles, labels, "")
    shape = "straight in log odds" if curve["degree"] == 1 else "cubic in log odds"
    head(
        ax,
        f"Calibration of {step['level']} ({step['target']})",
        [f"{counted(step['pairs'], 'mirrored pair')} a value, the same deals for all, seed "
         f"{step['seed']}; lack of fit p = {step['lack_of_fit']:.3f}, {shape}",
         f"verified on {counted(last['pairs'], 'pair')} of seed {last['seed']}; "
         "95 % intervals clustered by pair"],
    )  # fmt: skip
    return ax


def calibration_drawings(found: Json) -> dict[str, Callable[[], Axes]]:
    """Every plot of a calibration, by the name of its files."""
    return {
        f"calibration_{step['level']}": functools.partial(calibration_curve, step)
        for step in found["steps"]
    }


#: What a run folder may hold, and how it is drawn.
DRAWINGS: dict[str, Callable[[Json], dict[str, Callable[[], Axes]]]] = {
    SWEEP: sweep_drawings,
    CHART: chart_drawings,
    CALIBRATION: calibration_drawings,
    SUMMARY: plot_drawings,
}


def redraw(run: Place) -> list[Place]:
    """Draw the plots of a run of any kind again, from what its summaries say.

    Raises GinsimError if *run* holds none, or one that is no summary.
    """
    present = [name for name in DRAWINGS if places.is_file(run / name)]
    if not present:
        raise GinsimError(
            f"{run}: holds no summary to draw ({', '.join(DRAWINGS)}); a run that was stopped "
            "is finished with --resume"
        )
    files: list[Place] = []
    for name in present:
        content = read_json(run / name)
        try:
            files += save_drawings(DRAWINGS[name](content), run)
        except GinsimError:
            raise
        except Exception as error:  # whatever a file may hold where numbers are due
            raise GinsimError(f"{run / name}: is no summary of a run (at {error})") from None
    return files


def save_drawings(drawings: Mapping[str, Callable[[], Axes]], run: Place) -> list[Place]:
    """Draw *drawings* into the plots of *run*, as PNG and SVG; returns the files."""
    return save_figures(drawings, run / "plots")
