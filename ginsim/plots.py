"""Plots of a tournament: a summary in, an Axes out.

Each plot draws on *ax*, or on a figure of its own that no global state knows of (it is
``ax.figure``). Bots keep the summary's order, and one colour and marker through all plots.
"""

import functools
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ginsim import places
from ginsim.places import Place
from ginsim.tally import TURN_BINS

Summary = Mapping[str, Any]

#: Okabe and Ito's colours for all kinds of sight, "Color Universal Design" (2008). Their
#: yellow is too faint for a line on white; R's ``palette.colors`` adds the grey.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#000000", "#999999",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", "*", ">", "h")
LINES = ("-", "--", ":")  #: one for each time round COLOURS

#: Colour and hatch of the ways a round ends: a win and the loss that mirrors it are equally
#: dark, and losses are hatched, so that grey will do.
ENDING_STYLE = {
    "gin": ("#0072B2", ""),
    "knock won": ("#56B4E9", ""),
    "undercut made": ("#C6E6F7", ""),
    "dead": ("#1A1A1A", ""),
    "undercut suffered": ("#FCE3B0", "////"),
    "lost to knock": ("#E69F00", "////"),
    "lost to gin": ("#D55E00", "////"),
}
UNSCORED = "tie or forfeit"
UNSCORED_STYLE = ("#FFFFFF", "..")

MIN_KNOCKS = 30  #: knocks that an undercut rate must rest on to be drawn
FEW_PAIRS = 30  #: pairs below which a normal interval is too short to be trusted
CUT = 999, 1000  #: share of every bot's rounds that the axis of round lengths must hold
#: Per cent of a bot's knocks at one deadwood (``gin-only``: 100) above which a linear axis
#: would squeeze all the others.
SQUEEZED = 50

DPI = 160
SIZES = {"title": 12.0, "caption": 8.0, "label": 10.0, "tick": 9.0, "cell": 8.0}  #: points
LONGEST_NAME = 22  #: characters of a bot's name that are shown


def shown(name: str) -> str:
    r"""Return a bot's name as it stands in a plot: one line, not too long, no mathtext.

    >>> shown("knock-at-10"), shown("my-very-cautious-bot-v12"), shown("a$b")
    ('knock-at-10', 'my-very-caut…s-bot-v12', 'a\\$b')
    """
    name = " ".join(name.split())
    if len(name) > LONGEST_NAME:
        name = f"{name[:12]}…{name[-9:]}"
    return name.replace("$", r"\$")


def cell_text(rate: Mapping[str, Any]) -> str:
    r"""Return a rate over its interval, in per cent; without one if it has none.

    >>> cell_text({"value": 0.641, "low": 0.6237, "high": 0.6578, "weight": 4000})
    '64.1\n62.4\u201365.8'
    """
    value = f"{100 * rate['value']:.1f}"
    if rate["low"] is None or rate["high"] is None:
        return value
    return f"{value}\n{100 * rate['low']:.1f}\N{EN DASH}{100 * rate['high']:.1f}"


def shares(counts: Sequence[int]) -> np.ndarray:
    """Return each count in per cent of all, float64; all NaN if there are none.

    >>> shares([1, 3]).tolist()
    [25.0, 75.0]
    """
    whole = sum(counts)
    return np.array([100 * count / whole if whole else np.nan for count in counts])


def names(summary: Summary) -> list[str]:
    """Return the bots' names as shown, in the summary's order."""
    return [shown(bot["name"]) for bot in summary["bots"]]


