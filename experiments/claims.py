"""What rule guides say, put to the test: one thing changed in an otherwise equal bot.

Both bots of a contrast play the same rivals on the same deals, mirrored. The effect is the
difference of their matches won; its unit is the pair, so what the deals have in common cancels.
A claim tried on several rivals and rules is several tests: Holm's adjustment is over all cells
of the claim. An effect whose 95 % interval lies within a margin either way makes no difference,
however sure its sign.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t

from experiments.forest import forest
from experiments.trial import MEASURED, POINTS, SHARE, Cell, Claim, Held
from experiments.verdicts import judged, overall, ranges, rules_of, sentence_of, where
from ginsim.bots import load
from ginsim.knock_chart import FEW, Sample, held, sample
from ginsim.match import play_chunks
from ginsim.plots import FORMATS
from ginsim.rules import Rules, preset, winning_score
from ginsim.stats import METRIC, PairCounts, Rate, clustered_mean
from ginsim.tally import COUNTERS, INDEX, count_pairs, turn_counts

RESULTS = Path(__file__).parents[1] / "results"
BOTS = "experiments/bots"
THROWER, TAKER = f"{BOTS}/thrower.py:thrower", f"{BOTS}/taker.py:taker"
#: The level without the weight by which calibration holds it back: all claims start from it.
NORMAL = "normal@high_weight=0"
#: Changes that make normal (and thrower, taker) judge a discard by its deadwood alone.
PLAIN = "out_weight=0,save_weight=0,high_weight=0"
BLOCK_PAIRS = 1_000
JOBS = 2
PLOT_DPI = 125  #: plots of many panels are tall, and stand in git


def like(level: str, **changes: int) -> str:
    """Changes that turn thrower or taker, which are NORMAL, into *level* with other *changes*."""
    normal, wanted = load(NORMAL).parameters, {**load(level).parameters, **changes}
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


def held_cells(claim: Claim, pairs: int) -> list[Cell]:
    """Points that the advice of each of ``claim.held`` gains, by rival, not yet judged.

    Left out is what fewer than FEW pairs came to.
    """
    asked = [(one, rival, rules) for one in claim.held for rival, rules in one.places]
    for one in claim.held:
        held(load(one.bot), 1, True).policies()
    tasks = [
        (at, turn, first, min(first + BLOCK_PAIRS, pairs))
        for at, (one, _, _) in enumerate(asked)
        for turn in range(one.turns[0], one.turns[1] + 1)
        for first in range(0, pairs, BLOCK_PAIRS)
    ]
    parts = joblib.Parallel(n_jobs=JOBS, backend="threading")(
        joblib.delayed(sample)(
            asked[at][0].bot, asked[at][1], preset(asked[at][2]), claim.seed, first, end, turn
        )
        for at, turn, first, end in tasks
    )
    cells = []
    for at, (one, rival, rules) in enumerate(asked):
        own = [part for part, task in zip(parts, tasks, strict=True) if task[0] == at]
        seen = Sample(*(np.concatenate(column) for column in zip(*own, strict=True)))
        here = (seen.deadwood >= one.deadwood[0]) & (seen.deadwood <= one.deadwood[1])
        if len(np.unique(seen.pair[here])) < FEW:
            continue
        gains = (seen.now - seen.on)[here] * (1 if one.knocks else -1)
        effect, p = clustered_mean(gains, seen.pair[here])
        cells.append(Cell(one.label, rival, rules, effect, None, p, unit=POINTS))
    return cells


def cell(contrast: str, rival: str, rules: str, terms: Sequence[tuple[int, PairCounts]]) -> Cell:
    """Cell of a weighted sum of matchups: matches won, and points a round."""
    effect, p = effect_of(terms, "matches_won")
    return Cell(contrast, short(rival), rules, effect, effect_of(terms, "net_points")[0], p)


def short(spec: str) -> str:
    """Name of a rival as it is shown."""
    return spec.rpartition(":")[2]


# --- files ---


def command_of(claim: Claim) -> str:
    """Return the command that makes the claim's files."""
    return shlex.join(["python", "-m", "experiments", claim.name])


def folder_of(claim: Claim, results: Path) -> Path:
    """Folder of the claim's files under *results*."""
    return results / claim.name.replace("_", "-")


def shown(found: Rate, scale: float) -> str:
    """Value with its half width."""
    return f"{scale * found.value:+.2f} ±{scale * found.half_width():.2f}"


def table_of(claim: Claim, cells: Sequence[Cell], pairs: int, verdict: str, places: str) -> str:
    """Markdown: the claim, the verdict, every cell, and how to make it again."""
    head = "effect | Holm p | points a round | verdict"
    judge = (
        f"Effect: {claim.effect}, in points of 100, 95 % intervals by {claim.cluster}; positive "
        f"where the claim is right. A cell holds or fails at 5 % over all {len(cells)} cells "
        f"together (Holm); an interval within ±{SHARE.scale * SHARE.margin:g} makes no difference."
    )
    if claim.held:
        judge += (
            " Points are of the round: each deal is played twice from that turn, so that the "
            "difference is that one decision; up to it the bot is held back from plain knocks, "
            f"then it plays on by its own rule (within ±{POINTS.margin:g}: no difference; left "
            f"out: what fewer than {FEW} pairs came to)."
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
        *(f"- {one.label}: `{one.bot}`, {_when(one)}" for one in claim.held),
        *([""] if claim.contrasts or claim.held else []),
        f"| what | bot | rules | {head} |",
        "|---" * (4 + head.count("|")) + "|",
    ]
    for one in cells:
        row = [one.contrast, one.rival, one.rules]
        if claim.measured:
            value, low, high = (one.unit.scale * x for x in one.effect[:3])
            row.append(f"{value:.2f} ({low:.2f} to {high:.2f})")
        else:
            unit = "" if one.unit == SHARE else " points"
            row.append(shown(one.effect, one.unit.scale) + unit)
            points = shown(one.points, 1) if one.points else ""
            row += [f"{one.adjusted:.2g}", points, one.verdict]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, "", made_by(claim, pairs)]) + "\n"


def _when(one: Held) -> str:
    turns, deadwood = one.turns, one.deadwood
    act = ("knocks", "plays on") if one.knocks else ("plays on", "knocks")
    return (
        f"own turns {turns[0]} to {turns[1]}, deadwood {deadwood[0]} to {deadwood[1]}: "
        f"{act[0]}, rather than {act[1]}"
    )


def made_by(claim: Claim, pairs: int) -> str:
    """How to make the files again."""
    return f"Seed {claim.seed:,}, {pairs:,} {claim.rests_on}; made by `{command_of(claim)}`."


def as_json(one: Cell) -> dict[str, Any]:
    """Return a cell as JSON, rounded so that a last bit does not show."""
    return {
        "what": one.contrast,
        "rival": one.rival,
        "rules": one.rules,
        "unit": one.unit.name,
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
    figure.savefig(folder / "plot.png", dpi=PLOT_DPI, metadata=FORMATS["png"])


# --- a claim from end to end ---


def run(claim: Claim, pairs: int | None = None, results: Path = RESULTS) -> None:
    """Try all contrasts of *claim*, print the verdict and write its files."""
    pairs = pairs or claim.pairs
    cells = cells_of(claim, pairs) + held_cells(claim, pairs)
    report(claim, judged(cells), pairs, results)


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
        "margins": {unit.name: unit.scale * unit.margin for unit in (SHARE, POINTS)},
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
