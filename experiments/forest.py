"""The plot of a claim: effect and interval of every cell."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.trial import FAILS, HOLDS, MEASURED, SHARE, Cell, Claim
from ginsim.plots import COLOURS, MARKERS, SIZES


def forest(claim: Claim, cells: Sequence[Cell], pairs: int) -> Figure:
    """Effect and interval of every cell: a panel a contrast, a line a rival, a mark a preset."""
    contrasts = list(dict.fromkeys(one.contrast for one in cells))
    rules = list(dict.fromkeys(one.rules for one in cells))
    heights = [len({c.rival for c in cells if c.contrast == name}) for name in contrasts]
    title = textwrap.wrap(claim.sentence, 105)
    height = 1.5 + 0.22 * len(title) + sum(0.55 + 0.36 * rows for rows in heights)
    figure = Figure(figsize=(8.2, height), layout="constrained")
    panels = figure.subplots(len(contrasts), 1, squeeze=False, height_ratios=heights)
    by_unit: dict[str, list[Axes]] = {}
    for ax, contrast in zip(panels[:, 0], contrasts, strict=True):
        own = [one for one in cells if one.contrast == contrast]
        unit = own[0].unit
        if not claim.measured:
            reach = unit.scale * unit.margin
            ax.axvspan(-reach, reach, color="#EEEEEE", zorder=0)
        _panel(ax, own, rules, claim.against)
        ax.set_title(contrast, loc="left", fontsize=SIZES["label"])
        by_unit.setdefault(unit.name, []).append(ax)
    for unit_name, axes in by_unit.items():
        what = claim.effect if unit_name == SHARE.name else "gain of doing as the claim says"
        shown = "%" if claim.measured else unit_name
        axes[-1].set_xlabel(f"{what} ({shown})", fontsize=SIZES["label"])
        limits = np.array([ax.get_xlim() for ax in axes])
        for ax in axes:
            ax.set_xlim(limits[:, 0].min(), limits[:, 1].max())
            ax.tick_params(labelbottom=ax is axes[-1])
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        *handles, loc="outside lower center", ncols=len(rules), frameon=False,
        fontsize=SIZES["tick"],
    )  # fmt: skip
    caption = f"{pairs:,} {claim.rests_on}, 95 % intervals"
    if not claim.measured:
        caption += "; full marks: holds or fails (Holm); grey: no difference"
    lines = title + textwrap.wrap(caption, 105)
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=SIZES["tick"])
    return figure


def _panel(ax: Axes, cells: Sequence[Cell], rules: Sequence[str], against: str) -> None:
    rivals = list(dict.fromkeys(one.rival for one in cells))
    ax.axvline(0, color="#666666", linewidth=0.8, zorder=1)
    here = [name for name in rules if any(one.rules == name for one in cells)]
    reach = 0.16 * min(len(here) - 1, 2)
    dodge = dict(zip(here, np.linspace(-reach, reach, len(here)), strict=True))
    for at, name in enumerate(rules):
        colour, marker = COLOURS[at], MARKERS[at]
        ax.plot([], [], color=colour, marker=marker, linewidth=1.2, label=name)
        for one in cells:
            if one.rules != name:
                continue
            y, scale = rivals.index(one.rival) + dodge[name], one.unit.scale
            ax.plot(
                [scale * one.effect.low, scale * one.effect.high],
                [y, y],
                color=colour,
                linewidth=1.2,
            )
            full = one.verdict in (HOLDS, FAILS, MEASURED)
            ax.plot(
                scale * one.effect.value, y, marker=marker, color=colour, markersize=5.5,
                markerfacecolor=colour if full else "white",
            )  # fmt: skip
    ax.set_yticks(range(len(rivals)), [f"{against} {rival}" for rival in rivals])
    ax.set_ylim(len(rivals) - 0.5, -0.5)
    ax.tick_params(labelsize=SIZES["tick"])
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
