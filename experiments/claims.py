"""What rule guides say, put to the test: one thing changed in an otherwise equal bot.

Both bots of a contrast play the same rivals on the same deals, mirrored. The effect is the
difference of their matches won; its unit is the pair, so what the deals have in common cancels.
A claim tried on several rivals and rules is several tests: Holm's adjustment is over all cells
of the claim. An effect whose 95 % interval lies within MARGIN either way makes no difference,
however sure its sign.
"""

import json
import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t

from ginsim.bots import load
from ginsim.match import play_chunks
from ginsim.plots import COLOURS, DPI, FORMATS, MARKERS, SIZES
from ginsim.rules import Rules, preset, winning_score
from ginsim.stats import METRIC, PairCounts, Rate, holm
from ginsim.tally import COUNTERS, INDEX, count_pairs, turn_counts

RESULTS = Path(__file__).parents[1] / "results"
BOTS = "experiments/bots"
THROWER, TAKER = f"{BOTS}/thrower.py:thrower", f"{BOTS}/taker.py:taker"
#: Changes that make normal (and thrower, taker) judge a discard by its deadwood alone.
PLAIN = "out_weight=0,save_weight=0,high_weight=0"
RIVALS = ("easy", "normal", "hard", "gin-only", "simple")
#: Rivals and rules that a contrast is tried on: all under classic, two under other rules.
PLACES = (
    *((rival, "classic") for rival in RIVALS),
    *((rival, "frapper") for rival in ("normal", "simple")),
)

MARGIN = 0.01  #: matches won that count as no difference, either way
ALPHA = 0.05  #: of all cells of a claim together
BLOCK_PAIRS = 1_000
JOBS = 2

HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED = "holds", "fails", "no difference", "undecided"
DEPENDS, MEASURED = "depends", "measured"


@dataclass(frozen=True)
class Contrast:
    """A bot that does as the claim says, and one that differs in nothing else."""

    label: str
    follows: str
    other: str
    places: tuple[tuple[str, str], ...] = PLACES


@dataclass(frozen=True)
class Claim:
    """A sentence of the guides, and how it is tried."""

    name: str
    sentence: str
    seed: int
    pairs: int  #: mirrored pairs a matchup
    seconds: int  #: roughly, on two quiet cores
    contrasts: tuple[Contrast, ...] = ()
    how: str = ""  #: what was done, for the table
    effect: str = "matches won with the rule less without it"
    against: str = "v"  #: how a rival is named
    unit: str = "mirrored pairs a matchup"
    measured: bool = False  #: how often something happens: nothing holds or fails


@dataclass(frozen=True)
class Cell:
    """One effect, positive where the claim is right; shares of 1, points a round."""

    contrast: str
    rival: str
    rules: str
    effect: Rate
    points: Rate | None
    p: float
    adjusted: float = float("nan")
    verdict: str = UNDECIDED


def like(level: str, **changes: int) -> str:
    """Changes that turn thrower or taker, which are normal, into *level* with other *changes*."""
    normal, wanted = load("normal").parameters, {**load(level).parameters, **changes}
    return ",".join(f"{knob}={v}" for knob, v in wanted.items() if v != normal.get(knob))


# --- playing ---


def path_of(spec: str) -> str:
    """*spec* with the path of a bot of the experiments made good for any working folder."""
    return str(Path(__file__).parents[1] / spec) if spec.startswith(BOTS) else spec


def _block(spec: str, rival: str, rules: Rules, seed: int, first: int, end: int) -> PairCounts:
    counters = np.zeros((2, end - first, len(COUNTERS)), np.int64)
    halves = np.zeros((end - first, 2), np.int64)
    turns = turn_counts(np.zeros(0, np.dtype([("turns", np.int64)])))
    for rows in play_chunks((load(path_of(spec)), load(path_of(rival))), rules, seed, first, end):
        count_pairs(rows, first, winning_score(rules), counters, halves)
        turns += turn_counts(rows)
    return PairCounts(np.arange(first, end), counters[0], turns)