def bot_style(at: int) -> dict[str, Any]:
    """Return line properties of the bot at place *at* of the summary, the same in all plots."""
    marker = MARKERS[at % len(MARKERS)]
    return {
        "color": COLOURS[at % len(COLOURS)],
        "marker": marker,
        "linestyle": LINES[at // len(COLOURS) % len(LINES)],
        "linewidth": 1.2,
        "markersize": 8.0 if marker == "*" else 6.0 if marker in "PXp" else 5.0,
        "markeredgewidth": 0.0,
        "clip_on": False,  # a marker on the axis is shown whole
    }


def counted(number: int, noun: str) -> str:
    """Return a count and its noun.

    >>> counted(1, "round"), counted(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def played(summary: Summary) -> str:
    """Return the caption's first line: what the plot rests on."""
    pairs = counted(summary["pairs"], "mirrored pair" if summary["mirrored"] else "unmirrored pair")
    rounds = counted(summary["rounds"], "round")
    return f"{summary['rules']}: {pairs} a matchup, {rounds} in all, seed {summary['seed']}"


def intervals(summary: Summary) -> str:
    """Return the caption's line on intervals; says so where they are not to be trusted."""
    line = "95 % intervals, clustered by pair"
    if summary["pairs"] < FEW_PAIRS:
        return line + f" (rough: fewer than {FEW_PAIRS} pairs)"
    return line


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return *ax*, or the Axes of a new figure of *width* x *height* inches."""
    if ax is not None:
        return ax
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def head(ax: Axes, title: str, caption: Iterable[str]) -> None:
    """Put *title* over *ax* and the lines of *caption* between them."""
    lines = list(caption)
    ax.annotate(
        "\n".join(lines),
        (0, 1),
        xytext=(0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=SIZES["caption"],
        color="#444444",
        linespacing=1.25,
    ).set_in_layout(False)  # the title's pad keeps its room; its width must not shrink the axes
    pad = 9 + len(lines) * SIZES["caption"] * 1.45
    ax.set_title(title, loc="left", fontsize=SIZES["title"], pad=pad)


def axis_labels(ax: Axes, x: str, y: str) -> None:
    """Name both axes of *ax*, with their units."""
    ax.set_xlabel(x, fontsize=SIZES["label"])
    ax.set_ylabel(y, fontsize=SIZES["label"])
    ax.tick_params(labelsize=SIZES["tick"])


def side_legend(ax: Axes, handles: Sequence[Any], labels: Sequence[str], title: str) -> None:
    """Put a legend to the right of *ax*, off its data."""
    ax.legend(
        handles,
        labels,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        fontsize=SIZES["tick"],
        title_fontsize=SIZES["tick"],
        alignment="left",
    )


def _curves(ax: Axes | None, bots: int) -> Axes:
    """Return Axes for one curve a bot, with room for a legend of that many."""
    ax = new_axes(ax, 8.4 + 0.08 * bots, max(4.8, 1.6 + 0.24 * bots))
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _deadwood_axis(ax: Axes, bot: Mapping[str, Any], bins: Sequence[int]) -> None:
    """Label *bins* of knock deadwood on the x axis, with a faint line between any two."""
    labels = ["0\n(gin)" if at == 0 else bot["deadwood"][at] for at in bins]
    ax.set_xticks(bins, labels)
    ax.set_xlim(bins[0] - 0.5, bins[-1] + 0.5)
    for at in bins[1:]:
        ax.axvline(at - 0.5, color="#EEEEEE", linewidth=0.6, zorder=0)


def _deadwood_bins(summary: Summary) -> list[int]:
    """Bins of knock deadwood that are shown: 0..10, and all above only if anybody knocked so."""
    bins = len(summary["bots"][0]["deadwood"])
    above = any(bot["knocks_by_deadwood"][-1] for bot in summary["bots"])
    return list(range(bins if above else bins - 1))


def win_rate_matrix(summary: Summary, ax: Axes | None = None) -> Axes:
    """Heat map of matches won by the bot of the row against that of the column, in per cent."""
    bots = names(summary)
    at = {bot["name"]: place for place, bot in enumerate(summary["bots"])}
    won = np.full((len(bots), len(bots)), np.nan)
    texts = {}
    for matchup in summary["matchups"]:
        first, second = at[matchup["first"]], at[matchup["second"]]
        for row, column, side in ((first, second, "first"), (second, first, "second")):
            rate = matchup[f"{side}_metrics"]["matches_won"]
            if rate["value"] is not None:
                won[row, column] = 100 * rate["value"]
                texts[row, column] = cell_text(rate)

    longest = max(map(len, bots))
    ax = new_axes(ax, max(6.6, 2.2 + 0.07 * longest + 0.82 * len(bots)), 3.0 + 0.55 * len(bots))
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(won), cmap="RdBu", vmin=0, vmax=100, edgecolors="white", linewidth=1.5
    )
    for (row, column), text in texts.items():
        colour = mesh.cmap(mesh.norm(won[row, column]))
        ax.text(
            column + 0.5,
            row + 0.5,
            text,
            ha="center",
            va="center",
            fontsize=SIZES["cell"],
            color=ink_on(colour),
        )
    places = np.arange(len(bots)) + 0.5
    ax.set_yticks(places, bots)
    ax.set_xticks(places, bots)
    ax.invert_yaxis()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if longest * 0.095 > max(0.82, 4.4 / len(bots)):  # inches: of a name, of a cell
        for label in ax.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")
    bar = ax.figure.colorbar(mesh, ax=ax, ticks=[0, 25, 50, 75, 100], fraction=0.05, pad=0.02)
    bar.set_label("matches won by the bot of the row (%)", fontsize=SIZES["cell"])
    bar.ax.tick_params(labelsize=SIZES["cell"])
    bar.outline.set_visible(False)
    axis_labels(ax, "against this bot (column)", "bot (row)")
    caption = [
        played(summary),
        "below each rate: " + intervals(summary),
        "a drawn match counts as half a win",
    ]
    head(ax, "Matches won, row against column (%)", caption)
    return ax


def ink_on(colour: Any) -> str:
    """Black or white, whichever reads better on *colour* (weights of ITU-R BT.601)."""
    red, green, blue = to_rgb(colour)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def undercut_by_deadwood(summary: Summary, ax: Axes | None = None) -> Axes:
    """Share of a bot's knocks that were undercut, by the deadwood it knocked with.

    Gin is left out, and so is what rests on fewer than MIN_KNOCKS knocks.
    """
    bots = summary["bots"]
    bins = _deadwood_bins(summary)[1:]
    ax = _curves(ax, len(bots))
    reach = min(0.32, 0.07 * (len(bots) - 1))
    dodges = np.linspace(-reach, reach, len(bots))
    handles, labels = [], []
    for place, (bot, name) in enumerate(zip(bots, names(summary), strict=True)):
        rates = [bot["undercut_by_deadwood"][at] for at in bins]
        drawn = [rate["weight"] >= MIN_KNOCKS and rate["value"] is not None for rate in rates]
        value, low, high = (
            np.array(
                [
                    100 * rate[key] if keep and rate[key] is not None else np.nan
                    for rate, keep in zip(rates, drawn, strict=True)
                ]
            )
            for key in ("value", "low", "high")
        )
        # An interval may miss its own value by a rounding error, which errorbar refuses.
        errors = np.vstack([np.maximum(value - low, 0), np.maximum(high - value, 0)])
        handles.append(
            ax.errorbar(
                np.array(bins) + dodges[place],
                value,
                yerr=errors,
                elinewidth=0.9,
                capsize=1.5,
                **bot_style(place),
            )
        )
        labels.append(name if any(drawn) else f"{name} (left out)")
    _deadwood_axis(ax, bots[0], bins)
    if any(not label.endswith("(left out)") for label in labels):
        ax.set_ylim(bottom=0)
    else:
        ax.set_ylim(0, 100)
        _say(ax, f"no bot knocked {MIN_KNOCKS} times\nat any one deadwood")
    axis_labels(ax, "deadwood when knocking (points)", "knocks that were undercut (%)")
    side_legend(ax, handles, labels, "bot")
    caption = [
        played(summary),
        intervals(summary),
        f"left out: gin, which cannot be undercut, and points on fewer than {MIN_KNOCKS} knocks",
    ]
    head(ax, "Knocks that were undercut, by knock deadwood", caption)
    return ax


def _say(ax: Axes, text: str) -> None:
    """Write *text* into the middle of an *ax* without data."""
    ax.text(
        0.5,
        0.5,
        text,
        transform=ax.transAxes,
        ha="center",
        va="center",
        fontsize=SIZES["label"],
        color="#444444",
        bbox={"facecolor": "white", "edgecolor": "none"},
    )


def endings(bot: Mapping[str, Any]) -> dict[str, int]:
    """Return how many of a bot's rounds ended which way, wins first and losses last.

    Rounds that are in none of the summary's endings (a tie worth nothing, a forfeit) follow
    the dead ones.

    >>> endings({"rounds": 9, "endings": {"gin": 2, "dead": 1, "lost to gin": 5}})
    {'gin': 2, 'dead': 1, 'tie or forfeit': 1, 'lost to gin': 5}
    """
    found: dict[str, int] = {}
    for key, count in bot["endings"].items():
        found[key] = count
        if key == "dead":
            found[UNSCORED] = bot["rounds"] - sum(bot["endings"].values())
    return found


def ending_mix(summary: Summary, ax: Axes | None = None) -> Axes:
    """Stacked bars of how each bot's rounds end: won from the left, dead, lost to the right."""
    bots = summary["bots"]
    counts = [endings(bot) for bot in bots]
    if not any(count[UNSCORED] for count in counts):
        for count in counts:
            del count[UNSCORED]
    share = np.array([shares(list(count.values())) for count in counts])
    left = np.cumsum(share, axis=1) - share
    ax = new_axes(ax, 9.6, max(3.3, 1.7 + 0.42 * len(bots)))
    places = np.arange(len(bots))
    handles = []
    for at, key in enumerate(counts[0]):
        colour, hatch = UNSCORED_STYLE if key == UNSCORED else ENDING_STYLE[key]
        style: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "#333333"}
        ax.barh(places, share[:, at], 0.74, left[:, at], linewidth=0.5, label=key, **style)
        handles.append(Patch(label=key, linewidth=0.5, **style))
    ax.set_yticks(places, names(summary))
    ax.set_ylim(len(bots) - 0.5, -0.5)
    ax.set_xlim(0, 100)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    axis_labels(ax, "share of the bot's rounds (%)", "bot")
    side_legend(ax, handles, list(counts[0]), "how the round ended")
    head(
        ax,
        "How rounds end: won from the left, lost to the right",
        [played(summary), "each bot over all its matchups"],
    )
    _number_segments(ax, share, left, [patch.get_facecolor() for patch in handles])
    return ax


