"""How do the calibrated levels behave, under the rules they were tuned for and all others?

The levels are tuned under `classic` alone. This plays them under every preset on deals that
no tuning saw, and looks at every decision of some matches for what no believable player does:
pass up gin, break a meld for nothing, roll dice.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ginsim.calibrate import GUARDED, LEVELS, guard_rails
from ginsim.plots import axis_labels, bot_style, head, new_axes, save_figures, side_legend
from ginsim.rules import PRESETS
from ginsim.stats import rate
from ginsim.summary import rate_json
from ginsim.tables import mean, percent, rare_percent
from ginsim.tournament import Plan, counted

RESULTS = Path(__file__).parents[1] / "results" / "levels"
SEED = 8_000_000
PAIRS = 10_000
MATCHUPS = (("normal", "easy"), ("hard", "normal"), ("hard", "easy"))

SECONDS = 200


def headline(found: Mapping[str, Any]) -> str:
    """What was found, in a line."""
    won = found["presets"]["classic"]["won"]
    steps = ", ".join(f"{name} {percent(won[name])} %" for name in ("normal/easy", "hard/normal"))
    return f"under classic {steps}; no level passes up gin, breaks melds or rolls dice"


def behaviour(name: str, pairs: int) -> dict[str, Any]:
    """Match wins between the levels and how each plays, under preset *name*."""
    rules = PRESETS[name].rules
    plan = Plan(LEVELS, rules, SEED, pairs)
    totals = counted(plan, 2)
    place = {level: at for at, level in enumerate(LEVELS)}
    found = {}
    for stronger, weaker in MATCHUPS:
        at = plan.matchups().index((place[weaker], place[stronger]))
        found[f"{stronger}/{weaker}"] = rate_json(rate(totals.by_matchup[at][1], "matches_won"))
    return {
        "won": found,
        "guards": {
            level: {key: rate_json(rate(totals.by_bot[place[level]], key)) for key in GUARDED}
            for level in LEVELS
        },
        "blunders": guard_rails({level: level for level in LEVELS}, rules, SEED),
        "digest": str(totals.digest()),
    }


def plot(found: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Match wins of the stronger level by preset, with the targets' line."""
    ax = new_axes(ax, 8.4, 4.6)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    names, handles = list(found["presets"]), []
    for at, (stronger, weaker) in enumerate(MATCHUPS):
        rates = [found["presets"][name]["won"][f"{stronger}/{weaker}"] for name in names]
        value, low, high = (100 * np.array([r[key] for r in rates]) for key in
                            ("value", "low", "high"))  # fmt: skip
        style = bot_style(at) | {"linestyle": "none"}
        handles.append(
            ax.errorbar(
                np.arange(len(names)) + 0.15 * (at - 1),
                value,
                [value - low, high - value],
                capsize=2,
                elinewidth=1,
                **style,
            )
        )
    handles.append(ax.axhline(65, color="#555555", linestyle="--", linewidth=1))
    ax.set_xticks(range(len(names)), names)
    axis_labels(ax, "rules", "matches won by the stronger level (%)")
    side_legend(ax, handles, [*(f"{a} v {b}" for a, b in MATCHUPS), "target, under classic"], "")
    head(
        ax,
        "The levels under all rules",
        [f"{found['pairs']:,} mirrored pairs a matchup, seed {found['seed']}, not used for tuning",
         "95 % intervals, clustered by pair; table and openspiel decide on one round"],
    )  # fmt: skip
    return ax


def table(found: Mapping[str, Any]) -> str:
    """Tables as Markdown."""
    lines = [
        "# The levels under every preset",
        "",
        f"`python -m experiments levels`: {found['pairs']:,} mirrored pairs a matchup, seed "
        f"{found['seed']:,}, on which nothing was tuned. Matches won in %, with 95 % intervals "
        "clustered by pair. The levels are tuned for 65 % a step under `classic` only.",
        "",
        f"| rules | {' | '.join(f'{a} v {b}' for a, b in MATCHUPS)} |",
        "|---" * (len(MATCHUPS) + 1) + "|",
    ]
    for name, under in found["presets"].items():
        cells = [percent(under["won"][f"{a}/{b}"]) for a, b in MATCHUPS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Guard rails",
        "Each level over its matchups; blunders are counted over every decision of "
        "40 pairs against a neighbour.",
        "",
        "| rules | level | undercut, % its knocks | gin, % rounds | dead, % rounds | turns "
        "| knock deadwood | gin passed up | melds broken | decided by dice |",
        "|---" * 10 + "|",
    ]
    for name, under in found["presets"].items():
        for level in LEVELS:
            guards, counts = under["guards"][level], under["blunders"][level]
            cells = [
                percent(guards["undercut"]), percent(guards["gin"]), rare_percent(guards["dead"]),
                mean(guards["turns"]), mean(guards["knock_deadwood"]),
                f"{counts['gins_passed']} of {counts['gins']}",
                f"{counts['melds_broken']} of {counts['discards']:,}",
                f"{counts['dice']} of {counts['decisions']:,}",
            ]  # fmt: skip
            lines.append(f"| {name} | {level} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "![Matches won by preset](plot.png)", ""])


def main(pairs: int = PAIRS, folder: Path = RESULTS) -> None:
    """Play all presets and write table, plot and figures."""
    found = {
        "seed": SEED,
        "pairs": pairs,
        "presets": {name: behaviour(name, pairs) for name in PRESETS},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (folder / "table.md").write_text(table(found), encoding="utf-8")
    for path in save_figures({"plot": lambda: plot(found)}, folder):
        if path.suffix == ".svg":
            path.unlink()
    print(table(found))


if __name__ == "__main__":
    main()