Matchup = tuple[str, str, str]  # bot, rival, name of the rules


def play_all(matchups: Iterable[Matchup], seed: int, pairs: int) -> dict[Matchup, PairCounts]:
    """Counters by pair of the first bot of each matchup, all on the same deals."""
    listed = list(dict.fromkeys(matchups))
    for bot in {bot for matchup in listed for bot in matchup[:2]}:
        load(path_of(bot)).policies()  # compiled once, before the work fans out
    tasks = [
        (matchup, first, min(first + BLOCK_PAIRS, pairs))
        for matchup in listed
        for first in range(0, pairs, BLOCK_PAIRS)
    ]
    parts = joblib.Parallel(n_jobs=JOBS, backend="threading")(
        joblib.delayed(_block)(spec, rival, preset(rules), seed, first, end)
        for (spec, rival, rules), first, end in tasks
    )
    found: dict[Matchup, list[PairCounts]] = {}
    for (matchup, _, _), part in zip(tasks, parts, strict=True):
        found.setdefault(matchup, []).append(part)
    return {
        matchup: PairCounts(
            np.concatenate([block.pairs for block in blocks]),
            np.concatenate([block.counters for block in blocks]),
            np.sum([block.turns for block in blocks], axis=0),
        )
        for matchup, blocks in found.items()
    }


# --- effects ---


def effect_of(
    terms: Sequence[tuple[int, PairCounts]], key: str, offset: float = 0.0
) -> tuple[Rate, float]:
    """Weighted sum of metric *key* over matchups of the same pairs, and its two-sided p-value.

    Each metric is a ratio of sums over pairs; the interval rests on the sum of the pairs'
    residuals (linearisation of a ratio). *offset* is added to the value.
    """
    metric = METRIC[key]
    pairs = len(terms[0][1].pairs)
    value, residuals = offset, np.zeros(pairs)
    for weight, counts in terms:
        above = counts.counters[:, INDEX[metric.above]] * metric.scale
        below = counts.counters[:, INDEX[metric.below]]
        one = above.sum() / below.sum()
        value += weight * one
        residuals += weight * (above - one * below) / below.mean()
    return estimate(float(value), residuals)


def estimate(value: float, residuals: np.ndarray) -> tuple[Rate, float]:
    """*value* with its interval from residuals by pair (t on pairs - 1), and its p-value.

    Without any spread there is nothing to go by: the p-value is 1.
    """
    pairs = len(residuals)
    error = float(np.std(residuals, ddof=1)) / pairs**0.5
    margin = float(t.ppf(0.975, pairs - 1)) * error
    p = 2 * float(t.sf(abs(value) / error, pairs - 1)) if error else 1.0
    return Rate(value, value - margin, value + margin, pairs), p


def cells_of(claim: Claim, pairs: int) -> list[Cell]:
    """Effects of all contrasts of *claim* against all rivals under all rules, not yet judged."""
    places = [
        (contrast, rival, rules) for contrast in claim.contrasts for rival, rules in contrast.places
    ]
    played = play_all(
        (
            (spec, rival, rules)
            for contrast, rival, rules in places
            for spec in (contrast.follows, contrast.other)
        ),
        claim.seed,
        pairs,
    )
    cells = []
    for contrast, rival, rules in places:
        terms = [
            (1, played[contrast.follows, rival, rules]),
            (-1, played[contrast.other, rival, rules]),
        ]
        cells.append(cell(contrast.label, rival, rules, terms))
    return cells


def cell(contrast: str, rival: str, rules: str, terms: Sequence[tuple[int, PairCounts]]) -> Cell:
    """Cell of a weighted sum of matchups: matches won, and points a round."""
    effect, p = effect_of(terms, "matches_won")
    return Cell(contrast, short(rival), rules, effect, effect_of(terms, "net_points")[0], p)


def short(spec: str) -> str:
    """Name of a rival as it is shown."""
    return spec.rpartition(":")[2]


# --- verdicts ---