def _number_segments(ax: Axes, share: np.ndarray, left: np.ndarray, colours: list[Any]) -> None:
    """Write share[bot, ending] into each segment of a bar that is wide enough for it."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # settles the layout, and so the width of the axes
    a_percent = ax.get_window_extent().width / 100
    for (place, at), width in np.ndenumerate(share):
        if not width > 0:
            continue
        text = ax.text(
            left[place, at] + width / 2,
            place,
            f"{width:.1f}",
            ha="center",
            va="center",
            fontsize=SIZES["cell"],
            color=ink_on(colours[at]),
            bbox={"facecolor": colours[at], "edgecolor": "none", "pad": 1.2},
        )
        if text.get_window_extent().width * 1.35 > width * a_percent:
            text.remove()


def knock_deadwood(summary: Summary, ax: Axes | None = None) -> Axes:
    """Share of a bot's knocks at each deadwood, gin at 0."""
    bots = summary["bots"]
    bins = _deadwood_bins(summary)
    ax = _curves(ax, len(bots))
    share = np.array([shares(bot["knocks_by_deadwood"])[: len(bins)] for bot in bots])
    handles, labels = [], []
    for place, (bot, name) in enumerate(zip(bots, names(summary), strict=True)):
        handles += ax.plot(bins, share[place], **bot_style(place))
        labels.append(name if any(bot["knocks_by_deadwood"]) else f"{name} (no knocks)")
    _deadwood_axis(ax, bots[0], bins)
    label = "share of the bot's knocks (%)"
    if np.nan_to_num(share).max() > SQUEEZED:
        ax.set_yscale("function", functions=(np.sqrt, np.square))
        ax.set_yticks([0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100])
        label += ", square-root scale"
    ax.set_ylim(bottom=0)
    axis_labels(ax, "deadwood when knocking (points)", label)
    side_legend(ax, handles, labels, "bot")
    caption = [played(summary), "each bot over all its matchups"]
    head(ax, "Deadwood that bots knock with", caption)
    return ax


