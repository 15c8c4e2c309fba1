"""How strong is `master`, what is each thing it looks at worth, and how was it tuned?

Tuning looks only at TUNE seeds: each parameter is moved a step either way, all else kept, on
the same deals. Everything reported is from CONFIRM seeds, which no tuning ever saw. Rules are
`eaai`, so that the rate against `simple` compares with the published players.
"""

import json
import sys
from pathlib import Path
from typing import Any

from ginsim.rules import preset
from ginsim.stats import Rate, rate
from ginsim.summary import summary_of
from ginsim.tables import cross_table, print_tables, rating_note
from ginsim.tally import Tally
from ginsim.tournament import Plan, counted

RESULTS = Path(__file__).parents[1] / "results" / "master"
RULES = preset("eaai")
TUNE, CONFIRM = 500, 20_261_201
SECONDS = 100
TUNE_PAIRS, ABLATION_PAIRS, CONFIRM_PAIRS, GALLERY_PAIRS = 8_000, 5_000, 20_000, 1_500

STEPS: dict[str, tuple[int, ...]] = {
    "save_early": (6, 7, 9, 10),
    "save_late": (3, 5),
    "early_until": (3, 5, 6),
    "link_weight": (0, 10),
    "danger_weight": (20, 30),
    "safe_weight": (20, 40),
    "take_margin": (0, 50, 150, 200),
    "close_out": (0, 5),
}
ABLATIONS = {
    "nothing left out": "",
    "outs": "save_early=0,save_late=0",
    "more weight on outs early": "save_early=5",
    "cards near loose ones": "link_weight=0",
    "danger of a discard": "danger_weight=0",
    "what the rival threw and refused": "safe_weight=0",
    "both of these": "danger_weight=0,safe_weight=0",
    "the upcard's worth beyond its meld": "take_margin=-100000",
    "the knock chart: knock whenever it may": "open_turns=100",
    "the knock chart: gin only": "open_turns=0,third_from=11,fourth_from=11,fifth_from=11",
    "the score": "close_out=0",
}
CONFIRM_RIVALS = ("simple", "gin-only", "hard", "early-low", "one-away", "expected-deadwood")
GALLERY = (
    "master", "hard", "normal", "easy", "simple", "gin-only",
    "early-low", "one-away", "expected-deadwood",
)  # fmt: skip


def against(spec: str, rival: str, pairs: int, seed: int) -> Tally:
    """Tally of *spec* over mirrored pairs against *rival*."""
    plan = Plan((spec, rival), RULES, seed, pairs)
    totals = counted(plan, 2)
    return totals.by_matchup[0][0]


def shown(found: Rate) -> str:
    """Rate in per cent with its half width."""
    return f"{100 * found.value:.2f} ±{100 * found.half_width():.2f}"


def tune() -> None:
    """Print what a step of each parameter does on the tuning seeds."""
    for knob, values in STEPS.items():
        for value in values:
            found = against(f"master@{knob}={value}", "simple", TUNE_PAIRS, TUNE)
            print(f"{knob}={value}: {shown(rate(found, 'matches_won'))}", flush=True)
    print(f"as it is: {shown(rate(against('master', 'simple', TUNE_PAIRS, TUNE), 'matches_won'))}")


def ablation() -> list[dict[str, Any]]:
    """Matches won and points a round without each thing looked at, against two rivals."""
    rows = []
    for name, changes in ABLATIONS.items():
        spec = f"master@{changes}" if changes else "master"
        row: dict[str, Any] = {"without": name, "parameters": changes}
        for rival in ("simple", "hard"):
            tally = against(spec, rival, ABLATION_PAIRS, CONFIRM)
            row[rival] = {
                "matches_won": rate(tally, "matches_won")._asdict(),
                "net_points": rate(tally, "net_points")._asdict(),
            }
        rows.append(row)
        print(name, {rival: row[rival]["matches_won"]["value"] for rival in ("simple", "hard")})
    return rows


def ablation_table(rows: list[dict[str, Any]]) -> str:
    """Return the ablations as Markdown."""
    lines = [
        "| left out | matches won v simple, % | points a round | v hard, % | points a round |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        cells = []
        for rival in ("simple", "hard"):
            won, points = (Rate(**row[rival][key]) for key in ("matches_won", "net_points"))
            cells += [shown(won), f"{points.value:+.2f} ±{points.half_width():.2f}"]
        lines.append(f"| {row['without']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def gallery() -> dict[str, Any]:
    """Round robin of all players."""
    plan = Plan(GALLERY, RULES, CONFIRM, GALLERY_PAIRS)
    totals = counted(plan, 2)
    return summary_of(plan, totals)


def gallery_table(summary: dict[str, Any]) -> str:
    """Return cross table and ratings as Markdown."""
    names = [bot["name"] for bot in summary["bots"]]
    cells = {}
    for matchup in summary["matchups"]:
        pair = matchup["first"], matchup["second"]
        for own, key in ((pair, "first_metrics"), (pair[::-1], "second_metrics")):
            cells[own] = Rate(**matchup[key]["matches_won"])
    lines = [f"| | {' | '.join(names)} | Elo |", "|---" * (len(names) + 2) + "|"]
    for rating in summary["ratings"]["bots"]:
        name = rating["name"]
        row = [f"{100 * cells[name, o].value:.1f}" if o != name else "" for o in names]
        width = (rating["high"] - rating["low"]) / 2
        lines.append(f"| {name} | {' | '.join(row)} | {rating['elo']:+.0f} ±{width:.0f} |")
    return "\n".join(lines) + "\n"


def headline(summary: dict[str, Any]) -> str:
    """Matches won against two yardsticks."""
    won = {rival: 100 * summary["confirmed"][rival]["value"] for rival in ("simple", "hard")}
    return ", ".join(f"{value:.1f} % of matches v {rival}" for rival, value in won.items())


def main() -> None:
    """Tune with the word ``tune``; else confirm, ablate, play the gallery, and write."""
    if "tune" in sys.argv:
        tune()
        return
    confirmed = {
        rival: rate(against("master", rival, CONFIRM_PAIRS, CONFIRM), "matches_won")
        for rival in CONFIRM_RIVALS
    }
    lines = [f"- v {rival}: {shown(found)} %" for rival, found in confirmed.items()]
    print("\n".join(lines), flush=True)
    rows = ablation()
    summary = gallery()
    print_tables(cross_table(summary), rating_note(summary))
    RESULTS.mkdir(parents=True, exist_ok=True)
    content = {
        "confirm_seed": CONFIRM,
        "pairs": CONFIRM_PAIRS,
        "confirmed": {rival: found._asdict() for rival, found in confirmed.items()},
        "ablation": rows,
        "gallery": {
            "matchups": {m["name"]: m["first_metrics"]["matches_won"] for m in summary["matchups"]},
            "ratings": summary["ratings"],
        },
    }
    (RESULTS / "summary.json").write_text(json.dumps(content, indent=1) + "\n")
    text = (
        f"`master` under `eaai`, {CONFIRM_PAIRS:,} fresh mirrored pairs, matches won, 95 %:\n\n"
        + "\n".join(lines)
        + f"\n\nWithout each thing it looks at ({ABLATION_PAIRS:,} pairs):\n\n"
        + ablation_table(rows)
        + f"\nRound robin, matches won by row v column, % ({GALLERY_PAIRS:,} pairs a matchup):\n\n"
        + gallery_table(summary)
    )
    (RESULTS / "table.md").write_text(text)


if __name__ == "__main__":
    main()