def judged(cells: Sequence[Cell]) -> list[Cell]:
    """*cells* with p-values adjusted over all of them, and a verdict each."""
    _, adjusted = holm([one.p for one in cells], ALPHA)
    return [
        replace(one, adjusted=float(p), verdict=verdict_of(one.effect, float(p)))
        for one, p in zip(cells, adjusted, strict=True)
    ]


def verdict_of(effect: Rate, adjusted: float) -> str:
    """Verdict of one cell.

    >>> verdict_of(Rate(0.03, 0.02, 0.04, 9), 0.001), verdict_of(Rate(0.004, 0.001, 0.007, 9), 0.01)
    ('holds', 'no difference')
    """
    if effect.low > -MARGIN and effect.high < MARGIN:
        return NO_DIFFERENCE
    if adjusted < ALPHA:
        return HOLDS if effect.value > 0 else FAILS
    return UNDECIDED


def overall(cells: Sequence[Cell]) -> str:
    """Verdict on the claim: what all cells say, what most say unopposed, or that it depends."""
    share = {
        verdict: sum(one.verdict == verdict for one in cells) / len(cells)
        for verdict in (HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED)
    }
    if share[HOLDS] and share[FAILS]:
        return DEPENDS
    for verdict, part in share.items():
        if part == 1:
            return verdict
    for verdict in (HOLDS, FAILS):
        if share[verdict] >= 0.5:
            return f"mostly {verdict}"
        if share[verdict]:
            return DEPENDS
    return NO_DIFFERENCE if share[NO_DIFFERENCE] >= 0.5 else UNDECIDED


def where(cells: Sequence[Cell], against: str = "v") -> str:
    """For which rivals and rules each verdict was found, contrast by contrast."""
    said = []
    for contrast in dict.fromkeys(one.contrast for one in cells):
        own = [one for one in cells if one.contrast == contrast]
        parts = [
            f"{verdict} {against} {_places(own, verdict)}"
            for verdict in dict.fromkeys(one.verdict for one in own)
        ]
        said.append((f"{contrast}: " if contrast else "") + "; ".join(parts))
    return ". ".join(said)


def _places(cells: Sequence[Cell], verdict: str) -> str:
    """Rivals of the cells with *verdict*, with their rules where not all of them say so."""
    if len(cells) > 1 and all(one.verdict == verdict for one in cells):
        return "all"
    named = []
    for rival in dict.fromkeys(one.rival for one in cells):
        own = [one for one in cells if one.rival == rival]
        rules = [one.rules for one in own if one.verdict == verdict]
        if len(rules) == len(own):
            named.append(rival)
        elif rules:
            named.append(f"{rival} ({', '.join(rules)})")
    return ", ".join(named)


def rules_of(cells: Sequence[Cell]) -> str:
    """Which rules the cells were played under; rivals named where not all were.

    >>> one = Cell("", "easy", "classic", Rate(0, 0, 0, 1), None, 1)
    >>> rules_of([one, replace(one, rival="hard"), replace(one, rules="eaai")])
    'classic; eaai (easy)'
    """
    rivals = dict.fromkeys(one.rival for one in cells)
    said = []
    for rules in dict.fromkeys(one.rules for one in cells):
        own = dict.fromkeys(one.rival for one in cells if one.rules == rules)
        said.append(rules if len(own) == len(rivals) else f"{rules} ({', '.join(own)})")
    return "; ".join(said)


def sentence_of(cells: Sequence[Cell], unit: str = "points of 100") -> str:
    """Verdict in one sentence, with the range of effects."""
    counts = [
        f"{verdict} in {sum(one.verdict == verdict for one in cells)}"
        for verdict in (HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED)
        if any(one.verdict == verdict for one in cells)
    ]
    values = [100 * one.effect.value for one in cells]
    found = ", ".join(counts)
    return (
        f"{overall(cells)}, for these bots: {found} of {len(cells)} cells; effects from "
        f"{min(values):+.1f} to {max(values):+.1f} {unit}"
    )


# --- files ---


def command_of(claim: Claim) -> str:
    """Return the command that makes the claim's files."""
    return shlex.join(["python", "-m", "experiments", claim.name])