def cut_of(turns: Sequence[int]) -> int:
    """Fewest turns within which 99.9 % of rounds end; *turns* counts rounds of 0, 1, 2.. turns.

    >>> cut_of([0, 0, 998, 1, 0, 0, 1])
    3
    """
    above, below = CUT
    return int(np.argmax(np.cumsum(turns) * below >= above * sum(turns)))


def round_length(summary: Summary, ax: Axes | None = None) -> Axes:
    """Share of a bot's rounds by their turns, both players' counted.

    The axis ends where 99.9 % of every bot's rounds have; the caption says what lies beyond.
    """
    bots = summary["bots"]
    ax = _curves(ax, len(bots))
    cut = max(cut_of(bot["rounds_by_turns"]) for bot in bots)
    step = 1 + cut // 12
    handles = []
    for place, bot in enumerate(bots):
        share = shares(bot["rounds_by_turns"])[: cut + 1]
        every = (place % step, step)
        handles += ax.plot(range(len(share)), share, markevery=every, **bot_style(place))
    ax.set_xlim(0, cut + 0.5)
    ax.set_ylim(bottom=0)
    axis_labels(ax, "turns in the round (both players')", "share of the bot's rounds (%)")
    side_legend(ax, handles, names(summary), "bot")
    whose = "each bot over all its matchups" if len(bots) > 2 else "both bots share all rounds"
    head(ax, "How long rounds last", [played(summary), whose, *_beyond(bots, cut)])
    return ax


