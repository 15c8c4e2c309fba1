"""Reports of what tunes bots: sweeps, knock charts and calibrations."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.axes import Axes

from ginsim import charts, tables
from ginsim.bots import split_spec
from ginsim.page import Figure, Grid, Page, Section, facts, figure, grid, in_words
from ginsim.plots import counted
from ginsim.rules import Rules, describe, from_dict, resolve
from ginsim.tournament_report import (
    played_by,
    portable,
    reproduction,
    rules_grid,
    rules_options,
)

Json = Mapping[str, Any]


def _figures(drawings: Mapping[str, Callable[[], Axes]]) -> list[Figure]:
    return [figure(name, draw) for name, draw in drawings.items()]


INTERVALS = (
    "After ± or in brackets stands a 95 % interval, reckoned over pairs: two matches on the same "
    "deals with the seats swapped, which are not independent."
)

# Sweeps


def _assigned(names: list[str], setting: list[int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, setting, strict=True))


def sweep_headline(summary: Json) -> list[str]:
    """Whether a better setting was found, and what that rests on."""
    names, confirmed = summary["parameters"], summary.get("confirmed")
    best, now = _assigned(names, summary["best"]), _assigned(names, summary["current"])
    bot = summary["bot"]
    if confirmed is None:
        first = f"{best} did best; nothing confirms it yet."
    elif "gain" not in confirmed:
        first = f"{bot} is at its best as it is, with {now}."
    elif confirmed["gain"]["low"] > 0:
        first = f"{bot} is better with {best} than as it is, with {now}."
    elif confirmed["gain"]["high"] < 0:
        first = f"{bot} is better as it is, with {now}, than with {best}, which did best at first."
    else:
        first = f"{bot} is not surely better with {best} than as it is, with {now}."
    return [first, " ".join(tables.sweep_verdict(summary))]


def _sweep_bots(manifest: Json, summary: Json) -> Grid:
    """The bot that was swept, once, and its rivals."""
    told, rivals = manifest["bots"], len(summary["versus"])
    swept = dict.fromkeys(summary["parameters"], "swept")
    first = told[0] | {"name": summary["bot"], "parameters": told[0]["parameters"] | swept}
    return grid(tables.played_bots_table({"bots": [first, *told[-rivals:]]}))


def _sweep_command(manifest: Json, summary: Json, rules: Rules) -> str:
    rivals = manifest["bots"][-len(summary["versus"]) :]
    base, changes = split_spec(summary["bot"])
    bot = portable(base, manifest["bots"][0]) + (f"@{changes}" if changes else "")
    words = ["ginsim", "sweep", *summary["parameters"], "--bot", bot]
    words += [f"--values={','.join(map(str, values))}" for values in summary["values"]]
    words += ["--vs", *(portable(s, b) for s, b in zip(summary["versus"], rivals, strict=True))]
    words += ["--pairs", str(summary["pairs"]), "--seed", str(summary["seed"])]
    words += rules_options(rules)
    words += [] if summary["by"] == "net_points" else ["--by", summary["by"]]
    words += [] if "confirmed" in summary else ["--no-confirm"]
    return shlex.join(words)


def sweep_page(manifest: Json, summary: Json, rules: Rules) -> Page:
    """Return the report of a sweep."""
    names, versus = in_words(summary["parameters"]), summary["versus"]
    curves = [None] if len(summary["parameters"]) == 2 else [*versus] + [None] * (len(versus) > 1)
    digests = [[f"sweep, {manifest['rows']:,} rows", summary["digest"]]]
    if "confirmed" in summary:
        digests.append(["confirming run", summary["confirmed"]["digest"]])
    told = {
        "pairs": f"{summary['pairs']:,} a value and rival, the same deals for all",
        "seed": str(summary["seed"]),
        "rounds": f"{summary['rounds']:,}",
    }
    return Page(
        f"Sweep of {names} of {summary['bot']} against {in_words(versus)}",
        [
            f"{summary['rules']}: {counted(summary['pairs'], 'mirrored pair')} a value and rival, "
            f"the same deals for all, seed {summary['seed']}; "
            f"played on {manifest['started'][:10]}"
        ],
        sweep_headline(summary),
        [
            Section("Plots", figures=_figures(charts.sweep_drawings(summary))),
            Section(
                "Values",
                ["* marks the best value, (as it is) the one that the bot has."],
                tables=[grid(tables.sweep_table(summary, rival)) for rival in curves],
            ),
            Section(
                "How to read it",
                [
                    INTERVALS,
                    "Values share their deals, so two of them differ by less luck than their "
                    "intervals suggest; the best of many is flattered by luck all the same, so it "
                    "is played again on fresh deals beside the bot as it is.",
                ],
            ),
            Section(
                "Settings",
                tables=[
                    facts("Run", told | played_by(manifest)),
                    _sweep_bots(manifest, summary),
                    rules_grid(rules),
                ],
            ),
            reproduction(manifest, _sweep_command(manifest, summary, rules), digests),
        ],
        summary["digest"],
    )


# Knock charts


def _places(cells: list[Json]) -> str:
    """Own turns and deadwoods in words."""
    by_turn: dict[int, list[int]] = {}
    for cell in cells:
        by_turn.setdefault(cell["turn"], []).append(cell["deadwood"])
    return "; ".join(
        f"turn {turn} with {in_words([str(d) for d in sorted(found)])}"
        for turn, found in sorted(by_turn.items())
    )


def chart_headline(chart: Json) -> list[str]:
    """Where knocking surely pays and where waiting does, for points of the round."""
    lines = []
    for rival in chart["rivals"]:
        cells = [c for c in chart["cells"] if c["rival"] == rival and c["score"] is None]
        sure = {
            advice: [cell for cell in cells if cell["advice"] == advice]
            for advice in ("knock", "wait")
        }
        judged = sum(cell["advice"] != "few" for cell in cells)
        if judged == 0:
            lines.append(f"Against {rival}, no place came up often enough: play more pairs.")
            continue
        lines.append(
            f"Against {rival}, knocking at once surely pays at {len(sure['knock'])} of {judged} "
            f"places, and waiting at {len(sure['wait'])}."
        )
        for advice, found in sure.items():
            if found:
                lines.append(f"{advice.capitalize()}: {_places(found)}.")
    return lines


def _chart_command(chart: Json, rules: Rules) -> str:
    words = ["ginsim", "sweep", "knock_limit", "--bot", chart["bot"], "--vs", *chart["rivals"]]
    words += ["--pairs", str(chart["pairs"]), "--turns", str(chart["turns"])]
    words += ["--seed", str(chart["seed"]), *rules_options(rules)]
    for score in chart["scores"]:
        words += ["--score", score]
    return shlex.join(words)


def chart_page(chart: Json) -> Page:
    """Return the report of a knock chart."""
    preset, *changes = chart["rules"].split(", ")
    rules = resolve(preset, changes)
    drawings = charts.chart_drawings(chart)
    sections = []
    for rival in chart["rivals"]:
        names = [charts.chart_name(rival, at, chart["rivals"]) for at in (None, *chart["scores"])]
        sections.append(
            Section(
                f"Against {rival}",
                [tables.CHART_NOTE],
                tables=[
                    grid(tables.chart_table(chart, rival, at)) for at in (None, *chart["scores"])
                ],
                figures=_figures({name: drawings[name] for name in names}),
            )
        )
    return Page(
        f"Knock chart of {chart['bot']} against {in_words(chart['rivals'])}",
        [
            f"{chart['rules']}: {counted(chart['pairs'], 'mirrored pair')} a turn, each deal "
            f"played both ways, seed {chart['seed']}"
        ],
        chart_headline(chart),
        [
            *sections,
            Section(
                "How to read it",
                [
                    "A place is an own turn (1 is the first) and the deadwood that is left after "
                    "the discard. Each deal is played twice from there: the bot knocks at once, or "
                    "plays on and knocks later by its own rule. All before is the same, so the "
                    "difference is what the knock is worth.",
                    "Advice is sure if chance would give any such advice in 5 of 100 charts at "
                    "most, over all places together (Holm). Elsewhere knock or wait, as you like.",
                    "A table at a score is in match wins: what rounds of these bots bring, from "
                    "that score on.",
                ],
            ),
            Section("Settings", tables=[rules_grid(rules)]),
            Section("How to reproduce it", commands=[_chart_command(chart, rules)]),
        ],
    )


# Calibrations


def _verified(step: Json) -> str:
    level, against = step["target"].partition("=")[0].split("/")
    return f"{level} wins {tables.percent(step['verified'], 2)} % against {against}"


def calibration_headline(found: Json) -> list[str]:
    """Whether the targets were hit, and what fresh deals say of each."""
    steps = found["steps"]
    first = "Every target was hit." if found["hit"] else "Not every target was hit."
    told = [
        f"{_verified(step)} (target {100 * float(step['target'].partition('=')[2]):g} %"
        f"{'' if step['hit'] else ', missed'})"
        for step in steps
    ]
    return [
        first,
        f"On fresh deals, {'; '.join(told)}. A target is hit if the whole interval lies within "
        f"{100 * found['within']:g} percentage points of it.",
    ]


def _tries(found: Json) -> Grid:
    """Every fresh run that was played, and what the tuned level won in it."""
    rows = [
        [
            step["target"],
            f"{step['knob']}={tried['setting']}",
            f"{tried['seed']:,}",
            f"{tried['pairs']:,}",
            f"{100 * step['goal']:g}",
            tables.percent(tried, 2),
            "yes" if tried["hit"] else "no",
        ]
        for step in found["steps"]
        for tried in step["tries"]
    ]
    columns = ["target", "tried", "seed", "pairs", "tuned level:\ngoal %", "it won %", "hit"]
    return Grid("Fresh runs", columns, [False, False, True, True, True, True, False], rows)


def _calibration_command(found: Json) -> str:
    words = ["ginsim", "calibrate", "--targets", *found["targets"], "--anchor", found["anchor"]]
    for step in found["steps"]:
        knob = found["knobs"][step["level"]]
        values = ",".join(map(str, knob["values"]))
        words += ["--knob", f"{step['level']}={knob['name']}:{values}"]
    words += ["--pairs", str(found["pairs"]), "--verify-pairs", str(found["verify_pairs"])]
    words += ["--within", f"{found['within']:g}", "--seed", str(found["seed"])]
    return shlex.join([*words, *rules_options(from_dict(found["rules"]))])


def calibration_page(manifest: Json, found: Json) -> Page:
    """Return the report of a calibration."""
    rules = from_dict(found["rules"])
    digests = []
    for step in found["steps"]:
        digests.append([f"{step['target']}: sweep of {step['knob']}", step["digest"]])
        for tried in step["tries"]:
            name = f"{step['target']}: {step['knob']}={tried['setting']}, seed {tried['seed']}"
            digests.append([name, tried["digest"]])
    told = {
        "pairs": f"{found['pairs']:,} a value of a knob",
        "fresh pairs": f"{found['verify_pairs']:,} to verify a value",
        "seed": str(found["seed"]),
        "anchor": f"{found['anchor']}, which stays as it is",
        "levels": ", ".join(found["specs"].values()),
    }
    return Page(
        f"Calibration of {in_words([*found['specs']])}",
        [
            f"{describe(rules)}: {counted(found['pairs'], 'mirrored pair')} a value, "
            f"{found['verify_pairs']:,} fresh ones to verify, seed {found['seed']}"
        ],
        calibration_headline(found),
        [
            Section(
                "Targets",
                tables=[grid(tables.calibration_table(found)), _tries(found)],
                figures=_figures(charts.calibration_drawings(found)),
            ),
            Section("How the levels play", tables=[grid(tables.guard_table(found))]),
            Section(
                "How to read it",
                [
                    INTERVALS,
                    "A target is met by turning one parameter of one level, its knob: the values "
                    "played give a curve, the curve gives the value, and deals that took no part "
                    "in the choice say whether it hits. After a miss the curve is shifted and "
                    "another value is played on fresher deals.",
                    "A small p of the lack of fit says that the curve does not pass through the "
                    "points; the fresh deals tell the truth all the same.",
                ],
            ),
            Section(
                "Settings", tables=[facts("Run", told | played_by(manifest)), rules_grid(rules)]
            ),
            reproduction(manifest, _calibration_command(found), digests),
        ],
    )