def folder_of(claim: Claim, results: Path) -> Path:
    """Folder of the claim's files under *results*."""
    return results / claim.name.replace("_", "-")


def shown(found: Rate, scale: float = 100) -> str:
    """Value with its half width."""
    return f"{scale * found.value:+.2f} ±{scale * found.half_width():.2f}"


def table_of(claim: Claim, cells: Sequence[Cell], pairs: int, verdict: str, places: str) -> str:
    """Markdown: the claim, the verdict, every cell, and how to make it again."""
    head = "effect, points of 100 | Holm p | points a round | verdict"
    judge = (
        f"Effect: {claim.effect}, in points of 100, 95 % intervals by pair; positive where the "
        f"claim is right. A cell holds or fails at 5 % over all {len(cells)} cells together "
        f"(Holm); an interval within ±{100 * MARGIN:g} makes no difference."
    )
    if claim.measured:
        head, judge = f"{claim.effect}, %", "95 % intervals by match."
    lines = [
        f"# {claim.sentence}",
        "",
        f"**Verdict: {verdict}.**",
        "",
        f"{places}. Rules: {rules_of(cells)}.",
        "",
        f"{claim.how} {judge}",
        "",
        *(f"- {one.label}: `{one.follows}` v `{one.other}`" for one in claim.contrasts),
        *([""] if claim.contrasts else []),
        f"| what | bot | rules | {head} |",
        "|---" * (4 + head.count("|")) + "|",
    ]
    for one in cells:
        row = [one.contrast, one.rival, one.rules, shown(one.effect)]
        if not claim.measured:
            points = shown(one.points, 1) if one.points else ""
            row += [f"{one.adjusted:.2g}", points, one.verdict]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, "", made_by(claim, pairs)]) + "\n"


def made_by(claim: Claim, pairs: int) -> str:
    """How to make the files again."""
    return f"Seed {claim.seed:,}, {pairs:,} {claim.unit}; made by `{command_of(claim)}`."


def as_json(one: Cell) -> dict[str, Any]:
    """Return a cell as JSON, rounded so that a last bit does not show."""
    return {
        "what": one.contrast,
        "rival": one.rival,
        "rules": one.rules,
        "effect": {key: rounded(value) for key, value in one.effect._asdict().items()},
        "points": {key: rounded(value) for key, value in one.points._asdict().items()}
        if one.points
        else None,
        "p": float(f"{one.p:.4g}"),
        "adjusted_p": float(f"{one.adjusted:.4g}") if one.adjusted == one.adjusted else None,
        "verdict": one.verdict,
    }


def rounded(value: float) -> float:
    """*value* to seven digits behind the point."""
    return value if isinstance(value, int) else round(value, 7)