def _beyond(bots: Sequence[Mapping[str, Any]], cut: int) -> list[str]:
    """What lies beyond *cut* turns, as a line of the caption; none if nothing does."""
    most = max(sum(bot["rounds_by_turns"][cut + 1 :]) / bot["rounds"] for bot in bots)
    if most == 0:
        return []
    longest = max(len(bot["rounds_by_turns"]) for bot in bots) - 1
    more = " or more" if longest == TURN_BINS - 1 else ""
    return [
        f"beyond {cut} turns, not shown: at most {100 * most:.2g} % of a bot's rounds, "
        f"the longest of {longest}{more}"
    ]


#: Every plot, by the name of its files.
PLOTS: dict[str, Callable[[Summary], Axes]] = {
    "win_rate_matrix": win_rate_matrix,
    "undercut_by_deadwood": undercut_by_deadwood,
    "ending_mix": ending_mix,
    "knock_deadwood": knock_deadwood,
    "round_length": round_length,
}
#: Formats, and the metadata that would tell two equal plots apart.
FORMATS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


@contextmanager
def own_style() -> Iterator[None]:
    """Within it a plot of a run looks the same, whatever the user's matplotlibrc says."""
    with (
        matplotlib.style.context("default"),
        matplotlib.rc_context({"svg.hashsalt": "ginsim"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing")  # of a bot's name: a box will do
        yield


def save_plots(summary: Summary, folder: Place) -> list[Place]:
    """Draw every plot into *folder*, made if need be, as PNG and SVG; returns the files.

    The same summary gives the same bytes. Raises GinsimError if a file cannot be written.
    """
    return save_figures(plot_drawings(summary), folder)


def plot_drawings(summary: Summary) -> dict[str, Callable[[], Axes]]:
    """Every plot of a tournament, by the name of its files."""
    return {name: functools.partial(draw, summary) for name, draw in PLOTS.items()}


def save_figures(drawings: Mapping[str, Callable[[], Axes]], folder: Place) -> list[Place]:
    """Draw each of *drawings* into *folder* under its name, as PNG and SVG; returns the files."""
    files = []
    with own_style():
        for name, draw in drawings.items():
            figure = draw().get_figure(root=True)
            assert figure is not None
            files += [_save(figure, folder / f"{name}.{kind}", kind) for kind in FORMATS]
    return files


def _save(figure: Any, file: Place, kind: str) -> Place:
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=DPI, metadata=FORMATS[kind])
    with places.reaching(file, "cannot be written"):
        if places.is_local(file):
            file.parent.mkdir(parents=True, exist_ok=True)
    places.write_bytes(file, drawn.getvalue())
    return file
