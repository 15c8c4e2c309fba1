"""Does the gate catch bots weakened by a known amount, and leave equally strong ones alone?

Each run is the real gate on its own seeds: a baseline is written for the recorded bot and a
rival, then a candidate takes the recorded bot's place. Two methods are put to the test: play
against the recorded bot, and comparison with its recorded outcomes, as when its code changed.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ginsim.baseline import Baseline, Gate, outcomes_of, regress
from ginsim.rules import preset
from ginsim.sprt import REGRESSION, UNDECIDED, Sprt
from ginsim.stats import rate
from ginsim.tournament import Plan, counted

RESULTS = Path(__file__).parents[1] / "results" / "gate"
BOTS = Path(__file__).parent / "bots" / "noisy.py"
SEED = 4_000_000
RULES = preset("classic")
RUNS_WEAK, RUNS_SAME = 60, 200
PLAYED_PAIRS, RECORDED_PAIRS = 50, 3_000
TRUE_PAIRS = 20_000
SECONDS = 150


@dataclass(frozen=True)
class Case:
    """A candidate in the place of a recorded bot, and the rival in the baseline."""

    name: str
    recorded: str
    candidate: str
    rival: str
    runs: int


CASES = (
    Case("knock threshold, some 2 points", "normal", "normal@late_limit=6", "easy", RUNS_WEAK),
    Case("knock threshold, some 4 points", "normal", "normal@late_limit=7", "easy", RUNS_WEAK),
    Case(
        "threshold and no outs, some 8 points",
        "normal",
        "normal@late_limit=6,out_weight=0",
        "easy",
        RUNS_WEAK,
    ),
    Case("2 % random discards", "normal", f"{BOTS}:noisy", "easy", RUNS_WEAK),
    Case("equally strong, other rows", "simple", f"{BOTS}:other", "easy", RUNS_SAME),
)


def true_rate(case: Case) -> dict[str, float]:
    """Match wins of the candidate against the recorded bot in a long run of fixed length."""
    plan = Plan((case.candidate, case.recorded), RULES, SEED - 1, TRUE_PAIRS)
    totals = counted(plan, 2)
    found = rate(totals.by_matchup[0][0], "matches_won")
    return {"value": found.value, "low": found.low, "high": found.high}


def forget(baseline: Baseline) -> Baseline:
    """*baseline* as if the recorded bot's code were gone: only its outcomes are left."""
    lost = replace(baseline.outcomes, digests=["0" * 32] * len(baseline.outcomes.digests))
    return replace(baseline, outcomes=lost)


def one_run(case: Case, run: int, recorded_only: bool) -> tuple[str, int]:
    """Verdict of one gate on seeds of its own, and the pairs it took."""
    pairs = RECORDED_PAIRS if recorded_only else PLAYED_PAIRS
    plan = Plan((case.recorded, case.rival), RULES, SEED + 2 * run, pairs)
    parameters = [dict(bot.parameters) for bot in plan.bots()]
    baseline = Baseline(plan, parameters, outcomes_of(plan, 2))
    gate = Gate(
        forget(baseline) if recorded_only else baseline,
        Path("baseline.json"),
        (case.candidate, case.rival),
        Sprt(),
        cap=20_000,
        jobs=2,
    )
    # The candidate is listed first; with the record lost, the rival is tried as well.
    candidate = regress(gate).candidates[0]
    assert candidate.bot == case.recorded
    return candidate.verdict, candidate.pairs


def many_runs(case: Case, recorded_only: bool) -> dict[str, Any]:
    """How often the verdicts fell, and the mean number of pairs."""
    found = [one_run(case, run, recorded_only) for run in range(case.runs)]
    verdicts = [verdict for verdict, _ in found]
    return {
        "runs": case.runs,
        "regression": verdicts.count(REGRESSION),
        "undecided": verdicts.count(UNDECIDED),
        "mean_pairs": sum(pairs for _, pairs in found) / len(found),
    }


def table(found: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    test = Sprt()
    lines = [
        f"Bounds {test.low:g} and {test.high:g} of matches, alpha = beta = {test.alpha:g}. "
        "Each cell: runs that said regression (undecided), of all runs; mean pairs.",
        "",
        "| candidate | true match wins against the recorded bot | played | from the record |",
        "|---|---|---|---|",
    ]
    for case in found:
        true = case["true"]
        cells = [
            f"{m['regression']} ({m['undecided']}) of {m['runs']}; {m['mean_pairs']:,.0f} pairs"
            for m in (case["played"], case["recorded"])
        ]
        lines.append(
            f"| {case['name']} | {100 * true['value']:.1f} % "
            f"({100 * true['low']:.1f} to {100 * true['high']:.1f}) | {' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def headline(summary: list[dict[str, Any]]) -> str:
    """How often it caught 3 points or more, and alarms at equal strength."""
    weak, same = summary[1:-1], summary[-1]
    caught = [case[m]["regression"] for case in weak for m in ("played", "recorded")]
    alarms = same["played"]["regression"] + same["recorded"]["regression"]
    return (
        f"{sum(caught)} of {RUNS_WEAK * len(caught)} runs caught at 3 points or more; "
        f"{alarms} false alarms in {2 * RUNS_SAME}"
    )


def main() -> None:
    """Run all cases and write table.md and summary.json."""
    found = []
    for case in CASES:
        found.append(
            {
                "name": case.name,
                "true": true_rate(case),
                "played": many_runs(case, recorded_only=False),
                "recorded": many_runs(case, recorded_only=True),
            }
        )
        print(found[-1], flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "table.md").write_text(table(found))
    print(table(found))


if __name__ == "__main__":
    main()