def write(
    claim: Claim,
    results: Path,
    verdict: str,
    places: str,
    content: Mapping[str, Any],
    table: str,
    figure: Figure,
) -> None:
    """Write summary.json, table.md and plot.png into the claim's folder."""
    folder = folder_of(claim, results)
    folder.mkdir(parents=True, exist_ok=True)
    summary = {
        "claim": claim.sentence,
        "name": claim.name,
        "verdict": verdict,
        "where": places,
        "seed": claim.seed,
        "command": command_of(claim),
        "seconds": claim.seconds,
        **content,
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    (folder / "table.md").write_text(table)
    figure.savefig(folder / "plot.png", dpi=DPI, metadata=FORMATS["png"])


def run(claim: Claim, pairs: int | None = None, results: Path = RESULTS) -> None:
    """Try all contrasts of *claim*, print the verdict and write its files."""
    pairs = pairs or claim.pairs
    report(claim, judged(cells_of(claim, pairs)), pairs, results)


def report(claim: Claim, cells: Sequence[Cell], pairs: int, results: Path) -> None:
    """Print the verdict on *claim* and write its files from judged *cells*."""
    if claim.measured:
        cells = [replace(one, verdict=MEASURED) for one in cells]
        sentence = places = ranges(cells)
    else:
        sentence, places = sentence_of(cells), where(cells, claim.against)
    content = {
        "rules": rules_of(cells),
        "pairs": pairs,
        "margin": MARGIN,
        "cells": [as_json(one) for one in cells],
    }
    with matplotlib.style.context("default"):
        write(
            claim,
            results,
            MEASURED if claim.measured else overall(cells),
            places,
            content,
            table_of(claim, cells, pairs, sentence, places),
            forest(claim, cells, pairs),
        )
    print(f"{claim.sentence}\n  {sentence}", flush=True)


def ranges(cells: Sequence[Cell]) -> str:
    """Range of the values of each kind, in one sentence."""
    said = []
    for kind in dict.fromkeys(one.contrast for one in cells):
        values = [100 * one.effect.value for one in cells if one.contrast == kind]
        said.append(f"{kind}: {min(values):.2f} to {max(values):.2f} %")
    return "; ".join(said)


# --- the plot ---


def forest(claim: Claim, cells: Sequence[Cell], pairs: int) -> Figure:
    """Effect and interval of every cell: a panel a contrast, a line a rival, a mark a preset."""
    contrasts = list(dict.fromkeys(one.contrast for one in cells))
    rules = list(dict.fromkeys(one.rules for one in cells))
    heights = [len({c.rival for c in cells if c.contrast == name}) for name in contrasts]
    title = textwrap.wrap(claim.sentence, 84)
    height = 1.5 + 0.22 * len(title) + sum(0.45 + 0.36 * rows for rows in heights)
    figure = Figure(figsize=(8.2, height), layout="constrained")
    panels = figure.subplots(len(contrasts), 1, sharex=True, squeeze=False, height_ratios=heights)
    for ax, contrast in zip(panels[:, 0], contrasts, strict=True):
        if not claim.measured:
            ax.axvspan(-100 * MARGIN, 100 * MARGIN, color="#EEEEEE", zorder=0)
        _panel(ax, [one for one in cells if one.contrast == contrast], rules, claim.against)
        ax.set_title(contrast, loc="left", fontsize=SIZES["label"])
    last = panels[-1, 0]
    last.set_xlabel(
        f"{claim.effect} ({'%' if claim.measured else 'points of 100'})", fontsize=SIZES["label"]
    )
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        *handles, loc="outside lower center", ncols=len(rules), frameon=False,
        fontsize=SIZES["tick"],
    )  # fmt: skip
    figure.suptitle(
        "\n".join(title) + f"\n{pairs:,} {claim.unit}, 95 % intervals" + (
            "" if claim.measured
            else " by pair; full marks: holds or fails (Holm); grey: no difference"
        ),
        x=0.01, ha="left", fontsize=SIZES["tick"],
    )  # fmt: skip
    return figure


def _panel(ax: Axes, cells: Sequence[Cell], rules: Sequence[str], against: str) -> None:
    rivals = list(dict.fromkeys(one.rival for one in cells))
    ax.axvline(0, color="#666666", linewidth=0.8, zorder=1)
    reach = 0.16 * (len(rules) - 1)
    dodge = dict(zip(rules, np.linspace(-reach, reach, len(rules)), strict=True))
    for at, name in enumerate(rules):
        colour, marker = COLOURS[at], MARKERS[at]
        ax.plot([], [], color=colour, marker=marker, linewidth=1.2, label=name)
        for one in cells:
            if one.rules != name:
                continue
            y = rivals.index(one.rival) + dodge[name]
            ax.plot(
                [100 * one.effect.low, 100 * one.effect.high], [y, y], color=colour, linewidth=1.2
            )
            full = one.verdict in (HOLDS, FAILS, MEASURED)
            ax.plot(
                100 * one.effect.value, y, marker=marker, color=colour, markersize=5.5,
                markerfacecolor=colour if full else "white",
            )  # fmt: skip
    ax.set_yticks(range(len(rivals)), [f"{against} {rival}" for rival in rivals])
    ax.set_ylim(len(rivals) - 0.5, -0.5)
    ax.tick_params(labelsize=SIZES["tick"])
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
